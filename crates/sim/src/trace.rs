//! What happened to the packets of some flows, or at some ports: a run looked at closely.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_base::{Instant, PortId, Span};
use tailcut_host::transport::{explicit, homa, tcp};
use tailcut_model::seat::{DropReason, Look};
use tailcut_model::{FlowId, Kind, Packet};

/// What of a run is to be traced: all that happens to the packets of some flows, and all that happens at some ports in
/// a time. To look changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Lens {
    /// The flows, in both directions.
    pub flows: BTreeSet<FlowId>,
    /// The ports, each with the times in which it is looked at: from the first moment to the second one, both included.
    pub ports: BTreeMap<PortId, Vec<(Instant, Instant)>>,
    /// Whether prints of all landings are added up, for each bin of time of this width.
    pub prints: Option<Span>,
}

impl Lens {
    pub(crate) fn sees(&self, now: Instant, port: PortId, flow: FlowId) -> bool {
        let times = || self.ports.get(&port).into_iter().flatten();
        self.flows.contains(&flow) || times().any(|(from, until)| (from..=until).contains(&&now))
    }
}

/// What a lens has seen, in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// What happened to packets.
    pub packets: Vec<Seen>,
    /// How senders stood after what happened to their flows.
    pub senders: Vec<Stood>,
    /// For each bin of time, the sum of the prints of what landed in it: equal landings have equal prints.
    pub prints: Vec<u64>,
}

/// Something that happened to a packet.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When.
    pub at: Instant,
    /// The port at which it happened, or behind which.
    pub port: PortId,
    /// The packet, as it was then.
    pub packet: Packet,
    /// What happened.
    pub what: Happened,
}

/// What may happen to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// Its host has made it for this interface.
    Made,
    /// It came to the port and was let in; so many bytes wait there now, itself included, or it is on the wire at once.
    Queued {
        /// Bytes that wait, without the packet on the wire.
        bytes: u64,
    },
    /// It was at the far end of the link behind the port, of which it left this end at `left`.
    Crossed {
        /// When the port began to send it.
        left: Instant,
    },
    /// It leaves the port or the interface, in which pauses held its class for so long while it waited.
    Held {
        /// For how long.
        paused: Span,
    },
    /// It was dropped.
    Dropped(DropReason),
}

/// How the sender of a flow stood after something had happened to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stood {
    /// When.
    pub at: Instant,
    /// The flow.
    pub flow: FlowId,
    /// Whether it was a timer.
    pub timer: bool,
    /// What it was told.
    pub look: Look,
}

/// What a packet is for, in words that do not depend on its transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// It carries bytes of a flow.
    Data,
    /// It acknowledges bytes of a flow.
    Acknowledges,
    /// It opens a connection.
    Opens,
    /// It answers that.
    Opened,
    /// It belongs to a transport, which calls it so.
    Other(&'static str),
}

/// What packets of a kind are for.
pub fn purpose(kind: Kind) -> Purpose {
    match kind {
        Kind::DATA => Purpose::Data,
        Kind::ACK => Purpose::Acknowledges,
        tcp::packets::SYN | explicit::packets::OPEN => Purpose::Opens,
        tcp::packets::SYN_ACK | explicit::packets::OPENED => Purpose::Opened,
        tcp::packets::UPDATE => Purpose::Other("update"),
        homa::packets::GRANT => Purpose::Other("grant"),
        homa::packets::RESEND => Purpose::Other("resend"),
        explicit::packets::PROBE => Purpose::Other("probe"),
        explicit::packets::END => Purpose::Other("end"),
        explicit::packets::ENDED => Purpose::Other("ended"),
        _ => Purpose::Other("of a program's own transport"),
    }
}

/// The receive window that a packet from a receiver advertises, in segments, if it does.
pub fn advertised(packet: &Packet) -> Option<u16> {
    matches!(packet.kind, Kind::ACK | tcp::packets::SYN_ACK).then(|| tcp::packets::advertised(packet)).flatten()
}
