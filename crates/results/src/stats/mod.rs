//! The one policy of statistics: what is estimated, which interval it has, and when there is none. Every output of a
//! run follows it: `summary.csv`, tables, the page, plots, comparisons, stopping rules and verdicts on claims.
//! `docs/statistics.md` says the same for users.
//!
//! **Values** are over the samples of all seeds together. A percentile is the nearest rank over them, the ⌈p·n⌉-th
//! smallest ([`quantile`]). A mean, share or rate is a ratio of sums over all seeds: sum of FCTs over flows, marked
//! packets over packets ([`ratio`]). What is counted or is a maximum has no interval.
//!
//! **The interval of a percentile** is
//! - with five seeds or more: Woodruff's ("Confidence intervals for medians and other position measures", Journal of
//!   the American Statistical Association 47, 1952). The share of samples at or below the percentile is a ratio of sums
//!   over seeds, with an interval by Student's t as below; the samples at the ends of that interval of shares are the
//!   ends of the interval of the percentile. Seeds are independent; flows of one run are not. Where the upper end of
//!   the shares is above 1, the samples do not reach that far; then the largest of them is the upper end, or that of
//!   the seeds' own percentiles around the value if it is higher.
//! - with two to four seeds: Student's t for the spread of the seeds' own percentiles around the value (*sectioning*:
//!   Asmussen and Glynn, Stochastic Simulation, 2007, section III.5; Nakayama, "Confidence intervals for quantiles
//!   using sectioning when applying variance-reduction techniques", ACM Transactions on Modeling and Computer
//!   Simulation 24, 2014). It is wide, as that of a mean of so few seeds is.
//! - with one seed: two order statistics, whose ranks a binomial distribution gives. No shape of the distribution is
//!   assumed, but that flows are independent is, so that under congestion the interval is somewhat too narrow; and it
//!   knows nothing of what another seed would do.
//! - refused if fewer than ten samples lie above the percentile. It rests on too little then, and if not even one lies
//!   above it, it is the maximum under another name; both are said in a note ([`Estimate::thin`]).
//!
//! **The interval of a mean, share or rate** is Student's t over independent parts of the data, of which each gives a
//! numerator and a denominator (Cochran, Sampling Techniques, 3rd ed., chapter 6: the linearised variance of a ratio,
//! which is the textbook interval of a mean if all denominators are equal). The parts are
//! - with two seeds or more: the seeds. With two of them the interval is wide, because t with one degree of freedom is
//!   12.7: five seeds are worth their time.
//! - with one seed: twenty batches of flows in the order of their starts (batch means: Law, Simulation Modeling and
//!   Analysis, section 9.5), or the flows themselves if there are fewer than 200. Such an interval knows nothing of
//!   what another seed would do.
//!
//! Parts without flows do not tell how parts differ: where all flows are of one part alone there is no interval
//! ([`mean()`]). For the same reason a mean over queries or bursts has none then.
//!
//! **If all runs of a design point are identical** they are one replication without an interval of anything
//! ([`Estimate::repeated`]): seeds that draw nothing give one run several times. If only some are, seeds do draw, and
//! each run is an independent draw that counts.
//!
//! **What is made of several values** (the ratio of two schemes, the mean of such ratios) is made of the values that
//! outputs show: B/A is the quotient of the shown B and the shown A. Its interval is by the *jackknife* over seeds
//! (Tukey, "Bias and confidence in not-quite large samples", Annals of Mathematical Statistics 29, 1958): how the
//! values over all seeds change when one seed is left out tells how they would change with other seeds. For means this
//! is the textbook's interval. Percentiles need that many samples are left out at once (Shao and Wu, "A general theory
//! for jackknife variance estimation", Annals of Statistics 17, 1989): here they are those of a seed. The spread of the
//! percentiles of single seeds would be simpler, but these are skewed and too low where flows are few, and not by the
//! same ratio on both sides: of 1000 intervals of the ratio of two 99th percentiles of M/M/1 with equal arrivals, from
//! 5 seeds of 500, about 730 held the true ratio, and 907 by the jackknife. [`quotient`] does this for the ratio of two
//! values, seed by seed where the flows are the same, and [`jackknife`] for any smooth statistic, with the same result
//! for a ratio. Ranks, and what is counted of a curve, are not smooth, and have the bootstrap's interval over seeds
//! ([`bootstrap`]). There is no interval with fewer than two seeds, nor if one of the values is too thin for an
//! interval of its own.
//!
//! How often these intervals hold the true value is tested here with independent samples and in `tailcut-lab` with
//! those of M/M/1, where the truth is known.

mod mean;
mod percentile;
mod quotient;
mod resample;

pub use mean::{mean, ratio, sectioned, t_quantile, t975};
pub use percentile::{FEW_IN_WORDS, nearest_rank, needed, order_ranks, percentile_name, quantile, rank};
pub use quotient::{Difference, Method, QuotientEstimate, SeedValues, quotient};
pub use resample::{Resample, bootstrap, jackknife, without};

/// An interval that holds the true value with a probability of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// From `half` below `value` to `half` above it.
    pub fn around(value: f64, half: f64) -> Interval {
        Interval { low: value - half, high: value + half }
    }

    /// The same on a scale of logarithms, where `half` is half of the width of the logarithm's interval.
    pub fn around_log(value: f64, half: f64) -> Interval {
        Interval { low: value * (-half).exp(), high: value * half.exp() }
    }
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
    /// Whether there is no interval because too few samples lie beyond the percentile. Nothing that is made of the
    /// value has an interval then.
    pub thin: bool,
    /// Whether there is no interval because seeds draw nothing: of several runs all are identical, and count as one.
    pub repeated: bool,
    /// The value without each of the seeds; `None` if no sample is left. Empty for what is counted or a maximum.
    pub without: Vec<Option<f64>>,
}

impl Estimate {
    /// A value with an interval or without, and nothing else to say.
    pub fn new(value: f64, interval: Option<Interval>) -> Estimate {
        Estimate { value, interval, note: None, thin: false, repeated: false, without: Vec::new() }
    }

    /// Why a value without an interval has none; `None` if it is counted or a maximum, which never has one.
    pub fn why_no_interval(&self) -> Option<String> {
        let one_part =
            || (!self.without.is_empty()).then(|| "no interval: all samples are of one seed or batch".to_owned());
        self.note.clone().or_else(one_part)
    }

    /// Adds what the value needs to be read with.
    pub(crate) fn add_note(&mut self, note: &str) {
        self.note = Some(self.note.take().map_or_else(|| note.to_owned(), |known| format!("{known}; {note}")));
    }

    /// The same with the values without each of the seeds.
    #[must_use]
    pub fn with_seeds(self, without: Vec<Option<f64>>) -> Estimate {
        Estimate { without, ..self }
    }

    /// Tukey's pseudo-value of each seed: how much of the value is its doing, so that the mean of the pseudo-values is
    /// the value but for a correction of its bias. The pseudo-value of a mean of equally many samples is the mean of
    /// the seed.
    pub fn pseudo_values(&self) -> impl Iterator<Item = Option<f64>> {
        let k = self.without.len() as f64;
        self.without.iter().map(move |without| without.map(|without| k * self.value - (k - 1.0) * without))
    }
}

/// The policy in a few sentences, for pages.
pub const IN_WORDS: &str = "Percentiles are the nearest rank over the flows of all seeds. With five seeds or more their \
    interval is Woodruff's: the share of flows at or below the percentile has an interval by Student's t over seeds, and the \
    flows at its ends are the ends. With fewer it is Student's t for the spread of the seeds, \
    and with one two order statistics whose ranks a binomial distribution gives. \
    There is none if fewer than ten flows lie above the percentile. Means, shares and rates are ratios of sums over all \
    seeds, with Student's t over seeds, or over twenty batches of flows if there is one seed. The same holds for queries. \
    Percentiles of queue lengths have Student's t over seeds. Counts and maxima have no interval. Where all \
    runs are identical, because seeds draw nothing, they count as one.";

/// Samples that must lie above a percentile for an interval to be given.
pub const ENOUGH_ABOVE: u64 = 10;
/// Seeds from which on their spread is preferred to order statistics.
const ENOUGH_SEEDS: usize = 5;
/// Batches into which the flows of a single seed are divided.
pub const BATCHES: usize = 20;
/// Flows of a single seed below which each is a part of its own.
pub const BATCHED_FLOWS: usize = 10 * BATCHES;

/// Share of `trials` in which `hit` says that the interval held the truth.
#[cfg(test)]
fn coverage(trials: u32, mut hit: impl FnMut(&mut tailcut_base::Stream) -> bool) -> f64 {
    let mut stream = tailcut_base::Seeds::new(1).stream("coverage", 0);
    f64::from((0..trials).filter(|_| hit(&mut stream)).count() as u32) / f64::from(trials)
}
