//! The `[failures]` table: links and switches that fail, and are repaired.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Span;

/// Links and switches that fail.
///
/// While a link is down nothing passes it: what was on its way is lost, what waited for it is dropped, and so is what
/// comes for it, but for what a host without a queue in its interface wants to send, which waits until the link is up.
/// Other ways are taken once routing has converged; the flows of a host with several links whose own leads nowhere any
/// more then leave by another one. A switch that fails remembers what it knew of flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Failures {
    /// How long after a failure or a repair all switches and hosts know the new ways: 0 if not given.
    pub convergence: Span,
    /// Failures at given times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<Failure>,
    /// Failures that are drawn, for as long as flows are open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Drawn>,
}

impl Failures {
    /// Whether nothing fails.
    pub fn is_none(&self) -> bool {
        self.list.is_empty() && self.drawn.is_none()
    }
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The link that fails: `leaf0->spine1` in one direction, `leaf0--spine1` in both. Either this or `switch` is
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The switch that fails, with all of its links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// When.
    pub at: Span,
    /// How long it is down; without it, for good.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Span>,
}

/// Failures at random times: each link or switch fails by itself, and is repaired before it fails again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// What fails.
    pub of: Of,
    /// Mean time from a repair to the next failure of the same link or switch; exponential.
    pub up: Span,
    /// Mean time that it is down; exponential.
    pub down: Span,
}

/// What fails at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// Links between switches, in both directions at a time.
    Links,
    /// Switches, with all of their links.
    Switches,
}
