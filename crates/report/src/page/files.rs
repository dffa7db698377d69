//! The data files of a run folder, to be linked.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_results::{ClassTable, Point, RunInfo, file_part};

/// The names of the data files of every simulation, by the name of its folder in `points/`.
pub(crate) struct PointFiles(BTreeMap<String, Vec<String>>);

impl PointFiles {
    /// The files that the simulations of `run` have written into the run folder `dir`, and the reason of one that has
    /// failed.
    pub(crate) fn of(dir: &Path, run: &RunInfo) -> PointFiles {
        let files_of = |point: &Point| match point.summary_in(dir) {
            Ok(Some(summary)) => summary.files.into_keys().chain(["summary.json".to_owned()]).collect(),
            _ if point.folder_in(dir).join("error.txt").is_file() => vec!["error.txt".to_owned()],
            _ => Vec::new(),
        };
        PointFiles(run.points.iter().map(|point| (point.key.clone(), files_of(point))).collect())
    }

    /// Those of one simulation, in alphabetical order.
    pub(crate) fn of_point(&self, key: &str) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }
}

/// The data files of a run beside those of its simulations.
pub(super) fn of_run(tables: &[ClassTable]) -> Vec<String> {
    let tables =
        tables.iter().flat_map(|table| ["txt", "csv"].map(|end| format!("tables/{}.{end}", file_part(&table.class))));
    ["scenario.toml", "run.json", "summary.csv"].into_iter().map(str::to_owned).chain(tables).collect()
}
