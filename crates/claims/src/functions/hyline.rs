//! Claims about HyLine.

use super::closed_form::{arithmetic, of_items};
use super::functions;
use super::shapes::minimum_inside;
use super::tables::ComparedTable;
use tailcut_results::stats::{Resample, bootstrap, jackknife};

use crate::case::{Case, Outcome};
use crate::catalogue::Measure;
use crate::curves::{Curves, Series, slope};
use crate::evidence::{Coordinate, SweepPoint};
use crate::expected::Aggregate;
use crate::expected::Better::{Higher, Lower};
use crate::expected::Form;
use crate::finding::{Bounds, Number};
use crate::order::{self, Compared, Order, subjects};
use crate::ratio;
use crate::samples::{Operand, Quotient, Samples, operands_of};
use crate::shape::{fetch, rising};
use crate::value;

functions! {
    no_preemption_wins,
    best_in_second_class,
    best_but_for_pfabric_under_data_mining,
    waits_slightly_longer,
    percentile_orders_as_mean,
    order_whatever_the_deadlines,
    heavy_over_light,
    best_on_heavy,
    best_threshold,
    total_times,
    linear_operations,
    hosts_of_fat_tree,
    shares_of_short_flows,
    bandwidth_delay_product,
}

/// Figure 1: of three flows, of which one needs both links, the mean FCT without preemption and under SRPT.
fn no_preemption_wins(case: &Case<'_>) -> Outcome {
    let values = [(5.0 + 4.0 + (5.0 + 3.0)) / 3.0, ((3.0 + 5.0) + (3.0 + 4.0) + 3.0) / 3.0];
    of_items(case, &["no-preemption", "srpt"], &values)
}

/// The best FCT of flows above 1 MB; the document itself exempts the largest ones of web search at high loads.
fn best_in_second_class(case: &Case<'_>) -> Outcome {
    let rank: [&[&str]; 2] = [&["hyline"], &["pfabric", "qjump", "dctcp", "tcp"]];
    let order = Order::of_claim(case, Lower, vec![subjects(&rank)]);
    let exempt = |Compared { point, metric, .. }: Compared<'_>| {
        let high = matches!(point.get("load"), Some(Coordinate::Number(load)) if *load >= 0.8 - 1e-9);
        is_under(point, "web-search") && high && metric.contains("(10MB,inf)")
    };
    order::judge(case, vec![order], &exempt)
}

/// The best mean and 99th percentile; the document itself has HyLine about equal to pFabric under data mining.
fn best_but_for_pfabric_under_data_mining(case: &Case<'_>) -> Outcome {
    let rank: [&[&str]; 2] = [&["hyline"], &["pfabric", "qjump", "dctcp", "tcp"]];
    let order = Order::of_claim(case, Lower, vec![subjects(&rank)]);
    let exempt = |Compared { point, worse, .. }: Compared<'_>| is_under(point, "data-mining") && worse == "pfabric";
    order::judge(case, vec![order], &exempt)
}

fn is_under(point: &SweepPoint, workload: &str) -> bool {
    point.get("workload").is_some_and(|at| at.is(&Coordinate::Text(workload.into())))
}

/// The share of waiting grows with the load, and slightly: by a tenth of the completion time at most.
fn waits_slightly_longer(case: &Case<'_>) -> Outcome {
    let subject = Operand::of(&case.claim.subject);
    let series = Series::of(case.claim, &case.claim.subject);
    let samples = fetch(case, std::slice::from_ref(&series))?;
    let curves = Curves::against(&samples, &series, &["load"], 2)?;
    let mut found = rising(case, &samples, &[curves], Form::Increasing, "load")?;
    let load = |point: usize| match samples.points[point].get("load") {
        Some(&Coordinate::Number(load)) => load,
        _ => f64::NAN,
    };
    let mut points: Vec<usize> = (0..samples.points.len()).collect();
    points.sort_by(|&a, &b| load(a).total_cmp(&load(b)));
    let (Some(&first), Some(&last)) = (points.first(), points.last()) else { return Ok(found) };
    let rise = |resample: Resample<'_>| {
        let value = |point| samples.value(&subject, point, 0, resample).unwrap_or(f64::NAN);
        value(last) - value(first)
    };
    let name = format!("the rise of the share from a load of {} to {}", load(first), load(last));
    let interval = jackknife(samples.seeds_of(&[&subject], last, 0), false, &rise);
    let number = Number { name, value: rise(Resample::Measured), interval };
    found.add(number, Some(Bounds::at_most(0.1)), Some(Bounds::at_most(0.2)));
    Ok(found)
}

/// The 99th percentile orders the schemes as the mean does: the measures of the claim are pairs of the two.
fn percentile_orders_as_mean(case: &Case<'_>) -> Outcome {
    rank_correlation(case, &|samples| {
        let pairs = 0..samples.measures.len() / 2;
        (0..samples.points.len())
            .flat_map(|point| pairs.clone().map(move |pair| ((point, 2 * pair), (point, 2 * pair + 1))))
            .collect()
    })
}

/// The order of the schemes does not depend on how tight deadlines are.
fn order_whatever_the_deadlines(case: &Case<'_>) -> Outcome {
    const TIGHTNESS: &str = "deadline_factor";
    rank_correlation(case, &|samples| {
        let without = |point: usize| {
            let mut rest = samples.points[point].clone();
            rest.remove(TIGHTNESS);
            rest
        };
        let mut pairs = Vec::new();
        for a in (0..samples.points.len()).filter(|&point| samples.points[point].contains_key(TIGHTNESS)) {
            let others = (a + 1..samples.points.len()).filter(|&b| without(a) == without(b));
            pairs.extend(others.map(|b| ((a, 0), (b, 0))));
        }
        pairs
    })
}

/// Where the schemes are ordered: the indices of a sweep point and of a quantity.
type PointAndMeasure = (usize, usize);

/// The mean of Kendall's rank correlation between two orders of the schemes, over pairs of sweep points or quantities.
fn rank_correlation(case: &Case<'_>, pairs: &dyn Fn(&Samples) -> Vec<(PointAndMeasure, PointAndMeasure)>) -> Outcome {
    let claim = case.claim;
    let schemes: Vec<Operand> =
        std::iter::once(&claim.subject).chain(&claim.baseline).map(|name| Operand::of(name)).collect();
    let samples = Samples::fetch(case, schemes.clone(), claim.measures())?;
    let pairs = pairs(&samples);
    if pairs.is_empty() {
        return Err("there is no pair of orders to compare".into());
    }
    let mean = |resample: Resample<'_>| {
        let values = |(point, measure): PointAndMeasure| -> Vec<Option<f64>> {
            schemes.iter().map(|scheme| samples.value(scheme, point, measure, resample)).collect()
        };
        let taus: Vec<f64> = pairs.iter().filter_map(|&(a, b)| kendall(&values(a), &values(b))).collect();
        taus.iter().sum::<f64>() / taus.len() as f64
    };
    let value = mean(Resample::Measured);
    if value.is_nan() {
        return Err(samples.incomplete().unwrap_or_else(|| "too little has been measured".into()));
    }
    let name = "the mean of Kendall's rank correlation".into();
    let mut found = samples.finding();
    let (reproduced, partly) = value::limits(case)?;
    let number = Number { name, value, interval: bootstrap(samples.seeds, &mean) };
    found.add(number, Some(reproduced), Some(partly));
    Ok(found)
}

/// Kendall's tau-a of two lists, over the entries that both have; `None` with fewer than two.
fn kendall(a: &[Option<f64>], b: &[Option<f64>]) -> Option<f64> {
    let both: Vec<(f64, f64)> = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let n = both.len();
    if n < 2 {
        return None;
    }
    let sign = |difference: f64| if difference == 0.0 { 0.0 } else { difference.signum() };
    let mut sum = 0.0;
    for i in 0..n {
        for j in 0..i {
            sum += sign(both[i].0 - both[j].0) * sign(both[i].1 - both[j].1);
        }
    }
    Some(sum / (n * (n - 1) / 2) as f64)
}

/// The FCTs of the heavy workload over those of the light one, as the mean over all schemes.
fn heavy_over_light(case: &Case<'_>) -> Outcome {
    let on = |scheme: &str, workload: &str| Operand::at(scheme, "workload", workload);
    let schemes = std::iter::once(&case.claim.subject).chain(&case.claim.baseline);
    let quotients: Vec<Quotient> = schemes.map(|scheme| (on(scheme, "heavy"), on(scheme, "light"))).collect();
    let samples = Samples::fetch(case, operands_of(&quotients), case.claim.measures())?;
    ratio::judge(case, &samples, &[&quotients], Aggregate::Mean, false)
}

/// On the heavy workload HyLine has the best FCTs and meets the most deadlines.
fn best_on_heavy(case: &Case<'_>) -> Outcome {
    let rank: [&[&str]; 2] = [&["hyline"], &["pfabric", "qjump", "dctcp", "tcp"]];
    let orders = vec![
        Order::in_metric("mean normalised FCT of all flows", Lower, &rank),
        Order::in_metric("fraction of flows meeting the deadline", Higher, &rank),
    ];
    order::judge(case, orders, &|_| false)
}

/// The FCT is lowest for a threshold near 1 MB, in B.
fn best_threshold(case: &Case<'_>) -> Outcome {
    minimum_inside(case, "hyline", "threshold_bytes", (400_000.0, 1_600_000.0), (0.05, 0.01))
}

/// Equations 1 and 2: the evidence gives the largest relative difference of the total FCTs from them.
fn total_times(case: &Case<'_>) -> Outcome {
    let subject = Operand::of(&case.claim.subject);
    let metric = Measure::Plain(format!("{}, relative difference", case.claim.metric));
    let samples = Samples::fetch(case, vec![subject.clone()], vec![metric])?;
    let mut found = samples.finding();
    for point in 0..samples.points.len() {
        if let Some(value) = samples.measured(&subject, point, 0) {
            let name = format!("the largest relative difference from the formulas{}", samples.at(point, 0));
            let number = Number { name, value, interval: None };
            found.add(number, Some(Bounds::at_most(0.001)), Some(Bounds::at_most(0.05)));
        }
    }
    Ok(found)
}

/// Operations grow at most in proportion to the flows: the slope of the logarithms.
fn linear_operations(case: &Case<'_>) -> Outcome {
    let series = Series::of(case.claim, "hyline");
    let samples = fetch(case, std::slice::from_ref(&series))?;
    let curves = Curves::against(&samples, &series, &["second_class_flows"], 2)?;
    let exponent = |resample: Resample<'_>| {
        curves.mean(resample, |x, y| {
            let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
            slope(&logs(x), &logs(y))
        })
    };
    let mut found = samples.finding();
    let name = format!("the exponent of {}", curves.name());
    curves.add(&mut found, name, &exponent, Some(Bounds::at_most(1.15)), Some(Bounds::at_most(1.5)))?;
    Ok(found)
}

/// The number of hosts of a fat tree of switches with k = 8 ports: k^3 / 4 = 128, as the rest of the document says.
fn hosts_of_fat_tree(case: &Case<'_>) -> Outcome {
    let k: f64 = 8.0;
    arithmetic(case, &[k.powf(3.0) / 4.0])
}

/// For each workload, the share of its flows that are at most 100 KB.
fn shares_of_short_flows(case: &Case<'_>) -> Outcome {
    let table = ComparedTable::of(case)?;
    let mut found = table.finding();
    table.add_largest_distance(&mut found, 0.03, Some(0.08));
    Ok(found)
}

/// The product of bandwidth and delay of the document's network, 1 Gb/s and 300 us, in packets of 1500 B.
fn bandwidth_delay_product(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[300e-6 * 1e9 / 8.0 / 1500.0])
}
