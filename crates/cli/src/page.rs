//! What is printed: pages on the standard output, and lines on the standard error.
//!
//! Output is no reason to die: a reader that has gone away, as of `tailcut list | head`, ends nothing, and a run goes
//! on whoever listens. A page that cannot be stored, as on a full disk, is an error all the same.

use std::fmt::{Arguments, Display};
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a page could not be printed, although there was somebody to read it.
static IS_LOST: AtomicBool = AtomicBool::new(false);

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
        let mut out = std::io::stdout();
        if let Err(error) = out.write_all(self.0.as_bytes()).and_then(|()| out.flush())
            && error.kind() != ErrorKind::BrokenPipe
        {
            say_line(format_args!("error: cannot print: {error}"));
            IS_LOST.store(true, Ordering::Relaxed);
        }
    }
}

/// Whether a page could not be printed.
pub(crate) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// Prints a line on the standard error, if it is open.
pub(crate) fn say_line(line: Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints a line on the standard error, as `eprintln!` does, which panics where that is closed.
macro_rules! say {
    ($($line:tt)*) => { $crate::page::say_line(format_args!($($line)*)) };
}
pub(crate) use say;

/// Whether text on the standard error may have colours: on a terminal that can show them, unless the user wants none
/// (no-color.org).
pub(crate) fn has_colours() -> bool {
    use std::io::IsTerminal;
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !is_set("NO_COLOR") && !is_dumb()
}

/// Whether the terminal can do nothing but show lines.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}
