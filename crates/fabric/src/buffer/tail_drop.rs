//! Tail drop: the limit is the port's, shared by its classes; a packet that does not fit is dropped.
//!
//! As in the priority queue of the public PIAS scripts for ns-2 (HKUST-SING/PIAS-NS2), where low-priority backlog can
//! cause drops of high-priority arrivals.

use tailcut_model::seat::{BufferPolicy, DropReason, Occupancy, Verdict, Waiting};

use crate::PortContext;

tailcut_model::no_parameters!(PortContext);

impl BufferPolicy for Model {
    #[inline]
    fn admit(&mut self, o: Occupancy, _class: u8, size: u64, _waiting: &impl Waiting) -> Verdict {
        if o.port + size > o.limit { Verdict::Drop(DropReason::PortFull) } else { Verdict::Take }
    }
}
