//! What the placement is computed with, and the readings of what the document leaves open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Bytes, Span};

/// How links are given to servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The placement heuristic: applications are moved, and each server gets as many links as it needs.
    #[default]
    Heuristic,
    /// Every application stays on its server, and each of these servers gets one link to one spine (section 4.4.3.3
    /// prices this).
    One,
    /// Every application stays on its server, and each of these servers gets one link of 40 Gb/s to each of three
    /// spines (the public ns-3 scripts, hrezae2/Superways-WWW-21).
    AsCoded,
}

/// How many senders of the leaf's buffer may use the link from the leaf (equations 3.3 and 3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeafSenders {
    /// N rounded down, "to provide a safe margin".
    #[default]
    Floor,
    /// N as it is.
    Exact,
}

/// What a buffer is that is used exactly up: the document has the cases "less than one" and "greater than one".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FullBuffer {
    /// What fills it fits.
    #[default]
    Fits,
    /// What fills it overflows.
    Overflows,
}

/// Which further applications fit into what extra links have left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Knapsack {
    /// Those whose share of the residual buffer is below one ("once this value becomes less than one").
    #[default]
    Below,
    /// Those whose share is at most one.
    UpToOne,
}

/// What the leaf's buffer has left when all senders fit (equation 3.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeafResidual {
    /// r_l (1 - U_l), bytes: equation 3.9 times the residual buffer of equation 3.7.
    #[default]
    Corrected,
    /// ceil(U_l) - U_l as printed, taken for bytes: less than one, so that no further application ever fits.
    AsPrinted,
}

/// The parameters of the placement: the table `[placement]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case", default)]
pub struct Parameters {
    /// How links are given to servers.
    pub mode: Mode,
    /// alpha, the share of the senders that send at the same time (section 3.4.1: 0.8 to 0.9, "about 80 %").
    pub alpha: f64,
    /// beta, the share of an application's senders that are in the rack of its server. Counted if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// What each degree is taken for, as a multiple of what it is: 1 if all are known, 0.5 if half of the senders are
    /// overlooked. The document measures degrees, or knows them (section 3.4.1), and does not say what follows from an
    /// error. Applications go on asking as many hosts as they do.
    pub degree_estimate: f64,
    /// s, the average size of a flow; that of the answers of each application if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_size: Option<Bytes>,
    /// B_l, what a leaf buffers for the port to a server; that of the scenario if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaf_buffer: Option<Bytes>,
    /// B_s, what a spine buffers for a port; that of the scenario if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spine_buffer: Option<Bytes>,
    /// theta, the rate of a spine's link over that of a leaf's, at least 1; that of the scenario if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// The rate of an extra link; that of a spine's other links if it is not given, and 40 Gb/s in `as-coded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// The delay of an extra link; that of a spine's other links if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Ports of a spine switch, those to leaves among them (section 4.4.3.3: 32).
    pub spine_ports: u32,
    /// The tier of switches that extra links go to; the highest if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The racks from the one nearest to the spines on; in the order of their numbers if they are not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub racks: Option<Vec<u32>>,
    /// How many senders may use the link from the leaf.
    pub leaf_senders: LeafSenders,
    /// What a buffer is that is used exactly up.
    pub full_buffer: FullBuffer,
    /// Which further applications fit into what extra links have left.
    pub knapsack: Knapsack,
    /// What the leaf's buffer has left when all senders fit.
    pub leaf_residual: LeafResidual,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            mode: Mode::default(),
            alpha: 0.8,
            beta: None,
            degree_estimate: 1.0,
            flow_size: None,
            leaf_buffer: None,
            spine_buffer: None,
            theta: None,
            rate: None,
            delay: None,
            spine_ports: 32,
            tier: None,
            racks: None,
            leaf_senders: LeafSenders::default(),
            full_buffer: FullBuffer::default(),
            knapsack: Knapsack::default(),
            leaf_residual: LeafResidual::default(),
        }
    }
}

impl Parameters {
    /// Checks the values that are given: the key that is wrong, what is wrong about it, and what would be right.
    ///
    /// # Errors
    /// If one cannot be.
    pub fn check(&self) -> Result<(), (&'static str, String, &'static str)> {
        if !(self.alpha > 0.0 && self.alpha <= 1.0) {
            return Err(("alpha", format!("{} is no share of senders", self.alpha), "expected above 0 and up to 1"));
        }
        if let Some(beta) = self.beta.filter(|beta| !(0.0..=1.0).contains(beta)) {
            return Err(("beta", format!("{beta} is no share of senders"), "expected 0 to 1"));
        }
        if let Some(theta) = self.theta.filter(|theta| !(*theta >= 1.0 && theta.is_finite())) {
            let message = format!("a spine's link is not {theta} times as fast as a leaf's");
            return Err(("theta", message, "expected at least 1 (section 3.4.1.1)"));
        }
        if !(self.degree_estimate > 0.0 && self.degree_estimate <= LARGEST_ESTIMATE) {
            let message = format!("{} times a degree is no estimate of it", self.degree_estimate);
            return Err((
                "degree_estimate",
                message,
                "expected above 0 and up to 100, such as 0.5 for half of the senders",
            ));
        }
        let sizes =
            [("flow_size", self.flow_size), ("leaf_buffer", self.leaf_buffer), ("spine_buffer", self.spine_buffer)];
        for (key, size) in sizes {
            if size == Some(Bytes(0)) {
                return Err((key, "0 B hold nothing".to_owned(), "expected at least \"1B\""));
            }
        }
        if self.mode != Mode::Heuristic {
            let message = "means nothing where applications stay and links are counted".to_owned();
            if self.beta.is_some() {
                return Err(("beta", message, "expected `mode = \"heuristic\"`, or no beta"));
            }
            if self.degree_estimate != 1.0 {
                return Err(("degree_estimate", message, "expected `mode = \"heuristic\"`, or no degree_estimate"));
            }
        }
        Ok(())
    }
}

/// The largest [`Parameters::degree_estimate`]: what is off by more is a mistake rather than an error of measurement.
const LARGEST_ESTIMATE: f64 = 100.0;

/// The sizes that the equations are computed with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sizing {
    /// alpha, the share of the senders that send at the same time.
    pub alpha: f64,
    /// B_l, bytes that a leaf buffers for the port to a server.
    pub leaf_buffer: f64,
    /// B_s, bytes that a spine buffers for a port.
    pub spine_buffer: f64,
    /// theta, the rate of a spine's link over that of a leaf's.
    pub theta: f64,
}

/// How far two numbers may be apart, relatively, to count as equal: products of decimals such as 0.8 are off by bits.
const SAME: f64 = 1e-9;

/// Whether two numbers are the same but for rounding.
pub(crate) fn is_same(a: f64, b: f64) -> bool {
    a.is_finite() && b.is_finite() && (a - b).abs() <= SAME * a.abs().max(b.abs()).max(SAME)
}

/// `x` rounded up, unless it is a whole number but for rounding.
pub(crate) fn ceiling(x: f64) -> f64 {
    if is_same(x, x.round()) { x.round() } else { x.ceil() }
}

/// `x` rounded down, unless it is a whole number but for rounding.
pub(crate) fn floor(x: f64) -> f64 {
    if is_same(x, x.round()) { x.round() } else { x.floor() }
}

impl FullBuffer {
    /// Whether this share of a buffer fits into it.
    pub(crate) fn fits(self, share: f64) -> bool {
        match self {
            FullBuffer::Fits => share < 1.0 || is_same(share, 1.0),
            FullBuffer::Overflows => share < 1.0 && !is_same(share, 1.0),
        }
    }
}
