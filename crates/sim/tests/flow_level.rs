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
    assert_eq!(without, ["mp-pdq", "pdq", "qjump"]);
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

/// HyLine's manager decides without packets what it decides with them: who waits for whom and how long, who is stopped
/// and goes on, and on which ways.
#[test]
fn permissions_are_given_and_taken_back_as_with_packets() {
    // One receiver: the first flow is stopped by a shorter one; the third is longer than what is left of both, and
    // waits for them; a small one goes at once. Others go past them.
    let flows =
        [(0, 8, 5_000_000, 0), (1, 8, 2_000_000, 1_000_000), (4, 8, 6_000_000, 1_500_000), (5, 8, 30_000, 2_000_000)];
    let others = [(2, 9, 3_000_000, 300_000), (3, 9, 1_200_000, 800_000), (6, 10, 4_000_000, 900_000)];
    let link = "{ rate = \"10Gbps\", delay = \"2us\" }";
    let network = format!(
        "topology.leaf-spine = {{ leaves = 3, hosts_per_leaf = 4, spines = 4, host_link = {link}, core_link = {link} }}\n"
    );
    let list = [&flows[..], &others[..]].concat();
    for (scheme, more) in [
        ("hyline", ""),
        ("hyline@as-coded", ""),
        ("hyline", "[host.transport.hyline]\nend = \"sent\"\n"),
        ("hyline", "[host.transport.hyline.first]\nhandshake = \"one-rtt\"\n"),
        ("hyline", "[controller.hyline]\ndelay = \"20us\"\nservice = \"5us\"\n"),
    ] {
        // A port that holds all of the first windows: nothing is lost.
        let text = format!("{network}{more}[port]\nlimit = \"9MB\"\n{}", listed(&list));
        let (packets, fluids) = (run(scheme, &text, 1), fluid(scheme, &text, 1));
        assert_eq!(packets.controller.map(|counts| counts.preemptions), Some(2), "{scheme} {more}");
        assert_eq!(packets.controller, fluids.controller, "{scheme} {more}");
        for (packet, fluid) in rows(&packets).into_iter().zip(rows(&fluids)) {
            let near = |one: Span, other: Span, what: &str| {
                let apart = one.max(other) - one.min(other);
                let allowed = Span::from_us(10) + Span::from_ps(one.as_ps() / 50);
                assert!(apart <= allowed, "{scheme} {more} flow {}: {what} {one} and {other}", packet.flow);
            };
            let fct = |row: &tailcut_record::FlowRow| row.received.unwrap().since(row.start).unwrap();
            near(fct(&packet), fct(&fluid), "completes in");
            match (&packet.permission, &fluid.permission) {
                (Some(one), Some(other)) => {
                    assert_eq!(one.preemptions, other.preemptions);
                    near(one.waited, other.waited, "waited");
                    near(one.stopped, other.stopped, "was stopped");
                }
                (one, other) => assert!(one.is_none() && other.is_none() && packet.size == 30_000, "{one:?} {other:?}"),
            }
        }
        let stopped =
            rows(&fluids).iter().filter_map(|row| row.permission.as_ref()).filter(|p| p.preemptions > 0).count();
        assert_eq!(stopped, 2, "the first flows of both receivers");
        for (packet, fluid) in packets.ports.iter().zip(&fluids.ports) {
            // ACKs beside it.
            let headers = packet.packets * HEADER_BYTES;
            assert!(fluid.bytes <= packet.bytes + 1 && packet.bytes <= fluid.bytes + headers, "{}", packet.owner);
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
/// take a little longer. They ask in the order of their sizes, as fluids do.
#[test]
fn packets_take_about_as_long() {
    let flows: Vec<(u32, u32, u64, u64)> = (0..8).map(|nth| (nth, 8, 100_000 * u64::from(nth + 1), 0)).collect();
    let text = format!("run.ties = \"numbered\"\n{}{}", bottleneck(8, "1Gbps", "10us"), listed(&flows));
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

/// A flow stands still while its only link is down, and until ways are known that lead past one that is; others have
/// what it leaves meanwhile.
#[test]
fn flows_stand_still_or_go_another_way_when_links_fail() {
    let fct = |outcome: &Outcome| -> Vec<Span> {
        rows(outcome).iter().map(|row| row.received.unwrap().since(row.start).unwrap()).collect()
    };
    // Two flows share the link to host 3, for 16 ms and more. Their ways are known at once, and there is no other.
    let flows = [(0, 3, 10_000_000, 0), (1, 3, 10_000_000, 0), (2, 3, 10_000, 30_000_000)];
    let failure = |link: &str, at: &str, lasts: &str, convergence: &str| {
        format!("[failures]\nconvergence = \"{convergence}\"\nlist = [{{ link = \"{link}\", at = \"{at}\"{lasts} }}]\n")
    };
    let intact = fct(&fluid("tcp", &format!("{}{}", star(4), listed(&flows)), 1));
    let down = failure("host0->switch0", "2ms", ", for = \"3ms\"", "0us");
    for scheme in ["tcp", "rcp", "dctcp"] {
        let [without, with] =
            ["", &down].map(|down| fct(&fluid(scheme, &format!("{}{down}{}", star(4), listed(&flows)), 1)));
        // The other one sends 3 ms at twice the rate, and is done 3 ms sooner; the first is done no later than before.
        let apart = (without[1] - with[1]).as_secs_f64();
        assert!((apart - 3e-3).abs() < 2e-5, "{scheme}: {apart} s");
        let apart = with[0].as_secs_f64() - without[0].as_secs_f64();
        assert!(apart.abs() < 2e-5, "{scheme}: {apart} s");
    }
    // Under PDQ the first flow is served first, until it cannot be; after that the other one has less left.
    let [without, with] =
        ["", &down].map(|down| fct(&fluid("pdq", &format!("{}{down}{}", star(4), listed(&flows)), 1)));
    assert_eq!(with[0], without[1]);
    assert!((with[1].as_secs_f64() - without[0].as_secs_f64() - 2e-3).abs() < 2e-5, "{with:?} {without:?}");
    // A flow that starts while its link is down waits for it, and one whose link is down for good is not done.
    let late = failure("host2->switch0", "29ms", ", for = \"5ms\"", "0us");
    let waited = fct(&fluid("tcp", &format!("{}{late}{}", star(4), listed(&flows)), 1));
    assert_eq!(waited[2], intact[2] + Span::from_ms(4));
    let text =
        format!("run.drain = \"1s\"\n{}{}{}", star(4), failure("host2->switch0", "29ms", "", "0us"), listed(&flows));
    let outcome = fluid("tcp", &text, 1);
    assert_eq!((outcome.end, outcome.totals.received), (EndReason::CutOff, 2));

    // Four leaves and two spines: the flow goes by the other one as soon as that is known, and back later.
    let link = "{ rate = \"10Gbps\", delay = \"1us\" }";
    let network = format!(
        "[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\nhost_link = {link}\ncore_link = {link}\n"
    );
    let text = |failures: &str| format!("{network}{failures}{}", listed(&[(0, 2, 10_000_000, 0)]));
    let intact = fluid("tcp", &text(""), 1);
    let used = |outcome: &Outcome| -> Vec<(String, u64)> {
        let up = outcome
            .ports
            .iter()
            .filter(|port| port.owner == "leaf0" && port.peer.starts_with("spine") && port.bytes > 0);
        up.map(|port| (format!("{}->{}", port.owner, port.peer), port.bytes)).collect()
    };
    let [(way, bytes)] = &used(&intact)[..] else { panic!("one way: {:?}", used(&intact)) };
    for (convergence, stands) in [("0us", Span::ZERO), ("1ms", Span::from_ms(1))] {
        let outcome = fluid("tcp", &text(&failure(way, "2ms", ", for = \"3ms\"", convergence)), 1);
        let added = fct(&outcome)[0] - fct(&intact)[0];
        assert!(added.max(stands) - added.min(stands) < Span::from_us(2), "{added} and not {stands}");
        let both = used(&outcome);
        assert_eq!(both.len(), 2, "{both:?}");
        let sum = both.iter().map(|(_, bytes)| bytes).sum::<u64>();
        assert!(sum.abs_diff(*bytes) <= 2, "{both:?} together, and {bytes}");
    }
    // One that sets out, or starts, while its way is down enters by the other as soon as that is known, and goes on
    // through what fails and is mended later.
    let failures = format!(
        "[failures]\nconvergence = \"1ms\"\nlist = [{{ link = \"{way}\", at = \"2ms\", for = \"4ms\" }}, \
         {{ link = \"{way}\", at = \"8ms\", for = \"1ms\" }}]\n"
    );
    for (scheme, start_ns) in [("tcp", 2_500_000), ("rcp", 1_999_000), ("rcp", 2_999_000)] {
        let text = |failures: &str| format!("{network}{failures}{}", listed(&[(0, 2, 10_000_000, start_ns)]));
        let (intact, outcome) = (fluid(scheme, &text(""), 1), fluid(scheme, &text(&failures), 1));
        let added = (fct(&outcome)[0] - fct(&intact)[0]).as_secs_f64();
        let known = 3e-3 - (start_ns as f64 * 1e-9).max(2e-3);
        // The second failure comes while it is back on its own way, and that takes a millisecond too.
        assert!((added - known - 1e-3).abs() < 1e-4, "{scheme} {start_ns}: {added} s");
        assert_eq!(outcome.totals.received, 1);
        assert!(used(&outcome).len() >= 2, "{scheme} {start_ns}: {:?}", used(&outcome));
    }
    // A controller that gives ways does not know of it.
    let message = refused("hyline", &text(&failure(way, "2ms", "", "0us"))).unwrap();
    assert!(message.contains("links do not fail where a controller gives ways"), "{message}");
}

/// A flow that is still under way when the time to drain is over is censored.
#[test]
fn what_is_not_done_in_time_is_censored() {
    let text = format!("run.drain = \"100us\"\n{}{}", star(3), listed(&[(0, 1, 1_000_000, 0), (2, 1, 1_000, 0)]));
    let outcome = fluid("tcp", &text, 1);
    assert_eq!((outcome.end, outcome.totals.received, outcome.totals.open), (EndReason::CutOff, 1, 0));
    assert_eq!(rows(&outcome)[0].fct(), None);
}
