//! A network as the simulator uses it: immutable, every port with its two ends.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tailcut_base::{BitRate, HostId, Id, IdVec, PortId, Span, SwitchId};

use tailcut_model::Invalid;

use crate::extra::Extra;
use crate::ideal::{Hop, Route};
use crate::quickest::Quickest;
use crate::route::{Router, RoutingTable};
use crate::wiring::{Ports, Wiring};

/// One end of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// A server.
    Host(HostId),
    /// A switch.
    Switch(SwitchId),
}

/// Where a switch stands: a tier of the network, by its number from the hosts up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Tier(pub(crate) u8);

impl Tier {
    /// The tier's number, from 0.
    pub fn index(self) -> usize {
        usize::from(self.0)
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
/// The interfaces of the hosts come first, in the order of the hosts: where each host has one, port `h` is that of host
/// `h`. The ports of the switches follow, those of one switch side by side, in the order in which its cables were laid:
/// those toward its hosts first.
#[derive(Clone, Debug)]
pub struct Network {
    hosts: u32,
    tiers: Vec<String>,
    switches: IdVec<SwitchId, SwitchInfo>,
    ports: IdVec<PortId, PortSpec>,
    /// First interface of each host, and one past the last one of the last host; `None` if each has one.
    first_nic: Option<Vec<u32>>,
    first_port: Vec<u32>,
    rack_switches: Vec<SwitchId>,
    /// The rack of each host where hosts have several links; elsewhere it is its group in the router.
    rack_of: Option<IdVec<HostId, u32>>,
    router: Router,
    /// Whether hosts forward what is not for them.
    relays: bool,
    switch_delays: IdVec<SwitchId, Span>,
    /// What it has beside its topology, if anything.
    pub(crate) extra: Option<Box<Extra>>,
    /// Whether the ways between two hosts differ in rates or delays.
    is_irregular: bool,
    /// Whether its generator knows that what holds for one host holds for all.
    hosts_are_alike: bool,
    uplink_capacity_bps: Option<u64>,
    remarks: Vec<String>,
    /// The host of each node, where a file numbers hosts and switches together.
    nodes: Option<Arc<[Option<HostId>]>>,
}

impl Network {
    /// No rack.
    pub const NO_RACK: u32 = u32::MAX;

    /// The network of these cables. `computed` routes it if its generator knows a rule, under which all ways between
    /// two hosts are alike; shortest paths are looked for otherwise.
    ///
    /// # Errors
    /// If the ways through it are too many to be stored.
    pub(crate) fn new(
        mut wiring: Wiring,
        computed: Option<Router>,
        uplink_capacity_bps: Option<u64>,
    ) -> Result<Network, Invalid> {
        let remarks = wiring.take_remarks();
        let wired = wiring.ports();
        let rack_switches = wired.rack_switches();
        let rack = |host| match wired.switch_of(host) {
            Some(switch) => rack_switches.binary_search(&switch).expect("a switch with hosts has a rack") as u32,
            None => Network::NO_RACK,
        };
        let rack_of = wired.first_nic.is_some().then(|| (0..wired.hosts).map(|host| rack(HostId(host))).collect());
        let is_computed = computed.is_some();
        let router = match computed {
            Some(router) => router,
            None => Router::Table(RoutingTable::shortest_paths(&wired)?),
        };
        let Ports { hosts, tiers, switches, ports, first_nic, first_port, relays, switch_delays } = wired;
        let mut network = Network {
            hosts,
            tiers,
            switches,
            ports,
            first_nic,
            first_port,
            rack_switches,
            rack_of,
            router,
            relays,
            switch_delays,
            extra: None,
            is_irregular: false,
            hosts_are_alike: is_computed,
            uplink_capacity_bps,
            remarks,
            nodes: None,
        };
        network.is_irregular = !is_computed && !network.has_links_of_one_kind() && network.has_unequal_ways();
        Ok(network)
    }

    /// The cables, without the ways through them.
    pub(crate) fn wired(&self) -> Ports {
        Ports {
            hosts: self.hosts,
            tiers: self.tiers.clone(),
            switches: self.switches.clone(),
            ports: self.ports.clone(),
            first_nic: self.first_nic.clone(),
            first_port: self.first_port.clone(),
            relays: self.relays,
            switch_delays: self.switch_delays.clone(),
        }
    }

    /// The ways through the network while these ports are dead: their links carry nothing.
    ///
    /// # Errors
    /// If they are too many to be stored.
    pub fn router_without(&self, dead: &[PortId]) -> Result<Router, Invalid> {
        match dead {
            [] => Ok(self.router.clone()),
            _ => RoutingTable::find(&self.wired(), &self.rules(), &|port| dead.contains(&port)).map(Router::Table),
        }
    }

    /// Gives the network other ports, and room for several interfaces of its hosts. What it says of racks stays as it
    /// was; its ways are to be looked for.
    pub(crate) fn lay(&mut self, ports: IdVec<PortId, PortSpec>, first_nic: Vec<u32>, first_port: Vec<u32>) {
        let racks = (0..self.hosts).map(|host| self.rack_of(HostId(host))).collect();
        self.rack_of = Some(racks);
        (self.ports, self.first_nic, self.first_port) = (ports, Some(first_nic), first_port);
        self.hosts_are_alike = false;
    }

    /// Takes these ways from now on.
    pub(crate) fn set_router(&mut self, router: Router) {
        let racks = (0..self.hosts).map(|host| self.rack_of(HostId(host))).collect();
        self.rack_of = Some(racks);
        self.router = router;
        self.hosts_are_alike = false;
        self.is_irregular |= self.has_static_routes() || self.has_leaf_addresses() || self.has_unequal_ways();
    }

    /// Lets hosts pass on what is not for them; the ways are to be looked for.
    pub(crate) fn relay(&mut self) {
        self.relays = true;
        self.hosts_are_alike = false;
    }

    /// Tells the user of something, in a sentence.
    pub(crate) fn add_remark(&mut self, remark: String) {
        self.remarks.push(remark);
    }

    /// What a user should know of how the network was made, in a sentence each: settings of a file that have no effect
    /// here.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Keeps how the topology's file numbers its nodes: the host that each of them is, or `None` for a switch.
    pub(crate) fn set_nodes(&mut self, nodes: Vec<Option<HostId>>) {
        self.nodes = Some(nodes.into());
    }

    /// The host that each node of the topology's file is, if the file numbers hosts and switches together, as HPCC's
    /// does; `None` for a switch.
    pub fn nodes(&self) -> Option<&Arc<[Option<HostId>]>> {
        self.nodes.as_ref()
    }

    /// Changes the link behind a port, in this direction alone.
    pub fn change_link(&mut self, port: PortId, rate: Option<BitRate>, delay: Option<Span>) {
        let spec = &mut self.ports[port];
        spec.rate = rate.unwrap_or(spec.rate);
        spec.delay = delay.unwrap_or(spec.delay);
        self.is_irregular = true;
        self.hosts_are_alike = false;
    }

    /// Whether all links into switches are alike, and all into hosts that may be chosen between, so that paths of as
    /// many links are.
    pub(crate) fn has_links_of_one_kind(&self) -> bool {
        let chosen = |spec: &&PortSpec| match (spec.owner, spec.peer) {
            (Node::Switch(_), Node::Switch(_)) => true,
            // The only link of a host is on all of its paths.
            (Node::Host(host), _) | (_, Node::Host(host)) => self.nics(host).len() > 1,
        };
        let of_kind = |is_host: bool| {
            let mut links =
                self.ports.iter().filter(chosen).filter(move |spec| matches!(spec.peer, Node::Host(_)) == is_host);
            let first = links.next().map(|spec| (spec.rate, spec.delay));
            links.all(|spec| Some((spec.rate, spec.delay)) == first)
        };
        !self.relays && of_kind(false) && of_kind(true)
    }

    /// Whether there are paths of several kinds from some node to some host, which may begin alike and differ further
    /// on.
    pub(crate) fn has_unequal_ways(&self) -> bool {
        // A number for each sequence of links to a host: its first link, and the number of the rest.
        let mut numbers: FxHashMap<(BitRate, Span, u32), u32> = FxHashMap::default();
        // All hosts of a rack are reached alike, and so is a host with several links by itself.
        let targets =
            (0..self.hosts).map(HostId).filter(|&host| self.nics(host).len() > 1 || self.is_first_of_rack(host));
        for dst in targets {
            let mut known: FxHashMap<Node, u32> = FxHashMap::from_iter([(Node::Host(dst), 0)]);
            let hosts = self.many_linked().map(Node::Host);
            for node in self.switches.ids().map(Node::Switch).chain(hosts) {
                if self.number_of_rest(node, dst, &mut known, &mut numbers).is_none() {
                    return true;
                }
            }
        }
        false
    }

    /// The number of the links from a node to a host; `None` if there are ways of several kinds.
    fn number_of_rest(
        &self,
        at: Node,
        dst: HostId,
        known: &mut FxHashMap<Node, u32>,
        numbers: &mut FxHashMap<(BitRate, Span, u32), u32>,
    ) -> Option<u32> {
        if let Some(&number) = known.get(&at) {
            return Some(number);
        }
        let hops = match at {
            Node::Host(host) => self.router.next_hops_of_host(host, dst),
            Node::Switch(switch) => self.router.next_hops(switch, dst),
        };
        let mut found = None;
        for i in 0..hops.count {
            let PortSpec { peer, rate, delay, .. } = self.ports[self.router.port(hops, i)];
            let rest = self.number_of_rest(peer, dst, known, numbers)?;
            let next = numbers.len() as u32 + 1;
            let number = *numbers.entry((rate, delay, rest)).or_insert(next);
            if found.is_some_and(|found| found != number) {
                return None;
            }
            found = Some(number);
        }
        let number = found.unwrap_or(0);
        known.insert(at, number);
        Some(number)
    }

    /// Whether the host before it is not reached in the same ways: that of another rack, or one with several links.
    fn is_first_of_rack(&self, host: HostId) -> bool {
        let is_other = |before: HostId| self.rack_of(before) != self.rack_of(host) || self.nics(before).len() > 1;
        host.0 == 0 || is_other(HostId(host.0 - 1))
    }

    /// Hosts with several links.
    fn many_linked(&self) -> impl Iterator<Item = HostId> {
        (0..self.hosts).map(HostId).filter(|&host| self.nics(host).len() > 1)
    }

    /// Whether the ways between two hosts differ in rates or delays, so that no completion time is known to be the
    /// least.
    pub fn is_irregular(&self) -> bool {
        self.is_irregular
    }

    /// Whether what holds for one host and the others holds for every host and its others.
    pub(crate) fn hosts_are_alike(&self) -> bool {
        self.hosts_are_alike
    }

    /// Whether hosts forward what is not for them.
    pub fn relays(&self) -> bool {
        self.relays
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// The switches.
    pub fn switches(&self) -> &IdVec<SwitchId, SwitchInfo> {
        &self.switches
    }

    /// The names of the tiers of switches, from the hosts up.
    pub fn tiers(&self) -> &[String] {
        &self.tiers
    }

    /// The name of a tier.
    pub fn tier_name(&self, tier: Tier) -> &str {
        &self.tiers[tier.index()]
    }

    /// The ports, of hosts and switches.
    pub fn ports(&self) -> &IdVec<PortId, PortSpec> {
        &self.ports
    }

    /// Names the next hops of packets.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// The first interface of a host; most hosts have one.
    pub fn nic(&self, host: HostId) -> PortId {
        PortId(self.nics(host).start)
    }

    /// The interfaces of a host, as indices of [`Network::ports`].
    pub fn nics(&self, host: HostId) -> Range<u32> {
        match &self.first_nic {
            None => host.0..host.0 + 1,
            Some(first) => first[host.index()]..first[host.index() + 1],
        }
    }

    /// The ports of a node, as indices of [`Network::ports`].
    pub fn ports_of(&self, node: Node) -> Range<u32> {
        match node {
            Node::Host(host) => self.nics(host),
            Node::Switch(switch) => self.switch_ports(switch),
        }
    }

    /// The ports of a name: `leaf3->spine2` for one direction, `leaf3--spine2` for both. More than one for each if two
    /// nodes are joined by several links.
    pub fn ports_named(&self, name: &str) -> Vec<PortId> {
        let (a, b, both) = match (name.split_once("->"), name.split_once("--")) {
            (Some((a, b)), _) => (a, b, false),
            (None, Some((a, b))) => (a, b, true),
            (None, None) => return Vec::new(),
        };
        let joins = |spec: &PortSpec, from: &str, to: &str| {
            self.node_name(spec.owner).to_string() == from && self.node_name(spec.peer).to_string() == to
        };
        let named = |(_, spec): &(PortId, &PortSpec)| joins(spec, a, b) || both && joins(spec, b, a);
        self.ports.iter_enumerated().filter(named).map(|(port, _)| port).collect()
    }

    /// The number of a node among all nodes: switches first, then hosts.
    pub fn number(&self, node: Node) -> u32 {
        match node {
            Node::Switch(switch) => switch.0,
            Node::Host(host) => self.switches.len() as u32 + host.0,
        }
    }

    /// The name of a node in results: `leaf3`, `host17`.
    pub fn node_name(&self, node: Node) -> NodeName<'_> {
        NodeName { network: self, node }
    }

    /// The switch of this name.
    pub fn switch_named(&self, name: &str) -> Option<SwitchId> {
        self.switches.iter_enumerated().find(|(_, switch)| switch.name == name).map(|(id, _)| id)
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

    /// The rack of a host, from 0: the switch that its first link leads to. [`Network::NO_RACK`] if it leads to another
    /// host.
    #[inline]
    pub fn rack_of(&self, host: HostId) -> u32 {
        match &self.rack_of {
            None => self.router.group_of(host),
            Some(racks) => racks[host],
        }
    }

    /// The switch of a rack.
    pub fn switch_of_rack(&self, rack: u32) -> SwitchId {
        self.rack_switches[rack as usize]
    }

    /// The hosts of a rack, ascending.
    pub fn hosts_of_rack(&self, rack: u32) -> impl Iterator<Item = HostId> {
        self.ports_of_rack(rack).filter_map(move |port| match self.ports[port].peer {
            // A host with several links is of the rack of the first.
            Node::Host(host) if self.nic(host) == self.ports[port].reverse => Some(host),
            _ => None,
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

    /// Rate at which a host can send, by all of its links that are of the topology. Where hosts differ, as in networks
    /// from files, it is the rate that most of them have, and of rates that equally many have the highest.
    pub fn host_link(&self) -> BitRate {
        let mut hosts_of: BTreeMap<u64, u32> = BTreeMap::new();
        for host in (0..self.hosts).map(HostId) {
            let own = self.nics(host).map(PortId).filter(|&nic| self.extra_links(nic).is_none());
            *hosts_of.entry(own.map(|nic| self.ports[nic].rate.as_bps()).fold(0, u64::saturating_add)).or_default() +=
                1;
        }
        let most = hosts_of.into_iter().max_by_key(|&(_, hosts)| hosts);
        most.and_then(|(bps, _)| BitRate::from_bps(bps)).expect("a link has a rate")
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

    /// The links of the path from one host to another that is the quickest for a full packet, of those that routing may
    /// give it. To be found for many pairs of hosts by one [`Quickest`].
    ///
    /// # Panics
    /// If `src` is `dst`.
    pub fn route(&self, src: HostId, dst: HostId) -> Route {
        let mut route = Route::default();
        Quickest::new(self).route_into(src, dst, &mut route);
        route
    }

    /// The links of the first of the paths from one host to another, which stands for all where these are alike.
    pub(crate) fn first_route(&self, src: HostId, dst: HostId, route: &mut Route) {
        assert!(src != dst, "a host has no route to itself");
        route.links.clear();
        let mut hops = self.router.next_hops_of_host(src, dst);
        loop {
            let PortSpec { rate, delay, peer, .. } = self.ports[self.router.port(hops, 0)];
            route.links.push(Hop { rate, delay });
            hops = match peer {
                Node::Host(host) if host == dst => return,
                Node::Host(host) => self.router.next_hops_of_host(host, dst),
                Node::Switch(at) => self.router.next_hops_from(at, src, dst),
            };
            let nodes = self.switches.len() + self.hosts as usize;
            debug_assert!(route.links.len() <= nodes + 1, "a shortest way passes a node once");
        }
    }

    /// Round-trip time between two hosts of an idle network: a full data packet out and a pure ACK back.
    pub fn rtt(&self, a: HostId, b: HostId) -> Span {
        Quickest::new(self).rtt(a, b)
    }

    /// Bytes that the network holds on to.
    pub fn heap_bytes(&self) -> usize {
        let names: usize = self.switches.iter().map(|switch| switch.name.capacity()).sum();
        names
            + self.switches.heap_bytes()
            + self.switch_delays.heap_bytes()
            + self.ports.heap_bytes()
            + self.first_port.capacity() * size_of::<u32>()
            + self.rack_switches.capacity() * size_of::<SwitchId>()
            + self.rack_of.as_ref().map_or(0, IdVec::heap_bytes)
            + self.first_nic.as_ref().map_or(0, |first| first.capacity() * size_of::<u32>())
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

impl fmt::Display for PortName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PortSpec { owner, peer, .. } = self.network.ports[self.port];
        write!(f, "{}->{}", self.network.node_name(owner), self.network.node_name(peer))
    }
}

/// Writes the name of a node.
#[derive(Clone, Copy)]
pub struct NodeName<'a> {
    network: &'a Network,
    node: Node,
}

impl fmt::Display for NodeName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node {
            Node::Host(host) => write!(f, "host{host}"),
            Node::Switch(switch) => f.write_str(&self.network.switches[switch].name),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::generate::{TopologyConfig, leaf_spine, tests::link};
    use crate::route::NextHops;

    impl Network {
        /// The same network with the ways looked for instead of computed.
        fn with_table(&self) -> Network {
            let table = RoutingTable::shortest_paths(&self.wired()).unwrap();
            Network { router: Router::Table(table), ..self.clone() }
        }
    }

    /// What a generator's rule says of its network is what a search through its cables finds.
    pub(crate) fn assert_computed_ways_are_the_shortest(computed: &Network) {
        assert!(!matches!(computed.router, Router::Table(_)));
        let found = computed.with_table();
        let ports = |network: &Network, hops: NextHops| -> (u32, Vec<PortId>) {
            (hops.destination, (0..hops.count).map(|i| network.router.port(hops, i)).collect())
        };
        for dst in (0..computed.hosts).map(HostId) {
            assert_eq!(computed.rack_of(dst), found.rack_of(dst));
            for at in computed.switches.ids() {
                let next = |network: &Network| ports(network, network.router.next_hops(at, dst));
                assert_eq!(next(computed), next(&found), "{at:?} to {dst:?}");
            }
            for at in (0..computed.hosts).map(HostId).filter(|&at| at != dst) {
                let next = |network: &Network| ports(network, network.router.next_hops_of_host(at, dst));
                assert_eq!(next(computed), next(&found), "{at:?} to {dst:?}");
            }
        }
        assert!(!found.has_unequal_ways(), "a rule is for networks whose ways are alike");
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
            assert_computed_ways_are_the_shortest(&TopologyConfig::LeafSpine(config).build(&tailcut_model::Files::default()).unwrap());
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
        let found = TopologyConfig::LeafSpine(config).build(&tailcut_model::Files::default()).unwrap().with_table();
        // One slice of 8 bytes for each of 96 switches and 64 racks, and 64·32 ports up, 32·64 down and 128 to hosts.
        assert!(found.router.heap_bytes() < 96 * 64 * 8 + 2 * (2 * 64 * 32 + 128) * 4 + 128 * 4 + 1);
    }
}
