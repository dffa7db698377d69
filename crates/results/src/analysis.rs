//! All points of a run, read and turned into what tables, plots and the page show.

use std::ops::Range;
use std::path::Path;

use tailcut_record::Histogram;

use crate::by_size::{SizeBin, SizeBounds};
use crate::curve::Curve;
use crate::design_points;
use crate::error::ResultsError;
use crate::flow_set::{FlowSet, FlowSetKind};
use crate::measurements::Measurements;
use crate::point::{EngineFacts, MeasuredTime};
use crate::repeats::Replications;
use crate::run::{MissingPoint, RunInfo};
use crate::statistics::{FlowSetStatistics, Row};
use crate::warnings::WarningFacts;

/// One design point, as tables and plots show it.
pub struct DesignPoint {
    /// Index of the scheme.
    pub scheme: usize,
    /// Index of the value on each axis.
    pub values: Vec<usize>,
    /// Where the statistics of each set of flows stand among the rows.
    rows: Vec<Range<usize>>,
    /// The distribution of the FCTs in µs of each set of flows.
    pub fct: Vec<Curve>,
    /// The slowdown by flow size of each set of flows; none of a set that is one of sizes itself.
    pub slowdown: Vec<Vec<SizeBin>>,
    /// The distribution of the queue lengths in packets.
    pub queue: Curve,
}

/// What one simulation cost, and which one it is.
pub struct PointCost {
    /// Name of its scheme.
    pub scheme: String,
    /// Its value of each axis.
    pub values: Vec<String>,
    /// Its seed.
    pub seed: u64,
    /// Why it ended.
    pub end: String,
    /// Simulated time in ns.
    pub simulated_ns: f64,
    /// What was measured when; `None` in results that are older than this.
    pub measured: Option<MeasuredTime>,
    /// Flows that started.
    pub flows: u64,
    /// What it cost.
    pub engine: EngineFacts,
}

/// Everything that tables, plots and the page are made from.
pub struct Analysis {
    /// The sets of flows that statistics are about.
    pub sets: Vec<FlowSet>,
    /// Mean flow size in bytes of each set of flows; `None` if it has no flow.
    pub mean_sizes: Vec<Option<f64>>,
    /// Every statistic.
    pub rows: Vec<Row>,
    /// Every design point that has results.
    pub design_points: Vec<DesignPoint>,
    /// The cost of every finished point.
    pub costs: Vec<PointCost>,
    /// What a reader should know before believing the results.
    pub warnings: Vec<String>,
    /// Points without results.
    pub missing: Vec<MissingPoint>,
    /// Every statistic over all seeds, and what each seed contributes to it.
    pub measurements: Measurements,
}

impl Analysis {
    /// Reads the finished points of `run` in the run folder `dir` and computes everything. Only the flows of one design
    /// point are in memory at a time. A point that cannot be read is listed as missing.
    ///
    /// # Errors
    /// [`ResultsError::Stopped`] if `stop` says so; it is asked before each point.
    pub fn of(dir: &Path, run: &RunInfo, stop: &dyn Fn() -> bool) -> Result<Analysis, ResultsError> {
        let sets = FlowSet::of_run(run);
        let mut analysis = Analysis {
            mean_sizes: vec![None; sets.len()],
            rows: Vec::new(),
            design_points: Vec::new(),
            costs: Vec::new(),
            warnings: Vec::new(),
            missing: Vec::new(),
            measurements: Measurements::default(),
            sets,
        };
        let mut measurements = Measurements::new(run, &analysis.sets);
        let mut facts = WarningFacts::default();
        let mut bounds = SizeBounds::default();
        analysis.missing = design_points::visit(dir, run, stop, |scheme, values, replications| {
            let statistics: Vec<FlowSetStatistics> =
                analysis.sets.iter().map(|set| replications.statistics(set)).collect();
            measurements.add(run, scheme, values, replications, &statistics);
            for (set, statistics) in analysis.sets.iter().zip(&statistics) {
                if set.kind == FlowSetKind::All {
                    facts.add_flows(statistics);
                }
            }
            facts.add_points(replications);
            let slowdown = analysis.sets.iter().map(|set| match set.kind {
                FlowSetKind::Size { .. } => Vec::new(),
                _ => replications.bins(&mut bounds, values, set),
            });
            let slowdown = slowdown.collect();
            analysis.add(run, scheme, values, replications, statistics, slowdown);
        })?;
        measurements.set_missing(&analysis.missing);
        analysis.measurements = measurements;
        analysis.warnings = facts.warnings(run, analysis.missing.len(), analysis.measurements.repeats());
        Ok(analysis)
    }

    fn add(
        &mut self,
        run: &RunInfo,
        scheme: usize,
        values: &[usize],
        replications: &Replications,
        statistics: Vec<FlowSetStatistics>,
        slowdown: Vec<Vec<SizeBin>>,
    ) {
        let texts = run.value_texts(values);
        let (mut fct, mut ranges) = (Vec::new(), Vec::new());
        for (at, (set, statistics)) in self.sets.iter().zip(statistics).enumerate() {
            // The workload is the same for every scheme, so that the sizes at the first design point stand for all.
            self.mean_sizes[at] = self.mean_sizes[at].or(statistics.mean_size);
            let first = self.rows.len();
            for statistic in statistics.all {
                let interval = statistic.estimate.as_ref().and_then(|estimate| estimate.interval);
                self.rows.push(Row {
                    scheme: run.schemes[scheme].clone(),
                    values: texts.clone(),
                    class: set.name.clone(),
                    metric: statistic.metric,
                    value: statistic.estimate.as_ref().map(|estimate| estimate.value),
                    low: interval.map(|interval| interval.low),
                    high: interval.map(|interval| interval.high),
                    n: statistic.n,
                    unit: statistic.unit,
                    note: statistic.estimate.and_then(|estimate| estimate.note),
                });
            }
            ranges.push(first..self.rows.len());
            fct.push(Curve::of_sorted(&statistics.fcts));
        }
        let mut queues = Histogram::new();
        replications.iter().for_each(|one| queues.merge(&one.queues));
        for summary in replications.summaries() {
            self.costs.push(PointCost {
                scheme: run.schemes[scheme].clone(),
                values: texts.clone(),
                seed: summary.seed,
                end: summary.end.clone(),
                simulated_ns: summary.simulated_ns,
                measured: summary.measured,
                flows: summary.flows.total,
                engine: summary.engine.clone(),
            });
        }
        let queue = Curve::of_histogram(&queues);
        self.design_points.push(DesignPoint { scheme, values: values.to_vec(), rows: ranges, fct, slowdown, queue });
    }

    /// The statistics of the set of flows at the index `set` at a design point.
    pub fn rows_of(&self, point: &DesignPoint, set: usize) -> &[Row] {
        &self.rows[point.rows[set].clone()]
    }

    /// The statistic `metric` among them.
    pub fn row(&self, point: &DesignPoint, set: usize, metric: &str) -> Option<&Row> {
        self.rows_of(point, set).iter().find(|row| row.metric == metric)
    }

    /// The sets of flows that have any, with their indices.
    pub fn sets_with_flows(&self) -> impl Iterator<Item = (usize, &FlowSet)> {
        self.sets.iter().enumerate().filter(|(at, _)| self.mean_sizes[*at].is_some())
    }
}
