//! Proportional rate reduction (RFC 6937 and draft-ietf-tcpm-prr-rfc6937bis): the window falls to the slow-start
//! threshold over a round trip, in proportion to what arrives.

/// A reduction of the window under way; all counts are in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Reduction {
    /// The window when it began.
    pub(super) prior_cwnd: u32,
    /// Delivered since.
    delivered: u32,
    /// Sent since.
    pub(super) sent: u32,
}

/// Progress of a recovery that an ACK reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Segments newly delivered, by cumulative ACK or by SACK.
    pub(super) delivered: u32,
    /// Segments newly marked lost.
    pub(super) lost: u32,
    /// Whether the first outstanding segment was acknowledged.
    pub(super) advanced: bool,
}

impl Reduction {
    /// A reduction that begins with this window.
    pub(super) fn begin(cwnd: u32) -> Reduction {
        Reduction { prior_cwnd: cwnd, delivered: 0, sent: 0 }
    }

    /// The window after an ACK, while `in_flight` segments are in the network; `None` if the ACK delivered nothing.
    pub(super) fn on_ack(&mut self, progress: Progress, in_flight: u32, ssthresh: u32) -> Option<u32> {
        if progress.delivered == 0 || self.prior_cwnd == 0 {
            return None;
        }
        self.delivered += progress.delivered;
        let sent = i64::from(self.sent);
        let may_send = if in_flight > ssthresh {
            // Proportional: what was sent per what arrived is the ratio of the windows.
            let allowed = (u64::from(ssthresh) * u64::from(self.delivered)).div_ceil(u64::from(self.prior_cwnd));
            allowed as i64 - sent
        } else {
            // Conservation of packets, and slow start while the recovery goes well.
            let conserved = (i64::from(self.delivered) - sent).max(i64::from(progress.delivered));
            let grown = conserved + i64::from(progress.advanced && progress.lost == 0);
            grown.min(i64::from(ssthresh - in_flight))
        };
        // The first ACK sends the first retransmission, whatever the window is.
        let least = i64::from(self.sent == 0);
        Some((i64::from(in_flight) + may_send.max(least)).max(0) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One SACK for each of 99 segments after one loss in a window of 100, each followed by what the window allows.
    #[test]
    fn one_loss_of_a_hundred_sends_every_second_time_until_the_window_is_half() {
        let mut reduction = Reduction::begin(100);
        let (mut in_flight, mut sent) = (96u32, Vec::new());
        for delivered in 0..96 {
            let progress = Progress { delivered: if delivered == 0 { 4 } else { 1 }, lost: 0, advanced: false };
            in_flight -= u32::from(delivered > 0);
            let cwnd = reduction.on_ack(progress, in_flight, 50).unwrap();
            let new = cwnd.saturating_sub(in_flight);
            reduction.sent += new;
            in_flight += new;
            sent.push(new);
        }
        assert!((49..=51).contains(&in_flight), "the window has halved: {in_flight}");
        assert!(sent.iter().skip(2).all(|&new| new <= 1), "without a burst: {sent:?}");
    }

    #[test]
    fn below_the_threshold_what_arrives_is_sent_and_one_more_while_it_goes_well() {
        let progress = |advanced, lost| Progress { delivered: 2, lost, advanced };
        let mut reduction = Reduction { prior_cwnd: 20, delivered: 5, sent: 5 };
        assert_eq!(reduction.clone().on_ack(progress(true, 0), 3, 10), Some(6));
        assert_eq!(reduction.clone().on_ack(progress(true, 1), 3, 10), Some(5));
        assert_eq!(reduction.clone().on_ack(progress(false, 0), 3, 10), Some(5));
        assert_eq!(reduction.on_ack(progress(true, 0), 9, 10), Some(10), "never beyond the threshold");
    }
}
