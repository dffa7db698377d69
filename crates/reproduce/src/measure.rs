//! How a quantity of a claim is measured: which statistic of which flows, or what is computed from it.

use serde::Deserialize;
use tailcut_results::ALL;

use crate::throughput::Convergence;

/// How a quantity is measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureDefinition {
    /// A statistic, as in `summary.csv`.
    #[serde(default)]
    pub metric: Option<String>,
    /// The traffic class that it is about.
    #[serde(default = "all")]
    pub class: String,
    /// Divided by this quantity.
    #[serde(default)]
    pub over: Option<Box<MeasureDefinition>>,
    /// One less the value: the share that is missing.
    #[serde(default)]
    pub complement: bool,
    /// Times this, after everything else: a change of units.
    #[serde(default)]
    pub times: Option<f64>,
    /// The time until the throughput of the class is that of its fair share.
    #[serde(default)]
    pub convergence: Option<Convergence>,
    /// A function of [`crate::analytic`] that computes it without a simulation.
    #[serde(default)]
    pub function: Option<String>,
    /// The throughput of the class over time, in Gb/s.
    #[serde(default)]
    pub throughput: bool,
}

fn all() -> String {
    ALL.to_owned()
}
