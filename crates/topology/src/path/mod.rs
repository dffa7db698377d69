//! Which of several equal ways a packet takes, chosen at each switch.
//!
//! Most choose among the next hops alone; some look at the whole way, which [`Path::choose_at`] shows them.
//!
//! No choice here sees how full the ports are. Left out: flowlets, and choices by load (CONGA, DRILL).

use tailcut_base::Seeds;
use tailcut_model::seat::{PathChoice, Ways};
use tailcut_model::{Packet, register};

use crate::network::{Network, Node};
use crate::route::{NextHops, Router};

mod cycle;
mod ways;

/// What a path choice knows of its place.
#[derive(Clone, Copy, Debug)]
pub struct PathContext {
    /// The number of the switch, or of the host with several interfaces, that chooses
    /// ([`Network::number`](crate::Network::number)).
    pub node: u32,
    /// Where its draws come from.
    pub seeds: Seeds,
}

register! {
    /// How packets choose among equal ways.
    config PathConfig, seat "path";
    /// The path choice of one switch.
    model Path, dispatch match_path, build(PathContext), custom dyn PathChoice;
    /// Flow ECMP: a hash of the flow, so that all of its packets in one direction take one way.
    FlowEcmp in flow_ecmp,
    /// Packet spraying: each packet at random.
    Spray in spray,
    /// Packet spraying in turns: toward each destination, one way after the other.
    RoundRobin in round_robin,
    /// Flows in turns: toward each destination, each new flow takes the way after that of the flow before.
    FlowRoundRobin in flow_round_robin,
    /// Symmetric flow ECMP: as flow ECMP, and what comes back takes the way out, reversed.
    Symmetric in symmetric,
    /// Source routes: the connection is the number of a way, which its packets take in both directions.
    Source in source,
    /// Assigned ways: what a controller has given a way takes it, and all else goes by flow ECMP.
    Assigned in assigned,
}

impl PathChoice for Path {
    #[inline(always)]
    fn choose(&mut self, packet: &Packet, destination: u32, alternatives: u32) -> u32 {
        match_path!(self, model => model.choose(packet, destination, alternatives))
    }
    #[inline]
    fn choose_way(&mut self, packet: &Packet, destination: u32, alternatives: u32, ways: &dyn Ways) -> u32 {
        match_path!(self, model => model.choose_way(packet, destination, alternatives, ways))
    }
    #[inline]
    fn foresee(&self, packet: &Packet, destination: u32, alternatives: u32) -> Option<u32> {
        match_path!(self, model => model.foresee(packet, destination, alternatives))
    }
    #[inline]
    fn foresee_way(&self, packet: &Packet, destination: u32, alternatives: u32, ways: &dyn Ways) -> Option<u32> {
        match_path!(self, model => model.foresee_way(packet, destination, alternatives, ways))
    }
}

impl Path {
    /// Which of the next hops `hops`, of which there are several, `packet` takes at the node `here`. The choice may
    /// look at the ways through `network` as `router` has them: the same for all nodes that a packet passes.
    #[inline(always)]
    pub fn choose_at(
        &mut self,
        packet: &Packet,
        hops: NextHops,
        here: Node,
        router: &Router,
        network: &Network,
    ) -> u32 {
        // Made in each arm, so that a choice that does not look pays nothing for it.
        match_path!(self, model => {
            model.choose_way(packet, hops.destination, hops.count, &ways::View { network, router, here, hops })
        })
    }

    /// What [`Path::choose_at`] would answer, if it can be told without changing anything.
    pub fn foresee_at(
        &self,
        packet: &Packet,
        hops: NextHops,
        here: Node,
        router: &Router,
        network: &Network,
    ) -> Option<u32> {
        self.foresee_way(packet, hops.destination, hops.count, &ways::View { network, router, here, hops })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tailcut_base::{HostId, Instant, mix64};
    use tailcut_model::{FlowId, Kind};

    use super::*;

    const SENDER: HostId = HostId(3);
    const RECEIVER: HostId = HostId(90);

    fn path(text: &str, switch: u32, seed: u64) -> Path {
        let config: PathConfig = serde_json::from_str(text).unwrap();
        config.build(&PathContext { node: switch, seeds: Seeds::new(seed) }).unwrap()
    }

    const FLOW_ECMP: &str = r#"{"flow-ecmp": {}}"#;
    const SPRAY: &str = r#"{"spray": {}}"#;
    const ROUND_ROBIN: &str = r#"{"round-robin": {}}"#;
    const FLOW_ROUND_ROBIN: &str = r#"{"flow-round-robin": {}}"#;
    const ALL: [&str; 4] = [FLOW_ECMP, SPRAY, ROUND_ROBIN, FLOW_ROUND_ROBIN];

    fn data(flow: u32, nth: u64) -> Packet {
        let mut packet = Packet::data(FlowId(flow), SENDER, RECEIVER, 1460 * nth, 1460, 1 << 40, Instant::ZERO);
        packet.connection = flow;
        packet
    }

    fn ack(flow: u32) -> Packet {
        data(flow, 0).answer(Kind::ACK, 1460)
    }

    /// Pearson's statistic of counts that are expected to be equal.
    fn chi_square(counts: &[u32]) -> f64 {
        let mean = counts.iter().sum::<u32>() as f64 / counts.len() as f64;
        counts.iter().map(|&count| (f64::from(count) - mean).powi(2) / mean).sum()
    }

    #[test]
    fn every_choice_exists() {
        for text in ALL {
            let mut path = path(text, 0, 1);
            for alternatives in [2, 3, 4, 10, 64] {
                for flow in 0..1000 {
                    // A destination has one number of alternatives at a switch.
                    assert!(
                        path.choose(&data(flow + 1000 * alternatives, 0), alternatives, alternatives) < alternatives
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_foreseen_is_chosen() {
        for text in ALL {
            let mut path = path(text, 0, 1);
            for flow in 0..1000 {
                let foreseen = path.foresee(&data(flow, 0), 7, 10);
                assert_eq!(foreseen.is_some(), text == FLOW_ECMP);
                let chosen = path.choose(&data(flow, 0), 7, 10);
                assert!(foreseen.is_none_or(|foreseen| foreseen == chosen));
            }
        }
    }

    #[test]
    fn a_choice_repeats_with_the_seed_and_differs_with_the_switch() {
        for text in ALL {
            let choices = |switch, seed| {
                let mut path = path(text, switch, seed);
                (0..100).map(|flow| path.choose(&data(flow, 0), 0, 1 << 20)).collect::<Vec<_>>()
            };
            assert_eq!(choices(0, 1), choices(0, 1), "{text}");
            assert_ne!(choices(0, 1), choices(1, 1), "{text}");
            assert_ne!(choices(0, 1), choices(0, 2), "{text}");
        }
    }

    #[test]
    fn all_packets_of_a_flow_take_one_way() {
        for text in [FLOW_ECMP, FLOW_ROUND_ROBIN] {
            let mut path = path(text, 0, 1);
            let mut taken = BTreeMap::new();
            for nth in 0..50 {
                for flow in 0..200 {
                    let way = path.choose(&data(flow, nth), 7, 10);
                    assert_eq!(*taken.entry(flow).or_insert(way), way, "{text}: packet {nth} of flow {flow}");
                }
            }
        }
    }

    #[test]
    fn a_hundred_thousand_flows_spread_evenly_over_ten_ways() {
        for text in ALL {
            for seed in 1..=5 {
                let mut path = path(text, 0, seed);
                let mut counts = [0; 10];
                for flow in 0..100_000 {
                    counts[path.choose(&data(flow, 0), 7, 10) as usize] += 1;
                }
                assert!(counts.iter().all(|count| (9_600..=10_400).contains(count)), "{text} {seed}: {counts:?}");
            }
        }
    }

    /// How often flows that take way i at one switch take way j at another, of 4 and 4.
    fn joint_counts(mut first: Path, mut second: Path, flow_ids: impl Iterator<Item = u32>) -> [u32; 16] {
        let mut counts = [0; 16];
        for flow in flow_ids {
            let i = first.choose(&data(flow, 0), 7, 4);
            let j = second.choose(&data(flow, 0), 7, 4);
            counts[(4 * i + j) as usize] += 1;
        }
        counts
    }

    /// Were the hash of two tiers the same, flows that meet at a switch would all go on the same way.
    #[test]
    fn two_hash_stages_in_a_row_are_independent() {
        // Chi-square of 15 degrees of freedom exceeds 50 once in 10^5 times.
        for (seed, other) in [(1, 1), (1, 2), (2, 17), (3, 400)] {
            for stride in [1, 2, 7, 1 << 12] {
                let flows = (0..40_000).map(|n| n * stride);
                let counts = joint_counts(path(FLOW_ECMP, 0, seed), path(FLOW_ECMP, other, seed), flows);
                assert!(chi_square(&counts) < 50.0, "seed {seed}, switch {other}, stride {stride}: {counts:?}");
            }
        }
        // The same switch twice shows that the test sees what it looks for.
        let same = joint_counts(path(FLOW_ECMP, 0, 1), path(FLOW_ECMP, 0, 1), 0..40_000);
        assert!(chi_square(&same) > 1e5, "{same:?}");
    }

    #[test]
    fn the_two_directions_of_a_flow_are_hashed_independently() {
        let mut path = path(FLOW_ECMP, 0, 1);
        let mut counts = [0; 16];
        for flow in 0..40_000 {
            let (there, back) = (path.choose(&data(flow, 0), 7, 4), path.choose(&ack(flow), 2, 4));
            counts[(4 * there + back) as usize] += 1;
        }
        assert!(chi_square(&counts) < 50.0, "{counts:?}");
    }

    #[test]
    fn sprayed_packets_of_one_flow_spread_at_random() {
        let mut path = path(SPRAY, 0, 1);
        let mut pairs = [0; 16];
        for nth in 0..20_000 {
            let (i, j) = (path.choose(&data(5, 2 * nth), 7, 4), path.choose(&data(5, 2 * nth + 1), 7, 4));
            pairs[(4 * i + j) as usize] += 1;
        }
        assert!(chi_square(&pairs) < 50.0, "{pairs:?}");
    }

    #[test]
    fn a_thousand_packets_in_turns_over_four_ways_are_250_each() {
        let mut path = path(ROUND_ROBIN, 0, 1);
        let mut counts = [[0; 4]; 2];
        let mut previous = None;
        for nth in 0..1000 {
            let way = path.choose(&data(nth % 7, 0), 0, 4);
            assert!(previous.is_none_or(|previous| way == (previous + 1) % 4));
            previous = Some(way);
            counts[0][way as usize] += 1;
            // Another destination has turns of its own, whatever comes between.
            if mix64(u64::from(nth)).is_multiple_of(2) {
                let way = path.choose(&data(nth % 5, 0), 3, 4);
                counts[1][way as usize] += 1;
            }
        }
        assert_eq!(counts[0], [250; 4]);
        assert!(counts[1].iter().max().unwrap() - counts[1].iter().min().unwrap() <= 1, "{counts:?}");
    }

    /// Switches that all began with the first way would send their first packets to one spine.
    #[test]
    fn turns_begin_anywhere() {
        for text in [ROUND_ROBIN, FLOW_ROUND_ROBIN] {
            let mut counts = [0; 4];
            for switch in 0..100 {
                for destination in 0..100 {
                    counts[path(text, switch, 1).choose(&data(0, 0), destination, 4) as usize] += 1;
                }
            }
            // 3 degrees of freedom: exceeds 25 once in 10^5 times.
            assert!(chi_square(&counts) < 25.0, "{text}: {counts:?}");
        }
    }

    #[test]
    fn new_flows_take_turns_while_old_ones_go_on() {
        let mut path = path(FLOW_ROUND_ROBIN, 0, 1);
        let first = path.choose(&data(0, 0), 7, 4);
        for flow in 1..500 {
            assert_eq!(path.choose(&data(flow, 0), 7, 4), (first + flow) % 4);
            path.choose(&data(flow / 2, 1), 7, 4);
            // ACKs in the other direction are flows of their own, toward their own destination.
            path.choose(&ack(flow), 2, 4);
        }
    }
}
