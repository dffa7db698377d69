//! What measurements say: whether a size keeps a target, and whether a larger size is worse than a smaller one.
//!
//! A size keeps a target when the interval of the metric lies wholly on the right side of the limit, and does not when
//! it lies wholly on the other. Else seeds are added, and the question is asked again, after 5, 10, 20 ... seeds. Each
//! look may mislead: the intervals are as much wider than those of 95 % as keeps the chance of being misled at any of
//! them below 5 % (Bonferroni). There are few looks, so that this costs little.
//!
//! Whether a larger size is worse is asked of all pairs of sizes, seed by seed, because equal seeds have equal flows.
//! That many questions would find something by chance: the interval of each difference is as much wider as keeps the
//! chance of that below 2.5 % for all pairs and targets together (Bonferroni).

use tailcut_results::stats::{Estimate, Interval, sectioned, t_quantile, t975};
use tailcut_results::{Measurements, describe};

use super::search::Verdict;
use super::target::Target;

/// Seeds before the first look.
pub(super) const FIRST_LOOK: usize = 5;

/// Chance of a wrong judgement on one side: that a metric which is the same at all sizes is found worse at a larger
/// one, or that one at its limit is found beyond it.
const CHANCE: f64 = 0.025;

/// Numbers of seeds after which the intervals are looked at.
pub(super) fn looks(first: usize, most: usize) -> Vec<usize> {
    let mut looks = vec![first.max(FIRST_LOOK).min(most)];
    while let Some(&last) = looks.last()
        && last < most
    {
        looks.push((2 * last).min(most));
    }
    looks
}

/// An estimate over so many seeds with an interval that holds the truth at all of `looks` looks with 95 %: that of a
/// single look, with the quantile of Student's t at a smaller chance in the place of that at 2.5 %. Of percentiles,
/// whose intervals are not Student's t, that is an approximation; a test measures how good it is.
pub(super) fn widened(estimate: Estimate, seeds: usize, looks: usize) -> Estimate {
    if estimate.interval.is_none() {
        return estimate;
    }
    let freedom = seeds as f64 - 1.0;
    let factor = t_quantile(1.0 - CHANCE / looks as f64, freedom) / t975(freedom);
    let value = estimate.value;
    let wider = |Interval { low, high }: Interval| Interval {
        // No metric is negative.
        low: (value - factor * (value - low)).max(0.0),
        high: value + factor * (high - value),
    };
    Estimate { interval: estimate.interval.map(wider), ..estimate }
}

/// A target's metric at one size, after some number of seeds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// Over all seeds, with an interval for all looks; `None` without samples.
    pub(super) estimate: Option<Estimate>,
    /// What each seed contributes, with the seed and a fingerprint of its flows.
    pub(super) by_seed: Vec<(u64, u64, Option<f64>)>,
    /// Samples that are missing because flows or queries were open at the end, and of how many.
    pub(super) open: Option<(u64, u64)>,
}

impl Measured {
    /// The metric of a target at a design point at one of so many looks.
    pub(super) fn of(
        found: &Measurements,
        (scheme, values): (&str, &[String]),
        target: &Target,
        looks: usize,
    ) -> Measured {
        let get = |metric: &str| found.get(scheme, values, &target.class, metric);
        let measurement = get(&target.metric);
        let all = match describe(&target.metric).map(|metric| metric.of) {
            Some("finished flows") => get("flows"),
            Some("complete queries") => get("queries"),
            _ => None,
        };
        let all = all.map_or(0, |all| all.pooled.value as u64);
        // Seeds whose runs repeat each other count once.
        let flows = found.flows(scheme, values);
        let fingerprint = |seed: u64| flows.iter().find(|known| known.0 == seed).map_or(0, |known| known.1);
        let by_seed =
            measurement.map(|m| m.by_seed.iter().map(|&(seed, own)| (seed, fingerprint(seed), own)).collect());
        let counted = measurement.map_or(0, |m| m.n);
        Measured {
            estimate: measurement.map(|m| widened(m.pooled.clone(), flows.len(), looks)),
            by_seed: by_seed.unwrap_or_default(),
            open: (all > counted).then(|| (all - counted, all)),
        }
    }

    #[cfg(test)]
    pub(super) fn made_of(estimate: Estimate) -> Measured {
        let by_seed = estimate.pseudo_values().enumerate().map(|(at, own)| (at as u64, 0, own)).collect();
        Measured { estimate: Some(estimate), by_seed, open: None }
    }

    /// What each seed contributes, if all of them contribute.
    fn contributions(&self) -> Option<Vec<f64>> {
        self.by_seed.iter().map(|(_, _, own)| *own).collect()
    }

    fn has_flows_of(&self, other: &Measured) -> bool {
        let flows = |of: &Measured| of.by_seed.iter().map(|&(seed, flows, _)| (seed, flows)).collect::<Vec<_>>();
        flows(self) == flows(other)
    }
}

/// What a measurement says of a target.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    /// Why nothing can be said, if more seeds will not help.
    pub(super) obstacle: Option<String>,
    /// Why nothing can be said as yet.
    pub(super) reason: Option<String>,
}

impl Judgement {
    fn of(verdict: Verdict) -> Judgement {
        Judgement { verdict, obstacle: None, reason: None }
    }
}

/// Judges one target at one size.
pub(super) fn judge(target: &Target, measured: &Measured) -> Judgement {
    let open = |reason: String| Judgement { reason: Some(reason), ..Judgement::of(Verdict::Open) };
    let Some(estimate) = &measured.estimate else {
        return open(format!("{} has no sample", target.subject()));
    };
    let Some(Interval { low, high }) = estimate.interval else {
        let note = estimate.note.clone().unwrap_or_else(|| "there is no interval".to_owned());
        let reason = format!("{}: {note}", target.subject());
        // Where seeds draw nothing, more of them say no more.
        let obstacle = estimate.repeated.then(|| reason.clone());
        return Judgement { obstacle, ..open(reason) };
    };
    match (target.holds(low), target.holds(high)) {
        (true, true) => match measured.open {
            // Those that are missing are the slowest ones: the metric is better than it would be with them.
            Some((open, all)) => Judgement {
                obstacle: Some(format!(
                    "{open} of {all} were still open at the end: {} is without them and looks better than it is; give \
                     them time by `run.drain`",
                    target.subject()
                )),
                ..Judgement::of(Verdict::Open)
            },
            None => Judgement::of(Verdict::Kept),
        },
        (false, false) => Judgement::of(Verdict::NotKept),
        _ => open(format!("the interval of {} holds the limit", target.subject())),
    }
}

/// What all targets together say of a size: it keeps them if it keeps each, and does not if there is one that it does
/// not keep.
pub(super) fn together(judgements: &[Judgement]) -> Judgement {
    let of = |verdict| judgements.iter().any(|one| one.verdict == verdict);
    if of(Verdict::NotKept) {
        return Judgement::of(Verdict::NotKept);
    }
    if !of(Verdict::Open) {
        return Judgement::of(Verdict::Kept);
    }
    let first = |get: fn(&Judgement) -> &Option<String>| judgements.iter().find_map(|one| get(one).clone());
    Judgement { obstacle: first(|one| &one.obstacle), reason: first(|one| &one.reason), ..Judgement::of(Verdict::Open) }
}

/// That a larger size is worse than a smaller one.
#[derive(Clone, Debug, PartialEq)]
pub struct Worse {
    /// The target whose metric is worse, as text.
    pub target: String,
    /// The smaller size in bytes.
    pub smaller: u64,
    /// The larger size in bytes.
    pub larger: u64,
    /// The metric at the smaller size, in its unit.
    pub at_smaller: f64,
    /// The metric at the larger size, over the same seeds.
    pub at_larger: f64,
    /// By how much it is worse at least, in the unit of the metric: the near end of the interval.
    pub at_least: f64,
    /// Seeds on each side.
    pub seeds: usize,
}

/// By how much `larger` is worse than `smaller`, as an interval that holds the truth but with the given chance on each
/// side; `None` if there is none.
fn worse_by(target: &Target, smaller: &Measured, larger: &Measured, chance: f64) -> Option<Interval> {
    let (a, b) = (smaller.estimate.as_ref()?, larger.estimate.as_ref()?);
    if a.thin || b.thin || smaller.open.is_some() || larger.open.is_some() {
        return None;
    }
    let (own_a, own_b) = (smaller.contributions()?, larger.contributions()?);
    let seeds = own_a.len().min(own_b.len());
    let sign = if target.relation.wants_less() { 1.0 } else { -1.0 };
    let difference = sign * (b.value - a.value);
    let half = |interval: Interval| (interval.high - interval.low) / 2.0;
    let half = if smaller.has_flows_of(larger) {
        let pairs: Vec<f64> = own_b.iter().zip(&own_a).map(|(b, a)| sign * (b - a)).collect();
        half(sectioned(difference, &pairs)?)
    } else {
        half(sectioned(a.value, &own_a)?).hypot(half(sectioned(b.value, &own_b)?))
    };
    let freedom = seeds as f64 - 1.0;
    let half = half * t_quantile(1.0 - chance, freedom) / t975(freedom);
    Some(Interval::around(difference, half))
}

/// The clearest case of a larger size that is worse than a smaller one by more than `tolerance` times the limit of the
/// target. `sizes` ascend; each has the measurements of all targets by the numbers of seeds.
pub(super) fn worst_reversal(targets: &[Target], sizes: &[SizeMeasured<'_>], tolerance: f64) -> Option<Worse> {
    let pairs = (sizes.len() * sizes.len().saturating_sub(1) / 2 * targets.len()).max(1);
    let mut worst: Option<(f64, Worse)> = None;
    for (at, larger) in sizes.iter().enumerate() {
        for smaller in &sizes[..at] {
            let Some((seeds, a, b)) = smaller.with_common_seeds(larger) else { continue };
            for (target, (a, b)) in targets.iter().zip(a.iter().zip(b)) {
                let Some(by) = worse_by(target, a, b, CHANCE / pairs as f64) else { continue };
                let allowed = tolerance * target.limit;
                let clear = (by.low - allowed) / target.limit.max(f64::MIN_POSITIVE);
                if by.low > allowed && worst.as_ref().is_none_or(|(known, _)| clear > *known) {
                    let value = |of: &Measured| of.estimate.as_ref().map_or(f64::NAN, |estimate| estimate.value);
                    let found = Worse {
                        target: target.to_string(),
                        smaller: smaller.size,
                        larger: larger.size,
                        at_smaller: value(a),
                        at_larger: value(b),
                        at_least: by.low,
                        seeds,
                    };
                    worst = Some((clear, found));
                }
            }
        }
    }
    worst.map(|(_, found)| found)
}

/// A size with what was measured after each look: the number of seeds, and each target's metric.
pub(super) struct SizeMeasured<'a> {
    pub(super) size: u64,
    pub(super) looks: &'a [(usize, Vec<Measured>)],
}

impl<'a> SizeMeasured<'a> {
    /// What was measured at both sizes with as many seeds as both have.
    fn with_common_seeds(&self, other: &SizeMeasured<'a>) -> Option<(usize, &'a [Measured], &'a [Measured])> {
        self.looks.iter().rev().find_map(|(seeds, own)| {
            let (_, theirs) = other.looks.iter().find(|(known, _)| known == seeds)?;
            Some((*seeds, own.as_slice(), theirs.as_slice()))
        })
    }
}
