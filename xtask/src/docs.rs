//! `cargo xtask docs`: what the pages show of commands; the work is in `crates/docs`.

use std::path::Path;

use crate::shell::{Done, cargo};

/// `cargo xtask docs [--check | --measure [NAME...]]`.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Done {
    // The profile of the tests, of which `--check` is one: both share what is built, and it is fast enough to simulate.
    let docs = ["run", "--locked", "--quiet", "--profile", "test", "--package", "tailcut-docs", "--"];
    cargo(root, &docs).args(arguments).run_own()
}
