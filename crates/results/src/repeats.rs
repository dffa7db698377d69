//! Seeds that draw nothing: if all runs of a design point are identical, they count as one replication.
//!
//! A workload that is listed, on a network with one path, draws nothing from its seed. Five seeds are then one run five
//! times; taken for five replications they would give intervals of no width, and five times as many flows as there are.
//!
//! Where only some runs are identical, seeds do draw: most runs of a rare loss lose nothing, and are the same. Each is
//! an independent draw and counts. Identical ones counted once would give each rare run the weight of all others
//! together.
//!
//! Two runs repeat each other if everything is equal that statistics are made of: the digest of their events, what
//! their summaries count, and each measured flow, query, burst, port and queue. The digest alone would not do: it is
//! over packets (over completion times, in simulations without packets) and knows nothing of a deadline that was drawn
//! and that no scheme looked at. Neither would the flows alone: the queues around them may differ.

use std::ops::Deref;

use crate::by_size::{SizeBin, SizeBounds};
use crate::flow_set::FlowSet;
use crate::metrics::is_counted;
use crate::point::PointSummary;
use crate::replication::Replication;
use crate::statistics::FlowSetStatistics;
use crate::stats::Estimate;

/// The finished runs of a design point: those that count, in the order of their seeds, and those that repeat the only
/// one that does.
pub(crate) struct Replications {
    counted: Vec<Replication>,
    repeated: Vec<PointSummary>,
    /// The number of runs that differ from all others before them.
    distinct: usize,
}

impl Deref for Replications {
    type Target = [Replication];

    /// The runs that count.
    fn deref(&self) -> &[Replication] {
        &self.counted
    }
}

impl Replications {
    /// If all runs are identical, the one with the smallest seed counts; else all do.
    pub(crate) fn of(mut runs: Vec<Replication>) -> Replications {
        runs.sort_by_key(|one| one.summary.seed);
        let is_new = |&at: &usize| !runs[..at].iter().any(|known| known.is_repeated_by(&runs[at]));
        let distinct = (0..runs.len()).filter(is_new).count();
        let repeated = if distinct == 1 { runs.drain(1..).map(|run| run.summary).collect() } else { Vec::new() };
        Replications { counted: runs, repeated, distinct }
    }

    /// The summaries of all runs, in the order of their seeds.
    pub(crate) fn summaries(&self) -> impl Iterator<Item = &PointSummary> {
        let mut all: Vec<&PointSummary> = self.counted.iter().map(|one| &one.summary).chain(&self.repeated).collect();
        all.sort_by_key(|summary| summary.seed);
        all.into_iter()
    }

    /// The statistics of a set of flows over the runs that count.
    pub(crate) fn statistics(&self, set: &FlowSet) -> FlowSetStatistics {
        let mut statistics = FlowSetStatistics::of(set, self);
        for statistic in statistics.all.iter_mut().filter(|statistic| !is_counted(&statistic.metric)) {
            if let Some(estimate) = &mut statistic.estimate {
                self.refuse_interval(estimate);
            }
        }
        statistics
    }

    /// The slowdown by size of a set of flows over the runs that count.
    pub(crate) fn bins(&self, bounds: &mut SizeBounds, values: &[usize], set: &FlowSet) -> Vec<SizeBin> {
        let mut bins = bounds.bins(values, set, self);
        for bin in &mut bins {
            self.refuse_interval(&mut bin.median);
            self.refuse_interval(&mut bin.p99);
        }
        bins
    }

    /// Takes the interval from a statistic of these runs if they are one run several times: batches of its flows would
    /// know nothing of another one.
    pub(crate) fn refuse_interval(&self, estimate: &mut Estimate) {
        if let Some(note) = self.nothing_drawn() {
            estimate.interval = None;
            estimate.repeated = true;
            estimate.add_note(&note);
        }
    }

    /// That all of these runs are identical, if they are several.
    pub(crate) fn nothing_drawn(&self) -> Option<String> {
        (!self.repeated.is_empty()).then(|| nothing_drawn(1 + self.repeated.len()))
    }
}

/// That all of some runs are identical.
fn nothing_drawn(runs: usize) -> String {
    format!("seeds draw nothing here: {runs} runs are identical")
}

/// At how many design points runs repeat each other, for a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    design_points: usize,
    /// The number of runs at each design point where all are identical.
    whole: Vec<usize>,
    /// The number of runs at each design point where some are identical, and how many differ.
    partial: Vec<(usize, usize)>,
}

impl Repeats {
    /// Takes note of a design point.
    pub(crate) fn add(&mut self, replications: &Replications) {
        self.design_points += 1;
        let (distinct, runs) = (replications.distinct, replications.len() + replications.repeated.len());
        match distinct {
            _ if distinct == runs => {}
            1 => self.whole.push(runs),
            _ => self.partial.push((runs, distinct)),
        }
    }

    /// What a reader should know of runs that are identical; `None` if no two are.
    pub fn warning(&self) -> Option<String> {
        let at = |places: usize| match places {
            _ if places == self.design_points => String::new(),
            _ => format!(" (at {places} of {} design points)", self.design_points),
        };
        let whole = self.whole.iter().max().map(|&runs| {
            format!("{}, and count as one, without intervals{}", nothing_drawn(runs), at(self.whole.len()))
        });
        // The design point that has the smallest part of different runs.
        let fewest = self.partial.iter().min_by_key(|&&(runs, distinct)| (distinct * 1_000_000 / runs, distinct));
        let partial = fewest.map(|(runs, distinct)| {
            let alike = self.partial.iter().all(|one| one == &self.partial[0]);
            let at_most = if alike { "" } else { "at one design point " };
            let places = at(self.partial.len());
            format!(
                "seeds draw little here: {at_most}only {distinct} of {runs} runs differ; all are independent draws, and \
                 each counts{places}"
            )
        });
        let both: Vec<String> = whole.into_iter().chain(partial).collect();
        (!both.is_empty()).then(|| both.join("; "))
    }
}

#[cfg(test)]
mod tests;
