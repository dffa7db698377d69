//! A tournament tree: which of n places holds the first entry in an order. A change takes O(log n) comparisons, and
//! mostly a few: it climbs only while the new entry is the first one below a node, or while the removed one was.

/// What places are compared by: the smallest is first.
pub(super) type Key = u128;

/// The key of a place that holds nothing.
pub(super) const FREE: Key = Key::MAX;

/// A key by which the order is the reverse one, in which a free place is the last one as well.
pub(super) fn reversed(key: Key) -> Key {
    (!key).wrapping_sub(1)
}

/// The places as the leaves of a binary tree of which every node knows the first one below it: by their keys, or with
/// `REVERSED` by [`reversed`] keys. The keys belong to the caller, so that two orders share them.
#[derive(Clone, Debug)]
pub(super) struct Tournament<const REVERSED: bool> {
    /// For each inner node, the place of the first entry below it. The root is node 1, the children of node i are 2i
    /// and 2i + 1, and leaf p is node n + p for n places. A node below which all places are free names one of them.
    winners: Vec<u32>,
}

impl<const REVERSED: bool> Tournament<REVERSED> {
    fn rank(key: Key) -> Key {
        if REVERSED { reversed(key) } else { key }
    }

    /// The tree over these keys: a power of two of them, at least two.
    pub(super) fn of(keys: &[Key]) -> Tournament<REVERSED> {
        debug_assert!(keys.len() >= 2 && keys.len().is_power_of_two(), "{} keys", keys.len());
        let leaves = keys.len();
        let mut winners = vec![0; leaves];
        for node in (1..leaves).rev() {
            let child = |at: usize| if at < leaves { winners[at] } else { (at - leaves) as u32 };
            let [one, other] = [child(2 * node), child(2 * node + 1)];
            let is_one = Self::rank(keys[one as usize]) <= Self::rank(keys[other as usize]);
            winners[node] = if is_one { one } else { other };
        }
        Tournament { winners }
    }

    /// The first place of all: a free one only if all are.
    pub(super) fn first(&self) -> u32 {
        self.winners[1]
    }

    /// Place `at`, free according to `keys`, is about to hold this key.
    #[inline]
    pub(super) fn enter(&mut self, keys: &[Key], at: u32, key: Key) {
        let rank = Self::rank(key);
        let mut node = (self.winners.len() + at as usize) / 2;
        while node > 0 {
            let winner = &mut self.winners[node];
            if Self::rank(keys[*winner as usize]) <= rank {
                // Whatever is above has one that is at least as early.
                break;
            }
            *winner = at;
            node /= 2;
        }
    }

    /// Place `at` has become free.
    #[inline]
    pub(super) fn leave(&mut self, keys: &[Key], at: u32) {
        // The first of what is left in the half that it stood in: to begin with, its neighbour or nothing.
        let mut rest = at ^ 1;
        let mut rank = Self::rank(keys[rest as usize]);
        let mut node = (self.winners.len() + at as usize) / 2;
        while self.winners[node] == at {
            self.winners[node] = rest;
            if node == 1 {
                break;
            }
            let other = self.winners[node ^ 1];
            let other_rank = Self::rank(keys[other as usize]);
            if other_rank < rank {
                (rest, rank) = (other, other_rank);
            }
            node /= 2;
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.winners.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_and_the_last_are_those_of_a_search(steps in prop::collection::vec((0..16_u32, 0..9_u64), 1..200)) {
            let mut keys = [FREE; 16];
            let mut first = Tournament::<false>::of(&keys);
            let mut last = Tournament::<true>::of(&keys);
            for (arrival, (at, rank)) in steps.into_iter().enumerate() {
                let key = Key::from(rank) << 64 | arrival as Key;
                if keys[at as usize] == FREE {
                    first.enter(&keys, at, key);
                    last.enter(&keys, at, key);
                    keys[at as usize] = key;
                } else {
                    keys[at as usize] = FREE;
                    first.leave(&keys, at);
                    last.leave(&keys, at);
                }
                let held = keys.iter().copied().filter(|key| *key != FREE);
                prop_assert_eq!(keys[first.first() as usize], held.clone().min().unwrap_or(FREE));
                prop_assert_eq!(keys[last.first() as usize], held.max().unwrap_or(FREE));
                // A tree that is built now says the same.
                let built = Tournament::<true>::of(&keys).first();
                prop_assert_eq!(keys[built as usize], keys[last.first() as usize]);
            }
        }
    }
}
