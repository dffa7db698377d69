//! Problems at the place of the node that they are about.

use std::collections::BTreeSet;
use std::fmt::Display;

use tailcut_sim::{Node, Problem};

/// A problem at the place of a node, if it has one.
pub(super) fn at_node(problem: Problem, node: Option<&Node>) -> Problem {
    match node.and_then(|node| node.key_or_value()) {
        Some(origin) => problem.or_at(origin),
        None => problem,
    }
}

/// A problem at the key of a node, if it has one.
pub(super) fn at_key(problem: Problem, node: &Node) -> Problem {
    match &node.key {
        Some(origin) => problem.or_at(origin),
        None => at_node(problem, Some(node)),
    }
}

/// Checks that no item of a list is there twice; `what` is an item in a message.
pub(super) fn unique<T: Ord + Display>(items: &[T], what: &str, node: Option<&Node>) -> Result<(), Problem> {
    let mut seen = BTreeSet::new();
    match items.iter().find(|item| !seen.insert(*item)) {
        Some(item) => Err(at_node(Problem::new(format!("the {what} `{item}` is there twice")), node)),
        None => Ok(()),
    }
}
