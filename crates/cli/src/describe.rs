//! Descriptions from the code itself: the JSON schema of a configuration, walked beside a value of it.

use serde_json::{Value, json};
use tailcut_model::schema::Shape;

use crate::page::Page;

/// One parameter with its value and what it means.
pub(crate) struct Parameter {
    pub(crate) path: String,
    pub(crate) value: toml::Value,
    pub(crate) doc: String,
}

/// Every parameter of `value`, which has this shape, below `path`.
pub(crate) fn values(shape: Shape<'_>, path: &str, value: &toml::Value) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    walk(Some(shape), path, value, String::new(), &mut parameters);
    parameters
}

fn walk(shape: Option<Shape<'_>>, path: &str, value: &toml::Value, doc: String, out: &mut Vec<Parameter>) {
    let table = value.as_table().filter(|table| !table.is_empty());
    let Some(table) = table else {
        out.push(Parameter { path: path.to_owned(), value: value.clone(), doc });
        return;
    };
    for (key, child) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let below = shape.and_then(|shape| shape.key(key));
        // The key of a seat has no description of its own: each of its models has one.
        let doc = match shape.map(|shape| shape.variants()).unwrap_or_default().into_iter().find(|v| v.name == *key) {
            Some(variant) => variant.doc(),
            None if below.is_some_and(Shape::is_choice) => String::new(),
            None => below.map(Shape::doc).unwrap_or_default(),
        };
        walk(below, &path, child, doc, out);
    }
}

/// Adds parameters with their values.
pub(crate) fn parameters(out: &mut Page, parameters: &[Parameter]) {
    let text = |value: &toml::Value| match value.as_table() {
        Some(table) if table.is_empty() => "{}".to_owned(),
        _ => value.to_string(),
    };
    let rows: Vec<(String, String)> =
        parameters.iter().map(|p| (format!("{} = {}", p.path, text(&p.value)), p.doc.clone())).collect();
    columns(out, &rows);
}

/// Adds them as JSON, one object a line.
pub(crate) fn parameters_json(out: &mut Page, parameters: &[Parameter]) {
    for Parameter { path, value, doc } in parameters {
        out.line(json!({ "kind": "parameter", "path": path, "value": value, "meaning": doc }));
    }
}

/// One of the things that a key may name.
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) doc: String,
}

/// One key of a table: what may stand there, and what it means.
pub(crate) struct Key<'a> {
    pub(crate) name: String,
    pub(crate) doc: String,
    /// What it is if it is not given; `None` if it is needed, or if leaving it out means something else.
    pub(crate) default: Option<&'a Value>,
    /// What may stand there, in a word or two: `number`, `text`.
    pub(crate) kind: String,
    /// A value that may stand there.
    pub(crate) example: Option<&'a str>,
    pub(crate) optional: bool,
    pub(crate) choices: Vec<Choice>,
    pub(crate) shape: Shape<'a>,
}

impl<'a> Key<'a> {
    fn new(name: &str, shape: Shape<'a>) -> Key<'a> {
        // A list of names has the choices of its items.
        let of = shape.item().filter(|item| !item.is_choice()).unwrap_or(shape);
        let choices = of.variants().into_iter();
        let choices = choices.map(|variant| Choice { name: variant.name.to_owned(), doc: variant.doc() }).collect();
        Key {
            name: name.to_owned(),
            doc: shape.doc(),
            default: shape.default().filter(|value| !value.is_null()),
            kind: kind(shape),
            example: shape.example(),
            optional: shape.is_optional() || shape.default().is_some(),
            choices,
            shape,
        }
    }

    /// The default as it would be written; that of a seat is the name of its model. Tables have none: their keys have.
    pub(crate) fn default_text(&self) -> Option<String> {
        Some(match self.default? {
            Value::String(text) => format!("{text:?}"),
            Value::Object(model) if self.shape.is_choice() => {
                format!("{:?}", model.keys().next().map_or("", String::as_str))
            }
            Value::Object(_) => return None,
            value => value.to_string(),
        })
    }

    /// What stands behind `=` in a list of keys.
    fn text(&self) -> String {
        if let Some(default) = self.default_text() {
            return default;
        }
        match (self.example, self.optional) {
            _ if !self.choices.is_empty() => "one of these".to_owned(),
            (Some(example), _) => format!("such as {example:?}"),
            (None, true) => format!("{}, optional", self.kind),
            (None, false) => self.kind.clone(),
        }
    }

    fn json(&self, table: &str) -> Value {
        let choices: Vec<Value> =
            self.choices.iter().map(|choice| json!({ "name": choice.name, "meaning": choice.doc })).collect();
        json!({
            "kind": "key",
            "table": table,
            "key": self.name,
            "types": self.shape.kinds(),
            "example": self.example,
            "optional": self.optional,
            "default": self.default,
            "choices": choices,
            "meaning": self.doc,
        })
    }
}

/// What may stand at a key, in words of TOML.
fn kind(shape: Shape<'_>) -> String {
    let kinds = shape.kinds().into_iter().map(|kind| match kind {
        "object" => "table",
        "integer" => "whole number",
        "string" => "text",
        "boolean" => "true or false",
        "array" if shape.item().is_some_and(|item| !item.tables().is_empty()) => "list of tables",
        "array" => "list",
        kind => kind,
    });
    let kinds: Vec<&str> = kinds.collect();
    if kinds.is_empty() { "table".to_owned() } else { kinds.join(" or ") }
}

/// Every key of a table of this shape.
pub(crate) fn keys(shape: Shape<'_>) -> Vec<Key<'_>> {
    let (tables, variants) = (shape.tables(), shape.variants());
    let keys = tables.iter().flat_map(|table| table.keys());
    keys.map(|(name, shape)| {
        let key = Key::new(name, shape);
        // The parameters of one of several models have no description of their own: the model has.
        match variants.iter().find(|variant| variant.name == name) {
            Some(variant) if key.doc.is_empty() => Key { doc: variant.doc(), ..key },
            _ => key,
        }
    })
    .collect()
}

/// Adds keys with their defaults, and below each what may be chosen there.
pub(crate) fn table(out: &mut Page, keys: &[Key<'_>]) {
    let mut rows = Vec::new();
    for key in keys {
        rows.push((format!("{} = {}", key.name, key.text()), key.doc.clone()));
        rows.extend(key.choices.iter().map(|choice| (format!("    {}", choice.name), choice.doc.clone())));
    }
    columns(out, &rows);
}

/// Adds them as JSON, one object a line.
pub(crate) fn table_json(out: &mut Page, path: &str, keys: &[Key<'_>]) {
    keys.iter().for_each(|key| out.line(key.json(path)));
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
        if !line.trim().is_empty() {
            out.line(format_args!("{}", line.trim_end()));
        }
    }
}
