//! Numbers in sentences: `docs/values.toml`.

use std::path::Path;

use regex::Regex;
use serde::Deserialize;
use tailcut_results::table::FEW_BEHIND;

use crate::cell::{Cell, rounded};
use crate::source::Source;
use crate::store::Store;

/// Where a number comes from. It is one of three: a statistic of a run (`from` and `cell`), a number in the output of
/// a command or in a file (`pattern`, and `from` or `file`), or how often a pattern occurs in a file (`count` and
/// `file`).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    /// The command.
    pub(crate) from: Option<String>,
    /// The statistic.
    pub(crate) cell: Option<Cell>,
    /// A file or a folder of files, from the root of the repository.
    file: Option<String>,
    /// A regular expression whose first group is the number.
    pattern: Option<String>,
    /// A regular expression.
    count: Option<String>,
    /// The number is multiplied by this, to change its unit.
    times: Option<f64>,
    /// Significant digits; without it a number is written as it was found.
    digits: Option<usize>,
}

impl Definition {
    /// The number as it is written.
    ///
    /// # Errors
    /// What the definition lacks, or that there is no such number.
    pub(crate) fn text(&self, store: &Store) -> Result<String, String> {
        let source = self.from.as_deref().map(|command| Source::parse(command, &store.root)).transpose()?;
        match (self, source) {
            (Definition { cell: Some(cell), .. }, Some(source)) => {
                let text = cell.text(&store.figures(&source)?)?;
                // A sentence has no line below it that says what the mark means.
                Ok(text.replace(FEW_BEHIND, " (of few values: the maximum or near it)"))
            }
            (Definition { pattern: Some(pattern), .. }, Some(source)) => self.found(pattern, &store.output(&source)?),
            (Definition { pattern: Some(pattern), file: Some(file), .. }, None) => {
                self.found(pattern, &content(&store.root.join(file))?)
            }
            (Definition { count: Some(pattern), file: Some(file), .. }, None) => {
                let found = expression(pattern)?.find_iter(&content(&store.root.join(file))?).count();
                Ok(found.to_string())
            }
            _ => {
                Err("a value needs `from` and `cell`, `pattern` and `from` or `file`, or `count` and `file`".to_owned())
            }
        }
    }

    fn found(&self, pattern: &str, text: &str) -> Result<String, String> {
        let expression = expression(pattern)?;
        let found = expression.captures(text).and_then(|captures| captures.get(1));
        let found = found.ok_or_else(|| format!("the pattern `{pattern}` has no group, or is nowhere"))?.as_str();
        if self.digits.is_none() && self.times.is_none() {
            return Ok(found.to_owned());
        }
        let number: f64 = found.replace(',', "").parse().map_err(|_| format!("`{found}` is no number"))?;
        Ok(rounded(number * self.times.unwrap_or(1.0), self.digits.unwrap_or(3)))
    }
}

/// `^` and `$` are the ends of lines.
fn expression(pattern: &str) -> Result<Regex, String> {
    Regex::new(&format!("(?m){pattern}")).map_err(|error| error.to_string())
}

/// The text of a file, or of all files of a folder.
fn content(path: &Path) -> Result<String, String> {
    let read =
        |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
    if !path.is_dir() {
        return read(path);
    }
    let entries = std::fs::read_dir(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    entries.flatten().map(|entry| read(&entry.path())).collect()
}
