//! Jellyfish: switches joined at random.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tailcut_base::{Seeds, Span, Stream, SwitchId};
use tailcut_model::{Files, Invalid, Parameters};

use super::{LinkConfig, at_least, countable, plausible};
use crate::network::Network;
use crate::wiring::Wiring;

/// Jellyfish (Singla et al., NSDI 2012, section 3): the links between switches are a random simple connected graph in
/// which every switch has a given number of them, and the hosts are on the other ports. In the paper every switch has
/// hosts; `inner_switches` adds some that have none.
///
/// Packets take the shortest ways; the 8 shortest of the paper, of which some are longer, are left out.
///
/// Published sizes: 20 switches with 20 hosts and 10 links each and 10 inner switches with 20 links, the switches of a
/// leaf-spine of 20 x 20 hosts and 10 spines, in Rezaei's thesis (University of Illinois at Chicago, 2021, section
/// 4.4), whose text has the two roles. The paper's own way with as many switches: `switches = 30`, `hosts = 400`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// Number of switches with hosts; each is one rack.
    pub switches: u32,
    /// Number of hosts, at least one on each switch. They are spread evenly, and the first switches have one more if
    /// they cannot be.
    pub hosts: u32,
    /// Links of each switch with hosts to other switches.
    pub network_ports: u32,
    /// Number of switches without hosts.
    #[serde(default)]
    pub inner_switches: u32,
    /// Links of each switch without hosts to other switches: given if and only if there are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner_ports: Option<u32>,
    /// What is drawn.
    #[serde(default, skip_serializing_if = "Wired::is_graph")]
    pub wired: Wired,
    /// Which random network: the same seed gives the same one, whatever the seed of the run.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Link between a host and its switch.
    pub host_link: LinkConfig,
    /// Link between two switches.
    pub core_link: LinkConfig,
    /// Processing at each switch, from the arrival of a packet's last bit until the packet is queued.
    #[serde(default)]
    pub switch_delay: Span,
}

/// What is drawn of a Jellyfish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wired {
    /// A random graph with these links of each switch, the hosts evenly on the switches: the paper, and the default.
    #[default]
    Graph,
    /// What the public scripts of Superways call Jellyfish (hrezae2/Superways-WWW-21): each host on a switch of its
    /// own draw, so that some have half as many hosts again as others; the switches with hosts in a line; and each
    /// link of an inner switch to a switch of its own draw, maybe to the same one twice. `network_ports` is then the
    /// average, and the line comes on top.
    Scripts,
}

impl Wired {
    fn is_graph(&self) -> bool {
        *self == Wired::Graph
    }
}

fn first_seed() -> u64 {
    1
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "switches = 5, hosts = 7, network_ports = 2, host_link = { rate = \"10Gbps\", delay = \"1us\" }, core_link = { rate = \"10Gbps\", delay = \"1us\" }",
        "switches = 3, hosts = 6, network_ports = 2, inner_switches = 2, inner_ports = 3, wired = \"scripts\", host_link = { rate = \"10Gbps\", delay = \"1us\" }, core_link = { rate = \"40Gbps\", delay = \"1us\" }",
        "switches = 4, hosts = 8, network_ports = 3, inner_switches = 2, inner_ports = 2, seed = 3, host_link = { rate = \"10Gbps\", delay = \"0ns\" }, core_link = { rate = \"7777777777bps\", delay = \"2us\" }, switch_delay = \"100ns\"",
    ];
}

/// How often a network is drawn anew that is not connected, or that cannot be completed.
const ATTEMPTS: u64 = 100;

pub(super) fn build(config: &Config, _: &Files) -> Result<Network, Invalid> {
    let &Config { switches, hosts, network_ports, inner_switches, inner_ports, seed, host_link, core_link, .. } =
        config;
    at_least("switches", switches, 2)?;
    at_least("hosts", hosts, switches).map_err(|e| e.help("expected one host on each switch, or `inner_switches`"))?;
    at_least("network_ports", network_ports, 1)?;
    let inner_ports = match (inner_switches, inner_ports) {
        (0, None | Some(0)) => 0,
        (0, Some(_)) => {
            return Err(Invalid::new("inner_ports", "there are no inner switches that could have ports")
                .help("expected `inner_switches` of at least 1, or no `inner_ports`"));
        }
        (_, None) => {
            return Err(Invalid::new("inner_switches", "nothing says how many links they have")
                .help("expected `inner_ports` with it"));
        }
        (_, Some(ports)) => ports,
    };
    if inner_switches > 0 {
        at_least("inner_ports", inner_ports, 1)?;
    }
    let others = u64::from(switches) + u64::from(inner_switches) - 1;
    for (key, ports) in [("network_ports", network_ports), ("inner_ports", inner_ports)] {
        if u64::from(ports) > others {
            return Err(Invalid::new(key, format!("{ports} links of a switch cannot all lead to different switches"))
                .help(format!("expected at most {others}, the number of other switches")));
        }
    }
    let ends = u128::from(switches) * u128::from(network_ports) + u128::from(inner_switches) * u128::from(inner_ports);
    countable(u128::from(hosts) + ends / 2)?;
    if ends % 2 == 1 {
        return Err(Invalid::new("network_ports", format!("{ends} ends of links are not a whole number of links"))
            .help("expected an even sum over all switches: one switch or one port more or less"));
    }
    host_link.check("host_link")?;
    core_link.check("core_link")?;
    plausible("switch_delay", config.switch_delay)?;

    if config.wired == Wired::Scripts {
        return as_scripts(config, inner_ports);
    }
    let degrees: Vec<u32> =
        (0..switches).map(|_| network_ports).chain((0..inner_switches).map(|_| inner_ports)).collect();
    let mut draws = (0..ATTEMPTS).map(|nth| Graph::draw(&degrees, Seeds::new(seed).stream("topology.jellyfish", nth)));
    let graph = draws.find_map(|graph| graph.filter(Graph::is_connected)).ok_or_else(|| {
        Invalid::new("", format!("none of {ATTEMPTS} random networks with these ports is connected"))
            .help("expected more links of each switch: three make nearly every network connected")
    })?;

    let mut wiring = Wiring::new(hosts, config.switch_delay);
    let leaf = wiring.tier("leaf");
    for number in 0..switches {
        wiring.switch(format!("switch{number}"), leaf);
    }
    if inner_switches > 0 {
        let inner = wiring.tier("inner");
        for number in 0..inner_switches {
            wiring.switch(format!("inner{number}"), inner);
        }
    }
    let mut first = 0;
    for number in 0..switches {
        let count = hosts / switches + u32::from(number < hosts % switches);
        wiring.hosts(first, count, SwitchId(number), host_link);
        first += count;
    }
    for (a, b) in graph.links() {
        wiring.join(SwitchId(a), SwitchId(b), core_link);
    }
    let uplinks = u64::from(switches) * u64::from(network_ports);
    Network::new(wiring, None, Some(core_link.rate.as_bps().saturating_mul(uplinks)))
}

/// The network of Superways' scripts, whose inner switches have so many links each.
fn as_scripts(config: &Config, inner_ports: u32) -> Result<Network, Invalid> {
    let &Config { switches, hosts, network_ports, inner_switches, host_link, core_link, .. } = config;
    let ends = u64::from(inner_switches) * u64::from(inner_ports);
    if u64::from(switches) * u64::from(network_ports) != ends {
        let message =
            format!("{switches} switches with {network_ports} links each do not meet {ends} of inner switches");
        return Err(Invalid::new("network_ports", message)
            .help("expected the average: `inner_switches` times `inner_ports` over `switches`"));
    }
    let mut draws = Seeds::new(config.seed).stream("topology.jellyfish.scripts", 0);
    let mut wiring = Wiring::new(hosts, config.switch_delay);
    let (leaf, inner) = (wiring.tier("leaf"), wiring.tier("inner"));
    for number in 0..switches {
        wiring.switch(format!("switch{number}"), leaf);
    }
    for number in 0..inner_switches {
        wiring.switch(format!("inner{number}"), inner);
    }
    for host in 0..hosts {
        wiring.hosts(host, 1, SwitchId(draws.below(switches)), host_link);
    }
    for number in 1..switches {
        wiring.join(SwitchId(number - 1), SwitchId(number), core_link);
    }
    for number in 0..inner_switches {
        for _ in 0..inner_ports {
            wiring.join(SwitchId(draws.below(switches)), SwitchId(switches + number), core_link);
        }
    }
    let uplinks = ends + 2 * u64::from(switches - 1);
    Network::new(wiring, None, Some(core_link.rate.as_bps().saturating_mul(uplinks)))
}

/// A simple graph: the neighbours of each switch.
struct Graph(Vec<BTreeSet<u32>>);

impl Graph {
    /// A random graph in which switch `i` has `degrees[i]` neighbours; `None` if the draw came to an end without it.
    ///
    /// Two free ends at a time are joined at random, if that makes neither a loop nor a second link between two
    /// switches (Steger and Wormald, Combinatorics, Probability and Computing 1999: of regular graphs, each is then
    /// about as likely as any other). When none of those that are left can be joined, they take the places of the ends
    /// of a random link, as in the paper.
    fn draw(degrees: &[u32], mut draws: Stream) -> Option<Graph> {
        let mut graph = Graph(vec![BTreeSet::new(); degrees.len()]);
        let mut free: Vec<u32> =
            (0..).zip(degrees).flat_map(|(switch, &degree)| (0..degree).map(move |_| switch)).collect();
        while !free.is_empty() {
            match graph.joinable(&free, &mut draws) {
                Some((i, j)) => {
                    graph.join(free[i], free[j]);
                    free.swap_remove(i.max(j));
                    free.swap_remove(i.min(j));
                }
                None => {
                    let (a, b) = (free.pop()?, free.pop()?);
                    graph.insert(a, b, &mut draws)?;
                }
            }
        }
        Some(graph)
    }

    /// The places of two free ends that may be joined, chosen at random.
    fn joinable(&self, free: &[u32], draws: &mut Stream) -> Option<(usize, usize)> {
        let may_join = |i: usize, j: usize| free[i] != free[j] && !self.0[free[i] as usize].contains(&free[j]);
        let count = u32::try_from(free.len()).expect("the ports are countable");
        // Mostly the first two will do. Among few there may be none, and they are all looked at.
        for _ in 0..64 {
            let (i, j) = (draws.below(count) as usize, draws.below(count) as usize);
            if may_join(i, j) {
                return Some((i, j));
            }
        }
        let pairs = (0..free.len()).flat_map(|j| (0..j).map(move |i| (i, j))).filter(|&(i, j)| may_join(i, j));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let nth = u32::try_from(pairs.len()).ok().filter(|&count| count > 0).map(|count| draws.below(count))?;
        Some(pairs[nth as usize])
    }

    /// Takes away a random link `x--y` and joins `a--x` and `b--y`, so that `a` and `b`, which may be one, have a
    /// neighbour more each.
    fn insert(&mut self, a: u32, b: u32, draws: &mut Stream) -> Option<()> {
        let fits = |&(x, y): &(u32, u32)| {
            let is_new = |p: u32, q: u32| p != q && !self.0[p as usize].contains(&q);
            is_new(a, x) && is_new(b, y)
        };
        let found: Vec<(u32, u32)> = self.links().flat_map(|(x, y)| [(x, y), (y, x)]).filter(fits).collect();
        let nth = u32::try_from(found.len()).ok().filter(|&count| count > 0).map(|count| draws.below(count))?;
        let (x, y) = found[nth as usize];
        self.0[x as usize].remove(&y);
        self.0[y as usize].remove(&x);
        self.join(a, x);
        self.join(b, y);
        Some(())
    }

    fn join(&mut self, a: u32, b: u32) {
        self.0[a as usize].insert(b);
        self.0[b as usize].insert(a);
    }

    /// Each link once, in ascending order.
    fn links(&self) -> impl Iterator<Item = (u32, u32)> {
        let up =
            |(a, neighbours): (u32, &BTreeSet<u32>)| neighbours.range(a + 1..).map(|&b| (a, b)).collect::<Vec<_>>();
        (0..).zip(&self.0).flat_map(up)
    }

    fn is_connected(&self) -> bool {
        let mut seen = vec![false; self.0.len()];
        let mut open = vec![0];
        seen[0] = true;
        while let Some(at) = open.pop() {
            for &next in &self.0[at as usize] {
                if !std::mem::replace(&mut seen[next as usize], true) {
                    open.push(next);
                }
            }
        }
        seen.into_iter().all(|seen| seen)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailcut_base::{HostId, PortId};

    use super::super::TopologyConfig;
    use super::super::tests::link;
    use super::*;
    use crate::network::Node;

    fn config(switches: u32, hosts: u32, network_ports: u32) -> Config {
        Config {
            switches,
            hosts,
            network_ports,
            inner_switches: 0,
            inner_ports: None,
            wired: Wired::Graph,
            seed: 1,
            host_link: link("10Gbps", "10us"),
            core_link: link("10Gbps", "10us"),
            switch_delay: Span::ZERO,
        }
    }

    fn build(config: &Config) -> Result<Network, Invalid> {
        TopologyConfig::Jellyfish(config.clone()).build(&Files::default())
    }

    /// The switches that each switch is joined to, in the order of its ports.
    fn neighbours(network: &Network) -> Vec<Vec<u32>> {
        let switch = |port: u32| match network.ports()[PortId(port)].peer {
            Node::Switch(switch) => Some(switch.0),
            Node::Host(_) => None,
        };
        network.switches().ids().map(|at| network.switch_ports(at).filter_map(switch).collect()).collect()
    }

    fn assert_simple(network: &Network, degrees: impl Iterator<Item = u32>) {
        for (at, (around, degree)) in neighbours(network).into_iter().zip(degrees).enumerate() {
            assert_eq!(around.len(), degree as usize, "links of switch {at}");
            let distinct: BTreeSet<u32> = around.iter().copied().collect();
            assert_eq!(distinct.len(), around.len(), "no two links join the same switches");
            assert!(!distinct.contains(&(at as u32)), "no switch is joined to itself");
        }
        for dst in 1..network.hosts() {
            assert!(network.route(HostId(0), HostId(dst)).links.len() >= 2, "every host is reached");
        }
    }

    /// The switches of Slytherin's leaf-spine, joined at random.
    #[test]
    fn the_switches_of_a_leaf_spine_in_two_roles() {
        let mut networks = Vec::new();
        for seed in 1..=5 {
            let config = Config { inner_switches: 10, inner_ports: Some(20), seed, ..config(20, 400, 10) };
            let network = build(&config).unwrap();
            assert_eq!((network.hosts(), network.switches().len(), network.racks()), (400, 30, 20));
            assert_simple(&network, [10; 20].into_iter().chain([20; 10]));
            assert_eq!(network.ports().len(), 2 * (400 + 200));
            assert_eq!(network.tiers(), ["leaf", "inner"]);
            assert_eq!(network.oversubscription(), Some(2.0));
            assert_eq!(network.uplink_capacity_bps(), Some(2_000_000_000_000));
            assert_eq!(neighbours(&network), neighbours(&build(&config).unwrap()), "a seed gives one network");
            networks.push(neighbours(&network));
        }
        networks.dedup();
        assert_eq!(networks.len(), 5, "another seed gives another network");
    }

    #[test]
    fn what_the_scripts_of_superways_call_jellyfish() {
        let config = Config { inner_switches: 10, inner_ports: Some(20), wired: Wired::Scripts, ..config(20, 400, 10) };
        let network = build(&config).unwrap();
        assert_eq!((network.hosts(), network.switches().len()), (400, 30));
        assert_eq!(network.ports().len(), 2 * (400 + 19 + 200));
        let around = neighbours(&network);
        assert!((1..20).all(|at| around[at].contains(&(at as u32 - 1))), "a line of switches");
        assert!(around[20..].iter().all(|links| links.len() == 20 && links.iter().all(|&to| to < 20)));
        let has_twice = |links: &Vec<u32>| links.iter().collect::<BTreeSet<_>>().len() < links.len();
        assert!(around[20..].iter().any(has_twice), "links are drawn without a look at others");
        let sizes: Vec<usize> = (0..network.racks()).map(|rack| network.hosts_of_rack(rack).count()).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 400);
        assert!(sizes.iter().max() > sizes.iter().min(), "{sizes:?}");
        assert!((1..400).all(|dst| network.route(HostId(0), HostId(dst)).links.len() >= 2));
        let odd = Config { inner_ports: Some(19), ..config };
        assert_eq!(build(&odd).unwrap_err().path, "jellyfish.network_ports");
        let none = Config { inner_switches: 0, inner_ports: None, ..odd };
        assert_eq!(build(&none).unwrap_err().path, "jellyfish.network_ports");
    }

    #[test]
    fn the_switches_of_a_leaf_spine_all_with_hosts() {
        let network = build(&config(30, 400, 14)).unwrap();
        assert_eq!((network.hosts(), network.racks()), (400, 30));
        assert_simple(&network, [14; 30].into_iter());
        let sizes: Vec<usize> = (0..30).map(|rack| network.hosts_of_rack(rack).count()).collect();
        assert_eq!((sizes[..10].to_vec(), sizes[10..].to_vec()), (vec![14; 10], vec![13; 20]));
        // Hosts are numbered switch by switch.
        assert!((1..400).all(|host| network.rack_of(HostId(host)) >= network.rack_of(HostId(host - 1))));
    }

    #[test]
    fn every_link_is_as_likely_as_every_other() {
        // Of 8 switches with 3 links each, any two are neighbours with probability 3/7.
        let networks = 4_000;
        let mut counts = [0u32; 64];
        for seed in 0..networks {
            for (a, b) in Graph::draw(&[3; 8], Seeds::new(seed).stream("test", 0)).unwrap().links() {
                counts[(8 * a + b) as usize] += 1;
            }
        }
        let expected = 3.0 / 7.0 * networks as f64;
        for (a, b) in (0..8).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let count = f64::from(counts[8 * a + b]);
            // Five standard deviations.
            assert!((count - expected).abs() < 5.0 * (expected * 4.0 / 7.0).sqrt(), "{a}--{b}: {count} of {expected}");
        }
    }

    /// The paper's point: as many switches and links as a fat-tree of k = 8, and shorter ways.
    #[test]
    fn ways_are_shorter_than_those_of_a_fat_tree() {
        let network = build(&config(80, 128, 6)).unwrap();
        let links = |dst| network.route(HostId(0), HostId(dst)).links.len();
        let mean = (1..128).map(links).sum::<usize>() as f64 / 127.0;
        // 3 hosts on the same edge, 12 in the same pod, 112 elsewhere.
        let fat_tree = (3.0 * 2.0 + 12.0 * 4.0 + 112.0 * 6.0) / 127.0;
        assert!(mean < 0.85 * fat_tree, "{mean} and {fat_tree}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn any_sizes_make_a_network_or_are_refused_with_help(
            (switches, ports) in (2u32..20, 1u32..20),
            (inner, inner_ports) in (0u32..5, 1u32..12),
            (spare, seed) in (0u32..5, any::<u64>()),
        ) {
            let inner_ports = (inner > 0).then_some(inner_ports);
            let config =
                Config { inner_switches: inner, inner_ports, seed, ..config(switches, switches + spare, ports) };
            match build(&config) {
                Ok(network) => {
                    let inner = (0..inner).map(|_| inner_ports.expect("there are inner switches"));
                    assert_simple(&network, (0..switches).map(|_| ports).chain(inner));
                }
                Err(invalid) => prop_assert!(invalid.help.is_some(), "{invalid}"),
            }
            // A regular graph of three links or more exists wherever there are enough switches.
            if inner_ports.is_none() && ports >= 3 && ports < switches && (switches * ports).is_multiple_of(2) {
                prop_assert!(build(&config).is_ok());
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused_at_its_key() {
        let inner = |switches, ports| Config { inner_switches: switches, inner_ports: ports, ..config(4, 4, 3) };
        for (config, path) in [
            (config(1, 4, 1), "jellyfish.switches"),
            (config(4, 3, 3), "jellyfish.hosts"),
            (config(4, 4, 0), "jellyfish.network_ports"),
            (config(4, 4, 4), "jellyfish.network_ports"),
            (config(5, 5, 3), "jellyfish.network_ports"),
            (config(4, 4, 1), "jellyfish"),
            (inner(0, Some(2)), "jellyfish.inner_ports"),
            (inner(2, None), "jellyfish.inner_switches"),
            (inner(2, Some(0)), "jellyfish.inner_ports"),
            (inner(2, Some(6)), "jellyfish.inner_ports"),
            (config(1 << 20, 1 << 20, 100), "jellyfish"),
            (Config { core_link: link("1Gbps", "2s"), ..config(4, 4, 3) }, "jellyfish.core_link.delay"),
        ] {
            let invalid = build(&config).unwrap_err();
            assert_eq!(invalid.path, path, "{invalid}");
            assert!(invalid.help.is_some(), "{invalid}");
        }
    }

    /// All pairs of hosts would be 16 million entries, all pairs of switches are 160 thousand.
    #[test]
    fn a_network_of_4000_hosts_holds_the_ways_between_its_switches() {
        let network = build(&config(400, 4_000, 14)).unwrap();
        let per_pair = network.router().heap_bytes() as f64 / 160e3;
        assert!(per_pair < 30.0, "{per_pair} bytes");
    }
}
