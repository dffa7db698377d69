//! HyStart as Linux has it: when slow start ends before a loss.
//!
//! A round is from an ACK to the one that acknowledges all that was sent before it. Slow start ends at a window of 16
//! or more segments
//!
//! - if ACKs come no more than 2 ms apart for longer than half of the smallest delay from the start of the round: the
//!   window then fills the path there and back. The time that bursts of the sender may take is added to the delay: 4
//!   times 64 KB at the rate of the window, which is doubled in slow start, at most 1 ms;
//! - or if the smallest of at least 8 delays of a round is above the smallest delay of the flow by an eighth of it, at
//!   least 4 ms and at most 16 ms.
//!
//! Delays in the first second after an epoch of congestion avoidance began are not read: they are those of a full
//! queue.

use tailcut_base::{Bytes, Instant, Span};
use tailcut_model::seat::{AckSample, Window};

use super::MSS;

/// The smallest window that ends slow start, in segments.
const LOW_WINDOW: f64 = 16.0;
/// The longest pause in a train of ACKs.
const TRAIN_GAP: Span = Span::from_ms(2);
const SAMPLES: u32 = 8;
const LEAST_INCREASE: Span = Span::from_ms(4);
const MOST_INCREASE: Span = Span::from_ms(16);
/// The most that bursts of the sender may take.
const MOST_BURST: Span = Span::from_ms(1);
/// How long after the beginning of an epoch delays are not read.
const UNREAD: Span = Span::from_ms(1000);

/// Whole microseconds in so many picoseconds.
fn micros(picoseconds: u64) -> u64 {
    picoseconds / Span::from_us(1).as_ps()
}

/// Longer than any delay.
const NEVER: Span = Span::from_ps(u64::MAX);

/// Delays that a flow has measured in slow start.
#[derive(Debug)]
pub(super) struct HyStart {
    /// Whether it ends slow start at all, and does not just measure the smallest delay.
    is_on: bool,
    paced: bool,
    /// Bytes that segmentation offload sends at once.
    burst: Bytes,
    /// Whether slow start has ended.
    found: bool,
    /// The smallest delay; zero if none was read.
    delay_min: Span,
    round_start: Instant,
    /// The last byte of the round, if one has begun.
    round_end: Option<u64>,
    /// When the last ACK of the train came.
    train: Instant,
    /// The smallest delay of the round, and how many were read, up to 8.
    round_delay: Span,
    samples: u32,
    /// The ACK that was read last. One that is reported segment by segment is one ACK.
    seen: Option<(Instant, u64)>,
}

impl HyStart {
    pub(super) fn new(is_on: bool, paced: bool, burst: Bytes) -> HyStart {
        HyStart {
            is_on,
            paced,
            burst,
            found: false,
            delay_min: Span::ZERO,
            round_start: Instant::ZERO,
            round_end: None,
            train: Instant::ZERO,
            round_delay: NEVER,
            samples: 0,
            seen: None,
        }
    }

    /// The smallest delay that was read.
    pub(super) fn delay_min(&self) -> Span {
        self.delay_min
    }

    /// After a timeout nothing is known.
    pub(super) fn restart(&mut self) {
        *self = HyStart::new(self.is_on, self.paced, self.burst);
    }

    /// Reads an ACK. Returns whether slow start ends with it.
    pub(super) fn ends_slow_start(&mut self, window: &Window, ack: &AckSample<'_>, epoch: Option<Instant>) -> bool {
        if self.seen == Some((ack.now, ack.snd_una)) {
            return false;
        }
        self.seen = Some((ack.now, ack.snd_una));
        if epoch.is_some_and(|epoch| ack.now.saturating_since(epoch) < UNREAD) {
            return false;
        }
        // In whole microseconds.
        let delay = Span::from_us(micros(ack.rtt.as_ps()).max(1));
        if self.delay_min == Span::ZERO || delay < self.delay_min {
            self.delay_min = delay;
        }
        if !self.is_on || self.found || window.cwnd >= window.ssthresh {
            return false;
        }
        if self.round_end.is_none_or(|end| ack.snd_una > end) {
            self.begin_round(ack);
        }
        if window.cwnd < LOW_WINDOW * MSS {
            return false;
        }
        self.found = self.is_long_train(window, ack) | self.is_delayed(delay);
        self.found
    }

    /// How long four bursts of the sender take at the rate of its window.
    fn burst_time(&self, window: &Window, srtt: Span) -> Span {
        let factor = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.2 };
        let seconds = 4.0 * self.burst.0 as f64 * srtt.as_secs_f64() / (factor * window.cwnd);
        Span::from_secs_f64(seconds.min(MOST_BURST.as_secs_f64()))
    }

    fn begin_round(&mut self, ack: &AckSample<'_>) {
        self.round_start = ack.now;
        self.train = ack.now;
        self.round_end = Some(ack.snd_nxt);
        self.round_delay = NEVER;
        self.samples = 0;
    }

    fn is_long_train(&mut self, window: &Window, ack: &AckSample<'_>) -> bool {
        if ack.now.saturating_since(self.train) > TRAIN_GAP {
            return false;
        }
        self.train = ack.now;
        // The clock counts whole microseconds, which decides where the path is as short as some of them.
        let most = micros(self.delay_min.as_ps()) + micros(self.burst_time(window, ack.srtt).as_ps());
        let most = if self.paced { most } else { most / 2 };
        micros(ack.now.as_ps()) - micros(self.round_start.as_ps()) > most
    }

    fn is_delayed(&mut self, delay: Span) -> bool {
        self.round_delay = self.round_delay.min(delay);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let eighth = Span::from_ps(self.delay_min.as_ps() / 8);
        self.round_delay > self.delay_min + eighth.clamp(LEAST_INCREASE, MOST_INCREASE)
    }
}
