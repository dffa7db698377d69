//! One priority for each size of a flow, known in advance: the rank is the total size, not what remains of it.
//!
//! With a ranked port this is shortest job first without a limit on the number of priorities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::Invalid;
use tailcut_model::seat::{Priority, Tag, TagView};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The tag of one flow.
#[derive(Debug)]
pub struct Model;

impl Model {
    pub(crate) fn new(_: &Config, _: &()) -> Result<Model, Invalid> {
        Ok(Model)
    }
}

impl Tag for Model {
    #[inline]
    fn tag(&mut self, view: &TagView) -> Priority {
        Priority { class: 0, rank: view.flow_bytes }
    }
}
