//! No pacing: what the window allows goes as fast as the NIC takes it.

use tailcut_base::Instant;
use tailcut_model::seat::{Awareness, PaceView, Pacer};

use crate::HostContext;

tailcut_model::no_parameters!(HostContext);

impl Pacer for Model {
    fn is_on(&self) -> bool {
        false
    }

    fn awareness(&self) -> Awareness {
        Awareness::Off
    }

    fn next_due(&self, _: Instant, sent: Instant, _: &PaceView) -> Instant {
        sent
    }
    fn release(&self, due: Instant) -> Instant {
        due
    }
}
