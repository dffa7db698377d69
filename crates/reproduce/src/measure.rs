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
    /// The statistic is divided by this quantity, if there is one.
    #[serde(default)]
    pub over: Option<Box<MeasureDefinition>>,
    /// Whether the quantity is one less the statistic: the share that is missing.
    #[serde(default)]
    pub complement: bool,
    /// The result of everything else is multiplied by this, to change its unit.
    #[serde(default)]
    pub times: Option<f64>,
    /// The quantity is the time until the throughput of the class has reached its fair share.
    #[serde(default)]
    pub convergence: Option<Convergence>,
    /// The quantity is computed without a simulation, by the function of this name in `analytic/`.
    #[serde(default)]
    pub function: Option<String>,
    /// Whether the quantity is the throughput of the class over time, in Gb/s.
    #[serde(default)]
    pub throughput: bool,
}

fn all() -> String {
    ALL.to_owned()
}
