//! The order of landings at one moment.
//!
//! The calendar takes events of one moment in the order of their keys, and the key of a landing has its order in front
//! of the number of its port. That order is a hash of the port and the moment: it favours no port, needs no state, and
//! does not depend on how the network is cut between threads.

use tailcut_base::{Instant, PortId, Seeds, mix64};

use crate::config::TieOrder;
use crate::event::Event;

/// Where the link behind a port ends, by the number in the tables of its part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// At this switch.
    Switch(u32),
    /// At this host.
    Host(u32),
}

/// Set in the number of an end that is a host.
const AT_HOST: u32 = 1 << 31;

/// The landings behind a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Landing {
    /// The key of a landing whose order is 0.
    numbered: u64,
    /// Distinguishes the orders of ports at one moment.
    salt: u64,
    end: u32,
}

impl Landing {
    /// Where the link behind the port ends.
    #[inline]
    pub(super) fn end(self) -> End {
        if self.end & AT_HOST == 0 { End::Switch(self.end) } else { End::Host(self.end & !AT_HOST) }
    }
}

/// How landings at one moment are ordered.
#[derive(Debug)]
pub(super) struct Ties {
    salt: u64,
    // In memory, because a constant of 64 bits takes an instruction more to load than to multiply with.
    factors: [u64; 2],
    /// The bits of a key that are drawn; none if the numbers of the ports decide.
    drawn: u64,
}

impl Ties {
    pub(super) fn of(order: TieOrder, seeds: Seeds) -> Ties {
        let drawn = match order {
            TieOrder::Numbered => 0,
            TieOrder::Drawn => Event::LANDING_ORDER,
        };
        let factors = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
        Ties { salt: seeds.stream("run.ties", 0).bits(), factors, drawn }
    }

    /// The landings behind `port`, at whose link's end is `end`.
    pub(super) fn landing(&self, port: PortId, end: End) -> Landing {
        let end = match end {
            End::Switch(switch) => switch,
            End::Host(host) => host | AT_HOST,
        };
        Landing { numbered: Event::Land(port).key(), salt: mix64(self.salt ^ u64::from(port.0)), end }
    }

    /// The key of a landing at `land`.
    // Times are multiples of a transmission time. A product and a rotation spread them over all bits; what two ports
    // get of the second product then agrees no more often than chance has it (checked by a test).
    #[inline(always)]
    pub(super) fn key(&self, landing: Landing, land: Instant) -> u64 {
        let moment = land.as_ps().wrapping_mul(self.factors[0]).rotate_left(32);
        // The upper 28 bits of the product are the order.
        landing.numbered | (moment ^ landing.salt).wrapping_mul(self.factors[1]) >> 4 & self.drawn
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailcut_base::Span;

    use super::*;

    /// How often each of so many ports comes first, at `moments` times with `step` picoseconds between them, and how
    /// often the first one is that of the time before.
    fn firsts(ties: &Ties, ports: u32, start: u64, step: u64, moments: u64) -> (Vec<u32>, u32) {
        let landings: Vec<Landing> = (0..ports).map(|port| ties.landing(PortId(port), End::Host(port))).collect();
        let (mut firsts, mut repeated, mut before) = (vec![0; ports as usize], 0, None);
        for moment in 0..moments {
            let at = Instant::ZERO + Span::from_ps(start + moment * step);
            let first = landings.iter().map(|&landing| ties.key(landing, at)).min().unwrap();
            let Event::Land(port) = Event::of_key(first) else { unreachable!("it is a landing") };
            firsts[port.0 as usize] += 1;
            repeated += u32::from(before == Some(port));
            before = Some(port);
        }
        (firsts, repeated)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// Transmission times of packets of 64 to 1500 B at 1 to 400 Gb/s, and any other step.
        #[test]
        fn each_of_several_ports_comes_first_equally_often_whatever_lies_between_the_moments(
            seed in any::<u64>(),
            ports in 2u32..20,
            start in 0u64..1_000_000_000_000,
            step in prop_oneof![
                (prop::sample::select(vec![20u64, 40, 80, 200, 320, 800, 8_000]), 64u64..=1_500).prop_map(|(byte, bytes)| byte * bytes),
                1u64..1_000_000_000,
            ],
        ) {
            let moments = 4_000;
            let ties = Ties::of(TieOrder::Drawn, Seeds::new(seed));
            let (firsts, repeated) = firsts(&ties, ports, start, step, moments);
            let share = 1.0 / f64::from(ports);
            // Six standard deviations of a binomial distribution.
            let noise = 6.0 * (moments as f64 * share * (1.0 - share)).sqrt();
            let expected = moments as f64 * share;
            for first in firsts.iter().chain([&repeated]) {
                prop_assert!((f64::from(*first) - expected).abs() < noise, "{firsts:?}, {repeated} repeated");
            }
        }
    }

    #[test]
    fn where_numbers_decide_the_first_port_always_comes_first() {
        let ties = Ties::of(TieOrder::Numbered, Seeds::new(3));
        assert_eq!(firsts(&ties, 3, 0, 1_200_000, 100), (vec![100, 0, 0], 99));
        let landing = ties.landing(PortId(7), End::Switch(0));
        assert_eq!(ties.key(landing, Instant::from_ps(12_345)), Event::Land(PortId(7)).key());
    }

    #[test]
    fn a_landing_knows_where_its_link_ends() {
        let ties = Ties::of(TieOrder::Drawn, Seeds::new(3));
        for end in [End::Switch(0), End::Switch((1 << 31) - 1), End::Host(0), End::Host((1 << 31) - 1)] {
            assert_eq!(ties.landing(PortId(7), end).end(), end);
        }
        assert_eq!(size_of::<Landing>(), 24);
    }

    #[test]
    fn another_seed_draws_another_order() {
        let first = |seed| firsts(&Ties::of(TieOrder::Drawn, Seeds::new(seed)), 8, 0, 1_200_000, 50).0;
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
