//! A port with the smallest world around it: it is called when it asked to be, and what it does is written down.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]

pub mod draw;
pub mod slow;

use tailcut_base::{BitRate, Bytes, HostId, Instant, MSS_BYTES, MTU_BYTES, Span};
use tailcut_fabric::buffer::divided::Overflow;
use tailcut_fabric::buffer::{self, BufferConfig, reserved::Room};
use tailcut_fabric::classify::{self, ClassifierConfig};
use tailcut_fabric::mark::{self, MarkerConfig, Threshold};
use tailcut_fabric::sched::{self, SchedulerConfig};
use tailcut_fabric::{Link, Offered, Port, PortConfig};
use tailcut_model::seat::DropReason;
use tailcut_model::{Arena, Flags, FlowId, Kind, Packet, PacketId};

/// Time that a full packet takes at 10 Gb/s, in picoseconds.
pub const SLOT: u64 = 1_200_000;
/// Time that a pure ACK takes at 10 Gb/s, in picoseconds.
pub const ACK_SLOT: u64 = 32_000;
/// Delay of the link of [`Bench::new`], in picoseconds.
pub const DELAY: u64 = 10_000_000;

pub fn at(ps: u64) -> Instant {
    Instant::from_ps(ps)
}

/// Full packet number `nth` of a flow, ECN-capable.
pub fn data(flow: u32, nth: u64) -> Packet {
    let seq = nth * MSS_BYTES;
    let mut packet = Packet::data(FlowId(flow), HostId(0), HostId(1), seq, MSS_BYTES as u16, 1 << 40, Instant::ZERO);
    packet.flags = Flags::ECT;
    packet
}

/// The same, marked at an earlier switch.
pub fn marked(flow: u32, nth: u64) -> Packet {
    let mut packet = data(flow, nth);
    packet.flags.set(Flags::CE);
    packet.marks = 1;
    packet
}

/// The same, in a class given by the sender.
pub fn tagged(flow: u32, nth: u64, class: u8) -> Packet {
    let mut packet = data(flow, nth);
    packet.class = class;
    packet
}

pub fn ack(flow: u32, nth: u64) -> Packet {
    Packet::control(Kind::ACK, FlowId(flow), HostId(1), HostId(0), nth * MSS_BYTES, Instant::ZERO)
}

/// Flow and number of a packet.
pub fn name(packet: &Packet) -> (u32, u64) {
    (packet.flow.0, packet.seq / MSS_BYTES)
}

pub fn is_marked(packet: &Packet) -> bool {
    packet.flags.has(Flags::CE)
}

pub fn full_packets(n: u64) -> Bytes {
    Bytes(n * MTU_BYTES)
}

/// A FIFO port that never marks, with room for `limit` full packets.
pub fn fifo(limit: u64) -> PortConfig {
    PortConfig { limit: full_packets(limit).into(), ..PortConfig::default() }
}

/// A port of strict classes that the senders choose.
pub fn by_tag(classes: u8, limit: u64) -> PortConfig {
    PortConfig { classes, classifier: ClassifierConfig::Tag(classify::tag::Config {}), ..fifo(limit) }
}

/// Slytherin's port: marked packets and ACKs first, marking at 25 % of the limit, push-out.
pub fn slytherin(limit: u64) -> PortConfig {
    PortConfig {
        classes: 2,
        classifier: ClassifierConfig::CeOrAck(classify::ce_or_ack::Config::default()),
        marker: MarkerConfig::Step(mark::step::Config {
            threshold: Threshold::Percent(25.0),
            inclusive: true,
            from_class: 1,
            ..Default::default()
        }),
        buffer: BufferConfig::PushOut(buffer::push_out::Config {}),
        ..fifo(limit)
    }
}

/// `port` with sub-queues of so many full packets, or of equal parts.
pub fn divided(port: PortConfig, packets: Option<&[u64]>, overflow: Overflow) -> PortConfig {
    let limits = packets.map(|packets| packets.iter().map(|&n| Threshold::Bytes(full_packets(n))).collect());
    PortConfig { buffer: BufferConfig::Divided(buffer::divided::Config { limits, overflow }), ..port }
}

/// `port` with so many bytes for class 0.
pub fn reserved(port: PortConfig, bytes: u64, room: Room) -> PortConfig {
    let limit = Threshold::Bytes(Bytes(bytes));
    PortConfig { buffer: BufferConfig::Reserved(buffer::reserved::Config { limit, room, push_out: false }), ..port }
}

pub fn ranked(limit: u64) -> PortConfig {
    PortConfig { scheduler: SchedulerConfig::Ranked(sched::ranked::Config {}), ..fifo(limit) }
}

/// `port` with DCTCP's marker: above `packets` full packets in this scope.
pub fn marking(port: PortConfig, packets: u64, scope: mark::step::Scope) -> PortConfig {
    let step = mark::step::Config {
        threshold: Threshold::Bytes(full_packets(packets)),
        scope,
        ..mark::step::Config::default()
    };
    PortConfig { marker: MarkerConfig::Step(step), ..port }
}

/// A port, the calendar that it asks for, and what came out of it.
pub struct Bench {
    pub port: Port,
    pub arena: Arena,
    land: Option<Instant>,
    /// Packets in the order in which they reached the far end, with the moment.
    pub landed: Vec<(u64, Packet)>,
    /// Packets that were refused or pushed out, in order.
    pub dropped: Vec<(Packet, DropReason)>,
    evicted: Vec<PacketId>,
}

impl Bench {
    /// A port on a link of 10 Gb/s and 10 us.
    pub fn new(config: &PortConfig) -> Bench {
        Bench::on(config, Link::new(BitRate::gbps(10), Span::from_ps(DELAY)))
    }

    pub fn on(config: &PortConfig, link: Link) -> Bench {
        Bench {
            port: Port::new(config, link).unwrap(),
            arena: Arena::new(),
            land: None,
            landed: Vec::new(),
            dropped: Vec::new(),
            evicted: Vec::new(),
        }
    }

    /// A packet arrives `ps` after the start; what was agreed for that moment happens before.
    pub fn offer(&mut self, ps: u64, packet: Packet) -> Offered {
        self.run(ps);
        let id = self.arena.insert(packet);
        let offered = self.port.offer(at(ps), &mut self.arena, id, &mut self.evicted);
        for id in std::mem::take(&mut self.evicted) {
            self.dropped.push((self.arena.get(id).clone(), DropReason::PushedOut));
            self.arena.remove(id);
        }
        match offered {
            Offered::Sent { land } => self.agree_land(land),
            Offered::Queued => assert!(self.land.is_some(), "a packet that waits has one in front of it"),
            Offered::Dropped(reason) => {
                self.dropped.push((self.arena.get(id).clone(), reason));
                self.arena.remove(id);
            }
        }
        offered
    }

    /// Several packets arrive at one moment, in this order.
    pub fn offer_all(&mut self, ps: u64, packets: impl IntoIterator<Item = Packet>) {
        for packet in packets {
            self.offer(ps, packet);
        }
    }

    /// Everything up to this moment happens.
    pub fn run(&mut self, until: u64) {
        while let Some(now) = self.land.filter(|land| land.as_ps() <= until) {
            let (id, next) = self.port.land(&mut self.arena);
            assert_eq!(self.arena.arrival(id), now);
            assert!(next.is_some() || self.port.waiting() == 0, "what waits has a packet in front of it");
            self.land = next;
            self.landed.push((now.as_ps(), self.arena.get(id).clone()));
            self.arena.remove(id);
        }
    }

    /// Everything that was offered leaves. Nothing is left behind.
    pub fn drain(&mut self) {
        self.run(u64::MAX);
        assert_eq!((self.port.waiting(), self.port.backlog(), self.arena.len()), (0, 0, 0));
    }

    /// The names of the packets that came out, in order.
    pub fn order(&self) -> Vec<(u32, u64)> {
        self.landed.iter().map(|(_, packet)| name(packet)).collect()
    }

    /// When a packet came out.
    pub fn landing(&self, flow: u32, nth: u64) -> u64 {
        self.landed.iter().find(|(_, packet)| name(packet) == (flow, nth)).expect("the packet came out").0
    }

    /// A call for the first packet in flight; for the later ones none is asked.
    fn agree_land(&mut self, land: Option<Instant>) {
        assert!(land.is_none() || self.land.is_none(), "one landing is agreed at a time");
        self.land = self.land.or(land);
        assert!(self.land.is_some(), "a landing is agreed while a packet is in flight");
    }
}
