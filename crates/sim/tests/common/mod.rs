//! Scenarios as text, for the tests of whole simulations.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]

use std::path::Path;

use tailcut_record::{FlowRow, Recorder};
use tailcut_sim::{Node, Outcome, Preset, Scenario, World};

/// P1: 400 hosts, 20 leaves, 10 spines, 10 Gb/s, 10 us.
pub const P1: &str = r#"
[topology.leaf-spine]
leaves = 20
hosts_per_leaf = 20
spines = 10
host_link = { rate = "10Gbps", delay = "10us" }
core_link = { rate = "10Gbps", delay = "10us" }
"#;

/// P3: 144 hosts, 9 leaves, 4 spines, 10 and 40 Gb/s.
pub const P3: &str = r#"
[topology.leaf-spine]
leaves = 9
hosts_per_leaf = 16
spines = 4
host_link = { rate = "10Gbps", delay = "20.2us" }
core_link = { rate = "40Gbps", delay = "0.2us" }
"#;

/// A scenario's tree: a preset below, `text` on top.
pub fn node(preset: &str, text: &str) -> Node {
    let mut node = Preset::layer(preset).expect("a preset of the tests");
    node.merge(Node::parse("test.toml", text).unwrap_or_else(|p| panic!("{}", p.render(false))));
    node
}

/// A checked scenario.
pub fn scenario(preset: &str, text: &str, seed: u64) -> Scenario {
    Scenario::new(&node(preset, text), seed, Path::new(".")).unwrap_or_else(|p| panic!("{}", p.render(false)))
}

/// Runs a scenario to its end.
pub fn run(preset: &str, text: &str, seed: u64) -> Outcome {
    World::new(&scenario(preset, text, seed), Recorder::new()).run(|_| {})
}

/// The rows of all flows.
pub fn rows(outcome: &Outcome) -> Vec<FlowRow> {
    outcome.flows.rows().collect()
}

/// FCTs in picoseconds, in the order of the flows.
pub fn fcts(outcome: &Outcome) -> Vec<u64> {
    rows(outcome).iter().map(|row| row.fct().expect("every flow is finished").as_ps()).collect()
}

/// A `[workload]` of listed flows: (source, destination, bytes, start in ns).
pub fn listed(flows: &[(u32, u32, u64, u64)]) -> String {
    let flows: Vec<String> = flows
        .iter()
        .map(|(src, dst, size, start)| {
            format!("{{ src = {src}, dst = {dst}, size = \"{size}B\", start = \"{start}ns\" }}")
        })
        .collect();
    format!("\n[workload.traffic.listed]\nlist = [{}]\n", flows.join(", "))
}
