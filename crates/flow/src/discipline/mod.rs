//! Who gets which rate.
//!
//! Two kinds: in one, flows share links in levels, by steps that a flow enters as it sends; in the other, each flow has
//! its place in one order.

mod criticality;
mod feedback;
mod max_min;
mod size_classes;
mod weighted;

pub use criticality::{Criticality, Order};
pub use feedback::Feedback;
pub use size_classes::SizeClasses;
pub use weighted::Weighted;

/// What a scheme does with the rates of its flows.
#[derive(Clone, Debug, PartialEq)]
pub enum Discipline {
    /// Max-min fair shares.
    MaxMin,
    /// Max-min fair shares of weights that fall as a flow sends.
    Weighted(Weighted),
    /// Levels of a feedback queue: a flow is demoted as it sends, and lower levels go first.
    Feedback(Feedback),
    /// Levels by the size of a flow.
    SizeClasses(SizeClasses),
    /// Strict priority by criticality.
    Criticality(Criticality),
}

/// From so many bits on a flow has this level and this weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// Bits that it has sent.
    pub(crate) from: f64,
    pub(crate) level: u8,
    pub(crate) weight: f64,
}

impl Discipline {
    /// Whether it serves one flow after the other, and how.
    pub(crate) fn criticality(&self) -> Option<Criticality> {
        match self {
            Discipline::Criticality(criticality) => Some(*criticality),
            _ => None,
        }
    }

    /// The steps of all flows, in order; the first from 0 bits on.
    pub(crate) fn steps(&self) -> Vec<Step> {
        match self {
            Discipline::MaxMin | Discipline::SizeClasses(_) | Discipline::Criticality(_) => max_min::steps(),
            Discipline::Weighted(weighted) => weighted.steps(),
            Discipline::Feedback(feedback) => feedback.steps(),
        }
    }

    /// The level of a flow of this size in bits, if its size decides that.
    pub(crate) fn level_of_size(&self, size: f64) -> Option<u8> {
        match self {
            Discipline::SizeClasses(classes) => Some(classes.level(size)),
            _ => None,
        }
    }
}
