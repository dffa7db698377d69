//! What windows, marks, priorities and paths do together over many round trips.

use crate::common::{P9, bottleneck, fcts, in_words_of, listed, port, rows, run, schemes};
use tailcut_record::FlowRow;
use tailcut_sim::{EndReason, Outcome};

/// Four leaves of four hosts, four spines, all links 10 Gb/s and 2 us.
const FOUR_SPINES: &str = r#"
[topology.leaf-spine]
leaves = 4
hosts_per_leaf = 4
spines = 4
host_link = { rate = "10Gbps", delay = "2us" }
core_link = { rate = "10Gbps", delay = "2us" }
"#;

/// Packets of new data that a flow has sent so far.
fn progress(row: &FlowRow) -> f64 {
    (row.packets - row.retransmissions) as f64
}

fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|x| x * x).sum::<f64>())
}

// TCP: two flows of equal round trips share a bottleneck evenly in the long run.
#[test]
fn two_flows_of_equal_round_trips_share_a_bottleneck() {
    // Hosts are faster than the bottleneck. At the same rate the packets of a sender can come in step with the
    // departures of a full queue and find a place each time, while those of all others never do (Floyd and Jacobson,
    // "Traffic phase effects", 1992): that is fairness of clocks, not of TCP.
    let network = bottleneck(2, "40Gbps", "20us") + "receiver_link = { rate = \"10Gbps\", delay = \"20us\" }\n";
    for (scheme, second_start) in [("tcp", 0), ("tcp", 20_000_000), ("dctcp", 0), ("dctcp", 20_000_000)] {
        let shares = shares_after(&network, scheme, second_start, "1s");
        assert!(jain(&shares) > 0.95, "{scheme}, second at {second_start} ns: {shares:?}");
        let sent: f64 = shares.iter().sum::<f64>() * 1500.0 * 8.0 / 10e9;
        assert!(sent > 0.95, "{scheme}: {sent} s of packets went through in more than a second");
    }
}

/// Packets of two endless flows, the second of which starts so many nanoseconds later, this long after its start.
fn shares_after(network: &str, scheme: &str, second_start: u64, time: &str) -> Vec<f64> {
    const ENDLESS: u64 = 1_000_000_000_000;
    let flows = listed(&[(0, 2, ENDLESS, 0), (1, 2, ENDLESS, second_start)]);
    let outcome = run(scheme, &format!("{network}[run]\ndrain = \"{time}\"\n{flows}"), 1);
    assert_eq!(outcome.end, EndReason::CutOff);
    rows(&outcome).iter().map(progress).collect()
}

#[test]
fn a_flow_that_was_alone_gives_way_to_a_second_one() {
    // The first flow is alone for 20 ms. What the second one gets of the next 10 ms should not depend on whether the
    // first one was limited by its own link before or by that of the receiver.
    let fast = bottleneck(2, "40Gbps", "20us") + "receiver_link = { rate = \"10Gbps\", delay = \"20us\" }\n";
    let [same, fast] =
        [bottleneck(2, "10Gbps", "20us"), fast].map(|network| shares_after(&network, "dctcp", 20_000_000, "10ms")[1]);
    assert!(same > fast / 2.0, "{same} packets of the second flow, and {fast} with faster hosts");
}

/// Two long flows and, beside the bottleneck, two small ones that begin and end the measurement.
fn two_long_flows(scheme: &str, from: &str, until: &str) -> Outcome {
    let text = bottleneck(4, "10Gbps", "20us")
        + &format!(
            "[record]\nqueue_sample = \"1.3us\"\nqueue_histogram = true\n[run]\ndrain = \"1us\"\n[workload]\nwarmup = 0.5\n\
             [workload.traffic.listed]\nlist = [\n\
             {{ src = 0, dst = 4, size = \"10GB\" }}, {{ src = 1, dst = 4, size = \"10GB\" }},\n\
             {{ src = 2, dst = 3, size = \"1B\", start = \"{from}\" }}, {{ src = 2, dst = 3, size = \"1B\", start = \"{until}\" }}]\n"
        );
    run(scheme, &text, 1)
}

// DCTCP: 10 Gb/s, 80 us, K = 65 packets, a product of bandwidth and delay of 67 packets.
#[test]
fn two_long_dctcp_flows_keep_the_queue_near_the_threshold_and_the_link_full() {
    const PACKET: u64 = 1500;
    let (k, flows, bdp) = (65, 2, 67);
    // From the start on, slow start included.
    let outcome = two_long_flows("dctcp", "0.1us", "100ms");
    let queue = port(&outcome, "switch0", "host4").queue.unwrap();
    // The windows that first reach K waiting packets, K + BDP together, double in the round trip until the marks are
    // seen.
    assert!(queue.max_bytes <= (k + (k + bdp) + 2 * flows) * PACKET, "{queue:?}");
    assert_eq!(outcome.totals.drops.total(), 0);

    let outcome = two_long_flows("dctcp", "10ms", "110ms");
    let row = port(&outcome, "switch0", "host4");
    let queue = row.queue.unwrap();
    assert!(queue.max_bytes <= (k + 2 * flows) * PACKET, "in the long run: {queue:?}");
    // The sawtooth of the paper (section 3.3): from K + N down by half the root of 2N(C x RTT + K).
    let depth = 0.5 * (2.0 * flows as f64 * (bdp + k) as f64).sqrt();
    let middle = (k + flows) as f64 - depth / 2.0;
    assert!((queue.mean_bytes / PACKET as f64 - middle).abs() < depth, "around {middle}: {queue:?}");
    assert!(row.utilisation > 0.9999, "{}", row.utilisation);
    // It never empties: not at any sample, and not between them.
    let samples = outcome.queues.all().packets();
    let zeros = samples.iter().next().filter(|(packets, _)| *packets == 0).unwrap().1;
    assert_eq!(zeros, samples.total() / 5 * 4, "of five ports, four are always empty and one never");
    let bins = row.queue_histogram.as_ref().unwrap();
    assert_eq!((bins[0].0, bins[0].1.as_ps()), (1, 0));
    // Both have an even share.
    let shares: Vec<f64> = rows(&outcome)[..2].iter().map(progress).collect();
    assert!(jain(&shares) > 0.99, "{shares:?}");
}

#[test]
fn without_marks_the_same_flows_fill_the_buffer() {
    let queue = port(&two_long_flows("tcp", "10ms", "110ms"), "switch0", "host4").queue.unwrap();
    assert!(queue.max_bytes > 230 * 1500, "{queue:?}");
}

/// The same limit and threshold for DCTCP and Slytherin: DCTCP's marker made inclusive, as Slytherin's is.
const SAME_PORT: &str = "[port]\nlimit = \"4MB\"\n[port.marker.step]\nthreshold = \"100KB\"\ninclusive = true\n";

/// A long flow from host 0 to host 2, and after ten round trips twenty flows from host 1 to host 3.
fn convergence(topology: &str) -> String {
    let mut flows = vec![(0, 2, 10_000_000, 0)];
    flows.extend([(1, 3, 500_000, 800_000); 20]);
    topology.to_owned() + SAME_PORT + &listed(&flows)
}

// One congested link: no marked packet ever waits behind an unmarked one.
#[test]
fn behind_a_single_bottleneck_slytherin_is_dctcp() {
    let [dctcp, slytherin] = ["dctcp", "slytherin"].map(|scheme| run(scheme, &convergence(P9), 1));
    assert!(rows(&dctcp)[0].ce_marks > 100 && dctcp.totals.drops.total() == 0);
    assert_eq!(fcts(&dctcp), fcts(&slytherin));
    assert_eq!(dctcp.flows, slytherin.flows);
    assert_eq!(dctcp.engine.digest, slytherin.engine.digest);
    assert!(rows(&slytherin).iter().all(|row| row.reordered == 0));
}

#[test]
fn behind_a_second_bottleneck_marked_packets_overtake_under_slytherin_only() {
    // Hosts 0 to 2 at the first switch keep its link congested; now and then host 3 at the second sends a hundred
    // packets.
    let line = r#"
[topology.dumbbell]
switches_in_line = 3
left_hosts = 3
hosts_per_middle_switch = 1
right_hosts = 2
host_link = { rate = "10Gbps", delay = "10us" }
core_link = { rate = "10Gbps", delay = "10us" }
"#;
    let mut flows: Vec<_> = (0..3).map(|src| (src, 4, 10_000_000, 0)).collect();
    flows.extend((1..6).flat_map(|burst| [(3, 5, 14_600, burst * 3_000_000); 10]));
    let [dctcp, slytherin] =
        ["dctcp", "slytherin"].map(|scheme| run(scheme, &(line.to_owned() + SAME_PORT + &listed(&flows)), 1));
    let reordered = |outcome: &Outcome| rows(outcome).iter().map(|row| row.reordered).sum::<u64>();
    assert_eq!(reordered(&dctcp), 0);
    assert!(reordered(&slytherin) > 10, "{}", reordered(&slytherin));
    // Only what was marked upstream overtakes: the flows of the second switch stay in order.
    assert!(rows(&slytherin)[3..].iter().all(|row| row.reordered == 0 && row.ce_marks > 0));
    assert_ne!(dctcp.engine.digest, slytherin.engine.digest);
}

// PIAS: later packets of a flow never have a higher priority, so that they cannot overtake on one path. Under Homa they
// may, as other messages of their receiver end.
#[test]
fn on_one_path_and_without_loss_only_slytherin_homa_and_several_subflows_reorder() {
    let mut flows: Vec<(u32, u32, u64, u64)> = (0..60u32)
        .map(|i| (i % 16, (i * 7 + 5) % 16, 20_000 + 30_000 * u64::from(i % 8), u64::from(i) * 2_000))
        .collect();
    flows.retain(|flow| flow.0 != flow.1);
    // No timeout for flows that wait for others.
    let seats = "[port]\nlimit = \"4MB\"\n[host.transport.tcp]\nmin_rto = \"10ms\"\n[host.tag]\n";
    let text = format!("path = \"flow-ecmp\"\n{FOUR_SPINES}{seats}{}", listed(&flows));
    let reorders = |scheme: &str| scheme.starts_with("slytherin") || ["homa", "mp-pdq"].contains(&scheme);
    for scheme in schemes().into_iter().filter(|scheme| !reorders(scheme)) {
        let text = text.replace(
            "[host.tag]\n",
            match scheme {
                "pias" => "[host.tag.pias]\nthresholds = [\"10KB\", \"50KB\", \"90KB\"]\n",
                // Or its NICs would drop.
                "spq" => "[host.order.las]\nlimit = \"10000pkt\"\n",
                _ => "",
            },
        );
        let text = if crate::common::cases::has_agent(scheme) {
            let transport = scheme.split(['-', '@']).next().expect("a name has a first part");
            let timer = format!("[host.transport.{transport}.common]\nmin_rto");
            text.replace("[host.transport.tcp]\nmin_rto", &timer).replace("flow-ecmp", "symmetric")
        } else {
            in_words_of(scheme, &text)
        };
        // The NICs of Qjump hold as few packets as its ports, and would drop.
        let text = match scheme.starts_with("qjump") {
            true => format!("nic.queue.limit = \"4MB\"\n{text}"),
            false => text,
        };
        let outcome = run(scheme, &text, 1);
        assert_eq!(outcome.totals.drops.total(), 0, "{scheme}");
        for row in rows(&outcome) {
            assert_eq!((row.reordered, row.retransmissions, row.timeouts), (0, 0, 0), "{scheme}: {row:?}");
        }
    }
}

/// Packets on each of the uplinks of leaf 0.
fn uplinks(outcome: &Outcome) -> [u64; 4] {
    [0, 1, 2, 3].map(|spine| port(outcome, "leaf0", &format!("spine{spine}")).packets)
}

#[test]
fn a_flow_takes_one_way_under_ecmp_and_many_flows_take_all() {
    for nth in 0..8 {
        let before: Vec<_> = (0..nth).map(|_| (4, 8, 1, 0)).collect();
        let flows = [before, vec![(0, 12, 1000 * 1460, 1)]].concat();
        let packets = uplinks(&run("dctcp", &(FOUR_SPINES.to_owned() + &listed(&flows)), 1));
        let mut sorted = packets;
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 0, 0, 1000], "flow {nth}: {packets:?}");
    }
    let flows: Vec<_> = (0..4000).map(|nth| (nth as u32 % 4, 12, 1460, nth * 2_000)).collect();
    let packets = uplinks(&run("dctcp", &(FOUR_SPINES.to_owned() + &listed(&flows)), 1));
    assert_eq!(packets.iter().sum::<u64>(), 4000);
    // A standard deviation is 27.
    assert!(packets.iter().all(|packets| (880..=1120).contains(packets)), "{packets:?}");
}

#[test]
fn a_thousand_packets_in_turns_over_four_spines_are_250_on_each() {
    let spray = "path = \"round-robin\"\n".to_owned() + FOUR_SPINES + "[host.transport.tcp]\nfast_retransmit = false\n";
    let outcome = run("dctcp", &(spray + &listed(&[(0, 12, 1000 * 1460, 0)])), 1);
    assert_eq!(uplinks(&outcome), [250; 4]);
    let row = &rows(&outcome)[0];
    assert_eq!((row.packets, row.reordered), (1000, 0), "ways of equal length keep the order in an idle network");
}

#[test]
fn random_spraying_uses_all_ways_and_reorders_beside_other_flows() {
    let spray = "path = \"spray\"\n".to_owned() + FOUR_SPINES + "[host.transport.tcp]\nfast_retransmit = false\n";
    let flows: Vec<_> = (0..4).map(|src| (src, 12 + src, 1000 * 1460, 0)).collect();
    let outcome = run("dctcp", &(spray + &listed(&flows)), 1);
    let packets = uplinks(&outcome);
    assert_eq!(packets.iter().sum::<u64>(), 4000);
    assert!(packets.iter().all(|packets| (880..=1120).contains(packets)), "{packets:?}");
    assert!(rows(&outcome).iter().all(|row| row.reordered > 10 && row.retransmissions == 0));
}

// Four hosts of 10 Gb/s on a leaf with two uplinks: they offer twice what leaves it.
#[test]
fn oversubscribed_uplinks_carry_half_of_what_their_hosts_offer() {
    let network = "path = \"round-robin\"\n".to_owned() + &FOUR_SPINES.replace("spines = 4", "spines = 2");
    // Every host of two leaves sends to its own partner on the other two.
    let mut flows: Vec<_> = (0..8).map(|src| (src, src + 8, 1_000_000_000, 0)).collect();
    flows.push((15, 14, 1, 20_000_000));
    let rest = "[host.transport.tcp]\nfast_retransmit = false\n[run]\ndrain = \"1us\"\n";
    let outcome = run("dctcp", &(network + rest + &listed(&flows)), 1);
    let goodput: f64 = rows(&outcome)[..8].iter().map(progress).sum::<f64>() * 1500.0 * 8.0 / 0.02;
    // Two leaves with two uplinks of 10 Gb/s each, and 80 Gb/s offered.
    assert!(goodput <= 40.2e9 && goodput > 38e9, "{goodput}");
    for leaf in ["leaf0", "leaf1"] {
        for spine in ["spine0", "spine1"] {
            let utilisation = port(&outcome, leaf, spine).utilisation;
            assert!(utilisation > 0.95 && utilisation <= 1.0001, "{leaf} {spine}: {utilisation}");
        }
    }
}

/// Packets that are sprayed over slow links beat the ideal, which is that of one way. That nothing is faster than links
/// allow is asked of the moment when the last byte arrives, also where the time of a flow ends with an ACK.
#[test]
fn a_flow_that_beats_its_ideal_may_end_with_an_ack() {
    let text = format!(
        "path = \"spray\"\n{}[record]\ncompletion = \"acknowledged\"\n{}",
        FOUR_SPINES.replace("core_link = { rate = \"10Gbps\"", "core_link = { rate = \"1Gbps\""),
        listed(&[(0, 12, 8 * 1460, 0)])
    );
    let outcome = run("dctcp", &text, 1);
    let row = &rows(&outcome)[0];
    let received = row.received.unwrap().since(row.start).unwrap();
    assert!(received < row.ideal && row.fct().unwrap() > received, "{received} {}", row.ideal);
}
