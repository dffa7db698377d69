//! Rounds: every part runs up to a horizon, on a thread of its own if there are several and the machine has room.
//!
//! A packet that begins to leave a part at or after the earliest event of all needs at least the lookahead to reach
//! another part, so up to that horizon no part can surprise another one (Chandy and Misra's conservative condition, in
//! rounds). Between two rounds the threads stand still, and the coordinator, who is the first of them, does what is
//! done once for the whole network.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time;

use tailcut_base::Instant;
use tailcut_model::seat::Answer;

use super::active::ActiveThreads;
use super::exchange::{LogEntry, Mail, Start};
use super::part::Part;
use super::pauses::Pauses;
use super::watchdog::Standing;
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
    /// A stage of failures and the moment before which they happen, if the part is to know of more.
    pub(super) failures: Option<(usize, Option<Instant>)>,
    /// Messages of the controller, each with the time at which it is at its host.
    pub(super) answers: Vec<Answer>,
    /// What hosts have told the controller since it last looked, those of one host in order.
    pub(super) told: Vec<Told>,
    /// What happened to flows, in order.
    pub(super) log: Vec<LogEntry>,
    /// Events handled since the coordinator last looked.
    pub(super) handled: u64,
    /// Whether the part is to tell what is paused, and what it tells.
    pub(super) look_at_pauses: bool,
    pub(super) pauses: Pauses,
    /// Whether it is to tell how far its flows are, and what it tells.
    pub(super) look_at_flows: bool,
    pub(super) standing: Standing,
    /// When something happens next, in the part or where it has sent packets to.
    pub(super) next: Option<Instant>,
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
        tell(self.part, exchange);
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
    if let Some((stage, until)) = exchange.failures.take() {
        part.expect_failures(stage, until);
    }
}

/// The part tells what it is to.
fn tell(part: &mut Part<'_>, exchange: &mut Exchange) {
    if std::mem::take(&mut exchange.look_at_pauses) {
        exchange.pauses = part.pauses();
    }
    if std::mem::take(&mut exchange.look_at_flows) {
        exchange.standing = part.standing();
    }
}

/// The place of a part, which whoever runs it locks.
// Aligned, so that a thread that takes its part writes to no cache line of another's.
#[repr(align(128))]
struct Place<'s>(Mutex<Option<Box<Part<'s>>>>);

/// What the threads share.
struct Shared<'s, M> {
    /// Makes a part.
    make: M,
    places: Vec<Place<'s>>,
    exchanges: Vec<Mutex<Exchange>>,
    /// Packets from each part to each part: `from + to * parts`.
    mail: Vec<Mutex<Mail>>,
    /// The round that is to be run.
    order: AtomicU64,
    /// End of the round, in picoseconds.
    horizon: AtomicU64,
    /// Threads that have finished the round, the coordinator's not counted.
    done: AtomicU32,
    over: AtomicBool,
    /// What ended a thread.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// How often a thread looks whether it is its turn before it yields its processor: not at all if there are too few
    /// processors for all threads.
    spins: u32,
    sleepers: Vec<Sleeper>,
}

/// The number of a round, and how many threads run it: both in one word, so that no thread sees one without the other.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Order {
    round: u64,
    threads: u32,
}

impl Order {
    const THREAD_BITS: u32 = 16;
    const MOST_THREADS: u32 = (1 << Order::THREAD_BITS) - 1;

    fn of_word(word: u64) -> Order {
        Order { round: word >> Order::THREAD_BITS, threads: word as u32 & Order::MOST_THREADS }
    }

    fn word(self) -> u64 {
        self.round << Order::THREAD_BITS | u64::from(self.threads)
    }
}

/// A thread that may sleep until somebody has news for it.
#[derive(Default)]
struct Sleeper {
    sleeps: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

impl Sleeper {
    /// Waits until `is_over`. Rounds are short: the thread looks for a while before it lets others run, and sleeps when
    /// that took uncommonly long.
    fn wait_until(&self, spins: u32, is_over: impl Fn() -> bool) {
        /// How often it lets others run: some 100 us if there are no others.
        const YIELDS: u32 = 200;
        for _ in 0..spins {
            if is_over() {
                return;
            }
            std::hint::spin_loop();
        }
        for _ in 0..YIELDS {
            if is_over() {
                return;
            }
            thread::yield_now();
        }
        *lock(&self.thread) = Some(thread::current());
        // Either this thread sees the news after it said that it sleeps, or who brings them sees that it does.
        self.sleeps.store(true, Ordering::SeqCst);
        while !is_over() {
            thread::park();
        }
        self.sleeps.store(false, Ordering::Relaxed);
    }

    /// Wakes the thread if it sleeps, after the news have been stored in sequential order.
    fn wake(&self) {
        if self.sleeps.load(Ordering::SeqCst)
            && let Some(thread) = &*lock(&self.thread)
        {
            thread.unpark();
        }
    }
}

impl<'s, M: Fn(u32) -> Part<'s> + Sync> Shared<'s, M> {
    fn run_part(&self, number: usize) {
        let parts = self.exchanges.len();
        let horizon = Instant::from_ps(self.horizon.load(Ordering::Relaxed));
        let mut place = lock(&self.places[number].0);
        let part = place.get_or_insert_with(|| Box::new((self.make)(number as u32)));
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
        tell(part, &mut exchange);
    }

    /// Thread `number` of so many that run a round does its share of it.
    fn run_share(&self, number: usize, threads: u32) {
        (number..self.exchanges.len()).step_by(threads as usize).for_each(|part| self.run_part(part));
    }

    /// A thread's life: it does its share of each round in which it has one.
    fn work(&self, number: u32) {
        let mut seen = Order { round: 0, threads: 0 };
        loop {
            let order = || Order::of_word(self.order.load(Ordering::SeqCst));
            // A thread without a share has no news until it has one again.
            let is_called = || {
                let order = order();
                order != seen && order.threads > number
            };
            self.sleepers[number as usize].wait_until(self.spins, || is_called() || self.over.load(Ordering::SeqCst));
            if self.over.load(Ordering::SeqCst) {
                return;
            }
            seen = order();
            let attempt = catch_unwind(AssertUnwindSafe(|| self.run_share(number as usize, seen.threads)));
            if let Err(panic) = attempt {
                *lock(&self.panic) = Some(panic);
            }
            self.done.fetch_add(1, Ordering::SeqCst);
            self.sleepers[0].wake();
        }
    }
}

/// The coordinator of several parts; it is the first thread.
struct ManyParts<'h, 's, M> {
    shared: &'h Shared<'s, M>,
    active: ActiveThreads,
    round: u64,
    round_began: time::Instant,
}

impl<'s, M: Fn(u32) -> Part<'s> + Sync> Rounds for ManyParts<'_, 's, M> {
    fn parts(&self) -> usize {
        self.shared.exchanges.len()
    }

    fn exchange(&mut self, part: usize) -> MutexGuard<'_, Exchange> {
        lock(&self.shared.exchanges[part])
    }

    fn round(&mut self, horizon: Instant, _budget: u64) {
        let shared = self.shared;
        // In the first round each thread makes its part.
        let threads = if self.round == 0 { shared.exchanges.len() as u32 } else { self.active.now() };
        shared.horizon.store(horizon.as_ps(), Ordering::Relaxed);
        shared.done.store(0, Ordering::Relaxed);
        self.round += 1;
        shared.order.store(Order { round: self.round, threads }.word(), Ordering::SeqCst);
        shared.sleepers[1..threads as usize].iter().for_each(Sleeper::wake);
        shared.run_share(0, threads);
        shared.sleepers[0].wait_until(shared.spins, || shared.done.load(Ordering::SeqCst) == threads - 1);
        if let Some(panic) = lock(&shared.panic).take() {
            resume_unwind(panic);
        }
        let now = time::Instant::now();
        let events = shared.exchanges.iter().map(|exchange| lock(exchange).handled).sum();
        if self.round > 1 {
            self.active.tell(events, now - self.round_began);
        }
        self.round_began = now;
    }

    fn in_the_mail(&self) -> u64 {
        self.shared.mail.iter().map(|mail| lock(mail).len() as u64).sum()
    }
}

/// Sends the threads home, also when the coordinator panics.
struct Closing<'h, 's, M>(&'h Shared<'s, M>);

impl<M> Drop for Closing<'_, '_, M> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
        self.0.sleepers.iter().for_each(Sleeper::wake);
    }
}

/// Makes `count` parts with `make` and coordinates them: each on a thread of its own, the first on this one, or by
/// fewer threads where the machine has no room for all. Returns the parts as they are in the end.
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
    assert!(count <= Order::MOST_THREADS, "{count} threads are more than any machine has processors");
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let shared = Shared {
        make,
        places: (0..size).map(|_| Place(Mutex::new(None))).collect(),
        exchanges: (0..size).map(|_| Mutex::default()).collect(),
        mail: (0..size * size).map(|_| Mutex::default()).collect(),
        order: AtomicU64::new(0),
        horizon: AtomicU64::new(0),
        done: AtomicU32::new(0),
        over: AtomicBool::new(false),
        panic: Mutex::new(None),
        spins: if processors < size { 0 } else { 5_000 },
        sleepers: (0..size).map(|_| Sleeper::default()).collect(),
    };
    let result = thread::scope(|scope| {
        let shared = &shared;
        let _closing = Closing(shared);
        for number in 1..count {
            scope.spawn(move || shared.work(number));
        }
        let active = ActiveThreads::new(count);
        coordinate(&mut ManyParts { shared, active, round: 0, round_began: time::Instant::now() })
    });
    let Shared { places, make, .. } = shared;
    let parts = (0..).zip(places).map(|(number, place)| {
        let part = place.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        part.map_or_else(|| make(number), |part| *part)
    });
    (result, parts.collect())
}
