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
        Replications::of(vec![run(1, "a", &rows), other]).len()
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

proptest! {
    /// However seeds repeat each other, statistics are those of the distinct runs, by counting them with sets.
    #[test]
    fn duplicates_count_once(which in prop::collection::vec(0u64..4, 1..12)) {
        let rows = |kind: u64| (0..3).map(|nth| flow(nth, 0, Some(20 + 7 * kind + u64::from(nth)))).collect::<Vec<_>>();
        let of = |(at, &kind): (usize, &u64)| run(at as u64 + 1, &kind.to_string(), &rows(kind));
        let found = Replications::of(which.iter().enumerate().map(of).collect());
        let mut distinct: Vec<u64> = Vec::new();
        for &kind in &which {
            if !distinct.contains(&kind) {
                distinct.push(kind);
            }
        }
        prop_assert_eq!(found.len(), distinct.len());
        let (mean, n) = statistic(&found, "fct_mean");
        let mean = mean.unwrap();
        prop_assert_eq!(n, 3 * distinct.len() as u64);
        let exact = distinct.iter().map(|kind| 21.0 + 7.0 * *kind as f64).sum::<f64>() / distinct.len() as f64;
        prop_assert!((mean.value - exact).abs() < 1e-9);
        // There is an interval with several distinct runs, and with a single run, whose flows are its parts.
        prop_assert_eq!(mean.interval.is_some(), distinct.len() > 1 || which.len() == 1);
        let mut repeats = Repeats::default();
        repeats.add(&found);
        prop_assert_eq!(repeats.warning().is_some(), distinct.len() < which.len());
    }
}
