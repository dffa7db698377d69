//! `cargo xtask mutants`: whether a test fails when the code is changed, by cargo-mutants.

use std::path::Path;

use crate::shell::{Call, Done, Stop};

/// The crates that decide results.
const CRATES: [&str; 9] = ["base", "calendar", "model", "fabric", "host", "topology", "workload", "record", "results"];

/// Of so many mutants one is tried if nobody says.
const ONE_OF: u32 = 200;

/// Tries one mutant of `ONE_OF`, or of as many as the argument says, with the tests of the workspace. Those that no
/// test finds are in `target/mutants.out/missed.txt`.
///
/// # Errors
/// If cargo-mutants is missing, or a mutant survives.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Done {
    let one_of =
        match arguments {
            [] => ONE_OF,
            [number] => number.parse().ok().filter(|&number| number > 0).ok_or_else(|| {
                Stop::Unusable(format!("`{number}` is not a number of mutants of which one is tried"))
            })?,
            _ => return Err(Stop::Unusable("expected nothing, or of how many mutants one is tried".to_owned())),
        };
    if Call::new(root, "cargo", &["mutants", "--version"]).output().is_none() {
        return Err(Stop::Unusable("cargo-mutants is missing: cargo install --locked cargo-mutants".to_owned()));
    }
    let packages = CRATES.iter().flat_map(|name| ["--package".to_owned(), format!("tailcut-{name}")]);
    Call::new(
        root,
        "cargo",
        &["mutants", "--output", "target", "--test-workspace", "true", "--sharding", "round-robin"],
    )
    .args(["--shard".to_owned(), format!("0/{one_of}")])
    .args(packages)
    .run()
}
