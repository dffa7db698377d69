//! Orders: the share of comparisons that agree, over sweep points, quantities and pairs of different tiers.

use super::gather::{Gathered, Operand, instance};
use super::resample::{Draw, bootstrap};
use super::scope;
use super::verdict::{Found, Limit, Number};
use super::{Better, Claim, Evidence, ExpectedOrder, ExpectedOrders, Measure, Place, catalogue};

/// Tiers from best to worst.
type Tiers = Vec<Vec<Operand>>;

/// One comparison: the better one, the worse one, the place, the quantity.
type Comparison<'a> = (&'a Operand, &'a Operand, usize, usize);

/// An order over some quantities.
struct Order {
    better: Better,
    /// Several, if the same order must hold for several schemes or topologies.
    rankings: Vec<Tiers>,
    measures: Vec<Measure>,
    name: String,
}

pub(crate) fn find(claim: &Claim, expected: &ExpectedOrder, evidence: &dyn Evidence) -> Result<Found, String> {
    let measures = if expected.items.as_deref() == Some("measure") {
        // Each operand has its own.
        vec![Measure::Plain(claim.metric.clone())]
    } else {
        claim.measures()
    };
    let order = Order {
        better: expected.better,
        rankings: rankings(claim, expected),
        measures,
        name: "the share of comparisons that agree".into(),
    };
    let exempt = |place: &Place, metric: &str| expected.except_at.iter().any(|at| scope::is_at(place, metric, at));
    evaluate(claim, vec![order], evidence, &exempt)
}

pub(crate) fn find_all(claim: &Claim, expected: &ExpectedOrders, evidence: &dyn Evidence) -> Result<Found, String> {
    let orders = expected
        .orders
        .iter()
        .map(|order| Order {
            better: order.better,
            rankings: vec![order.rank.iter().map(|tier| tier.iter().map(|name| Operand::of(name)).collect()).collect()],
            measures: vec![Measure::Plain(order.metric.clone())],
            name: format!("the share of comparisons of {} that agree", order.metric),
        })
        .collect();
    evaluate(claim, orders, evidence, &|_, _| false)
}

/// The tiers of operands that a claim ranks.
fn rankings(claim: &Claim, expected: &ExpectedOrder) -> Vec<Tiers> {
    let tiers = |operand: &dyn Fn(&str) -> Operand| -> Tiers {
        expected.rank.iter().map(|tier| tier.iter().map(|name| operand(name)).collect()).collect()
    };
    let schemes = || -> Vec<&String> {
        if expected.for_schemes.is_empty() {
            std::iter::once(&claim.subject).chain(&claim.baseline).collect()
        } else {
            expected.for_schemes.iter().collect()
        }
    };
    match expected.items.as_deref() {
        Some("measure") => vec![tiers(&|metric| Operand::measuring(&claim.subject, metric))],
        Some(coordinate) => {
            schemes().into_iter().map(|scheme| tiers(&|value| Operand::at(scheme, coordinate, value))).collect()
        }
        None if expected.rank.iter().flatten().any(|name| name == "X" || name.ends_with("/X")) => {
            claim.baseline.iter().map(|baseline| tiers(&|name| Operand::of(&instance(name, baseline)))).collect()
        }
        None => vec![tiers(&|name| Operand::of(name))],
    }
}

fn evaluate(
    claim: &Claim,
    orders: Vec<Order>,
    evidence: &dyn Evidence,
    exempt: &dyn Fn(&Place, &str) -> bool,
) -> Result<Found, String> {
    let mut found: Option<Found> = None;
    let mut reason = String::new();
    let (mut orders_missing, total) = (Vec::new(), orders.len());
    for order in orders {
        match one(claim, &order, evidence, exempt) {
            Ok(part) => {
                let found = found.get_or_insert_with(|| Found {
                    remarks: part.remarks.clone(),
                    one_seed: part.one_seed,
                    ..Found::default()
                });
                if found.incomplete.is_none() {
                    found.incomplete = part.incomplete;
                }
                let at = found.numbers.len();
                found.numbers.extend(part.numbers);
                found.reproduced.push(Limit::new(at, claim.tolerance.reproduced.min_fraction, None));
                found.partly.push(Limit::new(at, claim.tolerance.partly.min_fraction, None));
            }
            Err(why) => {
                orders_missing.push(order.measures[0].name());
                reason = why;
            }
        }
    }
    let mut found = found.ok_or(reason)?;
    if !orders_missing.is_empty() && total > 1 {
        found.incomplete = Some(format!("not measured: {}", orders_missing.join(", ")));
    }
    Ok(found)
}

fn one(
    claim: &Claim,
    order: &Order,
    evidence: &dyn Evidence,
    exempt: &dyn Fn(&Place, &str) -> bool,
) -> Result<Found, String> {
    let mut operands: Vec<Operand> = Vec::new();
    for operand in order.rankings.iter().flatten().flatten() {
        if !operands.contains(operand) {
            operands.push(operand.clone());
        }
    }
    let gathered = Gathered::new(claim, evidence, operands, order.measures.clone(), &|_| true)?;
    let mut comparisons: Vec<Comparison<'_>> = Vec::new();
    for tiers in &order.rankings {
        for (at, tier) in tiers.iter().enumerate() {
            for (good, bad) in tier.iter().flat_map(|good| tiers[at + 1..].iter().flatten().map(move |bad| (good, bad)))
            {
                for place in 0..gathered.places.len() {
                    for measure in 0..gathered.measures.len() {
                        let known = |operand| gathered.value(operand, place, measure, Draw::Measured).is_some();
                        if known(good)
                            && known(bad)
                            && !exempt(&gathered.places[place], &gathered.measures[measure].name())
                        {
                            comparisons.push((good, bad, place, measure));
                        }
                    }
                }
            }
        }
    }
    if comparisons.is_empty() {
        return Err(gathered.incomplete().unwrap_or_else(|| "no two of them were measured at the same place".into()));
    }
    let is_zero = |operand: &Operand, place: usize, measure: usize| {
        gathered.value(operand, place, measure, Draw::Measured) == Some(0.0)
    };
    if comparisons
        .iter()
        .all(|&(good, bad, place, measure)| is_zero(good, place, measure) && is_zero(bad, place, measure))
    {
        return Err("both sides of every comparison are zero".into());
    }
    let share = |draw: Draw<'_>| {
        let agreeing: f64 =
            comparisons.iter().map(|comparison| agrees(&gathered, order.better, comparison, draw)).sum();
        agreeing / comparisons.len() as f64
    };
    let mut found = gathered.finding();
    found.numbers.push(Number {
        name: order.name.clone(),
        value: share(Draw::Measured),
        interval: bootstrap(gathered.seeds, &|draw| vec![share(draw)])[0],
    });
    found.remarks.insert(0, format!("{} comparisons", comparisons.len()));
    let against =
        comparisons.iter().find(|comparison| agrees(&gathered, order.better, comparison, Draw::Measured) == 0.0);
    if let Some((good, bad, place, measure)) = against {
        found.remarks.push(format!(
            "the first against it: {} and {}{}",
            good.name(),
            bad.name(),
            gathered.at(*place, *measure)
        ));
    }
    Ok(found)
}

/// 1 if the comparison agrees with the claim, 0 if not, one half for a tie.
fn agrees(gathered: &Gathered, better: Better, &(good, bad, place, measure): &Comparison<'_>, draw: Draw<'_>) -> f64 {
    let value = |operand| gathered.value(operand, place, measure, draw).unwrap_or(f64::NAN);
    let (a, b) = (value(good), value(bad));
    let band = catalogue().tolerance_policy.tie_band * a.abs().max(b.abs());
    // Rounding must not make a difference of exactly the band more than a tie.
    if (a - b).abs() <= band * (1.0 + 1e-9) || a == b {
        return 0.5;
    }
    let ahead = match better {
        Better::Lower => a < b,
        Better::Higher => a > b,
    };
    if ahead { 1.0 } else { 0.0 }
}
