//! How much a flow may send: what its window has room for.

use tailcut_base::MSS_BYTES;

use super::{Gate, Recovery, Sender};

/// So many bytes as a float: through a signed number, of which that takes one instruction.
#[inline]
fn float(bytes: u64) -> f64 {
    bytes as i64 as f64
}

impl Sender {
    /// Whether the window alone decides what may go: nothing was lost, and nobody else holds the flow back.
    #[inline]
    fn is_plain(&self) -> bool {
        self.gate == Gate::Open && self.board.is_none() && self.receive_window == u16::MAX
    }

    /// Whether a packet may go now, without counting how many.
    #[inline(always)]
    pub(super) fn may_send(&self) -> bool {
        if !self.is_plain() {
            return self.sendable_of_any() > 0;
        }
        let left = self.size - self.nxt;
        let may = left > 0 && self.room(self.nxt - self.una) >= float(left.min(MSS_BYTES));
        debug_assert_eq!(may, self.sendable_of_any() > 0);
        may
    }

    /// Packets that may go now.
    #[inline(always)]
    pub(super) fn sendable(&self) -> u64 {
        if !self.is_plain() {
            return self.sendable_of_any();
        }
        let (left, room) = (self.size - self.nxt, self.room(self.nxt - self.una));
        // Either all that is left fits, with its short last segment, or only whole segments do; a float that becomes an
        // integer is at least 0.
        let packets =
            if room >= float(left) { left.div_ceil(MSS_BYTES) } else { u64::from((room / MSS_BYTES as f64) as u32) };
        debug_assert_eq!(packets, self.sendable_of_any());
        packets
    }

    /// Bytes for which the window has room while `pipe` bytes are on their way.
    #[inline]
    fn room(&self, pipe: u64) -> f64 {
        self.window.cwnd - float(pipe)
    }

    /// [`Sender::sendable`], whatever the state of the flow.
    #[inline(never)]
    fn sendable_of_any(&self) -> u64 {
        if self.gate != Gate::Open {
            return match self.gate {
                Gate::ProbeDue => 1,
                Gate::Linux => self.sendable_as_linux(),
                _ => 0,
            };
        }
        let mut fresh = (self.size - self.nxt).div_ceil(MSS_BYTES);
        if self.receive_window < u16::MAX {
            let allowed = u64::from(self.receive_window);
            fresh = fresh.min(allowed.saturating_sub((self.nxt - self.una).div_ceil(MSS_BYTES)));
        }
        let Some(board) = &self.board else { return self.fits(0, fresh, self.nxt - self.una) };
        let missing = board.missing();
        match self.recovery {
            Recovery::No => {
                // Limited transmit; where reordering is usual and means nothing, the flight counts whole.
                let arrived = if self.dup_thresh == u32::MAX { 0 } else { board.sacked() * MSS_BYTES };
                self.fits(missing, fresh, (self.nxt - self.una).saturating_sub(arrived))
            }
            Recovery::Fast if self.speculative && missing + fresh == 0 => {
                let again = board.open().max(u64::from(board.may_rescue()));
                self.fits(again, 0, board.pipe() * MSS_BYTES)
            }
            Recovery::Fast | Recovery::Timeout => self.fits(missing, fresh, board.pipe() * MSS_BYTES),
        }
    }

    /// How many segments fit into the window: of `again` whole ones to send again and of `fresh` new ones, while `pipe`
    /// bytes are on their way.
    #[inline]
    fn fits(&self, again: u64, fresh: u64, pipe: u64) -> u64 {
        let room = self.room(pipe);
        let last = self.size - self.nxt;
        let allowed = if room >= MSS_BYTES as f64 {
            let whole = (room / MSS_BYTES as f64) as i64 as u64;
            // A short last segment may fit where a whole one does not.
            let rest = room - float(whole * MSS_BYTES);
            whole + u64::from(again == 0 && fresh == whole + 1 && rest >= float(last - whole * MSS_BYTES))
        } else {
            u64::from(again == 0 && fresh == 1 && room >= float(last))
        };
        (again + fresh).min(allowed.max(u64::from(self.forced && again > 0)))
    }

    /// Bytes of the window in use: sent, or in the NIC queue, and not acknowledged.
    #[inline]
    pub(super) fn in_use(&self) -> u64 {
        self.nxt - self.una + if self.queued { u64::from(self.offered) * MSS_BYTES } else { 0 }
    }

    /// Whether the window, and not the host's own link or the application, has held the flow back: only then may it
    /// open (RFC 7661; in slow start, where the window doubles, half of it in use is enough, as in Linux).
    #[inline]
    pub(super) fn is_window_limited(&self) -> bool {
        let used = float(self.used);
        if !self.validates {
            true
        } else if self.window.cwnd < self.window.ssthresh {
            2.0 * used > self.window.cwnd
        } else {
            used + MSS_BYTES as f64 > self.window.cwnd
        }
    }
}
