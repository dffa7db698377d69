//! The operation `order`: the share of comparisons that agree, over sweep points, quantities and pairs of different
//! tiers.

use tailcut_results::stats::{Resample, bootstrap};

use crate::case::{Case, Outcome};
use crate::catalogue::{Measure, catalogue};
use crate::evidence::SweepPoint;
use crate::expected::{Better, ExpectedOrder};
use crate::finding::{Bounds, Finding, Number};
use crate::samples::{Operand, Samples, instance, unique};

/// Tiers from best to worst; inside a tier nothing is claimed.
pub(crate) type Tiers = Vec<Vec<Operand>>;

/// One comparison: the better operand, the worse one, and the indices of the sweep point and of the quantity.
type Pair<'a> = (&'a Operand, &'a Operand, usize, usize);

/// An order in some quantities.
pub(crate) struct Order {
    /// Which values are better.
    pub(crate) better: Better,
    /// Several, if the same order must hold for several schemes or topologies.
    pub(crate) rankings: Vec<Tiers>,
    /// The quantities.
    pub(crate) measures: Vec<Measure>,
    /// What the share of comparisons that agree is called.
    pub(crate) name: String,
}

impl Order {
    /// An order in the quantities of the claim.
    pub(crate) fn of_claim(case: &Case<'_>, better: Better, rankings: Vec<Tiers>) -> Order {
        let name = "the share of comparisons that agree".into();
        Order { better, rankings, measures: case.claim.measures(), name }
    }

    /// An order of subjects in one quantity of its own.
    pub(crate) fn in_metric(metric: &str, better: Better, rank: &[&[&str]]) -> Order {
        Order {
            better,
            rankings: vec![subjects(rank)],
            measures: vec![Measure::Plain(metric.to_owned())],
            name: format!("the share of comparisons of {metric} that agree"),
        }
    }
}

/// Tiers of subjects.
pub(crate) fn subjects<S: AsRef<str>, T: AsRef<[S]>>(rank: &[T]) -> Tiers {
    tiers(rank, &Operand::of)
}

/// Tiers of values of a coordinate, for each of some schemes.
pub(crate) fn values_of<S: AsRef<str>, T: AsRef<[S]>>(schemes: &[&str], coordinate: &str, rank: &[T]) -> Vec<Tiers> {
    schemes.iter().map(|scheme| tiers(rank, &|value| Operand::at(scheme, coordinate, value))).collect()
}

fn tiers<S: AsRef<str>, T: AsRef<[S]>>(rank: &[T], operand: &dyn Fn(&str) -> Operand) -> Tiers {
    rank.iter().map(|tier| tier.as_ref().iter().map(|name| operand(name.as_ref())).collect()).collect()
}

pub(crate) fn find(case: &Case<'_>, expected: &ExpectedOrder) -> Outcome {
    let (claim, rank) = (case.claim, &expected.rank);
    let mut order = Order::of_claim(case, expected.better, Vec::new());
    order.rankings = match expected.items.as_deref() {
        Some("measure") => {
            // Each operand has a quantity of its own.
            order.measures = vec![Measure::Plain(claim.metric.clone())];
            vec![tiers(rank, &|metric| Operand::measuring(&claim.subject, metric))]
        }
        Some(coordinate) => {
            let schemes: Vec<&str> =
                std::iter::once(&claim.subject).chain(&claim.baseline).map(String::as_str).collect();
            values_of(&schemes, coordinate, rank)
        }
        None if rank.iter().flatten().any(|name| name == "X" || name.ends_with("/X")) => {
            let upon = |baseline: &String| tiers(rank, &|name| Operand::of(&instance(name, baseline)));
            claim.baseline.iter().map(upon).collect()
        }
        None => vec![subjects(rank)],
    };
    judge(case, vec![order], &|_, _| false)
}

/// Whether these orders hold: of each of them at least the share of comparisons that the claim's tolerance asks for.
/// Sweep points and quantities of which `exempt` says so do not count.
///
/// # Errors
/// If nothing could be compared, with the reason.
pub(crate) fn judge(case: &Case<'_>, orders: Vec<Order>, exempt: &dyn Fn(&SweepPoint, &str) -> bool) -> Outcome {
    let tolerance = &case.claim.tolerance;
    let share = |limit: Option<f64>| Some(Bounds::of(limit, None));
    let mut found: Option<Finding> = None;
    let mut reason = String::new();
    let (mut missing, total) = (Vec::new(), orders.len());
    for order in orders {
        match compare(case, &order, exempt) {
            Ok((number, context)) => {
                let incomplete = context.incomplete.clone();
                let found = found.get_or_insert(context);
                if found.incomplete.is_none() {
                    found.incomplete = incomplete;
                }
                let (near, wide) = (tolerance.reproduced.min_fraction, tolerance.partly.min_fraction);
                found.add(number, share(near), share(wide));
            }
            Err(why) => {
                missing.push(order.measures[0].name());
                reason = why;
            }
        }
    }
    let mut found = found.ok_or(reason)?;
    if !missing.is_empty() && total > 1 {
        found.incomplete = Some(format!("not measured: {}", missing.join(", ")));
    }
    Ok(found)
}

/// The share of comparisons that agree with an order, and a finding without numbers that says what it rests on.
fn compare(
    case: &Case<'_>,
    order: &Order,
    exempt: &dyn Fn(&SweepPoint, &str) -> bool,
) -> Result<(Number, Finding), String> {
    let samples = Samples::fetch(case, unique(order.rankings.iter().flatten().flatten()), order.measures.clone())?;
    let comparisons = comparisons(&samples, order, exempt);
    if comparisons.is_empty() {
        return Err(samples.incomplete().unwrap_or_else(|| "no two of them were measured at the same place".into()));
    }
    let is_zero = |operand: &Operand, point, measure| samples.measured(operand, point, measure) == Some(0.0);
    let all_zero =
        |&(good, bad, point, measure): &Pair<'_>| is_zero(good, point, measure) && is_zero(bad, point, measure);
    if comparisons.iter().all(all_zero) {
        return Err("both sides of every comparison are zero".into());
    }
    let agrees =
        |comparison: &Pair<'_>, resample: Resample<'_>| agreement(&samples, order.better, comparison, resample);
    let share = |resample: Resample<'_>| {
        comparisons.iter().map(|comparison| agrees(comparison, resample)).sum::<f64>() / comparisons.len() as f64
    };
    let mut context = samples.finding();
    context.remarks.insert(0, format!("{} comparisons", comparisons.len()));
    if let Some((good, bad, point, measure)) = comparisons.iter().find(|one| agrees(one, Resample::Measured) == 0.0) {
        let at = samples.at(*point, *measure);
        context.remarks.push(format!("the first against it: {} and {}{at}", good.name(), bad.name()));
    }
    let interval = bootstrap(samples.seeds, &share);
    Ok((Number { name: order.name.clone(), value: share(Resample::Measured), interval }, context))
}

/// Every pair of operands of different tiers, at every sweep point and in every quantity where both were measured.
fn comparisons<'o>(samples: &Samples, order: &'o Order, exempt: &dyn Fn(&SweepPoint, &str) -> bool) -> Vec<Pair<'o>> {
    let mut comparisons = Vec::new();
    for tiers in &order.rankings {
        for (at, tier) in tiers.iter().enumerate() {
            for (good, bad) in tier.iter().flat_map(|good| tiers[at + 1..].iter().flatten().map(move |bad| (good, bad)))
            {
                for point in 0..samples.points.len() {
                    for measure in 0..samples.measures.len() {
                        let known = |operand| samples.measured(operand, point, measure).is_some();
                        if known(good)
                            && known(bad)
                            && !exempt(&samples.points[point], &samples.measures[measure].name())
                        {
                            comparisons.push((good, bad, point, measure));
                        }
                    }
                }
            }
        }
    }
    comparisons
}

/// 1 if a comparison agrees with the order, 0 if not, one half for a tie.
fn agreement(
    samples: &Samples,
    better: Better,
    &(good, bad, point, measure): &Pair<'_>,
    resample: Resample<'_>,
) -> f64 {
    let value = |operand| samples.value(operand, point, measure, resample).unwrap_or(f64::NAN);
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
