//! The least time of a flow over every path that routing may give it.
//!
//! The next hops of a router are a graph without circles from the sender to the receiver. Where all paths in it are
//! alike, the first one stands for all. Elsewhere each node has the paths from it on, of which those are kept that are
//! the quickest for some size: a path is of no use if another one has no more delay and no more links, each of them at
//! least as fast as one of its own, in their order. What is kept is the same for all hosts of two racks, and is kept
//! from flow to flow.
//!
//! Few networks have more than a few such paths between two nodes. Where there are many, flows are followed through the
//! graph one by one ([`search`](Quickest::search)).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};
use tailcut_base::{HEADER_BYTES, HostId, MTU_BYTES, PortId, Span};
use tailcut_model::PathFacts;

use crate::ideal::{Hop, Progress, Route, Spread, floor_between};
use crate::network::{Network, Node};
use crate::route::Router;

/// Packets of a header that belong to the time of a flow beside its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// Before the data, the way of the data.
    pub forward: u64,
    /// From the receiver to the sender.
    pub back: u64,
}

/// Where paths end: at a node, for all packets, or at a host for those of one sender where static routes tell senders
/// apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Target {
    Node(Node),
    Pair(HostId, HostId),
}

/// Paths of more kinds between two nodes are not kept.
const MOST_KINDS: usize = 24;

/// Instead of the number of a set: there are more than [`MOST_KINDS`].
const MANY: u32 = u32::MAX;

/// Ideal times of flows in a network, with what is found once for many flows.
#[derive(Debug)]
pub struct Quickest<'n> {
    network: &'n Network,
    /// By node and target, the number of the set of paths from there on.
    ahead: FxHashMap<(Node, Target), u32>,
    /// Each set once.
    sets: Vec<Vec<Route>>,
    numbers: FxHashMap<Vec<Route>, u32>,
    /// By target, the least times over any links from each node that packets may pass: of a full packet and of a
    /// header.
    around: FxHashMap<Node, Vec<[Span; 2]>>,
    route: Route,
    /// The hosts between which `route` is the first path, where it stands for all.
    of: Option<(HostId, HostId)>,
}

/// Longer than any path.
const NEVER: Span = Span::from_ps(u64::MAX);

/// The first link of a path, and its last one if that is another.
type Outer = (PortId, Option<PortId>);

/// How a path from one host to another begins and ends, if that is the same for all of them.
struct Ends {
    first: Option<Hop>,
    at: Node,
    target: Target,
    last: Option<Hop>,
}

impl<'n> Quickest<'n> {
    /// Nothing is known yet.
    pub fn new(network: &'n Network) -> Quickest<'n> {
        Quickest {
            network,
            ahead: FxHashMap::default(),
            sets: Vec::new(),
            numbers: FxHashMap::default(),
            around: FxHashMap::default(),
            route: Route::default(),
            of: None,
        }
    }

    /// The path that stands for all.
    fn first(&mut self, src: HostId, dst: HostId) -> &Route {
        if self.of != Some((src, dst)) {
            self.network.first_route(src, dst, &mut self.route);
            self.of = Some((src, dst));
        }
        &self.route
    }

    /// The least time of a flow of `size` payload bytes over any path that the network's router may give it, all of its
    /// packets on one, with these packets of headers beside them.
    ///
    /// It is exact to the picosecond: [`ideal_fct`](crate::ideal_fct) of the path for which that is least. A flow whose
    /// packets stay on one path and in order is never faster; one whose packets take several paths can be
    /// ([`Quickest::floor`]).
    ///
    /// # Panics
    /// If `src` is `dst`.
    pub fn ideal(&mut self, src: HostId, dst: HostId, size: u64, beside: Headers) -> Span {
        if !self.network.is_irregular() {
            let route = self.first(src, dst);
            let headers = beside.forward + beside.back;
            let beside = if headers > 0 { route.packet_time(HEADER_BYTES) * headers } else { Span::ZERO };
            return route.ideal_fct(size) + beside;
        }
        let mut least = NEVER;
        let is_known = self.each(src, dst, &mut |path| {
            let headers = if beside.forward > 0 { path.packet_time(HEADER_BYTES) * beside.forward } else { Span::ZERO };
            least = least.min(path.ideal_fct(size) + headers);
        });
        if !is_known {
            let next = |at: Node, ports: &mut Vec<PortId>| {
                next_ports(self.network, self.network.router(), at, src, dst, ports)
            };
            least = self.search(src, dst, size, beside.forward, next, |_, _| true).unwrap_or(NEVER);
        }
        match beside.back {
            0 => least,
            back => least + self.packet_time(dst, src, HEADER_BYTES) * back,
        }
    }

    /// The least round-trip time between two hosts of an idle network: a full data packet out and a pure ACK back.
    ///
    /// # Panics
    /// If they are one.
    pub fn rtt(&mut self, a: HostId, b: HostId) -> Span {
        self.packet_time(a, b, MTU_BYTES) + self.packet_time(b, a, HEADER_BYTES)
    }

    /// The least time of one packet of `bytes` on the wire.
    fn packet_time(&mut self, src: HostId, dst: HostId, bytes: u64) -> Span {
        if !self.network.is_irregular() {
            return self.first(src, dst).packet_time(bytes);
        }
        let mut least = NEVER;
        if self.each(src, dst, &mut |path| least = least.min(path.packet_time(bytes))) {
            return least;
        }
        self.packet_times(self.network.router(), src, dst, bytes, false).map_or(NEVER, |(time, _)| time)
    }

    /// The path that is the quickest for one full packet.
    ///
    /// # Panics
    /// If `src` is `dst`.
    pub fn route_into(&mut self, src: HostId, dst: HostId, route: &mut Route) {
        if !self.network.is_irregular() {
            return route.links.clone_from(&self.first(src, dst).links);
        }
        let mut least = NEVER;
        route.links.clear();
        let is_known = self.each(src, dst, &mut |path| {
            let time = path.packet_time(MTU_BYTES);
            if time < least {
                least = time;
                route.links.clone_from(&path.links);
            }
        });
        if !is_known {
            // All next hops in turn, each with the least time from there on.
            let (network, router) = (self.network, self.network.router());
            let times = fold(network, router, Node::Host(src), src, dst, MTU_BYTES, false);
            let (mut at, mut ports) = (Node::Host(src), Vec::new());
            while at != Node::Host(dst) {
                next_ports(network, router, at, src, dst, &mut ports);
                let rest = |&port: &PortId| {
                    let spec = &network.ports()[port];
                    let beyond = times.get(&spec.peer).copied().flatten().map_or(NEVER, |(time, _)| time);
                    Span::from_ps((spec.delay + spec.rate.tx_time(MTU_BYTES)).as_ps().saturating_add(beyond.as_ps()))
                };
                let best = ports.iter().copied().min_by_key(rest).expect("the network leads to all hosts");
                let spec = &network.ports()[best];
                route.links.push(Hop { rate: spec.rate, delay: spec.delay });
                at = spec.peer;
            }
        }
    }

    /// What the hosts may know of the paths between two of them, in a network where these are alike.
    ///
    /// # Panics
    /// If `src` is `dst`.
    pub fn facts(&mut self, src: HostId, dst: HostId) -> PathFacts {
        debug_assert!(!self.network.is_irregular(), "one path stands for all");
        self.first(src, dst).facts()
    }

    /// What the hosts may know of the slowest of the paths that `router` may give a packet from `src` to `dst`: for
    /// packets that may take any of them, so that a delay that is measured on one of them is not taken for a queue.
    /// `None` if there is no path.
    pub fn slowest(&self, router: &Router, src: HostId, dst: HostId) -> Option<PathFacts> {
        let (out, hops) = self.packet_times(router, src, dst, MTU_BYTES, true)?;
        let (back, _) = self.packet_times(router, dst, src, HEADER_BYTES, true)?;
        Some(PathFacts { hops, rtt: out + back, ..PathFacts::default() }.with_header_time(back))
    }

    /// The least or the greatest time of one packet, and the links of that path.
    fn packet_times(&self, router: &Router, src: HostId, dst: HostId, bytes: u64, slow: bool) -> Option<(Span, u8)> {
        let at = Node::Host(src);
        fold(self.network, router, at, src, dst, bytes, slow).get(&at).copied().flatten()
    }

    /// Calls `with` with paths of which one is the quickest, for any size. Returns whether they are known.
    fn each(&mut self, src: HostId, dst: HostId, with: &mut dyn FnMut(&Route)) -> bool {
        let Ends { first, at, target, last } = self.ends(src, dst);
        let set = self.kinds(at, target, src, dst);
        if set == MANY {
            return false;
        }
        for kind in &self.sets[set as usize] {
            let links = &mut self.route.links;
            links.clear();
            links.extend(first.iter().chain(&kind.links).chain(&last));
            with(&self.route);
        }
        true
    }

    fn ends(&self, src: HostId, dst: HostId) -> Ends {
        assert!(src != dst, "a host has no path to itself");
        let network = self.network;
        if network.has_static_routes() {
            return Ends { first: None, at: Node::Host(src), target: Target::Pair(src, dst), last: None };
        }
        let hop = |port: PortId| Hop { rate: network.ports()[port].rate, delay: network.ports()[port].delay };
        let (nic, far) = (network.nic(src), network.nic(dst));
        let (first, at) = match network.nics(src).len() {
            1 => (Some(hop(nic)), network.ports()[nic].peer),
            _ => (None, Node::Host(src)),
        };
        // Hosts with one link to a switch are reached as the switch is.
        match network.ports()[far].peer {
            Node::Switch(switch) if network.nics(dst).len() == 1 => {
                let last = Some(hop(network.ports()[far].reverse));
                Ends { first, at, target: Target::Node(Node::Switch(switch)), last }
            }
            _ => Ends { first, at, target: Target::Node(Node::Host(dst)), last: None },
        }
    }

    /// The number of the set of paths from a node to a target that packets for `dst` take.
    fn kinds(&mut self, at: Node, target: Target, src: HostId, dst: HostId) -> u32 {
        let end = match target {
            Target::Node(node) => node,
            Target::Pair(_, dst) => Node::Host(dst),
        };
        let (network, router) = (self.network, self.network.router());
        let (mut open, mut ports) = (vec![at], Vec::new());
        while let Some(&node) = open.last() {
            if self.ahead.contains_key(&(node, target)) {
                open.pop();
                continue;
            }
            if node == end {
                let number = self.numbered(vec![Route::default()]);
                self.ahead.insert((node, target), number);
                continue;
            }
            next_ports(network, router, node, src, dst, &mut ports);
            // Nodes further on come first.
            let before = open.len();
            let peers = ports.iter().map(|&port| network.ports()[port].peer);
            open.extend(peers.filter(|&peer| !self.ahead.contains_key(&(peer, target))));
            if open.len() > before {
                continue;
            }
            let mut kinds: Vec<Route> = Vec::new();
            let mut is_many = false;
            let mut seen: FxHashSet<(Hop, u32)> = FxHashSet::default();
            for &port in &ports {
                let spec = &network.ports()[port];
                let hop = Hop { rate: spec.rate, delay: spec.delay };
                let beyond = self.ahead[&(spec.peer, target)];
                is_many |= beyond == MANY;
                if is_many || !seen.insert((hop, beyond)) {
                    continue;
                }
                for kind in &self.sets[beyond as usize] {
                    let mut links = Vec::with_capacity(kind.links.len() + 1);
                    links.push(hop);
                    links.extend(&kind.links);
                    add(&mut kinds, Route { links });
                }
            }
            let number = if is_many || kinds.len() > MOST_KINDS { MANY } else { self.numbered(kinds) };
            self.ahead.insert((node, target), number);
        }
        self.ahead[&(at, target)]
    }

    /// The number of a set.
    fn numbered(&mut self, mut kinds: Vec<Route>) -> u32 {
        kinds.sort_unstable_by(|a, b| a.links.cmp(&b.links));
        if let Some(&number) = self.numbers.get(&kinds) {
            return number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(kinds.clone());
        self.numbers.insert(kinds, number);
        number
    }

    /// The least time of a flow over one path of a graph: `next` lists the ports of a node that lead on, and `goes_on`
    /// says whether what has come so far to a node is to be followed. Of two ways to a node the one is of no use that
    /// is behind the other in everything on which the rest depends. `None` if no path is followed to its end.
    fn search(
        &self,
        src: HostId,
        dst: HostId,
        size: u64,
        headers: u64,
        next: impl Fn(Node, &mut Vec<PortId>),
        goes_on: impl Fn(Node, &Progress) -> bool,
    ) -> Option<Span> {
        let mut known: FxHashMap<Node, Vec<Progress>> = FxHashMap::default();
        let mut open = VecDeque::from([(Node::Host(src), Progress::new(size, headers))]);
        let (mut least, mut ports) = (None, Vec::new());
        while let Some((at, progress)) = open.pop_front() {
            if at == Node::Host(dst) {
                least = Some(least.unwrap_or(NEVER).min(progress.time()));
                continue;
            }
            // Something better may have come meanwhile.
            if known.get(&at).is_some_and(|known| !known.contains(&progress)) {
                continue;
            }
            next(at, &mut ports);
            for &port in &ports {
                let spec = &self.network.ports()[port];
                let beyond = progress.over(Hop { rate: spec.rate, delay: spec.delay });
                let known = known.entry(spec.peer).or_default();
                if !goes_on(spec.peer, &beyond) || known.iter().any(|other| other.is_no_later(&beyond)) {
                    continue;
                }
                known.retain(|other| !beyond.is_no_later(other));
                known.push(beyond);
                open.push_back((spec.peer, beyond));
            }
        }
        least
    }

    /// The least time of a flow over any one path of links, whatever routing says: in a network whose links fail,
    /// packets may be sent a path of more links that is quicker. Not above `most`, which is what is returned if there
    /// is none that is quicker.
    pub fn ideal_over_any_links(&mut self, src: HostId, dst: HostId, size: u64, beside: Headers, most: Span) -> Span {
        let back = match beside.back {
            0 => Span::ZERO,
            back => self.least_packet_over_any_links(dst, src, HEADER_BYTES) * back,
        };
        let most_forward = Span::from_ps(most.as_ps().saturating_sub(back.as_ps()));
        let network = self.network;
        // From a node to the receiver: to the owner of one of its last links, and over it.
        let lasts = self.lasts(dst);
        lasts.iter().for_each(|&(_, owner)| self.look_around(owner));
        let rest = |at: Node, bytes: u64, last_bytes: u64| {
            let time = |&(port, owner): &(PortId, Node)| {
                let spec = &network.ports()[port];
                let tail = spec.delay + spec.rate.tx_time(bytes) + spec.rate.tx_time(last_bytes);
                Some(self.time_around(at, owner, bytes)? + tail)
            };
            if at == Node::Host(dst) { Some(Span::ZERO) } else { lasts.iter().filter_map(time).min() }
        };
        let goes_on = |at: Node, progress: &Progress| {
            let is_below = |time: Option<Span>| time.is_some_and(|time| time < most_forward);
            is_below(progress.with_last(|bytes| rest(at, bytes, 0)))
                && is_below(progress.with_full(|bytes, last| rest(at, bytes, last)))
        };
        let next = |at: Node, ports: &mut Vec<PortId>| {
            ports.clear();
            if at == Node::Host(src) || matches!(at, Node::Switch(_)) || network.relays() {
                ports.extend(network.ports_of(at).map(PortId));
            }
        };
        match self.search(src, dst, size, beside.forward, next, goes_on) {
            Some(time) => most.min(time + back),
            None => most,
        }
    }

    /// The least time of one packet over any links.
    fn least_packet_over_any_links(&mut self, src: HostId, dst: HostId, bytes: u64) -> Span {
        let entries = self.ends_over_any_links(src, dst);
        let network = self.network;
        let times = entries.iter().filter_map(|&(nic, last)| {
            let (nic, last) = (&network.ports()[nic], last.map(|last| &network.ports()[last]));
            let first = nic.delay + nic.rate.tx_time(bytes);
            match last {
                None => Some(first),
                Some(last) => {
                    Some(first + self.time_around(nic.peer, last.owner, bytes)? + last.delay + last.rate.tx_time(bytes))
                }
            }
        });
        times.min().unwrap_or(Span::ZERO)
    }

    /// A time that no flow of `size` payload bytes can undercut, whatever paths its packets take and however they
    /// overtake each other, with these packets of headers beside them. `one_path` says that all of its packets take the
    /// same path. It is the bound for a check that a run was possible.
    ///
    /// See [`fct_floor`](crate::fct_floor) for what the links of two hosts do to it. Between them a packet takes the
    /// least time that any links allow. A host with several links sends, and receives, over all of them at a time
    /// unless there is one path.
    pub fn floor(&mut self, src: HostId, dst: HostId, size: u64, one_path: bool, beside: Headers) -> Span {
        let headers = [(src, dst, beside.forward), (dst, src, beside.back)];
        let headers: Span = headers
            .into_iter()
            .filter(|&(.., count)| count > 0)
            .map(|(from, to, count)| self.least_packet_over_any_links(from, to, HEADER_BYTES) * count)
            .sum();
        let ends = self.ends_over_any_links(src, dst);
        let network = self.network;
        let hop = |port: PortId| Hop { rate: network.ports()[port].rate, delay: network.ports()[port].delay };
        // What a packet takes between the end of its first link and the beginning of its last one, with all delays.
        let between = |nic: PortId, last: PortId, bytes: u64| {
            let (nic, last) = (&network.ports()[nic], &network.ports()[last]);
            Some(nic.delay + self.time_around(nic.peer, last.owner, bytes)? + last.delay)
        };
        let bound = |&(nic, last): &Outer| match last {
            None => Some(crate::ideal_fct(&[hop(nic)], size)),
            Some(last) => {
                let between = |bytes| between(nic, last, bytes);
                floor_between(hop(nic).rate, between, hop(last).rate, size)
            }
        };
        let mut nics: Vec<PortId> = ends.iter().map(|&(nic, _)| nic).collect();
        let mut lasts: Vec<PortId> = ends.iter().map(|&(nic, last)| last.unwrap_or(nic)).collect();
        for ports in [&mut nics, &mut lasts] {
            ports.sort_unstable();
            ports.dedup();
        }
        if one_path || nics.len() == 1 && lasts.len() == 1 {
            return ends.iter().filter_map(bound).min().unwrap_or(Span::ZERO) + headers;
        }
        // Each side alone, over all of its links at a time.
        let beyond = |of: &dyn Fn(&Outer) -> bool, is_sender: bool, bytes: u64| {
            let time = |&(nic, last): &Outer| {
                let Some(last) = last else { return Some(hop(nic).delay) };
                let other = if is_sender { last } else { nic };
                Some(between(nic, last, bytes)? + hop(other).rate.tx_time(bytes))
            };
            ends.iter().filter(|end| of(end)).filter_map(time).min()
        };
        let mut floor = Span::ZERO;
        for (ports, is_sender) in [(&nics, true), (&lasts, false)] {
            let mut spread = Spread::new(size);
            for &port in ports {
                let of = |&(nic, last): &Outer| port == if is_sender { nic } else { last.unwrap_or(nic) };
                spread.add(hop(port).rate, |bytes| beyond(&of, is_sender, bytes));
            }
            floor = floor.max(spread.least());
        }
        floor + headers
    }

    /// The last links to a host, and the nodes at their beginnings.
    fn lasts(&self, dst: HostId) -> Vec<(PortId, Node)> {
        let ports = self.network.ports();
        let nics = self.network.nics(dst).map(|nic| ports[PortId(nic)].reverse);
        nics.map(|last| (last, ports[last].owner)).collect()
    }

    /// Each first link of one host with each last link of another one; no last one if the first one leads there.
    fn ends_over_any_links(&mut self, src: HostId, dst: HostId) -> Vec<Outer> {
        let network = self.network;
        let lasts = self.lasts(dst);
        let mut ends = Vec::new();
        for nic in network.nics(src).map(PortId) {
            if network.ports()[nic].peer == Node::Host(dst) {
                ends.push((nic, None));
                continue;
            }
            for &(last, owner) in &lasts {
                self.look_around(owner);
                if self.time_around(network.ports()[nic].peer, owner, HEADER_BYTES).is_some() {
                    ends.push((nic, Some(last)));
                }
            }
        }
        ends
    }

    /// Finds the least times over any links from all nodes to `target`, if they are not known.
    fn look_around(&mut self, target: Node) {
        if self.around.contains_key(&target) {
            return;
        }
        let network = self.network;
        // Hosts come after the switches in the numbers of nodes, and only some networks have packets that pass them.
        let hosts = if network.relays() || matches!(target, Node::Host(_)) { network.hosts() as usize } else { 0 };
        let mut times = vec![[NEVER; 2]; network.switches().len() + hosts];
        for (nth, bytes) in [MTU_BYTES, HEADER_BYTES].into_iter().enumerate() {
            let number = |node: Node| network.number(node) as usize;
            let mut open = BinaryHeap::from([Reverse((Span::ZERO, target))]);
            times[number(target)][nth] = Span::ZERO;
            while let Some(Reverse((time, at))) = open.pop() {
                let passes = at == target || matches!(at, Node::Switch(_)) || network.relays();
                if time > times[number(at)][nth] || !passes {
                    continue;
                }
                for port in network.ports_of(at).map(PortId) {
                    let into = &network.ports()[network.ports()[port].reverse];
                    let there = time + into.delay + into.rate.tx_time(bytes);
                    if let Some(times) = times.get_mut(number(into.owner))
                        && there < times[nth]
                    {
                        times[nth] = there;
                        open.push(Reverse((there, into.owner)));
                    }
                }
            }
        }
        self.around.insert(target, times);
    }

    /// The least time of a packet from a node to one that was looked around, over any links; `None` if no links lead
    /// there. For sizes between a header and a full packet it is on the line between the two, which is no more than the
    /// least time: that is the least of many lines, one for each path.
    fn time_around(&self, at: Node, target: Node, bytes: u64) -> Option<Span> {
        let [full, header] = *self.around[&target].get(self.network.number(at) as usize)?;
        if header == NEVER {
            return None;
        }
        if bytes >= MTU_BYTES {
            return Some(full);
        }
        // Links round to whole picoseconds, each by less than one, and a path passes a node once.
        let hosts = if self.network.relays() { self.network.hosts() } else { 2 };
        let rounding = self.network.switches().len() as u64 + u64::from(hosts);
        let part = (full.as_ps() - header.as_ps()) as u128 * u128::from(bytes.saturating_sub(HEADER_BYTES));
        let part = (part / u128::from(MTU_BYTES - HEADER_BYTES)) as u64;
        Some(header + Span::from_ps(part.saturating_sub(rounding)))
    }
}

/// Adds a path to those that may be the quickest.
fn add(kinds: &mut Vec<Route>, path: Route) {
    // Where there are many already, no more are needed to know that there are.
    if kinds.len() > MOST_KINDS || kinds.iter().any(|known| is_no_slower(known, &path)) {
        return;
    }
    kinds.retain(|known| !is_no_slower(&path, known));
    kinds.push(path);
}

/// Whether one path is at least as quick as another one for any size: its delay is no longer, and each of its links is
/// at least as fast as one of the other, in the order of both.
fn is_no_slower(one: &Route, other: &Route) -> bool {
    let mut others = other.links.iter();
    one.delay() <= other.delay() && one.links.iter().all(|link| others.any(|other| link.rate >= other.rate))
}

/// The ports of a node that packets from `src` to `dst` may take there.
pub(crate) fn next_ports(
    network: &Network,
    router: &Router,
    at: Node,
    src: HostId,
    dst: HostId,
    ports: &mut Vec<PortId>,
) {
    let hops = match at {
        Node::Host(host) => router.next_hops_of_host(host, dst),
        Node::Switch(switch) => router.next_hops_from(switch, src, dst),
    };
    debug_assert!(network.ports_of(at).len() >= hops.count as usize, "a node takes its own ports");
    ports.clear();
    ports.extend((0..hops.count).map(|i| router.port(hops, i)));
}

/// The least or the greatest time of a packet to `dst` over the paths of a router, with the links of that path, from
/// each node that is on one from `from`; `None` from where no path leads there.
fn fold(
    network: &Network,
    router: &Router,
    from: Node,
    src: HostId,
    dst: HostId,
    bytes: u64,
    slow: bool,
) -> FxHashMap<Node, Option<(Span, u8)>> {
    let mut times: FxHashMap<Node, Option<(Span, u8)>> = FxHashMap::default();
    times.insert(Node::Host(dst), Some((Span::ZERO, 0)));
    // Beside static routes around a failure a packet may come back to where it was: it takes no such way.
    let mut entered: FxHashSet<Node> = FxHashSet::default();
    let (mut open, mut ports) = (vec![from], Vec::new());
    while let Some(&node) = open.last() {
        if times.contains_key(&node) {
            open.pop();
            continue;
        }
        next_ports(network, router, node, src, dst, &mut ports);
        let before = open.len();
        if entered.insert(node) {
            let peers = ports.iter().map(|&port| network.ports()[port].peer);
            open.extend(peers.filter(|peer| !times.contains_key(peer) && !entered.contains(peer)));
        }
        if open.len() > before {
            continue;
        }
        let over = |&port: &PortId| {
            let spec = &network.ports()[port];
            let (time, hops) = times.get(&spec.peer).copied().flatten()?;
            Some((spec.delay + spec.rate.tx_time(bytes) + time, hops.saturating_add(1)))
        };
        let all = ports.iter().filter_map(over);
        let time = if slow { all.max() } else { all.min() };
        times.insert(node, time);
    }
    times
}

#[cfg(test)]
pub(crate) mod tests;
