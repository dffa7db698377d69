//! Functions that judge claims which the language of claims has no word for.
//!
//! A claim names its function: `expected = { op = "function", name = "best_p999_by_workload", ... }`. A function gets a
//! [`Case`](crate::case::Case) and returns the numbers that decide with their bounds, as the operations of the language
//! do. What the document prints stays in `data/claims.toml`; the function says what is computed, and how near counts.
//! To add one: write it in the file of its scheme, and add its name to the list at the top of that file.

mod background;
mod closed_form;
mod hyline;
mod icon;
mod pdq;
mod resqueue;
mod shapes;
mod shared;
mod slytherin;
mod smartbuf;
mod spq;
mod superways;
mod tables;

use crate::case::Check;

/// A list of functions with their names.
macro_rules! functions {
    ($($name:ident,)+) => {
        /// The functions of this file by their names.
        pub(super) const FUNCTIONS: &[(&str, $crate::case::Check)] = &[$((stringify!($name), $name),)+];
    };
}
use functions;

/// Every function by its name, file by file.
const ALL: &[&[(&str, Check)]] = &[
    shared::FUNCTIONS,
    slytherin::FUNCTIONS,
    spq::FUNCTIONS,
    icon::FUNCTIONS,
    resqueue::FUNCTIONS,
    superways::FUNCTIONS,
    smartbuf::FUNCTIONS,
    hyline::FUNCTIONS,
    pdq::FUNCTIONS,
    background::FUNCTIONS,
];

/// The function of this name.
pub(crate) fn find(name: &str) -> Option<Check> {
    ALL.iter().copied().flatten().find(|(known, _)| *known == name).map(|(_, check)| *check)
}

/// The names of all functions.
#[cfg(test)]
pub(crate) fn names() -> Vec<&'static str> {
    ALL.iter().copied().flatten().map(|(name, _)| *name).collect()
}
