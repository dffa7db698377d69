//! What an event of the flow level costs, by the number of hosts, by the load and by the number of flows.

use std::ops::ControlFlow;
use std::path::Path;

use tailcut_sim::record::Recorder;
use tailcut_sim::{Preset, Scenario, Tree};

use crate::thread_cpu_ns;

/// A scheme on a leaf-spine that is not oversubscribed, under web search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The preset.
    pub scheme: &'static str,
    /// Hosts, 32 on each leaf.
    pub hosts: u32,
    /// Load of the links of hosts.
    pub load: f64,
    /// Flows.
    pub flows: u64,
}

/// What was measured of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Flows that began, ended, were demoted or overtook.
    pub events: u64,
    /// CPU time in seconds of the whole simulation.
    pub seconds: f64,
    /// Bytes that it held at most.
    pub bytes: u64,
}

impl Sample {
    /// CPU time of an event in microseconds.
    pub fn us_each(&self) -> f64 {
        self.seconds * 1e6 / self.events as f64
    }
}

/// Runs a case.
///
/// # Panics
/// If the scenario is wrong.
pub fn measure(case: Case) -> Sample {
    let Case { scheme, hosts, load, flows } = case;
    let leaves = hosts.div_ceil(32);
    let text = format!(
        r#"
        fidelity = "flow"
        [topology.leaf-spine]
        leaves = {leaves}
        hosts_per_leaf = 32
        spines = 8
        host_link = {{ rate = "10Gbps", delay = "1us" }}
        core_link = {{ rate = "40Gbps", delay = "1us" }}
        [workload]
        load = {load}
        load_of = "host-links"
        flows = {flows}
        [workload.traffic.websearch]
        share = 1.0
        sizes.distribution = "websearch"
        "#
    );
    let mut tree = Preset::layer(scheme).expect("it is a preset");
    tree.merge(Tree::parse("bench", &text).expect("it is TOML"));
    let scenario = Scenario::new(&tree, 1, Path::new(".")).expect("the scenario is right");
    let began = thread_cpu_ns();
    let simulator = scenario.simulator(1);
    let outcome = simulator.simulate(&scenario, Recorder::new(), &mut |_| ControlFlow::Continue(()));
    let outcome = outcome.expect("nobody stops it");
    let seconds = (thread_cpu_ns() - began) as f64 / 1e9;
    Sample { events: outcome.engine.events, seconds, bytes: outcome.engine.peak_bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_begins_and_ends() {
        let sample = measure(Case { scheme: "rcp", hosts: 64, load: 0.4, flows: 300 });
        assert_eq!(sample.events, 600);
        assert!(sample.bytes > 10_000 && sample.us_each() > 0.0);
    }
}
