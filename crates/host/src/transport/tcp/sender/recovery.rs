//! How a loss is seen, and what is sent again.

use tailcut_base::{Instant, MSS_BYTES};
use tailcut_model::seat::CongestionControl;

use super::{Recovery, Scoreboard, Sender};

impl Sender {
    /// Whether a duplicate ACK means that a segment has arrived out of order: not after a timeout, before more is
    /// acknowledged than was sent until then, because it may be one that was sent again in vain (RFC 6582, section 3.2,
    /// step 2).
    pub(super) fn counts_duplicates(&self) -> bool {
        match self.recovery {
            Recovery::Fast => true,
            Recovery::No => self.recover == 0 || self.una > self.recover,
            Recovery::Timeout => false,
        }
    }

    /// Whether DupThresh segments above the first one were SACKed (RFC 6675, IsLost). As many duplicate ACKs mean the
    /// same: only an ACK that SACKs what was not known to have arrived is one (section 2).
    pub(super) fn sees_loss(&self) -> bool {
        self.board.as_ref().is_some_and(|board| {
            let sacked = board.sacked();
            sacked >= u64::from(self.dup_thresh) || (self.early && self.is_early_loss(sacked))
        })
    }

    /// Whether so few segments are outstanding that no more duplicate ACKs can come: no new data is left, or the
    /// receiver does not allow it (RFC 5827, section 3.1, step 3.b). A window that is full is no such reason, as
    /// limited transmit goes beyond it.
    #[cold]
    fn is_early_loss(&self, sacked: u64) -> bool {
        let outstanding = (self.nxt - self.una).div_ceil(MSS_BYTES);
        let may_send_new = self.nxt < self.size && outstanding < u64::from(self.receive_window);
        (2..=3).contains(&outstanding) && !may_send_new && sacked > 0 && sacked + 1 >= outstanding
    }

    /// The next new data tells the receiver so, whatever the reason was (RFC 3168, section 6.1.2).
    pub(in crate::transport::tcp) fn say_window_was_cut(&mut self) {
        self.cwr = self.congestion.ecn_capable();
    }

    pub(super) fn enter_fast_recovery(&mut self, now: Instant) {
        self.recovery = Recovery::Fast;
        self.say_window_was_cut();
        self.recover = self.nxt;
        self.forced = true;
        let board = self.board.get_or_insert_with(|| Box::new(Scoreboard::new(self.una, self.nxt)));
        // RFC 5681, section 3.2, step 2: what limited transmit has sent is no part of the flight that is halved.
        self.congestion.on_loss(now, &mut self.window, self.nxt - self.una - board.begin_recovery());
        board.lose_first();
        board.infer_losses(self.dup_thresh);
    }

    /// The segment to send again, by number, before any new data (RFC 6675, NextSeg, rule 1), or when there is none
    /// (rules 3 and 4).
    #[inline]
    pub(super) fn next_retransmission(&mut self) -> Option<u64> {
        let board = self.board.as_mut()?;
        let lost = board.retransmit();
        if lost.is_some() || !self.speculative || self.nxt < self.size || self.recovery != Recovery::Fast {
            return lost;
        }
        board.repeat_open().or_else(|| board.rescue())
    }
}
