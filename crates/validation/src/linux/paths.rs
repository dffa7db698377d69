//! The paths of flows, and where a network of namespaces may delay packets.

use std::collections::BTreeMap;

use tailcut_base::{PortId, Seeds, SwitchId};
use tailcut_model::seat::PathChoice;
use tailcut_model::{FlowId, FlowSpec, Kind, Packet};
use tailcut_sim::Scenario;
use tailcut_topology::{Network, Node, PathContext};

/// The path of the packets of a flow in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The host that sends.
    pub host: u32,
    /// The ports from its NIC to the last switch.
    pub ports: Vec<PortId>,
    /// Which of several shortest paths it is, as an address of the driver names it.
    pub way: u32,
}

/// The paths of data and ACKs of one flow.
///
/// # Errors
/// If packets choose among paths at two switches.
pub fn of_flow(scenario: &Scenario, number: u32, spec: &FlowSpec) -> Result<(Path, Path), String> {
    let mut data = Packet::data(FlowId(number), spec.src, spec.dst, 0, 0, spec.size, spec.start);
    data.connection = spec.connection;
    let ack = data.answer(Kind::ACK, 0);
    Ok((path(scenario, &data)?, path(scenario, &ack)?))
}

/// The path of a packet.
fn path(scenario: &Scenario, packet: &Packet) -> Result<Path, String> {
    let network = scenario.network();
    let nic = nic_of(network, packet.src.0)?;
    let mut ports = vec![nic];
    let mut at = network.switch_of_rack(network.rack_of(packet.src));
    let mut way = None;
    loop {
        let hops = network.router().next_hops(at, packet.dst);
        let choice = if hops.count > 1 { choose(scenario, at, packet, hops.destination, hops.count)? } else { 0 };
        if hops.count > 1 && way.replace(choice).is_some() {
            return Err(
                "packets choose among paths at two switches: expected a star, a line of switches or two tiers \
                        of switches"
                    .to_owned(),
            );
        }
        let port = network.router().port(hops, choice);
        ports.push(port);
        match network.ports()[port].peer {
            Node::Host(_) => return Ok(Path { host: packet.src.0, ports, way: way.unwrap_or(0) }),
            Node::Switch(next) => at = next,
        }
    }
}

fn choose(scenario: &Scenario, at: SwitchId, packet: &Packet, destination: u32, count: u32) -> Result<u32, String> {
    let context = PathContext { node: at.0, seeds: Seeds::new(scenario.seed()) };
    let path = scenario.config().path.build(&context).map_err(|invalid| invalid.to_string())?;
    path.foresee(packet, destination, count)
        .ok_or_else(|| "packets of a flow take different paths: expected `path = \"ecmp\"`".to_owned())
}

/// The NIC of a host.
pub(super) fn nic_of(network: &Network, host: u32) -> Result<PortId, String> {
    let mut nics =
        network.ports().iter_enumerated().filter(|(_, port)| matches!(port.owner, Node::Host(h) if h.0 == host));
    match (nics.next(), nics.next()) {
        (Some((nic, _)), None) => Ok(nic),
        _ => Err(format!("host {host} has several links: expected hosts with one")),
    }
}

/// Where the delays of links are applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delays {
    /// At the NIC of each host, of all links of its paths in nanoseconds: all arrivals at a port are earlier or later
    /// by the same time.
    AtNics(Vec<u64>),
    /// At each port, before its queue: exact for all paths, at the cost of a timer for each packet and port.
    AtPorts,
}

/// Where the delays can be applied so that all packets that share a port arrive in the right order.
pub fn delays(network: &Network, hosts: u32, paths: &[Path]) -> Delays {
    let delay = |port: &PortId| network.ports()[*port].delay.as_ps();
    let (mut of_host, mut beyond) = (BTreeMap::new(), BTreeMap::new());
    for path in paths {
        let total: u64 = path.ports.iter().map(delay).sum();
        if *of_host.entry(path.host).or_insert(total) != total {
            return Delays::AtPorts;
        }
        for (at, &port) in path.ports.iter().enumerate().skip(1) {
            let left: u64 = path.ports[at..].iter().map(delay).sum();
            if *beyond.entry(port).or_insert(left) != left {
                return Delays::AtPorts;
            }
        }
    }
    Delays::AtNics((0..hosts).map(|host| of_host.get(&host).copied().unwrap_or(0) / 1000).collect())
}
