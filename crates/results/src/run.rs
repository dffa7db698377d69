//! What was run: the schemes, the swept parameters, the seeds and every point.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tailcut_base::Bytes;
use tailcut_record::{RecordError, set_aside};

use crate::error::ResultsError;
use crate::json;
use crate::result_files::ResultFiles;

/// The file that describes the run of a run folder.
const RUN: &str = "run.json";

/// A swept parameter of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Dotted path of the parameter: `workload.load`.
    pub path: String,
    /// Its values as they are written in the scenario.
    pub values: Vec<String>,
}

/// One simulation of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Name of its folder in `points/`.
    pub key: String,
    /// Name of its scheme.
    pub scheme: String,
    /// Its value of each axis.
    pub values: Vec<String>,
    /// Its seed.
    pub seed: u64,
}

/// Several traffic classes whose flows have statistics together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassSet {
    /// Its name, which stands in the column `class` of results.
    pub name: String,
    /// The names of its classes.
    pub classes: Vec<String>,
}

/// A point without results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPoint {
    /// The point.
    pub point: Point,
    /// Why it has none.
    pub reason: String,
    /// Whether it was finished, and its files are not what was written.
    pub damaged: bool,
}

/// What was run; saved as `run.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Name of the run folder.
    pub name: String,
    /// Title of the scenario.
    pub title: String,
    /// Version of tailcut.
    pub version: String,
    /// The command that made the run.
    pub command: String,
    /// The effective scenario.
    pub scenario_toml: String,
    /// The copies of the files that the scenario names: their paths below the run folder, by the paths in the scenario.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// Names of the schemes, in the order in which they are shown.
    pub schemes: Vec<String>,
    /// The swept parameters.
    pub axes: Vec<Axis>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Names of the workload's traffic classes.
    pub classes: Vec<String>,
    /// Sets of these classes, as the scenario declares them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_sets: Vec<ClassSet>,
    /// Sizes at which results tell flows apart, whatever their class; ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub size_bounds: Vec<Bytes>,
    /// What a reader of every table should know, a sentence each: which schemes are not what they are called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What schemes take from the scenario, and what they keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<SchemeDifferences>,
    /// Every simulation of the run, the failed ones included.
    pub points: Vec<Point>,
    /// The hashes that the content of `scenario.toml` may have: of the text that belongs to this, and of the one
    /// before, which is there until it is replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenario: Vec<String>,
    /// The files of results that were written into the folder, by their names below it: only these are removed when
    /// they are out of date.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub results: ResultFiles,
}

/// In what a scheme differs from something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemeDifferences {
    /// The scheme.
    pub scheme: String,
    /// What it is compared with, such as "its preset".
    pub from: String,
    /// Each difference as a plain text, such as "port.limit is 240KB instead of 4MB".
    pub differences: Vec<String>,
}

impl SchemeDifferences {
    /// All of it in a sentence.
    pub fn sentence(&self) -> String {
        format!("{} differs from {}: {}", self.scheme, self.from, self.differences.join(", "))
    }
}

/// The scheme that a name means among those of a run: the one of this name, or the preset of this name that the run has
/// changed, whose label ends in a star.
pub fn scheme_called<'a>(schemes: &'a [String], name: &str) -> Option<&'a String> {
    let exactly = schemes.iter().find(|scheme| *scheme == name);
    exactly.or_else(|| schemes.iter().find(|scheme| scheme.strip_suffix('*') == Some(name)))
}

impl RunInfo {
    /// Reads `run.json` in a run folder.
    ///
    /// # Errors
    /// If there is none, or it is not what was written.
    pub fn read(folder: &Path) -> Result<RunInfo, ResultsError> {
        let path = folder.join(RUN);
        let info: RunInfo = json::read(&path)?;
        let is_name = |key: &str| Path::new(key).file_name().is_some_and(|name| name == key);
        match info.points.iter().find(|point| !is_name(&point.key)) {
            Some(point) => Err(ResultsError::Damaged { path, what: format!("`{}` is no name of a folder", point.key) }),
            None => Ok(info),
        }
    }

    /// Writes `run.json` into a run folder. What has its name there and is not a file is set aside.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), ResultsError> {
        let path = folder.join(RUN);
        if path.metadata().is_ok_and(|kind| !kind.is_file()) {
            set_aside(&path).map_err(|source| RecordError::Write { path: path.clone(), source })?;
        }
        json::write(&path, self)
    }

    /// The values of a design point as they are written, by their indices on the axes.
    pub(crate) fn value_texts(&self, values: &[usize]) -> Vec<String> {
        values.iter().zip(&self.axes).map(|(&value, axis)| axis.values[value].clone()).collect()
    }
}

/// The index of each value on its axis; `None` if one of them is not there.
pub(crate) fn value_indices(axes: &[Axis], values: &[String]) -> Option<Vec<usize>> {
    let on_axis = |(value, axis): (&String, &Axis)| axis.values.iter().position(|known| known == value);
    let indices: Vec<usize> = values.iter().zip(axes).map(on_axis).collect::<Option<_>>()?;
    (values.len() == axes.len()).then_some(indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(key: &str) -> RunInfo {
        RunInfo {
            name: String::new(),
            title: String::new(),
            version: String::new(),
            command: String::new(),
            scenario_toml: String::new(),
            inputs: BTreeMap::new(),
            schemes: Vec::new(),
            axes: Vec::new(),
            seeds: Vec::new(),
            classes: Vec::new(),
            class_sets: Vec::new(),
            size_bounds: Vec::new(),
            notes: Vec::new(),
            differences: Vec::new(),
            points: vec![Point { key: key.to_owned(), scheme: String::new(), values: Vec::new(), seed: 1 }],
            scenario: Vec::new(),
            results: ResultFiles::new(),
        }
    }

    #[test]
    fn a_run_json_is_read_if_it_is_what_was_written_and_its_points_are_folders_of_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RUN);
        assert!(matches!(RunInfo::read(folder.path()), Err(ResultsError::File(_))), "there is none");
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(RunInfo::read(folder.path()), Err(ResultsError::Damaged { .. })));
        info("a-s1-0").write(folder.path()).unwrap();
        assert!(folder.path().join("run.json.aside").is_dir());
        assert_eq!(RunInfo::read(folder.path()).unwrap(), info("a-s1-0"));
        for outside in ["..", "../a", "/etc", "", "a/../../b"] {
            info(outside).write(folder.path()).unwrap();
            let error = RunInfo::read(folder.path()).unwrap_err().to_string();
            assert!(error.ends_with("is no name of a folder"), "{outside}: {error}");
        }
        info("a-s1-0").write(folder.path()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"seed\": 1", "\"seed\": 2")).unwrap();
        assert!(matches!(RunInfo::read(folder.path()), Err(ResultsError::Damaged { .. })));
    }
}
