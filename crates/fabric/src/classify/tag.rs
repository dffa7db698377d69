//! The class that the sender wrote into the packet; classes that the port does not have fold into its last one.

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
    fn classify(&mut self, packet: &Packet, classes: u8) -> u8 {
        packet.class.min(classes - 1)
    }
}
