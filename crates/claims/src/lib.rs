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
//! the same seeds, which saw the same flows. Shares of an order, shapes and tables: the bootstrap over seeds. A number
//! that rests on a percentile with too few flows above it has no interval, and its claim is at most partly reproduced.
//!
//! **Verdicts.** A number with its whole interval inside the bounds of `reproduced` is reproduced; one whose interval
//! crosses a bound is partly; else the same with the bounds of `partly`; else it is not reproduced. What has several
//! numbers is as good as the worst of them.

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
pub use listing::{Filter, Line, Listing, Runnable};
pub use published::published;
pub use scoreboard::{scoreboard_html, scoreboard_markdown};
pub use standing::{Standing, StudyStanding};
pub use stored::{ClaimsError, SCALES, Stored};
