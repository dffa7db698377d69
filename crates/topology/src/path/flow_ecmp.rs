//! Flow ECMP: the way is a hash of the flow (RFC 2992's hash-threshold, with one salt for each switch).
//!
//! The flow's number stands for the five header fields that hardware hashes, and the source for the direction: ACKs
//! take a way of their own. The salt keeps the choices of two tiers independent; with one hash function in all
//! switches, the flows that meet at a switch would all go on the same way.

use tailcut_base::mix64;
use tailcut_model::seat::PathChoice;
use tailcut_model::{Build, Invalid, Packet};

use super::PathContext;

tailcut_model::no_parameters!();

/// The salt of one switch.
#[derive(Debug)]
pub struct Model {
    salt: u64,
}

impl Build for Model {
    type Config = Config;
    type Context = PathContext;

    fn build(_: &Config, context: &PathContext) -> Result<Model, Invalid> {
        Ok(Model { salt: context.seeds.stream("path.salt", u64::from(context.node)).bits() })
    }
}

impl PathChoice for Model {
    #[inline]
    fn choose(&mut self, packet: &Packet, _: u32, alternatives: u32) -> u32 {
        self.way(packet, alternatives)
    }

    #[inline]
    fn foresee(&self, packet: &Packet, _: u32, alternatives: u32) -> Option<u32> {
        Some(self.way(packet, alternatives))
    }
}

impl Model {
    #[inline]
    fn way(&self, packet: &Packet, alternatives: u32) -> u32 {
        let pair = u64::from(packet.src.0) << 32 | u64::from(packet.dst.0);
        // An odd factor spreads the connections of one pair of hosts over all 64 bits.
        let tuple = pair ^ u64::from(packet.connection).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = mix64(tuple ^ self.salt);
        // The upper half of the hash as a fraction of 2^32, times the number of ways.
        (((hash >> 32) * u64::from(alternatives)) >> 32) as u32
    }
}
