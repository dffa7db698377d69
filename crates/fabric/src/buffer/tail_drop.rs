//! Tail drop: the limit is the port's, shared by its classes; a packet that does not fit is dropped.
//!
//! As in the priority queue of the public PIAS scripts for ns-2 (HKUST-SING/PIAS-NS2), where low-priority backlog can
//! cause drops of high-priority arrivals.

use tailcut_model::seat::{Admission, BufferPolicy, DropReason, Occupancy, Waiting};

use crate::PortContext;

tailcut_model::no_parameters!(PortContext);

impl BufferPolicy for Model {
    #[inline]
    fn admit(&mut self, o: Occupancy, _class: u8, size: u64, _waiting: &impl Waiting) -> Admission {
        if o.port + size > o.limit { Admission::Drop(DropReason::PortFull) } else { Admission::Take }
    }

    fn takes_into_empty(&self) -> bool {
        true
    }
}
