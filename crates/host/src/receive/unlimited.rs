//! No limit: the receiver takes all that comes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Instant;
use tailcut_model::seat::ReceiveWindow;
use tailcut_model::{Invalid, Packet};

use crate::HostContext;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The receive window.
#[derive(Debug)]
pub struct Model;

impl Model {
    pub(crate) fn new(_: &Config, _: &HostContext) -> Result<Model, Invalid> {
        Ok(Model)
    }
}

impl ReceiveWindow for Model {
    fn on_open(&mut self, _: Instant, _: u32) {}
    fn on_data(&mut self, _: Instant, _: u32, _: &Packet) {}
    fn advertise(&mut self, _: Instant, _: u32, _: u64) -> Option<u16> {
        None
    }
    fn on_close(&mut self, _: u32) {}
}
