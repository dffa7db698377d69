//! `queue_series.parquet`: the queue of every switch port over time, at the periodic samples.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_base::Instant;

use crate::flows::{instant, ns};
use crate::schema::SERIES_COLUMNS;
use crate::table::{TableReader, TableWriter, Values, integer};
use crate::{AtomicFile, GROUP_ROWS, RecordError};

const TABLE: &str = "queue_series";

/// A sample of the queue of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuePoint {
    /// When.
    pub at: Instant,
    /// Number of the port.
    pub port: u32,
    /// Bytes that wait. The packet on the wire is not counted.
    pub bytes: u64,
}

/// Samples over time. Of samples that repeat the one before of the same port, none but the first is kept, and an empty
/// queue is where each port begins: ports with nothing to do cost nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSeries {
    points: Vec<QueuePoint>,
    last: BTreeMap<u32, u64>,
}

impl QueueSeries {
    /// Takes a sample; those of one port come in the order of their times.
    pub fn add(&mut self, point: QueuePoint) {
        if self.last.insert(point.port, point.bytes).unwrap_or(0) != point.bytes {
            self.points.push(point);
        }
    }

    /// The samples, by time and then by port.
    pub fn into_points(mut self) -> Vec<QueuePoint> {
        self.points.sort_unstable();
        self.points
    }
}

/// Writes samples to a file at `path`, which appears when it is complete.
///
/// # Errors
/// If the file cannot be written.
pub fn write_queue_series(path: &Path, points: &[QueuePoint]) -> Result<(), RecordError> {
    let file = AtomicFile::create(path)?;
    let write = || {
        let mut table = TableWriter::new(file, TABLE, SERIES_COLUMNS, &[])?;
        for points in points.chunks(GROUP_ROWS) {
            table.group(SERIES_COLUMNS.iter().map(|column| match column.name.as_ref() {
                "port" => Values::Integers(points.iter().map(|point| i64::from(point.port)).collect()),
                "time_ns" => Values::Doubles(points.iter().map(|point| ns(point.at)).collect()),
                "queue_bytes" => Values::Integers(points.iter().map(|point| integer(point.bytes)).collect()),
                other => unreachable!("column {other} of the table of queues over time has no values"),
            }))?;
        }
        table.finish()
    };
    write().map_err(|e| RecordError::write(path, e))?.commit()
}

/// Reads a file of queues over time.
///
/// # Errors
/// If the file cannot be read or is not one of a known schema.
pub fn read_queue_series(path: &Path) -> Result<Vec<QueuePoint>, RecordError> {
    let table = TableReader::open(path, TABLE)?;
    let mut points = Vec::new();
    for group in table.groups() {
        let (ports, times) = (group.integers::<u32>("port")?, group.doubles("time_ns")?);
        let rows = ports.into_iter().zip(times).zip(group.integers::<u64>("queue_bytes")?);
        points.extend(rows.map(|((port, at), bytes)| QueuePoint { at: instant(at), port, bytes }));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(ps: u64, port: u32, bytes: u64) -> QueuePoint {
        QueuePoint { at: Instant::from_ps(ps), port, bytes }
    }

    #[test]
    fn only_changes_are_kept_and_read_back() {
        let mut series = QueueSeries::default();
        let samples = [(1, 7, 0), (1, 3, 40), (2, 7, 1500), (2, 3, 40), (3, 7, 0), (3, 3, 40), (4, 7, 0), (4, 3, 80)];
        for (ps, port, bytes) in samples {
            series.add(point(ps, port, bytes));
        }
        let points = series.into_points();
        assert_eq!(points, [point(1, 3, 40), point(2, 7, 1500), point(3, 7, 0), point(4, 3, 80)]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queue_series.parquet");
        for points in [points, Vec::new(), (0..GROUP_ROWS as u64 + 1).map(|ps| point(ps, 0, ps)).collect()] {
            write_queue_series(&path, &points).unwrap();
            assert!(read_queue_series(&path).unwrap() == points);
        }
    }
}
