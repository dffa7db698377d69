//! The data files of a run folder, to be linked.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_results::{ClassTable, RunInfo, file_part};

/// Endings of the files of a simulation.
const ENDINGS: [&str; 3] = ["parquet", "json", "txt"];

/// The names of the data files of every simulation, by the name of its folder in `points/`.
pub(crate) struct PointFiles(BTreeMap<String, Vec<String>>);

impl PointFiles {
    /// The files that the simulations of `run` have left in the run folder `dir`. Those of a folder that cannot be read
    /// are none.
    pub(crate) fn of(dir: &Path, run: &RunInfo) -> PointFiles {
        let files_of = |key: &String| {
            let entries = std::fs::read_dir(dir.join("points").join(key)).into_iter().flatten().flatten();
            let mut names: Vec<String> = entries
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|found| ENDINGS.iter().any(|ending| found == *ending)))
                .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
                .filter(|name| !name.starts_with('.'))
                .collect();
            names.sort_unstable();
            names
        };
        PointFiles(run.points.iter().map(|point| (point.key.clone(), files_of(&point.key))).collect())
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
