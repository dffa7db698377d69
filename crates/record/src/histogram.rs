//! Exact counts of integer values, for queue lengths.

use std::collections::BTreeMap;

/// How often each integer value occurred. Exact: no value is rounded and none is lost. It takes memory for each value
/// other than zero that occurred, not for each occurrence: a port that never queues costs the bytes of this type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Occurrences of zero stand apart, because most samples of most queues are zero.
    zeros: u64,
    counts: BTreeMap<u64, u64>,
    total: u64,
}

const _: () = assert!(size_of::<Histogram>() <= 40, "there is one for each port");

impl Histogram {
    /// No values.
    pub fn new() -> Histogram {
        Histogram::default()
    }

    /// Counts one occurrence of `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_many(value, 1);
    }

    /// Counts `times` occurrences of `value`.
    #[inline]
    pub fn add_many(&mut self, value: u64, times: u64) {
        self.total += times;
        if value == 0 {
            self.zeros += times;
        } else if times > 0 {
            *self.counts.entry(value).or_default() += times;
        }
    }

    /// Counts everything that `other` has counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (value, times) in other.iter() {
            self.add_many(value, times);
        }
    }

    /// Number of values counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Values with the number of their occurrences, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let zeros = (self.zeros > 0).then_some((0, self.zeros));
        zeros.into_iter().chain(self.counts.iter().map(|(&value, &times)| (value, times)))
    }

    /// Sum of all values.
    pub fn sum(&self) -> u128 {
        self.counts.iter().map(|(&value, &times)| u128::from(value) * u128::from(times)).sum()
    }

    /// Arithmetic mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum() as f64 / self.total as f64)
    }

    /// Largest value; `None` without values.
    pub fn max(&self) -> Option<u64> {
        self.counts.keys().next_back().copied().or((self.total > 0).then_some(0))
    }

    /// The nearest-rank quantile `permille`/1000: the ⌈permille·n/1000⌉-th smallest value; `None` without values.
    pub fn quantile(&self, permille: u32) -> Option<u64> {
        let rank = (u128::from(permille) * u128::from(self.total)).div_ceil(1000).max(1);
        let mut seen = 0;
        self.iter().find_map(|(value, times)| {
            seen += u128::from(times);
            (seen >= rank).then_some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_values_there_is_no_statistic() {
        let empty = Histogram::new();
        assert_eq!((empty.mean(), empty.max(), empty.quantile(500)), (None, None, None));
    }

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut h = Histogram::new();
        for value in [0, 0, 0, 7, 9] {
            h.add(value);
        }
        assert_eq!([0, 600, 601, 800, 801, 1000].map(|p| h.quantile(p)), [0, 0, 7, 7, 9, 9].map(Some));
        assert_eq!((h.mean(), h.max(), h.total()), (Some(3.2), Some(9), 5));
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_sorted_values(mut values in prop::collection::vec(0u64..20, 1..60), permille in 1u32..=1000) {
            let (mut left, mut right) = (Histogram::new(), Histogram::new());
            for (i, &value) in values.iter().enumerate() {
                if i % 3 == 0 { left.add(value) } else { right.add(value) }
            }
            left.merge(&right);
            values.sort_unstable();
            let rank = (permille as usize * values.len()).div_ceil(1000);
            prop_assert_eq!(left.quantile(permille), Some(values[rank - 1]));
            prop_assert_eq!(left.max(), values.last().copied());
            prop_assert_eq!(left.sum(), values.iter().map(|&v| u128::from(v)).sum::<u128>());
        }
    }
}
