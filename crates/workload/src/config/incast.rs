//! Queries to many hosts at a time, as a scenario writes them.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use tailcut_base::{Bytes, Span};

use super::{Deadlines, HostSet};

/// Queries to many hosts at a time, whose answers meet at the one that asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Incast {
    /// How many hosts answer: a number, or `{ uniform = { min = 20, max = 32 } }`, drawn for each query. They are
    /// distinct, and none is the one that asks.
    pub degree: Degree,
    /// Which hosts ask: how many, drawn once, or a set such as `{ group = "NAME" }`; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregators: Option<Aggregators>,
    /// Which hosts answer; all but the one that asks if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<HostSet>,
    /// Whether each host that asks has workers of its own, drawn once for the run, as in the public scripts of
    /// Slytherin, ICON and Superways (Rezaei, PhD thesis, University of Illinois at Chicago, 2021, section 4.4.2),
    /// instead of others for each query. A query with a smaller degree than another goes to the first of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed_workers: bool,
    /// Whether each host that asks has a degree of its own, drawn once for the run, instead of another for each query:
    /// "incast degree varies in the range of 48 to 96 among all incast applications" (Rezaei, PhD thesis, University of
    /// Illinois at Chicago, 2021, section 4.4.2). Loads are those of the degrees that were drawn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed_degrees: bool,
    /// The applications one by one, each on a server and with workers of its own, in place of `aggregators`, `workers`
    /// and `fixed_workers`. Several may be on one server. `tailcut place` writes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applications: Option<Vec<Application>>,
    /// The first answer of each query, where it is not like the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstAnswer>,
    /// Times between the queries of one aggregator.
    #[serde(default)]
    pub gaps: Gaps,
    /// When the answers start, counted from the query.
    #[serde(default)]
    pub jitter: Jitter,
    /// Whether all answers to one query have the same size, as in Slytherin's public scripts.
    #[serde(default = "yes")]
    pub one_size: bool,
    /// When the last answer should be received, counted from the query: `fixed`, or `exponential`, drawn for each
    /// query. Without it queries have no deadline. It is not one of the answers, which have that of the traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Deadlines>,
}

/// One application that asks queries (Superways: Rezaei, PhD thesis, University of Illinois at Chicago, 2021, section
/// 3.4.1, which moves applications to other servers).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Application {
    /// The host that it is on.
    pub server: u32,
    /// The hosts that answer it, in the order in which they answer; at least as many as its largest degree.
    pub workers: Vec<u32>,
    /// How many of them answer a query, if not as many as `degree` of the incast says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degree: Option<Degree>,
}

/// The first answer of each query, as in ICON's public script, whose first answer of 64 KiB counts as a long flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct FirstAnswer {
    /// Its size.
    pub size: Bytes,
    /// Its class: that of a traffic, or one of its own.
    pub class: String,
}

/// Which hosts ask.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Aggregators {
    /// So many, drawn once.
    Count(u32),
    /// These.
    Set(HostSet),
}

impl<'de> Deserialize<'de> for Aggregators {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a number of hosts such as 32, or a set of hosts such as { group = \"NAME\" }";
        deserializer.deserialize_any(NumberOr::new(EXPECTED, Aggregators::Count, Aggregators::Set))
    }
}

/// Reads a number or a table. Unlike serde's own for untagged enums it tells what is wrong with a table.
struct NumberOr<T, Inner> {
    expected: &'static str,
    number: fn(u32) -> T,
    table: fn(Inner) -> T,
}

impl<T, Inner> NumberOr<T, Inner> {
    fn new(expected: &'static str, number: fn(u32) -> T, table: fn(Inner) -> T) -> Self {
        NumberOr { expected, number, table }
    }
}

impl<'de, T, Inner: Deserialize<'de>> Visitor<'de> for NumberOr<T, Inner> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        let wrong = |_| E::invalid_value(Unexpected::Unsigned(number), &self);
        u32::try_from(number).map(self.number).map_err(wrong)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        let wrong = |_| E::invalid_value(Unexpected::Signed(number), &self);
        u32::try_from(number).map(self.number).map_err(wrong)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        Inner::deserialize(MapAccessDeserializer::new(map)).map(self.table)
    }
}

fn yes() -> bool {
    true
}

/// How many hosts answer a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Degree {
    /// As many for all queries.
    Fixed(u32),
    /// Drawn for each query.
    Drawn(DegreeDistribution),
}

/// What degrees are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DegreeDistribution {
    /// Uniform between two numbers, both included.
    Uniform(UniformDegrees),
}

/// Degrees that are uniform between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct UniformDegrees {
    /// Smallest degree.
    pub min: u32,
    /// Largest degree.
    pub max: u32,
}

impl Degree {
    /// The smallest and the largest degree.
    pub fn bounds(self) -> (u32, u32) {
        match self {
            Degree::Fixed(degree) => (degree, degree),
            Degree::Drawn(DegreeDistribution::Uniform(UniformDegrees { min, max })) => (min, max),
        }
    }

    /// Its mean.
    pub fn mean(self) -> f64 {
        let (min, max) = self.bounds();
        (f64::from(min) + f64::from(max)) / 2.0
    }

    /// Mean of its square.
    pub(crate) fn second_moment(self) -> f64 {
        let (min, max) = self.bounds();
        // The variance of n numbers in a row is (n^2 - 1) / 12.
        let n = f64::from(max) - f64::from(min) + 1.0;
        self.mean() * self.mean() + (n * n - 1.0) / 12.0
    }
}

impl<'de> Deserialize<'de> for Degree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a number of hosts such as 32, or { uniform = { min = 20, max = 32 } }";
        deserializer.deserialize_any(NumberOr::new(EXPECTED, Degree::Fixed, Degree::Drawn))
    }
}

/// Times between the queries of one aggregator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gaps {
    /// Exponential.
    #[default]
    Poisson,
    /// Lognormal with 30 % of the gaps at most 50 us (Rezaei, PhD thesis, University of Illinois at Chicago, 2021,
    /// section 3.3.1). Exponential where the mean gap is below 50 us, for which no such lognormal exists.
    Microburst,
}

/// When the answers to a query start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Jitter {
    /// All at once, as in Slytherin's public scripts.
    #[default]
    None,
    /// The first worker at once, the others after a random delay, as in ICON's and Superways' public scripts.
    Icon(IconJitter),
    /// Each after a delay of its own that is uniform between two.
    Uniform(UniformJitter),
    /// Each after an exponential delay of its own.
    Exponential(ExponentialJitter),
}

/// Delays of answers that are uniform between two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct UniformJitter {
    /// Shortest delay.
    pub min: Span,
    /// Longest delay.
    pub max: Span,
}

/// Delays of answers that are exponential: min(Exp(mean), cap).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct ExponentialJitter {
    /// Mean before the longest delay is enforced.
    pub mean: Span,
    /// Longest delay; any if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Span>,
}

/// Delay of the workers after the first: `base + min(Exp(mean), cap)`. Source: hrezae2/ICON, hrezae2/Superways-WWW-21.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case", default)]
pub struct IconJitter {
    /// Fixed part.
    pub base: Span,
    /// Mean of the exponential part before it is capped.
    pub mean: Span,
    /// Largest exponential part.
    pub cap: Span,
}

impl Default for IconJitter {
    fn default() -> Self {
        IconJitter { base: Span::from_us(80), mean: Span::from_us(10), cap: Span::from_us(120) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_have_the_moments_of_their_numbers() {
        for (min, max) in [(7, 7), (1, 2), (20, 32), (48, 96)] {
            let degree = Degree::Drawn(DegreeDistribution::Uniform(UniformDegrees { min, max }));
            let mean_of =
                |of: fn(f64) -> f64| (min..=max).map(|d| of(f64::from(d))).sum::<f64>() / f64::from(max - min + 1);
            assert!((degree.mean() - mean_of(|d| d)).abs() < 1e-9);
            assert!((degree.second_moment() - mean_of(|d| d * d)).abs() < 1e-9);
        }
        // To the bit: forecasts of fixed degrees are what they were.
        assert_eq!((Degree::Fixed(26).mean(), Degree::Fixed(26).second_moment()), (26.0, 676.0));
    }
}
