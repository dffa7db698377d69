//! `memory_series.parquet` and `bursts.parquet`: the memories that ports of switches share, over time, and the bursts
//! that they saw.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use parquet::data_type::ByteArray;
use tailcut_base::Instant;
pub use tailcut_model::seat::Burst;

use crate::flows::{instant, ns};
use crate::schema::{BURST_COLUMNS, MEMORY_COLUMNS};
use crate::table::{TableReader, TableWriter, Values, integer};
use crate::{AtomicFile, GROUP_ROWS, RecordError};

const TABLE: &str = "memory_series";
const BURSTS: &str = "bursts";

/// A sample of a memory, or of a port that has a part in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryPoint {
    /// When.
    pub at: Instant,
    /// Number of the switch.
    pub switch: u32,
    /// Number of the port; `None` for the whole memory.
    pub port: Option<u32>,
    /// Bytes that wait.
    pub used: u64,
    /// Bytes that may wait; `None` if there is no end of them.
    pub threshold: Option<u64>,
    /// What the memory takes the port for.
    pub state: Cow<'static, str>,
    /// Entries of what the memory has learned; 0 for a port.
    pub entries: u32,
    /// Packets dropped since the start because the memory was full.
    pub memory_full: u64,
    /// Packets dropped since the start because they were over the threshold.
    pub over_threshold: u64,
}

/// Samples over time. Of samples that repeat the one before of the same port, none but the first is kept.
#[derive(Clone, Debug, Default)]
pub struct MemorySeries {
    points: Vec<MemoryPoint>,
    /// Place of the last sample of each.
    last: BTreeMap<(u32, Option<u32>), usize>,
}

impl MemorySeries {
    /// Takes a sample; those of one port come in the order of their times.
    pub fn add(&mut self, point: MemoryPoint) {
        let key = (point.switch, point.port);
        let is_new = self.last.get(&key).is_none_or(|&last| {
            let last = &self.points[last];
            MemoryPoint { at: last.at, ..point.clone() } != *last
        });
        if is_new {
            self.last.insert(key, self.points.len());
            self.points.push(point);
        }
    }

    /// The samples, by time, switch and port; a memory stands before its ports.
    pub fn into_points(mut self) -> Vec<MemoryPoint> {
        self.points.sort_unstable();
        self.points
    }
}

/// Writes samples to a file at `path`, which appears when it is complete.
///
/// # Errors
/// If the file cannot be written.
pub fn write_memory_series(path: &Path, points: &[MemoryPoint]) -> Result<(), RecordError> {
    let file = AtomicFile::create(path)?;
    let write = || {
        let mut table = TableWriter::new(file, TABLE, MEMORY_COLUMNS, &[])?;
        for points in points.chunks(GROUP_ROWS) {
            let integers =
                |of: fn(&MemoryPoint) -> u64| Values::Integers(points.iter().map(|p| integer(of(p))).collect());
            table.group(MEMORY_COLUMNS.iter().map(|column| match column.name.as_ref() {
                "switch" => integers(|point| point.switch.into()),
                "port" => Values::MaybeIntegers(points.iter().map(|point| point.port.map(i64::from)).collect()),
                "time_ns" => Values::Doubles(points.iter().map(|point| ns(point.at)).collect()),
                "used_bytes" => integers(|point| point.used),
                "threshold_bytes" => {
                    Values::MaybeIntegers(points.iter().map(|point| point.threshold.map(integer)).collect())
                }
                "state" => Values::Texts(points.iter().map(|point| ByteArray::from(&*point.state)).collect()),
                "entries" => integers(|point| point.entries.into()),
                "memory_full_drops" => integers(|point| point.memory_full),
                "over_threshold_drops" => integers(|point| point.over_threshold),
                other => unreachable!("column {other} of the table of memories has no values"),
            }))?;
        }
        table.finish()
    };
    write().map_err(|e| RecordError::write(path, e))?.commit()
}

/// Reads a file of memories over time.
///
/// # Errors
/// If the file cannot be read or is not one of a known schema.
pub fn read_memory_series(path: &Path) -> Result<Vec<MemoryPoint>, RecordError> {
    let table = TableReader::open(path, TABLE)?;
    let mut points = Vec::new();
    for group in table.groups() {
        let (switches, ports) = (group.integers::<u32>("switch")?, group.maybe_integers::<u32>("port")?);
        let (times, used) = (group.doubles("time_ns")?, group.integers::<u64>("used_bytes")?);
        let (thresholds, states) = (group.maybe_integers::<u64>("threshold_bytes")?, group.texts("state")?);
        let entries = group.integers::<u32>("entries")?;
        let (full, over) =
            (group.integers::<u64>("memory_full_drops")?, group.integers::<u64>("over_threshold_drops")?);
        points.extend(states.into_iter().enumerate().map(|(row, state)| MemoryPoint {
            at: instant(times[row]),
            switch: switches[row],
            port: ports[row],
            used: used[row],
            threshold: thresholds[row],
            state: state.into(),
            entries: entries[row],
            memory_full: full[row],
            over_threshold: over[row],
        }));
    }
    Ok(points)
}

/// A burst that the memory of a switch saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstRow {
    /// Number of the switch.
    pub switch: u32,
    /// The burst; its port is a number among those of the whole network.
    pub burst: Burst,
}

/// Writes bursts to a file at `path`, which appears when it is complete.
///
/// # Errors
/// If the file cannot be written.
pub fn write_bursts(path: &Path, rows: &[BurstRow]) -> Result<(), RecordError> {
    let file = AtomicFile::create(path)?;
    let write = || {
        let mut table = TableWriter::new(file, BURSTS, BURST_COLUMNS, &[])?;
        for rows in rows.chunks(GROUP_ROWS) {
            let integers =
                |of: fn(&BurstRow) -> u64| Values::Integers(rows.iter().map(|row| integer(of(row))).collect());
            let doubles = |of: fn(&Burst) -> f64| Values::Doubles(rows.iter().map(|row| of(&row.burst)).collect());
            table.group(BURST_COLUMNS.iter().map(|column| match column.name.as_ref() {
                "switch" => integers(|row| row.switch.into()),
                "port" => integers(|row| row.burst.port.into()),
                "began_ns" => doubles(|burst| ns(burst.began)),
                "ended_ns" => doubles(|burst| ns(burst.ended)),
                "gradient_bps" => doubles(|burst| burst.gradient),
                "predicted_bytes" => {
                    Values::MaybeIntegers(rows.iter().map(|row| row.burst.predicted.map(integer)).collect())
                }
                "was_granted" => Values::Booleans(rows.iter().map(|row| row.burst.was_granted).collect()),
                "peak_bytes" => integers(|row| row.burst.peak),
                "demand_bytes" => integers(|row| row.burst.demand),
                "drops" => integers(|row| row.burst.drops),
                "entries" => integers(|row| row.burst.entries.into()),
                other => unreachable!("column {other} of the table of bursts has no values"),
            }))?;
        }
        table.finish()
    };
    write().map_err(|e| RecordError::write(path, e))?.commit()
}

/// Reads a file of bursts.
///
/// # Errors
/// If the file cannot be read or is not one of a known schema.
pub fn read_bursts(path: &Path) -> Result<Vec<BurstRow>, RecordError> {
    let table = TableReader::open(path, BURSTS)?;
    let mut rows = Vec::new();
    for group in table.groups() {
        let (switches, ports) = (group.integers::<u32>("switch")?, group.integers::<u32>("port")?);
        let (began, ended) = (group.doubles("began_ns")?, group.doubles("ended_ns")?);
        let (gradients, predicted) = (group.doubles("gradient_bps")?, group.maybe_integers::<u64>("predicted_bytes")?);
        let (granted, peaks) = (group.booleans("was_granted")?, group.integers::<u64>("peak_bytes")?);
        let (demands, drops) = (group.integers::<u64>("demand_bytes")?, group.integers::<u64>("drops")?);
        let entries = group.integers::<u32>("entries")?;
        rows.extend((0..switches.len()).map(|row| BurstRow {
            switch: switches[row],
            burst: Burst {
                port: ports[row],
                began: instant(began[row]),
                ended: instant(ended[row]),
                gradient: gradients[row],
                predicted: predicted[row],
                was_granted: granted[row],
                peak: peaks[row],
                demand: demands[row],
                drops: drops[row],
                entries: entries[row],
            },
        }));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(ps: u64, port: Option<u32>, used: u64) -> MemoryPoint {
        MemoryPoint {
            at: Instant::from_ps(ps),
            switch: 3,
            port,
            used,
            threshold: port.map(|_| 7_000),
            state: "burst".into(),
            entries: 2,
            memory_full: 1,
            over_threshold: 5,
        }
    }

    #[test]
    fn only_changes_are_kept_and_read_back() {
        let mut series = MemorySeries::default();
        for sample in
            [point(1, Some(4), 0), point(1, None, 0), point(2, Some(4), 0), point(2, None, 9), point(3, Some(4), 9)]
        {
            series.add(sample);
        }
        let points = series.into_points();
        assert_eq!(points, [point(1, None, 0), point(1, Some(4), 0), point(2, None, 9), point(3, Some(4), 9)]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory_series.parquet");
        for points in [points, Vec::new()] {
            write_memory_series(&path, &points).unwrap();
            assert_eq!(read_memory_series(&path).unwrap(), points);
        }
    }

    #[test]
    fn bursts_are_read_back() {
        let burst = Burst {
            port: 41,
            began: Instant::from_ps(1_500),
            ended: Instant::from_ps(9_000),
            gradient: 30e9,
            predicted: None,
            was_granted: false,
            peak: 1_000_000,
            demand: 1_200_000,
            drops: 3,
            entries: 4,
        };
        let rows = [burst, Burst { predicted: Some(900_000), was_granted: true, ..burst }];
        let rows = rows.map(|burst| BurstRow { switch: 2, burst });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bursts.parquet");
        write_bursts(&path, &rows).unwrap();
        assert_eq!(read_bursts(&path).unwrap(), rows);
    }
}
