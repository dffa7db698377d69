//! TCP of one host as its world calls it.

mod incast;

use tailcut_base::{Bytes, HostId, Instant};

use super::*;
use crate::transport::TransportSeat;
use crate::transport::around::{Around, spec};

#[test]
fn values_out_of_range_are_refused_at_their_key() {
    let delayed = |every, us| Some(DelayedAck { every, timeout: Span::from_us(us), quick: 0 });
    let long = |ms| Some(LongFlows { min_rto: Span::from_ms(ms), ..LongFlows::default() });
    let usual = Config::default;
    for (config, path) in [
        (Config { initial_window: 0, ..usual() }, "initial_window"),
        (Config { max_window: Some(9), ..usual() }, "max_window"),
        (Config { min_rto: Span::ZERO, ..usual() }, "min_rto"),
        (Config { max_rto: Span::from_ms(9), ..usual() }, "max_rto"),
        (Config { dup_thresh: 0, ..usual() }, "dup_thresh"),
        (Config { probe_after: Some(0), ..usual() }, "probe_after"),
        (Config { delayed_ack: delayed(0, 1), ..usual() }, "delayed_ack.every"),
        (Config { delayed_ack: delayed(2, 0), ..usual() }, "delayed_ack.timeout"),
        (Config { long_flows: long(9), ..usual() }, "long_flows.min_rto"),
        (Config { long_flows: long(65_000), ..usual() }, "long_flows.min_rto"),
    ] {
        let host = HostConfig { transport: TransportConfig::Tcp(config), ..Default::default() };
        let error = HostContext::of(host).validate().unwrap_err();
        assert_eq!(error.path, format!("transport.tcp.{path}"), "{error}");
        assert!(error.help.is_some(), "{error}");
    }
    assert!(HostContext::of(HostConfig::default()).validate().is_ok());
    let fixed = Config { max_rto: Span::from_ms(9), fixed_rto: true, ..usual() };
    let host = HostConfig { transport: TransportConfig::Tcp(fixed), ..Default::default() };
    assert!(HostContext::of(host).validate().is_ok(), "the largest timeout means nothing where none is doubled");
}

#[test]
fn an_idle_host_holds_nothing_and_shares_its_configuration() {
    let context = HostContext::of(HostConfig::default());
    let hosts: Vec<TransportSeat> = (0..100).map(|_| context.build().unwrap()).collect();
    assert_eq!(Arc::strong_count(&context.config), 1 + hosts.len());
    assert!(hosts.iter().all(|host| host.heap_bytes() == 0));
}

impl Around {
    fn start(&mut self, flow: u32, size: u64, sends: bool) {
        self.begin(flow, &spec(size), sends);
    }

    /// Packets that leave now, as flow and offset.
    fn send(&mut self) -> Vec<(u32, u64)> {
        let next = || self.call(|host, cx| host.poll_send(cx, 0)).map(|packet| (packet.flow.0, packet.seq));
        std::iter::from_fn(next).collect()
    }

    /// An ACK for all bytes of `flow` before `seq`, of a packet that left 100 us ago.
    fn ack(&mut self, flow: u32, seq: u64, ece: bool) {
        let sent = Instant::from_ps(self.now.as_ps() - Span::from_us(100).as_ps());
        let mut ack = Packet::control(Kind::ACK, FlowId(flow), HostId(1), HostId(0), seq, sent);
        ack.flags = Flags::NONE.with(Flags::ECE, ece);
        self.receive(ack);
    }
}

fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

/// A host of SPQ that sends flow 0, of 2000 packets, and flow 1, of one. Windows and the NIC take all of it.
fn spq() -> Around {
    let tcp = Config {
        initial_window: 3_000,
        min_rto: Span::from_ms(2),
        long_flows: Some(LongFlows::default()),
        ..Config::default()
    };
    let mut around = Around::new(HostConfig {
        transport: TransportConfig::Tcp(tcp),
        congestion: crate::congestion::CongestionConfig::L2dct(crate::congestion::l2dct::Config::default()),
        ..HostConfig::default()
    });
    around.start(0, 2_000 * 1460, true);
    around.start(1, 1460, true);
    assert_eq!(around.send().len(), 2_001);
    around
}

#[test]
fn long_flows_are_patient_once_their_host_has_seen_a_mark_and_a_timeout() {
    for (ece, timeout, patient) in [(true, true, true), (true, false, false), (false, true, false)] {
        let mut around = spq();
        around.now = at_ms(1);
        around.ack(0, 1460, ece);
        if !timeout {
            around.ack(1, 1460, false);
        }
        around.wait(Instant::ZERO + Span::from_us(2_500));
        if timeout {
            assert_eq!(around.report(1).timeouts, 1, "the packet of flow 1 is lost");
        }
        around.ack(0, 2 * 1460, ece);
        around.wait(at_ms(100));
        assert_eq!(around.report(0).timeouts == 0, patient, "mark {ece}, timeout {timeout}");
        around.wait(at_ms(203));
        assert!(around.report(0).timeouts > 0);
    }
}

#[test]
fn flows_that_are_not_long_are_never_patient() {
    let mut around = spq();
    around.start(2, 600 * 1460, true);
    around.send();
    around.now = at_ms(1);
    around.ack(0, 1460, true);
    around.wait(Instant::ZERO + Span::from_us(2_500));
    around.ack(2, 1460, true);
    let before = around.report(2).timeouts;
    around.wait(at_ms(10));
    assert!(around.report(2).timeouts > before);
}

#[test]
fn a_discarded_packet_is_sent_to_its_sender_and_lost() {
    let order = crate::order::las::Config { limit: Some(Bytes(4 * 1500)), ..Default::default() };
    let config = HostConfig { order: crate::order::OrderConfig::Las(order), ..HostConfig::default() };
    let mut around = Around::new(config);
    around.start(7, 6 * 1460, true);
    assert_eq!(around.send(), [(7, 0), (7, 1460), (7, 2920), (7, 4380)]);
    let discarded: Vec<u64> = around
        .wishes
        .iter()
        .filter_map(|wish| match wish {
            Wish::Discarded { flow: FlowId(7), seq } => Some(*seq),
            _ => None,
        })
        .collect();
    assert_eq!(discarded, [5840, 7300]);
    around.now = at_ms(1);
    around.ack(7, 4 * 1460, false);
    assert_eq!(around.send(), [], "what was discarded is in flight, as far as the sender knows");
    around.wait(at_ms(11));
    assert_eq!((around.report(7).timeouts, around.send()), (1, vec![(7, 5840)]));
}

#[test]
fn where_every_packet_is_discarded_the_timer_runs() {
    let order = crate::order::las::Config { limit: Some(Bytes(4 * 1500)), ..Default::default() };
    let config = HostConfig { order: crate::order::OrderConfig::Las(order), ..HostConfig::default() };
    let mut around = Around::new(config);
    around.start(0, 10 * 1460, true);
    around.send();
    // Four fresh packets fill the NIC, so that all that flow 0 repeats is discarded.
    around.wait(at_ms(9));
    around.start(1, 4 * 1460, true);
    around.wait(at_ms(10));
    let sent = around.send();
    assert_eq!((around.report(0).timeouts, sent.iter().filter(|packet| packet.0 == 0).count()), (1, 0));
    around.wait(at_ms(30));
    assert_eq!(around.report(0).timeouts, 2, "twice the timeout later");
    assert_eq!(around.send().first(), Some(&(0, 0)));
}

/// Bytes that a host holds when it is one end of so many flows.
fn bytes_of_flows(flows: u32, sends: bool) -> usize {
    let mut around = Around::new(HostConfig::default());
    (0..flows).for_each(|flow| around.start(flow, 1_000_000, sends));
    around.host.heap_bytes()
}

#[test]
fn a_flow_costs_its_two_ends_and_its_place_in_the_send_order() {
    // The order makes room for four flows at once.
    assert!(bytes_of_flows(1, true) <= 352 + 4 * 8, "{}", bytes_of_flows(1, true));
    assert!(bytes_of_flows(64, true) <= 64 * (352 + 8), "{}", bytes_of_flows(64, true));
    for flows in [1, 64] {
        assert!(bytes_of_flows(flows, false) <= flows as usize * 136, "{}", bytes_of_flows(flows, false));
    }
}

/// A window of its own that stands still, with a gap while its packets come back marked. Timeouts double the gap.
struct Spaces(Span);

impl CongestionControl for Spaces {
    fn ecn_capable(&self) -> bool {
        true
    }
    fn on_ack(&mut self, window: &mut tailcut_model::seat::Window, ack: &tailcut_model::seat::AckSample<'_>) -> bool {
        window.gap = if ack.ece { self.0 } else { Span::ZERO };
        false
    }
    fn paces(&self) -> bool {
        true
    }
    fn on_timeout(&mut self, _: Instant, window: &mut tailcut_model::seat::Window, _flight: u64, _consecutive: u32) {
        window.cwnd = 1460.0;
        window.gap = window.gap * 2;
    }
}

/// A host that sends flow 0 under [`Spaces`].
fn spaced(tcp: Config, gap: Span) -> Around {
    let spaces = tailcut_model::Custom::new("spaces", move |_: &FlowContext| Ok(Box::new(Spaces(gap)) as Box<_>));
    let mut around = Around::new(HostConfig {
        transport: TransportConfig::Tcp(tcp),
        congestion: crate::congestion::CongestionConfig::Custom(spaces),
        ..HostConfig::default()
    });
    around.start(0, 1_000 * 1460, true);
    around
}

#[test]
fn a_congestion_control_spaces_packets_while_it_has_a_gap_and_costs_no_timers_otherwise() {
    let mut around = spaced(Config::default(), Span::from_us(50));
    assert_eq!(around.send().len(), 10, "the initial window goes as that of a flow that is not paced");
    let timers = |around: &Around| {
        around.wishes.iter().filter(|wish| matches!(wish, Wish::Timer { at, .. } if *at < at_ms(10))).count()
    };
    assert_eq!(timers(&around), 0, "nothing but the retransmission timer is wished for");
    // A mark brings a gap. The two packets that the ACK lets out are 50 us apart.
    around.now = at_ms(1);
    around.ack(0, 2 * 1460, true);
    assert_eq!(around.send().len(), 1);
    assert_eq!(timers(&around), 1);
    around.wait(at_ms(1) + Span::from_us(49));
    assert_eq!(around.send(), []);
    around.wait(at_ms(1) + Span::from_us(50));
    assert_eq!(around.send().len(), 1);
    // The next ACK ends the gap: what it lets out goes at once, and not 50 us after the packet before it.
    around.wait(at_ms(1) + Span::from_us(60));
    around.ack(0, 5 * 1460, false);
    assert_eq!(around.send().len(), 3);
    assert_eq!(timers(&around), 0, "nothing waits any more");
}

#[test]
fn a_timer_that_is_shorter_than_the_gap_fires_once_for_each_packet() {
    let tcp = Config { min_rto: Span::from_us(200), fixed_rto: true, ..Config::default() };
    let mut around = spaced(tcp, Span::from_ms(1));
    assert_eq!(around.send().len(), 10);
    around.now = Instant::ZERO + Span::from_us(150);
    around.ack(0, 2 * 1460, true);
    // Nothing comes back any more: the rest of the window is lost at once, and then a packet after each gap, which is
    // twice as long each time. Each has 200 us for its answer, from when it left.
    for (timeouts, ms) in [(1, 2), (2, 6), (3, 14), (4, 30)] {
        around.wait(at_ms(ms - 1) + Span::from_us(999));
        assert_eq!((around.send(), around.report(0).timeouts), (vec![], timeouts));
        around.wait(at_ms(ms) + Span::from_us(199));
        assert_eq!((around.send().len(), around.report(0).timeouts), (1, timeouts), "after {ms} ms");
    }
}

#[test]
fn a_flow_goes_on_over_a_connection_that_an_earlier_one_has_left() {
    for (connection, again) in [
        (Connection::New, (true, 10)),
        (Connection::Persistent, (false, 16)),
        (Connection::PersistentRestart, (false, 10)),
    ] {
        let tcp = Config { connection, handshake: Handshake::OneRtt, ..Config::default() };
        let mut around = Around::new(HostConfig { transport: TransportConfig::Tcp(tcp), ..HostConfig::default() });
        let open = |around: &mut Around, flow: u32| {
            around.start(flow, if flow == 0 { 15 } else { 40 } * 1460, true);
            let opened = around.take_control().iter().any(|packet| packet.kind == packets::SYN);
            if opened {
                let sent = around.now;
                let answer = Packet::control(packets::SYN_ACK, FlowId(flow), HostId(1), HostId(0), 0, sent);
                around.receive(answer);
            }
            (opened, around.send().len())
        };
        assert_eq!(open(&mut around, 0), (true, 10));
        assert_eq!(open(&mut around, 1), (true, 10), "flows at a time have connections of their own");
        around.now = at_ms(1);
        for packets in 1..=5 {
            around.ack(0, packets * 1460, false);
        }
        assert_eq!(around.send().len(), 5);
        around.ack(0, 15 * 1460, false);
        // Six ACKs have opened the window by as many segments, and the last of them has ended the flow.
        assert_eq!(open(&mut around, 2), again);
    }
}

#[test]
fn timeouts_come_at_ticks_of_the_clock() {
    let tick = Span::from_ms(4);
    let tcp = Config { min_rto: Span::from_ms(1), fixed_rto: true, timer_tick: Some(tick), ..Config::default() };
    let mut around = Around::new(HostConfig { transport: TransportConfig::Tcp(tcp), ..HostConfig::default() });
    around.start(0, 1460, true);
    around.send();
    let fires = clock::Clock::of(HostId(0), tick, None).next(at_ms(1));
    around.wait(Instant::from_ps(fires.as_ps() - 1));
    assert_eq!(around.report(0).timeouts, 0);
    around.wait(fires);
    assert_eq!((around.report(0).timeouts, around.send().len()), (1, 1));
    around.wait(fires + tick);
    assert_eq!(around.report(0).timeouts, 2);
}
