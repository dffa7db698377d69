//! No pacing: what the window allows goes as fast as the NIC takes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Instant;
use tailcut_model::Invalid;
use tailcut_model::seat::{PaceView, Pacer};

use crate::HostContext;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The pacer.
#[derive(Debug)]
pub struct Model;

impl Model {
    pub(crate) fn new(_: &Config, _: &HostContext) -> Result<Model, Invalid> {
        Ok(Model)
    }
}

impl Pacer for Model {
    fn next_due(&self, _: Instant, sent: Instant, _: &PaceView) -> Instant {
        sent
    }
    fn release(&self, due: Instant) -> Instant {
        due
    }
}
