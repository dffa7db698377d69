//! Ports, schedulers and wires against slow models: every operation list gives the same packets at the same times.

mod common;

use common::{Bench, SLOT, at, is_marked};
use proptest::prelude::*;
use tailcut_base::{BitRate, Bytes, HostId, Instant, Span};
use tailcut_fabric::buffer::divided::{self, Overflow};
use tailcut_fabric::buffer::{self, BufferConfig};
use tailcut_fabric::classify::{self, ClassifierConfig};
use tailcut_fabric::loss::{self, LossConfig};
use tailcut_fabric::mark::{self, MarkerConfig, Threshold, step::Scope};
use tailcut_fabric::sched::{self, SchedulerConfig};
use tailcut_fabric::{Link, Offered, PortConfig, PortContext, Wire};
use tailcut_model::seat::{DropReason, PortScheduler};
use tailcut_model::{Arena, Flags, FlowId, Kind, Packet};

/// A packet that arrives, as plain numbers.
#[derive(Clone, Debug)]
struct Arrival {
    gap: u64,
    flow: u32,
    size: u16,
    kind: Kind,
    class: u8,
    rank: u64,
    capable: bool,
    marked: bool,
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0), 3 => 0..2 * SLOT, 1 => (0..20u64).prop_map(|slots| slots * SLOT)];
    let size = prop_oneof![Just(1500u16), 41u16..=1500];
    let kind = prop_oneof![6 => Just(Kind::DATA), 1 => Just(Kind::ACK), 1 => Just(Kind::own(0))];
    // Ranks without an order, as if every packet were sent again at random; few of them, so that there are ties.
    let order = (0u32..4, 0u8..9, 0u64..5);
    let arrival = (gap, size, kind, order, prop::bool::ANY, prop::bool::weighted(0.3)).prop_map(
        |(gap, size, kind, (flow, class, rank), capable, marked)| {
            let size = if kind == Kind::DATA { size } else { 40 };
            Arrival { gap, flow, size, kind, class, rank, capable, marked: marked && capable }
        },
    );
    prop::collection::vec(arrival, 1..200)
}

impl Arrival {
    /// The packet; its number stands in `seq`.
    fn packet(&self, nth: u64) -> Packet {
        let (flow, from, to) = (FlowId(self.flow), HostId(0), HostId(1));
        let mut packet = match self.kind {
            Kind::DATA => Packet::data(flow, from, to, nth, self.size - 40, 1 << 40, Instant::ZERO),
            kind => Packet::control(kind, flow, from, to, nth, Instant::ZERO),
        };
        packet.class = self.class;
        packet.flags = Flags::NONE.with(Flags::ECT, self.capable).with(Flags::CE, self.marked);
        packet.marks = u8::from(self.marked);
        if self.kind == Kind::DATA {
            packet.set_rank(self.rank);
        }
        packet
    }
}

/// What a port is asked to do, as plain numbers.
#[derive(Clone, Debug)]
struct Behaviour {
    limit: u64,
    classes: u8,
    classifier: u8,
    order: Order,
    buffer: Buffer,
    /// Threshold, whether it marks itself, whether the class counts alone, the first class that is marked.
    step: Option<(u64, bool, bool, u8)>,
}

/// Which packet goes next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Strict,
    Ranked,
    Pfabric,
    Srpt,
}

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![3 => Just(Order::Strict), 1 => Just(Order::Ranked), 2 => Just(Order::Pfabric), 1 => Just(Order::Srpt)]
}

impl Order {
    fn config(self) -> SchedulerConfig {
        match self {
            Order::Strict => SchedulerConfig::Strict(sched::strict::Config {}),
            Order::Ranked => SchedulerConfig::Ranked(sched::ranked::Config {}),
            Order::Pfabric => SchedulerConfig::Pfabric(sched::pfabric::Config {}),
            Order::Srpt => SchedulerConfig::Srpt(sched::srpt::Config {}),
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
    fn next(self, waiting: &[Waiting]) -> Option<u64> {
        match self {
            Order::Strict | Order::Ranked => waiting.iter().min_by_key(|w| (w.class, w.rank, w.nth)).map(|w| w.nth),
            // The smallest value says which flow, and the packet of it that came first goes.
            Order::Pfabric => {
                let smallest = waiting.iter().min_by_key(|w| (w.rank, w.nth))?;
                Some(Order::first_of_flow(waiting, smallest.flow).nth)
            }
            Order::Srpt => waiting.iter().min_by_key(|w| (Order::turn(waiting, w), w.nth)).map(|w| w.nth),
        }
    }

    /// The packet that is the worst.
    fn worst(self, waiting: &[Waiting]) -> Option<&Waiting> {
        match self {
            Order::Strict | Order::Ranked => waiting.iter().max_by_key(|w| (w.class, w.rank, w.nth)),
            Order::Pfabric => waiting.iter().max_by_key(|w| (w.rank, w.nth)),
            Order::Srpt => waiting.iter().max_by_key(|w| (Order::turn(waiting, w), w.nth)),
        }
    }

    /// The number of the packet that makes room, if it is worse than a packet of this class and rank that arrives.
    fn evicts(self, waiting: &[Waiting], class: u8, rank: u64) -> Option<u64> {
        let worst = self.worst(waiting)?;
        let worse = match self {
            Order::Strict => worst.class > class,
            Order::Ranked => (worst.class, worst.rank) > (class, rank),
            Order::Pfabric => worst.rank > rank,
            Order::Srpt => Order::turn(waiting, worst).0 > rank,
        };
        worse.then_some(worst.nth)
    }
}

#[derive(Clone, Debug)]
enum Buffer {
    TailDrop,
    PushOut,
    DropWorst,
    /// Limit of each class, and whether what does not fit is demoted.
    Divided(Vec<u64>, bool),
    /// Limit of class 0, and whether the other classes leave it free.
    Reserved(u64, bool),
}

fn behaviours() -> impl Strategy<Value = Behaviour> {
    let step = prop::option::of((1u64..20_000, prop::bool::ANY, prop::bool::ANY, 0u8..8));
    let parts = (prop::collection::vec(0.0..1.0, 8), prop::bool::ANY);
    (1501u64..30_000, 1u8..=8, 0u8..3, orders(), (0..5, parts), step).prop_map(
        |(limit, classes, classifier, order, (buffer, (parts, demote)), step)| {
            let classes = if order == Order::Strict { classes } else { 1 };
            let several = classes > 1;
            let part = |part: &f64| 1500 + ((limit - 1500) as f64 * part) as u64;
            Behaviour {
                limit,
                classes,
                classifier: if several { classifier } else { classifier.min(1) },
                order,
                buffer: match buffer {
                    3 => Buffer::DropWorst,
                    1 if several => Buffer::PushOut,
                    4 if several => Buffer::Reserved(
                        part(&parts[0]).min(limit - if demote { 1500 } else { 0 }).max(1500),
                        demote && limit >= 3000,
                    ),
                    2 if several => Buffer::Divided(parts[..usize::from(classes)].iter().map(part).collect(), demote),
                    _ => Buffer::TailDrop,
                },
                step: step.map(|(threshold, inclusive, queue, from)| (threshold, inclusive, queue, from % classes)),
            }
        },
    )
}

impl Behaviour {
    fn config(&self) -> PortConfig {
        PortConfig {
            limit: Bytes(self.limit),
            classes: self.classes,
            loss: LossConfig::Off(loss::off::Config {}),
            classifier: match self.classifier {
                0 => ClassifierConfig::Single(classify::single::Config {}),
                1 => ClassifierConfig::Tag(classify::tag::Config {}),
                _ => ClassifierConfig::CeOrAck(classify::ce_or_ack::Config::default()),
            },
            scheduler: self.order.config(),
            marker: match self.step {
                None => MarkerConfig::Off(mark::off::Config {}),
                Some((threshold, inclusive, queue, from_class)) => MarkerConfig::Step(mark::step::Config {
                    threshold: Threshold::Bytes(Bytes(threshold)),
                    scope: if queue { Scope::Queue } else { Scope::Port },
                    inclusive,
                    from_class,
                }),
            },
            buffer: match &self.buffer {
                Buffer::TailDrop => BufferConfig::TailDrop(buffer::tail_drop::Config {}),
                Buffer::DropWorst => BufferConfig::DropWorst(buffer::drop_worst::Config {}),
                Buffer::PushOut => BufferConfig::PushOut(buffer::push_out::Config {}),
                &Buffer::Reserved(limit, dedicated) => {
                    let limit = Threshold::Bytes(Bytes(limit));
                    BufferConfig::Reserved(buffer::reserved::Config { limit, dedicated })
                }
                Buffer::Divided(limits, demote) => BufferConfig::Divided(divided::Config {
                    limits: Some(limits.iter().map(|&bytes| Threshold::Bytes(Bytes(bytes))).collect()),
                    overflow: if *demote { Overflow::Demote } else { Overflow::Drop },
                }),
            },
        }
    }
}

/// A packet that waits in the slow port.
#[derive(Clone, Debug)]
struct Waiting {
    nth: u64,
    flow: u32,
    /// Number of the packet with which its flow began to wait here.
    began: u64,
    class: u8,
    rank: u64,
    size: u64,
    marked: bool,
    marks: u8,
}

/// The slow port: one list, searched from end to end.
struct SlowPort {
    behaviour: Behaviour,
    rate: BitRate,
    waiting: Vec<Waiting>,
    busy_until: u64,
    /// When each packet has left the transmitter, in order, with its mark and its count of marks.
    left: Vec<(u64, u64, bool, u8)>,
    dropped: Vec<(u64, DropReason)>,
    demotions: u64,
    marks: u64,
    /// When the backlog changed, and what it was from then on.
    backlog: Vec<(u64, u64)>,
}

impl SlowPort {
    fn bytes(&self, class: Option<u8>) -> u64 {
        self.waiting.iter().filter(|w| class.is_none_or(|class| w.class == class)).map(|w| w.size).sum()
    }

    /// Sends what waits as long as the transmitter is free by `now`.
    fn run(&mut self, now: u64) {
        while self.busy_until <= now && !self.waiting.is_empty() {
            let next = self.behaviour.order.next(&self.waiting);
            let at = self.waiting.iter().position(|w| Some(w.nth) == next).unwrap();
            let packet = self.waiting.remove(at);
            self.backlog.push((self.busy_until, self.bytes(None)));
            self.send(self.busy_until, packet);
        }
    }

    fn send(&mut self, now: u64, packet: Waiting) {
        self.busy_until = now + self.rate.tx_time(packet.size).as_ps();
        self.left.push((self.busy_until, packet.nth, packet.marked, packet.marks));
    }

    fn offer(&mut self, now: u64, nth: u64, arrival: &Arrival) {
        self.run(now);
        let Behaviour { limit, classes, classifier, order, ref buffer, step } = self.behaviour;
        let push_out = matches!(buffer, Buffer::PushOut);
        let evicts = push_out || matches!(buffer, Buffer::DropWorst);
        let rank = if order != Order::Strict && arrival.kind == Kind::DATA { arrival.rank } else { 0 };
        let mut class = match classifier {
            0 => 0,
            1 => arrival.class.min(classes - 1),
            _ => u8::from(!(arrival.marked || arrival.kind == Kind::ACK)),
        };
        let size = u64::from(arrival.size);
        loop {
            let after = self.bytes(None) + size;
            let is_lowest = push_out && class == classes - 1;
            if after < limit || (after == limit && !is_lowest) {
                break;
            }
            let Some(last) = order.evicts(&self.waiting, class, rank).filter(|_| evicts) else {
                self.dropped.push((nth, DropReason::PortFull));
                return;
            };
            self.waiting.retain(|w| w.nth != last);
            self.backlog.push((now, self.bytes(None)));
            self.dropped.push((last, DropReason::PushedOut));
        }
        if let &Buffer::Reserved(reserved, dedicated) = buffer {
            let others = self.bytes(None) - self.bytes(Some(0));
            let rest = if dedicated { limit - reserved } else { limit };
            let refused = match class {
                0 => (self.bytes(Some(0)) + size > reserved).then_some(DropReason::ClassFull),
                _ => (others + size > rest).then_some(DropReason::PortFull),
            };
            if let Some(reason) = refused {
                self.dropped.push((nth, reason));
                return;
            }
        }
        if let Buffer::Divided(limits, demote) = buffer {
            let lowest = if *demote { classes - 1 } else { class };
            let fits = |class: &u8| self.bytes(Some(*class)) + size <= limits[usize::from(*class)];
            let Some(found) = (class..=lowest).find(fits) else {
                self.dropped.push((nth, DropReason::ClassFull));
                return;
            };
            self.demotions += u64::from(found > class);
            class = found;
        }
        let marks = step.is_some_and(|(threshold, inclusive, queue, from)| {
            let length = self.bytes(queue.then_some(class)) + size;
            class >= from && (length > threshold || (inclusive && length == threshold))
        }) && arrival.capable;
        self.marks += u64::from(marks);
        let packet = Waiting {
            nth,
            flow: arrival.flow,
            began: self.waiting.iter().find(|w| w.flow == arrival.flow).map_or(nth, |w| w.began),
            class,
            rank,
            size,
            marked: arrival.marked || marks,
            marks: u8::from(arrival.marked) + u8::from(marks),
        };
        if self.waiting.is_empty() && self.busy_until <= now {
            self.send(now, packet);
        } else {
            self.waiting.push(packet);
            self.backlog.push((now, self.bytes(None)));
        }
    }

    /// For how long the queue was empty, and in each 64th of the limit, until `end`.
    fn times(&self, end: u64) -> Vec<(u64, u64)> {
        let part = self.behaviour.limit.div_ceil(64);
        let mut bins: Vec<(u64, u64)> = vec![(1, 0)];
        bins.extend((0..=self.behaviour.limit / part).map(|nth| ((nth + 1) * part, 0)));
        let changes = std::iter::once((0, 0)).chain(self.backlog.iter().copied());
        for ((from, bytes), until) in changes.zip(self.backlog.iter().map(|change| change.0).chain([end])) {
            let bin = if bytes == 0 { 0 } else { 1 + (bytes / part) as usize };
            bins[bin].1 += until - from;
        }
        bins
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Order, times, marks, drops, pushed-out packets, lengths and counts of any port are those of the slow one.
    #[test]
    fn a_port_does_what_a_list_does(
        behaviour in behaviours(),
        arrivals in arrivals(),
        bps in prop_oneof![Just(10_000_000_000u64), Just(40_000_000_000), 1_000_000_000u64..200_000_000_000],
        delay in 0u64..30_000_000,
    ) {
        let rate = BitRate::from_bps(bps).unwrap();
        let mut bench = Bench::on(&behaviour.config(), Link::new(rate, Span::from_ps(delay)));
        let mut slow = SlowPort {
            behaviour,
            rate,
            waiting: vec![],
            busy_until: 0,
            left: vec![],
            dropped: vec![],
            demotions: 0,
            marks: 0,
            backlog: vec![],
        };
        bench.port.start_histogram(Instant::ZERO);
        let mut now = 0;
        for (nth, arrival) in (0..).zip(&arrivals) {
            now += arrival.gap;
            bench.offer(now, arrival.packet(nth));
            slow.offer(now, nth, arrival);
            prop_assert_eq!(bench.port.backlog(), slow.bytes(None));
            prop_assert_eq!(bench.port.waiting() as usize, slow.waiting.len());
            prop_assert!(bench.port.backlog() <= slow.behaviour.limit);
        }
        bench.drain();
        slow.run(u64::MAX);
        let landed: Vec<_> = bench.landed.iter().map(|(ps, p)| (ps - delay, p.seq, is_marked(p), p.marks)).collect();
        prop_assert_eq!(&landed, &slow.left);
        let dropped: Vec<_> = bench.dropped.iter().map(|(p, why)| (p.seq, *why)).collect();
        prop_assert_eq!(&dropped, &slow.dropped);
        let end = bench.landed.last().map_or(now, |(ps, _)| now.max(*ps));
        let bins = bench.port.take_histogram(at(end)).expect("it was started").bins();
        let bins: Vec<(u64, u64)> = bins.into_iter().map(|(upper, time)| (upper, time.as_ps())).collect();
        prop_assert_eq!(bins, slow.times(end));
        // Nothing is lost and nothing comes twice.
        prop_assert_eq!(landed.len() + dropped.len(), arrivals.len());
        prop_assert_eq!(bench.port.stats().marks, slow.marks);
        prop_assert_eq!(bench.port.stats().demotions, slow.demotions);
        for reason in DropReason::ALL {
            let count = slow.dropped.iter().filter(|(_, why)| *why == reason).count() as u64;
            prop_assert_eq!(bench.port.stats().drops(reason), count);
        }
        let sent: u64 = landed.iter().map(|(_, nth, ..)| u64::from(arrivals[*nth as usize].size)).sum();
        prop_assert_eq!((bench.port.wire.stats().packets, bench.port.wire.stats().bytes), (landed.len() as u64, sent));
    }

    /// Each scheduler alone: what it gives, what it evicts and what it says of itself.
    #[test]
    fn a_scheduler_does_what_a_list_does(
        order in orders(),
        classes in 1u8..=8,
        // Mostly short queues, some of hundreds of packets.
        operations in (2u8..12).prop_flat_map(|pushes| {
            prop::collection::vec((0u8..2 + pushes, 0u8..8, 0u32..6, 0u64..40, 41u16..=1500), 1..600)
        }),
    ) {
        let classes = if order == Order::Strict { classes } else { 1 };
        let mut scheduler = order.config().build(&PortContext { limit: 1 << 20, classes }).unwrap();
        let mut arena = Arena::new();
        let mut oracle: Vec<Waiting> = Vec::new();
        for (nth, (operation, class, flow, rank, size)) in (0..).zip(operations) {
            let taken = |oracle: &mut Vec<Waiting>, chosen: Option<u64>| {
                let at = oracle.iter().position(|w| Some(w.nth) == chosen)?;
                Some(oracle.remove(at).nth)
            };
            let class = class % classes;
            let mut packet =
                Packet::data(FlowId(flow), HostId(0), HostId(1), nth, size - 40, 1 << 40, Instant::ZERO);
            packet.set_rank(rank);
            let rank = if order == Order::Strict { 0 } else { rank };
            let worse = order.evicts(&oracle, class, rank).is_some();
            prop_assert_eq!(scheduler.has_worse(&packet, class), worse);
            match operation {
                0 => {
                    let chosen = order.next(&oracle);
                    let id = scheduler.pop(&mut arena);
                    prop_assert_eq!(id.map(|id| arena.get(id).seq), taken(&mut oracle, chosen));
                }
                1 => {
                    let chosen = order.worst(&oracle).map(|w| w.nth);
                    let id = scheduler.evict(&mut arena);
                    prop_assert_eq!(id.map(|id| arena.get(id).seq), taken(&mut oracle, chosen));
                }
                _ => {
                    let id = arena.insert(packet);
                    scheduler.push(&mut arena, id, class);
                    let began = oracle.iter().find(|w| w.flow == flow).map_or(nth, |w| w.began);
                    let size = u64::from(size);
                    oracle.push(Waiting { nth, flow, began, class, rank, size, marked: false, marks: 0 });
                }
            }
            for class in 0..classes {
                let of_class = oracle.iter().filter(|w| w.class == class);
                prop_assert_eq!(scheduler.class_bytes(class), of_class.map(|w| w.size).sum::<u64>());
            }
        }
    }

    /// Packets land in the order of their transmission, each its transmission and the delay after its start.
    #[test]
    fn a_wire_lands_its_packets_in_order(
        packets in prop::collection::vec((0u64..3 * SLOT, 40u16..=1500), 1..60),
        delay in 0u64..20 * SLOT,
    ) {
        let rate = BitRate::gbps(10);
        let mut wire = Wire::new(Link::new(rate, Span::from_ps(delay)));
        let mut arena = Arena::new();
        let (mut free, mut busy) = (0, 0);
        let mut expected: Vec<(u64, u64)> = Vec::new();
        let mut agreed: Option<u64> = None;
        let mut landed: Vec<(u64, u64)> = Vec::new();
        // Lands what is due before `now`; only the first packet in flight is ever agreed on.
        let mut land_until = |wire: &mut Wire, arena: &mut Arena, agreed: &mut Option<u64>, now: u64| {
            while let Some(due) = agreed.filter(|&due| due < now) {
                let (id, next) = wire.land(arena);
                landed.push((due, arena.get(id).seq));
                arena.remove(id);
                *agreed = next.map(Instant::as_ps);
            }
        };
        for (nth, (idle, size)) in (0..).zip(packets) {
            let now = free + idle;
            land_until(&mut wire, &mut arena, &mut agreed, now);
            prop_assert!(wire.is_free(at(now)));
            let mut packet = Packet::control(Kind::ACK, FlowId(0), HostId(0), HostId(1), nth, Instant::ZERO);
            packet.size = size;
            let id = arena.insert(packet);
            let land = wire.transmit(at(now), &mut arena, id).map(Instant::as_ps);
            let tx = rate.tx_time(u64::from(size)).as_ps();
            expected.push((now + tx + delay, nth));
            prop_assert_eq!(land, agreed.is_none().then_some(now + tx + delay));
            agreed = agreed.or(land);
            prop_assert!(!wire.is_free(at(now + tx - 1)) && wire.is_free(at(now + tx)));
            // One call is agreed on until it came.
            prop_assert_eq!(wire.agree_free(), Some(at(now + tx)));
            prop_assert_eq!(wire.agree_free(), None);
            wire.freed();
            free = now + tx;
            busy += tx;
        }
        land_until(&mut wire, &mut arena, &mut agreed, u64::MAX);
        prop_assert_eq!(landed, expected);
        prop_assert_eq!(wire.stats().busy.as_ps(), busy);
        prop_assert!(arena.is_empty());
    }
}

#[test]
fn an_offer_to_an_idle_port_agrees_on_the_landing_of_the_first_packet_in_flight_only() {
    let mut bench = Bench::new(&PortConfig::default());
    let landing = |offered| match offered {
        Offered::Sent { land } => land.map(Instant::as_ps),
        other => panic!("{other:?}"),
    };
    assert_eq!(landing(bench.offer(0, common::data(0, 0))), Some(SLOT + common::DELAY));
    assert_eq!(landing(bench.offer(2 * SLOT, common::data(0, 1))), None);
    bench.drain();
    assert_eq!(landing(bench.offer(100 * SLOT, common::data(0, 2))), Some(101 * SLOT + common::DELAY));
}
