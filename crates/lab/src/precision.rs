//! How precise a run is to be, and how precise it is after a batch of seeds.

use std::fmt;

use tailcut_results::ALL;
use tailcut_results::stats::Estimate;

/// How narrow an interval is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Half width of the 95 % interval, as a share of the value.
    pub half_width: f64,
}

impl std::str::FromStr for Precision {
    type Err = String;

    /// `ci=5%`.
    fn from_str(text: &str) -> Result<Precision, String> {
        let percent = text.strip_prefix("ci=").and_then(|rest| rest.strip_suffix('%'));
        match percent.and_then(|number| number.trim().parse::<f64>().ok()) {
            Some(percent) if percent > 0.0 && percent <= 100.0 => Ok(Precision { half_width: percent / 100.0 }),
            _ => Err(format!("`{text}` is no precision: expected such as ci=5%, above 0 and up to 100 %")),
        }
    }
}

/// When to stop adding seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct StoppingRule {
    /// How narrow the intervals are to be.
    pub precision: Precision,
    /// Of which metric.
    pub metric: String,
    /// Of which set of flows, by the name in the column `class`.
    pub class: String,
    /// Most seeds.
    pub max_seeds: usize,
}

impl StoppingRule {
    /// `of` is `METRIC` or `METRIC:CLASS`; without one it is the 99th percentile of the FCT of all flows.
    pub fn new(precision: Precision, of: Option<&str>, max_seeds: usize) -> StoppingRule {
        let of = of.unwrap_or("fct_p99");
        let (metric, class) = of.split_once(':').unwrap_or((of, ALL));
        StoppingRule { precision, metric: metric.to_owned(), class: class.to_owned(), max_seeds }
    }

    /// The interval of a design point, if it is wider than it should be, or missing.
    pub(crate) fn too_wide(
        &self,
        scheme: &str,
        values: &[String],
        estimate: Option<&Estimate>,
    ) -> Option<WideInterval> {
        let is_final = estimate.is_some_and(|estimate| estimate.repeated);
        let (half_width, reason) = match relative_half_width(estimate) {
            Ok(half_width) if half_width <= self.precision.half_width => return None,
            Ok(half_width) => (Some(half_width), None),
            Err(reason) => (None, reason),
        };
        Some(WideInterval { scheme: scheme.to_owned(), values: values.to_vec(), half_width, reason, is_final })
    }

    /// How many seeds to add to `seeds`, if these intervals are still too wide, the widest first.
    pub(crate) fn seeds_to_add(&self, seeds: usize, wide: &[WideInterval]) -> usize {
        // A number that is counted, not estimated, has no interval however many seeds there are; nor has one where
        // seeds draw nothing.
        let hopeless = |wide: &WideInterval| wide.half_width.is_none() && (wide.reason.is_none() || wide.is_final);
        let Some(widest) = wide.iter().find(|wide| !hopeless(wide)) else { return 0 };
        let needed = widest.half_width.map_or(f64::INFINITY, |half| {
            // The half width shrinks with the root of the number of seeds. A tenth more, because another batch costs
            // more than a few seeds.
            1.1 * seeds as f64 * (half / self.precision.half_width).powi(2)
        });
        let total = (needed.ceil() as usize).clamp(seeds + seeds.div_ceil(5), 2 * seeds);
        total.min(self.max_seeds).saturating_sub(seeds)
    }
}

/// The wider side of an interval as a share of the value; else why there is no interval, if that is known.
pub(crate) fn relative_half_width(estimate: Option<&Estimate>) -> Result<f64, Option<String>> {
    let estimate = estimate.ok_or(None)?;
    let interval = estimate.interval.ok_or_else(|| estimate.why_no_interval())?;
    let half = (estimate.value - interval.low).max(interval.high - estimate.value);
    // Where the value is zero for every seed, the interval has no width and nothing is to be divided by.
    Ok(if half == 0.0 { 0.0 } else { half / estimate.value.abs() })
}

/// A design point at which the interval is wider than it should be, or missing.
#[derive(Clone, Debug, PartialEq)]
pub struct WideInterval {
    /// The scheme.
    pub scheme: String,
    /// The swept values.
    pub values: Vec<String>,
    /// Half width as a share of the value; `None` if there is no interval.
    pub half_width: Option<f64>,
    /// Why there is no interval.
    pub reason: Option<String>,
    /// Whether more seeds give none either, because seeds draw nothing.
    pub is_final: bool,
}

/// How wide the intervals are after a batch of seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct PrecisionCheck {
    /// When to stop.
    pub rule: StoppingRule,
    /// Seeds so far.
    pub seeds: usize,
    /// Number of design points.
    pub design_points: usize,
    /// Those whose interval is too wide, the widest first.
    pub wide: Vec<WideInterval>,
    /// Seeds that are added now.
    pub added: usize,
}

impl fmt::Display for WideInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.scheme)?;
        for value in &self.values {
            write!(f, " {value}")?;
        }
        match (self.half_width, &self.reason) {
            (Some(half), _) => write!(f, ": ±{}", percent(half)),
            (None, Some(reason)) => write!(f, ": no interval, {reason}"),
            (None, None) => f.write_str(": no interval, whatever the number of seeds"),
        }
    }
}

impl fmt::Display for PrecisionCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StoppingRule { precision, metric, class, .. } = &self.rule;
        let target = percent(precision.half_width);
        write!(f, "{} seeds: {metric} of {class} within ±{target} at ", self.seeds)?;
        write!(f, "{} of {} points", self.design_points - self.wide.len(), self.design_points)?;
        if let Some(widest) = self.wide.first() {
            write!(f, "; widest: {widest}")?;
        }
        if self.added > 0 {
            write!(f, "; adding {} seeds", self.added)?;
        }
        Ok(())
    }
}

/// A share in percent with two digits, or whole.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}
