//! Packets that are listed as lost: which transmissions are dropped and where, and what is reported of others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;
use tailcut_model::FlowId;
use tailcut_model::seat::DropReason::LinkDown;
use tailcut_record::Recorder;
use tailcut_sim::trace::{Happened, Lens, Purpose, purpose};
use tailcut_sim::{EndReason, Outcome, PacketLoss, Scenario, World};

use crate::common::{SMALL, all_schemes, fcts, listed, port, rows, run, run_on_threads, scenario, star, tree};

fn lose(packets: &str) -> String {
    format!("[failures]\npackets = [{packets}]\n")
}

/// Ten segments from one host over a switch to another, under TCP with a timeout of 1 ms.
fn ten_segments(handshake: &str, packets: &str) -> (Outcome, Vec<String>) {
    let flows = listed(&[(0, 1, 14_600, 0)]);
    let tcp = format!("[host.transport.tcp]\nmin_rto = \"1ms\"\nhandshake = \"{handshake}\"\n");
    let scenario = scenario("tcp", &format!("{}{tcp}{}{flows}", star(2), lose(packets)), 1);
    let outcome = run_on_threads(&scenario, packets);
    let warnings = outcome.warnings(&scenario);
    (outcome, warnings)
}

fn happened(sent: u64, dropped: u64) -> PacketLoss {
    PacketLoss { sent, dropped }
}

#[test]
fn the_listed_transmissions_are_dropped_and_no_others() {
    for (handshake, packets, expected) in [
        ("none", "{ flow = 0, segment = 9 }", happened(2, 1)),
        ("none", "{ flow = 0, kind = \"data\", segment = 9, times = 3 }", happened(4, 3)),
        ("none", "{ flow = 0, segment = 0 }", happened(2, 1)),
        ("none", "{ flow = 0, kind = \"ack\", segment = 9 }", happened(1, 1)),
        ("one-rtt", "{ flow = 0, kind = \"syn\", times = 2 }", happened(3, 2)),
        ("one-rtt", "{ flow = 0, kind = \"syn-ack\" }", happened(2, 1)),
    ] {
        let (outcome, warnings) = ten_segments(handshake, packets);
        assert_eq!((&outcome.packet_losses[..], warnings), (&[expected][..], vec![]), "{packets}");
        let is_data = !packets.contains("ack") && !packets.contains("syn");
        let (data, control) = if is_data { (expected.dropped, 0) } else { (0, expected.dropped) };
        assert_eq!((outcome.totals.drops.get(LinkDown), outcome.control_drops), (data, control), "{packets}");
        // The port of the last link counts them: it leads to host 1, and that of ACKs and SYN-ACKs to host 0.
        let to = if packets.contains("ack") { "host0" } else { "host1" };
        let row = port(&outcome, "switch0", to);
        assert_eq!((row.drops.get(LinkDown), row.drops.total()), (expected.dropped, expected.dropped), "{packets}");
    }
}

/// The first and the last segment are only repaired by a timeout, one in the middle of ten by three duplicate ACKs.
#[test]
fn where_a_packet_is_lost_in_its_flow_decides_about_the_time() {
    let [none, middle, last] =
        ["", "{ flow = 0, segment = 3 }", "{ flow = 0, segment = 9 }"].map(|packets| ten_segments("none", packets).0);
    let timeouts = |outcome: &Outcome| rows(outcome)[0].timeouts;
    assert_eq!([&none, &middle, &last].map(timeouts), [0, 0, 1]);
    let [none, middle, last] = [&none, &middle, &last].map(|outcome| fcts(outcome)[0]);
    assert!(none < middle && middle < none + 100_000_000, "{none} {middle}");
    assert!(last > none + 1_000_000_000 - 100_000_000, "{none} {last}");
}

#[test]
fn a_packet_is_lost_on_the_link_that_is_named() {
    // From leaf 0 to leaf 1: host0->leaf0, a spine, leaf1->host4.
    let flow = listed(&[(0, 4, 14_600, 0)]);
    for (link, owner, peer) in [
        (None, "leaf1", "host4"),
        (Some("leaf1->host4"), "leaf1", "host4"),
        (Some("leaf1--host4"), "leaf1", "host4"),
        (Some("host0->leaf0"), "host0", "leaf0"),
    ] {
        let of_link = link.map_or(String::new(), |link| format!(", link = \"{link}\""));
        let text = format!("{SMALL}{}{flow}", lose(&format!("{{ flow = 0, segment = 4{of_link} }}")));
        let scenario = scenario("dctcp", &text, 1);
        let outcome = run_on_threads(&scenario, owner);
        assert_eq!(outcome.packet_losses, [happened(2, 1)], "{link:?}");
        assert_eq!(port(&outcome, owner, peer).drops.get(LinkDown), 1, "{link:?}");
        assert_eq!(outcome.ports.iter().map(|row| row.drops.total()).sum::<u64>(), 1, "{link:?}");
        assert_eq!(outcome.warnings(&scenario), Vec::<String>::new());
        // A packet that is lost on the link of its host has occupied that link.
        let sent = port(&outcome, "host0", "leaf0").packets;
        assert_eq!(sent, 11, "{link:?}");
    }
}

#[test]
fn what_did_not_happen_is_reported() {
    let warned = |handshake: &str, packets: &str| ten_segments(handshake, packets).1.join("\n");
    for (handshake, packets, expected) in [
        ("none", "{ flow = 1, segment = 0 }", "`failures.packets.0`: there was no flow 1: flows 0 to 0 started"),
        ("none", "{ flow = 0, segment = 10 }", "`failures.packets.0`: segment 10 of flow 0 was never sent"),
        ("none", "{ flow = 0, kind = \"ack\", segment = 99 }", "`failures.packets.0`: ACK 99 of flow 0 was never sent"),
        (
            "none",
            "{ flow = 0, kind = \"syn\" }",
            "`failures.packets.0`: the SYN of flow 0 was never sent: its transport opened no connection for it",
        ),
        (
            "none",
            "{ flow = 0, segment = 2 }, { flow = 0, segment = 4, link = \"switch0->host0\" }",
            "`failures.packets.1`: 1 transmission of segment 4 of flow 0 did not reach `switch0->host0`: it is not on the \
             path, or they were lost before",
        ),
    ] {
        assert_eq!(warned(handshake, packets), expected);
    }
    let many: Vec<String> = (10..30).map(|segment| format!("{{ flow = 0, segment = {segment} }}")).collect();
    let warnings = ten_segments("none", &many.join(", ")).1;
    assert_eq!(warnings.len(), 8);
    assert_eq!(warnings[7], "13 more packets of `failures.packets` were not dropped as listed");
}

#[test]
fn a_wrong_entry_is_refused_at_its_place() {
    let refusal = |entry: &str| {
        let text = format!("{}[[failures.packets]]\n{entry}\n{}", star(3), listed(&[(0, 1, 1, 0)]));
        Scenario::new(&tree("tcp", &text), 1, Path::new(".")).expect_err(entry)
    };
    for (entry, line, message) in [
        ("flow = 0", "[[failures.packets]]", "`segment` must be given for data packets"),
        ("flow = 0\nkind = \"ack\"", "[[failures.packets]]", "`segment` must be given for ACK packets"),
        ("flow = 0\nkind = \"syn\"\nsegment = 0", "segment = 0", "`segment` must not be given for a SYN"),
        ("flow = 0\nsegment = 0\ntimes = 0", "times = 0", "`times` must be at least 1, got 0"),
        ("flow = 0\nkind = \"ack\"\nsegment = 0\ntimes = 2", "times = 2", "`times` must be 1 for an ACK, got 2"),
        ("flow = 0\nsegment = 0\nlink = \"switch0->host9\"", "link = ", "the network has no link `switch0->host9`"),
        (
            "flow = 0\nsegment = 7\n[[failures.packets]]\nflow = 0\nsegment = 7",
            "flow = 0",
            "segment 7 of flow 0 is listed twice, first as number 0",
        ),
        (
            "flow = 0\nkind = \"ack\"\nsegment = 1\n[[failures.packets]]\nflow = 0\nkind = \"ack\"\nsegment = 0\n\
             link = \"switch0->host0\"",
            "[[failures.packets]]",
            "`link` must be the same for all listed ACKs of a flow, and those of flow 0 differ",
        ),
    ] {
        let problem = refusal(entry);
        let shown = problem.render(false);
        assert!(problem.message().contains(message), "{shown}");
        let origin = problem.origin().expect("the place is known");
        assert!(origin.source.text.lines().nth(origin.line() - 1).unwrap().starts_with(line), "{shown}");
        assert!(problem.help_text().is_some(), "{shown}");
    }
    for (preset, key) in [("tcp", "fidelity = \"flow\"\n"), ("tcp", "fidelity = \"links\"\n")] {
        let packets = lose("{ flow = 0, segment = 0 }");
        let text = format!("{key}{}{packets}{}", star(3), listed(&[(0, 1, 1, 0)]));
        let problem = Scenario::new(&tree(preset, &text), 1, Path::new(".")).expect_err(key);
        assert!(problem.message().contains("`failures"), "{}", problem.render(false));
    }
}

/// The loop that a network with such a list runs in gives what the plain loop does.
#[test]
fn a_loss_that_never_happens_changes_nothing() {
    let flows: Vec<_> = (0..16).map(|src| (src, (src + 5) % 16, 90_000, u64::from(src) * 300)).collect();
    let never =
        "{ flow = 99, segment = 0 }, { flow = 0, segment = 9999 }, { flow = 3, kind = \"ack\", segment = 9999 }";
    for scheme in all_schemes() {
        let text = |losses: &str| format!("{SMALL}{losses}{}", listed(&flows));
        if Scenario::new(&tree(scheme, &text("")), 1, Path::new(".")).is_err() {
            continue;
        }
        let [plain, listed] = ["", &lose(never)].map(|losses| run(scheme, &text(losses), 1));
        assert_eq!((plain.engine.digest, &plain.flows), (listed.engine.digest, &listed.flows), "{scheme}");
        assert_eq!(listed.packet_losses, [PacketLoss::default(); 3], "{scheme}");
    }
}

/// Every preset but the ideals of packets, whose timeouts begin at 1000 s.
fn schemes_that_repair() -> Vec<&'static str> {
    let repairs = |scheme: &&str| !tree(scheme, "").to_text().contains("1000s");
    all_schemes().into_iter().filter(repairs).collect()
}

/// A packet of a list, as the trace names it.
type Name = (u32, &'static str, u64);

/// What of a packet does not change on the way: flow, kind, sequence number, time of sending and sender.
type Unchanged = (u32, u8, u64, u64, u32);

/// The transmissions of every packet that a trace has, and those of them that were dropped because links are down, each
/// by its number among the transmissions of the packet.
fn transmissions(scenario: &Scenario) -> (BTreeMap<Name, u64>, BTreeSet<(Name, u64)>, Outcome) {
    let flows = (0..99).map(FlowId).collect();
    let ports = BTreeMap::new();
    let mut outcome = World::new(scenario, Recorder::new()).with_lens(Lens { flows, ports, prints: None }).run();
    let trace = outcome.trace.take().expect("it was traced");
    let mut sent: BTreeMap<Name, u64> = BTreeMap::new();
    let mut acks: BTreeMap<u32, u64> = BTreeMap::new();
    // Packets that are under way, by what of them does not change on the way, and their transmissions.
    let mut under_way: BTreeMap<Unchanged, Vec<(Name, u64)>> = BTreeMap::new();
    let mut dropped = BTreeSet::new();
    for seen in trace.packets {
        let packet = &seen.packet;
        let key = (packet.flow.0, packet.kind.number(), packet.seq, packet.sent.as_ps(), packet.src.0);
        match seen.what {
            Happened::Made => {
                let name = match purpose(packet.kind) {
                    Purpose::Data => (packet.flow.0, "data", packet.seq / 1460),
                    Purpose::Acknowledges => {
                        let count = acks.entry(packet.flow.0).or_default();
                        *count += 1;
                        (packet.flow.0, "ack", *count - 1)
                    }
                    Purpose::Opens => (packet.flow.0, "syn", 0),
                    Purpose::Opened => (packet.flow.0, "syn-ack", 0),
                    Purpose::Other(_) => continue,
                };
                let count = sent.entry(name).or_default();
                *count += 1;
                under_way.entry(key).or_default().push((name, *count - 1));
            }
            Happened::Dropped(LinkDown) => {
                let transmission = under_way.get_mut(&key).expect("it was made").remove(0);
                assert!(dropped.insert(transmission), "{transmission:?} was dropped twice");
            }
            _ => {}
        }
    }
    (sent, dropped, outcome)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Under any scheme and in several networks, the first `times` transmissions of each listed packet are dropped at
    /// the last port and no others, as a trace shows, the flows end, and several threads see the same.
    #[test]
    fn drops_are_what_was_listed(
        scheme in prop::sample::select(schemes_that_repair()),
        network in 0usize..4,
        list in prop::collection::btree_map((0u32..12, 0u8..6, 0u64..40), 1u32..4, 1..12),
        seed in any::<u64>(),
    ) {
        let link = "{ rate = \"10Gbps\", delay = \"2us\" }";
        let (network, hosts) = match network {
            0 => (star(4), 4),
            1 => (SMALL.to_owned(), 16),
            2 => (format!("[topology.bcube]\nn = 4\nk = 1\nhost_link = {link}\n"), 16),
            _ => (format!("[topology.dumbbell]\nleft_hosts = 2\nright_hosts = 2\nhost_link = {link}\ncore_link = {link}\n"), 4),
        };
        let flows: Vec<_> = (0..12u32)
            .map(|nth| {
                let src = nth * 5 % hosts;
                (src, (src + 1 + nth % (hosts - 1)) % hosts, 1 + u64::from(nth) * 4500, u64::from(nth) * 700)
            })
            .collect();
        let mut asked: BTreeMap<Name, u64> = BTreeMap::new();
        for (&(flow, kind, segment), &times) in &list {
            let (name, times) = match kind {
                0..=2 => ((flow, "data", segment), times),
                3 => ((flow, "ack", segment), 1),
                4 => ((flow, "syn", 0), 1),
                _ => ((flow, "syn-ack", 0), 1),
            };
            asked.insert(name, times.into());
        }
        let entry = |(&(flow, kind, segment), times): (&Name, &u64)| {
            let segment = if kind.starts_with("syn") { String::new() } else { format!(", segment = {segment}") };
            format!("{{ flow = {flow}, kind = \"{kind}\"{segment}, times = {times} }}")
        };
        let entries: Vec<String> = asked.iter().map(entry).collect();
        let record = "[record]\nattribution = true\n[run]\ndrain = \"20s\"\n";
        let text = format!("{network}{record}{}{}", lose(&entries.join(", ")), listed(&flows));
        // A network of several links for each host is not for every scheme.
        let Ok(scenario) = Scenario::new(&tree(scheme, &text), seed, Path::new(".")) else { return Ok(()) };
        let one = run_on_threads(&scenario, scheme);
        prop_assert_eq!(one.end, EndReason::Finished);
        let (sent, dropped, traced) = transmissions(&scenario);
        prop_assert_eq!(&traced.packet_losses, &one.packet_losses);
        prop_assert_eq!(traced.engine.digest, one.engine.digest);
        let expected: BTreeSet<(Name, u64)> = asked
            .iter()
            .flat_map(|(&name, &times)| {
                (0..times.min(sent.get(&name).copied().unwrap_or(0))).map(move |nth| (name, nth))
            })
            .collect();
        prop_assert_eq!(&dropped, &expected);
        for (loss, (name, &times)) in one.packet_losses.iter().zip(&asked) {
            let sent = sent.get(name).copied().unwrap_or(0);
            prop_assert_eq!(*loss, happened(sent, sent.min(times)), "{:?}", name);
        }
        let of_ports = one.ports.iter().map(|row| row.drops.get(LinkDown)).sum::<u64>();
        prop_assert_eq!(of_ports, expected.len() as u64);
        prop_assert_eq!(one.totals.drops.get(LinkDown), expected.iter().filter(|((_, kind, _), _)| *kind == "data").count() as u64);
    }
}
