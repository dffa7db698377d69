//! Every packet joins class 0: a FIFO port.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::seat::Classifier;
use tailcut_model::{Invalid, Packet};

use crate::PortContext;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The classifier.
#[derive(Debug)]
pub struct Model;

impl Model {
    pub(crate) fn new(_: &Config, _: &PortContext) -> Result<Model, Invalid> {
        Ok(Model)
    }
}

impl Classifier for Model {
    #[inline]
    fn classify(&mut self, _packet: &Packet, _classes: u8) -> u8 {
        0
    }
}
