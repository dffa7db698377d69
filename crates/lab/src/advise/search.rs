//! The search for the smallest size that keeps a target, apart from what a size is and how it is judged.
//!
//! First a grid of sizes at equal ratios from the smallest to the largest, all of which are tried: it shows whether a
//! larger size is ever worse. Then the gap below the smallest size that keeps the target is halved, again at equal
//! ratios, until it is narrow. Sizes whose verdict stays open count as not shown to keep the target, so that the answer
//! is always a size that was tried and keeps it.

use std::collections::BTreeMap;

/// What is known of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Every target is kept.
    Kept,
    /// Some target is not kept.
    NotKept,
    /// Neither can be said.
    Open,
}

/// Which sizes may be tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    /// The smallest in bytes; a multiple of `step`.
    pub(super) from: u64,
    /// The largest in bytes; a multiple of `step`.
    pub(super) to: u64,
    /// All sizes are multiples of it; in bytes, above zero.
    pub(super) step: u64,
    /// A gap is narrow if its upper end is above the lower one by no more than this share.
    pub(super) within: f64,
}

/// Most sizes in the grid.
const MOST_IN_GRID: u32 = 12;
/// Fewest sizes in the grid: with two it would not show that the middle is worse.
const LEAST_IN_GRID: u32 = 3;

impl Range {
    /// The sizes that are tried first, ascending: neighbours are a factor of about 2 apart, more if there would be too
    /// many.
    pub(super) fn grid(&self) -> Vec<u64> {
        let ratio = self.to as f64 / self.from as f64;
        let count = (ceil(ratio.log2()) as u32 + 1).clamp(LEAST_IN_GRID, MOST_IN_GRID);
        let at = |nth: u32| self.rounded(self.from as f64 * ratio.powf(f64::from(nth) / f64::from(count - 1)));
        let mut sizes: Vec<u64> = (0..count).map(at).collect();
        sizes.dedup();
        sizes
    }

    /// The multiple of the step that is nearest to `size`, within the range.
    fn rounded(&self, size: f64) -> u64 {
        let steps = (size / self.step as f64).round() as u64;
        (steps * self.step).clamp(self.from, self.to)
    }

    /// A size between two others, at equal ratios to both; `None` if they are close.
    fn between(&self, low: u64, high: u64) -> Option<u64> {
        let is_narrow = high - low <= self.step || high as f64 <= low as f64 * (1.0 + self.within);
        if is_narrow {
            return None;
        }
        let middle = self.rounded((low as f64 * high as f64).sqrt());
        Some(middle.clamp(low + self.step, high - self.step))
    }
}

/// What a search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The smallest size that keeps the target, as far as was tried.
    Smallest {
        /// It.
        size: u64,
        /// The largest size below it that does not keep it; `None` if none was shown not to.
        not_kept: Option<u64>,
        /// The smallest and the largest size between these two of which neither can be said.
        open: Option<(u64, u64)>,
    },
    /// Not even the largest size keeps it.
    None,
    /// The largest size is not shown to keep it, nor is any smaller one; nor is the largest shown not to.
    Open,
    /// A size keeps it, and a larger one does not.
    NotMonotone {
        /// A size that keeps it.
        kept: u64,
        /// The smallest larger one that does not.
        not_kept: u64,
    },
}

/// A search under way.
#[derive(Clone, Debug)]
pub(super) struct Search {
    range: Range,
    tried: BTreeMap<u64, Verdict>,
}

impl Search {
    pub(super) fn new(range: Range) -> Search {
        Search { range, tried: BTreeMap::new() }
    }

    /// Whether a size keeps the target and a larger one does not, so that the search is over.
    pub(super) fn is_reversed(&self) -> bool {
        self.reversal().is_some()
    }

    /// The sizes to try next; none if the search is over.
    pub(super) fn next(&self) -> Vec<u64> {
        if self.is_reversed() {
            return Vec::new();
        }
        let grid: Vec<u64> = self.range.grid().into_iter().filter(|size| !self.tried.contains_key(size)).collect();
        if !grid.is_empty() {
            return grid;
        }
        let Some(kept) = self.smallest_kept() else { return Vec::new() };
        let below = self.tried.range(..kept).next_back().map(|(&size, _)| size);
        below.and_then(|below| self.range.between(below, kept)).into_iter().collect()
    }

    /// Takes note of the verdict on a size.
    pub(super) fn add(&mut self, size: u64, verdict: Verdict) {
        self.tried.insert(size, verdict);
    }

    /// What the search has come to, once there is nothing more to try.
    pub(super) fn found(&self) -> Found {
        if let Some((kept, not_kept)) = self.reversal() {
            return Found::NotMonotone { kept, not_kept };
        }
        let Some(size) = self.smallest_kept() else {
            let largest = self.tried.last_key_value().map(|(_, &verdict)| verdict);
            return if largest == Some(Verdict::NotKept) { Found::None } else { Found::Open };
        };
        let below = || self.tried.range(..size);
        let not_kept = below().filter(|(_, verdict)| **verdict == Verdict::NotKept).map(|(&size, _)| size).next_back();
        let mut open = below().map(|(&size, _)| size).filter(|size| not_kept.is_none_or(|not_kept| *size > not_kept));
        let first = open.next();
        let open = first.map(|first| (first, open.next_back().unwrap_or(first)));
        Found::Smallest { size, not_kept, open }
    }

    fn smallest_kept(&self) -> Option<u64> {
        self.tried.iter().find(|(_, verdict)| **verdict == Verdict::Kept).map(|(&size, _)| size)
    }

    /// The smallest size that keeps the target, and the smallest larger one that does not.
    fn reversal(&self) -> Option<(u64, u64)> {
        let kept = self.smallest_kept()?;
        let mut above = self.tried.range(kept..).filter(|(_, verdict)| **verdict == Verdict::NotKept);
        above.next().map(|(&not_kept, _)| (kept, not_kept))
    }
}

fn ceil(value: f64) -> f64 {
    // A ratio of exactly 64 has a logarithm of 6 on every machine up to its last digit, which must not add a size.
    (value - 1e-9).ceil()
}

#[cfg(test)]
mod tests {
    use tailcut_base::{Seeds, Stream};

    use super::*;

    const RANGE: Range = Range { from: 15_000, to: 960_000, step: 1_500, within: 0.1 };

    /// Searches with `judge` to the end; the sizes in the order in which they were tried.
    fn search(range: Range, mut judge: impl FnMut(u64) -> Verdict) -> (Found, Vec<u64>) {
        let mut search = Search::new(range);
        let mut tried = Vec::new();
        loop {
            let sizes = search.next();
            if sizes.is_empty() {
                return (search.found(), tried);
            }
            for size in sizes {
                assert!(!tried.contains(&size), "{size} twice");
                assert!(size.is_multiple_of(range.step) && (range.from..=range.to).contains(&size), "{size}");
                tried.push(size);
                search.add(size, judge(size));
            }
            assert!(tried.len() < 60, "it ends: {tried:?}");
        }
    }

    fn from(threshold: u64) -> impl Fn(u64) -> Verdict {
        move |size| if size >= threshold { Verdict::Kept } else { Verdict::NotKept }
    }

    /// A range and a threshold somewhere about it.
    fn draw(stream: &mut Stream) -> (Range, u64) {
        let step = [1, 1_000, 1_500][(3.0 * stream.unit()) as usize];
        let from = step * (1 + (40.0 * stream.unit()) as u64);
        let to = from + step * (1 + (2_000.0 * stream.unit().powi(3)) as u64);
        let within = [0.01, 0.1, 0.3][(3.0 * stream.unit()) as usize];
        let threshold = (to as f64 * 1.2 * stream.unit()) as u64;
        (Range { from, to, step, within }, threshold)
    }

    #[test]
    fn the_grid_doubles_from_the_smallest_to_the_largest_size() {
        assert_eq!(RANGE.grid(), [15_000, 30_000, 60_000, 120_000, 240_000, 480_000, 960_000]);
        assert_eq!(Range { from: 1_500, to: 3_000, ..RANGE }.grid(), [1_500, 3_000]);
        assert_eq!(Range { from: 3_000, to: 3_000, ..RANGE }.grid(), [3_000]);
        assert_eq!(Range { from: 30_000, to: 45_000, ..RANGE }.grid().len(), 3);
        let wide = Range { from: 1_500, to: 1_500_000_000_000, ..RANGE }.grid();
        assert_eq!((wide.len(), wide[0], wide[11]), (12, 1_500, 1_500_000_000_000));
    }

    /// Of every threshold the search finds the smallest size within what was asked, and says what does not suffice.
    #[test]
    fn a_threshold_is_found_to_the_asked_precision() {
        let mut stream = Seeds::new(7).stream("search", 0);
        for _ in 0..2_000 {
            let (range, threshold) = draw(&mut stream);
            let (found, _) = search(range, from(threshold));
            match found {
                Found::Smallest { size, not_kept: None, open: None } => {
                    assert!(size == range.from && threshold <= size, "{range:?} {threshold}: {size}");
                }
                Found::Smallest { size, not_kept: Some(below), open: None } => {
                    assert!(below < threshold && threshold <= size, "{range:?} {threshold}: {below} {size}");
                    let is_narrow = size - below <= range.step || size as f64 <= below as f64 * (1.0 + range.within);
                    assert!(is_narrow, "{range:?} {threshold}: {below} {size}");
                }
                Found::None => assert!(threshold > range.to),
                other => panic!("{range:?} {threshold}: {other:?}"),
            }
        }
    }

    /// Near the threshold nothing can be said. What is said is right all the same, and the gap is said to be open.
    #[test]
    fn what_stays_open_is_neither_kept_nor_not_kept() {
        let mut stream = Seeds::new(8).stream("search", 0);
        for _ in 0..2_000 {
            let (range, threshold) = draw(&mut stream);
            let blur = 1.0 + stream.unit();
            let judge = |size: u64| match size as f64 / threshold.max(1) as f64 {
                ratio if ratio >= blur => Verdict::Kept,
                ratio if ratio < 1.0 / blur => Verdict::NotKept,
                _ => Verdict::Open,
            };
            let (found, tried) = search(range, judge);
            match found {
                Found::Smallest { size, not_kept, open } => {
                    assert_eq!(judge(size), Verdict::Kept);
                    assert!(not_kept.is_none_or(|below| judge(below) == Verdict::NotKept && below < size));
                    if let Some((first, last)) = open {
                        assert!(first <= last && last < size && not_kept.is_none_or(|below| below < first));
                        assert!([first, last].iter().all(|&size| judge(size) == Verdict::Open));
                    }
                    // Nothing that was tried between what does not keep it and what does is left out.
                    let between = tried.iter().filter(|&&at| at < size && not_kept.is_none_or(|below| at > below));
                    assert_eq!(between.count() > 0, open.is_some(), "{range:?} {threshold} {found:?}");
                }
                Found::None => assert_eq!(judge(range.to), Verdict::NotKept),
                Found::Open => assert_eq!(judge(range.to), Verdict::Open),
                Found::NotMonotone { .. } => panic!("{range:?} {threshold} {blur}: it is monotone"),
            }
        }
    }

    /// A band of sizes keeps the target and larger ones do not: whenever the grid has one of each, it is refused.
    #[test]
    fn a_band_is_refused_and_not_searched() {
        let mut stream = Seeds::new(9).stream("search", 0);
        let mut refused = 0;
        for _ in 0..2_000 {
            let (range, low) = draw(&mut stream);
            let high = (low as f64 * (1.0 + 3.0 * stream.unit())) as u64;
            let judge = |size| if (low..high).contains(&size) { Verdict::Kept } else { Verdict::NotKept };
            let (found, tried) = search(range, judge);
            let grid = range.grid();
            let seen = grid.iter().any(|&kept| {
                judge(kept) == Verdict::Kept && grid.iter().any(|&at| at > kept && judge(at) == Verdict::NotKept)
            });
            if seen {
                let Found::NotMonotone { kept, not_kept } = found else { panic!("{range:?} {low} {high}: {found:?}") };
                assert!(judge(kept) == Verdict::Kept && judge(not_kept) == Verdict::NotKept && kept < not_kept);
                assert_eq!(tried.len(), grid.len(), "no size is tried after it is clear");
                refused += 1;
            }
        }
        assert!(refused > 200, "{refused}");
    }

    #[test]
    fn a_search_costs_a_few_sizes() {
        let (found, tried) = search(RANGE, from(100_000));
        let expected = Found::Smallest { size: 102_000, not_kept: Some(93_000), open: None };
        assert_eq!((found, tried.len()), (expected, 10), "{tried:?}");
    }
}
