//! The two rungs: rings of buckets. A bucket has a number, counted in widths since the start of time; a ring holds the
//! numbers of one turn at most, so that the low bits of a number say where its bucket is.

use crate::Entry;
use crate::pool::{Chain, Pool};

/// log2 of the number of near buckets. All of their places take 128 KB, which leaves most of a second-level cache to
/// others; with fewer, more events go through the wide rung first.
pub(crate) const NEAR_BITS: u32 = 10;
/// Near buckets.
pub(crate) const NEAR: u64 = 1 << NEAR_BITS;
/// Wide buckets.
pub(crate) const WIDE: u64 = 1 << 12;
/// Entries of a near bucket that have a place of their own.
pub(crate) const ROOM: usize = 8;

const NEAR_LEN: usize = NEAR as usize;
const WIDE_LEN: usize = WIDE as usize;

/// Which buckets of a ring of `64 * WORDS` hold something.
#[derive(Debug)]
struct Occupied<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Occupied<WORDS> {
    #[inline]
    fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    fn clear(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    /// The first number in `from..until`, which span one turn at most, whose bucket holds something.
    #[inline]
    fn next(&self, from: u64, until: u64) -> Option<u64> {
        let mut number = from;
        while number < until {
            let at = number as usize % (64 * WORDS);
            let word = self.0[at / 64] >> (at % 64);
            if word != 0 {
                let found = number + u64::from(word.trailing_zeros());
                return (found < until).then_some(found);
            }
            number += 64 - number % 64;
        }
        None
    }
}

/// The near buckets hold a few entries each. These lie in places of their own, so that to push is to write to a place
/// that is known, and to take is to read places next to each other. What finds no place goes to a chain.
#[derive(Debug)]
pub(crate) struct Near {
    places: Box<[[Entry; ROOM]; NEAR_LEN]>,
    counts: Box<[u32; NEAR_LEN]>,
    chains: Box<[Chain; NEAR_LEN]>,
    occupied: Occupied<{ NEAR_LEN / 64 }>,
}

impl Near {
    pub(crate) fn new() -> Near {
        Near {
            places: boxed([0; ROOM]),
            counts: boxed(0),
            chains: boxed(Chain::EMPTY),
            occupied: Occupied([0; NEAR_LEN / 64]),
        }
    }

    /// Puts an entry into a place of its bucket. Returns whether one was free.
    #[inline(always)]
    pub(crate) fn push(&mut self, number: u64, entry: Entry) -> bool {
        let at = number as usize % NEAR_LEN;
        let count = self.counts[at];
        let Some(place) = self.places[at].get_mut(count as usize) else { return false };
        *place = entry;
        self.counts[at] = count + 1;
        self.occupied.set(at);
        true
    }

    /// Adds an entry to a bucket that has no free place.
    #[cold]
    pub(crate) fn push_beside(&mut self, pool: &mut Pool, number: u64, entry: Entry) {
        let at = number as usize % NEAR_LEN;
        self.counts[at] += 1;
        pool.push(&mut self.chains[at], entry);
    }

    /// Empties a bucket: its places, and how many entries it had. If these are more than the places, the others are in
    /// its chain, which is to be taken too.
    #[inline]
    pub(crate) fn take(&mut self, number: u64) -> (&[Entry; ROOM], usize) {
        let at = number as usize % NEAR_LEN;
        let count = std::mem::take(&mut self.counts[at]) as usize;
        self.occupied.clear(at);
        (&self.places[at], count)
    }

    /// The places of a bucket that was just emptied.
    pub(crate) fn taken(&self, number: u64) -> &[Entry; ROOM] {
        &self.places[number as usize % NEAR_LEN]
    }

    /// The chain of a bucket that was just emptied.
    pub(crate) fn take_chain(&mut self, number: u64) -> Chain {
        std::mem::replace(&mut self.chains[number as usize % NEAR_LEN], Chain::EMPTY)
    }

    /// The entries of a bucket that have a place.
    #[inline]
    pub(crate) fn places(&self, number: u64) -> &[Entry] {
        let at = number as usize % NEAR_LEN;
        &self.places[at][..ROOM.min(self.counts[at] as usize)]
    }

    /// The earliest entry of a bucket.
    pub(crate) fn earliest(&self, pool: &Pool, number: u64) -> Option<Entry> {
        let chain = self.chains[number as usize % NEAR_LEN];
        self.places(number).iter().copied().chain(pool.earliest(chain)).min()
    }

    /// The first number in `from..until`, which span one turn at most, whose bucket holds something.
    #[inline]
    pub(crate) fn next(&self, from: u64, until: u64) -> Option<u64> {
        self.occupied.next(from, until)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.places) + size_of_val(&*self.counts) + size_of_val(&*self.chains)
    }
}

/// The wide buckets hold anything from nothing to thousands of entries.
#[derive(Debug)]
pub(crate) struct Wide {
    chains: Box<[Chain; WIDE_LEN]>,
    occupied: Occupied<{ WIDE_LEN / 64 }>,
}

impl Wide {
    pub(crate) fn new() -> Wide {
        Wide { chains: boxed(Chain::EMPTY), occupied: Occupied([0; WIDE_LEN / 64]) }
    }

    #[inline]
    pub(crate) fn push(&mut self, pool: &mut Pool, number: u64, entry: Entry) {
        let at = number as usize % WIDE_LEN;
        self.occupied.set(at);
        pool.push(&mut self.chains[at], entry);
    }

    /// Empties a bucket.
    pub(crate) fn take(&mut self, number: u64) -> Chain {
        let at = number as usize % WIDE_LEN;
        self.occupied.clear(at);
        std::mem::replace(&mut self.chains[at], Chain::EMPTY)
    }

    /// The earliest entry of a bucket.
    pub(crate) fn earliest(&self, pool: &Pool, number: u64) -> Option<Entry> {
        pool.earliest(self.chains[number as usize % WIDE_LEN])
    }

    /// The first number in `from..until`, which span one turn at most, whose bucket holds something.
    pub(crate) fn next(&self, from: u64, until: u64) -> Option<u64> {
        self.occupied.next(from, until)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.chains)
    }
}

/// An array that never lies on the stack.
fn boxed<T: Clone + std::fmt::Debug, const LEN: usize>(value: T) -> Box<[T; LEN]> {
    vec![value; LEN].into_boxed_slice().try_into().expect("as long as it was made")
}
