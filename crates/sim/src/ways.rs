//! The links that a flow crosses: those that its packets would.

use tailcut_base::{HostId, Instant, PortId, Seeds};
use tailcut_flow::Hop;
use tailcut_model::{FlowId, FlowSpec, Invalid, Packet};
use tailcut_topology::path::{Path, PathConfig, PathContext};
use tailcut_topology::{Network, Node, Router};

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

    /// Other ways count from now on.
    pub(crate) fn change(&mut self, router: &'a Router) {
        self.router = router;
    }

    /// Puts the links of a flow into `hops`; none if there is no way.
    pub(crate) fn of(&mut self, flow: FlowId, spec: &FlowSpec, hops: &mut Vec<Hop>) {
        hops.clear();
        let is_there = if self.splits { self.all(spec, hops) } else { self.one(flow, spec, hops) };
        if !is_there {
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
    fn all(&mut self, spec: &FlowSpec, hops: &mut Vec<Hop>) -> bool {
        let router = self.router;
        self.open.clear();
        self.open.push((Node::Host(spec.src), 1.0));
        // All ways are equally long, so that what comes to a node has come when the nodes before it are done.
        let mut from = 0;
        while from < self.open.len() {
            let end = self.open.len();
            for nth in from..end {
                let (at, share) = self.open[nth];
                if at == Node::Host(spec.dst) {
                    continue;
                }
                let next = match at {
                    Node::Host(host) => router.next_hops_of_host(host, spec.dst),
                    Node::Switch(switch) => router.next_hops_from(switch, spec.src, spec.dst),
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
