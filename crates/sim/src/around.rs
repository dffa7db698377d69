//! What models may ask about the network around them.

use tailcut_base::{BitRate, HostId, PortId, Span, bdp_bytes};
use tailcut_fabric::{Pfc, PortConfig, PortContext};
use tailcut_model::seat::BufferPolicy;
use tailcut_model::{Around, Facts, Incast, PortAround, Seat, Thing};
use tailcut_topology::path::PathConfig;
use tailcut_topology::{Longest, Network, Node};
use tailcut_workload::ClassForecast;

use crate::config;
use crate::scenario::Scenario;
use crate::tables::reads_host_tier;

/// The longest path of the idle network, what its paths carry, and the fastest link of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongestPath {
    /// Its round-trip time, of a full packet and its ACK.
    pub(crate) rtt: Span,
    /// Links on it.
    pub(crate) hops: u8,
    /// Rate of the fastest link of a host; links beside those of the topology do not count.
    pub(crate) rate: BitRate,
    /// Rate and round-trip time of the pair of hosts whose product of both is the largest.
    pub(crate) fills: (BitRate, Span),
    /// The highest rate of a path.
    pub(crate) fastest: BitRate,
    /// The lowest rate of a path.
    slowest: BitRate,
}

impl LongestPath {
    /// The largest bandwidth-delay product of a pair of hosts, in bytes.
    pub(crate) fn bdp(&self) -> u64 {
        bdp_bytes(self.fills.0, self.fills.1)
    }

    /// The bandwidth-delay product of a flow whose path has this rate: that of the rate with the largest round trip,
    /// and no more than any pair has. It fills the path, wherever its hosts are, and is no more than a link on it
    /// carries in the largest round trip, of which the limits of ports are multiples.
    pub(crate) fn bdp_of_path(&self, rate: BitRate) -> u64 {
        bdp_bytes(rate, self.rtt).min(self.bdp())
    }

    /// Whether it is the same for all flows.
    pub(crate) fn is_uniform(&self) -> bool {
        self.bdp_of_path(self.slowest) == self.bdp()
    }
}

/// What is around the models of a scenario.
pub(crate) fn of(scenario: &Scenario) -> Around {
    let config = scenario.config();
    let longest = scenario.longest_path();
    let LongestPath { rtt, hops, rate, .. } = longest;
    let classes = &scenario.forecast().classes;
    let offered: f64 = classes.iter().map(|class| class.flows * class.mean_wire).sum();
    let default = PortConfig::default();
    let drops = |port: &PortConfig| !pauses_all(port) && port.limit_bytes() as f64 <= offered;
    let loses = |port: &PortConfig| drops(port) || port.loss != default.loss;
    let settings = scenario.port_settings();
    let of_ports = || settings.iter().filter(|(path, _)| path.starts_with("port")).map(|(_, port)| *port);
    let lossless = lossless_room(scenario);
    let room = of_ports().fold(Room::default(), |most, port| most.max(room(port, lossless)));
    Around {
        rtt,
        hops,
        bdp: longest.bdp(),
        path_rate: longest.fastest,
        ports: ports(scenario, lossless),
        port_rate: rate,
        port_bdp: bdp_bytes(rate, rtt),
        port_limit: of_ports().next().map_or(0, PortConfig::limit_bytes),
        port_room: room.port,
        class_room: room.class,
        lossy_room: room.lossy,
        sprays: scenario.facts().has(Thing::Spraying),
        marks_are_read: scenario.facts().has(Thing::EcnCapable),
        may_lose: config.failures != config::Failures::default() || of_ports().any(loses),
        arrivals: scenario.forecast().duration,
        run_drain: config.run.drain,
        largest_sizes: classes.iter().map(|class| (class.name.clone(), class.largest_size)).collect(),
        incasts: classes.iter().filter_map(|class| incast(scenario, class, lossless)).collect(),
    }
}

/// How many hosts answer the queries of a class at most, how much each of them, and over which ports.
fn incast(scenario: &Scenario, class: &ClassForecast, lossless: u64) -> Option<Incast> {
    let degree = class.queries?.degree.bounds().1;
    let network = scenario.network();
    let hosts = class.aggregators.iter().map(|&host| HostId(host));
    let into = |host: HostId| network.nics(host).map(|nic| network.ports()[PortId(nic)].reverse);
    let ports = hosts.flat_map(into).filter(|&port| matches!(network.ports()[port].owner, Node::Switch(_)));
    let ports = alike(scenario, ports, lossless);
    Some(Incast { class: class.name.clone(), degree: u64::from(degree), largest_size: class.largest_size, ports })
}

/// The ports in which packets of others wait, one of each kind, but for those that are on no path because their links
/// are slower than any that is on one.
fn ports(scenario: &Scenario, lossless: u64) -> Vec<PortAround> {
    let network = scenario.network();
    let slowest = scenario.longest_path().slowest;
    let is_meant = |port: &PortId| {
        let spec = &network.ports()[*port];
        let waits = matches!(spec.owner, Node::Switch(_)) || reads_host_tier(scenario.config(), network);
        waits && spec.rate >= slowest
    };
    alike(scenario, network.ports().ids().filter(is_meant), lossless)
}

/// Ports as sentences name them: one of each kind of table, rate and links.
fn alike(scenario: &Scenario, ports: impl Iterator<Item = PortId>, lossless: u64) -> Vec<PortAround> {
    let rtt = scenario.longest_path().rtt;
    let kinds = scenario.port_kinds(ports);
    let of_kind = |(port, count): (PortId, u32)| {
        let settings = scenario.nic_config(port)?;
        let room = room(settings, lossless);
        let rate = scenario.network().ports()[port].rate;
        Some(PortAround {
            name: name(scenario.network(), port, count),
            rate,
            bdp: bdp_bytes(rate, rtt),
            room: room.port,
            class_room: room.class,
            lossy_room: room.lossy,
        })
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

/// How a sentence names a port that stands for so many.
pub(crate) fn name(network: &Network, port: PortId, count: u32) -> String {
    let name = network.port_name(port);
    if count == 1 { format!("the port {name}") } else { format!("a port like {name}") }
}

/// The surroundings of the models of a port with these settings.
pub(crate) fn of_port(scenario: &Scenario, around: &Around, port: PortId, settings: &PortConfig) -> Around {
    let spec = &scenario.network().ports()[port];
    let room = room(settings, lossless_room(scenario));
    Around {
        port_rate: spec.rate,
        port_bdp: bdp_bytes(spec.rate, around.rtt),
        port_limit: settings.limit_bytes(),
        port_room: room.port,
        class_room: room.class,
        lossy_room: room.lossy,
        ..around.clone()
    }
}

/// Whether a port drops nothing for want of room: all its classes are paused, with the headroom that this takes.
fn pauses_all(port: &PortConfig) -> bool {
    port.pfc.as_ref().is_some_and(|pfc| pfc.headroom.is_none() && pfc.mask().count_ones() == u32::from(port.classes))
}

/// Bytes that may wait in a port.
#[derive(Default)]
struct Room {
    /// Of all classes.
    port: u64,
    /// Of one class.
    class: u64,
    /// Of one class that is dropped and not paused.
    lossy: Option<u64>,
}

impl Room {
    fn max(self, other: Room) -> Room {
        Room { port: self.port.max(other.port), class: self.class.max(other.class), lossy: self.lossy.max(other.lossy) }
    }
}

/// The most bytes of a class that is paused that may wait in a port of a switch.
fn lossless_room(scenario: &Scenario) -> u64 {
    let network = scenario.network();
    let of_switches = network.switches().ids().flat_map(|switch| network.switch_ports(switch)).map(PortId);
    of_switches.map(|port| scenario.pfc_room(port)).max().unwrap_or(0)
}

/// The most that may wait in a port with these settings; `lossless` bytes of each class that is paused.
fn room(port: &PortConfig, lossless: u64) -> Room {
    let limit = port.limit_bytes();
    let paused = port.pfc.as_ref().map_or(0, Pfc::mask);
    // What cannot be built was refused before.
    let Ok(buffer) = port.buffer.build(&PortContext { limit, classes: port.classes }) else { return Room::default() };
    let lossy = (0..port.classes).filter(|class| paused & 1 << class == 0);
    let lossy: Vec<u64> = lossy.map(|class| buffer.capacity_of_class(limit, class)).collect();
    let all_lossy = lossy.iter().fold(0, |sum: u64, &room| sum.saturating_add(room)).min(buffer.capacity(limit));
    let all_paused = u64::from(paused.count_ones()) * lossless;
    let largest = lossy.into_iter().max();
    Room {
        port: all_lossy.saturating_add(all_paused),
        class: largest.unwrap_or(0).max(if paused == 0 { 0 } else { lossless }),
        lossy: largest,
    }
}

/// The longest path of an idle network, and what its paths carry to flows whose packets take one of them or, if
/// `sprays`, all.
pub(crate) fn longest_path(network: &Network, sprays: bool) -> LongestPath {
    let Longest { rtt, hops, kept, spread, .. } = network.longest();
    let rates = if sprays { spread } else { kept };
    let nics = (0..network.hosts()).map(HostId).flat_map(|host| network.nics(host)).map(PortId);
    let own = nics.filter(|&nic| network.extra_links(nic).is_none());
    let rate = own.map(|nic| network.ports()[nic].rate).max().unwrap_or_else(|| network.host_link());
    LongestPath { rtt, hops, rate, fills: rates.largest, fastest: rates.fastest, slowest: rates.slowest }
}

/// Whether each packet takes a path of its own.
pub(crate) fn sprays(path: &PathConfig) -> bool {
    let mut facts = Facts::default();
    path.facts(&mut facts);
    facts.has(Thing::Spraying)
}
