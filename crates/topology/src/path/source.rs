//! Source routes: the sender of a flow decides on the whole way, by a number that each of its packets carries.
//!
//! The number of a way is written to a mixed base: the choice at the first node that has one is its last digit, to the
//! base of the alternatives there, the choice at the second node the one before, and so on. Numbers that follow each
//! other are different ways, and as many of them as there are ways are all of them where every way has as many
//! alternatives at its first node with a choice, at its second and so on, as in trees.
//!
//! A packet carries its number as that of its connection, to which each pair of hosts adds one of its own, drawn from
//! the seed: the connections of a pair take its ways in turns, and different pairs begin anywhere. So a sender that
//! wants another way for some packets gives them another connection. What comes back has the same number and takes the
//! same way, reversed: ways are counted from the host with the smaller number.

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
    /// By the last digit alone, where the whole way cannot be seen, or does not come by.
    fn choose(&mut self, packet: &Packet, _: u32, alternatives: u32) -> u32 {
        Digits::of(self.number(packet)).next(alternatives)
    }

    // Called, not inlined: the loop is that of the many who do not look.
    #[inline(never)]
    fn choose_way(&mut self, packet: &Packet, destination: u32, alternatives: u32, ways: &dyn Ways) -> u32 {
        let mut digits = Digits::of(self.number(packet));
        let mut pick = |_: u32, count: u32| digits.next(count);
        let choice = if packet.src < packet.dst {
            ways.along(packet.src, packet.dst, &mut pick)
        } else {
            ways.back(packet.dst, packet.src, &mut pick)
        };
        choice.unwrap_or_else(|| self.choose(packet, destination, alternatives))
    }
}

impl Model {
    /// The number of a packet's way.
    fn number(&self, packet: &Packet) -> u64 {
        let (low, high) = (packet.src.min(packet.dst), packet.src.max(packet.dst));
        let pair = u64::from(low.0) << 32 | u64::from(high.0);
        // Half of the bits are room for the connections to be counted in.
        (mix64(pair ^ self.salt) >> 1) + u64::from(packet.connection)
    }
}

/// The digits of a number to bases that become known one by one.
struct Digits(u64);

impl Digits {
    fn of(number: u64) -> Digits {
        Digits(number)
    }

    fn next(&mut self, base: u32) -> u32 {
        let digit = self.0 % u64::from(base);
        self.0 /= u64::from(base);
        digit as u32
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
