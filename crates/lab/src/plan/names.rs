//! Names of the user's: those that become a part of file names and columns, and those that a command line refers to.

use tailcut_base::{MOST_NAME_BYTES, dotted};
use tailcut_sim::config::suggest;
use tailcut_sim::{Problem, Tree};

use super::place::at_key;
use super::settings::DEFINED;
use super::sweep::SweptAxis;

/// Checks that `name` can stand in a file name and a column; `what` is the thing that has it, `tree` what stands there.
///
/// # Errors
/// If it is empty or too long.
pub(super) fn check(name: &str, what: &str, tree: &Tree) -> Result<(), Problem> {
    if (1..=MOST_NAME_BYTES).contains(&name.len()) {
        return Ok(());
    }
    let problem = match name.len() {
        0 => Problem::new(format!("a {what} has the empty name")),
        bytes => Problem::new(format!("the name of a {what} has {bytes} bytes, and it becomes a part of file names")),
    };
    Err(at_key(problem.help(format!("expected a name of 1 to {MOST_NAME_BYTES} bytes")), tree))
}

/// A place below which the names are the user's: where it is, with `*` for any key, and what has the names.
struct Named {
    place: &'static [&'static str],
    what: &'static str,
}

const NAMED: [Named; 6] = [
    Named { place: &["settings"], what: "kind of settings" },
    Named { place: &["settings", "*"], what: "setting" },
    Named { place: &["workload", "traffic"], what: "traffic class" },
    Named { place: &["workload", "groups"], what: "group of hosts" },
    Named { place: &["settings", "*", "*", "workload", "traffic"], what: "traffic class" },
    Named { place: &["settings", "*", "*", "workload", "groups"], what: "group of hosts" },
];

impl Named {
    /// Whether a path of these keys leads into something that has such a name. A path that ends with the name defines
    /// the thing as a whole.
    fn is_above(&self, keys: &[String]) -> bool {
        keys.len() > self.place.len() + 1
            && self.place.iter().zip(keys).all(|(place, key)| *place == "*" || place == key)
    }

    /// The names that a layer defines there. Of classes and groups those of the scenario and of all settings count:
    /// settings change both.
    fn defined<'a>(&self, layer: &'a Tree, keys: &[String]) -> Vec<&'a str> {
        let at = |tree: &'a Tree, keys: &[String]| keys.iter().try_fold(tree, |tree, key| tree.get(key));
        let place = &keys[..self.place.len()];
        let places: Vec<&Tree> = match place {
            [.., workload, names] if workload == "workload" => {
                let below = [workload.clone(), names.clone()];
                let kinds = layer.get(DEFINED).map_or(&[][..], Tree::entries).iter().map(|(_, kind)| kind);
                let settings = kinds.flat_map(Tree::entries).map(|(_, setting)| setting);
                std::iter::once(layer).chain(settings).filter_map(|tree| at(tree, &below)).collect()
            }
            _ => at(layer, place).into_iter().collect(),
        };
        places.into_iter().flat_map(Tree::entries).map(|(name, _)| name.as_str()).collect()
    }
}

/// Checks that what the command line changes inside of a setting, a traffic class or a group is there: these names are
/// the user's, so that another one would be another thing that nothing uses. `set` are the arguments, `assignments`
/// what they say, `scenario` the layers of the scenario.
///
/// # Errors
/// If a name is not there.
pub(super) fn check_set(set: &[String], assignments: &[Tree], scenario: &[Tree]) -> Result<(), Problem> {
    let paths: Vec<Vec<String>> = set.iter().map(|argument| keys_of(argument)).collect();
    for (keys, assignment) in paths.iter().zip(assignments) {
        let defines = |depth: usize| {
            let whole = paths.iter().zip(assignments).filter(move |(path, _)| path.len() <= depth + 1);
            scenario.iter().chain(whole.map(|(_, tree)| tree)).collect()
        };
        if let Some((problem, whole)) = missing(keys, defines) {
            let help = problem.help_text().map_or_else(String::new, |help| format!("{help}; "));
            let problem = problem.help(format!("{help}a new one is set as a whole: --set '{whole}={{ ... }}'"));
            return Err(at_key(problem, assignment.get(&keys[0]).unwrap_or(assignment)));
        }
    }
    Ok(())
}

/// The same of what is swept, in the scenario with what the command line says.
///
/// # Errors
/// If a name is not there.
pub(super) fn check_axes(axes: &[SweptAxis], assignments: &[Tree], scenario: &[Tree]) -> Result<(), Problem> {
    for swept in axes {
        let keys = dotted::keys(&swept.axis.path).unwrap_or_default();
        if let Some((problem, _)) = missing(&keys, |_| scenario.iter().chain(assignments).collect()) {
            return Err(problem.or_at(&swept.origin));
        }
    }
    Ok(())
}

/// A problem with the names on the way of a path, if one is not there, and the path of what has this name. `defines`
/// are the layers that define names so many keys deep.
fn missing<'a>(keys: &[String], defines: impl Fn(usize) -> Vec<&'a Tree>) -> Option<(Problem, String)> {
    NAMED.iter().filter(|named| named.is_above(keys)).find_map(|named| {
        let depth = named.place.len();
        let known: Vec<&str> = defines(depth).into_iter().flat_map(|layer| named.defined(layer, keys)).collect();
        let name = &keys[depth];
        if known.contains(&name.as_str()) {
            return None;
        }
        let problem = Problem::new(format!("the scenario has no {} `{name}`", named.what));
        let problem = if known.is_empty() { problem } else { problem.help(suggest(name, &known)) };
        Some((problem, dotted::path(&keys[..=depth])))
    })
}

/// The keys of the path that an argument of `--set` assigns to.
pub(super) fn keys_of(argument: &str) -> Vec<String> {
    dotted::assignment(argument).and_then(|(path, _)| dotted::keys(path).ok()).unwrap_or_default()
}
