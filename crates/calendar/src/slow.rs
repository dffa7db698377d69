//! The obvious calendar: a binary heap. The oracle of the tests and the yardstick of the benchmark.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailcut_base::Instant;

/// A calendar that is plainly right.
#[derive(Debug, Default)]
pub struct SlowCalendar(BinaryHeap<Reverse<(Instant, u64)>>);

impl SlowCalendar {
    /// An empty calendar.
    pub fn new() -> SlowCalendar {
        SlowCalendar::default()
    }

    /// Adds an event.
    pub fn push(&mut self, at: Instant, key: u64) {
        self.0.push(Reverse((at, key)));
    }

    /// Takes out the earliest event; of several, the one with the smallest key.
    pub fn pop(&mut self) -> Option<(Instant, u64)> {
        self.0.pop().map(|Reverse(event)| event)
    }
}
