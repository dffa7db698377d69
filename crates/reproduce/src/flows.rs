//! Quantities that are taken from the single flows of a study, where no statistic of a run says them.

use serde::Deserialize;
use tailcut_base::{BitRate, Instant, Span};
use tailcut_claims::Sample;
use tailcut_record::{FlowRow, read_flows};
use tailcut_results::ALL;
use tailcut_results::stats::{Estimate, mean, sectioned};
use tailcut_workload::optimal::{self, Job};

use crate::study_run::SimulationFiles;

/// A quantity of the measured flows of a class.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowQuantity {
    /// The longest FCT of each seed in µs, as the mean over seeds.
    Longest,
    /// The payload over the time in which a flow of the class is under way, in Gb/s: what a link carries while it has
    /// something to carry. A flow that is not complete is left out.
    WhileBusy,
    /// The mean FCT in µs if a link of this rate served these flows by shortest remaining first, as a fluid with
    /// headers and without any delay.
    OptimalMean(BitRate),
    /// The share of deadlines that are met if a link of this rate serves the flows that begin together as is best for
    /// that, without any delay.
    OptimalDeadlines(BitRate),
    /// The share of flows that are complete sooner than the same flows are under another scheme.
    FasterThan(String),
}

/// Measured flows of a simulation, by their seed.
pub(crate) type Seeds = Vec<(u64, Vec<FlowRow>)>;

/// The flows of a seed under two schemes.
type Pair<'a> = (&'a [FlowRow], &'a [FlowRow]);

/// The measured flows of a class in these simulations, in the order of their starts.
///
/// # Errors
/// If the flows of a simulation cannot be read.
pub(crate) fn measured<'a>(
    simulations: impl IntoIterator<Item = SimulationFiles<'a>>,
    class: &str,
) -> Result<Seeds, String> {
    let mut seeds = Vec::new();
    for files in simulations {
        let file = read_flows(&files.path("flows.parquet")?).map_err(|e| e.to_string())?;
        let is_meant = |row: &FlowRow| class == ALL || file.classes[usize::from(row.class)] == class;
        let mut rows: Vec<FlowRow> = file.rows.rows().filter(|row| row.measured && is_meant(row)).collect();
        rows.sort_by_key(|row| row.flow);
        seeds.push((files.seed(), rows));
    }
    if seeds.is_empty() { Err("it has not been simulated there".to_owned()) } else { Ok(seeds) }
}

/// The longest FCT: the mean over seeds in µs.
///
/// # Errors
/// If no flow is complete.
pub(crate) fn longest(seeds: &Seeds) -> Result<Sample, String> {
    let of = |(seed, rows): &(u64, Vec<FlowRow>)| {
        let longest = rows.iter().filter_map(FlowRow::fct).max();
        longest.map(|fct| (*seed, us(fct))).ok_or_else(|| "no flow is complete".to_owned())
    };
    let by_seed: Vec<(u64, f64)> = seeds.iter().map(of).collect::<Result<_, _>>()?;
    let values: Vec<f64> = by_seed.iter().map(|&(_, value)| value).collect();
    let value = values.iter().sum::<f64>() / values.len() as f64;
    Ok(Sample { value, interval: sectioned(value, &values), n: values.len() as u64, by_seed, ..Sample::default() })
}

/// Payload over the time in which any of the flows is under way, in Gb/s.
///
/// # Errors
/// If no flow is complete.
pub(crate) fn while_busy(seeds: &Seeds) -> Result<Sample, String> {
    let parts = seeds.iter().map(|(_, rows)| {
        let complete = || rows.iter().filter_map(|row| Some((row.start, row.start + row.fct()?, row.size)));
        let bits = complete().map(|(_, _, size)| 8.0 * size as f64).sum();
        (bits, covered(complete().map(|(start, end, _)| (start, end)).collect()).as_ns_f64())
    });
    of_sums(seeds, &parts.collect::<Vec<_>>(), "no flow is complete")
}

/// The mean FCT in µs under shortest remaining first on one link of this rate.
///
/// # Errors
/// If there are no flows.
pub(crate) fn optimal_mean(seeds: &Seeds, rate: BitRate) -> Result<Sample, String> {
    let parts = seeds.iter().map(|(_, rows)| {
        let jobs: Vec<Job> = rows.iter().map(|row| job(row, rate)).collect();
        let complete = optimal::srpt(&jobs).into_iter().zip(&jobs);
        let times = complete.map(|(at, job)| us(at.saturating_since(job.release)));
        (times.sum::<f64>(), jobs.len() as f64)
    });
    of_sums(seeds, &parts.collect::<Vec<_>>(), "there are no flows")
}

/// The share of deadlines that one link of this rate can meet, where only flows that begin together compete.
///
/// # Errors
/// If no flow has a deadline.
pub(crate) fn optimal_deadlines(seeds: &Seeds, rate: BitRate) -> Result<Sample, String> {
    let parts = seeds.iter().map(|(_, rows)| {
        let (mut met, mut all) = (0, 0);
        for together in rows.chunk_by(|one, other| one.start == other.start) {
            let jobs: Vec<Job> = together.iter().map(|row| job(row, rate)).collect();
            met += optimal::most_deadlines(&jobs);
            all += jobs.iter().filter(|job| job.deadline.is_some()).count();
        }
        (met as f64, all as f64)
    });
    of_sums(seeds, &parts.collect::<Vec<_>>(), "no flow has a deadline")
}

/// A flow for one link, as a fluid with headers.
fn job(row: &FlowRow, rate: BitRate) -> Job {
    let work = rate.tx_time(tailcut_base::wire_bytes(row.size));
    Job { release: row.start, work, deadline: row.deadline.map(|deadline| row.start + deadline) }
}

/// The share of flows that are complete sooner than in `others`, the same flows under another scheme. A flow that is
/// complete under one scheme only is sooner under that one.
///
/// # Errors
/// If the flows are not the same.
pub(crate) fn faster_than(seeds: &Seeds, others: &Seeds) -> Result<Sample, String> {
    let mut parts = Vec::new();
    for (own, other) in pairs(seeds, others)? {
        let is_sooner = |(own, other): &(&FlowRow, &FlowRow)| match (own.fct(), other.fct()) {
            (Some(own), Some(other)) => own < other,
            (own, _) => own.is_some(),
        };
        let sooner = own.iter().zip(other).filter(is_sooner).count();
        parts.push((sooner as f64, own.len() as f64));
    }
    of_sums(seeds, &parts, "there are no flows")
}

/// For each flow that is complete under both schemes, its FCT in `seeds` over its FCT in `others`; ascending.
///
/// # Errors
/// If the flows are not the same.
pub(crate) fn fct_ratios(seeds: &Seeds, others: &Seeds) -> Result<Vec<f64>, String> {
    let mut ratios = Vec::new();
    for (above, below) in pairs(seeds, others)? {
        let both = above.iter().zip(below).filter_map(|(above, below)| Some((above.fct()?, below.fct()?)));
        ratios.extend(both.map(|(above, below)| above.as_ns_f64() / below.as_ns_f64()));
    }
    ratios.sort_unstable_by(f64::total_cmp);
    Ok(ratios)
}

/// The flows of each seed beside the same flows of the other side.
fn pairs<'a>(seeds: &'a Seeds, others: &'a Seeds) -> Result<Vec<Pair<'a>>, String> {
    let flow = |row: &FlowRow| (row.flow, row.src, row.dst, row.size, row.start);
    let pair = |(seed, rows): &'a (u64, Vec<FlowRow>)| {
        let other = others.iter().find(|other| other.0 == *seed).map(|other| other.1.as_slice())?;
        rows.iter().map(flow).eq(other.iter().map(flow)).then_some((rows.as_slice(), other))
    };
    let pairs: Option<Vec<_>> = seeds.iter().map(pair).collect();
    pairs.ok_or_else(|| "the two schemes did not have the same flows".to_owned())
}

/// A sum over another one, with what each seed contributes.
fn of_sums(seeds: &Seeds, parts: &[(f64, f64)], none: &str) -> Result<Sample, String> {
    let found = mean(parts).ok_or_else(|| none.to_owned())?;
    let out = |at: usize| {
        let rest = parts.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, part)| *part);
        mean(&rest.collect::<Vec<_>>()).map(|rest| rest.value)
    };
    let without: Vec<Option<f64>> = if parts.len() > 1 { (0..parts.len()).map(out).collect() } else { Vec::new() };
    // What a single seed contributes is all of it.
    let alone = (parts.len() == 1).then_some((seeds[0].0, found.value));
    let found: Estimate = found.with_seeds(without);
    let pseudo = seeds.iter().zip(found.pseudo_values()).filter_map(|((seed, _), value)| Some((*seed, value?)));
    let by_seed = pseudo.chain(alone).collect();
    let n = seeds.iter().map(|(_, rows)| rows.len() as u64).sum();
    let interval = found.interval.filter(|_| parts.len() > 1);
    Ok(Sample { value: found.value, interval, by_seed, n, note: found.note, thin: found.thin })
}

/// How long at least one of these intervals lasts.
fn covered(mut intervals: Vec<(Instant, Instant)>) -> Span {
    intervals.sort_unstable();
    let (mut total, mut until) = (Span::ZERO, Instant::ZERO);
    for (start, end) in intervals {
        total += end.saturating_since(start.max(until));
        until = until.max(end);
    }
    total
}

fn us(span: Span) -> f64 {
    span.as_ns_f64() / 1e3
}

#[cfg(test)]
mod tests {
    use tailcut_record::Completion;

    use super::*;

    /// A flow of 1460 B from `start` to `end`, in µs; censored without an end.
    fn flow(number: u32, start: u64, end: Option<u64>) -> FlowRow {
        let at = |us: u64| Instant::ZERO + Span::from_us(us);
        FlowRow {
            flow: number,
            query: None,
            query_start: None,
            src: 0,
            dst: 1,
            class: 0,
            size: 1460,
            start: at(start),
            measured: true,
            abandoned: false,
            received: end.map(at),
            acknowledged: end.map(at),
            completion: Completion::Received,
            ideal: Span::from_us(12),
            packets: 1,
            retransmissions: 0,
            timeouts: 0,
            drops: 0,
            max_packet_drops: 0,
            reordered: 0,
            ce_marks: 0,
            multi_marked: 0,
            deadline: None,
            permission: None,
            breakdown: None,
        }
    }

    fn seeds(flows: &[(u64, Option<u64>)]) -> Seeds {
        vec![(1, (0..).zip(flows).map(|(nth, &(start, end))| flow(nth, start, end)).collect())]
    }

    #[test]
    fn a_link_is_busy_while_any_flow_is_under_way() {
        // Three packets in 10..30 and 50..60, and one that never arrives.
        let seeds = seeds(&[(10, Some(20)), (15, Some(30)), (50, Some(60)), (70, None)]);
        let busy = while_busy(&seeds).unwrap();
        assert!((busy.value - 3.0 * 1460.0 * 8.0 / 30e3).abs() < 1e-12, "{busy:?}");
        assert_eq!(longest(&seeds).unwrap().value, 15.0);
    }

    #[test]
    fn shortest_remaining_first_serves_equal_flows_one_after_the_other() {
        // 1500 B at 1 Gb/s are 12 us.
        let mean = optimal_mean(&seeds(&[(0, None), (0, None), (100, Some(500))]), BitRate::gbps(1)).unwrap();
        assert!((mean.value - (12.0 + 24.0 + 12.0) / 3.0).abs() < 1e-9, "{mean:?}");
    }

    #[test]
    fn flows_that_begin_together_meet_as_many_deadlines_as_one_link_can() {
        let mut flows = seeds(&[(0, None), (0, None), (0, None), (100, None)]);
        for (row, us) in flows[0].1.iter_mut().zip([12, 20, 36, 11]) {
            row.deadline = Some(Span::from_us(us));
        }
        // Of the first three the second is given up; the last is late by itself.
        assert_eq!(optimal_deadlines(&flows, BitRate::gbps(1)).unwrap().value, 0.5);
        assert!(optimal_deadlines(&seeds(&[(0, None)]), BitRate::gbps(1)).is_err());
    }

    #[test]
    fn flows_are_compared_with_themselves_under_another_scheme() {
        let own = seeds(&[(0, Some(10)), (0, Some(20)), (0, Some(30)), (0, None)]);
        let other = seeds(&[(0, Some(20)), (0, Some(20)), (0, None), (0, Some(40))]);
        // The first is faster, the second equal, the third the only one that is complete, and the fourth is not.
        assert_eq!(faster_than(&own, &other).unwrap().value, 0.5);
        assert_eq!(fct_ratios(&other, &own).unwrap(), [1.0, 2.0]);
        assert!(faster_than(&own, &seeds(&[(0, Some(20))])).is_err());
    }
}
