//! Means, shares and rates as ratios of sums, and intervals by the spread of seeds.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Estimate, Interval};

/// The 95 % interval by Student's t of `value`, which is over all seeds, from how far `seeds` are from it: the same
/// statistic of each seed alone (sectioning), or its pseudo-values (the jackknife). For a mean both are the textbook's
/// interval. `None` with fewer than two seeds, or if a number is not finite.
pub fn sectioned(value: f64, seeds: &[f64]) -> Option<Interval> {
    let k = seeds.len() as f64;
    let squares: f64 = seeds.iter().map(|seed| (seed - value).powi(2)).sum();
    (seeds.len() >= 2 && squares.is_finite())
        .then(|| Interval::around(value, t975(k - 1.0) * (squares / (k * (k - 1.0))).sqrt()))
}

/// Sum of the first numbers over the sum of the second ones, with its interval if there are two parts or more; `None`
/// if the second ones sum to zero. The parts are seeds, or batches of the only seed.
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
        Interval::around(value, half)
    });
    let rest = |part: &(f64, f64)| (below - part.1 > 0.0).then(|| (above - part.0) / (below - part.1));
    Some(Estimate::new(value, interval).with_seeds(parts.iter().map(rest).collect()))
}

/// The same of numbers of which the second ones count flows, queries or bursts. There is no interval if those of one
/// part alone count: a flow that finished beside one that did not differs from itself by nothing.
pub fn mean(parts: &[(f64, f64)]) -> Option<Estimate> {
    let with_samples = parts.iter().filter(|part| part.1 > 0.0).count();
    let estimate = ratio(parts)?;
    Some(Estimate { interval: estimate.interval.filter(|_| with_samples >= 2), ..estimate })
}

/// The 97.5th percentile of Student's t.
pub fn t975(degrees_of_freedom: f64) -> f64 {
    t_quantile(0.975, degrees_of_freedom)
}

/// The quantile of Student's t at this probability.
pub fn t_quantile(probability: f64, degrees_of_freedom: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("there are two values at least");
    t.inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::coverage;

    #[test]
    fn quantiles_of_student_agree_with_tables() {
        for (freedom, t) in [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (9.0, 2.262), (19.0, 2.093), (1000.0, 1.962)] {
            assert!((t975(freedom) - t).abs() < 5e-4, "{freedom}: {}", t975(freedom));
        }
        for (probability, t) in [(0.95, 2.132), (0.99, 3.747), (0.995, 4.604), (0.9995, 8.610)] {
            let found = t_quantile(probability, 4.0);
            assert!((found - t).abs() < 5e-4, "{probability}: {found}");
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
        assert!((sectioned(6.0, &values).unwrap().high - interval.high).abs() < 1e-9);
        assert_eq!(sectioned(6.0, &[6.0]), None);
        assert_eq!(ratio(&[(3.0, 1.0)]).unwrap().interval, None);
        assert_eq!(ratio(&[(3.0, 0.0)]), None);
    }

    #[test]
    fn a_mean_of_one_part_alone_has_no_interval() {
        let of = |parts: &[(f64, f64)]| mean(parts).and_then(|mean| mean.interval);
        assert_eq!(
            (of(&[(3.0, 1.0)]), of(&[(3.0, 1.0), (0.0, 0.0)]), of(&[(30.0, 9.0), (0.0, 0.0)])),
            (None, None, None)
        );
        let two = [(3.0, 1.0), (0.0, 0.0), (5.0, 1.0)];
        assert_eq!(mean(&two), ratio(&two));
        assert!(of(&two).is_some() && mean(&[(0.0, 0.0)]).is_none());
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
}
