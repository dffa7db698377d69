//! From a run folder to statistics, tables, plots and a page.
//!
//! What is read: `points/KEY/{flows.parquet, ports.parquet, queues.parquet, summary.json}` of every point of a
//! [`RunInfo`], and `queries.parquet` where there is one. A point is finished when its `summary.json` exists; of a point without one the first line of
//! `points/KEY/error.txt` is shown as the reason, if there is such a file.
//!
//! What is written by [`write_results`]: `run.json`, `summary.csv`, `tables/`, `plots/` and `report.html`. Every file
//! appears complete or not at all, and the same points give the same bytes.
//!
//! Left out: comparisons of two runs.

mod analysis;
mod catalogue;
pub(crate) mod csv;
pub(crate) mod diagram;
pub(crate) mod figure;
pub(crate) mod load;
pub(crate) mod measurements;
mod metrics;
mod network;
pub(crate) mod number;
pub(crate) mod plot;
mod queries;
pub(crate) mod report;
pub mod stats;
mod style;
mod table;
mod ticks;

#[cfg(test)]
mod coverage;
#[cfg(test)]
pub(crate) mod fabricate;
#[cfg(test)]
pub(crate) mod queueing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tailcut_base::Bytes;
use tailcut_record::{RecordError, write_atomically};

pub use catalogue::{METRICS, Metric, describe};
pub use measurements::{Measurement, Measurements};
pub use metrics::{ALL, Row, SHORT_AND_INCAST};
pub use table::ClassTable;

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
    /// Names of the schemes, in the order in which they are shown.
    pub schemes: Vec<String>,
    /// The swept parameters.
    pub axes: Vec<Axis>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Names of the workload's traffic classes.
    pub classes: Vec<String>,
    /// Sizes at which flows are told apart, whatever their class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub size_bounds: Vec<Bytes>,
    /// Every simulation of the run, the failed ones included.
    pub points: Vec<Point>,
}

/// What one simulation says of itself; saved as `summary.json` when it is finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointSummary {
    /// Name of its scheme.
    pub scheme: String,
    /// Its value of each axis.
    pub values: Vec<String>,
    /// Its seed.
    pub seed: u64,
    /// Why it ended: "all measured flows finished", "time limit" ...
    pub end: String,
    /// Simulated time in ns.
    pub simulated_ns: f64,
    /// Numbers of flows.
    pub flows: FlowCounts,
    /// Offered and realised loads by where they are counted: `edge`, `core`, `fabric`.
    pub loads: BTreeMap<String, Load>,
    /// Packets dropped in the whole simulation, of all kinds, by reason.
    pub drops: BTreeMap<String, u64>,
    /// What it cost.
    pub engine: EngineFacts,
    /// What was suspicious.
    pub warnings: Vec<String>,
}

/// Numbers of flows of one simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Flows that started.
    pub total: u64,
    /// Flows whose last byte was received.
    pub finished: u64,
    /// Flows that were open at the end.
    pub censored: u64,
}

/// The load of a set of links, as a share of their rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// What the workload was asked for; `None` if the scenario does not say.
    pub offered: Option<f64>,
    /// What the flows that started amount to.
    pub realised: f64,
}

/// What one simulation cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineFacts {
    /// Packets over links: the unit of work.
    pub packet_hops: u64,
    /// Events taken from the calendar.
    pub events: u64,
    /// CPU time in ns of all its threads, waiting for each other included, writing rows not. Where simulations of several
    /// threads ran side by side: its share, by threads, of that of the whole process.
    pub cpu_ns: u64,
    /// Time that passed meanwhile in ns.
    pub wall_ns: u64,
    /// Threads that it ran on; nothing else of the results depends on them but times and memory.
    pub threads: u32,
    /// Largest memory in bytes.
    pub peak_bytes: u64,
    /// Digest of the stream of events, in hexadecimal digits.
    pub digest: String,
    /// Version of the engine.
    pub version: String,
}

/// Why results could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// A file could not be written or read.
    #[error(transparent)]
    File(#[from] RecordError),
    /// A file of JSON is not what it should be.
    #[error("{}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// It was asked to stop before all of them were written.
    #[error("stopped before the results were written")]
    Stopped,
    /// A picture could not be drawn.
    #[error("cannot draw {}: {message}", path.display())]
    Plot {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        message: String,
    },
}

/// A point without results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The point.
    pub point: Point,
    /// Why it has none.
    pub reason: String,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Paths of the swept parameters, as the columns of `summary.csv` are called.
    pub axes: Vec<String>,
    /// Every statistic, as in `summary.csv`.
    pub rows: Vec<Row>,
    /// A table of the headline statistics for each class, to print.
    pub tables: Vec<ClassTable>,
    /// What the reader of the results should know before believing them.
    pub warnings: Vec<String>,
    /// Points without results.
    pub missing: Vec<Missing>,
    /// Every statistic over all seeds and of each seed alone.
    pub measurements: Measurements,
    /// Every file that was written.
    pub files: Vec<PathBuf>,
}

impl RunInfo {
    /// Reads `run.json`.
    ///
    /// # Errors
    /// If the file cannot be read or is not of this form.
    pub fn read(path: &Path) -> Result<RunInfo, ResultsError> {
        read_json(path)
    }

    /// Writes `run.json`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ResultsError> {
        write_json(path, self)
    }
}

impl PointSummary {
    /// Reads `summary.json`.
    ///
    /// # Errors
    /// If the file cannot be read or is not of this form.
    pub fn read(path: &Path) -> Result<PointSummary, ResultsError> {
        read_json(path)
    }

    /// Writes `summary.json`, which says that the point is finished: write it last.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ResultsError> {
        write_json(path, self)
    }
}

/// Reads every finished point of `run` in the run folder `dir`, and writes statistics, tables, plots and the page.
///
/// A point that cannot be read is listed as missing; it does not stop the others.
///
/// # Errors
/// If a file of results cannot be written.
pub fn write_results(dir: &Path, run: &RunInfo) -> Result<Summary, ResultsError> {
    write_results_unless(dir, run, &|| false)
}

/// As [`write_results`], unless `stop` says to stop: it is asked often, between points and between files.
///
/// # Errors
/// If a file of results cannot be written, or `stop` says so.
pub fn write_results_unless(
    dir: &Path,
    run: &RunInfo,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Summary, ResultsError> {
    let analysis = analysis::Analysis::of(dir, run, stop)?;
    let mut files = Files::in_folder(dir);
    // A run that goes on has written the same before.
    let info = files.at("run.json")?;
    if !RunInfo::read(&info).is_ok_and(|known| known == *run) {
        run.write(&info)?;
    }
    files.text("summary.csv", &csv::summary(run, &analysis.rows))?;
    let tables = table::tables(run, &analysis);
    for table in &tables {
        files.text(&format!("tables/{}.txt", number::slug(&table.class)), &table.text)?;
        files.text(&format!("tables/{}.csv", number::slug(&table.class)), &table.csv)?;
    }
    let figures = figure::figures(run, &analysis);
    plot::draw_all(&figures, &mut files, stop)?;
    files.text("report.html", &report::page(run, &analysis, &figures))?;
    Ok(Summary {
        axes: run.axes.iter().map(|axis| axis.path.clone()).collect(),
        rows: analysis.rows,
        tables,
        warnings: analysis.warnings,
        missing: analysis.missing,
        measurements: analysis.measurements,
        files: files.written,
    })
}

/// Removes what [`write_results`] has written to `dir` but for `run.json`: results of other points than those that will
/// be there. Files with other endings in its folders are not touched.
///
/// # Errors
/// If a file cannot be removed.
pub(crate) fn remove_results(dir: &Path) -> Result<(), RecordError> {
    let mut stale = vec![dir.join("summary.csv"), dir.join("report.html")];
    for (folder, endings) in [("tables", ["txt", "csv"]), ("plots", ["svg", "png"])] {
        let entries = std::fs::read_dir(dir.join(folder)).into_iter().flatten().flatten();
        let ours = |path: &PathBuf| path.extension().is_some_and(|found| endings.iter().any(|ending| found == *ending));
        stale.extend(entries.map(|entry| entry.path()).filter(ours));
    }
    for path in stale {
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => return Err(RecordError::Write { path, source }),
            _ => {}
        }
    }
    for folder in ["tables", "plots"] {
        // It stays if it holds something else.
        let _ = std::fs::remove_dir(dir.join(folder));
    }
    Ok(())
}

/// Where results are written, and what has been.
pub(crate) struct Files<'a> {
    dir: &'a Path,
    written: Vec<PathBuf>,
}

impl<'a> Files<'a> {
    /// Files below the folder `dir`.
    pub(crate) fn in_folder(dir: &'a Path) -> Files<'a> {
        Files { dir, written: Vec::new() }
    }

    /// What has been written.
    pub(crate) fn written(&self) -> &[PathBuf] {
        &self.written
    }

    /// The place of the file `name`, whose folder is made.
    pub(crate) fn at(&mut self, name: &str) -> Result<PathBuf, ResultsError> {
        let path = self.dir.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| RecordError::Write { path: folder.to_owned(), source })?;
        }
        self.written.push(path.clone());
        Ok(path)
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) -> Result<(), ResultsError> {
        let path = self.at(name)?;
        Ok(replace(&path, text.as_bytes())?)
    }
}

/// Writes a file that is computed from the points: it appears complete or not at all, but does not wait for the disk,
/// because the same command writes it again after a power failure.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), RecordError> {
    // Hidden, and of no other process; a run removes what a killed one left.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    std::fs::write(&temporary, content).and_then(|()| std::fs::rename(&temporary, path)).map_err(|source| {
        // Whether or not there is a leftover, the error is what matters.
        let _ = std::fs::remove_file(&temporary);
        RecordError::Write { path: path.to_owned(), source }
    })
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, ResultsError> {
    let text = std::fs::read_to_string(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
    serde_json::from_str(&text).map_err(|source| ResultsError::Json { path: path.to_owned(), source })
}

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), ResultsError> {
    let text =
        serde_json::to_string_pretty(value).map_err(|source| ResultsError::Json { path: path.to_owned(), source })?;
    Ok(write_atomically(path, |out| writeln!(out, "{text}"))?)
}
