//! The ratio of a metric on two sides, with its interval, and whether it is more than chance.
//!
//! The ratio B/A is that of the means over seeds. The variance of its logarithm is the linearised one of a ratio, as in
//! [`tailcut_results::stats`]. For pairs it is the variance of their differences, each side as a share of its mean;
//! without pairs it is the sum of the variances of the two sides. By logarithms the answer is the same whichever side
//! is called A. The interval is by Student's t; without pairs with the degrees of freedom of Welch ("The generalization
//! of 'Student's' problem when several different population variances are involved", Biometrika 34, 1947). Where one
//! side is zero for every seed the difference takes the place of the ratio.

use serde::Serialize;
use tailcut_results::stats::{Interval, t975};

/// How a ratio came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Seed by seed, the flows being the same.
    Paired,
    /// As independent samples, by Welch.
    Unpaired,
}

/// What the interval of a ratio says of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Difference {
    /// B is lower than A.
    #[serde(rename = "lower")]
    Lower,
    /// B is higher than A.
    #[serde(rename = "higher")]
    Higher,
    /// The interval contains 1.
    #[serde(rename = "no difference")]
    NoDifference,
    /// There is no interval.
    #[serde(rename = "unknown")]
    Unknown,
}

impl Difference {
    /// What the interval of B less A says, or that of the logarithm of B over A.
    fn of(interval: Option<Interval>) -> Difference {
        match interval {
            Some(interval) if interval.high < 0.0 => Difference::Lower,
            Some(interval) if interval.low > 0.0 => Difference::Higher,
            Some(_) => Difference::NoDifference,
            None => Difference::Unknown,
        }
    }

    /// As outputs show it.
    pub fn text(self) -> &'static str {
        match self {
            Difference::Lower => "lower",
            Difference::Higher => "higher",
            Difference::NoDifference => "no difference",
            Difference::Unknown => "unknown",
        }
    }
}

impl Method {
    /// As outputs show it.
    pub fn text(self) -> &'static str {
        match self {
            Method::Paired => "paired",
            Method::Unpaired => "unpaired",
        }
    }
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioEstimate {
    /// B over A; `None` if A is zero.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// What the interval says; outputs call it the verdict.
    #[serde(rename = "verdict")]
    pub difference: Difference,
    /// How it was found.
    pub method: Method,
}

/// The ratio of `b` to `a`, which are values of the same seeds in the same order.
pub(super) fn ratio_of_pairs(a: &[f64], b: &[f64]) -> RatioEstimate {
    let (ma, mb) = (Moments::of(a), Moments::of(b));
    let half = |differences: Vec<f64>| {
        let one = Moments::of(&differences);
        (one.n >= 2.0).then(|| t975(one.n - 1.0) * one.error())
    };
    if ma.mean > 0.0 && mb.mean > 0.0 {
        let shares = a.iter().zip(b).map(|(a, b)| b / mb.mean - a / ma.mean).collect();
        return by_ratio(mb.mean / ma.mean, half(shares), Method::Paired);
    }
    let differences = a.iter().zip(b).map(|(a, b)| b - a).collect();
    by_difference(ma.mean, mb.mean - ma.mean, half(differences), Method::Paired)
}

/// The ratio of `b` to `a`, which are values of different seeds.
pub(super) fn ratio_of_samples(a: &[f64], b: &[f64]) -> RatioEstimate {
    let (ma, mb) = (Moments::of(a), Moments::of(b));
    let welch = |va: f64, vb: f64| {
        (ma.n >= 2.0 && mb.n >= 2.0).then(|| {
            let freedom = (va + vb).powi(2) / (va.powi(2) / (ma.n - 1.0) + vb.powi(2) / (mb.n - 1.0));
            // Two sides without any spread have no degrees of freedom, and need none.
            if va + vb == 0.0 { 0.0 } else { t975(freedom) * (va + vb).sqrt() }
        })
    };
    if ma.mean > 0.0 && mb.mean > 0.0 {
        let half = welch((ma.error() / ma.mean).powi(2), (mb.error() / mb.mean).powi(2));
        return by_ratio(mb.mean / ma.mean, half, Method::Unpaired);
    }
    by_difference(ma.mean, mb.mean - ma.mean, welch(ma.error().powi(2), mb.error().powi(2)), Method::Unpaired)
}

/// Number, mean and variance of some values.
struct Moments {
    n: f64,
    mean: f64,
    variance: f64,
}

impl Moments {
    fn of(values: &[f64]) -> Moments {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Moments { n, mean, variance }
    }

    /// Standard error of the mean.
    fn error(&self) -> f64 {
        (self.variance / self.n).sqrt()
    }
}

/// A ratio, where `half` is half of the width of the interval of its logarithm.
fn by_ratio(ratio: f64, half: Option<f64>, method: Method) -> RatioEstimate {
    let log = ratio.ln();
    RatioEstimate {
        ratio: Some(ratio),
        low: half.map(|half| ratio * (-half).exp()),
        high: half.map(|half| ratio * half.exp()),
        difference: Difference::of(half.map(|half| Interval { low: log - half, high: log + half })),
        method,
    }
}

/// The ratio to `a` of what is larger than `a` by `difference`, where `half` is half of the width of the difference's
/// interval.
fn by_difference(a: f64, difference: f64, half: Option<f64>, method: Method) -> RatioEstimate {
    let ratio = |difference: f64| (a > 0.0).then(|| 1.0 + difference / a);
    let interval = half.map(|half| Interval { low: difference - half, high: difference + half });
    RatioEstimate {
        ratio: ratio(difference),
        low: interval.and_then(|interval| ratio(interval.low)).map(|low| low.max(0.0)),
        high: interval.and_then(|interval| ratio(interval.high)),
        difference: Difference::of(interval),
        method,
    }
}
