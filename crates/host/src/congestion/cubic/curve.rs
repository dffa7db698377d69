//! The window of RFC 9438, in segments and seconds.

use tailcut_base::Instant;
use tailcut_model::seat::AckSample;

use super::{Config, MSS};

/// The window as a function of time.
#[derive(Debug)]
pub(super) struct Curve {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    /// The window before the last loss, lowered by fast convergence; 0 if there was none since the last timeout.
    w_max: f64,
    /// The window when `ssthresh` was last set.
    prior: f64,
    /// Congestion avoidance since the last loss.
    epoch: Option<Epoch>,
    /// The window after the last ACK. A transport with windows of whole segments has the whole part of it.
    cwnd: f64,
}

/// A stretch of congestion avoidance without a loss.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Instant,
    /// When the window is `origin` again, after the start in seconds.
    k: f64,
    /// Where the curve is flat.
    origin: f64,
    /// The window of NewReno with the same cut.
    w_est: f64,
}

impl Curve {
    pub(super) fn new(config: &Config) -> Curve {
        let Config { c, beta, fast_convergence, reno_friendly, .. } = *config;
        Curve { c, beta, fast_convergence, reno_friendly, w_max: 0.0, prior: 0.0, epoch: None, cwnd: 0.0 }
    }

    pub(super) fn epoch(&self) -> Option<Instant> {
        self.epoch.map(|epoch| epoch.start)
    }

    /// Shifts the curve by an idle period.
    pub(super) fn shift(&mut self, from: Instant, until: Instant) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + until.saturating_since(from)).min(until);
        }
    }

    pub(super) fn w_max(&self) -> f64 {
        self.w_max
    }

    pub(super) fn recall(&mut self, w_max: f64) {
        self.w_max = w_max;
    }

    /// Slow start ends without a loss at this window.
    pub(super) fn leaves_slow_start(&mut self, cwnd: f64) {
        self.prior = cwnd;
    }

    /// By how many segments a window of `cwnd` grows for an ACK.
    pub(super) fn growth(&mut self, cwnd: f64, ack: &AckSample<'_>) -> f64 {
        // The fraction of a segment that a transport has kept for itself.
        let is_fraction = self.epoch.is_some() && (cwnd..cwnd + 1.0).contains(&self.cwnd);
        let cwnd = if is_fraction { self.cwnd } else { cwnd };
        let acked = ack.newly_acked as f64 / MSS;
        let epoch = *self.epoch.get_or_insert_with(|| {
            // Section 4.2. A window above W_max is on the convex part.
            let (origin, k) = match self.w_max > cwnd {
                true => (self.w_max, ((self.w_max - cwnd) / self.c).cbrt()),
                false => (cwnd, 0.0),
            };
            Epoch { start: ack.now, k, origin, w_est: cwnd }
        });
        // Section 4.2.
        let w_cubic = |t: f64| self.c * (t - epoch.k).powi(3) + epoch.origin;
        let t = ack.now.saturating_since(epoch.start).as_secs_f64();
        // Section 4.3.
        let alpha = if epoch.w_est < self.prior { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) } else { 1.0 };
        let w_est = epoch.w_est + alpha * acked / cwnd;
        let next = if self.reno_friendly && w_cubic(t) < w_est {
            cwnd.max(w_est)
        } else {
            let target = w_cubic(t + ack.srtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
            cwnd + acked * (target - cwnd) / cwnd
        };
        self.epoch = Some(Epoch { w_est, ..epoch });
        self.cwnd = next;
        next - cwnd
    }

    /// Ends the epoch with a loss at a window of `cwnd`, and returns what it leaves of so much in flight.
    pub(super) fn after_loss(&mut self, cwnd: f64, flight: f64) -> f64 {
        self.epoch = None;
        self.prior = cwnd;
        let is_lower = self.fast_convergence && cwnd < self.w_max;
        self.w_max = if is_lower { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        (flight * self.beta).max(2.0)
    }

    /// A timeout: the next curve begins flat, at the window that slow start leaves.
    pub(super) fn forget(&mut self) {
        self.epoch = None;
        self.w_max = 0.0;
    }
}
