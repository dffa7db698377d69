//! What the scenario records over time: the queues of switch ports and what arrives, of one seed of each design point.
//!
//! Only one seed is shown, because an average over seeds would smooth away what a course over time is for. Times are
//! divided into bins, so that a page of a long run stays small: a bin shows the longest queue in it, or the mean rate.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tailcut_base::{Instant, Span};
use tailcut_record::{QueuePoint, ThroughputFile, read_ports, read_queue_series, read_throughput};
use tailcut_results::{Analysis, RunInfo};

/// Bins of a course over time.
const BINS: usize = 360;
/// Ports that are shown one by one at a place: those with the longest queues.
const PORTS: usize = 6;

/// The queues over time of one simulation.
pub(crate) struct QueueTraces {
    /// Length of a bin in µs.
    pub(crate) bin_us: f64,
    /// The bins in which samples are known; the others are not shown.
    pub(crate) known: Range<usize>,
    /// Of each bin the longest queue in KB of any port, and that of all ports together.
    pub(crate) longest: Vec<f64>,
    pub(crate) sum: Vec<f64>,
    /// The ports with the longest queues, by name, and of each bin its longest queue in KB.
    pub(crate) ports: BTreeMap<String, Vec<f64>>,
}

impl QueueTraces {
    /// The values of a trace in the bins that are known, with the number of the bin.
    pub(crate) fn shown<'a>(&self, trace: &'a [f64]) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let known = self.known.clone();
        trace.iter().copied().enumerate().filter(move |(at, _)| known.contains(at))
    }
}

/// What arrives over time in one simulation.
pub(crate) struct ArrivalTraces {
    /// Length of a bin in µs.
    pub(crate) bin_us: f64,
    /// The mean rate in Gb/s in each bin, for each traffic class of the run.
    pub(crate) classes: Vec<Vec<f64>>,
    /// The same of all classes.
    pub(crate) all: Vec<f64>,
}

/// What was recorded over time at a design point.
pub(crate) struct RecordedPoint {
    /// Index of the scheme.
    pub(crate) scheme: usize,
    /// Index of the value on each axis.
    pub(crate) values: Vec<usize>,
    /// The seed that is shown.
    pub(crate) seed: u64,
    /// When the simulation ended, in µs.
    pub(crate) end_us: f64,
    /// Start and end of the measurement window in µs, if it is known.
    pub(crate) window_us: Option<(f64, f64)>,
    pub(crate) queues: Option<QueueTraces>,
    pub(crate) arrivals: Option<ArrivalTraces>,
}

/// Reads what was recorded over time in the run folder `dir`: of the first finished seed of each design point. A file
/// that cannot be read is left out, as one that is not there; the point has its other results.
pub(crate) fn read(dir: &Path, run: &RunInfo, analysis: &Analysis) -> Vec<RecordedPoint> {
    let mut found = Vec::new();
    for design_point in &analysis.design_points {
        let values: Vec<String> =
            design_point.values.iter().zip(&run.axes).map(|(&at, axis)| axis.values[at].clone()).collect();
        let scheme = &run.schemes[design_point.scheme];
        let cost = analysis.costs.iter().find(|cost| cost.scheme == *scheme && cost.values == values);
        let Some(cost) = cost else { continue };
        let of_cost =
            |key: &&tailcut_results::Point| key.scheme == *scheme && key.values == values && key.seed == cost.seed;
        let Some(point) = run.points.iter().find(of_cost) else { continue };
        let file = |name: &str| point.file_in(dir, name);
        let end = instant(cost.simulated_ns);
        let sampled = cost.measured.map(|measured| instant(measured.last_sample_ns(cost.simulated_ns)));
        let queues = queues_of(file, end, sampled);
        let arrivals = arrivals_of(file, end, run);
        if queues.is_some() || arrivals.is_some() {
            found.push(RecordedPoint {
                scheme: design_point.scheme,
                values: design_point.values.clone(),
                seed: cost.seed,
                end_us: cost.simulated_ns / 1e3,
                window_us: cost.measured.map(|measured| (measured.from_ns / 1e3, measured.until_ns / 1e3)),
                queues,
                arrivals,
            });
        }
    }
    found
}

fn instant(ns: f64) -> Instant {
    Instant::from_ps((ns * 1e3).round() as u64)
}

/// Length of the bins of something that ends at `end`.
fn bin_of(end: Instant) -> u64 {
    end.as_ps().div_ceil(BINS as u64).max(1)
}

fn queues_of(file: impl Fn(&str) -> Option<PathBuf>, end: Instant, sampled: Option<Instant>) -> Option<QueueTraces> {
    let points = read_queue_series(&file("queue_series.parquet")?).ok()?;
    // The samples of an empty network are an empty file; its ports are not known, and nothing is drawn.
    let ports = read_ports(&file("ports.parquet")?).ok()?;
    let name = |port: u32| {
        let row = ports.iter().find(|row| row.port == port);
        row.map_or_else(|| format!("port {port}"), |row| format!("{}->{}", row.owner, row.peer))
    };
    Some(queue_traces(&points, end, sampled, name))
}

/// The traces of changes of queues, which are in the order of time. They were sampled from the start of the run to the
/// last sample; where that is not known, from the first change to the last one.
fn queue_traces(
    points: &[QueuePoint],
    end: Instant,
    sampled: Option<Instant>,
    name: impl Fn(u32) -> String,
) -> QueueTraces {
    let end = points.last().map_or(end, |last| end.max(last.at));
    let bin = bin_of(end);
    let bin_at = |at: Instant| ((at.as_ps() / bin) as usize).min(BINS - 1);
    let known = match (sampled, points) {
        (Some(last), _) => 0..bin_at(last) + 1,
        (None, [first, .., last]) => bin_at(first.at)..bin_at(last.at) + 1,
        (None, [only]) => bin_at(only.at)..bin_at(only.at) + 1,
        (None, []) => 0..0,
    };
    let mut peaks: BTreeMap<u32, u64> = BTreeMap::new();
    for point in points {
        let peak = peaks.entry(point.port).or_default();
        *peak = point.bytes.max(*peak);
    }
    let mut ports: Vec<(u32, u64)> = peaks.into_iter().collect();
    ports.sort_by_key(|&(port, peak)| (std::cmp::Reverse(peak), port));
    let shown: Vec<u32> = ports.iter().take(PORTS).map(|&(port, _)| port).collect();
    let (mut longest, mut sum) = (vec![0; BINS], vec![0; BINS]);
    let mut traces: BTreeMap<u32, Vec<u64>> = shown.iter().map(|&port| (port, vec![0; BINS])).collect();
    // The queue of every port now, how many ports have a queue of each length, and all together.
    let mut now: BTreeMap<u32, u64> = BTreeMap::new();
    let mut lengths: BTreeMap<u64, u32> = BTreeMap::new();
    let mut total: u64 = 0;
    let mut next = 0;
    for at in 0..BINS {
        // A queue that does not change is as long in the next bin.
        let mut see = |now: &BTreeMap<u32, u64>, lengths: &BTreeMap<u64, u32>, total: u64| {
            longest[at] = lengths.last_key_value().map_or(0, |last| *last.0).max(longest[at]);
            sum[at] = total.max(sum[at]);
            for (port, trace) in &mut traces {
                trace[at] = now.get(port).copied().unwrap_or(0).max(trace[at]);
            }
        };
        see(&now, &lengths, total);
        let until = Instant::from_ps(bin * (at as u64 + 1));
        while next < points.len() && (points[next].at < until || at == BINS - 1) {
            let time = points[next].at;
            // All changes of one moment belong together.
            while let Some(point) = points.get(next).filter(|point| point.at == time) {
                let before = now.insert(point.port, point.bytes).unwrap_or(0);
                total = total - before + point.bytes;
                if before > 0
                    && let Some(count) = lengths.get_mut(&before)
                {
                    *count -= 1;
                    if *count == 0 {
                        lengths.remove(&before);
                    }
                }
                if point.bytes > 0 {
                    *lengths.entry(point.bytes).or_default() += 1;
                }
                next += 1;
            }
            see(&now, &lengths, total);
        }
    }
    let in_kb = |bytes: Vec<u64>| bytes.into_iter().map(|bytes| bytes as f64 / 1e3).collect();
    QueueTraces {
        bin_us: bin as f64 / 1e6,
        known,
        longest: in_kb(longest),
        sum: in_kb(sum),
        ports: traces.into_iter().map(|(port, trace)| (name(port), in_kb(trace))).collect(),
    }
}

fn arrivals_of(file: impl Fn(&str) -> Option<PathBuf>, end: Instant, run: &RunInfo) -> Option<ArrivalTraces> {
    Some(arrival_traces(&read_throughput(&file("throughput.parquet")?).ok()?, end, &run.classes))
}

/// The rates of bins that are as wide as some of those of the file.
fn arrival_traces(file: &ThroughputFile, end: Instant, classes: &[String]) -> ArrivalTraces {
    let last = file.bins.last().map_or(Instant::ZERO, |last| last.from + file.width);
    let (end, width) = (end.max(last).as_ps(), file.width.as_ps());
    let width = width * bin_of(Instant::from_ps(end)).div_ceil(width);
    // The last bin, in which the simulation ended, is left out: it would look like a drop to nothing.
    let bins = ((end / width) as usize).max(1);
    let mut bytes = vec![vec![0u64; bins]; classes.len()];
    for bin in &file.bins {
        let name = file.classes.get(usize::from(bin.class));
        let class = classes.iter().position(|class| Some(class) == name);
        let at = (bin.from.as_ps() / width) as usize;
        if let Some(slot) = class.and_then(|class| bytes[class].get_mut(at)) {
            *slot += bin.bytes;
        }
    }
    let rate = |bytes: u64| 8e3 * bytes as f64 / width as f64;
    let all = (0..bins).map(|at| rate(bytes.iter().map(|class| class[at]).sum())).collect();
    let classes = bytes.into_iter().map(|class| class.into_iter().map(rate).collect()).collect();
    ArrivalTraces { bin_us: Span::from_ps(width).as_ns_f64() / 1e3, classes, all }
}

#[cfg(test)]
mod tests {
    use tailcut_record::ThroughputBin;

    use super::*;

    fn point(us: u64, port: u32, bytes: u64) -> QueuePoint {
        QueuePoint { at: Instant::ZERO + Span::from_us(us), port, bytes }
    }

    #[test]
    fn a_bin_shows_the_longest_queue_in_it_and_a_queue_stays_until_it_changes() {
        let end = Instant::ZERO + Span::from_us(BINS as u64);
        let points = [
            point(2, 7, 3_000),
            point(2, 9, 2_000),
            point(2, 8, 0),
            point(4, 7, 0),
            point(4, 9, 1_000),
            point(9, 9, 0),
        ];
        let traces = queue_traces(&points, end, Some(end), |port| format!("p{port}"));
        assert_eq!((traces.bin_us, traces.longest.len(), traces.known.clone()), (1.0, BINS, 0..BINS));
        assert_eq!(traces.longest[..11], [0.0, 0.0, 3.0, 3.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
        // At 4 µs the one queue has gone when the other is shorter: never were there 4 KB together.
        assert_eq!(traces.sum[..6], [0.0, 0.0, 5.0, 5.0, 5.0, 1.0]);
        assert_eq!(traces.ports["p9"][..6], [0.0, 0.0, 2.0, 2.0, 2.0, 1.0]);
        assert_eq!(traces.ports.len(), 3);
        // What was not sampled is not known: after the last sample, and outside of the changes if nothing says more.
        let known = |sampled: Option<u64>| {
            let sampled = sampled.map(|us| Instant::ZERO + Span::from_us(us));
            let traces = queue_traces(&points, end, sampled, |port| format!("p{port}"));
            assert_eq!(
                traces.shown(&traces.longest).next(),
                Some((traces.known.start, traces.longest[traces.known.start]))
            );
            traces.known
        };
        assert_eq!((known(Some(200)), known(Some(0)), known(None)), (0..201, 0..1, 2..10));
    }

    #[test]
    fn of_many_ports_those_with_the_longest_queues_are_shown() {
        let points: Vec<QueuePoint> = (0..20).map(|port| point(1, port, u64::from(port) * 100)).collect();
        let traces = queue_traces(&points, Instant::ZERO, None, |port| format!("p{port:02}"));
        assert_eq!(traces.ports.keys().collect::<Vec<_>>(), ["p14", "p15", "p16", "p17", "p18", "p19"]);
        assert_eq!(traces.longest.last(), Some(&1.9), "samples behind the end belong to the last bin");
    }

    #[test]
    fn rates_are_those_of_whole_bins() {
        let us = |us| Instant::ZERO + Span::from_us(us);
        let bin = |at, class, bytes| ThroughputBin { from: us(at), class, bytes };
        let file = |bins| ThroughputFile {
            classes: ["long", "short"].map(str::to_owned).to_vec(),
            width: Span::from_us(1),
            bins,
        };
        let classes = ["short", "long"].map(str::to_owned);
        let few = file(vec![bin(0, 0, 1250), bin(1, 1, 250), bin(1, 0, 1000), bin(3, 0, 5)]);
        let traces = arrival_traces(&few, us(3) + Span::from_ns(500), &classes);
        assert_eq!(traces.all, [10.0, 10.0, 0.0, 0.04], "the file says that its last bin is a whole one");
        assert_eq!(traces.classes, [vec![0.0, 2.0, 0.0, 0.0], vec![10.0, 8.0, 0.0, 0.04]]);
        let many = file((0..1000).map(|at| bin(at, 1, 1250)).collect());
        let traces = arrival_traces(&many, us(1000), &classes);
        assert_eq!((traces.bin_us, traces.all.len()), (3.0, 333));
        assert!(traces.all.iter().all(|&rate| rate == 10.0), "whatever their width");
    }
}
