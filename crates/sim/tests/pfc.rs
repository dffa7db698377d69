//! Priority flow control: nothing is dropped with the room that is computed, classes without it are never stopped,
//! pauses go from hop to hop in time, and pauses that wait for each other are named.

use std::path::Path;

use crate::common::{SMALL, bottleneck, listed, port, rows, run, run_on_threads, scenario, slytherin_mix, star};
use crate::stall::stalled;
use proptest::prelude::*;
use tailcut_base::{Instant, Span};
use tailcut_record::{PauseCounts, Recorder};
use tailcut_sim::trace::{Happened, Lens};
use tailcut_sim::{EndReason, Outcome, Scenario, Tree, World};

/// The payload of a full packet.
const MSS: u64 = 1460;

fn drops(outcome: &Outcome) -> u64 {
    outcome.ports.iter().map(|port| port.drops.total()).sum()
}

fn pauses(outcome: &Outcome, owner: &str, peer: &str) -> PauseCounts {
    port(outcome, owner, peer).pauses.expect("the run has PFC")
}

/// One sender whose link is four times as fast as that of the receiver, a flow of so many packets without a pause
/// between them, and PFC of the output queue.
fn four_to_one(packets: u64, pfc: &str) -> String {
    let network = bottleneck(1, "40Gbps", "1us")
        .replace("\nhost_link", "\nreceiver_link = { rate = \"10Gbps\", delay = \"1us\" }\nhost_link");
    format!(
        "host.transport.tcp.initial_window = 2000\n[port.pfc]\n{pfc}\n{network}{}",
        listed(&[(0, 1, packets * MSS, 0)])
    )
}

#[test]
fn a_queue_that_crosses_both_thresholds_sends_one_pause_and_one_resume() {
    // Packets come each 300 ns and go each 1200 ns: after the k-th arrival k - (1 + (k - 1) / 4) wait. That is 215
    // packets, which is not above X_off, for k = 287, and 216 for k = 288.
    let below = run("tcp", &four_to_one(287, "counts = \"queue\""), 1);
    assert_eq!(pauses(&below, "switch0", "host0"), PauseCounts::default());
    let above = run("tcp", &four_to_one(288, "counts = \"queue\""), 1);
    let asked = pauses(&above, "switch0", "host0");
    assert_eq!((asked.frames, asked.held), (2, 0));
    // The pause leaves with the 288th arrival, 287 x 300 ns after the first packet begins to leave; the resume when 84
    // have begun to leave, 83 x 1200 ns after that: 204 are below X_on. Nothing is in the way of either.
    let stopped = pauses(&above, "host0", "switch0");
    assert_eq!((stopped.frames, stopped.paused), (0, Span::from_ns(83 * 1200 - 287 * 300)));
    // The standard counts what came by the link: with one link it is the same queue.
    let ingress = run("tcp", &four_to_one(288, "counts = \"ingress\""), 1);
    assert_eq!(ingress.engine.digest, above.engine.digest);
    assert_eq!(pauses(&ingress, "host0", "switch0"), stopped);
}

/// While nothing is paused, ports send as they do without PFC, and need no more events for it.
#[test]
fn thresholds_that_are_never_reached_change_nothing() {
    for scheme in ["tcp", "dctcp", "pias", "homa", "swift", "srpt", "ia-icon", "ictcp", "l2dct", "las", "resqueue"] {
        for delay in ["", "host.delay.random = { send = \"1us\", receive = \"2us\" }\n"] {
            let text = format!(
                "{delay}[port]\nlimit = \"50MB\"\nbuffer = \"tail-drop\"\n{SMALL}{}",
                slytherin_mix(0.8, "3ms")
            );
            let without = run(scheme, &text, 1);
            assert_eq!(drops(&without), 0, "{scheme}");
            let with = run(scheme, &text.replace("[port]\n", "[port]\npfc.xoff = \"10GB\"\n"), 1);
            assert!(with.ports.iter().all(|port| port.pauses == Some(PauseCounts::default())), "{scheme}");
            assert_eq!(with.engine.digest, without.engine.digest, "{scheme} {delay}");
            assert_eq!(with.engine.events, without.engine.events, "{scheme} {delay}");
            assert!(rows(&with) == rows(&without), "{scheme}");
        }
    }
}

/// While nothing is paused, each packet is seen at the same times as without PFC, with as many bytes waiting where
/// it comes.
#[test]
fn a_lens_sees_the_same_where_nothing_is_paused() {
    let seen = |port: &str| {
        let on = "[record]\nattribution = true\n";
        let text = format!("{on}[port]\nlimit = \"50MB\"\n{port}{SMALL}{}", slytherin_mix(0.8, "1ms"));
        let scenario = scenario("dctcp", &text, 1);
        let ports = scenario.network().ports().ids().map(|port| (port, vec![(Instant::ZERO, Instant::MAX)])).collect();
        let lens = Lens { ports, ..Lens::default() };
        let mut outcome = World::new(&scenario, Recorder::new()).with_lens(lens).run();
        let mut packets = outcome.trace.take().expect("there is a lens").packets;
        packets.sort_by_key(|seen| (seen.at, seen.port, seen.packet.flow, seen.packet.kind.number(), seen.packet.seq));
        packets
            .into_iter()
            .map(|seen| {
                let of = (seen.packet.flow, seen.packet.kind.number(), seen.packet.seq, seen.packet.size);
                (seen.at, seen.port, of, seen.what)
            })
            .collect::<Vec<_>>()
    };
    let without = seen("");
    assert!(without.iter().any(|(.., what)| matches!(what, Happened::Queued { bytes: 1.. })), "some packets wait");
    assert!(without.iter().any(|(.., what)| matches!(what, Happened::Queued { bytes: 0 })), "some find idle ports");
    assert!(seen("pfc.xoff = \"10GB\"\n") == without);
}

/// The sender stops within two delays and the packet that it sends: room for what it sends until then is enough, and a
/// packet less is not.
#[test]
fn a_pause_takes_a_delay_and_the_packet_that_is_being_sent() {
    // More than 19 packets wait when the 27th comes, 7800 ns after the first: 27 - (1 + 26 / 4) = 20. The frame takes
    // 12.8 ns at 40 Gb/s and 1 us. The k-th packet is begun 1300 ns before it comes at (k - 1) x 300 ns: 34 of them
    // before 8812.8 ns. When the last of these comes, 1 + 33 / 4 = 9 have begun to leave: 25 wait, 6 above X_off.
    let flow = |packets: u64, headroom: u64| {
        let pfc = format!("counts = \"queue\"\nxoff = \"19pkt\"\nheadroom = \"{headroom}B\"");
        // No answer comes back before the frame: nothing but that looks at the sender.
        four_to_one(packets, &pfc).replace("rate = \"10Gbps\", delay = \"1us\"", "rate = \"10Gbps\", delay = \"100us\"")
    };
    let enough = run("tcp", &flow(400, 6 * 1500), 1);
    assert_eq!(drops(&enough), 0);
    let short = run("tcp", &flow(34, 5 * 1500), 1);
    assert!(drops(&short) > 0);
    // It is warned of what may be too little.
    let warnings = scenario("tcp", &flow(34, 5 * 1500), 1).warnings();
    assert!(
        warnings.iter().any(|warning| warning.starts_with("the headroom of ") && warning.contains(" is 7500B")),
        "{warnings:?}"
    );
    // Where the packet that exceeds X_off is dropped, X_off is never exceeded.
    let none = flow(400, 1499);
    let warnings = scenario("tcp", &none, 1).warnings();
    assert!(warnings.iter().any(|warning| warning.ends_with("no pause begins")), "{warnings:?}");
    let outcome = run("tcp", &none, 1);
    let frames: u64 = outcome.ports.iter().filter_map(|port| port.pauses).map(|pauses| pauses.frames).sum();
    assert!(drops(&outcome) > 0 && frames == 0, "{frames} frames");
}

/// A NIC that hears of a pause while it sends goes on with what is not paused as soon as it is free.
#[test]
fn what_is_not_paused_goes_on_although_nothing_else_happens_at_its_host() {
    // Nothing comes back from either receiver before both flows have been sent.
    let links = "[link.\"switch0--host1\"]\nrate = \"10Gbps\"\ndelay = \"100us\"\n[link.\"switch0--host2\"]\ndelay = \"100us\"\n";
    let seen = |xoff: &str| {
        let text = format!(
            "{MEETING}pfc = {{ classes = [1], counts = \"queue\", xoff = \"{xoff}\" }}\n{}{links}{}",
            star(3).replace("10Gbps", "40Gbps"),
            listed(&[(0, 1, 400 * MSS, 0), (0, 2, 13 * MSS, 8_000)])
        );
        let outcome = run("pias", &text, 1);
        assert_eq!(drops(&outcome), 0);
        let short = rows(&outcome).into_iter().find(|row| row.size == 13 * MSS).and_then(|row| row.fct());
        (short.expect("it is finished"), pauses(&outcome, "host0", "switch0").paused)
    };
    let (without, never) = seen("10GB");
    let (with, paused) = seen("19pkt");
    assert!(never == Span::ZERO && paused > Span::from_us(20), "{paused}");
    // It has the link to itself, and does not take turns.
    assert!(with < without, "{with} and {without}");
}

/// An incast that drops packets without PFC drops none with it, and stops the hosts hop by hop.
#[test]
fn an_incast_loses_nothing_and_stops_its_senders_over_two_hops() {
    let flows: Vec<(u32, u32, u64, u64)> = (4..16).map(|src| (src, 0, 300_000, 0)).collect();
    let text = |pfc: &str| {
        format!("[record]\nqueue_histogram = true\n[port]\nlimit = \"60KB\"\n{pfc}{SMALL}{}", listed(&flows))
    };
    let lossy = run("tcp", &text(""), 1);
    assert!(drops(&lossy) > 100 && lossy.ports.iter().all(|port| port.pauses.is_none()));
    for counts in ["ingress", "queue"] {
        let pfc = format!("pfc = {{ counts = \"{counts}\", xoff = \"20pkt\" }}\n");
        let outcome = run_on_threads(&scenario("tcp", &text(&pfc), 1), counts);
        assert_eq!((drops(&outcome), rows(&outcome).iter().map(|row| row.timeouts).sum::<u64>()), (0, 0), "{counts}");
        // The leaf of the receiver stops a spine, that stops a leaf, and that a host.
        let of = |tier: &str, peer: &str| {
            let ports = outcome.ports.iter().filter(|port| port.tier == tier && port.peer.starts_with(peer));
            ports.filter_map(|port| port.pauses).fold((0, 0, Span::ZERO), |sum, pauses| {
                (sum.0 + pauses.frames, sum.1 + pauses.held, sum.2 + pauses.paused)
            })
        };
        for (tier, peer) in [("spine", "leaf"), ("leaf", "spine"), ("host", "leaf")] {
            assert!(of(tier, peer).2 > Span::from_us(10), "{counts}: {tier} to {peer}");
        }
        assert!(of("leaf", "spine").0 > 0 && of("leaf", "host").0 > 0 && of("spine", "leaf").1 > 100, "{counts}");
        // Hosts stop nobody.
        assert_eq!(of("host", "leaf").0, 0);
    }
}

/// Long flows in class 1 that meet at a port, and short ones in class 0 from one of their hosts to another one.
const MEETING: &str = r#"
[host.transport.tcp]
initial_window = 2000
[host.tag.pias]
thresholds = ["20KB"]
[port]
classes = 2
classifier = "tag"
marker = "off"
limit = "10MB"
"#;

fn meeting(pfc: &str, with_long: bool) -> String {
    let long = [(4, 0, 3_000_000, 0), (8, 0, 3_000_000, 0), (12, 0, 3_000_000, 0)];
    let short: Vec<_> = (0..20).map(|nth| (4, 13, 10_000, 1_000_000 + 153_000 * nth)).collect();
    let flows = if with_long { [&long[..], &short].concat() } else { short };
    format!("{MEETING}{pfc}{SMALL}{}", listed(&flows))
}

#[test]
fn a_class_without_pauses_passes_those_that_are_paused() {
    let fct = |text: &str| {
        let outcome = run_on_threads(&scenario("pias", text, 1), "meeting");
        let short = rows(&outcome).into_iter().filter(|row| row.size == 10_000).filter_map(|row| row.fct()).max();
        assert_eq!(drops(&outcome), 0);
        // What is held in a NIC goes before what its host has of the same class.
        assert!(rows(&outcome).iter().all(|row| row.reordered == 0));
        (
            short.expect("it is finished"),
            outcome.ports.iter().filter_map(|port| port.pauses).map(|port| port.held).sum::<u64>(),
        )
    };
    let pfc = |classes: &str| {
        format!("pfc = {{ classes = {classes}, counts = \"queue\", xoff = \"200pkt\", xon = \"1pkt\" }}\n")
    };
    let (alone, _) = fct(&meeting("", false));
    let (second, held) = fct(&meeting(&pfc("[1]"), true));
    // Its 7 packets take turns with those of the long flow, and these with what waits in the NIC of its class: one of
    // four is of the short flow. The last one waits for the packet that is being sent at each hop behind.
    assert!(held > 100 && second <= alone + Span::from_ns((7 * 3 + 3) * 1200), "{second} and {alone}");
    // In the paused class itself it is a victim: nothing else goes where it goes.
    let one_class = meeting(&pfc("[0]"), true)
        .replace("[host.tag.pias]\nthresholds = [\"20KB\"]", "")
        .replace("classes = 2\nclassifier = \"tag\"", "classes = 1");
    let outcome = run("dctcp", &one_class, 1);
    let victim = rows(&outcome).into_iter().filter(|row| row.size == 10_000).filter_map(|row| row.fct()).max().unwrap();
    assert!(victim > alone + Span::from_us(50), "{victim} and {alone}");
}

/// An ideal PFC sends a packet for another queue where a real one has stopped the link.
#[test]
fn an_ideal_pfc_has_no_victims_and_is_not_cut() {
    // Two hosts fill the queue of a slow host, and one of them also sends single packets to a fast one.
    let short = (0..20).map(|nth| (0, 3, 1000, 1_000_000 + 53_000 * nth));
    let flows: Vec<_> = [(0, 2, 2_000_000, 0), (1, 2, 2_000_000, 0)].into_iter().chain(short).collect();
    let text = |ideal: bool| {
        format!(
            "[port.pfc]\ncounts = \"queue\"\nxoff = \"20pkt\"\nideal = {ideal}\n{}\
             [link.\"switch0--host2\"]\nrate = \"1Gbps\"\n{}",
            star(4),
            listed(&flows)
        )
    };
    let slowest = |outcome: &Outcome| {
        let short = rows(outcome).into_iter().filter(|row| row.size == 1000);
        short.map(|row| row.fct().expect("it is finished")).max().expect("there are 20")
    };
    let scenario = scenario("tcp", &text(true), 1);
    let world = World::new(&scenario, Recorder::new()).with_threads(3);
    assert_eq!(world.threads(), 1);
    let ideal = world.run();
    assert_eq!((ideal.end, drops(&ideal)), (EndReason::Finished, 0));
    assert!(rows(&ideal).iter().all(|row| row.reordered == 0));
    assert!(ideal.ports.iter().all(|port| port.pauses.unwrap().frames == 0));
    let real = run("tcp", &text(false), 1);
    // Ten packets leave the slow queue in 120 us, in which the link is stopped, and come in 6 us if two hosts send.
    assert!(slowest(&ideal) < Span::from_us(12), "{}", slowest(&ideal));
    assert!(slowest(&real) > Span::from_us(60), "{}", slowest(&real));
}

/// It knows the next queue of a packet whose way a controller has assigned, too.
#[test]
fn an_ideal_pfc_looks_into_the_queues_of_assigned_ways() {
    let fat_tree = "[topology.fat-tree]\nk = 4\nhost_link = { rate = \"1Gbps\", delay = \"25us\" }\n";
    // Large flows, which HyLine gives ways to, and small ones, between pods.
    let flow = |nth: u32| (nth % 16, (nth + 5) % 16, if nth.is_multiple_of(2) { 3_000_000 } else { 20_000 }, 0);
    // All send small flows to one host at once, which fills queues.
    let flows: Vec<_> = (0..40).map(flow).chain((0..15).map(|host| (host, 15, 90_000, 0))).collect();
    let run_with = |ideal: bool| {
        let pauses = format!("[port.pfc]\ncounts = \"queue\"\nxoff = \"20pkt\"\nideal = {ideal}\n");
        run("hyline", &format!("{pauses}{fat_tree}{}", listed(&flows)), 1)
    };
    let (ideal, real) = (run_with(true), run_with(false));
    for outcome in [&ideal, &real] {
        assert_eq!((outcome.end, drops(outcome)), (EndReason::Finished, 0));
    }
    assert!(ideal.ports.iter().all(|port| port.pauses.is_none_or(|pauses| pauses.frames == 0)));
    assert!(real.ports.iter().any(|port| port.pauses.is_some_and(|pauses| pauses.frames > 0)), "some are paused");
}

/// Five switches in a ring with a host each, which sends to the host two switches on: all go round the same way.
fn ring(xoff: &str, extra: &str) -> String {
    let switches: Vec<String> = (0..5).map(|at| format!("\"s{at}\"")).collect();
    let links: Vec<String> = (0..5)
        .flat_map(|at| {
            let next = (at + 1) % 5;
            [format!("[\"host{at}\", \"s{at}\"]"), format!("[\"s{at}\", \"s{next}\"]")]
        })
        .map(|ends| format!("[[link]]\nends = {ends}\nrate = \"10Gbps\"\ndelay = \"1us\"\n"))
        .collect();
    let network =
        format!("hosts = 5\n[[tier]]\nname = \"ring\"\nswitches = [{}]\n{}", switches.join(", "), links.concat());
    let flows: Vec<(u32, u32, u64, u64)> = (0..5).map(|at| (at, (at + 2) % 5, 3_000_000, 0)).collect();
    format!(
        "host.transport.tcp.initial_window = 2000\n[port.pfc]\nxoff = \"{xoff}\"\n{extra}\n\
         [topology.file]\ntext = '''\n{network}'''\n{}",
        listed(&flows)
    )
}

#[test]
fn pauses_that_wait_for_each_other_are_named() {
    for extra in ["counts = \"ingress\"", "counts = \"queue\"", "counts = \"queue\"\nideal = true"] {
        let scenario = scenario("tcp", &ring("10pkt", extra), 1);
        let stall = stalled(&scenario);
        let said = stall.to_string();
        assert!(said.contains("s0->s1, s1->s2, s2->s3, s3->s4, s4->s0 are paused for class 0"), "{extra}: {said}");
        assert_eq!((stall.open, stall.flows.len()), (5, 5), "{extra}: {said}");
        assert!(stall.flows.iter().all(|flow| flow.queued.iter().any(|(_, _, paused)| *paused)), "{extra}: {said}");
    }
    // Where the queues hold all that is sent, nobody is paused.
    let outcome = run("tcp", &ring("40MB", ""), 1);
    assert_eq!((outcome.end, drops(&outcome)), (EndReason::Finished, 0));
}

#[test]
fn what_does_not_go_together_is_refused_with_the_reason() {
    let star = star(3) + &listed(&[(0, 2, 1000, 0)]);
    let four = "classes = 4\nclassifier = \"tag\"\n";
    let cases = [
        ("pfabric", "port.pfc = {}".to_owned(), "drop-worst", "it evicts what waits"),
        ("slytherin", "port.pfc = {}".to_owned(), "ce-or-ack", "the class of a packet changes on its way"),
        ("pias", format!("[port]\n{four}pfc = {{}}\nbuffer = \"push-out\""), "push-out", "it evicts what waits"),
        (
            "pias",
            format!("[port]\n{four}pfc = {{}}\nbuffer.divided.overflow = \"demote\""),
            "divided",
            "the wrong pause",
        ),
        ("pias", format!("[port]\n{four}pfc = {{}}\nbuffer.reserved = {{}}"), "reserved", "have room of their own"),
        ("rcp", "port.pfc = {}".to_owned(), "`switch.agent`", "agents of switches"),
        ("tcp", "port.pfc = {}\nnic.queue = {}".to_owned(), "`nic`", "a host keeps its packets"),
        ("tcp", "nic.queue.pfc = {}".to_owned(), "`nic.queue.pfc`", "`[port]` says"),
        (
            "tcp",
            "port.pfc = {}\nfailures.list = [{ link = \"switch0--host1\", at = \"1ms\" }]".to_owned(),
            "failures",
            "a link that fails",
        ),
        ("tcp", "[port.leaf.pfc]\n".to_owned(), "`port.pfc`", "do not agree"),
        ("tcp", "[port]\npfc = {}\n[port.leaf.pfc]\ncounts = \"queue\"".to_owned(), "pfc", "do not agree"),
        ("pias", format!("[port]\n{four}pfc = {{}}\n[port.leaf]\nclasses = 5"), "classes", "another pause stops it"),
        ("tcp", "port.pfc.ideal = true".to_owned(), "`port.pfc.ideal`", "looks into queues"),
        (
            "srpt",
            "port.pfc = { ideal = true, counts = \"queue\" }\nport.buffer = \"tail-drop\"".to_owned(),
            "srpt",
            "it skips no packet",
        ),
        (
            "tcp",
            "path = \"spray\"\nport.pfc = { ideal = true, counts = \"queue\" }".to_owned(),
            "`path`",
            "not known in advance",
        ),
    ];
    let mut wrong = Vec::new();
    for (scheme, text, place, reason) in cases {
        let tree = crate::common::tree(scheme, &format!("{text}\n{star}"));
        let problem = Scenario::new(&tree, 1, std::path::Path::new(".")).expect_err(&text).render(false);
        if !(problem.contains(place) && problem.contains(reason)) {
            wrong.push(format!("{text}: {problem}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let bcube = "[topology.bcube]\nn = 4\nk = 1\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n";
    let tree = crate::common::tree("tcp", &format!("port.pfc = {{}}\n{bcube}{}", listed(&[(0, 1, 1000, 0)])));
    let problem = Scenario::new(&tree, 1, std::path::Path::new(".")).expect_err("bcube").render(false);
    assert!(problem.contains("have several interfaces"), "{problem}");
    // What holds for nothing is said.
    let text = format!("port.limit = \"1MB\"\nport.pfc = {{}}\n{star}");
    let warnings = scenario("tcp", &text, 1).warnings();
    assert!(warnings.iter().any(|warning| warning.contains("holds for no class")), "{warnings:?}");
    let text = format!("port.pfc = {{}}\nswitch.memory.dt.size = \"1MB\"\n{star}");
    let warnings = scenario("tcp", &text, 1).warnings();
    assert!(warnings.iter().any(|warning| warning.contains("`switch.memory` holds for no class")), "{warnings:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// With the room that is computed nothing is dropped, whatever the thresholds, delays, rates and schemes; the run
    /// is the same on any number of threads, and ways up and down never deadlock. Ports that somebody looks at
    /// closely have an event for each packet that leaves them, and others only while something is paused there: nobody
    /// can tell.
    #[test]
    fn nothing_is_dropped_with_the_computed_headroom(
        xoff in 1u64..40,
        below in 0u64..40,
        counts in prop::sample::select(vec!["counts = \"ingress\"", "counts = \"queue\"", "counts = \"queue\"\nideal = true"]),
        scheme in prop::sample::select(vec!["tcp", "dctcp", "pias", "homa", "swift", "srpt"]),
        delays in (1u64..9000, 1u64..9000),
        rates in prop::sample::select(vec![("10Gbps", "10Gbps"), ("10Gbps", "40Gbps"), ("25Gbps", "10Gbps")]),
        fat_tree in any::<bool>(),
        path in prop::sample::select(vec!["flow-ecmp", "symmetric"]),
        seed in 1u64..1000,
    ) {
        let xon = xoff * 1500 - below.min(xoff - 1) * 1500;
        let link = |rate: &str, delay: u64| format!("{{ rate = \"{rate}\", delay = \"{delay}ns\" }}");
        let network = match fat_tree {
            true => format!("[topology.fat-tree]\nk = 4\nhost_link = {}\n", link(rates.0, delays.0)),
            false => SMALL
                .replacen("{ rate = \"10Gbps\", delay = \"2us\" }", &link(rates.0, delays.0), 1)
                .replacen("{ rate = \"10Gbps\", delay = \"2us\" }", &link(rates.1, delays.1), 1),
        };
        // All classes of a scheme that has several but the first, which has room enough in the port.
        let classes = if scheme == "pias" { "[1, 2, 3]" } else if scheme == "homa" { "[0, 1, 2, 3, 4, 5, 6, 7]" } else { "[0]" };
        prop_assume!(scheme != "srpt" || !counts.contains("ideal"));
        let buffer = if scheme == "srpt" { "buffer = \"tail-drop\"\n" } else { "" };
        let text = format!(
            "[port]\nlimit = \"50MB\"\n{buffer}[port.pfc]\nclasses = {classes}\nxoff = \"{xoff}pkt\"\nxon = \"{xon}B\"\n{counts}\n\
             {network}{}",
            slytherin_mix(0.8, "1ms")
        );
        let text = if counts.contains("ideal") { format!("path = \"{path}\"\n{text}") } else { text };
        let text = if fat_tree { text.replace("load_of = \"fabric\"\n", "") } else { text };
        let outcome = run_on_threads(&scenario(scheme, &text, seed), &text);
        prop_assert_eq!(drops(&outcome), 0);
        let watched = scenario(scheme, &format!("record.attribution = true\n{text}"), seed);
        let called = World::new(&watched, Recorder::new()).with_lens(Lens::default()).run();
        prop_assert_eq!(called.engine.digest, outcome.engine.digest);
        // And the time of each flow went the same ways.
        prop_assert!(rows(&World::new(&watched, Recorder::new()).run()) == rows(&called));
        let pauses = |outcome: &Outcome| outcome.ports.iter().map(|port| port.pauses).collect::<Vec<_>>();
        prop_assert_eq!(pauses(&called), pauses(&outcome));
    }
}

/// What may wait is the room of classes that are paused where all are, and `limit` where they are dropped.
#[test]
fn warnings_know_how_much_may_wait() {
    let star = star(4);
    let said = |scheme: &str, text: &str| {
        scenario(scheme, &format!("{text}{star}{}", listed(&[(0, 1, 1 << 30, 0), (1, 2, 1, 0)])), 1)
            .warnings()
            .join("\n")
    };
    // X_off is 40 packets, and 20 are on the way at most: K of 65 packets is above both.
    let step = "[port]\nmarker.step.threshold = \"65pkt\"\n";
    let pause = |limit: &str, counts: &str| {
        format!("{step}limit = \"{limit}\"\npfc = {{ counts = \"{counts}\", xoff = \"40pkt\" }}\n")
    };
    let never = "is not below the buffer of the port";
    assert!(said("dctcp", &pause("1MB", "queue")).contains(never), "{}", said("dctcp", &pause("1MB", "queue")));
    // Three links may fill a queue with 40 packets each.
    assert!(!said("dctcp", &pause("60KB", "ingress")).contains(never));
    assert!(said("dctcp", &format!("{step}limit = \"60KB\"\n")).contains(never));
    // Of a class that is paused more may wait than of those that are dropped.
    let mixed = |threshold: &str| {
        said(
            "pias",
            &format!(
                "[port]\nlimit = \"50KB\"\nmarker.step = {{ threshold = \"{threshold}\", scope = \"queue\" }}\n\
                 pfc = {{ classes = [1], xoff = \"200pkt\" }}\n"
            ),
        )
    };
    let of_class = "is not below the buffer of a class";
    assert!(!mixed("70KB").contains(of_class) && mixed("5MB").contains(of_class), "{}", mixed("70KB"));
    // The port with the most room counts, and what a buffer gives its classes.
    assert!(!said("dctcp", &format!("{step}limit = \"60KB\"\nleaf.limit = \"400KB\"\n")).contains(never));
    let shared = |buffer: &str, threshold: &str| {
        said(
            "pias",
            &format!("[port]\nlimit = \"100KB\"\nclasses = 8\nmarker.step = {threshold}\nbuffer = {{ {buffer} }}\n"),
        )
    };
    let eighths = "divided = { limits = [\"9KB\", \"9KB\", \"9KB\", \"9KB\", \"9KB\", \"9KB\", \"9KB\", \"9KB\"] }";
    assert!(shared(eighths, "{ threshold = \"80KB\" }").contains(never));
    let reserved = |room: &str| format!("reserved = {{ limit = \"40KB\", room = \"{room}\" }}");
    let class = |bytes: &str| format!("{{ threshold = \"{bytes}\", scope = \"queue\" }}");
    assert!(shared(&reserved("inside"), &class("61KB")).contains(of_class));
    assert!(!shared(&reserved("shared"), &class("61KB")).contains(of_class));
    assert!(!shared(&reserved("beside"), "{ threshold = \"120KB\" }").contains(never));
    // A limit is void where nothing is dropped, whichever table has it.
    let tiers = pause("240pkt", "queue") + "leaf.limit = \"2MB\"\n";
    let tiers = said("dctcp", &tiers);
    assert!(tiers.contains("`port.leaf.limit` is 2MB, and holds for no class"), "{tiers}");
    // Half of 450 packets of HyLine's port drain in 270 us: a timer of 300 us is above that, one of 250 us below.
    let timer = |us: u32| said("hyline", &format!("host.transport.hyline.first.min_rto = \"{us}us\"\n"));
    let early = "that a full queue takes to drain";
    assert!(timer(250).contains(early) && !timer(300).contains(early), "{}", timer(300));
    let second = said("hyline", "host.transport.hyline.second_min_rto = \"1us\"\n");
    assert!(second.contains("second_min_rto, 1us, is below the round-trip time"), "{second}");
}

/// A class that no packet joins is not paused.
#[test]
fn classes_that_nobody_writes_or_reads_are_said() {
    let star = star(4);
    let said = |text: &str| {
        let text = format!("{text}{star}{}", listed(&[(0, 1, 1000, 0)]));
        let scenario = Scenario::new(&Tree::parse("test", &text).unwrap(), 1, Path::new("."));
        scenario.unwrap_or_else(|p| panic!("{}", p.render(false))).warnings().join("\n")
    };
    let paused = |class: u8| said(&format!("[port]\nclasses = 2\npfc.classes = [{class}]\n"));
    assert!(
        paused(1).contains("no packet joins a class of `port.pfc.classes`") && !paused(0).contains("no packet joins")
    );
    let hyline = |classifier: &str| {
        said(&format!(
            "path = \"assigned\"\ncontroller = \"hyline\"\nhost.transport = \"hyline\"\nport.classes = 2\n\
             port.classifier = \"{classifier}\"\n"
        ))
    };
    let unread = "`host.transport = \"hyline\"` writes classes into packets, and no port sorts by class";
    assert!(hyline("single").contains(unread) && !hyline("tag").contains(unread), "{}", hyline("single"));
    let qjump = |budgets: &str| {
        said(&format!(
            "[host]\npace.qjump.budgets = {budgets}\ntag.size-levels.largest = [\"10KB\"]\n\
             [port]\nclasses = 2\nclassifier = \"tag\"\n"
        ))
    };
    let void = "has 3 `budgets`, and hosts write 2 class(es)";
    let three = qjump("[\"1pkt\", \"2pkt\", \"4pkt\"]");
    assert!(three.contains(void) && !qjump("[\"1pkt\"]").contains("`budgets`"), "{three}");
}
