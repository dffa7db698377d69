//! Intervals of statistics that are made of many values: by the jackknife and the bootstrap over seeds. Both ask what
//! the statistic would have been if other seeds had been run, by counting some of the seeds more often than others.

use tailcut_base::Seeds;

use super::{Interval, nearest_rank, t975};

/// Number of resamples that the bootstrap makes.
const RESAMPLES: usize = 500;

/// A resample of the seeds: how often each of them counts.
#[derive(Clone, Copy, Debug)]
pub enum Resample<'a> {
    /// No resample: each seed counts once, and the statistic is the measured one.
    Measured,
    /// All seeds but the one at this place count.
    Without(usize),
    /// How often each seed counts, in the order of the seeds.
    Weights(&'a [f64]),
}

/// A value over all seeds as it would be without the seed at the place `out` of `seeds`, which are the pseudo-values of
/// all seeds. Positive values stay positive.
pub fn without(value: f64, seeds: &[f64], out: usize) -> f64 {
    let others = seeds.len() as f64 - 1.0;
    if value > 0.0 {
        value * (-(seeds[out] / value - 1.0) / others).exp()
    } else {
        value - (seeds[out] - value) / others
    }
}

/// The interval of a smooth statistic by the delete-one jackknife over `seeds` seeds, around the measured value; on a
/// logarithmic scale if `ratio` and all of its values are positive. `None` with fewer than two seeds, or if the
/// statistic is not finite.
pub fn jackknife(seeds: usize, ratio: bool, statistic: &dyn Fn(Resample<'_>) -> f64) -> Option<Interval> {
    if seeds < 2 {
        return None;
    }
    let value = statistic(Resample::Measured);
    let left: Vec<f64> = (0..seeds).map(|out| statistic(Resample::Without(out))).collect();
    if !value.is_finite() || left.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let logarithmic = ratio && value > 0.0 && left.iter().all(|&value| value > 0.0);
    let moved = |left: &f64| if logarithmic { (left / value).ln() } else { left - value };
    let n = seeds as f64;
    let variance = (n - 1.0) / n * left.iter().map(|left| moved(left).powi(2)).sum::<f64>();
    let half = t975(n - 1.0) * variance.sqrt();
    Some(if logarithmic { Interval::around_log(value, half) } else { Interval::around(value, half) })
}

/// The interval of a statistic by the bootstrap: the middle 95 % of what it is in resamples of the seeds. `None` with
/// fewer than two seeds, or if some resamples do not have the statistic.
pub fn bootstrap(seeds: usize, statistic: &dyn Fn(Resample<'_>) -> f64) -> Option<Interval> {
    if seeds < 2 {
        return None;
    }
    let n = u32::try_from(seeds).expect("fewer than 2^32 seeds");
    // The resamples depend on nothing but the number of seeds, so that all statistics of a claim have the same ones.
    let mut stream = Seeds::new(0).stream("claims.bootstrap", u64::from(n));
    let mut values = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let mut weights = vec![0.0; seeds];
        for _ in 0..seeds {
            weights[stream.below(n) as usize] += 1.0;
        }
        let value = statistic(Resample::Weights(&weights));
        if value.is_nan() {
            return None;
        }
        values.push(value);
    }
    values.sort_by(f64::total_cmp);
    Some(Interval { low: nearest_rank(&values, 25)?, high: nearest_rank(&values, 975)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean<'a>(values: &'a [f64]) -> impl Fn(Resample<'_>) -> f64 + 'a {
        |resample| match resample {
            Resample::Measured => values.iter().sum::<f64>() / values.len() as f64,
            Resample::Without(out) => (values.iter().sum::<f64>() - values[out]) / (values.len() as f64 - 1.0),
            Resample::Weights(weights) => {
                values.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / weights.iter().sum::<f64>()
            }
        }
    }

    /// For a mean the jackknife is the textbook interval: 5 values, t = 2.776, standard error sqrt(2.5 / 5).
    #[test]
    fn the_jackknife_of_a_mean_is_students_interval() {
        let interval = jackknife(5, false, &mean(&[1.0, 2.0, 3.0, 4.0, 5.0])).unwrap();
        let half = 2.776_445 * (2.5f64 / 5.0).sqrt();
        assert!((interval.low - (3.0 - half)).abs() < 1e-4 && (interval.high - (3.0 + half)).abs() < 1e-4);
    }

    #[test]
    fn a_ratio_has_an_interval_that_stays_positive() {
        let interval = jackknife(2, true, &mean(&[0.1, 1.0])).unwrap();
        assert!(interval.low > 0.0 && interval.high > 1.0);
        assert_eq!(jackknife(1, true, &mean(&[0.1])), None);
    }

    #[test]
    fn the_bootstrap_holds_what_resamples_give_and_repeats() {
        let values = [0.0, 0.0, 1.0, 1.0, 1.0, 0.0];
        let interval = bootstrap(6, &mean(&values)).unwrap();
        assert!(interval.low < 0.3 && interval.high > 0.7, "{interval:?}");
        assert_eq!(bootstrap(6, &mean(&values)), Some(interval));
        assert_eq!(bootstrap(6, &|_| 7.0), Some(Interval { low: 7.0, high: 7.0 }));
        assert_eq!(bootstrap(1, &|_| 7.0), None);
        assert_eq!(bootstrap(6, &|resample| if matches!(resample, Resample::Measured) { 7.0 } else { f64::NAN }), None);
    }

    /// The ends leave 2.5 % of all resamples on each side. All n^n resamples of n seeds are enumerated, so that the
    /// share below an end is exact; 500 resamples miss it by 0.7 % in the mean square, and three numbers of seeds by
    /// 0.4 %.
    #[test]
    fn the_bootstrap_leaves_one_in_forty_resamples_on_each_side() {
        let mut stream = Seeds::new(6).stream("bootstrap", 0);
        let (mut below, mut above) = (0.0, 0.0);
        for seeds in [5u32, 6, 7] {
            let values: Vec<f64> = (0..seeds).map(|_| stream.normal()).collect();
            let interval = bootstrap(seeds as usize, &mean(&values)).unwrap();
            let all = seeds.pow(seeds);
            let mut outside = (0u32, 0u32);
            for resample in 0..all {
                let mut rest = resample;
                let sum: f64 = (0..seeds)
                    .map(|_| {
                        let drawn = values[(rest % seeds) as usize];
                        rest /= seeds;
                        drawn
                    })
                    .sum();
                let mean = sum / f64::from(seeds);
                outside.0 += u32::from(mean < interval.low - 1e-9);
                outside.1 += u32::from(mean > interval.high + 1e-9);
            }
            below += f64::from(outside.0) / f64::from(all) / 3.0;
            above += f64::from(outside.1) / f64::from(all) / 3.0;
        }
        assert!((0.013..0.037).contains(&below) && (0.013..0.037).contains(&above), "{below} {above}");
    }

    /// The same ratio by the formula for pairs and by the jackknife of two sides.
    #[test]
    fn the_jackknife_of_a_ratio_is_that_of_pairs() {
        use crate::stats::{Estimate, Method, SeedValues, quotient};
        let (a, b) = ([10.0, 20.0, 40.0], [11.0, 0.0, 42.0]);
        // Percentiles over all seeds are not the mean of those of the seeds.
        let (all_a, all_b) = (
            Estimate::new(25.0, Some(Interval::around(25.0, 1.0))),
            Estimate::new(21.0, Some(Interval::around(21.0, 1.0))),
        );
        let pairs =
            quotient(SeedValues { all: &all_a, seeds: &a }, SeedValues { all: &all_b, seeds: &b }, Method::Paired);
        let ratio = |resample: Resample<'_>| match resample {
            Resample::Without(out) => without(21.0, &b, out) / without(25.0, &a, out),
            _ => 21.0 / 25.0,
        };
        let interval = jackknife(3, true, &ratio).unwrap();
        assert!((interval.low / pairs.low.unwrap() - 1.0).abs() < 1e-12, "{interval:?} {pairs:?}");
        assert!((interval.high / pairs.high.unwrap() - 1.0).abs() < 1e-12, "{interval:?} {pairs:?}");
        assert_eq!(without(-3.0, &[-4.0, -2.0], 0), -2.0);
    }
}
