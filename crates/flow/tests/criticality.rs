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

fn compare(case: &Case, engine: &mut Engine, order: Order) {
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
        let hops = &case.flows[id as usize].hops;
        let share = |quarters: u8| Exact::new(i128::from(quarters), 4);
        let rate = hops.iter().map(|&(link, quarters)| rest[link as usize] / share(quarters)).min();
        let rate = rate.expect("a flow has a link");
        hops.iter().for_each(|&(link, quarters)| rest[link as usize] -= rate * share(quarters));
        expected.push((id, rate));
    }
    expected.sort_by_key(|&(id, _)| id);
    let rates = engine.rates();
    assert!(
        rates.len() == expected.len() && rates.iter().zip(&expected).all(|(rate, exact)| is_same(rate.1, exact.1)),
        "{order:?}: {rates:?} and not {expected:?}"
    );
    assert_full(case, &rates);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_order(case in cases()) {
        for order in ORDERS {
            let discipline = Discipline::Criticality(Criticality { order });
            case.run(&discipline, |engine| compare(&case, engine, order));
        }
    }
}
