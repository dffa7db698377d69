//! Percentiles, means and their 95 % intervals.
//!
//! **Percentiles** are exact: the nearest rank over the pooled samples of all seeds, the ⌈p·n⌉-th smallest. Their
//! interval is
//! - with five seeds or more: Woodruff's ("Confidence intervals for medians and other position measures", Journal of
//!   the American Statistical Association 47, 1952). The share of samples at or below the percentile is a ratio of sums
//!   over seeds, with an interval by Student's t as below; the samples at the ends of that interval of shares are the
//!   ends of the interval of the percentile. Seeds are independent; flows of one run are not. The spread of the
//!   percentiles of single seeds, around the pooled one, would be simpler but too narrow, because percentiles of few
//!   samples are skewed and too low: of 1000 intervals of the 99th percentile of M/M/1 at a load of 0.8, from 5 seeds
//!   of 5000 samples, 885 held the true value, and 920 at 20,000 samples. Where the upper end of the shares is above 1,
//!   the samples do not reach that far; then the largest of them is the upper end, or that simpler one if it is higher.
//! - with fewer seeds: two order statistics of the pooled samples whose ranks a binomial distribution gives. No shape
//!   of the distribution is assumed, but that flows are independent is, so that under congestion the interval is
//!   somewhat too narrow.
//! - none if fewer than ten samples lie above the percentile. Then it rests on too little, and if not even one lies
//!   above it, it is the maximum under another name; both are said in a note.
//!
//! **Means, shares and rates** are ratios of sums over all seeds: sum of FCTs over flows, marked packets over packets.
//! Their interval is Student's t over independent parts of the data, of which each gives a numerator and a
//! denominator (Cochran, Sampling Techniques, 3rd ed., chapter 6: the linearised variance of a ratio, which is the
//! textbook interval of a mean if all denominators are equal). The parts are
//! - with two seeds or more: the seeds. With two of them the interval is wide, because t with one degree of freedom
//!   is 12.7: five seeds are worth their time.
//! - with one seed: twenty batches of flows in the order of their starts (batch means: Law, Simulation Modeling and
//!   Analysis, section 9.5), or the flows themselves if there are fewer than 200. Such an interval knows nothing of
//!   what another seed would do.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// An interval that holds the true value with a probability of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A statistic of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Its value over all samples.
    pub value: f64,
    /// Its 95 % interval, where there is one.
    pub interval: Option<Interval>,
    /// Why there is none, or what else the value needs to be read with.
    pub note: Option<String>,
}

/// Samples that should lie above a percentile for an interval to be given.
const ENOUGH_ABOVE: u64 = 10;
/// Seeds from which on their spread is preferred to order statistics.
const ENOUGH_SEEDS: usize = 5;
/// Batches into which the flows of a single seed are divided.
pub const BATCHES: usize = 20;
/// Flows of a single seed below which each is a part of its own.
pub const BATCHED_FLOWS: usize = 10 * BATCHES;

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
    // The number of samples at or below the true quantile is binomial. Weights are taken relative to its mode and
    // normalised by their sum, which avoids factorials; far from the mode they are zero to the last bit.
    let p = f64::from(permille) / 1000.0;
    if !(p > 0.0 && p < 1.0) || n == 0 {
        return None;
    }
    let odds = p / (1.0 - p);
    let mode = ((n + 1) as f64 * p) as usize;
    let mut below = Vec::new();
    let (mut weight, mut k) = (1.0, mode);
    while k > 0 && weight > 1e-20 {
        weight *= k as f64 / ((n - k + 1) as f64 * odds);
        k -= 1;
        below.push(weight);
    }
    let first = k;
    let mut weights: Vec<f64> = below.into_iter().rev().collect();
    weights.push(1.0);
    let (mut weight, mut k) = (1.0, mode);
    while k < n && weight > 1e-20 {
        weight *= (n - k) as f64 * odds / (k + 1) as f64;
        k += 1;
        weights.push(weight);
    }
    let tail = 0.025 * weights.iter().sum::<f64>();
    // Largest `lower` with P(count < lower) <= 2.5 %, smallest `upper` with P(count >= upper) <= 2.5 %.
    let step = |sum: &mut f64, weight: &f64| {
        *sum += weight;
        Some(*sum <= tail)
    };
    let light = weights.iter().scan(0.0, step).take_while(|&light| light).count();
    let heavy = weights.iter().rev().scan(0.0, step).take_while(|&light| light).count();
    let (lower, upper) = (first + light, first + weights.len() - heavy);
    (lower >= 1 && upper <= n).then_some((lower, upper))
}

/// The quantile `permille`/1000 of samples of several seeds, each sorted; `pooled` are all of them, sorted.
/// `None` without samples. `what` are the samples, for the note: "flows".
pub fn quantile(seeds: &[Vec<f64>], pooled: &[f64], permille: u32, what: &str) -> Option<Estimate> {
    let value = nearest_rank(pooled, permille)?;
    let above = 1000 - u64::from(permille);
    let n = pooled.len() as u64;
    if n * above < ENOUGH_ABOVE * 1000 {
        let needed = (ENOUGH_ABOVE * 1000).div_ceil(above);
        let name = percentile_name(permille);
        let note = if n * above < 1000 {
            format!("the {name} percentile of {n} {what} is their maximum: it needs {needed}")
        } else {
            format!("{n} {what} are too few for an interval of the {name} percentile: it needs {needed}")
        };
        return Some(Estimate { value, interval: None, note: Some(note) });
    }
    if seeds.len() >= ENOUGH_SEEDS {
        return Some(Estimate { value, interval: Some(woodruff(seeds, pooled, permille, value)), note: None });
    }
    let interval = order_ranks(permille, pooled.len())
        .map(|(lower, upper)| Interval { low: pooled[lower - 1], high: pooled[upper - 1] });
    Some(Estimate { value, interval, note: None })
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
        let spread = if values.len() >= 2 { half_width(&values) } else { 0.0 };
        pooled[n - 1].max(value + spread)
    });
    Interval { low, high }
}

/// Half of the width of Student's 95 % interval of the mean of `values`, which are two at least.
pub fn half_width(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    t975(n - 1.0) * (variance / n).sqrt()
}

/// Sum of the first numbers over the sum of the second ones, with its interval if there are two parts or more; `None`
/// if the second ones sum to zero.
pub fn ratio(parts: &[(f64, f64)]) -> Option<Estimate> {
    let (above, below) = parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    if below <= 0.0 {
        return None;
    }
    let value = above / below;
    let k = parts.len() as f64;
    let interval = (parts.len() >= 2).then(|| {
        let mean = below / k;
        let residuals = parts.iter().map(|part| ((part.0 - value * part.1) / mean).powi(2)).sum::<f64>();
        let half = t975(k - 1.0) * (residuals / (k * (k - 1.0))).sqrt();
        Interval { low: value - half, high: value + half }
    });
    Some(Estimate { value, interval, note: None })
}

/// The 97.5th percentile of Student's t.
pub fn t975(degrees_of_freedom: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("there are two values at least");
    t.inverse_cdf(0.975)
}

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
    use tailcut_base::{Seeds, Stream};

    use super::*;

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
    fn quantiles_of_student_agree_with_tables() {
        for (freedom, t) in [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (9.0, 2.262), (19.0, 2.093), (1000.0, 1.962)] {
            assert!((t975(freedom) - t).abs() < 5e-4, "{freedom}: {}", t975(freedom));
        }
    }

    #[test]
    fn a_ratio_of_equal_parts_is_the_textbook_mean() {
        let values = [3.0, 5.0, 10.0];
        let mean = ratio(&values.map(|v| (v, 1.0))).unwrap();
        assert_eq!(mean.value, 6.0);
        // s = sqrt(13), t = 4.303: 4.303 * sqrt(13 / 3).
        let half = 4.302_653 * (13.0f64 / 3.0).sqrt();
        let interval = mean.interval.unwrap();
        assert!((interval.high - 6.0 - half).abs() < 1e-5 && (6.0 - interval.low - half).abs() < 1e-5, "{interval:?}");
        assert!((half_width(&values) - half).abs() < 1e-5);
        assert_eq!(ratio(&[(3.0, 1.0)]).unwrap().interval, None);
        assert_eq!(ratio(&[(3.0, 0.0)]), None);
    }

    /// Share of `trials` in which `hit` says that the interval held the truth.
    fn coverage(trials: u32, mut hit: impl FnMut(&mut Stream) -> bool) -> f64 {
        let mut stream = Seeds::new(1).stream("coverage", 0);
        f64::from((0..trials).filter(|_| hit(&mut stream)).count() as u32) / f64::from(trials)
    }

    #[test]
    fn intervals_of_a_mean_hold_the_truth_in_95_of_100_cases() {
        // Five seeds of different numbers of normal samples, and 100 samples of one seed as parts of their own.
        for sizes in [vec![30usize, 50, 40, 35, 45], vec![1; 100]] {
            let held = coverage(4_000, |stream| {
                let part = |&n: &usize| ((0..n).map(|_| 7.0 + 3.0 * stream.normal()).sum::<f64>(), n as f64);
                let parts: Vec<(f64, f64)> = sizes.iter().map(part).collect();
                let interval = ratio(&parts).unwrap().interval.unwrap();
                interval.low <= 7.0 && 7.0 <= interval.high
            });
            assert!((0.938..=0.962).contains(&held), "{sizes:?}: {held}");
        }
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
}
