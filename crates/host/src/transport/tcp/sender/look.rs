//! How a flow stands, for whoever looks at it closely.

use tailcut_base::Instant;
use tailcut_model::seat::{Awaits, Look, Progress};

use super::{Gate, Sender};

impl Sender {
    /// How it stands.
    pub(in crate::transport::tcp) fn look(&self) -> Look {
        Look {
            is_ready: self.offered > 0,
            timeouts: self.report.timeouts,
            window: Some(self.window.cwnd),
            rate: None,
            round_trip: self.srtt,
        }
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
