//! Levels of a feedback queue: a flow begins in the first level and is demoted as it sends; lower levels go first, and
//! those of one level share (Bai et al., Information-Agnostic Flow Scheduling for Commodity Data Centers, NSDI 2015,
//! section 4).
//!
//! Least attained service is the same with a level for each number of bytes (Rai, Urvoy-Keller, Biersack, Analysis of
//! LAS Scheduling for Job Size Distributions with High Variance, SIGMETRICS 2003). Here a flow then shares with those
//! that have sent up to twice as much.

use super::Step;
use crate::levels::MOST_LEVELS;

/// When flows are demoted.
#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// Bits that a flow has sent when it is demoted, ascending: from the first to the second level, and so on.
    thresholds: Vec<f64>,
}

impl Feedback {
    /// Demoted at these numbers of bits, ascending and above zero; at no more than 63.
    ///
    /// # Panics
    /// If they are not so.
    pub fn at(thresholds: Vec<f64>) -> Feedback {
        assert!(thresholds.len() < MOST_LEVELS, "there are {MOST_LEVELS} levels at most");
        assert!(thresholds.windows(2).all(|two| two[0] < two[1]), "thresholds ascend: {thresholds:?}");
        assert!(thresholds.first().is_none_or(|&first| first > 0.0), "a flow begins in the first level");
        Feedback { thresholds }
    }

    /// Least attained service: demoted whenever a flow has sent twice as much as before, from so many bits on.
    pub fn least_attained(first: f64) -> Feedback {
        let doubled = (0..40).map(|times| first * f64::from(times).exp2());
        Feedback::at(doubled.collect())
    }

    pub(super) fn steps(&self) -> Vec<Step> {
        let from = std::iter::once(0.0).chain(self.thresholds.iter().copied());
        from.zip(0u8..).map(|(from, level)| Step { from, level, weight: 1.0 }).collect()
    }
}
