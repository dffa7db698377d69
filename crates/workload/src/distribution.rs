//! Distributions of flow sizes: a piecewise-linear distribution function, or a bounded Pareto.
//!
//! Both are continuous apart from atoms. A drawn size is rounded up to whole bytes, at least one; the moments are those
//! before rounding, which adds half a byte to the mean.

use tailcut_base::{HEADER_BYTES, MSS_BYTES};

use crate::pareto::Pareto;

/// How flow sizes are distributed.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution(Shape);

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    /// At least two knots; the first has p = 0, the last p = 1; neither sizes nor probabilities decrease.
    Table(Vec<Knot>),
    Pareto(Pareto),
}

/// A point of a piecewise-linear distribution function: P(size <= `size`) = `p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Knot {
    pub(crate) size: f64,
    pub(crate) p: f64,
}

/// A stretch between two knots: the probability `dp` is spread evenly over the sizes `from..to`.
#[derive(Clone, Copy)]
struct Piece {
    from: f64,
    to: f64,
    dp: f64,
}

impl Distribution {
    /// All flows have `size` bytes.
    pub fn fixed(size: u64) -> Distribution {
        Distribution::uniform(size, size)
    }

    /// Uniform over `min..max` bytes.
    ///
    /// # Panics
    /// If `max` is below `min`.
    pub fn uniform(min: u64, max: u64) -> Distribution {
        assert!(min <= max, "sizes do not decrease");
        Distribution(Shape::Table(vec![Knot { size: min as f64, p: 0.0 }, Knot { size: max as f64, p: 1.0 }]))
    }

    /// Bounded Pareto: F(x) = (1 - (min/x)^shape) / (1 - (min/max)^shape).
    ///
    /// # Panics
    /// If not `0 < min < max`, or if `shape` is not a positive number.
    pub fn pareto(min: u64, max: u64, shape: f64) -> Distribution {
        Distribution(Shape::Pareto(Pareto::new(min, max, shape)))
    }

    /// The distribution with these knots.
    pub(crate) fn table(knots: Vec<Knot>) -> Distribution {
        let ends = knots.first().zip(knots.last()).map(|(first, last)| (first.p, last.p));
        assert_eq!(ends, Some((0.0, 1.0)), "a distribution function goes from 0 to 1");
        let ordered = knots.windows(2).all(|k| k[0].size <= k[1].size && k[0].p <= k[1].p);
        assert!(ordered, "neither sizes nor probabilities decrease");
        Distribution(Shape::Table(knots))
    }

    /// The size below which the fraction `u` of the flows lies, `0 <= u < 1`: the inverse of [`Distribution::cdf`].
    pub fn quantile(&self, u: f64) -> f64 {
        match &self.0 {
            Shape::Table(knots) => {
                // The first knot above u, not at it: a size inside a flat stretch is never drawn.
                let above = knots.partition_point(|k| k.p <= u).clamp(1, knots.len() - 1);
                let (a, b) = (knots[above - 1], knots[above]);
                if b.p > a.p { a.size + (b.size - a.size) * ((u - a.p) / (b.p - a.p)) } else { b.size }
            }
            Shape::Pareto(pareto) => pareto.quantile(u),
        }
    }

    /// The size of a flow for a draw `u`, uniform in [0, 1).
    pub fn draw(&self, u: f64) -> u64 {
        // `as` saturates; sizes are far below 2^53 and exact.
        (self.quantile(u).ceil() as u64).max(1)
    }

    /// Fraction of the flows that have at most `size` bytes.
    pub fn cdf(&self, size: f64) -> f64 {
        match &self.0 {
            Shape::Table(knots) => {
                let above = knots.partition_point(|k| k.size <= size);
                match (above.checked_sub(1).and_then(|i| knots.get(i)), knots.get(above)) {
                    (None, _) => 0.0,
                    (Some(_), None) => 1.0,
                    (Some(a), Some(b)) => a.p + (b.p - a.p) * ((size - a.size) / (b.size - a.size)),
                }
            }
            Shape::Pareto(pareto) => pareto.cdf(size),
        }
    }

    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        match &self.0 {
            Shape::Table(knots) => pieces(knots).map(|p| p.dp * p.mean()).sum(),
            Shape::Pareto(pareto) => pareto.mean_above(0.0),
        }
    }

    /// Mean of the squared size, in bytes squared.
    pub fn second_moment(&self) -> f64 {
        match &self.0 {
            Shape::Table(knots) => pieces(knots).map(|p| p.dp * p.square()).sum(),
            Shape::Pareto(pareto) => pareto.second_moment(),
        }
    }

    /// Mean of the smaller of a flow's size and `cap`, in bytes: what a flow sends up to an offset of `cap`.
    pub fn mean_up_to(&self, cap: f64) -> f64 {
        match &self.0 {
            Shape::Table(knots) => pieces(knots).map(|piece| piece.up_to(cap, cap, Piece::mean)).sum(),
            Shape::Pareto(pareto) => pareto.moment_up_to(cap, 1.0),
        }
    }

    /// Mean of the smaller of a flow's size and `cap`, in bytes, where flows of more than `size` count as nothing.
    pub fn mean_up_to_within(&self, cap: f64, size: f64) -> f64 {
        // Of those that are larger, each has counted as much as may count.
        let most = cap.min(size);
        self.mean_up_to(most) - most * (1.0 - self.cdf(size))
    }

    /// Mean of the square of the smaller of a flow's size and `cap`, in bytes squared.
    pub fn second_moment_up_to(&self, cap: f64) -> f64 {
        match &self.0 {
            Shape::Table(knots) => pieces(knots).map(|piece| piece.up_to(cap, cap * cap, Piece::square)).sum(),
            Shape::Pareto(pareto) => pareto.moment_up_to(cap, 2.0),
        }
    }

    /// Fraction of all bytes that flows of more than `size` bytes carry.
    pub fn bytes_above(&self, size: f64) -> f64 {
        let above: f64 = match &self.0 {
            Shape::Table(knots) => pieces(knots)
                .filter(|p| p.to > size)
                .map(|p| {
                    let from = p.from.max(size);
                    let part = if p.to > p.from { (p.to - from) / (p.to - p.from) } else { 1.0 };
                    p.dp * part * (from + p.to) / 2.0
                })
                .sum(),
            Shape::Pareto(pareto) => pareto.mean_above(size),
        };
        above / self.mean()
    }

    /// Mean number of packets: a flow needs one for each 1460 bytes or part of them. Exact for the rounded sizes too.
    pub fn mean_packets(&self) -> f64 {
        match &self.0 {
            Shape::Table(knots) => pieces(knots).map(|p| p.dp * p.mean_packets()).sum(),
            Shape::Pareto(pareto) => pareto.mean_packets(),
        }
    }

    /// Mean bytes on each wire: the size and a header of 40 bytes for each packet.
    pub fn mean_wire(&self) -> f64 {
        self.mean() + HEADER_BYTES as f64 * self.mean_packets()
    }

    /// Smallest size in bytes, before rounding.
    pub fn min(&self) -> f64 {
        self.quantile(0.0)
    }

    /// Largest size in bytes.
    pub fn max(&self) -> f64 {
        match &self.0 {
            // Flat stretches at the end hold no flow.
            Shape::Table(knots) => knots[knots.partition_point(|k| k.p < 1.0)].size,
            Shape::Pareto(pareto) => pareto.max(),
        }
    }

    /// The knots of a table as (size in bytes, cumulative probability); `None` for a Pareto distribution.
    pub fn knots(&self) -> Option<impl Iterator<Item = (f64, f64)> + '_> {
        match &self.0 {
            Shape::Table(knots) => Some(knots.iter().map(|k| (k.size, k.p))),
            Shape::Pareto(_) => None,
        }
    }
}

fn pieces(knots: &[Knot]) -> impl Iterator<Item = Piece> + '_ {
    knots.windows(2).map(|k| Piece { from: k[0].size, to: k[1].size, dp: k[1].p - k[0].p })
}

impl Piece {
    /// Mean size.
    fn mean(self) -> f64 {
        (self.from + self.to) / 2.0
    }

    /// Mean of the squared size.
    fn square(self) -> f64 {
        (self.from * self.from + self.from * self.to + self.to * self.to) / 3.0
    }

    /// What the piece adds to the mean of a moment of sizes that count as `cap` if they are larger; `beyond` is the
    /// moment of those.
    fn up_to(self, cap: f64, beyond: f64, moment: fn(Piece) -> f64) -> f64 {
        if self.to <= cap {
            self.dp * moment(self)
        } else if self.from >= cap {
            self.dp * beyond
        } else {
            let below = (cap - self.from) / (self.to - self.from);
            self.dp * (below * moment(Piece { to: cap, ..self }) + (1.0 - below) * beyond)
        }
    }

    /// Mean of max(1, ceil(size / 1460)) for a size that is uniform over the piece.
    fn mean_packets(self) -> f64 {
        let mss = MSS_BYTES as f64;
        if self.to <= self.from {
            return (self.from / mss).ceil().max(1.0);
        }
        // Counted from the packet boundary below the piece, so that a narrow piece of large sizes loses no digits.
        let below = (self.from / mss).floor();
        let (from, to) = (self.from - below * mss, self.to - below * mss);
        below + (packets_integral(to) - packets_integral(from)) / (to - from)
    }
}

/// Integral of ceil(x / 1460) from 0 to `x`.
fn packets_integral(x: f64) -> f64 {
    let mss = MSS_BYTES as f64;
    let full = (x / mss).floor();
    mss * full * (full + 1.0) / 2.0 + (x - mss * full) * (full + 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailcut_base::{Seeds, packets};

    use super::*;

    fn table(knots: &[(f64, f64)]) -> Distribution {
        Distribution::table(knots.iter().map(|&(size, p)| Knot { size, p }).collect())
    }

    #[test]
    fn an_atom_is_drawn_exactly_and_a_gap_never() {
        let d = table(&[(8760.0, 0.0), (8760.0, 0.15), (20_000.0, 0.15), (30_000.0, 1.0)]);
        assert_eq!(d.draw(0.0), 8760);
        assert_eq!(d.draw(0.1499), 8760);
        assert_eq!(d.draw(0.15), 20_000);
        assert_eq!(d.cdf(8759.9), 0.0);
        assert_eq!(d.cdf(8760.0), 0.15);
        assert_eq!(d.cdf(15_000.0), 0.15);
        assert_eq!(d.cdf(30_000.0), 1.0);
    }

    #[test]
    fn sizes_are_rounded_up_to_at_least_one_byte() {
        let d = table(&[(0.0, 0.0), (10.0, 1.0)]);
        assert_eq!(d.draw(0.0), 1);
        assert_eq!(d.draw(0.01), 1);
        assert_eq!(d.draw(0.11), 2);
        assert_eq!(d.draw(0.999), 10);
        assert_eq!(Distribution::fixed(1_000_000).draw(0.73), 1_000_000);
    }

    #[test]
    fn moments_of_a_uniform_distribution() {
        let d = Distribution::uniform(8_000, 32_000);
        assert_eq!(d.mean(), 20_000.0);
        // Variance of U(a, b): (b - a)^2 / 12.
        assert!((d.second_moment() - (20_000.0f64.powi(2) + 24_000.0f64.powi(2) / 12.0)).abs() < 1e-3);
        assert_eq!((d.min(), d.max()), (8_000.0, 32_000.0));
        assert_eq!(d.bytes_above(32_000.0), 0.0);
        // Sizes above the middle: half of the flows with a mean of 26 KB.
        assert!((d.bytes_above(20_000.0) - 0.5 * 26_000.0 / 20_000.0).abs() < 1e-12);
    }

    #[test]
    fn mean_packets_agree_with_counting_every_size() {
        for (min, max) in [(0u64, 1460u64), (1, 3), (1460, 1461), (5, 5000), (973_000_000, 973_000_100), (2920, 2920)] {
            let d = Distribution::uniform(min, max);
            // Rounding up makes each of min + 1..=max equally likely.
            let counted = if min == max {
                packets(min) as f64
            } else {
                (min + 1..=max).map(|size| packets(size) as f64).sum::<f64>() / (max - min) as f64
            };
            assert!((d.mean_packets() - counted).abs() < 1e-9 * counted, "{min}..{max}: {}", d.mean_packets());
        }
        let d = Distribution::pareto(1000, 20_000, 0.7);
        let counted: f64 =
            (1000..20_000).map(|s| (d.cdf((s + 1) as f64) - d.cdf(s as f64)) * packets(s + 1) as f64).sum();
        assert!((d.mean_packets() - counted).abs() < 1e-9 * counted, "{} {counted}", d.mean_packets());
    }

    #[test]
    fn moments_up_to_a_size_agree_with_summing_over_quantiles() {
        let n = 200_000;
        let web = crate::distribution("websearch").unwrap().distribution();
        for d in [web, Distribution::pareto(10_000, 30_000_000, 0.13008), Distribution::fixed(5_000)] {
            for cap in [1_000.0, 8_760.0, 50_000.0, 194_180.0, 3e6, 1e9] {
                let sizes = (0..n).map(|i| d.quantile((f64::from(i) + 0.5) / f64::from(n)).min(cap));
                let (mean, square) = sizes.fold((0.0, 0.0), |(mean, square), x| (mean + x, square + x * x));
                let close = |exact: f64, summed: f64| (exact / (summed / f64::from(n)) - 1.0).abs() < 1e-4;
                assert!(close(d.mean_up_to(cap), mean), "{cap}: {} {mean}", d.mean_up_to(cap));
                assert!(close(d.second_moment_up_to(cap), square), "{cap}: {} {square}", d.second_moment_up_to(cap));
            }
            assert!((d.mean_up_to(f64::INFINITY) / d.mean() - 1.0).abs() < 1e-12);
            assert!((d.second_moment_up_to(f64::INFINITY) / d.second_moment() - 1.0).abs() < 1e-12);
        }
    }

    fn any_table() -> impl Strategy<Value = Distribution> {
        prop::collection::vec((0u32..5_000_000, 0u32..1000), 1..12).prop_map(|steps| {
            let total = f64::from(steps.iter().map(|s| s.1).sum::<u32>() + 1);
            let (mut size, mut p) = (1.0, 0.0);
            let mut knots = vec![(size, 0.0)];
            for (ds, dp) in steps {
                size += f64::from(ds);
                p += f64::from(dp) / total;
                knots.push((size, p.min(1.0)));
            }
            knots.push((size, 1.0));
            table(&knots)
        })
    }

    proptest! {
        #[test]
        fn quantiles_rise_and_invert_the_distribution_function(d in any_table(), u in 0.0f64..1.0, v in 0.0f64..1.0) {
            let (low, high) = (u.min(v), u.max(v));
            prop_assert!(d.quantile(low) <= d.quantile(high));
            prop_assert!(d.draw(low) <= d.draw(high));
            let x = d.quantile(u);
            prop_assert!(d.cdf(x) >= u - 1e-9, "F({x}) = {} < {u}", d.cdf(x));
            // Just below x there are at most u: anything else would make the quantile too large.
            prop_assert!(d.cdf(x * (1.0 - 1e-9) - 1e-6) <= u + 1e-6);
            prop_assert!(x >= d.min() && x <= d.max());
        }

        #[test]
        fn drawn_sizes_have_the_mean_and_the_packets_of_the_formula(d in any_table(), seed: u64) {
            let mut stream = Seeds::new(seed).stream("distribution", 0);
            let n = 4000;
            let (mut sum, mut count) = (0.0, 0.0);
            for _ in 0..n {
                let size = d.draw(stream.unit());
                sum += size as f64;
                count += packets(size) as f64;
            }
            let n = f64::from(n);
            let deviation = (d.second_moment() - d.mean() * d.mean()).max(0.0).sqrt();
            // Six standard errors, and the byte that rounding may add.
            let tolerance = 6.0 * deviation / n.sqrt() + 1.0;
            prop_assert!((sum / n - d.mean()).abs() < tolerance, "{} {}", sum / n, d.mean());
            let packet_tolerance = tolerance / MSS_BYTES as f64 + 6.0 * 0.5 / n.sqrt();
            prop_assert!((count / n - d.mean_packets()).abs() < packet_tolerance, "{} {}", count / n, d.mean_packets());
        }
    }
}
