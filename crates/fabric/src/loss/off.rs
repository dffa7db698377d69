//! No loss by chance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::seat::Loss;
use tailcut_model::{Invalid, Packet};

use super::LossContext;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The model.
#[derive(Debug)]
pub struct Model;

impl Model {
    pub(crate) fn new(_: &Config, _: &LossContext) -> Result<Model, Invalid> {
        Ok(Model)
    }
}

impl Loss for Model {
    #[inline]
    fn loses(&mut self, _: &Packet) -> bool {
        false
    }
}
