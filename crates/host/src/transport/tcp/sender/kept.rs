//! What a flow leaves to the next one of a persistent connection.

use tailcut_base::{Instant, Span};
use tailcut_model::seat::{CongestionControl, Window};

use super::Sender;
use crate::transport::tcp::linux::Linux;

/// What a connection knows when a flow has ended: its window, its round-trip time, and what its congestion control has
/// learned beside them.
#[derive(Debug)]
pub(in crate::transport::tcp) struct Kept {
    window: Window,
    learned: Option<f64>,
    srtt: Span,
    rttvar: Span,
    rto: Span,
    linux: Option<Box<Linux>>,
}

impl Sender {
    /// What the next flow of the connection begins with, now that every byte is acknowledged.
    pub(in crate::transport::tcp) fn keep(&mut self) -> Kept {
        let Sender { window, srtt, rttvar, rto, .. } = *self;
        Kept { window, learned: self.congestion.learned(), srtt, rttvar, rto, linux: self.linux.take() }
    }

    /// Begins where an earlier flow of the connection has ended. The connection is open. If `restarts`, the window is
    /// that of a new flow all the same.
    pub(in crate::transport::tcp) fn go_on_from(&mut self, now: Instant, kept: Kept, restarts: bool) {
        self.gate = self.open_gate();
        let first = self.window.cwnd;
        self.window = kept.window;
        if restarts {
            self.window.cwnd = first;
        }
        if let Some(learned) = kept.learned {
            self.congestion.recall(learned);
        }
        (self.srtt, self.rttvar, self.rto) = (kept.srtt, kept.rttvar, kept.rto.max(self.min_rto));
        if let Some(linux) = kept.linux {
            self.go_on_as_linux(now, linux, restarts);
        }
    }
}
