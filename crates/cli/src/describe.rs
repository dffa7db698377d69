//! Descriptions from the code itself: the JSON schema of a configuration, walked beside a value of it.

use schemars::JsonSchema;
use serde_json::Value;

use crate::page::Page;

/// One parameter with its value and what it means.
pub(crate) struct Parameter {
    pub(crate) path: String,
    pub(crate) value: String,
    pub(crate) doc: String,
}

/// The schema of a configuration.
pub(crate) struct Schema(Value);

impl Schema {
    pub(crate) fn of<T: JsonSchema>() -> Schema {
        Schema(schemars::schema_for!(T).to_value())
    }

    pub(crate) fn from_value(value: Value) -> Schema {
        Schema(value)
    }

    /// The models of a seat: name and first sentence.
    pub(crate) fn variants(&self) -> Vec<(String, String)> {
        let Some(list) = self.0.get("oneOf").and_then(Value::as_array) else { return Vec::new() };
        let mut variants = Vec::new();
        for variant in list {
            let doc = text(variant);
            if let Some(properties) = variant.get("properties").and_then(Value::as_object) {
                variants.extend(properties.keys().map(|name| (name.clone(), doc.clone())));
            }
            for name in variant.get("enum").and_then(Value::as_array).into_iter().flatten().chain(variant.get("const"))
            {
                variants.extend(name.as_str().map(|name| (name.to_owned(), doc.clone())));
            }
        }
        variants
    }

    /// Every parameter of `value`, which this schema describes, below `path`.
    pub(crate) fn parameters(&self, path: &str, value: &toml::Value) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        self.walk(&self.0, path, value, String::new(), &mut parameters);
        parameters
    }

    /// Every key of this schema, if it is a table, with its default.
    pub(crate) fn keys(&self) -> Vec<Parameter> {
        self.keys_in(&self.0)
    }

    /// Every key of the model `name` of this seat, with its default.
    pub(crate) fn keys_of(&self, name: &str) -> Vec<Parameter> {
        self.property(&self.0, name).map(|(model, _)| self.keys_in(model)).unwrap_or_default()
    }

    /// Every key of the table at a dotted path, with its default; `None` if there is no such table.
    pub(crate) fn keys_at(&self, path: &str) -> Option<Vec<Parameter>> {
        let mut schema = &self.0;
        for part in path.split('.') {
            schema = self.property(self.resolve(schema), part)?.0;
        }
        let keys = self.keys_in(schema);
        (!keys.is_empty()).then_some(keys)
    }

    fn keys_in(&self, schema: &Value) -> Vec<Parameter> {
        let tables = self.tables(schema).into_iter();
        let properties = tables.filter_map(|table| table.get("properties").and_then(Value::as_object)).flatten();
        properties
            .map(|(key, property)| Parameter {
                path: key.clone(),
                value: match property.get("default") {
                    Some(Value::String(text)) => format!("{text:?}"),
                    Some(Value::Null) | None => self.kind(property),
                    Some(value) => value.to_string(),
                },
                doc: text(property),
            })
            .collect()
    }

    fn walk(&self, schema: &Value, path: &str, value: &toml::Value, doc: String, out: &mut Vec<Parameter>) {
        let resolved = self.resolve(schema);
        let Some(table) = value.as_table() else {
            out.push(Parameter { path: path.to_owned(), value: value.to_string(), doc });
            return;
        };
        if table.is_empty() {
            out.push(Parameter { path: path.to_owned(), value: "{}".to_owned(), doc });
            return;
        }
        for (key, child) in table {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            match self.property(resolved, key) {
                Some((property, doc)) => self.walk(property, &path, child, doc, out),
                None => out.push(Parameter { path, value: child.to_string(), doc: String::new() }),
            }
        }
    }

    /// The schema of a key, in a table or in one of the variants of a seat.
    fn property<'a>(&'a self, schema: &'a Value, key: &str) -> Option<(&'a Value, String)> {
        if let Some(property) = schema.get("properties").and_then(|p| p.get(key)) {
            // The key of a seat has no description of its own: each of its variants has one.
            let doc = if self.resolve(property).get("oneOf").is_some() { String::new() } else { text(property) };
            return Some((property, doc));
        }
        for variant in self.tables(schema) {
            if let Some(property) = variant.get("properties").and_then(|p| p.get(key)) {
                return Some((property, text(variant)));
            }
        }
        // A table whose keys are names, such as the traffics of a workload.
        let named = schema.get("additionalProperties").filter(|names| names.is_object());
        named.map(|names| (names, text(names)))
    }

    /// A schema, and what it may be instead: its variants, and theirs.
    fn tables<'a>(&'a self, schema: &'a Value) -> Vec<&'a Value> {
        let schema = self.resolve(schema);
        let variants = ["oneOf", "anyOf"].iter().filter_map(|k| schema.get(*k).and_then(Value::as_array)).flatten();
        std::iter::once(schema).chain(variants.flat_map(|variant| self.tables(variant))).collect()
    }

    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/")) else {
            return schema;
        };
        self.0.get("$defs").and_then(|defs| defs.get(name)).unwrap_or(schema)
    }

    fn kind(&self, property: &Value) -> String {
        let property = self.resolve(property);
        let example = property.get("examples").and_then(|e| e.get(0)).and_then(Value::as_str);
        match (example, property.get("type")) {
            (Some(example), _) => format!("such as {example:?}"),
            (None, Some(Value::String(kind))) if kind == "object" => "table".to_owned(),
            (None, Some(Value::String(kind))) => kind.clone(),
            (None, Some(Value::Array(kinds))) => {
                let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect();
                format!("{}, optional", kinds.join(" or "))
            }
            _ if property.get("oneOf").is_some() || property.get("anyOf").is_some() => "one of".to_owned(),
            _ => "table".to_owned(),
        }
    }
}

/// The description of a schema on one line.
fn text(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Adds names with what they stand for, one each line, the text folded below itself.
pub(crate) fn columns(out: &mut Page, rows: &[(String, String)]) {
    const WIDTH: usize = 110;
    let left = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(44);
    for (name, doc) in rows {
        let mut line = format!("  {name:<left$}  ");
        let indent = left + 4;
        if name.chars().count() > left {
            out.line(format_args!("{}", line.trim_end()));
            line = " ".repeat(indent);
        }
        for word in doc.split_whitespace() {
            if line.chars().count() + word.chars().count() > WIDTH && line.trim() != "" {
                out.line(format_args!("{}", line.trim_end()));
                line = " ".repeat(indent);
            }
            line.push_str(word);
            line.push(' ');
        }
        out.line(format_args!("{}", line.trim_end()));
    }
}

pub(crate) fn parameters(out: &mut Page, parameters: &[Parameter]) {
    let rows: Vec<(String, String)> =
        parameters.iter().map(|p| (format!("{} = {}", p.path, p.value), p.doc.clone())).collect();
    columns(out, &rows);
}
