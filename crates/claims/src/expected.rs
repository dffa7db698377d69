//! What claims expect of numbers, and how near counts, as types.

use std::collections::BTreeMap;

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
    /// Several orders that must all hold.
    AllOrders(ExpectedOrders),
    /// The shape of curves.
    Shape(ExpectedShape),
    /// A table of numbers.
    Table(ExpectedTable),
    /// A closed form or a hand example.
    Exact(ExpectedExact),
    /// Something that holds throughout every run.
    Invariant(ExpectedInvariant),
    /// Other claims.
    All(ExpectedAll),
}

/// How numbers at several sweep points become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// Their mean.
    Mean,
    /// The most favourable one: the "up to" of a text.
    Best,
    /// None: each must be right.
    Each,
}

/// A second quantity with a band of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Also {
    /// The quantity.
    pub measure: String,
    /// At least.
    pub low: Option<f64>,
    /// At most.
    pub high: Option<f64>,
}

/// What is computed for a value, where it is not the quantity itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Item {
    /// The `x` at which the quantity is smallest.
    Argmin,
    /// The largest over the smallest.
    Spread,
    /// 1 less the ratio to a baseline.
    Reduction,
    /// Kendall's rank correlation of schemes between two quantities, or between values of `x`.
    Kendall,
    /// The gain in the first quantity over that in the second, where a gain is baseline over subject.
    RatioOfGains,
}

/// A number that is expected.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedValue {
    /// The published number.
    pub value: Option<f64>,
    /// At least.
    pub low: Option<f64>,
    /// At most.
    pub high: Option<f64>,
    /// How sweep points become one number.
    pub agg: Option<Aggregate>,
    /// Its unit.
    pub unit: Option<String>,
    /// The same in microseconds.
    pub value_us: Option<f64>,
    /// The share of flows that the number is about.
    pub flow_share: Option<f64>,
    /// What is computed.
    pub item: Option<Item>,
    /// The coordinate that `item` needs.
    pub x: Option<String>,
    /// A second quantity.
    pub also: Option<Also>,
}

/// A ratio that is expected.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRatio {
    /// The published ratio.
    pub value: Option<f64>,
    /// At least.
    pub low: Option<f64>,
    /// At most.
    pub high: Option<f64>,
    /// How sweep points become one number.
    pub agg: Aggregate,
    /// Every baseline separately.
    #[serde(default)]
    pub per_baseline: bool,
    /// Baseline over subject.
    #[serde(default)]
    pub inverse: bool,
    /// The coordinate whose values `ratio_of` names.
    pub items: Option<String>,
    /// Two values of a coordinate, as `heavy/light`.
    pub ratio_of: Option<String>,
    /// The sweep points that count.
    #[serde(default)]
    pub at: BTreeMap<String, toml::Value>,
    /// A second quantity.
    pub also: Option<Also>,
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
    /// What is ranked, if not schemes: a coordinate, or `measure`.
    pub items: Option<String>,
    /// Schemes whose items are ranked.
    #[serde(default)]
    pub for_schemes: Vec<String>,
    /// Sweep points that do not count.
    #[serde(default)]
    pub except_at: Vec<BTreeMap<String, toml::Value>>,
}

/// Orders that must all hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedOrders {
    /// The orders.
    pub orders: Vec<MetricOrder>,
}

/// An order by one quantity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricOrder {
    /// The quantity.
    pub metric: String,
    /// Which values are better.
    pub better: Better,
    /// Tiers from best to worst.
    pub rank: Vec<Vec<String>>,
}

/// The form of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names say it; how each is measured stands where it is")]
pub enum Form {
    Increasing,
    Decreasing,
    ConvexIncreasing,
    Flat,
    FlatMiddle,
    Saturates,
    Separated,
    UShape,
    Crossover,
    GapWidens,
    Step,
    Dip,
    NoDip,
    Linear,
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

/// A shape that is expected.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedShape {
    /// The form.
    pub form: Form,
    /// The curves.
    pub series: Vec<String>,
    /// What they are drawn against.
    pub x: OneOrMany<String>,
    /// Where something happens.
    pub at: Option<f64>,
    /// The level that is crossed.
    pub level: Option<f64>,
    /// Whether it is crossed upwards or downwards.
    pub direction: Option<Direction>,
    /// Where the minimum lies.
    pub inside: Option<[f64; 2]>,
    /// How deep the others dip.
    pub min_dip: Option<f64>,
    /// How far curves are apart, as a share of the lower one.
    pub min_gap: Option<f64>,
    /// Curves that are flat where the others are not.
    #[serde(default)]
    pub flat: Vec<String>,
    /// Curves that dip where the others do not.
    #[serde(default)]
    pub dips: Vec<String>,
    /// The range that the authors chose.
    pub chosen: Option<[f64; 2]>,
    /// How high a step is.
    pub min_factor: Option<f64>,
}

/// Which way a level is crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From below.
    Up,
    /// From above.
    Down,
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

/// A table that is expected.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedTable {
    /// Names of the columns; the first one tells rows apart.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// Numbers that follow from others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedExact {
    /// The published numbers.
    pub value: OneOrMany<f64>,
    /// Arithmetic that gives them.
    pub formula: Option<OneOrMany<String>>,
    /// Names in the formula.
    #[serde(default)]
    pub given: BTreeMap<String, f64>,
    /// The unit.
    pub unit: Option<String>,
    /// What the number counts.
    pub item: Option<String>,
    /// What each number is.
    #[serde(default)]
    pub items: Vec<String>,
    /// The number that the rest of the document needs.
    pub consistent_value: Option<f64>,
    /// What else is to be said.
    pub note: Option<String>,
}

/// Something that holds throughout every run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedInvariant {
    /// What.
    pub predicate: String,
}

/// Other claims.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedAll {
    /// Their names.
    pub claims: Vec<String>,
}

/// How near counts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// As reproduced.
    pub reproduced: Band,
    /// As partly reproduced.
    pub partly: Band,
}

/// Limits of the numbers of a claim; each operation and form reads its own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs, reason = "limits are described with the operation or form that reads them")]
pub struct Band {
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub min_fraction: Option<f64>,
    pub min_spearman: Option<f64>,
    pub rel_err: Option<f64>,
    pub max_violation_fraction: Option<f64>,
    pub min_slope_ratio: Option<f64>,
    pub min_rise_ends: Option<f64>,
    pub at_low: Option<f64>,
    pub at_high: Option<f64>,
    pub max_change_after: Option<f64>,
    pub min_gain_before: Option<f64>,
    pub knee_low: Option<f64>,
    pub knee_high: Option<f64>,
    pub max_dip: Option<f64>,
    pub other_min_dip: Option<f64>,
    pub min_dip_difference: Option<f64>,
    pub min_dip: Option<f64>,
    pub max_spread: Option<f64>,
    pub max_exponent: Option<f64>,
    pub min_factor: Option<f64>,
    pub mean_abs_err: Option<f64>,
    pub max_abs_err: Option<f64>,
    pub min_ratio: Option<f64>,
    pub cell_low: Option<Vec<f64>>,
    pub cell_high: Option<Vec<f64>>,
    pub normalise: Option<String>,
    pub cells_within_factor: Option<f64>,
    pub config_match: Option<ConfigMatch>,
    pub tail_abs_err_pct: Option<f64>,
    pub throughput_rel_err: Option<f64>,
    pub tail_min_pct: Option<f64>,
    pub throughput_min_pct: Option<f64>,
}

/// How well a configuration must match.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ConfigMatch {
    /// In every parameter.
    Exactly(bool),
    /// Up to deviations that are written down.
    But(String),
}
