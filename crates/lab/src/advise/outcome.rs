//! What a search came to.

use tailcut_base::Bytes;
use tailcut_results::Axis;
use tailcut_results::stats::Estimate;

use super::judge::Worse;
use super::search::{Found, Verdict};
use super::target::Target;
use super::{BufferQuery, Design};
use crate::runner::RunReport;

/// The answer to a [`BufferQuery`].
#[derive(Debug)]
pub struct Advice {
    /// The key that was searched.
    pub key: String,
    /// The key of the marking threshold, if it was searched too. It is then the last of the values of each answer.
    pub marking: Option<String>,
    /// The parameters that the scenario itself sweeps.
    pub axes: Vec<Axis>,
    /// What was to be kept.
    pub keep: Vec<Target>,
    /// The smallest size that might be tried.
    pub from: Bytes,
    /// The largest size that might be tried.
    pub to: Bytes,
    /// All sizes are multiples of it.
    pub step: Bytes,
    /// How narrow the gap below the answer was to be, as a share of its lower end.
    pub within: f64,
    /// By which share of a limit a larger buffer might be worse.
    pub tolerance: f64,
    /// Numbers of seeds after which the intervals were looked at.
    pub looks: Vec<usize>,
    /// An answer for each scheme at each combination of swept values and, if they are searched, marking thresholds.
    pub answers: Vec<Answer>,
    /// The run with every size that was tried.
    pub run: RunReport,
}

/// The answer for one scheme at one combination of swept values.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The scheme.
    pub scheme: String,
    /// The swept values, as they are written; the marking threshold is the last one, if it is searched.
    pub values: Vec<String>,
    /// What the search came to.
    pub outcome: Outcome,
    /// Every size that was tried, ascending.
    pub tried: Vec<SizeTried>,
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The smallest size that keeps the targets, as far as was tried.
    Smallest {
        /// It.
        size: Bytes,
        /// The largest size below it that does not keep them, if one was shown not to.
        not_kept: Option<Bytes>,
        /// The smallest and the largest size between these two of which neither could be shown.
        undecided: Option<(Bytes, Bytes)>,
    },
    /// Not even the largest size keeps them.
    NoneKeeps,
    /// No size was shown to keep them, and the largest was not shown not to.
    Undecided,
    /// A larger buffer is worse than a smaller one.
    NotMonotone {
        /// The clearest case, if one metric is worse.
        worse: Option<Worse>,
        /// A size that keeps the targets and a larger one that does not, if there are such.
        reversal: Option<(Bytes, Bytes)>,
    },
    /// A simulation failed: why.
    Failed(String),
}

/// What a size was found to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriedVerdict {
    /// It keeps every target.
    Kept,
    /// It does not keep some target.
    NotKept,
    /// Neither could be shown.
    Undecided,
}

/// A size that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTried {
    /// The size.
    pub size: Bytes,
    /// How many seeds it was run with.
    pub seeds: usize,
    /// The metric of each target, in its unit; `None` without samples.
    pub metrics: Vec<Option<Estimate>>,
    /// What it was found to do.
    pub verdict: TriedVerdict,
    /// Why nothing could be shown.
    pub note: Option<String>,
    /// Whether nothing could be shown and more seeds would not help.
    pub is_obstructed: bool,
}

impl Answer {
    /// The size that is advised, if there is one.
    pub fn size(&self) -> Option<Bytes> {
        match self.outcome {
            Outcome::Smallest { size, .. } => Some(size),
            _ => None,
        }
    }

    /// What was tried at a size.
    pub(super) fn at(&self, size: Bytes) -> Option<&SizeTried> {
        self.tried.iter().find(|tried| tried.size == size)
    }
}

impl Advice {
    /// Whether some scheme at some combination of swept values has no answer. Of several marking thresholds one with an
    /// answer suffices.
    pub fn is_incomplete(&self) -> bool {
        self.groups().iter().any(|group| group.iter().all(|answer| answer.size().is_none()))
    }

    /// The answers of each scheme and combination of the scenario's own swept values: one, or one for each marking
    /// threshold.
    pub(super) fn groups(&self) -> Vec<Vec<&Answer>> {
        let mut groups: Vec<Vec<&Answer>> = Vec::new();
        let place = |answer: &Answer| (answer.scheme.clone(), answer.values[..self.axes.len()].to_vec());
        for answer in &self.answers {
            match groups.iter_mut().find(|group| place(group[0]) == place(answer)) {
                Some(group) => group.push(answer),
                None => groups.push(vec![answer]),
            }
        }
        groups
    }
}

/// The answer of a search that is over.
pub(super) fn answer(design: &Design, query: &BufferQuery) -> Answer {
    let found = design.search.found();
    let outcome = match (&design.failed, &design.worse, found) {
        (Some(reason), ..) => Outcome::Failed(reason.clone()),
        (None, worse, Found::NotMonotone { kept, not_kept }) => {
            Outcome::NotMonotone { worse: worse.clone(), reversal: Some((Bytes(kept), Bytes(not_kept))) }
        }
        (None, Some(worse), _) => Outcome::NotMonotone { worse: Some(worse.clone()), reversal: None },
        (None, None, Found::Smallest { size, not_kept, open }) => Outcome::Smallest {
            size: Bytes(size),
            not_kept: not_kept.map(Bytes),
            undecided: open.map(|(first, last)| (Bytes(first), Bytes(last))),
        },
        (None, None, Found::None) => Outcome::NoneKeeps,
        (None, None, Found::Open) => Outcome::Undecided,
    };
    let tried = design.sizes.iter().filter_map(|(&size, at)| {
        let (seeds, measured) = at.looks.last()?;
        let judgement = at.judgement.as_ref()?;
        Some(SizeTried {
            size: Bytes(size),
            seeds: *seeds,
            metrics: measured.iter().map(|measured| measured.estimate.clone()).collect(),
            verdict: match judgement.verdict {
                Verdict::Kept => TriedVerdict::Kept,
                Verdict::NotKept => TriedVerdict::NotKept,
                Verdict::Open => TriedVerdict::Undecided,
            },
            note: judgement.obstacle.clone().or_else(|| judgement.reason.clone()),
            is_obstructed: judgement.obstacle.is_some(),
        })
    });
    let tried: Vec<SizeTried> = tried.collect();
    debug_assert!(tried.iter().all(|tried| tried.metrics.len() == query.keep.len()));
    Answer { scheme: design.scheme.clone(), values: design.values.clone(), outcome, tried }
}
