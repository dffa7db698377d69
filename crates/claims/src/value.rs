//! The operation `value`: a quantity of the subject.

use tailcut_results::stats::{Interval, Resample, jackknife};

use crate::case::{Case, Outcome};
use crate::expected::{Aggregate, ExpectedValue, Limits};
use crate::finding::{Bounds, Finding, Number};
use crate::samples::{Operand, Samples};

pub(crate) fn find(case: &Case<'_>, expected: &ExpectedValue) -> Outcome {
    judge(case, expected.agg.unwrap_or(Aggregate::Each))
}

/// The quantity itself, against the limits of the claim.
///
/// # Errors
/// If it has not been measured, or the claim gives no limits.
pub(crate) fn judge(case: &Case<'_>, agg: Aggregate) -> Outcome {
    against(measure(case, agg)?, limits(case)?)
}

/// A finding with these numbers, each with the same bounds for `reproduced` and for `partly`.
pub(crate) fn against((mut found, numbers): (Finding, Vec<Number>), (reproduced, partly): (Bounds, Bounds)) -> Outcome {
    for number in numbers {
        found.add(number, Some(reproduced), Some(partly));
    }
    Ok(found)
}

/// The quantity of the claim: a finding without numbers, and the numbers.
///
/// # Errors
/// If it has not been measured.
pub(crate) fn measure(case: &Case<'_>, agg: Aggregate) -> Result<(Finding, Vec<Number>), String> {
    let claim = case.claim;
    let subject = Operand::of(&claim.subject);
    let samples = Samples::fetch(case, vec![subject.clone()], claim.measures())?;
    let range = Range::of(&claim.metric);
    let measured: Vec<(usize, usize)> = (0..samples.points.len())
        .flat_map(|point| (0..samples.measures.len()).map(move |measure| (point, measure)))
        .filter(|&(point, measure)| samples.measured(&subject, point, measure).is_some())
        .collect();
    let value = |(point, measure): (usize, usize), resample: Resample<'_>| {
        samples.value(&subject, point, measure, resample).unwrap_or(f64::NAN)
    };
    let single = |&(point, measure): &(usize, usize), what: &str| {
        let name = if samples.measures.len() > 1 { "value" } else { &claim.metric };
        let name = format!("{what}{name}{}", samples.at(point, measure));
        number(&samples, &subject, (point, measure), range, name)
    };
    let numbers: Vec<Number> = match agg {
        Aggregate::Each => measured.iter().filter_map(|at| single(at, "the ")).collect(),
        Aggregate::Best => {
            let value = |at: &(usize, usize)| value(*at, Resample::Measured);
            let best = measured.iter().max_by(|a, b| value(a).total_cmp(&value(b)));
            best.and_then(|at| single(at, "the largest ")).into_iter().collect()
        }
        Aggregate::Mean => {
            let mean = |resample: Resample<'_>| {
                measured.iter().map(|&at| value(at, resample)).sum::<f64>() / measured.len() as f64
            };
            let value = mean(Resample::Measured);
            let interval = jackknife(samples.seeds, false, &mean).map(|interval| range.clamp(interval, value));
            vec![Number { name: format!("the mean of {}", claim.metric), value, interval }]
        }
    };
    Ok((samples.finding(), numbers))
}

/// The limits `low` and `high` of a claim, for `reproduced` and for `partly`.
///
/// # Errors
/// If the claim does not give any for one of the two: without limits any number would do.
pub(crate) fn limits(case: &Case<'_>) -> Result<(Bounds, Bounds), String> {
    let bounds = |limits: Limits| match (limits.low, limits.high) {
        (None, None) => Err("the claim gives no limits to compare with".to_owned()),
        (low, high) => Ok(Bounds::of(low, high)),
    };
    Ok((bounds(case.claim.tolerance.reproduced)?, bounds(case.claim.tolerance.partly)?))
}

/// A quantity of an operand at a sweep point, by the indices of the point and the quantity; with its interval.
pub(crate) fn number(
    samples: &Samples,
    operand: &Operand,
    (point, measure): (usize, usize),
    range: Range,
    name: String,
) -> Option<Number> {
    let value = samples.measured(operand, point, measure)?;
    let statistic = |resample: Resample<'_>| samples.value(operand, point, measure, resample).unwrap_or(f64::NAN);
    let seeds = samples.seeds_of(&[operand], point, measure);
    let interval = samples
        .interval(operand, point, measure)
        .or_else(|| jackknife(seeds, false, &statistic))
        .map(|interval| range.clamp(interval, value));
    Some(Number { name, value, interval })
}

/// Values that a quantity cannot leave, so that the part of an interval outside says nothing.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    high: f64,
}

impl Range {
    /// Any value.
    pub(crate) const ANY: Range = Range { high: f64::INFINITY };

    /// The range of a quantity by its name: shares end at 1.
    fn of(metric: &str) -> Range {
        let shares = ["fraction", "share", "probability", "correlation", "Jain", "byte share"];
        if shares.iter().any(|word| metric.starts_with(word)) { Range { high: 1.0 } } else { Range::ANY }
    }

    pub(crate) fn clamp(self, interval: Interval, value: f64) -> Interval {
        // A quantity that is positive or zero does not become negative for other seeds.
        let low = if value >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
        let high = if value <= self.high { self.high } else { f64::INFINITY };
        Interval { low: interval.low.max(low), high: interval.high.min(high) }
    }
}
