//! Further links of hosts, other costs, and static routes: which ways there are then.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tailcut_base::{BitRate, HostId, PortId};
use tailcut_model::{Files, Invalid};
use tailcut_topology::{Network, NetworkConfig, Node, TopologyConfig};

/// 400 hosts, 20 leaves, 10 spines, 10 and 40 Gb/s, 10 us: the base of Superways (WWW 2021).
const LEAF_SPINE: &str = "leaf-spine = { leaves = 20, hosts_per_leaf = 20, spines = 10, \
     host_link = { rate = \"10Gbps\", delay = \"10us\" }, core_link = { rate = \"40Gbps\", delay = \"10us\" } }";

/// Host 19, the last of rack 0, at spine 0.
const ONE: &str = "[[extra_links]]\nhosts = [19]\nswitch = \"spine0\"\nrate = \"40Gbps\"\ndelay = \"10us\"\n";

fn base(topology: &str) -> Network {
    let config: TopologyConfig = toml::from_str(topology).unwrap_or_else(|error| panic!("{topology}: {error}"));
    config.build(&Files::default()).unwrap_or_else(|error| panic!("{topology}: {error}"))
}

fn try_network(topology: &str, extra: &str) -> Result<Network, Invalid> {
    let config: NetworkConfig = toml::from_str(extra).unwrap_or_else(|error| panic!("{extra}: {error}"));
    let mut network = base(topology).with_links(&config)?;
    network.route_by(&config)?;
    Ok(network)
}

fn network(topology: &str, extra: &str) -> Network {
    try_network(topology, extra).unwrap_or_else(|error| panic!("{extra}: {error}"))
}

fn next_hops(network: &Network, at: Node, src: HostId, dst: HostId) -> Vec<PortId> {
    let router = network.router();
    let hops = match at {
        Node::Host(host) => router.next_hops_of_host(host, dst),
        Node::Switch(switch) => router.next_hops_from(switch, src, dst),
    };
    (0..hops.count).map(|i| router.port(hops, i)).collect()
}

/// Every way from one host to another, as the names of its ports.
fn ways(network: &Network, src: u32, dst: u32) -> BTreeSet<Vec<String>> {
    let (src, dst) = (HostId(src), HostId(dst));
    let mut found = BTreeSet::new();
    let mut open = vec![(Node::Host(src), Vec::new())];
    while let Some((at, way)) = open.pop() {
        if at == Node::Host(dst) {
            found.insert(way);
            continue;
        }
        for port in next_hops(network, at, src, dst) {
            let way: Vec<String> = way.iter().cloned().chain([network.port_name(port).to_string()]).collect();
            open.push((network.ports()[port].peer, way));
        }
    }
    found
}

fn port(network: &Network, name: &str) -> PortId {
    let ports = network.ports_named(name);
    assert_eq!(ports.len(), 1, "{name}");
    ports[0]
}

#[test]
fn remote_senders_reach_a_server_with_a_further_link_by_three_links_instead_of_four() {
    let network = network(LEAF_SPINE, ONE);
    let links = |src, dst| network.route(HostId(src), HostId(dst)).links.len();
    for remote in [20, 39, 200, 399] {
        assert_eq!((links(remote, 19), links(remote, 18)), (3, 4));
        let leaf = remote / 20;
        let only =
            vec![format!("host{remote}->leaf{leaf}"), format!("leaf{leaf}->spine0"), "spine0->host19".to_owned()];
        assert_eq!(ways(&network, remote, 19), BTreeSet::from([only]));
        // What the server sends takes the same links back.
        let back =
            vec!["host19->spine0".to_owned(), format!("spine0->leaf{leaf}"), format!("leaf{leaf}->host{remote}")];
        assert_eq!(ways(&network, 19, remote), BTreeSet::from([back]));
        assert_eq!(ways(&network, remote, 18).len(), 10, "other hosts are reached over all spines");
    }
    // Senders of its own rack are nearer by the leaf.
    assert_eq!(ways(&network, 3, 19), BTreeSet::from([vec!["host3->leaf0".to_owned(), "leaf0->host19".to_owned()]]));
    // 30 us and 1.2 + 0.3 + 0.3 us, where the way over the leaf takes 40 us and 1.2 + 0.3 + 0.3 + 1.2 us.
    let ideal = |dst| network.route(HostId(399), HostId(dst)).ideal_fct(1460);
    assert_eq!((ideal(19), ideal(18)), ("31.8us".parse().unwrap(), "43us".parse().unwrap()));
    assert!(!network.is_irregular(), "two hosts have ways of one kind");
}

#[test]
fn racks_loads_and_names_stay_those_of_the_topology() {
    let (base, network) = (base(LEAF_SPINE), network(LEAF_SPINE, &ONE.replace("[19]", "[0, 19, 399]")));
    assert_eq!(network.ports().len(), base.ports().len() + 6);
    assert_eq!(network.host_link(), base.host_link());
    assert_eq!(network.uplink_capacity_bps(), base.uplink_capacity_bps());
    assert_eq!((network.oversubscription(), network.racks()), (base.oversubscription(), base.racks()));
    assert_eq!(network.share_leaving_rack(), base.share_leaving_rack());
    let hosts = || (0..400).map(HostId);
    assert!(hosts().all(|host| network.rack_of(host) == base.rack_of(host)));
    let of_rack = |network: &Network, rack| network.hosts_of_rack(rack).collect::<Vec<_>>();
    assert!((0..20).all(|rack| of_rack(&network, rack) == of_rack(&base, rack)));
    assert_eq!(network.hosts_with_extra_links().map(|host| host.0).collect::<Vec<_>>(), [0, 19, 399]);
    // Old ports have their links, and only new ones are said to be further ones.
    let links = |network: &Network, is_extra: bool| {
        let ports = network.ports().iter_enumerated();
        let ports = ports.filter(|(port, _)| network.extra_links(*port).is_some() == is_extra);
        ports.map(|(port, spec)| (network.port_name(port).to_string(), spec.rate, spec.delay)).collect::<Vec<_>>()
    };
    assert_eq!(links(&network, false), links(&base, false));
    assert_eq!(links(&network, true).len(), 6);
    for (port, spec) in network.ports().iter_enumerated() {
        let back = network.ports()[spec.reverse];
        assert_eq!((back.owner, back.peer, back.reverse), (spec.peer, spec.owner, port));
        assert!(network.ports_of(spec.owner).contains(&port.0));
    }
    assert_eq!(network.ports()[network.nic(HostId(19))].rate, BitRate::gbps(10), "the first link is the topology's");
}

#[test]
fn nothing_is_changed_by_an_empty_table() {
    for topology in [LEAF_SPINE, "fat-tree = { k = 4, host_link = { rate = \"1Gbps\", delay = \"1us\" } }"] {
        let (before, after) = (base(topology), network(topology, ""));
        // The ways are still computed, and nothing is stored for them.
        assert_eq!((before.router().heap_bytes(), after.router().heap_bytes()), (0, 0));
        assert_eq!(before.ports().len(), after.ports().len());
        assert!(before.ports().iter().eq(after.ports().iter()));
    }
}

#[test]
fn several_links_are_one_fat_port_or_ports_of_their_own() {
    let three = ONE.replace("rate =", "links = 3\nrate =");
    let fat = network(LEAF_SPINE, &three);
    let (down, up) = (port(&fat, "spine0->host19"), port(&fat, "host19->spine0"));
    for end in [down, up] {
        assert_eq!((fat.ports()[end].rate, fat.extra_links(end)), (BitRate::gbps(120), Some(3)));
    }
    let hashed = network(LEAF_SPINE, &format!("{three}aggregation = \"hash\"\n"));
    let ports = hashed.ports_named("spine0->host19");
    assert_eq!(ports.len(), 3);
    assert!(ports.iter().all(|&port| hashed.ports()[port].rate == BitRate::gbps(40)));
    assert!(ports.iter().all(|&port| hashed.extra_links(port) == Some(1)));
    let spine = hashed.switch_named("spine0").unwrap();
    assert_eq!(next_hops(&hashed, Node::Switch(spine), HostId(20), HostId(19)), ports);
    assert!(!hashed.is_irregular());
}

/// By OSPF's metric links of 10, 40 and 120 Gb/s cost 10, 2 and 1. In a leaf-spine with further links to spines the
/// ways are those with the fewest links; a further link to a leaf is another matter.
#[test]
fn costs_by_rate_are_those_of_ospf() {
    let one = network(LEAF_SPINE, &format!("cost = \"inverse-rate\"\n{ONE}"));
    assert_eq!(ways(&one, 20, 19), ways(&network(LEAF_SPINE, ONE), 20, 19));
    assert!(one.remarks().is_empty());
    // Host 19 at leaf 1 with 40 Gb/s: 2 from there, and by leaf 0 over a spine 2 + 2 + 10. From leaf 0 it is 10 by the
    // old link, and 2 + 2 + 2 over leaf 1.
    let to_leaf = ONE.replace("spine0", "leaf1");
    assert_eq!(ways(&network(LEAF_SPINE, &to_leaf), 0, 19).len(), 1);
    let around = ways(&network(LEAF_SPINE, &format!("cost = \"inverse-rate\"\n{to_leaf}")), 0, 19);
    assert_eq!(around.len(), 10, "over each spine");
    assert!(around.iter().all(|way| way.last().unwrap() == "leaf1->host19" && way.len() == 4));
    // Nothing to tell links apart: said, because it does nothing.
    let star = "star = { hosts = 3, host_link = { rate = \"10Gbps\", delay = \"1us\" } }";
    assert!(network(star, "cost = \"inverse-rate\"").remarks()[0].contains("it changes nothing"));
    assert!(network(star, "address = \"leaf\"").remarks()[0].contains("it changes nothing"));
}

/// The way over the leaf and the one over the further link end at the two ends of one link, and tie.
#[test]
fn an_address_at_the_leaf_leaves_a_small_part_to_the_further_link() {
    let network = network(LEAF_SPINE, &format!("address = \"leaf\"\n{ONE}"));
    let found = ways(&network, 399, 19);
    assert_eq!(found.len(), 11);
    let shortcut: Vec<&Vec<String>> = found.iter().filter(|way| way.len() == 3).collect();
    assert_eq!(
        shortcut,
        [&vec!["host399->leaf19".to_owned(), "leaf19->spine0".to_owned(), "spine0->host19".to_owned()]]
    );
    assert!(found.iter().all(|way| way.len() == 3 || way.last().unwrap() == "leaf0->host19"));
    // One spine of ten has the further link, and half of what comes there takes it.
    let spine = Node::Switch(network.switch_named("spine0").unwrap());
    assert_eq!(next_hops(&network, spine, HostId(399), HostId(19)).len(), 2);
    // The ideal is that of the quickest of them; what the server sends takes its own nearest link.
    assert!(network.is_irregular() && network.has_leaf_addresses());
    assert_eq!(network.route(HostId(399), HostId(19)).links.len(), 3);
    assert_eq!(ways(&network, 19, 399).len(), 1);
    assert_eq!(ways(&network, 0, 19), BTreeSet::from([vec!["host0->leaf0".to_owned(), "leaf0->host19".to_owned()]]));
    assert_eq!(ways(&network, 399, 18).len(), 10);
    // Without its link to the leaf the address is at the server alone.
    let dead = network.router_without(&network.ports_named("leaf0--host19")).unwrap();
    let leaf = network.switch_named("leaf19").unwrap();
    let hops = dead.next_hops(leaf, HostId(19));
    assert_eq!((hops.count, dead.port(hops, 0)), (1, port(&network, "leaf19->spine0")));
}

#[test]
fn static_routes_match_source_and_destination() {
    let routes = "[[static_routes]]\nat = \"spine0\"\nfrom = [399, 21]\nto = 19\nvia = \"leaf0\"\n\
                  [[static_routes]]\nat = \"leaf0\"\nfrom = [0]\nto = 19\nvia = \"spine0\"\n";
    let fixed = network(LEAF_SPINE, &format!("{ONE}{routes}"));
    let last = |src| ways(&fixed, src, 19).into_iter().map(|way| way[1..].join(" ")).collect::<Vec<_>>();
    assert_eq!(last(399), ["leaf19->spine0 spine0->leaf0 leaf0->host19"]);
    assert_eq!(last(398), ["leaf19->spine0 spine0->host19"], "another source");
    assert_eq!(last(0), ["leaf0->spine0 spine0->host19"]);
    assert_eq!(last(1), ["leaf0->host19"]);
    assert_eq!(ways(&fixed, 399, 18).len(), 10, "another destination");
    assert_eq!(fixed.route(HostId(399), HostId(19)).links.len(), 4);
    assert_eq!(fixed.route(HostId(0), HostId(19)).links.len(), 3);
    assert!(fixed.remarks().is_empty());
    // While no link leads to its neighbour, a route is not there.
    let dead = fixed.router_without(&fixed.ports_named("spine0->leaf0")).unwrap();
    let spine = fixed.switch_named("spine0").unwrap();
    let hops = dead.next_hops_from(spine, HostId(399), HostId(19));
    assert_eq!(dead.port(hops, 0), port(&fixed, "spine0->host19"));
    // Without further links too; here over one of ten spines.
    let plain = network(LEAF_SPINE, "[[static_routes]]\nat = \"leaf1\"\nfrom = [20]\nto = 0\nvia = \"spine7\"\n");
    assert_eq!((ways(&plain, 20, 0).len(), ways(&plain, 21, 0).len()), (1, 10));
    // One that no packet meets is said.
    let void = network(
        LEAF_SPINE,
        &format!("{ONE}[[static_routes]]\nat = \"spine3\"\nfrom = [20]\nto = 19\nvia = \"leaf0\"\n"),
    );
    assert!(void.remarks()[0].contains("changes nothing"), "{:?}", void.remarks());
}

#[test]
fn what_cannot_be_is_refused_at_its_key() {
    let route = |at: &str, from: &str, to: u32, via: &str| {
        format!("{ONE}[[static_routes]]\nat = \"{at}\"\nfrom = [{from}]\nto = {to}\nvia = \"{via}\"\n")
    };
    let cases = [
        (ONE.replace("spine0", "spin0"), "extra_links.0.switch", "did you mean `spine0`?"),
        (ONE.replace("[19]", "[400]"), "extra_links.0.hosts", "expected a number from 0 to 399"),
        (ONE.replace("[19]", "[]"), "extra_links.0.hosts", "at least one host"),
        (ONE.replace("[19]", "[19, 19]"), "extra_links.0.hosts", "each host once"),
        (ONE.replace("delay = \"10us\"", "delay = \"10s\""), "extra_links.0.delay", "expected at most"),
        (format!("{ONE}links = 0"), "extra_links.0.links", "at least 1"),
        (format!("{ONE}links = 4000000000"), "extra_links.0.links", "fewer links"),
        (format!("{ONE}links = 255\naggregation = \"hash\""), "extra_links.0.links", "at most 255 links of a host"),
        (route("leaf99", "20", 19, "leaf0"), "static_routes.0.at", "the name of a switch, `leaf0` to `spine9`"),
        (route("spine0", "400", 19, "leaf0"), "static_routes.0.from", "from 0 to 399"),
        (route("spine0", "20", 400, "leaf0"), "static_routes.0.to", "from 0 to 399"),
        (route("spine0", "19", 19, "leaf0"), "static_routes.0.from", "other hosts"),
        (route("spine0", "20", 19, "spine1"), "static_routes.0.via", "`leaf0`"),
        (route("leaf0", "20", 19, "host3"), "static_routes.0.via", "expected a switch, or `host19`"),
        // Leaf 2 sends the packet back to the spine.
        (route("spine0", "20", 19, "leaf2"), "static_routes.0.via", "does not lead back"),
        (
            route("spine0", "20", 19, "leaf0")
                + "[[static_routes]]\nat = \"spine0\"\nfrom = [20]\nto = 19\nvia = \"host19\"",
            "static_routes.1.via",
            "one route for each source",
        ),
    ];
    for (text, path, help) in cases {
        let invalid = try_network(LEAF_SPINE, &text).expect_err(&text);
        assert_eq!(invalid.path, path, "{text}: {invalid}");
        assert!(invalid.help.as_deref().is_some_and(|said| said.contains(help)), "{text}: {invalid:?}");
    }
}

/// The least costs from all nodes to a host, by relaxing every link until nothing changes.
fn costs(network: &Network, dst: HostId, by_rate: bool) -> BTreeMap<Node, u64> {
    let mut costs = BTreeMap::from([(Node::Host(dst), 0)]);
    loop {
        let mut changed = false;
        for spec in network.ports().iter() {
            // Hosts pass on what is not for them only in networks whose hosts relay.
            let is_end = matches!(spec.peer, Node::Host(host) if host != dst) && !network.relays();
            let cost = if by_rate { (100_000_000_000 / spec.rate.as_bps()).clamp(1, 65_535) } else { 1 };
            if let Some(&beyond) = costs.get(&spec.peer).filter(|_| !is_end) {
                let known = costs.get(&spec.owner).copied().unwrap_or(u64::MAX);
                if beyond + cost < known {
                    costs.insert(spec.owner, beyond + cost);
                    changed = true;
                }
            }
        }
        if !changed {
            return costs;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// A port is named if and only if it lies on a way of the least cost.
    #[test]
    fn ways_are_those_of_the_least_cost(
        kind in 0usize..4,
        drawn in prop::collection::vec((any::<u32>(), any::<u32>(), 1u32..4, prop::sample::select(vec![1u32, 10, 40, 200]), any::<bool>()), 1..4),
        by_rate in any::<bool>(),
    ) {
        let link = "{ rate = \"10Gbps\", delay = \"1us\" }";
        let fast = "{ rate = \"40Gbps\", delay = \"1us\" }";
        let topology = match kind {
            0 => format!("leaf-spine = {{ leaves = 3, hosts_per_leaf = 2, spines = 2, host_link = {link}, core_link = {fast} }}"),
            1 => format!("fat-tree = {{ k = 4, host_link = {link} }}"),
            2 => format!("bcube = {{ n = 3, k = 1, host_link = {link} }}"),
            _ => format!("jellyfish = {{ switches = 6, hosts = 8, network_ports = 3, host_link = {link}, core_link = {fast} }}"),
        };
        let before = base(&topology);
        let mut text = if by_rate { "cost = \"inverse-rate\"\n".to_owned() } else { String::new() };
        for (host, switch, links, gbps, is_fat) in drawn {
            let switches: Vec<&str> = before.switches().iter().map(|switch| switch.name.as_str()).collect();
            let (host, switch) = (host % before.hosts(), switches[switch as usize % switches.len()]);
            let aggregation = if is_fat { "fat" } else { "hash" };
            text += &format!("[[extra_links]]\nhosts = [{host}]\nswitch = \"{switch}\"\nlinks = {links}\nrate = \"{gbps}Gbps\"\ndelay = \"1us\"\naggregation = \"{aggregation}\"\n");
        }
        let network = network(&topology, &text);
        for dst in (0..network.hosts()).map(HostId) {
            let costs = costs(&network, dst, by_rate);
            let nodes: BTreeSet<Node> = network.ports().iter().map(|spec| spec.owner).collect();
            for node in nodes.into_iter().filter(|&node| node != Node::Host(dst)) {
                let expected: BTreeSet<PortId> = network.ports_of(node).map(PortId).filter(|&port| {
                    let spec = &network.ports()[port];
                    let cost = if by_rate { (100_000_000_000 / spec.rate.as_bps()).clamp(1, 65_535) } else { 1 };
                    let is_end = matches!(spec.peer, Node::Host(host) if host != dst) && !network.relays();
                    !is_end && costs.get(&spec.peer).is_some_and(|beyond| beyond + cost == costs[&node])
                }).collect();
                let found: BTreeSet<PortId> = next_hops(&network, node, HostId(0), dst).into_iter().collect();
                prop_assert_eq!(found, expected, "{:?} to {:?} in {}", node, dst, text);
            }
        }
    }
}

#[test]
fn what_is_peculiar_is_said() {
    assert!(base(LEAF_SPINE).peculiarities().is_empty());
    let routes = "[[static_routes]]\nat = \"spine0\"\nfrom = [20, 21]\nto = 19\nvia = \"leaf0\"\n";
    let hosts: Vec<String> = (0..20).map(|rack| (20 * rack + 19).to_string()).collect();
    let all = |switch: &str| ONE.replace("[19]", &format!("[{}]", hosts.join(", "))).replace("spine0", switch);
    let text = format!("{}links = 3\n{routes}", ONE);
    assert_eq!(
        network(LEAF_SPINE, &text).peculiarities(),
        ["extra: 3 links as one of 120Gbps and 10us from host 19 to spine0", "static routes for 2 pairs of hosts"]
    );
    let text =
        format!("address = \"leaf\"\ncost = \"inverse-rate\"\n{}{}{}", all("spine0"), all("spine1"), all("spine2"));
    assert_eq!(
        network(LEAF_SPINE, &text).peculiarities(),
        [
            "extra: one link of 40Gbps and 10us from each of 20 hosts (19, 39, 59, ..., 399) to each of spine0, spine1, spine2",
            "servers with extra links are known by the address at their leaf",
            "links cost 100 Gbps / their rate",
        ]
    );
    let bcube = base("bcube = { n = 20, k = 1, host_link = { rate = \"10Gbps\", delay = \"10us\" } }");
    assert_eq!(
        bcube.peculiarities(),
        [
            "level0: 20 switches, each with 20 links to hosts and no link to switches",
            "level1: 20 switches, each with 20 links to hosts and no link to switches",
            "each host has 2 links, 20Gbps together",
            "hosts pass on packets of others",
        ]
    );
    let link = "{ rate = \"10Gbps\", delay = \"10us\" }";
    let uneven = base(&format!(
        "jellyfish = {{ switches = 30, hosts = 400, network_ports = 14, host_link = {link}, core_link = {link} }}"
    ));
    assert_eq!(
        uneven.peculiarities(),
        ["leaf: 30 switches, each with 13 to 14 links to hosts and 14 links to switches"]
    );
}

/// What the public scripts of Superways call BCube: a second link of 10 Gb/s from host i to leaf i mod 10.
#[test]
fn the_scripts_bcube_is_a_leaf_spine_with_further_links() {
    let tables = (0..10).map(|leaf| {
        let hosts: Vec<String> = (0..400).filter(|host| host % 10 == leaf).map(|host| host.to_string()).collect();
        let hosts = hosts.join(", ");
        format!("[[extra_links]]\nhosts = [{hosts}]\nswitch = \"leaf{leaf}\"\nrate = \"10Gbps\"\ndelay = \"10us\"\n")
    });
    let network = network(LEAF_SPINE, &tables.collect::<String>());
    let hosts_of = |leaf: u32| {
        let ports = network.switch_ports(tailcut_base::SwitchId(leaf)).map(PortId);
        ports.filter(|&port| matches!(network.ports()[port].peer, Node::Host(_))).count()
    };
    assert!((0..10).all(|leaf| hosts_of(leaf) == 60) && (10..20).all(|leaf| hosts_of(leaf) == 20));
    assert!((0..400).all(|host| network.nics(HostId(host)).len() == 2));
    // Host 0 and host 390 meet at leaf 0; hosts 200 and 390 too, each by its further link.
    let links = |src, dst| network.route(HostId(src), HostId(dst)).links.len();
    assert_eq!([links(0, 390), links(200, 390), links(0, 391)], [2, 2, 4]);
}

/// Two further links of one server at different rates: the ways begin alike at a remote leaf, and end in different
/// ways.
#[test]
fn ways_that_differ_only_further_on_make_a_network_irregular() {
    let two =
        |rate: &str| network(LEAF_SPINE, &(ONE.to_owned() + &ONE.replace("spine0", "spine1").replace("40Gbps", rate)));
    assert_eq!(ways(&two("10Gbps"), 399, 19).len(), 2);
    assert!(two("10Gbps").is_irregular() && !two("40Gbps").is_irregular());
}

/// In a ring of racks a server that passes packets on is as near to the next leaf as a spine is.
#[test]
fn hosts_that_forward_are_on_ways_of_others() {
    let link = "{ rate = \"10Gbps\", delay = \"10us\" }";
    let subways =
        format!("subways = {{ racks = 5, hosts_per_rack = 3, spines = 2, host_link = {link}, core_link = {link} }}");
    let ends = |network: &Network| {
        let found = ways(network, 0, 6);
        assert!(found.iter().all(|way| way.len() == 4));
        (found.len(), found.iter().filter(|way| way[1].starts_with("leaf1->host")).count())
    };
    // Host 0 has leaves 0 and 1, host 6 has leaves 2 and 3, and the three hosts of rack 1 have leaves 1 and 2.
    assert_eq!(ends(&network(&subways, "")), (8, 0));
    let forwarding = network(&subways, "hosts_forward = true");
    assert_eq!(ends(&forwarding), (11, 3));
    assert!(forwarding.relays() && forwarding.remarks().is_empty());
    assert!(network(LEAF_SPINE, "hosts_forward = true").remarks()[0].contains("it changes nothing"));
}

/// What arrives at a switch is at hand after its processing, by a further link as by any other.
#[test]
fn further_links_to_a_switch_have_its_delay() {
    let slow = LEAF_SPINE.replacen("spines = 10,", "spines = 10, switch_delay = \"250ns\",", 1);
    let network = network(&slow, ONE);
    let delay = |name: &str| network.ports()[port(&network, name)].delay;
    assert_eq!(delay("host19->spine0"), "10.25us".parse().unwrap());
    assert_eq!(delay("host19->leaf0"), delay("host19->spine0"));
    assert_eq!(delay("spine0->host19"), "10us".parse().unwrap());
}
