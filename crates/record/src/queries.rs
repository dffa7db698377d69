//! Queries: made from the rows of their answers, and `queries.parquet` with a row for each.

use std::collections::BTreeMap;
use std::path::Path;

use parquet::data_type::ByteArray;
use tailcut_base::{Instant, Span};
use tailcut_model::FlowSpec;

use crate::flows::{instant, ns, span};
use crate::group::{Rows, class_names, read_classes, write_rows};
use crate::schema::{Column, QUERY_COLUMNS};
use crate::table::{Group, TableReader, Values, integer};
use crate::{FlowRow, RecordError};

/// What a run leaves of one query: of an incast event.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryRow {
    /// Number of the query in the order in which queries were asked.
    pub query: u32,
    /// Number of the host that asked, and receives the answers.
    pub aggregator: u32,
    /// Traffic class of the answers: an index into the names of the workload's classes.
    pub class: u8,
    /// How many hosts were to answer.
    pub degree: u32,
    /// When it was asked.
    pub asked: Instant,
    /// When the last byte of the last answer was received; `None` if the run ended before: the query is censored.
    pub received: Option<Instant>,
    /// Payload of all answers in bytes.
    pub size: u64,
    /// Answers whose last byte was received.
    pub answers_received: u32,
    /// Data packets of the answers dropped.
    pub drops: u64,
    /// Data packets of the answers that carried bytes sent before.
    pub retransmissions: u64,
    /// Expiries of the retransmission timers of the answers.
    pub timeouts: u64,
    /// Largest number of times that the packet of one byte offset of one answer was dropped.
    pub max_packet_drops: u32,
    /// When the last answer should be received, counted from `asked`.
    pub deadline: Option<Span>,
    /// Whether it counts in the results: it was asked after the warm-up.
    pub measured: bool,
}

impl QueryRow {
    /// Query completion time: from the query to the last byte of its last answer; `None` if the query is censored.
    pub fn qct(&self) -> Option<Span> {
        self.received.map(|at| at.since(self.asked).expect("a query is answered after it was asked"))
    }

    /// Whether the deadline was met; `None` without a deadline. A censored query has not met its deadline.
    pub fn met(&self) -> Option<bool> {
        self.deadline.map(|deadline| self.qct().is_some_and(|qct| qct <= deadline))
    }
}

/// A query of which an answer is not complete.
struct Open {
    row: QueryRow,
    /// Answers whose row is complete.
    answers: u32,
    /// The latest of those that were received.
    last: Instant,
}

/// The queries of which an answer has started and not all are complete.
#[derive(Default)]
pub(crate) struct OpenQueries {
    open: BTreeMap<u32, Open>,
    peak: usize,
}

impl OpenQueries {
    /// A flow starts.
    pub(crate) fn start(&mut self, spec: &FlowSpec) {
        let Some(query) = spec.query else { return };
        self.open.entry(query.id.0).or_insert_with(|| Open {
            row: QueryRow {
                query: query.id.0,
                aggregator: spec.dst.0,
                class: spec.class.0,
                degree: query.degree,
                asked: query.asked,
                received: None,
                size: 0,
                answers_received: 0,
                drops: 0,
                retransmissions: 0,
                timeouts: 0,
                max_packet_drops: 0,
                deadline: query.deadline,
                measured: spec.measured,
            },
            answers: 0,
            last: query.asked,
        });
        self.peak = self.peak.max(self.open.len());
    }

    /// The row of a flow is complete; gives that of its query if it was the last of its answers.
    pub(crate) fn complete(&mut self, flow: &FlowRow) -> Option<QueryRow> {
        let number = flow.query?;
        let open = self.open.get_mut(&number).expect("the query of an answer is open until its last one is complete");
        open.answers += 1;
        let row = &mut open.row;
        row.size += flow.size;
        row.drops += flow.drops;
        row.retransmissions += flow.retransmissions;
        row.timeouts += flow.timeouts;
        row.max_packet_drops = row.max_packet_drops.max(flow.max_packet_drops);
        if let Some(received) = flow.received {
            row.answers_received += 1;
            open.last = open.last.max(received);
        }
        if open.answers < row.degree {
            return None;
        }
        self.open.remove(&number).map(Open::close)
    }

    /// The rows of the queries that are left, of which some answers never started.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = QueryRow> + use<> {
        std::mem::take(&mut self.open).into_values().map(Open::close)
    }

    /// Largest number of bytes that it has held.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.peak * size_of::<(u32, Open)>()
    }
}

impl Open {
    fn close(mut self) -> QueryRow {
        self.row.received = (self.row.answers_received == self.row.degree).then_some(self.last);
        self.row
    }
}

impl Rows for Vec<QueryRow> {
    type Row = QueryRow;
    const TABLE: &'static str = "queries";
    const COLUMNS: &'static [Column] = QUERY_COLUMNS;

    fn push_row(&mut self, row: &QueryRow) {
        self.push(row.clone());
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn get_row(&self, at: usize) -> QueryRow {
        self[at].clone()
    }

    fn sort(&mut self) {
        self.sort_by_key(|row| row.query);
    }

    fn forget(&mut self) {
        self.clear();
    }

    fn held_bytes(&self) -> usize {
        self.capacity() * size_of::<QueryRow>()
    }

    fn values(column: &str, rows: &[QueryRow], classes: &[ByteArray]) -> Values {
        let integers = |get: fn(&QueryRow) -> u64| Values::Integers(rows.iter().map(|row| integer(get(row))).collect());
        let maybe_times = |get: fn(&QueryRow) -> Option<f64>| Values::MaybeDoubles(rows.iter().map(get).collect());
        match column {
            "query" => integers(|row| u64::from(row.query)),
            "aggregator" => integers(|row| u64::from(row.aggregator)),
            "class" => class_names(rows.iter().map(|row| row.class), classes),
            "degree" => integers(|row| u64::from(row.degree)),
            "query_start_ns" => Values::Doubles(rows.iter().map(|row| ns(row.asked)).collect()),
            "end_ns" => maybe_times(|row| row.received.map(ns)),
            "qct_ns" => maybe_times(|row| row.qct().map(Span::as_ns_f64)),
            "size_bytes" => integers(|row| row.size),
            "answers_received" => integers(|row| u64::from(row.answers_received)),
            "drops" => integers(|row| row.drops),
            "retransmissions" => integers(|row| row.retransmissions),
            "timeouts" => integers(|row| row.timeouts),
            "max_packet_drops" => integers(|row| u64::from(row.max_packet_drops)),
            "deadline_ns" => maybe_times(|row| row.deadline.map(Span::as_ns_f64)),
            "met" => Values::MaybeBooleans(rows.iter().map(QueryRow::met).collect()),
            "measured" => Values::Booleans(rows.iter().map(|row| row.measured).collect()),
            other => unreachable!("column {other} of the table of queries has no values"),
        }
    }
}

/// Writes all of `rows` to a file at `path`, which appears when it is complete; `classes` are the names of the
/// workload's traffic classes.
///
/// # Errors
/// If the file cannot be written.
pub fn write_queries(path: &Path, classes: &[String], rows: Vec<QueryRow>) -> Result<(), RecordError> {
    write_rows(path, classes, &rows)
}

/// A file of queries, read.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryFile {
    /// Names of the traffic classes; a row's class is an index into them.
    pub classes: Vec<String>,
    /// The rows in the order of the queries' numbers.
    pub rows: Vec<QueryRow>,
}

/// Reads a file of queries.
///
/// # Errors
/// If the file cannot be read or is not a file of queries of a known schema.
pub fn read_queries(path: &Path) -> Result<QueryFile, RecordError> {
    let table = TableReader::open(path, <Vec<QueryRow>>::TABLE)?;
    let classes = read_classes(&table)?;
    let mut rows = Vec::new();
    for group in table.groups() {
        read_group(&group, &classes, &mut rows)?;
    }
    rows.sort();
    Ok(QueryFile { classes, rows })
}

fn read_group(group: &Group<'_>, classes: &[String], rows: &mut Vec<QueryRow>) -> Result<(), RecordError> {
    let count = |name| group.integers::<u64>(name);
    let number = |name| group.integers::<u32>(name);
    let class = group.text_indices("class", classes)?;
    let (query, aggregator, degree) = (number("query")?, number("aggregator")?, number("degree")?);
    let (size, answers_received) = (count("size_bytes")?, number("answers_received")?);
    let (drops, retransmissions, timeouts) = (count("drops")?, count("retransmissions")?, count("timeouts")?);
    let (max_packet_drops, measured) = (number("max_packet_drops")?, group.booleans("measured")?);
    let (asked, received) = (group.doubles("query_start_ns")?, group.maybe_doubles("end_ns")?);
    let deadline = group.maybe_doubles("deadline_ns")?;
    rows.extend((0..group.rows()).map(|at| QueryRow {
        query: query[at],
        aggregator: aggregator[at],
        class: class[at],
        degree: degree[at],
        asked: instant(asked[at]),
        received: received[at].map(instant),
        size: size[at],
        answers_received: answers_received[at],
        drops: drops[at],
        retransmissions: retransmissions[at],
        timeouts: timeouts[at],
        max_packet_drops: max_packet_drops[at],
        deadline: deadline[at].map(span),
        measured: measured[at],
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use proptest::prelude::*;
    use tailcut_base::HostId;
    use tailcut_model::seat::{DropReason, ReceiverReport, SenderReport, Unfinished};
    use tailcut_model::{ClassId, FlowId, PathFacts, Query, QueryId};

    use super::*;
    use crate::{FlowColumns, GROUP_ROWS, Recorder, Sink};

    /// A row in which every field differs from every other, and from that of any other query.
    fn row(query: u32) -> QueryRow {
        let n = u64::from(query) * 100;
        QueryRow {
            query,
            aggregator: query + 1,
            class: (query % 3) as u8,
            degree: query + 2,
            asked: Instant::from_ps(n + 3),
            received: (query % 4 != 3).then_some(Instant::from_ps(n + 1_000_004)),
            size: n + 5,
            answers_received: query + 6,
            drops: n + 7,
            retransmissions: n + 8,
            timeouts: n + 9,
            max_packet_drops: query + 10,
            deadline: (query % 5 != 1).then_some(Span::from_ps(n + 11)),
            measured: query.is_multiple_of(2),
        }
    }

    fn classes() -> Vec<String> {
        ["short", "long", "incast"].map(str::to_owned).to_vec()
    }

    #[test]
    fn what_is_written_is_read_back_in_the_order_of_queries() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queries.parquet");
        for n in [0, 500, GROUP_ROWS as u32 + 3] {
            let rows: Vec<QueryRow> = (0..n).map(row).collect();
            let mut shuffled = rows.clone();
            shuffled.sort_by_key(|row| tailcut_base::mix64(u64::from(row.query)));
            write_queries(&path, &classes(), shuffled).unwrap();
            assert!(read_queries(&path).unwrap() == QueryFile { classes: classes(), rows }, "{n} rows");
        }
    }

    #[test]
    fn a_file_of_flows_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        crate::write_flows(&path, &classes(), &crate::FlowColumns::new()).unwrap();
        let error = read_queries(&path).unwrap_err().to_string();
        assert!(error.contains("the table flows, not queries"), "{error}");
    }

    #[test]
    fn a_deadline_is_met_up_to_its_last_picosecond_and_never_by_a_censored_query() {
        let at = |asked, received: Option<u64>, deadline: Option<u64>| QueryRow {
            asked: Instant::from_ps(asked),
            received: received.map(Instant::from_ps),
            deadline: deadline.map(Span::from_ps),
            ..row(0)
        };
        let facts = |row: QueryRow| (row.qct().map(Span::as_ps), row.met());
        assert_eq!(facts(at(100, Some(150), Some(50))), (Some(50), Some(true)));
        assert_eq!(facts(at(100, Some(150), Some(49))), (Some(50), Some(false)));
        assert_eq!(facts(at(100, None, Some(49))), (None, Some(false)));
        assert_eq!(facts(at(100, Some(150), None)), (Some(50), None));
    }

    /// Keeps what it gets where the test can see it.
    struct Collected<Row>(Arc<Mutex<Vec<Row>>>);

    impl Sink<FlowColumns> for Collected<FlowRow> {
        fn write(&mut self, rows: &mut FlowColumns) -> Result<(), RecordError> {
            self.0.lock().unwrap().extend(rows.rows());
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<(), RecordError> {
            Ok(())
        }
    }

    impl Sink<Vec<QueryRow>> for Collected<QueryRow> {
        fn write(&mut self, rows: &mut Vec<QueryRow>) -> Result<(), RecordError> {
            self.0.lock().unwrap().append(rows);
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<(), RecordError> {
            Ok(())
        }
    }

    fn answer(query: u32, degree: u32, size: u64) -> FlowSpec {
        let asked = Instant::from_ps(u64::from(query) * 10);
        let deadline = (query % 3 != 2).then(|| Span::from_ps(u64::from(query % 3) * 300 + 400));
        FlowSpec {
            start: asked,
            src: HostId(9),
            dst: HostId(query + 1),
            size,
            class: ClassId((query % 2) as u8),
            query: Some(Query { id: QueryId(query), asked, degree, nth: 0, deadline }),
            connection: 0,
            deadline: None,
            measured: query > 1,
            path: PathFacts::default(),
        }
    }

    /// What happens to a flow: when it starts and its ends report, whether they are cut off instead, and its drops.
    #[derive(Clone, Debug)]
    struct Fate {
        start: u64,
        received: (u64, bool),
        acknowledged: (u64, bool),
        drops: Vec<u64>,
        retransmissions: u64,
        timeouts: u64,
    }

    fn fate() -> impl Strategy<Value = Fate> {
        let end = || (1u64..500, prop::bool::weighted(0.8));
        (0u64..500, end(), end(), prop::collection::vec(0u64..3, 0..5), 0u64..9, 0u64..9).prop_map(
            |(start, received, acknowledged, drops, retransmissions, timeouts)| Fate {
                start,
                received: (start + received.0, received.1),
                acknowledged: (start + acknowledged.0, acknowledged.1),
                drops,
                retransmissions,
                timeouts,
            },
        )
    }

    /// Tells the recorder of these flows, in the order of time.
    fn tell(recorder: &mut Recorder, flows: &[(Option<FlowSpec>, Fate)]) {
        let mut events: Vec<(u64, usize, usize)> = Vec::new();
        for (at, (_, fate)) in flows.iter().enumerate() {
            events.extend([(fate.start, at, 0), (fate.received.0, at, 1), (fate.acknowledged.0, at, 2)]);
        }
        events.sort_unstable();
        for (time, at, kind) in events {
            let (spec, fate) = &flows[at];
            let (flow, now) = (FlowId(at as u32), Instant::from_ps(time + 1_000));
            let seen = ReceiverReport::default();
            let sent = SenderReport { packets: 20, retransmissions: fate.retransmissions, timeouts: fate.timeouts };
            match kind {
                0 => {
                    let alone = || FlowSpec { query: None, ..answer(0, 1, 7) };
                    recorder.start(flow, &spec.clone().unwrap_or_else(alone), Span::from_ps(1));
                    fate.drops.iter().for_each(|&seq| recorder.drop(flow, seq, DropReason::PortFull));
                }
                1 if fate.received.1 => drop(recorder.received(flow, now, seen)),
                1 => recorder.cut_off(Unfinished::Receiver(flow, seen)),
                _ if fate.acknowledged.1 => recorder.acknowledged(flow, now, sent),
                _ => recorder.cut_off(Unfinished::Sender(flow, sent)),
            }
        }
    }

    /// The rows of queries, by the plainest sums over those of flows.
    fn oracle(flows: &[FlowRow], queries: &[(u32, u32)]) -> Vec<QueryRow> {
        let of_query = |&(number, degree): &(u32, u32)| {
            let answers: Vec<&FlowRow> = flows.iter().filter(|row| row.query == Some(number)).collect();
            let sum = |get: fn(&FlowRow) -> u64| answers.iter().map(|row| get(row)).sum::<u64>();
            let ends: Option<Vec<Instant>> = answers.iter().map(|row| row.received).collect();
            QueryRow {
                query: number,
                aggregator: answers[0].dst,
                class: answers[0].class,
                degree,
                asked: answers[0].query_start.unwrap(),
                received: ends.and_then(|ends| ends.into_iter().max()),
                size: sum(|row| row.size),
                answers_received: answers.iter().filter(|row| row.received.is_some()).count() as u32,
                drops: sum(|row| row.drops),
                retransmissions: sum(|row| row.retransmissions),
                timeouts: sum(|row| row.timeouts),
                max_packet_drops: answers.iter().map(|row| row.max_packet_drops).max().unwrap(),
                deadline: answer(number, degree, 1).query.unwrap().deadline,
                measured: answers.iter().all(|row| row.measured),
            }
        };
        queries.iter().map(of_query).collect()
    }

    proptest! {
        /// Whatever happens to flows, and in whatever order: queries are sums over the rows of flows, kept or sent
        /// away.
        #[test]
        fn queries_are_groups_of_flows(
            queries in prop::collection::vec(prop::collection::vec((fate(), 1u64..9_000), 1..5), 0..8),
            alone in prop::collection::vec(fate(), 0..4),
        ) {
            let mut flows: Vec<(Option<FlowSpec>, Fate)> = alone.into_iter().map(|fate| (None, fate)).collect();
            let mut degrees = Vec::new();
            for (number, answers) in (0u32..).zip(&queries) {
                let degree = answers.len() as u32;
                degrees.push((number, degree));
                flows.extend(answers.iter().map(|(fate, size)| (Some(answer(number, degree, *size)), fate.clone())));
            }
            let mut recorder = Recorder::new();
            tell(&mut recorder, &flows);
            let kept = recorder.finish().unwrap();
            let rows: Vec<FlowRow> = kept.flows.rows().collect();
            prop_assert_eq!(rows.len(), flows.len());
            prop_assert_eq!(&kept.queries, &oracle(&rows, &degrees));

            let (to, of) = (Collected::<FlowRow>(Arc::default()), Collected::<QueryRow>(Arc::default()));
            let (sent_flows, sent_queries) = (to.0.clone(), of.0.clone());
            let mut recorder = Recorder::with_sink(Box::new(to)).with_query_sink(Box::new(of));
            tell(&mut recorder, &flows);
            prop_assert!(recorder.finish().unwrap() == crate::Records::default());
            let (mut sent_flows, mut sent_queries) = (sent_flows.lock().unwrap().clone(), sent_queries.lock().unwrap().clone());
            sent_flows.sort_by_key(|row| row.flow);
            sent_queries.sort();
            prop_assert_eq!((sent_flows, sent_queries), (rows, kept.queries));
        }
    }

    #[test]
    fn a_query_of_which_nobody_knows_the_end_is_censored() {
        let mut recorder = Recorder::new();
        for flow in 0..3 {
            recorder.start(FlowId(flow), &answer(4, 3, 100), Span::from_ps(1));
        }
        recorder.received(FlowId(1), Instant::from_ps(500), ReceiverReport::default());
        let rows = recorder.finish().unwrap().queries;
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!((row.received, row.answers_received, row.size, row.met()), (None, 1, 300, Some(false)));
    }

    #[test]
    fn what_is_held_is_that_of_active_queries() {
        let collected = Collected::<QueryRow>(Arc::default());
        let sent = collected.0.clone();
        let mut recorder = Recorder::new().with_query_sink(Box::new(collected));
        let mut held = [0; 2];
        for query in 0..2 * GROUP_ROWS as u32 {
            recorder.start(FlowId(query), &answer(query, 1, 100), Span::from_ps(1));
            recorder.received(FlowId(query), Instant::from_ps(1 << 40), ReceiverReport::default());
            recorder.acknowledged(FlowId(query), Instant::from_ps(1 << 40), SenderReport::default());
            held[query as usize / GROUP_ROWS] = recorder.queries_heap_bytes();
        }
        assert_eq!(held[0], held[1]);
        assert_eq!(sent.lock().unwrap().len(), 2 * GROUP_ROWS, "before the end");
        let rows = recorder.finish().unwrap();
        assert!(rows.queries.is_empty() && rows.flows.len() == 2 * GROUP_ROWS);
    }
}
