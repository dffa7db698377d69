//! Runs that repeat each other, made up and drawn.

use proptest::prelude::*;
use tailcut_base::Span;
use tailcut_record::FlowRow;

use super::*;
use crate::testing::{flow, flow_sets, replication};

/// The run of a seed whose events have this digest.
fn run(seed: u64, digest: &str, rows: &[FlowRow]) -> Replication {
    let mut one = replication(rows);
    one.summary.seed = seed;
    one.summary.engine.digest = digest.to_owned();
    // The cost of a run is no part of its results.
    (one.summary.engine.cpu_ns, one.summary.engine.peak_bytes) = (seed, seed);
    one
}

fn statistic(replications: &Replications, metric: &str) -> (Option<Estimate>, u64) {
    let sets = flow_sets(&[]);
    let all = replications.statistics(sets.iter().find(|set| set.name == "all").unwrap()).all;
    let found = all.into_iter().find(|statistic| statistic.metric == metric).unwrap();
    (found.estimate, found.n)
}

#[test]
fn identical_runs_are_one_replication_without_intervals() {
    let rows: Vec<FlowRow> = (0..400).map(|nth| flow(nth, 0, Some(20 + u64::from(nth % 7)))).collect();
    let found = Replications::of((1..=5).map(|seed| run(seed, "a", &rows)).collect());
    for metric in ["fct_mean", "fct_p50", "slowdown_mean", "drops", "utilisation_max"] {
        let (estimate, _) = statistic(&found, metric);
        let estimate = estimate.unwrap();
        assert_eq!((estimate.interval, estimate.repeated), (None, true), "{metric}");
        assert!(estimate.note.unwrap().ends_with("seeds draw nothing here: 5 runs are identical"), "{metric}");
    }
    assert_eq!(statistic(&found, "fct_mean").1, 400);
    assert_eq!(statistic(&found, "flows").0.unwrap(), Estimate::new(400.0, None));
    assert_eq!(found.summaries().map(|summary| summary.seed).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let bins = found.bins(&mut SizeBounds::default(), &[], &flow_sets(&[])[0]);
    assert!(!bins.is_empty() && bins.iter().all(|bin| bin.median.interval.is_none() && bin.p99.repeated));
    let mut repeats = Repeats::default();
    repeats.add(&found);
    let whole = "seeds draw nothing here: 5 runs are identical, and count as one, without intervals";
    assert_eq!(repeats.warning().unwrap(), whole);
    repeats.add(&Replications::of(vec![run(1, "a", &rows), run(2, "b", &rows)]));
    assert_eq!(repeats.warning().unwrap(), format!("{whole} (at 1 of 2 design points)"));
}

/// A single run has the intervals of its batches as before: nobody knows whether a seed would draw anything.
#[test]
fn one_run_repeats_nothing() {
    let rows: Vec<FlowRow> = (0..400).map(|nth| flow(nth, 0, Some(20 + u64::from(nth % 7)))).collect();
    let found = Replications::of(vec![run(1, "a", &rows)]);
    assert!(statistic(&found, "fct_mean").0.unwrap().interval.is_some());
    let mut repeats = Repeats::default();
    repeats.add(&found);
    assert_eq!(repeats.warning(), None);
}

#[test]
fn runs_that_differ_in_anything_count_each() {
    let rows = [flow(0, 0, Some(20)), flow(1, 0, Some(30))];
    let same = || run(2, "a", &rows);
    let with = |change: &dyn Fn(&mut Replication)| {
        let mut other = same();
        change(&mut other);
        let found = Replications::of(vec![run(1, "a", &rows), other]);
        assert_eq!(found.distinct, found.len());
        found.len()
    };
    assert_eq!(with(&|_| {}), 1);
    assert_eq!(with(&|other| other.summary.engine.events += 1), 1, "what a run costs");
    assert_eq!(with(&|other| other.summary.engine.digest = "b".into()), 2, "packets, with the same flows");
    // Packets are the same, and a deadline was drawn that no scheme looked at.
    let deadline = FlowRow { deadline: Some(Span::from_us(25)), ..rows[1].clone() };
    assert_eq!(with(&|other| other.flows = [rows[0].clone(), deadline.clone()].iter().collect()), 2);
    // Completion times are the same, and a size is another one: a simulation of flows digests no size.
    let larger = FlowRow { size: 1 + rows[1].size, ..rows[1].clone() };
    assert_eq!(with(&|other| other.flows = [rows[0].clone(), larger.clone()].iter().collect()), 2);
    // No flow finished, so that no completion time is in the digest.
    let open = |dst| FlowRow { dst, ..flow(0, 0, None) };
    let censored = vec![run(1, "0", &[open(1)]), run(2, "0", &[open(2)])];
    assert_eq!(Replications::of(censored).len(), 2);
    assert_eq!(with(&|other| other.summary.simulated_ns += 1.0), 2);
    assert_eq!(with(&|other| other.summary.drops.clear()), 2);
    assert_eq!(with(&|other| other.summary.placement = [("links".to_owned(), 1)].into()), 2);
    assert_eq!(with(&|other| other.queues.add(3)), 2);
    assert_eq!(with(&|other| other.max_utilisation = Some(0.91)), 2);
    assert_eq!(with(&|other| other.demotions += 1), 2);
}

/// One flow, which is 10 us long in 35 of 40 runs, and 100, 200 ... 500 us in the others: the mean is (35 x 10 +
/// 1500) / 40 = 46.25 us. Counting the 35 runs once would give (10 + 1500) / 6 = 251.7 us.
#[test]
fn runs_that_coincide_by_chance_count_each() {
    let fct = |seed: u64| if seed.is_multiple_of(8) { 100 * seed / 8 } else { 10 };
    let runs = (1..=40).map(|seed| run(seed, &fct(seed).to_string(), &[flow(0, 0, Some(fct(seed)))]));
    let found = Replications::of(runs.collect());
    assert_eq!((found.len(), found.distinct, found.nothing_drawn()), (40, 6, None));
    let (mean, n) = statistic(&found, "fct_mean");
    let mean = mean.unwrap();
    assert_eq!((mean.value, n, mean.repeated, mean.note), (46.25, 40, false, None));
    // The standard deviation is 109.54 us, Student's t with 39 degrees of freedom 2.0227: 46.25 +- 35.03.
    let interval = mean.interval.unwrap();
    assert!((interval.low - 11.218).abs() < 1e-2 && (interval.high - 81.282).abs() < 1e-2, "{interval:?}");
    assert_eq!(statistic(&found, "flows").0.unwrap().value, 40.0);
    let mut repeats = Repeats::default();
    repeats.add(&found);
    let counted = "runs differ; all are independent draws, and each counts";
    assert_eq!(repeats.warning().unwrap(), format!("seeds draw little here: only 6 of 40 {counted}"));
    repeats.add(&Replications::of([1, 2, 3].map(|seed| run(seed, &(seed / 2).to_string(), &[])).into()));
    assert_eq!(
        repeats.warning().unwrap(),
        format!("seeds draw little here: at one design point only 6 of 40 {counted}")
    );
    repeats.add(&Replications::of(vec![run(1, "a", &[])]));
    assert!(repeats.warning().unwrap().ends_with("each counts (at 2 of 3 design points)"));
}

proptest! {
    /// However seeds repeat each other, statistics are those of all runs, but for one if all are identical.
    #[test]
    fn runs_count_unless_all_are_identical(which in prop::collection::vec(0u64..4, 1..12)) {
        let rows = |kind: u64| (0..3).map(|nth| flow(nth, 0, Some(20 + 7 * kind + u64::from(nth)))).collect::<Vec<_>>();
        let of = |(at, &kind): (usize, &u64)| run(at as u64 + 1, &kind.to_string(), &rows(kind));
        let found = Replications::of(which.iter().enumerate().map(of).collect());
        let distinct: std::collections::BTreeSet<u64> = which.iter().copied().collect();
        let counted = if distinct.len() == 1 { 1 } else { which.len() };
        prop_assert_eq!((found.len(), found.distinct), (counted, distinct.len()));
        prop_assert_eq!(found.summaries().count(), which.len());
        let (mean, n) = statistic(&found, "fct_mean");
        let mean = mean.unwrap();
        prop_assert_eq!(n, 3 * counted as u64);
        let exact = which.iter().map(|kind| 21.0 + 7.0 * *kind as f64).sum::<f64>() / which.len() as f64;
        prop_assert!((mean.value - exact).abs() < 1e-9);
        // There is an interval with runs that differ, and with a single run, whose flows are its parts.
        prop_assert_eq!(mean.interval.is_some(), distinct.len() > 1 || which.len() == 1);
        let mut repeats = Repeats::default();
        repeats.add(&found);
        prop_assert_eq!(repeats.warning().is_some(), distinct.len() < which.len());
    }
}
