//! Taking back a reduction of the window that turned out to be unnecessary.
//!
//! It was unnecessary if every retransmission arrived as a duplicate (RFC 3708) or if the timeout was spurious (RFC
//! 5682). Marks prove congestion: a reduction with marks is never taken back.

use super::{Linux, Sender, UNLIMITED};

/// State from which a reduction can be taken back; windows are in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// The first outstanding segment when the recovery began, if it can be taken back.
    pub(super) from: Option<u64>,
    /// Retransmissions whose duplicate was not reported. Negative while nothing was sent again.
    pub(super) unreported: i64,
    /// The threshold before; 0 if marks forbid to restore it.
    pub(super) prior_ssthresh: u32,
    /// The window before.
    pub(super) prior_cwnd: u32,
}

impl Undo {
    /// So many retransmissions of segments up to `end` were reported as duplicates.
    pub(super) fn report(&mut self, end: u64, segments: u64) {
        if self.unreported > 0 && self.from.is_some_and(|from| end > from) {
            self.unreported = (self.unreported - segments as i64).max(0);
        }
    }
}

impl Linux {
    /// A recovery begins that may be taken back.
    pub(super) fn begin_undo(&mut self) {
        let in_flight = u64::from(self.board.resent()) + u64::from(self.probe.is_retransmission_in_flight());
        self.undo.from = Some(self.board.first());
        self.undo.unreported = if in_flight == 0 { -1 } else { in_flight as i64 };
    }

    /// Whether all that was sent again was unnecessary, or nothing was.
    pub(super) fn may_undo(&self) -> bool {
        self.undo.from.is_some() && (self.undo.unreported == 0 || !self.has_resent)
    }

    /// Restores the window. `forgets_losses` says whether segments that are marked lost no longer are.
    pub(super) fn restore_window(&mut self, flow: &mut Sender, forgets_losses: bool) {
        if forgets_losses {
            self.board.forget_losses();
        }
        if self.undo.prior_ssthresh > 0 {
            self.cwnd = self.cwnd.max(self.undo.prior_cwnd);
            if self.undo.prior_ssthresh > self.ssthresh {
                self.ssthresh = self.undo.prior_ssthresh;
                flow.withdraw_cwr();
            }
        }
        self.undo.from = None;
        self.rack.is_due = true;
    }

    /// Takes a reduction back if every retransmission was reported as a duplicate.
    pub(super) fn undo_by_duplicates(&mut self, flow: &mut Sender) -> bool {
        if self.undo.from.is_none() || self.undo.unreported != 0 {
            return false;
        }
        self.rack.undone();
        self.restore_window(flow, false);
        true
    }

    /// The threshold that a restored window has: the present one, or three quarters of the window.
    pub(super) fn present_ssthresh(&self) -> u32 {
        if self.state.reduces() || self.ssthresh == UNLIMITED {
            self.ssthresh
        } else {
            self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
        }
    }
}
