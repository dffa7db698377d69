//! The operation `ratio`: a quantity of the subject over that of its baselines.

use tailcut_results::stats::{Interval, Resample, jackknife};

use crate::case::{Case, Outcome};
use crate::expected::{Aggregate, ExpectedRatio};
use crate::finding::Number;
use crate::samples::{Quotient, Samples, operands_of, over_baselines};
use crate::value::{self, Range};

pub(crate) fn find(case: &Case<'_>, expected: &ExpectedRatio) -> Outcome {
    let quotients = over_baselines(case.claim);
    if quotients.is_empty() {
        // A claim about a ratio without a baseline has a quantity that is a ratio by itself: it is judged as a value.
        return value::judge(case, expected.agg);
    }
    let samples = Samples::fetch(case, operands_of(&quotients), case.claim.measures())?;
    let groups: Vec<&[Quotient]> = if expected.per_baseline { quotients.chunks(1).collect() } else { vec![&quotients] };
    let small = wants_small(expected.value, expected.low, expected.high);
    let mut found = judge(case, &samples, &groups, expected.agg, small)?;
    found.of_effects = true;
    Ok(found)
}

/// Whether small ratios are favourable to a claim of this published ratio, or of one from `low` to `high`.
pub(crate) fn wants_small(value: Option<f64>, low: Option<f64>, high: Option<f64>) -> bool {
    match (value, low, high) {
        (Some(value), _, _) => value < 1.0,
        (None, None, Some(_)) => true,
        (None, Some(low), Some(high)) => low * high < 1.0,
        (None, _, None) => false,
    }
}

/// The ratios of each group of quotients, aggregated, against the limits of the claim. Of several ratios the best is
/// the smallest if `small` ones are favourable, else the largest.
///
/// # Errors
/// If there is no ratio, with the reason.
pub(crate) fn judge(
    case: &Case<'_>,
    samples: &Samples,
    groups: &[&[Quotient]],
    agg: Aggregate,
    small: bool,
) -> Outcome {
    let mut found = samples.finding();
    let (reproduced, partly) = value::limits(case)?;
    let measures: Vec<usize> = (0..samples.measures.len()).collect();
    for group in groups {
        for number in aggregated(case, samples, group, &measures, agg, small) {
            found.add(number, Some(reproduced), Some(partly));
        }
    }
    let quotients = || groups.iter().copied().flatten();
    if found.numbers.is_empty() {
        return Err(why_none(samples, quotients()));
    }
    let empty = count_zero_over_zero(samples, quotients(), &measures);
    if empty > 0 {
        found.remarks.push(format!("{empty} with zero on both sides say nothing"));
    }
    Ok(found)
}

/// Why there is none of these ratios.
pub(crate) fn why_none<'q>(samples: &Samples, quotients: impl Iterator<Item = &'q Quotient>) -> String {
    match operands_of(quotients).iter().find(|operand| !samples.has(operand)) {
        Some(operand) => format!("{} has not been measured", operand.name()),
        None => "both sides of every ratio are zero or were measured at different places".into(),
    }
}

/// Number of ratios that say nothing, because both of their sides are zero.
pub(crate) fn count_zero_over_zero<'q>(
    samples: &Samples,
    quotients: impl Iterator<Item = &'q Quotient>,
    measures: &[usize],
) -> usize {
    let is_zero = |operand, point, measure| samples.measured(operand, point, measure) == Some(0.0);
    quotients
        .map(|(above, below)| {
            let empty =
                |point| measures.iter().filter(|&&m| is_zero(above, point, m) && is_zero(below, point, m)).count();
            (0..samples.points.len()).map(empty).sum::<usize>()
        })
        .sum()
}

/// A ratio of a quotient at a sweep point in a quantity, by the indices of the two.
type Ratio<'a> = (&'a Quotient, usize, usize);

/// The ratios of some quotients in the quantities with these indices as the numbers that decide: one for each ratio
/// that must be right, or one for all of them.
pub(crate) fn aggregated(
    case: &Case<'_>,
    samples: &Samples,
    quotients: &[Quotient],
    measures: &[usize],
    agg: Aggregate,
    small: bool,
) -> Vec<Number> {
    let mut ratios: Vec<Ratio<'_>> = Vec::new();
    for quotient in quotients {
        for point in 0..samples.points.len() {
            let known = |&&measure: &&usize| {
                samples.ratio((&quotient.0, &quotient.1), point, measure, Resample::Measured).is_some()
            };
            ratios.extend(measures.iter().filter(known).map(|&measure| (quotient, point, measure)));
        }
    }
    if ratios.is_empty() {
        return Vec::new();
    }
    match agg {
        Aggregate::Each => ratios.iter().map(|&ratio| single(samples, ratio, "the ratio")).collect(),
        Aggregate::Best => {
            let order = |a: &&Ratio<'_>, b: &&Ratio<'_>| {
                value(samples, **a, Resample::Measured).total_cmp(&value(samples, **b, Resample::Measured))
            };
            let best = if small { ratios.iter().min_by(order) } else { ratios.iter().max_by(order) };
            best.map(|&ratio| single(samples, ratio, "the best ratio")).into_iter().collect()
        }
        Aggregate::Mean => {
            let mean = |resample: Resample<'_>| {
                let values = ratios.iter().map(|&ratio| value(samples, ratio, resample));
                let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
                values.iter().sum::<f64>() / values.len() as f64
            };
            let name = match quotients {
                [one] => format!("the mean ratio {}", words(case, one)),
                several => format!("the mean ratio over {} baselines", several.len()),
            };
            vec![Number { name, value: mean(Resample::Measured), interval: interval(samples.seeds, &mean) }]
        }
    }
}

fn value(samples: &Samples, (quotient, point, measure): Ratio<'_>, resample: Resample<'_>) -> f64 {
    samples.ratio((&quotient.0, &quotient.1), point, measure, resample).unwrap_or(f64::NAN)
}

fn single(samples: &Samples, ratio: Ratio<'_>, what: &str) -> Number {
    let (quotient, point, measure) = ratio;
    let statistic = |resample: Resample<'_>| value(samples, ratio, resample);
    Number {
        name: format!("{what} {} to {}{}", quotient.0.name(), quotient.1.name(), samples.at(point, measure)),
        value: statistic(Resample::Measured),
        interval: interval(samples.seeds_of(&[&quotient.0, &quotient.1], point, measure), &statistic),
    }
}

/// The interval of a ratio. Where it is not on the scale of logarithms, because a side is zero under some seeds, it
/// could reach below zero, where no ratio of two quantities is.
fn interval(seeds: usize, statistic: &dyn Fn(Resample<'_>) -> f64) -> Option<Interval> {
    let value = statistic(Resample::Measured);
    jackknife(seeds, true, statistic).map(|interval| Range::ANY.clamp(interval, value))
}

/// "to pias", if the subject of the claim stands above.
fn words(case: &Case<'_>, (above, below): &Quotient) -> String {
    if above.subject == case.claim.subject && above.pin.is_none() {
        format!("to {}", below.name())
    } else {
        format!("{} to {}", above.name(), below.name())
    }
}
