//! Times between events: exponential, or lognormal with many short ones (microbursts).

use tailcut_base::{Instant, Span, Stream};

/// Gap that 30 % of the gaps of a microburst process do not exceed (Rezaei, PhD thesis, University of Illinois at
/// Chicago, 2021, section 3.3.1: the only numbers that it states of the measured arrivals).
const SHORT_GAP: Span = Span::from_us(50);

/// -z for which the standard normal distribution function is 0.30.
const Z: f64 = 0.524_400_512_708_040_9;

/// How the times between events are distributed. In picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Gap {
    Exponential {
        mean: f64,
    },
    /// exp(mu + sigma z) with z standard normal.
    Lognormal {
        mu: f64,
        sigma: f64,
    },
}

impl Gap {
    /// Exponential gaps of an event rate per second.
    pub(crate) fn poisson(per_second: f64) -> Gap {
        Gap::Exponential { mean: picoseconds(per_second) }
    }

    /// Lognormal gaps, 30 % of them at most 50 us; `None` where the mean gap is shorter than that.
    pub(crate) fn microburst(per_second: f64) -> Option<Gap> {
        let mean = picoseconds(per_second);
        let ratio = mean / SHORT_GAP.as_ps() as f64;
        if ratio < 1.0 {
            return None;
        }
        // P(gap <= s) = 0.30 means ln s = mu - Z sigma, and the mean m means ln m = mu + sigma^2 / 2; their difference
        // is a quadratic equation for sigma.
        let sigma = (Z * Z + 2.0 * libm::log(ratio)).sqrt() - Z;
        Some(Gap::Lognormal { mu: libm::log(mean) - sigma * sigma / 2.0, sigma })
    }

    /// A gap in picoseconds.
    pub(crate) fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Gap::Exponential { mean } => stream.exponential(*mean),
            Gap::Lognormal { mu, sigma } => libm::exp(mu + sigma * stream.normal()),
        }
    }

    /// Time to the first event in picoseconds, for a process that has run forever. Started with a whole gap instead,
    /// the many short gaps of a microburst process would offer far more in the first milliseconds than its rate.
    pub(crate) fn draw_first(&self, stream: &mut Stream) -> f64 {
        match self {
            Gap::Exponential { mean } => stream.exponential(*mean),
            // The gap that lies across a fixed moment is drawn in proportion to its length, which adds sigma^2 to mu;
            // the moment is uniform in it.
            Gap::Lognormal { mu, sigma } => stream.unit() * libm::exp(mu + sigma * sigma + sigma * stream.normal()),
        }
    }
}

fn picoseconds(per_second: f64) -> f64 {
    1e12 / per_second
}

/// The moment `gap` picoseconds after `at`, rounded; `None` beyond the end of time.
pub(crate) fn after(at: Instant, gap: f64) -> Option<Instant> {
    // `as` saturates.
    at.as_ps().checked_add(libm::round(gap) as u64).map(Instant::from_ps).filter(|&at| at < Instant::MAX)
}

#[cfg(test)]
mod tests {
    use tailcut_base::Seeds;

    use super::*;

    fn mean_and_short(gap: &Gap, n: u32) -> (f64, f64) {
        let mut stream = Seeds::new(11).stream("gaps", 0);
        let (mut sum, mut short) = (0.0, 0);
        for _ in 0..n {
            let gap = gap.draw(&mut stream);
            sum += gap;
            short += u32::from(gap <= SHORT_GAP.as_ps() as f64);
        }
        (sum / f64::from(n), f64::from(short) / f64::from(n))
    }

    #[test]
    fn microburst_gaps_have_their_mean_and_thirty_percent_of_short_ones() {
        for (per_second, tolerance) in [(10_000.0, 0.02), (1_000.0, 0.1)] {
            let gap = Gap::microburst(per_second).unwrap();
            let (mean, short) = mean_and_short(&gap, 400_000);
            assert!((short - 0.30).abs() < 0.003, "{per_second}: {short}");
            assert!((mean * per_second / 1e12 - 1.0).abs() < tolerance, "{per_second}: {mean}");
        }
        // sigma for a mean gap of 1 ms, from the closed form.
        let Some(Gap::Lognormal { sigma, .. }) = Gap::microburst(1_000.0) else { panic!("a lognormal exists at 1 ms") };
        assert!((sigma - 1.979).abs() < 1e-3, "{sigma}");
    }

    #[test]
    fn there_is_no_microburst_below_its_short_gap() {
        assert_eq!(Gap::microburst(20_001.0), None);
        let Some(Gap::Lognormal { sigma, .. }) = Gap::microburst(20_000.0) else {
            panic!("a lognormal exists at 50 us")
        };
        assert!(sigma.abs() < 1e-12);
    }

    #[test]
    fn poisson_gaps_have_their_mean() {
        let (mean, short) = mean_and_short(&Gap::poisson(10_000.0), 400_000);
        assert!((mean / 1e8 - 1.0).abs() < 0.01, "{mean}");
        assert!((short - 0.3935).abs() < 0.005, "{short}");
    }

    /// The number of events in a short time has the mean rate x time from the start on.
    #[test]
    fn a_process_does_not_start_with_a_burst() {
        let gap = Gap::microburst(1_000.0).unwrap();
        let mut stream = Seeds::new(5).stream("gaps", 0);
        let (end, runs, mut events) = (2e9, 20_000, 0u32);
        for _ in 0..runs {
            let mut at = gap.draw_first(&mut stream);
            while at < end {
                events += 1;
                at += gap.draw(&mut stream);
            }
        }
        let mean = f64::from(events) / f64::from(runs);
        // 2 ms at 1000/s; the standard error is 0.04. Starting with a whole gap gives about 4.
        assert!((mean - 2.0).abs() < 0.15, "{mean}");
    }

    #[test]
    fn time_has_an_end() {
        assert_eq!(after(Instant::from_ps(5), 2.6), Some(Instant::from_ps(8)));
        assert_eq!(after(Instant::from_ps(5), 1e30), None);
        assert_eq!(after(Instant::from_ps(u64::MAX - 3), 3.0), None);
    }
}
