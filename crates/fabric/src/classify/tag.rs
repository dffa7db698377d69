//! The class that the sender wrote into the packet; classes that the port does not have fold into its last one.

use tailcut_model::seat::Classifier;
use tailcut_model::{Packet, Thing};

use crate::PortContext;

tailcut_model::no_parameters!(PortContext, |facts| {
    facts.idle_without(Thing::Class, "hosts write none: every packet joins class 0")
});

impl Classifier for Model {
    #[inline]
    fn classify(&self, packet: &Packet, classes: u8) -> u8 {
        packet.class.min(classes - 1)
    }
}
