//! Which flows have to go so that a way has room: the fewest, and of so many those that have the most left.

/// A link of a way that has too little room for a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tight {
    /// How much is missing, in bit/s.
    pub(super) missing: u64,
    /// The flows that may go from there, by number, and how much each has there.
    pub(super) may_go: Vec<(usize, u64)>,
}

impl Tight {
    /// Whether there is room once all have gone that may.
    pub(super) fn can_be_met(&self) -> bool {
        self.may_go.iter().map(|&(_, rate)| rate).sum::<u64>() >= self.missing
    }

    fn is_met(&self, gone: &[usize]) -> bool {
        let freed: u64 = self.may_go.iter().filter(|(flow, _)| gone.contains(flow)).map(|&(_, rate)| rate).sum();
        freed >= self.missing
    }
}

/// The fewest flows without which every tight link has room; of several such sets the one with the most bytes left in
/// all, and of those the one with the lowest numbers. `None` if there is no such set.
///
/// If each flow fills a link, the set hits each tight link once: no more flows go than links are tight. A link that
/// holds M/S flows has as many branches, so that a way of l links takes (M/S)^l steps at most (section IV-D).
pub(super) fn fewest(tight: &[Tight], left: impl Fn(usize) -> u64) -> Option<Vec<usize>> {
    if !tight.iter().all(Tight::can_be_met) {
        return None;
    }
    let most: usize = tight.iter().map(|link| link.may_go.len()).sum();
    (0..=most).find_map(|size| {
        let mut search = Search { tight, left: &left, best: None };
        search.extend(&mut Vec::new(), size);
        search.best.map(|(_, mut set)| {
            set.sort_unstable();
            set
        })
    })
}

/// A search through the sets of one size.
struct Search<'a> {
    tight: &'a [Tight],
    left: &'a dyn Fn(usize) -> u64,
    /// The bytes left in all, and the set.
    best: Option<(u64, Vec<usize>)>,
}

impl Search<'_> {
    /// Adds up to `more` flows to `gone` in every way that may help: each has to go from the first link without room.
    fn extend(&mut self, gone: &mut Vec<usize>, more: usize) {
        let tight = self.tight;
        let Some(link) = tight.iter().find(|link| !link.is_met(gone)) else {
            let bytes = gone.iter().map(|&flow| (self.left)(flow)).sum();
            let mut set = gone.clone();
            set.sort_unstable();
            let is_better =
                self.best.as_ref().is_none_or(|(most, best)| bytes > *most || bytes == *most && set < *best);
            if is_better {
                self.best = Some((bytes, set));
            }
            return;
        };
        if more == 0 {
            return;
        }
        for &(flow, _) in &link.may_go {
            if !gone.contains(&flow) {
                gone.push(flow);
                self.extend(gone, more - 1);
                gone.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every set of flows, in the order of their numbers.
    fn by_brute_force(tight: &[Tight], left: &[u64]) -> Option<Vec<usize>> {
        let sets = (0u32..1 << left.len()).map(|bits| (0..left.len()).filter(|at| bits >> at & 1 == 1).collect());
        let good = sets.filter(|set: &Vec<usize>| tight.iter().all(|link| link.is_met(set)));
        let bytes = |set: &Vec<usize>| set.iter().map(|&flow| left[flow]).sum::<u64>();
        good.min_by_key(|set| (set.len(), std::cmp::Reverse(bytes(set)), set.clone()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn the_fewest_are_those_of_brute_force(
            left in prop::collection::vec(1u64..6, 1..9),
            links in prop::collection::vec((1u64..5, prop::collection::vec((0usize..9, 1u64..4), 0..5)), 0..5),
        ) {
            let tight: Vec<Tight> = links.into_iter().map(|(missing, flows)| {
                let mut may_go: Vec<(usize, u64)> = flows.into_iter().map(|(flow, rate)| (flow % left.len(), rate)).collect();
                may_go.sort_unstable();
                may_go.dedup_by_key(|(flow, _)| *flow);
                Tight { missing, may_go }
            }).collect();
            prop_assert_eq!(fewest(&tight, |flow| left[flow]), by_brute_force(&tight, &left));
        }
    }

    /// Six links, each of which one flow fills: the same flow may fill several.
    #[test]
    fn a_flow_that_fills_several_links_goes_once() {
        let link = |flow| Tight { missing: 1, may_go: vec![(flow, 1)] };
        assert_eq!(fewest(&[4, 2, 2, 4, 7, 4].map(link), |_| 1), Some(vec![2, 4, 7]));
        assert_eq!(fewest(&[], |_| 1), Some(vec![]));
        assert_eq!(fewest(&[Tight { missing: 1, may_go: vec![] }], |_| 1), None);
    }
}
