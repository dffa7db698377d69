//! Slytherin's classifier: packets that arrive already marked, and pure ACKs, join class 0; all others class 1.
//!
//! Rezaei, Malekpourshahraki, Vamanan: Slytherin (ICCCN 2018), section III. A packet that this port marks is already
//! in its queue by then: it is promoted from the next switch on. Algorithm 1 of the paper leaves the ACKs out; its
//! section III-B has them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Bytes;
use tailcut_model::seat::Classifier;
use tailcut_model::{Build, Facts, Flags, Invalid, Kind, Packet, Parameters, Thing};

use crate::PortContext;

/// Which packets go first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether packets that arrive marked go first (Slytherin, section III-B).
    pub marked: bool,
    /// Whether pure ACKs go first (Slytherin, section III-B).
    pub acks: bool,
    /// Of the data packets that arrive marked, only those of flows of up to this size go first; without it, all
    /// (Slytherin, section III-B, "short flows only"). An ablation: no switch knows the sizes of flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_flow: Option<Bytes>,
}

impl Default for Config {
    fn default() -> Config {
        Config { marked: true, acks: true, largest_flow: None }
    }
}

/// The classifier.
#[derive(Debug)]
pub struct Model {
    marked: bool,
    acks: bool,
    /// Size in bytes of the largest flow whose marked packets go first.
    largest_flow: u64,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "acks = false", "marked = false", "largest_flow = \"20KB\""];

    fn facts(&self, facts: &mut Facts) {
        facts.excludes(Thing::Pauses, "the class of a packet changes on its way, and the wrong pause would stop it");
        if self.marked {
            facts.idle_without(Thing::Marks, "there are none: no packet is promoted for its mark");
        }
    }
}

impl Build for Model {
    type Config = Config;
    type Context = PortContext;

    fn build(config: &Config, port: &PortContext) -> Result<Model, Invalid> {
        if port.classes < 2 {
            return Err(Invalid::new("", "`ce-or-ack` sorts into two classes, and the port has one")
                .help("expected `classes = 2` or more"));
        }
        let &Config { marked, acks, largest_flow } = config;
        if !marked && largest_flow.is_some() {
            let message = "it says which marked packets go first, and `marked = false` says that none do";
            return Err(Invalid::new("largest_flow", message).help("expected `marked = true`, or no `largest_flow`"));
        }
        Ok(Model { marked, acks, largest_flow: largest_flow.map_or(u64::MAX, |size| size.0) })
    }
}

impl Model {
    #[inline]
    fn promotes_flow_of(&self, packet: &Packet) -> bool {
        packet.kind != Kind::DATA || packet.flow_bytes() <= self.largest_flow
    }
}

impl Classifier for Model {
    #[inline]
    fn classify(&self, packet: &Packet, _classes: u8) -> u8 {
        let marked = self.marked && packet.flags.has(Flags::CE) && self.promotes_flow_of(packet);
        let first = marked || (self.acks && packet.is_pure_ack());
        u8::from(!first)
    }
}
