//! Completion times that can be computed by hand, exact to the picosecond.

use proptest::prelude::*;
use tailcut_base::{HostId, Span};

use crate::common::cases::{config, networks};
use crate::common::{
    P1, P2, P3, P4, P9, bottleneck, fcts, in_words_of, listed, port, rows, run, scenario, schemes, star,
};

/// Picoseconds.
const US: u64 = 1_000_000;
/// A full packet and a pure ACK at 10 Gb/s.
const SLOT: u64 = 1_200_000;
const ACK_SLOT: u64 = 32_000;
/// Between two racks of P1: a full packet, and with its ACK.
const P1_ONE_WAY: u64 = 4 * (10 * US + SLOT);
const P1_RTT: u64 = P1_ONE_WAY + 4 * (10 * US + ACK_SLOT);

/// Links of a way, as Gb/s and picoseconds of delay.
type Links = Vec<(u64, u64)>;

/// The completion time of a flow whose packets leave one right after the other: each link sends a packet when it has
/// all of it and has sent the one before.
fn store_and_forward(links: &[(u64, u64)], size: u64) -> u64 {
    let mut sent = vec![0; links.len()];
    let mut arrived = 0;
    for offset in (0..size).step_by(1460) {
        let wire_bits = (1460.min(size - offset) + 40) * 8;
        arrived = 0;
        for (sent, (gbps, delay)) in sent.iter_mut().zip(links) {
            *sent = arrived.max(*sent) + wire_bits * 1000 / gbps;
            arrived = *sent + delay;
        }
    }
    arrived
}

#[test]
fn one_packet_in_an_idle_network_takes_its_delays_and_transmissions() {
    let idle =
        |topology: &str, src, dst| fcts(&run("dctcp", &(topology.to_owned() + &listed(&[(src, dst, 1460, 0)])), 1))[0];
    assert_eq!(idle(P1, 0, 399), 44_800_000, "between racks: 4 x (10 + 1.2) us");
    assert_eq!(idle(P1, 0, 1), 22_400_000, "within a rack");
    assert_eq!(idle(P2, 0, 399), 43_000_000, "40 + 1.2 + 0.3 + 0.3 + 1.2 us");
    assert_eq!(idle(P2, 380, 399), 22_400_000, "within a rack");
    for topology in [P3, P4] {
        assert_eq!(idle(topology, 0, 143), 43_800_000, "40.8 + 1.2 + 0.3 + 0.3 + 1.2 us");
        assert_eq!(idle(topology, 0, 1), 42_800_000, "40.4 + 2.4 us");
    }
    assert_eq!(idle(P9, 0, 2), 43_599_000, "3 x (13.333 + 1.2) us");
    assert_eq!(idle(P9, 3, 2), 29_066_000, "on one side");
}

/// The schemes that send a window as fast as the link takes it.
fn at_once() -> impl Iterator<Item = &'static str> {
    schemes().into_iter().filter(|scheme| !crate::common::is_held_back(scheme))
}

#[test]
fn in_an_idle_network_every_scheme_takes_the_same_hand_computed_time() {
    let (p1, p2, p3) = ((10, 10 * US), (40, 10 * US), [(10, 20_200_000), (40, 200_000)]);
    let p9 = (10, 13_333_000);
    // From the first host to the last, and between the first two.
    let networks: [(&str, u32, Links, Links); 5] = [
        (P1, 400, vec![p1; 4], vec![p1; 2]),
        (P2, 400, vec![p1, p2, p2, p1], vec![p1; 2]),
        (P3, 144, vec![p3[0], p3[1], p3[1], p3[0]], vec![p3[0]; 2]),
        (P4, 144, vec![p3[0], p3[1], p3[1], p3[0]], vec![p3[0]; 2]),
        (P9, 4, vec![p9; 3], vec![p9; 2]),
    ];
    // One packet, a short last packet, and up to the initial window of 10.
    let sizes = [1, 41, 1459, 1460, 1461, 2920, 2921, 7300, 13_139, 13_140, 13_141, 14_599, 14_600];
    for (topology, hosts, far, near) in &networks {
        // A millisecond for each flow, which needs a tenth of it.
        let pairs = [(0, hosts - 1, far), (hosts - 1, 0, far), (0, 1, near)];
        let cases: Vec<_> = pairs.iter().flat_map(|pair| sizes.map(|size| (pair, size))).collect();
        let flows = (0..).zip(&cases).map(|(nth, ((src, dst, _), size))| (*src, *dst, *size, nth * 1_000_000));
        let flows = listed(&flows.collect::<Vec<_>>());
        for scheme in at_once() {
            // Some schemes have timeouts that are shorter than the round trips of these networks, or let short packets
            // overtake on another way.
            let timeout = match scheme {
                "homa" => "[host.transport.homa]\nrtt_bytes = \"14600B\"\n",
                _ => "[host.transport.tcp]\nmin_rto = \"10ms\"\n",
            };
            let text = in_words_of(scheme, &format!("path = \"flow-ecmp\"\n{topology}{timeout}{flows}"));
            let outcome = run(scheme, &text, 1);
            for (row, ((_, _, links), size)) in rows(&outcome).iter().zip(&cases) {
                let expected = store_and_forward(links, *size);
                assert_eq!(row.fct().unwrap().as_ps(), expected, "{scheme}: {size} B from {} to {}", row.src, row.dst);
                assert_eq!(row.ideal.as_ps(), expected, "{size} B from {} to {}", row.src, row.dst);
                let facts = (row.packets, row.retransmissions, row.drops, row.reordered, row.ce_marks);
                assert_eq!(facts, (size.div_ceil(1460), 0, 0, 0, 0));
            }
        }
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// On any network, with links that differ and delays at switches, an idle way takes its closed form.
    #[test]
    fn an_idle_way_of_any_network_takes_its_closed_form(
        (network, hosts, _) in networks(),
        pairs in prop::collection::vec((any::<u32>(), any::<u32>(), 1u64..14_600), 1..8),
        seed in 0u64..1_000,
    ) {
        prop_assume!(hosts > 1);
        let ends = |&(src, step, size): &(u32, u32, u64)| {
            let src = src % hosts;
            (src, (src + 1 + step % (hosts - 1)) % hosts, size)
        };
        // A second for each flow.
        let at = |(nth, (src, dst, size))| (src, dst, size, nth * 1_000_000_000);
        let flows: Vec<_> = (0u64..).zip(pairs.iter().map(ends)).map(at).collect();
        let tcp = "[host.transport.tcp]\ninitial_window = 10\nmin_rto = \"900ms\"\n";
        let ports = "[port]\nlimit = \"1MB\"\n";
        let text = format!("path = \"flow-ecmp\"\n{network}{ports}{tcp}{}", listed(&flows));
        let outcome = run("tcp", &text, seed);
        let made = scenario("tcp", &text, seed);
        for (row, (src, dst, size, _)) in rows(&outcome).iter().zip(&flows) {
            let links = made.network().route(HostId(*src), HostId(*dst)).links;
            let (mut sent, mut arrived) = (vec![0; links.len()], 0);
            for offset in (0..*size).step_by(1460) {
                arrived = 0;
                for (sent, link) in sent.iter_mut().zip(&links) {
                    *sent = arrived.max(*sent) + link.rate.tx_time(1460.min(size - offset) + 40).as_ps();
                    arrived = *sent + link.delay.as_ps();
                }
            }
            prop_assert_eq!(row.fct().unwrap().as_ps(), arrived, "{} B from {} to {}", size, src, dst);
        }
    }
}

#[test]
fn a_larger_initial_window_is_sent_whole() {
    // 70 packets: what the public scripts of PIAS take as the product of bandwidth and round trip.
    let text = P3.to_owned() + "[host.transport.tcp]\ninitial_window = 70\n";
    let links = [(10, 20_200_000), (40, 200_000), (40, 200_000), (10, 20_200_000)];
    for size in [102_200, 102_199, 100_741] {
        let fct = fcts(&run("dctcp", &(text.clone() + &listed(&[(0, 143, size, 0)])), 1))[0];
        assert_eq!(fct, store_and_forward(&links, size), "{size} B");
    }
    assert_eq!(store_and_forward(&links, 102_200), 43_800_000 + 69 * SLOT);
}

#[test]
fn a_first_window_follows_its_first_packet_at_line_rate() {
    // Ten packets leave one after the other; the last lands nine transmissions after the first.
    let fct = fcts(&run("tcp", &(P1.to_owned() + &listed(&[(0, 399, 14_600, 0)])), 1))[0];
    assert_eq!(fct, 44_800_000 + 9 * 1_200_000);
}

#[test]
fn one_byte_more_than_the_window_waits_for_the_first_ack() {
    // The first ACK leaves at 44.8 us and takes 4 x (10 us + 32 ns) back; the eleventh packet carries 1 B.
    let fct = fcts(&run("tcp", &(P1.to_owned() + &listed(&[(0, 399, 14_601, 0)])), 1))[0];
    assert_eq!(fct, 44_800_000 + 4 * (10 * US + 32_000) + 4 * (10 * US + 32_800));
}

#[test]
fn the_last_ack_comes_half_a_round_trip_after_the_last_byte() {
    let outcome = run("tcp", &(P1.to_owned() + &listed(&[(0, 399, 1460, 5)])), 1);
    let row = &rows(&outcome)[0];
    assert_eq!(row.acknowledged.unwrap().since(row.start).unwrap().as_ps(), P1_RTT);
    assert_eq!(outcome.ended_at.as_ps(), 5_000 + P1_RTT);
}

#[test]
fn flows_one_after_the_other_take_as_long_as_one_times_their_number() {
    // Each starts at the moment at which the one before has arrived; ACKs on the way back are in nobody's way.
    for (size, each) in
        [(1460, P1_ONE_WAY), (14_600, P1_ONE_WAY + 9 * SLOT), (30 * 1460, P1_ONE_WAY + P1_RTT + 19 * SLOT)]
    {
        let flows: Vec<_> = (0..50).map(|nth| (0, 399, size, nth * each / 1000)).collect();
        // Homa has no window that doubles.
        for scheme in at_once().filter(|&scheme| scheme != "homa") {
            let window = "[host.transport.tcp]\ninitial_window = 10\nmin_rto = \"10ms\"\n";
            let text = in_words_of(scheme, &format!("{P1}{window}{}", listed(&flows)));
            let outcome = run(scheme, &text, 1);
            assert!(fcts(&outcome).iter().all(|&fct| fct == each), "{scheme}");
            assert_eq!(rows(&outcome)[49].received.unwrap().as_ps(), 50 * each, "{scheme}");
        }
    }
}

#[test]
fn the_window_doubles_each_round_trip_of_a_real_network() {
    let fct = |size| fcts(&run("dctcp", &(P1.to_owned() + &listed(&[(0, 399, size, 0)])), 1))[0];
    for round in 0..4u32 {
        // 10 + 20 + 40 + ... packets: the ACKs of a window come one slot apart, and each sends two packets.
        let window = 10 << round;
        let packets = 2 * window - 10;
        let start = u64::from(round) * P1_RTT;
        assert_eq!(fct(packets * 1460), start + (window - 1) * SLOT + P1_ONE_WAY, "{packets} packets");
        if round < 3 {
            // While the window is shorter than the round trip, one byte more waits for the next one.
            let one_byte = 4 * (10 * US + 32_800);
            assert_eq!(fct(packets * 1460 + 1), start + P1_RTT + one_byte, "{packets} packets and a byte");
        }
    }
    // From the fourth window on, 80 packets, the sender never pauses.
    let busy_from = 3 * P1_RTT;
    assert_eq!(fct(1000 * 1460), busy_from + (1000 - 70 - 1) * SLOT + P1_ONE_WAY);
}

#[test]
fn a_flow_of_a_limited_window_takes_a_round_trip_for_each_window() {
    let text = P1.to_owned() + "[host.transport.tcp]\nmax_window = 10\n";
    for windows in [1, 2, 7, 30] {
        let fct = fcts(&run("tcp", &(text.clone() + &listed(&[(0, 399, windows * 14_600, 0)])), 1))[0];
        assert_eq!(fct, (windows - 1) * P1_RTT + 9 * SLOT + P1_ONE_WAY, "{windows} windows");
    }
}

#[test]
fn a_handshake_adds_one_round_trip_of_headers() {
    let text = P1.to_owned() + "[host.transport.tcp]\nhandshake = \"one-rtt\"\n" + &listed(&[(0, 399, 1460, 0)]);
    assert_eq!(fcts(&run("tcp", &text, 1))[0], 8 * (10 * US + 32_000) + 44_800_000);
}

#[test]
fn a_delayed_ack_covers_two_packets() {
    let delayed = |window: u32, size| {
        let text = P1.to_owned()
            + &format!("[host.transport.tcp]\ninitial_window = {window}\ndelayed_ack = {{ timeout = \"500us\" }}\n");
        run("tcp", &(text + &listed(&[(0, 399, size, 0)])), 1)
    };
    // The first ACK is for the first two packets: the eleventh waits for the second one to arrive.
    let outcome = delayed(10, 11 * 1460);
    assert_eq!(fcts(&outcome), [SLOT + P1_RTT + P1_ONE_WAY]);
    // Five ACKs for ten packets, and one at once for the last.
    assert_eq!(port(&outcome, "host399", "leaf19").packets, 6);
    // A window of one packet waits until the ACK cannot be delayed any more; the last packet is acknowledged at once.
    let row = &rows(&delayed(1, 2 * 1460))[0];
    let first = P1_ONE_WAY + 500 * US + (P1_RTT - P1_ONE_WAY);
    assert_eq!(row.fct().unwrap().as_ps(), first + P1_ONE_WAY);
    assert_eq!(row.acknowledged.unwrap().as_ps(), first + P1_RTT);
    // A flow of one packet has nothing to wait for.
    assert_eq!(rows(&delayed(1, 1460))[0].acknowledged.unwrap().as_ps(), P1_RTT);
}

/// A flow that is alone takes its ideal time, and meets a deadline of just that, if both have the same parts.
#[test]
fn an_ideal_time_has_the_handshake_and_the_last_ack_that_are_asked_for() {
    let one = |size: u64, ideal: &str| {
        let text = "[host.transport.tcp]\nhandshake = \"one-rtt\"\ninitial_window = 100\n\
                    [record]\ncompletion = \"acknowledged\"\n"
            .to_owned();
        let flow = format!(
            "[workload]\nload = 0.1\nflows = 1\ntraffic.a = {{ share = 1.0, sizes.fixed = \"{size}B\", endpoints = \"uniform\", \
             deadline.slack = 1.0 }}\n"
        );
        rows(&run("tcp", &(star(3) + &text + ideal + &flow), 1)).remove(0)
    };
    let header_way = 2 * (US + ACK_SLOT);
    for size in [1, 1460, 7300, 100_000] {
        let data = one(size, "");
        assert_eq!(data.fct().unwrap(), data.ideal + Span::from_ps(3 * header_way), "{size} B");
        let alone = one(size, "ideal = { handshake = true, last_ack = true }\n");
        assert_eq!(alone.fct(), data.fct(), "it changes no time");
        assert_eq!(alone.fct(), Some(alone.ideal), "{size} B");
        let with_ack = one(size, "ideal.last_ack = true\n");
        assert_eq!(with_ack.ideal, data.ideal + Span::from_ps(header_way));
        let missed = [&data, &with_ack, &alone].map(|row| row.fct() > row.deadline);
        assert_eq!(missed, [true, true, false], "{size} B");
    }
}

#[test]
fn the_order_of_a_host_decides_which_of_its_flows_ends_first() {
    let last_slots = |order: &str| {
        let text = star(4) + &format!("[host]\norder = \"{order}\"\n");
        let outcome = run("tcp", &(text + &listed(&[(0, 1, 14_600, 0), (0, 2, 14_600, 0), (0, 3, 2920, 0)])), 1);
        // In transmissions of the NIC, counted from 1; one more transmission at the switch and two delays follow.
        fcts(&outcome).iter().map(|fct| (fct - 2 * US) / SLOT - 1).collect::<Vec<_>>()
    };
    // a is alone when its first packet leaves; then a, b, c, a, b, c, and at last a and b in turn.
    assert_eq!(last_slots("round-robin"), [20, 22, 7]);
    assert_eq!(last_slots("fifo"), [10, 20, 22]);
}

#[test]
fn an_ack_waits_for_the_packet_on_the_wire_and_goes_before_the_data_of_its_host() {
    let text = star(3) + "[host.transport.tcp]\ninitial_window = 100\n";
    let outcome = run("tcp", &(text + &listed(&[(0, 1, 100 * 1460, 0), (2, 0, 1460, 0)])), 1);
    let [busy, other] = &rows(&outcome)[..] else { panic!("there are two flows") };
    // The packet lands at 4.4 us, while the fourth of host 0 is on the wire until 4.8 us.
    let lands = 2 * (US + SLOT);
    assert_eq!(other.fct().unwrap().as_ps(), lands);
    assert_eq!(other.acknowledged.unwrap().as_ps(), 4 * SLOT + 2 * (US + ACK_SLOT));
    // The data behind it is late by the time of the ACK.
    assert_eq!(busy.fct().unwrap().as_ps(), lands + 99 * SLOT + ACK_SLOT);
}

#[test]
fn flows_from_many_senders_share_a_bottleneck_exactly() {
    // Eight windows of ten packets arrive at once: the last packet leaves after all of them.
    let flows: Vec<_> = (0..8).map(|src| (src, 8, 14_600, 0)).collect();
    let outcome = run("tcp", &(bottleneck(8, "10Gbps", "2us") + &listed(&flows)), 1);
    let mut ends = fcts(&outcome);
    ends.sort_unstable();
    // The packets of a round come in the order of the hosts, so that the tenth ones are the last eight to leave.
    let expected: Vec<u64> = (72..80).map(|before| 2 * 2 * US + SLOT + (before + 1) * SLOT).collect();
    assert_eq!(ends, expected);
}

// Ideal shortest job first, unlimited priorities: flows of 1, 2 and 3 units that start together end after 1, 3 and 6.
// The first packets meet by number, so that the smallest flow's is sent first.
#[test]
fn the_smallest_flow_ends_first_under_ideal_shortest_job_first() {
    const UNIT: u64 = 100;
    // The senders are faster than the bottleneck, so that the next packet of the smallest flow always waits there.
    let text = bottleneck(3, "40Gbps", "2us")
        + "receiver_link = { rate = \"10Gbps\", delay = \"2us\" }\n\
           [port]\nlimit = \"4MB\"\n[host.transport.tcp]\ninitial_window = 400\n[run]\nties = \"numbered\"\n";
    let flows = [(0, 3, UNIT * 1460, 0), (1, 3, 2 * UNIT * 1460, 0), (2, 3, 3 * UNIT * 1460, 0)];
    for scheme in ["sjf@full", "srpt"] {
        let outcome = run(scheme, &(text.clone() + &listed(&flows)), 1);
        let fixed = 2 * 2 * US + SLOT / 4;
        let units: Vec<u64> = fcts(&outcome).iter().map(|fct| fct - fixed).collect();
        assert_eq!(units, [UNIT * SLOT, 3 * UNIT * SLOT, 6 * UNIT * SLOT], "{scheme}");
    }
}

// Only the last packet of a flow is lost: there is nothing behind it to cause duplicate ACKs.
#[test]
fn a_lost_last_packet_costs_exactly_one_timeout() {
    // One packet may wait. The fourth packet of host 2 is on the wire from 5.8 us to 7 us; a packet of host 1 waits
    // behind it from 6 us on and goes on the wire at 7 us, where a packet of host 0 and the fifth one of host 2 arrive
    // together: the lower number comes first and takes the place.
    let flows = [(2, 3, 7300, 0), (1, 3, 1460, 3_800), (0, 3, 1460, 4_800)];
    for (scheme, min_rto) in [("tcp", 10_000), ("dctcp", 10_000), ("tcp", 300)] {
        let text = bottleneck(3, "10Gbps", "1us")
            + &format!(
                "[run]\nties = \"numbered\"\n[port]\nlimit = \"1500B\"\n[host.transport.tcp]\nmin_rto = \"{min_rto}us\"\n"
            )
            + &listed(&flows);
        let outcome = run(scheme, &text, 1);
        let row = &rows(&outcome)[0];
        let facts = (row.packets, row.retransmissions, row.timeouts, row.drops, row.max_packet_drops);
        assert_eq!(facts, (6, 1, 1, 1, 1), "{scheme}");
        // The timer was last set by the ACK of the fourth packet, which landed at 8 us.
        let last_ack = 8 * US + 2 * (US + ACK_SLOT);
        assert_eq!(row.fct().unwrap().as_ps(), last_ack + min_rto * US + 2 * (US + SLOT), "{scheme}");
        assert_eq!(outcome.totals.drops.total(), 1);
    }
}

#[test]
fn a_dropped_packet_in_the_middle_is_sent_again_once_and_without_a_timeout() {
    // The same collision with ten packets more behind the one that is dropped.
    let flows = [(2, 3, 15 * 1460, 0), (1, 3, 1460, 3_800), (0, 3, 1460, 4_800)];
    let text = bottleneck(3, "10Gbps", "1us")
        + "[port]\nlimit = \"1500B\"\n[host.transport.tcp]\ninitial_window = 15\n"
        + &listed(&flows);
    let outcome = run("tcp", &text, 1);
    let row = &rows(&outcome)[0];
    assert_eq!((row.packets, row.retransmissions, row.timeouts, row.drops), (16, 1, 0, 1));
    assert_eq!(row.reordered, 1, "the packet that was sent again");
}
