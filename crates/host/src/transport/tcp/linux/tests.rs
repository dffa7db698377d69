//! A sender of Linux, alone with its ACKs and its timer.

use proptest::prelude::*;
use tailcut_base::{HostId, Instant, MSS_BYTES, Span};
use tailcut_model::{Flags, FlowId, Kind, Packet, PathFacts, SackBlock};

use super::{Config, State};
use crate::HostConfig;
use crate::congestion::{CongestionConfig, dctcp, swift};
use crate::transport::TransportConfig;
use crate::transport::around::spec;
use crate::transport::tcp::receiver::{Acks, Receiver};
use crate::transport::tcp::sender::{Fired, Seats, Sender};
use crate::transport::tcp::{Config as Tcp, DelayedAck, Recovery};

const MSS: u64 = MSS_BYTES;
/// A header takes 20 us each way.
const HEADER: Span = Span::from_us(20);

struct Bench {
    sender: Sender,
    now: Instant,
}

fn host(linux: Config) -> HostConfig {
    let tcp = Tcp { recovery: Recovery::Linux, linux: Some(linux), ..Tcp::default() };
    HostConfig { transport: TransportConfig::Tcp(tcp), ..HostConfig::default() }
}

impl Bench {
    fn new(segments: u64) -> Bench {
        Bench::on(segments * MSS, &host(Config::default()))
    }

    fn on(bytes: u64, host: &HostConfig) -> Bench {
        let TransportConfig::Tcp(tcp) = &host.transport else { unreachable!("it is TCP") };
        let seats = Seats { queued: true, nic: 0, paced: false, limited: false, receive_window: None };
        let path = PathFacts::default().with_header_time(HEADER);
        let spec = tailcut_model::FlowSpec { path, ..spec(bytes) };
        Bench { sender: Sender::new(FlowId(0), &spec, host, tcp, &seats), now: Instant::ZERO + Span::from_ms(1) }
    }

    /// The next flow of the same connection.
    fn go_on(mut self, segments: u64, host: &HostConfig) -> Bench {
        let mut next = Bench::on(segments * MSS, host);
        next.now = self.now;
        next.sender.go_on_from(self.now, self.sender.keep(), false);
        next
    }

    /// Sends all that may go; gives the numbers of the segments.
    fn send(&mut self) -> Vec<u64> {
        self.packets().iter().map(|packet| packet.seq / MSS).collect()
    }

    fn packets(&mut self) -> Vec<Packet> {
        let mut sent = Vec::new();
        self.sender.hand_over(self.now);
        self.sender.newly_sendable(self.now);
        while self.sender.has_offered() && self.sender.take_turn() {
            sent.push(self.sender.next_packet(self.now, false, None));
            self.sender.newly_sendable(self.now);
        }
        self.sender.wanted_timer(None);
        sent
    }

    fn wait(&mut self, micros: u64) {
        self.now = self.now + Span::from_us(micros);
    }

    /// An ACK for all before segment `next`, with SACK blocks in segments; then what is sent.
    fn ack(&mut self, next: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        self.ack_with(next, blocks, |_| {})
    }

    fn ack_with(&mut self, next: u64, blocks: &[(u64, u64)], change: impl FnOnce(&mut Packet)) -> Vec<u64> {
        let seq = (next * MSS).min(self.sender.size());
        let mut ack = Packet::control(Kind::ACK, FlowId(0), HostId(1), HostId(0), seq, self.now);
        ack.set_sack(blocks.iter().map(|&(s, e)| SackBlock { start: s * MSS, end: e * MSS }));
        change(&mut ack);
        self.sender.on_ack(self.now, &ack, None);
        self.send()
    }

    /// The timer fires when it is due; gives how long that took, whether it was a timeout, and what is sent.
    fn expire(&mut self) -> (Span, bool, Vec<u64>) {
        let before = self.now;
        self.now = self.sender.deadline();
        let fired = self.sender.on_timer_at(self.now);
        (self.now.since(before).expect("timers lie ahead"), matches!(fired, Fired::Timeout), self.send())
    }

    fn cwnd(&self) -> f64 {
        self.sender.window().cwnd / MSS as f64
    }

    fn state(&mut self) -> State {
        self.sender.with_linux(|linux, _| linux.state)
    }
}

#[test]
fn the_window_opens_by_what_was_acknowledged_also_by_one_ack_for_many() {
    let mut bench = Bench::new(1000);
    assert_eq!(bench.send().len(), 10);
    bench.wait(100);
    assert_eq!(bench.ack(10, &[]).len(), 20, "RFC 5681 alone would open it by one segment");
    assert_eq!(bench.cwnd(), 20.0);
}

#[test]
fn three_sacked_segments_start_a_recovery_and_the_window_falls_in_proportion() {
    let mut bench = Bench::new(1000);
    bench.send();
    bench.wait(100);
    // Equal times of sending: the order of segments decides.
    assert_eq!(bench.ack(0, &[(1, 2)]), [10], "limited transmit");
    assert_eq!(bench.ack(0, &[(1, 3)]), [11]);
    assert_eq!(bench.state(), State::Disorder);
    assert_eq!(bench.ack(0, &[(1, 4)]), [0]);
    assert_eq!((bench.state(), bench.sender.window().ssthresh), (State::Recovery, 5.0 * MSS as f64));
    let sent: Vec<usize> = (5..10).map(|end| bench.ack(0, &[(1, end)]).len()).collect();
    assert!(sent.iter().sum::<usize>() <= 3, "about one for every two: {sent:?}");
    bench.wait(100);
    bench.ack(12, &[]);
    assert_eq!((bench.state(), bench.cwnd()), (State::Open, 5.0));
}

#[test]
fn a_probe_after_two_round_trips_repeats_the_last_segment_and_rack_finds_the_rest() {
    let mut bench = Bench::new(10);
    bench.send();
    bench.wait(100);
    bench.ack(5, &[]);
    // Segments 5 to 9 are lost. The smoothed round trip is 47.5 us, and the least wait 2 ms.
    let (wait, is_timeout, sent) = bench.expire();
    assert_eq!((is_timeout, sent), (false, vec![9]));
    assert!((Span::from_us(2080)..Span::from_us(2110)).contains(&wait), "{wait}");
    bench.wait(100);
    assert_eq!(bench.ack(5, &[(9, 10)]), [5], "the window falls to what is in flight and one");
    assert_eq!(bench.state(), State::Recovery);
}

#[test]
fn a_probe_of_new_data_needs_no_repair() {
    let mut bench = Bench::new(11);
    assert_eq!(bench.send().len(), 10);
    let (_, is_timeout, sent) = bench.expire();
    assert_eq!((is_timeout, sent), (false, vec![10]), "beyond the window");
    let (_, is_timeout, _) = bench.expire();
    assert!(is_timeout, "one probe at a time");
}

#[test]
fn a_loss_that_a_probe_repaired_halves_the_window_and_a_duplicate_does_not() {
    for (is_duplicate, cwnd) in [(false, 10.0), (true, 20.0)] {
        let mut bench = Bench::new(20);
        bench.send();
        bench.wait(100);
        bench.ack(10, &[]);
        bench.wait(100);
        bench.ack(19, &[]);
        assert_eq!(bench.cwnd(), 20.0);
        let (_, _, sent) = bench.expire();
        assert_eq!(sent, [19]);
        bench.wait(100);
        if is_duplicate {
            // Both copies arrive: the original's ACK, then the report of the duplicate.
            bench.ack_with(20, &[], |ack| ack.report_duplicate(SackBlock { start: 19 * MSS, end: 20 * MSS }));
        } else {
            bench.sender.with_linux(|linux, flow| {
                let answer = super::probe::Answer { is_duplicate: false, is_bare: false };
                linux.on_ack_of_probe(flow, Instant::ZERO, 21, answer);
            });
        }
        assert_eq!(bench.cwnd(), cwnd);
    }
}

#[test]
fn the_timeout_doubles_and_a_spurious_one_is_taken_back() {
    let plain = Config { tail_loss_probe: false, ..Config::default() };
    let mut bench = Bench::on(1000 * MSS, &host(plain));
    bench.send();
    let (first, is_timeout, sent) = bench.expire();
    assert_eq!((is_timeout, sent), (true, vec![0]));
    assert!((Span::from_us(10_040)..Span::from_us(10_041)).contains(&first), "{first}");
    let (second, _, sent) = bench.expire();
    assert_eq!((second, sent), (first * 2, vec![0]));
    assert_eq!(bench.cwnd(), 1.0);
    // The ACK of the first transmission comes late: new data is sent instead of repeating what may not be lost.
    bench.wait(100);
    assert_eq!(bench.ack(1, &[]), [10, 11], "RFC 5682, section 3.1, step 2.b");
    assert_eq!(bench.state(), State::Loss);
    // Segment 1, which was never sent again, arrives too: the timeout was spurious.
    bench.ack(2, &[]);
    assert_eq!((bench.state(), bench.cwnd()), (State::Open, 11.0), "the window before, and one more");
}

#[test]
fn without_f_rto_what_was_sent_is_repeated() {
    let plain = Config { tail_loss_probe: false, f_rto: false, ..Config::default() };
    let mut bench = Bench::on(1000 * MSS, &host(plain));
    bench.send();
    bench.expire();
    bench.wait(100);
    assert_eq!(bench.ack(1, &[]), [1, 2], "slow start through what was taken for lost");
    assert_eq!(bench.ack(2, &[]), [3, 4]);
}

#[test]
fn a_recovery_whose_retransmissions_were_all_duplicates_is_taken_back() {
    for (is_reported, cwnd) in [(true, 12.0), (false, 6.0)] {
        let mut bench = Bench::new(1000);
        bench.send();
        bench.wait(100);
        bench.ack(1, &[]);
        bench.ack(2, &[]);
        assert_eq!(bench.cwnd(), 12.0);
        for end in 4..7 {
            bench.ack(2, &[(3, end)]);
        }
        assert_eq!(bench.state(), State::Recovery);
        // Segment 2 was late: it arrives, and then its copy.
        bench.wait(50);
        bench.ack(14, &[]);
        assert_eq!(bench.cwnd(), 6.0);
        bench.wait(50);
        bench.ack_with(16, &[], |ack| {
            if is_reported {
                ack.report_duplicate(SackBlock { start: 2 * MSS, end: 3 * MSS });
            }
        });
        // It opens by the two segments and the duplicate.
        assert!(bench.cwnd() >= cwnd && bench.cwnd() <= cwnd + 3.0, "{}", bench.cwnd());
    }
}

#[test]
fn a_receiver_reports_duplicates_and_acknowledges_the_first_packets_at_once() {
    let delayed = DelayedAck { every: 2, timeout: Span::from_us(500), quick: 3 };
    let acks = Acks { reports_duplicates: true, quick: 3, have_size: true };
    let mut receiver = Receiver::new(FlowId(0), &spec(20 * MSS), true);
    let mut arrive = |number: u64| {
        let mut answers = Vec::new();
        let data =
            Packet::data(FlowId(0), HostId(0), HostId(1), number * MSS, MSS as u16, 20 * MSS, Instant::from_ps(1));
        receiver.on_data_with(acks, Instant::ZERO, &data, Some(&delayed), |ack| answers.push(ack));
        let in_segments = |block: SackBlock| (block.start / MSS, block.end / MSS);
        answers
            .iter()
            .map(|ack| {
                let above: Vec<(u64, u64)> = ack.sack_above().map(in_segments).collect();
                (ack.seq / MSS, ack.duplicate_sack().map(in_segments), above, ack.size)
            })
            .collect::<Vec<_>>()
    };
    for number in 0..3 {
        assert_eq!(arrive(number), [(number + 1, None, vec![], 40)]);
    }
    assert_eq!(arrive(3), [], "the first delayed ACK");
    assert_eq!(arrive(4), [(5, None, vec![], 40)]);
    assert_eq!(arrive(7), [(5, None, vec![(7, 8)], 52)], "a SACK block makes the ACK longer");
    assert_eq!(arrive(7), [(5, Some((7, 8)), vec![(7, 8)], 60)], "a duplicate above the acknowledgement");
    assert_eq!(arrive(2), [(5, Some((2, 3)), vec![(7, 8)], 60)], "and one below");
    assert_eq!(arrive(5), [(6, None, vec![(7, 8)], 52)], "at once again after a duplicate");
}

#[test]
fn reordering_widens_what_is_tolerated() {
    let mut bench = Bench::new(1000);
    bench.send();
    bench.wait(100);
    bench.ack(0, &[(2, 3)]);
    // Segments 0 and 1 were only late.
    bench.ack(3, &[]);
    let saw = bench.sender.with_linux(|linux, _| linux.rack.saw_reordering);
    assert!(saw);
    for end in 5..9 {
        bench.ack(3, &[(4, end)]);
    }
    assert_eq!(bench.state(), State::Disorder, "it waits for the reordering window instead of three segments");
    let (wait, is_timeout, sent) = bench.expire();
    assert_eq!((is_timeout, sent.first()), (false, Some(&3)));
    assert!(wait >= Span::from_us(2000) && wait < Span::from_us(2100), "{wait}");
}

#[test]
fn marks_reduce_over_a_round_trip_and_once_in_it() {
    let congestion = CongestionConfig::Dctcp(dctcp::Config { floor: 2, ..dctcp::Config::default() });
    let mut bench = Bench::on(1000 * MSS, &HostConfig { congestion, ..host(Config::default()) });
    bench.send();
    bench.wait(100);
    let echo = |ack: &mut Packet| ack.flags = Flags::ECE;
    let mut sent = 0;
    for next in 1..=10 {
        sent += bench.ack_with(next, &[], echo).len();
        assert_eq!(bench.state(), State::Reduced);
    }
    // Alpha is 1 at the beginning: half of the window.
    assert_eq!((sent, bench.cwnd()), (5, 5.0));
    bench.wait(100);
    bench.ack(11, &[]);
    assert_eq!((bench.state(), bench.cwnd()), (State::Open, 5.0));
}

#[test]
fn a_window_that_was_idle_is_halved_for_each_timeout() {
    let mut bench = Bench::new(10);
    bench.send();
    bench.wait(100);
    bench.ack(10, &[]);
    let window = |slow_start_after_idle, idle| {
        let mut bench = Bench::on(MSS, &host(Config { slow_start_after_idle, ..Config::default() }));
        bench.sender.with_linux(|linux, _| {
            linux.cwnd = 64;
            linux.last_sent = 0;
            linux.restart_after_idle(Instant::ZERO + Span::from_us(idle));
            linux.cwnd
        })
    };
    // The timeout is 10.04 ms.
    assert_eq!([9_000, 11_000, 21_000, 90_000].map(|idle| window(true, idle)), [64, 32, 16, 10]);
    assert_eq!(window(false, 90_000), 64);
}

fn with_dctcp(alpha0: f64) -> HostConfig {
    let congestion = CongestionConfig::Dctcp(dctcp::Config { floor: 2, alpha0, ..dctcp::Config::default() });
    HostConfig { congestion, ..host(Config::default()) }
}

fn echo(ack: &mut Packet) {
    ack.flags.set(Flags::ECE);
}

#[test]
fn slow_start_opens_the_window_to_twice_what_is_in_use() {
    for (segments, cwnd) in [(5, 10.0), (6, 12.0), (9, 18.0), (10, 20.0)] {
        let mut bench = Bench::new(segments);
        assert_eq!(bench.send().len() as u64, segments);
        bench.wait(100);
        for next in (2..=segments).step_by(2) {
            bench.ack(next, &[]);
        }
        bench.ack(segments, &[]);
        assert_eq!(bench.cwnd(), cwnd, "{segments} segments");
    }
}

#[test]
fn a_window_that_the_congestion_control_sets_keeps_its_part_of_a_segment() {
    let congestion = CongestionConfig::Swift(swift::Config::default());
    let mut bench = Bench::on(1000 * MSS, &HostConfig { congestion, ..host(Config::default()) });
    let mut sent = bench.send();
    for _ in 0..10 {
        bench.wait(20);
        for number in std::mem::take(&mut sent) {
            sent.extend(bench.ack(number + 1, &[]));
        }
    }
    assert!(bench.cwnd() > 14.0, "{}", bench.cwnd());
}

#[test]
fn the_echo_of_an_old_ack_does_not_forbid_to_take_a_reduction_back() {
    let mut bench = Bench::new(1000);
    bench.send();
    bench.wait(100);
    bench.ack(2, &[]);
    for end in 4..7 {
        bench.ack(2, &[(3, end)]);
    }
    bench.ack_with(1, &[(6, 7)], echo);
    bench.wait(50);
    bench.ack(14, &[]);
    bench.ack_with(14, &[], |ack| ack.report_duplicate(SackBlock { start: 2 * MSS, end: 3 * MSS }));
    assert!(bench.cwnd() >= 12.0, "{}", bench.cwnd());
}

#[test]
fn an_ack_while_nothing_is_outstanding_reduces_nothing() {
    let mut bench = Bench::on(10 * MSS, &with_dctcp(1.0));
    bench.send();
    bench.wait(100);
    bench.ack(10, &[]);
    let cwnd = bench.cwnd();
    bench.ack_with(10, &[], echo);
    assert_eq!((bench.state(), bench.cwnd()), (State::Open, cwnd));
}

#[test]
fn a_reduction_by_the_last_ack_of_a_flow_ends_with_the_first_one_of_the_next() {
    let host = with_dctcp(1.0);
    let mut bench = Bench::on(10 * MSS, &host);
    bench.send();
    bench.wait(100);
    bench.ack(9, &[]);
    assert_eq!(bench.cwnd(), 19.0);
    bench.ack_with(10, &[], echo);
    assert_eq!((bench.state(), bench.cwnd()), (State::Reduced, 2.0));
    let mut next = bench.go_on(100, &host);
    assert_eq!(next.send(), [0, 1]);
    next.wait(100);
    next.ack(1, &[]);
    // Alpha is 241/256.
    assert_eq!((next.state(), next.cwnd()), (State::Open, 11.0));
}

#[test]
fn a_probe_that_repaired_the_end_of_a_flow_reduces_the_window_of_the_next() {
    // DCTCP's answer is that to marks: without any it is none.
    for (host, cwnd) in [(host(Config::default()), 10.0), (with_dctcp(0.0), 20.0)] {
        let mut bench = Bench::on(20 * MSS, &host);
        bench.send();
        bench.wait(100);
        bench.ack(10, &[]);
        bench.wait(100);
        bench.ack(19, &[]);
        assert_eq!(bench.cwnd(), 20.0);
        assert_eq!(bench.expire().2, [19]);
        bench.wait(100);
        bench.ack(20, &[]);
        assert_eq!(bench.cwnd(), 20.0);
        let mut next = bench.go_on(100, &host);
        next.send();
        next.wait(100);
        next.ack(1, &[]);
        assert!((cwnd..=cwnd + 1.0).contains(&next.cwnd()), "{}", next.cwnd());
    }
}

#[test]
fn what_waits_for_the_interface_when_a_flow_ends_is_no_part_of_the_next() {
    let host = host(Config { tail_loss_probe: false, ..Config::default() });
    let mut bench = Bench::on(10 * MSS, &host);
    bench.send();
    bench.now = bench.sender.deadline();
    bench.sender.on_timer_at(bench.now);
    let mut ack = Packet::control(Kind::ACK, FlowId(0), HostId(1), HostId(0), 10 * MSS, bench.now);
    ack.set_sack([]);
    bench.sender.on_ack(bench.now, &ack, None);
    assert_eq!(bench.sender.with_linux(|linux, _| linux.queued()), 1, "the retransmission");
    let mut next = bench.go_on(3, &host);
    assert_eq!(next.send(), [0, 1, 2]);
}

#[test]
fn a_flow_that_is_held_makes_nothing_of_its_timer_and_begins_again_with_its_window() {
    let mut bench = Bench::new(100);
    bench.send();
    bench.sender.hold();
    for _ in 0..3 {
        let (_, is_timeout, sent) = bench.expire();
        assert_eq!((is_timeout, sent), (false, vec![]));
    }
    assert_eq!(bench.cwnd(), 10.0);
    bench.sender.go_on(1, 14);
    assert_eq!(bench.send(), [10, 11, 12, 13]);
    assert_eq!(bench.expire().2, [14], "a probe");
    let (_, is_timeout, sent) = bench.expire();
    assert_eq!((is_timeout, sent), (true, vec![0]));
}

#[test]
fn a_segment_that_was_sacked_and_arrives_again_was_only_late() {
    let mut bench = Bench::new(100);
    bench.send();
    bench.wait(100);
    for end in 3..6 {
        bench.ack(0, &[(2, end)]);
    }
    assert_eq!(bench.ack(0, &[(2, 7)]), [1]);
    bench.ack(0, &[(1, 7)]);
    assert!(!bench.sender.with_linux(|linux, _| linux.rack.saw_reordering));
    bench.ack_with(8, &[], |ack| ack.report_duplicate(SackBlock { start: MSS, end: 2 * MSS }));
    assert!(bench.sender.with_linux(|linux, _| linux.rack.saw_reordering));
}

proptest! {
    /// Over a network that loses and reorders, every byte arrives, the counts of the board stay consistent, and the
    /// sender never sends what its window forbids beyond one probe.
    #[test]
    fn every_byte_arrives_over_a_bad_network(
        segments in 1u64..60,
        losses in prop::collection::vec(prop::bool::weighted(0.2), 400),
        late in prop::collection::vec(0usize..5, 400),
        rack in any::<bool>(), tail_loss_probe in any::<bool>(), prr in any::<bool>(), f_rto in any::<bool>(),
    ) {
        let config = Config { rack, tail_loss_probe, prr, f_rto, ..Config::default() };
        let mut bench = Bench::on(segments * MSS - 7, &host(config));
        let mut receiver = Receiver::new(FlowId(0), &spec(segments * MSS - 7), true);
        let acks = Acks { reports_duplicates: true, ..Acks::default() };
        let mut network: Vec<(usize, Packet)> = Vec::new();
        let (mut losses, mut late, mut at) = (losses.into_iter(), late.into_iter(), 0);
        let mut steps = 0;
        while !bench.sender.is_done() {
            steps += 1;
            prop_assert!(steps < 3000, "it does not end");
            for packet in bench.packets() {
                at += 1;
                if !losses.next().unwrap_or(false) {
                    network.push((at + late.next().unwrap_or(0), packet));
                }
            }
            network.sort_by_key(|(at, _)| *at);
            if network.is_empty() {
                bench.now = bench.sender.deadline();
                prop_assert!(bench.now < Instant::MAX, "something is outstanding and no timer runs");
                bench.sender.on_timer_at(bench.now);
                continue;
            }
            let (_, packet) = network.remove(0);
            bench.wait(10);
            let mut answers = Vec::new();
            receiver.on_data_with(acks, bench.now, &packet, None, |ack| answers.push(ack));
            for ack in answers {
                if !bench.sender.is_done() {
                    bench.sender.on_ack(bench.now, &ack, None);
                }
            }
            let in_flight = bench.sender.with_linux(|linux, _| {
                (linux.board.in_flight(), linux.board.outstanding(), linux.board.sacked(), linux.board.lost())
            });
            prop_assert!(in_flight.2 + in_flight.3 <= in_flight.1, "{:?}", in_flight);
        }
        prop_assert!(receiver.is_done());
    }
}
