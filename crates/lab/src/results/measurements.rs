//! Every statistic of a run over all seeds and of each seed alone.
//!
//! Equal seeds mean equal flows for every scheme, so that two schemes are best compared seed by seed: the part of the
//! spread that comes from the flows drops out. That needs the statistics of single seeds, which `summary.csv` does not
//! have.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_base::{Bytes, mix64};

use super::analysis::{each_place, values_at};
use super::load::SeedRun;
use super::metrics::{ClassSet, ClassStatistics, class_sets, class_statistics};
use super::stats::Estimate;
use super::{Axis, Missing, ResultsError, RunInfo};

/// A statistic of one class at one swept point of one scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Over the samples of all seeds: what `summary.csv` says.
    pub pooled: Estimate,
    /// The same statistic of each seed alone, in the order of the seeds; `None` for a seed without samples.
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
    /// The seeds of the run; a point that has no results lacks in the statistics of its place.
    pub seeds: Vec<u64>,
    /// Names of the sets of classes, as in `summary.csv`.
    pub classes: Vec<String>,
    /// Versions of the engine that made the points.
    pub versions: Vec<String>,
    places: BTreeMap<(String, Vec<String>), Place>,
    missing: Vec<Missing>,
}

/// One swept point of one scheme.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    /// A number for each seed that stands for its flows.
    flows: Vec<(u64, u64)>,
    /// The statistics of each set of classes, by the name of the metric, in the order of `classes`.
    sets: Vec<BTreeMap<String, Measurement>>,
}

impl Measurements {
    /// Reads every finished point of `run` in the run folder `dir`. Only the flows of one swept point of one scheme are in
    /// memory at a time. A point that cannot be read is listed as missing.
    ///
    /// # Errors
    /// [`ResultsError::Stopped`] if `stop` says so; it is asked before each point.
    pub fn read(dir: &Path, run: &RunInfo, stop: &dyn Fn() -> bool) -> Result<Measurements, ResultsError> {
        let sets = class_sets(&run.classes, &run.size_bounds);
        let mut measurements = Measurements::of(run, &sets);
        measurements.missing = each_place(dir, run, stop, |scheme, values, seeds| {
            let pooled: Vec<ClassStatistics> = sets.iter().map(|set| class_statistics(set, seeds)).collect();
            measurements.add(run, scheme, values, seeds, &sets, &pooled);
        })?;
        Ok(measurements)
    }

    /// The statistic `metric` of `class` at a swept point of a scheme; `values` are written as in the scenario. `None` if it
    /// has no samples there, or there is no such thing.
    pub fn get(&self, scheme: &str, values: &[String], class: &str, metric: &str) -> Option<&Measurement> {
        let set = self.classes.iter().position(|known| known == class)?;
        self.place(scheme, values)?.sets.get(set)?.get(metric)
    }

    /// Points without results.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// The swept values at which a scheme has results, in the order of the axes.
    pub fn values_of(&self, scheme: &str) -> Vec<Vec<String>> {
        let mut all: Vec<&Vec<String>> =
            self.places.keys().filter(|(name, _)| name == scheme).map(|(_, values)| values).collect();
        all.sort_by_key(|values| values_at(&self.axes, values));
        all.into_iter().cloned().collect()
    }

    /// Names of the metrics that a class has at a swept point of a scheme, sorted.
    pub fn metrics(&self, scheme: &str, values: &[String], class: &str) -> Vec<&str> {
        let set = self.classes.iter().position(|known| known == class);
        let found = set.and_then(|set| self.place(scheme, values)?.sets.get(set));
        found.into_iter().flat_map(|metrics| metrics.keys().map(String::as_str)).collect()
    }

    /// For each seed of a swept point of a scheme a number that stands for its measured flows: their sizes, ends, classes
    /// and starts. Equal numbers mean equal flows.
    pub fn flows(&self, scheme: &str, values: &[String]) -> &[(u64, u64)] {
        self.place(scheme, values).map_or(&[], |place| &place.flows)
    }

    fn place(&self, scheme: &str, values: &[String]) -> Option<&Place> {
        self.places.get(&(scheme.to_owned(), values.to_vec()))
    }

    /// None yet.
    pub(crate) fn of(run: &RunInfo, sets: &[ClassSet]) -> Measurements {
        Measurements {
            schemes: run.schemes.clone(),
            axes: run.axes.clone(),
            seeds: run.seeds.clone(),
            classes: sets.iter().map(|set| set.name.clone()).collect(),
            ..Measurements::default()
        }
    }

    pub(crate) fn set_missing(&mut self, missing: &[Missing]) {
        self.missing = missing.to_vec();
    }

    /// Adds a swept point of a scheme, whose statistics over all seeds are known.
    pub(crate) fn add(
        &mut self,
        run: &RunInfo,
        scheme: usize,
        values: &[usize],
        seeds: &[SeedRun],
        sets: &[ClassSet],
        pooled: &[ClassStatistics],
    ) {
        let measured = sets.iter().zip(pooled).map(|(set, pooled)| by_seed(set, seeds, pooled)).collect();
        let texts = values.iter().zip(&run.axes).map(|(&value, axis)| axis.values[value].clone()).collect();
        let flows = seeds.iter().map(|seed| (seed.summary.seed, flows_of(seed))).collect();
        self.places.insert((run.schemes[scheme].clone(), texts), Place { flows, sets: measured });
        for seed in seeds {
            if !self.versions.contains(&seed.summary.engine.version) {
                self.versions.push(seed.summary.engine.version.clone());
            }
        }
    }
}

/// The scheme and values of a swept point, and a statistic there.
pub(crate) type EstimateAt = (String, Vec<String>, Option<Estimate>);

/// One statistic of one class at every swept point of every scheme that has results, over all seeds; `None` if there is
/// no such statistic there.
pub(crate) fn of_one(
    dir: &Path,
    run: &RunInfo,
    class: &str,
    metric: &str,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<EstimateAt>, ResultsError> {
    let sets = class_sets(&run.classes, &run.size_bounds);
    let mut found = Vec::new();
    each_place(dir, run, stop, |scheme, values, seeds| {
        let rows = sets.iter().find(|set| set.name == class).map(|set| class_statistics(set, seeds).rows);
        let estimate = rows.into_iter().flatten().find(|row| row.0 == metric).and_then(|row| row.1);
        let texts = values.iter().zip(&run.axes).map(|(&value, axis)| axis.values[value].clone()).collect();
        found.push((run.schemes[scheme].clone(), texts, estimate));
    })?;
    Ok(found)
}

/// Names of the sets of classes of a run with these classes and bounds between sizes.
pub(crate) fn set_names(classes: &[String], size_bounds: &[Bytes]) -> Vec<String> {
    class_sets(classes, size_bounds).into_iter().map(|set| set.name).collect()
}

/// The statistics of one set of classes, with those of single seeds.
fn by_seed(set: &ClassSet, seeds: &[SeedRun], pooled: &ClassStatistics) -> BTreeMap<String, Measurement> {
    let mut singles: BTreeMap<String, Vec<(u64, Option<f64>)>> = BTreeMap::new();
    for seed in seeds {
        let rows = match seeds {
            // The statistics of the only seed are known.
            [_] => &pooled.rows,
            _ => &class_statistics(set, std::slice::from_ref(seed)).rows,
        };
        for (metric, estimate, ..) in rows {
            let value = estimate.as_ref().map(|estimate| estimate.value);
            singles.entry(metric.clone()).or_default().push((seed.summary.seed, value));
        }
    }
    let measurement = |(metric, estimate, n, unit): &(String, Option<Estimate>, u64, &'static str)| {
        let by_seed = seeds
            .iter()
            .map(|seed| {
                let seed = seed.summary.seed;
                let known = singles.get(metric).and_then(|known| known.iter().find(|known| known.0 == seed));
                (seed, known.and_then(|known| known.1))
            })
            .collect();
        Some((metric.clone(), Measurement { pooled: estimate.clone()?, by_seed, n: *n, unit }))
    };
    pooled.rows.iter().filter_map(measurement).collect()
}

/// A number that stands for the measured flows of a simulation.
fn flows_of(seed: &SeedRun) -> u64 {
    seed.flows.rows().fold(0, |state, row| {
        let ends = u64::from(row.src) << 32 | u64::from(row.dst);
        let what = row.size.rotate_left(8) ^ u64::from(row.class);
        mix64(mix64(mix64(state ^ row.start.as_ps()) ^ ends) ^ what)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fabricate::{Plan, USUAL, fabricate};
    use super::super::{RunInfo, write_results};
    use super::*;

    const SMALL: Plan = Plan { flows: 400, seeds: 3, schemes: &["pias", "dctcp"], ..USUAL };

    #[test]
    fn the_statistics_of_a_seed_are_those_of_a_run_of_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let run = fabricate(folder.path(), &SMALL);
        let all = Measurements::read(folder.path(), &run, &|| false).unwrap();
        let points = run.points.iter().filter(|point| point.seed == 2).cloned().collect();
        let alone = Measurements::read(folder.path(), &RunInfo { seeds: vec![2], points, ..run }, &|| false).unwrap();
        let values = ["0.6".to_owned()];
        let metrics = all.metrics("dctcp", &values, "short");
        assert!(metrics.len() > 15, "{metrics:?}");
        for metric in metrics {
            let seeds = &all.get("dctcp", &values, "short", metric).unwrap().by_seed;
            assert_eq!(seeds.iter().map(|seed| seed.0).collect::<Vec<_>>(), [1, 2, 3]);
            let one = alone.get("dctcp", &values, "short", metric).unwrap();
            assert_eq!((seeds[1], one.pooled.value), (one.by_seed[0], seeds[1].1.unwrap()), "{metric}");
        }
    }

    #[test]
    fn over_all_seeds_they_are_those_of_the_summary() {
        let folder = tempfile::tempdir().unwrap();
        let run = fabricate(folder.path(), &SMALL);
        std::fs::remove_file(folder.path().join("points/pias-0.6-1/summary.json")).unwrap();
        let read = Measurements::read(folder.path(), &run, &|| false).unwrap();
        let summary = write_results(folder.path(), &run).unwrap();
        assert_eq!(read, summary.measurements, "of one pass or of another");
        assert_eq!(read.missing(), summary.missing);
        assert_eq!(read.values_of("pias"), [["0.3"], ["0.6"], ["0.9"]]);
        for row in &summary.rows {
            let measured = read.get(&row.scheme, &row.values, &row.class, &row.metric);
            assert_eq!(measured.map(|measured| measured.pooled.value), row.value, "{row:?}");
            let interval = measured.and_then(|measured| measured.pooled.interval);
            assert_eq!(interval.map(|interval| (interval.low, interval.high)), row.low.zip(row.high));
        }
        let drops = |seeds: &Measurement| seeds.by_seed.iter().map(|seed| seed.0).collect::<Vec<_>>();
        assert_eq!(drops(read.get("pias", &["0.6".to_owned()], "all", "drops").unwrap()), [2, 3]);
    }
}
