//! A multi-level feedback queue with Poisson arrivals: the mean time in the system, exactly.
//!
//! Kleinrock, Queueing Systems, volume 2 (1976), section 4.7: a flow of size x in level i, between the thresholds
//! a_{i-1} and a_i, whose levels are first come, first served, and are preempted by all higher ones, takes
//!
//! T(x) = (W_i + x) / (1 - rho(a_{i-1})),
//! W_i = lambda E[min(X, a_i)^2] / (2 (1 - rho(a_i))),
//! rho(a) = lambda E[min(X, a)],
//!
//! with sizes in units of service time. The mean over all flows is a sum over levels of two integrals against dF, which
//! have closed forms for a piecewise-linear F. With one level it is the formula of Pollaczek and Khinchine.
//!
//! A switch is not this queue: flows share a network, packets are not preempted, and senders do not have all bytes
//! there at once.

use tailcut_workload::Distribution;

/// The queue under a load, for flows of these sizes.
pub(super) struct FeedbackQueue<'a> {
    pub(super) sizes: &'a Distribution,
    /// Flows per unit of time in which one byte is served.
    lambda: f64,
}

/// What the formula needs to know of a threshold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// The threshold in bytes.
    pub(super) at: f64,
    /// Fraction of the flows that have at most so many bytes.
    flows: f64,
    /// What those flows have in bytes, over the number of all flows.
    bytes: f64,
    /// Load of the levels up to the threshold.
    load: f64,
    /// Mean squared size, larger flows counted as of the size of the threshold.
    square: f64,
}

impl FeedbackQueue<'_> {
    /// A load of the server from 0 to below 1.
    pub(super) fn new(sizes: &Distribution, load: f64) -> FeedbackQueue<'_> {
        assert!(load > 0.0 && load < 1.0, "a queue with a load of {load} has no mean time");
        FeedbackQueue { sizes, lambda: load / sizes.mean() }
    }

    /// The threshold at `at` bytes.
    pub(super) fn cut(&self, at: f64) -> Cut {
        if at >= self.sizes.max() {
            return self.end();
        }
        let (flows, mean) = (self.sizes.cdf(at), self.sizes.mean_up_to(at));
        Cut {
            at,
            flows,
            bytes: mean - at * (1.0 - flows),
            load: self.lambda * mean,
            square: self.sizes.second_moment_up_to(at),
        }
    }

    /// The upper end of the last level.
    pub(super) fn end(&self) -> Cut {
        let mean = self.sizes.mean();
        Cut {
            at: self.sizes.max(),
            flows: 1.0,
            bytes: mean,
            load: self.lambda * mean,
            square: self.sizes.second_moment(),
        }
    }

    /// The lower end of the first level.
    pub(super) fn start(&self) -> Cut {
        Cut { at: 0.0, flows: 0.0, bytes: 0.0, load: 0.0, square: 0.0 }
    }

    /// What the flows that end in the level between two thresholds add to the mean time, in units of the mean service
    /// time.
    pub(super) fn level(&self, above: &Cut, below: &Cut) -> f64 {
        let wait = self.lambda * below.square / (2.0 * (1.0 - below.load));
        let time = (below.flows - above.flows) * wait + (below.bytes - above.bytes);
        time / (1.0 - above.load) / self.sizes.mean()
    }

    /// Mean time in the system over mean service time, with these thresholds in bytes, ascending.
    pub(super) fn mean_time(&self, thresholds: &[f64]) -> f64 {
        let cuts = thresholds.iter().map(|&at| self.cut(at)).chain([self.end()]);
        cuts.fold((self.start(), 0.0), |(above, sum), below| (below, sum + self.level(&above, &below))).1
    }
}
