//! The schemes of a scenario: presets by their names, and schemes that the scenario itself defines.

use tailcut_sim::config::suggest;
use tailcut_sim::{Preset, Problem, SCHEME_TABLES, Tree, Value};

use super::place::{at_key, at_value, unique};

/// The key that chooses schemes.
pub(super) const CHOSEN: &str = "schemes";
/// The table that defines schemes.
pub(super) const DEFINED: &str = "scheme";

/// Name of the only scheme of a scenario that names none.
const UNNAMED: &str = "scenario";

/// A scheme.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    /// Its name.
    pub(super) name: String,
    /// Its preset: the layer below the scenario.
    pub(super) preset: Tree,
    /// What the scenario changes for this scheme: the layer above the scenario.
    pub(super) own: Tree,
}

/// The schemes that the keys of a run choose; all that are defined there if they choose none.
///
/// # Errors
/// If one is unknown or there twice, or its definition is wrong.
pub(super) fn chosen(keys: &Tree) -> Result<Vec<Scheme>, Problem> {
    let defined = keys.get(DEFINED);
    let defined_names: Vec<&str> =
        defined.map(|tree| tree.entries().iter().map(|(name, _)| name.as_str()).collect()).unwrap_or_default();
    let names: Vec<(String, Option<&Tree>)> = match keys.get(CHOSEN) {
        Some(Tree { value: Value::Array(items), .. }) if !items.is_empty() => items
            .iter()
            .map(|item| match item.as_str() {
                Some(name) => Ok((name.to_owned(), Some(item))),
                None => Err(at_value(
                    Problem::new("this is not the name of a scheme").help("expected text, such as \"dctcp\""),
                    Some(item),
                )),
            })
            .collect::<Result<_, _>>()?,
        Some(tree) => {
            return Err(at_value(
                Problem::new("`schemes` is not a list of names").help("expected schemes = [\"dctcp\", \"pias\"]"),
                Some(tree),
            ));
        }
        None if !defined_names.is_empty() => defined_names.iter().map(|name| ((*name).to_owned(), None)).collect(),
        None => {
            return Ok(vec![Scheme { name: UNNAMED.to_owned(), preset: Tree::table(), own: Tree::table() }]);
        }
    };
    let bare: Vec<&String> = names.iter().map(|(name, _)| name).collect();
    unique(&bare, "scheme", keys.get(CHOSEN))?;
    names
        .into_iter()
        .map(|(name, item)| match defined.and_then(|tables| tables.get(&name)) {
            Some(table) => defined_scheme(name, table),
            None => match Preset::layer(&name) {
                Ok(preset) => Ok(Scheme { name, preset, own: Tree::table() }),
                Err(problem) => {
                    let known: Vec<&str> = defined_names.iter().copied().chain(Preset::names()).collect();
                    let problem = if name.contains('@') || defined_names.is_empty() {
                        problem
                    } else {
                        Problem::new(problem.message().to_owned()).help(suggest(&name, &known))
                    };
                    Err(at_value(problem, item))
                }
            },
        })
        .collect()
}

/// A scheme that the scenario itself defines: a preset, if it names one, and tables on top of the scenario.
fn defined_scheme(name: String, table: &Tree) -> Result<Scheme, Problem> {
    let mut own = table.clone();
    let preset = match own.take("preset") {
        Some(tree) => match tree.as_str() {
            Some(reference) => Preset::layer(reference).map_err(|problem| at_value(problem, Some(&tree)))?,
            None => return Err(at_value(Problem::new("`preset` is not the name of a scheme"), Some(&tree))),
        },
        None => Tree::table(),
    };
    for (key, child) in own.entries() {
        if !SCHEME_TABLES.contains(&key.as_str()) {
            let mut words = SCHEME_TABLES.to_vec();
            words.push("preset");
            let problem = Problem::new(format!("`{key}` is not a scheme's to set")).help(suggest(key, &words));
            return Err(at_key(problem, child));
        }
    }
    Ok(Scheme { name, preset, own })
}
