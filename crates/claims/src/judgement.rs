//! The verdict on a claim, with what it rests on.

use std::fmt;

use serde::{Deserialize, Serialize};
use tailcut_results::number::significant;

use crate::catalogue::Claim;
use crate::published::published;

/// What measurements say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    /// The effect is there and larger than published: a number is beyond the limits for `reproduced` on the side of the
    /// effect, with its whole interval.
    #[serde(rename = "reproduced, stronger")]
    Stronger,
    /// The numbers keep the claim's limits for `reproduced`, with their whole intervals.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// The numbers keep the wider limits for `partly` with their whole intervals, but not those for `reproduced`.
    #[serde(rename = "partly")]
    Partly,
    /// An interval reaches over a limit: more seeds may decide.
    #[serde(rename = "undecided")]
    Undecided,
    /// A number is outside of the limits for `partly` with its whole interval.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// Nothing was measured that the claim could be judged by.
    #[serde(rename = "not run")]
    NotRun,
}

impl Verdict {
    /// How many there are.
    pub const COUNT: usize = 6;

    /// All of them, the best first.
    pub const ALL: [Verdict; Verdict::COUNT] = [
        Verdict::Stronger,
        Verdict::Reproduced,
        Verdict::Partly,
        Verdict::Undecided,
        Verdict::NotReproduced,
        Verdict::NotRun,
    ];

    /// Whether the claim is reproduced, as published or stronger.
    pub fn is_reproduced(self) -> bool {
        matches!(self, Verdict::Reproduced | Verdict::Stronger)
    }

    /// Its name as one word, for the command line: `not-reproduced`.
    pub fn word(self) -> String {
        self.name().replace(", ", "-").replace(' ', "-")
    }

    /// Its name in files and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Stronger => "reproduced, stronger",
            Verdict::Reproduced => "reproduced",
            Verdict::Partly => "partly",
            Verdict::Undecided => "undecided",
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
    /// That a claim is not run, for this reason: a sentence without its end.
    pub fn not_run(claim: &Claim, reason: &str) -> Judgement {
        Judgement {
            id: claim.id.clone(),
            verdict: Verdict::NotRun,
            published: published(claim),
            measured: None,
            low: None,
            high: None,
            reason: format!("{reason}."),
        }
    }

    /// What was measured in another setting than the published one, which differs in this: no verdict on the claim.
    #[must_use]
    pub fn of_changed_setting(self, differences: &str) -> Judgement {
        let reason = match self.measured {
            Some(_) => format!("The setting is not that of the claim: {differences}."),
            None => format!("The setting is not that of the claim: {differences}; {}", self.reason),
        };
        Judgement { verdict: Verdict::NotRun, reason, ..self }
    }

    /// The verdict in words. Where there is a measured number and no verdict, the setting was changed.
    pub fn verdict_text(&self) -> &'static str {
        match (self.verdict, self.measured) {
            (Verdict::NotRun, Some(_)) => "changed setting",
            (verdict, _) => verdict.name(),
        }
    }

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
