//! The bounded Pareto distribution of the Heavy and Light workloads (Abbasloo, Xu, Chao, HyLine, Fig. 4b), exact.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tailcut_base::MSS_BYTES;

/// F(x) = (1 - (L/x)^a) / (1 - (L/H)^a) for L <= x <= H.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pareto {
    /// L.
    min: f64,
    /// H.
    max: f64,
    /// a.
    shape: f64,
    /// 1 - (L/H)^a.
    mass: f64,
}

/// Packets that are counted one by one; beyond them the survival function is flat enough for an integral.
const COUNTED: u64 = 20_000;

impl Pareto {
    pub(crate) fn new(min: u64, max: u64, shape: f64) -> Pareto {
        assert!(0 < min && min < max, "sizes lie between two different bounds");
        assert!(shape > 0.0 && shape.is_finite(), "the shape is a positive number");
        let (min, max) = (min as f64, max as f64);
        // Not 1 - pow(..), which loses its digits when the shape is tiny.
        let mass = -libm::expm1(shape * libm::log(min / max));
        Pareto { min, max, shape, mass }
    }

    pub(crate) fn max(&self) -> f64 {
        self.max
    }

    pub(crate) fn quantile(&self, u: f64) -> f64 {
        // x = L / (1 - u (1 - (L/H)^a))^(1/a); rounding must not leave the bounds.
        let log = libm::log1p(-u * self.mass) / self.shape;
        (self.min * libm::exp(-log)).clamp(self.min, self.max)
    }

    pub(crate) fn cdf(&self, x: f64) -> f64 {
        if x <= self.min {
            0.0
        } else if x >= self.max {
            1.0
        } else {
            -libm::expm1(self.shape * libm::log(self.min / x)) / self.mass
        }
    }

    /// Part of the mean that sizes above `x` contribute.
    pub(crate) fn mean_above(&self, x: f64) -> f64 {
        self.moment_above(x, 1.0)
    }

    pub(crate) fn second_moment(&self) -> f64 {
        self.moment_above(0.0, 2.0)
    }

    /// Mean of the `k`-th power of sizes that count as `cap` if they are larger.
    pub(crate) fn moment_up_to(&self, cap: f64, k: f64) -> f64 {
        let cap = cap.min(self.max);
        self.moment_above(0.0, k) - self.moment_above(cap, k) + libm::pow(cap, k) * (1.0 - self.cdf(cap))
    }

    /// Integral of x^k dF from `from` up, where dF = a L^a x^(-a-1) dx / mass.
    fn moment_above(&self, from: f64, k: f64) -> f64 {
        let from = from.clamp(self.min, self.max);
        let factor = self.shape * libm::pow(self.min / from, self.shape) / self.mass;
        factor * libm::pow(from, k) * power_integral(libm::log(self.max / from), k - self.shape)
    }

    /// Mean of ceil(size / 1460). Every point of a plan asks for it, of the same few distributions: each is summed up
    /// once.
    pub(crate) fn mean_packets(&self) -> f64 {
        static KNOWN: Mutex<BTreeMap<[u64; 3], f64>> = Mutex::new(BTreeMap::new());
        let key = [self.min, self.max, self.shape].map(f64::to_bits);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(key).or_insert_with(|| self.sum_of_survival())
    }

    /// The sum of P(size > 1460 k) over k >= 0.
    fn sum_of_survival(&self) -> f64 {
        let mss = MSS_BYTES as f64;
        // Every flow has these packets; the terms of the sum are 1.
        let certain = (self.min / mss).floor() as u64 + 1;
        let last = (self.max / mss).ceil() as u64;
        let survival = |k: u64| 1.0 - self.cdf(k as f64 * mss);
        let rest = last.min(certain + COUNTED);
        let mut sum = certain as f64 + (certain..rest).map(survival).sum::<f64>();
        if rest < last {
            // Euler and Maclaurin: what is left out, slope / 12, is far below a thousandth of a packet.
            sum += self.survival_integral(rest as f64 * mss) / mss + survival(rest) / 2.0;
        }
        sum
    }

    /// Integral of 1 - F from `from` (at least the smallest size) to the largest size.
    fn survival_integral(&self, from: f64) -> f64 {
        // By parts: E[X; X > from] - from P(X > from).
        self.mean_above(from) - from * (1.0 - self.cdf(from))
    }
}

/// Integral of t^(e-1) from 1 to exp(`log`), stable where `e` is near 0.
fn power_integral(log: f64, e: f64) -> f64 {
    if e == 0.0 { log } else { libm::expm1(e * log) / e }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_the_distribution_function() {
        let p = Pareto::new(10_000, 30_000_000, 0.13008);
        for i in 0..1000 {
            let u = f64::from(i) / 1000.0;
            assert!((p.cdf(p.quantile(u)) - u).abs() < 1e-12, "{u}");
        }
        assert_eq!(p.quantile(0.0), 10_000.0);
        assert!(p.quantile(1.0 - 1e-16) <= 30_000_000.0);
    }

    #[test]
    fn moments_agree_with_numerical_integration() {
        for shape in [0.13008, 0.75864, 1.0, 1.0 + 1e-9, 1.9999, 2.0, 3.5] {
            let p = Pareto::new(1_000, 300_000, shape);
            // Steps of equal ratio, which resolve the tail: equal steps of the probability would not.
            let n = 100_000;
            let size = |i: i32| 1_000.0 * libm::pow(300.0, f64::from(i) / f64::from(n));
            let (mut mean, mut square, mut above) = (0.0, 0.0, 0.0);
            for i in 0..n {
                let (x, dp) = ((size(i) + size(i + 1)) / 2.0, p.cdf(size(i + 1)) - p.cdf(size(i)));
                mean += dp * x;
                square += dp * x * x;
                above += if x > 50_000.0 { dp * x } else { 0.0 };
            }
            assert!((p.mean_above(0.0) / mean - 1.0).abs() < 1e-7, "{shape}: {} {mean}", p.mean_above(0.0));
            assert!((p.second_moment() / square - 1.0).abs() < 1e-7, "{shape}: {} {square}", p.second_moment());
            assert!((p.mean_above(50_000.0) / above - 1.0).abs() < 1e-3, "{shape}: {above}");
        }
    }

    #[test]
    fn many_packets_are_integrated_and_not_counted() {
        // 30 MB are 20548 packets, just beyond the limit: both ways must agree.
        for (min, max) in [(10_000, 30_000_000), (40_000_000, 900_000_000), (1_000, 5_000_000_000)] {
            let p = Pareto::new(min, max, 0.4);
            let last = (max as f64 / 1460.0).ceil() as u64;
            let counted: f64 = (0..last).map(|k| 1.0 - p.cdf(k as f64 * 1460.0)).sum();
            assert!((p.mean_packets() / counted - 1.0).abs() < 1e-6, "{min}..{max}: {} {counted}", p.mean_packets());
        }
    }
}
