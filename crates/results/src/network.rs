//! The statistics of the network at one design point: drops by reason and by tier, demotions, marks by tier, queues,
//! loads and utilisation.

use tailcut_record::Histogram;

use crate::bursts;
use crate::collector::{Collector, counted};
use crate::pauses;
use crate::replication::{PortCounts, Replication};
use crate::stats::{self, Estimate};

/// Adds the statistics of the network over the replications of a design point.
pub(crate) fn statistics(replications: &[Replication], out: &mut Collector) {
    for reason in keys(replications, |one| one.summary.drops.keys()) {
        per_run(replications, out, &format!("drops_{reason}"), |one| {
            one.summary.drops.get(reason).copied().unwrap_or_default()
        });
    }
    per_run(replications, out, "drops_fabric", |one| one.drops_fabric);
    per_run(replications, out, "drops_nic", |one| one.drops_nic);
    share(replications, out, "dropped_share_fabric", |one| (one.drops_fabric, one.sent_nic));
    let tiers = keys(replications, |one| one.by_tiers.keys());
    let mut switches: Vec<&str> = tiers.iter().filter_map(|pair| pair.split_once("_to_")).map(|(of, _)| of).collect();
    switches.dedup();
    for tier in switches {
        share(replications, out, &format!("dropped_share_{tier}"), |one| {
            let of_tier = |pair: &str| pair.split_once("_to_").is_some_and(|(of, _)| of == tier);
            let counts = one.by_tiers.iter().filter(|(pair, _)| of_tier(pair)).map(|(_, counts)| counts);
            counts.fold((0, 0), |sum, counts| (sum.0 + counts.drops, sum.1 + counts.sent + counts.drops))
        });
    }
    per_run(replications, out, "demotions", |one| one.demotions);
    per_run(replications, out, "refused", |one| one.drops_fabric + one.demotions);
    let mut by_tiers = |metric: &str, count: fn(&PortCounts) -> u64| {
        for pair in &tiers {
            per_run(replications, out, &format!("{metric}_{pair}"), |one| one.by_tiers.get(*pair).map_or(0, count));
        }
    };
    by_tiers("marks", |ports| ports.marks);
    by_tiers("drops_at", |ports| ports.drops);
    pauses::statistics(replications, out);
    queues(replications, out);
    let sinks = |one: &Replication| one.aggregator_queues_p99.len();
    let ports = replications.iter().map(sinks).sum::<usize>() as u64;
    if ports > 0 {
        let part = |one: &Replication| (one.aggregator_queues_p99.iter().sum::<f64>(), sinks(one) as f64);
        out.push("sink_queue_p99", stats::ratio(&replications.iter().map(part).collect::<Vec<_>>()), ports);
    }
    // Without queries all hosts are alike, and no host is another one.
    let with_queries: Vec<&Replication> = replications.iter().filter(|one| one.to_aggregators.1 > 0.0).collect();
    let mut busy = |metric: &str, to: fn(&Replication) -> (f64, f64)| {
        let parts: Vec<(f64, f64)> = with_queries.iter().map(|one| to(one)).filter(|part| part.1 > 0.0).collect();
        if !parts.is_empty() {
            out.share(metric, stats::ratio(&parts), parts.len() as u64);
        }
    };
    busy("sink_utilisation", |one| one.to_aggregators);
    busy("other_host_utilisation", |one| one.to_others);
    let lost = |one: &Replication| one.lossy_ports.iter().map(|&(_, drops)| drops).sum::<u64>();
    let packets = replications.iter().map(lost).sum::<u64>();
    if packets > 0 {
        let busy = |one: &Replication| one.lossy_ports.iter().map(|&(busy, drops)| busy * drops as f64).sum::<f64>();
        let parts: Vec<(f64, f64)> = replications.iter().map(|one| (busy(one), lost(one) as f64)).collect();
        out.share("lossy_port_utilisation", stats::ratio(&parts), packets);
    }
    controller(replications, out);
    for what in keys(replications, |one| one.summary.placement.keys()) {
        per_run(replications, out, &format!("placement_{what}"), |one| {
            one.summary.placement.get(what).copied().unwrap_or_default()
        });
    }
    loads(replications, out);
    bursts::statistics(replications, out);
}

/// The keys that any of the replications has, each once, in alphabetical order.
fn keys<'a, I: Iterator<Item = &'a String>>(
    replications: &'a [Replication],
    of: impl Fn(&'a Replication) -> I,
) -> Vec<&'a String> {
    let mut keys: Vec<&String> = replications.iter().flat_map(of).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Adds the mean over the replications of a number that each of them counts.
fn per_run(replications: &[Replication], out: &mut Collector, metric: &str, count: impl Fn(&Replication) -> u64) {
    let parts: Vec<(f64, f64)> = replications.iter().map(|one| (count(one) as f64, 1.0)).collect();
    if !parts.is_empty() {
        out.push(metric, stats::ratio(&parts), parts.len() as u64);
    }
}

/// Adds a share, of which each replication gives the numerator and the denominator; nothing if all of these are zero.
fn share(replications: &[Replication], out: &mut Collector, metric: &str, counts: impl Fn(&Replication) -> (u64, u64)) {
    let counts: Vec<(u64, u64)> = replications.iter().map(counts).collect();
    let all = counts.iter().map(|(_, all)| all).sum();
    if all > 0 {
        let parts: Vec<(f64, f64)> = counts.iter().map(|&(some, all)| (some as f64, all as f64)).collect();
        out.share(metric, stats::ratio(&parts), all);
    }
}

/// Adds what the controller counted, where there is one.
fn controller(replications: &[Replication], out: &mut Collector) {
    for what in keys(replications, |one| one.summary.controller.keys()) {
        let count = |one: &Replication| one.summary.controller.get(what).copied().unwrap_or_default();
        per_run(replications, out, &format!("controller_{what}"), count);
    }
    let requests =
        |one: &Replication| Some((*one.summary.controller.get("requests")? as f64, one.summary.simulated_ns / 1e9));
    let parts: Vec<(f64, f64)> = replications.iter().filter_map(requests).collect();
    if !parts.is_empty() {
        out.push("controller_requests_rate", stats::ratio(&parts), parts.len() as u64);
    }
}

/// Adds the sampled lengths of the queues, in packets and in bytes.
fn queues(replications: &[Replication], out: &mut Collector) {
    lengths(&replications.iter().map(|one| &one.queues).collect::<Vec<_>>(), "", out);
    let busy: Vec<&Histogram> = replications.iter().map(|one| &one.leaf_queues_busy).collect();
    quantile(&busy, "leaf_queue_p99_busy", 990, out);
    let bytes: Option<Vec<&Histogram>> = replications.iter().map(|one| one.queues_bytes.as_ref()).collect();
    if let Some(bytes) = bytes {
        lengths(&bytes, "_bytes", out);
    }
}

/// Adds the statistics of queue lengths, of which there is a histogram for each replication; `ending` is what the names
/// of their metrics end in.
fn lengths(replications: &[&Histogram], ending: &str, out: &mut Collector) {
    let mut pooled = Histogram::new();
    replications.iter().for_each(|one| pooled.merge(one));
    let n = pooled.total();
    let parts: Vec<(f64, f64)> = replications.iter().map(|one| (one.sum() as f64, one.total() as f64)).collect();
    out.push(&format!("queue_mean{ending}"), stats::ratio(&parts), n);
    for (metric, permille) in [("queue_p50", 500), ("queue_p99", 990)] {
        quantile(replications, &format!("{metric}{ending}"), permille, out);
    }
    out.push(&format!("queue_max{ending}"), pooled.max().map(|value| counted(value as f64)), n);
}

/// Adds the quantile `permille`/1000 of queue lengths, of which there is a histogram for each replication.
fn quantile(replications: &[&Histogram], metric: &str, permille: u32, out: &mut Collector) {
    let mut pooled = Histogram::new();
    replications.iter().for_each(|one| pooled.merge(one));
    // Successive samples of a queue are alike, so that an interval from order statistics would be too narrow. The
    // interval comes from the spread between seeds; with one seed there is none.
    let seeds: Vec<f64> =
        replications.iter().filter_map(|one| one.quantile(permille)).map(|length| length as f64).collect();
    let estimate = pooled.quantile(permille).map(|value| {
        let value = value as f64;
        Estimate::new(value, stats::sectioned(value, &seeds)).with_seeds(without(replications, permille))
    });
    out.push(metric, estimate, pooled.total());
}

/// The quantile `permille`/1000 of the lengths in all of some histograms but one, for each of them.
fn without(histograms: &[&Histogram], permille: u32) -> Vec<Option<f64>> {
    let others = |out: usize| {
        let mut others = Histogram::new();
        histograms.iter().enumerate().filter(|(at, _)| *at != out).for_each(|(_, one)| others.merge(one));
        others.quantile(permille).map(|length| length as f64)
    };
    (0..histograms.len()).map(others).collect()
}

/// Adds the offered and realised loads, and the utilisation of the busiest port.
fn loads(replications: &[Replication], out: &mut Collector) {
    for links in keys(replications, |one| one.summary.loads.keys()) {
        let loads: Vec<_> = replications.iter().filter_map(|one| one.summary.loads.get(links)).collect();
        let realised: Vec<(f64, f64)> = loads.iter().map(|load| (load.realised, 1.0)).collect();
        out.push(&format!("load_{links}"), stats::ratio(&realised), loads.len() as u64);
        // The offered load is the same for every seed, so that it has no interval.
        if let Some(offered) = loads.iter().find_map(|load| load.offered) {
            out.push(&format!("load_{links}_offered"), Some(counted(offered)), replications.len() as u64);
        }
    }
    let busiest: Vec<(f64, f64)> = replications.iter().filter_map(|one| Some((one.max_utilisation?, 1.0))).collect();
    if !busiest.is_empty() {
        out.share("utilisation_max", stats::ratio(&busiest), busiest.len() as u64);
    }
    let core: Vec<(f64, f64)> = replications.iter().filter_map(|one| Some((one.min_core_utilisation?, 1.0))).collect();
    if !core.is_empty() {
        out.share("core_utilisation_min", stats::ratio(&core), core.len() as u64);
    }
    let uneven: Vec<(f64, f64)> = replications.iter().filter_map(|one| Some((one.core_imbalance?, 1.0))).collect();
    if !uneven.is_empty() {
        out.push("core_imbalance", stats::ratio(&uneven), uneven.len() as u64);
    }
}
