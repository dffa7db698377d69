//! No limit: the receiver takes all that comes.

use tailcut_base::Instant;
use tailcut_model::Packet;
use tailcut_model::seat::ReceiveWindow;

use crate::HostContext;

tailcut_model::no_parameters!(HostContext);

impl ReceiveWindow for Model {
    fn initial_window(&self) -> Option<u16> {
        None
    }

    fn on_open(&mut self, _: Instant, _: u32) {}
    fn on_data(&mut self, _: Instant, _: u32, _: &Packet) {}
    fn advertise(&mut self, _: Instant, _: u32, _: u64) -> Option<u16> {
        None
    }
    fn on_close(&mut self, _: u32) {}
}
