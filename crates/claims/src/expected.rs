//! The language of claims as types: what they expect of numbers, and how near a measured number must be.
//!
//! Four operations are words of this language, because many claims use them: a value, a ratio, an order and a shape. A
//! claim that needs anything else names a function of [`crate::functions`]: a word that only one or two claims use
//! would make the language longer for everyone.

use serde::Deserialize;

/// What is expected of the numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Expected {
    /// A number.
    Value(ExpectedValue),
    /// A ratio of the subject to its baselines.
    Ratio(ExpectedRatio),
    /// An order of schemes, workloads or quantities.
    Order(ExpectedOrder),
    /// Curves that rise or fall.
    Shape(ExpectedShape),
    /// Whatever the function says that the claim names.
    Function(ExpectedFunction),
}

/// How numbers at several sweep points become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// Their mean.
    Mean,
    /// The most favourable one: the "up to" of a text.
    Best,
    /// They stay as they are: each of them must be right.
    Each,
}

/// A number that is expected.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedValue {
    /// The published number.
    pub value: Option<f64>,
    /// The smallest number that the document states, if it states a range.
    pub low: Option<f64>,
    /// The largest number that the document states, if it states a range.
    pub high: Option<f64>,
    /// How sweep points become one number; each must be right if it is not given.
    pub agg: Option<Aggregate>,
    /// Its unit.
    pub unit: Option<String>,
}

/// A ratio that is expected.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRatio {
    /// The published ratio.
    pub value: Option<f64>,
    /// The smallest number that the document states, if it states a range.
    pub low: Option<f64>,
    /// The largest number that the document states, if it states a range.
    pub high: Option<f64>,
    /// How sweep points become one number.
    pub agg: Aggregate,
    /// Whether every baseline counts by itself.
    #[serde(default)]
    pub per_baseline: bool,
}

/// Which values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Small ones.
    Lower,
    /// Large ones.
    Higher,
}

/// An order that is expected.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedOrder {
    /// Which values are better.
    pub better: Better,
    /// Tiers from best to worst.
    pub rank: Vec<Vec<String>>,
    /// What is ranked, if not schemes: the values of a coordinate, or `measure`.
    pub items: Option<String>,
    /// Whether all comparisons count together, where a document speaks of them in general; otherwise those of the worst
    /// pair decide.
    #[serde(default)]
    pub pooled: bool,
}

/// Which way a curve goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// It rises.
    Increasing,
    /// It falls.
    Decreasing,
}

/// A shape that is expected.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedShape {
    /// The form.
    pub form: Form,
    /// The curves: subjects, quotients of two, or `gain`, which is 1 less the quotient of the subject and its baseline.
    pub series: Vec<String>,
    /// The coordinates that they are drawn against.
    pub x: OneOrMany<String>,
}

/// What a function is to find, with the numbers that the document prints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFunction {
    /// Name of the function.
    pub name: String,
    /// The published numbers.
    pub value: Option<OneOrMany<f64>>,
    /// The smallest number that the document states, if it states a range.
    pub low: Option<f64>,
    /// The largest number that the document states, if it states a range.
    pub high: Option<f64>,
    /// How sweep points become one number.
    pub agg: Option<Aggregate>,
    /// The unit.
    pub unit: Option<String>,
    /// Names of the columns of a published table; the first one tells rows apart.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The rows of a published table.
    #[serde(default)]
    pub rows: Vec<Vec<Cell>>,
}

impl ExpectedFunction {
    /// The published numbers; none if the document prints none.
    pub fn values(&self) -> &[f64] {
        self.value.as_ref().map_or(&[], OneOrMany::as_slice)
    }
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// Words, or a formula.
    Text(String),
}

/// One or several of something.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// All of them.
    pub fn as_slice(&self) -> &[T] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

/// How near to the published numbers the measured ones must be. A claim whose function has limits of its own leaves
/// these out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// The limits that the numbers must keep for the claim to count as reproduced.
    pub reproduced: Limits,
    /// The wider limits that they must keep for the claim to count as partly reproduced.
    pub partly: Limits,
}

/// Limits of the numbers of a claim; each operation reads its own.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// A value or a ratio is at least this.
    pub low: Option<f64>,
    /// A value or a ratio is at most this.
    pub high: Option<f64>,
    /// At least this share of the comparisons of an order agrees, or of the parts of a claim is reproduced.
    pub min_fraction: Option<f64>,
    /// The rank correlation of a curve with its x is at least this.
    pub min_spearman: Option<f64>,
}
