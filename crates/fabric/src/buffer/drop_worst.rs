//! The worst packet goes: one that does not fit evicts what the scheduler would serve last, while that is worse than
//! itself.
//!
//! Alizadeh et al., pFabric (SIGCOMM 2013), section 4.2: a full port drops the packet with the lowest priority, which
//! may be the arriving one. As many are dropped as it takes until the arriving packet fits: pFabric's public code drops
//! one, since its packets have one size.

use tailcut_model::seat::{Admission, BufferPolicy, DropReason, Occupancy, Waiting};

use tailcut_model::Thing;

use crate::PortContext;

tailcut_model::no_parameters!(PortContext, |facts| facts.excludes(Thing::Pauses, "it evicts what waits"));

impl BufferPolicy for Model {
    #[inline]
    fn admit(&mut self, o: Occupancy, _class: u8, size: u64, waiting: &impl Waiting) -> Admission {
        if o.port + size <= o.limit {
            Admission::Take
        } else if waiting.has_worse() {
            Admission::PushOut
        } else {
            Admission::Drop(DropReason::PortFull)
        }
    }

    fn takes_into_empty(&self) -> bool {
        true
    }
}
