//! The cost of a packet-hop by the size of the network and by its load.
//!
//! A network that has just begun to work is emptier than it will be, and the first touch of memory costs more than the
//! next ones. So what is measured lies between two moments of a run: the cost of the whole run less that of a run that
//! ends at the first moment, divided by the packet-hops that the one made and the other did not. Both have the same
//! beginning.

use tailcut_sim::{Engine, Problem, Scenario};

use crate::simulation::{run, scenario};
use crate::thread_cpu_ns;

/// The scenario that all cases are made of.
const FILE: &str = "crates/bench/scenarios/scale.toml";
const SCHEME: &str = "dctcp";

/// A leaf-spine network with as many links above each leaf as below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Switches with hosts.
    pub leaves: u32,
    /// Hosts on each of them, and spines.
    pub hosts_per_leaf: u32,
}

impl Size {
    /// Number of hosts.
    pub const fn hosts(self) -> u32 {
        self.leaves * self.hosts_per_leaf
    }

    /// Number of ports: at each end of each link between a host and a leaf, and between a leaf and a spine.
    pub const fn ports(self) -> u32 {
        4 * self.hosts()
    }
}

/// A network under a load for a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The network.
    pub size: Size,
    /// Share of the rate of the hosts' links that the workload offers.
    pub load: f64,
    /// Simulated time until which nothing counts, in us.
    pub from_us: u64,
    /// Simulated time of the whole run in us.
    pub until_us: u64,
}

const fn case(leaves: u32, hosts_per_leaf: u32, load: f64, from_us: u64, until_us: u64) -> Case {
    Case { size: Size { leaves, hosts_per_leaf }, load, from_us, until_us }
}

/// By size. The times are a compromise: a host is as busy as the load says only after some 10 ms, because most bytes of
/// web search are of flows that take that long, and 65,536 hosts make 150,000 packet-hops in a microsecond of that.
pub const SIZES: [Case; 6] = [
    case(8, 16, 0.5, 5_000, 45_000),
    case(32, 16, 0.5, 5_000, 15_000),
    case(64, 32, 0.5, 3_000, 6_000),
    case(128, 64, 0.5, 2_000, 3_000),
    case(512, 64, 0.5, 1_500, 2_000),
    case(1024, 64, 0.5, 1_000, 1_500),
];

/// By load, in a small network.
pub const LOADS_SMALL: [Case; 5] = [
    case(9, 16, 0.1, 5_000, 85_000),
    case(9, 16, 0.3, 5_000, 45_000),
    case(9, 16, 0.5, 5_000, 35_000),
    case(9, 16, 0.7, 5_000, 30_000),
    case(9, 16, 0.9, 5_000, 25_000),
];

/// By load, in a large network.
pub const LOADS_LARGE: [Case; 5] = [
    case(128, 32, 0.1, 3_000, 6_000),
    case(128, 32, 0.3, 3_000, 5_000),
    case(128, 32, 0.5, 3_000, 4_500),
    case(128, 32, 0.7, 3_000, 4_000),
    case(128, 32, 0.9, 3_000, 4_000),
];

/// More than a million hosts and their first millisecond, in which a host can send a 1.25 MB flow. It is run once.
pub const MILLION: Case = case(16_384, 64, 0.5, 0, 1_000);

/// What one measurement of a case gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// CPU time of a packet-hop in ns.
    pub ns_per_hop: f64,
    /// CPU time in ms of a run in which next to nothing happens: the network is built, and what its ports counted is
    /// written down.
    pub empty_ms: f64,
}

/// What a case does, the same in each measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Packet-hops in the time that counts.
    pub packet_hops: u64,
    /// Events in that time.
    pub events: u64,
    /// The engine's state at its peak in bytes.
    pub peak_bytes: u64,
}

/// A case that can be measured again and again.
#[derive(Debug)]
pub struct Measurable {
    /// The case.
    pub case: Case,
    beginning: Scenario,
    whole: Scenario,
    work: Option<Work>,
}

impl Measurable {
    /// A case to be measured.
    ///
    /// # Errors
    /// If the scenario cannot be read or is wrong.
    pub fn new(case: Case) -> Result<Measurable, Problem> {
        Ok(Measurable { case, beginning: case.until(case.from_us)?, whole: case.until(case.until_us)?, work: None })
    }

    /// Measures it once.
    ///
    /// # Panics
    /// If it does something else than the last time.
    pub fn measure(&mut self) -> Sample {
        let empty_ms = self.case.empty_ms();
        let ((beginning, first_ns), (whole, all_ns)) = (run(&self.beginning), run(&self.whole));
        let [beginning, whole] = [beginning.engine, whole.engine];
        let between = |count: fn(&Engine) -> u64| count(&whole) - count(&beginning);
        let work = Work {
            packet_hops: between(|engine| engine.packet_hops),
            events: between(|engine| engine.events),
            peak_bytes: whole.peak_bytes,
        };
        assert!(self.work.is_none_or(|before| before == work), "the same scenario gives the same run");
        self.work = Some(work);
        Sample { ns_per_hop: (all_ns as f64 - first_ns as f64) / work.packet_hops as f64, empty_ms }
    }

    /// What it does.
    ///
    /// # Panics
    /// If it was not measured.
    pub fn work(&self) -> Work {
        self.work.expect("it was measured")
    }
}

impl Case {
    /// The run until this time, in us.
    ///
    /// # Errors
    /// If the scenario cannot be read or is wrong.
    pub fn until(&self, us: u64) -> Result<Scenario, Problem> {
        self.scenario(&format!("workload.duration={us}us"))
    }

    /// The scenario with this length, an assignment.
    fn scenario(&self, length: &str) -> Result<Scenario, Problem> {
        let Size { leaves, hosts_per_leaf } = self.size;
        let [leaves, hosts_per_leaf, spines] =
            [("leaves", leaves), ("hosts_per_leaf", hosts_per_leaf), ("spines", hosts_per_leaf)]
                .map(|(key, value)| format!("topology.leaf-spine.{key}={value}"));
        let load = format!("workload.load={}", self.load);
        scenario(FILE, &[&leaves, &hosts_per_leaf, &spines, &load, length], SCHEME)
    }

    /// CPU time in ms from the scenario's text to the outcome of a run that ends 1 us after its first flow has started.
    fn empty_ms(&self) -> f64 {
        let began = thread_cpu_ns();
        let scenario = self.scenario("workload.flows=1").expect("it is right with another length");
        run(&scenario);
        (thread_cpu_ns() - began) as f64 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use tailcut_record::FlowRow;
    use tailcut_sim::Outcome;

    use super::*;

    #[test]
    fn every_case_is_a_network_of_its_size() {
        for case in SIZES.into_iter().chain(LOADS_SMALL).chain(LOADS_LARGE) {
            let scenario =
                case.scenario("workload.flows=1").unwrap_or_else(|problem| panic!("{}", problem.render(false)));
            let network = scenario.network();
            assert_eq!((network.hosts(), network.ports().len()), (case.size.hosts(), case.size.ports() as usize));
            assert!(case.from_us < case.until_us);
        }
        assert_eq!(SIZES.map(|case| case.size.hosts()), [128, 512, 2048, 8192, 32768, 65536]);
    }

    #[test]
    fn the_beginning_that_is_subtracted_is_that_of_the_whole_run() {
        let mut measurable = Measurable::new(case(2, 4, 0.5, 3_000, 6_000)).unwrap();
        let outcome = |scenario| run(scenario).0;
        let (beginning, whole) = (outcome(&measurable.beginning), outcome(&measurable.whole));
        let rows = |outcome: &Outcome| outcome.flows.rows().collect::<Vec<FlowRow>>();
        let (part, all) = (rows(&beginning), rows(&whole));
        assert!(part.len() < all.len(), "{} {}", part.len(), all.len());
        for (part, all) in part.iter().zip(&all) {
            assert_eq!((part.start, part.src, part.dst, part.size), (all.start, all.src, all.dst, all.size));
            if part.received.is_some() {
                assert_eq!(part.received, all.received);
            }
        }
        measurable.measure();
        let between = whole.engine.packet_hops - beginning.engine.packet_hops;
        assert!(between > 0 && measurable.work().packet_hops == between, "{:?}", measurable.work());
    }
}
