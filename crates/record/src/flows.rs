//! `flows.parquet`: a row for each flow.

use std::io::Write;
use std::path::Path;

use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use tailcut_base::{Instant, Span};

use crate::schema::{CLASSES_KEY, FLOW_COLUMNS};
use crate::table::{Group, TableReader, TableWriter, Values, integer};
use crate::{AtomicFile, FlowColumns, FlowRow, FlowSink, GROUP_ROWS, RecordError};

const TABLE: &str = "flows";

/// Writes flows, group by group, into a file that appears when it is complete.
pub struct FlowWriter {
    out: GroupWriter<AtomicFile>,
    file: std::path::PathBuf,
}

impl FlowWriter {
    /// Begins the file at `path`; `classes` are the names of the workload's traffic classes.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path, classes: &[String]) -> Result<FlowWriter, RecordError> {
        let out = GroupWriter::new(AtomicFile::create(path)?, classes).map_err(|e| RecordError::write(path, e))?;
        Ok(FlowWriter { out, file: path.to_owned() })
    }
}

impl FlowSink for FlowWriter {
    fn write(&mut self, rows: &mut FlowColumns) -> Result<(), RecordError> {
        self.out.write(rows).map_err(|e| RecordError::write(&self.file, e))
    }

    fn finish(self: Box<Self>) -> Result<(), RecordError> {
        self.out.table.finish().map_err(|e| RecordError::write(&self.file, e))?.commit()
    }
}

/// Writes all of `rows` to a file at `path`.
///
/// # Errors
/// If the file cannot be written.
pub fn write_flows(path: &Path, classes: &[String], rows: &FlowColumns) -> Result<(), RecordError> {
    let mut writer = Box::new(FlowWriter::create(path, classes)?);
    writer.out.write(rows).map_err(|e| RecordError::write(path, e))?;
    writer.finish()
}

/// Writes groups of rows to anything.
struct GroupWriter<W: Write + Send> {
    table: TableWriter<W>,
    classes: Vec<ByteArray>,
}

impl<W: Write + Send> GroupWriter<W> {
    fn new(out: W, classes: &[String]) -> Result<Self, ParquetError> {
        let names = serde_json::to_string(classes).expect("a list of texts is JSON");
        Ok(GroupWriter {
            table: TableWriter::new(out, TABLE, FLOW_COLUMNS, &[(CLASSES_KEY, names)])?,
            classes: classes.iter().map(|name| ByteArray::from(name.as_str())).collect(),
        })
    }

    fn write(&mut self, rows: &FlowColumns) -> Result<(), ParquetError> {
        for from in (0..rows.len()).step_by(GROUP_ROWS) {
            let rows: Vec<FlowRow> = (from..rows.len().min(from + GROUP_ROWS)).map(|at| rows.row(at)).collect();
            self.table.group(FLOW_COLUMNS.iter().map(|column| values(&column.name, &rows, &self.classes)))?;
        }
        Ok(())
    }
}

pub(crate) fn ns(at: Instant) -> f64 {
    at.saturating_since(Instant::ZERO).as_ns_f64()
}

/// The values of one column.
fn values(column: &str, rows: &[FlowRow], classes: &[ByteArray]) -> Values {
    let integers = |get: fn(&FlowRow) -> u64| Values::Integers(rows.iter().map(|row| integer(get(row))).collect());
    let times = |get: fn(&FlowRow) -> f64| Values::Doubles(rows.iter().map(get).collect());
    let maybe_times = |get: fn(&FlowRow) -> Option<f64>| Values::MaybeDoubles(rows.iter().map(get).collect());
    match column {
        "flow" => integers(|row| u64::from(row.flow)),
        "query" => Values::MaybeIntegers(rows.iter().map(|row| row.query.map(i64::from)).collect()),
        "src" => integers(|row| u64::from(row.src)),
        "dst" => integers(|row| u64::from(row.dst)),
        "class" => {
            let name = |row: &FlowRow| classes.get(usize::from(row.class)).expect("every class has a name").clone();
            Values::Texts(rows.iter().map(name).collect())
        }
        "size_bytes" => integers(|row| row.size),
        "start_ns" => times(|row| ns(row.start)),
        "end_ns" => maybe_times(|row| row.received.map(ns)),
        "ack_ns" => maybe_times(|row| row.acknowledged.map(ns)),
        "fct_ns" => maybe_times(|row| row.fct().map(Span::as_ns_f64)),
        "ideal_ns" => times(|row| row.ideal.as_ns_f64()),
        "slowdown" => maybe_times(FlowRow::slowdown),
        "measured" => Values::Booleans(rows.iter().map(|row| row.measured).collect()),
        "packets" => integers(|row| row.packets),
        "retransmissions" => integers(|row| row.retransmissions),
        "timeouts" => integers(|row| row.timeouts),
        "drops" => integers(|row| row.drops),
        "max_packet_drops" => integers(|row| u64::from(row.max_packet_drops)),
        "reordered" => integers(|row| row.reordered),
        "ce_marks" => integers(|row| row.ce_marks),
        "multi_marked" => integers(|row| row.multi_marked),
        "deadline_ns" => maybe_times(|row| row.deadline.map(Span::as_ns_f64)),
        "met" => Values::MaybeBooleans(rows.iter().map(FlowRow::met).collect()),
        "query_start_ns" => maybe_times(|row| row.query_start.map(ns)),
        other => unreachable!("column {other} of the table of flows has no values"),
    }
}

/// A file of flows, read.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowFile {
    /// Names of the traffic classes; a row's class is an index into them.
    pub classes: Vec<String>,
    /// The rows in the order of the flows' numbers.
    pub rows: FlowColumns,
}

/// Reads a file of flows.
///
/// # Errors
/// If the file cannot be read or is not a file of flows of a known schema.
pub fn read_flows(path: &Path) -> Result<FlowFile, RecordError> {
    let table = TableReader::open(path, TABLE)?;
    let classes: Vec<String> = table
        .metadata(CLASSES_KEY)
        .and_then(|names| serde_json::from_str(names).ok())
        .ok_or_else(|| table.format("it does not name its classes"))?;
    let mut rows = FlowColumns::new();
    for group in table.groups() {
        read_group(&group, &classes, &mut rows)?;
    }
    rows.sort_by_flow();
    Ok(FlowFile { classes, rows })
}

fn read_group(group: &Group<'_>, classes: &[String], rows: &mut FlowColumns) -> Result<(), RecordError> {
    let count = |name| group.integers::<u64>(name);
    let number = |name| group.integers::<u32>(name);
    let (flow, src, dst, query) = (number("flow")?, number("src")?, number("dst")?, group.maybe_integers("query")?);
    let class = group.text_indices("class", classes)?;
    let (size, packets, retransmissions) = (count("size_bytes")?, count("packets")?, count("retransmissions")?);
    let (timeouts, drops, max_packet_drops) = (count("timeouts")?, count("drops")?, number("max_packet_drops")?);
    let (reordered, ce_marks, multi_marked) = (count("reordered")?, count("ce_marks")?, count("multi_marked")?);
    let (start, ideal, measured) =
        (group.doubles("start_ns")?, group.doubles("ideal_ns")?, group.booleans("measured")?);
    let (received, acknowledged) = (group.maybe_doubles("end_ns")?, group.maybe_doubles("ack_ns")?);
    let (deadline, query_start) = (group.maybe_doubles("deadline_ns")?, group.maybe_doubles("query_start_ns")?);
    for at in 0..group.rows() {
        rows.push(&FlowRow {
            flow: flow[at],
            query: query[at],
            query_start: query_start[at].map(instant),
            src: src[at],
            dst: dst[at],
            class: class[at],
            size: size[at],
            start: instant(start[at]),
            measured: measured[at],
            received: received[at].map(instant),
            acknowledged: acknowledged[at].map(instant),
            ideal: span(ideal[at]),
            packets: packets[at],
            retransmissions: retransmissions[at],
            timeouts: timeouts[at],
            drops: drops[at],
            max_packet_drops: max_packet_drops[at],
            reordered: reordered[at],
            ce_marks: ce_marks[at],
            multi_marked: multi_marked[at],
            deadline: deadline[at].map(span),
        });
    }
    Ok(())
}

/// Whole picoseconds from ns with thousandths: exact below 2^51 ps, which is 37 minutes.
fn picoseconds(ns: f64) -> u64 {
    // `as` saturates: a negative time in a damaged file becomes zero.
    (ns * 1000.0).round() as u64
}

pub(crate) fn instant(ns: f64) -> Instant {
    Instant::from_ps(picoseconds(ns))
}

pub(crate) fn span(ns: f64) -> Span {
    Span::from_ps(picoseconds(ns))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io;

    use proptest::prelude::*;

    use super::*;
    use crate::columns::tests::{rich_row, row};

    fn classes() -> Vec<String> {
        ["short", "long", "incast"].map(str::to_owned).to_vec()
    }

    proptest! {
        #[test]
        fn nanoseconds_keep_their_picoseconds(ps in 0u64..1 << 51) {
            prop_assert_eq!(picoseconds(Span::from_ps(ps).as_ns_f64()), ps);
        }
    }

    #[test]
    fn what_is_written_is_read_back_in_the_order_of_flows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flows.parquet");
        let rows: Vec<FlowRow> = (0..500).map(|i| if i % 3 == 0 { rich_row(i) } else { row(i) }).collect();
        let shuffled: Vec<FlowRow> = (0..500).map(|i| rows[i * 7 % 500].clone()).collect();
        write_flows(&path, &classes(), &shuffled.iter().collect()).unwrap();
        let read = read_flows(&path).unwrap();
        assert_eq!(read.classes, classes());
        assert_eq!(read.rows.rows().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn a_table_larger_than_a_group_and_an_empty_one_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flows.parquet");
        for n in [0, GROUP_ROWS as u32 + 3] {
            let rows: FlowColumns = (0..n).map(row).collect::<Vec<_>>().iter().collect();
            write_flows(&path, &classes(), &rows).unwrap();
            assert!(read_flows(&path).unwrap().rows == rows, "{n} rows");
        }
    }

    #[test]
    fn the_same_rows_make_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let rows: FlowColumns = (0..2_000).map(rich_row).collect::<Vec<_>>().iter().collect();
        let bytes = ["a", "b"].map(|name| {
            let path = folder.path().join(name);
            write_flows(&path, &classes(), &rows).unwrap();
            fs::read(path).unwrap()
        });
        assert!(bytes[0] == bytes[1]);
    }

    #[test]
    fn an_unfinished_file_does_not_appear() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flows.parquet");
        let mut rows: FlowColumns = [row(0)].iter().collect();
        let mut writer = FlowWriter::create(&path, &classes()).unwrap();
        writer.write(&mut rows).unwrap();
        assert!(!path.exists());
        drop(writer);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// The device on which every write fails as on a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_as_what_it_is() {
        let rows: FlowColumns = (0..2_000).map(rich_row).collect::<Vec<_>>().iter().collect();
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut writer = GroupWriter::new(full, &classes()).unwrap();
        let error = RecordError::write(Path::new("flows.parquet"), writer.write(&rows).unwrap_err());
        assert!(
            matches!(&error, RecordError::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull),
            "{error}"
        );
        assert!(error.to_string().contains("flows.parquet"), "{error}");
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        fs::write(&path, "not parquet at all").unwrap();
        assert!(matches!(read_flows(&path), Err(RecordError::Format { .. })));
        crate::write_queues(&path, &crate::QueueSamples::new(["leaf"])).unwrap();
        let error = read_flows(&path).unwrap_err().to_string();
        assert!(error.contains("the table queues, not flows"), "{error}");
        assert!(matches!(read_flows(&folder.path().join("none")), Err(RecordError::Read { .. })));
    }
}
