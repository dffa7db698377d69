//! The least times against all paths, one by one, with every packet on every link.

use proptest::prelude::*;
use tailcut_base::{BitRate, MSS_BYTES};

use super::*;
use crate::generate::LinkConfig;
use crate::wiring::Wiring;
use crate::{Cost, NetworkConfig};

const RATES: [u64; 5] = [1_000_000_000, 10_000_000_000, 40_000_000_000, 100_000_000_000, 7_777_777_777];

/// A few hosts and switches with cables at random, some of them side by side, each direction with its own rate and
/// delay. Every switch has a cable to one before it, and every host to a switch.
pub(crate) fn networks() -> impl Strategy<Value = Network> {
    networks_of(2u32..5)
}

/// The same of so many hosts.
pub(crate) fn networks_of(hosts: std::ops::Range<u32>) -> impl Strategy<Value = Network> {
    let most = 40 + hosts.end as usize;
    let cable = (any::<(u32, u32)>(), 0..RATES.len(), 0..RATES.len(), 0u64..30_000_000, 0u64..30_000_000);
    let cables = prop::collection::vec(cable, most);
    (hosts, 1u32..6, 0usize..12, 0usize..3, any::<bool>(), any::<bool>(), cables).prop_map(
        |(hosts, switches, more, nics, is_even, by_rate, drawn)| {
            let mut wiring = Wiring::new(hosts, Span::ZERO);
            let tier = wiring.tier("switch");
            let switch: Vec<Node> =
                (0..switches).map(|nth| Node::Switch(wiring.switch(format!("switch{nth}"), tier))).collect();
            let mut drawn = drawn.into_iter();
            let mut draw = || drawn.next().expect("there are enough");
            let mut changes = Vec::new();
            let mut lay =
                |from: Node, to: Node, (_, there, back, delay, other): ((u32, u32), usize, usize, u64, u64)| {
                    let rate =
                        |nth: usize| BitRate::from_bps(RATES[if is_even { 1 } else { nth }]).expect("it is above 0");
                    wiring.cable(from, to, LinkConfig { rate: rate(0), delay: Span::ZERO });
                    changes.push((from, to, rate(there), Span::from_ps(delay), rate(back), Span::from_ps(other)));
                };
            let any_switch = |nth: u32| switch[nth as usize % switch.len()];
            for nth in 1..switches {
                let cable = draw();
                lay(any_switch(nth), any_switch(cable.0.0 % nth), cable);
            }
            for host in 0..hosts {
                let cable = draw();
                lay(Node::Host(HostId(host)), any_switch(cable.0.0), cable);
            }
            for _ in 0..nics {
                let cable = draw();
                lay(Node::Host(HostId(cable.0.1 % hosts)), any_switch(cable.0.0), cable);
            }
            for _ in 0..more {
                let cable = draw();
                let (from, to) = (any_switch(cable.0.0), any_switch(cable.0.1));
                if from != to {
                    lay(from, to, cable);
                }
            }
            let mut network = Network::new(wiring, None, None).expect("it is small");
            let mut used = FxHashSet::default();
            for (from, to, there, delay, back, other) in changes {
                let joins = |&port: &PortId| network.ports()[port].peer == to && !used.contains(&port);
                let port = network.ports_of(from).map(PortId).find(joins).expect("there is a cable");
                let reverse = network.ports()[port].reverse;
                used.extend([port, reverse]);
                network.change_link(port, Some(there), Some(delay));
                network.change_link(reverse, Some(back), Some(other));
            }
            let cost = if by_rate { Cost::InverseRate } else { Cost::Hops };
            network.route_by(&NetworkConfig { cost, ..NetworkConfig::default() }).expect("its ways are few");
            network
        },
    )
}

/// All paths of the router from one host to another.
pub(crate) fn paths(network: &Network, src: HostId, dst: HostId) -> Vec<Route> {
    let (mut found, mut open) = (Vec::new(), vec![(Node::Host(src), Route::default())]);
    let mut ports = Vec::new();
    while let Some((at, path)) = open.pop() {
        if at == Node::Host(dst) {
            found.push(path);
            continue;
        }
        next_ports(network, network.router(), at, src, dst, &mut ports);
        for &port in &ports {
            let spec = &network.ports()[port];
            let mut path = path.clone();
            path.links.push(Hop { rate: spec.rate, delay: spec.delay });
            open.push((spec.peer, path));
        }
    }
    found
}

/// All paths over any links that pass no node twice.
fn simple_paths(network: &Network, src: HostId, dst: HostId) -> Vec<Vec<PortId>> {
    let (mut found, mut open) = (Vec::new(), vec![(vec![Node::Host(src)], Vec::new())]);
    while let Some((nodes, path)) = open.pop() {
        let at = *nodes.last().expect("it begins somewhere");
        if at == Node::Host(dst) {
            found.push(path);
        } else if path.is_empty() || matches!(at, Node::Switch(_)) {
            for port in network.ports_of(at).map(PortId) {
                let peer = network.ports()[port].peer;
                if !nodes.contains(&peer) {
                    let nodes = nodes.iter().copied().chain([peer]).collect();
                    open.push((nodes, path.iter().copied().chain([port]).collect()));
                }
            }
        }
    }
    found
}

fn route(network: &Network, path: &[PortId]) -> Route {
    let hop = |&port: &PortId| Hop { rate: network.ports()[port].rate, delay: network.ports()[port].delay };
    Route { links: path.iter().map(hop).collect() }
}

fn wire_sizes(size: u64) -> Vec<u64> {
    let full = (size - 1) / MSS_BYTES;
    (0..full).map(|_| MTU_BYTES).chain([size - full * MSS_BYTES + HEADER_BYTES]).collect()
}

/// The recursion: every packet on every link of a path.
fn followed(path: &Route, size: u64) -> Span {
    let mut left = vec![Span::ZERO; path.links.len() + 1];
    for bytes in wire_sizes(size) {
        left[0] = Span::ZERO;
        for (i, link) in path.links.iter().enumerate() {
            left[i + 1] = left[i].max(left[i + 1]) + link.rate.tx_time(bytes);
        }
    }
    left[path.links.len()] + path.delay()
}

/// When the last packet arrives if each of them takes a path of its own, by its number, and each link sends what has
/// come first. Packets leave a host in order, on each of its links by itself.
fn scattered(network: &Network, paths: &[Vec<PortId>], size: u64, of: impl Fn(usize) -> usize) -> Span {
    let sizes = wire_sizes(size);
    let mut free: FxHashMap<PortId, Span> = FxHashMap::default();
    let mut arrivals: BinaryHeap<Reverse<(Span, usize, usize)>> =
        (0..sizes.len()).map(|nth| Reverse((Span::ZERO, nth, 0))).collect();
    let mut last = Span::ZERO;
    while let Some(Reverse((at, nth, hop))) = arrivals.pop() {
        let Some(&port) = paths[of(nth)].get(hop) else {
            last = last.max(at);
            continue;
        };
        let spec = &network.ports()[port];
        let free = free.entry(port).or_default();
        *free = (*free).max(at) + spec.rate.tx_time(sizes[nth]);
        arrivals.push(Reverse((*free + spec.delay, nth, hop + 1)));
    }
    last
}

fn any_size() -> impl Strategy<Value = u64> {
    prop_oneof![1u64..5_000, 1u64..100_000, (1u64..40).prop_map(|n| n * MSS_BYTES)]
}

/// The network with its links the other way round: what went out comes back.
fn mirrored(network: &Network) -> Network {
    let mut mirror = network.clone();
    for (port, spec) in network.ports().iter_enumerated() {
        let back = &network.ports()[spec.reverse];
        mirror.change_link(port, Some(back.rate), Some(back.delay));
    }
    mirror
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_ideal_is_that_of_the_quickest_of_all_paths(network in networks(), size in any_size(), headers in (0u64..2, 0u64..2)) {
        let mut quickest = Quickest::new(&network);
        let beside = Headers { forward: headers.0, back: headers.1 };
        let pairs = (0..network.hosts()).flat_map(|src| (0..network.hosts()).map(move |dst| (HostId(src), HostId(dst))));
        for (src, dst) in pairs.filter(|(src, dst)| src != dst) {
            let all = paths(&network, src, dst);
            let time = |path: &Route| followed(path, size) + path.packet_time(HEADER_BYTES) * beside.forward;
            let back = paths(&network, dst, src).iter().map(|path| path.packet_time(HEADER_BYTES)).min().unwrap();
            let least = all.iter().map(time).min().unwrap() + back * beside.back;
            prop_assert_eq!(quickest.ideal(src, dst, size, beside), least);
            // And without what is kept from flow to flow.
            let next = |at: Node, ports: &mut Vec<PortId>| next_ports(&network, network.router(), at, src, dst, ports);
            let searched = quickest.search(src, dst, size, beside.forward, next, |_, _| true);
            prop_assert_eq!(searched, Some(all.iter().map(time).min().unwrap()));
            let mut found = Route::default();
            quickest.route_into(src, dst, &mut found);
            prop_assert_eq!(
                found.packet_time(MTU_BYTES),
                all.iter().map(|path| path.packet_time(MTU_BYTES)).min().unwrap()
            );
            let slowest = quickest.slowest(network.router(), src, dst).unwrap().rtt;
            let longest = |paths: Vec<Route>, bytes| paths.iter().map(|path| path.packet_time(bytes)).max().unwrap();
            prop_assert_eq!(slowest, longest(all, MTU_BYTES) + longest(paths(&network, dst, src), HEADER_BYTES));
        }
    }

    /// Where no node has a choice between unequal paths, the first path stands for all.
    #[test]
    fn paths_of_a_network_without_unequal_ones_are_of_one_kind(network in networks()) {
        let mut kinds: FxHashSet<(u32, u32, Vec<Hop>)> = FxHashSet::default();
        let pairs = (0..network.hosts()).flat_map(|src| (0..network.hosts()).map(move |dst| (src, dst)));
        let pairs: Vec<(u32, u32)> = pairs.filter(|(src, dst)| src != dst).collect();
        for &(src, dst) in &pairs {
            kinds.extend(paths(&network, HostId(src), HostId(dst)).into_iter().map(|path| (src, dst, path.links)));
        }
        prop_assert!(network.has_unequal_ways() || kinds.len() == pairs.len());
        // The same network with links of one rate and delay, over the paths with the fewest links.
        let mut even = network.clone();
        network.ports().ids().for_each(|port| even.change_link(port, Some(BitRate::gbps(10)), Some(Span::ZERO)));
        even.extra = None;
        even.set_router(Router::Table(crate::route::RoutingTable::shortest_paths(&even.wired()).unwrap()));
        prop_assert!(even.has_links_of_one_kind() && !even.has_unequal_ways());
    }

    #[test]
    fn the_quickest_over_any_links_is_that_of_all_paths(network in networks(), size in any_size()) {
        let mut quickest = Quickest::new(&network);
        for (src, dst) in [(HostId(0), HostId(1)), (HostId(1), HostId(0))] {
            let most = quickest.ideal(src, dst, size, Headers::default());
            let all = simple_paths(&network, src, dst);
            let least = all.iter().map(|path| followed(&route(&network, path), size)).min().unwrap();
            prop_assert_eq!(quickest.ideal_over_any_links(src, dst, size, Headers::default(), most), most.min(least));
        }
    }

    #[test]
    fn no_flow_is_below_the_floor_however_its_packets_are_scattered(
        network in networks(),
        size in any_size(),
        turns in prop::collection::vec(any::<u32>(), 1..20),
    ) {
        let mut quickest = Quickest::new(&network);
        let none = Headers::default();
        for (src, dst) in [(HostId(0), HostId(1)), (HostId(1), HostId(0))] {
            let all = simple_paths(&network, src, dst);
            let (one, several) =
                (quickest.floor(src, dst, size, true, none), quickest.floor(src, dst, size, false, none));
            let took = scattered(&network, &all, size, |nth| turns[nth % turns.len()] as usize % all.len());
            prop_assert!(several <= took && several <= one, "{several} {one} {took}");
            for path in &all {
                prop_assert!(one <= followed(&route(&network, path), size));
            }
        }
    }

    /// The mirror image of a network has the same times in the other direction, wherever the router takes the links of
    /// one direction for those of the other.
    #[test]
    fn mirror_images_have_equal_ideals(network in networks(), size in any_size()) {
        let mirror = mirrored(&network);
        let (mut one, mut other) = (Quickest::new(&network), Quickest::new(&mirror));
        let (src, dst) = (HostId(0), HostId(1));
        let reversed = |paths: Vec<Vec<PortId>>, network: &Network| -> FxHashSet<Vec<PortId>> {
            paths.into_iter().map(|path| path.iter().rev().map(|&port| network.ports()[port].reverse).collect()).collect()
        };
        let taken = |network: &Network, src, dst| -> FxHashSet<Vec<PortId>> {
            let all = simple_paths(network, src, dst);
            let routes = paths(network, src, dst);
            all.into_iter().filter(|path| routes.contains(&route(network, path))).collect()
        };
        let (there, back) = (taken(&network, src, dst), taken(&mirror, dst, src));
        prop_assume!(reversed(back.into_iter().collect(), &mirror) == there);
        // The order of the links matters to a short last packet alone: a path and its mirror image take the same time
        // for whole packets.
        let size = size.div_ceil(MSS_BYTES) * MSS_BYTES;
        let none = Headers::default();
        prop_assert_eq!(one.ideal(src, dst, size, none), other.ideal(dst, src, size, none));
        prop_assert_eq!(one.floor(src, dst, size, true, none), other.floor(dst, src, size, true, none));
    }

    #[test]
    fn a_spread_flow_takes_what_the_best_split_does(
        links in prop::collection::vec((0..RATES.len(), 0u64..9_000_000), 1..4),
        size in 1u64..20_000,
    ) {
        let mut spread = Spread::new(size);
        let full = (size - 1) / MSS_BYTES;
        let last = size - full * MSS_BYTES + HEADER_BYTES;
        let rate = |nth: usize| BitRate::from_bps(RATES[nth]).unwrap();
        for &(nth, elsewhere) in &links {
            spread.add(rate(nth), |bytes| Some(Span::from_ps(elsewhere + bytes)));
        }
        // All splits: so many full packets on each link, and the last one on one of them.
        let mut splits: Vec<Vec<u64>> = vec![vec![]];
        for _ in &links {
            splits = splits.into_iter().flat_map(|split| (0..=full).map(move |n| [&split[..], &[n]].concat())).collect();
        }
        let mut best = NEVER;
        for split in splits.into_iter().filter(|split| split.iter().sum::<u64>() == full) {
            for with_last in 0..links.len() {
                let time = |(nth, &(link, elsewhere)): (usize, &(usize, u64))| {
                    let own = rate(link).tx_time(MTU_BYTES) * split[nth];
                    let tails = [elsewhere + MTU_BYTES, elsewhere + last].map(Span::from_ps);
                    match (nth == with_last, split[nth]) {
                        (false, 0) => Span::ZERO,
                        (false, _) => own + tails[0],
                        (true, 0) => rate(link).tx_time(last) + tails[1],
                        (true, _) => own + rate(link).tx_time(last) + tails[0].min(tails[1]),
                    }
                };
                best = best.min(links.iter().enumerate().map(time).max().unwrap());
            }
        }
        prop_assert_eq!(spread.least(), best);
    }
}

/// A line of switches with two links between each two, the one fast and far and the other slow and near: the paths are
/// too many to be kept, and flows are followed through them.
#[test]
fn many_paths_are_searched() {
    let hop = |gbps, us| LinkConfig { rate: BitRate::gbps(gbps), delay: Span::from_us(us) };
    let mut wiring = Wiring::new(2, Span::ZERO);
    let tier = wiring.tier("switch");
    let switches: Vec<Node> = (0..12).map(|nth| Node::Switch(wiring.switch(format!("switch{nth}"), tier))).collect();
    wiring.cable(Node::Host(HostId(0)), switches[0], hop(100, 1));
    wiring.cable(Node::Host(HostId(1)), switches[11], hop(100, 1));
    for (nth, pair) in switches.windows(2).enumerate() {
        wiring.cable(pair[0], pair[1], hop(100, 10 + nth as u64));
        wiring.cable(pair[0], pair[1], hop(1 + nth as u64, 1));
    }
    let network = Network::new(wiring, None, None).unwrap();
    let mut quickest = Quickest::new(&network);
    let (src, dst) = (HostId(0), HostId(1));
    let all = paths(&network, src, dst);
    assert_eq!(all.len(), 1 << 11);
    assert!(!quickest.each(src, dst, &mut |_| {}), "they are too many");
    for size in [1, 1460, 1461, 14_600, 1_000_001] {
        let least = all.iter().map(|path| path.ideal_fct(size)).min().unwrap();
        assert_eq!(quickest.ideal(src, dst, size, Headers::default()), least);
        let floor = quickest.floor(src, dst, size, true, Headers::default());
        assert!(floor <= least);
    }
    let least = all.iter().map(|path| path.packet_time(MTU_BYTES)).min().unwrap();
    assert_eq!(network.route(src, dst).packet_time(MTU_BYTES), least);
}

/// Two paths of four links that begin alike: which one is the quicker depends on the size.
#[test]
fn the_quickest_path_depends_on_the_size() {
    let hop = |gbps, us| LinkConfig { rate: BitRate::gbps(gbps), delay: Span::from_us(us) };
    let mut wiring = Wiring::new(2, Span::ZERO);
    let tier = wiring.tier("switch");
    let [a, s, t, b] = ["a", "s", "t", "b"].map(|name| Node::Switch(wiring.switch(name.to_owned(), tier)));
    wiring.cable(Node::Host(HostId(0)), a, hop(10, 1));
    wiring.cable(Node::Host(HostId(1)), b, hop(10, 1));
    wiring.cable(a, s, hop(10, 1));
    wiring.cable(a, t, hop(10, 1));
    wiring.cable(s, b, hop(10, 50));
    wiring.cable(t, b, hop(1, 1));
    let network = Network::new(wiring, None, None).unwrap();
    assert!(network.is_irregular(), "they end differently");
    let mut quickest = Quickest::new(&network);
    let mut ideal = |size| quickest.ideal(HostId(0), HostId(1), size, Headers::default());
    // 4 us, 3 x 1.2 us and 12 us; 53 us and 4 + 99 transmissions of 1.2 us.
    assert_eq!(ideal(1460), "19.6us".parse().unwrap());
    assert_eq!(ideal(146_000), "176.6us".parse().unwrap());
}
