//! Slytherin's promotion in a port whose classes the senders choose: a packet that arrives already marked joins a class
//! of its own rank, unless the sender gave it a higher one.
//!
//! No document has it. Slytherin (Rezaei, Malekpourshahraki, Vamanan, ICCCN 2018, section III) sorts into two classes
//! by the mark alone, and PIAS and ResQueue by what the sender wrote; here both say something of each packet, and the
//! higher class holds. Pure ACKs have the class that the hosts give to control packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::seat::Classifier;
use tailcut_model::{Build, Facts, Flags, Invalid, Packet, Parameters, Thing};

use crate::PortContext;

/// Where marked packets go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The class of packets that arrive marked and were given a lower one, counted from 0, the highest (ours: 0; 1
    /// below the reserved class of ResQueue, whose first class is for retransmitted packets alone: Rezaei, PhD thesis,
    /// UIC 2021, section 3.3).
    pub marked: u8,
}

/// The classifier.
#[derive(Debug)]
pub struct Model {
    marked: u8,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "marked = 1"];

    fn facts(&self, facts: &mut Facts) {
        facts.excludes(Thing::Pauses, "the class of a packet changes on its way, and the wrong pause would stop it");
        facts.idle_without(Thing::Marks, "there are none: no packet is promoted for its mark");
        facts.idle_without(Thing::Class, "hosts write none: every packet joins class 0");
    }
}

impl Build for Model {
    type Config = Config;
    type Context = PortContext;

    fn build(config: &Config, port: &PortContext) -> Result<Model, Invalid> {
        if config.marked.saturating_add(1) >= port.classes {
            let message = format!(
                "no packet rises to class {}: the port has {} class(es), and none is lower",
                config.marked, port.classes
            );
            return Err(Invalid::new("marked", message).help("expected the number of a class above the last one"));
        }
        Ok(Model { marked: config.marked })
    }
}

impl Classifier for Model {
    #[inline]
    fn classify(&self, packet: &Packet, classes: u8) -> u8 {
        let tagged = packet.class.min(classes - 1);
        if packet.flags.has(Flags::CE) { tagged.min(self.marked) } else { tagged }
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::{HostId, Instant};
    use tailcut_model::FlowId;

    use super::*;

    const PORT: PortContext = PortContext { limit: 100_000, classes: 5 };

    #[test]
    fn a_mark_raises_a_packet_and_never_lowers_it() {
        let model = Model::build(&Config { marked: 1 }, &PORT).unwrap();
        let class = |class: u8, is_marked: bool| {
            let mut packet = Packet::data(FlowId(0), HostId(0), HostId(1), 0, 1460, 5_000, Instant::ZERO);
            packet.class = class;
            if is_marked {
                packet.flags.set(Flags::CE);
            }
            model.classify(&packet, 5)
        };
        assert_eq!([0, 1, 2, 4, 7].map(|tagged| class(tagged, false)), [0, 1, 2, 4, 4]);
        assert_eq!([0, 1, 2, 4, 7].map(|tagged| class(tagged, true)), [0, 1, 1, 1, 1]);
    }

    #[test]
    fn the_last_class_is_no_promotion() {
        let error = Model::build(&Config { marked: 4 }, &PORT).unwrap_err();
        assert!(error.message.contains("no packet rises to class 4"), "{error}");
    }
}
