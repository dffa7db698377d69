//! The clock by which a host's timers fire.

use tailcut_base::{HostId, Instant, Span};

/// The ticks of the clock of one host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    tick: Span,
    /// Of the first tick.
    phase: u64,
}

impl Clock {
    /// Clocks of different hosts do not tick together.
    // Aside of the way of a packet, which mostly needs no clock.
    #[cold]
    #[inline(never)]
    pub(super) fn of(host: HostId, tick: Span) -> Clock {
        let mut hash = u64::from(host.0).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Clock { tick, phase: (hash ^ hash >> 32) % tick.as_ps() }
    }

    /// The first tick that is not before `at`; `MAX` has none.
    pub(super) fn next(self, at: Instant) -> Instant {
        if at == Instant::MAX {
            return at;
        }
        let late = (at.as_ps() + self.tick.as_ps() - self.phase) % self.tick.as_ps();
        if late == 0 { at } else { at + Span::from_ps(self.tick.as_ps() - late) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_at_the_next_tick_of_their_host() {
        let tick = Span::from_us(10);
        let clocks: Vec<Clock> = (0..50).map(|host| Clock::of(HostId(host), tick)).collect();
        for clock in &clocks {
            let first = clock.next(Instant::ZERO);
            assert!(first < Instant::ZERO + tick);
            assert_eq!(clock.next(first), first);
            assert_eq!(clock.next(first + Span::from_ps(1)), first + tick);
            assert_eq!(clock.next(Instant::MAX), Instant::MAX);
        }
        let early = clocks.iter().filter(|clock| clock.next(Instant::ZERO).as_ps() < tick.as_ps() / 2).count();
        assert!((15..36).contains(&early), "{early} of 50 clocks begin in the first half of a tick");
    }
}
