//! The thresholds against sums over flows, the numbers of the documents, and descents from anywhere.

use tailcut_base::Seeds;
use tailcut_workload::{TableFormat, distribution};

use super::optimum::{descend, optimum};
use super::*;

fn sizes(name: &str) -> Distribution {
    distribution(name).unwrap().distribution()
}

fn packets(bytes: &[f64]) -> Vec<f64> {
    bytes.iter().map(|bytes| bytes / 1460.0).collect()
}

fn assert_near(found: &[f64], expected: &[f64], relative: f64) {
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f / e - 1.0).abs() < relative),
        "{found:?} {expected:?}"
    );
}

/// Mean time over mean service time with one first-come, first-served queue.
fn pollaczek_khinchine(sizes: &Distribution, load: f64) -> f64 {
    let mean = sizes.mean();
    1.0 + load * sizes.second_moment() / (2.0 * (1.0 - load) * mean * mean)
}

#[test]
fn one_queue_is_the_formula_of_pollaczek_and_khinchine() {
    for name in ["websearch", "datamining", "light", "resqueue_short", "slytherin_long"] {
        let sizes = sizes(name);
        for load in [0.1, 0.5, 0.9, 0.99] {
            let mean_time = FeedbackQueue::new(&sizes, load).mean_time(&[]);
            assert_near(&[mean_time], &[pollaczek_khinchine(&sizes, load)], 1e-12);
        }
    }
    let exponential = Distribution::fixed(1000);
    assert_near(&[FeedbackQueue::new(&exponential, 0.5).mean_time(&[])], &[1.5], 1e-12);
}

/// The formula by sums over a fine grid of quantiles instead of closed forms.
fn summed(sizes: &Distribution, load: f64, thresholds: &[f64]) -> f64 {
    let n = 400_000;
    let all: Vec<f64> = (0..n).map(|i| sizes.quantile((f64::from(i) + 0.5) / f64::from(n))).collect();
    let mean = |of: &dyn Fn(f64) -> f64| all.iter().map(|&x| of(x)).sum::<f64>() / f64::from(n);
    let lambda = load / mean(&|x| x);
    let rho = |a: f64| lambda * mean(&|x| x.min(a));
    let ends: Vec<f64> = [0.0].into_iter().chain(thresholds.iter().copied()).chain([f64::INFINITY]).collect();
    let level = |ends: &[f64]| {
        let (a, b) = (ends[0], ends[1]);
        let wait = lambda * mean(&|x| x.min(b) * x.min(b)) / (2.0 * (1.0 - rho(b)));
        mean(&|x| if x > a && x <= b { wait + x } else { 0.0 }) / (1.0 - rho(a))
    };
    ends.windows(2).map(level).sum::<f64>() / mean(&|x| x)
}

#[test]
fn the_closed_forms_are_the_integrals() {
    for (name, thresholds) in [
        ("websearch", vec![50_000.0, 194_180.0, 5e6]),
        ("datamining", vec![1_460.0, 389_820.0, 30e6]),
        ("slytherin_short_code", vec![16_000.0]),
    ] {
        for load in [0.3, 0.9] {
            let exact = FeedbackQueue::new(&sizes(name), load).mean_time(&thresholds);
            assert_near(&[exact], &[summed(&sizes(name), load, &thresholds)], 2e-3);
        }
    }
    let pareto = Distribution::pareto(10_000, 30_000_000, 0.13008);
    let thresholds = [40_000.0, 800_000.0];
    let exact = FeedbackQueue::new(&pareto, 0.7).mean_time(&thresholds);
    assert_near(&[exact], &[summed(&pareto, 0.7, &thresholds)], 1e-3);
}

#[test]
fn the_best_four_queues_end_at_knots_of_the_distributions_whatever_the_load() {
    for tenths in 1..=9 {
        let load = f64::from(tenths) / 10.0;
        let best = |name: &str| packets(&optimum(&FeedbackQueue::new(&sizes(name), load), 4));
        assert_near(&best("websearch"), &[133.0, 1333.0, 6667.0], 1e-3);
        assert_near(&best("datamining"), &[267.0, 2107.0, 66_667.0], 1e-3);
    }
}

#[test]
fn the_published_thresholds_are_between_the_best_and_one_queue() {
    let query = ThresholdQuery {
        name: "websearch".to_owned(),
        sizes: sizes("websearch"),
        queues: 4,
        loads: vec![0.9],
        link: None,
    };
    let table = ThresholdTable::new(&query);
    let [best, one, published, nsdi] = table.rows() else { panic!("{table:?}") };
    assert_eq!(best.thresholds, "optimum");
    assert_near(&[best.mean_time, published.mean_time, one.mean_time], &[6.99, 10.07, 29.7], 2e-3);
    assert_eq!((best.queues, one.queues, published.queues), (4, 1, 8));
    assert_eq!(best.bytes, [194_180, 1_946_180, 9_733_820]);
    assert_eq!(published.packets[..2], [759.0, 1132.0]);
    assert_eq!(
        (published.thresholds.as_str(), nsdi.thresholds.as_str()),
        ("published websearch, load 0.9", "published websearch-nsdi")
    );
}

#[test]
fn of_two_sizes_one_threshold_is_enough() {
    // Slytherin's flows: 30 % of the bytes uniform between 8 and 32 KB, the rest in flows of 1 MB: 4.46 % of the flows.
    let text = "8000 0\n32000 0.9554140127\n1000000 0.9554140127\n1000000 1\n";
    let sizes = Distribution::parse(text.as_bytes(), TableFormat::Tailcut, None).unwrap();
    for load in [0.1, 0.5, 0.9] {
        assert_eq!(optimum(&FeedbackQueue::new(&sizes, load), 8), [32_000.0], "{load}");
    }
    // If all flows have the same size, one queue is best: any threshold would only delay a flow that is nearly done.
    let queue = Distribution::fixed(5_000);
    assert!(optimum(&FeedbackQueue::new(&queue, 0.9), 4).is_empty());
}

/// No descent from random places finds anything better.
#[test]
fn descents_from_anywhere_end_no_lower() {
    let mut draws = Seeds::new(1).stream("thresholds", 0);
    for (name, queues, load) in
        [("websearch", 4, 0.6), ("websearch", 8, 0.9), ("datamining", 3, 0.3), ("heavy", 4, 0.8), ("light", 2, 0.5)]
    {
        let sizes = sizes(name);
        let queue = FeedbackQueue::new(&sizes, load);
        let best = queue.mean_time(&optimum(&queue, queues));
        for _ in 0..30 {
            let mut start: Vec<f64> = (1..queues).map(|_| sizes.quantile(draws.unit())).collect();
            start.sort_by(f64::total_cmp);
            let found = queue.mean_time(&descend(&queue, start));
            assert!(found >= best * (1.0 - 1e-6), "{name} {queues} {load}: {found} {best}");
        }
    }
}

#[test]
fn another_queue_never_costs_anything() {
    let sizes = sizes("websearch");
    let queue = FeedbackQueue::new(&sizes, 0.8);
    let times: Vec<f64> = (1..=MOST_QUEUES).map(|queues| queue.mean_time(&optimum(&queue, queues))).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
}

#[test]
fn the_formats_say_the_same() {
    let query = ThresholdQuery {
        name: "datamining".to_owned(),
        sizes: sizes("datamining"),
        queues: 3,
        loads: vec![0.5, 0.55],
        link: Some(BitRate::gbps(10)),
    };
    let table = ThresholdTable::new(&query);
    assert_eq!(table.csv().lines().count(), 1 + table.rows().len());
    assert_eq!(table.rows().len(), 8);
    let json: serde_json::Value = serde_json::from_str(&table.json()).unwrap();
    for (line, (csv, json)) in
        table.rows().iter().zip(table.csv().lines().skip(1).zip(json["lines"].as_array().unwrap()))
    {
        assert!(csv.starts_with(&format!("datamining,{},", line.load)), "{csv}");
        assert_eq!(json["mean_time"].as_f64(), Some(line.mean_time));
        // 10 Gb/s are 1250 B in a microsecond.
        assert_near(&[line.mean_us.unwrap()], &[line.mean_time * query.sizes.mean() / 1250.0], 1e-12);
    }
    assert!(table.text().contains("published datamining, load 0.6"), "{}", table.text());
}
