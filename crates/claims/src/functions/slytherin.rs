//! Claims about Slytherin.

use super::closed_form::{arithmetic, oversubscription};
use super::functions;
use super::shapes::minimum_inside;
use super::tables::ComparedTable;
use tailcut_results::stats::Resample;

use crate::case::{Case, Outcome};
use crate::curves::{Curves, Series};
use crate::expected::Better::{Higher, Lower};
use crate::finding::Bounds;
use crate::order::{self, Order};
use crate::shape::fetch;

functions! {
    better_fct_and_throughput,
    opportunity_by_load,
    reordering_crosses_over,
    best_ecn_threshold,
    leaf_spine_oversubscription,
}

/// Lower tail FCT of short flows and higher throughput of long ones than both baselines.
fn better_fct_and_throughput(case: &Case<'_>) -> Outcome {
    let rank: [&[&str]; 2] = [&["slytherin"], &["pias", "dctcp"]];
    let orders = vec![
        Order::in_metric("p99 FCT of short flows", Lower, &rank),
        Order::in_metric("mean throughput of long flows", Higher, &rank),
    ];
    order::judge(case, orders, &|_| false)
}

/// Table I: the share of tail packets that several switches marked, which rises from 1 % to 65 %. Nothing but zeros
/// would be 0.31 away on average, so that half of that is no longer partly.
fn opportunity_by_load(case: &Case<'_>) -> Outcome {
    let table = ComparedTable::of(case)?;
    let mut found = table.finding();
    table.add_mean_distance(&mut found, 0.1, 0.15);
    table.add_rank_correlation(&mut found, 0.9, 0.8);
    Ok(found)
}

/// Slytherin reorders more than PIAS at low loads, and PIAS more from a load of 0.6 on: the load from which on the
/// ratio stays above 1, between two sweep points by a straight line.
fn reordering_crosses_over(case: &Case<'_>) -> Outcome {
    const LEVEL: f64 = 1.0;
    let series = Series::of(case.claim, "pias/slytherin");
    let samples = fetch(case, std::slice::from_ref(&series))?;
    let curves = Curves::against(&samples, &series, &["load"], 2)?;
    let crossing = |resample: Resample<'_>| {
        let curve = curves.averaged(false, resample);
        match curve.iter().rposition(|point| point.1 < LEVEL || point.1.is_nan()) {
            None => f64::NEG_INFINITY,
            Some(last) if last + 1 == curve.len() => f64::INFINITY,
            Some(last) => {
                let ((x0, y0), (x1, y1)) = (curve[last], curve[last + 1]);
                x0 + (x1 - x0) * (LEVEL - y0) / (y1 - y0)
            }
        }
    };
    let mut found = samples.finding();
    let name = format!("the x where {} crosses {LEVEL}", curves.name());
    let (near, wide) = (Bounds::between(0.5, 0.7), Bounds::between(0.2, 0.9));
    curves.add(&mut found, name, &crossing, Some(near), Some(wide))?;
    Ok(found)
}

/// The tail is lowest at the threshold of 25 % that the authors chose, or beside it.
fn best_ecn_threshold(case: &Case<'_>) -> Outcome {
    minimum_inside(case, "slytherin", "ecn_threshold", (0.125, 0.375), (0.05, 0.01))
}

/// The over-subscription of a leaf with 20 hosts of 10 Gb/s and 10 uplinks of 10 Gb/s.
fn leaf_spine_oversubscription(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[oversubscription((20.0, 10.0), (10.0, 10.0))])
}
