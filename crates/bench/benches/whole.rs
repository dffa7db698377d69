//! A whole simulation on one thread: the scenario on which other simulators were measured.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints")]

use std::path::Path;
use std::time::Instant as WallClock;

use tailcut_bench::{Spread, print_table};
use tailcut_lab::{Plan, RunArguments};
use tailcut_record::Recorder;
use tailcut_sim::World;

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/peers.toml");
const REPETITIONS: usize = 5;

fn main() {
    let plan = Plan::read(Path::new(SCENARIO), &RunArguments::default())
        .unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    println!("whole: scenarios/{}.toml, one thread, median (smallest to largest) of {REPETITIONS}", plan.name);
    let mut rows = Vec::new();
    for planned in &plan.points {
        let scenario = planned
            .scenario(&plan.base_dir)
            .unwrap_or_else(|problem| panic!("a point that was checked: {}", problem.render(false)));
        let (mut costs, mut seconds, mut engine) = (Vec::new(), Vec::new(), None);
        for _ in 0..REPETITIONS {
            let began = WallClock::now();
            let outcome = World::new(&scenario, Recorder::new()).run();
            let passed = began.elapsed();
            costs.push(passed.as_nanos() as f64 / outcome.engine.packet_hops as f64);
            seconds.push(passed.as_secs_f64());
            let same = engine.is_none_or(|before| before == outcome.engine);
            assert!(same, "the same scenario gives the same run");
            engine = Some(outcome.engine);
        }
        let engine = engine.expect("it ran");
        rows.push([
            format!("{} seed {}", planned.point.scheme, planned.point.seed),
            format!("{:.2}", engine.packet_hops as f64 / 1e6),
            Spread::of(&costs).to_string(),
            Spread::of(&seconds).to_string(),
            format!("{:.3}", engine.events as f64 / engine.packet_hops as f64),
            format!("{:.1}", engine.peak_bytes as f64 / 1e6),
            peak_memory().map_or_else(|| "?".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6)),
        ]);
    }
    let heads =
        ["point", "M packet-hops", "ns per packet-hop", "s", "events per hop", "peak state (MB)", "whole process (MB)"];
    print_table(heads, &rows);
}

/// Largest resident set of this process in bytes, where the system tells it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
