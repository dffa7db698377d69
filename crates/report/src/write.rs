//! Writes the results of a run into its folder, and removes them.

use std::path::{Path, PathBuf};

use tailcut_results::{
    Analysis, ClassTable, Measurements, MissingPoint, OutputFolder, ResultFiles, Row, RunInfo, Staging, csv, file_part,
    table, withdraw,
};

use crate::annotations::Annotations;
use crate::canvas::write_moving;
use crate::error::ReportError;
use crate::memories;
use crate::page::{PointFiles, page};
use crate::picture::Picture;
use crate::plot::draw_all;
use crate::recorded;
use crate::run_figures::{Material, pictures};

/// The results of a run, as they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenResults {
    /// Every statistic, as in `summary.csv`.
    pub rows: Vec<Row>,
    /// A table of the headline statistics for each set of flows, to print.
    pub tables: Vec<ClassTable>,
    /// What the reader should know of the schemes.
    pub notes: Vec<String>,
    /// What the reader of the results should know before believing them.
    pub warnings: Vec<String>,
    /// Points without results.
    pub missing: Vec<MissingPoint>,
    /// Every statistic over all seeds, and what each seed contributes to it.
    pub measurements: Measurements,
    /// Every file that was written.
    pub files: Vec<PathBuf>,
}

/// Writes the results of `run` into the run folder `dir`, of which `analysis` has read the finished points: `run.json`,
/// `summary.csv`, `tables/`, `plots/` and `report.html`. Every file appears complete or not at all, and the same points
/// give the same bytes. Points that could not be read are listed on the page.
///
/// # Errors
/// If a file of results cannot be written, or [`tailcut_results::ResultsError::Stopped`] if `stop` says so: it is asked
/// often, between pictures.
pub fn write_results(
    dir: &Path,
    run: &RunInfo,
    analysis: Analysis,
    annotations: &Annotations,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<WrittenResults, ReportError> {
    // Complete results are moved to their places: a run that is killed while it draws leaves those before as they were.
    let staging = Staging::new(dir)?;
    let mut files = OutputFolder::new(staging.folder());
    files.write("summary.csv", &csv::summary(run, &analysis.rows))?;
    let tables = table::tables(run, &analysis);
    for table in &tables {
        let name = file_part(&table.class);
        files.write(&format!("tables/{name}.txt"), &table.text)?;
        files.write(&format!("tables/{name}.csv"), &table.csv)?;
    }
    let recorded = recorded::read(dir, run, &analysis);
    let material = Material { run, analysis: &analysis, recorded: &recorded, ratios: annotations.ratio_index() };
    let mut pictures = pictures(&material);
    pictures.extend(memories::strips(dir, run, &analysis).into_iter().map(Picture::Strips));
    draw_all(&pictures, Picture::name, &mut files, stop)?;
    for picture in &pictures {
        if let Some(name) = picture.moving() {
            write_moving(picture, &files.file(&format!("plots/{name}"))?)?;
        }
    }
    files.write("report.html", &page(&material, annotations, &tables, &pictures, &PointFiles::of(dir, run)))?;
    let below = |path: &PathBuf| Some(path.strip_prefix(staging.folder()).ok()?.to_string_lossy().into_owned());
    let names: Vec<String> = files.written().iter().filter_map(below).collect();
    let known = RunInfo::read(dir).ok();
    let old = known.as_ref().map_or_else(ResultFiles::new, |known| known.results.clone());
    let aside = staging.publish(&names, &old, |results| {
        let run = RunInfo { results: results.clone(), ..known.clone().unwrap_or_else(|| run.clone()) };
        // The file is not written again if an earlier command has written the same.
        if known.as_ref() == Some(&run) { Ok(()) } else { run.write(dir) }
    })?;
    let written = ["run.json".to_owned()].into_iter().chain(names).map(|name| dir.join(name)).collect();
    Ok(WrittenResults {
        rows: analysis.rows,
        tables,
        notes: annotations.notes.clone(),
        warnings: analysis.warnings.into_iter().chain(aside).collect(),
        missing: analysis.missing,
        measurements: analysis.measurements,
        files: written,
    })
}

/// The page of `run`, of which `analysis` has read the finished points in the run folder `dir`, without pictures.
pub fn page_of(dir: &Path, run: &RunInfo, analysis: &Analysis, annotations: &Annotations) -> String {
    let recorded = recorded::read(dir, run, analysis);
    let material = Material { run, analysis, recorded: &recorded, ratios: annotations.ratio_index() };
    page(&material, annotations, &table::tables(run, analysis), &[], &PointFiles::of(dir, run))
}

/// Removes the results that the run in `dir` has written, as its `run.json` lists them, because they are about other
/// runs of the sweep than those that will be there. What is not listed is not ours, and stays; what was edited is set
/// aside; nothing is removed through a symbolic link.
///
/// Returns a sentence for each file that was set aside.
///
/// # Errors
/// If a file cannot be removed, or `run.json` not be written.
pub fn remove_results(dir: &Path) -> Result<Vec<String>, ReportError> {
    let Ok(known) = RunInfo::read(dir) else { return Ok(Vec::new()) };
    if known.results.is_empty() {
        return Ok(Vec::new());
    }
    let aside = withdraw(dir, &known.results)?;
    RunInfo { results: ResultFiles::new(), ..known }.write(dir)?;
    Ok(aside)
}
