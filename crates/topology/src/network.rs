//! A network as the simulator uses it: immutable, every port with its two ends.

use std::fmt;
use std::ops::Range;

use tailcut_base::{BitRate, HEADER_BYTES, HostId, Id, IdVec, MTU_BYTES, PortId, Span, SwitchId};

use crate::ideal::{Hop, Route};
use crate::route::{LeafSpine, Router, Table};
use crate::wiring::{Ports, Wiring};

/// One end of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Node {
    /// A server.
    Host(HostId),
    /// A switch.
    Switch(SwitchId),
}

/// Where a switch stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// Hosts are attached to it.
    Leaf,
    /// It joins other switches only.
    Spine,
}

impl Tier {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Leaf => "leaf",
            Tier::Spine => "spine",
        }
    }
}

/// A switch, but for its ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchInfo {
    /// Its name in results: `leaf3`.
    pub name: String,
    /// Where it stands.
    pub tier: Tier,
}

/// An output port and the link that leaves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortSpec {
    /// Whose port it is.
    pub owner: Node,
    /// Where the link ends.
    pub peer: Node,
    /// Rate of the link in this direction.
    pub rate: BitRate,
    /// From the last bit sent to the packet being at hand at the peer: propagation, and processing if the peer is a
    /// switch.
    pub delay: Span,
    /// The peer's port back to the owner.
    pub reverse: PortId,
}

const _: () = assert!(size_of::<PortSpec>() <= 40, "a network has more ports than anything else");

/// Every thread reads the one network; the path choice of a switch goes with its switch.
const _: () = {
    const fn assert_sync<T: Sync>() {}
    const fn assert_send<T: Send>() {}
    assert_sync::<Network>();
    assert_send::<crate::Path>();
};

/// Hosts, switches, ports and the ways between them.
///
/// Port `h` is the interface of host `h`; the ports of the switches follow, those of one switch side by side: the ports
/// toward its hosts first, in the order of the hosts.
#[derive(Clone, Debug)]
pub struct Network {
    hosts: u32,
    switches: IdVec<SwitchId, SwitchInfo>,
    ports: IdVec<PortId, PortSpec>,
    first_port: Vec<u32>,
    rack_switches: Vec<SwitchId>,
    router: Router,
    uplink_capacity_bps: Option<u64>,
}

impl Network {
    /// The network of these cables. `computed` routes it if its generator knows a rule; shortest paths are looked for
    /// otherwise.
    pub(crate) fn new(wiring: Wiring, computed: Option<LeafSpine>, uplink_capacity_bps: Option<u64>) -> Network {
        let wired = wiring.ports();
        let rack_switches = wired.rack_switches();
        let router = match computed {
            Some(rule) => Router::LeafSpine(rule),
            None => Router::Table(Table::shortest_paths(&wired, &rack_switches)),
        };
        let Ports { hosts, switches, ports, first_port } = wired;
        Network { hosts, switches, ports, first_port, rack_switches, router, uplink_capacity_bps }
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// The switches.
    pub fn switches(&self) -> &IdVec<SwitchId, SwitchInfo> {
        &self.switches
    }

    /// The tiers of the switches, each once, ascending.
    pub fn tiers(&self) -> Vec<Tier> {
        let mut tiers: Vec<Tier> = self.switches.iter().map(|switch| switch.tier).collect();
        tiers.sort_unstable();
        tiers.dedup();
        tiers
    }

    /// The ports, of hosts and switches.
    pub fn ports(&self) -> &IdVec<PortId, PortSpec> {
        &self.ports
    }

    /// Names the next hops of packets.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// The interface of a host.
    pub fn nic(&self, host: HostId) -> PortId {
        PortId(host.0)
    }

    /// The ports of a switch, as indices of [`Network::ports`].
    pub fn switch_ports(&self, switch: SwitchId) -> Range<u32> {
        self.first_port[switch.index()]..self.first_port[switch.index() + 1]
    }

    /// The name of a port in results: `leaf3->spine2`, `host17->leaf0`.
    pub fn port_name(&self, port: PortId) -> PortName<'_> {
        PortName { network: self, port }
    }

    /// Number of racks: switches that hosts are attached to.
    pub fn racks(&self) -> u32 {
        self.rack_switches.len() as u32
    }

    /// The rack of a host, from 0.
    #[inline]
    pub fn rack_of(&self, host: HostId) -> u32 {
        self.router.rack_of(host)
    }

    /// The switch of a rack.
    pub fn switch_of_rack(&self, rack: u32) -> SwitchId {
        self.rack_switches[rack as usize]
    }

    /// The hosts of a rack, ascending.
    pub fn hosts_of_rack(&self, rack: u32) -> impl Iterator<Item = HostId> {
        self.ports_of_rack(rack).filter_map(|port| match self.ports[port].peer {
            Node::Host(host) => Some(host),
            Node::Switch(_) => None,
        })
    }

    /// The ports of a rack's switch toward other switches.
    pub fn uplinks_of_rack(&self, rack: u32) -> impl Iterator<Item = PortId> {
        self.ports_of_rack(rack).filter(|&port| matches!(self.ports[port].peer, Node::Switch(_)))
    }

    /// Rate at which bytes can leave their racks, in bit/s: the denominator of the load of the core. The sum over the
    /// uplinks of all leaves; of a line of switches, one link between two of them in one direction. `None` if there is
    /// one switch only. A sum above `u64::MAX` stays there.
    pub fn uplink_capacity_bps(&self) -> Option<u64> {
        self.uplink_capacity_bps
    }

    /// Rate of the link of a host. Every host has the same, but for the receiver of a single bottleneck.
    pub fn host_link(&self) -> BitRate {
        self.ports[self.nic(HostId(0))].rate
    }

    /// Rate of a rack's hosts over the rate of its uplinks, in the rack where it is largest; above 1 the hosts can
    /// offer more than the uplinks carry. `None` if there is one switch only.
    pub fn oversubscription(&self) -> Option<f64> {
        let bps = |port: PortId| self.ports[port].rate.as_bps() as f64;
        let ratio = |rack| {
            let up: f64 = self.uplinks_of_rack(rack).map(bps).sum();
            let down: f64 = self.hosts_of_rack(rack).map(|host| bps(self.nic(host))).sum();
            (up > 0.0).then_some(down / up)
        };
        (0..self.racks()).filter_map(ratio).max_by(f64::total_cmp)
    }

    /// Share of the traffic that leaves its rack if each host sends to all other hosts alike.
    pub fn share_leaving_rack(&self) -> f64 {
        let hosts = f64::from(self.hosts);
        let leaving = |rack| {
            let rack_hosts = self.hosts_of_rack(rack).count() as f64;
            rack_hosts * (hosts - rack_hosts)
        };
        (0..self.racks()).map(leaving).sum::<f64>() / (hosts * (hosts - 1.0))
    }

    /// The links of a shortest way from one host to another: the first alternative at each switch.
    pub fn route(&self, src: HostId, dst: HostId) -> Route {
        let mut route = Route::default();
        self.route_into(src, dst, &mut route);
        route
    }

    /// As [`Network::route`], into a route that was used before, so that nothing is allocated.
    ///
    /// # Panics
    /// If `src` is `dst`.
    pub fn route_into(&self, src: HostId, dst: HostId, route: &mut Route) {
        assert!(src != dst, "a host has no route to itself");
        route.links.clear();
        let mut port = self.nic(src);
        loop {
            let PortSpec { rate, delay, peer, .. } = self.ports[port];
            route.links.push(Hop { rate, delay });
            match peer {
                Node::Host(_) => return,
                Node::Switch(at) => port = self.router.port(self.router.next_hops(at, dst), 0),
            }
            debug_assert!(route.links.len() <= self.switches.len() + 1, "a shortest way passes a switch once");
        }
    }

    /// Round-trip time between two hosts of an idle network: a full data packet out and a pure ACK back.
    pub fn rtt(&self, a: HostId, b: HostId) -> Span {
        self.route(a, b).packet_time(MTU_BYTES) + self.route(b, a).packet_time(HEADER_BYTES)
    }

    /// Bytes that the network holds on to.
    pub fn heap_bytes(&self) -> usize {
        let names: usize = self.switches.iter().map(|switch| switch.name.capacity()).sum();
        names
            + self.switches.heap_bytes()
            + self.ports.heap_bytes()
            + self.first_port.capacity() * size_of::<u32>()
            + self.rack_switches.capacity() * size_of::<SwitchId>()
            + self.router.heap_bytes()
    }

    fn ports_of_rack(&self, rack: u32) -> impl Iterator<Item = PortId> {
        self.switch_ports(self.switch_of_rack(rack)).map(PortId)
    }
}

/// Writes the name of a port. Names are made when they are asked for, because a large network has more of them than
/// it has anything else.
#[derive(Clone, Copy)]
pub struct PortName<'a> {
    network: &'a Network,
    port: PortId,
}

impl PortName<'_> {
    fn write_node(&self, f: &mut fmt::Formatter<'_>, node: Node) -> fmt::Result {
        match node {
            Node::Host(host) => write!(f, "host{host}"),
            Node::Switch(switch) => f.write_str(&self.network.switches[switch].name),
        }
    }
}

impl fmt::Display for PortName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PortSpec { owner, peer, .. } = self.network.ports[self.port];
        self.write_node(f, owner)?;
        f.write_str("->")?;
        self.write_node(f, peer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::generate::{TopologyConfig, leaf_spine, tests::link};

    impl Network {
        /// The same network with the ways looked for instead of computed.
        fn with_table(&self) -> Network {
            let wired = Ports {
                hosts: self.hosts,
                switches: self.switches.clone(),
                ports: self.ports.clone(),
                first_port: self.first_port.clone(),
            };
            let table = Table::shortest_paths(&wired, &self.rack_switches);
            Network { router: Router::Table(table), ..self.clone() }
        }
    }

    fn next_ports(network: &Network, at: SwitchId, dst: HostId) -> (u32, Vec<PortId>) {
        let hops = network.router.next_hops(at, dst);
        (hops.destination, (0..hops.count).map(|i| network.router.port(hops, i)).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn computed_ways_are_the_shortest_paths(leaves in 1u32..9, hosts_per_leaf in 2u32..9, spines in 1u32..7) {
            let config = leaf_spine::Config {
                leaves,
                hosts_per_leaf,
                spines,
                host_link: link("10Gbps", "10us"),
                core_link: link("40Gbps", "1us"),
                switch_delay: Span::ZERO,
            };
            let computed = TopologyConfig::LeafSpine(config).build(&()).unwrap();
            prop_assert!(matches!(computed.router, Router::LeafSpine(_)));
            let found = computed.with_table();
            for host in (0..computed.hosts).map(HostId) {
                prop_assert_eq!(computed.rack_of(host), found.rack_of(host));
                for switch in computed.switches.ids() {
                    prop_assert_eq!(next_ports(&computed, switch, host), next_ports(&found, switch, host));
                }
            }
        }
    }

    /// Uplinks are one set for all racks but the own one, so the table grows with racks, not with racks times paths.
    #[test]
    fn a_table_stores_each_set_of_ports_once() {
        let config = leaf_spine::Config {
            leaves: 64,
            hosts_per_leaf: 2,
            spines: 32,
            host_link: link("10Gbps", "10us"),
            core_link: link("10Gbps", "10us"),
            switch_delay: Span::ZERO,
        };
        let found = TopologyConfig::LeafSpine(config).build(&()).unwrap().with_table();
        // One slice of 8 bytes for each of 96 switches and 64 racks, and 64·32 ports up, 32·64 down and 128 to hosts.
        assert!(found.router.heap_bytes() < 96 * 64 * 8 + 2 * (2 * 64 * 32 + 128) * 4 + 128 * 4 + 1);
    }
}
