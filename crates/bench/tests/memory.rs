//! What an idle host, an idle port, an active flow and a packet cost in memory: the bounds of `docs/performance.md`.
//!
//! Each cost is the difference between two runs that differ in nothing else, as the engine counts its own state.
#![allow(missing_docs, reason = "a test")]

use std::path::Path;

use tailcut_base::{HostId, Instant};
use tailcut_bench::simulation::{run, scenario_of};
use tailcut_model::{Arena, FlowId, Kind, Packet};

/// Bytes of each, at most.
const HOST: f64 = 200.0;
const PORT: f64 = 360.0;
const FLOW: f64 = 1_100.0;
const PACKET: f64 = 84.0;

const STAR: &str = "[topology.star]\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }";

const LEAF_SPINE: &str = "[topology.leaf-spine]\nleaves = 16\nhosts_per_leaf = 2
host_link = { rate = \"10Gbps\", delay = \"1us\" }\ncore_link = { rate = \"10Gbps\", delay = \"1us\" }";

/// One flow that crosses an otherwise idle network.
const IDLE: &str = "load = 0.1\nflows = 1\ntraffic.short = { share = 1.0, sizes.fixed = \"1KB\" }";

/// Flows that all start before the first of them can end: a thousand times as many as the links can carry.
const CROWD: &str = "load = 1000.0\nallow_overload = true\ntraffic.long = { share = 1.0, sizes.fixed = \"1MB\" }";

/// The engine's state at its peak in bytes.
fn peak(topology: &str, workload: &str, set: &[&str]) -> f64 {
    let text = format!("{topology}\n[workload]\nload_of = \"host-links\"\n{workload}\n[run]\ndrain = \"10us\"\n");
    let scenario = scenario_of("memory", &text, Path::new(""), set, "dctcp");
    let (outcome, _) = run(&scenario.unwrap_or_else(|problem| panic!("{}", problem.render(false))));
    outcome.engine.peak_bytes as f64
}

/// What one of something costs: the difference between a run with `few` of them and one with `many`, for each.
fn each(few: u32, many: u32, peak: impl Fn(u32) -> f64) -> f64 {
    (peak(many) - peak(few)) / f64::from(many - few)
}

#[test]
fn an_idle_host_and_an_idle_port_cost_as_much_as_is_said() {
    // One more spine is 32 more ports: its own to each of the 16 leaves, and one of each leaf to it.
    let spine = each(10, 110, |spines| peak(LEAF_SPINE, IDLE, &[&format!("topology.leaf-spine.spines={spines}")]));
    let port = spine / 32.0;
    assert!(port <= PORT, "{port} B for a port");
    // One more host comes with two ports, its NIC and the port of the switch that leads to it, which are not counted
    // here.
    let host = each(1_000, 5_000, |hosts| peak(STAR, IDLE, &[&format!("topology.star.hosts={hosts}")])) - 2.0 * port;
    assert!(host <= HOST, "{host} B for a host");
}

#[test]
fn an_active_flow_costs_as_much_as_is_said() {
    // Each host has tables that grow by doubling when it needs more room. At any time about half of the hosts have just
    // doubled theirs, so that what is measured is an average over full and half empty tables.
    let flow = each(1 << 12, 1 << 15, |flows| {
        peak(STAR, CROWD, &["topology.star.hosts=64", &format!("workload.flows={flows}")])
    });
    assert!(flow <= FLOW, "{flow} B for a flow");
}

#[test]
fn a_packet_costs_as_much_as_is_said() {
    let mut arena = Arena::new();
    let packet = Packet::control(Kind::ACK, FlowId(0), HostId(0), HostId(1), 0, Instant::ZERO);
    let ids: Vec<_> = (0..1 << 12).map(|_| arena.insert(packet.clone())).collect();
    let number = ids.len() as f64;
    // Packets are removed again, because the arena keeps a list of free places, which belongs to the cost of a packet.
    ids.into_iter().for_each(|id| arena.remove(id));
    let cost = arena.heap_bytes() as f64 / number;
    assert!(cost <= PACKET, "{cost} B for a packet");
}
