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

    /// Without the end beyond which a published effect is only stronger: where `wide` has no end and an effect of 0, or
    /// without end, would do for it.
    fn up_to_any_effect(self, wide: Bounds) -> Bounds {
        let low = if wide.low <= 0.0 && self.low > wide.low { f64::NEG_INFINITY } else { self.low };
        let high = if wide.high == f64::INFINITY { f64::INFINITY } else { self.high };
        Bounds { low, high }
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
    /// Whether a sample is too thin for an interval, so that a number without one decides nothing.
    pub(crate) thin: bool,
    /// Whether a number of one of the findings that this one is made of was too thin.
    made_of_thin: bool,
    /// Whether the numbers are shares of comparisons, whose intervals say which of these noise may decide.
    pub(crate) of_comparisons: bool,
    /// Whether the numbers are ratios, of which one beyond the published effect is stronger.
    pub(crate) of_effects: bool,
}

impl Finding {
    /// A finding without numbers, whose sentence says this besides them.
    pub(crate) fn with_remarks(remarks: Vec<String>) -> Finding {
        Finding { remarks, ..Finding::default() }
    }

    /// The same, where something that was claimed has not been measured.
    pub(crate) fn lacking(mut self, what: String) -> Finding {
        self.incomplete.get_or_insert(what);
        self
    }

    /// What this and another finding say of the same claim: it is as good as the worst number of both.
    pub(crate) fn and(mut self, other: Finding) -> Finding {
        self.made_of_thin = self.is_thin() || other.is_thin();
        self.thin = false;
        let first = self.numbers.len();
        let moved = |limit: Limit| Limit { number: limit.number + first, ..limit };
        self.numbers.extend(other.numbers);
        self.reproduced.extend(other.reproduced.into_iter().map(moved));
        self.partly.extend(other.partly.into_iter().map(moved));
        for remark in other.remarks {
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
        self.incomplete = self.incomplete.or(other.incomplete);
        self.one_seed |= other.one_seed;
        self.of_comparisons &= other.of_comparisons;
        self.of_effects &= other.of_effects;
        self
    }

    /// Whether a number has no interval because a sample is too thin for one.
    fn is_thin(&self) -> bool {
        self.made_of_thin || (self.thin && self.numbers.iter().any(|number| number.interval.is_none()))
    }

    /// Lets the observed extremes decide, and nothing be partly: what never happens happened if it was seen once.
    /// Shares of comparisons keep their intervals: a comparison that noise may decide is no counterexample yet.
    fn hold_always(&mut self) {
        self.partly.clone_from(&self.reproduced);
        if !self.of_comparisons {
            self.numbers.iter_mut().for_each(|number| number.interval = None);
        }
    }

    /// Takes the end beyond which the published effect is only stronger off the bounds for `reproduced`.
    fn let_effects_be_stronger(&mut self) {
        for limit in &mut self.reproduced {
            if let Some(wide) = self.partly.iter().find(|wide| wide.number == limit.number) {
                limit.bounds = limit.bounds.up_to_any_effect(wide.bounds);
            }
        }
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
    let mut found = match found {
        Ok(found) => found,
        Err(why) => return judgement(Verdict::NotRun, None, why),
    };
    if claim.invariant {
        found.hold_always();
    }
    let asked = found.reproduced.clone();
    if found.of_effects {
        found.let_effects_be_stronger();
    }
    let (Some((near, first)), Some((wide, second))) =
        (worst(&found.numbers, &found.reproduced), worst(&found.numbers, &found.partly))
    else {
        return judgement(Verdict::NotRun, None, "the claim gives no limits to compare with".into());
    };
    let is_thin = found.is_thin();
    let say = |limit: Limit, relation: String| {
        let number = &found.numbers[limit.number];
        let value = if number.value.is_finite() { shown(number.value) } else { "out of all bounds".into() };
        let interval = number.interval.map(|i| format!(" [{}, {}]", shown(i.low), shown(i.high))).unwrap_or_default();
        let mut text = format!("{} is {value}{interval}, {relation}", number.name);
        for remark in found.remarks.iter().chain(&found.incomplete) {
            text += &format!("; {remark}");
        }
        if is_thin {
            text += "; too thin for an interval, so undecided";
        } else if found.one_seed && number.interval.is_none() {
            text += "; one seed, so no interval";
        }
        text
    };
    let within_partly = if second == Standing::Holds { "; it is at least partly" } else { "" };
    let (mut verdict, limit, relation) = match (first, second) {
        (Standing::Holds, _) => {
            let is_beyond = |limit: &Limit| standing(&found.numbers[limit.number], limit.bounds) == Standing::Fails;
            let own = asked.iter().find(|limit| limit.number == near.number).copied().unwrap_or(near);
            let words = own.bounds.words();
            if asked.iter().all(is_beyond) {
                (Verdict::Stronger, near, format!("a stronger effect than {words} as asked"))
            } else if standing(&found.numbers[near.number], own.bounds) == Standing::Holds {
                (Verdict::Reproduced, near, format!("{words} as asked"))
            } else {
                (Verdict::Reproduced, near, format!("{words} as asked or a stronger effect"))
            }
        }
        (Standing::Straddles(bound), _) => {
            let relation =
                format!("and the interval straddles the bound {} of reproduced{within_partly}", shown(bound));
            (Verdict::Undecided, near, relation)
        }
        (Standing::Fails, Standing::Holds) => {
            let enough = bounds_for_partly(&found, near, wide);
            let relation = format!("not {}, but near enough for partly ({enough})", near.bounds.words());
            (Verdict::Partly, near, relation)
        }
        (Standing::Fails, Standing::Straddles(bound)) => {
            (Verdict::Undecided, wide, format!("and the interval straddles the bound {} of partly", shown(bound)))
        }
        (Standing::Fails, Standing::Fails) => (Verdict::NotReproduced, wide, format!("not {}", wide.bounds.words())),
    };
    if verdict.is_reproduced() && found.incomplete.is_some() {
        verdict = Verdict::Partly;
    }
    if is_thin {
        verdict = Verdict::Undecided;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A number is judged by its interval and by itself: one of the two alone outside of the bounds does not keep them,
    /// and one of the two alone within does not miss them.
    #[test]
    fn an_interval_that_does_not_contain_its_value_is_widened_to_it() {
        let bounds = Bounds { low: 1.0, high: 2.0 };
        let of = |value, interval: Option<(f64, f64)>| {
            let interval = interval.map(|(low, high)| Interval { low, high });
            standing(&Number { name: String::new(), value, interval }, bounds)
        };
        assert_eq!(of(1.5, None), Standing::Holds);
        assert_eq!(of(0.5, None), Standing::Fails);
        assert_eq!(of(1.5, Some((1.2, 1.8))), Standing::Holds);
        assert_eq!(of(0.5, Some((1.2, 1.8))), Standing::Straddles(1.0));
        assert_eq!(of(2.5, Some((1.2, 1.8))), Standing::Straddles(2.0));
        assert_eq!(of(1.5, Some((0.2, 0.8))), Standing::Straddles(1.0));
        assert_eq!(of(1.5, Some((2.2, 2.8))), Standing::Straddles(2.0));
        assert_eq!(of(2.5, Some((2.2, 2.8))), Standing::Fails);
    }
}
