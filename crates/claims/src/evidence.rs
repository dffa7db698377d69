//! What was measured, as claims ask for it.

use std::collections::BTreeMap;
use std::fmt;

use tailcut_results::stats::Interval;

/// A value of a coordinate of a sweep.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Coordinate {
    /// A number: a load is a fraction.
    Number(f64),
    /// A name: of a workload, of a topology.
    Text(String),
}

impl Coordinate {
    /// A number if the text is one, else a name.
    pub(crate) fn of(text: &str) -> Coordinate {
        text.parse().map_or_else(|_| Coordinate::Text(text.to_owned()), Coordinate::Number)
    }

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

/// A sweep point: coordinates by the names that claims use, as `load`, `incast_degree`, `ecn_threshold`, `workload`.
pub type SweepPoint = BTreeMap<String, Coordinate>;

/// A quantity measured for one subject at one sweep point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Its value over all seeds.
    pub value: f64,
    /// The interval of that value, used where single seeds do not give one.
    pub interval: Option<Interval>,
    /// What each seed contributes to it, as its pseudo-value ([`tailcut_results::stats::Estimate::pseudo_values`]): of
    /// a mean that of the seed. Empty if it does not depend on a seed.
    pub by_seed: Vec<(u64, f64)>,
    /// Number of flows or packets that it was counted over.
    pub n: u64,
    /// What the value needs to be read with.
    pub note: Option<String>,
    /// Whether too few samples lie beyond the percentile for an interval of anything that is made of it.
    pub thin: bool,
}

impl Sample {
    /// A number that does not depend on a seed.
    pub fn exact(value: f64) -> Sample {
        Sample { value, ..Sample::default() }
    }
}

/// What was measured.
pub trait Evidence {
    /// The sweep points that were measured.
    fn sweep_points(&self) -> &[SweepPoint];

    /// A quantity of `subject` at the sweep point with this index. Subject and metric are as the claim writes them:
    /// "slytherin", "pias@unlimited"; "p99 FCT of short flows".
    ///
    /// # Errors
    /// If there is none, with the reason in a few words.
    fn sample(&self, subject: &str, point: usize, metric: &str) -> Result<Sample, String>;

    /// A quantity that has an x of its own, as time: pairs of x and value.
    ///
    /// # Errors
    /// If there is none, with the reason in a few words.
    fn series(&self, subject: &str, point: usize, metric: &str) -> Result<Vec<(f64, f64)>, String>;
}

/// No measurements at all: claims about arithmetic can be judged all the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvidence;

impl Evidence for NoEvidence {
    fn sweep_points(&self) -> &[SweepPoint] {
        &[]
    }

    fn sample(&self, _: &str, _: usize, _: &str) -> Result<Sample, String> {
        Err("nothing was measured".into())
    }

    fn series(&self, _: &str, _: usize, _: &str) -> Result<Vec<(f64, f64)>, String> {
        Err("nothing was measured".into())
    }
}
