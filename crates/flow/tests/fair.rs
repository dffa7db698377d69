//! Fair shares in levels: at every event the rates are those of water-filling from nothing.

use proptest::prelude::*;
use tailcut_base::{Instant, Span, mix64};
use tailcut_flow::{Discipline, Engine, Feedback, Hop, NewFlow, SizeClasses, Weighted};

use crate::common::{Case, Exact, assert_full, cases, is_same};

/// A flow as the oracle sees it.
#[derive(Clone, Debug)]
struct Sharing {
    id: u32,
    level: u8,
    weight: Exact,
}

/// Weighted max-min fair rates in Mbit/s of what each level is left, by filling all links again and again.
fn water_filling(case: &Case, mut flows: Vec<Sharing>) -> Vec<(u32, Exact)> {
    let zero = Exact::from(0);
    let mut rest = case.exact();
    let mut rates = Vec::new();
    flows.sort_by_key(|flow| flow.level);
    for level in flows.chunk_by(|one, next| one.level == next.level) {
        let mut open: Vec<&Sharing> = level.iter().collect();
        let share = |flow: &Sharing, link: usize| {
            let hops = &case.flows[flow.id as usize].hops;
            let hop = hops.iter().find(|&&(at, _)| at as usize == link);
            hop.map_or(zero, |&(_, quarters)| Exact::new(i128::from(quarters), 4))
        };
        while !open.is_empty() {
            let fair = |link: usize| {
                let weight: Exact = open.iter().map(|flow| share(flow, link) * flow.weight).sum();
                (weight > zero).then(|| rest[link] / weight)
            };
            let least = (0..rest.len()).filter_map(fair).min().expect("a flow has a link");
            let full: Vec<usize> = (0..rest.len()).filter(|&link| fair(link) == Some(least)).collect();
            let (done, others): (Vec<&Sharing>, Vec<&Sharing>) =
                open.into_iter().partition(|flow| full.iter().any(|&link| share(flow, link) > zero));
            for flow in &done {
                let rate = least * flow.weight;
                rates.push((flow.id, rate));
                for (link, rest) in rest.iter_mut().enumerate() {
                    *rest -= rate * share(flow, link);
                }
            }
            open = others;
        }
    }
    rates.sort_by_key(|&(id, _)| id);
    rates
}

/// Compares all rates with the oracle's, whose flows have the level and weight that `step` says for a flow of so many
/// bits of which so many are sent. Where rounding decides between two, one of them is to be right.
fn compare(case: &Case, engine: &mut Engine, step: impl Fn(f64, f64) -> (u8, Exact)) {
    /// Bits by which a flow may be taken to be before or behind a threshold.
    const NEAR: f64 = 1.0;
    let mut readings: Vec<Vec<Sharing>> = vec![Vec::new()];
    for (id, left) in engine.left() {
        let bits = case.flows[id as usize].bits as f64;
        let (early, late) = (step(bits, bits - left - NEAR), step(bits, bits - left + NEAR));
        let with = |reading: &Vec<Sharing>, (level, weight): (u8, Exact)| {
            let mut reading = reading.clone();
            reading.push(Sharing { id, level, weight });
            reading
        };
        let mut both: Vec<Vec<Sharing>> = readings.iter().map(|reading| with(reading, late)).collect();
        if early != late {
            both.extend(readings.iter().map(|reading| with(reading, early)));
        }
        readings = both;
        if readings.len() > 64 {
            return;
        }
    }
    let rates = engine.rates();
    let fits = |expected: &Vec<(u32, Exact)>| {
        rates.len() == expected.len() && rates.iter().zip(expected).all(|(rate, exact)| is_same(rate.1, exact.1))
    };
    let expected: Vec<Vec<(u32, Exact)>> = readings.into_iter().map(|reading| water_filling(case, reading)).collect();
    assert!(expected.iter().any(fits), "{rates:?} and not {expected:?}");
    assert_full(case, &rates);
}

/// The number of thresholds that a flow has reached.
fn reached(thresholds: &[f64], sent: f64) -> u8 {
    thresholds.iter().filter(|&&at| sent >= at).count() as u8
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn max_min(case in cases()) {
        let one = Exact::from(1);
        case.run(&Discipline::MaxMin, |engine| compare(&case, engine, |_, _| (0, one)));
    }

    #[test]
    fn feedback(case in cases()) {
        let thresholds = vec![20_000.0, 200_000.0, 500_000.0];
        let discipline = Discipline::Feedback(Feedback::at(thresholds.clone()));
        let one = Exact::from(1);
        case.run(&discipline, |engine| {
            compare(&case, engine, |_, sent| (reached(&thresholds, sent), one));
        });
    }

    #[test]
    fn least_attained(case in cases()) {
        let discipline = Discipline::Feedback(Feedback::least_attained(10_000.0));
        let thresholds: Vec<f64> = (0..40).map(|times| 10_000.0 * f64::from(times).exp2()).collect();
        let one = Exact::from(1);
        case.run(&discipline, |engine| {
            compare(&case, engine, |_, sent| (reached(&thresholds, sent), one));
        });
    }

    #[test]
    fn size_classes(case in cases()) {
        let discipline = Discipline::SizeClasses(SizeClasses::new(vec![50_000.0, 400_000.0]));
        let one = Exact::from(1);
        case.run(&discipline, |engine| {
            compare(&case, engine, |bits, _| (u8::from(bits > 50_000.0) + u8::from(bits > 400_000.0), one));
        });
    }

    #[test]
    fn weighted(case in cases()) {
        // Five stairs: 17, then 17 - 16 (nth - 1/2) / 4, then 1.
        let weighted = Weighted { full: 100_000.0, least: 400_000.0, largest: 17.0, smallest: 1.0 };
        let thresholds: Vec<f64> = (0..4).map(|nth| 100_000.0 + 100_000.0 * f64::from(nth)).collect();
        case.run(&Discipline::Weighted(weighted), |engine| {
            compare(&case, engine, |_, sent| {
                let weight = [17, 15, 11, 7, 1][usize::from(reached(&thresholds, sent))];
                (0, Exact::from(weight))
            });
        });
    }
}

/// Hundreds of flows that are connected: a change goes from link to link. Each flow always has a link that is full, and
/// on which no flow has more for its weight, which makes rates max-min fair.
#[test]
fn a_fat_tree_full_of_flows_is_fair_at_every_event() {
    const HOSTS: u64 = 54;
    const HALF: u64 = 3;
    let tiers = 6;
    let capacity = vec![1e9; (tiers * HOSTS) as usize];
    let way = |src: u64, dst: u64, number: u64| -> Vec<u32> {
        let (from, to) = (src / HALF, dst / HALF);
        let (first, second) = (number % HALF, number / HALF % HALF);
        let pod = |edge: u64| (edge / HALF * HALF + first) * HALF + second;
        let links = [src, from * HALF + first, pod(from), pod(to), to * HALF + first, dst];
        (0u64..).zip(links).map(|(tier, link)| (tier * HOSTS + link) as u32).collect()
    };
    let mut engine = Engine::new(capacity, &Discipline::MaxMin);
    let start = |ways: &mut Vec<Vec<u32>>, engine: &mut Engine, at: Instant| {
        let id = ways.len() as u32;
        let number = mix64(u64::from(id));
        let (src, dst) = (number % HOSTS, (number >> 16) % HOSTS);
        let links = way(src, dst, number >> 32);
        let hops: Vec<Hop> = links.iter().map(|&link| Hop { link, share: 1.0 }).collect();
        let bits = 1e5 + (number >> 40) as f64;
        engine.start(at, NewFlow { id, bits, hops: &hops, deadline: None, resume: Span::ZERO });
        ways.push(links);
    };
    let mut ways = Vec::new();
    (0..300).for_each(|_| start(&mut ways, &mut engine, Instant::ZERO));
    let mut looked = 0;
    while let Some(now) = engine.next_event() {
        let mut ended = 0;
        engine.run_until(now, &mut |_| ended += 1);
        // As many begin as have ended, for a while.
        let begin = ended.min(1000 - ways.len());
        (0..begin).for_each(|_| start(&mut ways, &mut engine, now));
        let rates = engine.rates();
        let mut load = vec![(0.0, 0.0f64); (tiers * HOSTS) as usize];
        for &(id, rate) in &rates {
            for &link in &ways[id as usize] {
                let (sum, most) = &mut load[link as usize];
                (*sum, *most) = (*sum + rate, most.max(rate));
            }
        }
        assert!(load.iter().all(|&(sum, _)| sum <= 1e9 * (1.0 + 1e-6)));
        for &(id, rate) in &rates {
            let is_bottleneck = |&link: &u32| {
                let (sum, most) = load[link as usize];
                sum >= 1e9 * (1.0 - 1e-6) && rate >= most * (1.0 - 1e-6)
            };
            assert!(ways[id as usize].iter().any(is_bottleneck), "flow {id} of {rate} bit/s has no bottleneck");
        }
        looked += 1;
    }
    assert!(looked > 900, "{looked}");
    assert_eq!(engine.flows(), 0);
}
