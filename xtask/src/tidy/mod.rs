//! `cargo xtask tidy`: what this repository asks of itself and no compiler looks at.
//!
//! Each rule is a function of texts, so that it can be tried on a few lines.

mod direction;
mod excerpts;
mod modules;
mod presets;
mod source;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::files;
use crate::shell::{Done, Stop};

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, and the line if it is about one.
    file: PathBuf,
    line: Option<usize>,
    what: String,
}

impl Finding {
    fn new(file: &Path, line: Option<usize>, what: impl Into<String>) -> Finding {
        Finding { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// The text files of the repository by their paths.
type Texts = BTreeMap<PathBuf, String>;

pub(crate) fn run(root: &Path) -> Done {
    let mut texts = Texts::new();
    for file in files::all(root)? {
        let bytes = std::fs::read(root.join(&file)).map_err(|e| Stop::Unusable(format!("{}: {e}", file.display())))?;
        // What is not UTF-8 is a picture or a font.
        if let Ok(text) = String::from_utf8(bytes) {
            texts.insert(file, text);
        }
    }
    let mut findings = Vec::new();
    findings.extend(text::check(&texts));
    findings.extend(modules::check(&texts));
    findings.extend(direction::check(&texts));
    findings.extend(presets::check(&texts));
    findings.extend(excerpts::check(&texts));
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    let sources = texts.iter().filter(|(file, _)| is_rust(file));
    if let Some((longest, lines)) = sources.clone().map(|(file, text)| (file, text.lines().count())).max_by_key(|p| p.1)
    {
        println!("{} Rust files, the longest {} with {lines} lines", sources.count(), longest.display());
    }
    match findings.len() {
        0 => Ok(()),
        n => Err(Stop::Failed(format!("{n} thing{} not tidy", if n == 1 { " is" } else { "s are" }))),
    }
}

fn is_rust(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "rs")
}

/// The crate of a file below `crates/`, by the name of its folder.
fn crate_of(file: &Path) -> Option<&str> {
    let mut parts = file.iter();
    (parts.next()? == "crates").then(|| parts.next()?.to_str())?
}

/// Whether a file is part of what a crate ships: not a test, a benchmark or an example.
fn is_source(file: &Path) -> bool {
    is_rust(file) && crate_of(file).is_some() && file.iter().nth(2).is_some_and(|part| part == "src")
}

#[cfg(test)]
pub(crate) fn texts(files: &[(&str, &str)]) -> Texts {
    files.iter().map(|(file, text)| (PathBuf::from(file), (*text).to_owned())).collect()
}

#[cfg(test)]
pub(crate) fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_from_tests_and_benches() {
        let of = |file| (crate_of(Path::new(file)), is_source(Path::new(file)));
        assert_eq!(of("crates/base/src/ids.rs"), (Some("base"), true));
        assert_eq!(of("crates/sim/tests/closed_form.rs"), (Some("sim"), false));
        assert_eq!(of("crates/bench/benches/port.rs"), (Some("bench"), false));
        assert_eq!(of("xtask/src/main.rs"), (None, false));
    }
}
