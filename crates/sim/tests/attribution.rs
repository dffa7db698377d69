//! Where the completion time of a flow goes: its components in cases that are computed by hand, and that they always
//! add up to it, whatever the scheme.

use proptest::prelude::*;
use tailcut_base::{Instant, Span};
use tailcut_model::seat::DropReason;
use tailcut_model::{Breakdown, Component, FlowId};
use tailcut_record::{FlowRow, Recorder};
use tailcut_sim::trace::{Happened, Lens};
use tailcut_sim::{Outcome, Scenario, World};

use crate::common::cases::{cases, config};
use crate::common::{P1, all_schemes, bottleneck, listed, rows, run, scenario, slytherin_mix, star};

const ON: &str = "[record]\nattribution = true\n";
/// A full packet at 10 Gb/s, and a header.
const FULL: u64 = 1_200_000;
const HEADER: u64 = 32_000;
/// Picoseconds.
const US: u64 = 1_000_000;
const MSS: u64 = 1460;

/// The components of each flow that are not zero, in picoseconds.
fn components(outcome: &Outcome) -> Vec<Vec<(Component, u64)>> {
    let of = |row: FlowRow| {
        let breakdown = row.breakdown.clone().expect("delays are attributed");
        assert_eq!(Some(breakdown.total()), row.fct());
        breakdown.iter().filter(|(_, time)| *time > Span::ZERO).map(|(what, time)| (what, time.as_ps())).collect()
    };
    outcome.flows.rows().map(of).collect()
}

fn of(scheme: &str, text: &str) -> Vec<Vec<(Component, u64)>> {
    components(&run(scheme, &format!("{text}{ON}"), 1))
}

use Component::{
    FastRetransmit, Grants, Handshake, Host, LastAck, Pacing, Paused, Permission, Processing, Propagation, QueueHost,
    QueueLeafDown, QueueLeafUp, Timeout, Transmission, Window,
};

// The last packet begins to leave when those in front of it have left: nothing but bits and wires takes time. The first
// ACK is there after 6.464 us, when the sixth packet is being sent: six packets of window are never waited for.
#[test]
fn a_flow_alone_takes_transmission_and_propagation() {
    for (packets, window) in [(1, 10), (10, 10), (700, 6)] {
        let text =
            format!("host.transport.tcp.initial_window = {window}\n{}{}", star(3), listed(&[(0, 1, packets * MSS, 7)]));
        assert_eq!(of("tcp", &text), [[(Transmission, (packets + 1) * FULL), (Propagation, 2 * US)]], "{packets}");
    }
}

// Each packet but the first waits for the way back of an ACK: two headers and two wires.
#[test]
fn a_window_of_one_packet_waits_for_each_ack() {
    let text = format!(
        "host.transport.tcp = {{ initial_window = 1, max_window = 1 }}\n{}{}",
        star(3),
        listed(&[(0, 1, 9 * MSS, 0)])
    );
    let way_back = 2 * HEADER + 2 * US;
    let expected = [(Transmission, 9 * 2 * FULL), (Propagation, 9 * 2 * US), (Window, 8 * way_back)];
    assert_eq!(of("tcp", &text), [expected]);
    // Where the last ACK completes the flow, its way back is nobody's window.
    let acknowledged = components(&run("tcp", &format!("{text}{ON}completion = \"acknowledged\"\n"), 1));
    assert_eq!(acknowledged, [[expected[0], expected[1], expected[2], (LastAck, way_back)]]);
}

#[test]
fn a_handshake_is_a_round_trip_of_headers() {
    let text = format!("host.transport.tcp.handshake = \"one-rtt\"\n{}{}", star(3), listed(&[(0, 1, MSS, 0)]));
    let expected = vec![(Transmission, 2 * FULL), (Propagation, 2 * US), (Handshake, 4 * (HEADER + US))];
    assert_eq!(of("tcp", &text), [expected]);
}

// Two packets come to one port at the same time; two flows of one host wait for its interface.
#[test]
fn two_flows_wait_for_each_other_in_a_port_or_in_their_host() {
    let alone = vec![(Transmission, 2 * FULL), (Propagation, 2 * US)];
    let with = |what| vec![alone[0], alone[1], (what, FULL)];
    let port = of("tcp", &(bottleneck(2, "10Gbps", "1us") + &listed(&[(0, 2, MSS, 0), (1, 2, MSS, 0)])));
    assert_eq!(port, [alone.clone(), with(QueueLeafDown)]);
    let host = of("tcp", &(star(3) + &listed(&[(0, 1, MSS, 0), (0, 2, MSS, 0)])));
    assert_eq!(host, [alone.clone(), with(Host)]);
    let queue =
        of("tcp", &format!("nic.queue.limit = \"1MB\"\n{}{}", star(3), listed(&[(0, 1, MSS, 0), (0, 2, MSS, 0)])));
    assert_eq!(queue, [alone.clone(), with(QueueHost)]);
}

// Longer than what stands beside a packet has room for. The hosts' numbers say who waits for whom.
#[test]
fn long_links_and_long_queues_add_up_too() {
    let text = "run.ties = \"numbered\"\n".to_owned()
        + &bottleneck(3, "1Mbps", "5ms")
        + &listed(&[(0, 3, MSS, 0), (1, 3, MSS, 0), (2, 3, MSS, 0)]);
    let alone = vec![(Transmission, 2 * 12_000 * US), (Propagation, 2 * 5_000 * US)];
    let behind = |packets: u64| vec![alone[0], alone[1], (QueueLeafDown, packets * 12_000 * US)];
    assert_eq!(of("tcp", &text), [alone.clone(), behind(1), behind(2)]);
}

// Ports hold a packet beside the one that is being sent: of three that come at once, the last by number is dropped, and
// sent again 10 ms after it was sent first.
#[test]
fn a_lost_packet_waits_for_its_timer() {
    let flows = [(0, 3, MSS, 0), (1, 3, MSS, 0), (2, 3, MSS, 0)];
    let text = format!(
        "run.ties = \"numbered\"\nhost.transport.tcp.min_rto = \"10ms\"\nport.limit = \"1500B\"\n{}{}",
        bottleneck(3, "10Gbps", "1us"),
        listed(&flows)
    );
    let expected = vec![(Transmission, 2 * FULL), (Propagation, 2 * US), (Timeout, 10_000 * US)];
    assert_eq!(of("tcp", &text)[2], expected);
}

// Two packets are at the port before the first of eight of flow 2, which is dropped. It began to leave at 200 ns. The
// three behind it are at the receiver at 6.8, 8 and 9.2 us, one behind the other from the port; the ACK of the last of
// them has it sent again at 11.264 us, when nothing waits any more.
#[test]
fn a_lost_packet_is_sent_again_after_three_that_came() {
    let flows = [(0, 3, MSS, 0), (1, 3, MSS, 100), (2, 3, 8 * MSS, 200)];
    let text = format!("port.limit = \"1500B\"\n{}{}", bottleneck(3, "10Gbps", "1us"), listed(&flows));
    let outcome = run("tcp", &format!("{text}{ON}"), 1);
    let row = &rows(&outcome)[2];
    assert_eq!((row.drops, row.retransmissions, row.timeouts), (1, 1, 0), "{row:?}");
    let third = 4 * US + 600_000 + 3 * FULL + US + 2 * (HEADER + US);
    let expected = vec![(Transmission, 2 * FULL), (Propagation, 2 * US), (FastRetransmit, third - 200_000)];
    assert_eq!(components(&outcome)[2], expected);
}

// RTTbytes of a packet: each packet but the first waits for its grant.
#[test]
fn a_message_waits_for_its_grants() {
    let text = format!("host.transport.homa.rtt_bytes = \"1460B\"\n{}{}", star(3), listed(&[(0, 1, 9 * MSS, 0)]));
    let way_back = 2 * HEADER + 2 * US;
    assert_eq!(of("homa", &text), [[(Transmission, 9 * 2 * FULL), (Propagation, 9 * 2 * US), (Grants, 8 * way_back)]]);
    // With enough of them, none is waited for.
    let text = format!("host.transport.homa.rtt_bytes = \"8760B\"\n{}{}", star(3), listed(&[(0, 1, 70 * MSS, 0)]));
    assert_eq!(of("homa", &text), [[(Transmission, 71 * FULL), (Propagation, 2 * US)]]);
}

// Of two messages only the shorter one is granted. The sender of the other hears nothing and begins again: that brings
// nothing new, and the message goes on because the shorter one has ended. What it waited for is its grant.
#[test]
fn a_message_that_is_sent_again_for_nothing_waits_for_its_grants() {
    let homa = "host.transport.homa = { rtt_bytes = \"1460B\", overcommit = 1, resend = \"100us\" }\n";
    let text = format!("{homa}{}{}{ON}", star(3), listed(&[(0, 2, 100 * MSS, 0), (1, 2, 101 * MSS, 0)]));
    let outcome = run("homa", &text, 1);
    let rows = rows(&outcome);
    assert_eq!(rows.iter().map(|row| (row.drops, row.timeouts)).collect::<Vec<_>>(), [(0, 0), (0, 1)]);
    let of = |flow: usize, component| {
        components(&outcome)[flow].iter().find(|(of, _)| *of == component).map_or(0, |&(_, time)| time)
    };
    assert_eq!(of(1, Timeout), 0, "{:?}", components(&outcome)[1]);
    // It waits while the shorter one is granted all but its first packet, and then for each of its own grants.
    let way_back = 2 * HEADER + 2 * US;
    assert!(of(1, Grants) > 99 * way_back + 99 * (2 * FULL + 2 * US + way_back), "{:?}", components(&outcome)[1]);
    assert_eq!(of(0, Grants), 99 * way_back);
}

// One sender with a link four times as fast as the receiver's and an endless window, as in `pfc.rs`: it is stopped from
// the 288th packet's arrival until 84 packets have begun to leave.
#[test]
fn a_pause_stops_a_host() {
    let network = bottleneck(1, "40Gbps", "1us")
        .replace("\nhost_link", "\nreceiver_link = { rate = \"10Gbps\", delay = \"1us\" }\nhost_link");
    let text = |packets: u64| {
        format!(
            "host.transport.tcp.initial_window = 2000\nport.pfc.counts = \"queue\"\n{network}{}",
            listed(&[(0, 1, packets * MSS, 0)])
        )
    };
    // Without a pause the queue is all that is waited for: the last packet leaves its host at 287 x 300 ns.
    let below = of("tcp", &text(287));
    let queue = 286 * FULL - 286 * FULL / 4;
    let expected = vec![(Transmission, 287 * FULL / 4 + FULL), (Propagation, 2 * US), (QueueLeafDown, queue)];
    assert_eq!(below, [expected]);
    // With a pause, part of that is waited for in the host. The bottleneck never idles, so that the sum is the same.
    let above = of("tcp", &text(300));
    let get = |what| above[0].iter().find(|(other, _)| *other == what).map_or(0, |(_, time)| *time);
    // The 288th packet comes at 87.4 us, and the frame is at the host 1012.8 ns later, when the 295th is being sent,
    // until 88.5 us. When 91 have begun to leave, at 1.3 + 90 x 1.2 us, 204 are left, and the next frame lets it go on.
    let paused = get(Paused);
    assert_eq!(paused, (1_300 + 90 * 1_200) * 1_000 + 12_800 + US - 88_500_000);
    assert_eq!(get(QueueLeafDown) + paused, 299 * FULL - 299 * FULL / 4);
    assert_eq!(get(Host), 0);
}

#[test]
fn what_is_paced_waits_for_its_pacer_and_what_asks_for_its_permission() {
    // Swift below a packet waits for its gap; each answer of an incast in ICON for its turn.
    let text = format!("{}{}", bottleneck(4, "10Gbps", "1us"), listed(&[(0, 4, 90 * MSS, 0), (1, 4, 90 * MSS, 0)]));
    for scheme in ["rcp", "pdq", "d3"] {
        let parts = of(scheme, &text);
        let time = |what| parts.iter().flatten().filter(|(other, _)| *other == what).map(|(_, time)| time).sum::<u64>();
        assert!(time(Handshake) > 0, "{scheme}: {parts:?}");
        assert!(time(Pacing) + time(Permission) > 0, "{scheme}: {parts:?}");
        assert_eq!(time(Timeout) + time(FastRetransmit) + time(Window) + time(Grants), 0, "{scheme}: {parts:?}");
    }
}

#[test]
fn hosts_that_take_their_time_are_seen() {
    let text = format!(
        "host.delay.random = {{ send = \"3us\", receive = \"2us\" }}\n{}{}",
        star(3),
        listed(&[(0, 1, MSS, 0)])
    );
    let parts = of("tcp", &text);
    assert_eq!(parts[0].len(), 3);
    assert_eq!(parts[0][..2], [(Transmission, 2 * FULL), (Propagation, 2 * US)]);
    assert_eq!(parts[0][2].0, Processing);
}

/// Digest, and rows without their breakdowns.
fn facts(outcome: &Outcome) -> (u64, Vec<FlowRow>) {
    let without = |row: FlowRow| FlowRow { breakdown: None, ..row };
    (outcome.engine.digest, outcome.flows.rows().map(without).collect())
}

fn breakdowns(outcome: &Outcome) -> Vec<Option<Breakdown>> {
    outcome.flows.rows().map(|row| row.breakdown.map(|breakdown| *breakdown)).collect()
}

/// Runs with and without attribution, on one thread and several, and returns the outcome with it.
fn check(off: &Scenario, on: &Scenario, what: &str) -> Outcome {
    let without = World::new(off, Recorder::new()).run();
    let with = World::new(on, Recorder::new()).run();
    assert_eq!(facts(&with), facts(&without), "{what}: attribution changes nothing");
    for row in with.flows.rows() {
        assert_eq!(row.breakdown.as_ref().map(|breakdown| breakdown.total()), row.fct(), "{what}: {row:?}");
    }
    for threads in [2, 3] {
        let other = World::new(on, Recorder::new()).with_threads(threads).run();
        assert_eq!((facts(&other), breakdowns(&other)), (facts(&with), breakdowns(&with)), "{what} on {threads}");
    }
    with
}

proptest! {
    #![proptest_config(config(300))]

    /// Whatever the network, the scheme and the flows: each component is a time, and together they are the FCT.
    #[test]
    fn components_add_up(case in cases(), acknowledged: bool) {
        let drain = "1000000s";
        let off = case.scenario(drain);
        let on = case.attributed(drain, acknowledged);
        let without = World::new(&off, Recorder::new()).run();
        let with = World::new(&on, Recorder::new()).run();
        prop_assert_eq!(with.engine.digest, without.engine.digest);
        for row in with.flows.rows() {
            prop_assert_eq!(row.breakdown.as_ref().map(|breakdown| breakdown.total()), row.fct(), "{:?}", row);
        }
        let threads = World::new(&on, Recorder::new()).with_threads(3).run();
        prop_assert_eq!((facts(&threads), breakdowns(&threads)), (facts(&with), breakdowns(&with)));
        // Where it is cut off, flows without an FCT have no components.
        let cut = World::new(&case.attributed(&format!("{}us", case.drain_us), acknowledged), Recorder::new()).run();
        for row in cut.flows.rows() {
            prop_assert_eq!(row.breakdown.as_ref().map(|breakdown| breakdown.total()), row.fct(), "{:?}", row);
        }
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// A lens over all ports sees every landing and every drop, and changes nothing.
    #[test]
    fn a_lens_sees_all_that_happens(case in cases()) {
        let on = case.attributed("1000000s", false);
        let plain = World::new(&on, Recorder::new()).run();
        let all = on.network().ports().ids().map(|port| (port, vec![(Instant::ZERO, Instant::MAX)])).collect();
        let flows = plain.flows.rows().take(2).map(|row| FlowId(row.flow)).collect();
        let mut seen = World::new(&on, Recorder::new()).with_lens(Lens { ports: all, flows, prints: None }).run();
        prop_assert_eq!((facts(&seen), breakdowns(&seen)), (facts(&plain), breakdowns(&plain)));
        let trace = seen.trace.take().expect("there is a lens");
        let count = |what: fn(&Happened) -> bool| trace.packets.iter().filter(|seen| what(&seen.what)).count() as u64;
        prop_assert_eq!(count(|what| matches!(what, Happened::Crossed { .. })), seen.engine.packet_hops);
        // What a host discards it has never made.
        let discarded: u64 = plain.ports.iter().map(|port| port.drops.get(DropReason::NicQueue)).sum();
        let drops = plain.totals.drops.total() + plain.control_drops;
        let dropped = count(|what| matches!(what, Happened::Dropped(_)));
        prop_assert!((drops - discarded..=drops).contains(&dropped), "{dropped} of {drops}");
        for seen in &trace.packets {
            if let Happened::Crossed { left } = seen.what {
                prop_assert!(left <= seen.at, "{seen:?}");
            }
        }
    }
}

#[test]
fn components_add_up_under_every_scheme_and_on_any_number_of_threads() {
    for scheme in all_schemes() {
        let text = format!("{}{}", crate::common::SMALL, slytherin_mix(0.7, "2ms"));
        let outcome = check(&scenario(scheme, &text, 1), &scenario(scheme, &format!("{text}{ON}"), 1), scheme);
        assert!(outcome.flows.len() > 50, "{scheme}");
    }
}

// What the paper's leaf-spine at high load does to DCTCP: the queues of the leaves are most of the tail.
#[test]
fn the_tail_of_a_loaded_fabric_is_in_its_queues() {
    let text = format!("{P1}{}{ON}", slytherin_mix(0.8, "1ms"));
    let outcome = World::new(&scenario("dctcp", &text, 1), Recorder::new()).run();
    let mut all: Vec<FlowRow> = outcome.flows.rows().filter(|row| row.class == 0 && row.fct().is_some()).collect();
    all.sort_by_key(FlowRow::fct);
    let share = |rows: &[FlowRow], of: &[Component]| {
        let time =
            |row: &FlowRow| of.iter().map(|&what| row.breakdown.as_ref().unwrap().get(what).as_ps()).sum::<u64>();
        let (part, whole): (u64, u64) =
            rows.iter().fold((0, 0), |(part, whole), row| (part + time(row), whole + row.fct().unwrap().as_ps()));
        part as f64 / whole as f64
    };
    let waiting = [QueueLeafUp, Component::QueueSpineDown, QueueLeafDown, Timeout, FastRetransmit];
    let (fastest, slowest) = (&all[..all.len() / 10], &all[all.len() * 9 / 10..]);
    assert!(share(slowest, &waiting) > 0.4 && share(fastest, &waiting) < 0.2);
}
