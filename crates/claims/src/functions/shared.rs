//! Functions that claims about several schemes name.

use tailcut_results::stats::Interval;

use super::closed_form::by_evidence;
use super::functions;
use super::tables::ComparedTable;
use crate::case::{Case, Outcome};
use crate::catalogue::Claim;
use crate::expected::Aggregate;
use crate::finding::{Bounds, Finding, Number, conclude};
use crate::judgement::Verdict;
use crate::samples::{Operand, Samples};
use crate::value;

functions! {
    never_violated,
    parts_reproduced,
    computed_exactly,
    cells_exact,
    configuration_matches,
}

/// Something must hold throughout every run: the evidence gives the share of violations. One in a hundred is partly.
fn never_violated(case: &Case<'_>) -> Outcome {
    violated_at_most(case, 0.0, 0.01)
}

/// Whether the share of violations keeps these limits, for `reproduced` and for `partly`.
pub(super) fn violated_at_most(case: &Case<'_>, reproduced: f64, partly: f64) -> Outcome {
    let (found, mut numbers) = value::measure(case, Aggregate::Each)?;
    let metric = format!("the {}", case.claim.metric);
    for number in &mut numbers {
        let at = number.name.strip_prefix(&metric).unwrap_or_default().to_owned();
        number.name = format!("the share of violations{at}");
    }
    value::against((found, numbers), (Bounds::at_most(reproduced), Bounds::at_most(partly)))
}

/// The share of the claims that this claim is made of which are reproduced.
fn parts_reproduced(case: &Case<'_>) -> Outcome {
    let claim = case.claim;
    let verdicts: Vec<Verdict> =
        claim.parts.iter().map(|id| (case.verdict_on)(id).unwrap_or(Verdict::NotRun)).collect();
    let count = |wanted| verdicts.iter().filter(|&&verdict| verdict == wanted).count();
    let (total, open) = (verdicts.len(), count(Verdict::NotRun));
    if open == total {
        return Err(format!("none of the {total} claims that it is made of has been run"));
    }
    let reproduced = verdicts.iter().filter(|verdict| verdict.is_reproduced()).count();
    let found = |more: usize| share_of_parts(claim, reproduced + more, count(Verdict::Undecided), open);
    // Parts that have not been run must not matter: the verdict has to be the same if all of them were reproduced.
    if conclude(claim, Ok(found(0))).verdict != conclude(claim, Ok(found(open))).verdict {
        return Err(format!("{open} of the {total} claims that it is made of have not been run, and they decide"));
    }
    Ok(found(0))
}

/// A finding that so many of the parts of a claim are reproduced, so many are undecided, and so many have not been
/// run.
fn share_of_parts(claim: &Claim, reproduced: usize, undecided: usize, open: usize) -> Finding {
    let total = claim.parts.len();
    let share = |parts: usize| parts as f64 / total as f64;
    let interval = Interval { low: share(reproduced), high: share(reproduced + undecided) };
    let number = Number {
        name: format!("the share of its {total} parts that are reproduced"),
        value: share(reproduced),
        interval: (undecided > 0).then_some(interval),
    };
    let remark = |count: usize, what: &str| (count > 0).then(|| format!("{what}: {count} of them"));
    let remarks = remark(open, "not run").into_iter().chain(remark(undecided, "undecided")).collect();
    let mut found = Finding::with_remarks(remarks);
    let bounds = |limit: Option<f64>| Some(Bounds::of(limit, None));
    let tolerance = &claim.tolerance;
    found.add(number, bounds(tolerance.reproduced.min_fraction), bounds(tolerance.partly.min_fraction));
    found
}

/// Numbers that an example of the document gives, as they were computed from the example.
fn computed_exactly(case: &Case<'_>) -> Outcome {
    by_evidence(case, None)
}

/// The cells of a table that an example of the document gives, up to rounding.
fn cells_exact(case: &Case<'_>) -> Outcome {
    let table = ComparedTable::of(case)?;
    let mut found = table.finding();
    table.add_largest_relative_distance(&mut found, 0.001, 0.05);
    Ok(found)
}

/// The share of the parameters of a configuration that match the published ones; the evidence names those that do not.
fn configuration_matches(case: &Case<'_>) -> Outcome {
    let subject = Operand::of(&case.claim.subject);
    let samples = Samples::fetch(case, vec![subject.clone()], case.claim.measures())?;
    let sample = (0..samples.points.len()).find_map(|point| samples.sample(&subject, point, 0));
    let sample = sample.ok_or("no configuration was compared")?;
    let name = "the share of parameters that match".into();
    // Deviations that are written down were meant: however many there are, the configuration matches partly.
    let partly = if sample.note.is_some() { Bounds::ANY } else { Bounds::at_least(1.0) };
    let mut found = Finding::with_remarks(sample.note.iter().cloned().collect());
    found.add(Number { name, value: sample.value, interval: None }, Some(Bounds::at_least(1.0)), Some(partly));
    Ok(found)
}
