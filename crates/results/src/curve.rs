//! Cumulative distributions that can be drawn.

use tailcut_record::Histogram;

/// A cumulative distribution with so few points that it can be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Values in ascending order, each with the share of samples at or below it.
    pub points: Vec<(f64, f64)>,
    /// Number of samples.
    pub n: u64,
}

/// Points of a curve at most; those of its tail come on top.
const CURVE_POINTS: usize = 300;

impl Curve {
    /// The distribution of sorted samples: every one of them if they are few, else evenly spaced ranks, and in the
    /// tail ranks evenly spaced by the logarithm of the share above them.
    pub fn of_sorted(samples: &[f64]) -> Curve {
        let n = samples.len();
        let mut ranks: Vec<usize> = if n <= CURVE_POINTS {
            (1..=n).collect()
        } else {
            let body = (0..=CURVE_POINTS).map(|i| (i * n).div_ceil(CURVE_POINTS).max(1));
            // Sixteen points for each factor of ten, down to the last sample.
            let tail =
                (0..).map(|i| n as f64 * 0.1f64.powf(1.0 + f64::from(i) / 16.0)).take_while(|&above| above >= 1.0);
            body.chain(tail.map(|above| n - above as usize)).chain([n]).collect()
        };
        ranks.sort_unstable();
        ranks.dedup();
        let points = ranks.into_iter().map(|rank| (samples[rank - 1], rank as f64 / n as f64)).collect();
        Curve { points: last_of_equal(points), n: n as u64 }
    }

    /// The distribution of counted values; at most about a thousand of them are kept.
    pub fn of_histogram(samples: &Histogram) -> Curve {
        let n = samples.total();
        let mut seen = 0;
        let mut points: Vec<(f64, f64)> = samples
            .iter()
            .map(|(value, times)| {
                seen += times;
                (value as f64, seen as f64 / n as f64)
            })
            .collect();
        if points.len() > 1000 {
            let (every, last) = (points.len() / 500, points.len() - 1);
            points =
                points.into_iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last).map(|(_, p)| p).collect();
        }
        Curve { points, n }
    }

    /// Share of samples at or below `x`.
    pub fn at(&self, x: f64) -> f64 {
        let above = self.points.partition_point(|point| point.0 <= x);
        if above == 0 { 0.0 } else { self.points[above - 1].1 }
    }
}

/// Of points with the same `x` the highest.
fn last_of_equal(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for point in points {
        match kept.last_mut() {
            Some(last) if last.0 == point.0 => last.1 = point.1,
            _ => kept.push(point),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_of_few_samples_has_all_of_them() {
        let curve = Curve::of_sorted(&[1.0, 2.0, 2.0, 5.0]);
        assert_eq!(curve.points, [(1.0, 0.25), (2.0, 0.75), (5.0, 1.0)]);
        assert_eq!([0.5, 1.0, 3.0, 9.0].map(|x| curve.at(x)), [0.0, 0.25, 0.75, 1.0]);
    }

    #[test]
    fn a_curve_of_many_samples_is_short_and_keeps_its_tail() {
        let samples: Vec<f64> = (1..=100_000).map(f64::from).collect();
        let curve = Curve::of_sorted(&samples);
        assert!(curve.points.len() < 400, "{}", curve.points.len());
        assert_eq!(curve.points.last(), Some(&(100_000.0, 1.0)));
        for &(x, share) in &curve.points {
            assert_eq!(share, x / 100_000.0);
        }
        assert!(curve.points.iter().filter(|(_, share)| *share > 0.999 && *share < 1.0).count() >= 16);
    }
}
