//! `tailcut show reference`: every key that a scenario may have, as a page of Markdown.
//!
//! Nothing here is written by hand: keys, defaults, choices and their meanings come from the types that a scenario is
//! read into, by their schema.

use std::fmt::Write as _;

use tailcut_lab::RunKeys;
use tailcut_model::schema::{Schema, Shape};
use tailcut_sim::Config;

use crate::describe::{Key, keys, table_json};
use crate::format::TextFormat;
use crate::page::Page;

/// A table of a scenario.
struct Table<'a> {
    path: String,
    shape: Shape<'a>,
    /// The path of another table with the same keys, which is described instead.
    as_at: Option<String>,
}

const INTRODUCTION: &str = "\
# Every key of a scenario

This page is what `tailcut show reference` prints; it is made from the program itself. `tailcut show table workload` prints one
table, and `tailcut schema` the same as a JSON schema for editors.

A scenario is a TOML file. `[workload.traffic.NAME]` stands for a table under a name of your own; `list[]` for the tables of a list. A
key whose value is one of several tables may be written as the name alone if its parameters are to be as they are by default: `marker =
\"off\"`. Quantities are text with a unit, such as `\"10us\"`, `\"240KB\"`, `\"10Gbps\"`; some sizes may be
multiples of the bandwidth-delay product, such as `\"1 BDP\"`.
";

/// Adds the reference.
pub(crate) fn print(out: &mut Page, format: TextFormat) {
    let (run, simulation) = (Schema::of::<RunKeys>(), Schema::of::<Config>());
    let tables = below(simulation.root());
    if format == TextFormat::Json {
        table_json(out, "", &keys(run.root()));
        table_json(out, "", &keys(simulation.root()));
        tables.iter().filter(|table| table.as_at.is_none()).for_each(|t| table_json(out, &t.path, &keys(t.shape)));
        return;
    }
    out.line(INTRODUCTION);
    out.line("## The run\n\nThese keys stand at the top of the file, before its first table.\n");
    out.line(list(&keys(run.root())));
    out.line("## The simulation\n\nThese tables make one simulation; a scheme sets `host`, `nic`, `path`, `port` and `switch`.\n");
    out.line(list(&keys(simulation.root())));
    for table in tables {
        section(out, &table);
    }
}

/// The paths of all tables of a scenario that have keys of their own.
pub(crate) fn tables() -> Vec<String> {
    let schema = Schema::of::<Config>();
    below(schema.root()).into_iter().map(|table| table.path.replace("[]", "")).collect()
}

fn section(out: &mut Page, table: &Table<'_>) {
    let mark = if table.path.contains('.') { "###" } else { "##" };
    out.line(format_args!("{mark} `{}`\n", table.path));
    if let Some(other) = &table.as_at {
        out.line(format_args!("The same keys as `{other}`.\n"));
        return;
    }
    let doc = table.shape.type_doc().trim();
    if !doc.is_empty() && doc != "No parameters." {
        out.line(format_args!("{doc}\n"));
    }
    out.line(list(&keys(table.shape)));
}

/// Keys as a list, with what may be chosen below each.
fn list(keys: &[Key<'_>]) -> String {
    let mut text = String::new();
    for key in keys {
        let kind = match key.example {
            _ if !key.choices.is_empty() => "one of these".to_owned(),
            Some(example) => format!("such as `{example:?}`"),
            None => key.kind.clone(),
        };
        let kind = match key.default_text() {
            Some(default) => format!("`{default}` by default"),
            None if key.optional => format!("{kind}, optional"),
            None => kind,
        };
        let _ = writeln!(text, "- **`{}`** ({kind}){}", key.name, sentence(&key.doc));
        for choice in &key.choices {
            let _ = writeln!(text, "  - `{}`{}", choice.name, sentence(&choice.doc));
        }
    }
    text
}

fn sentence(doc: &str) -> String {
    if doc.is_empty() { String::new() } else { format!(": {doc}") }
}

/// Every table below a shape that has keys, in the order of the keys; the parameters of a choice are tables too.
fn below(shape: Shape<'_>) -> Vec<Table<'_>> {
    let mut tables = Vec::new();
    collect(shape, "", &mut tables);
    tables
}

fn collect<'a>(shape: Shape<'a>, path: &str, tables: &mut Vec<Table<'a>>) {
    for key in keys(shape) {
        let path = if path.is_empty() { key.name.clone() } else { format!("{path}.{}", key.name) };
        visit(key.shape, path, tables);
    }
}

fn visit<'a>(shape: Shape<'a>, path: String, tables: &mut Vec<Table<'a>>) {
    if let Some(item) = shape.item() {
        visit(item, format!("{path}[]"), tables);
    }
    let has_keys = !shape.tables().is_empty();
    if has_keys && !shape.is_choice() {
        // A type that has a name is described where it stands first.
        let is_same = |table: &&Table<'_>| {
            table.as_at.is_none() && shape.type_name().is_some() && table.shape.type_name() == shape.type_name()
        };
        let as_at = tables.iter().find(is_same).map(|table| table.path.clone());
        let is_new = as_at.is_none();
        tables.push(Table { path: path.clone(), shape, as_at });
        if !is_new {
            return;
        }
    }
    if has_keys {
        collect(shape, &path, tables);
    } else if let Some(named) = shape.named() {
        visit(named, format!("{path}.NAME"), tables);
    }
}
