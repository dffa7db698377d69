//! How a flow stands, for whoever looks at it closely.

use tailcut_model::seat::Look;

use super::Sender;

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
}
