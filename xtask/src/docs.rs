//! `cargo xtask docs`: what the pages show of commands; the work is in `crates/docs`. Also what is made of the schema
//! of scenarios: the reference of the guide, and the keys of the Python package.

use std::path::Path;

use crate::python;
use crate::shell::{Call, Done, Stop, cargo, target_folder};

/// The page of the guide with every key.
const REFERENCE: &str = "docs/guide/src/reference.md";

/// `cargo xtask docs [--check | --measure [NAME...]]`.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Done {
    // Python tests check what is made of the schema.
    if !arguments.contains(&"--check") {
        of_schema(root)?;
    }
    // The profile of the tests, of which `--check` is one: both share what is built, and it is fast enough to simulate.
    let docs = ["run", "--locked", "--quiet", "--profile", "test", "--package", "tailcut-docs", "--"];
    cargo(root, &docs).args(arguments).run_own()
}

/// Writes what is made of the schema of scenarios anew.
fn of_schema(root: &Path) -> Done {
    cargo(root, &["build", "--locked", "--quiet", "--profile", "test", "--package", "tailcut"]).run()?;
    let program = target_folder()?.join("debug").join(format!("tailcut{}", std::env::consts::EXE_SUFFIX));
    let failed = |what: &str| Stop::Failed(format!("`{} {what}` failed", program.display()));
    let page = Call::new(root, &program, &["show", "reference"]).output();
    let path = root.join(REFERENCE);
    std::fs::write(&path, page.ok_or_else(|| failed("show reference"))?)
        .map_err(|e| Stop::Unusable(format!("{}: {e}", path.display())))?;
    python::plain(root, "python/scripts/keys.py", &program)
}
