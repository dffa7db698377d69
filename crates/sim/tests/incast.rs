//! Incasts under pacing, receive windows and neither.

use crate::common::{P1, fcts, listed, port, rows, run};

const US: u64 = 1_000_000;
const SLOT: u64 = 1_200_000;
const P1_ONE_WAY: u64 = 4 * (10 * US + SLOT);
const P1_RTT: u64 = P1_ONE_WAY + 4 * (10 * US + 32_000);

/// One query at host 0 of P1, at 10 us, to as many hosts of other racks as there are answers of 32 KB; ports of 225 KB.
fn incast(degree: u32, handshake: &str) -> String {
    format!(
        "{P1}[host.transport.tcp]\nhandshake = \"{handshake}\"\n[port]\nlimit = \"225KB\"\n\
         [workload]\nflows = {degree}\nwarmup = 0.0\n[workload.traffic.incast]\nrate = 1000.0\nsizes.fixed = \"32KB\"\n\
         incast = {{ degree = {degree}, aggregators = 1 }}\n"
    )
}

#[test]
fn a_paced_window_takes_nine_tenths_of_a_round_trip() {
    // Ten packets in the base round trip of 80 us; the first ACK comes after all of them have left.
    for scheme in ["icon", "ia-icon", "icon-cn"] {
        for packets in [1, 2, 5, 10] {
            let fct = fcts(&run(scheme, &(P1.to_owned() + &listed(&[(0, 399, packets * 1460, 0)])), 1))[0];
            assert_eq!(fct, P1_ONE_WAY + (packets - 1) * 8 * US, "{scheme}, {packets} packets");
        }
    }
}

#[test]
fn a_coarse_clock_paces_in_steps() {
    // Every 8 us by a clock of 5 us: at 0, 10, 20, 25, 35, 40, 50, 60, 65 and 75.
    let text = format!("{P1}[host.pace.icon]\nclock = \"5us\"\n{}", listed(&[(0, 399, 14_600, 0)]));
    assert_eq!(fcts(&run("icon", &text, 1))[0], P1_ONE_WAY + 75 * US);
}

#[test]
fn under_ictcp_a_flow_starts_with_two_segments() {
    // Two at once; the ACK of each lets one more out, a round trip after it left, and so does the next.
    for (packets, rounds, rest) in [(1, 0, 0), (2, 0, 1), (3, 1, 0), (4, 1, 1), (6, 2, 1)] {
        let fct = fcts(&run("ictcp", &(P1.to_owned() + &listed(&[(0, 399, packets * 1460, 0)])), 1))[0];
        assert_eq!(fct, P1_ONE_WAY + rounds * P1_RTT + rest * SLOT, "{packets} packets");
    }
}

#[test]
fn a_single_sender_that_knows_is_one_that_does_not() {
    let digests = ["icon", "ia-icon"].map(|scheme| run(scheme, &incast(1, "none"), 3).engine.digest);
    assert_eq!(digests[0], digests[1]);
}

/// ICON's claim in one round: an isolated incast of 20, 26 or 32 loses nothing, where unpaced windows of ten overflow
/// 225 KB.
#[test]
fn an_isolated_incast_loses_nothing_under_icon_and_much_without() {
    for degree in [20, 26, 32] {
        for handshake in ["none", "one-rtt"] {
            let drops = |scheme| -> u64 {
                let outcome = run(scheme, &incast(degree, handshake), 1);
                assert!(rows(&outcome).iter().all(|row| row.received.is_some()));
                rows(&outcome).iter().map(|row| row.drops).sum()
            };
            assert_eq!(drops("icon"), 0, "icon, {degree}, {handshake}");
            assert_eq!(drops("icon-cn"), 0, "icon-cn, {degree}, {handshake}");
            assert!(drops("dctcp") > 0, "dctcp, {degree}, {handshake}");
        }
    }
}

/// With 40 senders and a floor of two segments 80 packets are all that can wait for the sink.
#[test]
fn forty_flows_of_ictcp_have_two_segments_each_on_their_way() {
    let drops = |packets: u64| -> u64 {
        let text = incast(40, "none").replace("225KB", &format!("{packets}pkt"));
        rows(&run("ictcp", &text, 2)).iter().map(|row| row.drops).sum()
    };
    assert_eq!(drops(80), 0);
    assert!(drops(30) > 0, "the first packets of 40 senders alone overflow it");
}

/// On persistent connections the sink tells its workers of a new degree, and of nothing else: what it sends beside an
/// ACK for each packet are updates.
#[test]
fn a_sink_sends_updates_if_and_only_if_the_degree_changes() {
    let updates = |degree: &str| -> u64 {
        let text = format!(
            "{P1}[workload]\nflows = 400\nwarmup = 0.0\n[workload.traffic.incast]\nrate = 1000.0\nsizes.fixed = \"8KB\"\n\
             incast = {{ degree{degree}, aggregators = 1 }}\n"
        );
        let outcome = run("icon", &text, 4);
        let sink = rows(&outcome)[0].dst;
        let nic = port(&outcome, &format!("host{sink}"), &format!("leaf{}", sink / 20));
        let arrived: u64 = rows(&outcome).iter().map(|row| row.packets - row.drops).sum();
        nic.packets - arrived
    };
    assert_eq!(updates(" = 60"), 0);
    let told = updates(".uniform = { min = 50, max = 80 }");
    assert!(told > 0, "workers that are asked again hear of the new degree");
}

/// Two hundred endless flows whose packets are all marked: each keeps the packets of the smallest window on the way, of
/// which the links hold 14 KB, an idle round trip at 25 Gb/s. An ACK with ECN echo that opened the window would double
/// them with a floor of one (RFC 3168, section 6.1.2).
#[test]
fn where_every_packet_is_marked_each_flow_of_dctcp_keeps_its_smallest_window() {
    const FLOWS: u32 = 200;
    let network =
        format!("[topology.star]\nhosts = {}\nhost_link = {{ rate = \"25Gbps\", delay = \"1us\" }}\n", FLOWS + 1);
    let mut flows: Vec<_> = (0..FLOWS).map(|src| (src, FLOWS, 20_000_000, 37 * u64::from(src))).collect();
    // Queues are sampled until the last flow begins.
    flows.push((0, 1, 1, 12_000_000));
    // A window that opens again on echoes holds one or two packets, and mostly two.
    for (congestion, floor, grow, packets, within) in [
        ("dctcp", 1, false, 1, 3_000),
        ("dctcp", 2, false, 2, 3_000),
        ("dctcp", 1, true, 2, 6_000),
        ("l2dct", 1, false, 1, 3_000),
        ("d2tcp", 1, false, 1, 3_000),
    ] {
        let text = format!(
            "port.limit = \"4MB\"\nport.marker.step.threshold = \"65pkt\"\nrun.drain = \"1us\"\n\
             record = {{ queue_sample = \"20us\", queue_series = true }}\n\
             host.congestion.{congestion} = {{ floor = {floor}, grow_on_ece = {grow} }}\n{network}{}",
            listed(&flows)
        );
        let outcome = run("dctcp", &text, 1);
        // Samples that repeat the one before are left out: the last one is that of the end.
        let last = port(&outcome, "switch0", &format!("host{FLOWS}")).port;
        let queue = outcome.queue_series.iter().rfind(|sample| sample.port == last).expect("it is sampled").bytes;
        let expected = u64::from(FLOWS * packets * 1_500) - 14_000;
        assert!(queue.abs_diff(expected) <= within, "{congestion} {floor} {grow}: {queue} B, not {expected} B");
    }
}
