//! Step marking on the instantaneous queue, at enqueue: the switch side of DCTCP.
//!
//! Alizadeh et al., DCTCP (SIGCOMM 2010), section 3.1, with the scope of the public PIAS scripts for ns-2
//! (HKUST-SING/PIAS-NS2, `queue/priority.cc`): all classes of the port count, unless told otherwise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, MTU_BYTES, ScaledBytes};
use tailcut_model::seat::{Marker, Occupancy};
use tailcut_model::{Around, Build, Facts, Invalid, Parameters, Thing};

use super::Threshold;
use crate::PortContext;

/// Whose bytes are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All that waits in the port.
    #[default]
    Port,
    /// What waits in the packet's own class.
    Queue,
}

/// When to mark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// K: a packet is marked if the queue, itself included, is longer (DCTCP, SIGCOMM 2010: more than C x RTT / 7 by
    /// the analysis of section 3.4, here by a fifth; 65 packets at 10 Gb/s by the experiments of section 3.5). `BDP` is
    /// as for `port.limit`.
    pub threshold: Threshold,
    /// Whose bytes are counted (HKUST-SING/PIAS-NS2, marking scheme 2: the port).
    pub scope: Scope,
    /// Whether a queue of exactly the threshold marks too (Slytherin as coded, hrezae2/IWQoS18).
    pub inclusive: bool,
    /// Classes above this one are never marked (Slytherin as coded: 1, promoted packets are not marked again).
    pub from_class: u8,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            threshold: ScaledBytes::of_bdp(0.17).at_least(Bytes(65 * MTU_BYTES)).into(),
            scope: Scope::Port,
            inclusive: false,
            from_class: 0,
        }
    }
}

/// The marker.
#[derive(Debug)]
pub struct Model {
    /// The longest queue, in bytes, that is not marked.
    unmarked: u64,
    scope: Scope,
    from_class: u8,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "threshold = \"3pkt\"",
        "threshold = \"max(2pkt, 0.5 BDP)\"",
        "threshold = \"1pkt\", inclusive = true",
        "threshold = \"30pkt\", scope = \"queue\"",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::Marks);
        facts.idle_without(Thing::EcnCapable, "there are none: nothing is marked");
    }

    fn resolve_bdp(&mut self, bdp: u64) {
        self.threshold.resolve_bdp(bdp);
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        let threshold = self.threshold.resolve(around.port_limit);
        if threshold < 2 * MTU_BYTES {
            return vec![format!(
                "the marking threshold, {}, is below two packets: a packet that finds one waiting is marked",
                self.threshold
            )];
        }
        let (room, whose) = match self.scope {
            Scope::Port => (around.port_room, "the port"),
            Scope::Queue => (around.class_room, "a class"),
        };
        if threshold < room {
            return around.short_threshold("the marking threshold", threshold).into_iter().collect();
        }
        vec![format!(
            "the marking threshold, {}, is not below the buffer of {whose}, {}: packets are dropped or paused before they are marked",
            self.threshold,
            Bytes(room)
        )]
    }
}

impl Build for Model {
    type Config = Config;
    type Context = PortContext;

    fn build(config: &Config, port: &PortContext) -> Result<Model, Invalid> {
        let threshold = config.threshold.resolve(port.limit);
        if threshold == 0 {
            return Err(Invalid::new("threshold", "a threshold of zero marks every packet")
                .help("expected a positive size, such as \"65pkt\" or \"25%\""));
        }
        if config.from_class >= port.classes {
            let message =
                format!("class {} does not exist: the port has {} class(es)", config.from_class, port.classes);
            return Err(Invalid::new("from_class", message).help("expected the number of a class, counted from 0"));
        }
        let unmarked = if config.inclusive { threshold - 1 } else { threshold };
        Ok(Model { unmarked, scope: config.scope, from_class: config.from_class })
    }
}

impl Marker for Model {
    #[inline]
    fn mark(&mut self, o: Occupancy, class: u8, size: u64) -> bool {
        let queue = match self.scope {
            Scope::Port => o.port,
            Scope::Queue => o.class,
        };
        // Not `&&`: both sides are cheap, and neither can be guessed.
        (queue + size > self.unmarked) & (class >= self.from_class)
    }

    fn spares_first(&self) -> bool {
        MTU_BYTES <= self.unmarked
    }
}
