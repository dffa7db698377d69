//! Claims about the smart buffer.

use super::closed_form::arithmetic;
use super::functions;
use super::shapes::{Saturation, flat, gap_widens, saturates};
use tailcut_results::stats::{Resample, bootstrap};

use crate::case::{Case, Outcome};
use crate::curves::extremes;
use crate::finding::{Bounds, Finding, Number};
use crate::samples::{Operand, Samples};
use crate::scope;
use crate::value;

functions! {
    fair_to_long_flow,
    dip_of_edt,
    smartbuf_gap_widens,
    knee_at_three,
    stable_range_of_beta,
    robust_to_buffer_size,
    time_to_dequeue,
    cycles_of_lookup,
    dequeue_over_update,
}

/// During an incast on another port, the throughput of a long flow does not dip, where it does with EDT.
fn fair_to_long_flow(case: &Case<'_>) -> Outcome {
    let mut found = Finding::with_remarks(vec!["no interval".into()]);
    let (own, other) = (dip(case, "smartbuf")?, dip(case, "edt")?);
    let difference =
        Number { name: "the difference of the dips".into(), value: other.value - own.value, interval: None };
    found.add(own, Some(Bounds::at_most(0.1)), None);
    found.add(other, Some(Bounds::at_least(0.3)), None);
    found.add(difference, None, Some(Bounds::at_least(0.1)));
    Ok(found)
}

/// With EDT the throughput of the long flow dips during the incast.
fn dip_of_edt(case: &Case<'_>) -> Outcome {
    let mut found = Finding::with_remarks(vec!["no interval".into()]);
    found.add(dip(case, "edt")?, Some(Bounds::at_least(0.3)), Some(Bounds::at_least(0.1)));
    Ok(found)
}

/// The dip of the quantity of the claim over time: 1 less the smallest value over the median, as the mean over the
/// sweep points.
fn dip(case: &Case<'_>, subject: &str) -> Result<Number, String> {
    let points = scope::select(case.claim, case.evidence.sweep_points(), &[]);
    let metric = case.claim.measures()[0].name();
    if points.is_empty() {
        return Err(format!("{metric} of {subject} has not been measured"));
    }
    let depth = |&point: &usize| {
        let series = case.evidence.series(subject, point, &metric)?;
        let mut values: Vec<f64> = series.into_iter().map(|(_, y)| y).filter(|y| y.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        match values.get(values.len() / 2) {
            Some(&median) if median > 0.0 => Ok(1.0 - values[0] / median),
            _ => Err(format!("{metric} of {subject} is empty or zero")),
        }
    };
    let depths: Vec<f64> = points.iter().map(depth).collect::<Result<_, String>>()?;
    let value = depths.iter().sum::<f64>() / depths.len() as f64;
    Ok(Number { name: format!("the dip of {metric} of {subject}"), value, interval: None })
}

/// The gap between EDT and the smart buffer widens as the load rises.
fn smartbuf_gap_widens(case: &Case<'_>) -> Outcome {
    gap_widens(case, "edt", "smartbuf")
}

/// With 3 entries (k) the smart buffer is as good as with more of them, and better than with fewer.
fn knee_at_three(case: &Case<'_>) -> Outcome {
    let saturation = Saturation {
        from: 3.0,
        change_after: (0.05, 0.15),
        falls_only: false,
        gain_before: Some((0.05, 0.0)),
        level_from: None,
    };
    saturates(case, "smartbuf", "k", &saturation)
}

/// How much the tail depends on beta: the largest tail of all values of beta over the smallest one.
fn stable_range_of_beta(case: &Case<'_>) -> Outcome {
    let subject = Operand::of(&case.claim.subject);
    let samples = Samples::fetch(case, vec![subject.clone()], case.claim.measures())?;
    let spread = |resample: Resample<'_>| {
        let value = |point| samples.value(&subject, point, 0, resample);
        let (low, high) = extremes(&(0..samples.points.len()).filter_map(value).collect::<Vec<_>>());
        high / low
    };
    let value = spread(Resample::Measured);
    if value.is_nan() {
        return Err(samples.incomplete().unwrap_or_else(|| "too little has been measured".into()));
    }
    let name = "the largest over the smallest value".into();
    let mut found = samples.finding();
    let (reproduced, partly) = value::limits(case)?;
    let number = Number { name, value, interval: bootstrap(samples.seeds, &spread) };
    found.add(number, Some(reproduced), Some(partly));
    Ok(found)
}

/// The ratio of EDT to the smart buffer hardly depends on the size of the buffer, the smallest and the largest size
/// aside.
fn robust_to_buffer_size(case: &Case<'_>) -> Outcome {
    flat(case, "edt/smartbuf", "shared_buffer_mb", 1, (1.3, 2.0))
}

/// The time in which a packet of 64 B leaves a port of 10 Gb/s, in ns.
fn time_to_dequeue(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[64.0 * 8.0 / 10.0])
}

/// A binary search among 30 entries: its steps, its cycles if each step takes three, and what is left of 40 cycles.
fn cycles_of_lookup(case: &Case<'_>) -> Outcome {
    let steps = 30f64.log2().ceil();
    arithmetic(case, &[steps, 3.0 * steps, 40.0 - 3.0 * steps])
}

/// The time in which a packet of 1500 B leaves a port of 100 Gb/s, over the 10 ns that an update takes.
fn dequeue_over_update(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[(1500.0 * 8.0 / 100.0) / 10.0])
}
