//! HyLine's manager alone: what a decision costs by the flows that it knows, and by the size of its fat-tree. And a
//! whole run with it.

use std::sync::Arc;

use tailcut_model::Files;
use tailcut_sim::controller::hyline::{Busy, Config};
use tailcut_sim::{Problem, Scenario};
use tailcut_topology::TopologyConfig;

use crate::simulation::scenario;
use crate::thread_cpu_ns;

/// A fat-tree, and the flows that its manager knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Ports of each switch: the tree has k^3/4 hosts and 3 k^3/4 links.
    pub k: u32,
    /// Flows that are not finished, of those that ask for permission.
    pub flows: u32,
}

impl Case {
    /// Number of hosts.
    pub const fn hosts(self) -> u32 {
        self.k * self.k * self.k / 4
    }
}

const fn case(k: u32, flows: u32) -> Case {
    Case { k, flows }
}

/// By flows, on the network of the document.
pub const BY_FLOWS: [Case; 6] = [case(8, 8), case(8, 32), case(8, 128), case(8, 512), case(8, 2048), case(8, 8192)];

/// By the size of the network, with one flow for each host.
pub const BY_SIZE: [Case; 4] = [case(4, 16), case(8, 128), case(16, 1024), case(24, 3456)];

/// What was measured of a case. All but the time is the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// CPU time of a decision in ns.
    pub ns: f64,
    /// Links that were looked at for a decision.
    pub links: f64,
    /// How many of the flows may send.
    pub going: usize,
}

/// Lets the manager of a case decide `turns` times about a flow that has ended and one that asks.
///
/// # Panics
/// If the manager cannot manage a fat-tree.
pub fn measure(case: Case, turns: u32) -> Sample {
    let text = format!("fat-tree = {{ k = {}, host_link = {{ rate = \"1Gbps\", delay = \"25us\" }} }}", case.k);
    let config: TopologyConfig = toml::from_str(&text).expect("it is a topology");
    let network = Arc::new(config.build(&Files::default()).expect("it can be built"));
    let mut busy = Busy::new(&Config::default(), network, case.flows, 1).expect("hosts have one link");
    // The flows that asked at the beginning have found an empty network.
    for _ in 0..turns / 4 {
        busy.turn();
    }
    let (before, began) = (busy.counts().links, thread_cpu_ns());
    for _ in 0..turns {
        busy.turn();
    }
    let decisions = 2.0 * f64::from(turns);
    let ns = (thread_cpu_ns() - began) as f64 / decisions;
    Sample { ns, links: (busy.counts().links - before) as f64 / decisions, going: busy.going() }
}

/// A run of HyLine as its authors made it, with 40,000 flows, for which they name one core and roughly 1.5 GB of memory
/// (README of Soheil-ab/HyLine).
///
/// # Errors
/// If the scenario cannot be read or is wrong.
pub fn whole() -> Result<Scenario, Problem> {
    scenario("crates/bench/scenarios/fat-tree.toml", &[], "hyline")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_a_decision_is_the_same_each_time() {
        let (one, two) = (measure(case(4, 16), 50), measure(case(4, 16), 50));
        assert!(one.links > 0.0 && one.links == two.links, "{} {}", one.links, two.links);
        assert!(one.going > 0 && one.going <= 16 && one.going == two.going, "{} {}", one.going, two.going);
    }

    #[test]
    fn the_whole_run_is_that_of_the_authors() {
        let scenario = whole().unwrap_or_else(|problem| panic!("{}", problem.render(false)));
        assert_eq!((scenario.network().hosts(), scenario.forecast().flows.round()), (128, 40_000.0));
        assert_eq!((scenario.warnings(), scenario.overloaded()), (Vec::new(), Vec::new()));
    }
}
