//! How many threads run the parts of a simulation: measured while it runs.
//!
//! The threads wait for each other in every round, so that one which the machine keeps from running holds up all. How
//! fast fewer of them would be cannot be known, so it is tried, for a few milliseconds at a time: first soon, then less
//! and less often while the answer stays the same. What was measured before counts too, because on a busy machine a few
//! milliseconds may be lucky. The outcome does not depend on it.

use std::time::Duration;

/// How long a number of threads is measured before it is compared: some time slices of a busy machine's scheduler.
const WINDOW: Duration = Duration::from_millis(5);

/// How long the better of two numbers runs before the other is tried again, at first and at most.
const SOONEST: Duration = Duration::from_millis(30);
const LATEST: Duration = Duration::from_millis(500);

/// More threads are kept only if they are faster than fewer by this factor: they cost a processor.
const WORTH: f64 = 1.2;

/// What all earlier windows of a number of threads count beside the latest, while it runs and when it is only tried.
const KEPT: f64 = 0.8;
const KEPT_IN_TRIAL: f64 = 0.5;

/// The choice between numbers of active threads, each twice the next.
#[derive(Debug)]
pub(super) struct ActiveThreads {
    /// From all threads down to one.
    numbers: Vec<Measured>,
    /// Where in `numbers` the simulation is.
    at: usize,
    /// The number that is only tried, and where the simulation was before.
    tried_from: Option<usize>,
    /// Events and time of the window at hand.
    events: u64,
    time: Duration,
    /// How long the number has run since one was tried last.
    since_trial: Duration,
    /// How long it is to run before the next trial.
    interval: Duration,
    /// Whether the next trial is of more threads.
    more_next: bool,
}

/// What is known of a number of threads. Events and time are summed apart: of the windows of a busy machine those that
/// are slow are also long.
#[derive(Debug)]
struct Measured {
    threads: u32,
    events: f64,
    seconds: f64,
}

impl Measured {
    /// Events per second, the latest the most; `None` before the first.
    fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.events / self.seconds)
    }

    fn learn(&mut self, events: u64, time: Duration, kept: f64) {
        self.events = kept * self.events + events as f64;
        self.seconds = kept * self.seconds + time.as_secs_f64();
    }
}

impl ActiveThreads {
    /// A choice of up to `most` threads, which begins with all.
    pub(super) fn new(most: u32) -> ActiveThreads {
        let numbers = std::iter::successors(Some(most.max(1)), |&threads| (threads > 1).then_some(threads / 2));
        ActiveThreads {
            numbers: numbers.map(|threads| Measured { threads, events: 0.0, seconds: 0.0 }).collect(),
            at: 0,
            tried_from: None,
            events: 0,
            time: Duration::ZERO,
            // The first trial comes at once: the machine may be busy from the beginning.
            since_trial: SOONEST,
            interval: SOONEST,
            more_next: false,
        }
    }

    /// Threads for the next round.
    pub(super) fn now(&self) -> u32 {
        self.numbers[self.at].threads
    }

    /// A round had so many events and took so long.
    pub(super) fn tell(&mut self, events: u64, time: Duration) {
        self.events += events;
        self.time += time;
        if self.time < WINDOW || self.numbers.len() == 1 {
            return;
        }
        let kept = if self.tried_from.is_some() { KEPT_IN_TRIAL } else { KEPT };
        self.numbers[self.at].learn(self.events, self.time, kept);
        self.since_trial += self.time;
        (self.events, self.time) = (0, Duration::ZERO);
        match self.tried_from.take() {
            Some(before) => self.decide(before),
            None if self.has_fallen() || self.since_trial >= self.interval => self.try_other(),
            None => {}
        }
    }

    /// Whether fewer threads were faster when they were measured.
    fn has_fallen(&self) -> bool {
        let rate = |at: usize| self.numbers.get(at).and_then(Measured::rate);
        rate(self.at + 1).is_some_and(|fewer| rate(self.at).is_some_and(|rate| rate < fewer))
    }

    /// The number at hand was tried, and the one before it measured until then: the better stays.
    fn decide(&mut self, before: usize) {
        let (more, fewer) = (self.at.min(before), self.at.max(before));
        let rate = |at: usize| self.numbers[at].rate().unwrap_or(0.0);
        let best = if rate(more) > rate(fewer) * WORTH { more } else { fewer };
        self.interval = if best == before { (self.interval * 2).min(LATEST) } else { SOONEST.max(self.interval / 2) };
        self.at = best;
        self.since_trial = Duration::ZERO;
    }

    /// Goes to a neighbouring number for a window: in turns to more and to fewer threads, as there are such.
    fn try_other(&mut self) {
        let last = self.numbers.len() - 1;
        let more = match self.at {
            0 => false,
            at if at == last => true,
            _ => self.more_next,
        };
        self.more_next = !more;
        self.tried_from = Some(self.at);
        self.at = if more { self.at - 1 } else { self.at + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs rounds for some time, each of 100 events; a machine says how long one takes by threads and by the time.
    /// Returns the time that passed with each number of threads, and how many events there were.
    fn run(most: u32, until: Duration, round: impl Fn(u32, Duration) -> Duration) -> (Vec<(u32, Duration)>, u64) {
        let mut active = ActiveThreads::new(most);
        let mut spent: Vec<(u32, Duration)> = active.numbers.iter().map(|n| (n.threads, Duration::ZERO)).collect();
        let (mut now, mut events) = (Duration::ZERO, 0);
        while now < until {
            let threads = active.now();
            let took = round(threads, now);
            active.tell(100, took);
            spent.iter_mut().find(|(n, _)| *n == threads).unwrap().1 += took;
            now += took;
            events += 100;
        }
        (spent, events)
    }

    const SECOND: Duration = Duration::from_secs(1);
    const ALONE: Duration = Duration::from_micros(10);

    #[test]
    fn threads_that_pay_run_nearly_all_the_time() {
        let (spent, _) = run(2, 10 * SECOND, |threads, _| ALONE / threads);
        assert!(spent[0].1 > 9_800 * SECOND / 1_000, "{spent:?}");
        let (spent, _) = run(8, 10 * SECOND, |threads, _| ALONE / threads);
        assert!(spent[0].1 > 9_800 * SECOND / 1_000, "{spent:?}");
    }

    #[test]
    fn threads_that_wait_for_a_busy_machine_give_way_to_one() {
        // A round of two waits a time slice for the thread that does not run.
        let (spent, events) = run(2, 10 * SECOND, |threads, _| if threads == 2 { 400 * ALONE } else { ALONE });
        assert!(spent[1].1 > 9_600 * SECOND / 1_000, "{spent:?}");
        assert!(events as f64 > 0.96 * 1e6 * 100.0, "{events} events of 100,000,000");
    }

    #[test]
    fn the_choice_follows_the_machine() {
        // Busy from second 2 to second 6.
        let busy = |now: Duration| now > 2 * SECOND && now < 6 * SECOND;
        let (spent, events) = run(2, 10 * SECOND, |threads, now| match threads {
            2 if busy(now) => 100 * ALONE,
            threads => ALONE / threads,
        });
        assert!((3_800..5_200).contains(&spent[1].1.as_millis()), "{spent:?}");
        // Six seconds at twice the rate, and four at the rate of one.
        assert!(events as f64 > 0.9 * 16e5 * 100.0, "{events}");
    }

    #[test]
    fn of_eight_threads_as_many_run_as_there_are_processors() {
        for (processors, expected) in [(4, 4), (2, 2), (1, 1)] {
            let (spent, _) =
                run(8, 10 * SECOND, |threads, _| if threads > processors { 50 * ALONE } else { ALONE / threads });
            let most = spent.iter().max_by_key(|(_, time)| *time).unwrap();
            assert!(most.0 == expected && most.1 > 9 * SECOND, "{processors} processors: {spent:?}");
        }
    }

    #[test]
    fn luck_in_a_time_slice_counts_little() {
        // Others run in one slice of 3 ms of two: then one thread goes on at half its rate, and two wait for each
        // other. In the slices without others two are nearly twice as fast, but only every second slice is one.
        let is_busy =
            |now: Duration| (now.as_micros() / 3_000).wrapping_mul(0x9e37_79b9).wrapping_mul(0x85eb) >> 13 & 1 == 0;
        let round = |threads: u32, now: Duration| match (threads, is_busy(now)) {
            (1, true) => 2 * ALONE,
            (1, false) => ALONE,
            (_, true) => 100 * ALONE,
            (_, false) => ALONE * 6 / 10,
        };
        let (_, chosen) = run(2, 10 * SECOND, round);
        let (_, one) = run(1, 10 * SECOND, |_, now| round(1, now));
        assert!(chosen as f64 > one as f64 / 1.1, "{chosen} events, {one} with one thread");
    }

    #[test]
    fn one_thread_is_no_choice() {
        let (spent, _) = run(1, SECOND, |_, _| ALONE);
        assert_eq!(spent.len(), 1);
    }
}
