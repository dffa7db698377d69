//! Closed forms, and examples that a document computes by hand. Its numbers are compared with the same arithmetic done
//! here, or with what a function of a study has computed.

use crate::case::{Case, Outcome};
use crate::expected::Expected;
use crate::finding::{Bounds, Finding, Number};
use crate::scope;

/// Relative errors that count as reproduced and as partly, where arithmetic leaves no room but for rounding.
const ROUNDING: (f64, f64) = (0.001, 0.05);

/// Compares the published numbers with the evidence, if there is any, else with `values`, which arithmetic gives.
pub(super) fn arithmetic(case: &Case<'_>, values: &[f64]) -> Outcome {
    within(case, ROUNDING, values)
}

/// As [`arithmetic`], with other relative errors that count as reproduced and as partly.
pub(super) fn within(case: &Case<'_>, errors: (f64, f64), values: &[f64]) -> Outcome {
    let count = published(case)?.len();
    match computed(case, count) {
        Ok(found) => compare(case, &found, "what was computed", errors, &[]),
        Err(_) => compare(case, values, "the formula alone", errors, &[]),
    }
}

/// As [`arithmetic`], where `items` says what each number belongs to.
pub(super) fn of_items(case: &Case<'_>, items: &[&str], values: &[f64]) -> Outcome {
    match computed(case, items.len()) {
        Ok(found) => compare(case, &found, "what was computed", ROUNDING, items),
        Err(_) => compare(case, values, "the formula alone", ROUNDING, items),
    }
}

/// Compares the published numbers with the evidence, where no formula gives them.
pub(super) fn by_evidence(case: &Case<'_>, errors: Option<(f64, f64)>) -> Outcome {
    let found = computed(case, published(case)?.len())?;
    compare(case, &found, "what was computed", errors.unwrap_or(ROUNDING), &[])
}

/// The numbers that the document prints.
fn published<'a>(case: &Case<'a>) -> Result<&'a [f64], String> {
    match &case.claim.expected {
        Expected::Function(expected) if !expected.values().is_empty() => Ok(expected.values()),
        _ => Err("the claim gives no numbers to compare with".into()),
    }
}

/// What the evidence says: one sample, or a series if there are several numbers.
fn computed(case: &Case<'_>, count: usize) -> Result<Vec<f64>, String> {
    let (claim, evidence) = (case.claim, case.evidence);
    let points = scope::select(claim, evidence.sweep_points(), &[]);
    let Some(&point) = points.first() else {
        return Err(format!("{} of {} has not been computed", claim.metric, claim.subject));
    };
    if count == 1 {
        return evidence.sample(&claim.subject, point, &claim.metric).map(|sample| vec![sample.value]);
    }
    let series = evidence.series(&claim.subject, point, &claim.metric)?;
    Ok(series.into_iter().map(|(_, value)| value).collect())
}

fn compare(case: &Case<'_>, values: &[f64], source: &str, errors: (f64, f64), items: &[&str]) -> Outcome {
    let published = published(case)?;
    if values.len() != published.len() {
        return Err(format!("{} numbers cannot be compared with {} published ones", values.len(), published.len()));
    }
    let metric = &case.claim.metric;
    let mut found = Finding::with_remarks(vec![format!("by {source}")]);
    for (at, (&value, &published)) in values.iter().zip(published).enumerate() {
        let name = match items.get(at) {
            Some(item) => format!("the {metric} of {item}"),
            None if values.len() > 1 => format!("the {metric}, number {},", at + 1),
            None => format!("the {metric}"),
        };
        let bounds = |error: f64| Some(Bounds::around(published, error * published.abs()));
        found.add(Number { name, value, interval: None }, bounds(errors.0), bounds(errors.1));
    }
    Ok(found)
}

/// The over-subscription of a leaf: the rates of the links to its hosts over those of its uplinks, each a number of
/// links and the rate of one in Gb/s.
pub(super) fn oversubscription((hosts, host_gbps): (f64, f64), (uplinks, uplink_gbps): (f64, f64)) -> f64 {
    (hosts * host_gbps) / (uplinks * uplink_gbps)
}
