//! When a timer of Linux fires: rounded up to a tick of the host's clock, and up again by the timer wheel.
//!
//! The wheel has levels: timers that are due within 63 ticks lie in slots of one tick, within 504 ticks in slots of
//! eight, and so on. A timer fires at the end of its slot, so that it is never early and up to a slot late.

use tailcut_base::{Instant, Span};

use super::super::clock::Clock;
use super::super::sender::MICROSECOND;

/// Purpose for which the one timer of a connection was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    /// It is off.
    Nothing,
    /// The retransmission timeout.
    Timeout,
    /// A tail loss probe.
    Probe,
    /// The end of RACK's reordering window.
    Reordering,
}

/// Ticks within which slots of one tick reach; each level reaches eight times as far with slots eight times as wide.
const FIRST_LEVEL: u64 = 63;

/// The whole ticks in `micros`, rounded up, in microseconds; without a clock the time itself.
pub(super) fn in_ticks(clock: Option<Clock>, micros: u64) -> u64 {
    let Some(clock) = clock else { return micros };
    let tick = clock.tick().as_ps();
    (micros * MICROSECOND).div_ceil(tick) * tick / MICROSECOND
}

/// When a timer fires that is started at `now` for `micros`, which is a whole number of ticks.
pub(super) fn expiry(clock: Option<Clock>, now: Instant, micros: u64) -> Instant {
    let after = Span::from_ps(micros.saturating_mul(MICROSECOND));
    let Some(clock) = clock else { return now + after };
    let ticks = after.as_ps() / clock.tick().as_ps();
    let (mut width, mut reach) = (1, FIRST_LEVEL);
    while ticks >= reach && width < 1 << 24 {
        (width, reach) = (8 * width, 8 * reach);
    }
    let due = clock.ticks_before(now) + ticks;
    clock.moment((due / width + 1) * width)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailcut_base::HostId;

    use super::*;

    const TICK: Span = Span::from_ms(1);

    #[test]
    fn ten_milliseconds_and_a_round_trip_fire_after_eleven_to_twelve() {
        let clock = Some(Clock::of(HostId(3), TICK, None));
        for offset in 0..50 {
            let now = Instant::ZERO + Span::from_us(5000 + 20 * offset);
            let after = expiry(clock, now, in_ticks(clock, 10_060)).since(now).unwrap();
            assert!((Span::from_ms(11)..=Span::from_ms(12)).contains(&after), "{after}");
        }
        assert_eq!(expiry(None, Instant::ZERO, in_ticks(None, 10_060)), Instant::ZERO + Span::from_us(10_060));
    }

    proptest! {
        /// A timer is never early, and late by at most a slot of its level.
        #[test]
        fn a_timer_is_late_by_at_most_a_slot(now in 0u64..5_000_000_000, ticks in 1u64..200_000, host in 0u32..9) {
            let clock = Some(Clock::of(HostId(host), TICK, None));
            let now = Instant::from_ps(now * 1000);
            let after = expiry(clock, now, 1000 * ticks).since(now).unwrap();
            let slot = [63, 504, 4032, 32_256, 258_048].iter().position(|&reach| ticks < reach).unwrap() as u32;
            prop_assert!(after > TICK * (ticks - 1));
            prop_assert!(after <= TICK * (ticks + 8u64.pow(slot)), "{} {}", after, ticks);
        }
    }
}
