//! Which class of the port an arriving packet joins.

use tailcut_model::seat::Classifier;
use tailcut_model::{Packet, register};

use crate::PortContext;

register! {
    /// How a port sorts packets into classes.
    config ClassifierConfig, seat "classifier";
    /// The classifier of one port.
    model ClassifierSeat, dispatch match_classifier, build(PortContext);
    /// Every packet joins class 0.
    Single in single,
    /// The class that the sender wrote into the packet.
    Tag in tag,
    /// Marked packets and ACKs first: Slytherin.
    CeOrAck in ce_or_ack,
    /// The class that the sender wrote, or a higher one for packets that arrive marked: Slytherin in a port with
    /// classes.
    TagOrCe in tag_or_ce,
}

impl Classifier for ClassifierSeat {
    #[inline(always)]
    fn classify(&self, packet: &Packet, classes: u8) -> u8 {
        match_classifier!(self, model => model.classify(packet, classes))
    }
}
