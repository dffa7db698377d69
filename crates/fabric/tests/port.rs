//! A port alone, fed with hand-written packets: what goes next, what is marked, what is dropped.

use crate::common::{
    ACK_SLOT, Bench, DELAY, SLOT, ack, by_tag, data, divided, fifo, is_marked, marked, marking, name, ranked, reserved,
    slytherin, tagged,
};
use proptest::prelude::*;
use tailcut_base::{Bytes, HostId, Instant, MSS_BYTES};
use tailcut_fabric::buffer::divided::Overflow;
use tailcut_fabric::buffer::{self, BufferConfig, reserved::Room};
use tailcut_fabric::classify::{self, ClassifierConfig};
use tailcut_fabric::loss::{self, LossConfig};
use tailcut_fabric::mark::{self, MarkerConfig, step::Scope};
use tailcut_fabric::sched::{self, SchedulerConfig};
use tailcut_fabric::{Offered, PortConfig};
use tailcut_model::seat::DropReason::{ClassFull, PortFull, PushedOut, RandomLoss};
use tailcut_model::{Flags, FlowId, Packet};

/// Packets of a flow that land after one of the same flow with a higher offset.
fn reordered(bench: &Bench, flow: u32) -> usize {
    let mut furthest = 0;
    let mut count = 0;
    for (_, packet) in bench.landed.iter().filter(|(_, packet)| packet.flow.0 == flow) {
        count += usize::from(packet.seq < furthest);
        furthest = furthest.max(packet.seq);
    }
    count
}

/// `packet` with this size on the wire and these flags.
fn with(mut packet: Packet, size: u16, flags: Flags) -> Packet {
    packet.size = size;
    packet.flags = flags;
    packet
}

fn sized(packet: Packet, size: u16) -> Packet {
    let flags = packet.flags;
    with(packet, size, flags)
}

#[test]
fn an_idle_port_sends_at_once_and_a_busy_one_in_turn() {
    let mut bench = Bench::new(&fifo(240));
    assert!(matches!(bench.offer(7, data(0, 0)), Offered::Sent { land: Some(_) }));
    assert!(matches!(bench.offer(7, data(0, 1)), Offered::Queued));
    assert!(matches!(bench.offer(8, data(0, 2)), Offered::Queued));
    // At the moment at which the transmitter becomes free, and long after: no time is lost.
    bench.offer(7 + 3 * SLOT, data(0, 3));
    bench.offer(7 + 10 * SLOT, data(0, 4));
    bench.drain();
    let landings: Vec<u64> = bench.landed.iter().map(|&(ps, _)| ps - DELAY - 7).collect();
    assert_eq!(landings, [SLOT, 2 * SLOT, 3 * SLOT, 4 * SLOT, 11 * SLOT]);
    assert_eq!((bench.port.wire.stats().packets, bench.port.wire.stats().bytes), (5, 7500));
    assert_eq!(bench.port.wire.stats().busy.as_ps(), 5 * SLOT);
}

#[test]
fn a_first_class_packet_waits_for_the_wire_and_for_earlier_ones_of_its_class_only() {
    let mut bench = Bench::new(&by_tag(3, 240));
    bench.offer_all(0, (0..50).map(|nth| tagged(2, nth, 2)));
    bench.offer_all(0, (0..50).map(|nth| tagged(1, nth, 1)));
    bench.offer_all(1, [tagged(0, 0, 0), tagged(0, 1, 0)]);
    // The packet of 1.2 us that went on the wire a picosecond before finishes.
    bench.offer(5 * SLOT + 1, tagged(0, 2, 0));
    bench.drain();
    assert_eq!(bench.landing(0, 0) - DELAY, 2 * SLOT);
    assert_eq!(bench.landing(0, 1) - DELAY, 3 * SLOT);
    assert_eq!(bench.landing(0, 2) - DELAY, 7 * SLOT);
    assert_eq!(bench.landing(2, 1) - DELAY, 55 * SLOT, "the last class waits for all of the others");
}

#[test]
fn a_packet_joins_the_class_that_its_sender_wrote_or_the_last_one() {
    let mut bench = Bench::new(&by_tag(3, 240));
    let classes = [0, 7, 2, 1, 0, 3];
    bench.offer_all(0, classes.iter().zip(0..).map(|(&class, nth)| tagged(0, nth, class)));
    bench.drain();
    let order: Vec<u64> = bench.order().into_iter().map(|(_, nth)| nth).collect();
    assert_eq!(order, [0, 4, 3, 1, 2, 5]);
}

// K = 65 packets: the packet that makes 66 of them wait is the first to be marked.
#[test]
fn marking_begins_with_the_packet_that_exceeds_the_threshold_the_wire_not_counted() {
    let mut bench = Bench::new(&marking(fifo(240), 65, Scope::Port));
    bench.offer_all(0, (0..100).map(|nth| data(0, nth)));
    assert_eq!(bench.port.backlog(), 99 * 1500);
    bench.drain();
    for (_, packet) in &bench.landed {
        // Number 0 is on the wire; number n makes n packets wait.
        assert_eq!(is_marked(packet), name(packet).1 >= 66, "{:?}", name(packet));
    }
    assert_eq!(bench.port.stats().marks, 34);
}

#[test]
fn a_queue_that_has_become_short_does_not_mark() {
    let mut bench = Bench::new(&marking(fifo(240), 5, Scope::Port));
    bench.offer_all(0, (0..7).map(|nth| data(0, nth)));
    // One has left by then: the next one makes 6 again, and the one after the next departure too.
    bench.offer(SLOT, data(0, 7));
    bench.offer(3 * SLOT, data(0, 8));
    bench.drain();
    let marks: Vec<u64> = bench.landed.iter().filter(|(_, p)| is_marked(p)).map(|(_, p)| name(p).1).collect();
    assert_eq!(marks, [6, 7], "number 8 makes 5 packets wait");
}

#[test]
fn the_whole_port_counts_for_marking_or_the_class_alone() {
    let marks = |scope| {
        let mut bench = Bench::new(&marking(by_tag(2, 240), 10, scope));
        bench.offer(0, tagged(9, 0, 0));
        bench.offer_all(0, (0..8).map(|nth| tagged(1, nth, 1)));
        bench.offer_all(0, (0..8).map(|nth| tagged(0, nth, 0)));
        bench.offer_all(0, (8..14).map(|nth| tagged(1, nth, 1)));
        bench.drain();
        let mut marks: Vec<(u32, u64)> =
            bench.landed.iter().filter(|(_, p)| is_marked(p)).map(|(_, p)| name(p)).collect();
        marks.sort_unstable();
        marks
    };
    let in_port = (2..8).map(|nth| (0, nth)).chain((8..14).map(|nth| (1, nth))).collect::<Vec<_>>();
    assert_eq!(marks(Scope::Port), in_port);
    assert_eq!(marks(Scope::Queue), (10..14).map(|nth| (1, nth)).collect::<Vec<_>>());
}

#[test]
fn packets_that_are_not_capable_of_ecn_are_not_marked() {
    let mut bench = Bench::new(&marking(fifo(240), 2, Scope::Port));
    bench.offer_all(0, (0..10).map(|nth| with(data(0, nth), 1500, Flags::NONE)));
    bench.offer(0, ack(1, 0));
    bench.drain();
    assert!(bench.landed.iter().all(|(_, packet)| !is_marked(packet) && packet.marks == 0));
    assert_eq!(bench.port.stats().marks, 0);
}

#[test]
fn each_switch_that_would_mark_is_counted_and_the_mark_stays() {
    let config = marking(fifo(240), 2, Scope::Port);
    let (mut first, mut second) = (Bench::new(&config), Bench::new(&config));
    first.offer_all(0, (0..6).map(|nth| data(0, nth)));
    first.drain();
    // At the second switch they arrive together, in the other order: 5 is on the wire, 4 and 3 are below the threshold.
    second.offer_all(0, first.landed.iter().rev().map(|(_, packet)| packet.clone()));
    second.drain();
    let counts: Vec<(u64, bool, u8)> = second.landed.iter().map(|(_, p)| (name(p).1, is_marked(p), p.marks)).collect();
    let expected = [(5, true, 1), (4, true, 1), (3, true, 1), (2, true, 1), (1, true, 1), (0, true, 1)];
    assert_eq!(counts, expected);
    let mut third = Bench::new(&config);
    third.offer_all(0, second.landed.iter().map(|(_, packet)| packet.clone()));
    third.drain();
    assert_eq!(third.landed.iter().map(|(_, p)| p.marks).collect::<Vec<_>>(), [1, 1, 1, 2, 2, 2]);
    assert_eq!(third.port.stats().marks, 3);
}

#[test]
fn classes_share_one_limit_and_the_arrival_is_dropped() {
    let mut bench = Bench::new(&by_tag(2, 10));
    bench.offer_all(0, (0..11).map(|nth| tagged(1, nth, 1)));
    assert_eq!(bench.port.backlog(), 15_000);
    // Backlog of the low class refuses the high one: the limit is the port's.
    assert_eq!(bench.offer(1, tagged(0, 0, 0)), Offered::Dropped(PortFull));
    assert_eq!(bench.offer(1, tagged(1, 11, 1)), Offered::Dropped(PortFull));
    bench.offer(SLOT, tagged(0, 1, 0));
    // Not even one byte fits beside ten full packets; an ACK fits where a full packet does not.
    assert_eq!(bench.offer(SLOT, ack(3, 0)), Offered::Dropped(PortFull));
    bench.offer(2 * SLOT, sized(tagged(1, 12, 1), 1461));
    assert_eq!(bench.offer(2 * SLOT, ack(3, 1)), Offered::Dropped(PortFull));
    bench.drain();
    assert_eq!(bench.port.stats().all_drops()[..5], [4, 0, 0, 0, 0]);
    assert_eq!(bench.dropped.len(), 4);
    assert_eq!(bench.landed.len(), 13);
}

#[test]
fn a_limit_counts_what_waits_to_the_byte() {
    let mut config = fifo(10);
    config.limit = Bytes(3000).into();
    let mut bench = Bench::new(&config);
    bench.offer_all(0, [data(0, 0), data(0, 1), sized(data(0, 2), 1460)]);
    assert!(matches!(bench.offer(0, ack(0, 0)), Offered::Queued), "exactly full");
    assert_eq!(bench.offer(0, sized(data(0, 3), 41)), Offered::Dropped(PortFull));
    assert_eq!(bench.port.backlog(), 3000);
}

// Slytherin: a packet is promoted from the next switch on, not where it is marked.
#[test]
fn a_packet_leaves_the_switch_that_marks_it_in_turn_and_overtakes_at_the_next_one() {
    // Marks from 10 waiting packets on.
    let mut first = Bench::new(&slytherin(40));
    first.offer_all(0, (0..15).map(|nth| data(1, nth)));
    first.drain();
    assert_eq!(first.order(), (0..15).map(|nth| (1, nth)).collect::<Vec<_>>());
    assert!(first.landed.iter().all(|(_, packet)| is_marked(packet) == (name(packet).1 >= 10)));

    // At the second switch 30 unmarked packets of another flow wait already, and nothing is marked.
    let mut second = Bench::new(&slytherin(400));
    let start = first.landed[0].0 - 1;
    second.offer_all(start, (0..30).map(|nth| data(2, nth)));
    for (ps, packet) in &first.landed {
        second.offer(*ps, packet.clone());
    }
    second.drain();
    for nth in 10..15 {
        // It waits for the packet that went on the wire a picosecond before, and for nothing else.
        let waited = second.landing(1, nth) - first.landing(1, nth) - SLOT - DELAY;
        assert_eq!(waited, SLOT - 1, "packet {nth}");
    }
    assert_eq!(second.landing(1, 0) - start - DELAY, (30 + 5 + 1) * SLOT, "an unmarked one waits for all");
    assert_eq!(second.port.stats().marks, 0);
}

#[test]
fn promoted_packets_are_not_marked_again() {
    let mut bench = Bench::new(&slytherin(40));
    bench.offer_all(0, (0..12).map(|nth| data(1, nth)));
    bench.offer_all(0, (0..5).map(|nth| marked(2, nth)));
    bench.drain();
    for (_, packet) in &bench.landed {
        let expected = if packet.flow.0 == 2 { 1 } else { u8::from(name(packet).1 >= 10) };
        assert_eq!(packet.marks, expected, "{:?}", name(packet));
    }
    assert_eq!(bench.port.stats().marks, 2);
}

#[test]
fn the_share_of_the_limit_at_which_slytherin_marks_is_of_both_classes_and_marks_itself() {
    let mut bench = Bench::new(&slytherin(40));
    // One on the wire and four that were marked before: 6000 B wait. The threshold is 15000 B.
    bench.offer_all(0, (0..5).map(|nth| marked(2, nth)));
    bench.offer_all(0, (0..7).map(|nth| data(1, nth)));
    bench.drain();
    let marks: Vec<u64> =
        bench.landed.iter().filter(|(_, p)| p.flow.0 == 1 && is_marked(p)).map(|(_, p)| name(p).1).collect();
    assert_eq!(marks, [5, 6], "the sixth makes exactly 15000 B");
}

#[test]
fn an_ack_passes_600_waiting_packets() {
    let mut bench = Bench::new(&slytherin(4_000));
    bench.offer_all(0, (0..601).map(|nth| data(0, nth)));
    assert_eq!(bench.port.waiting(), 600);
    bench.offer(1, ack(1, 0));
    bench.drain();
    assert_eq!(bench.order()[1], (1, 0));
    assert_eq!(bench.landing(1, 0), SLOT + ACK_SLOT + DELAY);
}

#[test]
fn either_half_of_slytherins_rule_can_be_left_out() {
    for (with_marked, with_acks, next) in
        [(true, true, (1, 0)), (true, false, (1, 0)), (false, true, (2, 0)), (false, false, (0, 1))]
    {
        let classifier = ClassifierConfig::CeOrAck(classify::ce_or_ack::Config {
            marked: with_marked,
            acks: with_acks,
            largest_flow: None,
        });
        let mut bench = Bench::new(&PortConfig { classifier, ..slytherin(400) });
        bench.offer_all(0, [data(0, 0), data(0, 1), marked(1, 0), ack(2, 0)]);
        bench.drain();
        assert_eq!(bench.order()[1], next);
    }
}

// Slytherin, section III-B: promotion of the short flows only.
#[test]
fn of_the_marked_packets_those_of_large_flows_can_be_left_where_they_are() {
    let of_flow = |flow: u32, bytes: u64| {
        let packet = Packet::data(FlowId(flow), HostId(0), HostId(1), 0, MSS_BYTES as u16, bytes, Instant::ZERO);
        with(packet, 1500, Flags::ECT.with(Flags::CE, flow > 1))
    };
    let short = classify::ce_or_ack::Config { largest_flow: Some(Bytes(32_000)), ..Default::default() };
    for (config, order) in [(short, [0, 3, 4, 1, 2]), (Default::default(), [0, 2, 3, 4, 1])] {
        let classifier = ClassifierConfig::CeOrAck(config);
        let mut bench = Bench::new(&PortConfig { classifier, ..slytherin(400) });
        // Flow 0 is on the wire, and flow 1 waits without a mark.
        bench.offer_all(0, [of_flow(0, 1), of_flow(1, 1), of_flow(2, 32_001), of_flow(3, 32_000)]);
        bench.offer(0, ack(4, 0));
        bench.drain();
        assert_eq!(bench.landed.iter().map(|(_, packet)| packet.flow.0).collect::<Vec<_>>(), order);
    }
}

// Slytherin, section V-F: with limited sub-queues PIAS drops or demotes.
#[test]
fn a_packet_that_does_not_fit_in_its_class_is_dropped_while_others_have_room() {
    let mut bench = Bench::new(&divided(by_tag(3, 9), None, Overflow::Drop));
    bench.offer_all(0, (0..6).map(|nth| tagged(1, nth, 1)));
    bench.offer_all(0, (0..4).map(|nth| tagged(0, nth, 0)));
    // One is on the wire; three wait in each of the classes 0 and 1, and none in class 2.
    assert_eq!((bench.port.waiting(), bench.port.stats().demotions), (6, 0));
    let dropped: Vec<_> = bench.dropped.iter().map(|(packet, why)| (name(packet), *why)).collect();
    assert_eq!(dropped, [((1, 4), ClassFull), ((1, 5), ClassFull), ((0, 3), ClassFull)]);
    assert_eq!(bench.port.stats().all_drops()[..5], [0, 0, 0, 3, 0]);
    bench.drain();
}

#[test]
fn a_packet_that_does_not_fit_in_its_class_joins_the_next_one_with_room_and_is_overtaken() {
    let mut bench = Bench::new(&divided(by_tag(3, 9), Some(&[2, 1, 9]), Overflow::Demote));
    bench.offer(0, tagged(9, 0, 0));
    bench.offer_all(0, (0..6).map(|nth| tagged(1, nth, 0)));
    assert_eq!(bench.port.stats().demotions, 4, "one in class 1, three in class 2");
    // There is room in class 0 again, for one packet.
    bench.offer_all(SLOT, (6..8).map(|nth| tagged(1, nth, 0)));
    bench.offer(SLOT, tagged(2, 0, 2));
    assert_eq!((bench.port.stats().demotions, bench.dropped.len()), (5, 0));
    bench.drain();
    let order: Vec<u64> = bench.order().into_iter().filter(|(flow, _)| *flow == 1).map(|(_, nth)| nth).collect();
    assert_eq!(order, [0, 1, 6, 2, 3, 4, 5, 7]);
    assert_eq!(bench.order().last(), Some(&(2, 0)));
    assert_eq!(reordered(&bench, 1), 4);
}

#[test]
fn demotion_ends_in_a_drop_where_no_lower_class_or_the_port_has_no_room() {
    let mut bench = Bench::new(&divided(by_tag(3, 9), Some(&[2, 3, 1]), Overflow::Demote));
    bench.offer(0, tagged(9, 0, 0));
    bench.offer_all(0, (0..7).map(|nth| tagged(1, nth, 1)));
    // Class 0 has room, and lies above.
    bench.offer(0, tagged(2, 0, 2));
    assert_eq!((bench.port.stats().demotions, &bench.port.stats().all_drops()[..5]), (1, &[0, 0, 0, 4, 0][..]));
    bench.offer(0, tagged(0, 0, 0));
    bench.drain();

    // The classes may hold more than the port together: its limit holds for each of them.
    let mut bench = Bench::new(&divided(by_tag(2, 4), Some(&[3, 4]), Overflow::Demote));
    bench.offer(0, tagged(9, 0, 0));
    bench.offer_all(0, (0..5).map(|nth| tagged(1, nth, 0)));
    assert_eq!((bench.port.stats().demotions, &bench.port.stats().all_drops()[..5]), (1, &[1, 0, 0, 0, 0][..]));
    bench.drain();
}

// ResQueue: 20 KB for retransmissions of short flows.
#[test]
fn thirteen_full_packets_fit_in_20_kb_and_the_fourteenth_is_dropped() {
    for room in [Room::Inside, Room::Beside, Room::Shared] {
        let mut bench = Bench::new(&reserved(by_tag(5, 160), 20_000, room));
        bench.offer(0, tagged(9, 0, 1));
        bench.offer_all(0, (0..14).map(|nth| tagged(1, nth, 0)));
        let dropped: Vec<_> = bench.dropped.iter().map(|(packet, why)| (name(packet), *why)).collect();
        assert_eq!(dropped, [((1, 13), ClassFull)]);
        assert_eq!(bench.port.backlog(), 19_500);
        bench.drain();
    }
}

// "20KB of dedicated buffer".
#[test]
fn the_reserved_class_has_room_in_a_port_that_is_full_of_others() {
    let offer = |room| {
        let mut bench = Bench::new(&reserved(by_tag(5, 160), 20_000, room));
        bench.offer(0, tagged(9, 0, 1));
        bench.offer_all(0, (0..160).map(|nth| tagged(2, nth, 1 + (nth % 4) as u8)));
        let others = bench.port.waiting();
        bench.offer_all(0, (0..14).map(|nth| tagged(3, nth, 0)));
        let waiting = bench.port.waiting() - others;
        let drops = bench.port.stats().all_drops();
        bench.drain();
        (others, waiting, drops[ClassFull as usize], drops[PortFull as usize])
    };
    // 220 KB are 146 full packets and a part of one.
    assert_eq!(offer(Room::Inside), (146, 13, 1, 14));
    assert_eq!(offer(Room::Beside), (160, 13, 1, 0));
    assert_eq!(offer(Room::Shared), (160, 0, 0, 14));
}

/// The largest backlog of class 0 and the number of drops when 32 answers of 1 KB, lost together and sent again
/// together, come in over so many links of the same rate.
fn burst_of_retransmissions(links: u64, limit: u64) -> (u64, usize) {
    const SLOT_1KB: u64 = 832_000;
    let mut bench = Bench::new(&reserved(by_tag(5, 160), limit, Room::Shared));
    let mut most = 0;
    for nth in 0..32 {
        bench.offer(nth / links * SLOT_1KB, sized(tagged(nth as u32, 0, 0), 1040));
        most = most.max(bench.port.backlog());
    }
    let lost = bench.dropped.len();
    assert!(bench.dropped.iter().all(|(_, why)| *why == ClassFull));
    bench.drain();
    (most, lost)
}

// "Never dropped twice" holds as long as what is sent again at a time fits.
#[test]
fn an_incast_that_is_sent_again_at_once_overflows_the_reserved_class() {
    // Ten uplinks bring them within three packet times, at most two of which leave meanwhile; 19 fit.
    let (most, lost) = burst_of_retransmissions(10, 240_000);
    assert_eq!((most, lost), (28 * 1040, 0));
    let (most, lost) = burst_of_retransmissions(10, 20_000);
    assert!(most <= 20_000 && lost == 9, "{most} {lost}");
    // All at the same instant: one goes on the wire and 19 wait.
    assert_eq!(burst_of_retransmissions(32, 20_000), (19 * 1040, 12));
    assert_eq!(burst_of_retransmissions(32, 33_000).1, 0);
}

// DCTCP's mark belongs to the queue in which the packet waits.
#[test]
fn a_demoted_packet_is_marked_by_the_length_of_the_class_that_it_joins() {
    let by_queue = marking(by_tag(2, 40), 4, Scope::Queue);
    let mut bench = Bench::new(&divided(by_queue, Some(&[3, 30]), Overflow::Demote));
    bench.offer(0, tagged(9, 0, 0));
    bench.offer_all(0, (0..10).map(|nth| tagged(1, nth, 0)));
    bench.drain();
    let marks: Vec<u64> = bench.landed.iter().filter(|(_, p)| is_marked(p)).map(|(_, p)| name(p).1).collect();
    assert_eq!(marks, [7, 8, 9], "three wait in class 0, and four in class 1 before the first mark");
}

#[test]
fn a_marked_packet_pushes_out_the_last_low_one_and_is_lost_only_when_its_class_fills_the_port() {
    let mut bench = Bench::new(&slytherin(20));
    bench.offer_all(0, (0..21).map(|nth| data(0, nth)));
    // The low class may not fill the port to its last byte: 19 wait, the arrival itself is dropped and pushes none out.
    assert_eq!(bench.port.waiting(), 19);
    assert_eq!(bench.dropped.iter().map(|(p, why)| (name(p), *why)).collect::<Vec<_>>(), [((0, 20), PortFull)]);
    bench.offer_all(0, (0..21).map(|nth| marked(1, nth)));
    // The first one fills the port; 19 push out one each, the last first; the next one finds 20 of its own class.
    let mut expected = vec![((0, 20), PortFull)];
    expected.extend((1..20).rev().map(|nth| ((0, nth), PushedOut)));
    expected.push(((1, 20), PortFull));
    assert_eq!(bench.dropped.iter().map(|(p, why)| (name(p), *why)).collect::<Vec<_>>(), expected);
    assert_eq!(bench.port.stats().all_drops()[..5], [2, 19, 0, 0, 0]);
    bench.drain();
    assert_eq!(bench.order(), [(0, 0)].into_iter().chain((0..20).map(|nth| (1, nth))).collect::<Vec<_>>());
}

#[test]
fn as_many_are_pushed_out_as_make_room() {
    let mut bench = Bench::new(&slytherin(2));
    bench.offer(0, data(0, 0));
    // 29 packets of 100 B: 2900 B of 3000 B wait, the newest of them pushed out first.
    bench.offer_all(0, (1..30).map(|nth| sized(data(0, nth), 100)));
    bench.offer(0, ack(1, 0));
    assert!(bench.dropped.is_empty());
    bench.offer(0, marked(1, 1));
    // 2940 B wait, and 1500 B need 1440 B less: 15 packets.
    let pushed: Vec<u64> = bench.dropped.iter().map(|(packet, _)| name(packet).1).collect();
    assert_eq!(pushed, (15..30).rev().collect::<Vec<_>>());
    assert_eq!(bench.port.backlog(), 2940 - 1500 + 1500);
    bench.drain();
}

#[test]
fn push_out_takes_from_the_lowest_class_that_waits() {
    let mut config = by_tag(4, 6);
    config.buffer = BufferConfig::PushOut(buffer::push_out::Config {});
    let mut bench = Bench::new(&config);
    bench.offer_all(0, [0, 3, 2, 1, 2, 3].into_iter().zip(0..).map(|(class, nth)| tagged(0, nth, class)));
    bench.offer(0, tagged(0, 6, 1));
    assert_eq!(bench.port.backlog(), 9000, "a class above the lowest fills the port");
    // Class 3 holds 5 and 1, then class 2 holds 4 and 2.
    bench.offer_all(0, (7..11).map(|nth| tagged(0, nth, 1)));
    assert_eq!(bench.offer(0, tagged(0, 11, 1)), Offered::Dropped(PortFull), "its own class is not pushed out");
    bench.offer(0, tagged(0, 12, 0));
    let pushed: Vec<u64> = bench.dropped.iter().map(|(packet, _)| name(packet).1).collect();
    assert_eq!(pushed, [5, 1, 4, 2, 11, 10]);
    bench.drain();
}

// One sender, two flows, one packet marked upstream: it overtakes its predecessors at the next switch.
#[test]
fn a_promoted_packet_is_one_reordering_for_each_predecessor_it_overtakes() {
    let mut bench = Bench::new(&slytherin(400));
    bench.offer(0, data(9, 0));
    bench.offer_all(1, [data(1, 0), data(2, 0), marked(1, 1), data(2, 1), data(1, 2)]);
    bench.drain();
    assert_eq!(bench.order(), [(9, 0), (1, 1), (1, 0), (2, 0), (2, 1), (1, 2)]);
    assert_eq!((reordered(&bench, 1), reordered(&bench, 2)), (1, 0));
}

#[test]
fn a_long_packet_waits_for_every_waiting_short_one() {
    // Shortest job first in two classes, as the senders tag it.
    let mut bench = Bench::new(&by_tag(2, 240));
    bench.offer_all(0, (0..3).map(|nth| tagged(1, nth, 1)));
    bench.offer_all(1, (0..20).map(|nth| tagged(0, nth, 0)));
    bench.offer(10 * SLOT, tagged(2, 0, 0));
    bench.drain();
    let mut expected = vec![(1, 0)];
    expected.extend((0..20).map(|nth| (0, nth)));
    expected.extend([(2, 0), (1, 1), (1, 2)]);
    assert_eq!(bench.order(), expected);
}

// The rank is the size of the flow: flows of 1, 2 and 3 units that come together finish after 1, 3 and 6 units.
#[test]
fn the_smallest_rank_goes_first_and_equal_ranks_in_turn() {
    const UNIT: u64 = 10;
    let mut bench = Bench::new(&ranked(240));
    let packet = |flow: u32, nth: u64| {
        let mut packet = data(flow, nth);
        packet.set_rank(u64::from(flow) * UNIT * MSS_BYTES);
        packet
    };
    for nth in 0..3 * UNIT {
        let unfinished = (1..=3).filter(|&flow| nth < u64::from(flow) * UNIT);
        bench.offer_all(0, unfinished.map(|flow| packet(flow, nth)));
    }
    bench.drain();
    let finished = [1, 2, 3].map(|flow| (bench.landing(flow, u64::from(flow) * UNIT - 1) - DELAY) / SLOT);
    assert_eq!(finished, [UNIT, 3 * UNIT, 6 * UNIT]);
    assert!((1..=3).all(|flow| reordered(&bench, flow) == 0));

    // Control packets have rank 0.
    let mut bench = Bench::new(&ranked(240));
    bench.offer_all(0, [packet(1, 0), packet(1, 1), packet(1, 2), ack(4, 0), ack(5, 0)]);
    bench.drain();
    assert_eq!(bench.order(), [(1, 0), (4, 0), (5, 0), (1, 1), (1, 2)]);
}

proptest! {
    /// Without marks on arrival and without ACKs, Slytherin's port is a FIFO of one byte less (as its authors coded it,
    /// the low class may not use the last byte) that marks at the same threshold.
    #[test]
    fn slytherin_without_marked_arrivals_and_acks_is_a_fifo(
        arrivals in prop::collection::vec((0u64..2 * SLOT, 1u16..=1460, prop::bool::weighted(0.9)), 1..300),
        limit in 3u64..40,
    ) {
        let slytherin = slytherin(limit);
        let MarkerConfig::Step(step) = &slytherin.marker else { panic!("Slytherin's marker is a step") };
        let fifo = PortConfig {
            limit: Bytes(slytherin.limit_bytes() - 1).into(),
            marker: MarkerConfig::Step(mark::step::Config {
                threshold: mark::Threshold::Bytes(Bytes(slytherin.limit_bytes() / 4)),
                from_class: 0,
                ..step.clone()
            }),
            ..fifo(limit)
        };
        let [slytherin, fifo] = [slytherin, fifo].map(|config| {
            let mut bench = Bench::new(&config);
            let mut now = 0;
            for (nth, &(gap, payload, capable)) in (0..).zip(&arrivals) {
                now += gap;
                let flags = Flags::NONE.with(Flags::ECT, capable);
                bench.offer(now, with(data(0, nth), payload + 40, flags));
            }
            bench.drain();
            let landed: Vec<_> = bench.landed.iter().map(|(ps, p)| (*ps, name(p), p.flags, p.marks)).collect();
            let dropped: Vec<_> = bench.dropped.iter().map(|(p, why)| (name(p), *why)).collect();
            (landed, dropped, bench.port.stats().clone())
        });
        prop_assert_eq!(slytherin, fifo);
    }
}

#[test]
fn what_cannot_be_a_port_is_refused_at_its_key() {
    let step = |threshold, from_class| {
        MarkerConfig::Step(mark::step::Config { threshold, from_class, ..mark::step::Config::default() })
    };
    let short_but_unmarked =
        classify::ce_or_ack::Config { marked: false, largest_flow: Some(Bytes(1)), ..Default::default() };
    let ranked_scheduler = SchedulerConfig::Ranked(sched::ranked::Config {});
    for (config, keys) in [
        (PortConfig { classes: 0, ..fifo(9) }, "classes"),
        (PortConfig { classes: 9, ..fifo(9) }, "classes"),
        (PortConfig { limit: Bytes(1499).into(), ..fifo(9) }, "limit"),
        (PortConfig { scheduler: ranked_scheduler, ..by_tag(2, 9) }, "scheduler"),
        (PortConfig { classes: 1, ..slytherin(9) }, "classifier"),
        (PortConfig { buffer: BufferConfig::PushOut(buffer::push_out::Config {}), ..fifo(9) }, "buffer"),
        (divided(fifo(9), None, Overflow::Drop), "buffer divided"),
        (divided(by_tag(3, 9), Some(&[9, 9]), Overflow::Drop), "buffer limits"),
        (reserved(fifo(9), 9_000, Room::Inside), "buffer reserved"),
        (reserved(by_tag(2, 9), 1_499, Room::Inside), "buffer reserved limit"),
        (reserved(by_tag(2, 9), 12_001, Room::Inside), "buffer reserved limit"),
        (reserved(by_tag(2, 9), 13_501, Room::Shared), "buffer reserved limit"),
        (PortConfig { classifier: ClassifierConfig::CeOrAck(short_but_unmarked), ..slytherin(9) }, "largest_flow"),
        (PortConfig { marker: step(mark::Threshold::Bytes(Bytes(0)), 0), ..fifo(9) }, "marker threshold"),
        (PortConfig { marker: step(mark::Threshold::Percent(25.0), 1), ..fifo(9) }, "marker from_class"),
    ] {
        let error = config.validate().unwrap_err();
        // The seat, and the key in the table of its model if that is to blame.
        let path: Vec<&str> = error.path.split('.').collect();
        assert!(keys.split(' ').all(|key| path.contains(&key)), "{error}");
        assert!(error.help.is_some(), "{error}");
    }
}

#[test]
fn a_port_that_is_accepted_lets_in_a_full_packet_of_every_class() {
    let config = slytherin(1);
    if config.validate().is_ok() {
        let mut bench = Bench::new(&config);
        assert!(matches!(bench.offer(0, data(0, 0)), Offered::Sent { .. }), "no full packet can ever pass");
    }
}

#[test]
fn what_is_lost_by_chance_takes_no_room_and_no_mark() {
    let random = loss::random::Config { probability: 0.5, of: loss::random::Of::All };
    let config = PortConfig { loss: LossConfig::Random(random), ..marking(fifo(240), 50, Scope::Port) };
    let mut bench = Bench::new(&config);
    bench.offer_all(0, (0..200).map(|nth| data(0, nth)));
    let lost = bench.dropped.len() as u64;
    assert!((60..140).contains(&lost), "{lost}");
    assert!(bench.dropped.iter().all(|(packet, why)| *why == RandomLoss && !is_marked(packet)));
    assert_eq!(bench.port.stats().all_drops()[..5], [0, 0, lost, 0, 0]);
    // One is on the wire, and 50 wait without a mark.
    assert_eq!((u64::from(bench.port.waiting()), bench.port.stats().marks), (199 - lost, 199 - lost - 50));
    bench.drain();
}
