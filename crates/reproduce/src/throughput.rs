//! Throughput over time, and when it has reached its fair share.

use std::collections::BTreeMap;

use serde::Deserialize;
use tailcut_record::ThroughputFile;

/// Pairs of the beginning of a bin in µs and the throughput in it in Gb/s, ascending.
pub(crate) type Bins = Vec<(f64, f64)>;

/// The throughput of a class, empty bins included.
///
/// # Errors
/// If there is no such class, or nothing arrived.
pub(crate) fn bins_of(file: &ThroughputFile, class: &str) -> Result<Bins, String> {
    let at =
        file.classes.iter().position(|known| known == class).ok_or_else(|| format!("there is no class {class}"))?;
    let width = file.width.as_ps();
    let last = file.bins.iter().map(|bin| bin.from.as_ps()).max().ok_or("no bytes arrived")?;
    let mut bytes: BTreeMap<u64, u64> = (0..=last / width).map(|bin| (bin * width, 0)).collect();
    for bin in file.bins.iter().filter(|bin| usize::from(bin.class) == at) {
        *bytes.entry(bin.from.as_ps()).or_default() += bin.bytes;
    }
    // A byte in a picosecond is 8000 Gb/s.
    Ok(bytes.into_iter().map(|(start, bytes)| (start as f64 / 1e6, 8000.0 * bytes as f64 / width as f64)).collect())
}

/// The mean over several seeds in each bin. A seed whose last bin is earlier counts as zero after it.
pub(crate) fn mean(seeds: &[(u64, Bins)]) -> Bins {
    let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for (_, bins) in seeds {
        for &(time, rate) in bins {
            sums.entry((time * 1e3) as u64).or_insert((time, 0.0)).1 += rate / seeds.len() as f64;
        }
    }
    sums.into_values().collect()
}

/// When a throughput has reached its fair share: at the first of `bins` in a row that lie within `within` of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convergence {
    /// The fair share in Gb/s.
    pub share_gbps: f64,
    /// Relative distance from it that counts as reached.
    pub within: f64,
    /// Bins in a row for which it must hold.
    pub bins: usize,
    /// When the flows that compete begin, in µs after the start.
    pub from_us: f64,
}

impl Convergence {
    /// Time in µs from the start of the competition to the end of the first bin with which the throughput has reached
    /// its share and stays there; `None` if it never does.
    pub(crate) fn time(&self, bins: &[(f64, f64)]) -> Option<f64> {
        let near = |rate: f64| (rate - self.share_gbps).abs() <= self.within * self.share_gbps;
        let width = bins.get(1)?.0 - bins[0].0;
        let after: Vec<&(f64, f64)> = bins.iter().filter(|bin| bin.0 >= self.from_us - 1e-6).collect();
        let first = after.windows(self.bins).find(|window| window.iter().all(|bin| near(bin.1)))?[0];
        Some(first.0 + width - self.from_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convergence_is_the_end_of_the_first_bin_that_stays_within_the_share() {
        let convergence = Convergence { share_gbps: 0.5, within: 0.1, bins: 3, from_us: 100.0 };
        let rates = [10.0, 0.5, 0.5, 5.0, 0.52, 2.0, 0.46, 0.5, 0.54, 3.0];
        let bins: Vec<(f64, f64)> = (0..).map(|at| f64::from(at) * 50.0).zip(rates).collect();
        // Bins before 100 us do not count, nor 0.52 by itself; the bin at 300 us is the first of three.
        assert_eq!(convergence.time(&bins), Some(250.0));
        assert_eq!(convergence.time(&bins[..8]), None);
    }

    #[test]
    fn the_mean_over_seeds_is_that_of_each_bin() {
        let seeds = [(1, vec![(0.0, 4.0), (1.2, 8.0)]), (2, vec![(0.0, 2.0)])];
        assert_eq!(mean(&seeds), [(0.0, 3.0), (1.2, 4.0)]);
    }
}
