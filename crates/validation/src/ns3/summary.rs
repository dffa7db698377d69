//! What is kept of a run, and how two runs agree.

use serde::{Deserialize, Serialize};

/// Upper bounds of the classes of sizes, in bytes of payload.
const CLASSES: [(&str, u64); 3] =
    [("below 100 KB", 99_999), ("100 KB to 10 MB", 10_000_000), ("above 10 MB", u64::MAX)];

/// Up to this number of completion times all are kept. If there are more, this number of quantiles is kept.
const MOST_KEPT: usize = 200;

/// What a run counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Data packets that were dropped.
    pub drops: u64,
    /// ACKs that were dropped.
    pub ack_drops: u64,
    /// Marks of data packets: one that several switches mark counts several times.
    pub marks: u64,
    /// ACKs that were marked.
    pub ack_marks: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Data packets that were sent again.
    pub retransmissions: u64,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// CPU time from the start of the first flow to the end of the last one.
    pub cpu_seconds: f64,
}

/// Completion times of the flows of one class of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Flows of it.
    pub flows: usize,
    /// Mean of their completion times.
    pub mean_us: f64,
    /// 99th percentile, nearest rank.
    pub p99_us: f64,
}

/// What is kept of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Flows that did not finish.
    pub unfinished: usize,
    /// The classes of sizes that have flows.
    pub classes: Vec<Class>,
    /// Completion times in ns, ascending: all of them, or their quantiles in the middle of equal steps.
    pub fct_ns: Vec<u64>,
    /// The counts.
    #[serde(flatten)]
    pub counts: Counts,
}

impl Summary {
    /// A summary of flows, each given by its bytes and its completion time in ps, which is unknown if it did not
    /// finish.
    pub fn of(flows: &[(u64, Option<u64>)], counts: Counts) -> Summary {
        let mut lower = 0;
        let classes = CLASSES.iter().filter_map(|&(name, upper)| {
            let members = flows.iter().filter(|(size, _)| (lower..=upper).contains(size));
            let mut times: Vec<u64> = members.filter_map(|&(_, fct)| fct).collect();
            lower = upper.saturating_add(1);
            times.sort_unstable();
            let last = times.len().checked_sub(1)?;
            let mean = times.iter().map(|&ps| ps as f64).sum::<f64>() / times.len() as f64;
            let p99 = times[((times.len() * 99).div_ceil(100) - 1).min(last)];
            Some(Class { name: name.to_owned(), flows: times.len(), mean_us: us(mean), p99_us: us(p99 as f64) })
        });
        let classes = classes.collect();
        // In ns: ns-3 puts a picosecond between an application's send and the first packet.
        let mut times: Vec<u64> = flows.iter().filter_map(|&(_, fct)| fct.map(|ps| (ps + 500) / 1000)).collect();
        times.sort_unstable();
        Summary { unfinished: flows.len() - times.len(), classes, fct_ns: quantiles(&times), counts }
    }

    /// How this run, tailcut's, agrees with `peer`, ns-3's.
    pub fn against(&self, peer: &Summary) -> Agreement {
        let classes = self.classes.iter().filter_map(|own| {
            let other = peer.classes.iter().find(|other| other.name == own.name)?;
            let over = |own: f64, other: f64| own / other - 1.0;
            Some((own.flows, over(own.mean_us, other.mean_us), over(own.p99_us, other.p99_us)))
        });
        Agreement {
            classes: classes.collect(),
            distance: kolmogorov_smirnov(&self.fct_ns, &peer.fct_ns),
            cpu_ratio: peer.counts.cpu_seconds / self.counts.cpu_seconds,
        }
    }
}

/// How two runs agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Of each class: its flows, and by how much of ns-3's value the mean and the 99th percentile are larger.
    pub classes: Vec<(usize, f64, f64)>,
    /// Largest distance of the distribution functions of the completion times.
    pub distance: f64,
    /// CPU time of ns-3 over ours.
    pub cpu_ratio: f64,
}

fn us(ps: f64) -> f64 {
    // Whole nanoseconds, as the times beside them: more would be noise in a file.
    (ps / 1e3).round() / 1e3
}

fn quantiles(sorted: &[u64]) -> Vec<u64> {
    if sorted.len() <= MOST_KEPT {
        return sorted.to_vec();
    }
    (0..MOST_KEPT).map(|step| sorted[(2 * step + 1) * sorted.len() / (2 * MOST_KEPT)]).collect()
}

/// Largest distance between the distribution functions of two sorted samples.
fn kolmogorov_smirnov(a: &[u64], b: &[u64]) -> f64 {
    let share = |sorted: &[u64], at: u64| sorted.partition_point(|&x| x <= at) as f64 / sorted.len().max(1) as f64;
    a.iter().chain(b).map(|&at| (share(a, at) - share(b, at)).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_summarised_by_size() {
        let flows: Vec<(u64, Option<u64>)> = (1..=100).map(|n| (n * 2_000, Some(n * 1_000_000))).collect();
        let summary = Summary::of(&flows, Counts::default());
        let shown: Vec<_> = summary.classes.iter().map(|c| (c.flows, c.mean_us, c.p99_us)).collect();
        assert_eq!(shown, [(49, 25.0, 49.0), (51, 75.0, 100.0)]);
        assert_eq!((summary.unfinished, summary.fct_ns.len()), (0, 100));
        let censored = Summary::of(&[(5, None), (6, Some(7_400))], Counts::default());
        assert_eq!((censored.unfinished, censored.fct_ns), (1, vec![7]));
    }

    #[test]
    fn distance_of_distributions() {
        assert_eq!(kolmogorov_smirnov(&[1, 2, 3], &[1, 2, 3]), 0.0);
        assert_eq!(kolmogorov_smirnov(&[1, 2], &[3, 4]), 1.0);
        assert_eq!(kolmogorov_smirnov(&[1, 2, 3, 4], &[3, 4, 5, 6]), 0.5);
        let many: Vec<u64> = (0..1000).collect();
        assert!(kolmogorov_smirnov(&many, &quantiles(&many)) <= 0.5 / MOST_KEPT as f64 + 1e-9);
    }
}
