//! Scenarios as text, and their runs.

use std::path::Path;

use tailcut_record::{PortRow, Recorder};
use tailcut_sim::pinned::pinned_preset;
use tailcut_sim::{Outcome, Scenario, Tree, World};

/// More bytes than a flow can send while it is looked at.
pub const ENDLESS: u64 = 1_000_000_000_000_000;

/// A checked scenario: a preset below, `text` on top.
///
/// PINNED: what the pages show was measured with the former defaults. The model of DCTCP (SIGCOMM 2010, section 3.3)
/// opens windows in the round trip of the marks, too.
///
/// # Panics
/// If the scenario is wrong.
pub fn scenario(preset: &str, text: &str, seed: u64) -> Scenario {
    let mut tree = pinned_preset(preset).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    tree.merge(Tree::parse("theory.toml", text).unwrap_or_else(|problem| panic!("{}", problem.render(false))));
    Scenario::new(&tree, seed, Path::new(".")).unwrap_or_else(|problem| panic!("{}", problem.render(false)))
}

/// Runs a scenario to its end, or until its time to drain is over.
///
/// # Panics
/// If the scenario is wrong.
pub fn run(preset: &str, text: &str, seed: u64) -> Outcome {
    World::new(&scenario(preset, text, seed), Recorder::new()).run()
}

/// A flow of a list: source, destination, payload in bytes, and start in picoseconds.
pub type Listed = (u32, u32, u64, u64);

/// A `[workload]` of listed flows.
pub fn listed(flows: &[Listed]) -> String {
    let flow = |&(src, dst, size, ps): &Listed| {
        let start = format!("{}.{:03}ns", ps / 1000, ps % 1000);
        format!("{{ src = {src}, dst = {dst}, size = \"{size}B\", start = \"{start}\" }}")
    };
    format!("\n[workload.traffic.listed]\nlist = [{}]\n", flows.iter().map(flow).collect::<Vec<_>>().join(", "))
}

/// The row of the port from `owner` to `peer`.
///
/// # Panics
/// If there is none.
pub fn port<'a>(outcome: &'a Outcome, owner: &str, peer: &str) -> &'a PortRow {
    outcome.ports.iter().find(|port| port.owner == owner && port.peer == peer).expect("the network has this port")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_exact_to_the_picosecond() {
        let text = format!(
            "[topology.star]\nhosts = 2\nhost_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n{}",
            listed(&[(0, 1, 1, 12_345)])
        );
        assert_eq!(run("tcp", &text, 1).flows.rows().next().unwrap().start.as_ps(), 12_345);
    }
}
