//! Quantities that follow from distributions, thresholds or the scenario alone: nothing is simulated for them.
//!
//! A study names the function that computes such a quantity: `"pause between packets" = { function =
//! "pause_between_packets" }`. To add one: write it in the file of its document, and add it to the list at the top of
//! that file.

mod configuration;
mod hyline;
mod icon;
mod pdq;
mod spq;
mod superways;

use tailcut_claims::SweepPoint;

/// Where a quantity is computed.
pub(crate) struct Context<'a> {
    /// What it is computed of, by the claims' name.
    pub(crate) subject: &'a str,
    /// The sweep point.
    pub(crate) point: &'a SweepPoint,
    /// The text of the scenario, spelled out.
    pub(crate) scenario: &'a str,
}

/// What was computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Computed {
    /// One value, or several that the document numbers from 1 on.
    pub(crate) values: Vec<f64>,
    /// What they need to be read with.
    pub(crate) note: Option<String>,
}

impl Computed {
    /// One value.
    fn one(value: f64) -> Computed {
        Computed::several([value])
    }

    /// Several values.
    fn several(values: impl Into<Vec<f64>>) -> Computed {
        Computed { values: values.into(), note: None }
    }
}

/// A function that computes a quantity, or says why it cannot.
pub(crate) type Function = fn(&Context<'_>) -> Result<Computed, String>;

/// Every function by its name, document by document.
const FUNCTIONS: &[&[(&str, Function)]] =
    &[spq::FUNCTIONS, hyline::FUNCTIONS, icon::FUNCTIONS, pdq::FUNCTIONS, superways::FUNCTIONS];

/// The function of this name.
///
/// # Errors
/// If there is none.
pub(crate) fn find(name: &str) -> Result<Function, String> {
    let found = FUNCTIONS.iter().copied().flatten().find(|(known, _)| *known == name);
    found.map(|(_, function)| *function).ok_or_else(|| format!("there is no function `{name}`"))
}

/// The names of all functions.
#[cfg(test)]
pub(crate) fn names() -> Vec<&'static str> {
    FUNCTIONS.iter().copied().flatten().map(|(name, _)| *name).collect()
}
