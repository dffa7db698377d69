//! From numbers with intervals and their limits to a verdict and a sentence.

use super::{Claim, ExpectedAll, Judgement, Verdict, published};
use tailcut_results::number::significant;
use tailcut_results::stats::Interval;

/// A number that decides.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    /// What it is: "the ratio to pias at load 0.8".
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: f64,
    /// Its interval.
    pub(crate) interval: Option<Interval>,
}

/// What a number must be at least and at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// Which number.
    pub(crate) number: usize,
    /// At least.
    pub(crate) low: f64,
    /// At most.
    pub(crate) high: f64,
}

impl Limit {
    pub(crate) fn new(number: usize, low: Option<f64>, high: Option<f64>) -> Limit {
        Limit { number, low: low.unwrap_or(f64::NEG_INFINITY), high: high.unwrap_or(f64::INFINITY) }
    }
}

/// What was found out about a claim.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// The numbers.
    pub(crate) numbers: Vec<Number>,
    /// Limits for `reproduced`.
    pub(crate) reproduced: Vec<Limit>,
    /// Limits for `partly`.
    pub(crate) partly: Vec<Limit>,
    /// What else the sentence says, without a verb of its own: "at 3 of 7 sweep points".
    pub(crate) remarks: Vec<String>,
    /// What was claimed but not measured, so that the claim cannot be wholly reproduced.
    pub(crate) incomplete: Option<String>,
    /// Whether there is chance in it, but one seed only.
    pub(crate) one_seed: bool,
}

/// How a number stands to a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    Holds,
    /// The interval crosses this bound.
    Straddles(f64),
    Fails,
}

/// Rounding of sums and quotients must not decide.
fn slack(bound: f64) -> f64 {
    if bound.is_finite() { 1e-9 * bound.abs().max(1e-3) } else { 0.0 }
}

fn standing(number: &Number, limit: Limit) -> Standing {
    let (low, high) = (limit.low - slack(limit.low), limit.high + slack(limit.high));
    let Interval { low: from, high: to } =
        number.interval.unwrap_or(Interval { low: number.value, high: number.value });
    // A value outside of its own interval is a poor interval, but still a value.
    let (from, to) = (from.min(number.value), to.max(number.value));
    if from >= low && to <= high {
        Standing::Holds
    } else if to < low || from > high {
        Standing::Fails
    } else {
        Standing::Straddles(if from < low { limit.low } else { limit.high })
    }
}

/// How far a number is from the nearest bound, relative to it: negative outside.
fn margin(number: &Number, limit: Limit) -> f64 {
    let scale = |bound: f64| bound.abs().max(1e-12);
    let below = if limit.low.is_finite() { (number.value - limit.low) / scale(limit.low) } else { f64::INFINITY };
    let above = if limit.high.is_finite() { (limit.high - number.value) / scale(limit.high) } else { f64::INFINITY };
    below.min(above)
}

/// The limit that is met worst, with how.
fn worst(numbers: &[Number], limits: &[Limit]) -> Option<(Limit, Standing)> {
    let rank = |standing| match standing {
        Standing::Fails => 0,
        Standing::Straddles(_) => 1,
        Standing::Holds => 2,
    };
    let all = limits.iter().map(|&limit| (limit, standing(&numbers[limit.number], limit)));
    all.min_by(|a, b| {
        let margins = margin(&numbers[a.0.number], a.0).total_cmp(&margin(&numbers[b.0.number], b.0));
        rank(a.1).cmp(&rank(b.1)).then(margins)
    })
}

/// A number as reasons show it.
pub(crate) fn shown(value: f64) -> String {
    significant(value, 4)
}

fn band(limit: Limit) -> String {
    match (limit.low.is_finite(), limit.high.is_finite()) {
        (true, true) if limit.low == limit.high => format!("exactly {}", shown(limit.low)),
        (true, true) => format!("between {} and {}", shown(limit.low), shown(limit.high)),
        (true, false) => format!("at least {}", shown(limit.low)),
        (false, true) => format!("at most {}", shown(limit.high)),
        (false, false) => "anything".into(),
    }
}

/// The judgement.
pub(crate) fn conclude(claim: &Claim, found: Result<Found, String>) -> Judgement {
    let judgement = |verdict, number: Option<&Number>, reason: String| Judgement {
        id: claim.id.clone(),
        verdict,
        published: published(claim),
        measured: number.map(|number| number.value).filter(|value| value.is_finite()),
        low: number.and_then(|number| number.interval).map(|interval| interval.low),
        high: number.and_then(|number| number.interval).map(|interval| interval.high),
        reason: sentence(&reason),
    };
    let found = match found {
        Ok(found) => found,
        Err(why) => return judgement(Verdict::NotRun, None, why),
    };
    let (Some((near, first)), Some((wide, second))) =
        (worst(&found.numbers, &found.reproduced), worst(&found.numbers, &found.partly))
    else {
        return judgement(Verdict::NotRun, None, "the claim gives no limits to compare with".into());
    };
    let say = |limit: Limit, relation: String| {
        let number = &found.numbers[limit.number];
        let value = if number.value.is_finite() { shown(number.value) } else { "out of all bounds".into() };
        let interval = number.interval.map(|i| format!(" [{}, {}]", shown(i.low), shown(i.high))).unwrap_or_default();
        let mut text = format!("{} is {value}{interval}, {relation}", number.name);
        for remark in found.remarks.iter().chain(&found.incomplete) {
            text += &format!("; {remark}");
        }
        if found.one_seed && number.interval.is_none() {
            text += "; one seed, so no interval";
        }
        text
    };
    let mut verdict;
    let (limit, relation) = match (first, second) {
        (Standing::Holds, _) => {
            verdict = Verdict::Reproduced;
            (near, format!("{} as asked", band(near)))
        }
        (Standing::Straddles(bound), _) => {
            verdict = Verdict::Partly;
            (near, format!("and the interval straddles the bound {} of reproduced", shown(bound)))
        }
        (Standing::Fails, Standing::Holds) => {
            verdict = Verdict::Partly;
            (near, format!("not {}, but near enough for partly ({})", band(near), wide_band(&found, near, wide)))
        }
        (Standing::Fails, Standing::Straddles(bound)) => {
            verdict = Verdict::Partly;
            (wide, format!("and the interval straddles the bound {} of partly", shown(bound)))
        }
        (Standing::Fails, Standing::Fails) => {
            verdict = Verdict::NotReproduced;
            (wide, format!("not {}", band(wide)))
        }
    };
    if verdict == Verdict::Reproduced && found.incomplete.is_some() {
        verdict = Verdict::Partly;
    }
    judgement(verdict, Some(&found.numbers[limit.number]), say(limit, relation))
}

/// The band of `partly` for the number that missed the one of `reproduced`.
fn wide_band(found: &Found, near: Limit, wide: Limit) -> String {
    let own = found.partly.iter().find(|limit| limit.number == near.number);
    match own {
        Some(&own) => band(own),
        None => format!("{} {}", found.numbers[wide.number].name, band(wide)),
    }
}

/// With a capital letter, unless it begins with a name, and a full stop.
fn sentence(text: &str) -> String {
    const WORDS: [&str; 7] = ["the", "none", "no", "nothing", "both", "there", "too"];
    let text = text.trim().trim_end_matches('.');
    let word = text.split(' ').next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if WORDS.contains(&word) => first.to_uppercase().chain(letters).collect::<String>() + ".",
        _ => format!("{text}."),
    }
}

/// A claim that is made of others: the share of them that are reproduced.
pub(crate) fn find_parts(
    claim: &Claim,
    expected: &ExpectedAll,
    others: &dyn Fn(&str) -> Option<Verdict>,
) -> Result<Found, String> {
    let verdicts: Vec<Verdict> = expected.claims.iter().map(|id| others(id).unwrap_or(Verdict::NotRun)).collect();
    let count = |wanted| verdicts.iter().filter(|&&verdict| verdict == wanted).count();
    let (total, open) = (verdicts.len(), count(Verdict::NotRun));
    if open == total {
        return Err(format!("none of the {total} claims that it is made of has been run"));
    }
    let share = |extra: usize| (count(Verdict::Reproduced) + extra) as f64 / total as f64;
    let found = |extra: usize| Found {
        numbers: vec![Number {
            name: format!("the share of its {total} parts that are reproduced"),
            value: share(extra),
            interval: None,
        }],
        reproduced: vec![Limit::new(0, claim.tolerance.reproduced.min_fraction, None)],
        partly: vec![Limit::new(0, claim.tolerance.partly.min_fraction, None)],
        remarks: if open > 0 { vec![format!("{open} of them have not been run")] } else { Vec::new() },
        ..Found::default()
    };
    // What has not been run must not matter.
    if conclude(claim, Ok(found(0))).verdict != conclude(claim, Ok(found(open))).verdict {
        return Err(format!("{open} of the {total} claims that it is made of have not been run, and they decide"));
    }
    Ok(found(0))
}
