//! Packet spraying in turns: the packets toward one destination take one way after the other, whatever their flow.
//!
//! Data and ACKs toward a destination share its turns. Packets of a flow overtake each other, as with random spraying.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::seat::PathChoice;
use tailcut_model::{Invalid, Packet};

use super::PathContext;
use super::cycle::Cycles;

/// Turns have no parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {}

/// The turns of one switch.
#[derive(Debug)]
pub struct Model {
    cycles: Cycles,
}

impl Model {
    /// The choice of this switch.
    ///
    /// # Errors
    /// None: every configuration is possible.
    pub fn new(_: &Config, context: &PathContext) -> Result<Model, Invalid> {
        let salt = context.seeds.stream("path.round-robin", u64::from(context.switch.0)).bits();
        Ok(Model { cycles: Cycles::new(salt) })
    }
}

impl PathChoice for Model {
    #[inline]
    fn choose(&mut self, _: &Packet, destination: u32, alternatives: u32) -> u32 {
        self.cycles.advance(destination, alternatives)
    }
}
