//! Seeds are added until intervals are narrow enough.
//!
//! After each batch of seeds the intervals of one statistic are looked at, at every scheme and swept point; every one of
//! them gets every seed, so that schemes stay comparable seed by seed. The first look comes after five seeds. How many are
//! added then follows from the widest interval, whose half width shrinks with the root of the number of seeds; at most
//! as many are added as there are, because that forecast is rough. The seeds depend on nothing but the scenario and what
//! is asked for: not on the machine, nor on what the folder holds already.
//!
//! To look and to go on only if the interval is wide favours intervals that are too narrow by chance: of those that are
//! called 95 % intervals somewhat fewer hold the true value (Chow and Robbins, "On the asymptotic theory of fixed-width
//! sequential confidence intervals", Annals of Mathematical Statistics 36, 1965; Law and Kelton, "Confidence intervals for
//! steady-state simulations II", Management Science 28, 1982). Few looks keep that small: about 92 of 100 hold it, and a test
//! makes sure of 90.

use std::fmt;

use tailcut_sim::Problem;
use tailcut_sim::config::suggest;

use crate::plan::Plan;
use crate::results::measurements::{EstimateAt, of_one, set_names};
use crate::results::stats::Estimate;
use crate::results::{ALL, METRICS, describe};
use crate::runner::{Progress, RunError, RunOptions, RunReport, Session};

/// Seeds before the first look: with fewer the width of an interval is itself a matter of chance.
const FIRST_LOOK: usize = 5;

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
pub struct Until {
    /// How narrow the intervals are to be.
    pub precision: Precision,
    /// Of which metric.
    pub metric: String,
    /// Of which class.
    pub class: String,
    /// Most seeds.
    pub max_seeds: usize,
}

impl Until {
    /// `of` is `METRIC` or `METRIC:CLASS`; without one it is the 99th percentile of the FCT of all flows.
    pub fn new(precision: Precision, of: Option<&str>, max_seeds: usize) -> Until {
        let of = of.unwrap_or("fct_p99");
        let (metric, class) = of.split_once(':').unwrap_or((of, ALL));
        Until { precision, metric: metric.to_owned(), class: class.to_owned(), max_seeds }
    }

    /// Whether a run of `plan` can have such a statistic.
    fn check(&self, plan: &Plan) -> Result<(), Problem> {
        if describe(&self.metric).is_none() {
            let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
            return Err(
                Problem::new(format!("there is no metric `{}`", self.metric)).help(suggest(&self.metric, &known))
            );
        }
        let classes = set_names(&plan.classes, &plan.size_bounds);
        if !classes.contains(&self.class) {
            let known: Vec<&str> = classes.iter().map(String::as_str).collect();
            return Err(
                Problem::new(format!("the scenario has no class `{}`", self.class)).help(suggest(&self.class, &known))
            );
        }
        if self.max_seeds < FIRST_LOOK {
            return Err(Problem::new(format!("{} seeds are too few to judge how wide an interval is", self.max_seeds))
                .help(format!("expected at least {FIRST_LOOK}")));
        }
        Ok(())
    }
}

/// A place where the interval is wider than it should be, or missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Wide {
    /// The scheme.
    pub scheme: String,
    /// The swept values.
    pub values: Vec<String>,
    /// Half width as a share of the value; `None` if there is no interval.
    pub half_width: Option<f64>,
    /// Why there is no interval.
    pub reason: Option<String>,
}

/// How wide the intervals are after a batch of seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// What is looked at.
    pub until: Until,
    /// Seeds so far.
    pub seeds: usize,
    /// Places that are looked at: swept points of schemes.
    pub places: usize,
    /// Those whose interval is too wide, the widest first.
    pub wide: Vec<Wide>,
    /// Seeds that are added now.
    pub added: usize,
}

/// What a run came to.
#[derive(Debug)]
pub struct UntilReport {
    /// The run with the last number of seeds.
    pub run: RunReport,
    /// What was seen after each batch; the last one says which intervals are still too wide.
    pub looks: Vec<Look>,
}

/// Why a run could not be done.
#[derive(Debug, thiserror::Error)]
pub enum UntilError {
    /// What is asked for cannot be.
    #[error("{0}")]
    Input(Problem),
    /// The run could not be done.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<Problem> for UntilError {
    fn from(problem: Problem) -> UntilError {
        UntilError::Input(problem)
    }
}

/// Runs `plan` with its own seeds, five at least, and adds seeds until every interval is narrow enough or there are
/// `until.max_seeds`. Then writes statistics, tables, plots and the page of all of them. Points that are in the folder
/// already are not run again, and points that fail are not tried again.
///
/// # Errors
/// If there is no such metric or class, or as [`crate::run`].
pub fn run_until(
    plan: &Plan,
    until: &Until,
    options: &RunOptions,
    progress: &dyn Progress,
) -> Result<UntilReport, UntilError> {
    until.check(plan)?;
    let mut plan = plan.with_seeds(&more_seeds(&plan.seeds, FIRST_LOOK.saturating_sub(plan.seeds.len())))?;
    let mut session = Session::open(&plan, options, progress)?;
    let mut looks = Vec::new();
    loop {
        session.run(&plan)?;
        let found = session.measure(&plan, |dir, info, stop| of_one(dir, info, &until.class, &until.metric, stop))?;
        let wide = too_wide(until, &found);
        let added = seeds_to_add(until, plan.seeds.len(), &wide);
        let look = Look { until: until.clone(), seeds: plan.seeds.len(), places: found.len(), wide, added };
        progress.looked(&look);
        looks.push(look);
        if added == 0 {
            return Ok(UntilReport { run: session.report(&plan)?, looks });
        }
        plan = plan.with_seeds(&more_seeds(&plan.seeds, added))?;
    }
}

/// `seeds` and `count` more: the smallest numbers from 1 that are not there.
fn more_seeds(seeds: &[u64], count: usize) -> Vec<u64> {
    let fresh = (1..).filter(|seed| !seeds.contains(seed)).take(count);
    seeds.iter().copied().chain(fresh).collect()
}

/// The places whose interval is too wide, the widest first; those without an interval before all others.
fn too_wide(until: &Until, found: &[EstimateAt]) -> Vec<Wide> {
    let mut wide: Vec<Wide> = found
        .iter()
        .filter_map(|(scheme, values, estimate)| wide_place(until, scheme, values, estimate.as_ref()))
        .collect();
    let width = |wide: &Wide| wide.half_width.unwrap_or(f64::INFINITY);
    wide.sort_by(|a, b| width(b).total_cmp(&width(a)));
    wide
}

/// What is to be said of a place unless its interval is narrow enough.
pub(crate) fn wide_place(until: &Until, scheme: &str, values: &[String], estimate: Option<&Estimate>) -> Option<Wide> {
    let (half_width, reason) = match relative_half_width(estimate) {
        Ok(half_width) if half_width <= until.precision.half_width => return None,
        Ok(half_width) => (Some(half_width), None),
        Err(reason) => (None, reason),
    };
    Some(Wide { scheme: scheme.to_owned(), values: values.to_vec(), half_width, reason })
}

/// The wider side of an interval as a share of the value; else why there is no interval, if that is known.
pub(crate) fn relative_half_width(estimate: Option<&Estimate>) -> Result<f64, Option<String>> {
    let estimate = estimate.ok_or(None)?;
    let interval = estimate.interval.ok_or_else(|| estimate.note.clone())?;
    let half = (estimate.value - interval.low).max(interval.high - estimate.value);
    // Where every seed says zero there is nothing to narrow.
    Ok(if half == 0.0 { 0.0 } else { half / estimate.value.abs() })
}

/// How many seeds to add to `seeds`.
pub(crate) fn seeds_to_add(until: &Until, seeds: usize, wide: &[Wide]) -> usize {
    // No number of seeds gives an interval to what is counted and not estimated.
    let hopeless = |wide: &Wide| wide.half_width.is_none() && wide.reason.is_none();
    let Some(widest) = wide.iter().find(|wide| !hopeless(wide)) else { return 0 };
    let needed = widest.half_width.map_or(f64::INFINITY, |half| {
        // Rounded up by a tenth: a look that just fails costs another batch.
        1.1 * seeds as f64 * (half / until.precision.half_width).powi(2)
    });
    let total = (needed.ceil() as usize).clamp(seeds + seeds.div_ceil(5), 2 * seeds);
    total.min(until.max_seeds).saturating_sub(seeds)
}

impl fmt::Display for Wide {
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

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Until { precision, metric, class, .. } = &self.until;
        let target = percent(precision.half_width);
        write!(f, "{} seeds: {metric} of {class} within ±{target} at ", self.seeds)?;
        write!(f, "{} of {} points", self.places - self.wide.len(), self.places)?;
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
