//! The worst packet goes: one that does not fit evicts what the scheduler would serve last, while that is worse than itself.
//!
//! Alizadeh et al., pFabric (SIGCOMM 2013), section 4.2: a full port drops the packet with the lowest priority, which may be the
//! arriving one. As many are dropped as it takes until the arriving packet fits: pFabric's public code drops one, since its
//! packets have one size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::Invalid;
use tailcut_model::seat::{BufferPolicy, DropReason, Occupancy, Verdict, Waiting};

use crate::PortContext;

/// No parameters: the limit is the port's, and which packet is the worst is its scheduler's to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The policy.
#[derive(Debug)]
pub struct Model;

impl Model {
    pub(crate) fn new(_: &Config, _: &PortContext) -> Result<Model, Invalid> {
        Ok(Model)
    }
}

impl BufferPolicy for Model {
    #[inline]
    fn admit(&mut self, o: Occupancy, _class: u8, size: u64, waiting: &impl Waiting) -> Verdict {
        if o.port + size <= o.limit {
            Verdict::Take
        } else if waiting.has_worse() {
            Verdict::PushOut
        } else {
            Verdict::Drop(DropReason::PortFull)
        }
    }
}
