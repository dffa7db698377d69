//! Closed forms and hand examples: the published numbers against arithmetic, or against what was computed.

use super::verdict::{Found, Limit, Number};
use super::{Claim, Evidence, ExpectedExact, OneOrMany, arithmetic, scope};

pub(crate) fn find(claim: &Claim, expected: &ExpectedExact, evidence: &dyn Evidence) -> Result<Found, String> {
    let published = expected.value.as_slice();
    let (values, source) = match computed(claim, published.len(), evidence) {
        Ok(values) => (values, "what was computed"),
        Err(reason) => match &expected.formula {
            Some(formula) => (by_formula(expected, formula)?, "the formula alone"),
            None => return Err(reason),
        },
    };
    if values.len() != published.len() {
        return Err(format!("{} numbers cannot be compared with {} published ones", values.len(), published.len()));
    }
    let rel_err = |band: Option<f64>| band.unwrap_or(0.0);
    let (near, wide) = (rel_err(claim.tolerance.reproduced.rel_err), rel_err(claim.tolerance.partly.rel_err));
    let mut found = Found { remarks: vec![format!("by {source}")], ..Found::default() };
    for (at, (&value, &published)) in values.iter().zip(published).enumerate() {
        let name = match expected.items.get(at) {
            Some(item) => format!("the {} of {item}", claim.metric),
            None if values.len() > 1 => format!("the {}, number {},", claim.metric, at + 1),
            None => format!("the {}", claim.metric),
        };
        found.numbers.push(Number { name, value, interval: None });
        let limit = |error: f64| {
            let width = error * published.abs();
            Limit::new(at, Some(published - width), Some(published + width))
        };
        found.reproduced.push(limit(near));
        found.partly.push(limit(wide));
    }
    Ok(found)
}

/// What the evidence says: one sample, or a series for several numbers.
fn computed(claim: &Claim, count: usize, evidence: &dyn Evidence) -> Result<Vec<f64>, String> {
    let places = scope::select(claim, evidence.places(), &[]);
    let Some(&place) = places.first() else {
        return Err(format!("{} of {} has not been computed", claim.metric, claim.subject));
    };
    if count == 1 {
        return evidence.sample(&claim.subject, place, &claim.metric).map(|sample| vec![sample.value]);
    }
    let series = evidence.series(&claim.subject, place, &claim.metric)?;
    Ok(series.into_iter().map(|(_, value)| value).collect())
}

fn by_formula(expected: &ExpectedExact, formula: &OneOrMany<String>) -> Result<Vec<f64>, String> {
    formula.as_slice().iter().map(|text| arithmetic::evaluate(text, &expected.given)).collect()
}
