//! All pairs of hosts, one by one.

use proptest::prelude::*;
use tailcut_model::Files;

use super::*;
use crate::generate::TopologyConfig;
use crate::quickest::Quickest;
use crate::quickest::tests::{networks_of, paths};
use crate::{Address, Aggregation, ExtraLinks, NetworkConfig, StaticRoute};

/// The rate at which the first link is full that equal parts of what one host sends to another cross.
fn spread(network: &Network, src: HostId, dst: HostId) -> u64 {
    let (mut shares, mut open, mut ports) = (BTreeMap::<PortId, f64>::new(), vec![(Node::Host(src), 1.0)], Vec::new());
    while let Some((at, share)) = open.pop() {
        if at == Node::Host(dst) {
            continue;
        }
        next_ports(network, network.router(), at, src, dst, &mut ports);
        // A host has a message leave by one link.
        let parts = if matches!(at, Node::Host(_)) { 1.0 } else { ports.len() as f64 };
        for &port in &ports {
            *shares.entry(port).or_default() += share / parts;
            open.push((network.ports()[port].peer, share / parts));
        }
    }
    shares
        .iter()
        .map(|(&port, share)| (network.ports()[port].rate.as_bps() as f64 / share).floor() as u64)
        .min()
        .unwrap()
}

/// The values of [`Longest`], by comparing all pairs.
fn oracle(network: &Network) -> Longest {
    let mut quickest = Quickest::new(network);
    let mut found = Found::NONE;
    let hosts = || (0..network.hosts()).map(HostId);
    for (a, b) in hosts().flat_map(|a| hosts().map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let paths = paths(network, a, b);
        let slowest = |path: &crate::Route| path.links.iter().map(|link| link.rate.as_bps()).min().unwrap();
        let best = paths.iter().min_by_key(|path| (path.packet_time(MTU_BYTES), u64::MAX - slowest(path))).unwrap();
        let rest = Rest {
            kept: slowest(best),
            spread: spread(network, a, b),
            slowest: paths.iter().map(slowest).min().unwrap(),
            ..Rest::NONE
        };
        found.pair(quickest.rtt(a, b), best.links.len() as u8, u64::MAX, &rest);
    }
    let rate = |bps: u64| BitRate::from_bps(bps).unwrap();
    let [kept, spread] = found.rates.map(|((bps, rtt), fastest, slowest)| PathRates {
        largest: (rate(bps), rtt),
        fastest: rate(fastest),
        slowest: rate(slowest),
    });
    Longest { rtt: found.rtt, hops: found.hops, kept, spread, is_exact: true }
}

/// Checks a network against the oracle. What packets on several paths carry is exact where all paths begin and end with
/// a link of the hosts that no other path has.
fn assert_exact(network: &Network) {
    let (found, oracle) = (network.longest(), oracle(network));
    assert_eq!(Longest { spread: oracle.spread, ..found }, oracle);
    let product = |(rate, rtt): (BitRate, Span)| u128::from(rate.as_bps()) * u128::from(rtt.as_ps());
    assert!(product(found.spread.largest) >= product(oracle.spread.largest), "{found:?} {oracle:?}");
    assert!(found.spread.fastest >= oracle.spread.fastest, "{found:?} {oracle:?}");
    assert!(found.spread.slowest <= oracle.spread.slowest, "{found:?} {oracle:?}");
}

fn built(text: &str) -> Network {
    toml::from_str::<TopologyConfig>(text).unwrap().build(&Files::default()).unwrap()
}

const TOPOLOGIES: [&str; 9] = [
    "star = { hosts = 30, host_link = { rate = '10Gbps', delay = '1us' } }",
    "dumbbell = { left_hosts = 14, right_hosts = 13, switches_in_line = 3, hosts_per_middle_switch = 2, \
     host_link = { rate = '10Gbps', delay = '1us' }, core_link = { rate = '1Gbps', delay = '7us' } }",
    "leaf-spine = { leaves = 5, hosts_per_leaf = 6, spines = 3, host_link = { rate = '10Gbps', delay = '1us' }, \
     core_link = { rate = '40Gbps', delay = '2us' } }",
    "leaf-spine = { leaves = 3, hosts_per_leaf = 3, spines = 4, host_link = { rate = '100Gbps', delay = '1us' }, \
     core_link = { rate = '10Gbps', delay = '2us' }, switch_delay = '300ns' }",
    "fat-tree = { k = 4, hosts_per_edge = 4, host_link = { rate = '10Gbps', delay = '1us' }, \
     core_link = { rate = '40Gbps', delay = '3us' } }",
    "bcube = { n = 3, k = 2, host_link = { rate = '10Gbps', delay = '1us' } }",
    "subways = { racks = 5, hosts_per_rack = 6, ports = 2, spines = 2, host_link = { rate = '10Gbps', delay = '1us' }, \
     core_link = { rate = '40Gbps', delay = '2us' } }",
    "jellyfish = { switches = 12, hosts = 36, network_ports = 3, host_link = { rate = '10Gbps', delay = '1us' }, \
     core_link = { rate = '10Gbps', delay = '2us' } }",
    "single-bottleneck = { senders = 26, host_link = { rate = '40Gbps', delay = '1us' }, \
     receiver_link = { rate = '10Gbps', delay = '2us' } }",
];

#[test]
fn every_topology_is_as_its_pairs() {
    for text in TOPOLOGIES {
        let network = built(text);
        assert_exact(&network);
        if !text.contains("jellyfish") && !text.contains("bcube") {
            let spread = |longest: Longest| (longest.spread.largest, longest.spread.fastest);
            assert_eq!(spread(network.longest()), spread(oracle(&network)), "{text}");
        }
    }
}

/// 100 Gb/s and 10 us, host 3 at 10 Gb/s; a full packet and a header over two links, of 1,500 B and 40 B.
#[test]
fn a_product_is_that_of_one_pair() {
    let mut network = built("star = { hosts = 4, host_link = { rate = '100Gbps', delay = '10us' } }");
    for port in network.ports_named("switch0--host3") {
        network.change_link(port, BitRate::from_bps(10_000_000_000), None);
    }
    let longest = network.longest();
    // 40 us, and 1,500 B and 40 B at 100 Gb/s and at 10 Gb/s: 123.2 ns and 1,232 ns.
    let header = HEADER_BYTES * 8;
    assert_eq!(longest.rtt, Span::from_ps(40_000_000 + (12_000 + header) * 10 + (12_000 + header) * 100));
    let fast = Span::from_ps(40_000_000 + 2 * (12_000 + header) * 10);
    assert_eq!(longest.kept.largest, (BitRate::gbps(100), fast));
    assert_eq!((longest.kept.fastest, longest.kept.slowest), (BitRate::gbps(100), BitRate::gbps(10)));
}

/// The values for a network that has too many places to compare all pairs.
fn of_many(network: &Network) -> Longest {
    let mut finder = Finder { most_work: 0, ..Finder::new(network) };
    let is_exact = finder.find();
    finder.longest(is_exact)
}

#[test]
fn a_network_with_links_of_one_kind_is_exact_however_large() {
    let links = "host_link = { rate = '10Gbps', delay = '1us' }, core_link = { rate = '40Gbps', delay = '2us' }";
    let mut network = built(&format!("jellyfish = {{ switches = 80, hosts = 100, network_ports = 3, {links} }}"));
    assert_eq!(of_many(&network), Longest { spread: of_many(&network).spread, ..oracle(&network) });
    // Hosts of several kinds.
    for (host, us) in [(3, 9), (17, 4), (50, 9)] {
        for port in network.ports().ids().collect::<Vec<_>>() {
            if network.ports()[port].owner == Node::Host(HostId(host)) {
                network.change_link(port, BitRate::from_bps(1_000_000_000 * us), Some(Span::from_us(us)));
            }
        }
        assert_eq!(of_many(&network), Longest { spread: of_many(&network).spread, ..oracle(&network) });
    }
}

#[test]
fn static_routes_and_leaf_addresses_are_followed() {
    let text = "leaf-spine = { leaves = 4, hosts_per_leaf = 7, spines = 2, host_link = { rate = '10Gbps', delay = '1us' }, \
                core_link = { rate = '40Gbps', delay = '2us' } }";
    let extra = |address| NetworkConfig {
        address,
        extra_links: vec![ExtraLinks {
            hosts: vec![3, 9],
            switch: "spine0".to_owned(),
            links: 1,
            rate: BitRate::gbps(40),
            delay: Span::from_us(30),
            aggregation: Aggregation::Fat,
        }],
        ..NetworkConfig::default()
    };
    let route = |from, to, via: &str| StaticRoute { at: "spine0".to_owned(), from, to, via: via.to_owned() };
    for (address, static_routes) in [
        (Address::Host, vec![]),
        (Address::Leaf, vec![]),
        (Address::Host, vec![route(vec![20, 21, 27], 3, "leaf0"), route(vec![12, 20], 9, "leaf1")]),
    ] {
        let config = NetworkConfig { static_routes, ..extra(address) };
        let mut network = built(text).with_links(&config).unwrap();
        for port in network.ports_named("leaf3--spine1") {
            network.change_link(port, None, Some(Span::from_us(25)));
        }
        network.route_by(&config).unwrap();
        assert_exact(&network);
    }
}

/// Changes of links by number: a link, its rate in Gb/s and its delay in ns.
fn changed(text: &str, changes: &[(u32, u64, u64)]) -> Network {
    let mut network = built(text);
    for &(nth, gbps, ns) in changes {
        let port = PortId(nth % network.ports().len() as u32);
        network.change_link(port, Some(BitRate::gbps(gbps)), Some(Span::from_ps(ns * 1000)));
    }
    network
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    /// Few hosts and many, links of any rate and delay in each direction, several links of a host.
    #[test]
    fn any_network_is_as_its_pairs(network in networks_of(2..36)) {
        assert_exact(&network);
    }

    /// The bound of a network that is too large is never too low.
    #[test]
    fn a_bound_is_not_too_low(
        which in 0..TOPOLOGIES.len(),
        changes in prop::collection::vec((any::<u32>(), 1u64..100, 0u64..30_000), 0..6),
    ) {
        let network = changed(TOPOLOGIES[which], &changes);
        let (found, exact) = (of_many(&network), network.longest());
        prop_assert!(found.rtt >= exact.rtt && found.hops >= exact.hops, "{found:?} {exact:?}");
        prop_assert!(!found.is_exact || (found.rtt, found.kept) == (exact.rtt, exact.kept), "{found:?} {exact:?}");
        for (found, exact) in [(found.kept, exact.kept), (found.spread, exact.spread)] {
            let product = |(rate, rtt): (BitRate, Span)| u128::from(rate.as_bps()) * u128::from(rtt.as_ps());
            prop_assert!(product(found.largest) >= product(exact.largest) && found.slowest <= exact.slowest);
        }
    }

    /// Regular networks with some links that are not as the others.
    #[test]
    fn a_changed_topology_is_as_its_pairs(
        which in 0..TOPOLOGIES.len(),
        changes in prop::collection::vec((any::<u32>(), 1u64..100, 0u64..30_000), 0..6),
    ) {
        assert_exact(&changed(TOPOLOGIES[which], &changes));
    }

    /// Idle hosts beside one, with links like its own, change nothing if their switch had another like it before.
    #[test]
    fn idle_hosts_beside_a_host_change_nothing(
        more in 1u32..40,
        changes in prop::collection::vec((2u32..6, 1u64..100, 0u64..30_000), 0..5),
    ) {
        let star = |hosts: u32| {
            let mut network =
                built(&format!("star = {{ hosts = {hosts}, host_link = {{ rate = '10Gbps', delay = '1us' }} }}"));
            for &(host, gbps, ns) in &changes {
                for port in network.ports_named(&format!("switch0--host{host}")) {
                    network.change_link(port, Some(BitRate::gbps(gbps)), Some(Span::from_ps(ns * 1000)));
                }
            }
            network.longest()
        };
        prop_assert_eq!(star(8), star(8 + more));
    }
}
