//! The ways through a network as a path choice may look at them.

use tailcut_base::{HostId, PortId};
use tailcut_model::seat::Ways;

use crate::network::{Network, Node};
use crate::route::{NextHops, Router};

/// The ways as one node sees them that has to choose.
pub(super) struct View<'a> {
    pub(super) network: &'a Network,
    /// The ways as everybody knows them now.
    pub(super) router: &'a Router,
    /// The node that chooses.
    pub(super) here: Node,
    /// What it chooses from.
    pub(super) hops: NextHops,
}

impl View<'_> {
    /// Goes from one host toward another until `until`, which is told each node, the number of the alternative taken
    /// there and the port, has an answer; `None` if it has none on the whole way.
    fn walk<T>(
        &self,
        from: HostId,
        to: HostId,
        pick: &mut dyn FnMut(u32, u32) -> u32,
        until: impl Fn(Node, u32, PortId) -> Option<T>,
    ) -> Option<T> {
        let mut at = Node::Host(from);
        while at != Node::Host(to) {
            let hops = match at {
                Node::Host(host) => self.router.next_hops_of_host(host, to),
                Node::Switch(switch) => self.router.next_hops_from(switch, from, to),
            };
            let taken = match hops.count {
                0 => return None,
                1 => 0,
                count => pick(self.network.number(at), count),
            };
            let port = self.router.port(hops, taken);
            if let Some(answer) = until(at, taken, port) {
                return Some(answer);
            }
            at = self.network.ports()[port].peer;
        }
        None
    }
}

impl Ways for View<'_> {
    fn along(&self, from: HostId, to: HostId, pick: &mut dyn FnMut(u32, u32) -> u32) -> Option<u32> {
        self.walk(from, to, pick, |at, taken, _| (at == self.here).then_some(taken))
    }

    fn back(&self, from: HostId, to: HostId, pick: &mut dyn FnMut(u32, u32) -> u32) -> Option<u32> {
        let reverse = self.walk(from, to, pick, |_, _, port| {
            let spec = &self.network.ports()[port];
            (spec.peer == self.here).then_some(spec.reverse)
        })?;
        (0..self.hops.count).find(|&i| self.router.port(self.hops, i) == reverse)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use tailcut_base::Seeds;
    use tailcut_model::registry::seats_of;
    use tailcut_model::{FlowId, Packet};

    use super::super::{Path, PathConfig, PathContext};
    use super::*;
    use crate::TopologyConfig;

    /// A network of many equal ways: regular, random, with hosts that relay, or with links side by side.
    pub(crate) fn networks() -> impl Strategy<Value = Network> {
        let link = "{ rate = \"10Gbps\", delay = \"1us\" }";
        let leaf_spine = (1u32..5, 2u32..4, 1u32..6).prop_map(move |(leaves, hosts, spines)| {
            format!("leaf-spine = {{ leaves = {leaves}, hosts_per_leaf = {hosts}, spines = {spines}, host_link = {link}, core_link = {link} }}")
        });
        let fat_tree = (1u32..4).prop_map(move |half| format!("fat-tree = {{ k = {}, host_link = {link} }}", 2 * half));
        let jellyfish = (4u32..12, 3u32..6, any::<u32>()).prop_map(move |(switches, ports, seed)| {
            let (switches, ports) = (2 * switches, ports);
            format!("jellyfish = {{ switches = {switches}, hosts = {switches}, network_ports = {ports}, seed = {seed}, host_link = {link}, core_link = {link} }}")
        });
        let bcube =
            (2u32..5, 1u32..3).prop_map(move |(n, k)| format!("bcube = {{ n = {n}, k = {k}, host_link = {link} }}"));
        let text = prop_oneof![leaf_spine, fat_tree, jellyfish, bcube, registered()];
        text.prop_map(|text| network(&text))
    }

    /// The cases of all generators.
    fn registered() -> impl Strategy<Value = String> {
        #[derive(schemars::JsonSchema)]
        #[allow(dead_code, reason = "only its type is looked at")]
        struct Root {
            topology: TopologyConfig,
        }
        let models = seats_of::<Root>().into_iter().flat_map(|seat| seat.models);
        let case = |model: tailcut_model::registry::ModelEntry| {
            model.cases.iter().map(|case| format!("{} = {{ {case} }}", model.name)).collect::<Vec<_>>()
        };
        prop::sample::select(models.flat_map(case).collect::<Vec<_>>())
    }

    /// The network of a generator's line.
    pub(crate) fn network(text: &str) -> Network {
        let config: TopologyConfig = toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        config.build(&tailcut_model::Files::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// The path choices of all nodes, by their numbers.
    pub(crate) fn paths(network: &Network, name: &str, seed: u64) -> Vec<Path> {
        let config: PathConfig = serde_json::from_str(&format!("{{\"{name}\": {{}}}}")).unwrap();
        let nodes = network.switches().len() as u32 + network.hosts();
        let context = |node| PathContext { node, seeds: Seeds::new(seed) };
        (0..nodes).map(|node| config.build(&context(node)).unwrap()).collect()
    }

    /// The links that a packet takes, without any that `router` does without.
    pub(crate) fn way(network: &Network, router: &Router, paths: &mut [Path], packet: &Packet) -> Vec<PortId> {
        let mut way = Vec::new();
        let mut at = Node::Host(packet.src);
        while at != Node::Host(packet.dst) {
            let hops = match at {
                Node::Host(host) => router.next_hops_of_host(host, packet.dst),
                Node::Switch(switch) => router.next_hops(switch, packet.dst),
            };
            let path = &mut paths[network.number(at) as usize];
            let foreseen = (hops.count > 1).then(|| path.foresee_at(packet, hops, at, router, network)).flatten();
            let choice = if hops.count > 1 { path.choose_at(packet, hops, at, router, network) } else { 0 };
            assert!(foreseen.is_none_or(|foreseen| foreseen == choice), "{foreseen:?} is foreseen, and {choice} taken");
            assert!(choice < hops.count, "{choice} of {hops:?}");
            let port = router.port(hops, choice);
            way.push(port);
            at = network.ports()[port].peer;
        }
        way
    }

    /// A packet of a connection.
    pub(crate) fn packet(src: u32, dst: u32, connection: u32) -> Packet {
        let now = tailcut_base::Instant::ZERO;
        let mut packet = Packet::data(FlowId(7), HostId(src), HostId(dst), 0, 1460, 1460, now);
        packet.connection = connection;
        packet
    }

    /// The way of the answer is the way of the packet, backwards, on the same links.
    pub(crate) fn assert_mirrored(network: &Network, router: &Router, name: &str, seed: u64) {
        let mut paths = paths(network, name, seed);
        let hosts = network.hosts();
        for connection in 0..6 {
            let mut draws = Seeds::new(seed).stream("test", u64::from(connection));
            for _ in 0..40 {
                let (src, dst) = (draws.below(hosts), draws.below(hosts));
                if src == dst {
                    continue;
                }
                let there = packet(src, dst, connection);
                let out = way(network, router, &mut paths, &there);
                let back = way(network, router, &mut paths, &there.answer(tailcut_model::Kind::ACK, 0));
                let mirrored: Vec<PortId> = back.iter().rev().map(|&port| network.ports()[port].reverse).collect();
                assert_eq!(out, mirrored, "{name}: host{src} to host{dst}, connection {connection}");
            }
        }
    }

    /// All ways from one host to another.
    pub(crate) fn all_ways(network: &Network, src: HostId, dst: HostId) -> Vec<Vec<PortId>> {
        let mut found = Vec::new();
        let mut open = vec![(Node::Host(src), Vec::new())];
        while let Some((at, way)) = open.pop() {
            let hops = match at {
                Node::Host(host) if host == dst => {
                    found.push(way);
                    continue;
                }
                Node::Host(host) => network.router().next_hops_of_host(host, dst),
                Node::Switch(switch) => network.router().next_hops(switch, dst),
            };
            for i in 0..hops.count {
                let port = network.router().port(hops, i);
                open.push((network.ports()[port].peer, way.iter().copied().chain([port]).collect()));
            }
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

        /// Along a way that is picked at random, each node sees what was picked, and each one on the way back the link
        /// by which the way came to it.
        #[test]
        fn a_walk_is_the_same_from_wherever_it_is_looked_at(network in networks(), seed in any::<u64>()) {
            let (src, dst) = (HostId(0), HostId(network.hosts() - 1));
            let picked = |node: u32, count: u32| (tailcut_base::mix64(seed ^ u64::from(node)) % u64::from(count)) as u32;
            let mut at = Node::Host(src);
            let router = network.router();
            while at != Node::Host(dst) {
                let toward = |to: HostId, at: Node| match at {
                    Node::Host(host) => router.next_hops_of_host(host, to),
                    Node::Switch(switch) => router.next_hops(switch, to),
                };
                let hops = toward(dst, at);
                let taken = if hops.count > 1 { picked(network.number(at), hops.count) } else { 0 };
                let here = View { network: &network, router, here: at, hops };
                prop_assert_eq!(here.along(src, dst, &mut picked.clone()), Some(taken));
                let spec = &network.ports()[router.port(hops, taken)];
                let hops = toward(src, spec.peer);
                let there = View { network: &network, router, here: spec.peer, hops };
                let back = there.back(src, dst, &mut picked.clone()).map(|i| router.port(hops, i));
                prop_assert_eq!(back, Some(spec.reverse));
                at = spec.peer;
            }
            // A node that the walk does not pass.
            let ports = network.ports().iter().map(|spec| spec.owner);
            for node in ports {
                let here = View { network: &network, router, here: node, hops: NextHops { destination: 0, first: 0, count: 0 } };
                if let Node::Host(host) = node && host != src && host != dst && !network.relays() {
                    prop_assert_eq!(here.along(src, dst, &mut picked.clone()), None);
                    prop_assert_eq!(here.back(src, dst, &mut picked.clone()), None);
                }
            }
        }
    }

    /// A walk ends where no way leads on.
    #[test]
    fn a_walk_over_dead_links_has_no_answer() {
        let link = "{ rate = \"1Gbps\", delay = \"1us\" }";
        let text = format!("dumbbell = {{ left_hosts = 2, right_hosts = 1, host_link = {link}, core_link = {link} }}");
        let network = network(&text);
        let switch = network.switch_named("line0").expect("it is the first switch");
        let router = network.router_without(&network.ports_named("line0->line1")).unwrap();
        let hops = router.next_hops(switch, HostId(2));
        let here = View { network: &network, router: &router, here: Node::Switch(switch), hops };
        assert_eq!(here.along(HostId(0), HostId(2), &mut |_, _| 0), None);
        assert_eq!(here.along(HostId(0), HostId(1), &mut |_, _| 0), Some(0));
    }
}
