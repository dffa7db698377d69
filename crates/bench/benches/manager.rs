//! What a decision of HyLine's manager costs, by the flows that it knows and by the size of the network, and what a
//! whole run with it costs.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints")]

use tailcut_bench::manager::{BY_FLOWS, BY_SIZE, Case, Sample, measure, whole};
use tailcut_bench::simulation::run;
use tailcut_bench::{Spread, grouped, print_table};

const ROUNDS: usize = 3;
/// Links that are looked at in one measurement of a case: so that each takes about as long.
const WORK: f64 = 1e7;

fn main() {
    println!("manager: HyLine's MAN on a fat-tree, one thread; a flow that may send has ended, and another one asks");
    println!("us of CPU time, median (smallest to largest) of {ROUNDS} rounds in turns");
    for (cases, by) in [(&BY_FLOWS[..], "flows"), (&BY_SIZE[..], "size")] {
        println!("\nby {by}");
        // A short run tells how many turns make up the same work.
        let turns: Vec<u32> = cases
            .iter()
            .map(|&case| (WORK / (2.0 * measure(case, 20).links).max(1.0)).clamp(20.0, 20_000.0) as u32)
            .collect();
        let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); cases.len()];
        for _ in 0..ROUNDS {
            for ((&case, &turns), samples) in cases.iter().zip(&turns).zip(&mut samples) {
                samples.push(measure(case, turns));
            }
        }
        let rows: Vec<[String; 7]> = cases.iter().zip(&samples).map(|(&case, samples)| row(case, samples)).collect();
        print_table(["k", "hosts", "flows", "may send", "links for each", "us for each", "decisions a second"], &rows);
    }
    println!("\na whole run: web search at 90 %, PFC, once");
    let scenario = whole().expect("the scenario is tested");
    let (outcome, ns) = run(&scenario);
    let engine = outcome.engine;
    let rows = [
        ["hosts", &grouped(scenario.network().hosts().into())],
        ["flows", &grouped(outcome.totals.started)],
        ["of which done", &grouped(outcome.totals.received)],
        ["packet-hops", &grouped(engine.packet_hops)],
        ["one core", &format!("{:.0} s", ns as f64 / 1e9)],
        ["state at its peak", &format!("{:.0} MB", engine.peak_bytes as f64 / 1e6)],
    ];
    print_table(["what", "figure"], &rows.map(|row| row.map(str::to_owned)));
}

fn row(case: Case, samples: &[Sample]) -> [String; 7] {
    let us: Vec<f64> = samples.iter().map(|sample| sample.ns / 1e3).collect();
    let spread = Spread::of(&us);
    [
        case.k.to_string(),
        case.hosts().to_string(),
        case.flows.to_string(),
        samples[0].going.to_string(),
        format!("{:.1}", samples[0].links),
        spread.to_string(),
        format!("{:.0}", 1e6 / spread.median),
    ]
}
