//! The traits of the seats: what a scheme of the literature is composed of.
//!
//! | seat | trait | one per | lives in |
//! |---|---|---|---|
//! | classifier of a port | [`Classifier`] | port | `fabric/classify` |
//! | loss by chance | [`Loss`] | port | `fabric/loss` |
//! | scheduler of a port | [`PortScheduler`] | port | `fabric/sched` |
//! | marker | [`Marker`] | port | `fabric/mark` |
//! | buffer policy | [`BufferPolicy`] | port | `fabric/buffer` |
//! | memory | [`Memory`] | switch | `fabric/memory` |
//! | agent | [`Agent`] | switch | `fabric/agent` |
//! | path choice | [`PathChoice`] | switch | `topology/path` |
//! | transport | [`Transport`] | host | `host/transport` |
//! | congestion control | [`CongestionControl`] | flow | `host/congestion` |
//! | host order | [`SendOrder`] | host | `host/order` |
//! | tag at the sender | [`Tag`] | flow | `host/tag` |
//! | pacing | [`Pacer`] | host | `host/pace` |
//! | receive window | [`ReceiveWindow`] | host | `host/receive` |

mod agent;
mod memory;
mod pace;
mod transport;

use tailcut_base::{HostId, Instant, Span};

use crate::{Arena, FlowId, Header, Packet, PacketId, PathFacts};

pub use agent::{Agent, AgentPort, Crossing, Looks};
pub use memory::{Burst, HoldsMemory, Memory, Pool, PortUse};
pub use pace::{Awareness, Leave, Outgoing, PaceView, Pacer};
pub use transport::{Awaits, HostCx, Look, OpenConnection, Progress, Soon, Transport, Unfinished};

/// Most classes that a port can have.
pub const MAX_CLASSES: usize = 8;

/// How full a port is when a packet arrives, the packet not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Bytes that wait in the whole port. The packet on the wire is not counted.
    pub port: u64,
    /// Bytes that wait in the class of the arriving packet.
    pub class: u64,
    /// Bytes that may wait in the port.
    pub limit: u64,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DropReason {
    /// No room in the port, or in the part of it that several classes share.
    PortFull,
    /// Evicted to make room for a better packet: one of a higher class, or with a smaller rank.
    PushedOut,
    /// Lost by chance on its way into the port.
    RandomLoss,
    /// No room in the packet's class, nor in a lower one that it may join, while the port has some.
    ClassFull,
    /// Discarded by its own host before its transmission: no room in the NIC, or for a flow that matters more.
    NicQueue,
    /// No room in the memory that the ports of the switch share.
    MemoryFull,
    /// More waits for the port than the switch's memory grants it.
    OverThreshold,
    /// Its link was down, or went down while it was on its way.
    LinkDown,
    /// No way leads to its host.
    NoRoute,
}

impl DropReason {
    /// Every reason, in the order of their columns.
    pub const ALL: [DropReason; 9] = [
        DropReason::PortFull,
        DropReason::PushedOut,
        DropReason::RandomLoss,
        DropReason::ClassFull,
        DropReason::NicQueue,
        DropReason::MemoryFull,
        DropReason::OverThreshold,
        DropReason::LinkDown,
        DropReason::NoRoute,
    ];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::PortFull => "port_full",
            DropReason::PushedOut => "pushed_out",
            DropReason::RandomLoss => "random_loss",
            DropReason::ClassFull => "class_full",
            DropReason::NicQueue => "nic_queue",
            DropReason::MemoryFull => "memory_full",
            DropReason::OverThreshold => "over_threshold",
            DropReason::LinkDown => "link_down",
            DropReason::NoRoute => "no_route",
        }
    }
}

/// A buffer policy's answer to an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Let it in.
    Take,
    /// Evict the worst packet that waits, which is worse than the arriving one, and ask again.
    PushOut,
    /// Ask again for the next lower class, which exists. A policy that demotes does not push out.
    Demote,
    /// Refuse it.
    Drop(DropReason),
}

/// Decides whether an arriving packet is lost by chance, before anything else is asked about it.
pub trait Loss {
    /// Whether `packet` is lost.
    fn loses(&mut self, packet: &Packet) -> bool;
}

/// Sorts an arriving packet into a class of the port.
pub trait Classifier {
    /// Class of `packet` in a port of `classes` classes, as it arrives: before this port may mark it.
    fn classify(&self, packet: &Packet, classes: u8) -> u8;
}

/// What a buffer policy may ask about the packets that wait, if it must know.
pub trait Waiting {
    /// Whether one of them is worse than the arriving packet, as its scheduler sees it.
    fn has_worse(&self) -> bool;
    /// Bytes that wait in a class.
    fn class_bytes(&self, class: u8) -> u64;
}

/// Decides whether an arriving packet is let in.
pub trait BufferPolicy {
    /// What becomes of a packet of `size` bytes and class `class`.
    fn admit(&mut self, occupancy: Occupancy, class: u8, size: u64, waiting: &impl Waiting) -> Admission;

    /// Most bytes that may wait in a port with this limit.
    fn capacity(&self, limit: u64) -> u64 {
        limit
    }

    /// Most bytes of this class that may wait there.
    fn capacity_of_class(&self, limit: u64, _class: u8) -> u64 {
        self.capacity(limit)
    }

    /// Whether every packet of up to 1500 B that finds nothing waiting is taken, in a port that holds one. An idle port
    /// does not ask then.
    fn takes_into_empty(&self) -> bool {
        false
    }
}

/// Decides whether an admitted packet is marked with CE.
pub trait Marker {
    /// Whether to mark a packet of `size` bytes and class `class`. Asked whether or not the packet is ECN-capable:
    /// the port marks only capable ones, but counts all.
    fn mark(&mut self, occupancy: Occupancy, class: u8, size: u64) -> bool;

    /// Whether no packet of up to 1500 B that finds nothing waiting is marked. An idle port does not ask then.
    fn spares_first(&self) -> bool {
        false
    }
}

/// Holds the waiting packets of a port and decides which goes next. Packets of one flow that are alike in class and
/// rank go in the order in which they came.
pub trait PortScheduler {
    /// Takes in a packet of a class.
    fn push(&mut self, arena: &mut Arena, id: PacketId, class: u8);
    /// Takes out the packet to send next.
    fn pop(&mut self, arena: &mut Arena) -> Option<PacketId>;
    /// As `pop`, among the packets of which `may_go` says so, by packet and class; the others stay in their order. A
    /// scheduler that keeps one queue asks about its class and about no packet, so that it lets all or none go.
    fn pop_allowed(
        &mut self,
        arena: &mut Arena,
        may_go: &mut dyn FnMut(Option<&Packet>, u8) -> bool,
    ) -> Option<PacketId> {
        if may_go(None, 0) { self.pop(arena) } else { None }
    }
    /// The packet that `pop` would give, if that can be told at once. Only a hint to what will soon be needed.
    fn upcoming(&self) -> Option<PacketId> {
        None
    }
    /// Takes out the worst packet: where there are classes, the one that came last to the lowest of them.
    fn evict(&mut self, arena: &mut Arena) -> Option<PacketId>;
    /// Bytes that wait in a class.
    fn class_bytes(&self, class: u8) -> u64;
    /// Whether the packet that `evict` would take out is worse than `packet`, which would come to `class`.
    fn has_worse(&self, packet: &Packet, class: u8) -> bool;
}

/// The equal ways through a network as it is known now, for path choices that look beyond the next hop. A walk goes
/// from one host toward another; wherever it has several next hops, `pick` is told the number of the node and how many
/// they are, and answers which one.
pub trait Ways {
    /// Which alternative the walk takes at the node that asks. `None` if it does not pass there.
    fn along(&self, from: HostId, to: HostId, pick: &mut dyn FnMut(u32, u32) -> u32) -> Option<u32>;
    /// Which alternative toward `from` leads the node that asks back on the link by which the walk comes to it. `None`
    /// if it does not pass there, or the link carries nothing in that direction.
    fn back(&self, from: HostId, to: HostId, pick: &mut dyn FnMut(u32, u32) -> u32) -> Option<u32>;
}

/// Chooses one of several equal next hops.
pub trait PathChoice {
    /// Which of `alternatives` (at least 2) next hops toward `destination`, a number of the router's for where the
    /// packet leaves the fabric, `packet` takes.
    fn choose(&mut self, packet: &Packet, destination: u32, alternatives: u32) -> u32;
    /// As [`PathChoice::choose`], with a look at the whole way, which most choices do not take.
    #[inline]
    fn choose_way(&mut self, packet: &Packet, destination: u32, alternatives: u32, ways: &dyn Ways) -> u32 {
        let _ = ways;
        self.choose(packet, destination, alternatives)
    }
    /// What `choose_way` would answer, if it can be told without changing anything: what lies there is then called into
    /// the cache in time.
    fn foresee(&self, packet: &Packet, destination: u32, alternatives: u32) -> Option<u32> {
        let _ = (packet, destination, alternatives);
        None
    }
    /// As [`PathChoice::foresee`], with a look at the whole way.
    #[inline]
    fn foresee_way(&self, packet: &Packet, destination: u32, alternatives: u32, ways: &dyn Ways) -> Option<u32> {
        let _ = ways;
        self.foresee(packet, destination, alternatives)
    }
}

/// A priority of a packet, given by its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Priority {
    /// Class for ports that classify by tag; 0 is served first.
    pub class: u8,
    /// Value for ports that order by rank; smaller is served first.
    pub rank: u64,
}

impl Priority {
    /// The priority of a class, for ports that classify by tag and for those that order by rank.
    #[inline]
    pub fn of_class(class: u8) -> Priority {
        Priority { class, rank: u64::from(class) }
    }
}

/// What a sender knows of the packet that it is about to tag.
#[derive(Clone, Copy, Debug)]
pub struct TagView {
    /// Offset of the packet's first byte in its flow.
    pub offset: u64,
    /// One past the highest byte that the flow has sent before this packet.
    pub highest_sent: u64,
    /// Bytes of the flow that are acknowledged, cumulatively or by SACK; a short last segment counts as a whole one.
    pub acknowledged: u64,
    /// Bytes of the whole flow.
    pub flow_bytes: u64,
}

impl TagView {
    /// Whether the packet's bytes were sent before.
    #[inline]
    pub fn is_retransmission(&self) -> bool {
        self.offset < self.highest_sent
    }
}

/// Gives each data packet its priority at the sender; one for each flow.
pub trait Tag {
    /// Priority of the packet described by `view`.
    fn tag(&mut self, view: &TagView) -> Priority;
    /// The flow's retransmission timer has fired `consecutive` times in a row.
    fn on_timeout(&mut self, consecutive: u32, highest_sent: u64) {
        let _ = (consecutive, highest_sent);
    }
}

/// Congestion window and slow-start threshold in bytes. Fractions of a byte are kept, because additive increase adds
/// less than a byte for each ACK to a very large window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Bytes that may be in flight.
    pub cwnd: f64,
    /// Below it the window doubles each round trip.
    pub ssthresh: f64,
    /// Largest `cwnd` allowed.
    pub max: f64,
    /// Packets follow each other no closer than this, start to start: how a congestion control holds a flow below one
    /// packet in a round trip, or to a rate. Zero if it does not. It holds at once, also for a packet that waits.
    pub gap: Span,
}

/// What one ACK told the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample<'a> {
    /// When it came.
    pub now: Instant,
    /// Bytes that it acknowledged cumulatively for the first time.
    pub newly_acked: u64,
    /// Whether it carried ECN echo.
    pub ece: bool,
    /// The first byte that is not acknowledged, after this ACK.
    pub snd_una: u64,
    /// The next new byte to send.
    pub snd_nxt: u64,
    /// Whether the sender is in loss recovery. At its end the window becomes `ssthresh`: a model that changes the one
    /// in recovery, as few do, changes the other with it.
    pub in_recovery: bool,
    /// Whether the window has held the flow back: one that is not used up must not open.
    pub window_limited: bool,
    /// Smoothed round-trip time, after this ACK.
    pub srtt: Span,
    /// Round-trip time of the packet that caused this ACK.
    pub rtt: Span,
    /// The header that switches wrote into on the way out, as the receiver sent it back; `None` where there are no such
    /// headers, and if a timer sent the ACK.
    pub header: Option<&'a Header>,
}

/// Sets the window of one flow.
pub trait CongestionControl {
    /// Whether data packets of the flow are ECN-capable.
    fn ecn_capable(&self) -> bool;
    /// An ACK arrived. Returns whether the window was cut, so that the next packet carries CWR.
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool;
    /// Whether the window doubles below `ssthresh` and opens by [`CongestionControl::increase`] above, so that a
    /// transport which counts whole segments may open it itself. Such a transport tells `on_ack` that the window has
    /// not held the flow back, and of all other models that it has.
    fn opens_by_increase(&self) -> bool {
        false
    }
    /// Segments by which the window opens in a round trip of congestion avoidance, where it opens so. Called once for
    /// each ACK that opens it.
    fn increase(&mut self, window: &Window, ack: &AckSample<'_>) -> f64 {
        let _ = (window, ack);
        1.0
    }
    /// Whether it may ever set [`Window::gap`].
    fn paces(&self) -> bool {
        false
    }
    /// What the next flow of a persistent connection begins with beside the window, such as DCTCP's alpha.
    fn learned(&self) -> Option<f64> {
        None
    }
    /// The connection is one that has [learned](CongestionControl::learned) this.
    fn recall(&mut self, _learned: f64) {}
    /// Routing has changed: the packets of the flow have this path from now on.
    fn on_path(&mut self, _path: PathFacts) {}
    /// Loss was inferred from duplicate ACKs or SACK with `flight` bytes outstanding (RFC 5681 equation 4).
    fn on_loss(&mut self, now: Instant, window: &mut Window, flight: u64) {
        let _ = now;
        window.halve(flight);
        window.cwnd = window.ssthresh;
    }
    /// The retransmission timer fired for the `consecutive`-th time in a row, with `flight` bytes outstanding.
    fn on_timeout(&mut self, now: Instant, window: &mut Window, flight: u64, consecutive: u32) {
        let _ = now;
        // RFC 5681, section 3.1: ssthresh is kept when the retransmission is lost as well.
        if consecutive == 1 {
            window.halve(flight);
        }
        window.cwnd = tailcut_base::MSS_BYTES as f64;
    }
}

impl Window {
    /// `ssthresh` after a loss: half of what was in flight, at least two segments (RFC 5681 equation 4).
    pub fn halve(&mut self, flight: u64) {
        self.ssthresh = (flight as f64 / 2.0).max(2.0 * tailcut_base::MSS_BYTES as f64);
    }
}

/// Decides how much the senders may have on its way to one host, beside what their own windows allow.
pub trait ReceiveWindow {
    /// The window of a new flow in segments, before anything is advertised; `None` if nothing ever is.
    fn initial_window(&self) -> Option<u16>;
    /// The flow in `slot` begins, and has the first window.
    fn on_open(&mut self, now: Instant, slot: u32);
    /// A data packet of the flow in `slot` has arrived.
    fn on_data(&mut self, now: Instant, slot: u32, packet: &Packet);
    /// The window to advertise with an ACK or SYN-ACK of the flow in `slot` that goes now and expects the byte `next`,
    /// in segments; `None` if it limits nothing.
    fn advertise(&mut self, now: Instant, slot: u32, next: u64) -> Option<u16>;
    /// The flow in `slot` has every byte.
    fn on_close(&mut self, slot: u32);
}

/// A flow's turn to send one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The flow's slot.
    pub slot: u32,
    /// Whether the host itself marks the packet with CE, if it is ECN-capable.
    pub mark: bool,
    /// Whether the packet is discarded: the sender takes it for sent, and it never leaves.
    pub drop: bool,
}

/// Decides which flow of a host sends next. A flow that may send `n` packets more than it has told before says so by
/// `offer`; the NIC asks `next` each time it is free.
pub trait SendOrder {
    /// Whether windows are pushed into the NIC, so that what was offered counts as sent.
    fn is_queue(&self) -> bool;
    /// The flow in `slot` may send `packets` more packets; `left` bytes of it are still to send, whether they may or
    /// not.
    fn offer(&mut self, now: Instant, slot: u32, packets: u32, left: u64);
    /// Who sends next, or discards. One packet is taken off what the flow offered; whether it still has anything to
    /// send is for the caller to see, because a window may have shrunk since.
    fn next(&mut self) -> Option<Turn>;
    /// Whether `next` would give a flow.
    fn is_empty(&self) -> bool;
    /// The slot that `next` would name, if that can be told at once. Only a hint to what will soon be needed.
    fn upcoming(&self) -> Option<u32> {
        None
    }
    /// Calls into the cache what `upcoming` reads.
    fn prefetch(&self) {}
    /// The flow in `slot` has ended: what it offered is void.
    fn forget(&mut self, slot: u32);
    /// The turn of the flow in `slot` put a packet with so many bytes of payload on the wire.
    fn on_sent(&mut self, slot: u32, payload: u64) {
        let _ = (slot, payload);
    }
    /// The retransmission timer of the flow in `slot`, which has sent so many bytes, has fired. At `until` a round trip
    /// of the flow will be over.
    fn on_timeout(&mut self, slot: u32, sent: u64, until: Instant) {
        let _ = (slot, sent, until);
    }
    /// An ACK with ECN echo has come, of any flow of the host that sends by this order.
    fn on_echo(&mut self) {}
    /// An ACK has advanced the flow in `slot` for the first time since its timer fired.
    fn on_recovery(&mut self, slot: u32) {
        let _ = slot;
    }
}

/// Facts of a flow that its sender reports when the last byte is acknowledged, or when the run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderReport {
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Data packets that carried bytes sent before, or none: probes.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
}

/// Facts of a flow that its receiver reports when it has every byte, or when the run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReceiverReport {
    /// Data packets that arrived.
    pub packets: u64,
    /// Data packets that arrived with a lower offset than one before them.
    pub reordered: u64,
    /// Data packets that arrived marked.
    pub ce_marks: u64,
    /// Data packets that at least two switches would have marked.
    pub multi_marked: u64,
}

/// Facts of a flow that was sent by permission of a controller; its sender reports them at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PermissionReport {
    /// From its start until the first permission was at its host.
    pub waited: Span,
    /// For how long its permission was taken back after that.
    pub stopped: Span,
    /// How often it was taken back: preemptions.
    pub preemptions: u32,
}

/// What a transport asks of the world.
#[derive(Clone, Copy, Debug)]
pub enum Wish {
    /// Call `on_timer` for `flow` at `at`.
    Timer {
        /// When.
        at: Instant,
        /// Which flow.
        flow: FlowId,
    },
    /// A data packet was discarded by its own host, before it had left.
    Discarded {
        /// Which flow.
        flow: FlowId,
        /// Offset of its first byte.
        seq: u64,
    },
    /// The receiver has every byte of the flow.
    Received {
        /// Which flow.
        flow: FlowId,
        /// What the receiver saw.
        report: ReceiverReport,
    },
    /// The sender knows that the receiver has every byte of the flow.
    Acknowledged {
        /// Which flow.
        flow: FlowId,
        /// What the sender did.
        report: SenderReport,
    },
    /// Tells the controller. Packets may be asked for late, when nobody can be told any more what was then: a transport
    /// that tells while it gives a packet says so by a [shortest timer](Transport::shortest_timer) of zero.
    Tell {
        /// About which flow.
        flow: FlowId,
        /// What.
        message: Message,
    },
    /// How long the flow had to wait for permission. Comes before the report of its sender, so it is wished for after
    /// that.
    Permitted {
        /// Which flow.
        flow: FlowId,
        /// What it had to wait for.
        report: PermissionReport,
    },
    /// The sender gives the flow up.
    Abandoned {
        /// Which flow.
        flow: FlowId,
        /// What the sender did.
        report: SenderReport,
    },
    /// The receiver lets go of a flow without every byte, because its sender has given up.
    LetGo {
        /// Which flow.
        flow: FlowId,
        /// What the receiver saw.
        report: ReceiverReport,
    },
}

/// What a host and the controller tell each other: words whose meaning is that of the scheme.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Message {
    /// The words.
    pub words: [u64; 4],
}

/// A message of the controller on its way to a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// When it is sent; once the engine has it, when it is there.
    pub at: Instant,
    /// To which host.
    pub to: HostId,
    /// About which flow.
    pub flow: FlowId,
    /// What.
    pub message: Message,
}

/// What a controller may do while it handles a message.
pub struct ControllerCx<'a> {
    /// The time.
    pub now: Instant,
    /// What it sends.
    pub answers: &'a mut Vec<Answer>,
}

impl ControllerCx<'_> {
    /// Sends a message to a host, after so much time of its own; it is there [`Controller::delay`] later.
    pub fn send(&mut self, after: Span, to: HostId, flow: FlowId, message: Message) {
        self.answers.push(Answer { at: self.now + after, to, flow, message });
    }
}

/// What a controller has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ControllerCounts {
    /// Flows that asked for permission.
    pub requests: u64,
    /// Messages of all kinds that it has answered or taken note of.
    pub messages: u64,
    /// Flows that were told to wait when they asked.
    pub refusals: u64,
    /// Permissions, the first of a flow and those after a preemption.
    pub permissions: u64,
    /// Permissions taken back.
    pub preemptions: u64,
    /// Ways that were looked at from end to end.
    pub ways: u64,
    /// Links that were looked at in search of ways: the work of its decisions.
    pub links: u64,
}

impl ControllerCounts {
    /// Each count with its name in results.
    pub fn iter(&self) -> impl Iterator<Item = (String, u64)> + use<> {
        let &ControllerCounts { requests, messages, refusals, permissions, preemptions, ways, links } = self;
        [
            ("requests", requests),
            ("messages", messages),
            ("refusals", refusals),
            ("permissions", permissions),
            ("preemptions", preemptions),
            ("ways", ways),
            ("links", links),
        ]
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count))
    }
}

/// Decides for the whole network. Hosts tell it by [`Wish::Tell`], and hear of it by [`Transport::on_message`].
pub trait Controller {
    /// How long a message takes from a host to the controller, and back; more than nothing. `None` if there is no
    /// controller.
    fn delay(&self) -> Option<Span>;
    /// What it has counted, if it counts anything.
    fn counts(&self) -> Option<ControllerCounts> {
        None
    }
    /// A message is there.
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: HostId, flow: FlowId, message: Message);
    /// When it wants to be called, if it does.
    fn timer(&self) -> Option<Instant> {
        None
    }
    /// That moment has come.
    fn on_timer(&mut self, cx: &mut ControllerCx<'_>) {
        let _ = cx;
    }
}
