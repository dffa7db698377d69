//! What a flow does that may not send as its window allows: it probes, or has no permission.

use tailcut_base::{Instant, MSS_BYTES};
use tailcut_model::{Flags, Packet};

use super::{Gate, Sender};

impl Sender {
    /// The next probe: a data packet of which one byte is on the wire and none is the flow's. It stands at the first
    /// byte that is not acknowledged, which its receiver has or expects, so that there is nothing to take in and the
    /// answer is an ACK.
    #[cold]
    pub(super) fn probe(&mut self, now: Instant) -> Packet {
        self.gate = Gate::Probing;
        let mut probe = self.data(now, self.una, 0);
        probe.size += 1;
        probe.flags.set(Flags::RETRANSMITTED);
        self.report.packets += 1;
        self.report.retransmissions += 1;
        probe
    }

    /// Something arrives: the flow begins again with one segment, unless it has no permission.
    #[cold]
    pub(super) fn end_probing(&mut self, now: Instant) {
        if self.gate == Gate::Held {
            return;
        }
        self.gate = Gate::Open;
        self.timeouts_in_row = 0;
        self.window.cwnd = MSS_BYTES as f64;
        self.restart_timer(now);
    }

    /// Sends nothing from now on. What is on its way is acknowledged, and its timer starts again without effect. A
    /// connection that is not open yet goes on opening, and is to be held again when it is.
    pub(in crate::transport) fn hold(&mut self) {
        if self.gate != Gate::Closed {
            self.gate = Gate::Held;
        }
    }

    /// Sends again, with this connection and a window of so many packets, as soon as the connection is open.
    pub(in crate::transport) fn go_on(&mut self, connection: u32, window: u32) {
        if self.gate != Gate::Closed {
            self.gate = self.open_gate();
        }
        self.window.cwnd = f64::from(window) * MSS_BYTES as f64;
        if let Some(linux) = &mut self.linux {
            linux.set_cwnd(window);
        }
        self.connection = connection;
    }

    /// Bytes that are not acknowledged, sent or not.
    pub(in crate::transport) fn unacknowledged(&self) -> u64 {
        self.size - self.una
    }
}
