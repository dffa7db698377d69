//! Claims about ResQueue.

use super::closed_form::within;
use super::functions;
use super::shapes::{Saturation, saturates};
use tailcut_results::stats::{Resample, bootstrap, jackknife};

use crate::case::{Case, Outcome};
use crate::catalogue::{Claim, catalogue};
use crate::curves::{Curves, Series, extremes};
use crate::evidence::Coordinate;
use crate::expected::{Aggregate, Better, Expected, ExpectedFunction, ExpectedShape, Form, OneOrMany};
use crate::finding::{Bounds, Number};
use crate::order::{self, Order, subjects};
use crate::samples::{Operand, Samples};
use crate::shape::{self, add_rank_correlation, fetch};
use crate::value::{self, Range};

functions! {
    drops_rise_for_others,
    throughput_falls_and_leads,
    few_retransmissions,
    reserved_queue_saturates,
    best_reserved_queue,
    reserved_share,
    fct_of_flows_with_drops,
}

/// How often the unluckiest packet is dropped, and how many packets are, rises with the load for DCTCP and PIAS. For
/// ResQueue, whose curve the document calls flat, the first is the same at all loads; one drop more is partly.
fn drops_rise_for_others(case: &Case<'_>) -> Outcome {
    let series = ["dctcp", "pias", "resqueue"].map(|name| Series::of(case.claim, name));
    let samples = fetch(case, &series)?;
    let mut found = samples.finding();
    for (series, is_flat) in series.iter().zip([false, false, true]) {
        let curves = Curves::against(&samples, series, &["load"], 2)?.of_each_quantity();
        if !is_flat {
            for curves in &curves {
                add_rank_correlation(case, &mut found, curves, Form::Increasing, "load")?;
            }
        } else if let Some(curves) = curves.first() {
            let spread = |resample: Resample<'_>| {
                curves.mean(resample, |_, y| {
                    let (low, high) = extremes(y);
                    high - low
                })
            };
            let name = format!("the largest less the smallest value of {}, which is called flat,", curves.name());
            curves.add(&mut found, name, &spread, Some(Bounds::at_most(0.0)), Some(Bounds::at_most(1.0)))?;
        }
    }
    Ok(found)
}

/// The throughput of ResQueue and of PIAS falls with the load, and that of ResQueue stays above.
fn throughput_falls_and_leads(case: &Case<'_>) -> Outcome {
    let series = ["resqueue", "pias"].map(str::to_owned).to_vec();
    let falls = ExpectedShape { form: Form::Decreasing, series, x: OneOrMany::One("load".to_owned()) };
    let falls = shape::find(case, &falls)?;
    let leads = Order::of_claim(case, Better::Higher, vec![subjects(&[["resqueue"], ["pias"]])]);
    Ok(falls.and(order::judge(case, vec![leads], &|_| false)?))
}

/// No packet is lost in the highest queue, because retransmissions are a small fraction of all packets.
fn few_retransmissions(case: &Case<'_>) -> Outcome {
    let subject = Operand::of(&case.claim.subject);
    let samples = Samples::fetch(case, vec![subject.clone()], case.claim.measures())?;
    let mut found = samples.finding();
    let limits = [(Bounds::at_most(0.0), Bounds::at_most(0.0)), (Bounds::at_most(0.01), Bounds::at_most(0.05))];
    for point in 0..samples.points.len() {
        for (measure, (near, wide)) in limits.into_iter().enumerate().take(samples.measures.len()) {
            let name = format!("the value{}", samples.at(point, measure));
            if let Some(mut number) = value::number(&samples, &subject, (point, measure), Range::ANY, name) {
                if measure == 0 {
                    // A single loss is one that was observed.
                    number.interval = None;
                }
                found.add(number, Some(near), Some(wide));
            }
        }
    }
    Ok(found)
}

/// A reserved queue of more than 20 KB gains nothing over one of 20 KB.
fn reserved_queue_saturates(case: &Case<'_>) -> Outcome {
    let saturation =
        Saturation { from: 20.0, change_after: (0.03, 0.1), falls_only: true, gain_before: None, level_from: None };
    saturates(case, "resqueue", RESERVED, &saturation)
}

/// The coordinate of the reserved queue, in KB.
const RESERVED: &str = "reserved_queue_kb";

/// The size of the reserved queue from which on short flows lose no fewer packets: the smallest one whose losses are
/// the least, or tie with them. Long flows reach their best throughput with the sizes that the document names.
fn best_reserved_queue(case: &Case<'_>) -> Outcome {
    let subject = Operand::of(&case.claim.subject);
    let samples = Samples::fetch(case, vec![subject.clone()], case.claim.measures())?;
    let size = |point: usize| match samples.points[point].get(RESERVED) {
        Some(Coordinate::Number(size)) => Some(*size),
        _ => None,
    };
    let values = |measure: usize, resample: Resample<'_>| -> Vec<(f64, f64)> {
        let value = |point| Some((size(point)?, samples.value(&subject, point, measure, resample)?));
        (0..samples.points.len()).filter_map(value).collect()
    };
    let name = RESERVED.replace('_', " ");
    if values(0, Resample::Measured).len() < 2 {
        return Err(format!("a minimum needs several values of {RESERVED}"));
    }
    let best = |resample: Resample<'_>| {
        let losses = values(0, resample);
        let least = extremes(&losses.iter().map(|(_, losses)| *losses).collect::<Vec<_>>()).0;
        let ties = 1.0 + catalogue().tolerance_policy.tie_band;
        losses.iter().filter(|(_, losses)| *losses <= least * ties).map(|(size, _)| *size).fold(f64::INFINITY, f64::min)
    };
    let name = format!("the smallest {name} with the least {}", case.claim.measures()[0].name());
    let number = Number { name, value: best(Resample::Measured), interval: bootstrap(samples.seeds, &best) };
    let mut found = samples.finding();
    let (reproduced, partly) = value::limits(case)?;
    found.add(number, Some(reproduced), Some(partly));

    let Expected::Function(ExpectedFunction { low: Some(low), high: Some(high), .. }) = &case.claim.expected else {
        return Err("the claim names no sizes".into());
    };
    let throughput = |resample: Resample<'_>| {
        let all = values(1, resample);
        let ys = |keep: &dyn Fn(f64) -> bool| -> Vec<f64> {
            all.iter().filter(|(size, _)| keep(*size)).map(|(_, value)| *value).collect()
        };
        let (named, any) = (ys(&|size| (*low..=*high).contains(&size)), ys(&|_| true));
        if named.is_empty() { f64::NAN } else { extremes(&named).0 / extremes(&any).1 }
    };
    let value = throughput(Resample::Measured);
    if !value.is_nan() {
        let name = format!("the least throughput with {} to {} KB over that of the best size", low, high);
        let interval = jackknife(samples.seeds, true, &throughput);
        found.add(Number { name, value, interval }, Some(Bounds::at_least(0.98)), Some(Bounds::at_least(0.95)));
    }
    Ok(found)
}

/// The share of a buffer of 4 MB that a reserved queue of 20 KB takes.
fn reserved_share(case: &Case<'_>) -> Outcome {
    within(case, (0.03, 0.1), &[20.0 / 4000.0])
}

/// Flows of which a packet is dropped again take milliseconds, where a large fraction of short flows takes 100 us at
/// most: half of them at least, on the mean of all loads.
fn fct_of_flows_with_drops(case: &Case<'_>) -> Outcome {
    const MEDIAN: &str = "p50 FCT of short flows";
    let redropped = value::judge(case, Aggregate::Mean)?;
    let medians = Claim { metric: MEDIAN.to_owned(), measures: Vec::new(), ..case.claim.clone() };
    match value::measure(&Case { claim: &medians, ..*case }, Aggregate::Mean) {
        Ok(measured) => Ok(redropped.and(value::against(measured, (Bounds::at_most(100.0), Bounds::at_most(200.0)))?)),
        Err(_) => Ok(redropped.lacking(format!("not measured: {MEDIAN}"))),
    }
}
