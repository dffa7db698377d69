//! What DCTCP and its descendants share: the estimate of the marked share, and at most one cut for each window.
//!
//! Alizadeh et al. (SIGCOMM 2010) and RFC 8257, section 3.3. They differ in how hard a cut is and how fast the window
//! opens.

use tailcut_base::MSS_BYTES;
use tailcut_model::Invalid;
use tailcut_model::seat::{AckSample, Window};

/// Parts of one in which alpha counts in fixed point.
const FIXED_POINT: f64 = 1024.0;

/// The marks that one flow has seen.
#[derive(Debug)]
pub(super) struct Marks {
    gain: f64,
    /// Smallest window after a cut, in bytes.
    floor: f64,
    /// Estimate of the share of marked bytes.
    pub(super) alpha: f64,
    /// Bytes acknowledged in this observation window.
    acked: u64,
    /// Those of them that the receiver saw marked.
    marked: u64,
    /// The observation window ends when this byte is acknowledged.
    pub(super) window_end: u64,
    /// No second cut until this byte and all before it are acknowledged.
    cut_until: u64,
}

/// How a scheme answers an ACK.
pub(super) struct Answer<P> {
    /// Whether every ACK with ECN echo cuts.
    pub(super) cut_every_ece: bool,
    /// Whether an ACK with ECN echo that does not cut opens the window as any other.
    pub(super) grows_on_ece: bool,
    /// Whether alpha is a whole number of 1024ths, rounded as by Linux.
    pub(super) is_fixed_point: bool,
    /// What a cut takes off the window, doubled and as a share of it, by alpha and the window.
    pub(super) penalty: P,
    /// Segments by which the window opens in a round trip of congestion avoidance.
    pub(super) step: f64,
}

impl Marks {
    /// No marks seen. Keys of errors are those of the configurations: `gain`, `alpha0`, and `floor` in packets.
    pub(super) fn new(gain: f64, alpha0: f64, floor: u32) -> Result<Marks, Invalid> {
        let range = |key: &str, value: f64, low: &str, ok: bool| {
            if ok {
                Ok(())
            } else {
                Err(Invalid::new(key, format!("{value} is out of range"))
                    .help(format!("expected a number {low} and at most 1")))
            }
        };
        range("gain", gain, "above 0", gain > 0.0 && gain <= 1.0)?;
        range("alpha0", alpha0, "of at least 0", (0.0..=1.0).contains(&alpha0))?;
        if floor == 0 {
            return Err(Invalid::new("floor", "a window of no packets sends nothing").help("expected 1 or more"));
        }
        let floor = f64::from(floor) * MSS_BYTES as f64;
        Ok(Marks { gain, floor, alpha: alpha0, acked: 0, marked: 0, window_end: 0, cut_until: 0 })
    }

    /// Alpha after a window with this share of marked bytes: what decays is rounded down, but all of it if less
    /// than one part decays; what is added is rounded down.
    #[cold]
    fn fixed_point_alpha(&self, share: f64) -> f64 {
        let alpha = (self.alpha * FIXED_POINT).floor();
        let decay = (alpha * self.gain).floor();
        let rest = if decay > 0.0 { alpha - decay } else { 0.0 };
        let added = (self.gain * FIXED_POINT * share + 1e-9).floor();
        (rest + added).min(FIXED_POINT) / FIXED_POINT
    }

    /// An ACK arrived. Returns whether the window was cut.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        window: &mut Window,
        ack: &AckSample<'_>,
        answer: Answer<impl FnOnce(f64, &Window) -> f64>,
    ) -> bool {
        self.acked += ack.newly_acked;
        if ack.ece {
            self.marked += ack.newly_acked;
        }
        if ack.snd_una >= self.window_end && self.acked > 0 {
            // RFC 8257, section 3.3, steps 5 to 8.
            let share = self.marked as f64 / self.acked as f64;
            self.alpha = if answer.is_fixed_point {
                self.fixed_point_alpha(share)
            } else {
                (1.0 - self.gain) * self.alpha + self.gain * share
            };
            self.acked = 0;
            self.marked = 0;
            self.window_end = ack.snd_nxt;
        }
        if ack.in_recovery {
            // Loss has cut the window for this round trip already.
            return false;
        }
        if ack.ece && (ack.snd_una >= self.cut_until || answer.cut_every_ece) {
            let penalty = (answer.penalty)(self.alpha, window);
            window.cwnd = (window.cwnd * (1.0 - penalty / 2.0)).max(self.floor);
            window.ssthresh = window.cwnd;
            self.cut_until = ack.snd_nxt + 1;
            return true;
        }
        // The window grows by ACKs without ECN echo (RFC 3168, section 6.1.2).
        if ack.newly_acked > 0 && ack.window_limited && (!ack.ece || answer.grows_on_ece) {
            super::increase(window, ack.newly_acked, answer.step);
        }
        false
    }
}
