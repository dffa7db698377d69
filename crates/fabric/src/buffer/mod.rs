//! Whether an arriving packet is let in.

use tailcut_model::register;
use tailcut_model::seat::{Admission, BufferPolicy, Occupancy, Waiting};

use crate::PortContext;

register! {
    /// Who may use the buffer.
    config BufferConfig, seat "buffer";
    /// The buffer policy of one port.
    model BufferSeat, dispatch match_buffer, build(PortContext);
    /// One limit for the whole port; a packet that does not fit is dropped.
    TailDrop in tail_drop,
    /// One limit for the whole port; a packet of a higher class evicts the last one of the lowest: Slytherin.
    PushOut in push_out,
    /// One limit for the whole port; a packet that does not fit evicts the worst one that waits, if it is better:
    /// pFabric.
    DropWorst in drop_worst,
    /// A limit for each class; a packet that does not fit in its class is dropped or demoted.
    Divided in divided,
    /// A part of the port for the highest class, and the rest for all others: ResQueue.
    Reserved in reserved,
}

impl BufferPolicy for BufferSeat {
    #[inline(always)]
    fn admit(&mut self, occupancy: Occupancy, class: u8, size: u64, waiting: &impl Waiting) -> Admission {
        match_buffer!(self, model => model.admit(occupancy, class, size, waiting))
    }

    fn capacity(&self, limit: u64) -> u64 {
        match_buffer!(self, model => model.capacity(limit))
    }

    fn capacity_of_class(&self, limit: u64, class: u8) -> u64 {
        match_buffer!(self, model => model.capacity_of_class(limit, class))
    }

    fn takes_into_empty(&self) -> bool {
        match_buffer!(self, model => model.takes_into_empty())
    }
}
