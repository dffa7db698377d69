//! A part of the port is for the highest class; the other classes share the rest. What does not fit in its part is
//! dropped.
//!
//! Rezaei, PhD thesis (UIC 2021), sections 3.3 and 4.3.2.4: ResQueue reserves the first queue of a port for
//! retransmitted packets of short flows, "20KB of dedicated buffer" out of the 4 MB of a switch; what is larger "goes
//! unused". Whether the others have the less for it is left open: `room` says which.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, MTU_BYTES};
use tailcut_model::seat::{Admission, BufferPolicy, DropReason, Occupancy, Waiting};
use tailcut_model::{Build, Facts, Invalid, Parameters, Thing};

use crate::PortContext;
use crate::mark::Threshold;

/// What the highest class has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What may wait in class 0 (Rezaei, PhD thesis, section 4.3.2.4: 15 to 20 KB is the best of 5 to 30 KB).
    pub limit: Threshold,
    /// Where the room for it comes from.
    pub room: Room,
    /// Whether a packet of another class that finds no room evicts the last packets of the lowest class that waits, as
    /// `push-out` does (Slytherin as coded, hrezae2/IWQoS18), so that the two go together. Ours; ResQueue evicts
    /// nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub push_out: bool,
}

/// Where the room for class 0 comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Room {
    /// The other classes leave that much of the port's limit free, whoever waits.
    #[default]
    Inside,
    /// It is there beside the port's limit, which is that of the other classes.
    Beside,
    /// It is no more than a limit of class 0: all share the port, and a full one refuses its packets too.
    Shared,
}

impl Default for Config {
    fn default() -> Config {
        Config { limit: Threshold::Bytes(Bytes(20_000)), room: Room::Inside, push_out: false }
    }
}

/// The policy.
#[derive(Debug)]
pub struct Model {
    /// Bytes that may wait in class 0. 32 bits, so that a port is no larger for the other number.
    reserved: u32,
    room: Room,
    push_out: bool,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "limit = \"50%\"",
        "limit = \"50%\", room = \"shared\"",
        "limit = \"5KB\", room = \"beside\"",
        "limit = \"5KB\", room = \"beside\", push_out = true",
        "limit = \"50%\", push_out = true",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.excludes(Thing::Pauses, "it divides one limit among all classes, and these have room of their own");
    }

    fn resolve_bdp(&mut self, bdp: u64) {
        self.limit.resolve_bdp(bdp);
    }
}

impl Build for Model {
    type Config = Config;
    type Context = PortContext;

    fn build(config: &Config, port: &PortContext) -> Result<Model, Invalid> {
        if port.classes < 2 {
            return Err(Invalid::new(
                "",
                "`reserved` has a part for the highest of several classes, and the port has one",
            )
            .help("expected `classes = 2` or more, or `buffer = \"tail-drop\"`"));
        }
        let reserved = config.limit.resolve(port.limit);
        if reserved < MTU_BYTES {
            let message = format!("class 0 may hold {reserved} B, and no packet of 1500 B ever waits in it");
            return Err(Invalid::new("limit", message).help("expected at least \"1500B\""));
        }
        if reserved > port.limit && config.room != Room::Beside {
            let message = format!("class 0 may hold {reserved} B, and the whole port {} B", port.limit);
            return Err(Invalid::new("limit", message).help("expected no more than the `limit` of the port"));
        }
        if config.room == Room::Inside && port.limit - reserved < MTU_BYTES {
            let message =
                format!("{reserved} B of {} B are for class 0: no packet of 1500 B waits elsewhere", port.limit);
            return Err(
                Invalid::new("limit", message).help("expected 1500 B less than the `limit` of the port, or less")
            );
        }
        let reserved = u32::try_from(reserved)
            .map_err(|_| Invalid::new("limit", "nobody reserves 4 GB").help("expected a size such as \"20KB\""))?;
        Ok(Model { reserved, room: config.room, push_out: config.push_out })
    }
}

impl Model {
    /// What becomes of a packet that finds no room.
    #[cold]
    fn refuse(&self, class: u8, reason: DropReason, waiting: &impl Waiting) -> Admission {
        match self.push_out && class > 0 && waiting.has_worse() {
            true => Admission::PushOut,
            false => Admission::Drop(reason),
        }
    }
}

impl BufferPolicy for Model {
    #[inline]
    fn admit(&mut self, o: Occupancy, class: u8, size: u64, waiting: &impl Waiting) -> Admission {
        let reserved = u64::from(self.reserved);
        let (limit, rest) = match self.room {
            Room::Inside => (o.limit, o.limit - reserved),
            // Neither can take from the other: the port is full when both are.
            Room::Beside => (u64::MAX, o.limit),
            Room::Shared => (o.limit, o.limit),
        };
        let reason = if o.port + size > limit {
            DropReason::PortFull
        } else if class == 0 {
            if o.class + size <= reserved {
                return Admission::Take;
            }
            DropReason::ClassFull
        } else if o.port - waiting.class_bytes(0) + size > rest {
            // Not `ClassFull`: no limit of its class refuses it, but what the port has for all others.
            DropReason::PortFull
        } else {
            return Admission::Take;
        };
        self.refuse(class, reason, waiting)
    }

    fn capacity(&self, limit: u64) -> u64 {
        limit + if self.room == Room::Beside { u64::from(self.reserved) } else { 0 }
    }

    fn capacity_of_class(&self, limit: u64, class: u8) -> u64 {
        let reserved = u64::from(self.reserved);
        match (class, self.room) {
            (0, _) => reserved,
            (_, Room::Inside) => limit - reserved,
            (_, Room::Beside | Room::Shared) => limit,
        }
    }

    fn takes_into_empty(&self) -> bool {
        // Neither class 0 nor what is left for the others holds less than a packet.
        true
    }
}
