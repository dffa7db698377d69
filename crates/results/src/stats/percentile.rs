//! Percentiles: nearest ranks, and their intervals by order statistics or by Woodruff.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::mean::{ratio, sectioned};
use super::{ENOUGH_ABOVE, ENOUGH_SEEDS, Estimate, Interval};

/// The nearest rank of the quantile `permille`/1000 among `n` samples, counted from 1: ⌈permille·n/1000⌉, at least 1.
pub fn rank(permille: u32, n: usize) -> usize {
    let rank = (permille as u128 * n as u128).div_ceil(1000).max(1);
    usize::try_from(rank).expect("a rank is not above the number of samples")
}

/// The nearest-rank quantile of sorted samples; `None` without samples.
pub fn nearest_rank(sorted: &[f64], permille: u32) -> Option<f64> {
    sorted.get(rank(permille, sorted.len()) - 1).copied()
}

/// Ranks, counted from 1, of the two order statistics of `n` samples that enclose the true quantile `permille`/1000
/// with 95 %, at most 2.5 % of it on each side; `None` if there are too few samples for any.
pub fn order_ranks(permille: u32, n: usize) -> Option<(usize, usize)> {
    // The number of samples at or below the true quantile is binomial.
    let below = Binomial::new(f64::from(permille) / 1000.0, n as u64).ok()?;
    let (lower, upper) = (below.inverse_cdf(0.025) as usize, below.inverse_cdf(0.975) as usize + 1);
    (lower >= 1 && upper <= n).then_some((lower, upper))
}

/// The quantile `permille`/1000 of samples of several seeds, each sorted; `pooled` are all of them, sorted.
/// `None` without samples. `what` are the samples, for the note: "flows".
pub fn quantile(seeds: &[Vec<f64>], pooled: &[f64], permille: u32, what: &str) -> Option<Estimate> {
    let value = nearest_rank(pooled, permille)?;
    let above = 1000 - u64::from(permille);
    let n = pooled.len() as u64;
    let thin = n < needed(permille);
    let note = thin.then(|| {
        let needed = needed(permille);
        let name = percentile_name(permille);
        if n * above < 1000 {
            format!("the {name} percentile of {n} {what} is their maximum: it needs {needed}")
        } else {
            format!("{n} {what} are too few for an interval of the {name} percentile: it needs {needed}")
        }
    });
    let interval = if thin { None } else { interval(seeds, pooled, permille, value) };
    let without = seeds.iter().map(|seed| rank_without(pooled, seed, permille)).collect();
    Some(Estimate { note, thin, ..Estimate::new(value, interval).with_seeds(without) })
}

/// The interval of the quantile `permille`/1000, whose value is known.
fn interval(seeds: &[Vec<f64>], pooled: &[f64], permille: u32, value: f64) -> Option<Interval> {
    // A seed without samples says nothing of how far seeds differ.
    if seeds.iter().filter(|seed| !seed.is_empty()).count() >= ENOUGH_SEEDS {
        return Some(woodruff(seeds, pooled, permille, value));
    }
    let own: Vec<f64> = seeds.iter().filter_map(|seed| nearest_rank(seed, permille)).collect();
    sectioned(value, &own).or_else(|| {
        let (lower, upper) = order_ranks(permille, pooled.len())?;
        Some(Interval { low: pooled[lower - 1], high: pooled[upper - 1] })
    })
}

/// The nearest-rank quantile of the samples `pooled` without those of `seed`, which are among them; both are sorted.
/// `None` if none is left.
fn rank_without(pooled: &[f64], seed: &[f64], permille: u32) -> Option<f64> {
    let left = pooled.len() - seed.len();
    let up_to = |samples: &[f64], x: f64| samples.partition_point(|&sample| sample <= x);
    let wanted = rank(permille, left);
    let at = pooled.partition_point(|&x| up_to(pooled, x) - up_to(seed, x) < wanted);
    (left > 0).then(|| pooled[at])
}

/// Woodruff's interval of the quantile `permille`/1000, whose value is known.
fn woodruff(seeds: &[Vec<f64>], pooled: &[f64], permille: u32, value: f64) -> Interval {
    let shares: Vec<(f64, f64)> =
        seeds.iter().map(|seed| (seed.partition_point(|&x| x <= value) as f64, seed.len() as f64)).collect();
    let share = ratio(&shares).expect("there are samples");
    let half = share.interval.map_or(0.0, |interval| interval.high - share.value);
    let (n, p) = (pooled.len(), f64::from(permille) / 1000.0);
    // A little is taken off, because a product such as 0.99 * 1000 may be a bit above 990 in floating point, and
    // rounding it up would give the next rank.
    let rank = |share: f64| ((share * n as f64 - 1e-6).ceil().max(1.0)) as usize;
    let (lower, upper) = (rank(p - half), rank(p + half));
    let low = pooled[lower - 1];
    let high = pooled.get(upper - 1).copied().unwrap_or_else(|| {
        let values: Vec<f64> = seeds.iter().filter_map(|seed| nearest_rank(seed, permille)).collect();
        sectioned(value, &values).map_or(pooled[n - 1], |spread| pooled[n - 1].max(spread.high))
    });
    Interval { low, high }
}

/// Samples that a percentile needs so that ten lie above it: 10/(1 - q), 1000 for the 99th.
pub fn needed(permille: u32) -> u64 {
    (ENOUGH_ABOVE * 1000).div_ceil(1000 - u64::from(permille))
}

/// What that mark means, for the line below a table.
pub const FEW_IN_WORDS: &str = "† of fewer values than the percentile needs, 10/(1 - q): 1,000 for the 99th, 10,000 for the \
    99.9th. Fewer than ten lie above it, so that it is the maximum or near it.";

/// "99th", "99.9th", "50th".
pub fn percentile_name(permille: u32) -> String {
    if permille.is_multiple_of(10) {
        format!("{}th", permille / 10)
    } else {
        format!("{:.1}th", f64::from(permille) / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::coverage;

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        assert_eq!([1, 100, 101, 999, 1000, 1001].map(|n| rank(990, n)), [1, 99, 100, 990, 990, 991]);
        // 99.9 % of 1000 is exactly 999; in floating point 0.999 * 1000 is 999.0000000000001 in places.
        assert_eq!([1000, 2000, 3000].map(|n| rank(999, n)), [999, 1998, 2997]);
        assert_eq!(nearest_rank(&[15.0, 20.0, 35.0, 40.0, 50.0], 300), Some(20.0));
        assert_eq!(nearest_rank(&[15.0, 20.0, 35.0, 40.0, 50.0], 1000), Some(50.0));
        assert_eq!(nearest_rank(&[], 500), None);
    }

    /// Ranks from exact binomial sums in rational arithmetic; the medians of 10, 20, 50 and 100 samples stand in
    /// every table of distribution-free intervals.
    #[test]
    fn order_statistics_agree_with_binomial_tables() {
        for (permille, n, ranks) in [
            (500, 5, None),
            (500, 6, Some((1, 6))),
            (500, 10, Some((2, 9))),
            (500, 20, Some((6, 15))),
            (500, 50, Some((18, 33))),
            (500, 100, Some((40, 61))),
            (900, 100, Some((84, 96))),
            (950, 200, Some((184, 197))),
            (990, 1000, Some((983, 997))),
            (990, 1500, Some((1477, 1493))),
        ] {
            assert_eq!(order_ranks(permille, n), ranks, "{permille} of {n}");
        }
    }

    #[test]
    fn order_statistics_of_many_samples_agree_with_the_normal_approximation() {
        let n = 10_000_000;
        let (lower, upper) = order_ranks(990, n).unwrap();
        let half = 1.959_964 * (n as f64 * 0.99 * 0.01).sqrt();
        assert!((lower as f64 - (0.99 * n as f64 - half)).abs() < 3.0, "{lower}");
        assert!((upper as f64 - (0.99 * n as f64 + half)).abs() < 3.0, "{upper}");
    }

    #[test]
    fn intervals_of_a_percentile_hold_the_truth_in_95_of_100_cases() {
        let truth = -0.01f64.ln();
        for seeds in [1usize, 2, 8] {
            let held = coverage(2_000, |stream| {
                let draw = |_| sorted((0..4_000 / seeds).map(|_| stream.exponential(1.0)).collect());
                let seeds: Vec<Vec<f64>> = (0..seeds).map(draw).collect();
                let interval = quantile(&seeds, &sorted(seeds.concat()), 990, "flows").unwrap().interval.unwrap();
                interval.low <= truth && truth <= interval.high
            });
            // Order statistics cover at least 95 %.
            assert!((0.938..=0.98).contains(&held), "{seeds} seeds: {held}");
        }
    }

    #[test]
    fn too_few_samples_for_a_percentile_are_said() {
        let of = |n: usize, permille| {
            let samples: Vec<f64> = (1..=n).map(|v| v as f64).collect();
            quantile(std::slice::from_ref(&samples), &samples, permille, "flows").unwrap()
        };
        let maximum = of(99, 990);
        assert_eq!((maximum.value, maximum.interval), (99.0, None));
        assert_eq!(maximum.note.unwrap(), "the 99th percentile of 99 flows is their maximum: it needs 1000");
        let thin = of(999, 990);
        assert_eq!((thin.value, thin.interval), (990.0, None));
        assert!(thin.note.unwrap().starts_with("999 flows are too few"));
        let enough = of(1000, 990);
        assert_eq!((enough.value, enough.note), (990.0, None));
        assert_eq!(enough.interval, Some(Interval { low: 983.0, high: 997.0 }));
        assert!(of(9_999, 999).interval.is_none() && of(10_000, 999).interval.is_some());
    }

    #[test]
    fn a_quantile_without_a_seed_is_that_of_the_others() {
        let mut stream = tailcut_base::Seeds::new(5).stream("without", 0);
        for _ in 0..50 {
            let seeds: Vec<Vec<f64>> =
                (0..4).map(|_| sorted((0..stream.below(9)).map(|_| f64::from(stream.below(6))).collect())).collect();
            let pooled = sorted(seeds.concat());
            let Some(all) = quantile(&seeds, &pooled, 700, "flows") else { continue };
            for out in 0..4 {
                let mut others = seeds.clone();
                others.remove(out);
                assert_eq!(all.without[out], nearest_rank(&sorted(others.concat()), 700), "{seeds:?} without {out}");
            }
        }
    }
}
