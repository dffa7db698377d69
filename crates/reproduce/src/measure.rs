//! How a quantity of a claim is measured: which statistic of which flows, or what is computed from it.

use std::collections::BTreeMap;

use serde::Deserialize;
use tailcut_results::ALL;

use crate::flows::FlowQuantity;
use crate::largest::Largest;
use crate::throughput::Convergence;

/// How a quantity is measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureDefinition {
    /// A statistic, as in `summary.csv`.
    #[serde(default)]
    pub metric: Option<String>,
    /// What is taken from the single flows, in place of a statistic.
    #[serde(default)]
    pub flows: Option<FlowQuantity>,
    /// The traffic class that it is about.
    #[serde(default = "all")]
    pub class: String,
    /// Values of swept parameters, by path, at which it is measured, whatever those of the sweep point are.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
    /// The quantity is the largest value of a swept parameter up to which the statistic is large enough.
    #[serde(default)]
    pub largest: Option<Largest>,
    /// The statistic is divided by this quantity, if there is one.
    #[serde(default)]
    pub over: Option<Box<MeasureDefinition>>,
    /// Whether the quantity is one less the statistic: the share that is missing.
    #[serde(default)]
    pub complement: bool,
    /// The result of everything else is multiplied by this, to change its unit.
    #[serde(default)]
    pub times: Option<f64>,
    /// Added before the logarithm of the statistic is taken for the effects of factors: 1 for counts, which may be 0.
    #[serde(default)]
    pub plus: f64,
    /// The quantity is the time until the throughput of the class has reached its fair share.
    #[serde(default)]
    pub convergence: Option<Convergence>,
    /// The quantity is computed without a simulation, by the function of this name in `analytic/`.
    #[serde(default)]
    pub function: Option<String>,
    /// Which of the values of the function it is, counted from 1, if there are several.
    #[serde(default)]
    pub nth: Option<usize>,
    /// Whether the quantity is the throughput of the class over time, in Gb/s.
    #[serde(default)]
    pub throughput: bool,
    /// For claims about the throughput over time only the bins count that begin in this time, in µs: `[20000, 90000]`.
    #[serde(default)]
    pub between_us: Option<(f64, f64)>,
}

fn all() -> String {
    ALL.to_owned()
}
