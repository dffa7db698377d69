//! The statistics of a run: one row for each scheme, swept point, class and metric.
//!
//! Only flows that started after the warm-up count. Statistics of the FCT are over finished flows; how many were
//! censored stands beside them, and where there are any the FCTs are lower bounds and say so. Samples of all seeds are
//! pooled; [`super::stats`] says where the intervals come from.

use tailcut_base::{Bytes, Span};
use tailcut_record::{FlowRow, QueryRow};

use super::catalogue::unit;
use super::load::SeedRun;
use super::stats::{self, BATCHED_FLOWS, BATCHES, Estimate};
use super::{network, queries};

/// One statistic of one class at one swept point of one scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The scheme.
    pub scheme: String,
    /// The value of each axis.
    pub values: Vec<String>,
    /// Name of the class, `short+incast` for the flows of both, or `all`.
    pub class: String,
    /// Name of the metric.
    pub metric: String,
    /// Its value; `None` if there are no samples.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval; `None` if there is none.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Number of samples.
    pub n: u64,
    /// Unit of the value.
    pub unit: &'static str,
    /// What the value needs to be read with.
    pub note: Option<String>,
}

/// Sizes of flows, above the first and up to the second: any.
const ALL_SIZES: (u64, u64) = (0, u64::MAX);

/// The traffic classes that a set of rows is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClassSet {
    pub(crate) name: String,
    /// Whether each class of the run belongs to it.
    members: Vec<bool>,
    /// Only flows above the first size and up to the second, in bytes.
    sizes: (u64, u64),
    /// Whether it is the set of all classes, which has the statistics of the network.
    pub(crate) all: bool,
    /// Whether it is one class of the workload.
    pub(crate) single: bool,
}

/// Name of the set of all flows.
pub const ALL: &str = "all";
/// Name of the set of the flows of the classes `short` and `incast`: the "short flows" of most papers.
pub const SHORT_AND_INCAST: &str = "short+incast";

/// Every class of a workload, `short+incast` if it has both, the flows between the bounds, and `all`.
pub(crate) fn class_sets(classes: &[String], size_bounds: &[Bytes]) -> Vec<ClassSet> {
    let set = |name: &str, single, member: &dyn Fn(&str) -> bool| ClassSet {
        name: name.to_owned(),
        members: classes.iter().map(|class| member(class)).collect(),
        sizes: ALL_SIZES,
        all: name == ALL,
        single,
    };
    let mut sets: Vec<ClassSet> = classes.iter().map(|name| set(name, true, &|class| class == name)).collect();
    let both = ["short", "incast"];
    if both.iter().all(|name| classes.iter().any(|class| class == name)) {
        sets.push(set(SHORT_AND_INCAST, false, &|class| both.contains(&class)));
    }
    for at in (0..=size_bounds.len()).filter(|_| !size_bounds.is_empty()) {
        let (above, upto) = (at.checked_sub(1).map(|at| size_bounds[at]), size_bounds.get(at));
        let sizes = (above.map_or(0, |size| size.0), upto.map_or(u64::MAX, |size| size.0));
        sets.push(ClassSet { sizes, ..set(&band_name(above, upto.copied()), false, &|_| true) });
    }
    sets.push(set(ALL, false, &|_| true));
    sets
}

/// Name of the set of the flows that are larger than `above` and at most as large as `upto`.
fn band_name(above: Option<Bytes>, upto: Option<Bytes>) -> String {
    match (above, upto) {
        (Some(above), Some(upto)) => format!("{above}-{upto}"),
        (Some(above), None) => format!(">{above}"),
        (None, Some(upto)) => format!("<={upto}"),
        (None, None) => ALL.to_owned(),
    }
}

impl ClassSet {
    fn has(&self, row: &FlowRow) -> bool {
        let (above, upto) = self.sizes;
        self.members.get(usize::from(row.class)).copied().unwrap_or(false) && row.size > above && row.size <= upto
    }

    /// Whether a query belongs to it; none belongs to a set of some sizes.
    pub(crate) fn has_query(&self, row: &QueryRow) -> bool {
        self.sizes == ALL_SIZES && self.members.get(usize::from(row.class)).copied().unwrap_or(false)
    }
}

/// Sums over some flows: numerators and denominators.
#[derive(Clone, Copy, Default)]
struct Sums {
    flows: f64,
    finished: f64,
    fct_us: f64,
    acknowledged: f64,
    ack_fct_us: f64,
    slowdown: f64,
    goodput: f64,
    goodput_squared: f64,
    bits: f64,
    deadlines: f64,
    met: f64,
    drops: f64,
    lossy: f64,
    lossy_twice: f64,
    lossy_twice_fct_us: f64,
    retransmissions: f64,
    timeouts: f64,
    arrived: f64,
    reordered: f64,
    ce_marks: f64,
    multi_marked: f64,
}

pub(crate) fn us(span: Span) -> f64 {
    span.as_ps() as f64 / 1e6
}

/// Data packets of a flow that reached the receiver: those sent less those dropped. A packet that was under way when
/// the run ended counts.
fn arrived(row: &FlowRow) -> f64 {
    row.packets.saturating_sub(row.drops) as f64
}

impl Sums {
    fn add(&mut self, row: &FlowRow) {
        self.flows += 1.0;
        if let Some(fct) = row.fct() {
            self.finished += 1.0;
            self.fct_us += us(fct);
            self.slowdown += row.slowdown().unwrap_or_default();
            self.bits += 8.0 * row.size as f64;
            let goodput = gigabits(row.size, us(fct));
            self.goodput += goodput;
            self.goodput_squared += goodput * goodput;
        }
        if let Some(span) = row.acknowledged.and_then(|at| at.since(row.start)) {
            self.acknowledged += 1.0;
            self.ack_fct_us += us(span);
        }
        if let Some(met) = row.met() {
            self.deadlines += 1.0;
            self.met += f64::from(u8::from(met));
        }
        self.drops += row.drops as f64;
        self.lossy += f64::from(u8::from(row.drops > 0));
        if let Some(fct) = row.fct().filter(|_| row.drops > 1) {
            self.lossy_twice += 1.0;
            self.lossy_twice_fct_us += us(fct);
        }
        self.retransmissions += row.retransmissions as f64;
        self.timeouts += row.timeouts as f64;
        self.arrived += arrived(row);
        self.reordered += row.reordered as f64;
        self.ce_marks += row.ce_marks as f64;
        self.multi_marked += row.multi_marked as f64;
    }

    /// Jain's index of the goodputs; `None` without finished flows.
    fn jain(&self) -> Option<f64> {
        (self.goodput_squared > 0.0).then(|| self.goodput * self.goodput / (self.finished * self.goodput_squared))
    }
}

/// Rate in Gb/s of `bytes` in `us`.
fn gigabits(bytes: u64, us: f64) -> f64 {
    if us > 0.0 { 8.0 * bytes as f64 / (us * 1e3) } else { 0.0 }
}

/// The statistics of one class at one swept point of one scheme.
pub(crate) struct ClassStatistics {
    /// Name of the metric, what it is, samples.
    pub(crate) rows: Vec<(String, Option<Estimate>, u64, &'static str)>,
    /// FCTs of all seeds in µs, sorted.
    pub(crate) fcts: Vec<f64>,
    /// Mean size of the flows in bytes; `None` without flows.
    pub(crate) mean_size: Option<f64>,
    /// Flows that were censored.
    pub(crate) censored: u64,
    /// Flows.
    pub(crate) flows: u64,
    /// Queries.
    pub(crate) queries: u64,
    /// Queries that were not complete at the end.
    pub(crate) incomplete_queries: u64,
}

/// Computes the statistics of `set` over the seeds of one swept point of one scheme.
pub(crate) fn class_statistics(set: &ClassSet, seeds: &[SeedRun]) -> ClassStatistics {
    let flows: Vec<usize> = seeds.iter().map(|seed| seed.flows.rows().filter(|row| set.has(row)).count()).collect();
    let parts_of_one = if flows.first().is_some_and(|&n| n < BATCHED_FLOWS) { flows[0] } else { BATCHES };
    let mut by_seed = vec![Sums::default(); seeds.len()];
    let mut parts = vec![Sums::default(); if seeds.len() == 1 { parts_of_one } else { 0 }];
    let (mut fcts, mut slowdowns) = (vec![Vec::new(); seeds.len()], vec![Vec::new(); seeds.len()]);
    let (mut max_packet_drops, mut bytes) = (0, 0.0);
    for (at, seed) in seeds.iter().enumerate() {
        for (i, row) in seed.flows.rows().filter(|row| set.has(row)).enumerate() {
            by_seed[at].add(&row);
            if seeds.len() == 1 {
                parts[i * parts_of_one / flows[0]].add(&row);
            }
            fcts[at].extend(row.fct().map(us));
            slowdowns[at].extend(row.slowdown());
            max_packet_drops = max_packet_drops.max(row.max_packet_drops);
            bytes += row.size as f64;
        }
    }
    if seeds.len() > 1 {
        parts.clone_from(&by_seed);
    }
    let total = |get: fn(&Sums) -> f64| by_seed.iter().map(get).sum::<f64>();
    let (all_flows, finished) = (total(|sums| sums.flows) as u64, total(|sums| sums.finished) as u64);
    let censored = all_flows - finished;
    let (fct_pool, slowdown_pool) = (pool(&mut fcts), pool(&mut slowdowns));

    let mut out = Collector { rows: Vec::new() };
    let bound = (censored > 0).then(|| format!("a lower bound: {censored} of {all_flows} flows are censored"));
    let ratio = |above: fn(&Sums) -> f64, below: fn(&Sums) -> f64| {
        stats::ratio(&parts.iter().map(|sums| (above(sums), below(sums))).collect::<Vec<_>>())
    };
    let per_run =
        |get: fn(&Sums) -> f64| stats::ratio(&by_seed.iter().map(|sums| (get(sums), 1.0)).collect::<Vec<_>>());
    let fct = |permille| stats::quantile(&fcts, &fct_pool, permille, "flows");
    let slowdown = |permille| stats::quantile(&slowdowns, &slowdown_pool, permille, "flows");

    out.bounded("fct_mean", ratio(|s| s.fct_us, |s| s.finished), finished, &bound);
    for (name, permille) in [("fct_p50", 500), ("fct_p95", 950), ("fct_p99", 990), ("fct_p999", 999)] {
        out.bounded(name, fct(permille), finished, &bound);
    }
    let acknowledged = total(|sums| sums.acknowledged) as u64;
    out.push("ack_fct_mean", ratio(|s| s.ack_fct_us, |s| s.acknowledged), acknowledged);
    out.bounded("slowdown_mean", ratio(|s| s.slowdown, |s| s.finished), finished, &bound);
    out.bounded("slowdown_p50", slowdown(500), finished, &bound);
    out.bounded("slowdown_p99", slowdown(990), finished, &bound);
    out.push("goodput_mean", ratio(|s| s.goodput, |s| s.finished), finished);
    out.push("goodput_aggregate", ratio(|s| s.bits / 1e3, |s| s.fct_us), finished);
    // Flows of different seeds never competed: an index of each seed, and the mean of them.
    let jain: Vec<(f64, f64)> = by_seed.iter().filter_map(Sums::jain).map(|index| (index, 1.0)).collect();
    out.share("goodput_jain", stats::ratio(&jain), jain.len() as u64);
    let (queries, incomplete_queries) = queries::statistics(set, seeds, &mut out);
    let deadlines = total(|sums| sums.deadlines) as u64;
    if deadlines > 0 {
        out.share("deadline_met", ratio(|s| s.met, |s| s.deadlines), deadlines);
    }
    let runs = seeds.len() as u64;
    out.push("flows", Some(plain(all_flows as f64)), runs);
    out.push("censored", Some(plain(censored as f64)), runs);
    out.push("drops", per_run(|s| s.drops), runs);
    out.push("max_packet_drops", (all_flows > 0).then(|| plain(f64::from(max_packet_drops))), all_flows);
    let (dropped, lossy_twice) = (total(|sums| sums.drops) as u64, total(|sums| sums.lossy_twice) as u64);
    if dropped > 0 {
        out.share("lossy_flows_per_drop", ratio(|s| s.lossy, |s| s.drops), dropped);
    }
    if lossy_twice > 0 {
        out.push("fct_mean_lossy", ratio(|s| s.lossy_twice_fct_us, |s| s.lossy_twice), lossy_twice);
    }
    out.push("retransmissions", per_run(|s| s.retransmissions), runs);
    out.push("timeouts", per_run(|s| s.timeouts), runs);
    let packets = total(|sums| sums.arrived) as u64;
    out.push("reordered", per_run(|s| s.reordered), runs);
    out.share("reordered_share", ratio(|s| s.reordered, |s| s.arrived), packets);
    out.push("ce_marks", per_run(|s| s.ce_marks), runs);
    out.share("marked_share", ratio(|s| s.ce_marks, |s| s.arrived), packets);
    tail_marks(set, seeds, stats::nearest_rank(&fct_pool, 950), &mut out);
    out.share("multi_marked_all_share", ratio(|s| s.multi_marked, |s| s.arrived), packets);
    if set.all {
        network::statistics(seeds, &mut out);
    }
    let mean_size = (all_flows > 0).then(|| bytes / all_flows as f64);
    ClassStatistics {
        rows: out.rows,
        fcts: fct_pool,
        mean_size,
        censored,
        flows: all_flows,
        queries,
        incomplete_queries,
    }
}

/// Sorts the samples of each seed and of all.
pub(crate) fn pool(seeds: &mut [Vec<f64>]) -> Vec<f64> {
    for seed in seeds.iter_mut() {
        seed.sort_unstable_by(f64::total_cmp);
    }
    let mut all = seeds.concat();
    // The stable sort finds the sorted runs and merges them.
    all.sort_by(f64::total_cmp);
    all
}

/// A number that was counted, not estimated.
pub(crate) fn plain(value: f64) -> Estimate {
    Estimate { value, interval: None, note: None }
}

/// Share of the packets of flows slower than `above` that two switches or more would mark.
fn tail_marks(set: &ClassSet, seeds: &[SeedRun], above: Option<f64>, out: &mut Collector) {
    let slow = |row: &FlowRow| set.has(row) && row.fct().map(us).zip(above).is_some_and(|(fct, above)| fct > above);
    let sum = |seed: &SeedRun| {
        seed.flows
            .rows()
            .filter(slow)
            .fold((0.0, 0.0), |sum, row| (sum.0 + row.multi_marked as f64, sum.1 + arrived(&row)))
    };
    let parts: Vec<(f64, f64)> = seeds.iter().map(sum).collect();
    let packets = parts.iter().map(|part| part.1).sum::<f64>() as u64;
    out.share("multi_marked_share", stats::ratio(&parts), packets);
}

/// Collects rows, with the units of their metrics.
pub(crate) struct Collector {
    rows: Vec<(String, Option<Estimate>, u64, &'static str)>,
}

impl Collector {
    /// A statistic that cannot be negative.
    pub(crate) fn push(&mut self, name: &str, mut estimate: Option<Estimate>, n: u64) {
        if let Some(interval) = estimate.as_mut().and_then(|estimate| estimate.interval.as_mut()) {
            interval.low = interval.low.max(0.0);
        }
        self.rows.push((name.to_owned(), estimate, n, unit(name)));
    }

    /// A statistic between 0 and 1.
    pub(crate) fn share(&mut self, name: &str, mut estimate: Option<Estimate>, n: u64) {
        if let Some(interval) = estimate.as_mut().and_then(|estimate| estimate.interval.as_mut()) {
            interval.high = interval.high.min(1.0);
        }
        self.push(name, estimate, n);
    }

    /// A statistic that censored flows make a lower bound.
    pub(crate) fn bounded(&mut self, name: &str, mut estimate: Option<Estimate>, n: u64, bound: &Option<String>) {
        if let (Some(estimate), Some(bound)) = (estimate.as_mut(), bound) {
            let note = estimate.note.take().map_or_else(|| bound.clone(), |note| format!("{note}; {bound}"));
            estimate.note = Some(note);
        }
        self.push(name, estimate, n);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use tailcut_base::Instant;
    use tailcut_record::{FlowColumns, Histogram};

    use super::super::catalogue::{METRICS, describe};
    use super::super::load::WayCounts;
    use super::super::{EngineFacts, FlowCounts, Load, PointSummary};
    use super::*;

    /// A flow of `class` with an FCT of `fct_us`, an ideal one of 10 µs, and 10 packets.
    pub(crate) fn flow(flow: u32, class: u8, fct_us: Option<u64>) -> FlowRow {
        let start = Instant::from_ps(u64::from(flow) * 1_000_000);
        let received = fct_us.map(|us| start + Span::from_us(us));
        FlowRow {
            flow,
            query: None,
            query_start: None,
            src: 0,
            dst: 1,
            class,
            size: 10_000,
            start,
            measured: true,
            abandoned: false,
            received,
            acknowledged: received.map(|at| at + Span::from_us(2)),
            ideal: Span::from_us(10),
            packets: 10,
            retransmissions: 0,
            timeouts: 0,
            drops: 0,
            max_packet_drops: 0,
            reordered: 0,
            ce_marks: 0,
            multi_marked: 0,
            deadline: None,
        }
    }

    pub(crate) fn seed(rows: &[FlowRow]) -> SeedRun {
        SeedRun {
            summary: PointSummary {
                scheme: "a".into(),
                values: Vec::new(),
                seed: 1,
                end: String::new(),
                simulated_ns: 1.0,
                flows: FlowCounts::default(),
                loads: BTreeMap::from([("edge".to_owned(), Load { offered: Some(0.5), realised: 0.48 })]),
                drops: BTreeMap::from([("port_full".to_owned(), 7)]),
                engine: EngineFacts {
                    packet_hops: 1,
                    events: 1,
                    cpu_ns: 1,
                    wall_ns: 1,
                    threads: 1,
                    peak_bytes: 1,
                    digest: String::new(),
                    version: String::new(),
                },
                warnings: Vec::new(),
            },
            flows: rows.iter().collect::<FlowColumns>(),
            queries: Vec::new(),
            queues: [0, 0, 0, 5].into_iter().fold(Histogram::new(), |mut h, packets| {
                h.add(packets);
                h
            }),
            demotions: 5,
            drops_fabric: 7,
            drops_nic: 3,
            refused: 12,
            ways: [("leaf_to_host".to_owned(), WayCounts { marks: 12, drops: 6 })].into(),
            sinks: vec![3_000, 6_000],
            lossy: vec![0.2, 0.6],
            busiest: Some(0.9),
        }
    }

    pub(crate) fn classes() -> Vec<String> {
        ["short", "incast", "long"].map(str::to_owned).to_vec()
    }

    /// Value and n of a metric of the class `name`.
    pub(crate) fn of(name: &str, metric: &str, seeds: &[SeedRun]) -> Option<(f64, u64)> {
        estimate(name, metric, seeds).map(|(estimate, n)| (estimate.value, n))
    }

    pub(crate) fn estimate(name: &str, metric: &str, seeds: &[SeedRun]) -> Option<(Estimate, u64)> {
        let sets = class_sets(&classes(), &[]);
        let set = sets.iter().find(|set| set.name == name).unwrap();
        let rows = class_statistics(set, seeds).rows;
        let (_, estimate, n, _) = rows.into_iter().find(|row| row.0 == metric)?;
        estimate.map(|estimate| (estimate, n))
    }

    #[test]
    fn flows_are_told_apart_by_size_whatever_their_class() {
        let bounds = [Bytes(100_000), Bytes(10_000_000)];
        let sets = class_sets(&classes(), &bounds);
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(names, ["short", "incast", "long", "short+incast", "<=100KB", "100KB-10MB", ">10MB", "all"]);
        let of_size = |size| {
            let row = FlowRow { size, ..flow(2, 0, Some(20)) };
            sets[4..7].iter().map(|set| set.has(&row)).collect::<Vec<_>>()
        };
        assert_eq!(of_size(100_000), [true, false, false]);
        assert_eq!(of_size(100_001), [false, true, false]);
        assert_eq!(of_size(10_000_000), [false, true, false]);
        assert_eq!(of_size(10_000_001), [false, false, true]);
    }

    #[test]
    fn every_class_and_the_unions_are_there() {
        let names = |classes: &[&str]| -> Vec<String> {
            let classes: Vec<String> = classes.iter().map(|&name| name.to_owned()).collect();
            class_sets(&classes, &[]).into_iter().map(|set| set.name).collect()
        };
        assert_eq!(names(&["short", "incast", "long"]), ["short", "incast", "long", "short+incast", "all"]);
        assert_eq!(names(&["short", "long"]), ["short", "long", "all"]);
    }

    #[test]
    fn flows_of_all_seeds_are_pooled_by_class() {
        let seeds = [
            seed(&[flow(0, 0, Some(20)), flow(1, 0, Some(40)), flow(2, 1, Some(100)), flow(3, 2, Some(1000))]),
            seed(&[flow(0, 0, Some(60))]),
        ];
        assert_eq!(of("short", "fct_mean", &seeds), Some((40.0, 3)));
        assert_eq!(of("short", "fct_p50", &seeds), Some((40.0, 3)));
        assert_eq!(of("short", "ack_fct_mean", &seeds), Some((42.0, 3)));
        assert_eq!(of("short+incast", "fct_mean", &seeds), Some((55.0, 4)));
        assert_eq!(of("all", "fct_p99", &seeds), Some((1000.0, 5)));
        assert_eq!(of("short", "slowdown_mean", &seeds), Some((4.0, 3)));
        assert_eq!(of("all", "flows", &seeds), Some((5.0, 2)));
    }

    #[test]
    fn throughput_is_a_mean_of_rates_and_a_rate_of_sums() {
        // 80 kbit in 20 µs and in 80 µs: 4 and 1 Gb/s; 160 kbit in 100 µs.
        let seeds = [seed(&[flow(0, 2, Some(20)), flow(1, 2, Some(80))])];
        assert_eq!(of("long", "goodput_mean", &seeds), Some((2.5, 2)));
        assert_eq!(of("long", "goodput_aggregate", &seeds), Some((1.6, 2)));
    }

    #[test]
    fn censored_flows_are_counted_and_make_times_lower_bounds() {
        let seeds = [seed(&[flow(0, 0, Some(20)), flow(1, 0, None)])];
        assert_eq!(of("short", "censored", &seeds), Some((1.0, 1)));
        let (mean, n) = estimate("short", "fct_mean", &seeds).unwrap();
        assert_eq!((mean.value, n), (20.0, 1));
        assert_eq!(mean.note.unwrap(), "a lower bound: 1 of 2 flows are censored");
        assert_eq!(of("long", "fct_mean", &seeds), None);
    }

    #[test]
    fn counts_are_means_over_seeds_and_shares_are_of_packets_that_arrived() {
        let with = |drops, marks, reordered| {
            let packets = 10 + drops;
            FlowRow { packets, drops, retransmissions: drops, ce_marks: marks, reordered, ..flow(0, 0, Some(20)) }
        };
        let most = FlowRow { max_packet_drops: 3, timeouts: 1, ..with(4, 2, 1) };
        let seeds = [seed(&[most]), seed(&[with(1, 3, 0)])];
        assert_eq!(of("short", "drops", &seeds), Some((2.5, 2)));
        assert_eq!(of("short", "retransmissions", &seeds), Some((2.5, 2)));
        assert_eq!(of("short", "timeouts", &seeds), Some((0.5, 2)));
        assert_eq!(of("short", "max_packet_drops", &seeds), Some((3.0, 2)));
        assert_eq!(of("short", "lossy_flows_per_drop", &seeds), Some((0.4, 5)));
        assert_eq!(of("short", "fct_mean_lossy", &seeds), Some((20.0, 1)));
        assert_eq!(of("short", "marked_share", &seeds), Some((0.25, 20)));
        assert_eq!(of("short", "reordered_share", &seeds), Some((0.05, 20)));
        let (share, _) = estimate("short", "marked_share", &seeds).unwrap();
        let interval = share.interval.unwrap();
        assert!(interval.low >= 0.0 && interval.high <= 1.0, "{interval:?}");
    }

    #[test]
    fn deadlines_count_only_where_there_are_any() {
        let with = |at, fct| FlowRow { deadline: Some(Span::from_us(50)), ..flow(at, 0, fct) };
        let seeds =
            [seed(&[with(0, Some(50)), with(1, Some(51)), with(2, None), with(3, Some(1)), flow(4, 1, Some(9))])];
        assert_eq!(of("short", "deadline_met", &seeds), Some((0.5, 4)));
        assert_eq!(of("incast", "deadline_met", &seeds), None);
    }

    #[test]
    fn marks_of_the_tail_are_those_of_the_slowest_flows() {
        // The 95th percentile of 20 flows is the 19th; only the last is above it.
        let rows: Vec<FlowRow> = (0..20)
            .map(|i| FlowRow { multi_marked: if i == 19 { 4 } else { 9 }, ..flow(i, 0, Some(20 + u64::from(i))) })
            .collect();
        assert_eq!(of("short", "multi_marked_share", &[seed(&rows)]), Some((0.4, 10)));
        assert_eq!(of("short", "multi_marked_all_share", &[seed(&rows)]), Some((0.875, 200)));
    }

    #[test]
    fn jains_index_is_of_each_seed_and_their_mean() {
        // Rates of 4, 1 and 1 Gb/s: 36 / (3 x 18). One flow alone is as fair as can be, and an open one has no rate.
        let three = seed(&[flow(0, 0, Some(20)), flow(1, 0, Some(80)), flow(2, 0, Some(80)), flow(3, 0, None)]);
        let alone = seed(&[flow(0, 0, Some(500)), flow(1, 1, Some(20))]);
        let none = seed(&[flow(0, 2, Some(20))]);
        let (jain, n) = of("short", "goodput_jain", std::slice::from_ref(&three)).unwrap();
        assert!((jain - 2.0 / 3.0).abs() < 1e-12 && n == 1, "{jain}");
        let (mean, n) = of("short", "goodput_jain", &[three, alone, none]).unwrap();
        assert!((mean - 5.0 / 6.0).abs() < 1e-12 && n == 2, "{mean}");
    }

    #[test]
    fn the_network_stands_with_all_flows_only() {
        let seeds = [seed(&[flow(0, 0, Some(20))]), seed(&[flow(0, 0, Some(20))])];
        assert_eq!(of("all", "queue_mean", &seeds), Some((1.25, 8)));
        assert_eq!(of("all", "queue_p50", &seeds), Some((0.0, 8)));
        assert_eq!(of("all", "queue_max", &seeds), Some((5.0, 8)));
        assert_eq!(of("all", "load_edge", &seeds), Some((0.48, 2)));
        assert_eq!(of("all", "load_edge_offered", &seeds), Some((0.5, 2)));
        assert_eq!(of("all", "drops_port_full", &seeds), Some((7.0, 2)));
        assert_eq!(of("all", "drops_fabric", &seeds), Some((7.0, 2)));
        assert_eq!(of("all", "drops_nic", &seeds), Some((3.0, 2)));
        assert_eq!(of("all", "demotions", &seeds), Some((5.0, 2)));
        assert_eq!(of("all", "refused", &seeds), Some((12.0, 2)));
        assert_eq!(of("all", "marks_leaf_to_host", &seeds), Some((12.0, 2)));
        assert_eq!(of("all", "drops_at_leaf_to_host", &seeds), Some((6.0, 2)));
        assert_eq!(of("all", "sink_queue_p99", &seeds), Some((4_500.0, 4)));
        assert_eq!(of("all", "lossy_port_utilisation", &seeds), Some((0.4, 4)));
        assert_eq!(of("all", "utilisation_max", &seeds), Some((0.9, 2)));
        assert_eq!(of("short", "queue_mean", &seeds), None);
    }

    #[test]
    fn rows_stand_in_the_order_of_the_table_of_metrics() {
        let row = FlowRow { deadline: Some(Span::from_us(1)), drops: 2, ..flow(0, 0, Some(20)) };
        let query = QueryRow { deadline: Some(Span::from_us(1)), ..queries::tests::query(0, 0, Some(20)) };
        let seeds = [SeedRun { queries: vec![query], ..seed(&[row]) }];
        let set = class_sets(&classes(), &[]).pop().unwrap();
        let places: Vec<usize> = class_statistics(&set, &seeds)
            .rows
            .iter()
            .map(|row| METRICS.iter().position(|metric| describe(&row.0) == Some(metric)).unwrap())
            .collect();
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!(places.len(), METRICS.len(), "a run with queries and deadlines has every metric");
    }

    /// The same flows in one seed and over several: the value is that of all flows, whatever the intervals.
    #[test]
    fn one_seed_gets_its_intervals_from_batches() {
        let rows: Vec<FlowRow> = (0..400).map(|i| flow(i, 0, Some(20 + u64::from(i % 7)))).collect();
        let (mean, _) = estimate("short", "fct_mean", &[seed(&rows)]).unwrap();
        let interval = mean.interval.unwrap();
        assert!(interval.low < mean.value && mean.value < interval.high && interval.high - interval.low < 1.0);
        // Too few for batches: each flow is a part, and a single one has no interval.
        assert!(estimate("short", "fct_mean", &[seed(&rows[..30])]).unwrap().0.interval.is_some());
        assert!(estimate("short", "fct_mean", &[seed(&rows[..1])]).unwrap().0.interval.is_none());
        // A count of one seed has nothing to compare with.
        assert!(estimate("short", "drops", &[seed(&rows)]).unwrap().0.interval.is_none());
    }
}
