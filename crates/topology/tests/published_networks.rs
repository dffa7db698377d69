//! The networks of the literature: sizes, ratios and idle times against the printed or hand-computed ones.

use std::collections::BTreeSet;

use tailcut_base::{BitRate, HostId, Id, MTU_BYTES, PortId, Span, SwitchId};
use tailcut_model::Files;
use tailcut_topology::generate::{dumbbell, leaf_spine, single_bottleneck, star};
use tailcut_topology::{LinkConfig, Network, Node, TopologyConfig};

const NO_DELAY: Span = Span::ZERO;

fn link(rate: &str, delay: &str) -> LinkConfig {
    LinkConfig { rate: rate.parse().unwrap(), delay: delay.parse().unwrap() }
}

fn leaf_spine(sizes: [u32; 3], host_link: LinkConfig, core_link: LinkConfig) -> Network {
    let [leaves, hosts_per_leaf, spines] = sizes;
    TopologyConfig::LeafSpine(leaf_spine::Config {
        leaves,
        hosts_per_leaf,
        spines,
        host_link,
        core_link,
        switch_delay: NO_DELAY,
    })
    .build(&Files::default())
    .unwrap()
}

fn slytherin() -> Network {
    leaf_spine([20, 20, 10], link("10Gbps", "10us"), link("10Gbps", "10us"))
}

fn superways() -> Network {
    leaf_spine([20, 20, 10], link("10Gbps", "10us"), link("40Gbps", "10us"))
}

fn spq() -> Network {
    leaf_spine([9, 16, 4], link("10Gbps", "20.2us"), link("40Gbps", "0.2us"))
}

fn spq_oversubscribed() -> Network {
    leaf_spine([3, 48, 4], link("10Gbps", "20.2us"), link("40Gbps", "0.2us"))
}

/// Switches in a line with this many hosts on each.
fn line(hosts: &[u32]) -> Network {
    let last = hosts.len() - 1;
    TopologyConfig::Dumbbell(dumbbell::Config {
        left_hosts: hosts[0],
        right_hosts: hosts[last],
        switches_in_line: hosts.len() as u32,
        hosts_per_middle_switch: if hosts.len() > 2 { hosts[1] } else { 0 },
        host_link: link("10Gbps", "13.333us"),
        core_link: link("10Gbps", "13.333us"),
        switch_delay: NO_DELAY,
    })
    .build(&Files::default())
    .unwrap()
}

fn incast(senders: u32) -> Network {
    TopologyConfig::SingleBottleneck(single_bottleneck::Config {
        senders,
        host_link: link("10Gbps", "1us"),
        receiver_link: Some(link("1Gbps", "2us")),
        switch_delay: "25us".parse().unwrap(),
    })
    .build(&Files::default())
    .unwrap()
}

fn star(hosts: u32) -> Network {
    let config = star::Config { hosts, host_link: link("10Gbps", "1us"), switch_delay: NO_DELAY };
    TopologyConfig::Star(config).build(&Files::default()).unwrap()
}

fn all() -> Vec<Network> {
    vec![
        slytherin(),
        superways(),
        spq(),
        spq_oversubscribed(),
        line(&[2, 2]),
        line(&[1, 1, 2]),
        line(&[3, 0, 0, 0, 2]),
        incast(5),
        star(7),
    ]
}

fn us(text: &str) -> Span {
    format!("{text}us").parse().unwrap()
}

/// Links, counted once for both directions.
fn links_between(network: &Network, is_wanted: impl Fn(Node, Node) -> bool) -> usize {
    network.ports().iter().filter(|port| port.owner < port.peer && is_wanted(port.owner, port.peer)).count()
}

fn host_links(network: &Network) -> usize {
    links_between(network, |owner, _| matches!(owner, Node::Host(_)))
}

fn core_links(network: &Network) -> usize {
    links_between(network, |owner, peer| matches!((owner, peer), (Node::Switch(_), Node::Switch(_))))
}

fn ways(network: &Network, src: HostId, dst: HostId) -> u32 {
    network.router().next_hops(network.switch_of_rack(network.rack_of(src)), dst).count
}

/// Delay, and completion of one full packet, between the first host and the last and between the first two.
fn idle_packet(network: &Network) -> [Span; 2] {
    let last = HostId(network.hosts() - 1);
    [network.route(HostId(0), last).ideal_fct(1460), network.route(HostId(0), HostId(1)).ideal_fct(1460)]
}

fn round_trips(network: &Network) -> [Span; 2] {
    let last = HostId(network.hosts() - 1);
    [network.route(HostId(0), last).delay() * 2, network.rtt(HostId(0), last)]
}

fn close(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 1e-12
}

#[test]
fn the_network_of_slytherin() {
    let network = slytherin();
    assert_eq!((network.hosts(), network.switches().len(), network.racks()), (400, 30, 20));
    assert_eq!((host_links(&network), core_links(&network)), (400, 200));
    assert_eq!(network.oversubscription(), Some(2.0));
    // All hosts together offer 4 Tb/s, the uplinks carry half of it.
    assert_eq!(network.uplink_capacity_bps(), Some(2_000_000_000_000));
    assert_eq!(u64::from(network.hosts()) * network.host_link().as_bps(), 4_000_000_000_000);
    assert!(close(network.share_leaving_rack(), 380.0 / 399.0));
    assert_eq!(ways(&network, HostId(0), HostId(399)), 10);
    assert_eq!(ways(&network, HostId(0), HostId(19)), 1);
    assert_eq!(idle_packet(&network), [us("44.8"), us("22.4")]);
    // 80 us; with 4 x 1.2 us of data and 4 x 0.032 us of ACK, 84.9 us.
    assert_eq!(round_trips(&network), [us("80"), us("84.928")]);
}

#[test]
fn the_network_of_superways() {
    let network = superways();
    assert_eq!((host_links(&network), core_links(&network)), (400, 200));
    assert_eq!(network.oversubscription(), Some(0.5));
    assert_eq!(network.uplink_capacity_bps(), Some(8_000_000_000_000));
    assert_eq!(ways(&network, HostId(0), HostId(399)), 10);
    // 2 x 1.2 us and 2 x 0.3 us of data, 2 x 0.032 us and 2 x 0.008 us of ACK: 83.1 us.
    assert_eq!(round_trips(&network), [us("80"), us("83.08")]);
    assert_eq!(idle_packet(&network), [us("43"), us("22.4")]);
}

#[test]
fn the_network_of_spq() {
    let network = spq();
    assert_eq!((network.hosts(), network.switches().len(), network.racks()), (144, 13, 9));
    assert_eq!((host_links(&network), core_links(&network)), (144, 36));
    assert_eq!(network.oversubscription(), Some(1.0));
    assert!(close(network.share_leaving_rack(), 128.0 / 143.0));
    assert_eq!(ways(&network, HostId(0), HostId(143)), 4);
    assert_eq!(idle_packet(&network), [us("43.8"), us("42.8")]);
    assert_eq!(round_trips(&network), [us("81.6"), us("84.68")]);
    // The initial window of the scripts is the product of bandwidth and this round trip: 70 packets.
    let bdp_bytes = network.host_link().as_bps() as f64 / 8.0 * network.rtt(HostId(0), HostId(143)).as_secs_f64();
    assert_eq!((bdp_bytes / MTU_BYTES as f64).floor(), 70.0);
}

#[test]
fn the_oversubscribed_network_of_spq() {
    let network = spq_oversubscribed();
    assert_eq!((network.hosts(), network.switches().len(), network.racks()), (144, 7, 3));
    assert_eq!((host_links(&network), core_links(&network)), (144, 12));
    assert_eq!(network.oversubscription(), Some(3.0));
    assert!(close(network.share_leaving_rack(), 96.0 / 143.0));
    assert_eq!(ways(&network, HostId(0), HostId(143)), 4);
    assert_eq!(idle_packet(&network), [us("43.8"), us("42.8")]);
    // Load of the uplinks over load of the hosts: 0.9 at the hosts would be 1.81 at the core.
    let hosts_bps = f64::from(network.hosts()) * network.host_link().as_bps() as f64;
    let core_per_edge = network.share_leaving_rack() * hosts_bps / network.uplink_capacity_bps().unwrap() as f64;
    assert_eq!((core_per_edge * 1000.0).round(), 2014.0);
    assert_eq!((0.9 * core_per_edge * 100.0).round(), 181.0);
    assert_eq!((0.9 / core_per_edge * 1000.0).round(), 447.0);
}

#[test]
fn the_dumbbell_of_the_convergence_test() {
    let network = line(&[2, 2]);
    assert_eq!((network.hosts(), network.switches().len(), network.racks()), (4, 2, 2));
    assert_eq!((host_links(&network), core_links(&network)), (4, 1));
    assert_eq!(network.uplink_capacity_bps(), Some(10_000_000_000));
    assert_eq!(network.oversubscription(), Some(2.0));
    let [without_packets, _] = round_trips(&network);
    assert_eq!(without_packets, us("79.998"));
    // A and B to C and D share the one link between the switches.
    for (src, dst) in [(0, 2), (0, 3), (1, 2), (1, 3)] {
        assert_eq!(network.route(HostId(src), HostId(dst)).links.len(), 3);
        assert_eq!(ways(&network, HostId(src), HostId(dst)), 1);
    }
}

#[test]
fn a_line_of_three_switches_has_two_bottlenecks() {
    let network = line(&[1, 1, 2]);
    assert_eq!((network.hosts(), network.switches().len(), network.racks()), (4, 3, 3));
    assert_eq!((host_links(&network), core_links(&network)), (4, 2));
    assert_eq!(network.uplink_capacity_bps(), Some(10_000_000_000));
    let racks: Vec<u32> = (0..4).map(|host| network.rack_of(HostId(host))).collect();
    assert_eq!(racks, [0, 1, 2, 2]);
    // A crosses both links, B the second one only.
    assert_eq!(network.route(HostId(0), HostId(2)).links.len(), 4);
    assert_eq!(network.route(HostId(1), HostId(3)).links.len(), 3);
    // Two links leave the middle switch for one host; the last switch has two hosts for one link.
    assert_eq!(network.oversubscription(), Some(2.0));
}

#[test]
fn a_line_may_pass_switches_without_hosts() {
    let network = line(&[3, 0, 0, 0, 2]);
    assert_eq!((network.hosts(), network.switches().len(), network.racks()), (5, 5, 2));
    let tiers: Vec<&str> = network.switches().iter().map(|switch| network.tier_name(switch.tier)).collect();
    assert_eq!(tiers, ["leaf", "spine", "spine", "spine", "leaf"]);
    assert_eq!(network.route(HostId(0), HostId(4)).links.len(), 6);
}

#[test]
fn a_single_bottleneck_is_the_receivers_link() {
    let network = incast(5);
    assert_eq!((network.hosts(), network.switches().len(), network.racks()), (6, 1, 1));
    assert_eq!((network.uplink_capacity_bps(), network.oversubscription()), (None, None));
    assert_eq!(network.share_leaving_rack(), 0.0);
    assert_eq!(network.host_link(), BitRate::gbps(10));
    // The switch holds a packet for 25 us; the receiver does not.
    let route = network.route(HostId(3), HostId(5));
    assert_eq!(route.delay(), us("28"));
    assert_eq!(route.ideal_fct(1460), us("41.2"));
}

#[test]
fn ports_are_numbered_hosts_first_and_then_switch_by_switch() {
    let network = spq_oversubscribed();
    let name = |port| network.port_name(PortId(port)).to_string();
    assert_eq!((name(0), name(143)), ("host0->leaf0".to_owned(), "host143->leaf2".to_owned()));
    assert_eq!(network.switch_ports(SwitchId(0)), 144..144 + 52);
    assert_eq!((name(144), name(191)), ("leaf0->host0".to_owned(), "leaf0->host47".to_owned()));
    assert_eq!((name(192), name(195)), ("leaf0->spine0".to_owned(), "leaf0->spine3".to_owned()));
    let spine = network.switch_ports(SwitchId(4));
    assert_eq!(spine.len(), 3);
    assert_eq!(spine.map(name).collect::<Vec<_>>(), ["spine1->leaf0", "spine1->leaf1", "spine1->leaf2"]);
    let uplinks: Vec<u32> = network.uplinks_of_rack(1).map(|port| port.0).collect();
    assert_eq!(uplinks, [244, 245, 246, 247]);
    let hosts: Vec<u32> = network.hosts_of_rack(1).map(|host| host.0).collect();
    assert_eq!(hosts, (48..96).collect::<Vec<_>>());
}

#[test]
fn both_directions_of_a_link_mirror_each_other() {
    for network in all() {
        let mut next = network.hosts();
        for switch in network.switches().ids() {
            let ports = network.switch_ports(switch);
            assert_eq!(ports.start, next, "ports of switches follow each other");
            next = ports.end;
            assert!(ports.map(PortId).all(|port| network.ports()[port].owner == Node::Switch(switch)));
        }
        assert_eq!(next as usize, network.ports().len());
        for (id, port) in network.ports().iter_enumerated() {
            let back = network.ports()[port.reverse];
            assert_eq!((back.reverse, back.owner, back.peer), (id, port.peer, port.owner));
            assert_eq!(back.rate, port.rate);
        }
        for host in (0..network.hosts()).map(HostId) {
            let nic = network.ports()[network.nic(host)];
            assert_eq!(nic.owner, Node::Host(host));
            assert_eq!(nic.peer, Node::Switch(network.switch_of_rack(network.rack_of(host))));
        }
        let names: BTreeSet<String> = network.ports().ids().map(|port| network.port_name(port).to_string()).collect();
        assert_eq!(names.len(), network.ports().len());
    }
}

/// Links between each switch and the switch of `dst`, by relaxation until nothing changes.
fn distances_to(network: &Network, dst: HostId) -> Vec<u32> {
    const FAR: u32 = 1 << 20;
    let mut distance = vec![FAR; network.switches().len()];
    distance[network.switch_of_rack(network.rack_of(dst)).index()] = 0;
    loop {
        let before = distance.clone();
        for port in network.ports().iter() {
            if let (Node::Switch(owner), Node::Switch(peer)) = (port.owner, port.peer) {
                distance[owner.index()] = distance[owner.index()].min(distance[peer.index()] + 1);
            }
        }
        if distance == before {
            assert!(distance.iter().all(|&links| links < FAR), "some switch is cut off");
            return distance;
        }
    }
}

/// Every alternative at every switch leads one step nearer, and there is no other port that does: so all ways end, none
/// has a loop, all are shortest, and none is missing.
#[test]
fn next_hops_are_all_ports_that_lead_nearer() {
    for network in all() {
        for dst in (0..network.hosts()).step_by(7).chain([network.hosts() - 1]).map(HostId) {
            let distance = distances_to(&network, dst);
            for at in network.switches().ids() {
                let hops = network.router().next_hops(at, dst);
                assert_eq!(hops.destination, network.rack_of(dst));
                let given: Vec<PortId> = (0..hops.count).map(|i| network.router().port(hops, i)).collect();
                let leads_nearer = |port: &PortId| match network.ports()[*port].peer {
                    Node::Host(host) => host == dst,
                    Node::Switch(peer) => distance[peer.index()] + 1 == distance[at.index()],
                };
                let expected: Vec<PortId> = network.switch_ports(at).map(PortId).filter(leads_nearer).collect();
                assert_eq!(given, expected, "{at:?} to {dst:?}");
            }
        }
    }
}

#[test]
fn every_host_reaches_every_other_by_the_shortest_route() {
    for network in all() {
        for dst in (0..network.hosts()).step_by(5).map(HostId) {
            let distance = distances_to(&network, dst);
            for src in (0..network.hosts()).map(HostId).filter(|&src| src != dst) {
                let at = network.switch_of_rack(network.rack_of(src));
                assert_eq!(network.route(src, dst).links.len() as u32, distance[at.index()] + 2);
            }
        }
    }
}

#[test]
fn processing_is_charged_at_switches_only() {
    let mut config = leaf_spine::Config {
        leaves: 2,
        hosts_per_leaf: 2,
        spines: 2,
        host_link: link("1Gbps", "0.1us"),
        core_link: link("1Gbps", "0.1us"),
        switch_delay: NO_DELAY,
    };
    let without = TopologyConfig::LeafSpine(config.clone()).build(&Files::default()).unwrap();
    config.switch_delay = us("25");
    let with = TopologyConfig::LeafSpine(config).build(&Files::default()).unwrap();
    for (before, after) in without.ports().iter().zip(with.ports().iter()) {
        let extra = if matches!(after.peer, Node::Switch(_)) { us("25") } else { Span::ZERO };
        assert_eq!(after.delay, before.delay + extra);
    }
    let delay = |network: &Network| network.route(HostId(0), HostId(3)).delay();
    assert_eq!(delay(&with), delay(&without) + us("75"));
}

/// All pairs of hosts would be 4·10^9 entries, all pairs of switches 10^6.
#[test]
fn a_network_of_65536_hosts_holds_its_ports_and_little_else() {
    let network = leaf_spine([1024, 64, 64], link("100Gbps", "1us"), link("400Gbps", "1us"));
    assert_eq!(network.hosts(), 65_536);
    assert_eq!(network.ports().len(), 2 * (65_536 + 65_536));
    assert!(network.router().heap_bytes() + size_of_val(network.router()) < 1_000_000);
    let beside_ports = network.heap_bytes() - network.ports().heap_bytes();
    assert!(beside_ports < 100_000, "{beside_ports} bytes");
    assert!(network.ports().heap_bytes() <= 48 * network.ports().len());
    for (src, dst) in [(0, 65_535), (65_535, 0), (31_000, 64), (63, 64)] {
        assert_eq!(network.route(HostId(src), HostId(dst)).links.len(), 4);
    }
}
