//! Strict priority: at every event the rates are those of serving the flows one by one, the most critical first.

use proptest::prelude::*;
use tailcut_flow::{Criticality, Discipline, Engine, Order};

use crate::common::{Case, Exact, assert_full, cases, is_same};

const ORDERS: [Order; 4] = [Order::Remaining, Order::Size, Order::Deadline, Order::DeadlineRemaining];

/// What makes a flow critical: the least first.
fn key(case: &Case, order: Order, id: u32, left: f64) -> (u64, f64, u32) {
    let flow = &case.flows[id as usize];
    let deadline = flow.deadline_ns.map_or(u64::MAX, |ns| flow.start_ns + ns);
    match order {
        Order::Remaining => (0, left, id),
        Order::Size => (0, flow.bits as f64, id),
        Order::Deadline => (deadline, 0.0, id),
        Order::DeadlineRemaining => (deadline, left, id),
    }
}

fn compare(case: &Case, engine: &mut Engine, order: Order, first_is_even: bool) {
    let mut keys: Vec<(u64, f64, u32)> =
        engine.left().into_iter().map(|(id, left)| key(case, order, id, left)).collect();
    keys.sort_by(|a, b| a.partial_cmp(b).expect("numbers of bits"));
    let is_near = |two: &[(u64, f64, u32)]| two[0].0 == two[1].0 && (two[1].1 - two[0].1).abs() < 1.0;
    if order != Order::Size && order != Order::Deadline && keys.windows(2).any(is_near) {
        // Rounding decides which one goes first.
        return;
    }
    let mut rest = case.exact();
    let mut expected: Vec<(u32, Exact)> = Vec::new();
    for (_, _, id) in keys {
        let first = usize::from(first_is_even && case.flows[id as usize].hops.len() > 1);
        let hops = &case.flows[id as usize].hops[first..];
        let share = |quarters: u8| Exact::new(i128::from(quarters), 4);
        let rate = hops.iter().map(|&(link, quarters)| rest[link as usize] / share(quarters)).min();
        let rate = rate.expect("a flow has a link");
        hops.iter().for_each(|&(link, quarters)| rest[link as usize] -= rate * share(quarters));
        expected.push((id, rate));
    }
    if first_is_even {
        share_first(case, &mut expected);
    }
    expected.sort_by_key(|&(id, _)| id);
    let rates = engine.rates();
    assert!(
        rates.len() == expected.len() && rates.iter().zip(&expected).all(|(rate, exact)| is_same(rate.1, exact.1)),
        "{order:?}: {rates:?} and not {expected:?}"
    );
    if !first_is_even {
        assert_full(case, &rates);
    }
}

/// Makes rates of grants: each first link is filled evenly, and no flow has more than its grant.
fn share_first(case: &Case, rates: &mut [(u32, Exact)]) {
    let zero = Exact::from(0);
    for (link, &capacity) in case.exact().iter().enumerate() {
        let is_first = |id: u32| case.flows[id as usize].hops[0].0 as usize == link;
        let mut open: Vec<&mut Exact> =
            rates.iter_mut().filter(|(id, rate)| is_first(*id) && *rate > zero).map(|(_, rate)| rate).collect();
        let mut rest = capacity;
        // Those that are granted less than an equal share have it, until there are none; the others share.
        loop {
            let even = rest / Exact::from(open.len().max(1) as i128);
            let (less, more): (Vec<&mut Exact>, Vec<&mut Exact>) = open.into_iter().partition(|grant| **grant < even);
            if less.is_empty() {
                more.into_iter().for_each(|grant| *grant = even);
                break;
            }
            less.into_iter().for_each(|grant| rest -= *grant);
            open = more;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_order(case in cases()) {
        for order in ORDERS {
            let discipline = Discipline::Criticality(Criticality { order, first_is_even: false });
            case.run(&discipline, |engine| compare(&case, engine, order, false));
        }
    }

    #[test]
    fn every_order_after_a_first_link_that_knows_none(mut case in cases()) {
        // Two hosts with a link of their own each. A flow that is split has no first link.
        let links = case.capacity.len() as u32;
        case.capacity.extend([200, 1000]);
        for (nth, flow) in (0u32..).zip(&mut case.flows) {
            flow.hops.iter_mut().for_each(|hop| hop.1 = 4);
            flow.hops.insert(0, (links + nth % 2, 4));
        }
        for order in ORDERS {
            let discipline = Discipline::Criticality(Criticality { order, first_is_even: true });
            case.run(&discipline, |engine| compare(&case, engine, order, true));
        }
    }
}
