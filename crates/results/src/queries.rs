//! Statistics of queries.
//!
//! Only queries that were asked after the warm-up count. Those of the completion time are over complete queries; where
//! others were still open at the end they are lower bounds and say so. A query is of one class and has no size of its
//! own: the sets of flows of some size have no such statistics.

use tailcut_record::QueryRow;

use crate::collector::{Collector, counted, pool, us};
use crate::flow_set::FlowSet;
use crate::replication::Replication;
use crate::stats::{self, BATCHED_FLOWS, BATCHES};

/// Sums over some queries: numerators and denominators.
#[derive(Clone, Copy, Default)]
struct QuerySums {
    complete: f64,
    qct_us: f64,
    deadlines: f64,
    met: f64,
}

impl QuerySums {
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

    fn of<'a>(rows: impl IntoIterator<Item = &'a QueryRow>) -> QuerySums {
        let mut sums = QuerySums::default();
        rows.into_iter().for_each(|row| sums.add(row));
        sums
    }
}

/// Adds the statistics of the queries of `set` over the replications of a design point; none if there is no query.
/// Returns the number of queries, and how many of them are incomplete.
pub(crate) fn statistics(set: &FlowSet, replications: &[Replication], out: &mut Collector) -> (u64, u64) {
    let queries: Vec<Vec<&QueryRow>> =
        replications.iter().map(|one| one.queries.iter().filter(|row| set.has_query(row)).collect()).collect();
    let all = queries.iter().map(Vec::len).sum::<usize>() as u64;
    if all == 0 {
        return (0, 0);
    }
    // The parts that an interval takes for independent: the seeds, or batches of the queries of a single seed in their
    // order.
    let parts: Vec<QuerySums> = match queries.as_slice() {
        [rows] => {
            let parts = if rows.len() < BATCHED_FLOWS { rows.len() } else { BATCHES };
            let mut sums = vec![QuerySums::default(); parts];
            rows.iter().enumerate().for_each(|(i, row)| sums[i * parts / rows.len()].add(row));
            sums
        }
        several => several.iter().map(|rows| QuerySums::of(rows.iter().copied())).collect(),
    };
    let mean = |above: fn(&QuerySums) -> f64, below: fn(&QuerySums) -> f64| {
        stats::mean(&parts.iter().map(|sums| (above(sums), below(sums))).collect::<Vec<_>>())
    };
    let mut times: Vec<Vec<f64>> =
        queries.iter().map(|rows| rows.iter().filter_map(|row| row.qct().map(us)).collect()).collect();
    let pooled = pool(&mut times);
    let complete = pooled.len() as u64;
    let incomplete = all - complete;
    let bound = (incomplete > 0).then(|| format!("a lower bound: {incomplete} of {all} queries are incomplete"));
    out.bounded("qct_mean", mean(|s| s.qct_us, |s| s.complete), complete, &bound);
    for (name, permille) in [("qct_p50", 500), ("qct_p99", 990), ("qct_p999", 999)] {
        out.bounded(name, stats::quantile(&times, &pooled, permille, "queries"), complete, &bound);
    }
    let deadlines = parts.iter().map(|sums| sums.deadlines).sum::<f64>() as u64;
    if deadlines > 0 {
        out.share("query_deadline_met", mean(|s| s.met, |s| s.deadlines), deadlines);
    }
    out.push("queries", Some(counted(all as f64)), replications.len() as u64);
    (all, incomplete)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::FlowSetStatistics;
    use crate::testing::{estimate, flow, flow_sets, query, replication, value};

    fn with(queries: Vec<QueryRow>) -> Replication {
        Replication { queries, ..replication(&[flow(0, 1, Some(20))]) }
    }

    #[test]
    fn queries_of_all_seeds_are_pooled_by_class() {
        let replications = [
            with(vec![query(0, 1, Some(40)), query(1, 1, Some(60)), query(2, 0, Some(10))]),
            with(vec![query(0, 1, Some(50))]),
        ];
        assert_eq!(value("incast", "qct_mean", &replications), Some((50.0, 3)));
        assert_eq!(value("incast", "qct_p50", &replications), Some((50.0, 3)));
        assert_eq!(value("incast", "qct_p999", &replications), Some((60.0, 3)));
        assert_eq!(value("short+incast", "qct_mean", &replications), Some((40.0, 4)));
        assert_eq!(value("all", "qct_p50", &replications), Some((40.0, 4)));
        assert_eq!(value("incast", "queries", &replications), Some((3.0, 2)));
        assert_eq!(value("incast", "query_deadline_met", &replications), Some((2.0 / 3.0, 3)));
        let (_, interval) =
            estimate("incast", "qct_p99", &replications).map(|(p99, _)| (p99.note, p99.interval)).unwrap();
        assert!(interval.is_none(), "three queries are too few");
    }

    #[test]
    fn an_open_query_makes_times_lower_bounds_and_misses_its_deadline() {
        let replications =
            [with(vec![query(0, 1, Some(50)), query(1, 1, None), query(2, 1, Some(30)), query(3, 1, None)])];
        let (mean, n) = estimate("incast", "qct_mean", &replications).unwrap();
        assert_eq!((mean.value, n), (40.0, 2));
        assert_eq!(mean.note.unwrap(), "a lower bound: 2 of 4 queries are incomplete");
        assert_eq!(value("incast", "query_deadline_met", &replications), Some((0.5, 4)));
        assert_eq!(value("incast", "queries", &replications), Some((4.0, 1)));
        let set = flow_sets(&[]).pop().unwrap();
        let statistics = FlowSetStatistics::of(&set, &replications);
        assert_eq!((statistics.queries, statistics.incomplete_queries), (4, 2));
    }

    #[test]
    fn a_class_without_queries_or_deadlines_has_no_such_statistics() {
        let replications = [with(vec![QueryRow { deadline: None, ..query(0, 1, Some(40)) }])];
        for metric in ["qct_mean", "qct_p50", "qct_p99", "qct_p999", "queries", "query_deadline_met"] {
            assert_eq!(value("long", metric, &replications), None, "{metric}");
            assert_eq!(value("incast", metric, &replications).is_some(), metric != "query_deadline_met", "{metric}");
        }
        let bands = flow_sets(&[tailcut_base::Bytes(100_000)]);
        for band in bands.iter().filter(|set| set.name.contains("100KB")) {
            assert_eq!(FlowSetStatistics::of(band, &replications).queries, 0, "{}", band.name);
        }
    }

    /// As for flows: one seed is cut into batches, and every query is a part if they are few.
    #[test]
    fn one_seed_gets_its_intervals_from_batches() {
        let many: Vec<QueryRow> = (0..400).map(|i| query(i, 1, Some(46 + u64::from(i % 7)))).collect();
        for (rows, some) in [(many.clone(), true), (many[..30].to_vec(), true), (many[..1].to_vec(), false)] {
            let replications = [with(rows)];
            for metric in ["qct_mean", "query_deadline_met"] {
                let (found, _) = estimate("incast", metric, &replications).unwrap();
                assert_eq!(found.interval.is_some(), some, "{metric}");
                let holds = found.interval.is_none_or(|i| i.low < found.value && found.value < i.high);
                assert!(holds, "{metric} {found:?}");
            }
        }
    }
}
