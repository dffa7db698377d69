//! The sender and the receiver of an explicit-rate transport, with RCP's headers.

use tailcut_base::{HostId, Instant, Span};
use tailcut_model::explicit::RcpFields;
use tailcut_model::seat::{Transport, Unfinished, Wish};
use tailcut_model::{Direction, FlowId, Header, Kind, Packet};

use super::packets;
use crate::HostConfig;
use crate::transport::around::{Around, spec};
use crate::transport::{TransportConfig, pdq, rcp};

const GBPS: u64 = 1_000_000_000;

fn us(us: u64) -> Instant {
    Instant::ZERO + Span::from_us(us)
}

fn around(transport: TransportConfig) -> Around {
    let mut around = Around::new(HostConfig { transport, ..HostConfig::default() });
    around.arena = tailcut_model::Arena::with_headers();
    around
}

fn rcp() -> Around {
    around(TransportConfig::Rcp(rcp::Config::default()))
}

/// The answer to a packet of flow 0, with this rate in its header.
fn answer(a: &mut Around, kind: Kind, seq: u64, sent: Instant, rate: Option<u64>) {
    let mut packet = Packet::control(kind, FlowId(0), HostId(1), HostId(0), seq, sent);
    packet.connection = 9;
    // Data leaves from 200 us on, a packet each 12 us.
    if let Some(since) = sent.since(us(200)).filter(|_| kind == Kind::ACK) {
        packet.set_answered(since.as_ps() / 12_000_000 * 1460);
    }
    let id = a.arena.insert(packet);
    if let Some(rate) = rate {
        let fields = RcpFields { rate, ..RcpFields::default() };
        a.arena.set_header(id, Header::new(Direction::Reverse, &fields));
    }
    a.call(|host, cx| host.on_packet(cx, id));
    a.arena.remove(id);
}

/// The data packets that leave until then, each at the moment at which it may.
fn leave(a: &mut Around, until: Instant) -> Vec<(u64, u64)> {
    let mut sent = Vec::new();
    loop {
        while let Some(packet) = a.call(|host, cx| host.poll_send(cx, 0)) {
            sent.push((packet.seq / 1460, a.now.as_ps() / 1_000));
        }
        let timers = a.wishes.iter().filter_map(|wish| match *wish {
            Wish::Timer { at, .. } if at <= until => Some(at),
            _ => None,
        });
        let Some(next) = timers.min() else { break };
        a.wait(next);
    }
    a.now = until;
    sent
}

fn open(a: &mut Around, size: u64, rate: u64) {
    a.begin(0, &spec(size), true);
    assert_eq!(a.take_control().iter().map(|p| p.kind).collect::<Vec<_>>(), [packets::OPEN]);
    a.now = us(100);
    answer(a, packets::OPENED, 0, Instant::ZERO, None);
    assert_eq!(a.take_control().iter().map(|p| p.kind).collect::<Vec<_>>(), [packets::PROBE]);
    a.now = us(200);
    answer(a, Kind::ACK, 0, us(100), Some(rate));
}

#[test]
fn packets_are_as_far_apart_as_the_rate_says_and_a_new_rate_counts_at_once() {
    let mut a = rcp();
    open(&mut a, 1_460_000, GBPS);
    // 1500 B at 1 Gb/s are 12 us.
    assert_eq!(leave(&mut a, us(240)), [(0, 200_000), (1, 212_000), (2, 224_000), (3, 236_000)]);
    // At half of it the next one is due 24 us after the last, not after now.
    answer(&mut a, Kind::ACK, 1460, us(200), Some(GBPS / 2));
    assert_eq!(leave(&mut a, us(290)), [(4, 260_000), (5, 284_000)]);
    // At ten times as much it is due at once.
    answer(&mut a, Kind::ACK, 2920, us(212), Some(5 * GBPS));
    assert_eq!(leave(&mut a, us(293)), [(6, 290_000), (7, 292_400)]);
    // Nothing, and then nothing is made up for.
    answer(&mut a, Kind::ACK, 4380, us(224), Some(0));
    assert_eq!(leave(&mut a, us(400)), []);
    answer(&mut a, Kind::ACK, 5840, us(236), Some(GBPS));
    assert_eq!(leave(&mut a, us(413)), [(8, 400_000), (9, 412_000)]);
}

/// A packet that the send order was told of goes although the rate has fallen since; what comes after it is paced from
/// when it left, and not from when it would have been due.
#[test]
fn a_packet_that_goes_before_it_is_due_holds_nothing_up() {
    let mut a = rcp();
    open(&mut a, 1_460_000, GBPS);
    assert_eq!(leave(&mut a, us(205)), [(0, 200_000)]);
    // The second packet is offered, and the rate becomes one of a packet in 12 s before it goes.
    a.wait(us(212));
    answer(&mut a, Kind::ACK, 0, us(100), Some(1_000));
    assert_eq!(leave(&mut a, us(213)), [(1, 212_000)]);
    a.now = us(300);
    answer(&mut a, Kind::ACK, 1460, us(200), Some(GBPS));
    assert_eq!(leave(&mut a, us(313)), [(2, 300_000), (3, 312_000)]);
}

#[test]
fn a_flow_that_may_not_send_asks_every_round_trip() {
    let mut a = rcp();
    open(&mut a, 1_460_000, 0);
    a.wait(us(620));
    let probes: Vec<_> = a.take_control().iter().map(|p| (p.kind, p.sent.as_ps() / 1_000_000)).collect();
    let kind = packets::PROBE;
    // The last one left at 100 us, and round trips are 100 us.
    assert_eq!(probes, [(kind, 200), (kind, 300), (kind, 400), (kind, 500), (kind, 600)]);
}

#[test]
fn what_was_overtaken_three_times_is_sent_again_and_the_rest_after_a_timeout() {
    let mut a = rcp();
    open(&mut a, 10 * 1460, GBPS);
    assert_eq!(leave(&mut a, us(310)).len(), 10);
    // The first one is lost: ACKs expect it, and echo when the others left.
    for nth in 1..4 {
        answer(&mut a, Kind::ACK, 0, us(200 + 12 * nth), Some(GBPS));
    }
    assert_eq!(leave(&mut a, us(325)), [(0, 320_000)], "the tenth left at 308 us");
    // All the others are silent: 1 ms after the last acknowledgement they go again, and what had gone again already
    // 2 ms after that.
    let again = leave(&mut a, us(2_330));
    assert_eq!(again.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [4, 5, 6, 7, 8, 9, 0]);
    assert_eq!((again[0].1, again[6].1), (1_310_000, 2_320_000));
    let report = a.report(0);
    assert_eq!((report.packets, report.retransmissions), (18, 8));
    assert!(report.timeouts >= 1);
}

/// While nothing is heard there is a timeout at a time, and not one of each packet: after 1, 3, 7, 15, 31 and 63 ms,
/// and then one each 64 ms.
#[test]
fn a_long_silence_is_a_timeout_each_64_ms_and_not_one_of_each_packet() {
    let mut a = rcp();
    open(&mut a, 100 * 1460, GBPS);
    leave(&mut a, us(1_000_000));
    let timeouts = a.report(0).timeouts;
    assert!((19..=22).contains(&timeouts), "{timeouts}");
}

/// A host with queues sends a probe and a packet at one moment: what answers the one does not acknowledge the other.
#[test]
fn an_answer_to_a_probe_acknowledges_no_packet_that_left_with_it() {
    let mut a = rcp();
    open(&mut a, 1460, GBPS);
    assert_eq!(leave(&mut a, us(250)), [(0, 200_000)]);
    let packet = Packet::control(Kind::ACK, FlowId(0), HostId(1), HostId(0), 0, us(200));
    let id = a.arena.insert(packet);
    a.arena.set_header(id, Header::new(Direction::Reverse, &RcpFields { rate: GBPS, ..RcpFields::default() }));
    a.call(|host, cx| host.on_packet(cx, id));
    // It was lost, and goes again.
    assert_eq!(leave(&mut a, us(1_300)), [(0, 1_200_000)]);
}

#[test]
fn a_complete_flow_ends_at_switches_and_is_forgotten() {
    let mut a = rcp();
    open(&mut a, 1000, GBPS);
    assert_eq!(leave(&mut a, us(250)), [(0, 200_000)]);
    answer(&mut a, Kind::ACK, 1000, us(200), Some(GBPS));
    assert!(a.wishes.iter().any(|wish| matches!(wish, Wish::Acknowledged { flow: FlowId(0), .. })));
    let end = a.take_control().pop().unwrap();
    assert_eq!((end.kind, end.seq), (packets::END, 0));
    assert!(a.host.unfinished().is_empty() && a.flows.sender(FlowId(0)).is_none());
    // Late answers and timers mean nothing.
    answer(&mut a, Kind::ACK, 1000, us(200), Some(GBPS));
    a.wait(us(100_000));
    assert!(a.take_control().is_empty());
}

#[test]
fn a_flow_is_opened_and_given_up_until_somebody_answers() {
    let mut a = around(TransportConfig::Pdq(pdq::Config::default()));
    let mut spec = spec(1_000_000);
    spec.deadline = Some(Span::from_us(3_500));
    a.begin(0, &spec, true);
    a.wait(us(3_400));
    // At 10 Gb/s it takes 822 us.
    let kinds: Vec<_> = a.take_control().iter().map(|p| (p.kind, p.seq, p.sent.as_ps() / 1_000_000)).collect();
    let (open, end) = (packets::OPEN, packets::END);
    assert_eq!(kinds, [(open, 0, 0), (open, 0, 1_000), (end, 1, 3_000)]);
    assert!(a.wishes.iter().any(|wish| matches!(wish, Wish::Abandoned { flow: FlowId(0), .. })));
    assert!(a.host.unfinished().is_empty(), "its report is made");
    a.wait(us(4_100));
    assert_eq!(a.take_control().iter().map(|p| p.kind).collect::<Vec<_>>(), [end]);
    answer(&mut a, packets::ENDED, 0, us(3_000), None);
    a.wait(us(100_000));
    assert!(a.take_control().is_empty() && a.flows.sender(FlowId(0)).is_none());
}

#[test]
fn a_receiver_answers_with_what_switches_wrote_and_lets_go_when_the_sender_does() {
    let mut a = rcp();
    let mut spec = spec(3_000);
    (spec.src, spec.dst) = (HostId(1), HostId(0));
    a.begin(0, &spec, false);
    let come = |a: &mut Around, kind, seq, payload| {
        let mut packet = Packet::control(kind, FlowId(0), HostId(1), HostId(0), seq, us(1));
        if kind == Kind::DATA {
            packet = Packet::data(FlowId(0), HostId(1), HostId(0), seq, payload, 3_000, us(1));
        }
        let id = a.arena.insert(packet);
        let fields = RcpFields { rate: 40 * GBPS, rtt: Span::from_us(3), now: 5, ends: false };
        a.arena.set_header(id, Header::new(Direction::Forward, &fields));
        a.call(|host, cx| host.on_packet(cx, id));
        a.arena.remove(id);
        a.control.pop_front(&mut a.arena).map(|id| (a.arena.get(id).clone(), *a.arena.header(id)))
    };
    let (ack, header) = come(&mut a, Kind::DATA, 1460, 1460).unwrap();
    assert_eq!((ack.kind, ack.seq, ack.sent), (Kind::ACK, 0, us(1)));
    let fields: RcpFields = header.fields();
    assert_eq!(
        (header.direction, fields.rate, fields.now),
        (Direction::Reverse, 10 * GBPS, 5),
        "its link takes no more"
    );
    assert_eq!(come(&mut a, Kind::DATA, 0, 1460).unwrap().0.seq, 2920);
    assert!(matches!(a.host.unfinished()[..], [Unfinished::Receiver(FlowId(0), _)]));
    assert_eq!(come(&mut a, packets::END, 1, 0).unwrap().0.kind, packets::ENDED);
    assert!(
        matches!(a.wishes[..], [Wish::LetGo { flow: FlowId(0), report }] if report.packets == 2 && report.reordered == 1)
    );
    // It may be told again, and a late packet is answered as if all had come.
    assert_eq!(come(&mut a, packets::END, 1, 0).unwrap().0.kind, packets::ENDED);
    assert_eq!(come(&mut a, Kind::DATA, 0, 1460).unwrap().0.seq, 3_000);
    assert_eq!(a.wishes.len(), 1);
}
