//! No marking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::Invalid;
use tailcut_model::seat::{Marker, Occupancy};

use crate::PortContext;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The marker.
#[derive(Debug)]
pub struct Model;

impl Model {
    pub(crate) fn new(_: &Config, _: &PortContext) -> Result<Model, Invalid> {
        Ok(Model)
    }
}

impl Marker for Model {
    #[inline]
    fn mark(&mut self, _: Occupancy, _class: u8, _size: u64) -> bool {
        false
    }
}
