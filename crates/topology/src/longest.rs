//! The longest round trip of an idle network, and the largest bandwidth-delay product of its paths.
//!
//! Both are of all pairs of hosts, and exact. Hosts that attach to the same switch by one link each are searched for
//! once, and so are switches with the same neighbours at the same rates and delays, whose exchange changes nothing; of
//! a network whose hosts are all alike, the pairs of one host stand for all.
//!
//! In a network that has too many places for that, more than [`MOST_WORK`] links to be followed, distances are counted
//! in links, for 64 switches at a time. Where all links between switches are alike, as in a large Jellyfish, that is
//! exact as well. Where they are not, the value is a bound that is never too low: of as many links as the longest path
//! has, those that take the most time.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tailcut_base::{BitRate, HEADER_BYTES, HostId, Id, MTU_BYTES, PortId, Span, SwitchId};

use crate::extra::Cost;
use crate::network::{Network, Node, PortSpec};
use crate::quickest::next_ports;
use crate::route::Router;

/// Kinds of places, by the links of their hosts, of which distances are told apart.
const MOST_KINDS: usize = 16;

/// Links that are followed at most to compare all pairs, each place with all links: some two seconds.
const MOST_WORK: usize = 50_000_000;

/// The longest round trip of an idle network and what its paths carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Longest {
    /// The largest round-trip time between two hosts: a full packet out and a header back, each on its quickest path.
    pub rtt: Span,
    /// Links from one host to the other where it is the largest.
    pub hops: u8,
    /// The rates of paths where a flow keeps the quickest one: each that of its slowest link.
    pub kept: PathRates,
    /// The same where each packet takes any of the next hops: so much that equal parts fill the first link, as if paths
    /// that part met in no link again. Not too low elsewhere, and not too high in its `slowest`.
    pub spread: PathRates,
    /// Whether all pairs of hosts were compared; the values are bounds otherwise, and never too low.
    pub is_exact: bool,
}

/// The rates of the paths between all pairs of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRates {
    /// Rate and round-trip time of the pair of hosts with the largest product of the two.
    pub largest: (BitRate, Span),
    /// The highest rate of a path.
    pub fastest: BitRate,
    /// The lowest rate of a path; of any that a flow may be given.
    pub slowest: BitRate,
}

/// Follows links toward a place. In sums of times it is no time, and in rates no limit.
#[derive(Clone, Copy, Debug)]
struct Rest {
    /// The least times of a full packet and of a header; `None` from where no path leads there.
    times: Option<[Span; 2]>,
    /// Links of the path of the full packet.
    hops: u8,
    /// Rates in bit/s: of the slowest link of that path, of equal parts over all next hops, and of the slowest link of
    /// any path.
    kept: u64,
    spread: u64,
    slowest: u64,
}

impl Rest {
    const NONE: Rest =
        Rest { times: Some([Span::ZERO; 2]), hops: 0, kept: u64::MAX, spread: u64::MAX, slowest: u64::MAX };
}

/// The longest times of the links at the ends of paths, by their rate in bit/s: of two holders, so that a pair of
/// different ones is among them.
type Ends = BTreeMap<u64, [Option<(Span, u32)>; 2]>;

fn add(ends: &mut Ends, rate: u64, time: Span, holder: u32) {
    let [first, second] = ends.entry(rate).or_default();
    let new = Some((time, holder));
    match *first {
        Some((known, of)) if of == holder => *first = Some((known.max(time), of)),
        Some((known, _)) if known >= time => {
            if second.is_none_or(|(known, _)| known < time) {
                *second = new;
            }
        }
        _ => {
            *second = first.take();
            *first = new;
        }
    }
}

/// The longest sum of two ends, of different holders if `apart`.
fn longest_of(a: &[Option<(Span, u32)>; 2], b: &[Option<(Span, u32)>; 2], apart: bool) -> Option<Span> {
    let pairs = a.iter().flatten().flat_map(|a| b.iter().flatten().map(move |b| (a, b)));
    pairs.filter(|(a, b)| !apart || a.1 != b.1).map(|(a, b)| a.0 + b.0).max()
}

/// Hosts that are reached alike but for their own links.
struct Place {
    /// Where paths to them end, and a second such node if there are several that are alike.
    at: Node,
    twin: Option<(Node, HostId)>,
    /// One of the hosts at `at`.
    host: HostId,
    /// Links between a host and the place: none if the place is a host.
    links: u8,
    /// The share that the link of a host adds to the round trips that it begins, and to those that end there; the
    /// holder is the node.
    sources: Ends,
    sinks: Ends,
}

/// Finds what [`Longest`] says.
struct Finder<'n> {
    network: &'n Network,
    /// By node: what is known of the rest of the way to the present target, and the target of which it is.
    rest: Vec<(u32, Rest)>,
    target: u32,
    /// By node, the target on whose ways it was met last.
    entered: Vec<u32>,
    open: Vec<Node>,
    ports: Vec<PortId>,
    /// The times of a full packet and of a header at the rate that was met last.
    times: (BitRate, [Span; 2]),
    most_work: usize,
    found: Found,
}

/// The largest values so far.
#[derive(Clone, Copy)]
struct Found {
    rtt: Span,
    hops: u8,
    /// `kept` and `spread`: bit/s and time of the largest product, highest and lowest rate.
    rates: [((u64, Span), u64, u64); 2],
}

impl Found {
    const NONE: Found = Found { rtt: Span::ZERO, hops: 0, rates: [((0, Span::ZERO), 0, u64::MAX); 2] };

    /// A pair of hosts at the ends of `rest`: the round trip, the links and the slowest link of its ends.
    fn pair(&mut self, rtt: Span, hops: u8, ends: u64, rest: &Rest) {
        if (rtt, hops) > (self.rtt, self.hops) {
            (self.rtt, self.hops) = (rtt, hops);
        }
        for ((largest, fastest, slowest), rate) in self.rates.iter_mut().zip([rest.kept, rest.spread]) {
            let (rate, least) = (rate.min(ends), rest.slowest.min(ends));
            let product = |(rate, rtt): (u64, Span)| u128::from(rate) * u128::from(rtt.as_ps());
            // Of equal products the one of the higher rate.
            if (product((rate, rtt)), rate) > (product(*largest), largest.0) {
                *largest = (rate, rtt);
            }
            *fastest = (*fastest).max(rate);
            *slowest = (*slowest).min(least);
        }
    }
}

impl Network {
    /// The longest round trip of the idle network and what its paths carry.
    pub fn longest(&self) -> Longest {
        let mut finder = Finder::new(self);
        let is_exact = finder.find();
        finder.longest(is_exact)
    }

    /// A node that is a host with one link.
    fn only_host(&self, node: Node) -> Option<HostId> {
        match node {
            Node::Host(host) if self.nics(host).len() == 1 => Some(host),
            _ => None,
        }
    }

    /// The switch of a host with one link, if that is where it leads.
    fn only_switch(&self, host: HostId) -> Option<SwitchId> {
        match self.ports()[self.nic(host)].peer {
            Node::Switch(switch) if self.nics(host).len() == 1 => Some(switch),
            _ => None,
        }
    }
}

impl<'n> Finder<'n> {
    fn new(network: &'n Network) -> Finder<'n> {
        let ten = BitRate::gbps(10);
        Finder {
            network,
            rest: Vec::new(),
            target: 0,
            entered: Vec::new(),
            open: Vec::new(),
            ports: Vec::new(),
            times: (ten, Self::times_at(ten)),
            most_work: MOST_WORK,
            found: Found::NONE,
        }
    }

    /// The result.
    fn longest(&self, is_exact: bool) -> Longest {
        let network = self.network;
        let nics = (0..network.hosts()).flat_map(|host| network.nics(HostId(host))).map(PortId);
        // Of a host alone there is no path.
        let highest = nics.map(|nic| network.ports()[nic].rate).max().unwrap_or_else(|| network.host_link());
        let rate = |bps: u64| BitRate::from_bps(bps).filter(|_| bps < u64::MAX).unwrap_or(highest);
        let Found { rtt, hops, rates } = self.found;
        let [kept, spread] = rates.map(|((bps, rtt), fastest, slowest)| PathRates {
            largest: (rate(bps), rtt),
            fastest: rate(fastest),
            slowest: rate(slowest),
        });
        Longest { rtt, hops, kept, spread, is_exact }
    }

    fn times_at(rate: BitRate) -> [Span; 2] {
        [rate.tx_time(MTU_BYTES), rate.tx_time(HEADER_BYTES)]
    }

    /// The times of a full packet and of a header over a link.
    fn over(&mut self, spec: &PortSpec) -> [Span; 2] {
        if self.times.0 != spec.rate {
            self.times = (spec.rate, Self::times_at(spec.rate));
        }
        self.times.1.map(|time| spec.delay + time)
    }

    fn number(&self, node: Node) -> usize {
        self.network.number(node) as usize
    }

    fn rest_of(&self, node: Node) -> Rest {
        let (target, rest) = self.rest[self.number(node)];
        debug_assert_eq!(target, self.target, "{node:?} was started from");
        rest
    }

    /// Follows all ways from some nodes to `end`, for packets to `dst`: of all hosts, or of one, with a router.
    fn look(&mut self, end: Node, dst: HostId, from: &[Node], of: Option<(&Router, HostId)>) {
        let network = self.network;
        let (router, src) = of.unwrap_or((network.router(), dst));
        let nodes = network.switches().len() + network.hosts() as usize;
        let needed = from.iter().chain([&end]).map(|&node| self.number(node) + 1).max().unwrap_or(0);
        // Hosts, which come last, are on the ways of few networks.
        let needed =
            if needed > network.switches().len() || network.relays() { nodes } else { network.switches().len() };
        if self.rest.len() < needed {
            self.rest.resize(needed, (0, Rest::NONE));
            self.entered.resize(needed, 0);
        }
        self.target += 1;
        let at = self.number(end);
        self.rest[at] = (self.target, Rest::NONE);
        self.open.clear();
        self.open.extend(from);
        while let Some(&node) = self.open.last() {
            let at = self.number(node);
            if self.rest[at].0 == self.target {
                self.open.pop();
                continue;
            }
            let mut ports = std::mem::take(&mut self.ports);
            next_ports(network, router, node, src, dst, &mut ports);
            let before = self.open.len();
            // Beside static routes around a failure a packet may come back to where it was: it takes no such way.
            let is_new = std::mem::replace(&mut self.entered[at], self.target) != self.target;
            for &port in ports.iter().filter(|_| is_new) {
                let peer = network.ports()[port].peer;
                let number = self.number(peer);
                if self.rest[number].0 != self.target && self.entered[number] != self.target {
                    self.open.push(peer);
                }
            }
            if self.open.len() == before {
                let rest = self.join(node, &ports);
                self.rest[at] = (self.target, rest);
            }
            self.ports = ports;
        }
    }

    /// The rest of the path from a node with these next hops.
    fn join(&mut self, at: Node, ports: &[PortId]) -> Rest {
        let mut all = Rest { times: None, ..Rest::NONE };
        for &port in ports {
            let spec = self.network.ports()[port];
            let (target, beyond) = self.rest[self.number(spec.peer)];
            let Some([full, header]) = beyond.times.filter(|_| target == self.target) else { continue };
            let over = self.over(&spec);
            let rate = spec.rate.as_bps();
            let (time, kept) = (full + over[0], beyond.kept.min(rate));
            let back = header + over[1];
            let is_better = all.times.is_none_or(|[known, _]| (time, u64::MAX - kept) < (known, u64::MAX - all.kept));
            if is_better {
                (all.kept, all.hops) = (kept, beyond.hops.saturating_add(1));
            }
            all.times = Some(all.times.map_or([time, back], |[full, header]| [full.min(time), header.min(back)]));
            all.spread = all.spread.min(beyond.spread.min(rate));
            all.slowest = all.slowest.min(beyond.slowest.min(rate));
        }
        // Each next hop of a switch gets an equal part. A host has a message leave by one link.
        if let Node::Switch(_) = at {
            all.spread = all.spread.saturating_mul(ports.len() as u64);
        }
        all
    }

    /// Compares all pairs of hosts. Returns whether it did, or found a bound.
    fn find(&mut self) -> bool {
        let network = self.network;
        let fixed = network.statically_routed();
        let named = |host: HostId| fixed.iter().any(|&(src, dst)| src == host || dst == host);
        let mut is_named = vec![false; if fixed.is_empty() { 0 } else { network.hosts() as usize }];
        is_named.iter_mut().enumerate().for_each(|(host, is)| *is = named(HostId(host as u32)));
        let is_named = |host: HostId| is_named.get(host.index()).copied().unwrap_or(false);
        let places = self.places(&is_named);
        let is_exact = self.pairs(&places, &|a, b| fixed.contains(&(a, b)) || fixed.contains(&(b, a)));
        for (src, dst) in fixed.iter().flat_map(|&(src, dst)| [(src, dst), (dst, src)]) {
            let mut from = |src: HostId, dst: HostId| {
                self.look(Node::Host(dst), dst, &[Node::Host(src)], Some((network.router(), src)));
                self.rest_of(Node::Host(src))
            };
            let (out, back) = (from(src, dst), from(dst, src));
            if let (Some([full, _]), Some([_, header])) = (out.times, back.times) {
                self.found.pair(full + header, out.hops, u64::MAX, &out);
            }
        }
        is_exact
    }

    /// The places of hosts. Pairs at one switch are compared on the way.
    fn places(&mut self, is_named: &dyn Fn(HostId) -> bool) -> Vec<Place> {
        let network = self.network;
        let mut of_switch: BTreeMap<SwitchId, (HostId, Ends, Ends)> = BTreeMap::new();
        let mut places = Vec::new();
        for host in (0..network.hosts()).map(HostId) {
            let Some(switch) = network.only_switch(host) else {
                let end = || Ends::from([(u64::MAX, [Some((Span::ZERO, u32::MAX)), None])]);
                let at = Node::Host(host);
                places.push(Place { at, twin: None, host, links: 0, sources: end(), sinks: end() });
                continue;
            };
            let up = network.ports()[network.nic(host)];
            let down = network.ports()[up.reverse];
            let ([up_full, up_header], [down_full, down_header]) = (self.over(&up), self.over(&down));
            let (source, sink) = (up_full + down_header, down_full + up_header);
            let (up, down) = (up.rate.as_bps(), down.rate.as_bps());
            if is_named(host) {
                let (mut sources, mut sinks) = (Ends::new(), Ends::new());
                add(&mut sources, up, source, switch.0);
                add(&mut sinks, down, sink, switch.0);
                places.push(Place { at: Node::Switch(switch), twin: None, host, links: 1, sources, sinks });
                continue;
            }
            let (_, sources, sinks) = of_switch.entry(switch).or_insert_with(|| (host, Ends::new(), Ends::new()));
            add(sources, up, source, host.0);
            add(sinks, down, sink, host.0);
        }
        let folds = !network.has_static_routes() && !network.has_leaf_addresses();
        let mut by_neighbours: FxHashMap<Vec<Neighbour>, usize> = FxHashMap::default();
        for (switch, (host, sources, sinks)) in of_switch {
            for (&up, source) in &sources {
                for (&down, sink) in &sinks {
                    if let Some(rtt) = longest_of(source, sink, true) {
                        self.found.pair(rtt, 2, up.min(down), &Rest::NONE);
                    }
                }
            }
            let at = if folds {
                *by_neighbours.entry(neighbours(network, switch)).or_insert(places.len())
            } else {
                places.len()
            };
            let node = Node::Switch(switch);
            match places.get_mut(at) {
                None => {
                    let (sources, sinks) = (Ends::new(), Ends::new());
                    places.push(Place { at: node, twin: None, host, links: 1, sources, sinks });
                }
                Some(place) => _ = place.twin.get_or_insert((node, host)),
            }
            let place = &mut places[at];
            for (all, ends) in [(&mut place.sources, &sources), (&mut place.sinks, &sinks)] {
                for (&rate, best) in ends {
                    best[0].into_iter().for_each(|(time, _)| add(all, rate, time, switch.0));
                }
            }
        }
        places
    }

    /// Compares the hosts of all places but of those that `apart` looks at elsewhere. Returns whether it did.
    fn pairs(&mut self, places: &[Place], elsewhere: &dyn Fn(HostId, HostId) -> bool) -> bool {
        let network = self.network;
        let from: Vec<Node> = places.iter().map(|place| place.at).collect();
        if network.hosts_are_alike() {
            let own = &places[0];
            self.look(own.at, own.host, &from, None);
            let back: Vec<Rest> = from.iter().map(|&node| self.rest_of(node)).collect();
            for (place, back) in places.iter().zip(&back).skip(1) {
                self.look(place.at, place.host, &[own.at], None);
                let out = self.rest_of(own.at);
                self.ends(own, place, &out, back.times.map(|[_, header]| header), false);
            }
            self.twins(own);
            return true;
        }
        let between = |spec: &&PortSpec| network.only_host(spec.owner).or(network.only_host(spec.peer)).is_none();
        let links = network.ports().iter().filter(between).count();
        if places.len().saturating_mul(links) > self.most_work {
            if !matches!(network.router(), Router::Table(_)) {
                let hops = self.hops_by_rule(places);
                self.bound(hops);
                return false;
            }
            if let Some(is_exact) = self.by_links(places) {
                return is_exact;
            }
        }
        // The times of headers, by where they end and where they begin.
        let mut headers: Vec<Option<Span>> = Vec::with_capacity(places.len() * places.len());
        for place in places {
            self.look(place.at, place.host, &from, None);
            headers.extend(from.iter().map(|&node| self.rest_of(node).times.map(|[_, header]| header)));
        }
        for (end, place) in places.iter().enumerate() {
            self.look(place.at, place.host, &from, None);
            for (begin, other) in places.iter().enumerate() {
                if begin == end || elsewhere(other.host, place.host) {
                    continue;
                }
                let back = headers[begin * places.len() + end];
                let out = self.rest_of(other.at);
                self.ends(other, place, &out, back, false);
            }
            self.twins(place);
        }
        true
    }

    /// Compares hosts of two switches that are alike.
    fn twins(&mut self, place: &Place) {
        let Some((twin, host)) = place.twin else { return };
        self.look(place.at, place.host, &[twin], None);
        let out = self.rest_of(twin);
        self.look(twin, host, &[place.at], None);
        let back = self.rest_of(place.at).times.map(|[_, header]| header);
        self.ends(place, place, &out, back, true);
    }

    /// Compares the hosts of two places: `out` leads from the one to the other, and a header comes `back`. Those at the
    /// ends are of different switches if `apart`.
    fn ends(&mut self, from: &Place, to: &Place, out: &Rest, back: Option<Span>, apart: bool) {
        let (Some([full, _]), Some(back)) = (out.times, back) else { return };
        for (&up, source) in &from.sources {
            for (&down, sink) in &to.sinks {
                if let Some(ends) = longest_of(source, sink, apart) {
                    let hops = out.hops.saturating_add(from.links + to.links);
                    self.found.pair(ends + full + back, hops, up.min(down), out);
                }
            }
        }
    }

    /// Links of the longest path of a network of a rule: as many as from any host, for which changed links count as
    /// others do.
    fn hops_by_rule(&mut self, places: &[Place]) -> u8 {
        let own = &places[0];
        let mut hops = 2;
        for place in places {
            for (at, host) in [(place.at, place.host)].into_iter().chain(place.twin) {
                self.look(at, host, &[own.at], None);
                hops = hops.max(self.rest_of(own.at).hops.saturating_add(own.links + place.links));
            }
        }
        hops
    }

    /// Counts the links between all places, and makes of them what is exact if all links between switches are alike,
    /// and a bound otherwise. Returns which; `None` if paths are not those of the fewest links between switches.
    fn by_links(&mut self, places: &[Place]) -> Option<bool> {
        let network = self.network;
        let counts = network.rules().cost == Cost::Hops && !network.relays();
        let has_others = network.has_static_routes() || network.has_leaf_addresses();
        if !counts || has_others || places.iter().any(|place| place.links == 0) {
            return None;
        }
        // Places whose hosts have links of the same times.
        type Kind = Vec<(u64, Option<Span>)>;
        let of = |place: &Place| -> Kind {
            let ends = place.sources.iter().chain(&place.sinks);
            let ends = ends.map(|(&rate, best)| (rate, best[0].map(|(time, _)| time)));
            [(place.sources.len() as u64, None)].into_iter().chain(ends).collect()
        };
        let mut kinds: FxHashMap<Kind, usize> = FxHashMap::default();
        let mut first: Vec<usize> = Vec::new();
        let mut kind_of = vec![usize::MAX; network.switches().len()];
        for (nth, place) in places.iter().enumerate() {
            let next = kinds.len();
            let kind = *kinds.entry(of(place)).or_insert(next);
            if kind == next {
                first.push(nth);
            }
            kind_of[self.number(place.at)] = kind;
        }
        let between = |spec: &&PortSpec| matches!((spec.owner, spec.peer), (Node::Switch(_), Node::Switch(_)));
        let mut links = network.ports().iter().filter(between);
        let link = *links.next()?;
        let is_alike = links.all(|spec| (spec.rate, spec.delay) == (link.rate, link.delay));
        if !is_alike || kinds.len() > MOST_KINDS {
            let of_places = kind_of.iter().map(|&kind| if kind == usize::MAX { kind } else { 0 }).collect::<Vec<_>>();
            let apart = self.distances(places, &of_places, 1).into_iter().flatten().max().unwrap_or(0);
            // Switches that are alike are two links apart at least, and no further than others.
            self.bound(u8::try_from(apart.max(2) + 2).unwrap_or(u8::MAX));
            return Some(false);
        }
        let distances = self.distances(places, &kind_of, kinds.len());
        let [full, header] = self.over(&link);
        let most = network.switches().ids().map(|switch| network.switch_ports(switch).len()).max()? as u64;
        for (nth, hops) in distances.into_iter().enumerate() {
            let Some(hops) = hops else { continue };
            let (from, to) = (&places[first[nth / kinds.len()]], &places[first[nth % kinds.len()]]);
            let rate = link.rate.as_bps();
            let rest = Rest {
                times: Some([full * hops, header * hops]),
                hops: u8::try_from(hops).unwrap_or(u8::MAX),
                kept: rate,
                spread: rate.saturating_mul(most),
                slowest: rate,
            };
            self.ends(from, to, &rest, Some(header * hops), false);
        }
        places.iter().for_each(|place| self.twins(place));
        Some(true)
    }

    /// The most links on a shortest path from a switch of one kind to another one of each kind: those of the first kind
    /// first. Switches without a kind are of no place.
    fn distances(&self, places: &[Place], kind_of: &[usize], kinds: usize) -> Vec<Option<u64>> {
        let network = self.network;
        let switches = network.switches().len();
        let peers = |switch: u32| {
            let ports = network.switch_ports(SwitchId(switch)).map(|port| network.ports()[PortId(port)].peer);
            ports.filter(|peer| matches!(peer, Node::Switch(_))).map(|peer| self.number(peer)).collect()
        };
        let peers: Vec<Vec<usize>> = (0..switches as u32).map(peers).collect();
        let mut longest: Vec<Option<u64>> = vec![None; kinds * kinds];
        for from in places.chunks(64) {
            // By switch, a bit for each of these places that has reached it, and for those that did in the last step.
            let (mut reached, mut new) = (vec![0u64; switches], vec![0u64; switches]);
            let mut of_kind = vec![0u64; kinds];
            for (nth, place) in from.iter().enumerate() {
                let at = self.number(place.at);
                (reached[at], new[at]) = (1 << nth, 1 << nth);
                of_kind[kind_of[at]] |= 1 << nth;
            }
            for hops in 1.. {
                let mut next = vec![0u64; switches];
                for (peers, &bits) in peers.iter().zip(&new).filter(|&(_, &bits)| bits != 0) {
                    peers.iter().for_each(|&peer| next[peer] |= bits);
                }
                let mut is_over = true;
                for (switch, bits) in next.iter_mut().enumerate() {
                    *bits &= !reached[switch];
                    reached[switch] |= *bits;
                    is_over &= *bits == 0;
                    if *bits != 0 && kind_of[switch] < kinds {
                        let those = of_kind.iter().enumerate().filter(|&(_, &of)| of & *bits != 0);
                        those.for_each(|(kind, _)| {
                            let known = &mut longest[kind * kinds + kind_of[switch]];
                            *known = (*known).max(Some(hops));
                        });
                    }
                }
                if is_over {
                    break;
                }
                new = next;
            }
        }
        longest
    }

    /// A bound for paths of at most so many links: those of all links that take the most time, at the rate of the
    /// fastest host.
    fn bound(&mut self, hops: u8) {
        let network = self.network;
        let mut rtt = Span::ZERO;
        for size in 0..2 {
            let mut times: Vec<Span> = network.ports().iter().map(|spec| self.over(spec)[size]).collect();
            let most = usize::from(hops).min(times.len());
            if most < times.len() {
                times.select_nth_unstable_by(most, |a, b| b.cmp(a));
            }
            rtt += times[..most].iter().copied().sum::<Span>();
        }
        let nics = (0..network.hosts()).flat_map(|host| network.nics(HostId(host))).map(PortId);
        let fastest = nics.map(|nic| network.ports()[nic].rate.as_bps()).max().unwrap_or(0);
        let slowest = network.ports().iter().map(|spec| spec.rate.as_bps()).min().unwrap_or(0);
        self.found = Found { rtt, hops, rates: [((fastest, rtt), fastest, slowest); 2] };
    }
}

/// A link to a node that is no host with one link: its number, and rate and delay in both directions.
type Neighbour = (u32, BitRate, Span, BitRate, Span);

/// The neighbours of a switch, without the hosts that have no other link.
fn neighbours(network: &Network, switch: SwitchId) -> Vec<Neighbour> {
    let ports = network.switch_ports(switch).map(|port| network.ports()[PortId(port)]);
    let others = ports.filter(|spec| match spec.peer {
        Node::Host(host) => network.only_switch(host).is_none(),
        Node::Switch(_) => true,
    });
    let neighbour = |spec: PortSpec| {
        let back = network.ports()[spec.reverse];
        (network.number(spec.peer), spec.rate, spec.delay, back.rate, back.delay)
    };
    let mut all: Vec<Neighbour> = others.map(neighbour).collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests;
