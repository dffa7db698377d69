//! The order, and the same with every packet in a list.

use proptest::prelude::*;
use tailcut_base::{MSS_BYTES, Span};

use super::*;

const MSS: u64 = MSS_BYTES;
const MB: u64 = 1_000_000;

fn las(limit: Option<u64>, severe: Option<Severe>) -> Model {
    let limit = limit.map(|packets| Bytes(packets * MTU_BYTES));
    Model::build(&Config { limit, severe, ..Config::default() }, &()).unwrap()
}

fn us(us: u64) -> Instant {
    Instant::ZERO + Span::from_us(us)
}

fn offer(order: &mut Model, slot: u32, packets: u32) {
    order.offer(Instant::ZERO, slot, packets, 0);
}

/// The next full packets on the wire, at most `packets`, by slot; and how many of each slot were dropped in
/// between.
fn serve(order: &mut Model, packets: usize) -> (Vec<u32>, Vec<u32>) {
    let (mut sent, mut dropped) = (Vec::new(), Vec::new());
    while sent.len() < packets
        && let Some(turn) = order.next()
    {
        if turn.drop {
            dropped.push(turn.slot);
        } else {
            order.on_sent(turn.slot, MSS);
            sent.push(turn.slot);
        }
    }
    (sent, dropped)
}

/// A flow of this slot that has put so many full packets on the wire, and has nothing more to send.
fn old(order: &mut Model, slot: u32, packets: u32) {
    for _ in 0..packets {
        offer(order, slot, 1);
        assert_eq!(serve(order, usize::MAX), (vec![slot], vec![]));
    }
}

#[test]
fn a_fresh_flow_has_the_nic_until_it_has_sent_as_much_as_the_old_one() {
    let mut order = las(None, None);
    let packets = (10 * MB / MSS) as u32;
    old(&mut order, 0, packets);
    offer(&mut order, 0, 100);
    offer(&mut order, 1, packets + 10);
    let (sent, _) = serve(&mut order, packets as usize + 10);
    assert!(sent[..packets as usize].iter().all(|&slot| slot == 1), "its own 10 MB first");
    // Then both have sent the same, and the old one was served longer ago.
    assert_eq!(sent[packets as usize..], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn two_fresh_flows_alternate() {
    let mut order = las(Some(240), None);
    offer(&mut order, 5, 4);
    offer(&mut order, 3, 4);
    assert_eq!(serve(&mut order, 8).0, [5, 3, 5, 3, 5, 3, 5, 3]);
    assert!(order.is_empty());
}

#[test]
fn a_full_queue_drops_the_tail_of_the_most_served_flow_and_not_what_arrives() {
    let mut order = las(Some(10), None);
    old(&mut order, 0, 5);
    offer(&mut order, 0, 10);
    offer(&mut order, 1, 3);
    let (sent, dropped) = serve(&mut order, usize::MAX);
    // Seven are left of the old one, and three of its packets are given up once those are gone.
    assert_eq!((sent, dropped), (vec![1, 1, 1, 0, 0, 0, 0, 0, 0, 0], vec![0, 0, 0]));
    assert!(order.is_empty());
}

#[test]
fn what_arrives_is_dropped_if_its_flow_is_the_most_served() {
    let mut order = las(Some(10), None);
    old(&mut order, 0, 5);
    offer(&mut order, 1, 10);
    offer(&mut order, 0, 2);
    // Nothing of flow 0 waits before those two, so that they are given up at once.
    let turns: Vec<Turn> = (0..2).map(|_| order.next().unwrap()).collect();
    assert_eq!(turns, [Turn { slot: 0, mark: false, drop: true }; 2]);
    assert_eq!(serve(&mut order, usize::MAX), (vec![1; 10], vec![]));
}

#[test]
fn packets_to_drop_alone_still_ask_for_the_nic() {
    let mut order = las(Some(1), None);
    old(&mut order, 0, 5);
    offer(&mut order, 1, 1);
    offer(&mut order, 0, 1);
    assert_eq!(order.next().map(|turn| (turn.slot, turn.drop)), Some((0, true)));
    assert_eq!(order.next().map(|turn| (turn.slot, turn.drop)), Some((1, false)));
    offer(&mut order, 1, 1);
    order.forget(1);
    offer(&mut order, 2, 1);
    offer(&mut order, 0, 1);
    order.next();
    assert!(!order.is_empty(), "one to send is left");
    assert_eq!(serve(&mut order, usize::MAX), (vec![2], vec![]));
    assert!(order.is_empty() && order.next().is_none());
}

/// Flow 0 has put 1,022,000 B on the wire, and 20 packets of it wait, and 3 of flow 1.
fn long_and_fresh() -> Model {
    let mut order = las(Some(240), Some(Severe::default()));
    old(&mut order, 0, 700);
    offer(&mut order, 0, 20);
    offer(&mut order, 1, 3);
    order
}

#[test]
fn without_a_timeout_of_a_short_flow_nothing_is_dropped_before_the_queue_is_full() {
    let mut order = long_and_fresh();
    assert_eq!(serve(&mut order, usize::MAX).1, [0u32; 0]);
    let mut order = long_and_fresh();
    order.on_timeout(0, 1_022_000, us(100));
    order.on_timeout(1, 100_001, us(100));
    offer(&mut order, 1, 5);
    assert_eq!(serve(&mut order, usize::MAX).1, [0u32; 0], "flows of more than 100 KB are not short");
}

#[test]
fn while_a_short_flow_is_timed_out_each_packet_costs_the_long_flow_one() {
    let mut order = long_and_fresh();
    order.on_timeout(1, 100_000, us(100));
    offer(&mut order, 1, 5);
    assert_eq!(serve(&mut order, 8).0, [1; 8]);
    order.offer(us(99), 0, 2, 0);
    let (sent, dropped) = serve(&mut order, usize::MAX);
    // Five for those of the short flow and two for its own.
    assert_eq!((sent.len(), dropped), (15, vec![0; 7]));
}

#[test]
fn flows_that_are_not_long_yield_to_nobody() {
    let mut order = las(Some(240), Some(Severe::default()));
    old(&mut order, 0, 600);
    offer(&mut order, 0, 20);
    order.on_timeout(1, 0, us(100));
    offer(&mut order, 1, 5);
    assert_eq!(serve(&mut order, usize::MAX).1, [0u32; 0]);
}

#[test]
fn severe_congestion_ends_with_progress_with_time_or_with_the_flow() {
    let ends: [fn(&mut Model) -> Instant; 3] = [
        |order| {
            order.on_recovery(1);
            us(50)
        },
        |_| us(100),
        |order| {
            order.forget(1);
            us(50)
        },
    ];
    for end in ends {
        let mut order = long_and_fresh();
        order.on_timeout(1, 10_000, us(100));
        let at = end(&mut order);
        order.offer(at, 2, 5, 0);
        assert_eq!(serve(&mut order, usize::MAX).1, [0u32; 0]);
    }
    let mut order = long_and_fresh();
    order.on_timeout(1, 10_000, us(100));
    order.on_recovery(0);
    order.offer(us(50), 2, 5, 0);
    assert_eq!(serve(&mut order, usize::MAX).1, [0; 5], "another flow's progress says nothing");
}

fn by_arrival(limit: Option<u64>, severe: Option<Severe>) -> Model {
    let limit = limit.map(|packets| Bytes(packets * MTU_BYTES));
    Model::build(&Config { limit, severe, priority: Priority::Arrival, ..Config::default() }, &()).unwrap()
}

#[test]
fn with_the_priority_of_its_arrival_a_window_of_a_fresh_flow_goes_as_one() {
    let mut order = by_arrival(None, None);
    offer(&mut order, 5, 4);
    offer(&mut order, 3, 4);
    // Its first four came when it had sent nothing, and so did those of flow 3: what came first goes first.
    assert_eq!(serve(&mut order, 4).0, [5; 4]);
    // These have 4 packets before them, although the flow is no older than it was.
    offer(&mut order, 5, 1);
    offer(&mut order, 3, 2);
    assert_eq!(serve(&mut order, usize::MAX).0, [3, 3, 3, 3, 3, 3, 5]);
}

#[test]
fn with_the_priority_of_its_arrival_the_packet_that_came_latest_in_its_flow_is_dropped() {
    let mut order = by_arrival(Some(10), None);
    offer(&mut order, 0, 2);
    assert_eq!(serve(&mut order, usize::MAX).0, [0, 0]);
    offer(&mut order, 0, 1);
    offer(&mut order, 1, 8);
    offer(&mut order, 2, 3);
    // One of flow 0, which had sent two, and one of flow 2, whose packets came after those of flow 1.
    assert_eq!(serve(&mut order, usize::MAX), (vec![1, 1, 1, 1, 1, 1, 1, 1, 2, 2], vec![0, 2]));
}

#[test]
fn a_slot_that_is_used_again_starts_with_nothing_attained() {
    let mut order = las(None, None);
    old(&mut order, 0, 50);
    old(&mut order, 1, 3);
    order.forget(0);
    offer(&mut order, 1, 1);
    offer(&mut order, 0, 1);
    assert_eq!(serve(&mut order, 2).0, [0, 1]);
}

#[test]
fn an_idle_order_holds_nothing() {
    assert_eq!(las(Some(240), Some(Severe::default())).heap_bytes(), 0);
}

#[test]
fn a_limit_of_less_than_a_packet_is_refused() {
    let config = Config { limit: Some(Bytes(MTU_BYTES - 1)), ..Config::default() };
    assert_eq!(Model::build(&config, &()).unwrap_err().path, "limit");
    let config = Config { mark: Some(Bytes(MTU_BYTES - 1)), ..Config::default() };
    assert_eq!(Model::build(&config, &()).unwrap_err().path, "mark");
}

#[test]
fn what_comes_beyond_the_threshold_is_marked_and_keeps_its_mark_whoever_goes_first() {
    let config = Config { mark: Some(Bytes(3 * MTU_BYTES)), limit: Some(Bytes(6 * MTU_BYTES)), ..Config::default() };
    let mut order = Model::build(&config, &()).unwrap();
    old(&mut order, 0, 5);
    offer(&mut order, 0, 5);
    offer(&mut order, 1, 2);
    // Three of the old flow came below the threshold, one is given up for what came last; the fresh flow goes
    // first and came above it.
    let turns: Vec<Turn> = std::iter::from_fn(|| order.next()).collect();
    let fates: Vec<_> = turns.iter().map(|turn| (turn.slot, turn.mark, turn.drop)).collect();
    let expected = [(1, true, false), (1, true, false), (0, false, false), (0, false, false), (0, false, false)];
    assert_eq!(fates[..5], expected);
    assert_eq!(fates[5..], [(0, true, false), (0, false, true)]);
}

#[test]
fn a_flow_that_is_short_and_long_is_refused() {
    let config =
        Config { severe: Some(Severe { short: Bytes(2), long: Bytes(1), ..Severe::default() }), ..Config::default() };
    assert_eq!(Model::build(&config, &()).unwrap_err().path, "severe.long");
}

#[test]
fn a_flow_is_not_made_to_yield_by_its_own_timeout() {
    let mut order = long_and_fresh();
    order.on_timeout(0, 10_000, us(100));
    offer(&mut order, 0, 5);
    assert_eq!(serve(&mut order, usize::MAX).1, [0u32; 0]);
}

#[test]
fn severe_congestion_that_no_echo_ends_is_over_when_the_flow_that_timed_out_is_complete() {
    let severe = Severe { until: Until::Echo, at_once: true, ..Severe::default() };
    let mut order = las(Some(240), Some(severe));
    old(&mut order, 0, 700);
    old(&mut order, 2, 700);
    order.on_timeout(1, 10_000, us(100));
    order.offer(us(500), 0, 1, 0);
    order.offer(us(500), 2, 1, 0);
    assert_eq!(serve(&mut order, usize::MAX), (vec![], vec![2, 0]), "both long flows yield, however late it is");
    order.forget(1);
    order.offer(us(501), 0, 1, 0);
    order.offer(us(501), 2, 1, 0);
    assert_eq!(serve(&mut order, usize::MAX).1, [0u32; 0]);
}

/// The same with every packet in a list, and every decision by looking at all of them.
#[derive(Default)]
struct Slow {
    limit: usize,
    until: Until,
    at_once: bool,
    priority: Priority,
    severe: Option<(u32, Instant)>,
    /// Slot and number of each packet that waits, in the order of arrival.
    waiting: Vec<(u32, usize)>,
    /// What the flow of each of these had sent when it came.
    sent_before: std::collections::BTreeMap<(u32, usize), u64>,
    offered: [usize; 6],
    served: [(u64, u64); 6],
    turns: u64,
    dropped: Vec<(u32, usize)>,
}

const LONG: u64 = 10 * MSS;
const SHORT: u64 = 5 * MSS;

impl Slow {
    fn place(&self, slot: u32) -> (u64, u64) {
        self.served[slot as usize]
    }

    fn drop_tail(&mut self, slot: u32) {
        let last = self.waiting.iter().rposition(|packet| packet.0 == slot).unwrap();
        self.dropped.push(self.waiting.remove(last));
    }

    fn most(&self) -> Option<u32> {
        match self.priority {
            Priority::Sent => self.waiting.iter().map(|packet| packet.0).max_by_key(|&slot| self.place(slot)),
            // Of equals the last.
            Priority::Arrival => {
                self.waiting.iter().max_by_key(|&packet| self.sent_before[packet]).map(|packet| packet.0)
            }
        }
    }

    fn timeout(&mut self, slot: u32, until: Instant) {
        while self.at_once
            && let Some(most) = self.most()
            && most != slot
            && self.served[most as usize].0 > LONG
        {
            self.drop_tail(most);
        }
        self.severe = Some((slot, until));
    }

    fn offer(&mut self, now: Instant, slot: u32) {
        let at = slot as usize;
        if self.served[at].1 == 0 {
            self.turns += 1;
            self.served[at].1 = self.turns;
        }
        self.waiting.push((slot, self.offered[at]));
        self.sent_before.insert((slot, self.offered[at]), self.served[at].0);
        self.offered[at] += 1;
        let most = self.most().unwrap();
        let lasts = |until| now < until || self.until == Until::Echo;
        let severe = self.severe.is_some_and(|(who, until)| lasts(until) && who != most);
        if (severe && self.place(most).0 > LONG) || self.waiting.len() > self.limit {
            self.drop_tail(most);
        }
    }

    fn next(&mut self) -> Option<(u32, usize)> {
        let least = match self.priority {
            Priority::Sent => self.waiting.iter().map(|packet| packet.0).min_by_key(|&slot| self.place(slot)),
            // Of equals the first.
            Priority::Arrival => {
                self.waiting.iter().min_by_key(|&packet| self.sent_before[packet]).map(|packet| packet.0)
            }
        }?;
        let first = self.waiting.iter().position(|packet| packet.0 == least)?;
        Some(self.waiting.remove(first))
    }

    fn sent(&mut self, slot: u32, payload: u64) {
        self.turns += 1;
        let (served, turn) = &mut self.served[slot as usize];
        *served += payload;
        *turn = self.turns;
    }

    fn forget(&mut self, slot: u32) {
        self.waiting.retain(|packet| packet.0 != slot);
        self.dropped.retain(|packet| packet.0 != slot);
        self.offered[slot as usize] = 0;
        self.served[slot as usize] = (0, 0);
        self.severe = self.severe.filter(|&(who, _)| who != slot);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Offer(u32, u32),
    /// The NIC is free; the turn's packet has this payload, if there is one.
    Free(Option<u64>),
    Timeout(u32, u64, u64),
    Recovery(u32),
    Echo,
    Forget(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let slot = || 0u32..6;
    let step = prop_oneof![
        4 => (slot(), 1u32..8).prop_map(|(slot, packets)| Step::Offer(slot, packets)),
        8 => prop_oneof![3 => Just(Some(MSS)), 1 => (1u64..MSS).prop_map(Some), 1 => Just(None)].prop_map(Step::Free),
        1 => (slot(), 0..2 * SHORT, 1u64..30).prop_map(|(slot, sent, us)| Step::Timeout(slot, sent, us)),
        1 => slot().prop_map(Step::Recovery),
        1 => Just(Step::Echo),
        1 => slot().prop_map(Step::Forget),
    ];
    prop::collection::vec(step, 1..300)
}

proptest! {
    /// Each packet is sent when the list of packets says so, or is dropped if it says so, in its place; the flow
    /// that is served has the least service of those that wait; and the NIC is never idle while a packet waits.
    #[test]
    fn runs_of_numbers_are_a_queue_of_packets(
        steps in steps(),
        limit in prop::option::of(1u64..12),
        until in prop::sample::select(vec![Until::Recovery, Until::Echo]),
        at_once: bool,
        priority in prop::sample::select(vec![Priority::Sent, Priority::Arrival]),
    ) {
        let severe = Severe { short: Bytes(SHORT), long: Bytes(LONG), until, at_once };
        let mut order = match priority {
            Priority::Sent => las(limit, Some(severe)),
            Priority::Arrival => by_arrival(limit, Some(severe)),
        };
        let limit = limit.map_or(usize::MAX, |limit| limit as usize);
        let mut slow = Slow { limit, until, at_once, priority, ..Slow::default() };
        let mut taken = [0usize; 6];
        for (i, step) in steps.into_iter().enumerate() {
            let now = us(i as u64);
            match step {
                Step::Offer(slot, packets) => {
                    order.offer(now, slot, packets, 0);
                    (0..packets).for_each(|_| slow.offer(now, slot));
                }
                Step::Free(payload) => {
                    let turn = loop {
                        let Some(turn) = order.next() else { break None };
                        let nth = &mut taken[turn.slot as usize];
                        let packet = (turn.slot, *nth);
                        *nth += 1;
                        if !turn.drop {
                            break Some(packet);
                        }
                        let at = slow.dropped.iter().position(|&dropped| dropped == packet);
                        prop_assert!(at.is_some(), "{packet:?} is dropped, and not in the list of packets");
                        slow.dropped.remove(at.unwrap());
                    };
                    prop_assert_eq!(turn, slow.next());
                    if let (Some((slot, _)), Some(payload)) = (turn, payload) {
                        order.on_sent(slot, payload);
                        slow.sent(slot, payload);
                    }
                }
                Step::Timeout(slot, sent, us) => {
                    let until = now + Span::from_us(us);
                    order.on_timeout(slot, sent, until);
                    if sent <= SHORT {
                        slow.timeout(slot, until);
                    }
                }
                Step::Recovery(slot) => {
                    order.on_recovery(slot);
                    if slow.until == Until::Recovery {
                        slow.severe = slow.severe.filter(|&(who, _)| who != slot);
                    }
                }
                Step::Echo => {
                    order.on_echo();
                    if slow.until == Until::Echo {
                        slow.severe = None;
                    }
                }
                Step::Forget(slot) => {
                    order.forget(slot);
                    slow.forget(slot);
                    taken[slot as usize] = 0;
                }
            }
            prop_assert_eq!(order.queue.as_ref().map_or(0, |queue| queue.waiting as usize), slow.waiting.len());
            prop_assert_eq!(order.is_empty(), slow.waiting.is_empty() && slow.dropped.is_empty());
        }
    }
}
