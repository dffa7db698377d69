//! Shapes of curves that few claims are about.

use tailcut_results::stats::Resample;

use crate::case::{Case, Outcome};
use crate::curves::{Curves, Series, extremes};
use crate::expected::Form;
use crate::finding::Bounds;
use crate::samples::Operand;
use crate::shape::{fetch, rising};

/// A minimum inside: how far the lower end of the curve rises above it, relative to it, and where it is. `rises` are
/// the least ones for `reproduced` and for `partly`, `inside` is where the minimum has to be for `reproduced`.
pub(super) fn minimum_inside(
    case: &Case<'_>,
    subject: &str,
    x: &str,
    inside: (f64, f64),
    rises: (f64, f64),
) -> Outcome {
    let series = Series::of(case.claim, subject);
    let samples = fetch(case, std::slice::from_ref(&series))?;
    let curves = Curves::against(&samples, &series, &[x], 3)?;
    let minimum =
        |curve: &[(f64, f64)]| curve.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((f64::NAN, f64::NAN));
    let rise = |resample: Resample<'_>| {
        let curve = curves.averaged(true, resample);
        let end = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |point| point.1);
        end(curve.first()).min(end(curve.last())) / minimum(&curve).1 - 1.0
    };
    let place = |resample: Resample<'_>| minimum(&curves.averaged(true, resample)).0;
    let mut found = samples.finding();
    let name = format!("the rise of {} from its minimum to its lower end", curves.name());
    let (near, wide) = (Bounds::at_least(rises.0), Bounds::at_least(rises.1));
    curves.add(&mut found, name, &rise, Some(near), Some(wide))?;
    let name = format!("the x of the minimum of {}", curves.name());
    curves.add(&mut found, name, &place, Some(Bounds::between(inside.0, inside.1)), None)?;
    Ok(found)
}

/// What is asked of a curve that falls at first and is level from some x on.
pub(super) struct Saturation {
    /// The x from which on it is level.
    pub(super) from: f64,
    /// Largest relative change after it, for `reproduced` and for `partly`.
    pub(super) change_after: (f64, f64),
    /// Whether only a fall after it counts as a change: that more brings nothing does not mean that it does no harm.
    pub(super) falls_only: bool,
    /// Least relative gain until it, if one is claimed.
    pub(super) gain_before: Option<(f64, f64)>,
    /// Bounds, for `reproduced` and for `partly`, of the first x after which the curve changes by no more than
    /// `change_after` allows for `reproduced`; if the document claims such an x.
    pub(super) level_from: Option<(Bounds, Bounds)>,
}

/// Whether a curve falls until some x and is level from there on.
pub(super) fn saturates(case: &Case<'_>, subject: &str, x: &str, saturation: &Saturation) -> Outcome {
    let Saturation { from, change_after, falls_only, gain_before, level_from } = saturation;
    let series = Series::of(case.claim, subject);
    let samples = fetch(case, std::slice::from_ref(&series))?;
    let curves = Curves::against(&samples, &series, &[x], 3)?;
    let curve = |resample: Resample<'_>| curves.averaged(true, resample);
    let knee = curve(Resample::Measured).iter().position(|point| (point.0 - from).abs() <= 1e-9 * from);
    let knee = knee.ok_or_else(|| format!("{} was not measured at {from}", curves.name()))?;
    let change = |curve: &[(f64, f64)], at: usize| {
        let of = |point: &(f64, f64)| {
            let rise = point.1 / curve[at].1 - 1.0;
            if *falls_only { -rise } else { rise.abs() }
        };
        curve[at..].iter().map(of).fold(0.0, f64::max)
    };
    let mut found = samples.finding();
    let what = if *falls_only { "fall" } else { "change" };
    let name = format!("the largest {what} of {} after {from}", curves.name());
    let (near, wide) = (Bounds::at_most(change_after.0), Bounds::at_most(change_after.1));
    curves.add(&mut found, name, &|resample| change(&curve(resample), knee), Some(near), Some(wide))?;
    if let Some((near, wide)) = gain_before {
        let gain = |resample: Resample<'_>| {
            let curve = curve(resample);
            1.0 - curve[knee].1 / curve[0].1
        };
        let name = format!("the gain of {} until {from}", curves.name());
        let (near, wide) = (Bounds::at_least(*near), Bounds::at_least(*wide));
        curves.add(&mut found, name, &gain, Some(near), Some(wide))?;
    }
    if let Some((near, wide)) = level_from {
        let first = |resample: Resample<'_>| {
            let curve = curve(resample);
            let level = (0..curve.len()).find(|&at| change(&curve, at) <= change_after.0);
            level.map_or(f64::INFINITY, |at| curve[at].0)
        };
        let name = format!("the x from which {} is level", curves.name());
        curves.add(&mut found, name, &first, Some(*near), Some(*wide))?;
    }
    Ok(found)
}

/// Whether a curve is flat: the ratio of its largest value to its smallest one, where `ends` points at each end do not
/// count. `spreads` are the largest ratios for `reproduced` and for `partly`.
pub(super) fn flat(case: &Case<'_>, series: &str, x: &str, ends: usize, spreads: (f64, f64)) -> Outcome {
    let series = Series::of(case.claim, series);
    let samples = fetch(case, std::slice::from_ref(&series))?;
    let curves = Curves::against(&samples, &series, &[x], 2 + 2 * ends)?;
    let spread = |resample: Resample<'_>| {
        curves.mean(resample, |_, y| {
            let (low, high) = extremes(&y[ends..y.len() - ends]);
            high / low
        })
    };
    let mut found = samples.finding();
    let name = format!("the largest over the smallest value of {}", curves.name());
    let (near, wide) = (Bounds::at_most(spreads.0), Bounds::at_most(spreads.1));
    curves.add(&mut found, name, &spread, Some(near), Some(wide))?;
    Ok(found)
}

/// Whether two curves drift apart as the load rises: the rank correlation of their ratio with the load is compared with
/// the claim's tolerance.
pub(super) fn gap_widens(case: &Case<'_>, above: &str, below: &str) -> Outcome {
    let gap = Series::Ratio(Operand::of(above), Operand::of(below));
    let samples = fetch(case, std::slice::from_ref(&gap))?;
    let curves = Curves::against(&samples, &gap, &["load"], 2)?;
    rising(case, &samples, &[curves], Form::Increasing, "load")
}
