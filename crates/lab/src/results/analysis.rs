//! All points of a run, read and turned into statistics, one swept point of one scheme after the other.

use std::ops::Range;
use std::path::Path;

use tailcut_record::Histogram;

use super::load::{self, SeedRun};
use super::measurements::Measurements;
use super::metrics::{self, ClassSet, ClassStatistics, Row, class_sets};
use super::{Axis, EngineFacts, Missing, Point, ResultsError, RunInfo};

/// A cumulative distribution with so few points that it can be drawn: at `x` the share of samples at or below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve {
    pub(crate) points: Vec<(f64, f64)>,
    /// Number of samples.
    pub(crate) n: u64,
}

/// What one swept point of one scheme says to plots.
pub(crate) struct Group {
    /// Index of the scheme.
    pub(crate) scheme: usize,
    /// Index of the value on each axis.
    pub(crate) values: Vec<usize>,
    /// Where the statistics of each set of classes stand among the rows.
    rows: Vec<Range<usize>>,
    /// FCTs in µs of each set of classes.
    pub(crate) fct: Vec<Curve>,
    /// Queue lengths in packets.
    pub(crate) queue: Curve,
}

/// Where the cost of a simulation stands in a run.
pub(crate) struct Cost {
    pub(crate) scheme: String,
    pub(crate) values: Vec<String>,
    pub(crate) seed: u64,
    pub(crate) end: String,
    pub(crate) simulated_ns: f64,
    pub(crate) flows: u64,
    pub(crate) engine: EngineFacts,
}

/// Everything that tables, plots and the page are made from.
pub(crate) struct Analysis {
    pub(crate) sets: Vec<ClassSet>,
    /// Mean flow size in bytes of each set of classes; `None` if it has no flow.
    pub(crate) mean_sizes: Vec<Option<f64>>,
    pub(crate) rows: Vec<Row>,
    pub(crate) groups: Vec<Group>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) warnings: Vec<String>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) measurements: Measurements,
}

/// Points of a curve at most, but for its tail.
const CURVE_POINTS: usize = 300;

impl Curve {
    /// The distribution of sorted samples: every one of them if they are few, else evenly spaced ranks, and in the
    /// tail ranks evenly spaced by the logarithm of the share above them.
    fn of_sorted(samples: &[f64]) -> Curve {
        let n = samples.len();
        let mut ranks: Vec<usize> = if n <= CURVE_POINTS {
            (1..=n).collect()
        } else {
            let body = (0..=CURVE_POINTS).map(|i| (i * n).div_ceil(CURVE_POINTS).max(1));
            // Sixteen points for each factor of ten, down to the last sample.
            let tail =
                (0..).map(|i| n as f64 * 0.1f64.powf(1.0 + f64::from(i) / 16.0)).take_while(|&above| above >= 1.0);
            body.chain(tail.map(|above| n - above as usize)).chain([n]).collect()
        };
        ranks.sort_unstable();
        ranks.dedup();
        let points = ranks.into_iter().map(|rank| (samples[rank - 1], rank as f64 / n as f64)).collect();
        Curve { points: last_of_equal(points), n: n as u64 }
    }

    /// The distribution of counted values; at most about a thousand of them are kept.
    fn of_histogram(samples: &Histogram) -> Curve {
        let n = samples.total();
        let mut seen = 0;
        let mut points: Vec<(f64, f64)> = samples
            .iter()
            .map(|(value, times)| {
                seen += times;
                (value as f64, seen as f64 / n as f64)
            })
            .collect();
        if points.len() > 1000 {
            let (every, last) = (points.len() / 500, points.len() - 1);
            points =
                points.into_iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last).map(|(_, p)| p).collect();
        }
        Curve { points, n }
    }

    /// Share of samples at or below `x`.
    pub(crate) fn at(&self, x: f64) -> f64 {
        let above = self.points.partition_point(|point| point.0 <= x);
        if above == 0 { 0.0 } else { self.points[above - 1].1 }
    }
}

/// Of points with the same `x` the highest.
fn last_of_equal(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for point in points {
        match kept.last_mut() {
            Some(last) if last.0 == point.0 => last.1 = point.1,
            _ => kept.push(point),
        }
    }
    kept
}

impl Analysis {
    /// Reads the points in `dir` and computes everything. Only the flows of one swept point of one scheme are in
    /// memory at a time. Ends early if `stop` says so.
    pub(crate) fn of(dir: &Path, run: &RunInfo, stop: &dyn Fn() -> bool) -> Result<Analysis, ResultsError> {
        let sets = class_sets(&run.classes, &run.size_bounds);
        let mut analysis = Analysis {
            mean_sizes: vec![None; sets.len()],
            rows: Vec::new(),
            groups: Vec::new(),
            costs: Vec::new(),
            warnings: Vec::new(),
            missing: Vec::new(),
            measurements: Measurements::default(),
            sets,
        };
        let mut measurements = Measurements::of(run, &analysis.sets);
        let mut facts = Facts { fewest_seeds: usize::MAX, ..Facts::default() };
        analysis.missing = each_place(dir, run, stop, |scheme, values, seeds| {
            let statistics: Vec<ClassStatistics> =
                analysis.sets.iter().map(|set| metrics::class_statistics(set, seeds)).collect();
            measurements.add(run, scheme, values, seeds, &analysis.sets, &statistics);
            analysis.add(run, scheme, values.to_vec(), seeds, statistics, &mut facts);
        })?;
        measurements.set_missing(&analysis.missing);
        analysis.measurements = measurements;
        analysis.warnings = facts.warnings(run, analysis.missing.len());
        Ok(analysis)
    }

    fn add(
        &mut self,
        run: &RunInfo,
        scheme: usize,
        values: Vec<usize>,
        seeds: &[SeedRun],
        statistics: Vec<ClassStatistics>,
        facts: &mut Facts,
    ) {
        let texts: Vec<String> =
            values.iter().zip(&run.axes).map(|(&value, axis)| axis.values[value].clone()).collect();
        let (mut fct, mut ranges) = (Vec::new(), Vec::new());
        for (at, (set, statistics)) in self.sets.iter().zip(statistics).enumerate() {
            if set.all {
                facts.flows += statistics.flows;
                facts.censored += statistics.censored;
                facts.queries += statistics.queries;
                facts.incomplete_queries += statistics.incomplete_queries;
            }
            // The sizes are those of the workload: the same for every scheme, up to the draws.
            self.mean_sizes[at] = self.mean_sizes[at].or(statistics.mean_size);
            let first = self.rows.len();
            for (metric, estimate, n, unit) in statistics.rows {
                let interval = estimate.as_ref().and_then(|estimate| estimate.interval);
                self.rows.push(Row {
                    scheme: run.schemes[scheme].clone(),
                    values: texts.clone(),
                    class: set.name.clone(),
                    metric,
                    value: estimate.as_ref().map(|estimate| estimate.value),
                    low: interval.map(|interval| interval.low),
                    high: interval.map(|interval| interval.high),
                    n,
                    unit,
                    note: estimate.and_then(|estimate| estimate.note),
                });
            }
            ranges.push(first..self.rows.len());
            fct.push(Curve::of_sorted(&statistics.fcts));
        }
        let mut queues = Histogram::new();
        for seed in seeds {
            queues.merge(&seed.queues);
            facts.note(&seed.summary.warnings);
            self.costs.push(Cost {
                scheme: run.schemes[scheme].clone(),
                values: texts.clone(),
                seed: seed.summary.seed,
                end: seed.summary.end.clone(),
                simulated_ns: seed.summary.simulated_ns,
                flows: seed.summary.flows.total,
                engine: seed.summary.engine.clone(),
            });
        }
        facts.fewest_seeds = facts.fewest_seeds.min(seeds.len());
        facts.points += seeds.len();
        self.groups.push(Group { scheme, values, rows: ranges, fct, queue: Curve::of_histogram(&queues) });
    }

    /// The statistics of the set of classes at `set` at a swept point of a scheme.
    pub(crate) fn of_set(&self, group: &Group, set: usize) -> &[Row] {
        &self.rows[group.rows[set].clone()]
    }

    /// The statistic `metric` among them.
    pub(crate) fn row(&self, group: &Group, set: usize, metric: &str) -> Option<&Row> {
        self.of_set(group, set).iter().find(|row| row.metric == metric)
    }

    /// The sets of classes to draw: the classes of the workload that have flows.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = (usize, &ClassSet)> {
        self.sets.iter().enumerate().filter(|(at, set)| set.single && self.mean_sizes[*at].is_some())
    }

    /// The class whose throughput matters: `long` if there is one, else that of the largest mean size.
    pub(crate) fn long(&self) -> Option<usize> {
        let named = self.drawn().find(|(_, set)| set.name == "long");
        let size = |at: usize| self.mean_sizes[at].unwrap_or(0.0);
        let largest = || self.drawn().max_by(|a, b| size(a.0).total_cmp(&size(b.0)));
        named.or_else(largest).map(|(at, _)| at)
    }
}

/// Reads the points of `run` in `dir` and gives `visit` the seeds, sorted, of every swept point of every scheme: the index
/// of the scheme and that of the value on each axis. Only the flows of one of them are in memory at a time. Returns the
/// points without results; ends early if `stop` says so.
pub(crate) fn each_place(
    dir: &Path,
    run: &RunInfo,
    stop: &dyn Fn() -> bool,
    mut visit: impl FnMut(usize, &[usize], &[SeedRun]),
) -> Result<Vec<Missing>, ResultsError> {
    let mut missing = Vec::new();
    for (scheme, values) in places(run) {
        let mut seeds = Vec::new();
        for point in &run.points {
            if place_of(run, point).is_some_and(|place| place == (scheme, values.clone())) {
                if stop() {
                    return Err(ResultsError::Stopped);
                }
                match load::point(dir, run, point) {
                    Ok(seed) => seeds.push(seed),
                    Err(reason) => missing.push(Missing { point: point.clone(), reason }),
                }
            }
        }
        if !seeds.is_empty() {
            seeds.sort_by_key(|seed| seed.summary.seed);
            visit(scheme, &values, &seeds);
        }
    }
    for point in run.points.iter().filter(|point| place_of(run, point).is_none()) {
        let reason = "its scheme or values are not those of the run".to_owned();
        missing.push(Missing { point: point.clone(), reason });
    }
    Ok(missing)
}

/// Every swept point of every scheme that has a simulation, in the order in which they are shown: schemes, then the
/// first axis, then the others.
fn places(run: &RunInfo) -> Vec<(usize, Vec<usize>)> {
    let mut places: Vec<(usize, Vec<usize>)> = run.points.iter().filter_map(|point| place_of(run, point)).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Index of the scheme of a point, and of its value on each axis; `None` if it is none of the run.
fn place_of(run: &RunInfo, point: &Point) -> Option<(usize, Vec<usize>)> {
    let scheme = run.schemes.iter().position(|name| *name == point.scheme)?;
    Some((scheme, values_at(&run.axes, &point.values)?))
}

/// The index of each value on its axis; `None` if it is not there.
pub(crate) fn values_at(axes: &[Axis], values: &[String]) -> Option<Vec<usize>> {
    let on_axis = |(value, axis): (&String, &Axis)| axis.values.iter().position(|known| known == value);
    let places: Vec<usize> = values.iter().zip(axes).map(on_axis).collect::<Option<_>>()?;
    (values.len() == axes.len()).then_some(places)
}

/// What warnings are made from.
#[derive(Default)]
struct Facts {
    fewest_seeds: usize,
    points: usize,
    flows: u64,
    censored: u64,
    queries: u64,
    incomplete_queries: u64,
    /// Warnings of the points with the number of points that gave them.
    told: Vec<(String, usize)>,
}

impl Facts {
    fn note(&mut self, warnings: &[String]) {
        for warning in warnings {
            match self.told.iter_mut().find(|(known, _)| known == warning) {
                Some((_, points)) => *points += 1,
                None => self.told.push((warning.clone(), 1)),
            }
        }
    }

    fn warnings(self, run: &RunInfo, missing: usize) -> Vec<String> {
        let mut warnings = Vec::new();
        if missing > 0 {
            warnings.push(format!("{missing} of {} points have no results", run.points.len()));
        }
        match self.fewest_seeds {
            1 => warnings.push(
                "one seed: intervals come from within one simulation and do not know what another seed would do; \
                 five seeds are recommended"
                    .to_owned(),
            ),
            seeds @ 2..=4 => warnings.push(format!(
                "{seeds} seeds: intervals of means are wide, because Student's t has {} degree{} of freedom; five seeds \
                 are recommended",
                seeds - 1,
                if seeds == 2 { "" } else { "s" }
            )),
            _ => {}
        }
        if self.censored > 0 {
            warnings.push(format!(
                "{} of {} measured flows are censored: the simulation ended before they did; FCTs are over finished \
                 flows and are lower bounds where flows are censored",
                self.censored, self.flows
            ));
        }
        if self.incomplete_queries > 0 {
            warnings.push(format!(
                "{} of {} measured queries are incomplete: the simulation ended before their last answer did; query \
                 completion times are over complete queries and are lower bounds where queries are incomplete",
                self.incomplete_queries, self.queries
            ));
        }
        for (warning, points) in self.told {
            warnings.push(if points == self.points {
                warning
            } else {
                format!("{warning} ({points} of {} points)", self.points)
            });
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_of_few_samples_has_all_of_them() {
        let curve = Curve::of_sorted(&[1.0, 2.0, 2.0, 5.0]);
        assert_eq!(curve.points, [(1.0, 0.25), (2.0, 0.75), (5.0, 1.0)]);
        assert_eq!([0.5, 1.0, 3.0, 9.0].map(|x| curve.at(x)), [0.0, 0.25, 0.75, 1.0]);
    }

    #[test]
    fn a_curve_of_many_samples_is_short_and_keeps_its_tail() {
        let samples: Vec<f64> = (1..=100_000).map(f64::from).collect();
        let curve = Curve::of_sorted(&samples);
        assert!(curve.points.len() < 400, "{}", curve.points.len());
        assert_eq!(curve.points.last(), Some(&(100_000.0, 1.0)));
        for &(x, share) in &curve.points {
            assert_eq!(share, x / 100_000.0);
        }
        assert!(curve.points.iter().filter(|(_, share)| *share > 0.999 && *share < 1.0).count() >= 16);
    }
}
