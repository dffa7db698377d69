//! Landings at one moment in an order that is drawn.
//!
//! The calendar takes events of one moment in the order of their keys, and the key of a landing has the number of the
//! port in front. Here a hash of that number and the moment stands there instead: it favours no port, needs no state,
//! and does not depend on how the network is cut between threads.

use tailcut_base::{Instant, PortId, Seeds};

use crate::config::TieOrder;
use crate::event::Event;

/// The order of landings at one moment.
pub(super) struct Ties {
    salt: u64,
}

impl Ties {
    /// `None` if the numbers of the ports decide.
    pub(super) fn of(order: TieOrder, seeds: Seeds) -> Option<Ties> {
        (order == TieOrder::Drawn).then(|| Ties { salt: seeds.stream("run.ties", 0).bits() })
    }

    /// The key of a landing at `land` behind a port, whose key is `numbered` where the numbers decide.
    pub(super) fn key(&self, numbered: u64, land: Instant) -> u64 {
        let (port, _) = Event::landing(numbered).expect("it is the key of a landing");
        let mut hash = (land.as_ps() ^ self.salt).wrapping_add(u64::from(port.0).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Event::tied_landing(port, (hash >> 36) as u32)
    }

    /// The event of a key; `numbered` gives the key of a landing behind a port where the numbers decide.
    pub(super) fn event(&self, key: u64, numbered: impl Fn(PortId) -> u64) -> Event {
        Event::of_key(Event::port_of_tied(key).map_or(key, numbered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::End;

    #[test]
    fn each_of_several_ports_comes_first_equally_often_and_comes_back() {
        let ties = Ties::of(TieOrder::Drawn, Seeds::new(3)).unwrap();
        assert!(Ties::of(TieOrder::Numbered, Seeds::new(3)).is_none());
        let landings: Vec<u64> = (0..5).map(|port| Event::Land(PortId(port), End::Host(10 + port)).key()).collect();
        let mut firsts = [0u32; 5];
        let mut follows = 0;
        for moment in 0..10_000u64 {
            let at = Instant::ZERO + tailcut_base::Span::from_ns(moment);
            let keys: Vec<u64> = landings.iter().map(|&key| ties.key(key, at)).collect();
            for (key, numbered) in keys.iter().zip(&landings) {
                let event = ties.event(*key, |port| landings[port.0 as usize]);
                assert_eq!(event, Event::of_key(*numbered));
            }
            let first = (0..5).min_by_key(|&port| keys[port]).unwrap();
            firsts[first] += 1;
            follows += u32::from(keys[1] > keys[0]);
        }
        assert!(firsts.iter().all(|&first| (1_800..2_200).contains(&first)), "{firsts:?}");
        assert!((4_800..5_200).contains(&follows), "{follows}");
        // Other events have the keys that they always have.
        let sample = Event::Sample.key();
        assert_eq!(ties.event(sample, |_| unreachable!("it is no landing")), Event::Sample);
    }
}
