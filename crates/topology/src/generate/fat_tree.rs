//! Fat-tree: pods of edge and aggregation switches under a layer of cores, all switches alike.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{HostId, Span, SwitchId};
use tailcut_model::{Files, Invalid, Parameters};

use super::{LinkConfig, at_least, countable, plausible};
use crate::network::Network;
use crate::route::{NextHops, Router, Rule};
use crate::wiring::Wiring;

/// Fat-tree of switches with `k` ports (Al-Fares et al., SIGCOMM 2008, section 3): `k` pods of `k/2` edge and `k/2`
/// aggregation switches, and `(k/2)^2` cores. Each edge switch is one rack and has a link to each aggregation switch of
/// its pod; aggregation switch `j` of each pod has one to each of the cores `j*k/2` to `j*k/2 + k/2 - 1`. There are
/// `(k/2)^2` equal ways between pods and `k/2` within one.
///
/// Published sizes: k = 8, every link 1 Gb/s and 25 us (round trip 300 us), in the scripts of HyLine
/// (Soheil-ab/HyLine). They have 128 hosts; the 256 of its text need `hosts_per_edge = 8`, which is 2:1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// Number of pods, and of the ports of each switch: even, at least 2.
    pub k: u32,
    /// Hosts on each edge switch: `k/2` if it is not given. More than that oversubscribe the uplinks, and their switch
    /// has more than `k` ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts_per_edge: Option<u32>,
    /// Link between a host and its edge switch.
    pub host_link: LinkConfig,
    /// Link between an edge and an aggregation switch; as `host_link` if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation_link: Option<LinkConfig>,
    /// Link between an aggregation switch and a core; as `aggregation_link` if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_link: Option<LinkConfig>,
    /// Processing at each switch, from the arrival of a packet's last bit until the packet is queued.
    #[serde(default)]
    pub switch_delay: Span,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "k = 4, host_link = { rate = \"10Gbps\", delay = \"1us\" }",
        "k = 2, hosts_per_edge = 3, host_link = { rate = \"10Gbps\", delay = \"0ns\" }, aggregation_link = { rate = \"25Gbps\", delay = \"3us\" }, switch_delay = \"100ns\"",
        "k = 4, hosts_per_edge = 1, host_link = { rate = \"1Gbps\", delay = \"1us\" }, aggregation_link = { rate = \"7777777777bps\", delay = \"2us\" }, core_link = { rate = \"40Gbps\", delay = \"500ns\" }",
    ];
}

pub(super) fn build(config: &Config, _: &Files) -> Result<Network, Invalid> {
    let &Config { k, hosts_per_edge, host_link, switch_delay, .. } = config;
    at_least("k", k, 2)?;
    if !k.is_multiple_of(2) {
        return Err(Invalid::new("k", format!("{k} is odd, and half of the ports of a switch lead up"))
            .help(format!("expected an even number, such as {}", k - 1)));
    }
    let half = k / 2;
    let hosts_per_edge = hosts_per_edge.unwrap_or(half);
    at_least("hosts_per_edge", hosts_per_edge, 1)?;
    let wide_edges = u128::from(k) * u128::from(half);
    countable(wide_edges * (u128::from(hosts_per_edge) + u128::from(k)))?;
    host_link.check("host_link")?;
    let aggregation_link = config.aggregation_link.unwrap_or(host_link);
    aggregation_link.check("aggregation_link")?;
    let core_link = config.core_link.unwrap_or(aggregation_link);
    core_link.check("core_link")?;
    plausible("switch_delay", switch_delay)?;

    let ways = Ways { half, edges: k * half, hosts_per_edge };
    // The rule counts on this order of the switches and cables.
    let mut wiring = Wiring::new(ways.hosts(), switch_delay);
    let (edge, aggregation, core) = (wiring.tier("edge"), wiring.tier("aggregation"), wiring.tier("core"));
    for number in 0..ways.edges {
        wiring.switch(format!("edge{number}"), edge);
    }
    for number in 0..ways.edges {
        wiring.switch(format!("aggregation{number}"), aggregation);
    }
    for number in 0..half * half {
        wiring.switch(format!("core{number}"), core);
    }
    for edge in 0..ways.edges {
        wiring.hosts(edge * hosts_per_edge, hosts_per_edge, SwitchId(edge), host_link);
        let first = ways.edges + edge / half * half;
        for aggregation in first..first + half {
            wiring.join(SwitchId(edge), SwitchId(aggregation), aggregation_link);
        }
    }
    for number in 0..ways.edges {
        let first = 2 * ways.edges + number % half * half;
        for core in first..first + half {
            wiring.join(SwitchId(ways.edges + number), SwitchId(core), core_link);
        }
    }
    let capacity = aggregation_link.rate.as_bps().saturating_mul(u64::from(ways.edges * half));
    Network::new(wiring, Some(Router::Rule(Arc::new(ways))), Some(capacity))
}

/// The ways through a fat-tree, by arithmetic on ids. Hosts are numbered edge switch by edge switch, edge and
/// aggregation switches pod by pod. The ports of an edge switch lead to its hosts and then up, those of an aggregation
/// switch to the edges of its pod and then up, and those of a core to the pods.
#[derive(Debug)]
struct Ways {
    /// Half of k.
    half: u32,
    /// Edge switches; there are as many aggregation switches.
    edges: u32,
    hosts_per_edge: u32,
}

impl Ways {
    fn hosts(&self) -> u32 {
        self.edges * self.hosts_per_edge
    }
}

impl Rule for Ways {
    fn next_hops(&self, at: SwitchId, dst: HostId) -> NextHops {
        let &Ways { half, edges, hosts_per_edge } = self;
        let destination = self.group_of(dst);
        let pod = destination / half;
        let edge_ports = hosts_per_edge + half;
        let aggregation_base = self.hosts() + edges * edge_ports;
        let (first, count) = if at.0 < edges {
            let base = self.hosts() + at.0 * edge_ports;
            if at.0 == destination {
                (base + dst.0 - destination * hosts_per_edge, 1)
            } else {
                (base + hosts_per_edge, half)
            }
        } else if at.0 < 2 * edges {
            let aggregation = at.0 - edges;
            let base = aggregation_base + aggregation * 2 * half;
            if aggregation / half == pod { (base + destination % half, 1) } else { (base + half, half) }
        } else {
            (aggregation_base + edges * 2 * half + (at.0 - 2 * edges) * 2 * half + pod, 1)
        };
        NextHops { destination, first, count }
    }

    fn group_of(&self, host: HostId) -> u32 {
        host.0 / self.hosts_per_edge
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tailcut_base::PortId;

    use super::super::TopologyConfig;
    use super::super::tests::link;
    use super::*;
    use crate::network::Node;
    use crate::network::tests::assert_computed_ways_are_the_shortest;

    fn config(k: u32, hosts_per_edge: Option<u32>) -> Config {
        let host_link = link("1Gbps", "25us");
        Config { k, hosts_per_edge, host_link, aggregation_link: None, core_link: None, switch_delay: Span::ZERO }
    }

    fn fat_tree(k: u32, hosts_per_edge: Option<u32>) -> Network {
        TopologyConfig::FatTree(config(k, hosts_per_edge)).build(&Files::default()).unwrap()
    }

    /// Every way from one host to another, as the nodes that it passes.
    fn ways(network: &Network, src: HostId, dst: HostId) -> BTreeSet<Vec<Node>> {
        let mut found = BTreeSet::new();
        let mut open = vec![vec![network.ports()[network.nic(src)].peer]];
        while let Some(way) = open.pop() {
            let Some(&Node::Switch(at)) = way.last() else {
                found.insert(way);
                continue;
            };
            let hops = network.router().next_hops(at, dst);
            for i in 0..hops.count {
                let peer = network.ports()[network.router().port(hops, i)].peer;
                open.push(way.iter().copied().chain([peer]).collect());
            }
        }
        found
    }

    #[test]
    fn the_network_of_hyline() {
        let network = fat_tree(8, None);
        assert_eq!((network.hosts(), network.switches().len(), network.racks()), (128, 80, 32));
        assert_eq!(network.tiers(), ["edge", "aggregation", "core"]);
        let of_tier = |tier: usize| network.switches().iter().filter(|switch| switch.tier.index() == tier).count();
        assert_eq!([0, 1, 2].map(of_tier), [32, 32, 16]);
        assert_eq!(network.ports().len(), 2 * 384);
        for switch in network.switches().ids() {
            assert_eq!(network.switch_ports(switch).len(), 8, "a fat-tree is made of equal switches");
        }
        assert_eq!(network.oversubscription(), Some(1.0));
        assert_eq!(network.uplink_capacity_bps(), Some(128_000_000_000));
        let [same_edge, same_pod, other_pod] = [1, 4, 127].map(HostId);
        assert_eq!(ways(&network, HostId(0), same_edge).len(), 1);
        assert_eq!(ways(&network, HostId(0), same_pod).len(), 4);
        let all = ways(&network, HostId(0), other_pod);
        assert_eq!(all.len(), 16);
        let cores: BTreeSet<Node> = all.iter().map(|way| way[2]).collect();
        assert_eq!(cores.len(), 16, "each way between pods has a core of its own");
        let links = |dst| network.route(HostId(0), dst).links.len();
        assert_eq!([same_edge, same_pod, other_pod].map(links), [2, 4, 6]);
        // 150 us and six transmissions of 12 us; without any transmission, 300 us around.
        assert_eq!(network.route(HostId(0), other_pod).ideal_fct(1460), "222us".parse().unwrap());
        assert_eq!(network.route(HostId(0), other_pod).delay() * 2, "300us".parse().unwrap());
        // With six of 12 us and six of 0.32 us.
        assert_eq!(network.rtt(HostId(0), other_pod), "373.92us".parse().unwrap());
    }

    #[test]
    fn aggregation_switch_j_of_each_pod_leads_to_the_same_cores() {
        let network = fat_tree(8, None);
        for pod in 0..8 {
            for j in 0..4 {
                let name = format!("aggregation{}", 4 * pod + j);
                let switch = network.switch_named(&name).unwrap();
                let peers = network.switch_ports(switch).map(|port| network.ports()[PortId(port)].peer);
                let names: Vec<String> = peers.map(|peer| network.node_name(peer).to_string()).collect();
                let edges = (0..4).map(|e| format!("edge{}", 4 * pod + e));
                let cores = (0..4).map(|c| format!("core{}", 4 * j + c));
                assert_eq!(names, edges.chain(cores).collect::<Vec<_>>(), "{name}");
            }
        }
    }

    #[test]
    fn twice_the_hosts_oversubscribe_the_edges_twice() {
        let network = fat_tree(8, Some(8));
        assert_eq!((network.hosts(), network.switches().len()), (256, 80));
        assert_eq!(network.oversubscription(), Some(2.0));
        assert_eq!(network.hosts_of_rack(3).map(|host| host.0).collect::<Vec<_>>(), (24..32).collect::<Vec<_>>());
    }

    #[test]
    fn computed_ways_are_the_shortest_paths() {
        for (k, hosts_per_edge) in [(2, None), (2, Some(3)), (4, None), (4, Some(1)), (6, Some(5)), (8, None)] {
            assert_computed_ways_are_the_shortest(&fat_tree(k, hosts_per_edge));
        }
    }

    #[test]
    fn each_layer_has_its_links() {
        let [host, aggregation, core] = [link("10Gbps", "1us"), link("40Gbps", "2us"), link("100Gbps", "3us")];
        let rates = |config: Config| {
            let network = TopologyConfig::FatTree(config).build(&Files::default()).unwrap();
            let route = network.route(HostId(0), HostId(network.hosts() - 1));
            route.links.iter().map(|link| link.rate.as_bps() / 1_000_000_000).collect::<Vec<_>>()
        };
        let base = Config { host_link: host, ..config(4, None) };
        assert_eq!(rates(base.clone()), [10; 6]);
        let base = Config { aggregation_link: Some(aggregation), ..base };
        assert_eq!(rates(base.clone()), [10, 40, 40, 40, 40, 10]);
        assert_eq!(rates(Config { core_link: Some(core), ..base }), [10, 40, 100, 100, 40, 10]);
    }

    #[test]
    fn what_cannot_be_is_refused_at_its_key() {
        let long = Some(link("1Gbps", "10s"));
        for (config, path) in [
            (config(0, None), "fat-tree.k"),
            (config(7, None), "fat-tree.k"),
            (config(4, Some(0)), "fat-tree.hosts_per_edge"),
            (config(4_294_967_294, None), "fat-tree"),
            (config(4, Some(u32::MAX)), "fat-tree"),
            (Config { aggregation_link: long, ..config(4, None) }, "fat-tree.aggregation_link.delay"),
            (Config { core_link: long, ..config(4, None) }, "fat-tree.core_link.delay"),
        ] {
            let invalid = TopologyConfig::FatTree(config).build(&Files::default()).unwrap_err();
            assert_eq!(invalid.path, path, "{invalid}");
            assert!(invalid.help.is_some(), "{invalid}");
        }
    }

    /// All pairs of hosts would be 8·10^8 entries.
    #[test]
    fn a_network_of_27648_hosts_holds_its_ports_and_little_else() {
        let network = fat_tree(48, None);
        assert_eq!((network.hosts(), network.switches().len(), network.racks()), (27_648, 2_880, 1_152));
        assert_eq!(network.ports().len(), 2 * 3 * 27_648);
        let beside_ports = network.heap_bytes() - network.ports().heap_bytes();
        assert!(beside_ports < 300_000, "{beside_ports} bytes");
        for (src, dst, links) in [(0, 27_647, 6), (27_647, 0, 6), (0, 24, 4), (24, 25, 2)] {
            assert_eq!(network.route(HostId(src), HostId(dst)).links.len(), links);
        }
    }
}
