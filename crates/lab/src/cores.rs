//! How a run divides the cores: between simulations side by side and threads within each of them.
//!
//! Simulations side by side cost nothing extra, while the threads of one have to wait for each other. A simulation
//! therefore gets several threads only if there are fewer points than cores, and if it is large enough. The division is
//! made once: it does not change when the last points of a run leave cores idle.

use crate::size::Size;

/// Hosts from which on threads gain more than they wait for each other.
const HOSTS_FOR_THREADS: u32 = 64;

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
        if self.always || gains_from_threads(size) { self.threads } else { 1 }
    }
}

fn gains_from_threads(size: Size) -> bool {
    size.hosts >= HOSTS_FOR_THREADS && size.packet_hops >= PACKET_HOPS_FOR_THREADS
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: Size = Size { hosts: 1024, packet_hops: 1e9, bytes: 1e8 };

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
        let small = [Size { hosts: 16, ..LARGE }, Size { packet_hops: 1e5, ..LARGE }];
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
