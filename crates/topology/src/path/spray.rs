//! Packet spraying: each packet takes a way at random (Dixit et al., INFOCOM 2013).
//!
//! Packets of a flow overtake each other. Transports that take three duplicate ACKs for a loss retransmit without
//! need; schemes that spray raise that threshold or leave fast retransmit out.

use tailcut_base::Stream;
use tailcut_model::seat::PathChoice;
use tailcut_model::{Build, Invalid, Packet, Thing};

use super::PathContext;

tailcut_model::no_parameters!(|facts| facts.provides(Thing::Spraying));

/// The draws of one switch.
#[derive(Debug)]
pub struct Model {
    stream: Stream,
}

impl Build for Model {
    type Config = Config;
    type Context = PathContext;

    fn build(_: &Config, context: &PathContext) -> Result<Model, Invalid> {
        Ok(Model { stream: context.seeds.stream("path.spray", u64::from(context.node)) })
    }
}

impl PathChoice for Model {
    #[inline]
    fn choose(&mut self, _: &Packet, _: u32, alternatives: u32) -> u32 {
        self.stream.below(alternatives)
    }
}
