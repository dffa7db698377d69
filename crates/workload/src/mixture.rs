//! The sizes of all flows of a workload together.

use std::collections::BTreeMap;

use crate::distribution::Distribution;

/// How the sizes of a workload's flows are distributed: those of each traffic, weighted by how many flows it has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeMixture {
    /// Expected number of flows, and how their sizes are distributed.
    generated: Vec<(f64, Distribution)>,
    /// Number of listed flows of each size.
    listed: BTreeMap<u64, u64>,
}

impl SizeMixture {
    /// Adds `flows` flows of these sizes.
    pub(crate) fn add_generated(&mut self, flows: f64, sizes: &Distribution) {
        if flows > 0.0 {
            self.generated.push((flows, sizes.clone()));
        }
    }

    /// Adds an explicit flow.
    pub(crate) fn add_listed(&mut self, size: u64) {
        *self.listed.entry(size).or_default() += 1;
    }

    /// Expected bytes of all flows up to an offset of `cap` in each, in flows of at most `size`.
    pub fn bytes_up_to(&self, cap: u64, size: u64) -> f64 {
        let generated = self.generated.iter().map(|(flows, of)| flows * of.mean_up_to_within(cap as f64, size as f64));
        let listed = self.listed.range(..=size).map(|(&size, &flows)| flows as f64 * size.min(cap) as f64);
        generated.sum::<f64>() + listed.sum::<f64>()
    }

    /// The part of all bytes that lies below an offset of `cap` in its flow; 0 if there is no flow.
    pub fn part_up_to(&self, cap: u64) -> f64 {
        let all = self.bytes_up_to(u64::MAX, u64::MAX);
        if all > 0.0 { self.bytes_up_to(cap, u64::MAX) / all } else { 0.0 }
    }

    /// The sizes that split the flows into `parts` classes of ascending size with equally many of the bytes that lie
    /// below an offset of `cap`: a flow of at most the first is in the first class. Where one size alone has more bytes
    /// than a class should, there are fewer classes.
    pub fn equal_parts(&self, cap: u64, parts: usize) -> Vec<u64> {
        let all = self.bytes_up_to(cap, u64::MAX);
        let largest = self.largest();
        let reaches = |size: u64, part: f64| self.bytes_up_to(cap, size) >= part * (1.0 - 1e-12);
        let mut cuts = Vec::with_capacity(parts.saturating_sub(1));
        for nth in 1..parts {
            let part = all * nth as f64 / parts as f64;
            // The smallest size that reaches the part lies in (below, at].
            let (mut below, mut at) = (0, largest);
            while at - below > 1 {
                let middle = below + (at - below) / 2;
                if reaches(middle, part) { at = middle } else { below = middle }
            }
            if at < largest && cuts.last().is_none_or(|&last| last < at) {
                cuts.push(at);
            }
        }
        cuts
    }

    /// No flow is larger.
    fn largest(&self) -> u64 {
        let generated = self.generated.iter().map(|(_, of)| of.max().ceil() as u64);
        generated.chain(self.listed.last_key_value().map(|(&size, _)| size)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn listed(sizes: &[u64]) -> SizeMixture {
        let mut mixture = SizeMixture::default();
        sizes.iter().for_each(|&size| mixture.add_listed(size));
        mixture
    }

    #[test]
    fn flows_of_a_list_count_one_by_one() {
        // Up to 10 KB of each: 1, 2, 3, 10, 10 and 10 KB.
        let mixture = listed(&[3_000, 1_000, 2_000, 10_000, 40_000, 400_000]);
        assert_eq!(mixture.bytes_up_to(10_000, 3_000), 6_000.0);
        assert_eq!(mixture.bytes_up_to(10_000, 9_999), 6_000.0);
        assert_eq!(mixture.part_up_to(10_000), 36_000.0 / 456_000.0);
        assert_eq!(mixture.equal_parts(10_000, 2), [40_000], "16 of 36 KB are not half of them");
        assert_eq!(mixture.equal_parts(10_000, 6), [3_000, 10_000, 40_000], "two cuts at 40 KB are one");
        assert_eq!(mixture.equal_parts(10_000, 1), Vec::<u64>::new());
    }

    #[test]
    fn one_size_is_one_class_and_no_flow_is_none() {
        assert_eq!(listed(&[5_000; 9]).equal_parts(10_000, 4), Vec::<u64>::new());
        assert_eq!((listed(&[]).equal_parts(10_000, 4), listed(&[]).part_up_to(10_000)), (vec![], 0.0));
    }

    #[test]
    fn the_flows_of_each_traffic_count_as_many_as_they_are() {
        let mut mixture = listed(&[]);
        mixture.add_generated(3.0, &Distribution::fixed(1_000));
        mixture.add_generated(0.5, &Distribution::fixed(20_000));
        mixture.add_generated(0.0, &Distribution::fixed(7));
        assert_eq!(mixture.bytes_up_to(10_000, 19_999), 3_000.0);
        assert_eq!(mixture.bytes_up_to(10_000, 20_000), 8_000.0);
        assert_eq!(mixture.part_up_to(10_000), 8.0 / 13.0);
        assert_eq!(
            mixture.equal_parts(10_000, 2),
            Vec::<u64>::new(),
            "the larger ones alone have more than half of them"
        );
        assert_eq!(mixture.equal_parts(10_000, 4), [1_000]);
    }

    #[test]
    fn a_uniform_distribution_is_split_in_closed_form() {
        let mut mixture = listed(&[]);
        mixture.add_generated(1.0, &Distribution::uniform(0, 20_000));
        // Below the cap the bytes in flows up to s grow with s squared, above it with s: in units of the cap they are
        // 1/4 up to it, and 3/4 in all.
        let cuts = mixture.equal_parts(10_000, 3);
        assert!(cuts[0].abs_diff(10_000) <= 1 && cuts[1].abs_diff(15_000) <= 1, "{cuts:?}");
        let cuts = mixture.equal_parts(10_000, 6);
        assert!(cuts[0].abs_diff(7_071) <= 1, "{cuts:?}");
    }

    #[test]
    fn what_is_split_are_the_sizes_that_are_drawn() {
        let web = crate::distribution("websearch").unwrap().distribution();
        let hadoop = crate::distribution("facebook_hadoop").unwrap().distribution();
        let mut mixture = listed(&[]);
        mixture.add_generated(2.0, &web);
        mixture.add_generated(1.0, &hadoop);
        let n = 100_000;
        let draws =
            |of: &Distribution| (0..n).map(|i| of.draw((f64::from(i) + 0.5) / f64::from(n))).collect::<Vec<_>>();
        let (web, hadoop) = (draws(&web), draws(&hadoop));
        for cap in [1_460, 10_220, 100_000] {
            let within = |sizes: &[u64], size: u64| -> f64 {
                let bytes = sizes.iter().filter(|&&s| s <= size).map(|s| s.min(&cap)).sum::<u64>();
                bytes as f64 / f64::from(n)
            };
            let all = |size| 2.0 * within(&web, size) + within(&hadoop, size);
            for size in [500, 5_000, 50_000, 5_000_000, u64::MAX] {
                let (exact, drawn) = (mixture.bytes_up_to(cap, size), all(size));
                assert!((exact - drawn).abs() <= 1e-3 * all(u64::MAX), "{cap}, {size}: {exact} {drawn}");
            }
            let cuts = mixture.equal_parts(cap, 7);
            // Web search has an atom at its smallest size, which may be more than one class should have.
            assert!(cuts.len() >= 5, "{cap}: {cuts:?}");
            let sevenths = |size| all(size) / all(u64::MAX) * 7.0;
            for cut in cuts {
                let (below, up_to) = (sevenths(cut - 1), sevenths(cut));
                assert!((below - 0.01).ceil() <= (up_to + 0.01).floor(), "{cap}: {cut} at {below}, {up_to} sevenths");
            }
        }
    }

    proptest! {
        /// The cuts of a list are those that counting through the sorted list finds.
        #[test]
        fn cuts_are_those_of_counting(mut sizes in prop::collection::vec(1u64..40, 1..40), cap in 1u64..30, parts in 1usize..9) {
            let cuts = listed(&sizes).equal_parts(cap, parts);
            sizes.sort_unstable();
            let all: u64 = sizes.iter().map(|&size| size.min(cap)).sum();
            let mut expected = Vec::new();
            for nth in 1..parts as u64 {
                let reaches = |size: u64| {
                    let up_to: u64 = sizes.iter().filter(|&&s| s <= size).map(|&s| s.min(cap)).sum();
                    up_to * parts as u64 >= all * nth
                };
                let cut = *sizes.iter().find(|&&size| reaches(size)).expect("the largest has all");
                if cut < sizes[sizes.len() - 1] {
                    expected.push(cut);
                }
            }
            expected.dedup();
            prop_assert_eq!(cuts, expected);
        }
    }
}
