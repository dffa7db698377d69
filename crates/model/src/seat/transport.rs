//! The transport of a host: what it is told, and what it answers.

use tailcut_base::{HostId, Instant, Span};

use super::{Message, ReceiverReport, SenderReport, Wish};
use crate::{
    Arena, Component, Direction, FlowId, FlowSpec, FlowTable, Header, Kind, List, Packet, PacketId, PathFacts,
};

/// What a transport may touch while it handles an event.
pub struct HostCx<'a> {
    /// The time.
    pub now: Instant,
    /// The host whose transport is called.
    pub host: HostId,
    /// In `on_send`: the interface by which packets leave for the receiver; 0 in a host with one.
    pub nic: u8,
    /// All packets.
    pub arena: &'a mut Arena,
    /// Where each flow's ends are.
    pub flows: &'a mut FlowTable,
    /// Control packets (ACK, SYN) that wait for the NIC; they go before data. In a host with several interfaces they go
    /// by the one that leads to their host.
    pub control: &'a mut List,
    /// What the transport asks for, in order.
    pub wishes: &'a mut Vec<Wish>,
    /// The header of the data packet that `poll_send` gives, where packets have headers: all zero before the call.
    pub header: &'a mut Header,
}

impl HostCx<'_> {
    /// Hands a control packet to the NIC.
    #[inline(always)]
    pub fn send_control(&mut self, packet: Packet) {
        let id = self.arena.insert(packet);
        self.control.push_back(self.arena, id);
    }

    /// Hands the answer to a packet to the NIC. Where packets have headers, it carries back what switches wrote into
    /// that of the packet.
    #[inline(always)]
    pub fn answer(&mut self, packet: PacketId, answer: Packet) {
        if self.arena.has_headers() { self.answer_with(packet, answer) } else { self.send_control(answer) }
    }

    #[cold]
    #[inline(never)]
    fn answer_with(&mut self, packet: PacketId, answer: Packet) {
        let header = Header { direction: Direction::Reverse, ..*self.arena.header(packet) };
        self.send_control_with(answer, header);
    }

    /// Hands a control packet with a header to the NIC.
    pub fn send_control_with(&mut self, packet: Packet, header: Header) {
        let id = self.arena.insert(packet);
        self.arena.set_header(id, header);
        self.control.push_back(self.arena, id);
    }
}

/// The transport of one host: all of its flows, sent and received.
pub trait Transport {
    /// `flow` starts here; this host sends it.
    fn on_send(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec);
    /// How many connections each flow has: subflows, each with a number and a way of its own. They are counted from
    /// that of the flow on.
    fn connections(&self) -> u32 {
        1
    }
    /// In a host with several interfaces: those by which the packets of each connection of `flow` leave from now on.
    /// Told at once after [`Transport::on_send`] if flows have several connections, and whenever the ways of the
    /// network have changed so that one of its connections can no longer go by its interface.
    fn on_interfaces(&mut self, cx: &mut HostCx<'_>, flow: FlowId, nics: &[u8]) {
        let _ = (cx, flow, nics);
    }
    /// The connections of the flows that this host sends and that have not ended, those of a flow one after the other.
    /// A transport that names none keeps its flows on the interfaces by which they started.
    fn open_connections(&self) -> Vec<OpenConnection> {
        Vec::new()
    }
    /// Routing has changed, because links failed or are up again: the packets of `flow`, one of the
    /// [open connections](Transport::open_connections), have this path from now on.
    fn on_path(&mut self, cx: &mut HostCx<'_>, flow: FlowId, path: PathFacts) {
        let _ = (cx, flow, path);
    }
    /// `flow` starts elsewhere; this host will receive it.
    fn on_expect(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec);
    /// A packet for this host has arrived. The caller removes it afterwards.
    fn on_packet(&mut self, cx: &mut HostCx<'_>, packet: PacketId);
    /// The controller has a word on `flow`, of which this host has an end.
    fn on_message(&mut self, cx: &mut HostCx<'_>, flow: FlowId, message: Message) {
        let _ = (cx, flow, message);
    }
    /// A timer that was wished for fires.
    fn on_timer(&mut self, cx: &mut HostCx<'_>, flow: FlowId);
    /// Interface `nic` is free: the next data packet, if any flow may send by it. The time is that at which the
    /// interface became free, if something waited for it; the call may come later, but before any other call of this
    /// host.
    fn poll_send(&mut self, cx: &mut HostCx<'_>, nic: u8) -> Option<Packet>;
    /// Whether `poll_send` might give a packet for interface `nic`.
    fn wants_to_send(&self, nic: u8) -> bool;
    /// No timer that `poll_send` wishes for fires sooner than this after the call.
    fn shortest_timer(&self) -> Span;
    /// Reports of the flows that have not ended, for a run that is cut off.
    fn unfinished(&self) -> Vec<Unfinished>;
    /// How the sender of `flow` stands, if it is one of host `host` and has not ended. Asked only where delays are
    /// attributed or a flow is looked at closely; `None` from a transport that does not say.
    fn look(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<Look> {
        let _ = (host, flows, flow);
        None
    }
    /// Of [`Transport::look`], whether a packet waits for nothing but its turn, and how often the timer has fired:
    /// where delays are attributed, both are asked for at every packet.
    #[inline]
    fn readiness(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<(bool, u64)> {
        self.look(host, flows, flow).map(|look| (look.is_ready, look.timeouts))
    }
    /// How far the sender of `flow` is and what it waits for, if it is one of host `host` and has not ended. Asked only
    /// by the watchdog of a run, now and then; `None` from a transport that does not say.
    fn progress(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<Progress> {
        let _ = (host, flows, flow);
        None
    }
    /// What a flow waits for while a packet of `kind`, which is not data, is under way.
    fn waits_for(&self, kind: Kind) -> Component {
        let _ = kind;
        Component::Window
    }
    /// Whether a packet of data that is about to come to its receiver here brings nothing that has not come before.
    /// Asked only where delays are attributed, and of packets that are sent again: what the receiver sends later, other
    /// than the answer to this packet, is not because of it. A transport whose receivers answer each packet at once and
    /// send nothing else need not say.
    fn brings_nothing_new(&self, flows: &FlowTable, packet: &Packet) -> bool {
        let _ = (flows, packet);
        false
    }
    /// Calls into the cache what the transport will soon touch. Only a hint, in networks that no cache holds.
    fn prefetch(&self, soon: Soon, flows: &FlowTable) {
        let _ = (soon, flows);
    }
}

/// A connection of a flow that a host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenConnection {
    /// The flow.
    pub flow: FlowId,
    /// The host that receives it.
    pub receiver: HostId,
    /// The number of the connection, by which ways are chosen.
    pub number: u32,
    /// The interface by which its packets leave.
    pub nic: u8,
}

/// How the sender of a flow stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Whether a packet of the flow waits for nothing but its turn at the interface.
    pub is_ready: bool,
    /// How often its retransmission timer has fired.
    pub timeouts: u64,
    /// The congestion window in bytes, if it has one.
    pub window: Option<f64>,
    /// The rate that it may send at in bit/s, if it has one.
    pub rate: Option<u64>,
    /// The smoothed round-trip time; zero before the first sample, and in transports that measure none.
    pub round_trip: Span,
}

/// How far the sender of a flow is, and what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the flow that are known to have arrived: it only grows.
    pub acknowledged: u64,
    /// What has to come before the sender does anything.
    pub awaits: Awaits,
    /// When its timer fires, if one is set.
    pub timer: Option<Instant>,
}

/// What the sender of a flow waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Awaits {
    /// Its turn at the interface of its host.
    Interface,
    /// The answer that opens the connection.
    Handshake,
    /// An ACK that opens its window.
    Window,
    /// The ACK of its last byte.
    LastAck,
    /// Its pacer, or its rate.
    Pacer,
    /// A grant of its receiver.
    Grant,
    /// The permission of the controller.
    Permission,
    /// A rate from the switches on its way.
    Rate,
}

impl Awaits {
    /// The same in words.
    pub fn words(self) -> &'static str {
        match self {
            Awaits::Interface => "its turn at the interface of its host",
            Awaits::Handshake => "the answer that opens its connection",
            Awaits::Window => "an ACK: its window is used up",
            Awaits::LastAck => "an ACK: all of it is sent",
            Awaits::Pacer => "its pacer",
            Awaits::Grant => "a grant of its receiver",
            Awaits::Permission => "the permission of the controller",
            Awaits::Rate => "a rate: switches have told it to pause",
        }
    }
}

/// What will soon happen at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soon {
    /// A packet will be asked for; not so soon as with [`Soon::Send`], which comes later.
    Choose,
    /// A packet will be asked for, and who has the turn is in the cache.
    Send,
    /// A packet of this flow arrives, whose entry in the table of flows is in the cache.
    Arrive(FlowId),
}

/// An end of a flow that is still open when the run is cut off.
#[derive(Clone, Copy, Debug)]
pub enum Unfinished {
    /// The sender still waits for acknowledgements.
    Sender(FlowId, SenderReport),
    /// The receiver still waits for bytes.
    Receiver(FlowId, ReceiverReport),
}
