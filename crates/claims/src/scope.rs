//! Which sweep points count for a claim, and how many there should be.

use std::collections::BTreeMap;

use crate::catalogue::{Claim, catalogue};
use crate::evidence::{Coordinate, SweepPoint};

/// The coordinate that a key of a claim's scenario restricts.
fn coordinate_of(key: &str) -> &str {
    match key {
        "loads" | "loads_assumed" => "load",
        "workloads" => "workload",
        "incast_degrees" => "incast_degree",
        "ecn_thresholds" => "ecn_threshold",
        "loss_rates" => "loss_rate",
        "deadline_factors" => "deadline_factor",
        "sizes_kb" => "size_kb",
        "thresholds_bytes" => "threshold_bytes",
        other => other,
    }
}

/// A value of a scenario as a coordinate; `None` for a description in words, which restricts nothing.
fn coordinate(value: &toml::Value) -> Option<Coordinate> {
    match value {
        toml::Value::Integer(number) => Some(Coordinate::Number(*number as f64)),
        toml::Value::Float(number) => Some(Coordinate::Number(*number)),
        toml::Value::String(text) if !text.contains(' ') => Some(Coordinate::Text(text.clone())),
        _ => None,
    }
}

fn coordinates(value: &toml::Value) -> Vec<Coordinate> {
    match value {
        toml::Value::Array(values) => values.iter().filter_map(coordinate).collect(),
        value => coordinate(value).into_iter().collect(),
    }
}

/// The values that a claim allows for each coordinate that it restricts.
fn allowed(claim: &Claim) -> BTreeMap<&str, Vec<Coordinate>> {
    let all = claim.scenario.values.iter().map(|(key, value)| (coordinate_of(key), coordinates(value)));
    all.filter(|(_, values)| !values.is_empty()).collect()
}

/// Number of values that the claim's scenario lists for a coordinate that is always swept.
fn listed(claim: &Claim, name: &str) -> usize {
    let Some(scenario) = catalogue().scenario(&claim.scenario.scenario) else { return 0 };
    let keys: &[&str] = match name {
        "load" => &["loads", "loads_assumed"],
        "workload" => &["workloads"],
        _ => &[],
    };
    keys.iter().find_map(|key| scenario.parameters.get(*key)).map_or(0, |value| coordinates(value).len())
}

/// Indices of the sweep points that count for the claim. The coordinates in `free` are not looked at.
pub(crate) fn select(claim: &Claim, points: &[SweepPoint], free: &[&str]) -> Vec<usize> {
    let allowed = allowed(claim);
    let counts = |point: &SweepPoint| {
        allowed.iter().filter(|(name, _)| !free.contains(name)).all(|(name, values)| {
            // A coordinate that a point does not have was not swept: everything was measured at one value of it.
            point.get(*name).is_none_or(|at| values.iter().any(|value| value.is(at)))
        })
    };
    (0..points.len()).filter(|&at| counts(&points[at])).collect()
}

/// How many sweep points the claim is about, as far as it and its scenario tell; at least those in `found`.
pub(crate) fn expected(claim: &Claim, found: &[SweepPoint]) -> usize {
    let allowed = allowed(claim);
    let mut names: Vec<&str> = found.iter().flat_map(|point| point.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let product: usize = names
        .iter()
        .map(|name| {
            let mut values: Vec<&Coordinate> = Vec::new();
            for value in found.iter().filter_map(|point| point.get(*name)) {
                if !values.iter().any(|known| known.is(value)) {
                    values.push(value);
                }
            }
            allowed.get(name).map_or_else(|| listed(claim, name), Vec::len).max(values.len())
        })
        .product();
    product.max(found.len())
}

/// A sweep point in words.
pub(crate) fn words(point: &SweepPoint) -> String {
    let parts: Vec<String> = point.iter().map(|(name, value)| format!("{} {value}", name.replace('_', " "))).collect();
    parts.join(", ")
}
