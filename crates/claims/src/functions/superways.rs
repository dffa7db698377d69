//! Claims about Superways.

use super::closed_form::{arithmetic, within};
use super::functions;
use super::shapes::gap_widens;
use super::tables::{ComparedTable, published};
use tailcut_results::stats::{Resample, bootstrap, jackknife};

use crate::case::{Case, Outcome};
use crate::catalogue::Measure;
use crate::expected::{Aggregate, Cell};
use crate::finding::{Bounds, Number};
use crate::ratio;
use crate::samples::{Quotient, Samples, operands_of, over_baselines};
use crate::value;

functions! {
    superways_gap_widens,
    tail_reduction_by_topology,
    improvements_in_simulation,
    improvements_on_testbed,
    baseline_over_subject,
    spine_over_leaf,
    aggregator_utilisation,
    aggregator_cpu,
    cost_of_subways,
    cost_of_superways,
    share_of_local_senders,
    links_and_residual,
    senders_without_loss,
    residual_of_utilisation,
}

/// Dynamic thresholds alone fall back behind Superways as the load rises.
fn superways_gap_widens(case: &Case<'_>) -> Outcome {
    gap_widens(case, "leaf-spine+dt", "superways/leaf-spine")
}

/// 1 less the ratio of Superways upon a topology to that topology, the mean over the sweep points; each topology by
/// itself.
fn tail_reduction_by_topology(case: &Case<'_>) -> Outcome {
    let quotients = over_baselines(case.claim);
    let samples = Samples::fetch(case, operands_of(&quotients), case.claim.measures())?;
    let mut found = samples.finding();
    let (reproduced, partly) = value::limits(case)?;
    for quotient in &quotients {
        let reduction = |resample: Resample<'_>| 1.0 - mean_ratio(&samples, quotient, 0, resample);
        let value = reduction(Resample::Measured);
        if value.is_nan() {
            continue;
        }
        let name = format!("the mean reduction of {}", quotient.1.name());
        let interval = jackknife(samples.seeds, false, &reduction);
        found.add(Number { name, value, interval }, Some(reproduced), Some(partly));
    }
    if found.numbers.is_empty() {
        return Err(found.incomplete.unwrap_or_else(|| "too little has been measured".into()));
    }
    Ok(found)
}

/// The mean over the sweep points of a ratio in the quantity with this index.
fn mean_ratio(samples: &Samples, (above, below): &Quotient, measure: usize, resample: Resample<'_>) -> f64 {
    let ratio = |point| samples.ratio((above, below), point, measure, resample);
    let ratios: Vec<f64> = (0..samples.points.len()).filter_map(ratio).collect();
    ratios.iter().sum::<f64>() / ratios.len() as f64
}

/// Table 3, the part that was simulated.
fn improvements_in_simulation(case: &Case<'_>) -> Outcome {
    improvements(case, 6.0, 50.0)
}

/// Table 3, the part that was measured on the testbed.
fn improvements_on_testbed(case: &Case<'_>) -> Outcome {
    improvements(case, 8.0, 40.0)
}

/// Rows of improvements in per cent, of the tail FCT and of the throughput. The tail has to be within `error` per cent
/// of the published number for `reproduced`, and at least `least` for `partly`; the throughput within half of it, and
/// at least 2.
fn improvements(case: &Case<'_>, error: f64, least: f64) -> Outcome {
    let quotients = over_baselines(case.claim);
    let samples = Samples::fetch(case, operands_of(&quotients), case.claim.measures())?;
    let mut found = samples.finding();
    for row in &published(case)?.rows {
        let [Cell::Text(topology), Cell::Number(tail), Cell::Number(throughput)] = row.as_slice() else {
            return Err("a row is not a topology and two numbers".into());
        };
        let Some(quotient) = quotients.iter().find(|(_, below)| below.subject == *topology) else { continue };
        // A lower tail is an improvement, and a higher throughput.
        let quantities =
            [(0, -1.0, "tail FCT", *tail, error, least), (1, 1.0, "throughput", *throughput, 0.5 * throughput, 2.0)];
        for (measure, sign, what, published, error, least) in quantities {
            let change =
                |resample: Resample<'_>| sign * 100.0 * (mean_ratio(&samples, quotient, measure, resample) - 1.0);
            let value = change(Resample::Measured);
            if value.is_nan() {
                continue;
            }
            let name = format!("the improvement of {what} on {topology} in %");
            let interval = bootstrap(samples.seeds, &change);
            let near = Bounds::around(published, error);
            found.add(Number { name, value, interval }, Some(near), Some(Bounds::at_least(least)));
        }
    }
    if found.numbers.is_empty() { Err("no row of the table has been measured".into()) } else { Ok(found) }
}

/// The cost of the baseline over that of the subject.
fn baseline_over_subject(case: &Case<'_>) -> Outcome {
    let quotients: Vec<Quotient> =
        over_baselines(case.claim).into_iter().map(|(subject, baseline)| (baseline, subject)).collect();
    let samples = Samples::fetch(case, operands_of(&quotients), case.claim.measures())?;
    ratio::judge(case, &samples, &[&quotients], Aggregate::Each, false)
}

/// The tail FCT of links at the spine over that of links at the leaves, at the best sweep point, and the throughput of
/// long flows, which rises.
fn spine_over_leaf(case: &Case<'_>) -> Outcome {
    const THROUGHPUT: &str = "mean throughput of long flows";
    let quotients = over_baselines(case.claim);
    let mut measures = case.claim.measures();
    measures.push(Measure::Plain(THROUGHPUT.to_owned()));
    let samples = Samples::fetch(case, operands_of(&quotients), measures)?;
    let best = |measure| ratio::aggregated(case, &samples, &quotients, &[measure], Aggregate::Best, true);
    let mut found = samples.finding();
    let (reproduced, partly) = value::limits(case)?;
    for number in best(0) {
        found.add(number, Some(reproduced), Some(partly));
    }
    if found.numbers.is_empty() {
        return Err(ratio::why_none(&samples, quotients.iter()));
    }
    for mut number in best(1) {
        number.name = format!("{} in {THROUGHPUT}", number.name);
        found.add(number, Some(Bounds::between(1.04, 1.18)), None);
    }
    let empty = ratio::count_zero_over_zero(&samples, quotients.iter(), &[0]);
    if empty > 0 {
        found.remarks.push(format!("{empty} with zero on both sides say nothing"));
    }
    Ok(found)
}

/// The link of an aggregator is used more than that of an ordinary server.
fn aggregator_utilisation(case: &Case<'_>) -> Outcome {
    let table = ComparedTable::of(case)?;
    let mut found = table.finding();
    table.add_largest_distance(&mut found, 0.15, None);
    table.add_first_over_second(&mut found, 1.5);
    Ok(found)
}

/// The CPU of an aggregator is used hardly more than that of an ordinary server.
fn aggregator_cpu(case: &Case<'_>) -> Outcome {
    let table = ComparedTable::of(case)?;
    let mut found = table.finding();
    table.add_largest_distance(&mut found, 0.02, Some(0.05));
    Ok(found)
}

/// What the cables, switches and NICs of Subways cost in USD.
fn cost_of_subways(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[48.0 * 48.0 * 5.0 + 48.0 * 5000.0 + 48.0 * 48.0 * 80.0])
}

/// What the cables and NICs of 70 aggregators and two spines of 11,000 USD each cost in USD.
fn cost_of_superways(case: &Case<'_>) -> Outcome {
    let spine = 11000.0;
    within(case, (0.01, 0.05), &[70.0 * 20.0 + 70.0 * 80.0 + 2.0 * spine])
}

/// The share of an aggregator's senders that are below its own leaf: two of six.
fn share_of_local_senders(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[2.0 / 6.0])
}

/// If 1.2 links are needed, two are laid: the number of links, and the part of them that is left over.
fn links_and_residual(case: &Case<'_>) -> Outcome {
    let links: f64 = 1.2;
    arithmetic(case, &[links.ceil(), links.ceil() - links])
}

/// The number of senders of 10 Gb/s that a link of 40 Gb/s carries without a buffer.
fn senders_without_loss(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[40.0 / 10.0])
}

/// The part of a link that is left over if 0.75 of it is used.
fn residual_of_utilisation(case: &Case<'_>) -> Outcome {
    let utilisation: f64 = 0.75;
    arithmetic(case, &[utilisation.ceil() - utilisation])
}
