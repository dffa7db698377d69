//! Packet spraying in turns: the packets toward one destination take one way after the other, whatever their flow.
//!
//! Data and ACKs toward a destination share its turns. Packets of a flow overtake each other, as with random spraying.

use tailcut_model::seat::PathChoice;
use tailcut_model::{Build, Invalid, Packet, Thing};

use super::PathContext;
use super::cycle::Cycles;

tailcut_model::no_parameters!(|facts| facts.provides(Thing::Spraying));

/// The turns of one switch.
#[derive(Debug)]
pub struct Model {
    cycles: Cycles,
}

impl Build for Model {
    type Config = Config;
    type Context = PathContext;

    fn build(_: &Config, context: &PathContext) -> Result<Model, Invalid> {
        let salt = context.seeds.stream("path.round-robin", u64::from(context.node)).bits();
        Ok(Model { cycles: Cycles::new(salt) })
    }
}

impl PathChoice for Model {
    #[inline]
    fn choose(&mut self, _: &Packet, destination: u32, alternatives: u32) -> u32 {
        self.cycles.advance(destination, alternatives)
    }
}
