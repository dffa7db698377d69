//! What goes wrong, as the one class of exceptions of the package: `tailcut.Error`.

use std::fmt::Display;

use pyo3::prelude::*;
use tailcut_sim::Problem;

/// A `tailcut.Error` with this message and, where there is one, what would be right.
pub(crate) fn error(py: Python<'_>, message: &str, help: Option<&str>) -> PyErr {
    let mut text = format!("error: {message}");
    if let Some(help) = help {
        text.push_str(&format!("\n  = help: {help}"));
    }
    raise(py, &text, message, help, None)
}

/// A `tailcut.Error` of an error without a place.
pub(crate) fn error_of(py: Python<'_>, wrong: &dyn Display) -> PyErr {
    error(py, &wrong.to_string(), None)
}

/// A `tailcut.Error` with the message of the command line: line, caret and help.
pub(crate) fn error_at(py: Python<'_>, problem: &Problem) -> PyErr {
    let place = problem.origin().map(|origin| (origin.source.name.clone(), origin.line()));
    raise(py, problem.render(false).trim_end(), problem.message(), problem.help_text(), place)
}

fn raise(py: Python<'_>, text: &str, message: &str, help: Option<&str>, place: Option<(String, usize)>) -> PyErr {
    let (source, line) = place.unzip();
    let class = py.import("tailcut._error").and_then(|module| module.getattr("Error"));
    let made = class.and_then(|class| class.call1((text, message, help, source, line)));
    made.map_or_else(|broken| broken, PyErr::from_value)
}
