//! Claims against hand-made evidence.

#[cfg(test)]
mod data;
#[cfg(test)]
mod files;
#[cfg(test)]
mod functions;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod several;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod verdicts;

use std::collections::BTreeMap;

use crate::*;

/// What a subject is at a sweep point in a quantity: a value for each seed, or one value that does not depend on a
/// seed.
type Of<'a> = &'a dyn Fn(&str, &SweepPoint, &str) -> Option<Vec<f64>>;

/// Evidence from closures: what a subject is at a sweep point in a quantity.
struct Fake<'a> {
    points: Vec<SweepPoint>,
    of: Of<'a>,
}

impl Evidence for Fake<'_> {
    fn sweep_points(&self) -> &[SweepPoint] {
        &self.points
    }

    fn sample(&self, subject: &str, point: usize, metric: &str) -> Result<Sample, String> {
        let seeds =
            (self.of)(subject, &self.points[point], metric).ok_or_else(|| format!("{subject} was not measured"))?;
        if let [value] = seeds.as_slice() {
            return Ok(Sample::exact(*value));
        }
        Ok(Sample {
            value: seeds.iter().sum::<f64>() / seeds.len() as f64,
            by_seed: seeds.iter().enumerate().map(|(at, &value)| (at as u64 + 1, value)).collect(),
            ..Sample::default()
        })
    }

    fn series(&self, subject: &str, point: usize, metric: &str) -> Result<Vec<(f64, f64)>, String> {
        let values =
            (self.of)(subject, &self.points[point], metric).ok_or_else(|| format!("{subject} was not measured"))?;
        Ok(values.into_iter().enumerate().map(|(x, y)| (x as f64, y)).collect())
    }
}

/// A claim with some keys of its own; the others are those of an ordinary claim.
fn claim(keys: &str) -> Claim {
    let mut table: toml::Table = toml::from_str(
        r#"
        id = "a-claim"
        scheme = "new"
        priority = "B"
        document = "slytherin"
        where = "here"
        kind = "number"
        statement = "New is better"
        metric = "p99"
        subject = "new"
        baseline = ["old"]
        scenario = { ref = "analytic" }
        quantified_by = "document"
        "#,
    )
    .unwrap();
    table.extend(toml::from_str::<toml::Table>(keys).unwrap());
    table.try_into().unwrap()
}

/// Sweep points along one coordinate.
fn along(name: &str, values: &[f64]) -> Vec<SweepPoint> {
    values.iter().map(|&value| SweepPoint::from([(name.to_owned(), Coordinate::Number(value))])).collect()
}

fn loads(values: &[f64]) -> Vec<SweepPoint> {
    along("load", values)
}

/// The number of a coordinate.
fn number(point: &SweepPoint, name: &str) -> f64 {
    match point[name] {
        Coordinate::Number(number) => number,
        Coordinate::Text(_) => f64::NAN,
    }
}

fn judged(claim: &Claim, points: Vec<SweepPoint>, of: Of<'_>) -> Judgement {
    judge(claim, &Fake { points, of }, &|_| None)
}

/// Judged where a subject has the same value at every sweep point.
fn with(claim: &Claim, values: &[(&str, &[f64])]) -> Judgement {
    let values: BTreeMap<&str, Vec<f64>> = values.iter().map(|(name, seeds)| (*name, seeds.to_vec())).collect();
    judged(claim, loads(&[0.5]), &|subject, _, _| values.get(subject).cloned())
}

/// A claim of the catalogue.
fn known(id: &str) -> &'static Claim {
    catalogue().claim(id).unwrap()
}
