//! What an operation or a function that judges a claim is given, and what it returns.

use crate::catalogue::Claim;
use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::judgement::Verdict;

/// A claim with everything that may be known about it.
pub(crate) struct Case<'a> {
    /// The claim.
    pub(crate) claim: &'a Claim,
    /// What was measured.
    pub(crate) evidence: &'a dyn Evidence,
    /// The verdict on another claim, if there is one.
    pub(crate) verdict_on: &'a dyn Fn(&str) -> Option<Verdict>,
}

/// What was found out about a claim, or why nothing could be.
pub(crate) type Outcome = Result<Finding, String>;

/// A function that judges a claim.
pub(crate) type Check = fn(&Case<'_>) -> Outcome;
