//! How the window opens: by whole segments, by those that were delivered, and only while it is used up (RFC 7661).

use tailcut_base::{Instant, MSS_BYTES, Span};
use tailcut_model::Header;
use tailcut_model::seat::{AckSample, CongestionControl, Window};

use super::rtt::micros;
use super::{Linux, Sender, State, UNLIMITED, in_bytes, whole};

/// How much of the window is used; in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    /// Whether the window has held the flow back in this round trip.
    is_limited: bool,
    /// Most segments outstanding in this round trip.
    most: u32,
    /// The round trip ends when this segment is acknowledged.
    until: u64,
}

impl Usage {
    /// Data was sent, or could not be: `outstanding` segments are out.
    pub(super) fn on_send(&mut self, una: u64, nxt: u64, outstanding: u32, is_limited: bool) {
        if una >= self.until || is_limited || (!self.is_limited && outstanding > self.most) {
            *self = Usage { is_limited, most: outstanding, until: nxt };
        }
    }
}

/// Facts of an ACK that a congestion control uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard<'a> {
    pub(super) ece: bool,
    /// Segments newly delivered.
    pub(super) delivered: u64,
    /// Round-trip time of the newest of them in microseconds, if it was measured.
    pub(super) rtt: Option<u64>,
    pub(super) header: Option<&'a Header>,
}

impl Linux {
    fn scratch(&self, flow: &Sender) -> Window {
        let cwnd = in_bytes(self.cwnd) + self.fraction * MSS_BYTES as f64;
        Window { cwnd, ssthresh: in_bytes(self.ssthresh), ..flow.window() }
    }

    fn sample<'a>(&self, flow: &Sender, now: Instant, heard: Heard<'a>) -> AckSample<'a> {
        let rtt = heard.rtt.map_or(self.srtt(), Span::from_us);
        let (una, nxt) = (self.board.first() * MSS_BYTES, self.board.end() * MSS_BYTES);
        AckSample {
            now,
            newly_acked: heard.delivered * MSS_BYTES,
            ece: heard.ece,
            snd_una: una.min(flow.size()),
            snd_nxt: nxt.min(flow.size()),
            in_recovery: self.state >= State::Reduced && !self.ends_now(),
            window_limited: false,
            srtt: self.srtt(),
            rtt,
            header: heard.header,
        }
    }

    /// Tells the congestion control what an ACK says: it learns from marks and times, and may ask for a reduction.
    pub(super) fn inform(&mut self, flow: &mut Sender, now: Instant, heard: Heard<'_>) {
        let before = self.scratch(flow);
        let mut window = before;
        let mut sample = self.sample(flow, now, heard);
        // A window that opens as TCP's does is opened below, and otherwise by the congestion control itself.
        sample.window_limited = !flow.congestion().opens_by_increase() && self.is_limited();
        let is_cut = flow.congestion().on_ack(&mut window, &sample);
        flow.set_gap(window.gap);
        self.cut_to = None;
        if sample.in_recovery {
            return;
        }
        if is_cut {
            // Of a window that is not whole, Linux keeps the part of a segment.
            self.cut_to = Some(((window.cwnd / MSS_BYTES as f64 - 1e-9).ceil() as u32).max(2));
            return;
        }
        if window.ssthresh < before.ssthresh {
            self.ssthresh = whole(window.ssthresh).max(2);
        }
        if (window.cwnd - before.cwnd).abs() > 0.5 {
            // It has set the window itself.
            let segments = (window.cwnd / MSS_BYTES as f64).max(1.0);
            (self.cwnd, self.fraction) = (segments as u32, segments.fract());
        }
    }

    /// Whether the window has held the flow back: in slow start half of it in use is enough.
    pub(super) fn is_limited(&self) -> bool {
        self.usage.is_limited || (self.cwnd < self.ssthresh && self.cwnd < 2 * self.usage.most)
    }

    /// Opens the window after so many segments were delivered.
    pub(super) fn grow(&mut self, flow: &mut Sender, now: Instant, heard: Heard<'_>) {
        if !self.is_limited() || self.cut_to.is_some() || !flow.congestion().opens_by_increase() {
            return;
        }
        let mut delivered = u32::try_from(heard.delivered).unwrap_or(UNLIMITED);
        if self.cwnd < self.ssthresh {
            let opened = self.cwnd.saturating_add(delivered).min(self.ssthresh);
            delivered -= opened - self.cwnd;
            self.cwnd = opened;
        }
        if delivered > 0 {
            let sample = self.sample(flow, now, Heard { delivered: u64::from(delivered), ..heard });
            let window = self.scratch(flow);
            let increase = flow.congestion().increase(&window, &sample);
            self.count(delivered, f64::from(self.cwnd) / increase);
        }
        self.cwnd = self.cwnd.min(whole(flow.window().max));
    }

    /// Opens the window by a segment for each `of_one` that were delivered.
    fn count(&mut self, delivered: u32, of_one: f64) {
        const ROUNDING: f64 = 1e-9;
        if self.counted >= of_one - ROUNDING {
            // What was counted while more were needed is worth one segment and no more.
            self.counted = 0.0;
            self.cwnd = self.cwnd.saturating_add(1);
        }
        self.counted += f64::from(delivered);
        if self.counted >= of_one - ROUNDING {
            let opened = (self.counted / of_one + ROUNDING).floor();
            self.counted = (self.counted - opened * of_one).max(0.0);
            self.cwnd = self.cwnd.saturating_add(opened as u32);
        }
    }

    /// The window after a loss, as the congestion control has it.
    pub(super) fn target_after_loss(&mut self, flow: &mut Sender, now: Instant) -> u32 {
        let mut window = self.scratch(flow);
        let flight = window.cwnd as u64;
        flow.congestion().on_loss(now, &mut window, flight);
        flow.set_gap(window.gap);
        whole(window.cwnd).max(2)
    }

    /// The window after a loss that a probe has repaired. DCTCP answers it as marks, by alpha.
    pub(super) fn target_after_probe(&mut self, flow: &mut Sender, now: Instant) -> u32 {
        let alpha = flow.congestion().learned().filter(|_| flow.congestion().ecn_capable());
        match alpha {
            Some(alpha) => self.cwnd - (f64::from(self.cwnd) * alpha / 2.0 + 1e-9) as u32,
            None => self.target_after_loss(flow, now),
        }
        .max(2)
    }

    /// The threshold after a timeout, as the congestion control has it.
    pub(super) fn threshold_after_timeout(&mut self, flow: &mut Sender, now: Instant) -> u32 {
        let mut window = self.scratch(flow);
        let flight = window.cwnd as u64;
        flow.congestion().on_timeout(now, &mut window, flight, 1);
        flow.set_gap(window.gap);
        whole(window.ssthresh).max(2)
    }

    /// A flow begins on a connection that was used before: a window that was idle for longer than the timeout is halved
    /// for each timeout, down to the initial one.
    pub(in crate::transport::tcp) fn restart_after_idle(&mut self, now: Instant) {
        let timeout = self.timeout_or_first();
        let mut idle = micros(now).saturating_sub(self.last_sent);
        if !self.config.slow_start_after_idle || idle <= timeout {
            return;
        }
        self.ssthresh = self.present_ssthresh();
        let least = self.initial_cwnd.min(self.cwnd);
        while idle > timeout && self.cwnd > least {
            idle -= timeout;
            self.cwnd /= 2;
        }
        self.cwnd = self.cwnd.max(least);
        self.forget_parts();
    }
}
