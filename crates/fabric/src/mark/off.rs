//! No marking.

use tailcut_model::seat::{Marker, Occupancy};

use crate::PortContext;

tailcut_model::no_parameters!(PortContext);

impl Marker for Model {
    #[inline]
    fn mark(&mut self, _: Occupancy, _class: u8, _size: u64) -> bool {
        false
    }

    fn spares_first(&self) -> bool {
        true
    }
}
