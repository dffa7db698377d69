//! The ways through any network, stored: for each node and each group of hosts, the ports that lie on a shortest way.
//!
//! Hosts with one link to the same switch are one group; a host with several links is a group of its own. Most switches
//! have the same ports toward many groups (all their uplinks), so that each set of ports is stored once for each node.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;
use tailcut_base::{HostId, Id, IdVec, PortId, SwitchId};
use tailcut_model::Invalid;

use super::NextHops;
use crate::extra::{Cost, Rules};
use crate::network::Node;
use crate::wiring::Ports;

/// Shortest paths between all nodes and all groups of hosts.
#[derive(Clone, Debug)]
pub struct RoutingTable {
    /// By the number of each interface of a host: the port at its other end, then the interface itself; then the sets
    /// of ports.
    pool: Vec<PortId>,
    /// A slice of `pool` for each node and group.
    slices: Vec<Slice>,
    groups: u32,
    group_of: IdVec<HostId, u32>,
    /// Interfaces of all hosts.
    nics: u32,
    /// The first interface of each host, if they are not numbered as the hosts are.
    first_nic: Option<Vec<u32>>,
    /// The number of each host among the nodes, if some host has several links; those with one link are no nodes.
    node_of_host: Option<IdVec<HostId, u32>>,
    /// The ports of static routes, by switch, source and destination.
    fixed: BTreeMap<(SwitchId, HostId, HostId), Slice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    first: u32,
    count: u32,
}

impl Slice {
    /// Nothing leads there.
    const NONE: Slice = Slice { first: 0, count: 0 };
    /// The hosts of the group are attached here, each to a port of its own.
    const ATTACHED: Slice = Slice { first: 0, count: u32::MAX };
}

/// Further away than any node; not a node.
const NOWHERE: u32 = u32::MAX;

/// Groups toward which the ways of a node are found one after the other: what is known of the node stays in the cache
/// for them, and so do their distances.
const AT_A_TIME: usize = 32;

/// Which links of a node are in a set: a bit for each of the first 64, and for the others, which few nodes have.
type Set = (u64, Box<[u64]>);

/// What is known of the ways toward a group.
struct Search {
    is_switch: bool,
    /// The leaf that its host is known by, with the leaf's port.
    leaf: Option<(u32, PortId)>,
    /// From each node.
    distance: Vec<u32>,
}

/// Where the hosts of a group are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    /// All on one switch, each with one link.
    Switch(SwitchId),
    /// One host with several links, or on the link of another host.
    Host(HostId),
}

impl Root {
    fn of(wired: &Ports, host: HostId) -> Root {
        match wired.switch_of(host) {
            Some(switch) if wired.of(Node::Host(host)).len() == 1 => Root::Switch(switch),
            _ => Root::Host(host),
        }
    }
}

impl RoutingTable {
    /// Slices that a table may have: a gigabyte of them.
    const MOST_SLICES: u64 = 1 << 27;

    /// The groups of hosts.
    fn roots(wired: &Ports) -> Vec<Root> {
        let mut roots: Vec<Root> = (0..wired.hosts).map(|host| Root::of(wired, HostId(host))).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// Slices that the table of this network has.
    fn slices_of(wired: &Ports) -> u64 {
        let roots = RoutingTable::roots(wired);
        let hosts = roots.iter().filter(|root| matches!(root, Root::Host(_))).count();
        (wired.switches.len() + hosts) as u64 * roots.len() as u64
    }

    /// The ways with the fewest links.
    ///
    /// # Errors
    /// If there are more than [`RoutingTable::MOST_SLICES`].
    pub(crate) fn shortest_paths(wired: &Ports) -> Result<RoutingTable, Invalid> {
        RoutingTable::find(wired, &Rules::default(), &|_| false)
    }

    /// Searches the network, once from each group of hosts, for the ways of the least cost without the ports that are
    /// `dead`.
    ///
    /// # Errors
    /// If there are more than [`RoutingTable::MOST_SLICES`].
    pub(crate) fn find(wired: &Ports, rules: &Rules, dead: &dyn Fn(PortId) -> bool) -> Result<RoutingTable, Invalid> {
        let slices = RoutingTable::slices_of(wired);
        if slices > RoutingTable::MOST_SLICES {
            let message = format!("the ways through this network are {slices} entries of a table");
            return Err(Invalid::new("", message).help(format!(
                "expected at most {}: fewer nodes, or fewer hosts with several links",
                RoutingTable::MOST_SLICES
            )));
        }
        let hosts = || (0..wired.hosts).map(HostId);
        let root = |host| Root::of(wired, host);
        let roots = RoutingTable::roots(wired);
        let group = |host| roots.binary_search(&root(host)).expect("every host has a group") as u32;
        let group_of: IdVec<HostId, u32> = hosts().map(group).collect();

        // Hosts that have a choice, or forward, are nodes behind the switches.
        let is_node = |host: HostId| matches!(root(host), Root::Host(_));
        let mut nodes: Vec<Node> = wired.switches.ids().map(Node::Switch).collect();
        let mut node_of_host: IdVec<HostId, u32> = hosts().map(|_| NOWHERE).collect();
        for host in hosts().filter(|&host| is_node(host)) {
            node_of_host[host] = nodes.len() as u32;
            nodes.push(Node::Host(host));
        }
        let number = |node: Node| match node {
            Node::Switch(switch) => switch.index() as u32,
            Node::Host(host) => node_of_host[host],
        };

        let nics = wired.of(Node::Host(HostId(wired.hosts - 1))).end;
        let mut pool: Vec<PortId> = (0..nics).map(|nic| wired.ports[PortId(nic)].reverse).collect();
        pool.extend((0..nics).map(PortId));
        let mut slices = vec![Slice::NONE; nodes.len() * roots.len()];
        let links = Links::new(wired, &nodes, &number, rules.cost, dead);
        // The sets of each node that are stored.
        let mut known: Vec<FxHashMap<Set, Slice>> = vec![FxHashMap::default(); nodes.len()];
        for first in (0..roots.len()).step_by(AT_A_TIME) {
            let block = first..(first + AT_A_TIME).min(roots.len());
            let search = |&root: &Root| {
                let own = match root {
                    Root::Switch(switch) => number(Node::Switch(switch)),
                    Root::Host(host) => number(Node::Host(host)),
                };
                // A host that is known by its link with its leaf is as near as the leaf, while that link works.
                let leaf_side = match root {
                    Root::Host(host) => rules.at_leaf.get(&host).copied().filter(|&port| !dead(port)),
                    Root::Switch(_) => None,
                };
                let leaf = leaf_side.map(|port| (number(wired.ports[port].owner), port));
                let distance = links.distances(own, leaf.map(|(leaf, _)| leaf));
                Search { is_switch: matches!(root, Root::Switch(_)), leaf, distance }
            };
            let searches: Vec<Search> = roots[block.clone()].iter().map(search).collect();
            for (at, known) in known.iter_mut().enumerate() {
                let out = links.out(at);
                for (to, Search { is_switch, leaf, distance }) in block.clone().zip(&searches) {
                    let slice = &mut slices[at * roots.len() + to];
                    let here = distance[at];
                    if here == 0 {
                        if *is_switch {
                            *slice = Slice::ATTACHED;
                        }
                        if let Some((_, port)) = leaf.filter(|(leaf, _)| *leaf == at as u32) {
                            *slice = Slice { first: pool.len() as u32, count: 1 };
                            pool.push(port);
                        }
                        continue;
                    }
                    if here == NOWHERE {
                        continue;
                    }
                    let is_next = |&(_, peer, cost): &(PortId, u32, u32)| {
                        let beyond = distance[peer as usize];
                        here.checked_sub(cost) == Some(beyond) && (beyond == 0 || links.passes[peer as usize])
                    };
                    let bits = |links: &[(PortId, u32, u32)]| {
                        let bits = links.iter().map(|link| u64::from(is_next(link))).enumerate();
                        bits.fold(0, |set, (nth, bit)| set | bit << nth)
                    };
                    let (first, others) = out.split_at(out.len().min(64));
                    *slice = *known.entry((bits(first), others.chunks(64).map(bits).collect())).or_insert_with(|| {
                        let first = pool.len() as u32;
                        pool.extend(out.iter().filter(|link| is_next(link)).map(|&(port, ..)| port));
                        Slice { first, count: pool.len() as u32 - first }
                    });
                }
            }
        }
        let mut fixed = BTreeMap::new();
        for (&(at, src, dst), &via) in &rules.fixed {
            let ports = wired.of(Node::Switch(at)).map(PortId);
            let first = pool.len() as u32;
            pool.extend(ports.filter(|&port| wired.ports[port].peer == via && !dead(port)));
            let count = pool.len() as u32 - first;
            if count > 0 {
                fixed.insert((at, src, dst), Slice { first, count });
            }
        }
        let has_host_nodes = nodes.len() > wired.switches.len();
        Ok(RoutingTable {
            pool,
            slices,
            groups: roots.len() as u32,
            group_of,
            nics,
            first_nic: wired.first_nic.clone(),
            node_of_host: has_host_nodes.then_some(node_of_host),
            fixed,
        })
    }

    #[inline]
    fn slice(&self, node: usize, destination: u32) -> Slice {
        self.slices[node * self.groups as usize + destination as usize]
    }

    #[inline]
    pub(super) fn group_of(&self, host: HostId) -> u32 {
        self.group_of[host]
    }

    #[inline]
    pub(super) fn next_hops(&self, at: SwitchId, dst: HostId) -> NextHops {
        let destination = self.group_of[dst];
        let Slice { first, count } = self.slice(at.index(), destination);
        if count == u32::MAX {
            return NextHops { destination, first: self.nic_of(dst), count: 1 };
        }
        NextHops { destination, first, count }
    }

    pub(super) fn next_hops_from(&self, at: SwitchId, src: HostId, dst: HostId) -> NextHops {
        match self.fixed.get(&(at, src, dst)) {
            Some(&Slice { first, count }) => NextHops { destination: self.group_of[dst], first, count },
            None => self.next_hops(at, dst),
        }
    }

    #[inline]
    fn nic_of(&self, host: HostId) -> u32 {
        self.first_nic.as_ref().map_or(host.0, |first| first[host.index()])
    }

    pub(super) fn next_hops_of_host(&self, at: HostId, dst: HostId) -> NextHops {
        let destination = self.group_of[dst];
        match self.node_of_host.as_ref().map(|nodes| nodes[at]) {
            Some(node) if node != NOWHERE => {
                let Slice { first, count } = self.slice(node as usize, destination);
                NextHops { destination, first, count }
            }
            _ => NextHops { destination, first: self.nics + self.nic_of(at), count: 1 },
        }
    }

    #[inline]
    pub(super) fn port(&self, at: u32) -> PortId {
        self.pool[at as usize]
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.pool.capacity() * size_of::<PortId>()
            + self.slices.capacity() * size_of::<Slice>()
            + self.group_of.heap_bytes()
            + self.first_nic.as_ref().map_or(0, |first| first.capacity() * size_of::<u32>())
            + self.node_of_host.as_ref().map_or(0, IdVec::heap_bytes)
            + self.fixed.len() * size_of::<((SwitchId, HostId, HostId), Slice)>()
    }
}

/// The links between nodes that carry something, as the search goes through them.
struct Links {
    /// The ports of all nodes whose links lead to nodes, with the number of that node and the cost of the link.
    out: Vec<(PortId, u32, u32)>,
    /// Where those of each node begin, and the end.
    first_out: Vec<u32>,
    /// The nodes whose links lead to each node, and what these cost.
    back: Vec<(u32, u32)>,
    /// Where those of each node begin, and the end.
    first_back: Vec<u32>,
    /// Whether ways may pass the node.
    passes: Vec<bool>,
    /// Whether each link costs one.
    counts_hops: bool,
}

impl Links {
    fn new(
        wired: &Ports,
        nodes: &[Node],
        number: &dyn Fn(Node) -> u32,
        cost: Cost,
        dead: &dyn Fn(PortId) -> bool,
    ) -> Links {
        let (mut out, mut first_out) = (Vec::new(), vec![0]);
        let (mut back, mut first_back) = (Vec::new(), vec![0]);
        for &node in nodes {
            for port in wired.of(node).map(PortId) {
                let spec = &wired.ports[port];
                let peer = number(spec.peer);
                if peer != NOWHERE && !dead(port) {
                    out.push((port, peer, cost.of(spec.rate)));
                }
                if peer != NOWHERE && !dead(spec.reverse) {
                    back.push((peer, cost.of(wired.ports[spec.reverse].rate)));
                }
            }
            first_out.push(out.len() as u32);
            first_back.push(back.len() as u32);
        }
        let passes = nodes.iter().map(|node| matches!(node, Node::Switch(_)) || wired.relays).collect();
        Links { out, first_out, back, first_back, passes, counts_hops: cost == Cost::Hops }
    }

    fn out(&self, node: usize) -> &[(PortId, u32, u32)] {
        &self.out[self.first_out[node] as usize..self.first_out[node + 1] as usize]
    }

    fn back(&self, node: u32) -> &[(u32, u32)] {
        let node = node as usize;
        &self.back[self.first_back[node] as usize..self.first_back[node + 1] as usize]
    }

    /// What the ways cost that lead from each node to `root`, or to `other` if there is one.
    fn distances(&self, root: u32, other: Option<u32>) -> Vec<u32> {
        let mut distance = vec![NOWHERE; self.passes.len()];
        let roots = [Some(root), other].into_iter().flatten();
        roots.clone().for_each(|root| distance[root as usize] = 0);
        if self.counts_hops {
            let mut frontier: VecDeque<u32> = roots.collect();
            while let Some(node) = frontier.pop_front() {
                let here = distance[node as usize];
                if here > 0 && !self.passes[node as usize] {
                    continue;
                }
                for &(peer, _) in self.back(node) {
                    if distance[peer as usize] == NOWHERE {
                        distance[peer as usize] = here + 1;
                        frontier.push_back(peer);
                    }
                }
            }
            return distance;
        }
        // Dijkstra: the nearest node that is not done comes next.
        let mut open: BinaryHeap<Reverse<(u32, u32)>> = roots.map(|root| Reverse((0, root))).collect();
        while let Some(Reverse((here, node))) = open.pop() {
            let is_old = here > distance[node as usize];
            if is_old || here > 0 && !self.passes[node as usize] {
                continue;
            }
            for &(peer, cost) in self.back(node) {
                let there = here + cost;
                if there < distance[peer as usize] {
                    distance[peer as usize] = there;
                    open.push(Reverse((there, peer)));
                }
            }
        }
        distance
    }
}
