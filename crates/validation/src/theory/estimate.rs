//! A mean over independent runs, and how far from the truth it may be.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// How often an interval covers the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// 95 of 100 times.
    P95,
    /// 99 of 100 times.
    P99,
}

/// The mean of a figure over runs with different seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean.
    pub mean: f64,
    /// Standard error of the mean.
    pub error: f64,
    /// Number of runs.
    pub runs: usize,
}

impl Estimate {
    /// The mean of one figure of each run.
    ///
    /// # Panics
    /// If there are fewer than two runs: nothing can be said of the error then.
    pub fn of(figures: &[f64]) -> Estimate {
        let runs = figures.len();
        assert!(runs >= 2, "an error cannot be told from {runs} runs");
        let mean = figures.iter().sum::<f64>() / runs as f64;
        let variance = figures.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (runs - 1) as f64;
        Estimate { mean, error: (variance / runs as f64).sqrt(), runs }
    }

    /// Half of the width of the interval around the mean, by Student's t.
    pub fn half_width(&self, confidence: Confidence) -> f64 {
        let upper = match confidence {
            Confidence::P95 => 0.975,
            Confidence::P99 => 0.995,
        };
        let t = StudentsT::new(0.0, 1.0, (self.runs - 1) as f64).expect("there are at least two runs");
        t.inverse_cdf(upper) * self.error
    }

    /// Whether the interval holds `truth`.
    pub fn covers(&self, truth: f64, confidence: Confidence) -> bool {
        (self.mean - truth).abs() <= self.half_width(confidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_students_t() {
        let sixteen: Vec<f64> = (0..16).map(f64::from).collect();
        let estimate = Estimate::of(&sixteen);
        // The standard deviation of 0 to 15 is the root of 340/15; t is 2.1314 and 2.9467 with 15 degrees of freedom.
        let error = (340.0_f64 / 15.0).sqrt() / 4.0;
        assert!((estimate.mean - 7.5).abs() < 1e-12);
        assert!((estimate.half_width(Confidence::P95) - 2.1314 * error).abs() < 1e-3);
        assert!((estimate.half_width(Confidence::P99) - 2.9467 * error).abs() < 1e-3);
        assert!(estimate.covers(9.9, Confidence::P95) && !estimate.covers(10.1, Confidence::P95));
        assert!(estimate.covers(10.1, Confidence::P99));
    }
}
