//! Tailcut as a library, at its least: a scenario as text, and the completion times of its flows.
//!
//! `cargo run --release -p tailcut-sim --example run_scenario`
#![allow(clippy::print_stdout, reason = "printing is what an example is for")]

use std::path::Path;

use tailcut_sim::record::Recorder;
use tailcut_sim::{Outcome, Preset, Problem, Scenario, Tree, World};

const SCENARIO: &str = r#"
[topology.leaf-spine]
leaves = 4
hosts_per_leaf = 4
spines = 2
host_link = { rate = "10Gbps", delay = "2us" }
core_link = { rate = "10Gbps", delay = "2us" }

[port]
limit = "240KB"

[workload]
load = 0.6
load_of = "fabric"
flows = 2000

[workload.traffic.short]
share = 0.3
sizes.uniform = { min = "8KB", max = "32KB" }

[workload.traffic.long]
share = 0.7
sizes.fixed = "1MB"
"#;

/// The scheme in the scenario: one tree, checked as a whole. What makes the scheme this scheme counts over what the
/// scenario says of all schemes.
fn run(scheme: &str) -> Result<(Outcome, Vec<String>), Problem> {
    let scenario = Tree::parse("scenario.toml", SCENARIO)?;
    let tree = Preset::scheme(scheme)?.in_scenario(&[&scenario], &[]);
    let seed = 1;
    let scenario = Scenario::new(&tree, seed, Path::new("."))?;
    let outcome = World::new(&scenario, Recorder::new()).run();
    Ok((outcome, scenario.classes().to_vec()))
}

/// The nearest-rank percentile of sorted values; there is at least one.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted[(percent * sorted.len()).div_ceil(100) - 1]
}

fn main() -> Result<(), String> {
    println!("{:8} {:8} {:>6} {:>10} {:>10} {:>10}", "scheme", "class", "flows", "p50 us", "p95 us", "p99 us");
    for scheme in ["tcp", "dctcp", "swift"] {
        // A problem renders as the compiler's would: the line, a caret and what would be right.
        let (outcome, classes) = run(scheme).map_err(|problem| problem.render(false))?;
        for (class, name) in classes.iter().enumerate() {
            let rows = outcome.flows.rows().filter(|row| row.measured && usize::from(row.class) == class);
            // A flow without a completion time was still on its way when the run ended.
            let mut fcts: Vec<f64> = rows.filter_map(|row| row.fct()).map(|fct| fct.as_secs_f64() * 1e6).collect();
            fcts.sort_by(f64::total_cmp);
            let at = |percent| percentile(&fcts, percent);
            println!("{scheme:8} {name:8} {:>6} {:>10.1} {:>10.1} {:>10.1}", fcts.len(), at(50), at(95), at(99));
        }
    }
    Ok(())
}

#[test]
fn it_runs() {
    assert_eq!(main(), Ok(()));
    assert_eq!(percentile(&[1.0, 2.0, 3.0, 4.0], 50), 2.0);
}
