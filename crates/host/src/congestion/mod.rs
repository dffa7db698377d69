//! What sets the window of a flow.

use tailcut_model::register;
use tailcut_model::seat::{AckSample, CongestionControl, Window};

register! {
    /// What sets the window of a flow.
    config CongestionConfig;
    /// The congestion control of one flow.
    model CongestionSeat, dispatch match_congestion, build(());
    /// Slow start, additive increase, half on loss: TCP NewReno.
    Newreno in newreno,
    /// The share of marked bytes scales the cut: DCTCP.
    Dctcp in dctcp,
    /// Slow start, additive increase, half of the window at each timeout: pFabric.
    Minimal in minimal,
}

impl CongestionControl for CongestionSeat {
    #[inline]
    fn ecn_capable(&self) -> bool {
        match_congestion!(self, model => model.ecn_capable())
    }
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) -> bool {
        match_congestion!(self, model => model.on_ack(window, ack))
    }
    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        match_congestion!(self, model => model.on_loss(window, flight));
    }
    fn on_timeout(&mut self, window: &mut Window, flight: u64, consecutive: u32) {
        match_congestion!(self, model => model.on_timeout(window, flight, consecutive));
    }
}

/// Slow start below `ssthresh`, additive increase above (RFC 5681, equations 2 and 3), one step for each ACK.
#[inline]
fn increase(window: &mut Window, newly_acked: u64) {
    const MSS: f64 = tailcut_base::MSS_BYTES as f64;
    window.cwnd += if window.cwnd < window.ssthresh { MSS.min(newly_acked as f64) } else { MSS * MSS / window.cwnd };
    window.cwnd = window.cwnd.min(window.max);
}
