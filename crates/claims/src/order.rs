//! The operation `order`: for each pair of different tiers, in each quantity, the share of comparisons over the sweep
//! points that agree.

use tailcut_results::stats::{Interval, Resample, jackknife};

use crate::case::{Case, Outcome};
use crate::catalogue::{Measure, catalogue};
use crate::evidence::SweepPoint;
use crate::expected::{Better, ExpectedOrder};
use crate::finding::{Bounds, Finding, Number};
use crate::samples::{Operand, Samples, instance, unique};

/// Tiers from best to worst; inside a tier nothing is claimed.
pub(crate) type Tiers = Vec<Vec<Operand>>;

/// A pair of operands of different tiers in one quantity, by its index, with the sweep points where it is compared.
struct Pair<'a> {
    good: &'a Operand,
    bad: &'a Operand,
    measure: usize,
    points: Vec<usize>,
}

/// A comparison that a document may exempt.
#[derive(Clone, Copy)]
pub(crate) struct Compared<'a> {
    /// Where.
    pub(crate) point: &'a SweepPoint,
    /// In which quantity.
    pub(crate) metric: &'a str,
    /// The one that is claimed to be worse.
    pub(crate) worse: &'a str,
}

/// An order in some quantities.
pub(crate) struct Order {
    /// Which values are better.
    pub(crate) better: Better,
    /// Several, if the same order must hold for several schemes or topologies.
    pub(crate) rankings: Vec<Tiers>,
    /// The quantities.
    pub(crate) measures: Vec<Measure>,
    /// What the share of comparisons is called.
    pub(crate) name: String,
    /// Whether all comparisons count together; otherwise those of the worst pair decide.
    pub(crate) pooled: bool,
}

impl Order {
    /// An order in the quantities of the claim.
    pub(crate) fn of_claim(case: &Case<'_>, better: Better, rankings: Vec<Tiers>) -> Order {
        let name = "the share of comparisons".into();
        Order { better, rankings, measures: case.claim.measures(), name, pooled: false }
    }

    /// An order of subjects in one quantity of its own.
    pub(crate) fn in_metric(metric: &str, better: Better, rank: &[&[&str]]) -> Order {
        Order {
            better,
            rankings: vec![subjects(rank)],
            measures: vec![Measure::Plain(metric.to_owned())],
            name: format!("the share of comparisons of {metric}"),
            pooled: false,
        }
    }
}

/// Tiers of subjects.
pub(crate) fn subjects<S: AsRef<str>, T: AsRef<[S]>>(rank: &[T]) -> Tiers {
    tiers(rank, &Operand::of)
}

/// Tiers of quantities of a subject.
pub(crate) fn quantities<S: AsRef<str>, T: AsRef<[S]>>(subject: &str, rank: &[T]) -> Tiers {
    tiers(rank, &|metric| Operand::measuring(subject, metric))
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
            vec![quantities(&claim.subject, rank)]
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
    order.pooled = expected.pooled;
    judge(case, vec![order], &|_| false)
}

/// Whether these orders hold: of each pair of different tiers, in each quantity, at least the share of comparisons that
/// the claim's tolerance asks for; the worst pair decides, if they are not pooled. Comparisons of which `exempt` says
/// so do not count.
///
/// # Errors
/// If nothing could be compared, with the reason.
pub(crate) fn judge(case: &Case<'_>, orders: Vec<Order>, exempt: &dyn Fn(Compared<'_>) -> bool) -> Outcome {
    let tolerance = &case.claim.tolerance;
    let share = |limit: Option<f64>| Some(Bounds::of(limit, None));
    let mut found: Option<Finding> = None;
    let mut reason = String::new();
    let (mut missing, total) = (Vec::new(), orders.len());
    for order in orders {
        match compare(case, &order, exempt) {
            Ok((numbers, context)) => {
                let incomplete = context.incomplete.clone();
                let found = found.get_or_insert(context);
                if found.incomplete.is_none() {
                    found.incomplete = incomplete;
                }
                let (near, wide) = (tolerance.reproduced.min_fraction, tolerance.partly.min_fraction);
                for number in numbers {
                    found.add(number, share(near), share(wide));
                }
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
    // What is too thin to be compared is unclear already.
    found.thin = false;
    found.of_comparisons = true;
    Ok(found)
}

/// What a comparison says of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// Nothing is different, or so little that nobody would call it a difference.
    Tie,
    /// The better one is better in any seeds.
    For,
    /// It is worse.
    Against,
    /// It is better, or else worse, but other seeds might say the contrary.
    Unclear { better: bool },
}

/// For each pair of different tiers, in each quantity, the share of comparisons that agree, and a finding without
/// numbers that says what they rest on. Ties are left out; a pair that has nothing else agrees nowhere, and one that is
/// zero everywhere says nothing. The interval is what the share can become through those comparisons that are unclear.
fn compare(
    case: &Case<'_>,
    order: &Order,
    exempt: &dyn Fn(Compared<'_>) -> bool,
) -> Result<(Vec<Number>, Finding), String> {
    let samples = Samples::fetch(case, unique(order.rankings.iter().flatten().flatten()), order.measures.clone())?;
    let pairs = pairs(&samples, order, exempt);
    if pairs.is_empty() {
        return Err(samples.incomplete().unwrap_or_else(|| "no two of them were measured at the same place".into()));
    }
    let mut context = samples.finding();
    let mut numbers = Vec::new();
    let (mut comparisons, mut ties, mut first_against) = (0, 0, None);
    let mut all: Vec<Says> = Vec::new();
    for pair in &pairs {
        let Pair { good, bad, measure, points } = pair;
        comparisons += points.len();
        let is_zero = |operand, point| samples.measured(operand, point, *measure) == Some(0.0);
        if points.iter().all(|&point| is_zero(good, point) && is_zero(bad, point)) {
            ties += points.len();
            let zero = format!("{} and {} are zero everywhere", good.name(), bad.name());
            context.incomplete.get_or_insert(zero);
            continue;
        }
        let said: Vec<Says> = points.iter().map(|&point| says(&samples, order.better, pair, point)).collect();
        let counted = said.iter().filter(|&&says| says != Says::Tie).count();
        ties += said.len() - counted;
        if first_against.is_none()
            && let Some(at) = said.iter().position(|&says| says == Says::Against)
        {
            first_against = Some((good.name(), bad.name(), samples.at(points[at], *measure)));
        }
        if order.pooled {
            all.extend(said);
            continue;
        }
        let several = samples.measures.len() > 1;
        let at = if several { format!(" in {}", samples.measures[*measure].name()) } else { String::new() };
        let compared = if counted == 0 { ", all of which are ties," } else { "" };
        let name = format!("{} with {} before {}{at}{compared}", order.name, good.name(), bad.name());
        numbers.push(share_of(&said, name));
    }
    if !all.is_empty() {
        numbers.push(share_of(&all, order.name.clone()));
    }
    if numbers.is_empty() {
        return Err("both sides of every comparison are zero".into());
    }
    let left_out = if ties > 0 { format!(", {ties} of them tied and left out") } else { String::new() };
    context.remarks.insert(0, format!("{comparisons} comparisons{left_out}"));
    if let Some((good, bad, at)) = first_against {
        context.remarks.push(format!("the first against it: {good} and {bad}{at}"));
    }
    Ok((numbers, context))
}

/// The share of comparisons that agree, of those that are not ties.
fn share_of(said: &[Says], name: String) -> Number {
    let count = |wanted: &dyn Fn(Says) -> bool| said.iter().filter(|&&says| wanted(says)).count();
    let counted = count(&|says| says != Says::Tie);
    let share = |agree: usize| if counted == 0 { 0.0 } else { agree as f64 / counted as f64 };
    let surely = count(&|says| says == Says::For);
    let unclear = count(&|says| matches!(says, Says::Unclear { .. }));
    let better = count(&|says| says == Says::Unclear { better: true });
    Number {
        name,
        value: share(surely + better),
        interval: (unclear > 0).then(|| Interval { low: share(surely), high: share(surely + unclear) }),
    }
}

/// Every pair of operands of different tiers in every quantity, where both were measured at the same sweep points.
fn pairs<'o>(samples: &Samples, order: &'o Order, exempt: &dyn Fn(Compared<'_>) -> bool) -> Vec<Pair<'o>> {
    let mut pairs = Vec::new();
    for tiers in &order.rankings {
        for (at, tier) in tiers.iter().enumerate() {
            for (good, bad) in tier.iter().flat_map(|good| tiers[at + 1..].iter().flatten().map(move |bad| (good, bad)))
            {
                for measure in 0..samples.measures.len() {
                    let name = samples.measures[measure].name();
                    let counts = |&point: &usize| {
                        let known = |operand| samples.measured(operand, point, measure).is_some();
                        let worse = bad.name();
                        let compared = Compared { point: &samples.points[point], metric: &name, worse: &worse };
                        known(good) && known(bad) && !exempt(compared)
                    };
                    let points: Vec<usize> = (0..samples.points.len()).filter(counts).collect();
                    if !points.is_empty() {
                        pairs.push(Pair { good, bad, measure, points });
                    }
                }
            }
        }
    }
    pairs
}

/// What one comparison says: paired, seed by seed, where both sides have the same seeds.
fn says(samples: &Samples, better: Better, &Pair { good, bad, measure, .. }: &Pair<'_>, point: usize) -> Says {
    let value = |operand| samples.measured(operand, point, measure).unwrap_or(f64::NAN);
    let (a, b) = (value(good), value(bad));
    let band = catalogue().tolerance_policy.tie_band * a.abs().max(b.abs());
    // Rounding must not make a difference of exactly the band more than a tie. What has no end is no tie with a number.
    if a == b || (band.is_finite() && (a - b).abs() <= band * (1.0 + 1e-9)) {
        return Says::Tie;
    }
    let is_better = match better {
        Better::Lower => a < b,
        Better::Higher => a > b,
    };
    let difference = |resample: Resample<'_>| {
        let value = |operand| samples.value(operand, point, measure, resample).unwrap_or(f64::NAN);
        value(good) - value(bad)
    };
    let both = [good, bad];
    let interval = jackknife(samples.seeds_of(&both, point, measure), false, &difference);
    let may_turn = match interval {
        Some(interval) => interval.low <= 0.0 && interval.high >= 0.0,
        // Without an interval a thin sample says too little; one that does not depend on seeds says all.
        None => samples.is_thin_in(&both, point, measure),
    };
    match (may_turn, is_better) {
        (true, better) => Says::Unclear { better },
        (false, true) => Says::For,
        (false, false) => Says::Against,
    }
}
