//! Whether an admitted packet is marked with CE.

use tailcut_model::register;
use tailcut_model::seat::{Marker, Occupancy};

use crate::PortContext;

mod threshold;
pub use threshold::Threshold;

register! {
    /// When a port marks packets.
    config MarkerConfig, seat "marker";
    /// The marker of one port.
    model MarkerSeat, dispatch match_marker, build(PortContext);
    /// Never.
    Off in off,
    /// Above a fixed queue length: DCTCP's step.
    Step in step,
}

impl Marker for MarkerSeat {
    #[inline(always)]
    fn mark(&mut self, occupancy: Occupancy, class: u8, size: u64) -> bool {
        match_marker!(self, model => model.mark(occupancy, class, size))
    }

    fn spares_first(&self) -> bool {
        match_marker!(self, model => model.spares_first())
    }
}
