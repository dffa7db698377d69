//! Intervals of statistics over seeds, by the jackknife and the bootstrap. Both ask what the statistic would have been
//! if other seeds had been run, by counting some of the seeds more often than others.

use tailcut_base::Seeds;

use tailcut_results::stats::{Interval, nearest_rank, t975};

/// Number of resamples that the bootstrap makes.
const RESAMPLES: usize = 500;

/// A resample of the seeds: how often each of them counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resample<'a> {
    /// No resample: each seed counts once, and the statistic is the measured one.
    Measured,
    /// How often each seed counts, in the order of the seeds.
    Weights(&'a [f64]),
}

/// The interval of a smooth statistic by the delete-one jackknife over `seeds` seeds, on a logarithmic scale if `ratio`
/// and all of its values are positive. `None` with fewer than two seeds, or if the statistic is not finite.
pub(crate) fn jackknife(seeds: usize, ratio: bool, statistic: &dyn Fn(Resample<'_>) -> f64) -> Option<Interval> {
    if seeds < 2 {
        return None;
    }
    let value = statistic(Resample::Measured);
    let without: Vec<f64> = (0..seeds)
        .map(|left_out| {
            let weights: Vec<f64> = (0..seeds).map(|seed| if seed == left_out { 0.0 } else { 1.0 }).collect();
            statistic(Resample::Weights(&weights))
        })
        .collect();
    if !value.is_finite() || without.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let logarithmic = ratio && value > 0.0 && without.iter().all(|&value| value > 0.0);
    let scaled: Vec<f64> = without.iter().map(|&value| if logarithmic { value.ln() } else { value }).collect();
    let n = seeds as f64;
    let mean = scaled.iter().sum::<f64>() / n;
    let variance = (n - 1.0) / n * scaled.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let half = t975(n - 1.0) * variance.sqrt();
    Some(if logarithmic {
        Interval { low: value * (-half).exp(), high: value * half.exp() }
    } else {
        Interval { low: value - half, high: value + half }
    })
}

/// The interval of a statistic by the bootstrap: the middle 95 % of what it is in resamples of the seeds. `None` with
/// fewer than two seeds, or if some resamples do not have the statistic.
pub(crate) fn bootstrap(seeds: usize, statistic: &dyn Fn(Resample<'_>) -> f64) -> Option<Interval> {
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
}
