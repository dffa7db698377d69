//! A queue whose distribution is known, to test statistics with samples that depend on each other as those of a network
//! do.

use tailcut_base::Stream;

/// The queue M/M/1 with a mean service time of 1.
#[derive(Clone, Copy)]
pub(crate) struct MM1 {
    /// Its load; below 1.
    pub(crate) load: f64,
}

impl MM1 {
    /// Sojourn times of `n` customers in steady state, sorted: those of customers that follow each other are alike.
    pub(crate) fn sojourns(self, n: usize, stream: &mut Stream) -> Vec<f64> {
        // In steady state they are exponential with this mean (Kleinrock, Queueing Systems I, section 5.12).
        let mut sojourn = stream.exponential(self.mean());
        let mut times = Vec::with_capacity(n);
        for _ in 0..n {
            times.push(sojourn);
            // Lindley: the wait is what is left of the sojourn before, when the next customer arrives.
            sojourn = (sojourn - stream.exponential(1.0 / self.load)).max(0.0) + stream.exponential(1.0);
        }
        times.sort_unstable_by(f64::total_cmp);
        times
    }

    /// Sojourn times of the same `n` customers, sorted, in this queue and in one in which each of them is served
    /// `slower` times as long. Both begin in steady state.
    pub(crate) fn sojourns_of_two(self, slower: f64, n: usize, stream: &mut Stream) -> [Vec<f64>; 2] {
        let scales = [1.0, slower];
        let first = stream.exponential(1.0);
        let mut sojourns = scales.map(|scale| first * scale / (1.0 - scale * self.load));
        let mut times = [Vec::with_capacity(n), Vec::with_capacity(n)];
        for _ in 0..n {
            for (times, sojourn) in times.iter_mut().zip(sojourns) {
                times.push(sojourn);
            }
            let (gap, service) = (stream.exponential(1.0 / self.load), stream.exponential(1.0));
            for (sojourn, scale) in sojourns.iter_mut().zip(scales) {
                *sojourn = (*sojourn - gap).max(0.0) + scale * service;
            }
        }
        times.iter_mut().for_each(|times| times.sort_unstable_by(f64::total_cmp));
        times
    }

    /// The true mean of the sojourn time.
    pub(crate) fn mean(self) -> f64 {
        1.0 / (1.0 - self.load)
    }

    /// The true quantile of the sojourn time.
    pub(crate) fn quantile(self, permille: u32) -> f64 {
        -self.mean() * (1.0 - f64::from(permille) / 1000.0).ln()
    }
}
