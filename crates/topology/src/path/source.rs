//! Source routes: the sender of a flow decides on the whole way, by a number that each of its packets carries.
//!
//! The number of a way is written to a mixed base: the choice at the first node that has one is its last digit, to the
//! base of the alternatives there, the choice at the second node the one before, and so on. To each digit the choice
//! before is added, or nothing if there are not so many alternatives. Numbers that follow each other are different
//! ways, and as many of them as there are ways are all of them where every way has as many alternatives at its first
//! node with a choice, at its second and so on, as in trees. In a BCube they set the levels right in a cyclic order,
//! each from another one on: as many ways share no link as there are levels to be set right.
//!
//! A packet carries its number as that of its connection, to which each pair of hosts adds one of its own, drawn from
//! the seed: the connections of a pair take its ways in turns, and different pairs begin anywhere (in the digits after
//! the first one not where a node has one alternative fewer than the one before, or the cycle would be lost). So a
//! sender that wants another way for some packets gives them another connection. What comes back has the same number
//! and takes the same way, reversed: ways are counted from the host with the smaller number.

use tailcut_base::mix64;
use tailcut_model::seat::{PathChoice, Ways};
use tailcut_model::{Build, Invalid, Packet, Thing};

use super::PathContext;

tailcut_model::no_parameters!(|facts| {
    facts.provides(Thing::SourceRoutes);
    facts.provides(Thing::SymmetricWays);
});

/// The salt of all nodes.
#[derive(Debug)]
pub struct Model {
    salt: u64,
}

impl Build for Model {
    type Config = Config;
    type Context = PathContext;

    fn build(_: &Config, context: &PathContext) -> Result<Model, Invalid> {
        Ok(Model { salt: context.seeds.stream("path.source", 0).bits() })
    }
}

impl PathChoice for Model {
    /// By the last digit alone, where the whole way cannot be seen.
    fn choose(&mut self, packet: &Packet, _: u32, alternatives: u32) -> u32 {
        self.digits(packet).next(alternatives)
    }

    // Called, not inlined: the loop is that of the many who do not look.
    #[inline(never)]
    fn choose_way(&mut self, packet: &Packet, _: u32, alternatives: u32, ways: &dyn Ways) -> u32 {
        self.way(packet, alternatives, ways)
    }

    fn foresee_way(&self, packet: &Packet, _: u32, alternatives: u32, ways: &dyn Ways) -> Option<u32> {
        Some(self.way(packet, alternatives, ways))
    }
}

impl Model {
    /// What the way of a packet takes here; its last digit where it does not come by.
    fn way(&self, packet: &Packet, alternatives: u32, ways: &dyn Ways) -> u32 {
        let mut digits = self.digits(packet);
        let mut pick = |_: u32, count: u32| digits.next(count);
        let choice = if packet.src < packet.dst {
            ways.along(packet.src, packet.dst, &mut pick)
        } else {
            ways.back(packet.dst, packet.src, &mut pick)
        };
        choice.unwrap_or_else(|| self.digits(packet).next(alternatives))
    }

    /// The number of a packet's way.
    fn digits(&self, packet: &Packet) -> Digits {
        let (low, high) = (packet.src.min(packet.dst), packet.src.max(packet.dst));
        let pair = u64::from(low.0) << 32 | u64::from(high.0);
        let connection = u64::from(packet.connection);
        // Half of the bits are room for the connections to be counted in.
        Digits { number: (mix64(pair ^ self.salt) >> 1) + connection, connection, before: (0, 0) }
    }
}

/// The choices that a number stands for, of alternatives that become known one by one.
struct Digits {
    /// What is left of the number of the way.
    number: u64,
    /// What is left of the connection alone.
    connection: u64,
    /// The choice before, and of how many.
    before: (u32, u32),
}

impl Digits {
    fn next(&mut self, base: u32) -> u32 {
        let (choice, of) = self.before;
        let number = if base + 1 == of { self.connection } else { self.number };
        let from = if choice < base { choice } else { 0 };
        let digit = (number % u64::from(base)) as u32;
        self.number /= u64::from(base);
        self.connection /= u64::from(base);
        // Nodes without a choice are no step of the cycle.
        if base > 1 {
            self.before = ((digit + from) % base, base);
        }
        (digit + from) % base
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;
    use tailcut_base::{HostId, PortId};

    use super::super::ways::tests::{all_ways, assert_mirrored, network, networks, packet, paths, way};

    proptest! {
        #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

        #[test]
        fn the_way_back_is_the_way_out_reversed(network in networks(), seed in any::<u64>()) {
            assert_mirrored(&network, network.router(), "source", seed);
        }

        /// Every way is some connection's, even where the ways have different numbers of alternatives.
        #[test]
        fn every_way_has_a_number(network in networks(), seed in any::<u64>(), ends in any::<(u32, u32)>()) {
            let (src, dst) = (ends.0 % network.hosts(), ends.1 % network.hosts());
            prop_assume!(src != dst);
            let all = all_ways(&network, HostId(src), HostId(dst));
            prop_assume!(all.len() <= 40);
            let mut paths = paths(&network, "source", seed);
            // No way has more alternatives than this, over all of its nodes.
            let numbers = 5_000;
            let taken: BTreeSet<Vec<PortId>> = (0..numbers)
                .map(|connection| way(&network, network.router(), &mut paths, &packet(src, dst, connection)))
                .collect();
            prop_assert_eq!(taken, all.into_iter().collect::<BTreeSet<_>>());
        }
    }

    /// The ways of a tree have the numbers from 0 on: so many connections, each a way of its own.
    #[test]
    fn connections_that_follow_each_other_take_all_ways_in_turns() {
        let link = "{ rate = \"10Gbps\", delay = \"1us\" }";
        let leaf_spine = format!(
            "leaf-spine = {{ leaves = 3, hosts_per_leaf = 2, spines = 5, host_link = {link}, core_link = {link} }}"
        );
        let fat_tree = format!("fat-tree = {{ k = 8, host_link = {link} }}");
        let bcube = format!("bcube = {{ n = 3, k = 2, host_link = {link} }}");
        for (text, last, ways) in [(&leaf_spine, 5, 5), (&fat_tree, 127, 16), (&bcube, 26, 6)] {
            let network = network(text);
            assert_eq!(all_ways(&network, HostId(0), HostId(last)).len(), ways);
            let mut paths = paths(&network, "source", 1);
            for (src, dst) in [(0, last), (last, 0), (1, last)] {
                for first in [0, 1, 1000, u32::MAX - 20] {
                    let mut take =
                        |connection| way(&network, network.router(), &mut paths, &packet(src, dst, connection));
                    let taken: BTreeSet<Vec<PortId>> = (first..first + ways as u32).map(&mut take).collect();
                    assert_eq!(taken.len(), ways, "{text}: host{src} to host{dst} from {first}");
                    assert_eq!(take(first), take(first + ways as u32), "and from the first one again");
                }
            }
        }
    }

    /// In a BCube, connections that follow each other share no link, as many as there are levels to be set right.
    #[test]
    fn ways_of_a_bcube_are_disjoint() {
        let network = network("bcube = { n = 2, k = 3, host_link = { rate = \"1Gbps\", delay = \"1us\" } }");
        for seed in 0..20 {
            let mut paths = paths(&network, "source", seed);
            for (src, dst, levels) in [(0, 15, 4), (15, 0, 4), (3, 12, 4), (0, 7, 3), (1, 2, 2), (6, 7, 1)] {
                let mut used: BTreeSet<PortId> = BTreeSet::new();
                for connection in 0..levels {
                    let taken = way(&network, network.router(), &mut paths, &packet(src, dst, connection));
                    for port in taken {
                        assert!(used.insert(port), "host{src} to host{dst}, connection {connection}, seed {seed}");
                    }
                }
            }
        }
    }

    #[test]
    fn pairs_begin_anywhere() {
        let link = "{ rate = \"10Gbps\", delay = \"1us\" }";
        let network = network(&format!("fat-tree = {{ k = 8, host_link = {link} }}"));
        let mut paths = paths(&network, "source", 1);
        let mut counts: BTreeMap<PortId, u32> = BTreeMap::new();
        for src in 0..64 {
            for dst in 64..128 {
                let taken = way(&network, network.router(), &mut paths, &packet(src, dst, 0));
                // The link from an aggregation switch up: half of 32 switches have 4 each.
                *counts.entry(taken[2]).or_default() += 1;
            }
        }
        assert_eq!(counts.len(), 64);
        // 64 expected of each, with a deviation of 8.
        assert!(counts.values().all(|count| (24..104).contains(count)), "{:?}", counts.values());
    }
}
