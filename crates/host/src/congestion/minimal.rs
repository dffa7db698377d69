//! pFabric's rate control: NewReno's growth, and nothing is an answer to loss but timeouts.
//!
//! Alizadeh et al., pFabric (SIGCOMM 2013), section 4.3; in public code `MinTcpAgent` of HKUST-SING/PIAS-NS2
//! (`pFabric.patch`) and `PFabricFlow::handle_timeout` of NetSys/simulator (`ext/pfabricflow.cpp`). Each timeout halves
//! the window as it is, where NewReno halves what is in flight, once for timeouts in a row. The transport is to
//! retransmit by timeouts alone. Without ECN.

use tailcut_base::{Instant, MSS_BYTES};
use tailcut_model::seat::{AckSample, CongestionControl, Window};

use super::FlowContext;

tailcut_model::no_parameters!(FlowContext);

impl CongestionControl for Model {
    fn opens_by_increase(&self) -> bool {
        true
    }

    #[inline]
    fn ecn_capable(&self) -> bool {
        false
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool {
        if ack.newly_acked > 0 && ack.window_limited && !ack.in_recovery {
            super::increase(window, ack.newly_acked, 1.0);
        }
        false
    }

    fn on_timeout(&mut self, _now: Instant, window: &mut Window, _flight: u64, _consecutive: u32) {
        const MSS: f64 = MSS_BYTES as f64;
        window.ssthresh = (window.cwnd / 2.0).max(2.0 * MSS);
        window.cwnd = MSS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: f64 = MSS_BYTES as f64;

    #[test]
    fn a_timeout_halves_the_window_whatever_is_in_flight_and_each_one_does() {
        let mut window =
            Window { cwnd: 70.0 * MSS, ssthresh: f64::INFINITY, max: f64::INFINITY, gap: tailcut_base::Span::ZERO };
        Model.on_timeout(Instant::ZERO, &mut window, 3 * MSS_BYTES, 1);
        assert_eq!((window.cwnd, window.ssthresh), (MSS, 35.0 * MSS));
        Model.on_timeout(Instant::ZERO, &mut window, 3 * MSS_BYTES, 2);
        assert_eq!((window.cwnd, window.ssthresh), (MSS, 2.0 * MSS), "down to two segments");
    }
}
