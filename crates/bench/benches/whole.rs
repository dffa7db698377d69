//! A whole simulation on one thread: the scenario on which other simulators were measured.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints")]

use tailcut_bench::presets::PEERS;
use tailcut_bench::simulation::{run, scenario};
use tailcut_bench::{Spread, peak_resident_bytes, print_table};

const SCHEME: &str = "dctcp";
const REPETITIONS: usize = 5;

fn main() {
    let scenario = scenario(PEERS.file, &[], SCHEME).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    println!("whole: {}, one thread, CPU time, median (smallest to largest) of {REPETITIONS}", PEERS.file);
    let (mut costs, mut seconds, mut engine) = (Vec::new(), Vec::new(), None);
    for _ in 0..REPETITIONS {
        let (outcome, ns) = run(&scenario);
        costs.push(ns as f64 / outcome.engine.packet_hops as f64);
        seconds.push(ns as f64 / 1e9);
        let same = engine.is_none_or(|before| before == outcome.engine);
        assert!(same, "the same scenario gives the same run");
        engine = Some(outcome.engine);
    }
    let engine = engine.expect("it ran");
    let row = [
        SCHEME.to_owned(),
        format!("{:.2}", engine.packet_hops as f64 / 1e6),
        Spread::of(&costs).to_string(),
        Spread::of(&seconds).to_string(),
        format!("{:.3}", engine.events as f64 / engine.packet_hops as f64),
        format!("{:.1}", engine.peak_bytes as f64 / 1e6),
        peak_resident_bytes().map_or_else(|| "?".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6)),
    ];
    let heads = [
        "scheme",
        "M packet-hops",
        "ns per packet-hop",
        "s",
        "events per hop",
        "peak state (MB)",
        "whole process (MB)",
    ];
    print_table(heads, &[row]);
}
