//! The window as Linux computes it: in whole segments, and in milliseconds and 1024ths of a second.
//!
//! The rate of growth is a number of acknowledged segments for each segment by which the window grows. The curve sets
//! it at most once in a millisecond: when the window has changed, or 31 ms after it was last set. Until then the
//! Reno-friendly region can raise the rate and not lower it. Where round trips are much shorter than a millisecond the
//! window therefore stands for milliseconds and then grows in a burst, by more than half in a millisecond.

use tailcut_base::{Instant, Span};
use tailcut_model::seat::AckSample;

use super::{Config, MSS};

/// Ticks of the clock in a second.
const HZ: u64 = 1000;
/// After how many ticks the rate is set although the window is the same.
const KEPT: u64 = HZ / 32;
/// One is so much, of `beta` and of windows times C.
const SCALE: u64 = 1024;
/// The largest number of acknowledged segments for one of growth while no `W_max` is known.
const MOST_WITHOUT_W_MAX: u64 = 20;

/// The window as a function of time.
#[derive(Debug)]
pub(super) struct Kernel {
    /// C in 1024ths.
    c: u64,
    /// In 1024ths.
    beta: u64,
    fast_convergence: bool,
    reno_friendly: bool,
    /// The window before the last loss, lowered by fast convergence; 0 if there was none since the last timeout.
    w_max: u64,
    epoch: Option<Epoch>,
    /// Window and tick at which the curve was last computed.
    computed: (u64, u64),
    /// Acknowledged segments for each segment of growth.
    count: u64,
}

/// A stretch of congestion avoidance without a loss.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// The tick at which it began.
    start: u64,
    /// When the window is `origin` again, after the start in 1024ths of a second.
    k: u64,
    /// Where the curve is flat.
    origin: u64,
    /// The window of NewReno with the same cut, and the acknowledged segments that have not made it grow yet.
    reno: u64,
    acked: u64,
}

impl Kernel {
    pub(super) fn new(config: &Config) -> Kernel {
        Kernel {
            c: 10 * (config.c * SCALE as f64 / 10.0).round() as u64,
            beta: (config.beta * SCALE as f64).round() as u64,
            fast_convergence: config.fast_convergence,
            reno_friendly: config.reno_friendly,
            w_max: 0,
            epoch: None,
            computed: (0, 0),
            count: 0,
        }
    }

    pub(super) fn epoch(&self) -> Option<Instant> {
        let tick = Span::from_ms(1);
        self.epoch.map(|epoch| Instant::ZERO + tick * epoch.start)
    }

    /// Shifts the curve by an idle period.
    pub(super) fn shift(&mut self, from: Instant, until: Instant) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + (tick(until) - tick(from))).min(tick(until));
        }
    }

    pub(super) fn w_max(&self) -> f64 {
        self.w_max as f64
    }

    pub(super) fn recall(&mut self, w_max: f64) {
        self.w_max = w_max as u64;
    }

    /// By how many segments a window of `cwnd` grows for an ACK.
    pub(super) fn growth(&mut self, cwnd: f64, ack: &AckSample<'_>, delay_min: Span) -> f64 {
        let acked = (ack.newly_acked as f64 / MSS).ceil() as u64;
        self.update((cwnd as u64).max(1), acked, tick(ack.now), delay_min);
        acked as f64 / self.count as f64
    }

    fn update(&mut self, cwnd: u64, acked: u64, now: u64, delay_min: Span) {
        if let Some(epoch) = &mut self.epoch {
            epoch.acked += acked;
        }
        let (of, at) = self.computed;
        let is_new = self.epoch.is_none();
        // The kernel tests this before it sees whether an epoch begins; a loss always changes the window.
        if of == cwnd && now.saturating_sub(at) <= KEPT && self.count > 0 {
            return;
        }
        if is_new || now != at {
            self.computed = (cwnd, now);
            self.set_by_curve(cwnd, acked, now, delay_min);
        }
        if self.reno_friendly
            && let Some(epoch) = &mut self.epoch
        {
            // 8 (1 + beta) / 3 (1 - beta), rounded down: NewReno with this cut grows by a segment for so many eighths
            // of a window of acknowledged segments.
            let eighths = 8 * (SCALE + self.beta) / 3 / (SCALE - self.beta);
            let for_one = (cwnd * eighths) >> 3;
            // A window of which 8ths are less than one would grow without end.
            let for_one = for_one.max(1);
            let grown = epoch.acked.saturating_sub(1) / for_one;
            epoch.acked -= grown * for_one;
            epoch.reno += grown;
            if epoch.reno > cwnd {
                self.count = self.count.min(cwnd / (epoch.reno - cwnd));
            }
        }
        self.count = self.count.max(2);
    }

    fn set_by_curve(&mut self, cwnd: u64, acked: u64, now: u64, delay_min: Span) {
        let epoch = *self.epoch.get_or_insert_with(|| {
            let (origin, k) = match self.w_max > cwnd {
                // (W_max - W) / C in 1024ths of a second cubed.
                true => (self.w_max, cube_root((1 << 40) / self.c * (self.w_max - cwnd))),
                false => (cwnd, 0),
            };
            Epoch { start: now, k, origin, reno: cwnd, acked }
        });
        let delay = delay_min.as_ps().div_ceil(Span::from_ms(1).as_ps());
        let t = (now - epoch.start + delay) * SCALE / HZ;
        let offset = u128::from(t.abs_diff(epoch.k));
        let delta = u64::try_from((u128::from(self.c) * offset.pow(3)) >> 40).unwrap_or(u64::MAX);
        let target = if t < epoch.k { epoch.origin.saturating_sub(delta) } else { epoch.origin.saturating_add(delta) };
        self.count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.w_max == 0 {
            self.count = self.count.min(MOST_WITHOUT_W_MAX);
        }
    }

    /// Ends the epoch with a loss at a window of `cwnd`, and returns what it leaves of so much in flight.
    pub(super) fn after_loss(&mut self, cwnd: f64, flight: f64) -> f64 {
        let cwnd = cwnd as u64;
        self.epoch = None;
        let is_lower = self.fast_convergence && cwnd < self.w_max;
        self.w_max = if is_lower { cwnd * (SCALE + self.beta) / (2 * SCALE) } else { cwnd };
        (flight as u64 * self.beta / SCALE).max(2) as f64
    }

    /// A timeout: nothing is remembered.
    pub(super) fn forget(&mut self) {
        self.epoch = None;
        self.w_max = 0;
        self.computed = (0, 0);
        self.count = 0;
    }
}

/// The cube root, rounded down.
fn cube_root(of: u64) -> u64 {
    let cube = |root: u64| u128::from(root).pow(3);
    let mut root = (of as f64).cbrt() as u64;
    while cube(root) > u128::from(of) {
        root -= 1;
    }
    while cube(root + 1) <= u128::from(of) {
        root += 1;
    }
    root
}

/// The tick of the clock at a moment.
fn tick(at: Instant) -> u64 {
    at.as_ps() / Span::from_ms(1).as_ps()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::cube_root;

    proptest! {
        #[test]
        fn the_cube_root_is_rounded_down(of in any::<u64>(), near in 0u64..2_642_245) {
            for of in [of, near.pow(3), near.pow(3) + near, near.pow(3).saturating_sub(1)] {
                let root = u128::from(cube_root(of));
                prop_assert!(root.pow(3) <= of.into() && (root + 1).pow(3) > of.into(), "{of}: {root}");
            }
        }
    }
}
