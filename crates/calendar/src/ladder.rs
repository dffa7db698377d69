//! A ladder of buckets: near events in narrow buckets, later ones in wide buckets, the rest in a heap.
//!
//! From the next event to the last one, an event is in one of these:
//!
//! 1. the bucket in use, which is sorted;
//! 2. the near rung: buckets of a few events each, in no order until they come into use;
//! 3. the wide rung: one of its buckets is as wide as a whole turn of the near rung, and moves there when its time
//!    comes;
//! 4. the heap of what lies even further ahead.
//!
//! Most events of a packet network lie a transmission time or a wire delay ahead: they go straight into the near
//! bucket in which they will be sorted. Retransmission timers lie milliseconds ahead and wait in the wide rung.
//!
//! How many events fall into a nanosecond differs by a factor of thousands between networks, and how costly an event is
//! depends on how many share its bucket: with many, the sorting costs; with few, going from bucket to bucket. So the
//! calendar counts them as they go by and makes the buckets wider or narrower. Nobody can tell from outside: the order
//! of events is total.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailcut_base::Instant;

use crate::Entry;
use crate::pool::Pool;
use crate::rung::{NEAR, NEAR_BITS, Near, ROOM, WIDE, Wide};

/// log2 of the width of a near bucket in picoseconds, before anything is known: 4.1 ns.
const FIRST_SHIFT: u32 = 12;
/// Narrowest near buckets: 64 ps, a turn of 66 ns. Narrower ones do not part the events of one moment either.
const MIN_SHIFT: u32 = 6;
/// Widest near buckets: 1.05 us, a turn of 1.07 ms. A calendar so sparse is fast anyway.
const MAX_SHIFT: u32 = 20;
/// The mean number of events in a bucket that comes into use, between which the width is left alone. The two differ by
/// more than the factor of two by which a width changes, so that it settles.
const FEW: u64 = 2;
const MANY: u64 = 5;
/// Events that are counted at least before the width is judged.
const MIN_JUDGED: u64 = 4096;
/// How deep an event is inserted into the bucket in use at most; others join the heap of those that came late.
const DEEP: usize = 32;

#[inline]
fn entry(at: Instant, key: u64) -> Entry {
    u128::from(at.as_ps()) << 64 | u128::from(key)
}

#[inline]
fn ps(entry: Entry) -> u64 {
    (entry >> 64) as u64
}

/// The events to come. Time never runs backwards: an event may be pushed at or after the last one popped.
#[derive(Debug)]
pub struct Calendar {
    /// The first `left` are what is left of the bucket in use, latest first. The others mean nothing: they are there so
    /// that a bucket can be written with one check of the length.
    active: Vec<Entry>,
    left: usize,
    /// Events of the bucket in use that came when many before them were left: thousands may be pushed at one moment,
    /// and shifting all for each would take time in their square. Mostly empty.
    late: BinaryHeap<Reverse<Entry>>,
    /// Number of the near bucket in use; what lies in it or before it is in `active` or `late`.
    cursor: u64,
    /// log2 of the width of a near bucket in picoseconds.
    shift: u32,
    /// Events of the near buckets after `cursor`, within one turn of it.
    near: Near,
    /// Events further ahead, by wide bucket; those of a wide bucket move to `near` when the cursor enters it.
    wide: Wide,
    /// Entries of `wide`, and of `near` where a bucket overflows.
    pool: Pool,
    /// Events beyond one turn of `wide`.
    far: BinaryHeap<Reverse<Entry>>,
    now: Instant,
    len: usize,
    /// Buckets that came into use since the width was last judged, and the events in them.
    used: u64,
    counted: u64,
    /// The width is judged when so many events are counted.
    judged_at: u64,
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
            active: vec![0; ROOM],
            left: 0,
            late: BinaryHeap::new(),
            cursor: 0,
            shift: FIRST_SHIFT,
            near: Near::new(),
            wide: Wide::new(),
            pool: Pool::new(),
            far: BinaryHeap::new(),
            now: Instant::ZERO,
            len: 0,
            used: 0,
            counted: 0,
            judged_at: MIN_JUDGED,
        }
    }

    /// Time of the last event popped.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Number of events to come.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event is to come.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event.
    ///
    /// # Panics
    /// If it lies in the past.
    #[inline(always)]
    pub fn push(&mut self, at: Instant, key: u64) {
        self.len += 1;
        // The past lies before the end of the bucket in use: only what goes there need be looked at.
        let number = at.as_ps() >> self.shift;
        if number.wrapping_sub(self.cursor + 1) >= NEAR - 1 || !self.near.push(number, entry(at, key)) {
            self.push_elsewhere(number, at, key);
        }
    }

    /// Adds an event for which there is no place in a near bucket.
    #[inline(never)]
    fn push_elsewhere(&mut self, number: u64, at: Instant, key: u64) {
        if number.wrapping_sub(self.cursor + 1) < NEAR - 1 {
            self.near.push_beside(&mut self.pool, number, entry(at, key));
        } else if number > self.cursor {
            self.push_later(entry(at, key));
        } else {
            assert!(at >= self.now, "an event is pushed into the past");
            self.insert_active(entry(at, key));
        }
    }

    /// Adds an event that lies beyond the near rung.
    #[inline(never)]
    fn push_later(&mut self, entry: Entry) {
        let number = ps(entry) >> self.wide_shift();
        if number - (self.cursor >> NEAR_BITS) < WIDE {
            self.wide.push(&mut self.pool, number, entry);
        } else {
            self.far.push(Reverse(entry));
        }
    }

    /// Adds an event to the bucket in use.
    #[inline(never)]
    fn insert_active(&mut self, entry: Entry) {
        if self.left >= DEEP && self.active[self.left - DEEP] < entry {
            self.late.push(Reverse(entry));
            return;
        }
        if self.left == self.active.len() {
            self.active.push(0);
        }
        self.left += 1;
        let active = &mut self.active[..self.left];
        let mut at = active.len() - 1;
        while at > 0 && active[at - 1] < entry {
            active[at] = active[at - 1];
            at -= 1;
        }
        active[at] = entry;
    }

    /// Takes out the earliest event; of several, the one with the smallest key.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, u64)> {
        let entry = if !self.late.is_empty() {
            self.take_with_late()
        } else {
            if self.left == 0 && !self.refill(Instant::MAX) {
                return None;
            }
            self.left -= 1;
            self.active[self.left]
        };
        self.len -= 1;
        self.now = Instant::from_ps(ps(entry));
        Some((self.now, entry as u64))
    }

    /// As [`Calendar::pop`], if the earliest event is before `horizon`.
    #[inline(always)]
    pub fn pop_before(&mut self, horizon: Instant) -> Option<(Instant, u64)> {
        if !self.late.is_empty() {
            return if self.next_time()? < horizon { self.pop() } else { None };
        }
        if self.left == 0 && !self.refill(horizon) {
            return None;
        }
        let entry = self.active[self.left - 1];
        let at = Instant::from_ps(ps(entry));
        if at >= horizon {
            return None;
        }
        self.left -= 1;
        self.len -= 1;
        self.now = at;
        Some((at, entry as u64))
    }

    /// Time of the earliest event. To find it takes a look at every event of a bucket at most; the bucket does not come
    /// into use, because events before it may still be pushed and would then all have to be inserted.
    pub fn next_time(&self) -> Option<Instant> {
        let active = self.active[..self.left].last().copied();
        let late = self.late.peek().map(|&Reverse(entry)| entry);
        let earliest = active.into_iter().chain(late).min().or_else(|| {
            let near = self.near.next(self.cursor, self.cursor + NEAR);
            let near = near.and_then(|number| self.near.earliest(&self.pool, number));
            let window = self.cursor >> NEAR_BITS;
            if near.is_some_and(|entry| ps(entry) >> self.wide_shift() == window) {
                return near;
            }
            let wide = self.wide.next(window, window + WIDE);
            let wide = wide.and_then(|number| self.wide.earliest(&self.pool, number));
            let far = self.far.peek().map(|&Reverse(entry)| entry);
            [near, wide, far].into_iter().flatten().min()
        });
        earliest.map(|entry| Instant::from_ps(ps(entry)))
    }

    /// The earliest of `active` and `late`, which is not empty.
    #[cold]
    fn take_with_late(&mut self) -> Entry {
        let Reverse(late) = *self.late.peek().expect("not empty");
        match self.active[..self.left].last() {
            Some(&active) if active <= late => {
                self.left -= 1;
                active
            }
            _ => {
                self.late.pop();
                late
            }
        }
    }

    /// Key of the event that `pop` would give next, if it is known without looking further than the bucket in use.
    #[inline]
    pub fn peek_key(&self) -> Option<u64> {
        let active = self.active[..self.left].last().copied();
        let late = self.late.peek().map(|&Reverse(entry)| entry);
        active.into_iter().chain(late).min().map(|entry| entry as u64)
    }

    /// Number of the bucket in use. When it is another one, what [`Calendar::ahead`] gives is another too.
    #[inline]
    pub fn bucket(&self) -> u64 {
        self.cursor
    }

    /// Keys of the events in the buckets behind the one in use, a bucket after the other, the nearest first, without
    /// those that hold nothing: a hint to what will soon be needed. What was pushed into a crowded bucket last is not
    /// among them, and nothing beyond the near rung.
    #[inline]
    pub fn ahead(&self) -> impl Iterator<Item = impl Iterator<Item = u64>> {
        let mut from = self.cursor;
        std::iter::from_fn(move || {
            from = self.near.next(from + 1, self.cursor + NEAR)?;
            Some(self.near.places(from).iter().map(|&entry| entry as u64))
        })
    }

    /// Moves the next bucket that holds something into use, when nothing is left of the last one. Returns whether there
    /// is one that begins before `horizon`.
    #[inline(never)]
    fn refill(&mut self, horizon: Instant) -> bool {
        if self.counted >= self.judged_at {
            self.judge_width();
            // With other buckets some events may belong to the one in use.
            if self.left > 0 {
                return true;
            }
        }
        loop {
            let window_end = (self.cursor | (NEAR - 1)) + 1;
            if let Some(number) = self.near.next(self.cursor + 1, window_end) {
                if number << self.shift >= horizon.as_ps() {
                    return false;
                }
                self.cursor = number;
                self.use_bucket();
                return true;
            }
            if !self.enter_next_window(window_end, horizon) {
                return false;
            }
            if self.left > 0 {
                return true;
            }
        }
    }

    /// Moves the near bucket at the cursor into use.
    #[inline(always)]
    fn use_bucket(&mut self) {
        let (places, count) = self.near.take(self.cursor);
        self.left = count;
        self.used += u64::from(count > 0);
        self.counted += count as u64;
        let active = self.active.first_chunk_mut::<ROOM>().expect("it is never shorter");
        // A number of entries that is known when this is compiled makes a sort without loops and branches.
        match count {
            0 => {}
            1 => active[0] = places[0],
            2 => sort_latest_first::<2>(places, active),
            3 => sort_apart::<3>(places, active),
            4 => sort_apart::<4>(places, active),
            5 => sort_apart::<5>(places, active),
            6 => sort_apart::<6>(places, active),
            7 => sort_apart::<7>(places, active),
            ROOM => sort_apart::<ROOM>(places, active),
            _ => self.sort_crowded(),
        }
    }

    /// Sorts what was in the near bucket at the cursor, which had more entries than places.
    #[cold]
    fn sort_crowded(&mut self) {
        self.active.clear();
        self.active.extend_from_slice(self.near.taken(self.cursor));
        let chain = self.near.take_chain(self.cursor);
        self.pool.take(chain, &mut self.active);
        self.active.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Moves the cursor to the start of the next wide bucket in which anything happens, and that bucket's events to
    /// the near rung. Returns whether there is one that begins before `horizon`.
    #[inline(never)]
    fn enter_next_window(&mut self, window_end: u64, horizon: Instant) -> bool {
        let window = self.cursor >> NEAR_BITS;
        let wide_shift = self.wide_shift();
        let near = self.near.next(window_end, self.cursor + NEAR).map(|number| number >> NEAR_BITS);
        let wide = self.wide.next(window + 1, window + WIDE);
        let far = self.far.peek().map(|Reverse(entry)| ps(*entry) >> wide_shift);
        let Some(next) = [near, wide, far].into_iter().flatten().min() else { return false };
        if next << wide_shift >= horizon.as_ps() {
            return false;
        }
        self.cursor = next << NEAR_BITS;
        // What was far may now lie within a turn of the wide rung.
        while self.far.peek().is_some_and(|Reverse(entry)| (ps(*entry) >> wide_shift) - next < WIDE) {
            let Reverse(entry) = self.far.pop().expect("peeked");
            self.wide.push(&mut self.pool, ps(entry) >> wide_shift, entry);
        }
        let mut chain = self.wide.take(next);
        while let Some((entries, len)) = self.pool.take_chunk(&mut chain) {
            for &entry in &entries[..len] {
                let number = ps(entry) >> self.shift;
                if !self.near.push(number, entry) {
                    self.near.push_beside(&mut self.pool, number, entry);
                }
            }
        }
        self.use_bucket();
        true
    }

    #[inline]
    fn wide_shift(&self) -> u32 {
        self.shift + NEAR_BITS
    }

    /// Makes the buckets narrower if many events are in one, and wider if few are.
    #[cold]
    fn judge_width(&mut self) {
        let mean = self.counted / self.used;
        let shift = if mean >= MANY {
            // Down to the middle at once: where there are very many, the sorting is dear.
            self.shift.saturating_sub((2 * mean / MANY).ilog2()).max(MIN_SHIFT)
        } else if mean < FEW {
            (self.shift + 1).min(MAX_SHIFT)
        } else {
            self.shift
        };
        if shift != self.shift {
            self.set_shift(shift);
        }
        (self.used, self.counted) = (0, 0);
        // Changing the width moves every event to come: each event that passes pays for half of one at most.
        self.judged_at = MIN_JUDGED.max(2 * self.len as u64);
    }

    /// Changes the width of the buckets while none is in use.
    fn set_shift(&mut self, shift: u32) {
        let mut entries: Vec<Entry> = self.far.drain().map(|Reverse(entry)| entry).collect();
        let mut from = self.cursor;
        while let Some(number) = self.near.next(from, self.cursor + NEAR) {
            let (places, count) = self.near.take(number);
            entries.extend_from_slice(&places[..count.min(ROOM)]);
            let chain = self.near.take_chain(number);
            self.pool.take(chain, &mut entries);
            from = number + 1;
        }
        let window = self.cursor >> NEAR_BITS;
        let mut from = window;
        while let Some(number) = self.wide.next(from, window + WIDE) {
            let chain = self.wide.take(number);
            self.pool.take(chain, &mut entries);
            from = number + 1;
        }
        self.shift = shift;
        self.cursor = self.now.as_ps() >> shift;
        self.len = 0;
        for entry in entries {
            self.push(Instant::from_ps(ps(entry)), entry as u64);
        }
    }

    /// Bytes that the calendar holds on to; it gives little back, so this is close to its peak.
    pub fn heap_bytes(&self) -> usize {
        let entries = self.active.capacity() + self.late.capacity() + self.far.capacity();
        self.near.heap_bytes() + self.wide.heap_bytes() + self.pool.heap_bytes() + entries * size_of::<Entry>()
    }
}

/// Sorts the first `N` of `from` into `to`. Each is compared with each and the outcomes are added up, which says where
/// it goes: more comparisons than a clever sort needs for so few, but none that the processor would have to guess.
#[inline]
fn sort_latest_first<const N: usize>(from: &[Entry; ROOM], to: &mut [Entry; ROOM]) {
    // As many are later as stand in front, until one of these turns out to be earlier.
    let mut ranks: [usize; N] = std::array::from_fn(|at| at);
    for j in 1..N {
        for i in 0..j {
            let later = usize::from(from[j] > from[i]);
            ranks[i] += later;
            ranks[j] -= later;
        }
    }
    for i in 0..N {
        // No rank reaches `ROOM`; that the compiler sees it saves a check.
        to[ranks[i] % ROOM] = from[i];
    }
}

/// As [`sort_latest_first`].
// A function of its own for each number: fewer entries need fewer registers, and two of them hardly any.
#[inline(never)]
fn sort_apart<const N: usize>(from: &[Entry; ROOM], to: &mut [Entry; ROOM]) {
    sort_latest_first::<N>(from, to);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SlowCalendar;

    /// A calendar and its oracle, which get the same and must give the same.
    struct Both {
        ladder: Calendar,
        slow: SlowCalendar,
        pushed: u64,
    }

    impl Both {
        fn new() -> Both {
            Both { ladder: Calendar::new(), slow: SlowCalendar::new(), pushed: 0 }
        }

        /// Few distinct keys, so that equal entries occur.
        fn push(&mut self, ahead: u64) {
            let at = Instant::from_ps(self.ladder.now().as_ps() + ahead);
            let key = self.pushed.wrapping_mul(0x9e37_79b9) % 7;
            self.pushed += 1;
            // Whoever looks for an event in vain may push one that is earlier than all others.
            let horizon = self.ladder.next_time().map_or(at, |next| next.min(at));
            assert_eq!(self.ladder.pop_before(horizon), None);
            self.ladder.push(at, key);
            self.slow.push(at, key);
        }

        fn pop(&mut self) -> Option<(Instant, u64)> {
            let (len, peeked) = (self.ladder.len(), self.ladder.peek_key());
            let next = self.ladder.next_time();
            let popped = match next {
                Some(next) if len % 2 == 0 => self.ladder.pop_before(Instant::from_ps(next.as_ps() + 1)),
                _ => self.ladder.pop(),
            };
            assert_eq!(next, popped.map(|(at, _)| at));
            assert_eq!(popped, self.slow.pop());
            assert_eq!(self.ladder.len(), len - usize::from(popped.is_some()));
            assert!(peeked.is_none() || peeked == popped.map(|(_, key)| key));
            popped
        }

        fn pop_all(&mut self) {
            while self.pop().is_some() {}
            assert!(self.ladder.is_empty());
        }

        /// As if the width had just been judged, which is done between two buckets.
        fn set_shift(&mut self, shift: u32) {
            if self.ladder.left == 0 && self.ladder.late.is_empty() {
                self.ladder.set_shift(shift);
            }
        }
    }

    /// Delays of every size, from the same moment to beyond the widest rung.
    fn delay() -> impl Strategy<Value = u64> {
        (0u32..46).prop_flat_map(|bits| 0..(1u64 << bits))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn pops_what_a_heap_pops(
            shift in MIN_SHIFT..=MAX_SHIFT,
            operations in prop::collection::vec((delay(), 0u8..3), 1..400),
        ) {
            let mut both = Both::new();
            both.set_shift(shift);
            for (ahead, pops) in operations {
                both.push(ahead);
                for _ in 0..pops {
                    both.pop();
                }
            }
            both.pop_all();
        }

        #[test]
        fn the_width_does_not_change_the_order(
            operations in prop::collection::vec((delay(), 0u8..3, MIN_SHIFT..=MAX_SHIFT), 1..400),
        ) {
            let mut both = Both::new();
            for (ahead, pops, shift) in operations {
                both.push(ahead);
                for _ in 0..pops {
                    both.pop();
                }
                both.set_shift(shift);
            }
            both.pop_all();
        }

        /// Bursts at one moment, some of them at the present one.
        #[test]
        fn crowds_are_in_order_too(
            bursts in prop::collection::vec((prop_oneof![Just(0), 0u64..20_000, delay()], 1usize..100, 0usize..120), 1..30),
        ) {
            let mut both = Both::new();
            for (ahead, pushes, pops) in bursts {
                for i in 0..pushes {
                    both.push(ahead + i as u64 % 3);
                }
                for _ in 0..pops {
                    both.pop();
                }
            }
            both.pop_all();
        }
    }

    #[test]
    fn boundaries_of_the_rungs() {
        for shift in [MIN_SHIFT, FIRST_SHIFT, MAX_SHIFT] {
            let mut both = Both::new();
            both.set_shift(shift);
            for width in [1 << shift, NEAR << shift, (NEAR * WIDE) << shift] {
                for around in [width - 1, width, width + 1, 2 * width] {
                    both.push(around);
                    both.push(around);
                    both.pop();
                }
            }
            both.pop_all();
        }
    }

    #[test]
    fn the_width_follows_the_rate_of_events() {
        let mut both = Both::new();
        let mut settle = |pending: u64, ahead: u64| {
            // Spread evenly over the time ahead, and each one replaced when it is popped.
            for i in 0..pending {
                both.push(ahead * i / pending);
            }
            for _ in 0..100_000 {
                both.pop();
                both.push(ahead);
            }
            let shift = both.ladder.shift;
            both.pop_all();
            shift
        };
        let (sparse, dense, sparse_again) = (settle(4, 50_000_000), settle(5_000, 1_000_000), settle(4, 50_000_000));
        assert_eq!((sparse, sparse_again), (MAX_SHIFT, MAX_SHIFT));
        // 200 ps apart: two to five fall into a bucket of 512 ps or 1 ns.
        assert!((9..=10).contains(&dense), "{dense}");
    }

    #[test]
    fn many_events_at_one_moment() {
        let mut both = Both::new();
        (0..20_000).for_each(|_| both.push(1_000_000));
        for i in 0..20_000 {
            both.pop();
            both.push(i % 2);
        }
        both.pop_all();
    }

    #[test]
    fn equal_times_come_by_key() {
        let mut calendar = Calendar::new();
        let at = Instant::from_ps(123_456_789);
        for key in [5, 1, 3, 2, 4] {
            calendar.push(at, key);
        }
        assert_eq!(calendar.pop(), Some((at, 1)));
        assert_eq!(calendar.peek_key(), Some(2));
        let keys: Vec<u64> = std::iter::from_fn(|| calendar.pop().map(|(_, key)| key)).collect();
        assert_eq!(keys, [2, 3, 4, 5]);
    }

    #[test]
    fn what_lies_ahead_is_what_comes_bucket_by_bucket() {
        let mut calendar = Calendar::new();
        let width = 1 << FIRST_SHIFT;
        // Two in a bucket, none in the next one; the last one lies in the wide rung.
        for (number, key) in [(1, 10), (3, 30), (3, 31), (5, 50), (NEAR + 9, 99)] {
            calendar.push(Instant::from_ps(number * width + key), key);
        }
        let ahead = |calendar: &Calendar| calendar.ahead().map(Iterator::collect).collect::<Vec<Vec<u64>>>();
        assert_eq!((calendar.bucket(), ahead(&calendar)), (0, vec![vec![10], vec![30, 31], vec![50]]));
        calendar.pop();
        assert_eq!((calendar.bucket(), ahead(&calendar)), (1, vec![vec![30, 31], vec![50]]));
        calendar.pop();
        assert_eq!((calendar.bucket(), ahead(&calendar)), (3, vec![vec![50]]));
        // What was in the bucket in use when that began is not ahead, and what a bucket has no place for neither.
        (0..20).for_each(|key| calendar.push(Instant::from_ps(5 * width), key));
        assert_eq!(ahead(&calendar)[0].len(), ROOM);
    }

    #[test]
    fn the_end_of_time_can_be_reached() {
        let mut calendar = Calendar::new();
        calendar.push(Instant::MAX, 1);
        calendar.push(Instant::ZERO, 0);
        assert_eq!(calendar.pop(), Some((Instant::ZERO, 0)));
        assert_eq!(calendar.pop(), Some((Instant::MAX, 1)));
        calendar.push(Instant::MAX, 2);
        assert_eq!(calendar.pop(), Some((Instant::MAX, 2)));
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
