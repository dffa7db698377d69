//! How generated traffic is spread over the links: each node passes on equal parts to all its next hops.

use std::collections::BTreeMap;

use tailcut_base::{HostId, Id, IdVec, PortId};
use tailcut_topology::{Network, Node, Router};
use tailcut_workload::{Product, Stream};

/// Rates of links, in bit/s.
pub(super) type Rates = IdVec<PortId, f64>;

/// Hosts that are reached in the same ways.
struct Unit {
    hosts: Vec<HostId>,
    /// The node from which the link to each of them leads, or the only one of them.
    target: Node,
}

/// What one product of a matrix adds.
#[derive(Clone)]
struct Part<'a> {
    product: &'a Product,
    bps: f64,
    /// What enters the network at each node if the weights of all receivers are 1, in bit/s.
    sources: Vec<(Node, f64)>,
}

struct Spreader<'a> {
    network: &'a Network,
    router: &'a Router,
    rates: Rates,
    /// By the number of a node: what arrives there and is to be passed on.
    amount: Vec<f64>,
    /// By the number of a node: the search that has visited it last.
    visited: Vec<u32>,
    search: u32,
    /// The nodes at which something enters the network.
    entered: Vec<Node>,
    order: Vec<Node>,
    stack: Vec<(Node, u32)>,
}

/// What `streams` offer to each link with these ways.
pub(super) fn spread<'a>(network: &'a Network, router: &'a Router, streams: &[&'a Stream]) -> Rates {
    let nodes = network.switches().len() + network.hosts() as usize;
    let mut spreader = Spreader {
        network,
        router,
        rates: network.ports().iter().map(|_| 0.0).collect(),
        amount: vec![0.0; nodes],
        visited: vec![0; nodes],
        search: 0,
        entered: Vec::new(),
        order: Vec::new(),
        stack: Vec::new(),
    };
    spreader.add(streams);
    spreader.rates
}

impl<'a> Spreader<'a> {
    /// The node at which what a host sends may take one of several ways: its switch, if it has one link to a switch.
    fn source(&self, host: HostId) -> Node {
        match self.network.ports()[self.network.nic(host)].peer {
            switch @ Node::Switch(_) if self.network.nics(host).len() == 1 => switch,
            _ => Node::Host(host),
        }
    }

    /// The groups of hosts, and the group of each host. Hosts that static routes lead to are by themselves.
    fn units(&self, by_themselves: &BTreeMap<HostId, Vec<HostId>>) -> (Vec<Unit>, Vec<usize>) {
        let mut units: Vec<Unit> = Vec::new();
        let mut known: BTreeMap<(u32, Node), usize> = BTreeMap::new();
        let mut unit_of = Vec::with_capacity(self.network.hosts() as usize);
        for host in (0..self.network.hosts()).map(HostId) {
            let target = self.source(host);
            let shared = (target != Node::Host(host) && !by_themselves.contains_key(&host))
                .then(|| (self.router.group_of(host), target));
            let new = units.len();
            let unit = shared.map_or(new, |key| *known.entry(key).or_insert(new));
            if unit == new {
                units.push(Unit { hosts: Vec::new(), target });
            }
            units[unit].hosts.push(host);
            unit_of.push(unit);
        }
        (units, unit_of)
    }

    fn add(&mut self, streams: &[&'a Stream]) {
        let network = self.network;
        let mut static_from: BTreeMap<HostId, Vec<HostId>> = BTreeMap::new();
        for (src, dst) in network.statically_routed() {
            static_from.entry(dst).or_default().push(src);
        }
        let (units, unit_of) = self.units(&static_from);
        let mut parts: Vec<Part<'a>> = Vec::new();
        // Of each unit the parts that go there with the weight of its hosts, and what hosts would send to themselves.
        let mut into: Vec<Vec<(usize, f64)>> = vec![Vec::new(); units.len()];
        let mut own: Vec<Vec<(Node, f64)>> = vec![Vec::new(); units.len()];
        let mut received = vec![0.0; network.hosts() as usize];
        for (product, bps) in streams.iter().flat_map(|of| of.matrix.products().iter().map(|product| (product, of.bps)))
        {
            let (all_senders, all_receivers) = product.sums();
            let mut sources: Vec<(Node, f64)> = Vec::new();
            for &(host, weight) in &product.senders {
                let host = HostId(host);
                let (source, to_itself) = (self.source(host), product.weights(host).1);
                match sources.last_mut().filter(|(node, _)| *node == source) {
                    Some((_, sum)) => *sum += weight * bps,
                    None => sources.push((source, weight * bps)),
                }
                if to_itself != 0.0 {
                    own[unit_of[host.index()]].push((source, weight * to_itself * bps));
                }
                if source != Node::Host(host) {
                    self.rates[network.nic(host)] += weight * (all_receivers - to_itself) * bps;
                }
            }
            for &(host, weight) in &product.receivers {
                let unit = unit_of[host as usize];
                match into[unit].last_mut().filter(|(part, _)| *part == parts.len()) {
                    Some((_, sum)) => *sum += weight,
                    None => into[unit].push((parts.len(), weight)),
                }
                received[host as usize] += weight * (all_senders - product.weights(HostId(host)).0) * bps;
            }
            parts.push(Part { product, bps, sources });
        }
        for (at, unit) in units.iter().enumerate() {
            let dst = unit.hosts[0];
            for &(part, weight) in &into[at] {
                for &(source, bps) in &parts[part].sources {
                    self.enter(source, bps * weight);
                }
            }
            own[at].iter().for_each(|&(source, bps)| self.enter(source, -bps));
            let mut arrived = 0.0;
            for &src in static_from.get(&dst).into_iter().flatten() {
                let between = |part: &Part<'_>| part.product.weights(src).0 * part.product.weights(dst).1 * part.bps;
                let bps: f64 = if src == dst { 0.0 } else { parts.iter().map(between).sum() };
                self.enter(self.source(src), -bps);
                let others = std::mem::take(&mut self.entered);
                let kept: Vec<f64> = others.iter().map(|&node| std::mem::take(self.amount_at(node))).collect();
                self.enter(self.source(src), bps);
                arrived += self.pass_on(unit.target, dst, Some(src));
                others.into_iter().zip(kept).for_each(|(node, bps)| self.enter(node, bps));
            }
            arrived += self.pass_on(unit.target, dst, None);
            if unit.target == Node::Host(dst) {
                continue;
            }
            // Less than all arrives where links that are down leave no way.
            let expected: f64 = unit.hosts.iter().map(|host| received[host.index()]).sum();
            let part = if arrived < expected * (1.0 - 1e-9) { (arrived / expected).max(0.0) } else { 1.0 };
            for host in &unit.hosts {
                let link = network.ports()[network.nic(*host)].reverse;
                self.rates[link] += received[host.index()] * part;
            }
        }
    }

    fn amount_at(&mut self, node: Node) -> &mut f64 {
        &mut self.amount[self.network.number(node) as usize]
    }

    /// Adds what enters the network at a node.
    fn enter(&mut self, node: Node, bps: f64) {
        *self.amount_at(node) += bps;
        self.entered.push(node);
    }

    /// Passes everything that has entered on toward `dst`, from whose packets' source static routes may tell. Returns
    /// how much arrives at `target`.
    fn pass_on(&mut self, target: Node, dst: HostId, src: Option<HostId>) -> f64 {
        let router = self.router;
        let next_hops = |at: Node| match (at, src) {
            _ if at == target => None,
            (Node::Host(host), _) => Some(router.next_hops_of_host(host, dst)),
            (Node::Switch(switch), Some(src)) => Some(router.next_hops_from(switch, src, dst)),
            (Node::Switch(switch), None) => Some(router.next_hops(switch, dst)),
        };
        // Every node after all its next hops.
        self.search += 1;
        self.order.clear();
        for start in std::mem::take(&mut self.entered) {
            self.stack.push((start, 0));
            while let Some((at, way)) = self.stack.pop() {
                let number = self.network.number(at) as usize;
                if way == 0 {
                    if self.visited[number] == self.search {
                        continue;
                    }
                    self.visited[number] = self.search;
                }
                match next_hops(at).filter(|hops| way < hops.count) {
                    Some(hops) => {
                        self.stack.push((at, way + 1));
                        self.stack.push((self.network.ports()[router.port(hops, way)].peer, 0));
                    }
                    None => self.order.push(at),
                }
            }
        }
        let mut arrived = 0.0;
        while let Some(at) = self.order.pop() {
            let bps = std::mem::take(self.amount_at(at));
            if at == target {
                arrived += bps;
            }
            let Some(hops) = next_hops(at).filter(|hops| hops.count > 0 && bps != 0.0) else { continue };
            let part = bps / f64::from(hops.count);
            for way in 0..hops.count {
                let port = router.port(hops, way);
                self.rates[port] += part;
                *self.amount_at(self.network.ports()[port].peer) += part;
            }
        }
        arrived
    }
}
