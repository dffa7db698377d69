//! TCP NewReno's window: slow start, congestion avoidance, half of the flight after a loss (RFC 5681, RFC 6582).
//!
//! Without ECN: its packets are not ECN-capable and are never marked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::Invalid;
use tailcut_model::seat::{AckSample, CongestionControl, Window};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The congestion control of one flow.
#[derive(Debug)]
pub struct Model;

impl Model {
    pub(crate) fn new(_: &Config, _: &()) -> Result<Model, Invalid> {
        Ok(Model)
    }
}

impl CongestionControl for Model {
    #[inline]
    fn ecn_capable(&self) -> bool {
        false
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) -> bool {
        if ack.newly_acked > 0 && !ack.in_recovery {
            super::increase(window, ack.newly_acked);
        }
        false
    }
}
