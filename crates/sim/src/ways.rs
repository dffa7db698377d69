//! The links that a flow crosses: those that its packets would.

use std::collections::BTreeMap;

use tailcut_base::{BitRate, HEADER_BYTES, HostId, Instant, MTU_BYTES, PortId, Seeds, Span};
use tailcut_flow::Hop;
use tailcut_host::transport::TransportConfig;
use tailcut_model::{FlowId, FlowSpec, Invalid, Kind, Packet, PathFacts, Thing};
use tailcut_topology::path::{Path, PathConfig, PathContext};
use tailcut_topology::{Network, Node, PortSpec, Quickest, Route, Router};

use crate::Scenario;
use crate::around::{self, LongestPath};
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
        split(self.network, self.router, (src, dst), &mut self.open, hops)
    }
}

/// Adds the links of all ways between two hosts, with the part of the packets on each if every node passes on as much
/// to each of its next hops. Returns whether there are any. `open` has room for nodes.
fn split(
    network: &Network,
    router: &Router,
    (src, dst): (HostId, HostId),
    open: &mut Vec<(Node, f64)>,
    hops: &mut Vec<Hop>,
) -> bool {
    open.clear();
    open.push((Node::Host(src), 1.0));
    // All ways are equally long, so that what comes to a node has come when the nodes before it are done.
    let mut from = 0;
    while from < open.len() {
        let end = open.len();
        for nth in from..end {
            let (at, share) = open[nth];
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
                let peer = network.ports()[port].peer;
                match open[end..].iter_mut().find(|(node, _)| *node == peer) {
                    Some((_, share)) => *share += part,
                    None => open.push((peer, part)),
                }
            }
        }
        from = end;
    }
    true
}

/// The rate of the path of a message: of its slowest link, or at which equal parts over all paths fill the first link.
/// It leaves its host by one link.
fn spread_rate(network: &Network, router: &Router, src: HostId, dst: HostId, sprays: bool) -> Option<BitRate> {
    let (mut open, mut hops) = (Vec::new(), Vec::new());
    if !split(network, router, (src, dst), &mut open, &mut hops) {
        return None;
    }
    // Ways of several lengths come to a link several times.
    let mut shares: BTreeMap<u32, f64> = BTreeMap::new();
    hops.iter().for_each(|hop| *shares.entry(hop.link).or_default() += hop.share);
    let own = |link: u32| network.ports()[PortId(link)].owner == Node::Host(src);
    let nics = shares.keys().filter(|&&link| own(link)).count().max(1) as f64;
    let rate = |(&link, &share): (&u32, &f64)| {
        let rate = network.ports()[PortId(link)].rate.as_bps() as f64;
        if sprays && !own(link) { rate / (share * nics) } else { rate }
    };
    BitRate::from_bps(shares.iter().map(rate).fold(f64::INFINITY, f64::min) as u64)
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
    let mut header = Span::ZERO;
    for &port in path {
        let there = &network.ports()[port];
        let back = &network.ports()[there.reverse];
        facts.rtt += there.delay + there.rate.tx_time(MTU_BYTES);
        header += back.delay + back.rate.tx_time(HEADER_BYTES);
    }
    facts.rtt += header;
    facts.with_header_time(header)
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
    /// Where a size of the transport follows the rates of paths: what the network makes of a rate, and whether each
    /// packet takes a path of its own.
    sized: Option<(LongestPath, bool)>,
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
        let host = &scenario.config().host;
        let is_sized = matches!(&host.transport, TransportConfig::Homa(homa) if homa.rtt_bytes.bytes().is_none());
        let sized = is_sized.then(|| (scenario.longest_path(), around::sprays(&scenario.config().path)));
        FlowPaths { network, outages, paths, sized }
    }

    /// What the hosts of a flow that starts may know of its path.
    pub(crate) fn facts(&self, quickest: &mut Quickest<'s>, flow: FlowId, spec: &FlowSpec) -> PathFacts {
        let FlowSpec { src, dst, .. } = *spec;
        let changed = self.outages.and_then(|outages| outages.router_at(spec.start));
        let facts = self.facts_without_size(quickest, flow, spec, changed);
        let Some((longest, sprays)) = self.sized else { return facts };
        let router = changed.unwrap_or(self.network.router());
        let foreseen = (!sprays).then(|| self.foreseen_rate(flow, spec, router)).flatten();
        let rate = |router| spread_rate(self.network, router, src, dst, sprays);
        let rate = foreseen.or_else(|| rate(router)).or_else(|| rate(self.network.router()));
        PathFacts { bdp: rate.map_or(0, |rate| longest.bdp_of_path(rate)), ..facts }
    }

    /// The rate of the slowest link of the path that a flow will have, if it can be foreseen.
    fn foreseen_rate(&self, flow: FlowId, spec: &FlowSpec, router: &Router) -> Option<BitRate> {
        let mut packet = Packet::data(flow, spec.src, spec.dst, 0, 1, spec.size, Instant::ZERO);
        packet.connection = spec.connection;
        let mut slowest = None;
        self.follow(&packet, router, |link| slowest = slowest.into_iter().chain([link.rate]).min())?;
        slowest
    }

    fn facts_without_size(
        &self,
        quickest: &mut Quickest<'s>,
        flow: FlowId,
        spec: &FlowSpec,
        changed: Option<&Router>,
    ) -> PathFacts {
        let FlowSpec { src, dst, .. } = *spec;
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
            (Some(out), Some(back)) => PathFacts { rtt: out.rtt + back.rtt, ..out }.with_header_time(back.rtt),
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
        facts.hops = self.follow(packet, router, |link| facts.rtt += link.delay + link.rate.tx_time(bytes))?;
        Some(facts)
    }

    /// Calls `with` with the links that a packet will take, if they can be foreseen. Returns how many they are.
    fn follow(&self, packet: &Packet, router: &Router, mut with: impl FnMut(&PortSpec)) -> Option<u8> {
        let mut hops: u8 = 0;
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
            hops = hops.checked_add(1)?;
            with(spec);
            at = spec.peer;
        }
        Some(hops)
    }
}
