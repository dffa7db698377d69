//! Text that is printed at once, so that `tailcut list | head` ends quietly when its reader has seen enough.

use std::fmt::Display;
use std::io::Write;

/// Lines to print.
#[derive(Default)]
pub(crate) struct Page(String);

impl Page {
    /// Adds a line.
    pub(crate) fn line(&mut self, line: impl Display) {
        self.0.push_str(&line.to_string());
        self.0.push('\n');
    }

    /// Prints all lines. A reader that has gone away is not an error.
    pub(crate) fn print(self) {
        let _ = std::io::stdout().write_all(self.0.as_bytes());
    }
}
