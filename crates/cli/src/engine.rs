//! Other machines: who simulates points for `--on`, and handing the command over to the Python package.

use std::ffi::OsString;
use std::process::Command;
use std::sync::{Arc, PoisonError, RwLock};

use tailcut_lab::{Executor, shell_word};
use tailcut_sim::Problem;

use crate::Stop;

/// Where else than in this process simulations may run.
pub trait Engines: Send + Sync {
    /// The engine called `name`, or at this address: `ray`, `dask`, `slurm`, `ray://head:10001`, `tcp://head:8786`.
    ///
    /// # Errors
    /// If there is none, with what to do.
    fn engine(&self, name: &str) -> Result<Arc<dyn Executor>, Problem>;
}

/// What this command was called with.
struct Called {
    words: Vec<OsString>,
    engines: Option<Box<dyn Engines>>,
}

static CALLED: RwLock<Called> = RwLock::new(Called { words: Vec::new(), engines: None });

/// The Pythons that are asked for the package, the first that has it wins.
const PYTHONS: [&str; 2] = ["python3", "python"];

/// Remembers what the command was called with, its own name first.
pub(crate) fn begin(words: &[OsString], engines: Option<Box<dyn Engines>>) {
    *CALLED.write().unwrap_or_else(PoisonError::into_inner) = Called { words: words.to_vec(), engines };
}

/// The arguments of the command, without its name.
fn words() -> Vec<OsString> {
    let called = CALLED.read().unwrap_or_else(PoisonError::into_inner);
    called.words.iter().skip(1).cloned().collect()
}

/// The command as it can be typed again.
pub(crate) fn command_line() -> String {
    line_of(words().iter().map(|word| word.to_string_lossy().into_owned()))
}

/// The command as it can be typed again for the whole run of which `--only` names one point.
pub(crate) fn command_line_of_all() -> String {
    let mut skip = false;
    let whole = words().into_iter().map(|word| word.to_string_lossy().into_owned()).filter(|word| {
        let is_value = std::mem::replace(&mut skip, word == "--only");
        !is_value && word != "--only" && !word.starts_with("--only=")
    });
    line_of(whole.collect::<Vec<_>>())
}

/// Words as a command of tailcut.
pub(crate) fn line_of(words: impl IntoIterator<Item = String>) -> String {
    std::iter::once("tailcut".to_owned()).chain(words).map(|word| shell_word(&word)).collect::<Vec<_>>().join(" ")
}

/// The engine that `--on` names, if it was given.
///
/// # Errors
/// If there is none of that name, or it cannot be used.
pub(crate) fn executor(on: Option<&str>) -> Result<Option<Arc<dyn Executor>>, Problem> {
    let called = CALLED.read().unwrap_or_else(PoisonError::into_inner);
    match (on, &called.engines) {
        (Some(name), Some(engines)) => engines.engine(name).map(Some),
        _ => Ok(None),
    }
}

/// Hands this command over to the Python package, if `--on` was given and this is not the command of that package;
/// says whether it did.
///
/// # Errors
/// If the package is not installed, or the exit code of its command unless that is 0.
pub(crate) fn hand_over(on: Option<&str>) -> Result<bool, Stop> {
    let is_package = CALLED.read().unwrap_or_else(PoisonError::into_inner).engines.is_some();
    let Some(name) = on.filter(|_| !is_package) else { return Ok(false) };
    let has_package = |python: &str| {
        let asked = Command::new(python).args(["-c", "import tailcut.distribute"]).output();
        asked.is_ok_and(|output| output.status.success())
    };
    let Some(python) = PYTHONS.into_iter().find(|python| has_package(python)) else {
        let extra = match name {
            "slurm" | "submitit" => "submitit",
            _ if name.starts_with("ray") => "ray",
            _ => "dask",
        };
        return Err(Problem::new(format!("`--on {name}` needs the Python package of tailcut, and no python3 has it"))
            .help(format!("install it: pip install './python[{extra}]' in the sources of tailcut"))
            .into());
    };
    let status = Command::new(python).args(["-m", "tailcut"]).args(words()).status();
    let status = status.map_err(|error| Problem::new(format!("cannot run {python}: {error}")))?;
    match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(0) => Ok(true),
        code => Err(Stop::Ended(code.unwrap_or(2))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_all_points_is_that_of_one_without_its_key() {
        let called = |words: &[&str]| {
            begin(&words.iter().map(OsString::from).collect::<Vec<_>>(), None);
            command_line_of_all()
        };
        let whole = "tailcut run a.toml --out 'two words'";
        assert_eq!(called(&["t", "run", "a.toml", "--only", "dctcp-s1-0", "--out", "two words"]), whole);
        assert_eq!(called(&["t", "run", "a.toml", "--only=dctcp-s1-0", "--out", "two words"]), whole);
        assert_eq!(called(&["t", "run", "a.toml", "--out", "two words"]), whole);
    }
}
