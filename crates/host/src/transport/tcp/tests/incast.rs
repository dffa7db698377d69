//! What a host does in an incast: pacing by the degree that it is told, and receive windows.

use tailcut_base::MSS_BYTES;
use tailcut_model::{ClassId, Query, QueryId};

use super::*;
use crate::pace::{PaceConfig, icon};
use crate::receive::{ReceiveConfig, ictcp};

fn answer(degree: u32, class: u8, size: u64) -> FlowSpec {
    let query = Query { id: QueryId(0), asked: Instant::ZERO, degree, nth: 0, deadline: None };
    FlowSpec { query: Some(query), class: ClassId(class), ..spec(size) }
}

fn icon(handshake: Handshake) -> HostConfig {
    HostConfig {
        transport: TransportConfig::Tcp(Config { handshake, ..Config::default() }),
        pace: PaceConfig::Icon(icon::Config::default()),
        ..HostConfig::default()
    }
}

impl Around {
    /// When each packet leaves of those that leave until `until`, without any ACK, by the timers alone.
    fn departures(&mut self, until: Instant) -> Vec<Instant> {
        let mut departures = Vec::new();
        loop {
            departures.extend(self.send().iter().map(|_| self.now));
            let next = |wish: &Wish| match *wish {
                Wish::Timer { at, .. } if at <= until => Some(at),
                _ => None,
            };
            let Some(at) = self.wishes.iter().filter_map(next).min() else { return departures };
            self.wait(at);
        }
    }
}

fn us(us: u64) -> Instant {
    Instant::ZERO + Span::from_us(us)
}

fn gaps(departures: &[Instant]) -> Vec<Span> {
    departures.windows(2).map(|pair| pair[1].since(pair[0]).expect("they leave in order")).collect()
}

#[test]
fn the_packets_of_a_window_are_spread_over_a_round_trip_for_each_sender() {
    // Ten packets in 80 us for one sender, in 80 us x 26 for 26.
    for (degree, gap) in [(1, 8), (26, 208)] {
        let mut around = Around::new(icon(Handshake::None));
        around.begin(0, &answer(degree, 0, 14_600), true);
        let departures = around.departures(at_ms(9));
        assert_eq!(departures[0], Instant::ZERO, "the first packet goes at once");
        assert_eq!(gaps(&departures), [Span::from_us(gap); 9], "{degree} senders");
    }
}

#[test]
fn flows_to_one_host_wait_for_one_another_if_they_share_a_clock() {
    let departures = |clock_of| {
        let pace = PaceConfig::Icon(icon::Config { clock_of, ..icon::Config::default() });
        let mut around = Around::new(HostConfig { pace, ..icon(Handshake::None) });
        around.begin(0, &answer(1, 0, 14_600), true);
        around.begin(1, &answer(1, 0, 14_600), true);
        around.departures(at_ms(9))
    };
    let zero = Span::ZERO;
    let eight = Span::from_us(8);
    let own = departures(icon::ClockOf::Flow);
    assert_eq!(gaps(&own)[..5], [zero, eight, zero, eight, zero], "each has its own gaps");
    let shared = departures(icon::ClockOf::Destination);
    assert_eq!(gaps(&shared), [eight; 19], "all packets to the host have one gap");
}

#[test]
fn a_window_that_the_pacer_holds_back_opens_only_without_validation() {
    for (window_validation, gap) in [(true, 26 * 8), (false, 26 * 80 / 11)] {
        let tcp = Config { window_validation, ..Config::default() };
        let mut around = Around::new(HostConfig { transport: TransportConfig::Tcp(tcp), ..icon(Handshake::None) });
        around.begin(0, &answer(26, 0, 40 * MSS_BYTES), true);
        assert_eq!(around.send().len(), 1);
        around.now = us(100);
        // An ACK of a packet that left 80 us ago, so that the round trip stays.
        let mut ack = Packet::control(Kind::ACK, FlowId(0), HostId(1), HostId(0), MSS_BYTES, us(20));
        ack.connection = 0;
        around.receive(ack);
        let second = around.departures(us(1_000));
        let spacing = gaps(&second)[0];
        assert!(
            spacing.as_ps().abs_diff(Span::from_us(gap).as_ps()) < 100_000_000 / 100,
            "{window_validation}: {spacing}"
        );
    }
}

#[test]
fn what_answers_no_query_has_no_other_senders() {
    let mut around = Around::new(icon(Handshake::None));
    around.start(0, 4 * MSS_BYTES, true);
    assert_eq!(gaps(&around.departures(at_ms(9))), [Span::from_us(8); 3]);
}

#[test]
fn retransmissions_are_paced_too() {
    let mut around = Around::new(icon(Handshake::None));
    around.begin(0, &answer(26, 0, 3 * MSS_BYTES), true);
    assert_eq!(around.departures(at_ms(9)).len(), 3);
    // After the timeout of 10 ms the window is one packet: 80 us x 26 / 1. The first one is acknowledged at once.
    around.wait(at_ms(10));
    assert_eq!(around.send(), [(0, 0)]);
    around.ack(0, MSS_BYTES, false);
    assert_eq!(around.send(), []);
    // srtt is 100 us by that ACK, but the gap was set when the packet before left.
    let next = around.departures(at_ms(15));
    assert_eq!(next.first(), Some(&(at_ms(10) + Span::from_us(2_080))));
}

#[test]
fn the_handshake_tells_the_degree() {
    let mut sink = Around::new(icon(Handshake::OneRtt));
    sink.begin(0, &answer(26, 0, 14_600), false);
    sink.receive(Packet::control(packets::SYN, FlowId(0), HostId(0), HostId(1), 0, Instant::ZERO));
    let syn_ack = sink.take_control().pop().expect("the sink answers");
    assert_eq!((syn_ack.kind, packets::degree(&syn_ack)), (packets::SYN_ACK, 26));

    let mut sender = Around::new(icon(Handshake::OneRtt));
    sender.begin(0, &answer(26, 0, 14_600), true);
    assert_eq!(sender.send(), []);
    sender.now = us(100);
    sender.receive(syn_ack);
    // 100 us, as the handshake measured, x 26 / 10.
    assert_eq!(gaps(&sender.departures(at_ms(9))), [Span::from_us(260); 9]);
}

#[test]
fn a_persistent_connection_keeps_the_degree_until_an_update_changes_it() {
    let config = icon(Handshake::None);
    let (mut sink, mut sender) = (Around::new(config.clone()), Around::new(config));
    sink.begin(0, &answer(20, 0, 1_000), false);
    sender.begin(0, &answer(20, 0, 1_000), true);
    assert_eq!(sender.send().len(), 1);
    assert!(sink.take_control().is_empty(), "the connection was told when it was opened");

    // The next query of the same application asks 40 hosts. The sender still thinks of 20: 80 us x 20 / 10.
    sink.begin(1, &answer(40, 0, 14_600), false);
    sender.begin(1, &answer(40, 0, 14_600), true);
    let updates = sink.take_control();
    assert_eq!(updates.len(), 1);
    assert_eq!((updates[0].kind, packets::degree(&updates[0]), updates[0].size), (packets::UPDATE, 40, 40));
    let mut departures = sender.departures(us(300));
    // It hears of it while the third packet waits: from the next gap on it is 320 us.
    sender.wait(us(300));
    sender.receive(updates[0].clone());
    departures.extend(sender.departures(at_ms(9)));
    let [first, second, rest @ ..] = &gaps(&departures)[..] else { panic!("more than three packets") };
    assert_eq!([*first, *second], [Span::from_us(160); 2]);
    assert!(rest.iter().all(|gap| *gap == Span::from_us(320)), "{rest:?}");

    // It stays so, and the sink says nothing more.
    sink.begin(2, &answer(40, 0, 14_600), false);
    assert!(sink.take_control().is_empty());
    let mut later = Around { now: at_ms(20), ..sender };
    later.wishes.clear();
    later.begin(2, &answer(40, 0, 2 * MSS_BYTES), true);
    assert_eq!(gaps(&later.departures(at_ms(25)))[0], Span::from_us(320));
}

#[test]
fn overlapping_incasts_at_one_sink_keep_their_own_degrees() {
    let mut sender = Around::new(icon(Handshake::None));
    for (flow, degree) in [(0, 5), (1, 50)] {
        let mut alone = Around::new(icon(Handshake::None));
        alone.begin(flow, &answer(degree, flow as u8, 2 * MSS_BYTES), true);
        sender.begin(flow, &answer(degree, flow as u8, 2 * MSS_BYTES), true);
        assert_eq!(gaps(&alone.departures(at_ms(5))), [Span::from_us(8) * u64::from(degree)]);
    }
    let departures: Vec<Instant> = sender.departures(at_ms(5));
    assert_eq!(departures, [us(0), us(0), us(40), us(400)]);
}

/// An answer to query `id` of `degree` hosts, as flow `flow` of host 0 or another one.
fn answer_to(id: u32, degree: u32, src: u32) -> FlowSpec {
    let mut spec = answer(degree, 0, 14_600);
    spec.src = HostId(src);
    spec.query = spec.query.map(|query| Query { id: QueryId(id), ..query });
    spec
}

#[test]
fn a_sink_that_counts_all_senders_tells_them_when_a_query_begins_and_when_it_ends() {
    let mut config = icon(Handshake::OneRtt);
    config.pace = PaceConfig::Icon(icon::Config { senders: icon::Senders::Active, ..icon::Config::default() });
    let mut sink = Around::new(config);
    let numbers = |sink: &mut Around| -> Vec<(u32, u32)> {
        let update = |packet: &Packet| (packet.flow.0, packets::degree(packet));
        sink.take_control().iter().filter(|packet| packet.kind == packets::UPDATE).map(update).collect()
    };
    // Two answers of one query: the handshake tells them.
    let [first, second, other] = [answer_to(0, 2, 2), answer_to(0, 2, 3), answer_to(1, 5, 4)];
    sink.begin(0, &first, false);
    sink.begin(1, &second, false);
    for flow in [0, 1] {
        sink.receive(Packet::control(packets::SYN, FlowId(flow), HostId(2 + flow), HostId(1), 0, Instant::ZERO));
        assert_eq!(packets::degree(&sink.take_control()[0]), 2);
    }
    // Another query, of five: those who answer the first one hear of it, whoever answers the second by its handshake.
    sink.begin(2, &other, false);
    assert_eq!(numbers(&mut sink), [(0, 7), (1, 7)]);
    sink.receive(Packet::control(packets::SYN, FlowId(2), HostId(4), HostId(1), 0, Instant::ZERO));
    assert_eq!(packets::degree(&sink.take_control()[0]), 7);
    // The first query ends with its last answer, not before.
    for (flow, src, expected) in [(0, 2, vec![]), (1, 3, vec![(2, 5)])] {
        for seq in (0..14_600).step_by(1460) {
            sink.receive(Packet::data(FlowId(flow), HostId(src), HostId(1), seq, 1460, 14_600, Instant::ZERO));
        }
        assert_eq!(numbers(&mut sink), expected, "{flow}");
    }
}

#[test]
fn a_sink_that_nobody_paces_for_says_nothing() {
    let mut sink = Around::new(HostConfig::default());
    sink.begin(0, &answer(20, 0, 1_000), false);
    sink.begin(1, &answer(40, 0, 1_000), false);
    assert!(sink.take_control().is_empty());
}

fn ictcp() -> HostConfig {
    HostConfig { receive: ReceiveConfig::Ictcp(ictcp::Config::default()), ..HostConfig::default() }
}

#[test]
fn a_new_flow_sends_two_segments_and_then_what_the_receiver_allows() {
    let mut sender = Around::new(ictcp());
    sender.start(0, 100 * MSS_BYTES, true);
    assert_eq!(sender.send().len(), 2, "whatever the congestion window says");
    sender.now = us(100);
    let advertise = |around: &mut Around, next: u64, window: u16| {
        let mut ack = Packet::control(Kind::ACK, FlowId(0), HostId(1), HostId(0), next * MSS_BYTES, Instant::ZERO);
        packets::set_advertised(&mut ack, window);
        around.receive(ack);
        around.send().len()
    };
    assert_eq!(advertise(&mut sender, 1, 2), 1);
    assert_eq!(advertise(&mut sender, 2, 5), 4);
    // A window that shrinks takes nothing back, and lets nothing out until it is used up.
    assert_eq!(advertise(&mut sender, 3, 3), 0);
    assert_eq!(advertise(&mut sender, 5, 3), 1);
    // A window larger than that of congestion control, which is ten and the segments acknowledged so far, does not
    // count.
    assert!(advertise(&mut sender, 6, 100) <= 16);
}

#[test]
fn the_receiver_advertises_its_window_with_every_ack() {
    let mut sink = Around::new(ictcp());
    sink.begin(0, &spec(100 * MSS_BYTES), false);
    sink.receive(Packet::control(packets::SYN, FlowId(0), HostId(0), HostId(1), 0, Instant::ZERO));
    sink.receive(Packet::data(FlowId(0), HostId(0), HostId(1), 0, 1460, 100 * MSS_BYTES, Instant::ZERO));
    let windows: Vec<Option<u16>> = sink.take_control().iter().map(packets::advertised).collect();
    assert_eq!(windows, [Some(2), Some(2)]);

    let mut usual = Around::new(HostConfig::default());
    usual.begin(0, &spec(100 * MSS_BYTES), false);
    usual.receive(Packet::data(FlowId(0), HostId(0), HostId(1), 0, 1460, 100 * MSS_BYTES, Instant::ZERO));
    assert_eq!(packets::advertised(&usual.take_control()[0]), None);
}
