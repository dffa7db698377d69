//! Rounds: every part runs up to a horizon, on a thread of its own if there are several.
//!
//! A packet that begins to leave a part at or after the earliest event of all needs at least the lookahead to reach
//! another part, so up to that horizon no part can surprise another one (Chandy and Misra's conservative condition, in
//! rounds). Between two rounds the threads stand still, and the coordinator, who is the first of them, does what is
//! done once for the whole network.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tailcut_base::Instant;
use tailcut_model::seat::Answer;

use super::exchange::{LogEntry, Mail, Start};
use super::part::Part;
use crate::controller::Told;

/// What a part is told before a round, and what it answers.
#[derive(Default)]
pub(super) struct Exchange {
    /// Flows that will start in the round of which the part has an end, in the order of their starts.
    pub(super) starts: Vec<Start>,
    /// When the measured time begins, if that is known since the last round.
    pub(super) measure_from: Option<Instant>,
    /// When the measured time ends, if that is known since the last round.
    pub(super) measure_until: Option<Instant>,
    /// Messages of the controller, each with the time at which it is at its host.
    pub(super) answers: Vec<Answer>,
    /// What hosts have told the controller since it last looked, those of one host in order.
    pub(super) told: Vec<Told>,
    /// What happened to flows, in order.
    pub(super) log: Vec<LogEntry>,
    /// Events handled since the coordinator last looked.
    pub(super) handled: u64,
    /// When something happens next, in the part or where it has sent packets to.
    pub(super) next: Option<Instant>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Runs rounds.
pub(super) trait Rounds {
    /// Number of parts.
    fn parts(&self) -> usize;
    /// What part `part` is told and answers.
    fn exchange(&mut self, part: usize) -> MutexGuard<'_, Exchange>;
    /// Every part handles its events before `horizon`. A part that is alone may stop after `budget` of them.
    fn round(&mut self, horizon: Instant, budget: u64);
    /// Packets that were sent to another part and have not been taken in.
    fn in_the_mail(&self) -> u64;
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One part, on the thread of the coordinator.
pub(super) struct OnePart<'p, 's> {
    pub(super) part: &'p mut Part<'s>,
    pub(super) exchange: Mutex<Exchange>,
}

impl Rounds for OnePart<'_, '_> {
    fn parts(&self) -> usize {
        1
    }

    fn exchange(&mut self, _: usize) -> MutexGuard<'_, Exchange> {
        lock(&self.exchange)
    }

    fn round(&mut self, horizon: Instant, budget: u64) {
        let exchange = self.exchange.get_mut().unwrap_or_else(PoisonError::into_inner);
        take_orders(self.part, exchange);
        exchange.handled += self.part.run_until(horizon, budget);
        self.part.take_log(&mut exchange.log);
        self.part.take_told(&mut exchange.told);
        exchange.next = self.part.next_time();
    }

    fn in_the_mail(&self) -> u64 {
        0
    }
}

fn take_orders(part: &mut Part<'_>, exchange: &mut Exchange) {
    exchange.starts.drain(..).for_each(|start| part.expect(start));
    exchange.answers.drain(..).for_each(|answer| part.expect_message(answer));
    if let Some(at) = exchange.measure_from.take() {
        part.measure_from(at);
    }
    if let Some(at) = exchange.measure_until.take() {
        part.measure_until(at);
    }
}

/// What the threads share.
struct Shared {
    exchanges: Vec<Mutex<Exchange>>,
    /// Packets from each part to each part: `from + to * parts`.
    mail: Vec<Mutex<Mail>>,
    /// Number of the round that is to be run.
    round: AtomicUsize,
    /// End of the round, in picoseconds.
    horizon: AtomicU64,
    /// Parts that have finished the round, the coordinator's not counted.
    done: AtomicUsize,
    over: AtomicBool,
    /// How often a thread looks whether it is its turn before it yields its processor: not at all if there are too few
    /// processors for all threads.
    spins: u32,
}

impl Shared {
    fn run_part(&self, number: usize, part: &mut Part<'_>) {
        let parts = self.exchanges.len();
        let horizon = Instant::from_ps(self.horizon.load(Ordering::Relaxed));
        let mut exchange = lock(&self.exchanges[number]);
        take_orders(part, &mut exchange);
        for from in (0..parts).filter(|&from| from != number) {
            part.take_mail(&mut lock(&self.mail[from + number * parts]));
        }
        exchange.handled += part.run_until(horizon, u64::MAX);
        let mut outgoing: Vec<_> = (0..parts).map(|to| lock(&self.mail[number + to * parts])).collect();
        let due = part.send_mail(Instant::from_ps(horizon.as_ps() - 1), &mut outgoing);
        exchange.next = part.next_time().into_iter().chain(due).min();
        part.take_log(&mut exchange.log);
        part.take_told(&mut exchange.told);
    }

    /// A thread's life: it makes its part, runs it in each round, and gives it back.
    fn work<'s>(&self, number: u32, make: impl Fn(u32) -> Part<'s>) -> Part<'s> {
        let mut part = None;
        let mut seen = 0;
        loop {
            let mut waiter = Waiter::new(self.spins);
            loop {
                let round = self.round.load(Ordering::Acquire);
                if round != seen {
                    seen = round;
                    break;
                }
                waiter.wait();
            }
            if self.over.load(Ordering::Acquire) {
                return part.unwrap_or_else(|| make(number));
            }
            let attempt = catch_unwind(AssertUnwindSafe(|| {
                self.run_part(number as usize, part.get_or_insert_with(|| make(number)));
            }));
            if let Err(panic) = attempt {
                lock(&self.exchanges[number as usize]).panic = Some(panic);
            }
            self.done.fetch_add(1, Ordering::Release);
        }
    }
}

/// Waits for another thread: rounds are short, so it looks for a while before it lets others run, and sleeps only
/// while a round takes uncommonly long.
struct Waiter {
    spins: u32,
    yields: u32,
}

impl Waiter {
    fn new(spins: u32) -> Waiter {
        Waiter { spins, yields: 2_000 }
    }

    fn wait(&mut self) {
        if self.spins > 0 {
            self.spins -= 1;
            std::hint::spin_loop();
        } else if self.yields > 0 {
            self.yields -= 1;
            std::thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(20));
        }
    }
}

/// The coordinator of several parts; the first part runs on its own thread.
struct ManyParts<'h, 'p, 's> {
    shared: &'h Shared,
    first: &'p mut Part<'s>,
}

impl Rounds for ManyParts<'_, '_, '_> {
    fn parts(&self) -> usize {
        self.shared.exchanges.len()
    }

    fn exchange(&mut self, part: usize) -> MutexGuard<'_, Exchange> {
        lock(&self.shared.exchanges[part])
    }

    fn round(&mut self, horizon: Instant, _budget: u64) {
        let shared = self.shared;
        shared.horizon.store(horizon.as_ps(), Ordering::Relaxed);
        shared.done.store(0, Ordering::Relaxed);
        shared.round.fetch_add(1, Ordering::Release);
        shared.run_part(0, self.first);
        let mut waiter = Waiter::new(shared.spins);
        while shared.done.load(Ordering::Acquire) < shared.exchanges.len() - 1 {
            waiter.wait();
        }
        for exchange in &shared.exchanges {
            if let Some(panic) = lock(exchange).panic.take() {
                resume_unwind(panic);
            }
        }
    }

    fn in_the_mail(&self) -> u64 {
        self.shared.mail.iter().map(|mail| lock(mail).len() as u64).sum()
    }
}

/// Sends the threads home, also when the coordinator panics.
struct Closing<'h>(&'h Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
        self.0.round.fetch_add(1, Ordering::Release);
    }
}

/// Makes `count` parts with `make` and coordinates them, each on a thread of its own; the first on this one. Returns
/// the parts as they are in the end.
///
/// A thread makes its part itself: what it writes to while it runs then lies apart from what others write to.
///
/// # Panics
/// If a part panics, with what it said.
pub(super) fn together<'s, R>(
    count: u32,
    make: impl Fn(u32) -> Part<'s> + Sync,
    coordinate: impl FnOnce(&mut dyn Rounds) -> R,
) -> (R, Vec<Part<'s>>) {
    let size = count as usize;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let shared = Shared {
        exchanges: (0..size).map(|_| Mutex::default()).collect(),
        mail: (0..size * size).map(|_| Mutex::default()).collect(),
        round: AtomicUsize::new(0),
        horizon: AtomicU64::new(0),
        done: AtomicUsize::new(0),
        over: AtomicBool::new(false),
        spins: if processors < size { 0 } else { 5_000 },
    };
    std::thread::scope(|scope| {
        let (shared, make) = (&shared, &make);
        let threads: Vec<_> = (1..count).map(|number| scope.spawn(move || shared.work(number, make))).collect();
        let (result, first) = {
            let _closing = Closing(shared);
            let mut first = make(0);
            (coordinate(&mut ManyParts { shared, first: &mut first }), first)
        };
        let others = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        (result, std::iter::once(first).chain(others).collect())
    })
}
