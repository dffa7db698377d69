//! The ratio of a metric on two sides, with its interval, and whether it is more than chance.
//!
//! B/A is the quotient of the two values over all seeds. The variance of its logarithm is by the jackknife, linearised:
//! each seed's pseudo-value counts as a share of the value, so that a seed in which nothing was dropped is no trouble.
//! For pairs it is the spread of the differences of these shares; without pairs it is the sum of those of the two
//! sides. By logarithms the answer is the same whichever side is called A. The interval is by Student's t; without
//! pairs with the degrees of freedom of Welch ("The generalization of 'Student's' problem when several different
//! population variances are involved", Biometrika 34, 1947). Where one side is zero the difference takes the place of
//! the ratio.

use serde::Serialize;

use super::{Estimate, Interval, t975};

/// How a ratio came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Seed by seed, the flows being the same.
    Paired,
    /// As independent samples, by Welch.
    Unpaired,
}

/// What the interval of a ratio says of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Difference {
    /// B is lower than A.
    #[serde(rename = "lower")]
    Lower,
    /// B is higher than A.
    #[serde(rename = "higher")]
    Higher,
    /// The interval contains 1.
    #[serde(rename = "no difference")]
    NoDifference,
    /// There is no interval.
    #[serde(rename = "unknown")]
    Unknown,
}

impl Difference {
    /// What an interval of B less A says, given half of its width; or that of the logarithm of B over A.
    fn of(difference: f64, half: Option<f64>) -> Difference {
        match half {
            Some(half) if difference + half < 0.0 => Difference::Lower,
            Some(half) if difference - half > 0.0 => Difference::Higher,
            Some(_) => Difference::NoDifference,
            None => Difference::Unknown,
        }
    }

    /// As outputs show it.
    pub fn text(self) -> &'static str {
        match self {
            Difference::Lower => "lower",
            Difference::Higher => "higher",
            Difference::NoDifference => "no difference",
            Difference::Unknown => "unknown",
        }
    }
}

impl Method {
    /// As outputs show it.
    pub fn text(self) -> &'static str {
        match self {
            Method::Paired => "paired",
            Method::Unpaired => "unpaired",
        }
    }
}

/// A ratio with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuotientEstimate {
    /// B over A; `None` if A is zero.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// What the interval says; outputs call it the verdict.
    #[serde(rename = "verdict")]
    pub difference: Difference,
    /// How it was found.
    pub method: Method,
    /// Why there is no interval; empty if there is one.
    #[serde(skip)]
    pub refusals: Vec<String>,
}

/// A statistic on one side: over all seeds, and what each of them contributes.
#[derive(Clone, Copy, Debug)]
pub struct SeedValues<'a> {
    /// Over all seeds.
    pub all: &'a Estimate,
    /// The pseudo-value of each seed ([`Estimate::pseudo_values`]).
    pub seeds: &'a [f64],
}

impl SeedValues<'_> {
    /// Why this side allows no interval of anything that is made of it.
    fn refusal(&self) -> Option<String> {
        if self.all.thin || self.all.repeated {
            return self.all.note.clone();
        }
        match self.seeds.len() {
            0 | 1 => Some("one seed does not tell chance from difference: a ratio needs two".to_owned()),
            _ => self.all.interval.is_none().then(|| {
                let counted = || "what is counted or is a maximum has no interval".to_owned();
                self.all.why_no_interval().unwrap_or_else(counted)
            }),
        }
    }

    /// How far each seed is from the value over all seeds, times `scale`.
    fn departures(&self, scale: f64) -> impl Iterator<Item = f64> {
        self.seeds.iter().map(move |seed| (seed - self.all.value) * scale)
    }

    /// Variance of the value over all seeds times `scale`.
    fn variance(&self, scale: f64) -> f64 {
        variance(self.departures(scale), self.seeds.len())
    }
}

/// Variance of a statistic over `k` seeds, whose pseudo-values are this far from its value.
fn variance(departures: impl Iterator<Item = f64>, k: usize) -> f64 {
    departures.map(|departure| departure * departure).sum::<f64>() / (k as f64 * (k as f64 - 1.0))
}

/// Half of the width of the interval of the difference of `b` and `a`, each times its scale.
fn half(a: SeedValues<'_>, b: SeedValues<'_>, scales: (f64, f64), method: Method) -> f64 {
    let (ka, kb) = (a.seeds.len(), b.seeds.len());
    match method {
        Method::Paired => {
            let pairs = b.departures(scales.1).zip(a.departures(scales.0)).map(|(b, a)| b - a);
            t975(ka as f64 - 1.0) * variance(pairs, ka).sqrt()
        }
        Method::Unpaired => {
            let (va, vb) = (a.variance(scales.0), b.variance(scales.1));
            let freedom = (va + vb).powi(2) / (va.powi(2) / (ka as f64 - 1.0) + vb.powi(2) / (kb as f64 - 1.0));
            // Two sides without any spread have no degrees of freedom, and need none.
            if va + vb == 0.0 { 0.0 } else { t975(freedom) * (va + vb).sqrt() }
        }
    }
}

/// The ratio of `b` to `a`. With [`Method::Paired`] the seeds are the same, with the same flows and in the same order.
///
/// # Panics
/// If they are to be paired and their numbers differ.
pub fn quotient(a: SeedValues<'_>, b: SeedValues<'_>, method: Method) -> QuotientEstimate {
    assert!(method == Method::Unpaired || a.seeds.len() == b.seeds.len(), "pairs have two sides");
    let mut refusals: Vec<String> = [a, b].iter().filter_map(SeedValues::refusal).collect();
    refusals.dedup();
    let half = |scales| refusals.is_empty().then(|| half(a, b, scales, method)).filter(|half| half.is_finite());
    let (from, to) = (a.all.value, b.all.value);
    let (ratio, interval, difference) = if from > 0.0 && to > 0.0 {
        let (ratio, half) = (to / from, half((1.0 / from, 1.0 / to)));
        (Some(ratio), half.map(|half| Interval::around_log(ratio, half)), Difference::of(ratio.ln(), half))
    } else {
        let half = half((1.0, 1.0));
        let ratio = |difference: f64| (from > 0.0).then(|| 1.0 + difference / from);
        let interval = half.map(|half| Interval::around(to - from, half));
        let interval = interval.and_then(|i| Some(Interval { low: ratio(i.low)?.max(0.0), high: ratio(i.high)? }));
        (ratio(to - from), interval, Difference::of(to - from, half))
    };
    QuotientEstimate {
        ratio,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        difference,
        method,
        refusals,
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::Stream;

    use super::*;
    use crate::stats::{coverage, quantile, ratio};

    fn mean(seeds: &[f64]) -> Estimate {
        ratio(&seeds.iter().map(|&seed| (seed, 1.0)).collect::<Vec<_>>()).unwrap_or(Estimate::new(0.0, None))
    }

    fn of_means(a: &[f64], b: &[f64], method: Method) -> QuotientEstimate {
        let (all_a, all_b) = (mean(a), mean(b));
        quotient(SeedValues { all: &all_a, seeds: a }, SeedValues { all: &all_b, seeds: b }, method)
    }

    use Method::{Paired, Unpaired};

    /// Worked out by hand from the formulas and a table of Student's t.
    #[test]
    fn intervals_are_those_of_students_t_and_of_welch() {
        let (a, b) = ([10.0, 20.0, 40.0], [11.0, 24.0, 42.0]);
        // Means 23.333 and 25.667; differences of shares 0, 0.077922, -0.077922; t = 4.3027.
        let paired = of_means(&a, &b, Paired);
        let close = |x: Option<f64>, y: f64| (x.unwrap() - y).abs() < 1e-3 * y;
        assert!(close(paired.ratio, 1.1) && close(paired.low, 0.90641) && close(paired.high, 1.33493), "{paired:?}");
        assert_eq!(paired.difference, Difference::NoDifference);
        // Squared errors of the means, as shares: 0.142857 and 0.122618; 3.9769 degrees of freedom, t = 2.7826.
        let unpaired = of_means(&a, &b, Unpaired);
        let as_by_hand = close(unpaired.low, 0.26226) && close(unpaired.high, 4.61369);
        assert!(close(unpaired.ratio, 1.1) && as_by_hand, "{unpaired:?}");
        assert_eq!(of_means(&[10.0, 10.5, 9.5], &[8.0, 8.5, 7.6], Paired).difference, Difference::Lower);
        assert_eq!(of_means(&[10.0, 10.5, 9.5], &[18.0, 18.5, 17.6], Unpaired).difference, Difference::Higher);
    }

    #[test]
    fn the_answer_is_the_same_whichever_side_is_first() {
        let (a, b) = ([3.0, 5.0, 4.0, 6.0], [4.0, 4.0, 7.0, 9.0]);
        for method in [Paired, Unpaired] {
            let (one, other) = (of_means(&a, &b, method), of_means(&b, &a, method));
            assert!((one.ratio.unwrap() * other.ratio.unwrap() - 1.0).abs() < 1e-12);
            assert!((one.low.unwrap() * other.high.unwrap() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn zeros_and_single_seeds_are_not_guessed_at() {
        let none = of_means(&[0.0, 0.0], &[0.0, 0.0], Paired);
        assert_eq!((none.ratio, none.difference), (None, Difference::NoDifference));
        let drops = of_means(&[10.0, 12.0, 11.0], &[0.0, 0.0, 0.0], Paired);
        assert_eq!((drops.ratio, drops.difference), (Some(0.0), Difference::Lower));
        let appear = of_means(&[0.0, 0.0, 0.0], &[10.0, 12.0, 11.0], Unpaired);
        assert_eq!((appear.ratio, appear.difference), (None, Difference::Higher));
        let single = of_means(&[10.0], &[12.0], Paired);
        assert_eq!((single.low, single.difference), (None, Difference::Unknown));
        assert!((single.ratio.unwrap() - 1.2).abs() < 1e-12 && single.refusals[0].starts_with("one seed"));
        assert_eq!(of_means(&[10.0, 10.0], &[10.0, 10.0], Unpaired).difference, Difference::NoDifference);
        assert_eq!(of_means(&[], &[1.0], Unpaired).difference, Difference::Unknown);
    }

    /// A scheme that makes the FCT of every flow 5 % longer, on flows that differ much between seeds.
    #[test]
    fn pairs_find_a_difference_that_independent_samples_do_not() {
        let mut stream = tailcut_base::Seeds::new(2).stream("pairs", 0);
        let a: Vec<f64> = (0..5).map(|_| 100.0 * (0.3 * stream.normal()).exp()).collect();
        let b: Vec<f64> = a.iter().map(|a| a * 1.05 * (0.01 * stream.normal()).exp()).collect();
        assert_eq!(of_means(&a, &b, Paired).difference, Difference::Higher);
        assert_eq!(of_means(&a, &b, Unpaired).difference, Difference::NoDifference);
    }

    /// What is refused for one value is refused for whatever is made of it, with the same words.
    #[test]
    fn a_ratio_of_thin_percentiles_and_of_counts_has_no_interval() {
        let p99 = |n: usize| {
            let seeds: Vec<Vec<f64>> =
                (0..5).map(|seed| (0..n / 5).map(|i| f64::from(seed) + i as f64).collect()).collect();
            let mut all = seeds.concat();
            all.sort_by(f64::total_cmp);
            let all = quantile(&seeds, &all, 990, "flows").unwrap();
            let each = all.pseudo_values().flatten().collect::<Vec<_>>();
            (all, each)
        };
        for (n, judged) in [(40, false), (995, false), (1_000, true)] {
            let (all, seeds) = p99(n);
            let side = SeedValues { all: &all, seeds: &seeds };
            let found = quotient(side, side, Paired);
            assert_eq!((found.ratio, found.low.is_some()), (Some(1.0), judged), "{n}");
            assert_eq!(found.refusals, Vec::from_iter(all.note.clone()), "{n}");
        }
        let most = Estimate::new(7.0, None);
        let side = SeedValues { all: &most, seeds: &[7.0, 5.0] };
        assert!(quotient(side, side, Paired).refusals[0].contains("maximum"));
    }

    fn exponential(n: usize, stream: &mut Stream) -> Vec<f64> {
        (0..n).map(|_| stream.exponential(1.0)).collect()
    }

    /// The mean or the 99th percentile of all seeds, and what each contributes.
    fn measured(seeds: &[Vec<f64>], permille: Option<u32>) -> (Estimate, Vec<f64>) {
        let sorted = |mut values: Vec<f64>| {
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        let seeds: Vec<Vec<f64>> = seeds.iter().cloned().map(sorted).collect();
        let all = match permille {
            None => ratio(&seeds.iter().map(|s| (s.iter().sum(), s.len() as f64)).collect::<Vec<_>>()).unwrap(),
            Some(permille) => quantile(&seeds, &sorted(seeds.concat()), permille, "flows").unwrap(),
        };
        let each = all.pseudo_values().flatten().collect();
        (all, each)
    }

    /// Of each of some numbers and an exponential one of its own the larger.
    fn larger(numbers: &[f64], stream: &mut Stream) -> Vec<f64> {
        numbers.iter().map(|number| number.max(stream.exponential(1.0))).collect()
    }

    /// Both sides have the same distribution, so that every true ratio is 1; the two flows of a pair have a part in
    /// common.
    #[test]
    fn intervals_of_a_ratio_hold_the_truth_in_95_of_100_cases() {
        for (method, seeds, flows) in [(Paired, 2, 500), (Paired, 5, 200), (Unpaired, 3, 400), (Unpaired, 5, 200)] {
            for permille in [None, Some(990)] {
                let held = coverage(1_500, |stream| {
                    let (mut a, mut b) = (Vec::new(), Vec::new());
                    for _ in 0..seeds {
                        let common = exponential(flows, stream);
                        let other = if method == Paired { common.clone() } else { exponential(flows, stream) };
                        a.push(larger(&common, stream));
                        b.push(larger(&other, stream));
                    }
                    let ((all_a, a), (all_b, b)) = (measured(&a, permille), measured(&b, permille));
                    let a = SeedValues { all: &all_a, seeds: &a };
                    let found = quotient(a, SeedValues { all: &all_b, seeds: &b }, method);
                    assert_eq!(found.ratio, Some(all_b.value / all_a.value), "it is the quotient of what is shown");
                    found.low.unwrap() <= 1.0 && 1.0 <= found.high.unwrap()
                });
                assert!((0.925..=0.995).contains(&held), "{method:?}, {seeds} of {flows}, {permille:?}: {held}");
            }
        }
    }
}
