//! HyLine: small flows at once, large ones when its manager lets them, on the ways that it chooses.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{P9, listed, port, rows, run, scenario, tree};
use tailcut_base::{HostId, Instant, Span};
use tailcut_record::{FlowRow, Recorder};
use tailcut_sim::{Config, Outcome, Scenario, World};

/// 16 hosts, two on each edge switch, 1 Gb/s and 25 us; 373.92 us from a packet between pods until its ACK.
const FAT_TREE: &str = "[topology.fat-tree]\nk = 4\nhost_link = { rate = \"1Gbps\", delay = \"25us\" }\n";

/// A window that fills the way between pods: 32 packets do.
const WIDE: &str = "host.transport.hyline.second_window = 40\nhost.transport.hyline.second_max_window = 40\n";

const COST: Span = Span::from_us(100);

fn ideal(scenario: &Scenario, src: u32, dst: u32, size: u64) -> Span {
    scenario.network().route(HostId(src), HostId(dst)).ideal_fct(size)
}

fn waited(row: &FlowRow) -> (Span, Span, u32) {
    let report = row.permission.as_ref().expect("a flow of the second class that has ended");
    (report.waited, report.stopped, report.preemptions)
}

fn at(ns: u64) -> Instant {
    Instant::from_ps(1000 * ns)
}

#[test]
fn a_flow_of_1_mb_goes_at_once_and_a_larger_one_asks() {
    let flows = [(0, 15, 1_000_000, 0), (2, 13, 1_000_001, 20_000_000)];
    let text = format!("{WIDE}{FAT_TREE}{}", listed(&flows));
    let outcome = run("hyline", &text, 1);
    let rows = rows(&outcome);
    // 25 packets take 300 us, and the first ACK is there 73.92 us later; from then on the link is never idle.
    assert_eq!(rows[0].fct(), Some(rows[0].ideal + Span::from_ps(73_920_000)));
    assert_eq!(rows[0].permission, None);
    assert_eq!(rows[1].fct(), Some(COST + rows[1].ideal));
    assert_eq!(waited(&rows[1]), (COST, Span::ZERO, 0));
    let counts = outcome.controller.expect("there is a manager");
    assert_eq!((counts.requests, counts.messages, counts.permissions), (1, 2, 1));
    assert_eq!((counts.refusals, counts.preemptions), (0, 0));
    // The host's link, 2 and 4 links up, 4 and 4 links down, and the last one for each of the four ways.
    assert_eq!((counts.ways, counts.links), (4, 1 + 2 + 4 + 4 + 4 + 4));
}

/// The cost is what the document says, however it is divided between messages and computation.
#[test]
fn the_cost_has_the_messages_in_it() {
    let flow = listed(&[(0, 15, 2_000_000, 5_000)]);
    for delay in ["1ns", "1us", "17us", "50us"] {
        let text = format!("controller.hyline.delay = \"{delay}\"\n{WIDE}{FAT_TREE}{flow}");
        let row = &rows(&run("hyline", &text, 1))[0];
        assert_eq!(row.fct(), Some(COST + row.ideal), "{delay}");
    }
}

/// A smaller flow of the same host: the larger one stops, and goes on with what was left when it is over.
#[test]
fn a_large_flow_stops_for_a_smaller_one() {
    let flows = [(0, 15, 10_000_000, 0), (0, 12, 4_000_000, 10_000_000)];
    let text = format!("{WIDE}{FAT_TREE}{}", listed(&flows));
    let scenario = scenario("hyline", &text, 1);
    let outcome = run("hyline", &text, 1);
    let [large, small] = <[FlowRow; 2]>::try_from(rows(&outcome)).unwrap();
    // The large one has sent a packet each 12 us since 100 us; at 10.1 ms the 834th is on the wire, until 10.108 ms.
    assert_eq!(small.received, Some(at(10_108_000) + small.ideal));
    assert_eq!(waited(&small), (COST, Span::ZERO, 0));
    // The end is told when the last byte is acknowledged, which takes six links, and the word to the large one comes
    // two messages later.
    let acknowledged = at(10_108_000) + small.ideal + Span::from_ns(151_920);
    assert_eq!(small.acknowledged, Some(acknowledged));
    let again = acknowledged + Span::from_us(2);
    assert_eq!(waited(&large), (COST, again.saturating_since(at(10_100_000)), 1));
    assert_eq!(large.received, Some(again + ideal(&scenario, 0, 15, 10_000_000 - 834 * 1460)));
    // Nothing was sent twice, and nothing while it was stopped.
    assert_eq!((large.packets, large.retransmissions, large.timeouts), (6_850, 0, 0));
    let counts = outcome.controller.unwrap();
    assert_eq!((counts.requests, counts.messages), (2, 4));
    assert_eq!((counts.permissions, counts.preemptions, counts.refusals), (3, 1, 0));
}

/// One flow of the second class for each link of a host; the other one waits for its end.
#[test]
fn two_flows_of_a_host_go_one_after_the_other() {
    // Half of what is left of the first is not more than the second.
    let flows = [(0, 15, 3_000_000, 0), (0, 12, 3_000_000, 1_000_000), (1, 15, 3_000_000, 2_000_000)];
    let text = format!("{WIDE}{FAT_TREE}{}", listed(&flows));
    let outcome = run("hyline", &text, 1);
    let rows = rows(&outcome);
    assert_eq!(rows[0].fct(), Some(COST + rows[0].ideal));
    let again = rows[0].acknowledged.unwrap() + Span::from_us(2);
    // Their ways share nothing, and both go when the first is over.
    for row in &rows[1..] {
        assert_eq!(row.received, Some(again + row.ideal));
        assert_eq!(waited(row), (again.saturating_since(row.start), Span::ZERO, 0));
    }
    let counts = outcome.controller.unwrap();
    assert_eq!((counts.refusals, counts.permissions, counts.preemptions), (2, 3, 0));
}

/// Stopped for seconds, with packets that were lost under way: no timeout, and no reaction.
#[test]
fn a_stop_of_three_seconds_is_no_loss() {
    // The small flow is cut off from its receiver for three seconds while the large one is stopped.
    let flows = [(0, 15, 20_000_000, 0), (0, 12, 4_000_000, 10_000_000)];
    let failure =
        "[failures]\nconvergence = \"10s\"\nlist = [{ link = \"host12--edge6\", at = \"20ms\", for = \"3s\" }]\n";
    let text = format!("{WIDE}{FAT_TREE}{failure}{}", listed(&flows));
    let rows = rows(&run("hyline", &text, 1));
    let (_, stopped, preemptions) = waited(&rows[0]);
    assert!(stopped > Span::from_ms(3_000) && preemptions == 1, "{stopped}");
    assert_eq!((rows[0].packets, rows[0].retransmissions, rows[0].timeouts), (13_699, 0, 0));
    // Only the flow that may send has timeouts, after a second at the least.
    assert!((1..=3).contains(&rows[1].timeouts), "{}", rows[1].timeouts);
}

/// Packets on which switches of a path act twice would come in the wrong order.
#[test]
fn flows_that_are_let_go_share_no_link_and_stay_on_their_ways() {
    // Every host sends to the one across, all at once: a permutation that fits if ways are well chosen.
    let flows: Vec<_> = (0..16).map(|src| (src, (src + 8) % 16, 2_000_000, 0)).collect();
    let text = format!("{WIDE}{FAT_TREE}{}", listed(&flows));
    for seed in 1..6 {
        let outcome = run("hyline", &text, seed);
        assert_eq!(outcome.totals.drops.total(), 0);
        for row in rows(&outcome) {
            assert_eq!((row.reordered, row.retransmissions), (0, 0));
            // Once it may go it has its links for itself, but for ACKs, of which each flow makes 40 B for 1500 B: two
            // flows on one link would take twice as long.
            let (waited, stopped, _) = waited(&row);
            let alone = Span::from_secs_f64(row.ideal.as_secs_f64() * 1.2);
            assert!(row.fct().unwrap() <= waited + stopped + alone, "{row:?}");
        }
    }
}

#[test]
fn ways_of_an_idle_network_are_chosen_at_random() {
    let cores: BTreeSet<u64> = (0..40)
        .map(|seed| {
            let outcome = run("hyline", &format!("{WIDE}{FAT_TREE}{}", listed(&[(0, 15, 2_000_000, 0)])), seed);
            let carried = |core: u64| {
                let pod = [3 * 2, 3 * 2 + 1].map(|aggregation| format!("aggregation{aggregation}"));
                port(&outcome, &format!("core{core}"), &pod[core as usize / 2]).packets > 1_000
            };
            let taken: Vec<u64> = (0..4).filter(|&core| carried(core)).collect();
            assert_eq!(taken.len(), 1, "one way for all packets");
            taken[0]
        })
        .collect();
    assert_eq!(cores.len(), 4);
}

#[test]
fn the_manager_decides_on_one_message_at_a_time() {
    // Three hosts ask at the same moment, and each decision takes 30 us.
    let flows: Vec<_> = (0..3).map(|nth| (2 * nth, 2 * nth + 8, 2_000_000, 0)).collect();
    let text = format!("controller.hyline.service = \"30us\"\n{WIDE}{FAT_TREE}{}", listed(&flows));
    let waits: Vec<Span> = rows(&run("hyline", &text, 1)).iter().map(|row| waited(row).0).collect();
    assert_eq!(waits, [130, 160, 190].map(Span::from_us));
    // It decides from 99 us on, and hosts hear a decision 1 us after it. What it decides on when it fails, however
    // shortly, it decides on again; what comes due meanwhile begins when it is back.
    for (at, lasts, heard) in
        [(90, 20, [141, 171, 201]), (110, 30, [171, 201, 231]), (140, 5, [130, 176, 206]), (250, 30, [130, 160, 190])]
    {
        let fails = format!("controller.hyline.fails = {{ at = \"{at}us\", for = \"{lasts}us\" }}\n");
        let waits: Vec<Span> = rows(&run("hyline", &(fails + &text), 1)).iter().map(|row| waited(row).0).collect();
        assert_eq!(waits, heard.map(Span::from_us), "a failure at {at} us for {lasts} us");
    }
}

#[test]
fn messages_wait_for_a_manager_that_has_failed() {
    // It fails for 30 ms: the second flow hears when it is back, in the order in which they asked, and the end of the
    // first one, which goes on, counts then too.
    let flows = [(0, 15, 2_000_000, 0), (2, 13, 2_000_000, 6_000_000), (0, 12, 2_000_000, 7_000_000)];
    let fails = "controller.hyline.fails = { at = \"5ms\", for = \"30ms\" }\n";
    let outcome = run("hyline", &format!("{fails}{WIDE}{FAT_TREE}{}", listed(&flows)), 1);
    let rows = rows(&outcome);
    assert_eq!(rows[0].fct(), Some(COST + rows[0].ideal));
    for row in &rows[1..] {
        // Back at 35 ms, and a message later it is heard.
        assert_eq!(row.start + waited(row).0, at(35_001_000));
    }
    let quick = run("hyline", &format!("{WIDE}{FAT_TREE}{}", listed(&flows)), 1);
    assert!(quick.ended_at < outcome.ended_at);
}

/// "Finished (or close to being finished)": the next flow goes a round trip earlier.
#[test]
fn the_end_may_be_told_with_the_last_byte() {
    let flows = listed(&[(0, 15, 3_000_000, 0), (0, 12, 3_000_000, 1_000_000)]);
    let start = |end: &str| {
        let rows = rows(&run("hyline", &format!("host.transport.hyline.end = \"{end}\"\n{WIDE}{FAT_TREE}{flows}"), 1));
        assert!(rows.iter().all(|row| row.retransmissions == 0 && waited(row).2 == 0));
        rows[1].start + waited(&rows[1]).0
    };
    // The last packet is short: 3,000,000 B are 2054 whole ones and one of 1160 B, 1200 B on the wire.
    let early = start("acknowledged").saturating_since(start("sent"));
    // It takes 9.6 us on its first link and waits on each of the others for the packet before it, of 12 us; the ACK
    // takes 0.32 us on each, and all 25 us.
    assert_eq!(early, Span::from_ns(9_600 + 5 * 12_000 + 6 * 320 + 12 * 25_000));
}

#[test]
fn it_is_the_same_for_any_number_of_threads() {
    let flows: Vec<_> = (0..60u32)
        .map(|nth| {
            let (src, dst) = (nth * 7 % 16, (nth * 5 + 3) % 16);
            let dst = if src == dst { (dst + 1) % 16 } else { dst };
            (src, dst, 2_000_000 - u64::from(nth) * 30_000, u64::from(nth) * 400_000)
        })
        .collect();
    for (end, rules) in [
        ("acknowledged", ""),
        ("acknowledged", "compare = \"conjunction\"\nservice = \"3us\"\n"),
        ("sent", "remaining = \"told\"\nequal = \"preempt\"\n"),
    ] {
        let text = format!(
            "host.transport.hyline.threshold = \"100KB\"\nhost.transport.hyline.end = \"{end}\"\n{FAT_TREE}[controller.hyline]\n{rules}{}",
            listed(&flows)
        );
        let one = run("hyline", &text, 3);
        let counts = one.controller.unwrap();
        assert!(counts.preemptions > 1 && counts.refusals > 3, "{counts:?}");
        for threads in 2..=4 {
            let other = World::new(&scenario("hyline", &text, 3), Recorder::new()).with_threads(threads).run();
            let facts = |outcome: &Outcome| (outcome.engine.digest, rows(outcome), outcome.controller);
            assert_eq!(facts(&other), facts(&one), "{threads} threads, {rules}");
        }
    }
}

/// It works wherever the network knows equal ways; where there is one way, on that.
#[test]
fn other_networks_do_as_well() {
    let leaf_spine = "[topology.leaf-spine]\nleaves = 3\nhosts_per_leaf = 4\nspines = 2\n\
                      host_link = { rate = \"1Gbps\", delay = \"5us\" }\ncore_link = { rate = \"2Gbps\", delay = \"5us\" }\n";
    let jellyfish = "[topology.jellyfish]\nswitches = 10\nhosts = 12\nnetwork_ports = 4\n\
                     host_link = { rate = \"1Gbps\", delay = \"5us\" }\ncore_link = { rate = \"1Gbps\", delay = \"5us\" }\n";
    let flows: Vec<_> = (0..4).map(|src| (src, src + 4, 2_000_000, 0)).collect();
    let rows_on = |network: &str| rows(&run("hyline", &format!("{network}{}", listed(&flows)), 1));
    for row in rows_on(leaf_spine) {
        // Two flows fit on each link between switches: all four go at once, and wait for a packet of the other one at
        // the most.
        let late = row.fct().unwrap().as_ps() - (COST + row.ideal).as_ps();
        assert!(late <= 6_000_000 && waited(&row) == (COST, Span::ZERO, 0), "{late} ps");
    }
    assert!(rows_on(jellyfish).iter().all(|row| row.received.is_some() && row.reordered == 0));
    let slow = P9.replacen(
        "10Gbps\", delay = \"13.333us\" }\ncore_link = { rate = \"10Gbps",
        "10Gbps\", delay = \"13.333us\" }\ncore_link = { rate = \"4Gbps",
        1,
    );
    let outcome = run("hyline", &format!("{slow}{}", listed(&[(0, 2, 2_000_000, 0), (1, 3, 3_000_000, 0)])), 1);
    let rows = rows(&outcome);
    // A slow link carries one of them at a time.
    assert!(waited(&rows[1]).0 > rows[0].fct().unwrap());
}

#[test]
fn what_does_not_go_together_is_refused_with_the_reason() {
    let flow = listed(&[(0, 3, 2_000_000, 0)]);
    let square = "[topology.bcube]\nn = 2\nk = 1\nhost_link = { rate = \"1Gbps\", delay = \"1us\" }\n";
    for (preset, text, network, path, says) in [
        ("tcp", "controller = \"hyline\"", FAT_TREE, "controller", "needs hosts that speak hyline"),
        ("tcp", "host.transport = \"hyline\"", FAT_TREE, "host.transport", "needs a controller that speaks hyline"),
        ("hyline", "path = \"spray\"", FAT_TREE, "host.transport", "the ways that they were given"),
        ("hyline", "path = \"source\"", FAT_TREE, "host.transport", "`path = \"assigned\"`"),
        ("hyline", "host.tag = \"pias\"", FAT_TREE, "host.tag", "a transport whose packets a tag gives"),
        ("hyline", "port.classes = 1", FAT_TREE, "port.buffer.divided", "one class"),
        ("hyline", "", square, "controller.hyline", "one link"),
        ("hyline", "controller.hyline.delay = \"0us\"", FAT_TREE, "controller.hyline.delay", "1us"),
        ("hyline", "controller.hyline.cost = \"1us\"", FAT_TREE, "controller.hyline.cost", "at least 2us"),
        ("hyline", "controller.hyline.rounds = 0", FAT_TREE, "controller.hyline.rounds", "never go again"),
        (
            "hyline",
            "controller.hyline.fails = { at = \"1us\", for = \"0us\" }",
            FAT_TREE,
            "controller.hyline.fails.for",
            "no time",
        ),
        ("hyline", "host.transport.hyline.second_window = 0", FAT_TREE, "host.transport.hyline.second_window", "zero"),
    ] {
        let text = format!("{text}\n{network}{flow}");
        let config = Config::from_tree(&tree(preset, &text)).unwrap();
        let invalid = Scenario::from_config(config, 1, Path::new(".")).unwrap_err();
        let told = format!("{invalid}, {:?}", invalid.help);
        assert!(invalid.path == path && told.contains(says), "{text}: {}: {told}", invalid.path);
    }
    // Where nobody gives ways to flows, that is said.
    let text = format!("path = \"assigned\"\n{FAT_TREE}{flow}");
    let warnings = Scenario::new(&tree("tcp", &text), 1, Path::new(".")).unwrap().warnings();
    assert!(warnings.iter().any(|warning| warning.contains("it is flow ECMP")), "{warnings:?}");
}

#[test]
fn what_makes_nothing_of_hyline_is_refused_or_said() {
    let of = |text: &str| {
        let text = format!("{text}{FAT_TREE}{}", listed(&[(0, 15, 1_000, 0)]));
        Scenario::new(&tree("hyline", &text), 1, Path::new("."))
    };
    let key = "host.transport.hyline.second_min_rto";
    let shown = of(&format!("{key} = \"1ns\"\n")).expect_err(key).render(false);
    assert!(shown.contains(key) && shown.contains("better the round-trip time"), "{shown}");
    let all_ask = of("host.transport.hyline.threshold = \"0B\"\n").unwrap_or_else(|p| panic!("{}", p.render(false)));
    assert!(all_ask.warnings().iter().any(|warning| warning.contains("all flows ask")), "{:?}", all_ask.warnings());
    let fails = |at: &str| {
        let text = format!("run.drain = \"1s\"\ncontroller.hyline.fails = {{ at = \"{at}\", for = \"10ms\" }}\n");
        of(&text).unwrap_or_else(|p| panic!("{}", p.render(false))).warnings().join("\n")
    };
    assert!(fails("2s").contains("the manager fails at 2s") && !fails("10ms").contains("the manager fails"));
}
