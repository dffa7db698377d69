//! Sets of traffic classes that a scenario declares, to have the statistics of their flows together:
//! `class_sets = { "short+incast" = ["short", "incast"] }`.

use tailcut_base::Bytes;
use tailcut_results::{ALL, ClassSet, flow_set_names};
use tailcut_sim::config::suggest;
use tailcut_sim::{Problem, Tree, Value};

use super::names;
use super::place::{at_key, at_value};

/// The key that declares sets.
pub(super) const DECLARED: &str = "class_sets";

/// Checks that no traffic class has the name of the set of all flows.
pub(super) fn check_class_names(scenario: &Tree) -> Result<(), Problem> {
    let classes = scenario.get("workload").and_then(|tree| tree.get("traffic")).map_or(&[][..], Tree::entries);
    match classes.iter().find(|(name, _)| name == ALL) {
        Some((_, class)) => {
            let problem = Problem::new(format!("a class cannot be called `{ALL}`: results call all flows so"));
            Err(at_value(problem.help("expected another name, such as [workload.traffic.short]"), Some(class)))
        }
        None => Ok(()),
    }
}

/// The sets that `declared`, the value of the key, declares of these classes.
///
/// # Errors
/// If it is no table of lists, a list names a class that is not there or names one twice, or a name already has a
/// meaning in results.
pub(super) fn of(declared: Option<&Tree>, classes: &[String], size_bounds: &[Bytes]) -> Result<Vec<ClassSet>, Problem> {
    let Some(declared) = declared else { return Ok(Vec::new()) };
    let Value::Table(entries) = &declared.value else {
        return Err(at_value(expected(Problem::new(format!("`{DECLARED}` is not a table"))), Some(declared)));
    };
    let taken = flow_set_names(classes, &[], size_bounds);
    entries
        .iter()
        .map(|(name, list)| {
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "-_+.".contains(c)) {
                let problem = Problem::new(format!("`{name}` is not a name of a set of classes"));
                return Err(at_key(problem.help("expected letters, digits, `_`, `-`, `+` and `.`"), list));
            }
            names::check(name, "set of classes", list)?;
            if let Some(index) = taken.iter().position(|known| known == name) {
                let meaning = if index < classes.len() {
                    "there is a class of this name"
                } else if name == ALL {
                    "results call all flows so"
                } else {
                    "results call the flows of this size so"
                };
                let problem = Problem::new(format!("a set of classes cannot be called `{name}`: {meaning}"));
                return Err(at_key(problem.help("expected another name, such as \"short+incast\""), list));
            }
            Ok(ClassSet { name: name.clone(), classes: members(name, list, classes)? })
        })
        .collect()
}

/// The classes of a set.
fn members(set: &str, list: &Tree, classes: &[String]) -> Result<Vec<String>, Problem> {
    let Value::Array(items) = &list.value else {
        return Err(at_value(expected(Problem::new(format!("the set `{set}` is not a list of classes"))), Some(list)));
    };
    if items.is_empty() {
        return Err(at_value(expected(Problem::new(format!("the set `{set}` has no classes"))), Some(list)));
    }
    let member = |item: &Tree| {
        let name = item
            .as_str()
            .ok_or_else(|| at_value(expected(Problem::new("this is not the name of a class")), Some(item)))?;
        if classes.iter().any(|class| class == name) {
            return Ok(name.to_owned());
        }
        let known: Vec<&str> = classes.iter().map(String::as_str).collect();
        Err(at_value(Problem::new(format!("there is no class `{name}`")).help(suggest(name, &known)), Some(item)))
    };
    let mut members: Vec<String> = Vec::new();
    for item in items {
        let name = member(item)?;
        if members.contains(&name) {
            return Err(at_value(Problem::new(format!("the class `{name}` is there twice")), Some(item)));
        }
        members.push(name);
    }
    Ok(members)
}

fn expected(problem: Problem) -> Problem {
    problem.help(format!("expected {DECLARED} = {{ \"short+incast\" = [\"short\", \"incast\"] }}"))
}
