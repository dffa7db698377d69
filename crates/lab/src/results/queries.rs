//! Statistics of queries.
//!
//! Only queries that were asked after the warm-up count. Those of the completion time are over complete queries; where
//! others were still open at the end they are lower bounds and say so. A query is of one class and has no size of its own:
//! the sets of flows of some size have no such statistics.

use tailcut_record::QueryRow;

use super::load::SeedRun;
use super::metrics::{ClassSet, Collector, plain, pool, us};
use super::stats::{self, BATCHED_FLOWS, BATCHES};

/// Sums over some queries: numerators and denominators.
#[derive(Clone, Copy, Default)]
struct Sums {
    complete: f64,
    qct_us: f64,
    deadlines: f64,
    met: f64,
}

impl Sums {
    fn add(&mut self, row: &QueryRow) {
        if let Some(qct) = row.qct() {
            self.complete += 1.0;
            self.qct_us += us(qct);
        }
        if let Some(met) = row.met() {
            self.deadlines += 1.0;
            self.met += f64::from(u8::from(met));
        }
    }

    fn of<'a>(rows: impl IntoIterator<Item = &'a QueryRow>) -> Sums {
        let mut sums = Sums::default();
        rows.into_iter().for_each(|row| sums.add(row));
        sums
    }
}

/// The statistics of the queries of `set` over the seeds of one swept point of one scheme; none if there is no query.
/// Returns how many queries there are, and how many of them are incomplete.
pub(crate) fn statistics(set: &ClassSet, seeds: &[SeedRun], out: &mut Collector) -> (u64, u64) {
    let queries: Vec<Vec<&QueryRow>> =
        seeds.iter().map(|seed| seed.queries.iter().filter(|row| set.has_query(row)).collect()).collect();
    let all = queries.iter().map(Vec::len).sum::<usize>() as u64;
    if all == 0 {
        return (0, 0);
    }
    // Independent parts: the seeds, or batches of one in the order of the queries.
    let parts: Vec<Sums> = match queries.as_slice() {
        [rows] => {
            let parts = if rows.len() < BATCHED_FLOWS { rows.len() } else { BATCHES };
            let mut sums = vec![Sums::default(); parts];
            rows.iter().enumerate().for_each(|(i, row)| sums[i * parts / rows.len()].add(row));
            sums
        }
        seeds => seeds.iter().map(|rows| Sums::of(rows.iter().copied())).collect(),
    };
    let ratio = |above: fn(&Sums) -> f64, below: fn(&Sums) -> f64| {
        stats::ratio(&parts.iter().map(|sums| (above(sums), below(sums))).collect::<Vec<_>>())
    };
    let mut times: Vec<Vec<f64>> =
        queries.iter().map(|rows| rows.iter().filter_map(|row| row.qct().map(us)).collect()).collect();
    let pooled = pool(&mut times);
    let complete = pooled.len() as u64;
    let incomplete = all - complete;
    let bound = (incomplete > 0).then(|| format!("a lower bound: {incomplete} of {all} queries are incomplete"));
    out.bounded("qct_mean", ratio(|s| s.qct_us, |s| s.complete), complete, &bound);
    for (name, permille) in [("qct_p50", 500), ("qct_p99", 990), ("qct_p999", 999)] {
        out.bounded(name, stats::quantile(&times, &pooled, permille, "queries"), complete, &bound);
    }
    let deadlines = parts.iter().map(|sums| sums.deadlines).sum::<f64>() as u64;
    if deadlines > 0 {
        out.share("query_deadline_met", ratio(|s| s.met, |s| s.deadlines), deadlines);
    }
    out.push("queries", Some(plain(all as f64)), seeds.len() as u64);
    (all, incomplete)
}

#[cfg(test)]
pub(crate) mod tests {
    use tailcut_base::{Instant, Span};

    use super::super::metrics::tests::{classes, estimate, flow, of, seed};
    use super::super::metrics::{class_sets, class_statistics};
    use super::*;

    /// A query of `class` that takes `qct_us` and may take 50 µs.
    pub(crate) fn query(query: u32, class: u8, qct_us: Option<u64>) -> QueryRow {
        let asked = Instant::from_ps(u64::from(query) * 1_000_000);
        QueryRow {
            query,
            aggregator: 0,
            class,
            degree: 2,
            asked,
            received: qct_us.map(|us| asked + Span::from_us(us)),
            size: 20_000,
            answers_received: 2,
            drops: 0,
            retransmissions: 0,
            timeouts: 0,
            max_packet_drops: 0,
            deadline: Some(Span::from_us(50)),
            measured: true,
        }
    }

    fn with(queries: Vec<QueryRow>) -> SeedRun {
        SeedRun { queries, ..seed(&[flow(0, 1, Some(20))]) }
    }

    #[test]
    fn queries_of_all_seeds_are_pooled_by_class() {
        let seeds = [
            with(vec![query(0, 1, Some(40)), query(1, 1, Some(60)), query(2, 0, Some(10))]),
            with(vec![query(0, 1, Some(50))]),
        ];
        assert_eq!(of("incast", "qct_mean", &seeds), Some((50.0, 3)));
        assert_eq!(of("incast", "qct_p50", &seeds), Some((50.0, 3)));
        assert_eq!(of("incast", "qct_p999", &seeds), Some((60.0, 3)));
        assert_eq!(of("short+incast", "qct_mean", &seeds), Some((40.0, 4)));
        assert_eq!(of("all", "qct_p50", &seeds), Some((40.0, 4)));
        assert_eq!(of("incast", "queries", &seeds), Some((3.0, 2)));
        assert_eq!(of("incast", "query_deadline_met", &seeds), Some((2.0 / 3.0, 3)));
        let (_, interval) = estimate("incast", "qct_p99", &seeds).map(|(p99, _)| (p99.note, p99.interval)).unwrap();
        assert!(interval.is_none(), "three queries are too few");
    }

    #[test]
    fn an_open_query_makes_times_lower_bounds_and_misses_its_deadline() {
        let seeds = [with(vec![query(0, 1, Some(50)), query(1, 1, None), query(2, 1, Some(30)), query(3, 1, None)])];
        let (mean, n) = estimate("incast", "qct_mean", &seeds).unwrap();
        assert_eq!((mean.value, n), (40.0, 2));
        assert_eq!(mean.note.unwrap(), "a lower bound: 2 of 4 queries are incomplete");
        assert_eq!(of("incast", "query_deadline_met", &seeds), Some((0.5, 4)));
        assert_eq!(of("incast", "queries", &seeds), Some((4.0, 1)));
        let set = class_sets(&classes(), &[]).pop().unwrap();
        let statistics = class_statistics(&set, &seeds);
        assert_eq!((statistics.queries, statistics.incomplete_queries), (4, 2));
    }

    #[test]
    fn a_class_without_queries_or_deadlines_has_no_such_statistics() {
        let seeds = [with(vec![QueryRow { deadline: None, ..query(0, 1, Some(40)) }])];
        for metric in ["qct_mean", "qct_p50", "qct_p99", "qct_p999", "queries", "query_deadline_met"] {
            assert_eq!(of("long", metric, &seeds), None, "{metric}");
            assert_eq!(of("incast", metric, &seeds).is_some(), metric != "query_deadline_met", "{metric}");
        }
        let bands = class_sets(&classes(), &[tailcut_base::Bytes(100_000)]);
        for band in bands.iter().filter(|set| set.name.contains("100KB")) {
            assert_eq!(class_statistics(band, &seeds).queries, 0, "{}", band.name);
        }
    }

    /// As for flows: one seed is cut into batches, and every query is a part if they are few.
    #[test]
    fn one_seed_gets_its_intervals_from_batches() {
        let many: Vec<QueryRow> = (0..400).map(|i| query(i, 1, Some(46 + u64::from(i % 7)))).collect();
        for (rows, some) in [(many.clone(), true), (many[..30].to_vec(), true), (many[..1].to_vec(), false)] {
            let seeds = [with(rows)];
            for metric in ["qct_mean", "query_deadline_met"] {
                let (value, _) = estimate("incast", metric, &seeds).unwrap();
                assert_eq!(value.interval.is_some(), some, "{metric}");
                let holds = value.interval.is_none_or(|i| i.low < value.value && value.value < i.high);
                assert!(holds, "{metric} {value:?}");
            }
        }
    }
}
