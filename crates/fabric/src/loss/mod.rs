//! Whether an arriving packet is lost by chance, as on a link with bit errors.
//!
//! Left out: losses in bursts, and losses that depend on the size of a packet.

use tailcut_base::{PortId, Seeds};
use tailcut_model::seat::Loss;
use tailcut_model::{Packet, register};

/// Where the draws of a port come from.
#[derive(Clone, Copy, Debug)]
pub struct LossContext {
    /// The root of all draws of the run.
    pub seeds: Seeds,
    /// The port.
    pub port: PortId,
}

register! {
    /// Which packets are lost by chance.
    config LossConfig, seat "loss";
    /// The losses of one port.
    model LossSeat, dispatch match_loss, build(LossContext);
    /// None.
    Off in off,
    /// Each packet with the same probability, whatever happens to the others.
    Random in random,
}

const _: () = assert!(size_of::<LossSeat>() <= 8, "a port that loses nothing is no larger for it");

impl Loss for LossSeat {
    #[inline]
    fn loses(&mut self, packet: &Packet) -> bool {
        match_loss!(self, model => model.loses(packet))
    }
}
