//! The diagram of a network.

use tailcut_report::{Diagram, NetworkNode};
use tailcut_topology::{Network, Node};

/// A network as a diagram: its switches by their tiers, its hosts, and the links. The subtitle names each rate and
/// delay of its links once.
pub(crate) fn diagram(network: &Network, title: &str) -> Diagram {
    let switches = network
        .switches()
        .iter()
        .map(|switch| NetworkNode { name: switch.name.clone(), tier: Some(switch.tier.index()) });
    let hosts = (0..network.hosts()).map(|host| NetworkNode { name: format!("host{host}"), tier: None });
    // In the order of `Network::number`: switches, then hosts.
    let nodes: Vec<NetworkNode> = switches.chain(hosts).collect();
    let number = |node: Node| network.number(node) as usize;

    let mut links = Vec::new();
    let mut rates: Vec<String> = Vec::new();
    for (id, port) in network.ports().iter_enumerated() {
        let rate = format!("{} {}", port.rate, port.delay);
        if !rates.contains(&rate) {
            rates.push(rate);
        }
        // Every link has a port at each end: it is taken from the first of them.
        if id < port.reverse {
            links.push((number(port.owner), number(port.peer)));
        }
    }
    Diagram::new(title, &rates.join("; "), &nodes, &links)
}

#[cfg(test)]
mod tests {
    use tailcut_model::registry::seats_of;
    use tailcut_results::OutputFolder;
    use tailcut_sim::Config;
    use tailcut_topology::TopologyConfig;

    use super::*;

    /// An experiment may show any network that a scenario can name.
    #[test]
    fn every_network_that_a_topology_builds_can_be_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = OutputFolder::new(folder.path());
        let seats = seats_of::<Config>();
        let topology = seats.iter().find(|seat| seat.path == "topology").unwrap();
        for model in &topology.models {
            for (at, case) in model.cases.iter().enumerate() {
                let config: TopologyConfig = toml::from_str(&format!("{} = {{ {case} }}", model.name)).unwrap();
                let network = config.build(&tailcut_model::Files::default()).unwrap();
                diagram(&network, &model.name).draw(&format!("{}-{at}", model.name), &mut files).unwrap();
            }
        }
        assert!(files.written().len() >= 2 * topology.models.len());
    }
}
