//! How a run divides the cores: between simulations side by side and threads within each of them.
//!
//! Simulations side by side cost nothing extra, while the threads of one have to wait for each other. A simulation
//! therefore gets several threads only if there are fewer points than cores that others leave idle, and if it is large
//! enough. The division is made once: it does not change when the last points of a run leave cores idle. When others
//! take the cores later, the simulation itself goes on with fewer threads.

use std::time::Duration;

use crate::size::Size;

/// Packet-hops of each thread between two meetings from which on threads gain more than they wait for each other.
/// Measured: see docs/performance.md.
const PACKET_HOPS_TO_MEET: f64 = 150.0;

/// Expected packet-hops from which on threads are worth their start: about half a second of one core.
const PACKET_HOPS_FOR_THREADS: f64 = 5e6;

/// How many simulations and threads the user wants at a time; `None` leaves it to the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parallelism {
    /// Simulations at a time.
    pub jobs: Option<usize>,
    /// Threads in each simulation.
    pub threads: Option<usize>,
}

/// How the cores are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CoreDivision {
    /// Simulations at a time.
    pub(crate) jobs: usize,
    /// Threads in a simulation that gains from them.
    threads: usize,
    /// Whether every simulation gets that many, because the user wants so.
    always: bool,
}

impl CoreDivision {
    /// Divides `cores` between `points` that are to be run. A number of jobs without one of threads also limits the
    /// cores to that number, so that the others stay free.
    pub(crate) fn new(points: usize, cores: usize, wanted: Parallelism) -> CoreDivision {
        let (points, cores) = (points.max(1), cores.max(1));
        match (wanted.jobs, wanted.threads) {
            (jobs, Some(threads)) => {
                let threads = threads.max(1);
                let jobs = jobs.unwrap_or(cores / threads).clamp(1, points);
                CoreDivision { jobs, threads, always: true }
            }
            (jobs, None) => {
                let side_by_side = jobs.unwrap_or(cores).clamp(1, points);
                let cores = jobs.unwrap_or(cores).min(cores);
                CoreDivision { jobs: side_by_side, threads: (cores / side_by_side).max(1), always: false }
            }
        }
    }

    /// Threads for a simulation of this size.
    pub(crate) fn threads(self, size: Size) -> usize {
        if self.always {
            return self.threads;
        }
        let threads = self.threads.min(size.parts as usize);
        let is_worth_it = size.packet_hops >= PACKET_HOPS_FOR_THREADS
            && size.packet_hops_per_round >= PACKET_HOPS_TO_MEET * threads as f64;
        if is_worth_it { threads.max(1) } else { 1 }
    }
}

/// Processors that this process may use and that nobody else uses now; at least one.
pub(crate) fn idle_processors() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if processors == 1 {
        return 1;
    }
    // What runs for a moment only does not count: the least of some looks does.
    let others = (0..5).map(|look| {
        if look > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::fs::read_to_string("/proc/loadavg").ok().and_then(|text| running(&text)).unwrap_or(1).saturating_sub(1)
    });
    processors.saturating_sub(others.min().unwrap_or(0)).max(1)
}

/// Threads that run now on the whole machine, the one that asks among them, as Linux tells them.
fn running(loadavg: &str) -> Option<usize> {
    loadavg.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: Size = Size { hosts: 1024, parts: 64, packet_hops: 1e9, packet_hops_per_round: 1e5, bytes: 1e8 };

    /// Jobs, and threads of a large simulation.
    fn share(points: usize, cores: usize, jobs: Option<usize>, threads: Option<usize>) -> (usize, usize) {
        let share = CoreDivision::new(points, cores, Parallelism { jobs, threads });
        (share.jobs, share.threads(LARGE))
    }

    #[test]
    fn points_go_before_threads() {
        for (points, cores, expected) in [
            (100, 8, (8, 1)),
            (8, 8, (8, 1)),
            (7, 8, (7, 1)),
            (4, 8, (4, 2)),
            (3, 8, (3, 2)),
            (1, 8, (1, 8)),
            (1, 1, (1, 1)),
            (0, 8, (1, 8)),
            (5, 0, (1, 1)),
        ] {
            assert_eq!(share(points, cores, None, None), expected, "{points} points on {cores} cores");
        }
    }

    #[test]
    fn no_more_threads_than_parts() {
        let division = CoreDivision::new(1, 8, Parallelism::default());
        assert_eq!(division.threads(Size { parts: 3, ..LARGE }), 3);
    }

    #[test]
    fn what_the_system_says_of_running_threads() {
        assert_eq!(running("0.52 0.58 0.59 3/597 31979\n"), Some(3));
        for other in ["", "0.5 0.5 0.5", "0.5 0.5 0.5 x/2 1"] {
            assert_eq!(running(other), None, "{other}");
        }
        assert!(idle_processors() >= 1);
    }

    #[test]
    fn what_is_asked_for_wins() {
        // The user's threads leave fewer cores for simulations side by side, but always one.
        assert_eq!(share(100, 8, None, Some(2)), (4, 2));
        assert_eq!(share(100, 8, None, Some(3)), (2, 3));
        assert_eq!(share(100, 8, None, Some(16)), (1, 16));
        assert_eq!(share(100, 8, Some(6), Some(4)), (6, 4));
        assert_eq!(share(2, 8, Some(6), Some(4)), (2, 4));
        // If the user gives a number of jobs but not of threads, that many cores are used in all.
        assert_eq!(share(100, 8, Some(3), None), (3, 1));
        assert_eq!(share(1, 8, Some(1), None), (1, 1));
        assert_eq!(share(1, 8, Some(4), None), (1, 4));
        assert_eq!(share(100, 8, Some(32), None), (32, 1));
        assert_eq!(share(2, 8, Some(32), None), (2, 4));
    }

    #[test]
    fn small_simulations_have_one_thread_unless_the_user_wants_more() {
        let small = [
            Size { parts: 1, ..LARGE },
            Size { packet_hops: 1e5, ..LARGE },
            Size { packet_hops_per_round: 7.9 * PACKET_HOPS_TO_MEET, ..LARGE },
        ];
        for size in small {
            assert_eq!(CoreDivision::new(1, 8, Parallelism::default()).threads(size), 1, "{size:?}");
            assert_eq!(
                CoreDivision::new(1, 8, Parallelism { jobs: None, threads: Some(4) }).threads(size),
                4,
                "{size:?}"
            );
        }
    }
}
