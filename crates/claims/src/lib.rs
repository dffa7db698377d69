//! What documents claim, and what measurements say of it.
//!
//! [`catalogue`] holds the claims. [`judge`] compares one with [`Evidence`] and gives a [`Judgement`], which is the
//! only way in which a verdict comes to be. [`Stored`] keeps judgements in files, and [`Listing`] shows those of all
//! claims.
//!
//! **Operations and functions.** What a claim expects is said in a small language of four operations: a value, a ratio,
//! an order and a shape. A claim that needs anything else names a function of `functions/`. Both get the claim and the
//! evidence, and return numbers with the bounds that they have to keep.
//!
//! **Intervals** are those of [`tailcut_results::stats`]. A value has the interval that tables show. Ratios and what is
//! made of several values: the jackknife over the seeds, ratios by their logarithm; a ratio takes both its sides from
//! the same seeds, which saw the same flows. Shapes and tables: the bootstrap over seeds. Of an order each comparison
//! is for it, against it or unclear, by the jackknife of the difference of its two sides; the interval of their share
//! is from none to all of the unclear ones. What is counted, and a maximum, has no interval.
//!
//! **Verdicts.** A number with its whole interval inside the bounds of `reproduced` is reproduced, else one with its
//! whole interval inside those of `partly` is partly; one whose interval is outside of both is not reproduced. If the
//! interval crosses a bound that matters, or if a percentile has too few flows above it for one, the claim is
//! undecided. What has several numbers is as good as the worst of them: each pair of an order and each quantity has its
//! own. A ratio whose whole interval is beyond the published effect is reproduced, stronger. Where the sentence allows
//! no exception (`invariant`), what was observed decides: a single counterexample refutes it, and nothing is partly.

mod case;
mod catalogue;
mod curves;
mod evidence;
mod expected;
mod finding;
mod functions;
mod judge;
mod judgement;
mod listing;
mod order;
mod published;
mod ratio;
mod readings;
mod samples;
mod scope;
mod scoreboard;
mod shape;
mod standing;
mod stored;
mod value;

#[cfg(test)]
mod tests;

pub use catalogue::*;
pub use evidence::{Coordinate, Evidence, NoEvidence, Sample, SweepPoint};
pub use expected::*;
pub use judge::judge;
pub use judgement::{Judgement, Verdict};
pub use listing::{Filter, Line, Listing, Runnable, Test};
pub use published::published;
pub use readings::{ReadJudgement, ReadingEffect, ReadingResults, Share, UnderReadings};
pub use scoreboard::{scoreboard_html, scoreboard_markdown};
pub use standing::{Standing, StudyStanding};
pub use stored::{ClaimsError, SCALES, Stored};
