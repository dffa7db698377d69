//! The flow level: the same scenarios without packets.

use std::ops::ControlFlow;
use std::path::Path;

use tailcut_base::{BitRate, HEADER_BYTES, MTU_BYTES, Span, wire_bytes};
use tailcut_record::Recorder;
use tailcut_sim::{EndReason, Outcome, Preset, Scenario, Tree};

use crate::common::{SMALL, bottleneck, listed, mean_fct, rows, run, slytherin_mix, star, tree};

fn flow_tree(scheme: &str, text: &str) -> Tree {
    tree(scheme, &format!("fidelity = \"flow\"\n{text}"))
}

fn scenario(scheme: &str, text: &str, seed: u64) -> Scenario {
    Scenario::new(&flow_tree(scheme, text), seed, Path::new(".")).unwrap_or_else(|p| panic!("{}", p.render(false)))
}

fn fluid(scheme: &str, text: &str, seed: u64) -> Outcome {
    let scenario = scenario(scheme, text, seed);
    scenario.simulator(1).simulate(&scenario, Recorder::new(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn refused(scheme: &str, text: &str) -> Option<String> {
    Scenario::new(&flow_tree(scheme, text), 1, Path::new(".")).err().map(|problem| problem.render(false))
}

/// Every preset and profile of packets runs, or says why it has no flow level; nobody is listed but those that cannot.
#[test]
fn every_scheme_has_a_flow_level_or_says_why_not() {
    let text = format!("{SMALL}{}", slytherin_mix(0.4, "2ms"));
    let mut without = Vec::new();
    for scheme in crate::common::all_schemes() {
        if let Some(message) = refused(scheme, &text) {
            assert!(message.contains("has no flow level: ") && message.contains("= help: expected"), "{message}");
            without.push(scheme.split('@').next().unwrap());
            continue;
        }
        let outcome = fluid(scheme, &text, 1);
        assert_eq!(outcome.end, EndReason::Finished, "{scheme}");
        for row in rows(&outcome) {
            assert!(row.received.unwrap().since(row.start).unwrap() >= row.ideal, "{scheme}: {row:?}");
        }
    }
    without.dedup();
    // PDQ by a policy, estimated sizes or aging is among them.
    assert_eq!(without, ["hyline", "mp-pdq", "pdq", "qjump"]);
}

/// Workloads are drawn from the same streams: whatever is simulated, the flows are the same.
#[test]
fn the_same_seeds_give_the_same_flows() {
    let text = format!("{SMALL}{}", slytherin_mix(0.5, "3ms"));
    for seed in 1..4 {
        let spec = |outcome: &Outcome| -> Vec<_> {
            let spec = |row: tailcut_record::FlowRow| {
                (row.flow, row.src, row.dst, row.size, row.start, row.class, row.query, row.measured, row.ideal)
            };
            rows(outcome).into_iter().map(spec).collect()
        };
        let packets = spec(&run("dctcp", &text, seed));
        assert!(packets.len() > 30);
        for scheme in ["dctcp", "pdq", "pias", "homa"] {
            assert_eq!(spec(&fluid(scheme, &text, seed)), packets, "{scheme}");
        }
    }
}

/// A flow crosses the links that its packets cross, and puts the same bytes on them.
#[test]
fn flows_go_where_their_packets_go() {
    let link = "{ rate = \"10Gbps\", delay = \"1us\" }";
    let networks = [
        format!(
            "topology.leaf-spine = {{ leaves = 4, hosts_per_leaf = 4, spines = 3, host_link = {link}, core_link = {link} }}\n"
        ),
        format!("topology.fat-tree = {{ k = 4, host_link = {link} }}\n"),
        format!("topology.bcube = {{ n = 4, k = 1, host_link = {link} }}\n"),
        format!(
            "topology.jellyfish = {{ switches = 8, hosts = 16, network_ports = 4, host_link = {link}, core_link = {link} }}\n"
        ),
    ];
    // One after the other, from lower to higher hosts, so that ACKs have links of their own.
    let flows: Vec<(u32, u32, u64, u64)> = (0..60)
        .map(|nth| (nth % 15, 15 - nth % 7 % (15 - nth % 15), 20_000 + u64::from(nth), u64::from(nth) * 100_000))
        .collect();
    for network in networks {
        let text = format!("{network}{}", listed(&flows));
        for (scheme, path) in
            [("tcp", "flow-ecmp"), ("tcp", "flow-round-robin"), ("tcp", "source"), ("rcp", "symmetric")]
        {
            let text = format!("path = \"{path}\"\n{text}");
            let (packets, fluids) = (run(scheme, &text, 3), fluid(scheme, &text, 3));
            for (packet, fluid) in packets.ports.iter().zip(&fluids.ports) {
                assert_eq!((&packet.owner, &packet.peer, packet.rate_bps), (&fluid.owner, &fluid.peer, fluid.rate_bps));
                // ACKs are packets of a header, at most one and a few for each packet of data.
                let headers = packet.packets * HEADER_BYTES;
                assert!(
                    fluid.bytes <= packet.bytes && packet.bytes <= fluid.bytes + headers,
                    "{scheme} {path} {}->{}: {} B of {} packets, and {} B",
                    packet.owner,
                    packet.peer,
                    packet.bytes,
                    packet.packets,
                    fluid.bytes
                );
                assert_eq!(
                    fluid.bytes > 0,
                    packet.bytes > headers,
                    "{scheme} {path} {}->{}",
                    packet.owner,
                    packet.peer
                );
            }
        }
    }
}

/// Packets that are sprayed go all equal ways, and so does a flow.
#[test]
fn sprayed_flows_are_split() {
    let text = format!("path = \"spray\"\n{SMALL}{}", listed(&[(0, 5, 1_000_000, 0)]));
    let outcome = fluid("dctcp", &text, 1);
    let bytes = |owner: &str| -> Vec<u64> {
        outcome.ports.iter().filter(|port| port.owner == owner && port.bytes > 0).map(|port| port.bytes).collect()
    };
    let wire = wire_bytes(1_000_000);
    assert_eq!(bytes("host0"), [wire]);
    assert_eq!(bytes("leaf0"), [wire / 2; 2]);
    assert_eq!(bytes("leaf1"), [wire]);
}

/// Nothing but its ideal time, and what its transport takes to begin.
#[test]
fn a_flow_by_itself_takes_its_ideal_time_and_what_its_transport_takes() {
    let text =
        format!("{}{}", star(3), listed(&[(0, 1, 1_000_000, 0), (0, 2, 1, 5_000_000), (1, 2, 14_600, 9_000_000)]));
    let header = (Span::from_us(2) + BitRate::gbps(10).tx_time(HEADER_BYTES) * 2) * 2;
    for (scheme, extra) in [("homa", Span::ZERO), ("rcp", header), ("pdq", header * 2), ("pfabric", Span::ZERO)] {
        for row in rows(&fluid(scheme, &text, 1)) {
            assert_eq!(row.fct(), Some(row.ideal + extra), "{scheme}");
        }
    }
    // Ten packets, then ACKs: the pipe of 8.1 us holds fewer than that.
    for row in rows(&fluid("tcp", &text, 1)) {
        assert_eq!(row.fct(), Some(row.ideal), "{}", MTU_BYTES);
    }
}

/// Query aggregation: flows that begin together share a link under RCP, and are served one by one under PDQ. Packets
/// take a little longer.
#[test]
fn packets_take_about_as_long() {
    let flows: Vec<(u32, u32, u64, u64)> = (0..8).map(|nth| (nth, 8, 100_000 * u64::from(nth + 1), 0)).collect();
    let text = format!("{}{}", bottleneck(8, "1Gbps", "10us"), listed(&flows));
    for scheme in ["rcp", "pdq", "srpt", "dctcp"] {
        let (packets, fluids) = (mean_fct(&run(scheme, &text, 1)), mean_fct(&fluid(scheme, &text, 1)));
        let error = fluids / packets - 1.0;
        assert!(error.abs() < 0.08, "{scheme}: {error}");
    }
    assert!(mean_fct(&fluid("pdq", &text, 1)) < 0.75 * mean_fct(&fluid("rcp", &text, 1)));
}

#[test]
fn what_only_packets_have_is_refused() {
    let text = format!("{}{}", star(4), listed(&[(0, 1, 1_000, 0), (2, 3, 1_000, 0)]));
    for (key, what) in [
        ("failures.list = [{ link = \"host0--switch0\", at = \"1ms\" }]\n", "links do not fail"),
        ("record.throughput = \"1ms\"\n", "no packets cross the network"),
        ("record.queue_series = true\n", "queues of the network are not recorded"),
    ] {
        let message = refused("tcp", &format!("{key}{text}")).expect(what);
        assert!(message.contains(what) && message.contains("test.toml:2"), "{message}");
    }
    let warnings = scenario("tcp", &text, 1).warnings();
    assert!(warnings.iter().any(|warning| warning.contains("have no effect")), "{warnings:?}");
    assert!(Preset::of_packets().count() > 20);
}

/// A flow that is still under way when the time to drain is over is censored.
#[test]
fn what_is_not_done_in_time_is_censored() {
    let text = format!("run.drain = \"100us\"\n{}{}", star(3), listed(&[(0, 1, 1_000_000, 0), (2, 1, 1_000, 0)]));
    let outcome = fluid("tcp", &text, 1);
    assert_eq!((outcome.end, outcome.totals.received, outcome.totals.open), (EndReason::CutOff, 1, 0));
    assert_eq!(rows(&outcome)[0].fct(), None);
}
