//! How a quantity of a claim is measured: which statistic of which flows, or what is computed from it.

use serde::Deserialize;

use super::analytic::Analytic;
use tailcut_results::ALL;

/// A quantity.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// A statistic, as in `summary.csv`.
    #[serde(default)]
    pub metric: Option<String>,
    /// The traffic class that it is about.
    #[serde(default = "all")]
    pub class: String,
    /// Divided by this quantity.
    #[serde(default)]
    pub over: Option<Box<Measure>>,
    /// One less the value: the share that is missing.
    #[serde(default)]
    pub complement: bool,
    /// Times this, after everything else: a change of units.
    #[serde(default)]
    pub times: Option<f64>,
    /// The time until the throughput of the class is that of its fair share.
    #[serde(default)]
    pub convergence: Option<Convergence>,
    /// What follows without a simulation.
    #[serde(default)]
    pub analytic: Option<Analytic>,
    /// The throughput of the class over time, in Gb/s.
    #[serde(default)]
    pub throughput: bool,
}

fn all() -> String {
    ALL.to_owned()
}

/// When a throughput has reached its fair share: at the first of `bins` in a row that lie within `within` of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convergence {
    /// The fair share in Gb/s.
    pub share_gbps: f64,
    /// Relative distance from it that counts as reached.
    pub within: f64,
    /// Bins in a row for which it must hold.
    pub bins: usize,
    /// When the flows that compete begin, in µs after the start.
    pub from_us: f64,
}
