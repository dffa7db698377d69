//! The diagram of a network.

use std::collections::BTreeMap;

use tailcut_report::{Diagram, Switch};
use tailcut_topology::{Network, Node, Tier};

/// A network as a diagram: its switches by their tiers, their hosts, and the links between switches. The subtitle names
/// each rate and delay of its links once.
pub(crate) fn diagram(network: &Network, title: &str) -> Diagram {
    let mut hosts: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut links = Vec::new();
    let mut rates: Vec<String> = Vec::new();
    for port in network.ports().iter() {
        let rate = format!("{} {}", port.rate, port.delay);
        if !rates.contains(&rate) {
            rates.push(rate);
        }
        match (port.owner, port.peer) {
            (Node::Host(host), Node::Switch(switch)) => {
                hosts.entry(switch.0).or_default().push(format!("host{}", host.0));
            }
            // Every link has a port at each end: it is taken from one of them.
            (Node::Switch(a), Node::Switch(b)) if a.0 < b.0 => links.push((a.0 as usize, b.0 as usize)),
            _ => {}
        }
    }
    let mut tiers: Vec<Tier> = network.switches().iter().map(|switch| switch.tier).collect();
    tiers.sort_unstable();
    tiers.dedup();
    let switches: Vec<Switch> = (0..)
        .zip(network.switches().iter())
        .map(|(at, switch)| Switch {
            name: switch.name.clone(),
            tier: tiers.iter().position(|tier| *tier == switch.tier).unwrap_or(0),
            hosts: hosts.remove(&at).unwrap_or_default(),
        })
        .collect();
    Diagram::new(title, &rates.join("; "), &switches, &links)
}
