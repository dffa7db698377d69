//! `data/claims.toml` as types: what the documents claim, where, and how near counts as reproduced.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::expected::{Expected, Tolerance};

const TEXT: &str = include_str!("../../../data/claims.toml");

static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::parse(TEXT).unwrap_or_else(|error| panic!("data/claims.toml: {error}")));

/// All claims, with the documents, scenarios and experiments that they refer to.
pub fn catalogue() -> &'static Catalogue {
    &CATALOGUE
}

/// Everything in `data/claims.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Version of the form of the file.
    pub format_version: u32,
    /// The documents by their short keys.
    pub documents: BTreeMap<String, Document>,
    /// What each priority means.
    pub priorities: BTreeMap<Priority, String>,
    /// What each word of the grammar means.
    pub grammar: BTreeMap<String, String>,
    /// How the limits were set.
    pub tolerance_policy: TolerancePolicy,
    /// Where claims were measured.
    #[serde(rename = "scenario")]
    pub scenarios: Vec<Scenario>,
    /// The claims, grouped by scheme.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
    /// Every figure and table of the documents.
    #[serde(rename = "experiment")]
    pub experiments: Vec<Experiment>,
    /// Statements that are left out on purpose.
    pub excluded: Vec<Excluded>,
    /// Parameters that the documents leave open.
    pub unspecified: Vec<Unspecified>,
}

/// A document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// Its authors.
    pub authors: String,
    /// Where it appeared.
    pub venue: String,
    /// When it appeared.
    pub year: u16,
}

/// How important a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Priority {
    /// A headline: in an abstract, summary or conclusion.
    A,
    /// From the results of a document.
    B,
    /// An aside.
    C,
}

impl Priority {
    /// Its letter.
    pub fn name(self) -> &'static str {
        match self {
            Priority::A => "A",
            Priority::B => "B",
            Priority::C => "C",
        }
    }
}

/// How the limits were set; one number of it is used by code.
#[derive(Clone, Debug, Deserialize)]
pub struct TolerancePolicy {
    /// Two values whose difference is at most this share of the larger one are equal.
    pub tie_band: f64,
    /// The rest of the policy, in words for the reader.
    #[serde(flatten)]
    pub words: BTreeMap<String, String>,
}

/// Where claims were measured.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenario {
    /// Its name.
    pub id: String,
    /// Key of the document, or `all`.
    pub document: String,
    /// Where the document describes it.
    #[serde(rename = "where")]
    pub section: String,
    /// Its parameters, as far as the document gives them.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, toml::Value>,
}

/// A scenario with what a claim or an experiment changes or restricts in it.
#[derive(Clone, Debug, Deserialize)]
pub struct Scope {
    /// Name of the scenario.
    #[serde(rename = "ref")]
    pub scenario: String,
    /// Values that replace those of the scenario; lists are the sweep points that count.
    #[serde(flatten)]
    pub values: BTreeMap<String, toml::Value>,
}

/// What a document claims.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// The scheme that it is about.
    pub scheme: String,
    /// How important it is.
    pub priority: Priority,
    /// Key of the document.
    pub document: String,
    /// Other places that claim the same, in words.
    pub also_in: Option<String>,
    /// The sections of the document that make the claim.
    #[serde(rename = "where")]
    pub section: String,
    /// What kind of statement it is.
    pub kind: Kind,
    /// The statement in our words.
    pub statement: String,
    /// The quantity that it is about.
    pub metric: String,
    /// The quantities to measure, where `metric` is derived from others or names several.
    #[serde(default)]
    pub measures: Vec<Measure>,
    /// What is measured.
    pub subject: String,
    /// What the subject is compared with: schemes, or nothing.
    pub baseline: Vec<String>,
    /// The scenario in which it was measured, with what the claim changes or restricts in it.
    pub scenario: Scope,
    /// Where the number comes from.
    pub quantified_by: QuantifiedBy,
    /// What is expected.
    pub expected: Expected,
    /// How near to the published number a measured one must be. A claim whose function has limits of its own gives
    /// none.
    #[serde(default)]
    pub tolerance: Tolerance,
    /// Whether the sentence allows no exception: "never", "no", "always". Then the observed extremes decide, and one
    /// counterexample refutes it.
    #[serde(default)]
    pub invariant: bool,
    /// The claims that it is made of.
    #[serde(default)]
    pub parts: Vec<String>,
    /// The experiment that tests it.
    pub experiment: Option<String>,
    /// Claims that contradict it.
    #[serde(default)]
    pub conflicts_with: Vec<String>,
    /// What is odd about it.
    pub note: Option<String>,
}

impl Claim {
    /// The quantities to measure.
    pub fn measures(&self) -> Vec<Measure> {
        if self.measures.is_empty() { vec![Measure::Plain(self.metric.clone())] } else { self.measures.clone() }
    }
}

/// What kind of statement a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One number.
    Number,
    /// An order.
    Ordering,
    /// A range of numbers.
    Range,
    /// The shape of a curve.
    Shape,
    /// A table of numbers.
    Table,
}

/// Where the number of a claim comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuantifiedBy {
    /// It is printed in the document, or follows from printed numbers.
    Document,
    /// It is ours: the document is qualitative or incomplete.
    Reader,
    /// There is none.
    None,
}

/// A quantity to measure.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Measure {
    /// By its name.
    Plain(String),
    /// The quotient of two.
    Quotient {
        /// The one above.
        of: String,
        /// The one below.
        over: String,
    },
}

impl Measure {
    /// Its name.
    pub fn name(&self) -> String {
        match self {
            Measure::Plain(name) => name.clone(),
            Measure::Quotient { of, over } => format!("{of} / {over}"),
        }
    }
}

/// A figure or table of a document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Its name.
    pub id: String,
    /// The scheme that it is about.
    pub scheme: String,
    /// Key of the document.
    pub document: String,
    /// Its number there.
    pub figure: String,
    /// What it shows.
    pub title: String,
    /// Whether it is a plot, a table or a diagram.
    pub kind: ExperimentKind,
    /// Its horizontal axis.
    pub x_axis: String,
    /// Its vertical axis.
    pub y_axis: String,
    /// What is drawn.
    pub series: Vec<String>,
    /// Where it was measured.
    pub scenario: Scope,
    /// The claims that it tests.
    #[serde(default)]
    pub claims: Vec<String>,
    /// Another one that shows the same.
    pub same_as: Option<String>,
    /// What is odd about it.
    pub note: Option<String>,
}

/// What an experiment is in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum ExperimentKind {
    Plot,
    Table,
    Diagram,
}

/// A statement that is left out on purpose.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excluded {
    /// Key of the document.
    pub document: String,
    /// The sections.
    #[serde(rename = "where")]
    pub section: String,
    /// The statement.
    pub statement: String,
    /// Why it is left out.
    pub why: String,
}

/// A parameter that a document leaves open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unspecified {
    /// The scheme.
    pub scheme: String,
    /// The parameter.
    pub parameter: String,
    /// Why it matters.
    pub why_it_matters: String,
    /// What could be meant.
    pub candidate: String,
    /// Where that comes from.
    pub candidate_source: String,
}

impl Catalogue {
    /// Reads the text of a catalogue.
    ///
    /// # Errors
    /// If it is not of this form.
    pub fn parse(text: &str) -> Result<Catalogue, toml::de::Error> {
        toml::from_str(text)
    }

    /// The claim with this name.
    pub fn claim(&self, id: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.id == id)
    }

    /// The experiment with this name.
    pub fn experiment(&self, id: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.id == id)
    }

    /// The scenario with this name.
    pub fn scenario(&self, id: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.id == id)
    }

    /// The schemes that claims are about, in the order of the file.
    pub fn schemes(&self) -> Vec<&str> {
        let mut schemes: Vec<&str> = Vec::new();
        for claim in &self.claims {
            if !schemes.contains(&claim.scheme.as_str()) {
                schemes.push(&claim.scheme);
            }
        }
        schemes
    }

    /// The claims that an experiment tests: those that name it, and those that it names.
    pub fn claims_of<'a>(&'a self, experiment: &'a Experiment) -> impl Iterator<Item = &'a Claim> {
        self.claims.iter().filter(|claim| {
            claim.experiment.as_deref() == Some(&experiment.id) || experiment.claims.contains(&claim.id)
        })
    }
}
