//! The seat of the pacer.

use tailcut_base::{Instant, Span};

/// What a pacer may know of a flow.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct PaceView {
    /// Smoothed round-trip time; zero until there is one.
    pub srtt: Span,
    /// Congestion window in bytes.
    pub cwnd: f64,
    /// Slow-start threshold in bytes.
    pub ssthresh: f64,
    /// Data packets that the flow has sent, this one and retransmissions included.
    pub packets: u64,
    /// How many hosts send at the same time, as the sender was told: those that answer the same query, or
    /// [`Awareness::Active`]; 1 outside of an incast.
    pub degree: u32,
    /// [`Window::gap`](super::Window::gap).
    pub gap: Span,
}

/// Which number of hosts a sink tells to those that answer it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awareness {
    /// None.
    Off,
    /// As many as answer the same query.
    Query,
    /// As many as answer any query of this sink that has answers left.
    Active,
}

/// A packet that its host is about to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// The number of its flow at the host, which another flow has when that one is over.
    pub slot: u32,
    /// Its class.
    pub class: u8,
    /// Its bytes on the wire.
    pub bytes: u64,
}

/// Whether a packet may leave its host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    /// It may.
    Go,
    /// Not before then, and it has to ask again.
    Wait(Instant),
    /// Never: the host discards it.
    Discard,
}

/// Spaces the packets of a flow, or limits what a host sends.
pub trait Pacer {
    /// Whether packets may have to wait.
    fn is_on(&self) -> bool;
    /// What senders must be told.
    fn awareness(&self) -> Awareness;
    /// When the next packet is due, after one that was due at `due` and began to leave at `sent`, which is later if
    /// something else held it back.
    fn next_due(&self, due: Instant, sent: Instant, flow: &PaceView) -> Instant;
    /// When a packet that is due then may go: at the next tick of the clock, less than 4 ms later.
    fn release(&self, due: Instant) -> Instant;
    /// Whether all flows from one host to another wait for one another, as packets of one flow do.
    fn shares_clock(&self) -> bool {
        false
    }
    /// Whether it is asked about every packet that is about to leave.
    fn limits(&self) -> bool {
        false
    }
    /// Whether this packet may leave now; if so it counts as gone.
    fn leave(&mut self, now: Instant, packet: Outgoing) -> Leave {
        let _ = (now, packet);
        Leave::Go
    }
    /// The flow with this number is over.
    fn on_close(&mut self, slot: u32) {
        let _ = slot;
    }
}
