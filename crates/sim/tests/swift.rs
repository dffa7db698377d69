//! Swift in whole networks: what its paper says of queues, shares, lone flows, and incasts of more flows than packets
//! fit on the way (SIGCOMM 2020, section 3), on small networks.

use std::path::Path;

use crate::common::{P9, bottleneck, fcts, listed, rows, run, star, tree};
use tailcut_sim::{Outcome, Scenario};

/// Long flows are looked at from 10 ms to 40 ms. Nanoseconds.
const SETTLED: u64 = 10_000_000;
const UNTIL: u64 = 40_000_000;

/// The idle round trip of a full packet over the links below, in microseconds: 8 us of delays, 0.3 and 1.2 us for the
/// packet, 0.032 and 0.008 us for its ACK.
const IDLE_RTT: f64 = 9.54;
/// A full packet on the bottleneck, in microseconds.
const SLOT: f64 = 1.2;

/// Senders with links of 40 Gb/s that share one of 10 Gb/s, each with a flow that does not end; every link has 2 us.
fn long_flows(scheme: &str, senders: u32, settings: &str) -> Outcome {
    let text = bottleneck(senders, "40Gbps", "2us")
        + "receiver_link = { rate = \"10Gbps\", delay = \"2us\" }\n\
           [record]\nqueue_sample = \"1us\"\nqueue_series = true\nthroughput = \"1ms\"\n[run]\ndrain = \"0s\"\n"
        + settings;
    // They begin 5 us after each other; a last one of a byte ends the samples. Each is a class of its own where there
    // are few.
    let flow =
        |src, size: u64, at: u64| format!("{{ src = {src}, dst = {senders}, size = \"{size}B\", start = \"{at}ns\" }}");
    let long: Vec<String> = (0..senders).map(|src| flow(src, 60_000_000, u64::from(src) * 5_000)).collect();
    let last = flow(0, 1, UNTIL);
    let flows = if senders <= 64 {
        let class = |(nth, flow): (usize, &String)| format!("[workload.traffic.f{nth:02}]\nlist = [{flow}]\n");
        long.iter().enumerate().map(class).collect()
    } else {
        format!("[workload.traffic.all]\nlist = [{}]\n", long.join(", "))
    };
    run(scheme, &format!("{text}\n{flows}[workload.traffic.last]\nlist = [{last}]\n"), 1)
}

/// The mean time in microseconds that a packet waits at the bottleneck.
fn waits(outcome: &Outcome) -> f64 {
    // Packets wait nowhere else.
    let busiest = outcome.ports.iter().max_by_key(|port| port.queue.map_or(0, |queue| queue.p50_bytes));
    let bottleneck = busiest.expect("there is a port").port;
    let points = outcome.queue_series.iter().filter(|point| point.port == bottleneck);
    let mut points: Vec<(u64, u64)> = points.map(|point| (point.at.as_ps() / 1_000, point.bytes)).collect();
    points.push((UNTIL, 0));
    let spans = points.windows(2).map(|pair| (pair[1].0.max(SETTLED) - pair[0].0.max(SETTLED), pair[0].1));
    let area: u64 = spans.map(|(ns, bytes)| ns * bytes).sum();
    area as f64 / (UNTIL - SETTLED) as f64 * 8.0 / 10_000.0
}

/// The share of the bottleneck that each class had.
fn shares(outcome: &Outcome) -> Vec<f64> {
    let classes = outcome.throughput.iter().map(|bin| bin.class).max().map_or(0, |last| usize::from(last) + 1);
    let mut bytes = vec![0; classes];
    for bin in outcome.throughput.iter().filter(|bin| (SETTLED..UNTIL).contains(&(bin.from.as_ps() / 1_000))) {
        bytes[usize::from(bin.class)] += bin.bytes;
    }
    let whole = (UNTIL - SETTLED) as f64 * 1.25 * 1460.0 / 1500.0;
    bytes.into_iter().map(|bytes| bytes as f64 / whole).collect()
}

/// Jain's index: 1 if all are alike.
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|share| share * share).sum::<f64>())
}

/// How long a packet waits if every flow has the delay that it aims for: the windows of `flows` fill the way and the
/// queue, and the target is 20 us above the way, and more by the defaults of flow scaling.
fn target_wait(flows: u32) -> f64 {
    let alpha = 100.0 / (1.0 / 0.1_f64.sqrt() - 0.1);
    let mut wait = 20.0;
    for _ in 0..100 {
        let cwnd = (IDLE_RTT + wait) / SLOT / f64::from(flows);
        wait = 20.0 + (alpha / cwnd.sqrt() - alpha / 10.0).clamp(0.0, 100.0);
    }
    wait
}

const DEEP: &str = "[port]\nlimit = \"4MB\"\n";
const UNSCALED: &str = "[port]\nlimit = \"4MB\"\n[host.congestion.swift]\nfs_range = \"0us\"\n";

/// Section 3.2: the link is full and the queue is what the target leaves for it, for one flow and for many.
#[test]
fn queues_are_held_near_the_target_and_the_link_is_full() {
    for flows in [1, 2, 4, 8, 16, 32] {
        let outcome = long_flows("swift", flows, DEEP);
        let (wait, target) = (waits(&outcome), target_wait(flows));
        assert!((0.95..1.25).contains(&(wait / target)), "{flows} flows wait {wait} us, the target leaves {target} us");
        let used: f64 = shares(&outcome).iter().sum();
        assert!(used > 0.99, "{flows} flows use {used} of the link");
        assert_eq!(outcome.totals.drops.total(), 0);
    }
}

/// Section 3.4 and table 3: where windows are around one packet, a pause is the one of the newest ACK. While it was the
/// one of the ACK before, which a flow whose window was back at one packet sat out all the same, 128 flows had 82 % of
/// the link.
#[test]
fn flows_that_go_below_one_packet_and_above_it_again_fill_the_link() {
    let slow = format!("{DEEP}[host.congestion.swift]\nai = 0.1\n");
    for (flows, settings) in [(96, DEEP), (128, DEEP), (256, DEEP), (128, &slow)] {
        let used: f64 = shares(&long_flows("swift", flows, settings)).iter().sum();
        assert!(used > 0.99, "{flows} flows use {used} of the link");
    }
}

/// Section 3.5: what flow scaling adds to the queue grows with the root of the number of flows.
#[test]
fn flow_scaling_lets_queues_grow_with_the_root_of_the_number_of_flows() {
    let added = |flows| waits(&long_flows("swift", flows, DEEP)) - waits(&long_flows("swift", flows, UNSCALED));
    let added: Vec<f64> = [2, 8, 32].map(added).into();
    for pair in added.windows(2) {
        let ratio = pair[1] / pair[0];
        assert!((1.7..2.5).contains(&ratio), "four times the flows add {ratio} times as much: {added:?} us");
    }
}

/// Section 3.5: the smaller a window, the larger its target, so that shares become equal.
#[test]
fn equal_flows_have_equal_shares() {
    for flows in [2, 4, 8, 16] {
        let shares = shares(&long_flows("swift", flows, DEEP));
        let fairness = jain(&shares[..flows as usize]);
        assert!(fairness > 0.98, "{flows} flows: {fairness}, {shares:?}");
    }
}

/// Section 3.4: more flows than packets fit on the way and into the port. TCP loses what does not fit; Swift goes below
/// one packet in a round trip, and loses what does not fit without that.
#[test]
fn an_incast_of_more_flows_than_fit_loses_nothing_once_windows_are_below_one_packet() {
    // 400 flows, where 8 packets fit on the way and 250 in the port.
    let settings = "[port]\nlimit = \"250pkt\"\n[host.transport.tcp]\ninitial_window = 1\n";
    let loss = |scheme: &str, more: &str| {
        let outcome = long_flows(scheme, 400, &format!("{settings}{more}"));
        let sent: u64 = rows(&outcome).iter().map(|row| row.packets).sum();
        (outcome.totals.drops.total() as f64 / sent as f64, waits(&outcome), shares(&outcome).iter().sum::<f64>())
    };
    let (swift, wait, used) = loss("swift", "");
    let (floor, ..) = loss("swift", "[host.congestion.swift]\nmin_cwnd = 1.0\n");
    let (tcp, ..) = loss("tcp", "");
    assert!(swift < 0.000_5, "Swift loses {swift}");
    // The target is 120 us above the way at most.
    assert!(wait < 125.0 && used > 0.99, "and packets wait {wait} us, at {used} of the link");
    assert!(floor > 0.01 && tcp > 0.1, "with windows of a packet and more Swift loses {floor}, and TCP {tcp}");
}

#[test]
fn a_lone_flow_has_the_whole_link_over_a_long_way() {
    let text =
        format!("{P9}[port]\nlimit = \"4MB\"\n[record]\nthroughput = \"1ms\"\n{}", listed(&[(0, 2, 60_000_000, 0)]));
    let outcome = run("swift", &text, 1);
    let share = shares(&outcome)[0];
    assert!(share > 0.99, "{share}");
    assert_eq!(outcome.totals.drops.total(), 0);
}

/// A first window goes at line rate, and the second round trip has one packet more: there is no slow start.
#[test]
fn windows_open_by_a_packet_in_a_round_trip() {
    const US: u64 = 1_000_000;
    let (slot, ack_slot) = (1_200_000, 32_000);
    let (one_way, back) = (2 * (20 * US + slot), 2 * (20 * US + ack_slot));
    let text = |packets: u64| star(2).replace("\"1us\"", "\"20us\"") + &listed(&[(0, 1, packets * 1460, 0)]);
    for packets in [1, 2, 10] {
        assert_eq!(fcts(&run("swift", &text(packets), 1))[0], one_way + (packets - 1) * slot);
    }
    for packets in 11..=20 {
        assert_eq!(fcts(&run("swift", &text(packets), 1))[0], one_way + back + one_way + (packets - 11) * slot);
    }
}

#[test]
fn a_transport_without_a_window_is_refused() {
    let text = star(2)
        + "[host]\ntransport = \"homa\"\n[port]\nclasses = 8\nclassifier = \"tag\"\n"
        + &listed(&[(0, 1, 1, 0)]);
    let problem = Scenario::new(&tree("swift", &text), 1, Path::new(".")).expect_err("Homa has no window");
    assert!(
        problem.message().contains("`host.congestion = \"swift\"` needs a transport with a window"),
        "{}",
        problem.render(false)
    );
}
