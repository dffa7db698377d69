//! Claims about ICON.

use super::closed_form::arithmetic;
use super::functions;
use tailcut_results::stats::{Resample, jackknife};

use crate::case::{Case, Outcome};
use crate::catalogue::Claim;
use crate::curves::{Curves, Series, slope};
use crate::evidence::Coordinate;
use crate::expected::{Aggregate, Better};
use crate::finding::{Bounds, Finding, Number};
use crate::order::{self, Compared, Order, subjects};
use crate::samples::{Samples, operands_of, over_baselines};
use crate::shape::fetch;
use crate::value;

functions! {
    tail_rises_ever_faster,
    tail_above_median,
    throughput_order,
    queue_gain_over_tail_gain,
    pause_between_packets,
    rate_of_senders,
}

/// The tail of each scheme without ICON rises ever faster: the slope of the upper half of its curve over that of the
/// lower half.
fn tail_rises_ever_faster(case: &Case<'_>) -> Outcome {
    let series = ["dctcp", "ictcp", "ia-icon"].map(|name| Series::of(case.claim, name));
    let samples = fetch(case, &series)?;
    let curves =
        series.iter().map(|series| Curves::against(&samples, series, &["load"], 3)).collect::<Result<Vec<_>, _>>()?;
    let mut found = samples.finding();
    for curves in &curves {
        let steeper = |x: &[f64], y: &[f64]| {
            let middle = x.len() / 2;
            let (lower, upper) = (slope(&x[..=middle], &y[..=middle]), slope(&x[middle..], &y[middle..]));
            if upper <= 0.0 {
                0.0
            } else if lower <= 0.0 {
                f64::INFINITY
            } else {
                upper / lower
            }
        };
        let name = format!("the upper slope of {} over the lower one", curves.name());
        let statistic = |resample: Resample<'_>| curves.mean(resample, steeper);
        let (near, wide) = (Bounds::at_least(1.5), Bounds::at_least(1.0));
        curves.add(&mut found, name, &statistic, Some(near), Some(wide))?;
    }
    Ok(found)
}

/// How far the tail is above the median, for the subject and for each baseline: the mean over the loads.
fn tail_above_median(case: &Case<'_>) -> Outcome {
    let limits = value::limits(case)?;
    let mut found: Option<Finding> = None;
    let mut missing = Vec::new();
    for scheme in std::iter::once(&case.claim.subject).chain(&case.claim.baseline) {
        let claim = Claim { subject: scheme.clone(), ..case.claim.clone() };
        match value::measure(&Case { claim: &claim, ..*case }, Aggregate::Mean) {
            Ok((context, mut numbers)) => {
                numbers.iter_mut().for_each(|number| number.name += &format!(" of {scheme}"));
                let own = value::against((context, numbers), limits)?;
                found = Some(match found {
                    Some(found) => found.and(own),
                    None => own,
                });
            }
            Err(_) => missing.push(scheme.as_str()),
        }
    }
    let mut found = found.ok_or_else(|| format!("{} has not been measured", missing.join(", ")))?;
    if !missing.is_empty() {
        found.incomplete = Some(format!("not measured: {}", missing.join(", ")));
    }
    Ok(found)
}

/// ICON is above all others, and ICTCP above DCTCP at higher loads: from 0.5 on.
fn throughput_order(case: &Case<'_>) -> Outcome {
    const HIGHER: f64 = 0.5;
    let order = |rank: [&[&str]; 2]| vec![Order::of_claim(case, Better::Higher, vec![subjects(&rank)])];
    let icon = order::judge(case, order([&["icon"], &["ictcp", "ia-icon", "dctcp"]]), &|_| false)?;
    let is_lower = |Compared { point, .. }: Compared<'_>| {
        point.get("load").is_some_and(|load| matches!(load, Coordinate::Number(load) if *load < HIGHER - 1e-9))
    };
    match order::judge(case, order([&["ictcp"], &["dctcp"]]), &is_lower) {
        Ok(ictcp) => Ok(icon.and(ictcp)),
        Err(why) => Ok(icon.lacking(why)),
    }
}

/// The gain in the queue at the sink over that in the tail FCT, where a gain is baseline over subject: the mean over
/// the sweep points.
fn queue_gain_over_tail_gain(case: &Case<'_>) -> Outcome {
    let quotients = over_baselines(case.claim);
    let samples = Samples::fetch(case, operands_of(&quotients), case.claim.measures())?;
    let mut found = samples.finding();
    let (reproduced, partly) = value::limits(case)?;
    for (subject, baseline) in &quotients {
        let mean = |resample: Resample<'_>| {
            let gains = (0..samples.points.len()).filter_map(|point| {
                let gain = |measure| samples.ratio((baseline, subject), point, measure, resample);
                Some(gain(0)? / gain(1)?)
            });
            let gains: Vec<f64> = gains.collect();
            gains.iter().sum::<f64>() / gains.len() as f64
        };
        let value = mean(Resample::Measured);
        if value.is_nan() {
            continue;
        }
        let name = format!("the gain in the first quantity over that in the second, against {}", baseline.name());
        let interval = jackknife(samples.seeds, false, &mean);
        found.add(Number { name, value, interval }, Some(reproduced), Some(partly));
    }
    if found.numbers.is_empty() {
        return Err(found.incomplete.unwrap_or_else(|| "too little has been measured".into()));
    }
    Ok(found)
}

/// The pause in us between packets of 1500 B at 10 Gb/s, of which 10 are sent in a round trip of 120 us.
fn pause_between_packets(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[120.0 / 10.0 - 1500.0 * 8.0 / 10e3])
}

/// The rate in Gb/s of one sender and of each of 26, with a window of 10 packets of 1500 B and a round trip of 120 us.
fn rate_of_senders(case: &Case<'_>) -> Outcome {
    let (cwnd, rtt_us) = (10.0, 120.0);
    arithmetic(case, &[cwnd * 1500.0 * 8.0 / (rtt_us * 1e3), cwnd * 1500.0 * 8.0 / (rtt_us * 1e3 * 26.0)])
}
