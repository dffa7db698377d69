//! Symmetric flow ECMP: what comes back takes the way out, reversed, on the very same links.
//!
//! Schemes whose switches note something about a flow on the way out and read it on the way back need this (XCP,
//! SIGCOMM 2002; PDQ, SIGCOMM 2012; ExpressPass, SIGCOMM 2017, section 3.1, which has its switches hash both directions
//! alike). In the regular networks that they have a symmetric hash is enough; in others the next hops of the two
//! directions do not correspond. Here each flow has one way, which is picked from the host with the smaller number to
//! the one with the larger number, as flow ECMP does: at each node by a hash of the flow, with a salt of the node. In
//! that direction a node needs the hash alone; in the other one it follows the same way from its beginning to see by
//! which link it comes.
//!
//! A link that carries nothing in one direction has no way back over it: packets that would take it go by the hash.

use tailcut_base::mix64;
use tailcut_model::seat::{PathChoice, Ways};
use tailcut_model::{Build, Invalid, Packet, Thing};

use super::PathContext;

tailcut_model::no_parameters!(|facts| facts.provides(Thing::SymmetricWays));

/// The salt of all nodes, and which one this is.
#[derive(Debug)]
pub struct Model {
    salt: u64,
    node: u32,
}

impl Build for Model {
    type Config = Config;
    type Context = PathContext;

    fn build(_: &Config, context: &PathContext) -> Result<Model, Invalid> {
        Ok(Model { salt: context.seeds.stream("path.symmetric", 0).bits(), node: context.node })
    }
}

impl PathChoice for Model {
    fn choose(&mut self, packet: &Packet, _: u32, alternatives: u32) -> u32 {
        self.pick(packet, self.node, alternatives)
    }

    // Called, not inlined: the loop is that of the many who do not look.
    #[inline(never)]
    fn choose_way(&mut self, packet: &Packet, _: u32, alternatives: u32, ways: &dyn Ways) -> u32 {
        self.way(packet, alternatives, ways)
    }

    fn foresee(&self, packet: &Packet, _: u32, alternatives: u32) -> Option<u32> {
        (packet.src < packet.dst).then(|| self.pick(packet, self.node, alternatives))
    }

    fn foresee_way(&self, packet: &Packet, _: u32, alternatives: u32, ways: &dyn Ways) -> Option<u32> {
        Some(self.way(packet, alternatives, ways))
    }
}

impl Model {
    /// What this node picks: for what comes back, the link by which it has come.
    fn way(&self, packet: &Packet, alternatives: u32, ways: &dyn Ways) -> u32 {
        if packet.src < packet.dst {
            return self.pick(packet, self.node, alternatives);
        }
        ways.back(packet.dst, packet.src, &mut |node, count| self.pick(packet, node, count))
            .unwrap_or_else(|| self.pick(packet, self.node, alternatives))
    }

    /// What a node picks for a flow, whichever way the packet goes.
    fn pick(&self, packet: &Packet, node: u32, alternatives: u32) -> u32 {
        let (low, high) = (packet.src.min(packet.dst), packet.src.max(packet.dst));
        let pair = u64::from(low.0) << 32 | u64::from(high.0);
        // An odd factor spreads the connections of one pair of hosts over all 64 bits.
        let tuple = pair ^ u64::from(packet.connection).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = mix64(tuple ^ mix64(self.salt ^ u64::from(node)));
        // The upper half of the hash as a fraction of 2^32, times the number of ways.
        (((hash >> 32) * u64::from(alternatives)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use tailcut_base::PortId;

    use super::super::ways::tests::{all_ways, assert_mirrored, network, networks, packet, paths, way};
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

        #[test]
        fn the_way_back_is_the_way_out_reversed(network in networks(), seed in any::<u64>()) {
            assert_mirrored(&network, network.router(), "symmetric", seed);
        }

        /// Also around links that are down in both directions, if every host is still reached.
        #[test]
        fn the_way_back_is_the_way_out_reversed_when_links_are_down(
            network in networks(),
            seed in any::<u64>(),
            fails in any::<prop::sample::Index>(),
        ) {
            let port = PortId(fails.index(network.ports().len()) as u32);
            let router = network.router_without(&[port, network.ports()[port].reverse]).unwrap();
            let reached = |dst: u32| {
                let ends = |host| tailcut_base::HostId(host);
                let from = |src| src == dst || is_reached(&network, &router, ends(src), ends(dst));
                (0..network.hosts()).all(from)
            };
            prop_assume!((0..network.hosts()).all(reached));
            assert_mirrored(&network, &router, "symmetric", seed);
        }
    }

    /// Whether a way leads from one host to another.
    fn is_reached(
        network: &crate::Network,
        router: &crate::Router,
        src: tailcut_base::HostId,
        dst: tailcut_base::HostId,
    ) -> bool {
        let mut hops = router.next_hops_of_host(src, dst);
        loop {
            if hops.count == 0 {
                return false;
            }
            hops = match network.ports()[router.port(hops, 0)].peer {
                crate::Node::Host(host) if host == dst => return true,
                crate::Node::Host(host) => router.next_hops_of_host(host, dst),
                crate::Node::Switch(switch) => router.next_hops(switch, dst),
            };
        }
    }

    #[test]
    fn flows_spread_evenly_over_the_ways_in_both_directions() {
        let link = "{ rate = \"10Gbps\", delay = \"1us\" }";
        let fat_tree = network(&format!("fat-tree = {{ k = 8, host_link = {link} }}"));
        let bcube = network(&format!("bcube = {{ n = 3, k = 2, host_link = {link} }}"));
        for (network, last) in [(&fat_tree, 127), (&bcube, 26)] {
            let all = all_ways(network, tailcut_base::HostId(0), tailcut_base::HostId(last));
            for (src, dst) in [(0, last), (last, 0)] {
                let mut paths = paths(network, "symmetric", 5);
                let mut counts: BTreeMap<Vec<PortId>, u32> = BTreeMap::new();
                let flows = 2_000 * all.len() as u32;
                for connection in 0..flows {
                    *counts
                        .entry(way(network, network.router(), &mut paths, &packet(src, dst, connection)))
                        .or_default() += 1;
                }
                assert_eq!(counts.len(), all.len(), "every way is taken");
                // 2000 expected of each, with a deviation of 45.
                assert!(counts.values().all(|count| (1_775..2_225).contains(count)), "{:?}", counts.values());
            }
        }
    }

    #[test]
    fn nodes_pick_independently_and_other_seeds_otherwise() {
        let link = "{ rate = \"10Gbps\", delay = \"1us\" }";
        let network = network(&format!("fat-tree = {{ k = 4, host_link = {link} }}"));
        let ways = |seed| {
            let mut paths = paths(&network, "symmetric", seed);
            (0..50).map(|flow| way(&network, network.router(), &mut paths, &packet(0, 15, flow))).collect::<Vec<_>>()
        };
        assert_eq!(ways(1), ways(1));
        assert_ne!(ways(1), ways(2));
    }

    #[test]
    fn what_is_foreseen_is_chosen() {
        let context = PathContext { node: 3, seeds: tailcut_base::Seeds::new(1) };
        let mut model = Model::build(&Config {}, &context).unwrap();
        for flow in 0..100 {
            let there = packet(1, 9, flow);
            assert_eq!(model.foresee(&there, 0, 7), Some(model.choose(&there, 0, 7)));
            assert_eq!(model.foresee(&packet(9, 1, flow), 0, 7), None);
        }
    }
}
