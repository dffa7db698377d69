//! The tests that run the built command as its users do, in an environment of their own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::random;
use crate::shell::{Call, Done, Stop};

/// The oldest Python that will do.
const OLDEST: (u32, u32) = (3, 11);

/// The environment, beside the sources.
const VENV: &str = ".venv";
/// The sources of the Python package.
const PACKAGE: &str = "python/tailcut";
const REQUIREMENTS: &str = "python/requirements.txt";

/// A Python that will do: `$PYTHON`, or the first of the usual names.
///
/// # Errors
/// If there is none.
pub(crate) fn find(root: &Path) -> Result<OsString, Stop> {
    let asked = std::env::var_os("PYTHON");
    let usual = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"].map(OsString::from);
    let candidates = asked.map_or_else(|| usual.to_vec(), |asked| vec![asked]);
    let mut seen = Vec::new();
    for candidate in candidates {
        let print = "import sys; print('%d.%d' % sys.version_info[:2])";
        let Some(printed) = Call::new(root, &candidate, &["-c", print]).output() else { continue };
        match version(&printed) {
            Some(version) if version >= OLDEST => return Ok(candidate),
            _ => seen.push(format!("{} is {}", candidate.to_string_lossy(), printed.trim())),
        }
    }
    let seen = if seen.is_empty() { String::new() } else { format!(" ({})", seen.join(", ")) };
    Err(Stop::Unusable(format!(
        "no Python {}.{} or later{seen}: install one, or name one as PYTHON=/path/to/python3, or run \
         `cargo xtask test --rust`",
        OLDEST.0, OLDEST.1
    )))
}

fn version(printed: &str) -> Option<(u32, u32)> {
    let (major, minor) = printed.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn inside(root: &Path) -> PathBuf {
    let folder = root.join(VENV);
    if cfg!(windows) { folder.join("Scripts").join("python.exe") } else { folder.join("bin").join("python") }
}

/// Makes the environment with the pinned packages, unless it is there already.
///
/// # Errors
/// If it cannot be made.
pub(crate) fn prepare(root: &Path) -> Done {
    let unreadable = |e: std::io::Error| Stop::Unusable(format!("{REQUIREMENTS}: {e}"));
    let wanted = std::fs::read_to_string(root.join(REQUIREMENTS)).map_err(unreadable)?;
    let stamp = root.join(VENV).join("requirements-installed.txt");
    let starts = Call::new(root, inside(root), &["-c", ""]).output().is_some();
    if starts && std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        eprintln!("{VENV} has what {REQUIREMENTS} asks for");
        return Ok(());
    }
    let python = find(root)?;
    Call::new(root, &python, &["-m", "venv", "--clear", VENV]).run().map_err(|stop| match stop {
        Stop::Failed(message) => Stop::Unusable(format!(
            "{message}: this Python has no venv module that works; on Debian or Ubuntu: apt install python3-venv"
        )),
        other => other,
    })?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
    Call::new(root, inside(root), &install).args(["--requirement", REQUIREMENTS]).run()?;
    std::fs::write(&stamp, wanted).map_err(|e| Stop::Unusable(format!("{}: {e}", stamp.display())))
}

/// The package as an installation would have it, below the folder into which cargo builds: its sources with the native
/// module that is built in `built`.
///
/// # Errors
/// If it cannot be copied.
fn stage(root: &Path, built: &Path) -> Result<PathBuf, Stop> {
    let staged = built.join("python");
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |e: std::io::Error| Stop::Unusable(format!("{path}: {e}"))
    };
    if staged.exists() {
        std::fs::remove_dir_all(&staged).map_err(failed(&staged))?;
    }
    copy_folder(&root.join(PACKAGE), &staged.join("tailcut")).map_err(failed(&staged))?;
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let module = built.join(format!("{prefix}_native{suffix}"));
    let name = if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" };
    std::fs::copy(&module, staged.join("tailcut").join(name)).map_err(failed(&module))?;
    Ok(staged)
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to.join(entry.file_name()))?;
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Runs the tests on the command at `program`, and on the package with the native module that is built beside it.
///
/// # Errors
/// If one fails.
pub(crate) fn test(root: &Path, program: &Path, seed: &str) -> Done {
    let staged = stage(root, program.parent().unwrap_or(root))?;
    // No caches: the tests leave nothing beside the sources.
    Call::new(
        root,
        inside(root),
        &["-m", "pytest", "-p", "no:cacheprovider", "-ra", "-n", "auto", "--dist", "worksteal", "python/tests"],
    )
    .env("PYTHONDONTWRITEBYTECODE", "1")
    .env("TAILCUT", program)
    .env("PYTHONPATH", staged)
    .env(random::SEED, seed)
    .run()
}

/// Runs a script of this repository that asks for no package and for the command at `program`.
///
/// # Errors
/// If it fails, or there is no Python.
pub(crate) fn plain(root: &Path, script: &str, program: &Path) -> Done {
    Call::new(root, find(root)?, &[script]).env("TAILCUT", program).run()
}

/// Runs a script of this repository with the package, whose native module is in the folder `built`.
///
/// # Errors
/// If it fails.
pub(crate) fn script(root: &Path, built: &Path, script: &str, arguments: &[&str]) -> Done {
    let staged = stage(root, built)?;
    Call::new(root, inside(root), &[script]).args(arguments).env("PYTHONPATH", staged).run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(version("3.9\n").unwrap() < OLDEST);
        assert!(version("3.11").unwrap() >= OLDEST && version("3.14\r\n").unwrap() >= OLDEST);
        assert_eq!(version("Python"), None);
    }
}
