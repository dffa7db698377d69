//! Where statistics are collected, and how their samples are pooled.

use tailcut_base::Span;

use crate::metrics::unit;
use crate::stats::Estimate;

/// A statistic of a set of flows.
#[derive(Clone, Debug)]
pub(crate) struct Statistic {
    /// Name of the metric.
    pub(crate) metric: String,
    /// Its value; `None` without samples.
    pub(crate) estimate: Option<Estimate>,
    /// Number of samples.
    pub(crate) n: u64,
    /// Unit of the value.
    pub(crate) unit: &'static str,
}

/// Collects statistics, with the units of their metrics.
#[derive(Default)]
pub(crate) struct Collector {
    pub(crate) statistics: Vec<Statistic>,
}

impl Collector {
    /// A statistic that cannot be negative.
    pub(crate) fn push(&mut self, metric: &str, mut estimate: Option<Estimate>, n: u64) {
        if let Some(interval) = estimate.as_mut().and_then(|estimate| estimate.interval.as_mut()) {
            interval.low = interval.low.max(0.0);
        }
        self.statistics.push(Statistic { metric: metric.to_owned(), estimate, n, unit: unit(metric) });
    }

    /// A statistic between 0 and 1.
    pub(crate) fn share(&mut self, metric: &str, mut estimate: Option<Estimate>, n: u64) {
        if let Some(interval) = estimate.as_mut().and_then(|estimate| estimate.interval.as_mut()) {
            interval.high = interval.high.min(1.0);
        }
        self.push(metric, estimate, n);
    }

    /// A statistic that is a lower bound if there is a note `bound` that says so.
    pub(crate) fn bounded(&mut self, metric: &str, mut estimate: Option<Estimate>, n: u64, bound: &Option<String>) {
        if let (Some(estimate), Some(bound)) = (estimate.as_mut(), bound) {
            estimate.add_note(bound);
        }
        self.push(metric, estimate, n);
    }

    /// Adds why there is no interval to every statistic so far that has several seeds or batches, and says nothing yet.
    pub(crate) fn say_why_there_is_no_interval(&mut self) {
        for estimate in self.statistics.iter_mut().filter_map(|statistic| statistic.estimate.as_mut()) {
            let is_of_parts = estimate.without.len() > 1;
            if let (None, None, true) = (estimate.interval, &estimate.note, is_of_parts) {
                estimate.note = estimate.why_no_interval();
            }
        }
    }

    /// Adds a note to every statistic so far for whose metric there is one.
    pub(crate) fn note_by_metric(&mut self, note: impl Fn(&str) -> Option<String>) {
        for Statistic { metric, estimate, .. } in &mut self.statistics {
            if let (Some(estimate), Some(note)) = (estimate.as_mut(), note(metric)) {
                estimate.add_note(&note);
            }
        }
    }

    /// Adds a note to every statistic so far.
    pub(crate) fn note_all(&mut self, note: &str) {
        for estimate in self.statistics.iter_mut().filter_map(|statistic| statistic.estimate.as_mut()) {
            estimate.add_note(note);
        }
    }
}

/// A number that was counted, not estimated: it has no interval.
pub(crate) fn counted(value: f64) -> Estimate {
    Estimate::new(value, None)
}

/// A span in µs.
pub(crate) fn us(span: Span) -> f64 {
    span.as_ps() as f64 / 1e6
}

/// Sorts the samples of each replication, and returns all of them, sorted.
pub(crate) fn pool(replications: &mut [Vec<f64>]) -> Vec<f64> {
    for samples in replications.iter_mut() {
        samples.sort_unstable_by(f64::total_cmp);
    }
    let mut all = replications.concat();
    // The stable sort recognises the sorted runs and merges them.
    all.sort_by(f64::total_cmp);
    all
}
