//! Two runs, or two schemes, side by side: by how much a metric differs, and whether that is more than chance.
//!
//! **Which points are compared**: those with the same swept values. **Pairs**: where every seed of the side with fewer
//! of them is a seed of the other one too, and the measured flows of equal seeds are equal, the ratio is formed seed by
//! seed, and what the flows have in common drops out (common random numbers: Law, Simulation Modeling and Analysis,
//! section 11.2). Both sides are then of these seeds alone. Else the sides are independent samples. Values, ratios,
//! intervals and refusals are those of [`tailcut_results::stats`], as everywhere.

mod comparison;
mod show;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use tailcut_results::stats::{Estimate, Method, QuotientEstimate, SeedValues, quotient};
use tailcut_results::{
    ALL, METRICS, Measurement, Measurements, Point, RunInfo, describe, flow_set_names, is_of_few, scheme_called,
};
use tailcut_sim::Problem;
use tailcut_sim::config::suggest;

use crate::run_folder::read_info;

pub use comparison::{ComparedRow, Comparison, Selection, Side, SideInfo};

/// A scheme at some swept values, in what was measured of a run.
#[derive(Clone, Copy)]
pub(crate) struct Measured<'a> {
    pub(crate) run: &'a Measurements,
    pub(crate) scheme: &'a str,
    pub(crate) values: &'a [String],
}

/// The metrics that are compared if none is named.
pub const USUAL_METRICS: [&str; 4] = ["fct_mean", "fct_p99", "goodput_mean", "slowdown_mean"];

/// A side that was read.
struct LoadedSide {
    folder: PathBuf,
    info: RunInfo,
    schemes: Vec<String>,
    measured: Measurements,
}

/// A scheme with swept values of one of the sides.
type Place = (String, Vec<String>);

/// Compares two sides.
///
/// # Errors
/// If a folder holds no run, a name is unknown, or they have nothing in common.
pub fn compare(a: &Side, b: &Side, selection: &Selection) -> Result<Comparison, Problem> {
    let metrics = metrics_of(selection)?;
    let (info_a, info_b) = (info_of(a)?, info_of(b)?);
    let (schemes_a, schemes_b) = schemes_of(a, &info_a, b, &info_b)?;
    let classes = classes_of(selection, &info_a, &info_b)?;
    let order = axes_of(a, &info_a, b, &info_b)?;
    let (mut a, mut b) = (read(a, info_a, schemes_a)?, read(b, info_b, schemes_b)?);
    keep_common_seeds(&mut a, &mut b, &order)?;

    let mut rows = Vec::new();
    let (mut common, mut censored) = (0, 0);
    for (scheme_a, scheme_b) in a.schemes.iter().zip(&b.schemes) {
        for values in a.measured.values_of(scheme_a) {
            let values_b: Vec<String> = order.iter().map(|&at| values[at].clone()).collect();
            if b.measured.flows(scheme_b, &values_b).is_empty() {
                continue;
            }
            common += 1;
            for class in &classes {
                let open = |side: &LoadedSide, scheme: &str, values: &[String]| {
                    side.measured.get(scheme, values, class, "censored").is_some_and(|m| m.pooled.value > 0.0)
                };
                let before = rows.len();
                for metric in &metrics {
                    let found_a = a.measured.get(scheme_a, &values, class, metric);
                    let found_b = b.measured.get(scheme_b, &values_b, class, metric);
                    let (Some(found_a), Some(found_b)) = (found_a, found_b) else { continue };
                    let at_a = Measured { run: &a.measured, scheme: scheme_a, values: &values };
                    let at_b = Measured { run: &b.measured, scheme: scheme_b, values: &values_b };
                    let Some((ratio, (seeds_a, seeds_b))) = ratio_at(at_a, at_b, class, metric) else { continue };
                    rows.push(ComparedRow {
                        scheme_a: scheme_a.clone(),
                        scheme_b: scheme_b.clone(),
                        values: values.clone(),
                        class: class.clone(),
                        metric: metric.clone(),
                        unit: found_a.unit,
                        a: found_a.pooled.value,
                        b: found_b.pooled.value,
                        note: note(&found_a.pooled, &found_b.pooled, &ratio),
                        a_is_of_few: is_of_few(metric, found_a.n),
                        b_is_of_few: is_of_few(metric, found_b.n),
                        ratio,
                        seeds_a,
                        seeds_b,
                    });
                }
                if rows.len() > before && (open(&a, scheme_a, &values) || open(&b, scheme_b, &values_b)) {
                    censored += 1;
                }
            }
        }
    }
    if common == 0 {
        return Err(Problem::new(format!("{} and {} have no swept values in common", a.name(), b.name()))
            .help(format!("{} has {}; {} has {}", a.name(), a.places(), b.name(), b.places())));
    }
    if rows.is_empty() {
        return Err(Problem::new(format!("no common point has {} of {}", metrics.join(", "), classes.join(", ")))
            .help("expected a metric of that class; what there is stands in summary.csv"));
    }
    let warnings = warnings(&a, &b, &rows, censored);
    let axes = a.measured.axes.iter().map(|axis| axis.path.clone()).collect();
    let damaged = [&a, &b].map(|side| side.measured.missing().iter().filter(|missing| missing.damaged).count());
    Ok(Comparison { a: a.found(), b: b.found(), axes, rows, warnings, damaged: damaged.iter().sum() })
}

/// The ratio of a metric of `b` to that of `a`, and the seeds of the two that count; `None` if one of them does not
/// have the metric.
pub(crate) fn ratio_at(
    a: Measured<'_>,
    b: Measured<'_>,
    class: &str,
    metric: &str,
) -> Option<(QuotientEstimate, (usize, usize))> {
    let paired = common_seeds(a.run.flows(a.scheme, a.values), b.run.flows(b.scheme, b.values)).is_some();
    let found_a = a.run.get(a.scheme, a.values, class, metric)?;
    let found_b = b.run.get(b.scheme, b.values, class, metric)?;
    let (seeds_a, seeds_b) = (seeds_of(found_a), seeds_of(found_b));
    // A seed may have no sample of a metric on one side.
    let paired = paired && seeds_a.iter().map(|seed| seed.0).eq(seeds_b.iter().map(|seed| seed.0));
    let (values_a, values_b) = (values_of(&seeds_a), values_of(&seeds_b));
    let ratio = quotient(
        SeedValues { all: &found_a.pooled, seeds: &values_a },
        SeedValues { all: &found_b.pooled, seeds: &values_b },
        if paired { Method::Paired } else { Method::Unpaired },
    );
    Some((ratio, (values_a.len(), values_b.len())))
}

impl LoadedSide {
    fn name(&self) -> String {
        self.folder.display().to_string()
    }

    /// Reads the measurements of the points of `info`.
    fn read(&mut self) -> Result<(), Problem> {
        let measured = Measurements::read(&self.folder, &self.info, &|| false);
        self.measured = measured.map_err(|error| Problem::new(error.to_string()))?;
        Ok(())
    }

    /// Reads the side again, with these seeds alone at some places, if there are any.
    fn keep(&mut self, seeds: &BTreeMap<Place, Vec<u64>>) -> Result<(), Problem> {
        if seeds.is_empty() {
            return Ok(());
        }
        let kept = |point: &Point| seeds.get(&(point.scheme.clone(), point.values.clone()));
        self.info.points.retain(|point| kept(point).is_none_or(|seeds| seeds.contains(&point.seed)));
        self.read()
    }

    fn found(self) -> SideInfo {
        SideInfo {
            folder: self.name(),
            schemes: self.schemes,
            versions: self.measured.versions,
            seeds: self.measured.seeds,
        }
    }

    fn places(&self) -> String {
        let axes: Vec<String> =
            self.measured.axes.iter().map(|axis| format!("{} = {}", axis.path, axis.values.join(", "))).collect();
        if self.schemes.iter().all(|scheme| self.measured.values_of(scheme).is_empty()) {
            "no finished point".to_owned()
        } else {
            axes.join("; ")
        }
    }
}

fn metrics_of(selection: &Selection) -> Result<Vec<String>, Problem> {
    let unknown = selection.metrics.iter().find(|metric| describe(metric).is_none());
    if let Some(metric) = unknown {
        let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        return Err(Problem::new(format!("there is no metric `{metric}`")).help(suggest(metric, &known)));
    }
    let usual = || USUAL_METRICS.iter().map(|&metric| metric.to_owned()).collect();
    Ok(if selection.metrics.is_empty() { usual() } else { selection.metrics.clone() })
}

fn info_of(side: &Side) -> Result<RunInfo, Problem> {
    read_info(&side.folder, "such as runs/tail, or runs/tail:dctcp for a scheme")
}

/// The schemes of A that are compared, and in the same order the scheme of B that each is compared with.
fn schemes_of(a: &Side, info_a: &RunInfo, b: &Side, info_b: &RunInfo) -> Result<(Vec<String>, Vec<String>), Problem> {
    let named = |side: &Side, info: &RunInfo| match &side.scheme {
        Some(name) => match scheme_called(&info.schemes, name) {
            Some(scheme) => Ok(Some(scheme.clone())),
            None => {
                let known: Vec<&str> = info.schemes.iter().map(String::as_str).collect();
                Err(Problem::new(format!("{} has no scheme `{name}`", side.folder.display()))
                    .help(suggest(name, &known)))
            }
        },
        None => Ok(None),
    };
    // If one side names its scheme and the other side names none, the other side's scheme is the one of the same
    // name, or its only one.
    let other = |scheme: &String, side: &Side, info: &RunInfo| match info.schemes.as_slice() {
        schemes if schemes.contains(scheme) => Ok(scheme.clone()),
        [only] => Ok(only.clone()),
        schemes => Err(Problem::new(format!("{} has no scheme `{scheme}`", side.folder.display())).help(format!(
            "expected {}:SCHEME with one of {}",
            side.folder.display(),
            schemes.join(", ")
        ))),
    };
    match (named(a, info_a)?, named(b, info_b)?) {
        (Some(first), Some(second)) => Ok((vec![first], vec![second])),
        (Some(first), None) => Ok((vec![first.clone()], vec![other(&first, b, info_b)?])),
        (None, Some(second)) => Ok((vec![other(&second, a, info_a)?], vec![second])),
        (None, None) => {
            let both: Vec<String> =
                info_a.schemes.iter().filter(|scheme| info_b.schemes.contains(scheme)).cloned().collect();
            match (both.is_empty(), info_a.schemes.as_slice(), info_b.schemes.as_slice()) {
                (false, ..) => Ok((both.clone(), both)),
                (true, [first], [second]) => Ok((vec![first.clone()], vec![second.clone()])),
                (true, first, second) => Err(Problem::new(format!(
                    "{} and {} have no scheme in common",
                    a.folder.display(),
                    b.folder.display()
                ))
                .help(format!(
                    "say which behind a colon: one of {} and one of {}",
                    first.join(", "),
                    second.join(", ")
                ))),
            }
        }
    }
}

fn classes_of(selection: &Selection, info_a: &RunInfo, info_b: &RunInfo) -> Result<Vec<String>, Problem> {
    let sets = |info: &RunInfo| flow_set_names(&info.classes, &info.class_sets, &info.size_bounds);
    let common: Vec<String> = sets(info_a).into_iter().filter(|name| sets(info_b).contains(name)).collect();
    if let Some(class) = selection.classes.iter().find(|class| !common.contains(class)) {
        let known: Vec<&str> = common.iter().map(String::as_str).collect();
        return Err(Problem::new(format!("the runs do not both have a class `{class}`")).help(suggest(class, &known)));
    }
    let is_union = |name: &String| {
        name == ALL || [info_a, info_b].iter().any(|info| info.class_sets.iter().any(|set| set.name == *name))
    };
    let single: Vec<String> = common.into_iter().filter(|name| !is_union(name)).collect();
    if !selection.classes.is_empty() {
        Ok(selection.classes.clone())
    } else if single.is_empty() {
        Err(Problem::new("the runs have no traffic class in common").help(format!(
            "the first has {}, the second {}; `--class all` compares all flows",
            info_a.classes.join(", "),
            info_b.classes.join(", ")
        )))
    } else {
        Ok(single)
    }
}

/// For each axis of B the index that the same axis has in A, because the two may sweep in different orders.
fn axes_of(a: &Side, info_a: &RunInfo, b: &Side, info_b: &RunInfo) -> Result<Vec<usize>, Problem> {
    let place = |path: &String| info_a.axes.iter().position(|axis| axis.path == *path);
    let order: Option<Vec<usize>> = info_b.axes.iter().map(|axis| place(&axis.path)).collect();
    order.filter(|_| info_a.axes.len() == info_b.axes.len()).ok_or_else(|| {
        let paths = |info: &RunInfo| match info.axes.as_slice() {
            [] => "nothing".to_owned(),
            axes => axes.iter().map(|axis| axis.path.as_str()).collect::<Vec<_>>().join(", "),
        };
        let (first, second) = (a.folder.display(), b.folder.display());
        Problem::new(format!("{first} and {second} sweep different parameters")).help(format!(
            "{first} sweeps {}, {second} sweeps {}; points are compared that have the same swept values",
            paths(info_a),
            paths(info_b)
        ))
    })
}

fn read(side: &Side, mut info: RunInfo, schemes: Vec<String>) -> Result<LoadedSide, Problem> {
    info.points.retain(|point| schemes.contains(&point.scheme));
    let mut side = LoadedSide { folder: side.folder.clone(), info, schemes, measured: Measurements::default() };
    side.read()?;
    Ok(side)
}

/// The seeds by which two sides can be compared pairwise: those of the side with fewer seeds, if the other side has
/// all of them with the same flows. `a` and `b` are pairs of a seed and a fingerprint of its flows.
fn common_seeds(a: &[(u64, u64)], b: &[(u64, u64)]) -> Option<Vec<u64>> {
    let (fewer, more) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    fewer.iter().all(|seed| more.contains(seed)).then(|| fewer.iter().map(|seed| seed.0).collect())
}

/// Leaves both sides the seeds by which they are compared pairwise, wherever one of them has more, so that the values
/// that are shown are those whose ratio is shown. Elsewhere they keep what they have.
fn keep_common_seeds(a: &mut LoadedSide, b: &mut LoadedSide, order: &[usize]) -> Result<(), Problem> {
    let (mut keep_a, mut keep_b) = (BTreeMap::new(), BTreeMap::new());
    for (scheme_a, scheme_b) in a.schemes.iter().zip(&b.schemes) {
        for values in a.measured.values_of(scheme_a) {
            let values_b: Vec<String> = order.iter().map(|&at| values[at].clone()).collect();
            let (flows_a, flows_b) = (a.measured.flows(scheme_a, &values), b.measured.flows(scheme_b, &values_b));
            if let Some(seeds) = common_seeds(flows_a, flows_b).filter(|seeds| !seeds.is_empty()) {
                if seeds.len() < flows_a.len() {
                    keep_a.insert((scheme_a.clone(), values.clone()), seeds.clone());
                }
                if seeds.len() < flows_b.len() {
                    keep_b.insert((scheme_b.clone(), values_b), seeds);
                }
            }
        }
    }
    a.keep(&keep_a)?;
    b.keep(&keep_b)
}

/// The seeds that have a value, with it, in the order of the seeds.
fn seeds_of(side: &Measurement) -> Vec<(u64, f64)> {
    side.by_seed.iter().filter_map(|&(seed, value)| Some((seed, value?))).collect()
}

fn values_of(seeds: &[(u64, f64)]) -> Vec<f64> {
    seeds.iter().map(|seed| seed.1).collect()
}

/// What the values of two sides need to be read with, and why their ratio has no interval; each thing once.
fn note(a: &Estimate, b: &Estimate, ratio: &QuotientEstimate) -> Option<String> {
    let of = |side: &str, note: &Option<String>| note.as_ref().map(|note| format!("{side}: {note}"));
    let own = if a.note == b.note { vec![of("A and B", &a.note)] } else { vec![of("A", &a.note), of("B", &b.note)] };
    let mut notes: Vec<String> = own.into_iter().flatten().collect();
    for refusal in &ratio.refusals {
        if !notes.iter().any(|note| note.ends_with(refusal)) {
            notes.push(refusal.clone());
        }
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn warnings(a: &LoadedSide, b: &LoadedSide, rows: &[ComparedRow], censored: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if a.measured.versions != b.measured.versions || a.measured.versions.len() > 1 {
        warnings.push(format!(
            "the points were made by different versions of the engine, {} and {}: a difference may be the program's",
            a.measured.versions.join(", "),
            b.measured.versions.join(", ")
        ));
    }
    let fewest = rows.iter().map(|row| row.seeds_a.min(row.seeds_b)).min().unwrap_or(0);
    let repeats = [a, b].map(|side| side.measured.repeats().warning());
    for (side, warning) in [a, b].iter().zip(&repeats) {
        let warning = warning.as_ref().map(|warning| format!("{}: {warning}", side.name()));
        warnings.extend(warning.filter(|warning| !warnings.contains(warning)));
    }
    if fewest < 3 && repeats.iter().all(Option::is_none) {
        let means = if fewest < 2 { "there is no interval" } else { "intervals are very wide" };
        warnings.push(format!("some rows rest on {fewest} seed(s): {means}; five seeds are recommended"));
    }
    if censored > 0 {
        warnings.push(format!(
            "flows are censored in {censored} of the compared classes and points: FCTs there are lower bounds, and so their \
             ratio may be off in either direction"
        ));
    }
    for side in [a, b] {
        let missing = side.measured.missing();
        if !missing.is_empty() {
            warnings.push(format!("{} points of {} have no results", missing.len(), side.name()));
        }
        let damaged = missing.iter().filter(|missing| missing.damaged);
        warnings.extend(
            damaged.map(|missing| format!("{}: {} is damaged: {}", side.name(), missing.point.key, missing.reason)),
        );
    }
    warnings
}
