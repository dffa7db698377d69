//! What a part is handed, and hands on: flows that will start, packets that cross to another part, and what happened to
//! flows.

use tailcut_base::{Instant, PortId};
use tailcut_model::seat::{DropReason, PermissionReport, ReceiverReport, SenderReport};
use tailcut_model::{Breakdown, FlowId, FlowSpec, Header, Packet};

use super::part::Whole;

/// A flow that is about to start.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) flow: FlowId,
    pub(super) spec: FlowSpec,
}

/// Packets on their way to another part. Where and when each lands stands beside them: in one record they would take
/// twice the cache lines, and these have to go from one core to another.
#[derive(Debug, Default)]
pub(super) struct Mail {
    /// The port that sent each packet, and when it lands.
    pub(super) landings: Vec<(PortId, Instant)>,
    pub(super) packets: Vec<Packet>,
    /// The header of each packet, where packets have headers.
    pub(super) headers: Vec<Header>,
    /// The account of each packet, where delays are attributed.
    pub(super) accounts: Vec<Whole>,
    /// Pause frames.
    pub(super) frames: Vec<Frame>,
}

/// A pause frame on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The port that sent it.
    pub(super) port: PortId,
    /// When it is at the far end.
    pub(super) at: Instant,
    /// The classes that are to stop on the link in the other direction: bit c for class c. All others go on.
    pub(super) classes: u8,
}

impl Mail {
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }
}

/// Something that happened to a flow, for the recorder.
#[derive(Debug)]
pub(super) struct LogEntry {
    pub(super) at: Instant,
    /// Key of the event: with `at`, the order among the entries of all parts.
    pub(super) key: u64,
    pub(super) event: FlowEvent,
}

/// What happened to a flow.
#[derive(Debug)]
pub(super) enum FlowEvent {
    Dropped {
        flow: FlowId,
        seq: u64,
        reason: DropReason,
    },
    Received {
        flow: FlowId,
        report: ReceiverReport,
    },
    Acknowledged {
        flow: FlowId,
        report: SenderReport,
    },
    Permitted {
        flow: FlowId,
        report: PermissionReport,
    },
    Abandoned {
        flow: FlowId,
        report: SenderReport,
    },
    LetGo {
        flow: FlowId,
        report: ReceiverReport,
    },
    /// Told before what completes the flow.
    Attributed {
        flow: FlowId,
        breakdown: Box<Breakdown>,
    },
}
