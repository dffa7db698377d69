//! Numbers with intervals and their limits, and how they become a verdict and a sentence.

use tailcut_results::stats::Interval;

use crate::catalogue::Claim;
use crate::judgement::{Judgement, Verdict};
use crate::published::{published, shown};

/// A number that a verdict rests on.
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
pub(crate) struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    /// Bounds that every number keeps.
    pub(crate) const ANY: Bounds = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// Bounds of which either may be missing.
    pub(crate) fn of(low: Option<f64>, high: Option<f64>) -> Bounds {
        Bounds { low: low.unwrap_or(Bounds::ANY.low), high: high.unwrap_or(Bounds::ANY.high) }
    }

    /// At least `low`.
    pub(crate) fn at_least(low: f64) -> Bounds {
        Bounds { low, ..Bounds::ANY }
    }

    /// At most `high`.
    pub(crate) fn at_most(high: f64) -> Bounds {
        Bounds { high, ..Bounds::ANY }
    }

    /// From `low` to `high`.
    pub(crate) fn between(low: f64, high: f64) -> Bounds {
        Bounds { low, high }
    }

    /// At most `error` away from `value`.
    pub(crate) fn around(value: f64, error: f64) -> Bounds {
        Bounds { low: value - error, high: value + error }
    }

    /// In words.
    fn words(self) -> String {
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) if self.low == self.high => format!("exactly {}", shown(self.low)),
            (true, true) => format!("between {} and {}", shown(self.low), shown(self.high)),
            (true, false) => format!("at least {}", shown(self.low)),
            (false, true) => format!("at most {}", shown(self.high)),
            (false, false) => "anything".into(),
        }
    }
}

/// The bounds of one of the numbers of a finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    number: usize,
    bounds: Bounds,
}

/// What was found out about a claim.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finding {
    /// The numbers that decide: the claim is as good as the worst of them.
    pub(crate) numbers: Vec<Number>,
    reproduced: Vec<Limit>,
    partly: Vec<Limit>,
    /// What else the sentence says, without a verb of its own: "at 3 of 7 sweep points".
    pub(crate) remarks: Vec<String>,
    /// What was claimed but not measured, so that the claim cannot be wholly reproduced.
    pub(crate) incomplete: Option<String>,
    /// Whether the numbers depend on the seed, but were measured for one seed only.
    pub(crate) one_seed: bool,
    /// Whether a sample is too thin for an interval, so that a number without one does not fully speak for the claim.
    pub(crate) thin: bool,
}

impl Finding {
    /// A finding without numbers, whose sentence says this besides them.
    pub(crate) fn with_remarks(remarks: Vec<String>) -> Finding {
        Finding { remarks, ..Finding::default() }
    }

    /// Adds a number with its bounds for `reproduced` and for `partly`; without bounds it does not count for a verdict.
    pub(crate) fn add(&mut self, number: Number, reproduced: Option<Bounds>, partly: Option<Bounds>) {
        let at = self.numbers.len();
        self.numbers.push(number);
        self.reproduced.extend(reproduced.map(|bounds| Limit { number: at, bounds }));
        self.partly.extend(partly.map(|bounds| Limit { number: at, bounds }));
    }
}

/// Whether a number keeps its bounds, given its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    /// Its whole interval is within them.
    Holds,
    /// A part of its interval is within the bounds and a part is outside: it crosses this bound.
    Straddles(f64),
    /// Its whole interval is outside.
    Fails,
}

/// How far a bound may be missed, because rounding of sums and quotients must not decide.
fn slack(bound: f64) -> f64 {
    if bound.is_finite() { 1e-9 * bound.abs().max(1e-3) } else { 0.0 }
}

fn standing(number: &Number, bounds: Bounds) -> Standing {
    let (low, high) = (bounds.low - slack(bounds.low), bounds.high + slack(bounds.high));
    let Interval { low: from, high: to } =
        number.interval.unwrap_or(Interval { low: number.value, high: number.value });
    // An interval that does not contain its value is widened to it.
    let (from, to) = (from.min(number.value), to.max(number.value));
    if from >= low && to <= high {
        Standing::Holds
    } else if to < low || from > high {
        Standing::Fails
    } else {
        Standing::Straddles(if from < low { bounds.low } else { bounds.high })
    }
}

/// How far a number is from the nearest bound, relative to it: negative outside.
fn margin(number: &Number, bounds: Bounds) -> f64 {
    let scale = |bound: f64| bound.abs().max(1e-12);
    let below = if bounds.low.is_finite() { (number.value - bounds.low) / scale(bounds.low) } else { f64::INFINITY };
    let above = if bounds.high.is_finite() { (bounds.high - number.value) / scale(bounds.high) } else { f64::INFINITY };
    below.min(above)
}

/// The limit that is met worst, with how.
fn worst(numbers: &[Number], limits: &[Limit]) -> Option<(Limit, Standing)> {
    let rank = |standing| match standing {
        Standing::Fails => 0,
        Standing::Straddles(_) => 1,
        Standing::Holds => 2,
    };
    let all = limits.iter().map(|&limit| (limit, standing(&numbers[limit.number], limit.bounds)));
    all.min_by(|a, b| {
        let margin = |limit: Limit| margin(&numbers[limit.number], limit.bounds);
        rank(a.1).cmp(&rank(b.1)).then(margin(a.0).total_cmp(&margin(b.0)))
    })
}

/// The judgement on a claim from what was found out about it.
pub(crate) fn conclude(claim: &Claim, found: Result<Finding, String>) -> Judgement {
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
        if found.thin && number.interval.is_none() {
            text += "; too thin for an interval, so at most partly";
        } else if found.one_seed && number.interval.is_none() {
            text += "; one seed, so no interval";
        }
        text
    };
    let mut verdict;
    let (limit, relation) = match (first, second) {
        (Standing::Holds, _) => {
            verdict = Verdict::Reproduced;
            (near, format!("{} as asked", near.bounds.words()))
        }
        (Standing::Straddles(bound), _) => {
            verdict = Verdict::Partly;
            (near, format!("and the interval straddles the bound {} of reproduced", shown(bound)))
        }
        (Standing::Fails, Standing::Holds) => {
            verdict = Verdict::Partly;
            (
                near,
                format!(
                    "not {}, but near enough for partly ({})",
                    near.bounds.words(),
                    bounds_for_partly(&found, near, wide)
                ),
            )
        }
        (Standing::Fails, Standing::Straddles(bound)) => {
            verdict = Verdict::Partly;
            (wide, format!("and the interval straddles the bound {} of partly", shown(bound)))
        }
        (Standing::Fails, Standing::Fails) => {
            verdict = Verdict::NotReproduced;
            (wide, format!("not {}", wide.bounds.words()))
        }
    };
    let thin = found.thin && found.numbers.iter().any(|number| number.interval.is_none());
    if verdict == Verdict::Reproduced && (found.incomplete.is_some() || thin) {
        verdict = Verdict::Partly;
    }
    judgement(verdict, Some(&found.numbers[limit.number]), say(limit, relation))
}

/// The bounds for `partly` of the number that missed those for `reproduced`.
fn bounds_for_partly(found: &Finding, near: Limit, wide: Limit) -> String {
    match found.partly.iter().find(|limit| limit.number == near.number) {
        Some(own) => own.bounds.words(),
        None => format!("{} {}", found.numbers[wide.number].name, wide.bounds.words()),
    }
}

/// A text as a sentence: with a full stop, and a capital letter unless it begins with a name, such as that of a scheme.
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
