//! The links that a flow crosses: those that its packets would.

use tailcut_base::{HEADER_BYTES, HostId, Instant, MTU_BYTES, PortId, Seeds};
use tailcut_flow::Hop;
use tailcut_model::{FlowId, FlowSpec, Invalid, Kind, Packet, PathFacts, Thing};
use tailcut_topology::path::{Path, PathConfig, PathContext};
use tailcut_topology::{Network, Node, Quickest, Route, Router};

use crate::Scenario;
use crate::failures::Outages;

/// Path choices of all nodes.
pub(crate) struct Ways<'a> {
    network: &'a Network,
    router: &'a Router,
    /// By the number of the node; none where hosts have one link and switches split what they pass on.
    paths: Vec<Option<Path>>,
    splits: bool,
    /// What arrives at each node of a flow that is split, beside the nodes that still have to pass it on.
    open: Vec<(Node, f64)>,
}

/// Whether the packets of a flow take all ways.
pub(crate) fn splits(path: &PathConfig) -> Result<bool, Invalid> {
    match path {
        PathConfig::Spray(_) | PathConfig::RoundRobin(_) => Ok(true),
        PathConfig::FlowEcmp(_)
        | PathConfig::FlowRoundRobin(_)
        | PathConfig::Symmetric(_)
        | PathConfig::Source(_)
        | PathConfig::Assigned(_) => Ok(false),
        PathConfig::Custom(_) => {
            let message =
                "a path choice of a program may choose for each packet, so that flows have no way of their own";
            Err(Invalid::new("fidelity", message).help("expected `fidelity = \"packet\"`"))
        }
    }
}

impl<'a> Ways<'a> {
    /// The choices are those of the packet level, with the same draws.
    pub(crate) fn new(network: &'a Network, config: &PathConfig, seeds: Seeds) -> Ways<'a> {
        let splits = splits(config).expect("the scenario was checked");
        let choice = |node: Node| {
            let is_plain = matches!(node, Node::Host(host) if network.nics(host).len() == 1);
            let build = || config.build(&PathContext { node: network.number(node), seeds }).expect("it was checked");
            (!splits && !is_plain).then(build)
        };
        let switches = network.switches().ids().map(Node::Switch);
        let hosts = (0..network.hosts()).map(|host| Node::Host(HostId(host)));
        let paths = switches.chain(hosts).map(choice).collect();
        Ways { network, router: network.router(), paths, splits, open: Vec::new() }
    }

    /// Whether the packets of a flow take all paths.
    pub(crate) fn splits(&self) -> bool {
        self.splits
    }

    /// Other ways count from now on.
    pub(crate) fn change(&mut self, router: &'a Router) {
        self.router = router;
    }

    /// Puts the links of a flow into `hops`; none if there is no way.
    pub(crate) fn of(&mut self, flow: FlowId, spec: &FlowSpec, hops: &mut Vec<Hop>) {
        hops.clear();
        if self.splits {
            self.evenly(spec.src, spec.dst, hops);
        } else if !self.one(flow, spec, hops) {
            hops.clear();
        }
    }

    /// Puts the links of all ways between two hosts into `hops`, with the part of the packets that takes each if every
    /// node passes on equal parts to its next hops; none if there is no way.
    pub(crate) fn evenly(&mut self, src: HostId, dst: HostId, hops: &mut Vec<Hop>) {
        hops.clear();
        if !self.all(src, dst, hops) {
            hops.clear();
        }
    }

    /// The one way of all packets. Returns whether there is one.
    fn one(&mut self, flow: FlowId, spec: &FlowSpec, hops: &mut Vec<Hop>) -> bool {
        let mut packet = Packet::data(flow, spec.src, spec.dst, 0, 1, spec.size, Instant::ZERO);
        packet.connection = spec.connection;
        let router = self.router;
        let mut at = Node::Host(spec.src);
        while at != Node::Host(spec.dst) {
            let next = match at {
                Node::Host(host) => router.next_hops_of_host(host, spec.dst),
                Node::Switch(switch) => router.next_hops_from(switch, spec.src, spec.dst),
            };
            let choice = match (&mut self.paths[self.network.number(at) as usize], next.count) {
                (_, 0) => return false,
                (Some(path), 2..) => path.choose_at(&packet, next, at, router, self.network) % next.count,
                _ => 0,
            };
            let port = router.port(next, choice);
            hops.push(Hop { link: port.0, share: 1.0 });
            at = self.network.ports()[port].peer;
        }
        true
    }

    /// All equal ways: each node passes on as much to each of its next hops. Returns whether there are any.
    fn all(&mut self, src: HostId, dst: HostId, hops: &mut Vec<Hop>) -> bool {
        let router = self.router;
        self.open.clear();
        self.open.push((Node::Host(src), 1.0));
        // All ways are equally long, so that what comes to a node has come when the nodes before it are done.
        let mut from = 0;
        while from < self.open.len() {
            let end = self.open.len();
            for nth in from..end {
                let (at, share) = self.open[nth];
                if at == Node::Host(dst) {
                    continue;
                }
                let next = match at {
                    Node::Host(host) => router.next_hops_of_host(host, dst),
                    Node::Switch(switch) => router.next_hops_from(switch, src, dst),
                };
                if next.count == 0 {
                    return false;
                }
                let part = share / f64::from(next.count);
                for way in 0..next.count {
                    let port: PortId = router.port(next, way);
                    hops.push(Hop { link: port.0, share: part });
                    let peer = self.network.ports()[port].peer;
                    match self.open[end..].iter_mut().find(|(node, _)| *node == peer) {
                        Some((_, share)) => *share += part,
                        None => self.open.push((peer, part)),
                    }
                }
            }
            from = end;
        }
        true
    }
}

/// The links of a path.
pub(crate) fn route_of(network: &Network, path: impl Iterator<Item = PortId>, route: &mut Route) {
    let hop = |port: PortId| {
        let spec = &network.ports()[port];
        tailcut_topology::Hop { rate: spec.rate, delay: spec.delay }
    };
    route.links.clear();
    route.links.extend(path.map(hop));
}

/// What hosts may know of a path whose ACKs come back as its packets go.
pub(crate) fn facts_of(network: &Network, path: &[PortId]) -> PathFacts {
    let mut facts = PathFacts { hops: u8::try_from(path.len()).unwrap_or(u8::MAX), ..PathFacts::default() };
    for &port in path {
        let there = &network.ports()[port];
        let back = &network.ports()[there.reverse];
        facts.rtt += there.delay + there.rate.tx_time(MTU_BYTES) + back.delay + back.rate.tx_time(HEADER_BYTES);
    }
    facts
}

/// The paths of flows as their hosts may know them.
///
/// Where all paths between two hosts are alike, any of them. Else that which the packets of the flow take, and that
/// which its ACKs take, if both can be foreseen at its start; and if not, because each packet may take another one, the
/// slowest that routing may give it, so that what is longer about a path is not taken for a queue.
pub(crate) struct FlowPaths<'s> {
    network: &'s Network,
    /// If anything ever fails.
    outages: Option<&'s Outages>,
    /// The choices of all nodes, if they can be foreseen and it matters.
    paths: Option<Vec<Path>>,
}

impl<'s> FlowPaths<'s> {
    /// Those of a scenario.
    pub(crate) fn new(scenario: &'s Scenario) -> FlowPaths<'s> {
        let network = scenario.network();
        let outages = Some(scenario.outages()).filter(|outages| !outages.is_empty());
        // Subflows take several paths at a time.
        let one_path = !scenario.facts().has(Thing::Spraying);
        let paths = (one_path && (network.is_irregular() || outages.is_some())).then(|| {
            let seeds = Seeds::new(scenario.seed());
            let nodes = network.switches().len() as u32 + network.hosts();
            let choice = |node| scenario.config().path.build(&PathContext { node, seeds }).expect("it was checked");
            (0..nodes).map(choice).collect()
        });
        FlowPaths { network, outages, paths }
    }

    /// What the hosts of a flow that starts may know of its path.
    pub(crate) fn facts(&self, quickest: &mut Quickest<'s>, flow: FlowId, spec: &FlowSpec) -> PathFacts {
        let FlowSpec { src, dst, .. } = *spec;
        let changed = self.outages.and_then(|outages| outages.router_at(spec.start));
        if changed.is_none() && !self.network.is_irregular() {
            return quickest.facts(src, dst);
        }
        let mut packet = Packet::data(flow, src, dst, 0, 1, spec.size, Instant::ZERO);
        packet.connection = spec.connection;
        self.of(&packet, changed.unwrap_or(self.network.router()))
    }

    /// What the hosts of a flow may know of the path that its packets, of which this is one, have with a router.
    pub(crate) fn of(&self, packet: &Packet, router: &Router) -> PathFacts {
        let Packet { src, dst, .. } = *packet;
        let out = self.foresee(packet, router, MTU_BYTES);
        let back = self.foresee(&packet.answer(Kind::ACK, 0), router, HEADER_BYTES);
        match (out, back) {
            (Some(out), Some(back)) => PathFacts { rtt: out.rtt + back.rtt, ..out },
            // Where no path leads now, one will that is no slower than those in the network as it is built.
            _ => {
                let quickest = Quickest::new(self.network);
                let slowest = |router| quickest.slowest(router, src, dst);
                slowest(router).or_else(|| slowest(self.network.router())).unwrap_or_default()
            }
        }
    }

    /// The links that a packet will take, and the time in which it would go over them with so many bytes on the wire.
    fn foresee(&self, packet: &Packet, router: &Router, bytes: u64) -> Option<PathFacts> {
        let mut facts = PathFacts::default();
        let mut at = Node::Host(packet.src);
        while at != Node::Host(packet.dst) {
            let next = match at {
                Node::Host(host) => router.next_hops_of_host(host, packet.dst),
                Node::Switch(switch) => router.next_hops_from(switch, packet.src, packet.dst),
            };
            let choice = match next.count {
                0 => return None,
                1 => 0,
                count => {
                    let path = &self.paths.as_ref()?[self.network.number(at) as usize];
                    path.foresee_at(packet, next, at, router, self.network)? % count
                }
            };
            let spec = &self.network.ports()[router.port(next, choice)];
            // Static routes beside a failure may lead in a circle.
            facts.hops = facts.hops.checked_add(1)?;
            facts.rtt += spec.delay + spec.rate.tx_time(bytes);
            at = spec.peer;
        }
        Some(facts)
    }
}
