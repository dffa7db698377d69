//! Problems at the place of the value that they are about.

use std::collections::BTreeSet;
use std::fmt::Display;

use tailcut_sim::{Problem, Tree};

/// A problem at the place of a value, if it has one.
pub(super) fn at_value(problem: Problem, tree: Option<&Tree>) -> Problem {
    match tree.and_then(|tree| tree.key_or_value()) {
        Some(origin) => problem.or_at(origin),
        None => problem,
    }
}

/// A problem at the key of a value, if it has one.
pub(super) fn at_key(problem: Problem, tree: &Tree) -> Problem {
    match &tree.key {
        Some(origin) => problem.or_at(origin),
        None => at_value(problem, Some(tree)),
    }
}

/// Checks that no item of a list is there twice; `what` is an item in a message.
pub(super) fn unique<T: Ord + Display>(items: &[T], what: &str, tree: Option<&Tree>) -> Result<(), Problem> {
    let mut seen = BTreeSet::new();
    match items.iter().find(|item| !seen.insert(*item)) {
        Some(item) => Err(at_value(Problem::new(format!("the {what} `{item}` is there twice")), tree)),
        None => Ok(()),
    }
}

/// Where something is said, in brackets behind its name: in which line, or on the command line.
pub(super) fn place_of(tree: &Tree) -> String {
    match tree.key_or_value() {
        Some(origin) if origin.source.name.starts_with("--") => format!(" (`{}`)", origin.source.name),
        Some(origin) => format!(" (line {})", origin.line()),
        None => String::new(),
    }
}
