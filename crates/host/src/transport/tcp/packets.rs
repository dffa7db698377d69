//! TCP's own kinds of packets, and the fields of its headers.

use tailcut_model::{Kind, Packet};

/// Opens a connection.
pub const SYN: Kind = Kind::own(0);
/// Answers a SYN.
pub const SYN_ACK: Kind = Kind::own(1);
/// Tells a sender how many hosts answer the same query now. Its sequence number is the class of the connection.
pub const UPDATE: Kind = Kind::own(2);

/// The receive window that an ACK or SYN-ACK advertises, in segments; `None` if it limits nothing.
#[inline]
pub fn advertised(packet: &Packet) -> Option<u16> {
    debug_assert!([Kind::ACK, SYN_ACK].contains(&packet.kind));
    (packet.payload != 0).then_some(packet.payload)
}

/// Sets the receive window that an ACK or SYN-ACK advertises, in segments.
///
/// # Panics
/// If it is zero, in debug builds: nothing would ever open it again.
#[inline]
pub fn set_advertised(packet: &mut Packet, segments: u16) {
    debug_assert!([Kind::ACK, SYN_ACK].contains(&packet.kind) && segments > 0);
    packet.payload = segments;
}

/// The incast degree that a SYN-ACK or an update carries: how many hosts answer the same query; 1 outside of an incast.
pub fn degree(packet: &Packet) -> u32 {
    packet.word(0).max(1)
}

/// Sets the incast degree that a SYN-ACK or an update carries.
pub fn set_degree(packet: &mut Packet, degree: u32) {
    packet.set_word(0, degree);
}
