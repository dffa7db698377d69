//! Executors that are written in Python: Ray, Dask, or whatever a user has.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tailcut_cli::Engines;
use tailcut_lab::{Executor, Task, TaskEvent};
use tailcut_sim::Problem;

/// A Python callable that takes a list of tasks and the run folder, and returns an iterator over what happens:
/// `None` for nothing new, else a pair of a task's number and `None` if its files are in the folder, its files by their
/// names, or a text that says why it failed.
#[derive(Debug)]
pub(crate) struct PythonExecutor(pub(crate) Py<PyAny>);

impl PythonExecutor {
    fn follow(
        &self,
        py: Python<'_>,
        tasks: &[Task],
        folder: &Path,
        heard: &mut dyn FnMut(TaskEvent) -> ControlFlow<()>,
    ) -> PyResult<()> {
        let told = tasks.iter().map(|task| told_of(py, task)).collect::<PyResult<Vec<_>>>()?;
        let events = self.0.bind(py).call1((told, std::path::absolute(folder)?))?.try_iter()?;
        for event in events.clone() {
            let event = event_of(&event?)?;
            if heard(event).is_break() {
                // A generator then leaves its `finally`: it cancels what runs.
                if events.hasattr("close")? {
                    events.call_method0("close")?;
                }
                break;
            }
        }
        Ok(())
    }
}

/// The fields of a task.
type ToldTask<'py> = (String, f64, String, Vec<(String, Bound<'py, PyBytes>)>);

/// A task as Python sees it: its key, the CPU time in s that is expected, the task as JSON, its files.
fn told_of<'py>(py: Python<'py>, task: &Task) -> PyResult<ToldTask<'py>> {
    let head = serde_json::to_string(&task.head).expect("a task is JSON");
    let files = task.files.iter().map(|(path, bytes)| (path.display().to_string(), PyBytes::new(py, bytes)));
    Ok((task.head.point.key.clone(), task.head.cpu_s, head, files.collect()))
}

fn event_of(event: &Bound<'_, PyAny>) -> PyResult<TaskEvent> {
    if event.is_none() {
        return Ok(TaskEvent::Nothing);
    }
    let (index, what): (usize, Bound<'_, PyAny>) = event.extract()?;
    if what.is_none() {
        return Ok(TaskEvent::InFolder(index));
    }
    if let Ok(files) = what.cast::<PyDict>() {
        let files = files.iter().map(|(name, bytes)| Ok((name.extract()?, bytes.extract()?)));
        return Ok(TaskEvent::Files(index, files.collect::<PyResult<Vec<(String, Vec<u8>)>>>()?));
    }
    Ok(TaskEvent::Failed(index, what.extract()?))
}

impl Executor for PythonExecutor {
    fn run(
        &self,
        tasks: &[Task],
        folder: &Path,
        heard: &mut dyn FnMut(TaskEvent) -> ControlFlow<()>,
    ) -> Result<(), String> {
        Python::attach(|py| {
            self.follow(py, tasks, folder, heard).map_err(|error| {
                if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    "it was interrupted".to_owned()
                } else {
                    error.value(py).to_string()
                }
            })
        })
    }
}

/// The engines of `tailcut.distribute`.
pub(crate) struct PythonEngines;

impl Engines for PythonEngines {
    fn engine(&self, name: &str) -> Result<Arc<dyn Executor>, Problem> {
        Python::attach(|py| {
            let found = py.import("tailcut.distribute").and_then(|module| module.call_method1("engine", (name,)));
            match found {
                Ok(engine) => Ok(Arc::new(PythonExecutor(engine.unbind())) as Arc<dyn Executor>),
                Err(error) => {
                    let text = |of: &str| error.value(py).getattr(of).and_then(|text| text.extract::<String>()).ok();
                    let problem = Problem::new(text("message").unwrap_or_else(|| error.value(py).to_string()));
                    Err(match text("help") {
                        Some(help) => problem.help(help),
                        None => problem,
                    })
                }
            }
        })
    }
}
