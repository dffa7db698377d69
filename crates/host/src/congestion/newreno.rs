//! TCP NewReno's window: slow start, congestion avoidance, half of the flight after a loss (RFC 5681, RFC 6582).
//!
//! Without ECN: its packets are not ECN-capable and are never marked.

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
}

#[cfg(test)]
mod tests {
    use tailcut_base::{Instant, MSS_BYTES, Span};

    use super::*;

    const MSS: f64 = MSS_BYTES as f64;

    fn window(cwnd: f64, ssthresh: f64, max: f64) -> Window {
        Window { cwnd: cwnd * MSS, ssthresh: ssthresh * MSS, max: max * MSS, gap: Span::ZERO }
    }

    fn ack(newly_acked: u64, in_recovery: bool) -> AckSample<'static> {
        AckSample {
            now: Instant::ZERO,
            newly_acked,
            ece: false,
            snd_una: 0,
            snd_nxt: 0,
            in_recovery,
            window_limited: true,
            srtt: Span::from_us(80),
            ..AckSample::default()
        }
    }

    /// ACKs of one segment each; gives the window in segments.
    fn acks(window: &mut Window, n: u32, in_recovery: bool) -> f64 {
        for _ in 0..n {
            assert!(!Model.on_ack(window, &ack(MSS_BYTES, in_recovery)), "NewReno does not answer ACKs by a cut");
        }
        window.cwnd / MSS
    }

    #[test]
    fn below_ssthresh_a_window_of_acks_doubles_it_and_above_adds_one_segment() {
        assert_eq!(acks(&mut window(10.0, 1000.0, 1000.0), 10, false), 20.0);
        let grown = acks(&mut window(100.0, 100.0, 1000.0), 100, false);
        assert!(grown > 100.98 && grown <= 101.0, "{grown}");
    }

    #[test]
    fn an_ack_of_many_segments_opens_the_window_by_one() {
        let mut window = window(10.0, 1000.0, 1000.0);
        Model.on_ack(&mut window, &ack(5 * MSS_BYTES, false));
        assert_eq!(window.cwnd, 11.0 * MSS);
        Model.on_ack(&mut window, &ack(7, false));
        assert_eq!(window.cwnd, 11.0 * MSS + 7.0, "and by no more than what it acknowledges");
    }

    #[test]
    fn the_window_stands_still_in_recovery_at_its_limit_and_without_news() {
        assert_eq!(acks(&mut window(10.0, 1000.0, 1000.0), 5, true), 10.0);
        assert_eq!(acks(&mut window(10.0, 1000.0, 12.0), 5, false), 12.0);
        let mut same = window(10.0, 1000.0, 1000.0);
        Model.on_ack(&mut same, &ack(0, false));
        assert_eq!(same.cwnd, 10.0 * MSS);
    }

    #[test]
    fn loss_leaves_half_of_the_flight_and_a_timeout_one_segment() {
        let mut lost = window(100.0, 1000.0, 1000.0);
        Model.on_loss(Instant::ZERO, &mut lost, 80 * MSS_BYTES);
        assert_eq!((lost.cwnd, lost.ssthresh), (40.0 * MSS, 40.0 * MSS));
        Model.on_timeout(Instant::ZERO, &mut lost, 3 * MSS_BYTES, 1);
        assert_eq!((lost.cwnd, lost.ssthresh), (MSS, 2.0 * MSS), "ssthresh is at least two segments");
        Model.on_timeout(Instant::ZERO, &mut lost, 50 * MSS_BYTES, 2);
        assert_eq!((lost.cwnd, lost.ssthresh), (MSS, 2.0 * MSS), "and kept when the retransmission is lost as well");
    }
}
