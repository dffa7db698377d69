//! A ladder of buckets: near events in narrow buckets, later ones in wide buckets, the rest in a heap.
//!
//! Most events of a packet network lie a transmission time or a wire delay ahead, so they go straight into the bucket
//! in which they will be sorted, a handful at a time. Retransmission timers lie milliseconds ahead and wait in the
//! wide buckets; few of them survive until they must be sorted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailcut_base::Instant;

/// log2 of the width of a near bucket in picoseconds: 16.4 ns, about ten of them for each packet of 1500 B at 100 Gb/s.
const NEAR_SHIFT: u32 = 14;
/// log2 of the number of buckets on each rung.
const RUNG_SHIFT: u32 = 12;
const RUNG: u64 = 1 << RUNG_SHIFT;
/// log2 of the width of a wide bucket in picoseconds: 67 us, one whole turn of the near rung.
const WIDE_SHIFT: u32 = NEAR_SHIFT + RUNG_SHIFT;

/// Time in the high half, key in the low half: comparing two entries is comparing two numbers.
type Entry = u128;

#[inline]
fn entry(at: Instant, key: u64) -> Entry {
    u128::from(at.as_ps()) << 64 | u128::from(key)
}

#[inline]
fn ps(entry: Entry) -> u64 {
    (entry >> 64) as u64
}

/// A ring of buckets with a map of those that hold something.
#[derive(Debug)]
struct Rung {
    buckets: Vec<Vec<Entry>>,
    occupied: [u64; (RUNG / 64) as usize],
    len: usize,
}

impl Rung {
    fn new() -> Rung {
        Rung { buckets: vec![Vec::new(); RUNG as usize], occupied: [0; (RUNG / 64) as usize], len: 0 }
    }

    /// `number` counts buckets since the start of time; the ring holds the numbers of one turn at most.
    #[inline]
    fn push(&mut self, number: u64, entry: Entry) {
        let at = (number & (RUNG - 1)) as usize;
        self.buckets[at].push(entry);
        self.occupied[at >> 6] |= 1 << (at & 63);
        self.len += 1;
    }

    /// Swaps the contents of a bucket with `other`, which must be empty.
    #[inline]
    fn take(&mut self, number: u64, other: &mut Vec<Entry>) {
        debug_assert!(other.is_empty(), "a bucket is swapped out only when the last one is used up");
        let at = (number & (RUNG - 1)) as usize;
        std::mem::swap(&mut self.buckets[at], other);
        self.occupied[at >> 6] &= !(1 << (at & 63));
        self.len -= other.len();
    }

    /// The first bucket that holds something among the numbers `from..until`, which span one turn at most.
    #[inline]
    fn next(&self, from: u64, until: u64) -> Option<u64> {
        let mut number = from;
        while number < until {
            let at = (number & (RUNG - 1)) as usize;
            let word = self.occupied[at >> 6] >> (at & 63);
            if word != 0 {
                let found = number + u64::from(word.trailing_zeros());
                return (found < until).then_some(found);
            }
            number += 64 - (at as u64 & 63);
        }
        None
    }

    fn heap_bytes(&self) -> usize {
        let entries: usize = self.buckets.iter().map(Vec::capacity).sum();
        self.buckets.capacity() * size_of::<Vec<Entry>>() + entries * size_of::<Entry>()
    }
}

/// The events to come. Time never runs backwards: an event may be pushed at or after the last one popped.
#[derive(Debug)]
pub struct Calendar {
    /// The bucket in use, latest first.
    active: Vec<Entry>,
    /// Number of the near bucket that `active` came from.
    cursor: u64,
    /// Events of the near buckets after `cursor`, within one turn of it.
    near: Rung,
    /// Events further ahead, by wide bucket; those of a wide bucket move to `near` when the cursor enters it.
    wide: Rung,
    /// Events beyond one turn of `wide`.
    far: BinaryHeap<Reverse<Entry>>,
    now: Instant,
    spare: Vec<Entry>,
}

impl Default for Calendar {
    fn default() -> Calendar {
        Calendar::new()
    }
}

impl Calendar {
    /// An empty calendar at time zero.
    pub fn new() -> Calendar {
        Calendar {
            active: Vec::new(),
            cursor: 0,
            near: Rung::new(),
            wide: Rung::new(),
            far: BinaryHeap::new(),
            now: Instant::ZERO,
            spare: Vec::new(),
        }
    }

    /// Time of the last event popped.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Number of events to come.
    pub fn len(&self) -> usize {
        self.active.len() + self.near.len + self.wide.len + self.far.len()
    }

    /// Whether no event is to come.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an event.
    ///
    /// # Panics
    /// If it lies in the past.
    #[inline]
    pub fn push(&mut self, at: Instant, key: u64) {
        assert!(at >= self.now, "an event is pushed into the past");
        let entry = entry(at, key);
        let number = at.as_ps() >> NEAR_SHIFT;
        if number <= self.cursor {
            self.insert_active(entry);
        } else if number - self.cursor < RUNG {
            self.near.push(number, entry);
        } else {
            self.push_later(entry);
        }
    }

    fn push_later(&mut self, entry: Entry) {
        let number = ps(entry) >> WIDE_SHIFT;
        if number - (self.cursor >> RUNG_SHIFT) < RUNG {
            self.wide.push(number, entry);
        } else {
            self.far.push(Reverse(entry));
        }
    }

    #[inline]
    fn insert_active(&mut self, entry: Entry) {
        // The bucket in use holds a few entries, and a new one is mostly among the next: search from that end.
        let mut at = self.active.len();
        while at > 0 && self.active[at - 1] < entry {
            at -= 1;
        }
        self.active.insert(at, entry);
    }

    /// Takes out the earliest event; of several, the one with the smallest key.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, u64)> {
        if self.active.is_empty() && !self.refill() {
            return None;
        }
        let entry = self.active.pop().expect("refilled");
        self.now = Instant::from_ps(ps(entry));
        Some((self.now, entry as u64))
    }

    /// Key of the event that `pop` would give next, if it is known without looking further than the bucket in use.
    #[inline]
    pub fn peek_key(&self) -> Option<u64> {
        self.active.last().map(|&entry| entry as u64)
    }

    /// Moves the next bucket that holds something into use. Returns whether there is one.
    fn refill(&mut self) -> bool {
        loop {
            let window = self.cursor >> RUNG_SHIFT;
            let window_end = (window + 1) << RUNG_SHIFT;
            if let Some(number) = self.near.next(self.cursor + 1, window_end) {
                self.cursor = number;
                self.near.take(number, &mut self.active);
                self.active.sort_unstable_by(|a, b| b.cmp(a));
                return true;
            }
            if !self.enter_next_window(window, window_end) {
                return false;
            }
            if !self.active.is_empty() {
                return true;
            }
        }
    }

    /// Moves the cursor to the start of the next wide bucket in which anything happens, and that bucket's events to
    /// the near rung. Returns whether there is one.
    fn enter_next_window(&mut self, window: u64, window_end: u64) -> bool {
        let near = self.near.next(window_end, self.cursor + RUNG).map(|number| number >> RUNG_SHIFT);
        let wide = self.wide.next(window + 1, window + RUNG);
        let far = self.far.peek().map(|Reverse(entry)| ps(*entry) >> WIDE_SHIFT);
        let Some(next) = [near, wide, far].into_iter().flatten().min() else { return false };
        self.cursor = next << RUNG_SHIFT;
        // What was far may now lie within a turn of the wide rung.
        while self.far.peek().is_some_and(|Reverse(entry)| (ps(*entry) >> WIDE_SHIFT) - next < RUNG) {
            let Reverse(entry) = self.far.pop().expect("peeked");
            self.wide.push(ps(entry) >> WIDE_SHIFT, entry);
        }
        let mut moving = std::mem::take(&mut self.spare);
        self.wide.take(next, &mut moving);
        for entry in moving.drain(..) {
            self.near.push(ps(entry) >> NEAR_SHIFT, entry);
        }
        self.spare = moving;
        self.near.take(self.cursor, &mut self.active);
        self.active.sort_unstable_by(|a, b| b.cmp(a));
        true
    }

    /// Bytes that the calendar holds on to; it gives little back, so this is close to its peak.
    pub fn heap_bytes(&self) -> usize {
        self.near.heap_bytes()
            + self.wide.heap_bytes()
            + (self.active.capacity() + self.spare.capacity() + self.far.capacity()) * size_of::<Entry>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SlowCalendar;

    fn same_as_slow(operations: &[(u64, u8)]) -> Result<(), TestCaseError> {
        let (mut ladder, mut slow) = (Calendar::new(), SlowCalendar::new());
        let mut now = 0u64;
        for (i, &(ahead, pops)) in operations.iter().enumerate() {
            // Few distinct keys, so that equal times and equal entries occur.
            let key = (i as u64).wrapping_mul(0x9e37_79b9) % 7;
            let at = Instant::from_ps(now + ahead);
            ladder.push(at, key);
            slow.push(at, key);
            for _ in 0..pops {
                let popped = ladder.pop();
                prop_assert_eq!(popped, slow.pop());
                if let Some((at, _)) = popped {
                    now = at.as_ps();
                }
            }
        }
        loop {
            let popped = ladder.pop();
            prop_assert_eq!(popped, slow.pop());
            if popped.is_none() {
                prop_assert!(ladder.is_empty());
                return Ok(());
            }
        }
    }

    /// Delays of every size, from the same moment to beyond the widest rung.
    fn delay() -> impl Strategy<Value = u64> {
        (0u32..44).prop_flat_map(|bits| 0..(1u64 << bits))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn pops_what_a_heap_pops(operations in prop::collection::vec((delay(), 0u8..3), 1..400)) {
            same_as_slow(&operations)?;
        }
    }

    #[test]
    fn boundaries_of_the_rungs() {
        let widths = [1 << NEAR_SHIFT, 1 << WIDE_SHIFT, 1 << (WIDE_SHIFT + RUNG_SHIFT)];
        let mut operations = Vec::new();
        for width in widths {
            for around in [width - 1, width, width + 1, 2 * width] {
                operations.push((around, 0));
                operations.push((around, 1));
            }
        }
        same_as_slow(&operations).unwrap();
    }

    #[test]
    fn equal_times_come_by_key() {
        let mut calendar = Calendar::new();
        let at = Instant::from_ps(123_456_789);
        for key in [5, 1, 3, 2, 4] {
            calendar.push(at, key);
        }
        let keys: Vec<u64> = std::iter::from_fn(|| calendar.pop().map(|(_, key)| key)).collect();
        assert_eq!(keys, [1, 2, 3, 4, 5]);
    }

    #[test]
    #[should_panic(expected = "into the past")]
    fn the_past_is_refused() {
        let mut calendar = Calendar::new();
        calendar.push(Instant::from_ps(10), 0);
        calendar.pop();
        calendar.push(Instant::from_ps(9), 0);
    }
}
