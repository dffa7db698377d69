//! One output port that is always busy: as each packet lands another one is offered.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;

use tailcut_base::{BitRate, HostId, Instant, Seeds, Span};
use tailcut_bench::{Contender, Spread, in_turns, ns_each, print_table, ratio};
use tailcut_fabric::{Link, Offered, Port, PortConfig};
use tailcut_model::{Arena, Flags, FlowId, Packet, PacketId};

/// Packets that wait in the port: the queues of pFabric's paper, of PIAS's scripts, and a deep one.
const WAITING: [usize; 3] = [24, 240, 1000];
/// Packets beside the waiting ones: some of these are on the link.
const OTHERS: usize = 64;
/// How many packets of one flow arrive in a row. Each has less left of its flow than the one before.
const IN_A_ROW: u64 = 12;
/// How many different packets are drawn beforehand. They are offered one after the other, and then again.
const ARRIVALS: u64 = 4096;
const STEPS: usize = 300_000;
const REPETITIONS: usize = 9;

/// A port by its name and `[port]` table.
struct Contestant {
    name: &'static str,
    table: &'static str,
    /// Packets that are offered while one leaves; one waits more, or is dropped if the port is full.
    offers: usize,
}

const PORTS: [Contestant; 7] = [
    Contestant { name: "FIFO", table: "", offers: 1 },
    Contestant { name: "FIFO that marks", table: "marker.step.threshold = \"65pkt\"", offers: 1 },
    Contestant {
        name: "strict, 8 classes",
        table: "classes = 8\nclassifier.tag = {}\nmarker.step.threshold = \"65pkt\"",
        offers: 1,
    },
    Contestant { name: "ranked", table: "scheduler.ranked = {}\nmarker.step.threshold = \"65pkt\"", offers: 1 },
    Contestant { name: "srpt", table: "scheduler.srpt = {}", offers: 1 },
    Contestant { name: "pFabric", table: "scheduler.pfabric = {}\nbuffer.drop-worst = {}", offers: 1 },
    Contestant {
        name: "pFabric, full, two come for each that goes",
        table: "scheduler.pfabric = {}\nbuffer.drop-worst = {}",
        offers: 2,
    },
];

/// A port with its packets.
struct Busy {
    port: Port,
    offers: usize,
    arena: Arena,
    now: Instant,
    land: Option<Instant>,
    /// Packets that are neither in the port nor on the link, and can be offered next.
    idle: Vec<PacketId>,
    evicted: Vec<PacketId>,
    /// Flow, class and rank of each packet that is offered.
    arrivals: Vec<(FlowId, u8, u64)>,
    offered: usize,
}

impl Busy {
    fn new(contestant: &Contestant, waiting: usize) -> Busy {
        let table = format!("limit = \"{waiting}pkt\"\n{}", contestant.table);
        let config: PortConfig = toml::from_str(&table).expect("a port of this benchmark is right");
        let port = Port::new(&config, Link::new(BitRate::gbps(10), Span::from_us(10))).expect("its seats go together");
        let mut stream = Seeds::new(1).stream("bench.port", 0);
        let mut flow = (FlowId(0), 0);
        let arrivals = (0..ARRIVALS).map(|nth| {
            if nth % IN_A_ROW == 0 {
                flow = (FlowId(stream.below(100)), u64::from(stream.below(1_000_000)));
            }
            (flow.0, stream.below(8) as u8, flow.1 + 1460 * (IN_A_ROW - nth % IN_A_ROW))
        });
        let arrivals = arrivals.collect();
        let mut arena = Arena::new();
        let packet = |_| {
            let (from, to) = (HostId(0), HostId(1));
            arena.insert(Packet::data(FlowId(0), from, to, 0, 1460, 1_000_000, Instant::ZERO))
        };
        let idle: Vec<PacketId> = (0..waiting + OTHERS).map(packet).collect();
        let mut busy = Busy {
            port,
            offers: contestant.offers,
            arena,
            now: Instant::ZERO,
            land: None,
            idle,
            evicted: Vec::new(),
            arrivals,
            offered: 0,
        };
        busy.offer();
        for _ in 0..OTHERS {
            // At first the link takes packets out of the port until it is full: as many are offered again.
            while (busy.port.waiting() as usize) < waiting {
                busy.offer();
            }
            busy.step();
        }
        busy
    }

    fn offer(&mut self) {
        let id = self.idle.pop().expect("there are more packets than can wait or fly");
        let (flow, class, rank) = self.arrivals[self.offered % self.arrivals.len()];
        self.offered += 1;
        let packet = self.arena.get_mut(id);
        (packet.flow, packet.class, packet.flags, packet.marks) = (flow, class, Flags::ECT, 0);
        packet.set_rank(rank);
        match self.port.offer(self.now, &mut self.arena, id, &mut self.evicted) {
            Offered::Sent { land } => self.land = self.land.or(land),
            Offered::Queued => {}
            Offered::Dropped(_) => self.idle.push(id),
        }
        self.idle.append(&mut self.evicted);
    }

    /// One turn of the benchmark: a packet lands, so that a waiting one has begun to leave, and others are offered in
    /// its place.
    fn step(&mut self) {
        self.now = self.land.expect("the port is busy");
        let (id, next) = self.port.land(&mut self.arena);
        self.land = next;
        self.idle.push(id);
        for _ in 0..self.offers {
            self.offer();
        }
    }
}

fn contender(contestant: &Contestant, waiting: usize) -> Contender<'static> {
    let mut busy = Busy::new(contestant, waiting);
    Box::new(move || {
        let cost = ns_each(STEPS as u64, || {
            for _ in 0..black_box(STEPS) {
                busy.step();
            }
        });
        assert_eq!(busy.port.waiting() as usize, waiting, "a packet goes for each one that stays");
        cost
    })
}

fn main() {
    println!(
        "port: ns per packet that leaves (offered, sent, landed), median (smallest to largest) of {REPETITIONS} x {STEPS} packets"
    );
    for waiting in WAITING {
        let mut contenders = PORTS.each_ref().map(|contestant| contender(contestant, waiting));
        let costs = in_turns(REPETITIONS, &mut contenders);
        let rows: Vec<[String; 3]> = PORTS
            .iter()
            .zip(&costs)
            .map(|(contestant, cost)| {
                [contestant.name.to_owned(), Spread::of(cost).to_string(), format!("{:.2}", ratio(cost, &costs[0]))]
            })
            .collect();
        println!("\n{waiting} packets wait:");
        print_table(["port", "ns per packet", "ratio to FIFO"], &rows);
    }
}
