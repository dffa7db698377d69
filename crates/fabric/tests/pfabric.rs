//! pFabric's port, and the ideal one beside it.

use crate::common::{Bench, SLOT, ack, data, fifo, name};
use proptest::prelude::*;
use tailcut_base::MSS_BYTES;
use tailcut_fabric::PortConfig;
use tailcut_fabric::buffer::{self, BufferConfig};
use tailcut_fabric::sched::{self, SchedulerConfig};
use tailcut_model::Packet;
use tailcut_model::seat::DropReason;

/// pFabric's port with room for so many full packets.
fn pfabric(limit: u64) -> PortConfig {
    PortConfig {
        scheduler: SchedulerConfig::Pfabric(sched::pfabric::Config {}),
        buffer: BufferConfig::DropWorst(buffer::drop_worst::Config {}),
        ..fifo(limit)
    }
}

fn srpt() -> PortConfig {
    PortConfig { scheduler: SchedulerConfig::Srpt(sched::srpt::Config {}), ..fifo(1000) }
}

/// Full packet number `nth` of a flow, of which so many packets are left with it.
fn left(flow: u32, nth: u64, packets: u64) -> Packet {
    let mut packet = data(flow, nth);
    packet.set_rank(packets * MSS_BYTES);
    packet
}

/// A packet that occupies the wire before anything is queued.
const FRONT: (u32, u64) = (9, 0);

/// The packets that leave, in order, when these have come while the wire was busy.
fn order(port: &PortConfig, packets: Vec<Packet>) -> Vec<(u32, u64)> {
    let mut bench = Bench::new(port);
    bench.offer(0, data(FRONT.0, FRONT.1));
    bench.offer_all(1, packets);
    bench.drain();
    bench.order()[1..].to_vec()
}

#[test]
fn the_flow_of_the_smallest_value_goes_first_and_its_packets_as_they_came() {
    let packets = || vec![left(0, 0, 5), left(0, 1, 4), left(1, 0, 4), left(0, 2, 3)];
    assert_eq!(order(&pfabric(24), packets()), [(0, 0), (0, 1), (0, 2), (1, 0)]);
    // The ideal asks what is left of a flow with the first packet of it that waits.
    assert_eq!(order(&srpt(), packets()), [(1, 0), (0, 0), (0, 1), (0, 2)]);
}

#[test]
fn a_flow_that_waits_as_a_whole_has_a_small_value_and_is_long_all_the_same() {
    let packets = || (0..5).map(|nth| left(0, nth, 5 - nth)).chain([left(1, 0, 2), left(1, 1, 1)]).collect();
    let long_first = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 0), (1, 1)];
    assert_eq!(order(&pfabric(24), packets()), long_first);
    assert_eq!(order(&srpt(), packets()), [(1, 0), (1, 1), (0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]);
}

#[test]
fn packets_of_a_flow_leave_as_they_came_when_one_of_them_was_sent_again() {
    // Segment 0 was lost, and comes again behind the others with its first value.
    let packets = || vec![left(0, 1, 4), left(0, 2, 3), left(0, 0, 5), left(0, 3, 2)];
    for port in [pfabric(24), srpt()] {
        assert_eq!(order(&port, packets()), [(0, 1), (0, 2), (0, 0), (0, 3)]);
    }
}

#[test]
fn acks_go_first() {
    let packets = || vec![left(0, 0, 1), ack(1, 0), left(2, 0, 1), ack(3, 0)];
    for port in [pfabric(24), srpt()] {
        assert_eq!(order(&port, packets()), [(1, 0), (3, 0), (0, 0), (2, 0)]);
    }
}

/// What is dropped by a port of three packets, with values 9, 4 and 9, when this one comes.
fn dropped_by(packet: Packet) -> Vec<((u32, u64), DropReason)> {
    let mut bench = Bench::new(&pfabric(3));
    bench.offer(0, data(FRONT.0, FRONT.1));
    bench.offer_all(1, [left(0, 0, 9), left(1, 0, 4), left(2, 0, 9), packet]);
    assert_eq!(bench.port.waiting(), 3);
    let dropped = bench.dropped.iter().map(|(packet, why)| (name(packet), *why)).collect();
    bench.drain();
    dropped
}

#[test]
fn a_full_port_refuses_what_is_worse_than_all_or_as_bad_as_the_worst() {
    for packets in [9, 10] {
        assert_eq!(dropped_by(left(3, 0, packets)), [((3, 0), DropReason::PortFull)]);
    }
}

#[test]
fn a_full_port_drops_one_packet_for_a_better_one_the_later_of_the_worst() {
    for packets in [1, 4, 8] {
        assert_eq!(dropped_by(left(3, 0, packets)), [((2, 0), DropReason::PushedOut)]);
    }
}

#[test]
fn an_ack_makes_room_for_itself() {
    assert_eq!(dropped_by(ack(3, 0)), [((2, 0), DropReason::PushedOut)]);
}

/// A packet that arrives: slots since the one before, its flow, its number, and what is left with it.
type Arrival = (u64, u32, u64, u64);

/// Flows of 1 to 40 packets: mostly the next one, now and then one that came before. They come about as fast as they
/// go, or so many at once that more than a hundred wait.
fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    prop_oneof![arrivals_with(4), arrivals_with(40)]
}

/// Packets that come at once with the one before are so many as are given, to five that come later.
fn arrivals_with(at_once: u32) -> impl Strategy<Value = Vec<Arrival>> {
    let sizes = prop::collection::vec(1u64..40, 6);
    let gap = prop_oneof![at_once => Just(0u64), 4 => Just(1), 1 => 2u64..8];
    let picks = prop::collection::vec((gap, 0..6usize, prop::bool::weighted(0.2), 0u64..40), 1..300);
    (sizes, picks).prop_map(|(sizes, picks)| {
        let mut sent = [0; 6];
        let arrival = |(gap, flow, again, which): (u64, usize, bool, u64)| {
            let nth = if again || sent[flow] == sizes[flow] { which % sent[flow].max(1) } else { sent[flow] };
            sent[flow] = sent[flow].max(nth + 1);
            (gap, flow as u32, nth, sizes[flow] - nth)
        };
        picks.into_iter().map(arrival).collect()
    })
}

/// Packets by flow and number.
type Names = Vec<(u32, u64)>;

/// What leaves and what is dropped, in order, by the words of the paper: a list and its scans.
fn by_the_words(limit: usize, arrivals: &[Arrival]) -> (Names, Names) {
    let mut list: Vec<Arrival> = Vec::new();
    let (mut left, mut dropped) = (Vec::new(), Vec::new());
    let dequeue = |list: &mut Vec<Arrival>| {
        let mut best = list[0];
        for packet in list.iter() {
            if packet.3 < best.3 {
                best = *packet;
            }
        }
        let earliest = list.iter().position(|packet| packet.1 == best.1).expect("the best one at least");
        let packet = list.remove(earliest);
        (packet.1, packet.2)
    };
    let (mut now, mut free) = (0, 0);
    for &(gap, flow, nth, value) in arrivals {
        now += gap;
        while free <= now && !list.is_empty() {
            left.push(dequeue(&mut list));
            free += 1;
        }
        if free <= now {
            left.push((flow, nth));
            free = now + 1;
            continue;
        }
        list.push((gap, flow, nth, value));
        if list.len() > limit {
            let mut worst = 0;
            for (at, packet) in list.iter().enumerate() {
                if packet.3 >= list[worst].3 {
                    worst = at;
                }
            }
            let packet = list.remove(worst);
            dropped.push((packet.1, packet.2));
        }
    }
    while !list.is_empty() {
        left.push(dequeue(&mut list));
    }
    (left, dropped)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Flows with retransmissions through a port of few packets or many.
    #[test]
    fn the_port_does_what_the_paper_says(arrivals in arrivals(), limit in prop_oneof![1u64..8, 8u64..60, 60u64..200]) {
        let mut bench = Bench::new(&pfabric(limit));
        let mut now = 0;
        for &(gap, flow, nth, packets) in &arrivals {
            now += gap;
            bench.offer(now * SLOT, left(flow, nth, packets));
        }
        bench.drain();
        let (left, dropped) = by_the_words(limit as usize, &arrivals);
        prop_assert_eq!(bench.order(), left);
        prop_assert_eq!(bench.dropped.iter().map(|(packet, _)| name(packet)).collect::<Vec<_>>(), dropped);
    }
}
