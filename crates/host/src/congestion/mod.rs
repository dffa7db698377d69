//! What sets the window of a flow.

mod marks;

use tailcut_base::{Instant, Span};
use tailcut_model::seat::{AckSample, CongestionControl, Window};
use tailcut_model::{FlowSpec, PathFacts, register};

register! {
    /// What sets the window of a flow.
    config CongestionConfig, seat "congestion control", needs [Window];
    /// The congestion control of one flow.
    model CongestionSeat, dispatch match_congestion, build(FlowContext), custom dyn CongestionControl;
    /// Slow start, additive increase, half on loss: TCP NewReno.
    Newreno in newreno,
    /// A cubic function of the time since the last loss: CUBIC.
    Cubic in cubic,
    /// The share of marked bytes scales the cut: DCTCP.
    Dctcp in dctcp,
    /// As DCTCP, by the bytes that the flow has sent: L2DCT.
    L2dct in l2dct,
    /// As DCTCP, by how near the flow's deadline is: D2TCP.
    D2tcp in d2tcp,
    /// Slow start, additive increase, half of the window at each timeout: pFabric.
    Minimal in minimal,
    /// A target for the round-trip time of each packet: Swift.
    Swift in swift,
}

/// What congestion control knows of its flow from the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowContext {
    /// Payload in bytes.
    pub size: u64,
    /// When the last byte should be delivered, if that was said.
    pub deadline: Option<Instant>,
    /// The way to the receiver.
    pub path: PathFacts,
}

impl FlowContext {
    /// What the workload says of the flow.
    pub fn of(spec: &FlowSpec) -> FlowContext {
        // A deadline beyond the end of time is as good as that.
        let moment = |after: Span| Instant::from_ps(spec.start.as_ps().saturating_add(after.as_ps()));
        FlowContext { size: spec.size, deadline: spec.deadline.map(moment), path: spec.path }
    }
}

impl CongestionControl for CongestionSeat {
    #[inline]
    fn ecn_capable(&self) -> bool {
        match_congestion!(self, model => model.ecn_capable())
    }
    // For the loop of a packet; other callers are rare.
    #[inline(always)]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool {
        match_congestion!(self, model => model.on_ack(window, ack))
    }
    fn opens_by_increase(&self) -> bool {
        match_congestion!(self, model => model.opens_by_increase())
    }
    fn increase(&mut self, window: &Window, ack: &AckSample<'_>) -> f64 {
        match_congestion!(self, model => model.increase(window, ack))
    }
    fn paces(&self) -> bool {
        match_congestion!(self, model => model.paces())
    }
    fn learned(&self) -> Option<f64> {
        match_congestion!(self, model => model.learned())
    }
    fn recall(&mut self, learned: f64) {
        match_congestion!(self, model => model.recall(learned));
    }
    fn on_path(&mut self, path: PathFacts) {
        match_congestion!(self, model => model.on_path(path));
    }
    fn on_loss(&mut self, now: Instant, window: &mut Window, flight: u64) {
        match_congestion!(self, model => model.on_loss(now, window, flight));
    }
    fn on_timeout(&mut self, now: Instant, window: &mut Window, flight: u64, consecutive: u32) {
        match_congestion!(self, model => model.on_timeout(now, window, flight, consecutive));
    }
}

/// Slow start below `ssthresh`, one step for each ACK (RFC 5681, equation 2); above, additive increase by `step`
/// segments in a round trip (equation 3, where it is one).
#[inline]
fn increase(window: &mut Window, newly_acked: u64, step: f64) {
    const MSS: f64 = tailcut_base::MSS_BYTES as f64;
    window.cwnd +=
        if window.cwnd < window.ssthresh { MSS.min(newly_acked as f64) } else { step * MSS * MSS / window.cwnd };
    window.cwnd = window.cwnd.min(window.max);
}

#[cfg(test)]
mod tests {
    use tailcut_base::MSS_BYTES;

    use super::*;

    /// A window of so many packets, in congestion avoidance.
    pub(super) fn window(packets: f64) -> Window {
        let cwnd = packets * MSS_BYTES as f64;
        Window { cwnd, ssthresh: cwnd, max: f64::INFINITY, gap: Span::ZERO }
    }

    /// One ACK for a whole window: `una` to `nxt` bytes were outstanding after it.
    pub(super) fn ack(una: u64, nxt: u64, newly: u64, ece: bool) -> AckSample<'static> {
        AckSample {
            now: Instant::ZERO,
            newly_acked: newly,
            ece,
            snd_una: una,
            snd_nxt: nxt,
            in_recovery: false,
            window_limited: true,
            srtt: Span::from_us(80),
            ..AckSample::default()
        }
    }
}
