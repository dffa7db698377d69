//! What every other crate counts with: time, bytes and rates; typed ids; named random streams; dotted paths of keys.
//!
//! Invariant: nothing here knows what a packet, a port or a flow does.

mod cores;
pub mod dotted;
mod hash;
mod ids;
mod memory;
mod quantity;
mod rounded;
mod scaled;
mod stream;

pub use cores::{each_on_all_cores, on_threads};
pub use hash::mix64;
pub use ids::{HostId, Id, IdVec, PortId, SwitchId};
pub use memory::{prefer_large_pages, prefetch, prefetch_all};
pub use quantity::{BitRate, Bytes, Instant, ParseQuantityError, Span};
pub use scaled::{ScaledBytes, bdp_bytes};
pub use stream::{Seeds, Stream};

/// Bytes of a full-size packet on the wire; the unit `pkt` of a buffer size.
pub const MTU_BYTES: u64 = 1500;

/// Bytes of header in front of every payload (IP and TCP, no options); also the size of a pure ACK.
pub const HEADER_BYTES: u64 = 40;

/// Payload of a full-size packet: the maximum segment size.
pub const MSS_BYTES: u64 = MTU_BYTES - HEADER_BYTES;

/// The longest name in bytes that a scenario may give to a class, a scheme or a setting. Several of them stand in the
/// name of one file, and file systems take names of 255 bytes.
pub const MOST_NAME_BYTES: usize = 64;

/// Bytes that a flow of `size` payload bytes puts on each wire: its payload and one header for each
/// packet. A flow always has at least one packet.
pub const fn wire_bytes(size: u64) -> u64 {
    size + HEADER_BYTES * packets(size)
}

/// Number of packets that a flow of `size` payload bytes needs.
pub const fn packets(size: u64) -> u64 {
    let full = size.div_ceil(MSS_BYTES);
    if full == 0 { 1 } else { full }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_and_wire_bytes_of_a_flow() {
        assert_eq!(packets(1), 1);
        assert_eq!(packets(1460), 1);
        assert_eq!(packets(1461), 2);
        assert_eq!(wire_bytes(1_000_000), 1_000_000 + 40 * 685);
    }
}
