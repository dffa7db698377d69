//! `flows.parquet`: a row for each flow.

use std::path::Path;

use parquet::data_type::ByteArray;
use tailcut_base::{Instant, Span};
use tailcut_model::seat::PermissionReport;
use tailcut_model::{Breakdown, Component};

use crate::group::{Rows, class_names, read_classes, write_rows};
use crate::schema::{Column, FLOW_COLUMNS, PERMISSION_COLUMNS, breakdown_column, breakdown_columns};
use crate::table::{Group, TableReader, Values, integer};
use crate::{Completion, FlowColumns, FlowRow, RecordError};

/// Writes all of `rows` to a file at `path`; `classes` are the names of the workload's traffic classes.
///
/// # Errors
/// If the file cannot be written.
pub fn write_flows(path: &Path, classes: &[String], rows: &FlowColumns) -> Result<(), RecordError> {
    write_rows(path, classes, rows)
}

pub(crate) fn ns(at: Instant) -> f64 {
    at.saturating_since(Instant::ZERO).as_ns_f64()
}

impl Rows for FlowColumns {
    type Row = FlowRow;
    const TABLE: &'static str = "flows";
    const COLUMNS: &'static [Column] = FLOW_COLUMNS;

    fn optional(&self) -> Vec<Column> {
        let permissions = self.has_permissions().then(|| PERMISSION_COLUMNS.to_vec());
        let breakdowns = self.has_breakdowns().then(breakdown_columns);
        [permissions, breakdowns].into_iter().flatten().flatten().collect()
    }

    fn push_row(&mut self, row: &FlowRow) {
        self.push(row);
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn get_row(&self, at: usize) -> FlowRow {
        self.row(at)
    }

    fn sort(&mut self) {
        self.sort_by_flow();
    }

    fn forget(&mut self) {
        self.clear();
    }

    fn held_bytes(&self) -> usize {
        self.heap_bytes()
    }

    fn values(column: &str, rows: &[FlowRow], classes: &[ByteArray]) -> Values {
        let integers = |get: fn(&FlowRow) -> u64| Values::Integers(rows.iter().map(|row| integer(get(row))).collect());
        let times = |get: fn(&FlowRow) -> f64| Values::Doubles(rows.iter().map(get).collect());
        let maybe_times = |get: fn(&FlowRow) -> Option<f64>| Values::MaybeDoubles(rows.iter().map(get).collect());
        match column {
            "flow" => integers(|row| u64::from(row.flow)),
            "query" => Values::MaybeIntegers(rows.iter().map(|row| row.query.map(i64::from)).collect()),
            "src" => integers(|row| u64::from(row.src)),
            "dst" => integers(|row| u64::from(row.dst)),
            "class" => class_names(rows.iter().map(|row| row.class), classes),
            "size_bytes" => integers(|row| row.size),
            "start_ns" => times(|row| ns(row.start)),
            "end_ns" => maybe_times(|row| row.received.map(ns)),
            "ack_ns" => maybe_times(|row| row.acknowledged.map(ns)),
            "fct_ns" => maybe_times(|row| row.fct().map(Span::as_ns_f64)),
            "ideal_ns" => times(|row| row.ideal.as_ns_f64()),
            "slowdown" => maybe_times(FlowRow::slowdown),
            "measured" => Values::Booleans(rows.iter().map(|row| row.measured).collect()),
            "abandoned" => Values::Booleans(rows.iter().map(|row| row.abandoned).collect()),
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
            "waited_ns" => maybe_times(|row| row.permission.as_ref().map(|permission| permission.waited.as_ns_f64())),
            "stopped_ns" => maybe_times(|row| row.permission.as_ref().map(|permission| permission.stopped.as_ns_f64())),
            "preemptions" => Values::MaybeIntegers(
                rows.iter()
                    .map(|row| row.permission.as_ref().map(|permission| permission.preemptions.into()))
                    .collect(),
            ),
            other => {
                let component = Component::ALL.into_iter().find(|&component| breakdown_column(component) == other);
                let component =
                    component.unwrap_or_else(|| unreachable!("column {other} of the table of flows has no values"));
                let time = |row: &FlowRow| row.breakdown.as_ref().map(|breakdown| breakdown.get(component).as_ns_f64());
                Values::MaybeDoubles(rows.iter().map(time).collect())
            }
        }
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
    let table = TableReader::open(path, FlowColumns::TABLE)?;
    let classes = read_classes(&table)?;
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
    let (start, ideal) = (group.doubles("start_ns")?, group.doubles("ideal_ns")?);
    let (measured, abandoned) = (group.booleans("measured")?, group.booleans("abandoned")?);
    let (received, acknowledged) = (group.maybe_doubles("end_ns")?, group.maybe_doubles("ack_ns")?);
    let fct = group.maybe_doubles("fct_ns")?;
    let (deadline, query_start) = (group.maybe_doubles("deadline_ns")?, group.maybe_doubles("query_start_ns")?);
    let permission = read_permissions(group)?;
    let breakdown = read_breakdowns(group)?;
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
            abandoned: abandoned[at],
            received: received[at].map(instant),
            acknowledged: acknowledged[at].map(instant),
            completion: completion(start[at], received[at], fct[at]),
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
            permission: permission.get(at).copied().flatten().map(Box::new),
            breakdown: breakdown.get(at).copied().flatten().map(Box::new),
        });
    }
    Ok(())
}

/// What each flow had to wait for; empty if the file does not say.
fn read_permissions(group: &Group<'_>) -> Result<Vec<Option<PermissionReport>>, RecordError> {
    if !group.has("waited_ns") {
        return Ok(Vec::new());
    }
    let (waited, stopped) = (group.maybe_doubles("waited_ns")?, group.maybe_doubles("stopped_ns")?);
    let preemptions = group.maybe_integers("preemptions")?;
    let permission = |at: usize| {
        Some(PermissionReport { waited: span(waited[at]?), stopped: span(stopped[at]?), preemptions: preemptions[at]? })
    };
    Ok((0..group.rows()).map(permission).collect())
}

/// Where the FCT of each flow goes; empty if the file does not say.
fn read_breakdowns(group: &Group<'_>) -> Result<Vec<Option<Breakdown>>, RecordError> {
    if !group.has(&breakdown_column(Component::ALL[0])) {
        return Ok(Vec::new());
    }
    let mut breakdowns = vec![None; group.rows()];
    for component in Component::ALL {
        for (breakdown, time) in breakdowns.iter_mut().zip(group.maybe_doubles(&breakdown_column(component))?) {
            if let Some(time) = time {
                breakdown.get_or_insert_with(Breakdown::default).add(component, span(time));
            }
        }
    }
    Ok(breakdowns)
}

/// What completed a flow, by its times in ns: the ACK of the last byte takes time, so that its moment is another one.
fn completion(start: f64, received: Option<f64>, fct: Option<f64>) -> Completion {
    let taken = received.map(|received| picoseconds(received).saturating_sub(picoseconds(start)));
    if taken == fct.map(picoseconds) { Completion::Received } else { Completion::Acknowledged }
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
    use crate::columns::tests::{attributed_row, permitted_row, rich_row, row};
    use crate::group::GroupWriter;
    use crate::{GROUP_ROWS, RowWriter, Sink};

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
        let kinds = [row, rich_row, permitted_row, attributed_row];
        let rows: Vec<FlowRow> = (0..500).map(|i| kinds[i as usize % 4](i)).collect();
        let shuffled: Vec<FlowRow> = (0..500).map(|i| rows[i * 7 % 500].clone()).collect();
        write_flows(&path, &classes(), &shuffled.iter().collect()).unwrap();
        let read = read_flows(&path).unwrap();
        assert_eq!(read.classes, classes());
        assert_eq!(read.rows.rows().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn only_rows_with_permissions_or_breakdowns_have_their_columns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flows.parquet");
        let kinds = [(row(1), [false, false]), (permitted_row(1), [true, false]), (attributed_row(1), [false, true])];
        for (kind, has) in kinds {
            let rows = [row(0), kind, row(2)];
            write_flows(&path, &classes(), &rows.iter().collect()).unwrap();
            assert_eq!(read_flows(&path).unwrap().rows.rows().collect::<Vec<_>>(), rows);
            let table = TableReader::open(&path, FlowColumns::TABLE).unwrap();
            for group in table.groups() {
                assert_eq!([group.has("preemptions"), group.has("delay_timeout_ns")], has);
            }
        }
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
        let mut writer = RowWriter::create(&path, &classes()).unwrap();
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
        let mut writer = GroupWriter::<_, FlowColumns>::new(full, &classes(), PERMISSION_COLUMNS).unwrap();
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
