//! A port that is one list, searched from end to end.
//!
//! What registered models do is written here a second time, for those that are known here. Any other is believed: the
//! slow port asks one of its own, and holds it to the contract of its trait. So the port around a model is checked for
//! every model: its counts, times, limits, marks and packets pushed out.
#![allow(unreachable_patterns, reason = "the arm for models that are not known here, while all are")]

use tailcut_base::{BitRate, PortId, Seeds, Stream};
use tailcut_fabric::buffer::divided::Overflow;
use tailcut_fabric::buffer::{BufferConfig, BufferSeat, reserved::Room};
use tailcut_fabric::classify::{ClassifierConfig, ClassifierSeat};
use tailcut_fabric::loss::{LossConfig, LossContext, LossSeat, random::Of};
use tailcut_fabric::mark::{MarkerConfig, MarkerSeat, step::Scope};
use tailcut_fabric::sched::{SchedulerConfig, SchedulerSeat};
use tailcut_fabric::{PortConfig, PortContext};
use tailcut_model::seat::{
    self, Admission, BufferPolicy, Classifier, DropReason, Loss, Marker, Occupancy, PortScheduler,
};
use tailcut_model::{Arena, Flags, Kind, Packet};

use super::is_marked;

/// A packet that waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    pub nth: u64,
    pub flow: u32,
    /// Number of the packet with which its flow began to wait here.
    pub began: u64,
    pub class: u8,
    pub rank: u64,
    pub size: u64,
    pub marked: bool,
    pub marks: u8,
}

impl Waiting {
    /// `packet` behind those that wait; its number stands in `seq`.
    pub fn new(waiting: &[Waiting], packet: &Packet, class: u8) -> Waiting {
        let flow = packet.flow.0;
        Waiting {
            nth: packet.seq,
            flow,
            began: waiting.iter().find(|w| w.flow == flow).map_or(packet.seq, |w| w.began),
            class,
            rank: packet.rank(),
            size: u64::from(packet.size),
            marked: is_marked(packet),
            marks: packet.marks,
        }
    }
}

/// The bytes of those in one class, or of all.
pub fn bytes(waiting: &[Waiting], class: Option<u8>) -> u64 {
    waiting.iter().filter(|w| class.is_none_or(|class| w.class == class)).map(|w| w.size).sum()
}

/// Which packet goes next: the schedulers that are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    Strict,
    Ranked,
    Pfabric,
    Srpt,
}

impl Order {
    pub fn of(config: &SchedulerConfig) -> Option<Order> {
        match config {
            SchedulerConfig::Strict(_) => Some(Order::Strict),
            SchedulerConfig::Ranked(_) => Some(Order::Ranked),
            SchedulerConfig::Pfabric(_) => Some(Order::Pfabric),
            SchedulerConfig::Srpt(_) => Some(Order::Srpt),
            _ => None,
        }
    }

    /// The flow of the first packet that waits, of which those of its flow came earlier.
    fn first_of_flow(waiting: &[Waiting], flow: u32) -> &Waiting {
        waiting.iter().find(|w| w.flow == flow).expect("the flow waits")
    }

    /// Rank of the first packet of the packet's flow, and the order in which flows began to wait.
    fn turn(waiting: &[Waiting], of: &Waiting) -> (u64, u64) {
        (Order::first_of_flow(waiting, of.flow).rank, of.began)
    }

    /// The number of the packet that goes next.
    pub fn next(self, waiting: &[Waiting]) -> Option<u64> {
        match self {
            Order::Strict => waiting.iter().min_by_key(|w| (w.class, w.nth)).map(|w| w.nth),
            Order::Ranked => waiting.iter().min_by_key(|w| (w.class, w.rank, w.nth)).map(|w| w.nth),
            // The smallest value says which flow, and the packet of it that came first goes.
            Order::Pfabric => {
                let smallest = waiting.iter().min_by_key(|w| (w.rank, w.nth))?;
                Some(Order::first_of_flow(waiting, smallest.flow).nth)
            }
            Order::Srpt => waiting.iter().min_by_key(|w| (Order::turn(waiting, w), w.nth)).map(|w| w.nth),
        }
    }

    /// The packet that is the worst.
    pub fn worst(self, waiting: &[Waiting]) -> Option<&Waiting> {
        match self {
            Order::Strict => waiting.iter().max_by_key(|w| (w.class, w.nth)),
            Order::Ranked => waiting.iter().max_by_key(|w| (w.class, w.rank, w.nth)),
            Order::Pfabric => waiting.iter().max_by_key(|w| (w.rank, w.nth)),
            Order::Srpt => waiting.iter().max_by_key(|w| (Order::turn(waiting, w), w.nth)),
        }
    }

    /// Whether the worst packet is worse than a packet of this class and rank that arrives.
    pub fn has_worse(self, waiting: &[Waiting], class: u8, rank: u64) -> bool {
        self.worst(waiting).is_some_and(|worst| match self {
            Order::Strict => worst.class > class,
            Order::Ranked => (worst.class, worst.rank) > (class, rank),
            Order::Pfabric => worst.rank > rank,
            Order::Srpt => Order::turn(waiting, worst).0 > rank,
        })
    }
}

/// What waits in the slow port: a list, and the order of it, which is known or a scheduler's.
struct Queue {
    waiting: Vec<Waiting>,
    order: Option<Order>,
    scheduler: SchedulerSeat,
    arena: Arena,
}

impl Queue {
    fn push(&mut self, packet: &Packet, class: u8) {
        self.waiting.push(Waiting::new(&self.waiting, packet, class));
        if self.order.is_none() {
            let id = self.arena.insert(packet.clone());
            self.scheduler.push(&mut self.arena, id, class);
        }
    }

    /// Takes out the packet to send next, or the worst one.
    fn take(&mut self, worst: bool) -> Waiting {
        let nth = match self.order {
            Some(order) if worst => order.worst(&self.waiting).map(|w| w.nth),
            Some(order) => order.next(&self.waiting),
            None => {
                let arena = &mut self.arena;
                let id = if worst { self.scheduler.evict(arena) } else { self.scheduler.pop(arena) };
                id.map(|id| (arena.get(id).seq, arena.remove(id)).0)
            }
        };
        let at = self.waiting.iter().position(|w| Some(w.nth) == nth).expect("a packet that waits is taken out");
        self.waiting.remove(at)
    }

    fn has_worse(&self, packet: &Packet, class: u8) -> bool {
        match self.order {
            Some(order) => order.has_worse(&self.waiting, class, packet.rank()),
            None => self.scheduler.has_worse(packet, class),
        }
    }
}

/// What waits, as a buffer policy sees it.
struct Seen<'a>(&'a Queue, &'a Packet, u8);

impl seat::Waiting for Seen<'_> {
    fn has_worse(&self) -> bool {
        self.0.has_worse(self.1, self.2)
    }
    fn class_bytes(&self, class: u8) -> u64 {
        bytes(&self.0.waiting, Some(class))
    }
}

/// The slow port.
pub struct SlowPort {
    config: PortConfig,
    rate: BitRate,
    /// Whether every model is believed, even if it is known.
    believes: bool,
    queue: Queue,
    loss: LossSeat,
    classifier: ClassifierSeat,
    buffer: BufferSeat,
    marker: MarkerSeat,
    draws: Stream,
    busy_until: u64,
    /// When each packet has left the transmitter, in order, with its mark and its count of marks.
    pub left: Vec<(u64, u64, bool, u8)>,
    pub dropped: Vec<(u64, DropReason)>,
    pub demotions: u64,
    pub marks: u64,
    /// When the backlog changed, and what it was from then on.
    backlog: Vec<(u64, u64)>,
}

impl SlowPort {
    /// One that believes every model, or only those that it does not know.
    pub fn new(config: &PortConfig, rate: BitRate, believes: bool) -> SlowPort {
        let context = PortContext { limit: config.limit_bytes(), classes: config.classes };
        let draws = LossContext { seeds: Seeds::new(0), port: PortId(0) };
        SlowPort {
            config: config.clone(),
            rate,
            believes,
            queue: Queue {
                waiting: Vec::new(),
                order: Order::of(&config.scheduler).filter(|_| !believes),
                scheduler: config.scheduler.build(&context).expect("the port has this scheduler"),
                arena: Arena::new(),
            },
            loss: config.loss.build(&draws).expect("the port has these losses"),
            classifier: config.classifier.build(&context).expect("the port has this classifier"),
            buffer: config.buffer.build(&context).expect("the port has this buffer"),
            marker: config.marker.build(&context).expect("the port has this marker"),
            draws: draws.seeds.stream("port.loss", 0),
            busy_until: 0,
            left: Vec::new(),
            dropped: Vec::new(),
            demotions: 0,
            marks: 0,
            backlog: Vec::new(),
        }
    }

    fn limit(&self) -> u64 {
        self.config.limit_bytes()
    }

    /// Most bytes that may ever wait.
    pub fn capacity(&self) -> u64 {
        match &self.config.buffer {
            BufferConfig::Reserved(part) if part.room == Room::Beside => {
                self.limit() + part.limit.resolve(self.limit())
            }
            _ => self.limit(),
        }
    }

    /// Packets that wait.
    pub fn waiting(&self) -> usize {
        self.queue.waiting.len()
    }

    pub fn bytes(&self, class: Option<u8>) -> u64 {
        bytes(&self.queue.waiting, class)
    }

    /// Sends what waits as long as the transmitter is free by `now`.
    pub fn run(&mut self, now: u64) {
        while self.busy_until <= now && !self.queue.waiting.is_empty() {
            let packet = self.queue.take(false);
            self.backlog.push((self.busy_until, self.bytes(None)));
            self.send(self.busy_until, &packet);
        }
    }

    fn send(&mut self, now: u64, packet: &Waiting) {
        self.busy_until = now + self.rate.tx_time(packet.size).as_ps();
        self.left.push((self.busy_until, packet.nth, packet.marked, packet.marks));
    }

    pub fn offer(&mut self, now: u64, mut packet: Packet) {
        self.run(now);
        if self.loses(&packet) {
            self.dropped.push((packet.seq, DropReason::RandomLoss));
            return;
        }
        let own_class = self.class_of(&packet);
        assert!(own_class < self.config.classes, "the port has the class of the packet");
        let mut class = own_class;
        loop {
            match self.admit(&packet, class) {
                Admission::Take => break,
                Admission::Drop(reason) => {
                    self.dropped.push((packet.seq, reason));
                    return;
                }
                Admission::PushOut => {
                    assert_eq!(class, own_class, "a policy that demotes does not push out");
                    assert!(self.queue.has_worse(&packet, class), "what is pushed out is worse");
                    let evicted = self.queue.take(true);
                    self.backlog.push((now, self.bytes(None)));
                    self.dropped.push((evicted.nth, DropReason::PushedOut));
                }
                Admission::Demote => {
                    class += 1;
                    assert!(class < self.config.classes, "a packet is demoted to a class that exists");
                }
            }
        }
        assert!(self.bytes(None) + u64::from(packet.size) <= self.capacity(), "what is let in fits in the port");
        self.demotions += u64::from(class > own_class);
        if self.is_to_mark(&packet, class) && packet.flags.has(Flags::ECT) {
            packet.flags.set(Flags::CE);
            packet.marks += 1;
            self.marks += 1;
        }
        if self.queue.waiting.is_empty() && self.busy_until <= now {
            self.send(now, &Waiting::new(&[], &packet, class));
        } else {
            self.queue.push(&packet, class);
            self.backlog.push((now, self.bytes(None)));
        }
    }

    fn loses(&mut self, packet: &Packet) -> bool {
        match &self.config.loss {
            _ if self.believes => self.loss.loses(packet),
            LossConfig::Off(_) => false,
            LossConfig::Random(random) => {
                (random.of == Of::All || packet.kind == Kind::DATA) && self.draws.unit() < random.probability
            }
            _ => self.loss.loses(packet),
        }
    }

    fn class_of(&mut self, packet: &Packet) -> u8 {
        let classes = self.config.classes;
        match &self.config.classifier {
            _ if self.believes => self.classifier.classify(packet, classes),
            ClassifierConfig::Single(_) => 0,
            ClassifierConfig::Tag(_) => packet.class.min(classes - 1),
            ClassifierConfig::TagOrCe(of) => {
                packet.class.min(classes - 1).min(if is_marked(packet) { of.marked } else { u8::MAX })
            }
            ClassifierConfig::CeOrAck(of) => {
                let is_large = |largest: tailcut_base::Bytes| packet.flow_bytes() > largest.0;
                let is_of_large_flow = packet.kind == Kind::DATA && of.largest_flow.is_some_and(is_large);
                let is_promoted = of.marked && is_marked(packet) && !is_of_large_flow;
                u8::from(!(is_promoted || (of.acks && packet.kind == Kind::ACK)))
            }
            _ => self.classifier.classify(packet, classes),
        }
    }

    fn occupancy(&self, class: u8) -> Occupancy {
        Occupancy { port: self.bytes(None), class: self.bytes(Some(class)), limit: self.limit() }
    }

    fn admit(&mut self, packet: &Packet, class: u8) -> Admission {
        let (size, limit, occupancy) = (u64::from(packet.size), self.limit(), self.occupancy(class));
        let after = occupancy.port + size;
        let in_class = occupancy.class + size;
        let unless = |refused: bool, reason| if refused { Admission::Drop(reason) } else { Admission::Take };
        let seen = Seen(&self.queue, packet, class);
        if self.believes {
            return self.buffer.admit(occupancy, class, size, &seen);
        }
        match &self.config.buffer {
            BufferConfig::TailDrop(_) => unless(after > limit, DropReason::PortFull),
            BufferConfig::DropWorst(_) | BufferConfig::PushOut(_) => {
                let is_push_out = matches!(self.config.buffer, BufferConfig::PushOut(_));
                let is_lowest = is_push_out && class == self.config.classes - 1;
                let fits = after < limit || (after == limit && !is_lowest);
                let evicts = !fits && self.queue.has_worse(packet, class);
                if evicts { Admission::PushOut } else { unless(!fits, DropReason::PortFull) }
            }
            BufferConfig::Reserved(part) => {
                let reserved = part.limit.resolve(limit);
                let others = occupancy.port - self.bytes(Some(0)) + size;
                let (all, rest) = match part.room {
                    Room::Inside => (limit, limit - reserved),
                    Room::Beside => (u64::MAX, limit),
                    Room::Shared => (limit, limit),
                };
                let has_room = after <= all && others <= rest;
                match class {
                    1.. if part.push_out && !has_room && self.queue.has_worse(packet, class) => Admission::PushOut,
                    _ if after > all => Admission::Drop(DropReason::PortFull),
                    0 => unless(in_class > reserved, DropReason::ClassFull),
                    _ => unless(others > rest, DropReason::PortFull),
                }
            }
            BufferConfig::Divided(parts) => {
                let equal = limit / u64::from(self.config.classes);
                let part = parts.limits.as_ref().map_or(equal, |limits| limits[usize::from(class)].resolve(limit));
                let may_sink = parts.overflow == Overflow::Demote && class + 1 < self.config.classes;
                match after > limit {
                    true => Admission::Drop(DropReason::PortFull),
                    false if in_class > part && may_sink => Admission::Demote,
                    false => unless(in_class > part, DropReason::ClassFull),
                }
            }
            _ => self.buffer.admit(occupancy, class, size, &seen),
        }
    }

    fn is_to_mark(&mut self, packet: &Packet, class: u8) -> bool {
        let (size, occupancy) = (u64::from(packet.size), self.occupancy(class));
        match &self.config.marker {
            _ if self.believes => self.marker.mark(occupancy, class, size),
            MarkerConfig::Off(_) => false,
            MarkerConfig::Step(step) => {
                let threshold = step.threshold.resolve(self.limit());
                let length = size + if step.scope == Scope::Queue { occupancy.class } else { occupancy.port };
                class >= step.from_class && (length > threshold || (step.inclusive && length == threshold))
            }
            _ => self.marker.mark(occupancy, class, size),
        }
    }

    /// For how long the queue was empty, and in each 64th of the limit, until `end`.
    pub fn times(&self, end: u64) -> Vec<(u64, u64)> {
        let part = self.capacity().div_ceil(64);
        let mut bins: Vec<(u64, u64)> = vec![(1, 0)];
        bins.extend((0..=self.capacity() / part).map(|nth| ((nth + 1) * part, 0)));
        let changes = std::iter::once((0, 0)).chain(self.backlog.iter().copied());
        for ((from, bytes), until) in changes.zip(self.backlog.iter().map(|change| change.0).chain([end])) {
            let bin = if bytes == 0 { 0 } else { 1 + (bytes / part) as usize };
            bins[bin].1 += until - from;
        }
        bins
    }
}
