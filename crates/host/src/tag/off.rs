//! No tag: every packet carries the highest priority.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::Invalid;
use tailcut_model::seat::{Priority, Tag, TagView};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The tag.
#[derive(Debug)]
pub struct Model;

impl Model {
    pub(crate) fn new(_: &Config, _: &()) -> Result<Model, Invalid> {
        Ok(Model)
    }
}

impl Tag for Model {
    fn tag(&mut self, _: &TagView) -> Priority {
        Priority::default()
    }
}
