//! The `[failures]` table: links and switches that fail and are repaired, and single packets that are lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Span;

/// Links and switches that fail.
///
/// While a link is down nothing passes it: what was on its way is lost, what waited for it is dropped, and so is what
/// comes for it, but for what a host without a queue in its interface wants to send, which waits until the link is up.
/// Other ways are taken once routing has converged; the flows of a host with several links whose own leads nowhere any
/// more then leave by another one. A switch that fails remembers what it knew of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Failures {
    /// How long after a failure or a repair all switches and hosts know the new ways: 0 if not given.
    pub convergence: Span,
    /// Failures at given times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<Failure>,
    /// Failures that are drawn, for as long as flows are open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Drawn>,
    /// Packets that are lost, each given by its flow and its number in the flow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packets: Vec<LostPacket>,
}

impl Failures {
    /// Whether nothing fails and no packet is listed.
    pub fn is_none(&self) -> bool {
        !self.has_outages() && self.packets.is_empty()
    }

    /// Whether links or switches fail.
    pub fn has_outages(&self) -> bool {
        !self.list.is_empty() || self.drawn.is_some()
    }
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The link that fails: `leaf0->spine1` in one direction, `leaf0--spine1` in both. Either this or `switch` is
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The switch that fails, with all of its links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// When.
    pub at: Span,
    /// How long it is down; without it, for good.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Span>,
}

/// Failures at random times: each link or switch fails by itself, and is repaired before it fails again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// What fails.
    pub of: Of,
    /// Mean time from a repair to the next failure of the same link or switch; exponential.
    pub up: Span,
    /// Mean time that it is down; exponential.
    pub down: Span,
}

/// What fails at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// Links between switches, in both directions at a time.
    Links,
    /// Switches, with all of their links.
    Switches,
}

/// A packet that is lost: its first transmissions are dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LostPacket {
    /// The number of the flow, as in the results: 0 is the flow that starts first.
    pub flow: u32,
    /// What kind of packet it is.
    #[serde(default, skip_serializing_if = "is_data")]
    pub kind: LostKind,
    /// Its number in the flow, from 0. Data: the number of the segment, which is the offset of the packet divided by
    /// the segment size of 1460 bytes. ACKs: the number of ACKs that were sent before it. Not for `syn` and `syn-ack`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<u64>,
    /// How many transmissions are dropped: so many of the first ones, at least 1. An ACK is sent once.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u32,
    /// The link where it is lost: `leaf0->spine1`, or `leaf0--spine1` for both directions. The port of a switch drops
    /// the packet as it arrives, before the queue; on a link that begins at a host, the packet is lost at the end of
    /// the link. Without it, the packet is lost on the link to its receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// A kind of packet that can be listed as lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LostKind {
    /// Bytes of the flow.
    #[default]
    Data,
    /// An acknowledgement without data.
    Ack,
    /// The packet that opens the connection, of transports that have one.
    Syn,
    /// The response to it.
    SynAck,
}

fn is_data(kind: &LostKind) -> bool {
    *kind == LostKind::Data
}

fn once() -> u32 {
    1
}

fn is_once(times: &u32) -> bool {
    *times == 1
}
