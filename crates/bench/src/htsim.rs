//! The common work for htsim: what `htsim/driver.cc` is told of the network and its flows.
//!
//! Both simulators get the same flows, as numbers of packets: htsim's packets are 1500 B without headers. They differ
//! in what they make of them, so that what is compared is the cost of a packet-hop and not the results.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tailcut_base::MSS_BYTES;
use tailcut_sim::Scenario;

use crate::simulation;

/// The scenario that both run, a path from the root of the repository.
pub const FILE: &str = "scenarios/peers.toml";

/// What the driver is told of [`FILE`], in the order that its head gives. Another network needs other numbers: the test
/// below compares them with the scenario.
const NETWORK: [u64; 10] = [
    9,              // leaves
    16,             // hosts of each
    4,              // spines
    10_000_000_000, // rate of a host's link in bit/s
    40_000_000_000, // rate of a link between switches
    1_000_000,      // delay of a host's link in ps
    1_000_000,      // delay of a link between switches
    240 * 1500,     // bytes that a port holds
    65 * 1500,      // above which it marks
    10_000_000_000, // smallest retransmission timeout in ps
];

/// The scenario with so many flows.
///
/// # Errors
/// A sentence, if the repository's scenario is wrong.
pub fn scenario(flows: u32) -> Result<Scenario, String> {
    let flows = format!("workload.flows={flows}");
    simulation::scenario(FILE, &[&flows], "dctcp").map_err(|problem| problem.render(false))
}

/// The flows of the scenario, a line for each: start in ps, sender, receiver, packets.
pub fn flow_list(scenario: &Scenario) -> String {
    let mut list = String::new();
    for flow in scenario.workload() {
        let packets = flow.size.div_ceil(MSS_BYTES);
        let _ = writeln!(list, "{} {} {} {packets}", flow.start.as_ps(), flow.src.0, flow.dst.0);
    }
    list
}

/// What a run of the driver cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// CPU time of the event loop.
    pub ns: u64,
}

/// Runs the driver on these flows.
///
/// # Errors
/// A sentence, if it does not start, fails, or says something else than a cost.
pub fn run(driver: &Path, flows: &str) -> Result<Cost, String> {
    let failed = |what: &dyn std::fmt::Display| format!("{}: {what}", driver.display());
    let mut child = Command::new(driver)
        .args(NETWORK.map(|number| number.to_string()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| failed(&e))?;
    // It reads all of its input before it prints anything. One that ends early says why by its exit code.
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(flows.as_bytes()));
    let said = child.wait_with_output().map_err(|e| failed(&e))?;
    if !said.status.success() {
        return Err(failed(&said.status));
    }
    written.map_err(|e| failed(&e))?;
    let said = String::from_utf8_lossy(&said.stdout);
    cost_in(&said).ok_or_else(|| failed(&format!("it said `{}`, which is no cost", said.trim())))
}

fn cost_in(said: &str) -> Option<Cost> {
    let mut numbers = said.split_whitespace().map(str::parse);
    let (packet_hops, ns) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (numbers.next().is_none() && packet_hops > 0).then_some(Cost { packet_hops, ns })
}

#[cfg(test)]
mod tests {
    use tailcut_sim::Config;

    use super::*;

    #[test]
    fn the_driver_is_told_what_the_scenario_says() {
        let text = std::fs::read_to_string(simulation::in_repository(FILE)).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let network = &table["topology"]["leaf-spine"];
        let [leaves, each, spines, host_bps, core_bps, host_delay, core_delay, limit, mark, min_rto] = NETWORK;
        let number = |key: &str| network[key].as_integer().unwrap() as u64;
        assert_eq!([number("leaves"), number("hosts_per_leaf"), number("spines")], [leaves, each, spines]);
        let link = |key: &str| {
            let of = |what: &str| network[key][what].as_str().unwrap().to_owned();
            (of("rate"), of("delay"))
        };
        let said = |bps: u64, ps: u64| (format!("{}Gbps", bps / 1_000_000_000), format!("{}us", ps / 1_000_000));
        assert_eq!(link("host_link"), said(host_bps, host_delay));
        assert_eq!(link("core_link"), said(core_bps, core_delay));
        let config: Config = scenario(10).unwrap().config().clone();
        assert_eq!(config.port.limit_bytes(), limit);
        let marker = format!("{:?}", config.port.marker);
        assert!(marker.contains(&format!("threshold: Bytes({mark}B)")), "{marker}");
        let transport = format!("{:?}", config.host.transport);
        assert!(transport.contains("min_rto") && min_rto == 10_000_000_000, "{transport}");
        assert_eq!(table["host"]["transport"]["tcp"]["min_rto"].as_str(), Some("10ms"));
    }

    #[test]
    fn every_flow_is_in_the_list() {
        let list = flow_list(&scenario(50).unwrap());
        assert_eq!(list.lines().count(), 50);
        let mut before = 0;
        for line in list.lines() {
            let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
            let [start, src, dst, packets] = numbers[..] else { panic!("{line}") };
            assert!(start >= before && src < 144 && dst < 144 && src != dst && packets > 0, "{line}");
            before = start;
        }
    }

    #[test]
    fn only_a_cost_is_one() {
        assert_eq!(cost_in("12 345\n"), Some(Cost { packet_hops: 12, ns: 345 }));
        for wrong in ["", "12", "0 5", "12 345 6", "x 5", "12 -5"] {
            assert_eq!(cost_in(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_driver_that_is_not_there_or_fails_is_told() {
        let missing = run(Path::new("/no/such/driver"), "").unwrap_err();
        assert!(missing.contains("/no/such/driver"), "{missing}");
        let failing = run(Path::new("/bin/false"), "").unwrap_err();
        assert!(failing.contains("exit status: 1"), "{failing}");
        let silent = run(Path::new("/bin/true"), "").unwrap_err();
        assert!(silent.contains("no cost"), "{silent}");
    }
}
