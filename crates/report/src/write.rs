//! Writes the results of a run into its folder, and removes them.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use tailcut_record::RecordError;
use tailcut_results::{
    Analysis, ClassTable, Measurements, MissingPoint, OutputFolder, Row, RunInfo, csv, file_part, table,
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
    let mut files = OutputFolder::new(dir);
    let info = files.file("run.json")?;
    let known = RunInfo::read(&info).ok();
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
    // Only what is listed is ever removed. The names are those of the scenario, so that what is written by a run that
    // is killed before this is replaced by the next one.
    let results = files.written().iter().filter(|path| **path != info);
    let results =
        results.filter_map(|path| Some(path.strip_prefix(dir).ok()?.to_string_lossy().into_owned())).collect();
    let run = RunInfo { results, ..run.clone() };
    // The file is not written again if an earlier command has written the same.
    if known.as_ref() != Some(&run) {
        run.write(&info)?;
    }
    Ok(WrittenResults {
        rows: analysis.rows,
        tables,
        notes: annotations.notes.clone(),
        warnings: analysis.warnings,
        missing: analysis.missing,
        measurements: analysis.measurements,
        files: files.written().to_vec(),
    })
}

/// The page of `run`, of which `analysis` has read the finished points in the run folder `dir`, without pictures.
pub fn page_of(dir: &Path, run: &RunInfo, analysis: &Analysis, annotations: &Annotations) -> String {
    let recorded = recorded::read(dir, run, analysis);
    let material = Material { run, analysis, recorded: &recorded, ratios: annotations.ratio_index() };
    page(&material, annotations, &table::tables(run, analysis), &[], &PointFiles::of(dir, run))
}

/// Removes the results that the run in `dir` has written, as its `run.json` lists them, because they are about other
/// points than those that will be there. What is not listed is not ours, and stays; nothing is removed through a
/// symbolic link.
///
/// # Errors
/// If a file cannot be removed.
pub fn remove_results(dir: &Path) -> Result<(), RecordError> {
    let listed = RunInfo::read(&dir.join("run.json")).map_or_else(|_| Vec::new(), |run| run.results);
    for name in &listed {
        let path = dir.join(name);
        let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let leads_out = path.parent().is_some_and(|folder| folder != dir && folder.is_symlink());
        if !is_inside || leads_out {
            continue;
        }
        match std::fs::remove_file(&path) {
            Err(source) if !matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(RecordError::Write { path, source });
            }
            _ => {}
        }
    }
    for folder in ["tables", "plots"] {
        // It stays if it holds something else, and so does a symbolic link.
        let _ = std::fs::remove_dir(dir.join(folder));
    }
    Ok(())
}
