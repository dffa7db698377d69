//! Every statistic of a run over all seeds, and what each seed contributes to it.
//!
//! Equal seeds mean equal flows for every scheme, so that two schemes are best compared seed by seed: the part of the
//! spread that comes from the flows drops out. That needs the contributions of single seeds, which `summary.csv` does
//! not have.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_base::mix64;

use crate::collector::Statistic;
use crate::design_points;
use crate::error::ResultsError;
use crate::flow_set::FlowSet;
use crate::repeats::{Repeats, Replications};
use crate::replication::Replication;
use crate::run::{Axis, MissingPoint, RunInfo, value_indices};
use crate::statistics::FlowSetStatistics;
use crate::stats::Estimate;

/// A statistic of one set of flows at one design point.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Over the samples of all seeds: what `summary.csv` says.
    pub pooled: Estimate,
    /// What each seed contributes, as its pseudo-value ([`Estimate::pseudo_values`]), in the order of the seeds; `None`
    /// if it alone has samples, or if the statistic is a count or a maximum.
    pub by_seed: Vec<(u64, Option<f64>)>,
    /// Number of samples of all seeds.
    pub n: u64,
    /// Unit of the values.
    pub unit: &'static str,
}

/// Every statistic of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements {
    /// The schemes in the order of the run.
    pub schemes: Vec<String>,
    /// The swept parameters.
    pub axes: Vec<Axis>,
    /// The seeds of the run; the statistics of a design point lack those whose points have no results.
    pub seeds: Vec<u64>,
    /// Names of the sets of flows, as in the column `class` of `summary.csv`.
    pub classes: Vec<String>,
    /// Versions of the engine that made the points.
    pub versions: Vec<String>,
    /// By the scheme and the swept values.
    design_points: BTreeMap<(String, Vec<String>), MeasuredPoint>,
    missing: Vec<MissingPoint>,
    repeats: Repeats,
}

/// What was measured at one design point.
#[derive(Clone, Debug, PartialEq)]
struct MeasuredPoint {
    /// For each seed that counts a fingerprint of its flows.
    flows: Vec<(u64, u64)>,
    /// That all runs are identical, if they are several.
    nothing_drawn: Option<String>,
    /// The statistics of each set of flows, by the name of the metric, in the order of `classes`.
    sets: Vec<BTreeMap<String, Measurement>>,
}

impl Measurements {
    /// Reads every finished point of `run` in the run folder `dir`. Only the flows of one design point are in memory at
    /// a time. A point that cannot be read is listed as missing.
    ///
    /// # Errors
    /// [`ResultsError::Stopped`] if `stop` says so; it is asked before each point.
    pub fn read(dir: &Path, run: &RunInfo, stop: &dyn Fn() -> bool) -> Result<Measurements, ResultsError> {
        let sets = FlowSet::of_run(run);
        let mut measurements = Measurements::new(run, &sets);
        measurements.missing = design_points::visit(dir, run, stop, |scheme, values, replications| {
            let pooled: Vec<FlowSetStatistics> = sets.iter().map(|set| replications.statistics(set)).collect();
            measurements.add(run, scheme, values, replications, &pooled);
        })?;
        Ok(measurements)
    }

    /// The statistic `metric` of the set of flows `class` at a design point; `values` are written as in the scenario.
    /// `None` if it has no samples there, or if there is no such metric, set or design point.
    pub fn get(&self, scheme: &str, values: &[String], class: &str, metric: &str) -> Option<&Measurement> {
        let set = self.classes.iter().position(|known| known == class)?;
        self.design_point(scheme, values)?.sets.get(set)?.get(metric)
    }

    /// Points without results.
    pub fn missing(&self) -> &[MissingPoint] {
        &self.missing
    }

    /// That seeds draw nothing at a design point, if there are several runs and all are identical.
    pub fn nothing_drawn(&self, scheme: &str, values: &[String]) -> Option<&str> {
        self.design_point(scheme, values)?.nothing_drawn.as_deref()
    }

    /// Where runs repeat each other, because seeds draw nothing.
    pub fn repeats(&self) -> &Repeats {
        &self.repeats
    }

    /// The swept values at which a scheme has results, in the order of the axes.
    pub fn values_of(&self, scheme: &str) -> Vec<Vec<String>> {
        let mut all: Vec<&Vec<String>> =
            self.design_points.keys().filter(|(name, _)| name == scheme).map(|(_, values)| values).collect();
        all.sort_by_key(|values| value_indices(&self.axes, values));
        all.into_iter().cloned().collect()
    }

    /// Names of the metrics that a set of flows has at a design point, sorted.
    pub fn metrics(&self, scheme: &str, values: &[String], class: &str) -> Vec<&str> {
        let set = self.classes.iter().position(|known| known == class);
        let found = set.and_then(|set| self.design_point(scheme, values)?.sets.get(set));
        found.into_iter().flat_map(|metrics| metrics.keys().map(String::as_str)).collect()
    }

    /// For each seed of a design point that counts a fingerprint of its measured flows: their sizes, ends, classes and
    /// starts. If all runs are identical, the smallest
    /// seed counts.
    /// Equal fingerprints mean equal flows.
    pub fn flows(&self, scheme: &str, values: &[String]) -> &[(u64, u64)] {
        self.design_point(scheme, values).map_or(&[], |point| &point.flows)
    }

    fn design_point(&self, scheme: &str, values: &[String]) -> Option<&MeasuredPoint> {
        self.design_points.get(&(scheme.to_owned(), values.to_vec()))
    }

    /// Measurements of a run of which no design point has been added yet.
    pub(crate) fn new(run: &RunInfo, sets: &[FlowSet]) -> Measurements {
        Measurements {
            schemes: run.schemes.clone(),
            axes: run.axes.clone(),
            seeds: run.seeds.clone(),
            classes: sets.iter().map(|set| set.name.clone()).collect(),
            ..Measurements::default()
        }
    }

    pub(crate) fn set_missing(&mut self, missing: &[MissingPoint]) {
        self.missing = missing.to_vec();
    }

    /// Adds a design point, whose statistics over all seeds are `pooled`.
    pub(crate) fn add(
        &mut self,
        run: &RunInfo,
        scheme: usize,
        values: &[usize],
        replications: &Replications,
        pooled: &[FlowSetStatistics],
    ) {
        let measured = pooled.iter().map(|pooled| by_seed(replications, pooled)).collect();
        let flows = replications.iter().map(|one| (one.summary.seed, fingerprint_of_flows(one))).collect();
        let key = (run.schemes[scheme].clone(), run.value_texts(values));
        self.design_points
            .insert(key, MeasuredPoint { flows, nothing_drawn: replications.nothing_drawn(), sets: measured });
        self.repeats.add(replications);
        for summary in replications.summaries() {
            if !self.versions.contains(&summary.engine.version) {
                self.versions.push(summary.engine.version.clone());
            }
        }
    }
}

/// One metric of one set of flows at one design point.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricAtDesignPoint {
    /// The scheme.
    pub scheme: String,
    /// The swept values, as they are written in the scenario.
    pub values: Vec<String>,
    /// The metric over all seeds; `None` if it does not exist there or has no samples.
    pub estimate: Option<Estimate>,
}

/// Reads one metric of the set of flows `class` at every design point that has results.
///
/// # Errors
/// [`ResultsError::Stopped`] if `stop` says so; it is asked before each point.
pub fn measure_one(
    dir: &Path,
    run: &RunInfo,
    class: &str,
    metric: &str,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<MetricAtDesignPoint>, ResultsError> {
    let sets = FlowSet::of_run(run);
    let set = sets.iter().find(|set| set.name == class);
    let mut found = Vec::new();
    design_points::visit(dir, run, stop, |scheme, values, replications| {
        let all = set.map(|set| replications.statistics(set).all);
        let statistic = all.into_iter().flatten().find(|statistic| statistic.metric == metric);
        found.push(MetricAtDesignPoint {
            scheme: run.schemes[scheme].clone(),
            values: run.value_texts(values),
            estimate: statistic.and_then(|statistic| statistic.estimate),
        });
    })?;
    Ok(found)
}

/// The statistics of one set of flows, with what single seeds contribute.
fn by_seed(replications: &[Replication], pooled: &FlowSetStatistics) -> BTreeMap<String, Measurement> {
    let measurement = |Statistic { metric, estimate, n, unit }: &Statistic| {
        let pooled = estimate.clone()?;
        let values: Vec<Option<f64>> = match replications {
            // Its parts, if it has any, are batches of flows.
            [_] => vec![Some(pooled.value)],
            several if several.len() == pooled.without.len() => pooled.pseudo_values().collect(),
            several => vec![None; several.len()],
        };
        let seeds = replications.iter().map(|one| one.summary.seed);
        Some((metric.clone(), Measurement { by_seed: seeds.zip(values).collect(), pooled, n: *n, unit }))
    };
    pooled.all.iter().filter_map(measurement).collect()
}

/// A number that stands for the measured flows of a simulation.
fn fingerprint_of_flows(one: &Replication) -> u64 {
    one.flows.rows().fold(0, |state, row| {
        let ends = u64::from(row.src) << 32 | u64::from(row.dst);
        let what = row.size.rotate_left(8) ^ u64::from(row.class);
        mix64(mix64(mix64(state ^ row.start.as_ps()) ^ ends) ^ what)
    })
}
