//! How often intervals hold the true value, where that is known: M/M/1, whose sojourn times depend on each other.

use tailcut_base::{Seeds, Stream};
use tailcut_results::stats::{Estimate, Interval, Method, SeedValues, quantile, quotient, ratio};

use crate::precision::{Precision, StoppingRule, relative_half_width};
use crate::queueing::MM1;

/// Statistics of some runs of a queue, by the functions that results use.
struct Runs {
    queue: MM1,
    samples: usize,
    runs: Vec<Vec<f64>>,
}

impl Runs {
    fn new(queue: MM1, samples: usize) -> Runs {
        Runs { queue, samples, runs: Vec::new() }
    }

    fn add(&mut self, count: usize, stream: &mut Stream) {
        self.runs.extend((0..count).map(|_| self.queue.sojourns(self.samples, stream)));
    }

    fn mean(&self) -> Estimate {
        let parts: Vec<(f64, f64)> = self.runs.iter().map(|run| (run.iter().sum(), run.len() as f64)).collect();
        ratio(&parts).unwrap()
    }

    fn p99(&self) -> Estimate {
        let mut pooled = self.runs.concat();
        pooled.sort_by(f64::total_cmp);
        quantile(&self.runs, &pooled, 990, "customers").unwrap()
    }
}

fn holds(interval: Option<Interval>, truth: f64) -> bool {
    interval.is_some_and(|interval| interval.low <= truth && truth <= interval.high)
}

const REPLICATIONS: usize = 1_000;

#[test]
fn intervals_of_mean_and_p99_of_a_queue_hold_the_truth_in_95_of_100_cases() {
    for (load, seeds, samples) in [(0.5, 5, 2_000), (0.5, 10, 1_000), (0.8, 5, 5_000)] {
        let queue = MM1 { load };
        let mut stream = Seeds::new(1).stream("M/M/1", (1000.0 * load) as u64 + seeds as u64);
        let (mut mean, mut p99) = (0, 0);
        for _ in 0..REPLICATIONS {
            let mut runs = Runs::new(queue, samples);
            runs.add(seeds, &mut stream);
            mean += usize::from(holds(runs.mean().interval, queue.mean()));
            p99 += usize::from(holds(runs.p99().interval, queue.quantile(990)));
        }
        for held in [mean, p99] {
            assert!((930..=970).contains(&held), "load {load}, {seeds} seeds of {samples}: mean {mean}, p99 {p99}");
        }
    }
}

/// How often intervals of the ratio of two sides hold `truth`: of their means and of their 99th percentiles.
fn ratios_hold(truth: f64, method: Method, mut sides: impl FnMut() -> [Runs; 2]) -> [usize; 2] {
    let mut held = [0; 2];
    for _ in 0..REPLICATIONS {
        let [a, b] = sides();
        for (held, of) in held.iter_mut().zip([Runs::mean, Runs::p99]) {
            let (all_a, all_b) = (of(&a), of(&b));
            let [a, b] = [&all_a, &all_b].map(|all| all.pseudo_values().flatten().collect::<Vec<f64>>());
            let (a, b) = (SeedValues { all: &all_a, seeds: &a }, SeedValues { all: &all_b, seeds: &b });
            let found = quotient(a, b, method);
            *held += usize::from(found.low.unwrap() <= truth && truth <= found.high.unwrap());
        }
    }
    held
}

/// The same queue on both sides, under other seeds. Customers in a row are alike, so that ten above the percentile in
/// all seeds are few: the last line is the least for which there is an interval.
#[test]
fn a_queue_compared_with_itself_under_other_seeds_seldom_differs() {
    let queue = MM1 { load: 0.7 };
    for (seeds, samples, least) in [(3, 500, 930), (5, 500, 900), (5, 2_000, 920), (10, 100, 860)] {
        let mut stream = Seeds::new(3).stream("itself", (seeds * samples) as u64);
        let held = ratios_hold(1.0, Method::Unpaired, || {
            [(); 2].map(|()| {
                let mut runs = Runs::new(queue, samples);
                runs.add(seeds, &mut stream);
                runs
            })
        });
        assert!(held.iter().all(|&held| held >= least), "mean and p99 of {seeds} seeds of {samples}: {held:?} of 1000");
    }
}

/// Two queues with the same arrivals and the same customers, one 5 % slower, seed by seed. The percentiles of single
/// seeds would say how often the ratio of short runs is right, which is another one: their intervals hold it in 730 of
/// 1000.
#[test]
fn a_slower_queue_with_the_same_customers_differs_by_the_true_ratio() {
    let (load, slower) = (0.7, 1.05);
    let truth = slower * (1.0 - load) / (1.0 - slower * load);
    for (seeds, samples, least) in [(3, 500, 880), (5, 500, 860), (5, 2_000, 900)] {
        let mut stream = Seeds::new(4).stream("pairs", (seeds * samples) as u64);
        let held = ratios_hold(truth, Method::Paired, || {
            let pairs: Vec<[Vec<f64>; 2]> =
                (0..seeds).map(|_| MM1 { load }.sojourns_of_two(slower, samples, &mut stream)).collect();
            [0, 1].map(|side| Runs {
                queue: MM1 { load },
                samples,
                runs: pairs.iter().map(|pair| pair[side].clone()).collect(),
            })
        });
        assert!(held.iter().all(|&held| held >= least), "mean and p99 of {seeds} seeds of {samples}: {held:?} of 1000");
    }
}

/// Seeds are added until the interval is narrow enough, as `tailcut run --until` adds them.
#[test]
fn looking_repeatedly_costs_a_little_coverage() {
    let queue = MM1 { load: 0.5 };
    for (of, percent) in [("mean", 10.0), ("mean", 5.0), ("p99", 15.0)] {
        let rule = StoppingRule::new(Precision { half_width: percent / 100.0 }, None, 100);
        let mut stream = Seeds::new(2).stream(of, percent as u64);
        let (mut held, mut narrow, mut seeds) = (0, 0, 0);
        for _ in 0..REPLICATIONS {
            let mut runs = Runs::new(queue, 1_000);
            runs.add(5, &mut stream);
            let (truth, last) = loop {
                let (truth, estimate) =
                    if of == "mean" { (queue.mean(), runs.mean()) } else { (queue.quantile(990), runs.p99()) };
                let wide = rule.too_wide("", &[], Some(&estimate));
                let add = rule.seeds_to_add(runs.runs.len(), wide.as_slice());
                if add == 0 {
                    break (truth, estimate);
                }
                runs.add(add, &mut stream);
            };
            held += usize::from(holds(last.interval, truth));
            narrow += usize::from(relative_half_width(Some(&last)).unwrap() <= rule.precision.half_width);
            seeds += runs.runs.len();
        }
        let mean_seeds = seeds as f64 / REPLICATIONS as f64;
        assert!(held >= 900, "{of} to {percent} %: {held} of {REPLICATIONS}");
        assert!(mean_seeds > 5.5 && narrow >= 990, "{of} to {percent} %: {mean_seeds} seeds, {narrow} narrow enough");
    }
}
