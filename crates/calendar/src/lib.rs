//! The order of events: what happens next, and in which order at equal times.
//!
//! An entry is a time and a key, 16 bytes together. The key says which of several events at the same time goes first,
//! and is all that the calendar gives back: whoever pushes it packs into it the class of the event and the entity
//! that scheduled it, in that order, so that the order never depends on an unrelated entity or on the calendar's whim.
//!
//! Invariant: the calendar knows no packet, no port and no host.

mod ladder;
mod pool;
mod rung;
mod slow;

pub use ladder::Calendar;
pub use slow::SlowCalendar;

/// Time in the high half, key in the low half: comparing two entries is comparing two numbers.
type Entry = u128;
