//! What an event of the flow level costs, by the number of hosts, by the load and by the number of flows.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints")]

use tailcut_bench::flow::{Case, measure};
use tailcut_bench::print_table;

const SCHEMES: [&str; 3] = ["rcp", "pdq", "pias"];

fn main() {
    println!("flow level: web search on leaf-spines that are not oversubscribed, one thread, CPU time");
    let base = |scheme| Case { scheme, hosts: 1024, load: 0.6, flows: 100_000 };
    let by_hosts = [64, 256, 1024, 4096, 16384, 65536];
    let by_load = [0.2, 0.4, 0.6, 0.8, 0.9];
    let by_flows = [10_000, 100_000, 1_000_000];
    for scheme in SCHEMES {
        let base = base(scheme);
        print("hosts", by_hosts.map(|hosts| (hosts.to_string(), Case { hosts, ..base })));
        print("load", by_load.map(|load| (load.to_string(), Case { load, ..base })));
        print("flows", by_flows.map(|flows| (flows.to_string(), Case { flows, ..base })));
    }
}

fn print<const N: usize>(what: &str, cases: [(String, Case); N]) {
    println!("\n{}, by {what}", cases[0].1.scheme);
    let row = |(value, case): &(String, Case)| {
        let sample = measure(*case);
        [
            value.clone(),
            sample.events.to_string(),
            format!("{:.2}", sample.us_each()),
            format!("{:.1}", sample.seconds),
            format!("{:.0}", sample.bytes as f64 / 1e6),
        ]
    };
    let rows: Vec<[String; 5]> = cases.iter().map(row).collect();
    print_table([what, "events", "us for each", "s", "MB"], &rows);
}
