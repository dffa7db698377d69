//! An output port: lose, classify, admit, mark, queue, transmit.

use tailcut_base::{Bytes, Instant, PortId, ScaledBytes, Seeds, Span, prefetch};
use tailcut_model::seat::{
    Admission, BufferPolicy, Classifier, DropReason, Loss, MAX_CLASSES, Marker, Occupancy, PortScheduler, Waiting,
};
use tailcut_model::{Arena, Flags, Invalid, Packet, PacketId, table};

use crate::buffer::{self, BufferConfig, BufferSeat};
use crate::classify::{self, ClassifierConfig, ClassifierSeat};
use crate::loss::{self, LossConfig, LossContext, LossSeat};
use crate::mark::{self, MarkerConfig, MarkerSeat};
use crate::sched::{self, SchedulerConfig, SchedulerSeat};
use crate::{Link, Pfc, QueueHistogram, Wire};

mod held;

pub use held::Lossless;

table! {
    /// The `[port]` table: what every switch port does with packets.
    pub struct PortConfig {
        values {
            /// Bytes that may wait in a port; `pkt` counts packets of 1500 B (240 packets: HKUST-SING/PIAS-NS2; the
            /// bandwidth-delay product: Villamizar and Song, High Performance TCP in ANSNET, CCR 24(5), 1994). A `BDP`
            /// is what the port's link carries in the largest round-trip time of the idle network, of a full packet and
            /// a header back.
            limit: ScaledBytes = ScaledBytes::of_bdp(1.0).at_least(Bytes(240 * tailcut_base::MTU_BYTES)),
            /// Number of classes, 1 to 8; class 0 is the highest.
            classes: u8 = 1,
            /// Priority flow control: which classes are paused rather than dropped. None if not given.
            #[serde(skip_serializing_if = "Option::is_none")]
            pfc: Option<Pfc> = None,
        }
        seats {
            /// Which packets are lost by chance as they arrive, before any other rule.
            loss: LossConfig = LossConfig::Off(loss::off::Config {}),
            /// How packets are sorted into classes.
            classifier: ClassifierConfig = ClassifierConfig::Single(classify::single::Config {}),
            /// Which waiting packet goes next.
            scheduler: SchedulerConfig = SchedulerConfig::Strict(sched::strict::Config {}),
            /// When packets are marked with CE.
            marker: MarkerConfig = MarkerConfig::Off(mark::off::Config {}),
            /// Which packets are let in.
            buffer: BufferConfig = BufferConfig::TailDrop(buffer::tail_drop::Config {}),
        }
    }
}

/// What the models of a port know of it when they are made.
#[derive(Clone, Copy, Debug)]
pub struct PortContext {
    /// Bytes that may wait.
    pub limit: u64,
    /// Number of classes.
    pub classes: u8,
}

impl PortConfig {
    /// Writes out sizes that are multiples of the bandwidth-delay product, which is `bdp` bytes.
    pub fn resolve_bdp(&mut self, bdp: u64) {
        self.limit.resolve(bdp);
        self.seats_mut().into_iter().for_each(|(_, seat)| seat.resolve_bdp(bdp));
    }

    /// Bytes that may wait. Where the limit is still a multiple of the bandwidth-delay product, the least that it is in
    /// any network.
    pub fn limit_bytes(&self) -> u64 {
        self.limit.at(0).0
    }

    /// Checks what the types do not; paths are relative to the `[port]` table.
    ///
    /// # Errors
    /// If a value is out of range or seats do not go together.
    pub fn validate(&self) -> Result<(), Invalid> {
        Port::new(self, Link::new(tailcut_base::BitRate::gbps(1), Span::ZERO)).map(|_| ())
    }
}

/// What happened to a packet that was offered to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It is on the wire. `land` is when it reaches the far end, unless an earlier packet is still on its way there:
    /// only the first packet in flight is an event.
    Sent {
        /// The moment to call [`Wire::land`].
        land: Option<Instant>,
    },
    /// It waits for the packet on the wire, and goes in its turn.
    Queued,
    /// It was refused, and is the caller's to remove.
    Dropped(DropReason),
}

/// The packets that wait, as a buffer policy sees them when another one arrives.
struct Queue<'a> {
    scheduler: &'a SchedulerSeat,
    arena: &'a Arena,
    id: PacketId,
    class: u8,
}

impl Waiting for Queue<'_> {
    #[inline]
    fn has_worse(&self) -> bool {
        self.scheduler.has_worse(self.arena.get(self.id), self.class)
    }

    #[inline]
    fn class_bytes(&self, class: u8) -> u64 {
        self.scheduler.class_bytes(class)
    }
}

/// Counts of a port's queue since the start; its [`Wire`] counts what was transmitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Packets marked with CE.
    pub marks: u64,
    /// Packets let into a lower class than their own.
    pub demotions: u64,
    /// Packets dropped, by [`DropReason`] in the order of `DropReason::ALL`; none until the first.
    drops: Option<Box<[u64; DropReason::ALL.len()]>>,
}

impl PortStats {
    /// Packets dropped for this reason.
    pub fn drops(&self, reason: DropReason) -> u64 {
        self.all_drops()[reason as usize]
    }

    /// Packets dropped, by [`DropReason`] in the order of `DropReason::ALL`.
    pub fn all_drops(&self) -> [u64; DropReason::ALL.len()] {
        self.drops.as_deref().copied().unwrap_or_default()
    }
}

/// Decides beside the port whether a packet may wait: the memory that the ports of a switch share.
pub trait Gate {
    /// Whether a packet of `class` may wait in the port, which is as full as `occupancy` says.
    ///
    /// # Errors
    /// The reason to drop it.
    fn admit(&mut self, packet: &Packet, class: u8, occupancy: Occupancy) -> Result<(), DropReason>;
    /// `size` bytes were pushed out of a class of the port; `occupancy` says what still waits.
    fn pushed_out(&mut self, size: u64, class: u8, occupancy: Occupancy);
    /// Whether it wants to know of which class what is pushed out is; otherwise it is told that it is class 0.
    fn looks_at_classes(&self) -> bool {
        false
    }
}

/// The gate of a port with memory of its own: it lets everything pass.
pub struct Open;

impl Gate for Open {
    #[inline(always)]
    fn admit(&mut self, _: &Packet, _: u8, _: Occupancy) -> Result<(), DropReason> {
        Ok(())
    }
    #[inline(always)]
    fn pushed_out(&mut self, _: u64, _: u8, _: Occupancy) {}
}

/// What is known of a port from the start: any of these, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PortKind(u8);

impl PortKind {
    /// A FIFO: of one class, with tail drop, and nothing is lost by chance.
    const FIFO: u8 = 1;
    /// The memory that it shares with other ports has to let packets in as well.
    const SHARES: u8 = 2;
    /// It would let pass what finds it idle, if it did not share a memory.
    const PASSES: u8 = 4;
    /// The memory that it shares is told of departures.
    const TELLS: u8 = 8;

    #[inline(always)]
    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

/// An output port and the link behind it.
///
/// Nothing need happen at the moment at which the transmitter becomes free: what waits then is what waited after the
/// last call, so the choice of the next packet may be made later, with the time at which it was due. A packet that
/// waits has one in front of it that is still to land, so [`Port::land`] comes in time to say when the next one lands.
/// That saves an event for each packet that waits.
///
/// Most packets find their port idle, and most ports are FIFOs of one class with tail drop. Both have a way of their
/// own here, which asks no model what it would answer in any case.
///
/// A NIC is a port whose queue stays empty: it pulls, and uses the wire alone.
// What a packet that comes or goes needs stands in the first three cache lines, which `prefetch` calls.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Port {
    waiting: u32,
    classes: u8,
    kind: PortKind,
    /// A packet of up to so many bytes that finds the port idle goes on as it came: nothing loses, refuses or marks it.
    passes_idle: u16,
    /// The transmitter and its link.
    pub wire: Wire,
    backlog: u64,
    limit: u64,
    loss: LossSeat,
    buffer: BufferSeat,
    classifier: ClassifierSeat,
    marker: MarkerSeat,
    scheduler: SchedulerSeat,
    stats: PortStats,
    /// How long the queue spent at each length, while that is recorded.
    histogram: Option<Box<QueueHistogram>>,
}

const _: () = {
    let hot = std::mem::offset_of!(Port, scheduler) + size_of::<SchedulerSeat>();
    assert!(hot <= 192 && std::mem::offset_of!(Port, scheduler) >= 128, "the seats end in the third cache line");
    assert!(size_of::<Port>() <= 256, "a port is four cache lines");
};

impl Port {
    /// A port with this behaviour on this link, alone: what it draws, it draws as port 0 of a run with seed 0.
    ///
    /// # Errors
    /// If a value is out of range or seats do not go together; paths are relative to the `[port]` table.
    pub fn new(config: &PortConfig, link: Link) -> Result<Port, Invalid> {
        Port::with_draws(config, link, &LossContext { seeds: Seeds::new(0), port: PortId(0) })
    }

    /// A port with this behaviour on this link, and with draws of its own.
    ///
    /// # Errors
    /// As [`Port::new`].
    pub fn with_draws(config: &PortConfig, link: Link, draws: &LossContext) -> Result<Port, Invalid> {
        if config.classes == 0 || usize::from(config.classes) > MAX_CLASSES {
            return Err(Invalid::new("classes", format!("a port cannot have {} classes", config.classes))
                .help(format!("expected 1 to {MAX_CLASSES}")));
        }
        if config.limit_bytes() < tailcut_base::MTU_BYTES {
            return Err(Invalid::new("limit", format!("{} does not hold one packet of 1500 B", config.limit))
                .help("expected at least \"1500B\""));
        }
        let context = PortContext { limit: config.limit_bytes(), classes: config.classes };
        if let Some(pfc) = &config.pfc {
            pfc.validate(config.classes).map_err(|e| e.within("pfc"))?;
        }
        let mut port = Port {
            wire: Wire::new(link),
            classes: config.classes,
            kind: PortKind(0),
            passes_idle: 0,
            waiting: 0,
            backlog: 0,
            limit: config.limit_bytes(),
            loss: config.loss.build(draws).map_err(|e| e.within("loss"))?,
            classifier: config.classifier.build(&context).map_err(|e| e.within("classifier"))?,
            marker: config.marker.build(&context).map_err(|e| e.within("marker"))?,
            buffer: config.buffer.build(&context).map_err(|e| e.within("buffer"))?,
            stats: PortStats::default(),
            scheduler: config.scheduler.build(&context).map_err(|e| e.within("scheduler"))?,
            histogram: None,
        };
        let loses_nothing = matches!(port.loss, LossSeat::Off(_));
        let has_one_queue = matches!(port.scheduler, SchedulerSeat::Strict(_)) && port.classes == 1;
        if loses_nothing && has_one_queue && matches!(port.buffer, BufferSeat::TailDrop(_)) {
            port.kind.0 |= PortKind::FIFO;
        }
        if loses_nothing && port.buffer.takes_into_empty() && port.marker.spares_first() {
            port.passes_idle = tailcut_base::MTU_BYTES as u16;
        }
        Ok(port)
    }

    /// Says that the memory that it shares with other ports has to let packets in as well: no packet passes through it
    /// unasked. If it `tells` the memory of departures, whoever calls [`Port::land`] has to.
    pub fn share_memory(&mut self, tells: bool) {
        let passes = if self.passes_idle > 0 { PortKind::PASSES } else { 0 };
        self.kind.0 |= PortKind::SHARES | passes | if tells { PortKind::TELLS } else { 0 };
        self.passes_idle = 0;
    }

    /// Calls what an arriving packet needs of the port into the cache.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(self);
        prefetch(&self.limit);
        prefetch(&self.scheduler);
    }

    /// Calls what the port needs to send the next waiting packet into the cache.
    #[inline]
    pub fn prefetch_waiting(&self, arena: &Arena) {
        if let Some(first) = self.scheduler.upcoming() {
            arena.prefetch(first);
        }
    }

    /// Bytes that the port holds on to beside itself.
    pub fn heap_bytes(&self) -> usize {
        self.loss.heap_bytes()
            + self.classifier.heap_bytes()
            + self.marker.heap_bytes()
            + self.buffer.heap_bytes()
            + self.scheduler.heap_bytes()
            + self.histogram.as_ref().map_or(0, |histogram| size_of_val(&**histogram))
            + self.stats.drops.as_ref().map_or(0, |drops| size_of_val(&**drops))
    }

    /// Counts since the start.
    pub fn stats(&self) -> &PortStats {
        &self.stats
    }

    /// Counts a packet that was dropped here and never offered: a NIC's, discarded by its host, or one whose link is
    /// down.
    pub fn count_drop(&mut self, reason: DropReason) {
        self.stats.drops.get_or_insert_default()[reason as usize] += 1;
    }

    /// Takes out everything that waits, because the link is down; the caller counts and removes it.
    pub fn flush(&mut self, now: Instant, arena: &mut Arena) -> Vec<PacketId> {
        let mut flushed = Vec::new();
        while let Some(id) = self.scheduler.pop(arena) {
            self.waiting -= 1;
            self.set_backlog(now, self.backlog - u64::from(arena.get(id).size));
            flushed.push(id);
        }
        flushed
    }

    /// Bytes that wait, at the time of the last call; the packet on the wire is not counted.
    pub fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Packets that wait, at the time of the last call; the packet on the wire is not counted.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Whether a packet of so many bytes that arrives now goes on at once and as it came: offering it would come to
    /// [`Wire::transmit`].
    #[inline(always)]
    pub fn lets_pass(&self, now: Instant, bytes: u16) -> bool {
        self.waiting == 0 && self.wire.is_free(now) && bytes <= self.passes_idle
    }

    /// A packet arrives at the port. Packets that it pushes out are appended to `evicted`; the caller removes them.
    #[inline(always)]
    pub fn offer(&mut self, now: Instant, arena: &mut Arena, id: PacketId, evicted: &mut Vec<PacketId>) -> Offered {
        if self.lets_pass(now, arena.get(id).size) {
            return Offered::Sent { land: self.wire.transmit(now, arena, id) };
        }
        if self.kind == PortKind(PortKind::FIFO) {
            return self.offer_to_fifo(now, arena, id);
        }
        self.offer_to_any(now, arena, id, evicted)
    }

    /// Whether the memory that the port shares has to let packets in as well.
    #[inline(always)]
    pub fn has_to_ask(&self) -> bool {
        self.kind.has(PortKind::SHARES)
    }

    /// Whether [`Port::land`] will send a packet of which the memory that the port shares has to be told.
    #[inline(always)]
    pub fn has_to_tell(&self) -> bool {
        self.kind.has(PortKind::TELLS) && self.waiting > 0 && self.wire.has_one_in_flight()
    }

    /// As [`Port::offer`], of a packet that the memory that the port shares lets in, and that does not find it idle.
    #[inline(always)]
    pub fn offer_let_in(
        &mut self,
        now: Instant,
        arena: &mut Arena,
        id: PacketId,
        evicted: &mut Vec<PacketId>,
    ) -> Offered {
        if self.is_fifo() {
            return self.offer_to_fifo(now, arena, id);
        }
        self.offer_to_any(now, arena, id, evicted)
    }

    /// Whether a packet that arrives now goes on at once and as it came, if the memory that the port shares lets it in.
    #[inline(always)]
    pub fn would_let_pass(&self, now: Instant) -> bool {
        self.waiting == 0 && self.wire.is_free(now) && self.kind.has(PortKind::PASSES)
    }

    /// Whether it is a FIFO: of one class, with tail drop, and nothing is lost by chance.
    #[inline(always)]
    pub fn is_fifo(&self) -> bool {
        self.kind.has(PortKind::FIFO)
    }

    /// As [`Port::offer`], in any port: every model is asked.
    #[inline(never)]
    fn offer_to_any(&mut self, now: Instant, arena: &mut Arena, id: PacketId, evicted: &mut Vec<PacketId>) -> Offered {
        self.offer_through(now, arena, id, evicted, &mut Open)
    }

    /// The same where a gate is asked as well, once the port would take the packet.
    ///
    /// This copy of the code stands aside of the loop, which has one of its own without a gate.
    #[inline(never)]
    pub fn offer_gated(
        &mut self,
        now: Instant,
        arena: &mut Arena,
        id: PacketId,
        evicted: &mut Vec<PacketId>,
        gate: &mut impl Gate,
    ) -> Offered {
        if self.is_fifo() {
            return self.offer_to_gated_fifo(now, arena, id, gate);
        }
        self.offer_through(now, arena, id, evicted, gate)
    }

    #[inline(always)]
    fn offer_through(
        &mut self,
        now: Instant,
        arena: &mut Arena,
        id: PacketId,
        evicted: &mut Vec<PacketId>,
        gate: &mut impl Gate,
    ) -> Offered {
        self.catch_up(now, arena);
        let packet = arena.get(id);
        if self.loss.loses(packet) {
            return self.refuse(DropReason::RandomLoss);
        }
        let size = u64::from(packet.size);
        let capable = packet.flags.has(Flags::ECT);
        let class = self.classifier.classify(packet, self.classes);
        let (class, occupancy) = loop {
            let occupancy = self.occupancy(class);
            let queue = Queue { scheduler: &self.scheduler, arena, id, class };
            match self.buffer.admit(occupancy, class, size, &queue) {
                Admission::Take => break (class, occupancy),
                Admission::Drop(reason) => return self.refuse(reason),
                Admission::PushOut => {
                    let before = gate.looks_at_classes().then(|| self.class_bytes());
                    let pushed = self.evict(now, arena);
                    let of = before.map_or(0, |before| self.class_that_lost(&before));
                    gate.pushed_out(u64::from(arena.get(pushed).size), of, self.occupancy(of));
                    evicted.push(pushed);
                }
                Admission::Demote => match self.demote(arena, id, class, size) {
                    Ok(class) => break (class, self.occupancy(class)),
                    Err(reason) => return self.refuse(reason),
                },
            }
        };
        if let Err(reason) = gate.admit(arena.get(id), class, occupancy) {
            return self.refuse(reason);
        }
        if self.marker.mark(occupancy, class, size) && capable {
            let packet = arena.get_mut(id);
            packet.flags.set(Flags::CE);
            packet.marks = packet.marks.saturating_add(1);
            self.stats.marks += 1;
        }
        if self.waiting == 0 && self.wire.is_free(now) {
            return Offered::Sent { land: self.wire.transmit(now, arena, id) };
        }
        self.scheduler.push(arena, id, class);
        self.waiting += 1;
        self.set_backlog(now, self.backlog + size);
        Offered::Queued
    }

    /// As [`Port::offer`], in a port that is a FIFO.
    #[inline(never)]
    fn offer_to_fifo(&mut self, now: Instant, arena: &mut Arena, id: PacketId) -> Offered {
        self.offer_to_fifo_through(now, arena, id, &mut Open)
    }

    /// As [`Port::offer_gated`], in a port that is a FIFO.
    // A function of its own, as above.
    #[inline(never)]
    fn offer_to_gated_fifo(&mut self, now: Instant, arena: &mut Arena, id: PacketId, gate: &mut impl Gate) -> Offered {
        self.offer_to_fifo_through(now, arena, id, gate)
    }

    #[inline(always)]
    fn offer_to_fifo_through(
        &mut self,
        now: Instant,
        arena: &mut Arena,
        id: PacketId,
        gate: &mut impl Gate,
    ) -> Offered {
        while self.waiting > 0 && self.wire.is_free(now) {
            self.send_next_of_fifo(arena);
        }
        let packet = arena.get_mut(id);
        let size = u64::from(packet.size);
        if self.backlog + size > self.limit {
            return self.refuse(DropReason::PortFull);
        }
        let occupancy = Occupancy { port: self.backlog, class: self.backlog, limit: self.limit };
        if let Err(reason) = gate.admit(packet, 0, occupancy) {
            return self.refuse(reason);
        }
        if self.marker.mark(occupancy, 0, size) && packet.flags.has(Flags::ECT) {
            packet.flags.set(Flags::CE);
            packet.marks = packet.marks.saturating_add(1);
            self.stats.marks += 1;
        }
        if self.waiting == 0 && self.wire.is_free(now) {
            return Offered::Sent { land: self.wire.transmit(now, arena, id) };
        }
        let SchedulerSeat::Strict(queue) = &mut self.scheduler else { unreachable!("a FIFO has this scheduler") };
        queue.push_only(arena, id, size);
        self.waiting += 1;
        self.set_backlog(now, self.backlog + size);
        Offered::Queued
    }

    /// The first packet in flight reaches the far end. Returns it, and when the next one does.
    #[inline(always)]
    pub fn land(&mut self, arena: &mut Arena) -> (PacketId, Option<Instant>) {
        let (id, next) = self.wire.land(arena);
        if next.is_none() && self.waiting > 0 {
            // The packet that landed has long left the transmitter: the next one follows it.
            return (id, self.send_next(arena));
        }
        (id, next)
    }

    /// Sends what was to be sent until `now`. Counts and lengths are those of `now` only after this.
    #[inline]
    pub fn catch_up(&mut self, now: Instant, arena: &mut Arena) {
        while self.waiting > 0 && self.wire.is_free(now) {
            let land = self.send_next(arena);
            debug_assert!(land.is_none(), "the packet in front lands later than this one begins");
        }
    }

    /// Sends the next packet that waits, at the moment at which the transmitter became free for it.
    #[inline(never)]
    fn send_next(&mut self, arena: &mut Arena) -> Option<Instant> {
        if self.is_fifo() { self.send_next_of_fifo(arena).1 } else { self.send_next_of_any(arena) }
    }

    /// As [`Port::send_next`], in any port.
    // A function of its own: a FIFO needs few registers.
    #[inline(never)]
    fn send_next_of_any(&mut self, arena: &mut Arena) -> Option<Instant> {
        self.send_from_queues(arena).1
    }

    /// As [`Port::send_next`], in a port that is a FIFO.
    #[inline(always)]
    fn send_next_of_fifo(&mut self, arena: &mut Arena) -> (PacketId, Option<Instant>) {
        let SchedulerSeat::Strict(queue) = &mut self.scheduler else { unreachable!("a FIFO has this scheduler") };
        let begins = self.wire.free_at();
        let id = queue.pop_only(arena);
        self.waiting -= 1;
        self.set_backlog(begins, self.backlog - u64::from(arena.get(id).size));
        (id, self.wire.transmit(begins, arena, id))
    }

    /// Sends the next packet that waits, at the moment at which the transmitter became free for it. Returns the packet,
    /// and when it lands if no other is on the way: the moment to call [`Port::land`].
    ///
    /// # Panics
    /// If nothing waits.
    #[inline(always)]
    pub fn send_waiting(&mut self, arena: &mut Arena) -> (PacketId, Option<Instant>) {
        if self.is_fifo() { self.send_next_of_fifo(arena) } else { self.send_from_queues(arena) }
    }

    #[inline(always)]
    fn send_from_queues(&mut self, arena: &mut Arena) -> (PacketId, Option<Instant>) {
        let begins = self.wire.free_at();
        let id = self.scheduler.pop(arena).expect("a packet waits");
        self.waiting -= 1;
        self.set_backlog(begins, self.backlog - u64::from(arena.get(id).size));
        (id, self.wire.transmit(begins, arena, id))
    }

    /// Records from now on how long the queue spends at each length, where `apart` bytes may wait beside the limit.
    pub fn start_histogram(&mut self, now: Instant, apart: u64) {
        self.histogram = Some(Box::new(QueueHistogram::new(now, self.buffer.capacity(self.limit) + apart)));
    }

    /// Ends the recording and gives what it recorded.
    pub fn take_histogram(&mut self, now: Instant) -> Option<QueueHistogram> {
        let mut histogram = *self.histogram.take()?;
        histogram.until(now, self.backlog);
        Some(histogram)
    }

    #[inline]
    fn set_backlog(&mut self, now: Instant, backlog: u64) {
        if self.histogram.is_some() {
            self.record_backlog(now);
        }
        self.backlog = backlog;
    }

    /// The backlog has been what it is until now.
    #[cold]
    #[inline(never)]
    fn record_backlog(&mut self, now: Instant) {
        if let Some(histogram) = &mut self.histogram {
            histogram.until(now, self.backlog);
        }
    }

    /// Bytes that wait in each class.
    pub fn class_bytes(&self) -> [u64; MAX_CLASSES] {
        let mut bytes = [0; MAX_CLASSES];
        (0..self.classes).zip(&mut bytes).for_each(|(class, bytes)| *bytes = self.scheduler.class_bytes(class));
        bytes
    }

    /// The class in which less waits than before, of which one packet has gone.
    pub fn class_that_lost(&self, before: &[u64; MAX_CLASSES]) -> u8 {
        let lost = |&class: &u8| self.scheduler.class_bytes(class) < before[usize::from(class)];
        (0..self.classes).find(lost).unwrap_or(0)
    }

    /// How full the port is for a packet of `class`.
    #[inline]
    pub fn occupancy(&self, class: u8) -> Occupancy {
        Occupancy { port: self.backlog, class: self.scheduler.class_bytes(class), limit: self.limit }
    }

    /// The class below `class` that takes a packet of `size` bytes, or why none does.
    #[cold]
    fn demote(&mut self, arena: &Arena, id: PacketId, mut class: u8, size: u64) -> Result<u8, DropReason> {
        loop {
            class += 1;
            let occupancy = self.occupancy(class);
            match self.buffer.admit(occupancy, class, size, &Queue { scheduler: &self.scheduler, arena, id, class }) {
                Admission::Take => {
                    self.stats.demotions += 1;
                    return Ok(class);
                }
                Admission::Demote => {}
                Admission::Drop(reason) => return Err(reason),
                Admission::PushOut => unreachable!("a policy that demotes does not push out"),
            }
        }
    }

    #[inline]
    fn refuse(&mut self, reason: DropReason) -> Offered {
        self.count_drop(reason);
        Offered::Dropped(reason)
    }

    fn evict(&mut self, now: Instant, arena: &mut Arena) -> PacketId {
        let id = self.scheduler.evict(arena).expect("a policy pushes out only what waits");
        self.waiting -= 1;
        self.set_backlog(now, self.backlog - u64::from(arena.get(id).size));
        self.count_drop(DropReason::PushedOut);
        id
    }
}
