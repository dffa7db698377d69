//! Each port has a memory of its own, as large as its limit: nothing is shared.

use tailcut_base::Instant;
use tailcut_model::Packet;
use tailcut_model::seat::{DropReason, Memory, Pool, PortUse};

use crate::SwitchContext;

tailcut_model::no_parameters!(SwitchContext);

impl Memory for Model {
    fn size(&self) -> Option<u64> {
        None
    }

    fn listens(&self) -> bool {
        false
    }

    fn admit(&mut self, _: Instant, _: &Packet, _: PortUse, _: Pool) -> Result<(), DropReason> {
        Ok(())
    }
}
