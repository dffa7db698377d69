//! The statistics of one set of flows at one design point.
//!
//! Only flows that started after the warm-up count. Statistics of the FCT are over finished flows; how many were
//! censored stands beside them, and where there are any the FCTs are lower bounds and say so. Samples of all seeds are
//! pooled; [`crate::stats`] says where the intervals come from.

use tailcut_record::{Component, FlowRow};

use crate::collector::{Collector, Statistic, counted, pool, us};
use crate::flow_set::{FlowSet, FlowSetKind};
use crate::flows::{Delays, FlowSums, arrived};
use crate::metrics::is_of_few;
use crate::replication::Replication;
use crate::stats::{self, BATCHED_FLOWS, BATCHES};
use crate::{network, queries};

/// One statistic of one set of flows at one design point: a row of `summary.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The scheme.
    pub scheme: String,
    /// The value of each axis.
    pub values: Vec<String>,
    /// Name of the set of flows: a traffic class, several of them, flows of some size, or `all`.
    pub class: String,
    /// Name of the metric.
    pub metric: String,
    /// Its value; `None` if there are no samples.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval; `None` if there is none.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Number of samples.
    pub n: u64,
    /// Unit of the value.
    pub unit: &'static str,
    /// What the value needs to be read with.
    pub note: Option<String>,
}

impl Row {
    /// Whether it is a percentile of fewer values than it needs, and is shown with [`crate::table::FEW_BEHIND`].
    pub fn is_of_few(&self) -> bool {
        self.value.is_some() && is_of_few(&self.metric, self.n)
    }
}

/// The statistics of one set of flows at one design point.
pub(crate) struct FlowSetStatistics {
    /// Every statistic, in the order of the table of metrics.
    pub(crate) all: Vec<Statistic>,
    /// FCTs of all seeds in µs, sorted.
    pub(crate) fcts: Vec<f64>,
    /// Mean size of the flows in bytes; `None` without flows.
    pub(crate) mean_size: Option<f64>,
    /// Number of flows that were censored.
    pub(crate) censored: u64,
    /// Number of flows.
    pub(crate) flows: u64,
    /// Number of queries.
    pub(crate) queries: u64,
    /// Number of queries that were not complete at the end.
    pub(crate) incomplete_queries: u64,
}

impl FlowSetStatistics {
    /// Computes the statistics of `set` over the replications of a design point.
    pub(crate) fn of(set: &FlowSet, replications: &[Replication]) -> FlowSetStatistics {
        let count = |one: &Replication| one.flows.rows().filter(|row| set.has(row)).count();
        let flows: Vec<usize> = replications.iter().map(count).collect();
        let parts_of_one = if flows.first().is_some_and(|&n| n < BATCHED_FLOWS) { flows[0] } else { BATCHES };
        let mut by_seed = vec![FlowSums::default(); replications.len()];
        let mut parts = vec![FlowSums::default(); if replications.len() == 1 { parts_of_one } else { 0 }];
        let (mut fcts, mut slowdowns) = (vec![Vec::new(); replications.len()], vec![Vec::new(); replications.len()]);
        let (mut max_packet_drops, mut bytes) = (0, 0.0);
        for (at, one) in replications.iter().enumerate() {
            for (i, row) in one.flows.rows().filter(|row| set.has(row)).enumerate() {
                by_seed[at].add(&row);
                if replications.len() == 1 {
                    parts[i * parts_of_one / flows[0]].add(&row);
                }
                fcts[at].extend(row.fct().map(us));
                slowdowns[at].extend(row.slowdown());
                max_packet_drops = max_packet_drops.max(row.max_packet_drops);
                bytes += row.size as f64;
            }
        }
        if replications.len() > 1 {
            parts.clone_from(&by_seed);
        }
        let total = |get: fn(&FlowSums) -> f64| by_seed.iter().map(get).sum::<f64>();
        let (all_flows, finished) = (total(|sums| sums.flows) as u64, total(|sums| sums.finished) as u64);
        let censored = all_flows - finished;
        let (fct_pool, slowdown_pool) = (pool(&mut fcts), pool(&mut slowdowns));

        let mut out = Collector::default();
        let bound = (censored > 0).then(|| format!("a lower bound: {censored} of {all_flows} flows are censored"));
        let ratio = |above: fn(&FlowSums) -> f64, below: fn(&FlowSums) -> f64| {
            stats::ratio(&parts.iter().map(|sums| (above(sums), below(sums))).collect::<Vec<_>>())
        };
        let mean = |above: fn(&FlowSums) -> f64, flows: fn(&FlowSums) -> f64| {
            stats::mean(&parts.iter().map(|sums| (above(sums), flows(sums))).collect::<Vec<_>>())
        };
        let per_run =
            |get: fn(&FlowSums) -> f64| stats::ratio(&by_seed.iter().map(|sums| (get(sums), 1.0)).collect::<Vec<_>>());
        let fct = |permille| stats::quantile(&fcts, &fct_pool, permille, "flows");
        let slowdown = |permille| stats::quantile(&slowdowns, &slowdown_pool, permille, "flows");

        out.bounded("fct_mean", mean(|s| s.fct_us, |s| s.finished), finished, &bound);
        for (metric, permille) in [("fct_p50", 500), ("fct_p95", 950), ("fct_p99", 990), ("fct_p999", 999)] {
            out.bounded(metric, fct(permille), finished, &bound);
        }
        let acknowledged = total(|sums| sums.acknowledged) as u64;
        out.push("ack_fct_mean", mean(|s| s.ack_fct_us, |s| s.acknowledged), acknowledged);
        out.push("ideal_mean", mean(|s| s.ideal_us, |s| s.finished), finished);
        out.bounded("slowdown_mean", mean(|s| s.slowdown, |s| s.finished), finished, &bound);
        out.bounded("slowdown_p50", slowdown(500), finished, &bound);
        out.bounded("slowdown_p99", slowdown(990), finished, &bound);
        out.push("goodput_mean", mean(|s| s.goodput, |s| s.finished), finished);
        out.push("goodput_aggregate", mean(|s| s.bits / 1e3, |s| s.fct_us), finished);
        // Flows of different seeds never competed with each other: each seed has an index, and this is their mean.
        let jain: Vec<(f64, f64)> = by_seed.iter().filter_map(FlowSums::jain).map(|index| (index, 1.0)).collect();
        out.share("goodput_jain", stats::ratio(&jain), jain.len() as u64);
        let (queries, incomplete_queries) = queries::statistics(set, replications, &mut out);
        let deadlines = total(|sums| sums.deadlines) as u64;
        if deadlines > 0 {
            out.share("deadline_met", mean(|s| s.met, |s| s.deadlines), deadlines);
        }
        let permitted = total(|sums| sums.permitted) as u64;
        if permitted > 0 {
            out.bounded("waited_mean", mean(|s| s.waited_us, |s| s.permitted), permitted, &bound);
            out.share("waited_share", mean(|s| s.waited_share, |s| s.permitted), permitted);
            out.bounded("stopped_mean", mean(|s| s.stopped_us, |s| s.permitted), permitted, &bound);
            out.share("stopped_share", mean(|s| s.stopped_share, |s| s.permitted), permitted);
            out.bounded("preemptions_mean", mean(|s| s.preemptions, |s| s.permitted), permitted, &bound);
        }
        delays(set, replications, &parts, stats::nearest_rank(&fct_pool, 990), &mut out);
        let runs = replications.len() as u64;
        out.push("flows", Some(counted(all_flows as f64)), runs);
        out.push("censored", Some(counted(censored as f64)), runs);
        let sent = total(|sums| sums.sent) as u64;
        out.push("drops", per_run(|s| s.drops), runs);
        out.share("dropped_share", ratio(|s| s.drops, |s| s.sent), sent);
        out.push("max_packet_drops", (all_flows > 0).then(|| counted(f64::from(max_packet_drops))), all_flows);
        let (dropped, redropped) = (total(|sums| sums.drops) as u64, total(|sums| sums.redropped) as u64);
        if dropped > 0 {
            out.share("lossy_flows_per_drop", ratio(|s| s.lossy, |s| s.drops), dropped);
        }
        if redropped > 0 {
            out.push("fct_mean_redropped", mean(|s| s.redropped_fct_us, |s| s.redropped), redropped);
        }
        out.push("retransmissions", per_run(|s| s.retransmissions), runs);
        out.share("retransmitted_share", ratio(|s| s.retransmissions, |s| s.sent), sent);
        out.push("timeouts", per_run(|s| s.timeouts), runs);
        let packets = total(|sums| sums.arrived) as u64;
        out.push("reordered", per_run(|s| s.reordered), runs);
        out.share("reordered_share", ratio(|s| s.reordered, |s| s.arrived), packets);
        out.push("ce_marks", per_run(|s| s.ce_marks), runs);
        out.share("marked_share", ratio(|s| s.ce_marks, |s| s.arrived), packets);
        marks_of_slow_flows(set, replications, stats::nearest_rank(&fct_pool, 950), &mut out);
        out.share("multi_marked_all_share", ratio(|s| s.multi_marked, |s| s.arrived), packets);
        if set.kind == FlowSetKind::All {
            network::statistics(replications, &mut out);
        }
        if let Some(overloaded) = replications.iter().find_map(|one| one.summary.overloaded.as_ref()) {
            out.note_all(overloaded);
        }
        if let Some(error) = replications.iter().find_map(|one| one.summary.fidelity.as_ref()) {
            out.note_by_metric(|metric| error.note(metric));
        }
        out.say_why_there_is_no_interval();
        FlowSetStatistics {
            all: out.statistics,
            fcts: fct_pool,
            mean_size: (all_flows > 0).then(|| bytes / all_flows as f64),
            censored,
            flows: all_flows,
            queries,
            incomplete_queries,
        }
    }
}

/// Adds where the FCTs go of all flows and of the slowest, those with an FCT of `p99` µs or more, if that is recorded.
fn delays(set: &FlowSet, replications: &[Replication], parts: &[FlowSums], p99: Option<f64>, out: &mut Collector) {
    let n = |sums: &[Delays]| sums.iter().map(|sums| sums.flows).sum::<f64>() as u64;
    let all: Vec<Delays> = parts.iter().map(|sums| sums.delays).collect();
    if n(&all) == 0 {
        return;
    }
    let components = |sums: &[Delays], of: &str, out: &mut Collector| {
        for component in Component::ALL {
            let pairs: Vec<(f64, f64)> =
                sums.iter().map(|sums| (sums.components_us[component as usize], sums.flows)).collect();
            out.push(&format!("delay_{}_{of}", component.name()), stats::mean(&pairs), n(sums));
        }
    };
    components(&all, "mean", out);
    let is_slow = |row: &FlowRow| set.has(row) && row.fct().map(us).zip(p99).is_some_and(|(fct, p99)| fct >= p99);
    let slowest = |one: &Replication| {
        let mut sums = Delays::default();
        one.flows.rows().filter(is_slow).for_each(|row| sums.add(&row));
        sums
    };
    let slowest: Vec<Delays> = replications.iter().map(slowest).collect();
    let fcts: Vec<(f64, f64)> = slowest.iter().map(|sums| (sums.fct_us, sums.flows)).collect();
    out.push("fct_mean_slowest", stats::mean(&fcts), n(&slowest));
    components(&slowest, "slowest", out);
}

/// Adds the share of the packets of flows with an FCT above `p95` µs that two switches or more would mark.
fn marks_of_slow_flows(set: &FlowSet, replications: &[Replication], p95: Option<f64>, out: &mut Collector) {
    let slow = |row: &FlowRow| set.has(row) && row.fct().map(us).zip(p95).is_some_and(|(fct, p95)| fct > p95);
    let sum = |one: &Replication| {
        let slow = one.flows.rows().filter(slow);
        slow.fold((0.0, 0.0), |sum, row| (sum.0 + row.multi_marked as f64, sum.1 + arrived(&row)))
    };
    let parts: Vec<(f64, f64)> = replications.iter().map(sum).collect();
    let packets = parts.iter().map(|part| part.1).sum::<f64>() as u64;
    out.share("multi_marked_share", stats::ratio(&parts), packets);
}

#[cfg(test)]
mod tests;
