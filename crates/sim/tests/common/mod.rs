//! Scenarios as text, for the tests of whole simulations.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]

pub mod cases;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

use tailcut_record::{FlowRow, PortRow, Recorder};
use tailcut_sim::model::{CongestionControl, FlowContext};
use tailcut_sim::pinned::pinned_preset;
use tailcut_sim::seats::{PaceConfig, ReceiveConfig};
use tailcut_sim::{EndReason, Outcome, Preset, Scenario, Tree, World};

/// P1: 400 hosts, 20 leaves, 10 spines, 10 Gb/s, 10 us.
pub const P1: &str = r#"
[topology.leaf-spine]
leaves = 20
hosts_per_leaf = 20
spines = 10
host_link = { rate = "10Gbps", delay = "10us" }
core_link = { rate = "10Gbps", delay = "10us" }
"#;

/// P3: 144 hosts, 9 leaves, 4 spines, 10 and 40 Gb/s.
pub const P3: &str = r#"
[topology.leaf-spine]
leaves = 9
hosts_per_leaf = 16
spines = 4
host_link = { rate = "10Gbps", delay = "20.2us" }
core_link = { rate = "40Gbps", delay = "0.2us" }
"#;

/// P2: P1 with 40 Gb/s between leaves and spines.
pub const P2: &str = r#"
[topology.leaf-spine]
leaves = 20
hosts_per_leaf = 20
spines = 10
host_link = { rate = "10Gbps", delay = "10us" }
core_link = { rate = "40Gbps", delay = "10us" }
"#;

/// P4: 144 hosts, 3 leaves, 4 spines, 10 and 40 Gb/s: three times oversubscribed.
pub const P4: &str = r#"
[topology.leaf-spine]
leaves = 3
hosts_per_leaf = 48
spines = 4
host_link = { rate = "10Gbps", delay = "20.2us" }
core_link = { rate = "40Gbps", delay = "0.2us" }
"#;

/// P9: hosts 0 and 1 on one switch, 2 and 3 on another, 10 Gb/s, 80 us around.
pub const P9: &str = r#"
[topology.dumbbell]
left_hosts = 2
right_hosts = 2
host_link = { rate = "10Gbps", delay = "13.333us" }
core_link = { rate = "10Gbps", delay = "13.333us" }
"#;

/// Hosts on one switch, 10 Gb/s, 1 us.
pub fn star(hosts: u32) -> String {
    format!("[topology.star]\nhosts = {hosts}\nhost_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n")
}

/// Hosts `0..senders` that share the link to host `senders`; every link has this delay.
pub fn bottleneck(senders: u32, rate: &str, delay: &str) -> String {
    format!(
        "[topology.single-bottleneck]\nsenders = {senders}\n\
         host_link = {{ rate = \"{rate}\", delay = \"{delay}\" }}\n"
    )
}

/// Every preset, alone and with each of its profiles, but those that pause links: these go with fewer networks, and
/// have tests of their own in `pfc.rs`.
pub fn schemes() -> Vec<&'static str> {
    all_schemes().into_iter().filter(|scheme| !is_lossless(scheme)).collect()
}

/// Whether a preset pauses links rather than drop packets.
fn is_lossless(preset: &str) -> bool {
    let layer = Preset::layer(preset).expect("a preset of the tests");
    layer.get("port").is_some_and(|port| port.get("pfc").is_some())
}

/// Every preset, alone and with each of its profiles.
pub fn all_schemes() -> Vec<&'static str> {
    static ALL: LazyLock<Vec<String>> = LazyLock::new(|| {
        let with_profiles = |preset: &Preset| {
            let profile = |profile: String| format!("{}@{profile}", preset.name);
            std::iter::once(preset.name.to_owned())
                .chain(preset.profiles().into_iter().map(profile))
                .collect::<Vec<_>>()
        };
        Preset::of_packets().flat_map(with_profiles).collect()
    });
    ALL.iter().map(String::as_str).collect()
}

/// Whether more than a window of congestion control and the link decides when a packet of the preset goes: a pacer, its
/// receiver, or switches, which it asks first.
pub fn is_held_back(preset: &str) -> bool {
    let text = star(2) + &listed(&[(0, 1, 1, 0)]);
    let scenario = scenario(preset, &text, 1);
    let host = &scenario.config().host;
    cases::has_agent(preset)
        || !matches!(host.pace, PaceConfig::Off(_))
        || !matches!(host.receive, ReceiveConfig::Unlimited(_))
        || host.congestion.build(&FlowContext::default()).expect("it was validated").paces()
}

/// What a text says of flow ECMP and TCP, in the words of a preset that has them under other names.
pub fn in_words_of(preset: &str, text: &str) -> String {
    if !cases::is_permitted(preset) {
        return text.to_owned();
    }
    text.replace("path = \"flow-ecmp\"", "path = \"assigned\"")
        .replace("[host.transport.tcp]", "[host.transport.hyline.first]")
}

/// A scenario's tree: a preset below, `text` on top.
pub fn tree(preset: &str, text: &str) -> Tree {
    let mut tree = Preset::layer(preset).expect("a preset of the tests");
    tree.merge(Tree::parse("test.toml", text).unwrap_or_else(|p| panic!("{}", p.render(false))));
    tree
}

/// A checked scenario.
pub fn scenario(preset: &str, text: &str, seed: u64) -> Scenario {
    Scenario::new(&tree(preset, text), seed, Path::new(".")).unwrap_or_else(|p| panic!("{}", p.render(false)))
}

/// Runs a scenario to its end, or until its time to drain is over.
pub fn run(preset: &str, text: &str, seed: u64) -> Outcome {
    World::new(&scenario(preset, text, seed), Recorder::new()).run()
}

/// Runs a scenario at its fidelity.
pub fn simulate(scenario: &Scenario) -> Outcome {
    scenario.simulator(1).simulate(scenario, Recorder::new(), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// PINNED: as [`run`], with the former defaults of `run.ties` and of what an ECN echo does to a window.
pub fn run_pinned(preset: &str, text: &str, seed: u64) -> Outcome {
    let mut tree = pinned_preset(preset).expect("a preset of the tests");
    tree.merge(Tree::parse("test.toml", text).unwrap_or_else(|p| panic!("{}", p.render(false))));
    let scenario = Scenario::new(&tree, seed, Path::new(".")).unwrap_or_else(|p| panic!("{}", p.render(false)));
    World::new(&scenario, Recorder::new()).run()
}

/// Runs a scenario to its end, in which every flow arrives, and again on two and three threads, which see the same.
pub fn run_on_threads(scenario: &Scenario, what: &str) -> Outcome {
    let one = World::new(scenario, Recorder::new()).run();
    assert_eq!(one.end, EndReason::Finished, "{what}");
    assert!(rows(&one).iter().all(|row| row.received.is_some()), "{what}");
    for threads in [2, 3] {
        let other = World::new(scenario, Recorder::new()).with_threads(threads).run();
        assert_eq!((other.engine.digest, rows(&other)), (one.engine.digest, rows(&one)), "{what} on {threads}");
    }
    one
}

/// The row of the port from `owner` to `peer`.
pub fn port<'a>(outcome: &'a Outcome, owner: &str, peer: &str) -> &'a PortRow {
    outcome.ports.iter().find(|port| port.owner == owner && port.peer == peer).expect("the network has this port")
}

/// The rows of all flows.
pub fn rows(outcome: &Outcome) -> Vec<FlowRow> {
    outcome.flows.rows().collect()
}

/// FCTs in picoseconds, in the order of the flows.
pub fn fcts(outcome: &Outcome) -> Vec<u64> {
    rows(outcome).iter().map(|row| row.fct().expect("every flow is finished").as_ps()).collect()
}

/// The mean of these.
pub fn mean_fct(outcome: &Outcome) -> f64 {
    let times = fcts(outcome);
    times.iter().sum::<u64>() as f64 / times.len() as f64
}

/// A `[workload]` of listed flows: (source, destination, bytes, start in ns).
pub fn listed(flows: &[(u32, u32, u64, u64)]) -> String {
    let flows: Vec<String> = flows
        .iter()
        .map(|(src, dst, size, start)| {
            format!("{{ src = {src}, dst = {dst}, size = \"{size}B\", start = \"{start}ns\" }}")
        })
        .collect();
    format!("\n[workload.traffic.listed]\nlist = [{}]\n", flows.join(", "))
}

/// A leaf-spine of 4 leaves, 4 hosts on each and 2 spines, all links 10 Gb/s and 2 us.
pub const SMALL: &str = r#"
[topology.leaf-spine]
leaves = 4
hosts_per_leaf = 4
spines = 2
host_link = { rate = "10Gbps", delay = "2us" }
core_link = { rate = "10Gbps", delay = "2us" }
"#;

/// The mix of Slytherin's paper for a small network: 70 % of the bytes in flows of 1 MB, the rest in flows of 8 to 32
/// KB, half of them answers of 8 hosts at once. The load is that of the uplinks.
pub fn slytherin_mix(load: f64, duration: &str) -> String {
    format!(
        r#"
[workload]
load = {load}
load_of = "fabric"
duration = "{duration}"
[workload.traffic.short]
share = 0.15
sizes.uniform = {{ min = "8KB", max = "32KB" }}
[workload.traffic.incast]
share = 0.15
sizes.uniform = {{ min = "8KB", max = "32KB" }}
incast = {{ degree = 8, aggregators = 4 }}
[workload.traffic.long]
share = 0.70
sizes.fixed = "1MB"
"#
    )
}
