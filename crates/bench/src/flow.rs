//! What an event of the flow level costs, by the number of hosts, by the load and by the number of flows.

use std::ops::ControlFlow;
use std::path::Path;

use tailcut_sim::record::Recorder;
use tailcut_sim::{Outcome, Preset, Scenario, Tree};

use crate::thread_cpu_ns;

/// A network that is not oversubscribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// 32 hosts on each leaf, over links of 10 Gb/s; 8 spines, over links of 40 Gb/s.
    LeafSpine,
    /// Links of 10 Gb/s; hosts are a fourth of the cube of an even number.
    FatTree,
}

/// A scheme under web search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The preset.
    pub scheme: &'static str,
    /// The network.
    pub shape: Shape,
    /// Hosts.
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

impl Case {
    /// The scenario without a scheme, at a fidelity as a scenario writes it.
    pub fn text(&self, fidelity: &str) -> String {
        let Case { shape, hosts, load, flows, .. } = *self;
        let topology = match shape {
            Shape::LeafSpine => format!(
                r#"
                [topology.leaf-spine]
                leaves = {}
                hosts_per_leaf = 32
                spines = 8
                host_link = {{ rate = "10Gbps", delay = "1us" }}
                core_link = {{ rate = "40Gbps", delay = "1us" }}
                "#,
                hosts.div_ceil(32)
            ),
            Shape::FatTree => format!(
                r#"
                [topology.fat-tree]
                k = {}
                host_link = {{ rate = "10Gbps", delay = "1us" }}
                "#,
                (4.0 * f64::from(hosts)).cbrt().round()
            ),
        };
        format!(
            r#"
            fidelity = {fidelity}
            {topology}
            [workload]
            load = {load}
            load_of = "host-links"
            flows = {flows}
            warmup = 0.0
            [workload.traffic.websearch]
            share = 1.0
            sizes.distribution = "websearch"
            "#
        )
    }
}

/// Runs a case at the flow level.
///
/// # Panics
/// If the scenario is wrong.
pub fn measure(case: Case) -> Sample {
    let (outcome, seconds) = simulate(case.scheme, &case.text("\"flow\""));
    Sample { events: outcome.engine.events, seconds, bytes: outcome.engine.peak_bytes }
}

/// Runs a scenario under a scheme, and says how much CPU time one thread took for it, in seconds.
///
/// # Panics
/// If the scenario is wrong.
pub fn simulate(scheme: &str, text: &str) -> (Outcome, f64) {
    let mut tree = Preset::layer(scheme).expect("it is a preset");
    tree.merge(Tree::parse("bench", text).expect("it is TOML"));
    let scenario = Scenario::new(&tree, 1, Path::new(".")).expect("the scenario is right");
    let began = thread_cpu_ns();
    let simulator = scenario.simulator(1);
    let outcome = simulator.simulate(&scenario, Recorder::new(), &mut |_| ControlFlow::Continue(()));
    let outcome = outcome.expect("nobody stops it");
    (outcome, (thread_cpu_ns() - began) as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_begins_and_ends() {
        for (shape, hosts) in [(Shape::LeafSpine, 64), (Shape::FatTree, 128)] {
            let sample = measure(Case { scheme: "rcp", shape, hosts, load: 0.4, flows: 300 });
            assert_eq!(sample.events, 600);
            assert!(sample.bytes > 10_000 && sample.us_each() > 0.0);
        }
    }
}
