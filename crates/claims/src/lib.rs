//! What documents claim, and what measurements say of it.
//!
//! [`catalogue`] holds the claims. [`judge`] compares one with [`Evidence`] and gives a [`Judgement`], which is the only
//! way in which a verdict comes to be. [`Stored`] keeps judgements in files, and [`Listing`] shows those of all claims.
//!
//! **Intervals.** Every number that decides has a 95 % interval if there are two seeds or more. Ratios and values:
//! delete-one jackknife over the seeds with Student's t, ratios by their logarithm; a ratio takes both its sides from the
//! same seeds, which saw the same flows. Shares of an order, shapes and tables: the middle 95 % of resamples of the seeds.
//! A statistic of a resample is the one over all seeds, moved as the mean of the single seeds moves.
//!
//! **Verdicts.** A number with its whole interval inside the band of `reproduced` is reproduced; one whose interval crosses
//! a bound is partly; else the same with the band of `partly`; else it is not reproduced. What has several numbers is as
//! good as the worst of them.

mod arithmetic;
mod catalogue;
mod exact;
mod expected;
mod gather;
mod listing;
mod order;
mod published;
mod ratio;
mod resample;
mod scope;
mod scoreboard;
mod shape;
mod stored;
mod table;
mod value;
mod verdict;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use catalogue::*;
pub use expected::*;
pub use listing::{Filter, Line, Listing, Runnable};
pub use published::published;
pub use scoreboard::{scoreboard_html, scoreboard_markdown};
pub use stored::{ClaimsError, SCALES, Stored};

use tailcut_results::number::significant;
use tailcut_results::stats::Interval;
use verdict::Found;

/// A value of a coordinate of a sweep.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Coordinate {
    /// A number: a load is a fraction.
    Number(f64),
    /// A name: of a workload, of a topology.
    Text(String),
}

impl Coordinate {
    /// Whether two are the same, numbers up to rounding.
    pub(crate) fn is(&self, other: &Coordinate) -> bool {
        match (self, other) {
            (Coordinate::Number(a), Coordinate::Number(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
            (a, b) => a == b,
        }
    }
}

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coordinate::Number(number) => write!(f, "{number}"),
            Coordinate::Text(text) => f.write_str(text),
        }
    }
}

/// One place of a sweep: coordinates by the names that claims use, as `load`, `incast_degree`, `ecn_threshold`,
/// `workload`.
pub type Place = BTreeMap<String, Coordinate>;

/// A quantity measured for one subject at one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Its value over all seeds.
    pub value: f64,
    /// The interval of that value, used where single seeds do not give one.
    pub interval: Option<Interval>,
    /// The same of each seed alone. Empty if there is no chance in it.
    pub by_seed: Vec<(u64, f64)>,
    /// What it was counted over: flows, packets.
    pub n: u64,
    /// What the value needs to be read with.
    pub note: Option<String>,
}

impl Sample {
    /// A number without chance in it.
    pub fn exact(value: f64) -> Sample {
        Sample { value, ..Sample::default() }
    }
}

/// What was measured.
pub trait Evidence {
    /// The places of the sweep.
    fn places(&self) -> &[Place];

    /// A quantity of `subject` at the place with this index. Subject and metric are as the claim writes them: "slytherin",
    /// "pias@unlimited"; "p99 FCT of short flows".
    ///
    /// # Errors
    /// If there is none, with the reason in a few words.
    fn sample(&self, subject: &str, place: usize, metric: &str) -> Result<Sample, String>;

    /// A quantity that has an x of its own, as time: points of x and value.
    ///
    /// # Errors
    /// If there is none, with the reason in a few words.
    fn series(&self, subject: &str, place: usize, metric: &str) -> Result<Vec<(f64, f64)>, String>;
}

/// No measurements at all: claims about arithmetic can be judged all the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvidence;

impl Evidence for NoEvidence {
    fn places(&self) -> &[Place] {
        &[]
    }

    fn sample(&self, _: &str, _: usize, _: &str) -> Result<Sample, String> {
        Err("nothing was measured".into())
    }

    fn series(&self, _: &str, _: usize, _: &str) -> Result<Vec<(f64, f64)>, String> {
        Err("nothing was measured".into())
    }
}

/// What measurements say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    /// As near as the claim's tolerance asks.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// Of the same kind but not as near, or not sure.
    #[serde(rename = "partly")]
    Partly,
    /// Neither.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// Not judged.
    #[serde(rename = "not run")]
    NotRun,
}

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Verdict; 4] = [Verdict::Reproduced, Verdict::Partly, Verdict::NotReproduced, Verdict::NotRun];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Partly => "partly",
            Verdict::NotReproduced => "not reproduced",
            Verdict::NotRun => "not run",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The verdict on a claim, with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// Name of the claim.
    pub id: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What the document says: a number, or `qualitative`.
    pub published: String,
    /// The number that decided: of several, the worst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// Lower end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Why, in one sentence.
    pub reason: String,
}

impl Judgement {
    /// The measured number with its interval, as `0.82 [0.79, 0.85]`; a dash without one.
    pub fn measured_text(&self) -> String {
        let Some(value) = self.measured else { return "-".into() };
        let text = significant(value, 3);
        match (self.low, self.high) {
            (Some(low), Some(high)) => format!("{text} [{}, {}]", significant(low, 3), significant(high, 3)),
            _ => text,
        }
    }
}

/// Judges a claim. `others` gives the verdicts on other claims, for claims that are made of them.
pub fn judge(claim: &Claim, evidence: &dyn Evidence, others: &dyn Fn(&str) -> Option<Verdict>) -> Judgement {
    let found: Result<Found, String> = match &claim.expected {
        Expected::Value(expected) => value::find(claim, expected, evidence),
        Expected::Ratio(expected) => ratio::find(claim, expected, evidence),
        Expected::Order(expected) => order::find(claim, expected, evidence),
        Expected::AllOrders(expected) => order::find_all(claim, expected, evidence),
        Expected::Shape(expected) => shape::find(claim, expected, evidence),
        Expected::Table(expected) => table::find(claim, expected, evidence),
        Expected::Exact(expected) => exact::find(claim, expected, evidence),
        Expected::Invariant(_) => value::find_invariant(claim, evidence),
        Expected::All(expected) => verdict::find_parts(claim, expected, others),
    };
    verdict::conclude(claim, found)
}
