//! What priority flow control did, over all ports and by the tiers that they join.

use std::collections::BTreeMap;

use tailcut_record::{PauseCounts, PortRow};

use crate::collector::Collector;
use crate::replication::Replication;
use crate::stats;

/// The counts of all ports by the tiers that they join: `leaf_to_spine`, `host_to_leaf`, ...
pub(crate) fn by_tiers(ports: &[PortRow]) -> BTreeMap<String, PauseCounts> {
    let tiers: BTreeMap<&str, &str> = ports.iter().map(|port| (port.owner.as_str(), port.tier.as_str())).collect();
    let mut by_tiers: BTreeMap<String, PauseCounts> = BTreeMap::new();
    for (port, pauses) in ports.iter().filter_map(|port| Some((port, port.pauses?))) {
        let to = tiers.get(port.peer.as_str()).copied().unwrap_or("host");
        add(by_tiers.entry(format!("{}_to_{to}", port.tier)).or_default(), &pauses);
    }
    by_tiers
}

fn add(sum: &mut PauseCounts, more: &PauseCounts) {
    sum.frames += more.frames;
    sum.paused += more.paused;
    sum.held += more.held;
}

/// A metric, and what it is of the counts of a replication.
type Metric = (&'static str, fn(PauseCounts) -> f64);

/// Adds the means over the replications; nothing if there was no priority flow control.
pub(crate) fn statistics(replications: &[Replication], out: &mut Collector) {
    if replications.iter().all(|one| one.pauses.is_empty()) {
        return;
    }
    let mut pairs: Vec<&String> = replications.iter().flat_map(|one| one.pauses.keys()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let total = |one: &Replication| {
        one.pauses.values().fold(PauseCounts::default(), |mut sum, more| {
            add(&mut sum, more);
            sum
        })
    };
    let metrics: [Metric; 3] = [
        ("pause_frames", |counts| counts.frames as f64),
        ("paused", |counts| counts.paused.as_ns_f64() / 1e3),
        ("held", |counts| counts.held as f64),
    ];
    for (metric, count) in metrics {
        let mut push = |metric: &str, of: &dyn Fn(&Replication) -> PauseCounts| {
            let parts: Vec<(f64, f64)> = replications.iter().map(|one| (count(of(one)), 1.0)).collect();
            out.push(metric, stats::ratio(&parts), parts.len() as u64);
        };
        push(metric, &total);
        for pair in &pairs {
            push(&format!("{metric}_{pair}"), &|one| one.pauses.get(*pair).copied().unwrap_or_default());
        }
    }
}
