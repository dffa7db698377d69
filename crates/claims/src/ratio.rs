//! Ratios of a subject to its baselines.

use super::gather::{Gathered, Operand, pairs};
use super::resample::{Draw, jackknife};
use super::scope;
use super::verdict::{Found, Limit, Number};
use super::{Aggregate, Claim, Evidence, ExpectedRatio, Measure, Place};

/// A quotient that a claim is about: what stands above, what below.
type Pair = (Operand, Operand);

/// One quotient at one place in one quantity.
type Term<'a> = (&'a Pair, usize, usize);

pub(crate) fn find(claim: &Claim, expected: &ExpectedRatio, evidence: &dyn Evidence) -> Result<Found, String> {
    let pairs = quotients(claim, expected)?;
    if pairs.is_empty() {
        // The quantity is a ratio by itself.
        return plain(claim, expected, evidence);
    }
    let counts = |place: &Place| expected.at.is_empty() || scope::is_at(place, "", &expected.at);
    let mut operands: Vec<Operand> = Vec::new();
    for (above, below) in &pairs {
        for operand in [above, below] {
            if !operands.contains(operand) {
                operands.push(operand.clone());
            }
        }
    }
    let measures = claim.measures();
    let first = measures.len();
    let also = expected.also.iter().map(|also| Measure::Plain(also.measure.clone()));
    let gathered = Gathered::new(claim, evidence, operands, measures.into_iter().chain(also).collect(), &counts)?;

    let mut found = gathered.finding();
    let own = aggregated(claim, expected, &gathered, &pairs, &(0..first).collect::<Vec<_>>());
    for number in own {
        let at = found.numbers.len();
        found.numbers.push(number);
        found.reproduced.push(Limit::new(at, claim.tolerance.reproduced.low, claim.tolerance.reproduced.high));
        found.partly.push(Limit::new(at, claim.tolerance.partly.low, claim.tolerance.partly.high));
    }
    if found.numbers.is_empty() {
        return Err(nothing(&gathered, &pairs));
    }
    if let Some(also) = &expected.also {
        for mut number in aggregated(claim, expected, &gathered, &pairs, &[first]) {
            number.name = format!("{} in {}", number.name, also.measure);
            let at = found.numbers.len();
            found.numbers.push(number);
            found.reproduced.push(Limit::new(at, also.low, also.high));
        }
    }
    let empty = count_empty(&gathered, &pairs, first);
    if empty > 0 {
        found.remarks.push(format!("{empty} with zero on both sides say nothing"));
    }
    Ok(found)
}

/// The quotients.
fn quotients(claim: &Claim, expected: &ExpectedRatio) -> Result<Vec<Pair>, String> {
    let mut all = match (&expected.items, &expected.ratio_of) {
        (Some(coordinate), Some(values)) => {
            let (above, below) =
                values.split_once('/').ok_or_else(|| format!("`{values}` does not name two values"))?;
            std::iter::once(&claim.subject)
                .chain(&claim.baseline)
                .map(|scheme| (Operand::at(scheme, coordinate, above), Operand::at(scheme, coordinate, below)))
                .collect()
        }
        _ => pairs(claim),
    };
    if expected.inverse {
        all = all.into_iter().map(|(above, below)| (below, above)).collect();
    }
    Ok(all)
}

fn nothing(gathered: &Gathered, pairs: &[Pair]) -> String {
    let missing = pairs.iter().flat_map(|(above, below)| [above, below]).find(|operand| !gathered.has(operand));
    match missing {
        Some(operand) => format!("{} has not been measured", operand.name()),
        None => "both sides of every ratio are zero or were measured at different places".into(),
    }
}

fn count_empty(gathered: &Gathered, pairs: &[Pair], measures: usize) -> usize {
    let mut empty = 0;
    for (above, below) in pairs {
        for place in 0..gathered.places.len() {
            for measure in 0..measures {
                let value = |operand| gathered.value(operand, place, measure, Draw::Measured);
                empty += usize::from(value(above) == Some(0.0) && value(below) == Some(0.0));
            }
        }
    }
    empty
}

/// The numbers that decide: one for each baseline that counts by itself, or for each ratio that must be right.
fn aggregated(
    claim: &Claim,
    expected: &ExpectedRatio,
    gathered: &Gathered,
    pairs: &[Pair],
    measures: &[usize],
) -> Vec<Number> {
    let terms = |pairs: &'_ [Pair]| -> Vec<(usize, usize, usize)> {
        let mut terms = Vec::new();
        for (at, pair) in pairs.iter().enumerate() {
            for place in 0..gathered.places.len() {
                for &measure in measures {
                    if gathered.ratio((&pair.0, &pair.1), place, measure, Draw::Measured).is_some() {
                        terms.push((at, place, measure));
                    }
                }
            }
        }
        terms
    };
    let groups: Vec<&[Pair]> = if expected.per_baseline { pairs.chunks(1).collect() } else { vec![pairs] };
    let mut numbers = Vec::new();
    for group in groups {
        let terms: Vec<Term<'_>> =
            terms(group).into_iter().map(|(at, place, measure)| (&group[at], place, measure)).collect();
        if terms.is_empty() {
            continue;
        }
        match expected.agg {
            Aggregate::Each => {
                numbers.extend(terms.iter().map(|&term| single(gathered, term, "the ratio")));
            }
            Aggregate::Best => {
                let value = |term: &Term<'_>| at_place(gathered, *term, Draw::Measured);
                let order = |a: &&Term<'_>, b: &&Term<'_>| value(a).total_cmp(&value(b));
                let best = if wants_small(expected) { terms.iter().min_by(order) } else { terms.iter().max_by(order) };
                numbers.extend(best.map(|&term| single(gathered, term, "the best ratio")));
            }
            Aggregate::Mean => {
                let mean = |draw: Draw<'_>| {
                    let values: Vec<f64> =
                        terms.iter().map(|&term| at_place(gathered, term, draw)).filter(|v| !v.is_nan()).collect();
                    values.iter().sum::<f64>() / values.len() as f64
                };
                let names = if expected.per_baseline || group.len() == 1 {
                    format!("the mean ratio {}", between(claim, &group[0]))
                } else {
                    format!("the mean ratio over {} baselines", group.len())
                };
                numbers.push(Number {
                    name: names,
                    value: mean(Draw::Measured),
                    interval: jackknife(gathered.seeds, true, &mean),
                });
            }
        }
    }
    numbers
}

fn at_place(gathered: &Gathered, (pair, place, measure): Term<'_>, draw: Draw<'_>) -> f64 {
    gathered.ratio((&pair.0, &pair.1), place, measure, draw).unwrap_or(f64::NAN)
}

fn single(gathered: &Gathered, term: Term<'_>, what: &str) -> Number {
    let (pair, place, measure) = term;
    let statistic = |draw: Draw<'_>| at_place(gathered, term, draw);
    Number {
        name: format!("{what} {} to {}{}", pair.0.name(), pair.1.name(), gathered.at(place, measure)),
        value: statistic(Draw::Measured),
        interval: jackknife(gathered.seeds, true, &statistic),
    }
}

fn between(claim: &Claim, pair: &Pair) -> String {
    if pair.0.subject == claim.subject && pair.0.pin.is_none() {
        format!("to {}", pair.1.name())
    } else {
        format!("{} to {}", pair.0.name(), pair.1.name())
    }
}

/// Whether small ratios are favourable to the claim.
fn wants_small(expected: &ExpectedRatio) -> bool {
    match (expected.value, expected.low, expected.high) {
        (Some(value), _, _) => value < 1.0,
        (None, None, Some(_)) => true,
        (None, Some(low), Some(high)) => low * high < 1.0,
        (None, _, None) => false,
    }
}

/// A quantity that is a ratio by itself.
fn plain(claim: &Claim, expected: &ExpectedRatio, evidence: &dyn Evidence) -> Result<Found, String> {
    super::value::find_plain(claim, expected.agg, evidence)
}
