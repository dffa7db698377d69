//! The tables, pictures and figures of the pages, made by commands.
//!
//! A page of Markdown holds *blocks* and *values* ([`markup`]). A block begins with the command that its content comes
//! from and says what of its results is shown; a value is one number in a sentence, defined in `docs/values.toml`. No
//! result is in the pages alone: what commands came to is stored in `results/` ([`Store`]), and everything is rendered
//! from there. So [`Pages::check`] finds what was edited by hand without running the commands again.
//!
//! What it does run is small. Simulations are stored with the fingerprints of their configurations and their digests:
//! one of them is run again for each scenario and study ([`tailcut_reproduce::standing`]), and the statistics of a run
//! that no simulation made are computed again (`statistics`). If one of them has moved, what was measured is stale.
//! Times and memory are of a machine and of a day: they stand with both, and nothing but measuring makes them again.

mod cell;
mod delays;
mod effects;
mod figures;
pub mod markup;
mod measure;
mod pages;
mod picture;
mod readings;
mod screening;
mod source;
mod statistics;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod verdicts;

use std::fmt;
use std::path::PathBuf;

pub use measure::measure;
pub use pages::Pages;
pub use source::Source;
pub use store::Store;

/// Something about a page that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, from the root of the repository.
    pub file: PathBuf,
    /// The line, from 1; `None` if it is about the file as a whole.
    pub line: Option<usize>,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl Finding {
    pub(crate) fn new(file: impl Into<PathBuf>, line: impl Into<Option<usize>>, what: impl Into<String>) -> Finding {
        Finding { file: file.into(), line: line.into(), what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map_or_else(String::new, |line| format!(":{line}"));
        write!(f, "{}{line}: {}", self.file.display(), self.what)
    }
}
