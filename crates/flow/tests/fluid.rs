//! Hand-computed flows.

use tailcut_base::{Instant, Span};
use tailcut_flow::{Criticality, Discipline, Engine, Feedback, Hop, NewFlow, Order};

use crate::common::{Case, Flow};

/// Flows (start in ns, bits, links) over links of these Mbit/s.
fn case(capacity: &[u64], flows: &[(u64, u64, &[u32])]) -> Case {
    let flow = |&(start_ns, bits, links): &(u64, u64, &[u32])| Flow {
        start_ns,
        bits,
        hops: links.iter().map(|&link| (link, 4)).collect(),
        deadline_ns: None,
        pause_ns: None,
    };
    Case { capacity: capacity.to_vec(), flows: flows.iter().map(flow).collect() }
}

fn ends_us(case: &Case, discipline: &Discipline) -> Vec<f64> {
    // To the nanosecond: an end is the first picosecond at which nothing is left.
    case.run(discipline, |_| {}).into_values().map(|ps| (ps as f64 / 1e3).round() / 1e3).collect()
}

/// The slides of PDQ: sizes 1, 2, 3 on one link complete at 3, 5, 6 under fair sharing and at 1, 3, 6 in order.
#[test]
fn the_example_of_pdq() {
    let case = case(&[1000], &[(0, 1_000_000, &[0]), (0, 2_000_000, &[0]), (0, 3_000_000, &[0])]);
    assert_eq!(ends_us(&case, &Discipline::MaxMin), [3000.0, 5000.0, 6000.0]);
    let order = Discipline::Criticality(Criticality { order: Order::Remaining, first_is_even: false });
    assert_eq!(ends_us(&case, &order), [1000.0, 3000.0, 6000.0]);
    // Levels at 1 Mb: all share until each has sent that, and then the other two share.
    let feedback = Discipline::Feedback(Feedback::at(vec![1e6]));
    assert_eq!(ends_us(&case, &feedback), [3000.0, 5000.0, 6000.0]);
}

/// A flow of 3 Mb sends alone for 1 ms; one of 1 Mb comes and goes before it; it goes on after that.
#[test]
fn a_shorter_flow_preempts_a_longer_one() {
    let case = case(&[1000], &[(0, 3_000_000, &[0]), (1_000_000, 1_000_000, &[0])]);
    let order = Discipline::Criticality(Criticality { order: Order::Remaining, first_is_even: false });
    assert_eq!(ends_us(&case, &order), [4000.0, 2000.0]);
    // Under a feedback queue too, because it has sent less.
    let feedback = Discipline::Feedback(Feedback::least_attained(1e5));
    let ends = ends_us(&case, &feedback);
    assert_eq!(ends[0], 4000.0);
    assert!(ends[1] < 2400.0, "{ends:?}");
}

/// A flow behind, which is faster, overtakes the one before while both send.
#[test]
fn a_flow_overtakes_another_one_while_both_send() {
    // Flow 0 is held to 100 Mb/s by link 1 and has 200 kb; flow 1 has the other 900 Mb/s of link 0 and 650 kb.
    let case = case(&[1000, 100], &[(0, 200_000, &[0, 1]), (0, 650_000, &[0])]);
    let order = Discipline::Criticality(Criticality { order: Order::Remaining, first_is_even: false });
    // After 562.5 us both have 143.75 kb left. Flow 1 then takes all of link 0, for 143.75 us, and flow 0 stands still.
    let ends = ends_us(&case, &order);
    assert_eq!(ends, [706.25 + 1437.5, 706.25]);
}

/// A flow that has waited begins later by what it takes to tell it, and the link is idle meanwhile.
#[test]
fn a_flow_that_has_waited_resumes_late() {
    let order = Discipline::Criticality(Criticality { order: Order::Remaining, first_is_even: false });
    let mut engine = Engine::new(vec![1e9], &order);
    for (id, bits) in [(0, 1e6), (1, 2e6)] {
        let hops = [Hop { link: 0, share: 1.0 }];
        let new = NewFlow { id, bits, hops: &hops, deadline: None, resume: Span::from_us(50) };
        engine.start(Instant::ZERO, new);
    }
    let mut ended = Vec::new();
    engine.run_until(Instant::MAX, &mut |flow| ended.push(flow.at.as_ps() / 1_000_000));
    assert_eq!(ended, [1000, 3050]);
}

/// A flow of 3 Mb is stopped after 1 ms, for 2 ms, and goes on over another link, half as fast: 1 ms, 2 ms, and 4 ms.
/// One of 4 Mb shares the first link with it for that first millisecond and has it for itself afterwards.
#[test]
fn a_flow_that_is_stopped_goes_on_over_other_links() {
    let us = |us| Instant::ZERO + Span::from_us(us);
    let mut engine = Engine::new(vec![2e9, 5e8], &Discipline::MaxMin);
    let [first, second] = [0, 1].map(|link| [Hop { link, share: 1.0 }]);
    let new = |id, bits| NewFlow { id, bits, hops: &first, deadline: None, resume: Span::ZERO };
    let place = engine.start(us(0), new(0, 3e6));
    engine.start(us(0), new(1, 4e6));
    let mut ended = Vec::new();
    let mut end = |flow: tailcut_flow::Ended| ended.push((flow.id, flow.at.as_ps() / 1_000_000));
    engine.run_until(us(1000), &mut end);
    engine.stop(us(1000), place);
    assert_eq!(engine.of(us(1000), place), (2e6, 0.0));
    assert_eq!(engine.rates(), [(1, 2e9)]);
    assert_eq!(engine.carried(us(1000)), [2e6, 0.0]);
    engine.run_until(us(3000), &mut end);
    engine.go(us(3000), place, &second);
    assert_eq!(engine.rates(), [(0, 5e8)]);
    engine.run_until(Instant::MAX, &mut end);
    assert_eq!(ended, [(1, 2500), (0, 7000)]);
    assert_eq!(engine.carried(engine.now()), [5e6, 2e6]);
}

/// Two flows of one host go to two others: no switch stands before its link, and both are let send.
#[test]
fn a_first_link_without_an_order_is_shared() {
    let case = case(&[1000, 1000, 1000], &[(0, 1_000_000, &[0, 1]), (0, 2_000_000, &[0, 2]), (0, 1_500_000, &[1])]);
    let order = |first_is_even| Discipline::Criticality(Criticality { order: Order::Size, first_is_even });
    // Flow 2 has but one link, which flow 0 takes all of for twice as long as it would alone.
    assert_eq!(ends_us(&case, &order(true)), [2000.0, 3000.0, 3500.0]);
    assert_eq!(ends_us(&case, &order(false)), [1000.0, 3000.0, 2500.0]);
}

/// A flow that is split over two links has twice the rate of each.
#[test]
fn a_split_flow_takes_a_part_of_each_way() {
    let flow =
        Flow { start_ns: 0, bits: 1_000_000, hops: vec![(0, 4), (1, 2), (2, 2)], deadline_ns: None, pause_ns: None };
    let case = Case { capacity: vec![1000, 400, 400], flows: vec![flow] };
    for discipline in
        [Discipline::MaxMin, Discipline::Criticality(Criticality { order: Order::Size, first_is_even: false })]
    {
        assert_eq!(ends_us(&case, &discipline), [1250.0]);
    }
}
