//! Seeds are added until intervals are narrow enough.
//!
//! After each batch of seeds the intervals of one metric are checked at every design point. Every design point gets
//! every seed, so that schemes stay comparable seed by seed. The first check comes after five seeds. How many are added
//! then follows from the widest interval, whose half width shrinks with the root of the number of seeds; at most as
//! many are added as there are, because that forecast is rough. The seeds depend on nothing but the scenario and the
//! stopping rule: not on the machine, nor on what the folder holds already.
//!
//! To check repeatedly, and to go on only if the interval is wide, favours intervals that are too narrow by chance: of
//! those that are called 95 % intervals somewhat fewer hold the true value (Chow and Robbins, "On the asymptotic theory
//! of fixed-width sequential confidence intervals", Annals of Mathematical Statistics 36, 1965; Law and Kelton,
//! "Confidence intervals for steady-state simulations II", Management Science 28, 1982). Few checks keep that small:
//! about 92 of 100 hold it, and a test makes sure of 90.

use tailcut_results::{METRICS, MetricAtDesignPoint, describe, flow_set_names, measure_one};
use tailcut_sim::Problem;
use tailcut_sim::config::suggest;

use crate::error::RunError;
use crate::plan::Plan;
use crate::precision::{PrecisionCheck, StoppingRule, WideInterval};
use crate::progress::Progress;
use crate::runner::{RunOptions, RunReport, Session};

/// Seeds before the first check: with fewer the width of an interval is itself a matter of chance.
const FIRST_CHECK: usize = 5;

/// What a run with a stopping rule came to.
#[derive(Debug)]
pub struct UntilReport {
    /// The run with the last number of seeds.
    pub run: RunReport,
    /// The check after each batch; the last one says which intervals are still too wide.
    pub checks: Vec<PrecisionCheck>,
}

/// Why a run with a stopping rule could not be done.
#[derive(Debug, thiserror::Error)]
pub enum UntilError {
    /// The stopping rule does not fit the scenario.
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
/// `rule.max_seeds`. Then writes statistics, tables, plots and the page of all of them. Points that are in the folder
/// already are not run again, and points that fail are not tried again.
///
/// # Errors
/// If there is no such metric or class, or as [`crate::run`].
pub fn run_until(
    plan: &Plan,
    rule: &StoppingRule,
    options: &RunOptions,
    progress: &dyn Progress,
) -> Result<UntilReport, UntilError> {
    fits(rule, plan)?;
    let mut plan = plan.with_seeds(&more_seeds(&plan.seeds, FIRST_CHECK.saturating_sub(plan.seeds.len())))?;
    let mut session = Session::open(&plan, options, progress)?;
    let mut checks = Vec::new();
    loop {
        session.run(&plan)?;
        let found = session.read(&plan, |dir, info, stop| measure_one(dir, info, &rule.class, &rule.metric, stop))?;
        let wide = wide_intervals(rule, &found);
        let added = rule.seeds_to_add(plan.seeds.len(), &wide);
        let (seeds, design_points) = (plan.seeds.len(), found.len());
        let check = PrecisionCheck { rule: rule.clone(), seeds, design_points, wide, added };
        progress.checked(&check);
        checks.push(check);
        if added == 0 {
            return Ok(UntilReport { run: session.report(&plan)?, checks });
        }
        plan = plan.with_seeds(&more_seeds(&plan.seeds, added))?;
    }
}

/// Checks that a run of `plan` has the metric and the set of flows of a stopping rule.
fn fits(rule: &StoppingRule, plan: &Plan) -> Result<(), Problem> {
    if describe(&rule.metric).is_none() {
        let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        return Err(Problem::new(format!("there is no metric `{}`", rule.metric)).help(suggest(&rule.metric, &known)));
    }
    let classes = flow_set_names(&plan.classes, &plan.class_sets, &plan.size_bounds);
    if !classes.contains(&rule.class) {
        let known: Vec<&str> = classes.iter().map(String::as_str).collect();
        let problem = Problem::new(format!("the scenario has no class `{}`", rule.class));
        return Err(problem.help(suggest(&rule.class, &known)));
    }
    if rule.max_seeds < FIRST_CHECK {
        let problem = Problem::new(format!("{} seeds are too few to judge how wide an interval is", rule.max_seeds));
        return Err(problem.help(format!("expected at least {FIRST_CHECK}")));
    }
    Ok(())
}

/// `seeds` and `count` more: the smallest numbers from 1 that are not there.
pub(crate) fn more_seeds(seeds: &[u64], count: usize) -> Vec<u64> {
    let fresh = (1..).filter(|seed| !seeds.contains(seed)).take(count);
    seeds.iter().copied().chain(fresh).collect()
}

/// `plan` with `count` seeds more.
///
/// # Errors
/// If what one of them draws does not fit the scenario.
pub fn with_more_seeds(plan: &Plan, count: usize) -> Result<Plan, Problem> {
    plan.with_seeds(&more_seeds(&plan.seeds, count))
}

/// The intervals that are too wide, the widest first; those that are missing come before all others.
fn wide_intervals(rule: &StoppingRule, found: &[MetricAtDesignPoint]) -> Vec<WideInterval> {
    let mut wide: Vec<WideInterval> =
        found.iter().filter_map(|at| rule.too_wide(&at.scheme, &at.values, at.estimate.as_ref())).collect();
    let width = |wide: &WideInterval| wide.half_width.unwrap_or(f64::INFINITY);
    wide.sort_by(|a, b| width(b).total_cmp(&width(a)));
    wide
}
