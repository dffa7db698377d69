//! The native part of the Python package `tailcut`: conversion only. `python/tailcut` is the front of it.

mod executor;
mod folder;
mod plan;
mod problem;
mod progress;
mod table;

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use tailcut_lab::{Task, TaskHead, is_in_library, run_task};
use tailcut_sim::config::dotted;

use crate::executor::PythonEngines;
use crate::problem::{error, error_of};

/// Makes the version that of the file of this module, whose path Python knows.
#[pyfunction]
fn begin(library: PathBuf) {
    is_in_library(&library);
}

/// The version of tailcut, with a fingerprint of this module.
#[pyfunction]
fn version() -> &'static str {
    tailcut_lab::version()
}

/// Runs the command `tailcut` with these arguments, its name first, and returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| tailcut_cli::command(arguments, Some(Box::new(PythonEngines))))
}

/// The JSON schema of a scenario.
#[pyfunction]
fn schema() -> String {
    tailcut_lab::scenario_schema().to_string()
}

/// The keys of a dotted path.
#[pyfunction]
fn keys(py: Python<'_>, path: &str) -> PyResult<Vec<String>> {
    const HELP: &str = "expected keys with dots between them, such as \"workload.load\"";
    dotted::keys(path).map_err(|what| error(py, &format!("`{path}` is not a path of keys: {what}"), Some(HELP)))
}

/// Simulates a task into a run folder; `files` are those that its scenario names, by their paths.
#[pyfunction(name = "run_task")]
fn run_one(py: Python<'_>, head: &str, files: Vec<(PathBuf, Vec<u8>)>, folder: PathBuf) -> PyResult<()> {
    let head: TaskHead =
        serde_json::from_str(head).map_err(|wrong| error(py, &format!("this is no task of tailcut: {wrong}"), None))?;
    let files = files.into_iter().map(|(path, bytes)| (path, bytes.into())).collect();
    py.detach(|| run_task(&Task { head, files }, &folder)).map_err(|wrong| error_of(py, &wrong))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<plan::Plan>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(begin, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(keys, module)?)?;
    module.add_function(wrap_pyfunction!(run_one, module)?)?;
    module.add_function(wrap_pyfunction!(folder::info, module)?)?;
    module.add_function(wrap_pyfunction!(folder::finished, module)?)?;
    module.add_function(wrap_pyfunction!(folder::gather, module)?)?;
    module.add_function(wrap_pyfunction!(folder::summary, module)?)?;
    module.add_function(wrap_pyfunction!(folder::compare, module)?)?;
    module.add_function(wrap_pyfunction!(table::read, module)?)?;
    Ok(())
}
