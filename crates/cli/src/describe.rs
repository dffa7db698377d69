//! Descriptions from the code itself: the JSON schema of a configuration, walked beside a value of it.

use serde_json::Value;
use tailcut_model::schema::Shape;

use crate::page::Page;

/// One parameter with its value and what it means.
pub(crate) struct Parameter {
    pub(crate) path: String,
    pub(crate) value: String,
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
        let value = if value.as_table().is_some() { "{}".to_owned() } else { value.to_string() };
        out.push(Parameter { path: path.to_owned(), value, doc });
        return;
    };
    for (key, child) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let below = shape.and_then(|shape| shape.key(key));
        // The key of a seat has no description of its own: each of its models has one.
        let doc = match shape.map(|shape| shape.variants()).unwrap_or_default().into_iter().find(|v| v.name == *key) {
            Some(variant) => variant.doc,
            None if below.is_some_and(Shape::is_choice) => String::new(),
            None => below.map(Shape::doc).unwrap_or_default(),
        };
        walk(below, &path, child, doc, out);
    }
}

/// Every key of a table of this shape, with its default.
pub(crate) fn keys(shape: Shape<'_>) -> Vec<Parameter> {
    let tables = shape.tables();
    let keys = tables.iter().flat_map(|table| table.keys());
    keys.map(|(key, shape)| Parameter { path: key.to_owned(), value: default(shape), doc: shape.doc() }).collect()
}

fn default(shape: Shape<'_>) -> String {
    match shape.default() {
        Some(Value::String(text)) => return format!("{text:?}"),
        // A seat: its model is what matters, whose parameters have a page of their own.
        Some(Value::Object(model)) if shape.is_choice() => {
            let name = model.keys().next().map_or("", String::as_str);
            let other = shape.variants().into_iter().map(|variant| variant.name).filter(|other| other != name);
            let other: Vec<String> = other.collect();
            return if other.is_empty() { format!("{name:?}") } else { format!("{name:?}, or {}", other.join(", ")) };
        }
        Some(Value::Null) | None => {}
        Some(value) => return value.to_string(),
    }
    if let Some(example) = shape.example() {
        return format!("such as {example:?}");
    }
    let choices: Vec<String> = shape.variants().into_iter().map(|variant| variant.name).collect();
    if !choices.is_empty() {
        return format!("one of {}", choices.join(", "));
    }
    let kinds = shape.kinds();
    let kinds: Vec<&str> = kinds.into_iter().map(|kind| if kind == "object" { "table" } else { kind }).collect();
    let kinds = if kinds.is_empty() { "table".to_owned() } else { kinds.join(" or ") };
    if shape.is_optional() { format!("{kinds}, optional") } else { kinds }
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
