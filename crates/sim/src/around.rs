//! What models may ask about the network around them.

use tailcut_base::{HostId, PortId, Span};
use tailcut_fabric::{PortConfig, PortContext};
use tailcut_model::seat::BufferPolicy;
use tailcut_model::{Around, Thing};
use tailcut_topology::Node;

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
        drain: rate.tx_time(room.class),
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

/// Bytes that may wait.
struct Room {
    /// In a port.
    port: u64,
    /// Of one class: the largest of those that are dropped, or where all are paused, of one that is paused.
    class: u64,
}

/// What may wait in the ports of switches that `[port]` alone describes; where their rooms differ, in the smallest.
fn room(scenario: &Scenario) -> Room {
    let port = &scenario.config().port.all;
    let limit = port.limit.0;
    let context = PortContext { limit, classes: port.classes };
    // What cannot be built was refused before.
    let buffer = port.buffer.build(&context).ok();
    let of_class = |class| buffer.as_ref().map_or(limit, |buffer| buffer.capacity_of_class(limit, class));
    let paused = port.pfc.as_ref().map_or(0, tailcut_fabric::Pfc::mask);
    let dropped = (0..port.classes).filter(|&class| paused & 1 << class == 0).map(of_class).max();
    if paused == 0 {
        return Room { port: limit, class: dropped.unwrap_or(limit) };
    }
    let ports = scenario.network().ports();
    let of_switches = ports.ids().filter(|&port| matches!(ports[port].owner, Node::Switch(_)));
    let lossless = of_switches.map(|port: PortId| scenario.pfc_room(port)).min().unwrap_or(limit);
    let shared = if dropped.is_some() { limit } else { 0 };
    Room { port: shared + u64::from(paused.count_ones()) * lossless, class: dropped.unwrap_or(lossless) }
}

/// Round-trip time between the hosts that are furthest apart, of a full packet and its ACK in an idle network, and how
/// many links are between them.
fn longest_way(scenario: &Scenario) -> (Span, u8) {
    let network = scenario.network();
    let first = HostId(0);
    let ways = (1..network.hosts()).map(HostId);
    let longest = ways.map(|host| (network.rtt(first, host), host)).max_by_key(|&(rtt, _)| rtt);
    longest.map_or((Span::ZERO, 0), |(rtt, host)| (rtt, network.route(first, host).facts().hops))
}
