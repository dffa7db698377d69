//! What holds back a packet that the window allows: another flow to the same host, or a limit of the host.

use tailcut_base::{HEADER_BYTES, Instant, MSS_BYTES};

use super::{Gate, Sender};

impl Sender {
    /// Nothing goes before then, because of other packets of the host.
    pub(in super::super) fn hold_until(&mut self, at: Instant) {
        if let Some(pacing) = &mut self.pacing {
            pacing.release = pacing.release.max(at);
        }
    }

    /// When the host's pacer lets the next packet go.
    pub(in super::super) fn release(&self) -> Option<Instant> {
        self.pacing.as_ref().map(|pacing| pacing.release)
    }

    /// Takes back the packet that was offered, because it may not go yet.
    pub(in super::super) fn take_back(&mut self) {
        self.offered -= 1;
        self.waits = true;
    }

    /// The class of the next packet and its bytes on the wire, if one may go.
    #[cold]
    pub(in super::super) fn upcoming(&mut self) -> Option<(u8, u64)> {
        if !self.may_send() {
            return None;
        }
        if let Some(linux) = &self.linux
            && let Some((number, class)) = linux.front()
        {
            let seq = number * MSS_BYTES;
            return Some((class, MSS_BYTES.min(self.size - seq) + HEADER_BYTES));
        }
        // Which segment goes again is asked of a copy: to ask is to send it.
        let board = self.board.clone();
        let again = self.next_retransmission().map(|number| number * MSS_BYTES);
        self.board = board;
        let (seq, payload) = match self.gate {
            Gate::ProbeDue => (self.una, 1),
            _ => {
                let seq = again.unwrap_or(self.nxt);
                (seq, MSS_BYTES.min(self.size - seq))
            }
        };
        Some((self.priority(seq).class, payload + HEADER_BYTES))
    }
}
