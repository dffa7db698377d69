//! One output port that is always busy: as each packet lands another one is offered.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;

use tailcut_base::{BitRate, HostId, Instant, Seeds, Span};
use tailcut_bench::{Contender, Spread, in_turns, ns_each, print_table, ratio};
use tailcut_fabric::{Link, Offered, Port, PortConfig};
use tailcut_model::{Arena, Flags, FlowId, Packet, PacketId};

/// Packets that wait in the port.
const WAITING: usize = 64;
/// Packets in all: some are on the link.
const PACKETS: usize = 128;
const STEPS: usize = 300_000;
const REPETITIONS: usize = 9;

/// Each port by its name and `[port]` table.
const PORTS: [(&str, &str); 4] = [
    ("FIFO", ""),
    ("FIFO that marks", "marker.step.threshold = \"65pkt\""),
    ("strict, 8 classes", "classes = 8\nclassifier.tag = {}\nmarker.step.threshold = \"65pkt\""),
    ("ranked", "scheduler.ranked = {}\nmarker.step.threshold = \"65pkt\""),
];

/// A port with its packets.
struct Busy {
    port: Port,
    arena: Arena,
    now: Instant,
    land: Option<Instant>,
    /// Packets that are nowhere.
    idle: Vec<PacketId>,
    evicted: Vec<PacketId>,
}

impl Busy {
    fn new(table: &str) -> Busy {
        let config: PortConfig = toml::from_str(table).expect("a port of this benchmark is right");
        let port = Port::new(&config, Link::new(BitRate::gbps(10), Span::from_us(10))).expect("its seats go together");
        let mut stream = Seeds::new(1).stream("bench.port", 0);
        let mut arena = Arena::new();
        let packet = |_| {
            let (from, to) = (HostId(0), HostId(1));
            let mut packet = Packet::data(FlowId(stream.below(100)), from, to, 0, 1460, 1_000_000, Instant::ZERO);
            packet.class = stream.below(8) as u8;
            packet.set_rank(u64::from(stream.below(1_000_000)));
            packet.flags.set(Flags::ECT);
            arena.insert(packet)
        };
        let idle: Vec<PacketId> = (0..PACKETS).map(packet).collect();
        let start = Instant::ZERO;
        let mut busy = Busy { port, arena, now: start, land: None, idle, evicted: Vec::new() };
        for _ in 0..=WAITING {
            busy.offer();
        }
        busy
    }

    fn offer(&mut self) {
        let id = self.idle.pop().expect("there are more packets than can wait or fly");
        match self.port.offer(self.now, &mut self.arena, id, &mut self.evicted) {
            Offered::Sent { land } => self.land = self.land.or(land),
            Offered::Queued => {}
            Offered::Dropped(_) => self.idle.push(id),
        }
    }

    /// A packet lands, one that waits has begun to leave, and another one is offered.
    fn step(&mut self) {
        self.now = self.land.expect("the port is busy");
        let (id, next) = self.port.land(&mut self.arena);
        self.land = next;
        // As it was when it was new.
        let packet = self.arena.get_mut(id);
        packet.flags = Flags::ECT;
        packet.marks = 0;
        self.idle.push(id);
        self.offer();
    }
}

fn contender(table: &str) -> Contender<'static> {
    let mut busy = Busy::new(table);
    Box::new(move || {
        let cost = ns_each(STEPS as u64, || {
            for _ in 0..black_box(STEPS) {
                busy.step();
            }
        });
        assert_eq!(busy.port.waiting() as usize, WAITING, "a packet goes for each one that comes");
        cost
    })
}

fn main() {
    println!(
        "port: ns per packet (offered, sent, landed) with {WAITING} waiting, \
         median (smallest to largest) of {REPETITIONS} x {STEPS} packets"
    );
    let mut contenders = PORTS.map(|(_, table)| contender(table));
    let costs = in_turns(REPETITIONS, &mut contenders);
    let rows: Vec<[String; 3]> = PORTS
        .iter()
        .zip(&costs)
        .map(|((name, _), cost)| {
            [(*name).to_owned(), Spread::of(cost).to_string(), format!("{:.2}", ratio(cost, &costs[0]))]
        })
        .collect();
    print_table(["port", "ns per packet", "ratio to FIFO"], &rows);
}
