//! Slytherin's classifier: packets that arrive already marked, and pure ACKs, join class 0; all others class 1.
//!
//! Rezaei, Malekpourshahraki, Vamanan: Slytherin (ICCCN 2018), section III. A packet that this port marks is already
//! in its queue by then: it is promoted from the next switch on. Algorithm 1 of the paper leaves the ACKs out; its
//! section III-B has them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::seat::Classifier;
use tailcut_model::{Flags, Invalid, Packet};

use crate::PortContext;

/// Which packets go first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether packets that arrive marked go first (Slytherin, section III-B).
    pub marked: bool,
    /// Whether pure ACKs go first (Slytherin, section III-B).
    pub acks: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { marked: true, acks: true }
    }
}

/// The classifier.
#[derive(Debug)]
pub struct Model(Config);

impl Model {
    pub(crate) fn new(config: &Config, port: &PortContext) -> Result<Model, Invalid> {
        if port.classes < 2 {
            return Err(Invalid::new("", "`ce-or-ack` sorts into two classes, and the port has one")
                .help("expected `classes = 2` or more"));
        }
        Ok(Model(config.clone()))
    }
}

impl Classifier for Model {
    #[inline]
    fn classify(&mut self, packet: &Packet, _classes: u8) -> u8 {
        let first = (self.0.marked && packet.flags.has(Flags::CE)) || (self.0.acks && packet.is_pure_ack());
        u8::from(!first)
    }
}
