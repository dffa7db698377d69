//! Random ports and arrivals. Whatever is registered for a port takes part.

use std::sync::LazyLock;

use proptest::prelude::*;
use tailcut_base::{Bytes, HostId, Instant};
use tailcut_fabric::buffer::divided::{self, Overflow};
use tailcut_fabric::buffer::{self, BufferConfig, reserved::Room};
use tailcut_fabric::mark::{self, MarkerConfig, Threshold, step::Scope};
use tailcut_fabric::sched::SchedulerConfig;
use tailcut_fabric::{PortConfig, PortContext};
use tailcut_model::registry::{SeatEntry, seats_of};
use tailcut_model::{Flags, FlowId, Kind, Packet};

use super::SLOT;

/// A packet that arrives, as plain numbers.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub gap: u64,
    flow: u32,
    pub size: u16,
    kind: Kind,
    class: u8,
    rank: u64,
    capable: bool,
    marked: bool,
}

pub fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
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
    /// The packet; its number stands in `seq`. Flows are of 10, 20, 30 and 40 KB.
    pub fn packet(&self, nth: u64) -> Packet {
        let (flow, from, to) = (FlowId(self.flow), HostId(0), HostId(1));
        let flow_bytes = u64::from(self.flow + 1) * 10_000;
        let mut packet = match self.kind {
            Kind::DATA => Packet::data(flow, from, to, nth, self.size - 40, flow_bytes, Instant::ZERO),
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

/// The seats of a port.
static SEATS: LazyLock<Vec<SeatEntry>> = LazyLock::new(seats_of::<PortConfig>);

/// Lines of a `[port]` table, each of which puts one registered model with one of its cases on a seat.
fn lines(seat: &SeatEntry) -> Vec<String> {
    let of_model = |(name, case): (&String, &String)| format!("{} = {{ {name} = {{ {case} }} }}\n", seat.path);
    let cases = seat.models.iter().flat_map(|model| model.cases.iter().map(move |case| (&model.name, case)));
    cases.map(of_model).collect()
}

/// The lines of all seats.
pub fn all_lines() -> Vec<String> {
    SEATS.iter().flat_map(lines).collect()
}

/// A port, and the lines that it was read from.
#[derive(Clone, Debug)]
pub struct DrawnPort {
    pub config: PortConfig,
    pub lines: Vec<String>,
}

/// Ports of registered models, each with one of its cases.
pub fn registered() -> impl Strategy<Value = DrawnPort> {
    let limit = prop_oneof![3 => 1501u64..30_000, 1 => 30_000u64..120_000];
    // Of one queue and of many: half of all models want the one or the other.
    let classes = prop_oneof![Just(1u8), 1u8..=8];
    let seats: Vec<_> = SEATS.iter().map(|seat| prop::sample::select(lines(seat))).collect();
    // Most of what is drawn does not go together: the first that does is taken.
    prop::collection::vec((limit, classes, seats), 24).prop_map(|drawn| {
        let port = |(limit, classes, lines): (u64, u8, Vec<String>)| {
            let config = read(&format!("limit = \"{limit}B\"\nclasses = {classes}\n{}", lines.concat()));
            config.validate().is_ok().then_some(DrawnPort { config, lines })
        };
        let plain = || DrawnPort { config: PortConfig::default(), lines: Vec::new() };
        drawn.into_iter().find_map(port).unwrap_or_else(plain)
    })
}

/// The port that a `[port]` table describes.
fn read(text: &str) -> PortConfig {
    toml::from_str(text).unwrap_or_else(|error| panic!("a case is no table of parameters: {error}\n{text}"))
}

/// Registered ports with other thresholds and limits than those of the cases.
fn adjusted() -> impl Strategy<Value = PortConfig> {
    let step = prop::option::of((1u64..20_000, prop::bool::ANY, prop::bool::ANY, 0u8..8));
    let parts = prop::option::of((prop::collection::vec(0.0..1.0, 8), prop::bool::ANY, prop::bool::ANY));
    (registered(), step, parts).prop_map(|(DrawnPort { mut config, .. }, step, parts)| {
        let (limit, classes) = (config.limit_bytes(), config.classes);
        if let Some((threshold, inclusive, queue, from)) = step {
            config.marker = MarkerConfig::Step(mark::step::Config {
                threshold: Threshold::Bytes(Bytes(threshold)),
                scope: if queue { Scope::Queue } else { Scope::Port },
                inclusive,
                from_class: from % classes,
            });
        }
        if let Some((parts, is_divided, or_not)) = parts.filter(|_| classes > 1) {
            let part = |part: &f64| 1500 + ((limit - 1500) as f64 * part) as u64;
            config.buffer = if is_divided {
                let limits = parts[..usize::from(classes)].iter().map(|share| Threshold::Bytes(Bytes(part(share))));
                let overflow = if or_not { Overflow::Demote } else { Overflow::Drop };
                BufferConfig::Divided(divided::Config { limits: Some(limits.collect()), overflow })
            } else {
                let room = match or_not {
                    true if limit >= 3000 => Room::Inside,
                    true => Room::Shared,
                    false if parts[1] < 0.5 => Room::Beside,
                    false => Room::Shared,
                };
                let reserved = part(&parts[0]).min(limit - if room == Room::Inside { 1500 } else { 0 });
                let (limit, push_out) = (Threshold::Bytes(Bytes(reserved)), parts[2] < 0.3);
                BufferConfig::Reserved(buffer::reserved::Config { limit, room, push_out })
            };
        }
        config
    })
}

/// Ports of registered models.
pub fn ports() -> impl Strategy<Value = PortConfig> {
    prop_oneof![registered().prop_map(|drawn| drawn.config), adjusted()]
}

/// A registered scheduler with one of its cases.
pub fn schedulers() -> impl Strategy<Value = SchedulerConfig> {
    let seat = SEATS.iter().find(|seat| seat.path == "scheduler").expect("a port has a scheduler");
    prop::sample::select(lines(seat)).prop_map(|line| read(&line).scheduler)
}

/// As many classes as wished for, or as the scheduler can have.
pub fn classes_of(scheduler: &SchedulerConfig, wished: u8) -> u8 {
    let fits = |&classes: &u8| scheduler.build(&PortContext { limit: 1 << 20, classes }).is_ok();
    [wished].into_iter().chain(1..=8).find(fits).expect("a scheduler is for some number of classes")
}
