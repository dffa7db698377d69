//! The statistics of the bursts that the memories of switches saw, at one design point.
//!
//! Only bursts that began after the warm-up count, but for what a memory had learned. A prediction is one that the port
//! was granted; it is compared with what would have waited had everything been let in that came. Where all of a burst
//! is for a host that asked exactly one query at that time, the query's answers are its fan-in.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_base::Instant;
use tailcut_record::Burst;
use tailcut_record::{PortRow, QueryRow, read_bursts};

use crate::collector::{Collector, counted};
use crate::replication::Replication;
use crate::stats;

/// A burst, and how many hosts answered the query that made it, if that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SeenBurst {
    pub(crate) burst: Burst,
    pub(crate) fan_in: Option<u32>,
    /// Whether it began after the warm-up.
    pub(crate) measured: bool,
}

impl SeenBurst {
    /// What was predicted and granted, and what would have waited, in bytes.
    fn prediction(&self) -> Option<(f64, f64)> {
        let Burst { predicted, was_granted, demand, .. } = self.burst;
        predicted.filter(|_| was_granted && self.measured && demand > 0).map(|bytes| (bytes as f64, demand as f64))
    }

    /// The relative error of its prediction.
    fn error(&self) -> Option<f64> {
        self.prediction().map(|(predicted, demand)| (predicted - demand).abs() / demand)
    }
}

/// The bursts of a point; none if its memories were not recorded.
///
/// # Errors
/// If the file is there and cannot be read.
pub(crate) fn read(path: &Path, ports: &[PortRow], queries: &[QueryRow]) -> Result<Vec<SeenBurst>, String> {
    let rows = read_bursts(path).map_err(|e| e.to_string())?;
    let from = queries.iter().filter(|query| query.measured).map(|query| query.asked).min().unwrap_or(Instant::ZERO);
    let mut asked: BTreeMap<String, Vec<&QueryRow>> = BTreeMap::new();
    queries.iter().for_each(|query| asked.entry(format!("host{}", query.aggregator)).or_default().push(query));
    let hosts: BTreeMap<u32, &str> = ports.iter().map(|port| (port.port, port.peer.as_str())).collect();
    let seen = |burst: Burst| {
        let queries = hosts.get(&burst.port).and_then(|host| asked.get(*host));
        let is_open = |query: &&&QueryRow| {
            query.asked <= burst.ended && query.received.is_none_or(|received| received >= burst.began)
        };
        let mut open = queries.into_iter().flatten().filter(is_open);
        let fan_in = match (open.next(), open.next()) {
            (Some(query), None) => Some(query.degree),
            _ => None,
        };
        SeenBurst { burst, fan_in, measured: burst.began >= from }
    };
    Ok(rows.into_iter().map(|row| seen(row.burst)).collect())
}

/// Adds the statistics of bursts over the replications of a design point; none if no burst was recorded.
pub(crate) fn statistics(replications: &[Replication], out: &mut Collector) {
    let all = || replications.iter().flat_map(|one| &one.bursts);
    if all().next().is_none() {
        return;
    }
    let runs = replications.len() as u64;
    let measured = |one: &Replication| one.bursts.iter().filter(|seen| seen.measured).count();
    let parts: Vec<(f64, f64)> = replications.iter().map(|one| (measured(one) as f64, 1.0)).collect();
    out.push("bursts", stats::ratio(&parts), runs);
    let bursts = replications.iter().map(measured).sum::<usize>() as u64;
    let mean = |value: &dyn Fn(&SeenBurst) -> Option<f64>| {
        let sums = |one: &Replication| {
            let values = one.bursts.iter().filter(|seen| seen.measured).filter_map(value);
            values.fold((0.0, 0.0), |sum, value| (sum.0 + value, sum.1 + 1.0))
        };
        stats::mean(&replications.iter().map(sums).collect::<Vec<_>>())
    };
    if bursts > 0 {
        out.push("burst_peak_mean", mean(&|seen| Some(seen.burst.peak as f64)), bursts);
        out.push("burst_demand_mean", mean(&|seen| Some(seen.burst.demand as f64)), bursts);
        out.share("burst_lossy_share", mean(&|seen| Some(f64::from(u8::from(seen.burst.drops > 0)))), bursts);
    }
    let largest_map = all().map(|seen| seen.burst.entries).max().unwrap_or_default();
    out.push("map_entries_max", Some(counted(f64::from(largest_map))), runs);
    let predicted = all().filter_map(SeenBurst::error).count() as u64;
    out.push("burst_predictions", Some(counted(predicted as f64)), runs);
    if predicted > 0 {
        out.push("burst_error_mean", mean(&SeenBurst::error), predicted);
        let under = |seen: &SeenBurst| seen.prediction().map(|(bytes, demand)| if bytes < demand { 1.0 } else { 0.0 });
        out.share("burst_underpredicted_share", mean(&under), predicted);
    }
    let worst = all().filter_map(|seen| Some((seen.error()?, seen.prediction()?)));
    if let Some((error, (bytes, demand))) = worst.max_by(|a, b| a.0.total_cmp(&b.0)) {
        out.push("burst_error_max", Some(counted(error)), predicted);
        out.push("burst_predicted_at_worst", Some(counted(bytes)), predicted);
        out.push("burst_demand_at_worst", Some(counted(demand)), predicted);
        out.push("burst_ratio_at_worst", Some(counted(bytes / demand)), predicted);
    }
    for (metric, value) in [
        ("burst_demand_fan_in_correlation", (|burst| burst.demand as f64) as fn(&Burst) -> f64),
        ("burst_gradient_fan_in_correlation", |burst| burst.gradient),
    ] {
        let pairs: Vec<(f64, f64)> = all()
            .filter(|seen| seen.measured)
            .filter_map(|seen| Some((f64::from(seen.fan_in?), value(&seen.burst))))
            .collect();
        if let Some(correlation) = correlation(&pairs) {
            out.push(metric, Some(counted(correlation)), pairs.len() as u64);
        }
    }
}

/// Pearson's correlation; `None` of fewer than three pairs, or if one side is the same in all of them.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let is_constant = |side: fn(&(f64, f64)) -> f64| pairs.windows(2).all(|two| side(&two[0]) == side(&two[1]));
    if pairs.len() < 3 || is_constant(|pair| pair.0) || is_constant(|pair| pair.1) {
        return None;
    }
    let n = pairs.len() as f64;
    let (x, y) = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / n, sum.1 + pair.1 / n));
    let sums = pairs.iter().fold((0.0, 0.0, 0.0), |sum, pair| {
        let (dx, dy) = (pair.0 - x, pair.1 - y);
        (sum.0 + dx * dy, sum.1 + dx * dx, sum.2 + dy * dy)
    });
    Some(sums.0 / (sums.1 * sums.2).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{burst, flow, query, replication, value};
    use tailcut_record::{BurstRow, write_bursts};

    fn with(bursts: Vec<SeenBurst>) -> Replication {
        Replication { bursts, ..replication(&[flow(0, 1, Some(20))]) }
    }

    #[test]
    fn errors_are_relative_to_the_demand_and_the_worst_one_is_shown_with_both_sides() {
        let warm = SeenBurst { measured: false, ..burst(Some(1), 1000, None) };
        let mut early = burst(Some(5), 1000, None);
        early.burst.was_granted = false;
        let replications =
            [with(vec![burst(Some(900), 1000, None), warm]), with(vec![burst(Some(1500), 1000, None), early])];
        assert_eq!(value("all", "bursts", &replications), Some((1.5, 2)));
        assert_eq!(value("all", "burst_predictions", &replications), Some((2.0, 2)));
        assert_eq!(value("all", "burst_error_mean", &replications), Some((0.3, 2)));
        assert_eq!(value("all", "burst_error_max", &replications), Some((0.5, 2)));
        assert_eq!(value("all", "burst_ratio_at_worst", &replications), Some((1.5, 2)));
        assert_eq!(value("all", "burst_predicted_at_worst", &replications), Some((1500.0, 2)));
        assert_eq!(value("all", "burst_underpredicted_share", &replications), Some((0.5, 2)));
        assert_eq!(value("all", "map_entries_max", &replications), Some((4.0, 2)));
        assert_eq!(value("short", "bursts", &replications), None);
        assert_eq!(value("all", "bursts", &[with(Vec::new())]), None);
    }

    #[test]
    fn fan_in_correlates_with_what_follows_it() {
        let replications = [with(vec![
            burst(None, 100, Some(1)),
            burst(None, 200, Some(2)),
            burst(None, 300, Some(3)),
            burst(None, 9, None),
        ])];
        let (correlation, n) = value("all", "burst_demand_fan_in_correlation", &replications).unwrap();
        assert!((correlation - 1.0).abs() < 1e-12 && n == 3, "{correlation} of {n}");
        assert_eq!(value("all", "burst_gradient_fan_in_correlation", &replications), None);
        // Sums of fractions do not make a correlation of what does not change.
        let pairs: Vec<(f64, f64)> = (0..7).map(|y| (0.1 + 0.2, f64::from(y * y))).collect();
        assert_eq!(super::correlation(&pairs), None);
    }

    #[test]
    fn a_burst_has_the_fan_in_of_the_only_query_that_was_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bursts.parquet");
        write_bursts(&path, &[BurstRow { switch: 0, burst: burst(None, 10, None).burst }]).unwrap();
        let port = PortRow {
            port: 7,
            owner: "leaf0".into(),
            peer: "host0".into(),
            tier: "leaf".into(),
            rate_bps: 1,
            packets: 0,
            bytes: 0,
            utilisation: 0.0,
            drops: Default::default(),
            demotions: 0,
            marks: 0,
            pauses: None,
            queue: None,
            queue_histogram: None,
        };
        let fan_in = |queries: &[QueryRow]| read(&path, std::slice::from_ref(&port), queries).unwrap()[0].fan_in;
        // The burst lasts from 5 to 9 us. A query with the number n is asked at n us.
        assert_eq!(fan_in(&[query(4, 1, Some(4))]), Some(2));
        assert_eq!(fan_in(&[query(1, 1, Some(2)), query(4, 1, None)]), Some(2));
        assert_eq!(fan_in(&[query(3, 1, Some(3)), query(4, 1, Some(4))]), None);
        assert_eq!(fan_in(&[query(10, 1, Some(4))]), None);
    }
}
