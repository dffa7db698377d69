//! Closed forms of the literature beside what is simulated; the work is in `crates/validation`.

use std::path::Path;

use crate::shell::{Done, cargo};

/// `cargo xtask theory [NAME]`.
pub(crate) fn run(root: &Path, names: &[&str]) -> Done {
    let theory = ["run", "--locked", "--release", "--package", "tailcut-validation", "--bin", "theory", "--"];
    cargo(root, &theory).args(names).run_own()
}
