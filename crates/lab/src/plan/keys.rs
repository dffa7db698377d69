//! The keys of a scenario that are about the run and not about a simulation: its name, its seeds, ...

use tailcut_base::Bytes;
use tailcut_sim::config::from_tree;
use tailcut_sim::{Problem, Tree, Value};

use super::place::at_value;
use crate::inputs;

use super::{class_sets, schemes, settings};

/// The keys of a scenario that are taken out of it before a simulation reads it.
pub(super) const KEYS: [&str; 10] = [
    "name",
    "title",
    schemes::CHOSEN,
    "seeds",
    schemes::DEFINED,
    class_sets::DECLARED,
    "size_bounds",
    settings::DEFINED,
    settings::CHOSEN,
    inputs::TABLE,
];

/// Takes these keys out of the layers of a scenario, the lowest first, and returns them as one table, in which the
/// highest layer counts.
pub(super) fn take<'a>(layers: impl IntoIterator<Item = &'a mut Tree>) -> Tree {
    let mut keys = Tree::table();
    for layer in layers {
        for key in KEYS {
            if let Some(tree) = layer.take(key) {
                let key_origin = tree.key.clone();
                keys.merge(Tree { value: Value::Table(vec![(key.to_owned(), tree)]), origin: key_origin, key: None });
            }
        }
    }
    keys
}

/// The text of a key, if it is there.
pub(super) fn text(keys: &Tree, key: &str) -> Result<Option<String>, Problem> {
    let Some(tree) = keys.get(key) else { return Ok(None) };
    let wrong = || at_value(Problem::new(format!("`{key}` is not text")).help("expected text in quotes"), Some(tree));
    tree.as_str().map(|text| Some(text.to_owned())).ok_or_else(wrong)
}

/// The name of the run, which is also that of its folder; `stem` if there is none.
pub(super) fn name(keys: &Tree, stem: &str) -> Result<String, Problem> {
    let name = text(keys, "name")?.unwrap_or_else(|| stem.to_owned());
    let fits = !name.is_empty()
        && !name.starts_with('.')
        && name.len() <= 100
        && name.chars().all(|c| c.is_alphanumeric() || "-_.+=@".contains(c));
    if fits {
        return Ok(name);
    }
    let problem = Problem::new(format!("`{name}` cannot be the name of a folder"))
        .help("expected letters, digits and `-_.+=@`, such as name = \"tail\"");
    Err(at_value(problem, keys.get("name")))
}

/// The seeds of the scenario; 1 if it names none.
pub(super) fn seeds(keys: &Tree) -> Result<Vec<u64>, Problem> {
    let Some(tree) = keys.get("seeds") else { return Ok(vec![1]) };
    let wrong = |tree: &Tree| {
        let problem = Problem::new("this is neither a number of seeds nor a list of them");
        at_value(problem.help("expected seeds = 3 or seeds = [1, 2, 7]"), Some(tree))
    };
    match &tree.value {
        Value::Integer(count) if (1..=1_000_000).contains(count) => Ok((1..=*count as u64).collect()),
        Value::Array(items) if !items.is_empty() => items
            .iter()
            .map(|item| match item.value {
                Value::Integer(seed) => u64::try_from(seed).map_err(|_| wrong(item)),
                _ => Err(wrong(item)),
            })
            .collect(),
        _ => Err(wrong(tree)),
    }
}

/// The sizes at which results tell flows apart.
pub(super) fn size_bounds(keys: &Tree) -> Result<Vec<Bytes>, Problem> {
    let Some(tree) = keys.get("size_bounds") else { return Ok(Vec::new()) };
    let bounds: Vec<Bytes> = from_tree(tree)?;
    if bounds.is_sorted_by(|a, b| a < b) {
        return Ok(bounds);
    }
    let problem = Problem::new("the bounds between sizes do not ascend");
    Err(at_value(problem.help("expected ascending sizes, such as size_bounds = [\"100KB\", \"10MB\"]"), Some(tree)))
}
