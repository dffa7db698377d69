//! Every packet joins class 0: a FIFO port.

use tailcut_model::Packet;
use tailcut_model::seat::Classifier;

use crate::PortContext;

tailcut_model::no_parameters!(PortContext);

impl Classifier for Model {
    #[inline]
    fn classify(&self, _packet: &Packet, _classes: u8) -> u8 {
        0
    }
}
