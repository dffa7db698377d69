//! Assigned ways: the packets of a flow that a controller has given a way take it, and all others go by flow ECMP.
//!
//! The way is a number in the packet that every node on it reads anew ([`Way`]), so that no switch keeps anything for a
//! flow. ACKs of such a flow have no way of their own: they come back by flow ECMP, as in a network that gives a tunnel
//! to the data only. If links fail, the same number is another way, among those that are left.

use tailcut_model::seat::{PathChoice, Ways};
use tailcut_model::{Build, Invalid, Packet, Thing, Way};

use super::{PathContext, flow_ecmp};

tailcut_model::no_parameters!(|facts| {
    facts.provides(Thing::AssignedWays);
    facts.idle_without(Thing::Assignments, "nobody gives ways to flows: it is flow ECMP");
});

/// The choice of one switch for packets that have no way.
#[derive(Debug)]
pub struct Model {
    others: flow_ecmp::Model,
}

impl Build for Model {
    type Config = Config;
    type Context = PathContext;

    fn build(_: &Config, context: &PathContext) -> Result<Model, Invalid> {
        Ok(Model { others: flow_ecmp::Model::build(&flow_ecmp::Config {}, context)? })
    }
}

impl PathChoice for Model {
    #[inline]
    fn choose(&mut self, packet: &Packet, destination: u32, alternatives: u32) -> u32 {
        self.others.choose(packet, destination, alternatives)
    }

    // Called, not inlined: the loop is that of the many who do not look.
    #[inline(never)]
    fn choose_way(&mut self, packet: &Packet, destination: u32, alternatives: u32, ways: &dyn Ways) -> u32 {
        given(packet, ways).unwrap_or_else(|| self.others.choose(packet, destination, alternatives))
    }

    fn foresee(&self, packet: &Packet, destination: u32, alternatives: u32) -> Option<u32> {
        match Way::of_connection(packet.connection) {
            None => self.others.foresee(packet, destination, alternatives),
            Some(_) => None,
        }
    }

    fn foresee_way(&self, packet: &Packet, destination: u32, alternatives: u32, ways: &dyn Ways) -> Option<u32> {
        given(packet, ways).or_else(|| self.others.foresee(packet, destination, alternatives))
    }
}

/// What the way that a packet was given takes here; `None` if it has none, or does not come by.
fn given(packet: &Packet, ways: &dyn Ways) -> Option<u32> {
    let mut way = Way::of_connection(packet.connection)?;
    ways.along(packet.src, packet.dst, &mut |_, count| way.next(count))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use tailcut_base::{HostId, PortId};

    use super::super::ways::tests::{all_ways, networks, packet, paths, way};
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

        /// Numbers from 0 on are all ways, and nothing else; packets without one go where flow ECMP sends them.
        #[test]
        fn every_way_has_a_number(network in networks(), seed in any::<u64>(), ends in any::<(u32, u32)>()) {
            let (src, dst) = (ends.0 % network.hosts(), ends.1 % network.hosts());
            prop_assume!(src != dst);
            let all = all_ways(&network, HostId(src), HostId(dst));
            prop_assume!(all.len() <= 40);
            let mut assigned = paths(&network, "assigned", seed);
            let mut ecmp = paths(&network, "flow-ecmp", seed);
            let taken: BTreeSet<Vec<PortId>> = (0..5_000)
                .map(|number| {
                    let connection = Way::new(number).expect("it is small").connection();
                    way(&network, network.router(), &mut assigned, &packet(src, dst, connection))
                })
                .collect();
            prop_assert_eq!(taken, all.into_iter().collect::<BTreeSet<_>>());
            let plain = packet(src, dst, 5);
            let [here, there] =
                [&mut assigned, &mut ecmp].map(|paths| way(&network, network.router(), paths, &plain));
            prop_assert_eq!(here, there);
        }
    }
}
