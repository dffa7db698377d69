//! The hold model: take the next event, put in another one some time later; the number of events stays the same.
//!
//! The times ahead are those of a packet network: most events are a transmission or a wire's delay ahead, some are
//! those of a slower link or a host, and one of fifty is a retransmission timer.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;

use tailcut_base::{Instant, Seeds, Span};
use tailcut_bench::{Contender, Spread, in_turns, ns_each, print_table, ratio};
use tailcut_calendar::{Calendar, SlowCalendar};

const PENDING: [usize; 4] = [500, 5_000, 50_000, 500_000];
const HOLDS: usize = 400_000;
const REPETITIONS: usize = 9;
/// Times ahead that are drawn before the clock runs; used in turns.
const DRAWN: usize = 1 << 16;

trait Events {
    fn push(&mut self, at: Instant, key: u64);
    fn pop(&mut self) -> Option<(Instant, u64)>;
}

impl Events for Calendar {
    fn push(&mut self, at: Instant, key: u64) {
        Calendar::push(self, at, key);
    }

    fn pop(&mut self) -> Option<(Instant, u64)> {
        Calendar::pop(self)
    }
}

impl Events for SlowCalendar {
    fn push(&mut self, at: Instant, key: u64) {
        SlowCalendar::push(self, at, key);
    }

    fn pop(&mut self) -> Option<(Instant, u64)> {
        SlowCalendar::pop(self)
    }
}

fn ahead() -> Vec<Span> {
    let mut stream = Seeds::new(1).stream("bench.calendar", 0);
    let draw = |_| match stream.below(100) {
        0..2 => Span::from_ms(10),
        2..20 => Span::from_ps(19_000_000 + u64::from(stream.below(2_000_000))),
        _ => Span::from_ps(30_000 + u64::from(stream.below(2_170_000))),
    };
    (0..DRAWN).map(draw).collect()
}

/// Puts in `pending` events whose times are spread as in a calendar that has been used for long: at any moment more
/// events are in a long wait than in a short one, and any part of the wait may have passed. If all events began their
/// waits at once, it would take many times `pending` holds until they are spread like that.
fn fill(events: &mut impl Events, pending: usize, ahead: &[Span]) {
    let total: u64 = ahead.iter().map(|span| span.as_ps()).sum();
    let (mut which, mut before) = (0, 0);
    for i in 0..pending {
        // All waits are laid end to end and each event gets a place on that line, at equal distances. The wait in which
        // its place lies is its wait, and the part of it before the place has passed.
        let at = total / pending as u64 * i as u64;
        while before + ahead[which].as_ps() <= at {
            before += ahead[which].as_ps();
            which += 1;
        }
        events.push(Instant::ZERO + Span::from_ps(before + ahead[which].as_ps() - at), i as u64);
    }
}

fn hold(events: &mut impl Events, ahead: &[Span], from: usize, holds: usize) {
    for i in from..from + holds {
        let (now, key) = events.pop().expect("as many events go in as come out");
        events.push(now + ahead[i & (DRAWN - 1)], key);
    }
}

/// A calendar with `pending` events that has been used long enough for its inner state to have settled.
fn contender<'a>(mut events: impl Events + 'a, pending: usize, ahead: &'a [Span]) -> Contender<'a> {
    fill(&mut events, pending, ahead);
    hold(&mut events, ahead, 0, 4 * pending);
    let mut from = 4 * pending;
    Box::new(move || {
        let cost = ns_each(HOLDS as u64, || hold(&mut events, ahead, from, black_box(HOLDS)));
        from += HOLDS;
        cost
    })
}

fn main() {
    let ahead = ahead();
    println!("calendar: ns per hold, median (smallest to largest) of {REPETITIONS} x {HOLDS} holds");
    let rows = PENDING.map(|pending| {
        let mut contenders =
            [contender(Calendar::new(), pending, &ahead), contender(SlowCalendar::new(), pending, &ahead)];
        let costs = in_turns(REPETITIONS, &mut contenders);
        let (ladder, heap) = (Spread::of(&costs[0]), Spread::of(&costs[1]));
        [pending.to_string(), ladder.to_string(), heap.to_string(), format!("{:.2}", ratio(&costs[0], &costs[1]))]
    });
    print_table(["pending", "Calendar", "SlowCalendar (binary heap)", "ratio"], &rows);
}
