//! Slowdown by flow size: the figure by which the field compares transports.
//!
//! The flows of a set are divided by size into bins of about as many flows each, so that a percentile rests on as many
//! samples in every bin. Equal sizes stay together: where all flows have one size there is one bin. The bounds are
//! those of the first scheme at the same swept values, because schemes are compared on the same flows.

use std::collections::BTreeMap;

use crate::collector::pool;
use crate::flow_set::FlowSet;
use crate::replication::Replication;
use crate::stats::{self, Estimate};

/// Bins at most: each has a tenth of the flows, as in the figures of pFabric, Homa and HPCC.
const MOST_BINS: usize = 10;
/// Bins at least, where sizes differ.
const FEWEST_BINS: usize = 4;
/// Flows of a bin that a 99th percentile with an interval needs.
const FLOWS_OF_A_BIN: usize = 1000;

/// The slowdown of the flows of about one size at a design point.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeBin {
    /// Size in bytes of its smallest and its largest flow.
    pub sizes: (u64, u64),
    /// Mean size in bytes of its flows.
    pub mean_size: f64,
    /// Number of its finished flows.
    pub n: u64,
    /// Median slowdown.
    pub median: Estimate,
    /// 99th percentile of the slowdown.
    pub p99: Estimate,
}

/// The largest size of each bin, for the sets of flows at the swept values that were seen so far.
#[derive(Default)]
pub(crate) struct SizeBounds(BTreeMap<(Vec<usize>, String), Vec<u64>>);

impl SizeBounds {
    /// The bins of the set of flows at the design point with these swept values and replications.
    pub(crate) fn bins(&mut self, values: &[usize], set: &FlowSet, replications: &[Replication]) -> Vec<SizeBin> {
        let bounds = self.0.entry((values.to_vec(), set.name.clone())).or_default();
        if bounds.is_empty() {
            *bounds = bounds_of(set, replications);
        }
        let mut bins: Vec<Bin> = bounds.iter().map(|_| Bin::new(replications.len())).collect();
        for (seed, one) in replications.iter().enumerate() {
            for row in one.flows.rows().filter(|row| set.has(row)) {
                // A flow that is larger than all of the first scheme belongs to the last bin.
                let at = bounds.partition_point(|&bound| bound < row.size).min(bounds.len() - 1);
                if let Some(slowdown) = row.slowdown() {
                    bins[at].add(seed, row.size, slowdown);
                }
            }
        }
        bins.into_iter().filter_map(Bin::finish).collect()
    }
}

/// The largest size of each bin. It is empty without flows.
fn bounds_of(set: &FlowSet, replications: &[Replication]) -> Vec<u64> {
    let rows = replications.iter().flat_map(|one| one.flows.rows());
    let mut sizes: Vec<u64> = rows.filter(|row| set.has(row)).map(|row| row.size).collect();
    sizes.sort_unstable();
    let bins = (sizes.len() / FLOWS_OF_A_BIN).clamp(FEWEST_BINS, MOST_BINS);
    let mut bounds: Vec<u64> =
        (1..=bins).filter_map(|bin| sizes.get((bin * sizes.len()).div_ceil(bins).checked_sub(1)?).copied()).collect();
    bounds.dedup();
    bounds
}

/// The flows of a bin while they are collected.
struct Bin {
    sizes: (u64, u64),
    bytes: f64,
    /// The slowdowns of each seed.
    seeds: Vec<Vec<f64>>,
}

impl Bin {
    fn new(seeds: usize) -> Bin {
        Bin { sizes: (u64::MAX, 0), bytes: 0.0, seeds: vec![Vec::new(); seeds] }
    }

    fn add(&mut self, seed: usize, size: u64, slowdown: f64) {
        self.sizes = (self.sizes.0.min(size), self.sizes.1.max(size));
        self.bytes += size as f64;
        self.seeds[seed].push(slowdown);
    }

    fn finish(mut self) -> Option<SizeBin> {
        let all = pool(&mut self.seeds);
        let of = |permille| stats::quantile(&self.seeds, &all, permille, "flows");
        let n = all.len() as u64;
        Some(SizeBin { sizes: self.sizes, mean_size: self.bytes / n as f64, n, median: of(500)?, p99: of(990)? })
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::Span;
    use tailcut_record::FlowRow;

    use super::*;
    use crate::testing::{class_sets, classes, flow, replication};

    /// A replication of `n` flows whose sizes are 1000, 2000, ... bytes and whose slowdown is `slowdown` times that in
    /// KB.
    fn growing(n: u32, slowdown: u64) -> Replication {
        let row = |at: u32| {
            let size = u64::from(at + 1) * 1000;
            let mut row = FlowRow { size, ideal: Span::from_us(1), ..flow(at, 0, Some(1)) };
            row.received = Some(row.start + Span::from_us(slowdown * u64::from(at + 1)));
            row
        };
        replication(&(0..n).map(row).collect::<Vec<_>>())
    }

    #[test]
    fn bins_have_as_many_flows_and_the_same_bounds_for_every_scheme() {
        let set = &FlowSet::of(&classes(), &class_sets(), &[])[0];
        let mut bounds = SizeBounds::default();
        let first = bounds.bins(&[0], set, &[growing(400, 1)]);
        assert_eq!(first.iter().map(|bin| bin.n).collect::<Vec<_>>(), [100; 4]);
        assert_eq!(first[1].sizes, (101_000, 200_000));
        assert_eq!((first[1].mean_size, first[1].median.value, first[1].p99.value), (150_500.0, 150.0, 199.0));
        assert!(first[0].p99.interval.is_none(), "100 flows are too few for a 99th percentile with an interval");
        // Fewer flows of another scheme stay in the bins of their sizes.
        let second = bounds.bins(&[0], set, &[growing(150, 2)]);
        assert_eq!(second.iter().map(|bin| (bin.n, bin.median.value)).collect::<Vec<_>>(), [(100, 100.0), (50, 250.0)]);
        // Other swept values may mean other sizes.
        assert_eq!(bounds.bins(&[1], set, &[growing(150, 2)]).len(), 4);
    }

    #[test]
    fn flows_of_one_size_are_one_bin_and_no_flows_are_none() {
        let set = &FlowSet::of(&classes(), &class_sets(), &[])[0];
        let rows: Vec<FlowRow> = (0..40).map(|at| flow(at, 0, Some(20))).collect();
        assert_eq!(SizeBounds::default().bins(&[], set, &[replication(&rows)]).len(), 1);
        assert_eq!(SizeBounds::default().bins(&[], set, &[replication(&[])]), []);
    }
}
