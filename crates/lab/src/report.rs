//! The results of a run folder: statistics, tables, plots and the page, from the points that are finished.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_report::{
    Annotations, RatiosToBaseline, ReportError, SchemeRatio, WrittenResults, page_of, remove_results, write_results,
};
use tailcut_results::stats::Method;
use tailcut_results::{Analysis, Measurements, RunInfo};

use crate::compare::{Measured, ratio_at};
use crate::error::RunError;
use crate::run_folder;

/// What [`report`] has written.
#[derive(Debug)]
pub struct FolderReport {
    /// The results.
    pub results: WrittenResults,
    /// Whether another tailcut runs in the folder, so that there will be more.
    pub in_use: bool,
}

/// Writes the results of the run `info`, which is that of the run folder `folder`, from whatever is finished; nothing
/// is simulated. A run that goes on in the folder meanwhile is not disturbed, and writes its own results at its end.
///
/// # Errors
/// If a file cannot be written.
pub fn report(folder: &Path, info: &RunInfo) -> Result<FolderReport, RunError> {
    let _held = run_folder::hold_results(folder);
    report_held(folder, info)
}

/// The same, by a process that holds the results.
fn report_held(folder: &Path, info: &RunInfo) -> Result<FolderReport, RunError> {
    // It is free again at once: whoever begins to run points waits for the results alone.
    let in_use = run_folder::open_lock(folder)?.try_lock().is_err();
    let go_on = || false;
    let analysis = Analysis::of(folder, info, &go_on).map_err(ReportError::from)?;
    // Pictures of sets of flows or points that there are no more would look as if they belonged to these results.
    let aside = remove_results(folder)?;
    let annotations = annotations(folder, info, &analysis);
    let mut results = write_results(folder, info, analysis, &annotations, &go_on)?;
    results.warnings.extend(aside);
    Ok(FolderReport { results, in_use })
}

/// The page of the run `info` from whatever is finished in its folder, with nothing written: pictures are not among it.
///
/// # Errors
/// If `stop` says so.
pub fn page_so_far(folder: &Path, info: &RunInfo, stop: &(dyn Fn() -> bool + Sync)) -> Result<String, ReportError> {
    let analysis = Analysis::of(folder, info, stop)?;
    Ok(page_of(folder, info, &analysis, &annotations(folder, info, &analysis)))
}

/// As [`report`], for a run whose points other processes have run one by one: where none of them goes on, what killed
/// ones have left half-written is removed.
///
/// # Errors
/// If a file cannot be written.
pub fn gather(folder: &Path, info: &RunInfo) -> Result<FolderReport, RunError> {
    let _held = run_folder::hold_results(folder);
    if let Ok(lock) = run_folder::open_lock(folder)
        && lock.try_lock().is_ok()
    {
        run_folder::remove_temporary_files(folder);
    }
    report_held(folder, info)
}

/// Reads the finished points of a run and writes its results.
///
/// # Errors
/// If a file cannot be written, or `stop` says so.
pub(crate) fn write(
    folder: &Path,
    info: &RunInfo,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<WrittenResults, ReportError> {
    let analysis = Analysis::of(folder, info, stop)?;
    let annotations = annotations(folder, info, &analysis);
    write_results(folder, info, analysis, &annotations, stop)
}

/// What the page shows beside the statistics.
fn annotations(folder: &Path, info: &RunInfo, analysis: &Analysis) -> Annotations {
    Annotations {
        ratios: ratios_to_first(&analysis.measurements),
        differences: info.differences.clone(),
        notes: info.notes.iter().cloned().chain(same_schemes(folder, info)).collect(),
    }
}

/// Says which schemes did the same at every point that is finished: several names for one thing.
fn same_schemes(folder: &Path, info: &RunInfo) -> Vec<String> {
    let mut by_scheme: BTreeMap<&str, BTreeMap<(&[String], u64), String>> = BTreeMap::new();
    let mut drops: BTreeMap<&str, u64> = BTreeMap::new();
    for point in &info.points {
        if let Ok(Some(summary)) = point.summary_in(folder) {
            *drops.entry(&point.scheme).or_default() += summary.drops.values().sum::<u64>();
            by_scheme.entry(&point.scheme).or_default().insert((&point.values, point.seed), summary.engine.digest);
        }
    }
    let mut alike: Vec<Vec<&str>> = Vec::new();
    for scheme in info.schemes.iter().map(String::as_str).filter(|scheme| by_scheme.contains_key(scheme)) {
        match alike.iter_mut().find(|group| by_scheme[group[0]] == by_scheme[scheme]) {
            Some(group) => group.push(scheme),
            None => alike.push(vec![scheme]),
        }
    }
    let sentence = |group: Vec<&str>| {
        let lost = if drops[group[0]] == 0 { ", and no packet was dropped" } else { "" };
        format!("{} are the same here: equal events at every point{lost}", group.join(" and "))
    };
    alike.into_iter().filter(|group| group.len() > 1).map(sentence).collect()
}

/// Every metric of every other scheme over that of the first scheme, which is the baseline of the run.
fn ratios_to_first(measured: &Measurements) -> Option<RatiosToBaseline> {
    let (baseline, others) = measured.schemes.split_first().filter(|(_, others)| !others.is_empty())?;
    let mut ratios = Vec::new();
    for scheme in others {
        for values in measured.values_of(scheme) {
            for class in &measured.classes {
                for metric in measured.metrics(scheme, &values, class) {
                    let at = |scheme| Measured { run: measured, scheme, values: &values };
                    let Some((estimate, seeds)) = ratio_at(at(baseline), at(scheme), class, metric) else { continue };
                    // Where the baseline is zero there is a difference and no ratio.
                    let Some(ratio) = estimate.ratio else { continue };
                    ratios.push(SchemeRatio {
                        scheme: scheme.clone(),
                        values: values.clone(),
                        class: class.clone(),
                        metric: metric.to_owned(),
                        ratio,
                        interval: estimate.low.zip(estimate.high),
                        paired: estimate.method == Method::Paired,
                        seeds: seeds.0.min(seeds.1),
                    });
                }
            }
        }
    }
    Some(RatiosToBaseline { baseline: baseline.clone(), ratios })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use tailcut_fixtures::{FakeRun, USUAL, fabricate};
    use tailcut_results::FileSeal;

    use super::*;

    const SMALL: FakeRun = FakeRun { schemes: &["dctcp", "pias"], flows: 400, seeds: 3, ..USUAL };

    #[test]
    fn ratios_are_those_of_a_comparison_of_two_schemes() {
        let folder = tempfile::tempdir().unwrap();
        let info = fabricate(folder.path(), &SMALL);
        info.write(folder.path()).unwrap();
        let analysis = Analysis::of(folder.path(), &info, &|| false).unwrap();
        let ratios = annotations(folder.path(), &info, &analysis).ratios.unwrap();
        assert_eq!(ratios.baseline, "dctcp");
        let side =
            |scheme: &str| crate::compare::Side { folder: folder.path().to_owned(), scheme: Some(scheme.to_owned()) };
        let selection = crate::compare::Selection::default();
        let compared = crate::compare::compare(&side("dctcp"), &side("pias"), &selection).unwrap();
        for row in &compared.rows {
            let found = ratios
                .ratios
                .iter()
                .find(|one| (&one.values, &one.class, &one.metric) == (&row.values, &row.class, &row.metric));
            let found = found.unwrap();
            assert_eq!((Some(found.ratio), found.interval), (row.ratio.ratio, row.ratio.low.zip(row.ratio.high)));
            assert_eq!((found.scheme.as_str(), found.seeds), ("pias", 3));
        }
        let alone = FakeRun { schemes: &["dctcp"], ..SMALL };
        let folder = tempfile::tempdir().unwrap();
        let info = fabricate(folder.path(), &alone);
        assert_eq!(
            annotations(folder.path(), &info, &Analysis::of(folder.path(), &info, &|| false).unwrap()).ratios,
            None
        );
    }

    #[test]
    fn a_report_is_of_what_is_finished_and_leaves_no_picture_of_before() {
        let folder = tempfile::tempdir().unwrap();
        let info = fabricate(folder.path(), &SMALL);
        info.write(folder.path()).unwrap();
        let key = &info.points[0].key;
        fs::remove_file(folder.path().join("points").join(key).join("summary.json")).unwrap();
        fs::create_dir(folder.path().join("plots")).unwrap();
        fs::write(folder.path().join("plots/of_before.svg"), "").unwrap();
        fs::write(folder.path().join("plots/not_ours.svg"), "").unwrap();
        let seal = |name: &str| (name.to_owned(), FileSeal::of(&folder.path().join("plots/of_before.svg")).unwrap());
        let results = ["plots/of_before.svg", "../outside"].map(seal).into();
        RunInfo { results, ..info.clone() }.write(folder.path()).unwrap();
        let written = report(folder.path(), &info).unwrap();
        assert!(!written.in_use);
        assert_eq!(written.results.missing.len(), 1);
        assert!(fs::read_to_string(folder.path().join("report.html")).unwrap().contains("17 of 18 points"));
        assert!(folder.path().join("plots/ratio_fct_p99_short.svg").exists());
        assert!(!folder.path().join("plots/of_before.svg").exists());
        assert!(folder.path().join("plots/not_ours.svg").exists());
        let running = File::open(folder.path().join("run.lock")).unwrap();
        running.lock().unwrap();
        assert!(report(folder.path(), &info).unwrap().in_use);
    }
}
