//! How far the flow level and links alone are from packets: the table that ships.

use std::path::Path;

use crate::shell::{Done, Stop, cargo};

/// The schemes of which links alone are measured.
const BY_LINKS: &str = "schemes=[\"dctcp\", \"pias\", \"sjf\", \"swift\", \"tcp\"]";

/// `cargo xtask flow-errors`.
pub(crate) fn run(root: &Path) -> Done {
    let mut table = measure(root, "both", &[])?;
    let of_links = measure(root, "links-both", &["--set", BY_LINKS])?;
    // Both have the line that says what the columns are.
    table.extend(of_links.split_inclusive('\n').skip(1));
    let to = root.join("data/flow-errors.csv");
    std::fs::write(&to, table).map_err(|e| Stop::Failed(format!("cannot write {}: {e}", to.display())))
}

/// The table of one level, by its word for measuring.
fn measure(root: &Path, fidelity: &str, further: &[&str]) -> Result<String, Stop> {
    let out = root.join("target/flow-errors").join(fidelity);
    // Points of another table are none of this one.
    if out.exists() {
        std::fs::remove_dir_all(&out).map_err(|e| Stop::Failed(format!("cannot remove {}: {e}", out.display())))?;
    }
    let folder = out.display().to_string();
    // The profile of the tests: it is built already, and fast enough to simulate.
    let command = ["run", "--locked", "--quiet", "--profile", "test", "--package", "tailcut", "--"];
    let run = ["run", "scenarios/fidelity.toml", "--fidelity", fidelity, "--quiet", "--out", &folder];
    cargo(root, &command).args(run).args(further).run()?;
    let from = out.join("fidelity.csv");
    std::fs::read_to_string(&from).map_err(|e| Stop::Failed(format!("cannot read {}: {e}", from.display())))
}
