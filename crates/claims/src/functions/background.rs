//! Claims about what the documents build on.

use super::functions;
use tailcut_results::stats::Resample;

use crate::case::{Case, Outcome};
use crate::curves::{Curves, Series};
use crate::finding::Bounds;
use crate::shape::fetch;

functions! {
    tail_steps_up,
}

/// The tail of a shared buffer with dynamic thresholds steps up at a load of 0.6: its mean from there on over the mean
/// before.
fn tail_steps_up(case: &Case<'_>) -> Outcome {
    const FROM: f64 = 0.6;
    let series = Series::of(case.claim, "dt");
    let samples = fetch(case, std::slice::from_ref(&series))?;
    let curves = Curves::against(&samples, &series, &["load"], 2)?;
    let is_after = |load: f64| load >= FROM - 1e-9;
    if !curves.has_both_sides(is_after) {
        return Err(format!("{} was not measured on both sides of {FROM}", curves.name()));
    }
    let factor = |resample: Resample<'_>| {
        let curve = curves.averaged(true, resample);
        let mean = |after: bool| {
            let side: Vec<f64> = curve.iter().filter(|at| is_after(at.0) == after).map(|at| at.1).collect();
            side.iter().sum::<f64>() / side.len() as f64
        };
        mean(true) / mean(false)
    };
    let mut found = samples.finding();
    let name = format!("the mean of {} from {FROM} on over that before", curves.name());
    curves.add(&mut found, name, &factor, Some(Bounds::at_least(2.0)), Some(Bounds::at_least(1.2)))?;
    Ok(found)
}
