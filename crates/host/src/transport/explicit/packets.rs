//! The kinds of packets of explicit-rate transports.

use tailcut_model::{Kind, Packet};

/// Opens a flow: a SYN.
pub const OPEN: Kind = Kind::own(5);
/// Answers the packet that opens a flow.
pub const OPENED: Kind = Kind::own(6);
/// Asks for a rate while the flow may not send.
pub const PROBE: Kind = Kind::own(7);
/// Ends a flow: a TERM or FIN. Its sequence number is 1 if the sender gave the flow up and wants an answer.
pub const END: Kind = Kind::own(8);
/// Answers a packet that ends a flow that was given up.
pub const ENDED: Kind = Kind::own(9);

/// Bytes of the whole flow, in a probe: the receiver may have forgotten a flow that it has all of.
pub fn flow_bytes(probe: &Packet) -> u64 {
    u64::from(probe.word(0)) | u64::from(probe.word(1)) << 32
}

/// Writes the bytes of the whole flow into a probe.
pub fn set_flow_bytes(probe: &mut Packet, bytes: u64) {
    probe.set_word(0, bytes as u32);
    probe.set_word(1, (bytes >> 32) as u32);
}
