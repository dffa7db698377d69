//! The swept parameters of a scenario.

use tailcut_base::dotted;
use tailcut_results::Axis;
use tailcut_sim::{Origin, Problem, Tree, Value};

use super::place::unique;

/// The table that defines what is swept.
const DEFINED: &str = "sweep";

/// A swept parameter.
#[derive(Clone, Debug)]
pub(super) struct SweptAxis {
    /// Its path and its values as they are written.
    pub(super) axis: Axis,
    /// Its values.
    pub(super) values: Vec<Tree>,
    /// Where its key stands, for messages.
    pub(super) origin: Origin,
}

/// Takes the swept parameters out of the layers of a scenario, the lowest first. A parameter that the command line sets
/// is no longer swept.
///
/// # Errors
/// If one of them is swept over no list of values, or a value is there twice.
pub(super) fn take(layers: &mut [Tree], over: &Tree) -> Result<Vec<SweptAxis>, Problem> {
    let mut axes = Vec::new();
    let swept: Vec<Tree> = layers
        .iter_mut()
        .filter_map(|layer| layer.take(DEFINED))
        .map(|sweep| Tree::of_entries([(DEFINED, sweep)]))
        .collect();
    if let Some(sweep) = Tree::layered(&swept).get(DEFINED) {
        collect(sweep, "", &mut axes)?;
    }
    axes.retain(|swept| !exists(over, &swept.axis.path));
    Ok(axes)
}

/// Collects the axes below `tree`; a path may be written in quotes or as nested tables.
fn collect(tree: &Tree, prefix: &str, axes: &mut Vec<SweptAxis>) -> Result<(), Problem> {
    for (key, child) in tree.entries() {
        let origin = child.key.clone().expect("a key that was read has a place");
        let keys = dotted::keys(key).map_err(|what| {
            Problem::new(format!("`{key}` is not a path of keys: {what}"))
                .help("expected keys with dots between them, such as \"workload.load\"")
                .or_at(&origin)
        })?;
        let path = keys.iter().fold(prefix.to_owned(), |path, key| dotted::join(&path, key));
        if axes.iter().any(|swept| swept.axis.path == path) {
            let problem = Problem::new(format!("`{path}` is swept twice"));
            return Err(problem.help("expected one list of its values").or_at(&origin));
        }
        match &child.value {
            Value::Table(_) => collect(child, &path, axes)?,
            Value::Array(values) if !values.is_empty() => {
                let texts: Vec<String> = values.iter().map(Tree::to_text).collect();
                unique(&texts, "value", Some(child))?;
                axes.push(SweptAxis { axis: Axis { path, values: texts }, values: values.clone(), origin });
            }
            _ => {
                return Err(Problem::new(format!("`{path}` is swept over no list of values"))
                    .help("expected a list, such as \"workload.load\" = [0.4, 0.6, 0.8]")
                    .or_at(&origin));
            }
        }
    }
    Ok(())
}

/// Whether something stands at a dotted path.
pub(super) fn exists(tree: &Tree, path: &str) -> bool {
    tree.at(path).is_some()
}
