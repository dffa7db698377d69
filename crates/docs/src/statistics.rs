//! Whether statistics are still computed as they were.
//!
//! The digest of a simulation says nothing of the percentiles and intervals that are made of its flows. So the
//! statistics of a small run that no simulation made are computed, and a number stands for all of them: if it moves,
//! every figure that was stored before is stale.

use std::sync::OnceLock;

use tailcut_fixtures::{FakeRun, USUAL, fabricate};
use tailcut_lab::fingerprint;
use tailcut_results::{Analysis, csv};

/// A number that stands for how statistics are computed, in hexadecimal digits.
///
/// # Errors
/// If a temporary folder cannot be written.
pub fn statistics() -> Result<String, String> {
    static COMPUTED: OnceLock<Result<String, String>> = OnceLock::new();
    COMPUTED.get_or_init(compute).clone()
}

fn compute() -> Result<String, String> {
    // Intervals come from replications where there are several seeds, and from the flows where there is one.
    let runs = [FakeRun { flows: 400, ..USUAL }, FakeRun { seeds: 1, flows: 400, ..USUAL }];
    let mut all = String::new();
    for run in runs {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let info = fabricate(folder.path(), &run);
        let analysis = Analysis::of(folder.path(), &info, &|| false).map_err(|error| error.to_string())?;
        all += &csv::summary(&info, &analysis.rows);
    }
    Ok(format!("{:016x}", fingerprint(all.as_bytes())))
}
