//! Claims about ResQueue.

use super::closed_form::within;
use super::functions;
use super::shapes::{Saturation, saturates};
use tailcut_results::stats::{Resample, bootstrap};

use crate::case::{Case, Outcome};
use crate::catalogue::Measure;
use crate::curves::{Curves, Series, spearman};
use crate::evidence::Coordinate;
use crate::expected::Aggregate;
use crate::finding::{Bounds, Number};
use crate::samples::{Operand, Samples};
use crate::shape::fetch;
use crate::value::{self, Range};

functions! {
    drops_rise_for_others,
    reserved_queue_saturates,
    best_reserved_queue,
    reserved_share,
    fct_of_flows_with_drops,
}

/// How often the unluckiest packet is dropped rises with the load for DCTCP and PIAS. For ResQueue, whose curve the
/// document calls flat, it does not.
fn drops_rise_for_others(case: &Case<'_>) -> Outcome {
    let limits = (case.claim.tolerance.reproduced.min_spearman, case.claim.tolerance.partly.min_spearman);
    let series = ["dctcp", "pias", "resqueue"].map(|name| Series::of(case.claim, name));
    let samples = fetch(case, &series)?;
    let curves =
        series.iter().map(|series| Curves::against(&samples, series, &["load"], 2)).collect::<Result<Vec<_>, _>>()?;
    let mut found = samples.finding();
    for curves in &curves {
        let name = format!("the rank correlation of {} with load", curves.name());
        let correlation = |resample: Resample<'_>| curves.mean(resample, spearman);
        if curves.name() == "resqueue" {
            // The correlation that the others must have at least is the most that this one may have.
            let most = limits.0.map(Bounds::at_most);
            curves.add(&mut found, format!("{name}, which is called flat,"), &correlation, most, most)?;
        } else {
            let (near, wide) = (limits.0.map(Bounds::at_least), limits.1.map(Bounds::at_least));
            curves.add(&mut found, name, &correlation, near, wide)?;
        }
    }
    Ok(found)
}

/// A reserved queue of more than 20 KB gains nothing over one of 20 KB.
fn reserved_queue_saturates(case: &Case<'_>) -> Outcome {
    let saturation = Saturation { from: 20.0, change_after: (0.03, 0.1), gain_before: None, level_from: None };
    saturates(case, "resqueue", RESERVED, &saturation)
}

/// The coordinate of the reserved queue, in KB.
const RESERVED: &str = "reserved_queue_kb";

/// The size of the reserved queue with which the quantity of the claim is smallest.
fn best_reserved_queue(case: &Case<'_>) -> Outcome {
    let subject = Operand::of(&case.claim.subject);
    let samples = Samples::fetch(case, vec![subject.clone()], case.claim.measures())?;
    let size = |point: usize| match samples.points[point].get(RESERVED) {
        Some(Coordinate::Number(size)) => Some(*size),
        _ => None,
    };
    let points = 0..samples.points.len();
    let name = RESERVED.replace('_', " ");
    if points.clone().filter_map(size).count() < 2 {
        return Err(format!("a minimum needs several values of {RESERVED}"));
    }
    let best = |resample: Resample<'_>| {
        let known =
            points.clone().filter_map(|point| Some((samples.value(&subject, point, 0, resample)?, size(point)?)));
        known.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(f64::NAN, |(_, size)| size)
    };
    let name = format!("the {name} with the smallest {}", case.claim.measures()[0].name());
    let number = Number { name, value: best(Resample::Measured), interval: bootstrap(samples.seeds, &best) };
    let mut found = samples.finding();
    let (reproduced, partly) = value::limits(case)?;
    found.add(number, Some(reproduced), Some(partly));
    Ok(found)
}

/// The share of a buffer of 4 MB that a reserved queue of 20 KB takes.
fn reserved_share(case: &Case<'_>) -> Outcome {
    within(case, (0.03, 0.1), &[20.0 / 4000.0])
}

/// Flows that lose several packets take milliseconds, where the median short flow takes 100 us at most.
fn fct_of_flows_with_drops(case: &Case<'_>) -> Outcome {
    const MEDIAN: &str = "p50 FCT of short flows";
    let mut found = value::judge(case, Aggregate::Each)?;
    let subject = Operand::of(&case.claim.subject);
    match Samples::fetch(case, vec![subject.clone()], vec![Measure::Plain(MEDIAN.to_owned())]) {
        Ok(samples) => {
            for point in 0..samples.points.len() {
                let name = format!("the {MEDIAN}{}", samples.at(point, 0));
                if let Some(number) = value::number(&samples, &subject, (point, 0), Range::ANY, name) {
                    found.add(number, Some(Bounds::at_most(100.0)), None);
                }
            }
        }
        Err(_) => found.incomplete = Some(format!("not measured: {MEDIAN}")),
    }
    Ok(found)
}
