//! Numbers of a subject, and what is computed from them.

use super::gather::{Gathered, Operand, instance};
use super::resample::{Draw, bootstrap, jackknife};
use super::verdict::{Found, Limit, Number};
use super::{Aggregate, Claim, Coordinate, Evidence, ExpectedValue, Item, Measure};
use tailcut_results::stats::Interval;

pub(crate) fn find(claim: &Claim, expected: &ExpectedValue, evidence: &dyn Evidence) -> Result<Found, String> {
    let mut found = match expected.item {
        None => find_plain(claim, expected.agg.unwrap_or(Aggregate::Each), evidence)?,
        Some(item) => find_item(claim, expected, item, evidence)?,
    };
    if let Some(also) = &expected.also {
        let measure = vec![Measure::Plain(also.measure.clone())];
        let subject = Operand::of(&claim.subject);
        match Gathered::new(claim, evidence, vec![subject.clone()], measure, &|_| true) {
            Ok(gathered) => {
                for place in 0..gathered.places.len() {
                    let at = found.numbers.len();
                    found.numbers.extend(plain(&gathered, &subject, place, 0, Range::default()));
                    if found.numbers.len() > at {
                        found.numbers[at].name = format!("the {}{}", also.measure, gathered.at(place, 0));
                        found.reproduced.push(Limit::new(at, also.low, also.high));
                    }
                }
            }
            Err(_) => found.incomplete = Some(format!("not measured: {}", also.measure)),
        }
    }
    Ok(found)
}

/// What a quantity cannot leave, so that an interval that does says nothing.
#[derive(Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
}

impl Default for Range {
    fn default() -> Range {
        Range { low: f64::NEG_INFINITY, high: f64::INFINITY }
    }
}

impl Range {
    /// That of a quantity by its name: shares end at 1.
    fn of(metric: &str) -> Range {
        let share = ["fraction", "share", "probability", "correlation", "Jain", "byte share"]
            .iter()
            .any(|word| metric.starts_with(word));
        Range { high: if share { 1.0 } else { f64::INFINITY }, ..Range::default() }
    }

    fn clamp(self, interval: Interval, value: f64) -> Interval {
        // What is never negative in any seed is not negative in another.
        let floor = if value >= 0.0 { self.low.max(0.0) } else { self.low };
        let high = if value <= self.high { self.high } else { f64::INFINITY };
        Interval { low: interval.low.max(floor), high: interval.high.min(high) }
    }
}

fn plain(gathered: &Gathered, operand: &Operand, place: usize, measure: usize, range: Range) -> Option<Number> {
    let value = gathered.value(operand, place, measure, Draw::Measured)?;
    let statistic = |draw: Draw<'_>| gathered.value(operand, place, measure, draw).unwrap_or(f64::NAN);
    let interval = jackknife(gathered.seeds, false, &statistic)
        .or_else(|| gathered.sample(operand, place, measure)?.interval)
        .map(|interval| range.clamp(interval, value));
    Some(Number { name: String::new(), value, interval })
}

/// The quantity itself.
pub(crate) fn find_plain(claim: &Claim, agg: Aggregate, evidence: &dyn Evidence) -> Result<Found, String> {
    let subject = Operand::of(&claim.subject);
    let gathered = Gathered::new(claim, evidence, vec![subject.clone()], claim.measures(), &|_| true)?;
    let range = Range::of(&claim.metric);
    let cells: Vec<(usize, usize)> = (0..gathered.places.len())
        .flat_map(|place| (0..gathered.measures.len()).map(move |measure| (place, measure)))
        .filter(|&(place, measure)| gathered.value(&subject, place, measure, Draw::Measured).is_some())
        .collect();
    let value = |(place, measure): (usize, usize), draw: Draw<'_>| {
        gathered.value(&subject, place, measure, draw).unwrap_or(f64::NAN)
    };
    let single = |&(place, measure): &(usize, usize), what: &str| {
        let mut number = plain(&gathered, &subject, place, measure, range)?;
        let at = if gathered.measures.len() > 1 { gathered.at(place, measure) } else { gathered.at(place, 0) };
        let name = if gathered.measures.len() > 1 { "value" } else { &claim.metric };
        number.name = format!("{what}{name}{at}");
        Some(number)
    };
    let mut found = gathered.finding();
    match agg {
        Aggregate::Each => found.numbers.extend(cells.iter().filter_map(|cell| single(cell, "the "))),
        Aggregate::Best => {
            let best = cells.iter().max_by(|a, b| value(**a, Draw::Measured).total_cmp(&value(**b, Draw::Measured)));
            found.numbers.extend(best.and_then(|cell| single(cell, "the largest ")));
        }
        Aggregate::Mean => {
            let mean = |draw: Draw<'_>| cells.iter().map(|&cell| value(cell, draw)).sum::<f64>() / cells.len() as f64;
            let at = mean(Draw::Measured);
            let interval = jackknife(gathered.seeds, false, &mean).map(|interval| range.clamp(interval, at));
            found.numbers.push(Number { name: format!("the mean of {}", claim.metric), value: at, interval });
        }
    }
    limit(claim, &mut found);
    Ok(found)
}

/// The claim's band for every number.
fn limit(claim: &Claim, found: &mut Found) {
    let (near, wide) = (&claim.tolerance.reproduced, &claim.tolerance.partly);
    for at in 0..found.numbers.len() {
        found.reproduced.push(Limit::new(at, near.low, near.high));
        found.partly.push(Limit::new(at, wide.low, wide.high));
    }
}

fn find_item(claim: &Claim, expected: &ExpectedValue, item: Item, evidence: &dyn Evidence) -> Result<Found, String> {
    let subject = Operand::of(&claim.subject);
    let mut operands = vec![subject.clone()];
    match item {
        Item::Argmin | Item::Spread => {}
        Item::Kendall => operands.extend(claim.baseline.iter().map(|baseline| Operand::of(baseline))),
        Item::Reduction | Item::RatioOfGains => {
            operands = claim
                .baseline
                .iter()
                .flat_map(|baseline| [Operand::of(&instance(&claim.subject, baseline)), Operand::of(baseline)])
                .collect();
        }
    }
    let gathered = Gathered::new(claim, evidence, operands.clone(), claim.measures(), &|_| true)?;
    let mut found = gathered.finding();
    let mut add = |name: String, statistic: &dyn Fn(Draw<'_>) -> f64, smooth: bool| {
        let value = statistic(Draw::Measured);
        if value.is_nan() {
            return;
        }
        let interval = if smooth {
            jackknife(gathered.seeds, false, statistic)
        } else {
            bootstrap(gathered.seeds, &|draw| vec![statistic(draw)])[0]
        };
        found.numbers.push(Number { name, value, interval });
    };
    let places = 0..gathered.places.len();
    match item {
        Item::Argmin => {
            let x = expected.x.as_deref().unwrap_or_default();
            let at = |place: usize| match gathered.places[place].get(x) {
                Some(Coordinate::Number(x)) => Some(*x),
                _ => None,
            };
            let argmin = |draw: Draw<'_>| {
                let known =
                    places.clone().filter_map(|place| Some((gathered.value(&subject, place, 0, draw)?, at(place)?)));
                known.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(f64::NAN, |(_, x)| x)
            };
            if places.clone().filter_map(at).count() < 2 {
                return Err(format!("a minimum needs several values of {x}"));
            }
            add(
                format!("the {} with the smallest {}", x.replace('_', " "), claim.measures()[0].name()),
                &argmin,
                false,
            );
        }
        Item::Spread => {
            let spread = |draw: Draw<'_>| {
                let values: Vec<f64> =
                    places.clone().filter_map(|place| gathered.value(&subject, place, 0, draw)).collect();
                let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                high / values.iter().copied().fold(f64::INFINITY, f64::min)
            };
            add("the largest over the smallest value".into(), &spread, false);
        }
        Item::Reduction => {
            for pair in operands.chunks(2) {
                let mean = |draw: Draw<'_>| {
                    let ratios: Vec<f64> = places
                        .clone()
                        .filter_map(|place| gathered.ratio((&pair[0], &pair[1]), place, 0, draw))
                        .collect();
                    1.0 - ratios.iter().sum::<f64>() / ratios.len() as f64
                };
                add(format!("the mean reduction of {}", pair[1].name()), &mean, true);
            }
        }
        Item::RatioOfGains => {
            for pair in operands.chunks(2) {
                let mean = |draw: Draw<'_>| {
                    let ratios: Vec<f64> = places
                        .clone()
                        .filter_map(|place| {
                            let gain = |measure| gathered.ratio((&pair[1], &pair[0]), place, measure, draw);
                            Some(gain(0)? / gain(1)?)
                        })
                        .collect();
                    ratios.iter().sum::<f64>() / ratios.len() as f64
                };
                add(
                    format!("the gain in the first quantity over that in the second, against {}", pair[1].name()),
                    &mean,
                    true,
                );
            }
        }
        Item::Kendall => {
            let comparisons = kendall_pairs(&gathered, expected.x.as_deref());
            if comparisons.is_empty() {
                return Err("there is no pair of orders to compare".into());
            }
            let mean = |draw: Draw<'_>| {
                let taus: Vec<f64> = comparisons
                    .iter()
                    .filter_map(|&(a, b)| {
                        let values = |(place, measure): (usize, usize)| -> Vec<Option<f64>> {
                            operands.iter().map(|o| gathered.value(o, place, measure, draw)).collect()
                        };
                        kendall(&values(a), &values(b))
                    })
                    .collect();
                taus.iter().sum::<f64>() / taus.len() as f64
            };
            add("the mean of Kendall's rank correlation".into(), &mean, false);
        }
    }
    if found.numbers.is_empty() {
        return Err(found.incomplete.unwrap_or_else(|| "too little has been measured".into()));
    }
    limit(claim, &mut found);
    Ok(found)
}

/// Which orders are compared: those by consecutive quantities, or those at consecutive values of a coordinate.
fn kendall_pairs(gathered: &Gathered, x: Option<&str>) -> Vec<((usize, usize), (usize, usize))> {
    let places = 0..gathered.places.len();
    let Some(x) = x else {
        return places
            .flat_map(|place| (0..gathered.measures.len() / 2).map(move |m| ((place, 2 * m), (place, 2 * m + 1))))
            .collect();
    };
    let without = |place: usize| {
        let mut rest = gathered.places[place].clone();
        rest.remove(x);
        rest
    };
    let mut pairs = Vec::new();
    for a in places.clone() {
        for b in a + 1..gathered.places.len() {
            if gathered.places[a].contains_key(x) && without(a) == without(b) {
                pairs.push(((a, 0), (b, 0)));
            }
        }
    }
    pairs
}

/// Kendall's tau-a of two lists, over the entries that both have; `None` with fewer than two.
fn kendall(a: &[Option<f64>], b: &[Option<f64>]) -> Option<f64> {
    let both: Vec<(f64, f64)> = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let n = both.len();
    if n < 2 {
        return None;
    }
    let mut sum = 0.0;
    for i in 0..n {
        for j in 0..i {
            let sign = |difference: f64| if difference == 0.0 { 0.0 } else { difference.signum() };
            sum += sign(both[i].0 - both[j].0) * sign(both[i].1 - both[j].1);
        }
    }
    Some(sum / (n * (n - 1) / 2) as f64)
}

/// A predicate that must hold throughout every run: the evidence gives the share of violations.
pub(crate) fn find_invariant(claim: &Claim, evidence: &dyn Evidence) -> Result<Found, String> {
    let mut found = find_plain(claim, Aggregate::Each, evidence)?;
    found.reproduced.clear();
    found.partly.clear();
    for (at, number) in found.numbers.iter_mut().enumerate() {
        let place = number.name.strip_prefix(&format!("the {}", claim.metric)).unwrap_or_default().to_owned();
        number.name = format!("the share of violations{place}");
        found.reproduced.push(Limit::new(at, None, claim.tolerance.reproduced.max_violation_fraction));
        found.partly.push(Limit::new(at, None, claim.tolerance.partly.max_violation_fraction));
    }
    Ok(found)
}
