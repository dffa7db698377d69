//! Judging a claim: what its operation or its function finds becomes a judgement.

use crate::case::Case;
use crate::catalogue::Claim;
use crate::evidence::Evidence;
use crate::expected::Expected;
use crate::finding::conclude;
use crate::judgement::{Judgement, Verdict};
use crate::{functions, order, ratio, shape, value};

/// Judges a claim. `verdict_on` gives the verdicts on other claims, for claims that have parts.
pub fn judge(claim: &Claim, evidence: &dyn Evidence, verdict_on: &dyn Fn(&str) -> Option<Verdict>) -> Judgement {
    let case = Case { claim, evidence, verdict_on };
    let found = match &claim.expected {
        Expected::Value(expected) => value::find(&case, expected),
        Expected::Ratio(expected) => ratio::find(&case, expected),
        Expected::Order(expected) => order::find(&case, expected),
        Expected::Shape(expected) => shape::find(&case, expected),
        Expected::Function(expected) => match functions::find(&expected.name) {
            Some(function) => function(&case),
            None => Err(format!("there is no function `{}`", expected.name)),
        },
    };
    conclude(claim, found)
}
