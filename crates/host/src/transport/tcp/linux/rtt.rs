//! The retransmission timeout from round-trip times: RFC 6298 with Linux's limits.
//!
//! Unlike RFC 6298 the deviation may fall quickly only at the end of a round trip, a falling round-trip time raises it
//! by an eighth of what a rising one does, and the smallest timeout is a floor of the deviation and not of the sum.

use crate::transport::tcp::sender::MICROSECOND;
use tailcut_base::{Instant, Span};

/// A moment in microseconds, as Linux's clock of TCP counts.
pub(super) fn micros(at: Instant) -> u64 {
    at.as_ps() / MICROSECOND
}

/// Estimates of one connection; times are in microseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimator {
    /// Eight times the smoothed round-trip time; 0 before the first sample.
    srtt8: u64,
    /// Four times the mean deviation.
    deviation4: u64,
    /// The largest `deviation4` of this round trip, at least the smallest timeout.
    largest: u64,
    /// Amount that the timeout adds to the smoothed round-trip time.
    variation: u64,
    /// The round trip ends when this segment is acknowledged.
    round_end: u64,
    /// The smallest sample; `u64::MAX` before the first.
    pub(super) min_rtt: u64,
}

impl Estimator {
    pub(super) fn new() -> Estimator {
        Estimator { min_rtt: u64::MAX, ..Estimator::default() }
    }

    /// The next flow of the connection begins, whose segments count from 0.
    pub(super) fn restart(&mut self) {
        self.round_end = 0;
    }

    /// Takes a sample. `una` and `nxt` are the first outstanding and the next segment.
    pub(super) fn sample(&mut self, rtt: u64, min_rto: u64, una: u64, nxt: u64) {
        if self.srtt8 == 0 {
            self.srtt8 = (8 * rtt).max(1);
            self.deviation4 = 2 * rtt;
            self.variation = self.deviation4.max(min_rto);
            self.largest = self.variation;
            self.round_end = nxt;
            return;
        }
        let smoothed = self.srtt8 / 8;
        let error = rtt.abs_diff(smoothed);
        let step = error.abs_diff(self.deviation4 / 4);
        let grows = error > self.deviation4 / 4;
        if rtt >= smoothed {
            self.srtt8 += error;
            self.deviation4 = if grows { self.deviation4 + step } else { self.deviation4 - step };
        } else {
            self.srtt8 -= error;
            self.deviation4 = if grows { self.deviation4 + step / 8 } else { self.deviation4 - step };
        }
        self.srtt8 = self.srtt8.max(1);
        if self.deviation4 > self.largest {
            self.largest = self.deviation4;
            self.variation = self.variation.max(self.largest);
        }
        if una > self.round_end {
            if self.largest < self.variation {
                self.variation -= (self.variation - self.largest) / 4;
            }
            self.round_end = nxt;
            self.largest = min_rto;
        }
    }

    /// The round-trip time of a segment that was never sent again, for the smallest one.
    pub(super) fn observe(&mut self, rtt: u64) {
        // Below a microsecond Linux takes a tick.
        self.min_rtt = self.min_rtt.min(if rtt == 0 { 1000 } else { rtt });
    }

    /// The smoothed round-trip time in microseconds; `None` before the first sample.
    pub(super) fn srtt(&self) -> Option<u64> {
        (self.srtt8 > 0).then_some(self.srtt8 / 8)
    }

    /// Twice the smoothed round-trip time, to a quarter of a microsecond.
    pub(super) fn two_round_trips(&self) -> Option<u64> {
        (self.srtt8 > 0).then_some(self.srtt8 / 4)
    }

    pub(super) fn srtt_span(&self) -> Span {
        Span::from_ps(self.srtt8 * (MICROSECOND / 8))
    }

    /// The timeout before any backoff, in microseconds.
    pub(super) fn timeout(&self) -> Option<u64> {
        self.srtt().map(|srtt| srtt + self.variation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_and_the_floor_of_the_deviation_make_the_timeout() {
        let mut estimator = Estimator::new();
        assert_eq!(estimator.timeout(), None);
        estimator.sample(60, 10_000, 0, 10);
        assert_eq!((estimator.srtt(), estimator.timeout()), (Some(60), Some(10_060)));
        let mut estimator = Estimator::new();
        estimator.sample(60, 100, 0, 10);
        assert_eq!(estimator.timeout(), Some(60 + 120), "three times the round trip where the floor is low");
    }

    #[test]
    fn equal_samples_decay_to_the_floor_a_quarter_in_a_round_trip() {
        let mut estimator = Estimator::new();
        estimator.sample(1000, 10, 0, 1);
        let mut timeouts = Vec::new();
        for round in 1..60 {
            estimator.sample(1000, 10, round + 1, round + 1);
            timeouts.push(estimator.timeout().unwrap());
        }
        assert!(timeouts.is_sorted_by(|a, b| a >= b), "{timeouts:?}");
        assert!((1010..1020).contains(&timeouts[58]), "{timeouts:?}");
    }

    #[test]
    fn a_rising_round_trip_raises_the_timeout_at_once_and_a_falling_one_hardly() {
        let base = |rtt| {
            let mut estimator = Estimator::new();
            (0..200).for_each(|round| estimator.sample(1000, 10, round, round));
            estimator.sample(rtt, 10, 200, 200);
            estimator.timeout().unwrap()
        };
        assert!(base(2000) > 2000, "{}", base(2000));
        assert!(base(1) < 1200, "{}", base(1));
    }
}
