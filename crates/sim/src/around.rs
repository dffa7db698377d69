//! What models may ask about the network around them.

use tailcut_base::{HostId, PortId, Span};
use tailcut_fabric::{Pfc, PortConfig, PortContext};
use tailcut_model::seat::BufferPolicy;
use tailcut_model::{Around, Thing};
use tailcut_topology::Quickest;

use crate::config;
use crate::scenario::Scenario;

/// What is around the models of a scenario.
pub(crate) fn of(scenario: &Scenario) -> Around {
    let config = scenario.config();
    let (rtt, hops) = longest_way(scenario);
    let rate = scenario.network().host_link();
    let classes = &scenario.forecast().classes;
    let offered: f64 = classes.iter().map(|class| class.flows * class.mean_wire).sum();
    let default = PortConfig::default();
    let drops = |port: &PortConfig| !pauses_all(port) && port.limit.0 as f64 <= offered;
    let loses = |port: &PortConfig| drops(port) || port.loss != default.loss;
    let room = room(scenario);
    Around {
        rtt,
        hops,
        bdp: (rate.as_bps() as f64 / 8.0 * rtt.as_secs_f64()) as u64,
        port_limit: config.port.all.limit.0,
        port_room: room.port,
        class_room: room.class,
        lossy_room: room.lossy,
        drain: rate.tx_time(room.lossy.unwrap_or(room.class)),
        sprays: scenario.facts().has(Thing::Spraying),
        may_lose: config.failures != config::Failures::default() || config.port.each().any(|(_, port)| loses(port)),
        arrivals: scenario.forecast().duration,
        run_drain: config.run.drain,
        largest_sizes: classes.iter().map(|class| (class.name.clone(), class.largest_size)).collect(),
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

/// The most that may wait in a port of a switch, over all tables of ports and all links into them.
fn room(scenario: &Scenario) -> Room {
    let network = scenario.network();
    let of_switches = network.switches().ids().flat_map(|switch| network.switch_ports(switch)).map(PortId);
    let lossless = of_switches.map(|port| scenario.pfc_room(port)).max().unwrap_or(0);
    let mut most = Room::default();
    for (_, port) in scenario.config().port.each() {
        let limit = port.limit.0;
        let paused = port.pfc.as_ref().map_or(0, Pfc::mask);
        // What cannot be built was refused before.
        let Ok(buffer) = port.buffer.build(&PortContext { limit, classes: port.classes }) else { continue };
        let lossy = (0..port.classes).filter(|class| paused & 1 << class == 0);
        let lossy: Vec<u64> = lossy.map(|class| buffer.capacity_of_class(limit, class)).collect();
        let all_lossy = lossy.iter().fold(0, |sum: u64, &room| sum.saturating_add(room)).min(buffer.capacity(limit));
        let all_paused = u64::from(paused.count_ones()) * lossless;
        let largest = lossy.into_iter().max();
        most.port = most.port.max(all_lossy.saturating_add(all_paused));
        most.class = most.class.max(largest.unwrap_or(0)).max(if paused == 0 { 0 } else { lossless });
        most.lossy = most.lossy.max(largest);
    }
    most
}

/// Round-trip time between the hosts that are furthest apart, of a full packet and its ACK in an idle network, and how
/// many links are between them.
fn longest_way(scenario: &Scenario) -> (Span, u8) {
    let network = scenario.network();
    let first = HostId(0);
    let mut quickest = Quickest::new(network);
    let ways = (1..network.hosts()).map(HostId);
    let longest = ways.map(|host| (quickest.rtt(first, host), host)).max_by_key(|&(rtt, _)| rtt);
    longest.map_or((Span::ZERO, 0), |(rtt, host)| (rtt, network.route(first, host).facts().hops))
}
