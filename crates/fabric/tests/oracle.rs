//! Ports, schedulers and wires against slow models: every operation list gives the same packets at the same times.
//!
//! Ports and schedulers are drawn from what is registered, so a model is tested by being registered.

use std::collections::BTreeSet;

use crate::common::draw::{all_lines, arrivals, classes_of, ports, registered, schedulers};
use crate::common::slow::{Order, SlowPort, Waiting, bytes};
use crate::common::{Bench, SLOT, at, is_marked};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tailcut_base::{BitRate, HostId, Instant, Span};
use tailcut_fabric::{Link, Offered, PortConfig, PortContext, Wire};
use tailcut_model::seat::{DropReason, PortScheduler};
use tailcut_model::{Arena, FlowId, Kind, Packet};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Order, times, marks, drops, pushed-out packets, lengths and counts of any port are those of the slow one.
    #[test]
    fn a_port_does_what_a_list_does(
        config in ports(),
        believes in prop::bool::weighted(0.2),
        arrivals in arrivals(),
        bps in prop_oneof![Just(10_000_000_000u64), Just(40_000_000_000), 1_000_000_000u64..200_000_000_000],
        delay in 0u64..30_000_000,
    ) {
        let rate = BitRate::from_bps(bps).unwrap();
        let mut bench = Bench::on(&config, Link::new(rate, Span::from_ps(delay)));
        let mut slow = SlowPort::new(&config, rate, believes);
        bench.port.start_histogram(Instant::ZERO, 0);
        let mut now = 0;
        for (nth, arrival) in (0..).zip(&arrivals) {
            now += arrival.gap;
            bench.offer(now, arrival.packet(nth));
            slow.offer(now, arrival.packet(nth));
            prop_assert_eq!(bench.port.backlog(), slow.bytes(None));
            prop_assert_eq!(bench.port.waiting() as usize, slow.waiting());
            prop_assert!(bench.port.backlog() <= slow.capacity());
        }
        bench.drain();
        slow.run(u64::MAX);
        let landed: Vec<_> = bench.landed.iter().map(|(ps, p)| (ps - delay, p.seq, is_marked(p), p.marks)).collect();
        prop_assert_eq!(&landed, &slow.left);
        let dropped: Vec<_> = bench.dropped.iter().map(|(p, why)| (p.seq, *why)).collect();
        prop_assert_eq!(&dropped, &slow.dropped);
        let end = bench.landed.last().map_or(now, |(ps, _)| now.max(*ps));
        let bins = bench.port.take_histogram(at(end)).expect("it was started").bins();
        let bins: Vec<(u64, u64)> = bins.into_iter().map(|(upper, time)| (upper, time.as_ps())).collect();
        prop_assert_eq!(bins, slow.times(end));
        // Nothing is lost and nothing comes twice.
        prop_assert_eq!(landed.len() + dropped.len(), arrivals.len());
        prop_assert_eq!(bench.port.stats().marks, slow.marks);
        prop_assert_eq!(bench.port.stats().demotions, slow.demotions);
        for reason in DropReason::ALL {
            let count = slow.dropped.iter().filter(|(_, why)| *why == reason).count() as u64;
            prop_assert_eq!(bench.port.stats().drops(reason), count);
        }
        let sent: u64 = landed.iter().map(|(_, nth, ..)| u64::from(arrivals[*nth as usize].size)).sum();
        prop_assert_eq!((bench.port.wire.stats().packets, bench.port.wire.stats().bytes), (landed.len() as u64, sent));
    }

    /// Each scheduler alone: what it gives, what it evicts and what it says of itself. What the trait promises holds
    /// for all of them; those whose order is known keep exactly this order.
    #[test]
    fn a_scheduler_does_what_a_list_does(
        config in schedulers(),
        classes in 1u8..=8,
        // Mostly short queues, some of hundreds of packets.
        operations in (2u8..12).prop_flat_map(|pushes| {
            prop::collection::vec((0u8..2 + pushes, 0u8..8, 0u32..6, 0u64..40, 41u16..=1500), 1..600)
        }),
    ) {
        let classes = classes_of(&config, classes);
        let order = Order::of(&config);
        let mut scheduler = config.build(&PortContext { limit: 1 << 20, classes }).unwrap();
        let mut arena = Arena::new();
        let mut waiting: Vec<Waiting> = Vec::new();
        // In the end everything is sent.
        let drain = std::iter::repeat_n((0, 0, 0, 0, 41), operations.len() + 1);
        for (nth, (operation, class, flow, rank, size)) in (0..).zip(operations.into_iter().chain(drain)) {
            let class = class % classes;
            let mut packet =
                Packet::data(FlowId(flow), HostId(0), HostId(1), nth, size - 40, 1 << 40, Instant::ZERO);
            packet.set_rank(rank);
            let has_worse = scheduler.has_worse(&packet, class);
            if let Some(order) = order {
                prop_assert_eq!(has_worse, order.has_worse(&waiting, class, rank));
            }
            let lowest = waiting.iter().map(|w| w.class).max();
            prop_assert!(lowest.is_some() || !has_worse, "nothing waits that is worse");
            prop_assert!(lowest.is_none_or(|lowest| lowest == class || has_worse == (lowest > class)));
            if operation > 1 {
                waiting.push(Waiting::new(&waiting, &packet, class));
                let id = arena.insert(packet);
                scheduler.push(&mut arena, id, class);
            } else {
                let id = if operation == 0 { scheduler.pop(&mut arena) } else { scheduler.evict(&mut arena) };
                let taken = id.map(|id| arena.get(id).seq);
                if let Some(order) = order {
                    let worst = order.worst(&waiting).map(|w| w.nth);
                    prop_assert_eq!(taken, if operation == 0 { order.next(&waiting) } else { worst });
                }
                let at = waiting.iter().position(|w| Some(w.nth) == taken);
                prop_assert_eq!(at.is_none(), waiting.is_empty(), "it gives what waits, as long as something does");
                if let (Some(id), Some(at)) = (id, at) {
                    arena.remove(id);
                    let taken = waiting.remove(at);
                    let is_alike = |w: &&Waiting| (w.flow, w.class, w.rank) == (taken.flow, taken.class, taken.rank);
                    let overtakes = waiting[..at].iter().any(|w| is_alike(&w));
                    prop_assert!(operation == 1 || !overtakes, "of packets of a flow that are alike the first goes");
                    let is_last = waiting[at..].iter().all(|w| w.class != taken.class);
                    let is_worst = Some(taken.class) == lowest && is_last;
                    prop_assert!(operation == 0 || classes == 1 || is_worst, "the last of the lowest class makes room");
                }
            }
            for class in 0..classes {
                prop_assert_eq!(scheduler.class_bytes(class), bytes(&waiting, Some(class)));
            }
        }
        prop_assert!(arena.is_empty());
    }

    /// Packets land in the order of their transmission, each its transmission and the delay after its start.
    #[test]
    fn a_wire_lands_its_packets_in_order(
        packets in prop::collection::vec((0u64..3 * SLOT, 40u16..=1500), 1..60),
        delay in 0u64..20 * SLOT,
    ) {
        let rate = BitRate::gbps(10);
        let mut wire = Wire::new(Link::new(rate, Span::from_ps(delay)));
        let mut arena = Arena::new();
        let (mut free, mut busy) = (0, 0);
        let mut expected: Vec<(u64, u64)> = Vec::new();
        let mut agreed: Option<u64> = None;
        let mut landed: Vec<(u64, u64)> = Vec::new();
        // Lands what is due before `now`; only the first packet in flight is ever agreed on.
        let mut land_until = |wire: &mut Wire, arena: &mut Arena, agreed: &mut Option<u64>, now: u64| {
            while let Some(due) = agreed.filter(|&due| due < now) {
                let (id, next) = wire.land(arena);
                landed.push((due, arena.get(id).seq));
                arena.remove(id);
                *agreed = next.map(Instant::as_ps);
            }
        };
        for (nth, (idle, size)) in (0..).zip(packets) {
            let now = free + idle;
            land_until(&mut wire, &mut arena, &mut agreed, now);
            prop_assert!(wire.is_free(at(now)));
            let mut packet = Packet::control(Kind::ACK, FlowId(0), HostId(0), HostId(1), nth, Instant::ZERO);
            packet.size = size;
            let id = arena.insert(packet);
            let land = wire.transmit(at(now), &mut arena, id).map(Instant::as_ps);
            let tx = rate.tx_time(u64::from(size)).as_ps();
            expected.push((now + tx + delay, nth));
            prop_assert_eq!(land, agreed.is_none().then_some(now + tx + delay));
            agreed = agreed.or(land);
            prop_assert!(!wire.is_free(at(now + tx - 1)) && wire.is_free(at(now + tx)));
            // One call is agreed on until it came.
            prop_assert_eq!(wire.agree_free(), Some(at(now + tx)));
            prop_assert_eq!(wire.agree_free(), None);
            wire.freed();
            free = now + tx;
            busy += tx;
        }
        land_until(&mut wire, &mut arena, &mut agreed, u64::MAX);
        prop_assert_eq!(landed, expected);
        prop_assert_eq!(wire.stats().busy.as_ps(), busy);
        prop_assert!(arena.is_empty());
    }
}

#[test]
fn an_offer_to_an_idle_port_agrees_on_the_landing_of_the_first_packet_in_flight_only() {
    let mut bench = Bench::new(&PortConfig::default());
    let landing = |offered| match offered {
        Offered::Sent { land } => land.map(Instant::as_ps),
        other => panic!("{other:?}"),
    };
    assert_eq!(landing(bench.offer(0, crate::common::data(0, 0))), Some(SLOT + crate::common::DELAY));
    assert_eq!(landing(bench.offer(2 * SLOT, crate::common::data(0, 1))), None);
    bench.drain();
    assert_eq!(landing(bench.offer(100 * SLOT, crate::common::data(0, 2))), Some(101 * SLOT + crate::common::DELAY));
}

/// A model is tested by being registered: the random ports above are made of each of its cases.
#[test]
fn random_ports_reach_every_case_of_every_registered_model() {
    let mut runner = TestRunner::deterministic();
    let mut missing: BTreeSet<String> = all_lines().into_iter().collect();
    for _ in 0..2000 {
        let drawn = registered().new_tree(&mut runner).expect("every choice makes a port").current();
        drawn.lines.iter().for_each(|line| _ = missing.remove(line));
    }
    assert!(missing.is_empty(), "none of 2000 random ports has {missing:?}");
}

/// The random ports above are worth their time: they reach what a port can do to a packet.
#[test]
fn random_ports_reach_every_reason_to_drop_marks_and_demotions() {
    let mut runner = TestRunner::deterministic();
    let drawn = (ports(), arrivals());
    let mut reached = [0; 6];
    for _ in 0..300 {
        let (config, arrivals) = drawn.new_tree(&mut runner).expect("every choice makes a port").current();
        let mut bench = Bench::new(&config);
        let packets = (0..).zip(&arrivals).map(|(nth, arrival)| arrival.packet(nth));
        bench.offer_all(0, packets);
        let stats = bench.port.stats();
        for (count, happened) in reached.iter_mut().zip([
            stats.drops(DropReason::PortFull),
            stats.drops(DropReason::ClassFull),
            stats.drops(DropReason::PushedOut),
            stats.drops(DropReason::RandomLoss),
            stats.marks,
            stats.demotions,
        ]) {
            *count += u32::from(happened > 0);
        }
    }
    assert!(reached.iter().all(|&count| count > 4), "{reached:?}");
}
