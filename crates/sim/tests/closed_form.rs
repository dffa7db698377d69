//! Completion times that can be computed by hand.

mod common;

use common::{P1, P3, fcts, listed, run};

const US: u64 = 1_000_000;

#[test]
fn one_packet_in_an_idle_network_takes_its_delays_and_transmissions() {
    let idle =
        |topology: &str, src, dst| fcts(&run("dctcp", &(topology.to_owned() + &listed(&[(src, dst, 1460, 0)])), 1))[0];
    assert_eq!(idle(P1, 0, 399), 44_800_000, "between racks: 4 x (10 + 1.2) us");
    assert_eq!(idle(P1, 0, 1), 22_400_000, "within a rack");
    assert_eq!(idle(P3, 0, 143), 43_800_000, "40.8 + 1.2 + 0.3 + 0.3 + 1.2 us");
    assert_eq!(idle(P3, 0, 1), 42_800_000, "40.4 + 2.4 us");
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
fn a_handshake_adds_one_round_trip_of_headers() {
    let text = P1.to_owned() + "[host.transport.tcp]\nhandshake = \"one-rtt\"\n" + &listed(&[(0, 399, 1460, 0)]);
    assert_eq!(fcts(&run("tcp", &text, 1))[0], 8 * (10 * US + 32_000) + 44_800_000);
}
