//! Claims about SPQ.

use super::closed_form::{arithmetic, oversubscription};
use super::functions;
use super::tables::{ComparedTable, is_row, label, published};
use tailcut_results::stats::{Resample, bootstrap, jackknife};

use crate::case::{Case, Outcome};
use crate::catalogue::Measure;
use crate::curves::{Curves, Series};
use crate::evidence::Coordinate;
use crate::expected::Better::{Higher, Lower};
use crate::expected::{Aggregate, Form};
use crate::finding::{Bounds, Number};
use crate::order::{self, Compared, Order, quantities, subjects, values_of};
use crate::ratio;
use crate::samples::{Operand, Samples, operands_of, over_baselines};
use crate::shape::{fetch, rising};

functions! {
    near_optimal_short_flows,
    best_p999_by_workload,
    losses_over_dctcp,
    losses_move_to_hosts,
    fewer_losses_but_at_high_load,
    fewer_losses_on_data_mining,
    more_pias_losses_on_data_mining,
    easier_data_mining,
    sizes_stay_apart,
    worst_in_the_tail,
    nonoversubscribed,
    oversubscribed,
    buffer_of_240_packets,
    largest_cut_of_l2dct,
}

/// SPQ is near pFabric in the mean and the 99th percentile of the FCT of short flows, which the document draws for
/// both, and ahead of the deployable schemes in these and in the 99.9th percentile.
fn near_optimal_short_flows(case: &Case<'_>) -> Outcome {
    let metrics = ["mean FCT of short flows", "p99 FCT of short flows", "p99.9 FCT of short flows"];
    let gap = [(Operand::of("spq"), Operand::of("pfabric"))];
    let measures: Vec<Measure> = metrics[..2].iter().map(|metric| Measure::Plain((*metric).to_owned())).collect();
    let samples = Samples::fetch(case, operands_of(&gap), measures)?;
    let mut near = samples.finding();
    for number in ratio::aggregated(case, &samples, &gap, &[0, 1], Aggregate::Each, false) {
        near.add(number, Some(Bounds::at_most(1.1)), Some(Bounds::at_most(1.3)));
    }
    if near.numbers.is_empty() {
        return Err(ratio::why_none(&samples, gap.iter()));
    }
    let rank: [&[&str]; 2] = [&["spq"], &["pias", "l2dct", "dctcp"]];
    let orders = metrics.iter().map(|metric| Order::in_metric(metric, Lower, &rank)).collect();
    Ok(near.and(order::judge(case, orders, &|_| false)?))
}

/// The best ratio of the 99.9th percentile to any baseline at any load, for each workload of the table.
fn best_p999_by_workload(case: &Case<'_>) -> Outcome {
    /// For `reproduced` and for `partly`, by workload in the order of the table.
    const BOUNDS: [((f64, f64), (f64, f64)); 3] =
        [((0.034, 0.24), (0.0, 0.55)), ((0.04, 0.25), (0.0, 0.56)), ((0.05, 0.28), (0.0, 0.59))];
    let table = published(case)?;
    let quotients = over_baselines(case.claim);
    let subject = Operand::of(&case.claim.subject);
    let operands = std::iter::once(subject).chain(quotients.iter().map(|(_, below)| below.clone()));
    let samples = Samples::fetch(case, operands.collect(), case.claim.measures())?;
    let key = table.columns.first().map(String::as_str).unwrap_or_default();
    let mut found = samples.finding();
    let mut missing = Vec::new();
    for (row, (near, wide)) in table.rows.iter().zip(BOUNDS) {
        let label = label(row);
        let best = |resample: Resample<'_>| {
            let points = (0..samples.points.len()).filter(|&point| is_row(&samples.points[point], key, &label));
            points
                .flat_map(|point| quotients.iter().map(move |quotient| (point, quotient)))
                .filter_map(|(point, (above, below))| samples.ratio((above, below), point, 0, resample))
                .fold(f64::INFINITY, f64::min)
        };
        let value = best(Resample::Measured);
        if !value.is_finite() {
            missing.push(label);
            continue;
        }
        let number =
            Number { name: format!("the best ratio of {label}"), value, interval: bootstrap(samples.seeds, &best) };
        found.of_effects = true;
        found.add(number, Some(Bounds::between(near.0, near.1)), Some(Bounds::between(wide.0, wide.1)));
    }
    if found.numbers.is_empty() {
        return Err("no row of the table has been measured".into());
    }
    if !missing.is_empty() {
        found.incomplete = Some(format!("not measured: {}", missing.join(", ")));
    }
    Ok(found)
}

/// Tables 2 and 3: losses in the fabric. They depend on how long a run is, so that each is compared as a multiple of
/// DCTCP's. Fifteen losses and fewer are too few to tell one such number from another.
fn losses_over_dctcp(case: &Case<'_>) -> Outcome {
    const FEW: f64 = 15.0;
    let table = ComparedTable::of(case)?;
    let mut found = table.finding();
    table.add_share_within_factor(&mut found, ("dctcp", FEW), (2.0, 0.7), (5.0, 0.6))?;
    Ok(found)
}

/// Losses move from the fabric to the hosts: SPQ loses more packets at the hosts than in the fabric, and fewer in the
/// fabric than the transport that it is built on, which does not schedule at the hosts.
fn losses_move_to_hosts(case: &Case<'_>) -> Outcome {
    let (at_hosts, in_fabric) = ("host packet drops", "fabric packet losses");
    let more = Order {
        rankings: vec![quantities(&case.claim.subject, &[[at_hosts], [in_fabric]])],
        measures: vec![Measure::Plain(case.claim.metric.clone())],
        ..Order::of_claim(case, Higher, Vec::new())
    };
    let fewer = Order::in_metric(in_fabric, Lower, &[&["spq"], &["l2dct"]]);
    order::judge(case, vec![more, fewer], &|_| false)
}

/// SPQ loses fewer packets than DCTCP. The document itself exempts web search at a load of 0.9.
fn fewer_losses_but_at_high_load(case: &Case<'_>) -> Outcome {
    let order = Order::of_claim(case, Lower, vec![subjects(&[["spq"], ["dctcp"]])]);
    let exempt = |Compared { point, .. }: Compared<'_>| {
        let is = |name: &str, value: Coordinate| point.get(name).is_some_and(|at| at.is(&value));
        is("workload", Coordinate::Text("web-search".into())) && is("load", Coordinate::Number(0.9))
    };
    order::judge(case, vec![order], &exempt)
}

/// SPQ and DCTCP, whose losses come from the network alone, lose fewer packets on data mining than on web search.
fn fewer_losses_on_data_mining(case: &Case<'_>) -> Outcome {
    workloads_in_order(case, &["spq", "dctcp"], ["data-mining", "web-search"])
}

/// PIAS, the other way round, loses more packets on data mining than on web search.
fn more_pias_losses_on_data_mining(case: &Case<'_>) -> Outcome {
    workloads_in_order(case, &["pias"], ["web-search", "data-mining"])
}

/// Data mining is easier than web search, as DCTCP and L2DCT show, which mark what waits.
fn easier_data_mining(case: &Case<'_>) -> Outcome {
    workloads_in_order(case, &["dctcp", "l2dct"], ["data-mining", "web-search"])
}

/// Whether the quantity of the claim is smaller on the first workload than on the second one, for each of `schemes`.
fn workloads_in_order(case: &Case<'_>, schemes: &[&str], workloads: [&str; 2]) -> Outcome {
    let rank = workloads.map(|workload| [workload]);
    let order = Order::of_claim(case, Lower, values_of(schemes, "workload", &rank));
    order::judge(case, vec![order], &|_| false)
}

/// Figure 9: the FCTs of three sizes stay apart. The share of sweep points and neighbouring sizes where the larger one
/// takes longer by 5 % at least. That much the links alone see to, so that the largest size must also be further from
/// the smallest one than under PIAS, which is said not to tell them apart.
fn sizes_stay_apart(case: &Case<'_>) -> Outcome {
    const GAP: f64 = 0.05;
    let (subject, other) = (Operand::of(&case.claim.subject), Operand::of("pias"));
    let samples = Samples::fetch(case, vec![subject.clone(), other.clone()], case.claim.measures())?;
    let mut neighbours = Vec::new();
    for point in 0..samples.points.len() {
        for measure in 1..samples.measures.len() {
            let pair = [measure - 1, measure];
            if pair.iter().all(|&measure| samples.measured(&subject, point, measure).is_some()) {
                neighbours.push((point, pair));
            }
        }
    }
    if neighbours.is_empty() {
        return Err("no two of the quantities were measured at the same place".into());
    }
    let share = |resample: Resample<'_>| {
        let apart = neighbours.iter().filter(|(point, pair)| {
            let value = |measure| samples.value(&subject, *point, measure, resample).unwrap_or(f64::NAN);
            let [low, high] = pair.map(value);
            high - low >= GAP * low.abs()
        });
        apart.count() as f64 / neighbours.len() as f64
    };
    let name = "the share of neighbouring curves that are apart".to_owned();
    let number = Number { name, value: share(Resample::Measured), interval: bootstrap(samples.seeds, &share) };
    let mut found = samples.finding();
    found.add(number, Some(Bounds::at_least(0.95)), Some(Bounds::at_least(0.7)));
    let last = samples.measures.len() - 1;
    let wider = |resample: Resample<'_>| {
        let spread = |operand: &Operand, point| {
            Some(samples.value(operand, point, last, resample)? / samples.value(operand, point, 0, resample)?)
        };
        let ratio = |point| Some(spread(&subject, point)? / spread(&other, point)?);
        let ratios: Vec<f64> = (0..samples.points.len()).filter_map(ratio).collect();
        ratios.iter().sum::<f64>() / ratios.len() as f64
    };
    let value = wider(Resample::Measured);
    if !value.is_nan() {
        let name = format!("the largest over the smallest size, over the same of {}", other.name());
        let interval = jackknife(samples.seeds, true, &wider);
        found.add(Number { name, value, interval }, Some(Bounds::at_least(1.05)), Some(Bounds::at_least(1.0)));
    }
    Ok(found)
}

/// The further in the tail, the worse PIAS is beside SPQ: its ratio rises over the percentiles that the claim measures,
/// and in the last of them it is poor: half as much again as that of SPQ.
fn worst_in_the_tail(case: &Case<'_>) -> Outcome {
    let series = Series::of(case.claim, "pias/spq");
    let samples = fetch(case, std::slice::from_ref(&series))?;
    let curves = Curves::against_quantities(&samples, &series, 2)?;
    let mut found = rising(case, &samples, &[curves], Form::Increasing, "statistic")?;
    let last = samples.measures.len() - 1;
    let quotient = [(Operand::of("pias"), Operand::of("spq"))];
    for mut number in ratio::aggregated(case, &samples, &quotient, &[last], Aggregate::Mean, false) {
        number.name += &format!(" in {}", samples.measures[last].name());
        found.add(number, Some(Bounds::at_least(1.5)), Some(Bounds::at_least(1.1)));
    }
    Ok(found)
}

/// The over-subscription of a leaf with 16 hosts of 10 Gb/s and 4 uplinks of 40 Gb/s.
fn nonoversubscribed(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[oversubscription((16.0, 10.0), (4.0, 40.0))])
}

/// The over-subscription of a leaf with 48 hosts of 10 Gb/s and 4 uplinks of 40 Gb/s.
fn oversubscribed(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[oversubscription((48.0, 10.0), (4.0, 40.0))])
}

/// The bytes of a buffer of 240 packets of 1500 B.
fn buffer_of_240_packets(case: &Case<'_>) -> Outcome {
    arithmetic(case, &[240.0 * 1500.0])
}

/// The least factor by which L2DCT multiplies its window: 1 - b/2, where b is 1 at most.
fn largest_cut_of_l2dct(case: &Case<'_>) -> Outcome {
    let b = 1.0;
    arithmetic(case, &[1.0 - b / 2.0])
}
