//! The sender, alone with its ACKs and its timer.

use proptest::prelude::*;
use tailcut_model::SackBlock;

use super::*;
use crate::congestion::{CongestionConfig, minimal};
use crate::order::{OrderConfig, srpt};
use crate::tag::TagConfig;
use crate::tag::remaining::{self, Count};
use crate::transport::TransportConfig;
use crate::transport::around::spec;
use crate::transport::tcp::receiver::Receiver;
use tailcut_model::Kind;

const MSS: u64 = MSS_BYTES;
/// pFabric's timeout.
const RTO: Span = Span::from_us(250);

struct Bench {
    sender: Sender,
    now: Instant,
}

impl Bench {
    fn new(bytes: u64, tcp: Config) -> Bench {
        let host = HostConfig { transport: TransportConfig::Tcp(tcp), ..Default::default() };
        Bench::on(bytes, &host)
    }

    /// pFabric's sender, with the window and the timeout of SPQ's table 1.
    fn pfabric(bytes: u64, count: Count) -> Bench {
        let tcp = Config {
            initial_window: 70,
            min_rto: RTO,
            fixed_rto: true,
            probe_after: Some(5),
            fast_retransmit: false,
            ..Config::default()
        };
        let host = HostConfig {
            transport: TransportConfig::Tcp(tcp),
            congestion: CongestionConfig::Minimal(minimal::Config {}),
            order: OrderConfig::Srpt(srpt::Config {}),
            tag: TagConfig::Remaining(remaining::Config { count }),
            ..HostConfig::default()
        };
        Bench::on(bytes, &host)
    }

    fn on(bytes: u64, host: &HostConfig) -> Bench {
        let TransportConfig::Tcp(tcp) = &host.transport else { unreachable!("it is the default") };
        // Its send order is no queue, and nothing is paced.
        let seats = Seats { queued: false, nic: 0, paced: false, limited: false, receive_window: None };
        Bench { sender: Sender::new(FlowId(0), &spec(bytes), host, tcp, &seats), now: Instant::from_ps(1) }
    }

    /// Sends all that may go; gives the numbers of the segments.
    fn send(&mut self) -> Vec<u64> {
        self.send_packets().iter().map(|packet| packet.seq / MSS).collect()
    }

    /// Sends all that may go.
    fn send_packets(&mut self) -> Vec<Packet> {
        let mut sent = Vec::new();
        while self.sender.newly_sendable(self.now) + self.sender.offered > 0 {
            if self.sender.take_turn() {
                sent.push(self.sender.next_packet(self.now, false, None));
            }
        }
        self.sender.wanted_timer(None);
        sent
    }

    /// Sends all that may go; gives segment, rank and size on the wire of each packet.
    fn ranks(&mut self) -> Vec<(u64, u64, u16)> {
        self.send_packets().iter().map(|packet| (packet.seq / MSS, packet.rank(), packet.size)).collect()
    }

    /// An ACK for all before segment `next` (or the end), with SACK blocks in segments.
    fn ack(&mut self, next: u64, blocks: &[(u64, u64)]) {
        let seq = (next * MSS).min(self.sender.size);
        let sent = Instant::from_ps(self.now.as_ps() - 1);
        let mut ack = Packet::control(Kind::ACK, FlowId(0), HostId(1), HostId(0), seq, sent);
        ack.set_sack(blocks.iter().map(|&(s, e)| SackBlock { start: s * MSS, end: e * MSS }));
        self.sender.on_ack(self.now, &ack, None);
    }

    fn expire(&mut self) -> Span {
        let before = self.now;
        self.now = self.sender.deadline;
        self.sender.timer = self.now;
        self.sender.on_timer(self.now, Some(5));
        self.now.since(before).expect("timers lie ahead")
    }

    fn cwnd(&self) -> f64 {
        self.sender.window.cwnd / MSS as f64
    }
}

#[test]
fn the_window_doubles_each_round_trip_in_slow_start() {
    let mut bench = Bench::new(10_000 * MSS, Config::default());
    let mut next = 0;
    for k in 0..6 {
        assert_eq!(bench.cwnd(), f64::from(10 << k));
        let sent = bench.send();
        assert_eq!(sent.len(), 10 << k);
        for number in sent {
            next = number + 1;
            bench.ack(next, &[]);
        }
    }
    assert_eq!(next, 10 + 20 + 40 + 80 + 160 + 320);
}

#[test]
fn above_the_initial_threshold_the_window_opens_by_a_packet_in_a_round_trip_from_the_start() {
    let config = Config { initial_ssthresh: Some(10), window_validation: false, ..Config::default() };
    let mut bench = Bench::new(10_000 * MSS, config);
    for round_trip in 1..=5 {
        for number in bench.send() {
            bench.ack(number + 1, &[]);
        }
        let expected = 10.0 + f64::from(round_trip);
        assert!((bench.cwnd() - expected).abs() < 0.5, "{} after {round_trip} round trips", bench.cwnd());
    }
}

#[test]
fn ten_packets_take_one_round_trip_and_one_byte_more_takes_two() {
    let mut bench = Bench::new(14_600, Config::default());
    assert_eq!(bench.send(), (0..10).collect::<Vec<_>>());
    let mut bench = Bench::new(14_601, Config::default());
    assert_eq!(bench.send(), (0..10).collect::<Vec<_>>());
    bench.ack(1, &[]);
    assert_eq!(bench.send(), [10]);
}

fn without_sack(initial_window: u32) -> Config {
    Config { initial_window, sack: false, ..Config::default() }
}

#[test]
fn without_sack_three_duplicates_retransmit_and_each_further_one_lets_a_packet_go() {
    let mut bench = Bench::new(1000 * MSS, without_sack(20));
    assert_eq!(bench.send().len(), 20);
    // Segment 0 is lost; of the 19 behind it, 3 duplicates come first.
    bench.ack(0, &[]);
    bench.ack(0, &[]);
    assert_eq!(bench.send(), [20, 21], "limited transmit");
    bench.ack(0, &[]);
    assert_eq!(bench.send(), [0], "the third duplicate retransmits, whatever the window");
    assert_eq!(bench.cwnd(), 10.0);
    // 22 are out, and the window of 10 opens when more than 12 are known to have arrived.
    for _ in 0..9 {
        bench.ack(0, &[]);
        assert_eq!(bench.send(), [0u64; 0]);
    }
    bench.ack(0, &[]);
    assert_eq!(bench.send(), [22]);
    bench.ack(20, &[]);
    assert_eq!(bench.cwnd(), 10.0, "all that was out is acknowledged: the recovery is over");
}

#[test]
fn without_sack_a_recovery_mends_one_loss_in_a_round_trip() {
    let mut bench = Bench::new(1000 * MSS, without_sack(10));
    bench.send();
    // Segments 0, 3 and 6 are lost: seven duplicates come.
    for _ in 0..3 {
        bench.ack(0, &[]);
    }
    assert_eq!(bench.send(), [0]);
    for _ in 0..4 {
        bench.ack(0, &[]);
        bench.send();
    }
    bench.ack(3, &[]);
    assert_eq!(bench.send()[0], 3, "a partial ACK tells of the next hole");
    bench.ack(6, &[]);
    assert_eq!(bench.send()[0], 6);
    assert_eq!(bench.sender.report.retransmissions, 3);
    assert_eq!(bench.sender.report.timeouts, 0);
}

#[test]
fn without_sack_everything_is_sent_again_after_a_timeout_and_its_duplicates_mean_nothing() {
    let mut bench = Bench::new(1000 * MSS, without_sack(10));
    bench.send();
    bench.expire();
    assert_eq!(bench.send(), [0]);
    // Only segment 0 was lost but for the tail; the receiver has 1 to 4.
    bench.ack(5, &[]);
    assert_eq!(bench.send(), [5, 6], "what came out of order before is acknowledged, the rest goes again");
    bench.ack(10, &[]);
    let again = bench.sender.report.retransmissions;
    bench.send();
    for _ in 0..4 {
        bench.ack(10, &[]);
    }
    bench.send();
    assert_eq!(bench.sender.report.retransmissions, again, "copies that came twice are no loss");
}

#[test]
fn one_drop_in_a_window_costs_one_retransmission_and_half_the_flight() {
    let mut bench = Bench::new(1000 * MSS, Config { initial_window: 20, ..Config::default() });
    assert_eq!(bench.send().len(), 20);
    for next in 1..=5 {
        bench.ack(next, &[]);
    }
    bench.send();
    let flight = bench.sender.nxt / MSS - 5;
    // Segment 5 is lost; those above it arrive.
    bench.ack(5, &[(6, 7)]);
    bench.ack(5, &[(6, 8)]);
    assert_eq!(bench.send(), [30, 31], "limited transmit");
    bench.ack(5, &[(6, 9)]);
    assert_eq!(bench.send(), [5], "the third duplicate retransmits, whatever the window");
    assert_eq!(bench.cwnd(), flight as f64 / 2.0);
    let recover = bench.sender.nxt / MSS;
    for end in 10..=recover {
        bench.ack(5, &[(6, end)]);
        bench.send();
    }
    bench.ack(recover, &[]);
    assert_eq!(bench.cwnd(), flight as f64 / 2.0, "the window after recovery is half of the flight at detection");
    assert_eq!((bench.sender.report.retransmissions, bench.sender.report.timeouts), (1, 0));
}

#[test]
fn a_lost_last_packet_waits_for_one_timeout() {
    let mut bench = Bench::new(5 * MSS, Config::default());
    bench.send();
    for next in 1..=4 {
        bench.ack(next, &[]);
    }
    assert_eq!(bench.send(), [0u64; 0]);
    assert_eq!(bench.expire(), Span::from_ms(10));
    assert_eq!(bench.send(), [4]);
    bench.ack(5, &[]);
    assert!(bench.sender.is_done());
    assert_eq!(bench.sender.report, SenderReport { packets: 6, retransmissions: 1, timeouts: 1 });
}

#[test]
fn the_timeout_doubles_and_keeps_ssthresh_when_the_retransmission_is_lost() {
    let mut bench = Bench::new(100 * MSS, Config { max_rto: Span::from_ms(50), ..Config::default() });
    bench.send();
    assert_eq!(bench.expire(), Span::from_ms(10));
    assert_eq!((bench.cwnd(), bench.sender.window.ssthresh), (1.0, 5.0 * MSS as f64));
    assert_eq!(bench.send(), [0]);
    assert_eq!(bench.expire(), Span::from_ms(20));
    assert_eq!((bench.cwnd(), bench.sender.window.ssthresh), (1.0, 5.0 * MSS as f64));
    assert_eq!(bench.send(), [0]);
    assert_eq!(bench.expire(), Span::from_ms(40));
    assert_eq!(bench.expire(), Span::from_ms(50), "up to the largest timeout");
}

#[test]
fn after_a_timeout_sacked_segments_are_not_sent_again() {
    let mut bench = Bench::new(10 * MSS, Config { fast_retransmit: false, ..Config::default() });
    bench.send();
    bench.ack(0, &[(2, 4), (6, 9)]);
    bench.expire();
    assert_eq!(bench.send(), [0]);
    bench.ack(1, &[(2, 4), (6, 9)]);
    assert_eq!(bench.send(), [1, 4]);
    bench.ack(4, &[(6, 9)]);
    bench.ack(5, &[(6, 9)]);
    assert_eq!(bench.send(), [5, 9]);
}

#[test]
fn without_fast_retransmit_duplicates_mean_nothing() {
    let mut bench = Bench::new(100 * MSS, Config { fast_retransmit: false, ..Config::default() });
    bench.send();
    for end in 2..10 {
        bench.ack(0, &[(1, end)]);
    }
    assert_eq!(bench.send(), [0u64; 0]);
    assert_eq!(bench.sender.recovery, Recovery::No);
}

#[test]
fn the_timeout_follows_the_round_trip() {
    let mut bench = Bench::new(1000 * MSS, Config { min_rto: Span::from_ps(1), ..Config::default() });
    bench.sender.sample_rtt(Span::from_us(100));
    assert_eq!((bench.sender.srtt, bench.sender.rto), (Span::from_us(100), Span::from_us(300)));
    bench.sender.sample_rtt(Span::from_us(180));
    // rttvar = 3/4 50 + 1/4 80 = 57.5, srtt = 7/8 100 + 1/8 180 = 110.
    assert_eq!((bench.sender.srtt, bench.sender.rto), (Span::from_us(110), Span::from_us(340)));
}

#[test]
fn a_packet_says_what_is_left_of_its_flow_and_so_does_its_second_copy() {
    let mut bench = Bench::pfabric(10 * MSS, Count::FromPacket);
    let first: Vec<_> = (0..10).map(|n| (n, 14_600 - n * MSS, 1500)).collect();
    assert_eq!(bench.ranks(), first);
    bench.ack(2, &[]);
    bench.ack(2, &[(3, 10)]);
    assert_eq!(bench.expire(), RTO);
    assert_eq!(bench.ranks(), [(2, 11_680, 1500)], "the third of ten");
}

#[test]
fn or_it_says_what_is_not_acknowledged() {
    let mut bench = Bench::pfabric(10 * MSS, Count::Unacknowledged);
    assert_eq!(bench.ranks(), (0..10).map(|n| (n, 14_600, 1500)).collect::<Vec<_>>());
    bench.ack(2, &[(3, 9)]);
    bench.expire();
    assert_eq!(bench.ranks(), [(2, 2 * MSS, 1500)]);
    bench.ack(9, &[]);
    assert_eq!(bench.ranks(), [(9, MSS, 1500)]);
}

#[test]
fn a_fixed_timeout_follows_nothing_and_doubles_never() {
    let mut bench = Bench::pfabric(1000 * MSS, Count::FromPacket);
    bench.sender.sample_rtt(Span::from_ms(80));
    bench.send();
    for _ in 0..4 {
        assert_eq!(bench.expire(), RTO);
        assert_eq!(bench.send(), [0]);
    }
}

#[test]
fn each_timeout_halves_the_window_and_sends_again_what_was_not_sacked() {
    let mut bench = Bench::pfabric(1000 * MSS, Count::FromPacket);
    assert_eq!(bench.send().len(), 70);
    for end in 2..20 {
        bench.ack(0, &[(1, end)]);
    }
    assert_eq!(bench.send(), [0u64; 0], "duplicates mean nothing");
    bench.expire();
    assert_eq!((bench.cwnd(), bench.sender.window.ssthresh), (1.0, 35.0 * MSS as f64));
    assert_eq!(bench.send(), [0]);
    bench.ack(20, &[]);
    assert_eq!((bench.cwnd(), bench.send()), (2.0, vec![20, 21]), "slow start");
    bench.expire();
    assert_eq!((bench.cwnd(), bench.sender.window.ssthresh), (1.0, 2.0 * MSS as f64));
}

/// A flow of ten packets after five timeouts, its first probe sent.
fn probing() -> Bench {
    let mut bench = Bench::pfabric(10 * MSS, Count::FromPacket);
    bench.send();
    bench.ack(2, &[]);
    let begin = bench.now;
    for _ in 0..4 {
        bench.expire();
        assert_eq!(bench.ranks(), [(2, 11_680, 1500)]);
    }
    bench.expire();
    assert_eq!(bench.now.since(begin), Some(Span::from_us(1250)));
    assert_eq!(bench.ranks(), [(2, 11_680, 41)], "of one byte, with the priority of the flow, and nothing else");
    bench
}

#[test]
fn after_five_timeouts_a_probe_goes_at_each() {
    let mut bench = probing();
    for _ in 0..3 {
        assert_eq!(bench.send(), [0u64; 0]);
        assert_eq!(bench.expire(), RTO);
        assert_eq!(bench.ranks(), [(2, 11_680, 41)]);
    }
    assert_eq!(bench.sender.report, SenderReport { packets: 18, retransmissions: 8, timeouts: 8 });
}

#[test]
fn any_ack_ends_the_probing() {
    for next in [2, 4] {
        let mut bench = probing();
        bench.now = bench.now + Span::from_us(100);
        bench.ack(next, &[]);
        let grown = next - 2;
        assert_eq!(bench.cwnd(), if grown > 0 { 2.0 } else { 1.0 }, "slow start from one segment");
        let sent = bench.send();
        assert_eq!(sent, if grown > 0 { vec![4, 5] } else { vec![2] });
        assert_eq!(bench.expire(), RTO, "the timer starts anew");
        assert_eq!(bench.ranks(), [(next, 14_600 - next * MSS, 1500)], "and timeouts are counted anew");
    }
}

#[test]
fn a_receiver_answers_a_probe_with_what_it_has_and_takes_nothing_from_it() {
    let mut bench = probing();
    bench.expire();
    let probe = bench.send_packets().remove(0);
    let mut receiver = Receiver::new(FlowId(0), &spec(bench.sender.size), true);
    let mut answer = |packet: &Packet| {
        let mut acks = Vec::new();
        receiver.on_data(bench.now, packet, None, |ack| acks.push((ack.seq / MSS, ack.sack().count())));
        acks
    };
    let segment = |n: u64| Packet::data(FlowId(0), HostId(0), HostId(1), n * MSS, MSS as u16, 10 * MSS, bench.now);
    assert_eq!(answer(&segment(0)), [(1, 0)]);
    assert_eq!(answer(&segment(1)), [(2, 0)]);
    assert_eq!(answer(&probe), [(2, 0)], "when it begins with the byte that is expected");
    assert_eq!(answer(&segment(3)), [(2, 1)]);
    assert_eq!(answer(&probe), [(2, 1)], "with something behind it");
    assert_eq!(answer(&segment(2)), [(4, 0)]);
    assert_eq!(answer(&probe), [(4, 0)], "and when it has come in the meantime");
}

proptest! {
    /// Over a link that drops at random the sender ends, and sends each segment at least once.
    #[test]
    fn any_loss_is_recovered(size in 1u64..200_000, drops in prop::collection::vec(prop::bool::weighted(0.2), 400)) {
        let mut bench = Bench::new(size, Config::default());
        let mut drops = drops.into_iter();
        let total = tailcut_base::packets(size);
        let mut received = vec![false; total as usize];
        let mut rounds = 0;
        while !bench.sender.is_done() {
            rounds += 1;
            prop_assert!(rounds < 2_000, "the sender makes progress");
            let sent = bench.send();
            if sent.is_empty() {
                bench.expire();
                continue;
            }
            bench.now = bench.now + Span::from_us(100);
            for number in sent {
                if drops.next().unwrap_or(false) {
                    continue;
                }
                received[number as usize] = true;
                let next = received.iter().take_while(|&&r| r).count() as u64;
                let block = (number > next).then_some((number, number + 1));
                bench.ack(next, block.as_slice());
            }
        }
        prop_assert!(received.iter().all(|&r| r));
        prop_assert!(bench.sender.report.packets >= total);
        prop_assert_eq!(bench.sender.report.packets - bench.sender.report.retransmissions, total);
    }
}
