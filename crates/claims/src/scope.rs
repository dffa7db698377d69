//! Which places of a sweep count for a claim, and how many there should be.

use std::collections::BTreeMap;

use super::{Claim, Coordinate, Place, catalogue};

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
pub(crate) fn coordinate(value: &toml::Value) -> Option<Coordinate> {
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
    let restricts = |(key, value): (&'_ String, &toml::Value)| {
        let values = coordinates(value);
        (!values.is_empty()).then(|| (key.clone(), values))
    };
    let known: Vec<(String, Vec<Coordinate>)> = claim.scenario.values.iter().filter_map(restricts).collect();
    known
        .into_iter()
        .map(|(key, values)| {
            let key = claim.scenario.values.get_key_value(&key).map_or("", |(key, _)| key.as_str());
            (coordinate_of(key), values)
        })
        .collect()
}

/// The values that the claim's scenario lists for a coordinate that is always swept.
fn listed(claim: &Claim, name: &str) -> usize {
    let Some(scenario) = catalogue().scenario(&claim.scenario.scenario) else { return 0 };
    let keys: &[&str] = match name {
        "load" => &["loads", "loads_assumed"],
        "workload" => &["workloads"],
        _ => &[],
    };
    keys.iter().find_map(|key| scenario.parameters.get(*key)).map_or(0, |value| coordinates(value).len())
}

/// Whether a place is one of those that `exempt` describes: each key a coordinate, or `NAME_min` for a lower bound.
/// `size` may also be part of the name of the quantity.
pub(crate) fn is_at(place: &Place, metric: &str, exempt: &BTreeMap<String, toml::Value>) -> bool {
    exempt.iter().all(|(key, value)| {
        let Some(value) = coordinate(value) else { return false };
        if let Some(at) = place.get(key) {
            return at.is(&value);
        }
        match (key.strip_suffix("_min").and_then(|name| place.get(name)), &value) {
            (Some(Coordinate::Number(at)), Coordinate::Number(low)) => *at >= low - 1e-9,
            (None, Coordinate::Text(text)) => key == "size" && metric.contains(text.as_str()),
            _ => false,
        }
    })
}

/// Indices of the places that count for the claim. The coordinates in `free` are not looked at.
pub(crate) fn select(claim: &Claim, places: &[Place], free: &[&str]) -> Vec<usize> {
    let allowed = allowed(claim);
    let counts = |place: &Place| {
        allowed.iter().filter(|(name, _)| !free.contains(name)).all(|(name, values)| {
            // A coordinate that a place does not have is not swept: the evidence is of one value only.
            place.get(*name).is_none_or(|at| values.iter().any(|value| value.is(at)))
        })
    };
    (0..places.len()).filter(|&at| counts(&places[at])).collect()
}

/// How many places the claim is about, as far as it and its scenario tell; at least those in `found`.
pub(crate) fn expected(claim: &Claim, found: &[Place]) -> usize {
    let allowed = allowed(claim);
    let mut names: Vec<&str> = found.iter().flat_map(|place| place.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let product: usize = names
        .iter()
        .map(|name| {
            let mut values: Vec<&Coordinate> = Vec::new();
            for value in found.iter().filter_map(|place| place.get(*name)) {
                if !values.iter().any(|known| known.is(value)) {
                    values.push(value);
                }
            }
            allowed.get(name).map_or_else(|| listed(claim, name), Vec::len).max(values.len())
        })
        .product();
    product.max(found.len())
}

/// A place in words.
pub(crate) fn words(place: &Place) -> String {
    let parts: Vec<String> = place.iter().map(|(name, value)| format!("{} {value}", name.replace('_', " "))).collect();
    parts.join(", ")
}
