//! The statistics of the network at one design point: drops by reason and by tier, demotions, marks by tier, queues and
//! loads.

use tailcut_record::Histogram;

use crate::collector::{Collector, counted};
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
    per_run(replications, out, "demotions", |one| one.demotions);
    per_run(replications, out, "refused", |one| one.drops_fabric + one.demotions);
    let tiers = keys(replications, |one| one.by_tiers.keys());
    let mut by_tiers = |metric: &str, count: fn(&PortCounts) -> u64| {
        for pair in &tiers {
            per_run(replications, out, &format!("{metric}_{pair}"), |one| one.by_tiers.get(*pair).map_or(0, count));
        }
    };
    by_tiers("marks", |ports| ports.marks);
    by_tiers("drops_at", |ports| ports.drops);
    queues(replications, out);
    let (queues_p99, ports) = over_ports(replications, |one| &one.aggregator_queues_p99);
    if ports > 0 {
        out.push("sink_queue_p99", stats::ratio(&queues_p99), ports);
    }
    let (utilisations, ports) = over_ports(replications, |one| &one.lossy_port_utilisations);
    if ports > 0 {
        out.share("lossy_port_utilisation", stats::ratio(&utilisations), ports);
    }
    loads(replications, out);
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

/// The parts of a mean over some ports of all replications: for each replication the sum of a number over its ports and
/// how many ports that are. Also returns how many ports there are in all replications.
fn over_ports(replications: &[Replication], of: fn(&Replication) -> &Vec<f64>) -> (Vec<(f64, f64)>, u64) {
    let parts = replications.iter().map(|one| (of(one).iter().sum::<f64>(), of(one).len() as f64)).collect();
    (parts, replications.iter().map(|one| of(one).len() as u64).sum())
}

/// Adds the sampled lengths of the queues, in packets and in bytes.
fn queues(replications: &[Replication], out: &mut Collector) {
    lengths(&replications.iter().map(|one| &one.queues).collect::<Vec<_>>(), "", out);
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
        // Successive samples of a queue are alike, so that an interval from order statistics would be too narrow. The
        // interval comes from the spread between seeds; with one seed there is none.
        let seeds: Vec<f64> =
            replications.iter().filter_map(|one| one.quantile(permille)).map(|length| length as f64).collect();
        let estimate = pooled.quantile(permille).map(|value| {
            let value = value as f64;
            Estimate::new(value, stats::sectioned(value, &seeds)).with_seeds(without(replications, permille))
        });
        out.push(&format!("{metric}{ending}"), estimate, n);
    }
    out.push(&format!("queue_max{ending}"), pooled.max().map(|value| counted(value as f64)), n);
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
}
