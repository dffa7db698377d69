//! CPU time of simulations that may run side by side, each on one thread or several.
//!
//! The system tells the CPU time of a thread to that thread alone, and that of the whole process to everyone. A
//! simulation on one thread so reads the clock of its thread. One on several threads reads the clock of the process,
//! and if others run beside it, it counts its threads' share of what passes there: exact for a run with one simulation
//! at a time, and in sum for any other.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the calling thread in ns.
pub(crate) fn thread_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Divides the CPU time of the process between the simulations that run at a time.
#[derive(Default)]
pub(crate) struct CpuClock(Mutex<Shares>);

/// How the CPU time of the process was shared out so far. The time that is counted here begins anywhere: only
/// differences between two readings mean something.
#[derive(Default)]
struct Shares {
    /// Clock of the process when it was last read.
    read_ns: u64,
    /// Number of threads of all simulations that are running now.
    threads: u32,
    /// CPU time in ns that a thread would have used if it had run from the beginning until `read_ns`.
    thread_ns: f64,
}

impl Shares {
    /// Counts what passed until the clock of the process reads `now`.
    fn advance(&mut self, now: u64) {
        if self.threads > 0 {
            self.thread_ns += now.saturating_sub(self.read_ns) as f64 / f64::from(self.threads);
        }
        self.read_ns = now;
    }
}

/// A simulation that runs; it ends when this is dropped.
pub(crate) struct Running<'c> {
    clock: &'c CpuClock,
    threads: u32,
    /// Both clocks at its start.
    own_ns: u64,
    shared_ns: f64,
}

impl CpuClock {
    /// A simulation on `threads` threads, the calling one among them, begins.
    pub(crate) fn start(&self, threads: u32) -> Running<'_> {
        let mut shares = self.now();
        shares.threads += threads;
        Running { clock: self, threads, own_ns: thread_ns(), shared_ns: shares.thread_ns }
    }

    fn now(&self) -> MutexGuard<'_, Shares> {
        let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shares.advance(nanoseconds(ClockId::ProcessCPUTime));
        shares
    }
}

impl Running<'_> {
    /// CPU time in ns that it has used; to be asked on the thread that started it.
    pub(crate) fn used_ns(&self) -> u64 {
        match self.threads {
            1 => thread_ns() - self.own_ns,
            threads => ((self.clock.now().thread_ns - self.shared_ns) * f64::from(threads)) as u64,
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.clock.now().threads -= self.threads;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_divided_by_threads() {
        let mut shares = Shares::default();
        shares.advance(1_000);
        assert_eq!(shares.thread_ns, 0.0, "nothing ran");
        shares.threads = 2;
        shares.advance(1_600);
        assert_eq!(shares.thread_ns, 300.0);
        // A simulation with one thread begins beside it: the first, with two threads, gets two thirds of the time.
        shares.threads = 3;
        shares.advance(2_500);
        assert_eq!(shares.thread_ns, 600.0);
    }

    #[test]
    fn a_simulation_counts_all_its_threads_and_is_gone_after_it() {
        fn work() {
            let until = thread_ns() + 20_000_000;
            while thread_ns() < until {}
        }
        let clock = CpuClock::default();
        let (several, one) = (clock.start(2), clock.start(1));
        std::thread::scope(|scope| {
            scope.spawn(work);
            work();
        });
        let used = one.used_ns();
        assert!((20_000_000..40_000_000).contains(&used), "one thread of two: {used} ns");
        drop(one);
        drop(several);
        let alone = clock.start(2);
        std::thread::scope(|scope| {
            scope.spawn(work);
            work();
        });
        assert!(alone.used_ns() >= 40_000_000, "both threads: {} ns", alone.used_ns());
        drop(alone);
        assert_eq!(clock.now().threads, 0);
    }
}
