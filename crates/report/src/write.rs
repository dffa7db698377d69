//! Writes the results of a run into its folder, and removes them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tailcut_record::RecordError;
use tailcut_results::number::slug;
use tailcut_results::{Analysis, ClassTable, Measurements, MissingPoint, OutputFolder, Row, RunInfo, csv, table};

use crate::error::ReportError;
use crate::page::page;
use crate::plot::draw_figures;
use crate::run_figures::figures;

/// The results of a run, as they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenResults {
    /// Every statistic, as in `summary.csv`.
    pub rows: Vec<Row>,
    /// A table of the headline statistics for each set of flows, to print.
    pub tables: Vec<ClassTable>,
    /// What the reader of the results should know before believing them.
    pub warnings: Vec<String>,
    /// Points without results.
    pub missing: Vec<MissingPoint>,
    /// Every statistic over all seeds, and what each seed contributes to it.
    pub measurements: Measurements,
    /// Every file that was written.
    pub files: Vec<PathBuf>,
}

/// Reads every finished point of `run` in the run folder `dir`, and writes `run.json`, `summary.csv`, `tables/`,
/// `plots/` and `report.html`. Every file appears complete or not at all, and the same points give the same bytes. A
/// point that cannot be read is listed as missing; it does not stop the others.
///
/// # Errors
/// If a file of results cannot be written, or [`tailcut_results::ResultsError::Stopped`] if `stop` says so: it is asked
/// often, between points and between pictures.
pub fn write_results(
    dir: &Path,
    run: &RunInfo,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<WrittenResults, ReportError> {
    let analysis = Analysis::of(dir, run, stop)?;
    let mut files = OutputFolder::new(dir);
    // The file is not written again if an earlier command, or the start of this run, has written the same.
    let info = files.file("run.json")?;
    if !RunInfo::read(&info).is_ok_and(|known| known == *run) {
        run.write(&info)?;
    }
    files.write("summary.csv", &csv::summary(run, &analysis.rows))?;
    let tables = table::tables(run, &analysis);
    for table in &tables {
        files.write(&format!("tables/{}.txt", slug(&table.class)), &table.text)?;
        files.write(&format!("tables/{}.csv", slug(&table.class)), &table.csv)?;
    }
    let figures = figures(run, &analysis);
    draw_figures(&figures, &mut files, stop)?;
    files.write("report.html", &page(run, &analysis, &figures))?;
    Ok(WrittenResults {
        rows: analysis.rows,
        tables,
        warnings: analysis.warnings,
        missing: analysis.missing,
        measurements: analysis.measurements,
        files: files.written().to_vec(),
    })
}

/// Removes what [`write_results`] has written to `dir` but for `run.json`, because it is about other points than those
/// that will be there. Files with other endings in its folders are not touched.
///
/// # Errors
/// If a file cannot be removed.
pub fn remove_results(dir: &Path) -> Result<(), RecordError> {
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
