//! How far the flow level is from packets: the table that ships.

use std::path::Path;

use crate::shell::{Done, Stop, cargo};

/// `cargo xtask flow-errors`.
pub(crate) fn run(root: &Path) -> Done {
    let out = root.join("target/flow-errors");
    // Points of another table are none of this one.
    if out.exists() {
        std::fs::remove_dir_all(&out).map_err(|e| Stop::Failed(format!("cannot remove {}: {e}", out.display())))?;
    }
    let folder = out.display().to_string();
    // The profile of the tests: it is built already, and fast enough to simulate.
    let command = ["run", "--locked", "--quiet", "--profile", "test", "--package", "tailcut", "--"];
    let run = ["run", "scenarios/fidelity.toml", "--fidelity", "both", "--quiet", "--out", &folder];
    cargo(root, &command).args(run).run()?;
    let (from, to) = (out.join("fidelity.csv"), root.join("data/flow-errors.csv"));
    std::fs::copy(&from, &to)
        .map(|_| ())
        .map_err(|e| Stop::Failed(format!("cannot copy {} to {}: {e}", from.display(), to.display())))
}
