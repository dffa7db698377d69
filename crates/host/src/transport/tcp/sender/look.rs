//! How a flow stands, for whoever looks at it closely.

use tailcut_base::Instant;
use tailcut_model::seat::{Awaits, Look, Progress};

use super::{Gate, Sender};

impl Sender {
    /// Whether a packet of it waits for nothing but its turn, and how often its timer has fired.
    #[inline]
    pub(in crate::transport::tcp) fn readiness(&self) -> (bool, u64) {
        (self.offered > 0, self.report.timeouts)
    }

    /// How it stands.
    pub(in crate::transport::tcp) fn look(&self) -> Look {
        let (is_ready, timeouts) = self.readiness();
        Look { is_ready, timeouts, window: Some(self.window.cwnd), rate: None, round_trip: self.srtt }
    }
    /// How far it is, and what it waits for.
    pub(in crate::transport::tcp) fn progress(&self) -> Progress {
        let awaits = match self.gate {
            Gate::Closed => Awaits::Handshake,
            Gate::Held => Awaits::Permission,
            _ if self.offered > 0 => Awaits::Interface,
            _ if self.waits => Awaits::Pacer,
            _ if self.nxt < self.size => Awaits::Window,
            _ => Awaits::LastAck,
        };
        let timer = (self.deadline < Instant::MAX).then_some(self.deadline);
        Progress { acknowledged: self.una, awaits, timer }
    }
}
