//! The clock by which a host's timers fire.

use tailcut_base::{HostId, Instant, Span};

/// Number of the tick at the phase of a clock: ticks before it have numbers too.
const FIRST_TICK: u64 = 4096;

/// The ticks of the clock of one host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    tick: Span,
    /// Of the first tick.
    phase: u64,
}

impl Clock {
    /// The clock of a host. Clocks of different hosts tick together only if they are given one phase.
    // Aside of the way of a packet, which mostly needs no clock.
    #[cold]
    #[inline(never)]
    pub(super) fn of(host: HostId, tick: Span, phase: Option<Span>) -> Clock {
        if let Some(phase) = phase {
            return Clock { tick, phase: phase.as_ps() % tick.as_ps() };
        }
        let mut hash = u64::from(host.0).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Clock { tick, phase: (hash ^ hash >> 32) % tick.as_ps() }
    }

    /// The time from tick to tick.
    pub(super) fn tick(self) -> Span {
        self.tick
    }

    /// The number of the last tick until `at`, that is `at` rounded down.
    pub(super) fn ticks_before(self, at: Instant) -> u64 {
        FIRST_TICK + (at.as_ps() + self.tick.as_ps() - self.phase) / self.tick.as_ps() - 1
    }

    /// The moment of the tick of this number, which is later than the start of the simulation.
    pub(super) fn moment(self, number: u64) -> Instant {
        Instant::from_ps((number - FIRST_TICK) * self.tick.as_ps() + self.phase)
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
        let clocks: Vec<Clock> = (0..50).map(|host| Clock::of(HostId(host), tick, None)).collect();
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
