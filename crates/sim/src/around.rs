//! What models may ask about the network around them.

use tailcut_base::{BitRate, HostId, PortId, Span, bdp_bytes};
use tailcut_fabric::{Pfc, PortConfig, PortContext};
use tailcut_model::seat::BufferPolicy;
use tailcut_model::{Around, Incast, Thing};
use tailcut_topology::{Network, Quickest};
use tailcut_workload::ClassForecast;

use crate::config;
use crate::scenario::Scenario;

/// The longest path of the idle network, and the fastest link of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongestPath {
    /// Its round-trip time, of a full packet and its ACK.
    pub(crate) rtt: Span,
    /// Links on it.
    pub(crate) hops: u8,
    /// Rate of the fastest link of a host; links beside those of the topology do not count.
    pub(crate) rate: BitRate,
}

/// What is around the models of a scenario.
pub(crate) fn of(scenario: &Scenario) -> Around {
    let config = scenario.config();
    let LongestPath { rtt, hops, rate } = scenario.longest_path();
    let classes = &scenario.forecast().classes;
    let offered: f64 = classes.iter().map(|class| class.flows * class.mean_wire).sum();
    let default = PortConfig::default();
    let drops = |port: &PortConfig| !pauses_all(port) && port.limit_bytes() as f64 <= offered;
    let loses = |port: &PortConfig| drops(port) || port.loss != default.loss;
    let settings = scenario.port_settings();
    let of_ports = || settings.iter().filter(|(path, _)| path.starts_with("port")).map(|(_, port)| *port);
    let lossless = lossless_room(scenario);
    let room = of_ports().fold(Room::default(), |most, port| most.max(room(port, lossless)));
    let bdp = bdp_bytes(rate, rtt);
    Around {
        rtt,
        hops,
        bdp,
        port_rate: rate,
        port_bdp: bdp,
        port_limit: of_ports().next().map_or(0, PortConfig::limit_bytes),
        port_room: room.port,
        class_room: room.class,
        lossy_room: room.lossy,
        drain: rate.tx_time(room.lossy.unwrap_or(room.class)),
        sprays: scenario.facts().has(Thing::Spraying),
        marks_are_read: scenario.facts().has(Thing::EcnCapable),
        may_lose: config.failures != config::Failures::default() || of_ports().any(loses),
        arrivals: scenario.forecast().duration,
        run_drain: config.run.drain,
        largest_sizes: classes.iter().map(|class| (class.name.clone(), class.largest_size)).collect(),
        incasts: classes.iter().filter_map(incast).collect(),
    }
}

/// How many hosts answer the queries of a class at most, and how much each of them.
fn incast(class: &ClassForecast) -> Option<Incast> {
    let degree = class.queries?.degree.bounds().1;
    Some(Incast { class: class.name.clone(), degree: u64::from(degree), largest_size: class.largest_size })
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

/// Hosts up to which the round trips of all pairs are compared.
const FEW_HOSTS: u32 = 24;

/// The longest path of an idle network, by the round-trip time of a full packet and its ACK on the quickest paths
/// between two hosts. In networks of more than 24 hosts it is the longest one from the host that is furthest from
/// host 0, or to it, which is exact in trees.
pub(crate) fn longest_path(network: &Network) -> LongestPath {
    let hosts = || (0..network.hosts()).map(HostId);
    let others = |host: HostId| hosts().filter(move |&other| other != host);
    let mut quickest = Quickest::new(network);
    let mut longest_of = |pairs: &mut dyn Iterator<Item = (HostId, HostId)>| {
        pairs.map(|(a, b)| (quickest.rtt(a, b), a, b)).max_by_key(|&(rtt, ..)| rtt)
    };
    let mut of_host = |host: HostId| longest_of(&mut others(host).flat_map(|other| [(host, other), (other, host)]));
    let longest = if network.hosts() <= FEW_HOSTS {
        hosts().filter_map(of_host).max_by_key(|&(rtt, ..)| rtt)
    } else {
        let first = of_host(HostId(0));
        first.max(first.and_then(|(_, a, b)| of_host(if a == HostId(0) { b } else { a })))
    };
    let nics = hosts().flat_map(|host| network.nics(host)).map(PortId);
    let own = nics.filter(|&nic| network.extra_links(nic).is_none());
    let rate = own.map(|nic| network.ports()[nic].rate).max().unwrap_or_else(|| network.host_link());
    let (rtt, hops) = longest.map_or((Span::ZERO, 0), |(rtt, a, b)| (rtt, network.route(a, b).facts().hops));
    LongestPath { rtt, hops, rate }
}
