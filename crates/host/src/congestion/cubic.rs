//! CUBIC: the window is a cubic function of the time since the last loss.
//!
//! Ha, Rhee, Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant" (SIGOPS Operating Systems Review 42, 2008), and
//! RFC 9438. After a loss at a window of `W_max` the window is cut to `beta` of it, rises back along a concave curve,
//! stays near `W_max`, and then rises along a convex one: `W(t) = C (t - K)^3 + W_max`, t in seconds and windows in
//! segments. Where NewReno with the same cut would have the larger window, CUBIC has that one (the Reno-friendly
//! region). A flow that is cut below its last `W_max` lowers that further, so that new flows get room (fast
//! convergence).
//!
//! Slow start ends with the first loss, or sooner by HyStart (Ha and Rhee, "Taming the elephants: New TCP slow start",
//! Computer Networks 55, 2011), in the form that Linux has (`hystart.rs`).
//!
//! Two forms of the arithmetic: `arithmetic = "rfc"` is continuous, as the equations are; `"linux"` is that of
//! Linux 6.1, in whole segments and milliseconds. They differ where windows are small or round trips are shorter than
//! a millisecond, which is so in datacenters. Differences of Linux from the RFC that `"linux"` has: the window grows by
//! at most one segment for two acknowledged ones, not by half of the window in a round trip; without a known `W_max` it
//! grows by at least 5 % in a round trip; growth in the Reno-friendly region never accelerates beyond the prior window;
//! the cut is that of the window, which the transport gives as bytes in flight. (The cube root is exact, that of Linux
//! is off by up to 0.2 %.)
//!
//! The time since the last loss does not include idle periods: from the last packet before one to the first after it
//! (RFC 9438, section 5.8). A timeout forgets `W_max` (section 4.8). On a persistent connection, the next flow begins
//! with the `W_max` of the one before. Without ECN.

mod curve;
mod hystart;
mod kernel;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Instant, MSS_BYTES};
use tailcut_model::seat::{AckSample, CongestionControl, Window};
use tailcut_model::{Build, Facts, Invalid, Parameters};

use super::FlowContext;
use curve::Curve;
use hystart::HyStart;
use kernel::Kernel;

const MSS: f64 = MSS_BYTES as f64;

/// How the window grows, and when slow start ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The constant C of the cubic function, in segments per second cubed (RFC 9438, section 5: 0.4; Linux has
    /// 410/1024).
    pub c: f64,
    /// Part of the window that a loss leaves (RFC 9438, section 4.6: 0.7; Linux has 717/1024).
    pub beta: f64,
    /// Whether a flow that loses packets below its last `W_max` lowers that further (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// Whether the window is at least that of NewReno with the same cut (RFC 9438, section 4.3).
    pub reno_friendly: bool,
    /// Rule that ends slow start before the first loss.
    pub hystart: HystartKind,
    /// Whether packets are paced: then a train of ACKs may last for a whole idle round trip before slow start ends, and
    /// for half of one otherwise (Linux, with `fq` or its own pacing).
    pub paced: bool,
    /// Bytes that segmentation offload of the sender sends at once, for which HyStart allows; simulated hosts have none
    /// (Linux with offload: 64 KiB).
    pub burst: Bytes,
    /// How windows and times are computed.
    pub arithmetic: Arithmetic,
}

/// Rule that ends slow start before the first loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HystartKind {
    /// Nothing.
    Off,
    /// HyStart as in Linux: a long train of ACKs, or a round trip that grows.
    #[default]
    Linux,
}

/// How windows and times are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// The equations of RFC 9438.
    #[default]
    Rfc,
    /// Whole segments and milliseconds, as in Linux.
    Linux,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
            reno_friendly: true,
            hystart: HystartKind::default(),
            paced: false,
            burst: Bytes(0),
            arithmetic: Arithmetic::default(),
        }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "arithmetic = \"linux\", paced = true, burst = \"64KiB\"",
        "c = 4000.0, beta = 0.5, fast_convergence = false, reno_friendly = false, hystart = \"off\"",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.own_times();
        if self.arithmetic == Arithmetic::Linux {
            facts.own_clock();
        }
    }
}

impl Config {
    fn validate(&self) -> Result<(), Invalid> {
        // The factor of Linux is a whole number of 10/1024; the largest one lets no product overflow.
        if !(0.01..=1e9).contains(&self.c) {
            return Err(Invalid::new("c", format!("`c` must be between 0.01 and 1e9, got {}", self.c))
                .help("expected segments per second cubed, such as 0.4"));
        }
        if !(0.1..=0.99).contains(&self.beta) {
            return Err(Invalid::new("beta", format!("`beta` must be between 0.1 and 0.99, got {}", self.beta))
                .help("expected what a loss leaves of the window, such as 0.7"));
        }
        Ok(())
    }
}

/// The congestion control of one flow.
// Boxed, so that flows under DCTCP are no larger for it.
#[derive(Debug)]
pub struct Model(Box<State>);

#[derive(Debug)]
struct State {
    growth: Growth,
    hystart: HyStart,
    /// When the last packet left that is known to have been acknowledged.
    last_sent: Instant,
    /// Whether nothing was in flight after the last ACK.
    was_idle: bool,
}

/// Congestion avoidance and the answer to losses.
#[derive(Debug)]
enum Growth {
    Rfc(Curve),
    Linux(Kernel),
}

impl Build for Model {
    type Config = Config;
    type Context = FlowContext;

    fn build(config: &Config, _flow: &FlowContext) -> Result<Model, Invalid> {
        config.validate()?;
        let growth = match config.arithmetic {
            Arithmetic::Rfc => Growth::Rfc(Curve::new(config)),
            Arithmetic::Linux => Growth::Linux(Kernel::new(config)),
        };
        let hystart = HyStart::new(config.hystart == HystartKind::Linux, config.paced, config.burst);
        Ok(Model(Box::new(State { growth, hystart, last_sent: Instant::ZERO, was_idle: false })))
    }

    fn heap_bytes(&self) -> usize {
        size_of::<State>()
    }
}

impl State {
    /// Leaves idle periods out of the time since the last loss.
    fn skip_idle(&mut self, ack: &AckSample<'_>) {
        let sent = Instant::from_ps(ack.now.as_ps().saturating_sub(ack.rtt.as_ps()));
        if self.was_idle && sent > self.last_sent {
            match &mut self.growth {
                Growth::Rfc(curve) => curve.shift(self.last_sent, sent),
                Growth::Linux(kernel) => kernel.shift(self.last_sent, sent),
            }
        }
        self.last_sent = self.last_sent.max(sent);
        self.was_idle = ack.snd_una == ack.snd_nxt;
    }

    /// By how many segments a window of `cwnd` grows for an ACK.
    fn growth(&mut self, cwnd: f64, ack: &AckSample<'_>) -> f64 {
        let delay_min = self.hystart.delay_min();
        match &mut self.growth {
            Growth::Rfc(curve) => curve.growth(cwnd, ack),
            Growth::Linux(kernel) => kernel.growth(cwnd, ack, delay_min),
        }
    }

    /// When the time of the curve began, if it has since the last loss.
    fn epoch(&self) -> Option<Instant> {
        match &self.growth {
            Growth::Rfc(curve) => curve.epoch(),
            Growth::Linux(kernel) => kernel.epoch(),
        }
    }
}

impl CongestionControl for Model {
    fn opens_by_increase(&self) -> bool {
        true
    }

    fn increase(&mut self, window: &Window, ack: &AckSample<'_>) -> f64 {
        // What this ACK adds, for each segment that it acknowledges, is that for a window of them.
        let cwnd = window.cwnd / MSS;
        self.0.growth(cwnd, ack) * cwnd * MSS / ack.newly_acked.max(1) as f64
    }

    #[inline]
    fn ecn_capable(&self) -> bool {
        false
    }

    /// `W_max` in segments; 0 if none is known.
    fn learned(&self) -> Option<f64> {
        Some(match &self.0.growth {
            Growth::Rfc(curve) => curve.w_max(),
            Growth::Linux(kernel) => kernel.w_max(),
        })
    }

    fn recall(&mut self, w_max: f64) {
        match &mut self.0.growth {
            Growth::Rfc(curve) => curve.recall(w_max),
            Growth::Linux(kernel) => kernel.recall(w_max),
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool {
        let state = &mut *self.0;
        state.skip_idle(ack);
        let epoch = state.epoch();
        if !ack.in_recovery && ack.newly_acked > 0 && state.hystart.ends_slow_start(window, ack, epoch) {
            window.ssthresh = window.cwnd;
            if let Growth::Rfc(curve) = &mut state.growth {
                curve.leaves_slow_start(window.cwnd / MSS);
            }
        }
        if ack.newly_acked == 0 || !ack.window_limited || ack.in_recovery {
            return false;
        }
        if window.cwnd < window.ssthresh {
            super::increase(window, ack.newly_acked, 1.0);
            return false;
        }
        let growth = state.growth(window.cwnd / MSS, ack);
        window.cwnd = (window.cwnd + growth * MSS).min(window.max);
        false
    }

    fn on_loss(&mut self, _now: Instant, window: &mut Window, flight: u64) {
        let cwnd = window.cwnd / MSS;
        window.ssthresh = MSS
            * match &mut self.0.growth {
                Growth::Rfc(curve) => curve.after_loss(cwnd, flight as f64 / MSS),
                Growth::Linux(kernel) => kernel.after_loss(cwnd, flight as f64 / MSS),
            };
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, now: Instant, window: &mut Window, flight: u64, consecutive: u32) {
        // RFC 5681, section 3.1: ssthresh is kept when the retransmission is lost as well.
        if consecutive == 1 {
            self.on_loss(now, window, flight);
        }
        window.cwnd = MSS;
        match &mut self.0.growth {
            Growth::Rfc(curve) => curve.forget(),
            Growth::Linux(kernel) => kernel.forget(),
        }
        self.0.hystart.restart();
    }
}

#[cfg(test)]
mod tests;
