//! The statistics of the network at one swept point of one scheme: drops by reason and place, demotions, marks by place, queues,
//! loads.

use tailcut_record::Histogram;

use super::load::{SeedRun, WayCounts};
use super::metrics::{Collector, plain};
use super::stats::{self, Estimate, Interval};

/// Statistics of the network: drops by reason and place, demotions, marks by place, queues, loads.
pub(crate) fn statistics(seeds: &[SeedRun], out: &mut Collector) {
    let mut reasons: Vec<&String> = seeds.iter().flat_map(|seed| seed.summary.drops.keys()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        per_seed(seeds, out, &format!("drops_{reason}"), |seed| {
            Some(seed.summary.drops.get(reason).copied().unwrap_or_default() as f64)
        });
    }
    per_seed(seeds, out, "drops_fabric", |seed| Some(seed.drops_fabric as f64));
    per_seed(seeds, out, "drops_nic", |seed| Some(seed.drops_nic as f64));
    per_seed(seeds, out, "demotions", |seed| Some(seed.demotions as f64));
    per_seed(seeds, out, "refused", |seed| Some(seed.refused as f64));
    let mut ways: Vec<&String> = seeds.iter().flat_map(|seed| seed.ways.keys()).collect();
    ways.sort_unstable();
    ways.dedup();
    let mut count = |name: &str, count: fn(&WayCounts) -> u64| {
        for way in &ways {
            per_seed(seeds, out, &format!("{name}_{way}"), |seed| Some(seed.ways.get(*way).map_or(0, count) as f64));
        }
    };
    count("marks", |way| way.marks);
    count("drops_at", |way| way.drops);
    queues(seeds, out);
    let sinks: Vec<(f64, f64)> =
        seeds.iter().map(|seed| (seed.sinks.iter().sum::<u64>() as f64, seed.sinks.len() as f64)).collect();
    let ports: usize = seeds.iter().map(|seed| seed.sinks.len()).sum();
    if ports > 0 {
        out.push("sink_queue_p99", stats::ratio(&sinks), ports as u64);
    }
    let lossy: Vec<(f64, f64)> =
        seeds.iter().map(|seed| (seed.lossy.iter().sum::<f64>(), seed.lossy.len() as f64)).collect();
    let ports: usize = seeds.iter().map(|seed| seed.lossy.len()).sum();
    if ports > 0 {
        out.share("lossy_port_utilisation", stats::ratio(&lossy), ports as u64);
    }
    loads(seeds, out);
}

/// The mean over seeds of what each of them says.
fn per_seed(seeds: &[SeedRun], out: &mut Collector, name: &str, get: impl Fn(&SeedRun) -> Option<f64>) {
    let parts: Vec<(f64, f64)> = seeds.iter().filter_map(get).map(|value| (value, 1.0)).collect();
    if !parts.is_empty() {
        out.push(name, stats::ratio(&parts), parts.len() as u64);
    }
}

/// Sampled lengths of the queues.
fn queues(seeds: &[SeedRun], out: &mut Collector) {
    let mut pooled = Histogram::new();
    for seed in seeds {
        pooled.merge(&seed.queues);
    }
    let n = pooled.total();
    let parts: Vec<(f64, f64)> =
        seeds.iter().map(|seed| (seed.queues.sum() as f64, seed.queues.total() as f64)).collect();
    out.push("queue_mean", stats::ratio(&parts), n);
    for (name, permille) in [("queue_p50", 500), ("queue_p99", 990)] {
        // Samples that follow each other are alike, so that order statistics would claim too much: seeds or nothing.
        let values: Vec<f64> =
            seeds.iter().filter_map(|seed| seed.queues.quantile(permille)).map(|q| q as f64).collect();
        let estimate = pooled.quantile(permille).map(|value| {
            let value = value as f64;
            let half = (values.len() >= 5).then(|| stats::half_width(&values));
            Estimate {
                value,
                interval: half.map(|half| Interval { low: value - half, high: value + half }),
                note: None,
            }
        });
        out.push(name, estimate, n);
    }
    out.push("queue_max", pooled.max().map(|value| plain(value as f64)), n);
}

/// Offered and realised loads, and the utilisation of the busiest port.
fn loads(seeds: &[SeedRun], out: &mut Collector) {
    let mut places: Vec<&String> = seeds.iter().flat_map(|seed| seed.summary.loads.keys()).collect();
    places.sort_unstable();
    places.dedup();
    for place in places {
        let load = |seed: &SeedRun| seed.summary.loads.get(place).copied();
        per_seed(seeds, out, &format!("load_{place}"), |seed| Some(load(seed)?.realised));
        // What was asked for is the same in every seed: an interval would say nothing.
        let offered = seeds.iter().find_map(|seed| load(seed)?.offered);
        if let Some(offered) = offered {
            out.push(&format!("load_{place}_offered"), Some(plain(offered)), seeds.len() as u64);
        }
    }
    let busiest: Vec<(f64, f64)> = seeds.iter().filter_map(|seed| seed.busiest).map(|busy| (busy, 1.0)).collect();
    if !busiest.is_empty() {
        out.share("utilisation_max", stats::ratio(&busiest), busiest.len() as u64);
    }
}
