//! A value that a user wrote and that cannot be.

use std::fmt;
use std::path::PathBuf;

/// A place in a file that the scenario names, such as a size distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpot {
    /// The file.
    pub file: PathBuf,
    /// Line, counted from 1.
    pub line: usize,
    /// Text of that line, to show.
    pub text: String,
}

/// What is wrong with a value of the scenario, where, and what would be right.
///
/// Models know their own keys only; whoever holds the scenario's text turns `path` into a line and a caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Dotted path of the key, from the top of the scenario: `workload.traffic.short.share`.
    pub path: String,
    /// What is wrong, as a clause: "shares sum to 0.9".
    pub message: String,
    /// What would be right: "expected shares that sum to 1".
    pub help: Option<String>,
    /// Where it is wrong, if in a file that the key names.
    pub spot: Option<Box<FileSpot>>,
}

impl Invalid {
    /// `message` is wrong at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Invalid {
        Invalid { path: path.into(), message: message.into(), help: None, spot: None }
    }

    /// With what would be right.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Invalid {
        self.help = Some(help.into());
        self
    }

    /// With the place in a file that the key names.
    #[must_use]
    pub fn at(mut self, spot: FileSpot) -> Invalid {
        self.spot = Some(Box::new(spot));
        self
    }

    /// With `prefix` and a dot in front of the path.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Invalid {
        self.path = if self.path.is_empty() { prefix.to_owned() } else { format!("{prefix}.{}", self.path) };
        self
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)?;
        if let Some(help) = &self.help {
            write!(f, ": {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}
