//! The recorder: told by the world what happens to flows, it makes one row of each.
//!
//! The row of a flow is complete when both of its ends have reported, and that of a query when those of all its answers
//! are; the numbers of a complete row never change again. Rows are kept in memory, or go to a sink in groups of
//! [`GROUP_ROWS`](crate::GROUP_ROWS), so that the memory of a long run is that of its active flows and queries.
//!
//! Left out: what a single packet met on its way.

use std::collections::BTreeMap;

use tailcut_base::{Instant, Span};
use tailcut_model::seat::{DropReason, PermissionReport, ReceiverReport, SenderReport, Unfinished};
use tailcut_model::{Breakdown, FlowId, FlowSpec};

use crate::group::{Completed, Sink};
use crate::queries::OpenQueries;
use crate::{Completion, DropCounts, FlowColumns, FlowRow, QueryRow, RecordError};

/// The rows that a recorder kept, each table in the order of its numbers; those that went to a sink are not among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// A row for each flow.
    pub flows: FlowColumns,
    /// A row for each query.
    pub queries: Vec<QueryRow>,
}

/// What has been counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Flows that have started.
    pub started: u64,
    /// Flows whose last byte has reached the receiver.
    pub received: u64,
    /// Payload of those flows in bytes.
    pub received_bytes: u64,
    /// Flows whose sender knows that.
    pub acknowledged: u64,
    /// Flows whose sender gave up, and whose last byte has not reached the receiver.
    pub abandoned: u64,
    /// Payload of those flows in bytes.
    pub abandoned_bytes: u64,
    /// Flows that have started and whose ends have not both reported.
    pub open: u64,
    /// Data packets dropped, the late ones included.
    pub drops: DropCounts,
    /// Data packets dropped after both ends of their flow had reported: needless retransmissions, in no row.
    pub late_drops: u64,
}

/// A row that is not complete yet.
struct Open {
    row: FlowRow,
    sender_reported: bool,
    receiver_reported: bool,
    /// How often the packet at each offset was dropped.
    dropped: BTreeMap<u64, u32>,
}

const _: () = assert!(size_of::<Option<Open>>() <= 224, "a row for each active flow");

/// Makes one row of each flow and of each query.
pub struct Recorder {
    slots: Slots,
    open: Vec<Option<Open>>,
    free: Vec<u32>,
    flows: Completed<FlowColumns>,
    open_queries: OpenQueries,
    queries: Completed<Vec<QueryRow>>,
    completion: Completion,
    totals: Totals,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder::new()
    }
}

/// It goes with the part of the network whose flows it records, from thread to thread.
const _: () = {
    const fn assert_send<T: Send>() {}
    assert_send::<Recorder>();
};

impl Recorder {
    /// A recorder that keeps every row until the end.
    pub fn new() -> Recorder {
        Recorder {
            slots: Slots::default(),
            open: Vec::new(),
            free: Vec::new(),
            flows: Completed::kept(),
            open_queries: OpenQueries::default(),
            queries: Completed::kept(),
            completion: Completion::Received,
            totals: Totals::default(),
        }
    }

    /// A recorder that hands completed rows of flows to `sink` while the run goes on.
    pub fn with_sink(sink: Box<dyn Sink<FlowColumns>>) -> Recorder {
        Recorder { flows: Completed::into_sink(sink), ..Recorder::new() }
    }

    /// The same recorder, which hands completed rows of queries to `sink` while the run goes on.
    #[must_use]
    pub fn with_query_sink(self, sink: Box<dyn Sink<Vec<QueryRow>>>) -> Recorder {
        Recorder { queries: Completed::into_sink(sink), ..self }
    }

    /// The same recorder, for which this completes a flow.
    #[must_use]
    pub fn with_completion(self, completion: Completion) -> Recorder {
        Recorder { completion, ..self }
    }

    /// `flow` starts; it would take `ideal` in an empty network.
    ///
    /// # Panics
    /// If it has started before.
    pub fn start(&mut self, flow: FlowId, spec: &FlowSpec, ideal: Span) {
        let row = FlowRow {
            flow: flow.0,
            query: spec.query.map(|query| query.id.0),
            query_start: spec.query.map(|query| query.asked),
            src: spec.src.0,
            dst: spec.dst.0,
            class: spec.class.0,
            size: spec.size,
            start: spec.start,
            measured: spec.measured,
            abandoned: false,
            received: None,
            acknowledged: None,
            completion: self.completion,
            ideal,
            packets: 0,
            retransmissions: 0,
            timeouts: 0,
            drops: 0,
            max_packet_drops: 0,
            reordered: 0,
            ce_marks: 0,
            multi_marked: 0,
            deadline: spec.deadline,
            permission: None,
            breakdown: None,
        };
        let open = Open { row, sender_reported: false, receiver_reported: false, dropped: BTreeMap::new() };
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.open.push(None);
                u32::try_from(self.open.len() - 1).expect("fewer than 2^32 active flows")
            }
        };
        self.open[slot as usize] = Some(open);
        self.slots.set(flow, slot);
        self.open_queries.start(spec);
        self.totals.started += 1;
        self.totals.open += 1;
    }

    /// A data packet of `flow` whose first byte is at offset `seq` was dropped.
    pub fn drop(&mut self, flow: FlowId, seq: u64, reason: DropReason) {
        self.totals.drops.add(reason);
        let Some(slot) = self.slots.get(flow) else {
            self.totals.late_drops += 1;
            return;
        };
        let open = self.at(slot);
        let times = open.dropped.entry(seq).or_default();
        *times += 1;
        open.row.drops += 1;
        open.row.max_packet_drops = open.row.max_packet_drops.max(*times);
    }

    /// The last byte of `flow` has reached the receiver. Gives the row as it is now if it took less than the ideal.
    ///
    /// # Panics
    /// If the flow is not active or its receiver has reported before.
    pub fn received(&mut self, flow: FlowId, now: Instant, report: ReceiverReport) -> Option<FlowRow> {
        let slot = self.slot(flow);
        self.set_received(slot, Some(now), report);
        let row = &self.at(slot).row;
        let bytes = row.size;
        let taken = now.since(row.start).expect("a flow is received after its start");
        let early = (taken < row.ideal).then(|| row.clone());
        self.totals.received += 1;
        self.totals.received_bytes += bytes;
        self.close(flow, slot);
        early
    }

    /// The sender of `flow` knows that the receiver has every byte.
    ///
    /// # Panics
    /// If the flow is not active or its sender has reported before.
    pub fn acknowledged(&mut self, flow: FlowId, now: Instant, report: SenderReport) {
        self.sender(flow, Some(now), report);
        self.totals.acknowledged += 1;
    }

    /// `flow` was sent by permission, and had to wait for it.
    ///
    /// # Panics
    /// If the sender of the flow has reported before.
    pub fn permitted(&mut self, flow: FlowId, report: PermissionReport) {
        let slot = self.slot(flow);
        self.at(slot).row.permission = Some(Box::new(report));
    }

    /// The FCT of `flow`, which is completed now, goes where `breakdown` says. Told before the report that completes
    /// it.
    ///
    /// # Panics
    /// If the components are not the FCT.
    pub fn attributed(&mut self, flow: FlowId, now: Instant, breakdown: Box<Breakdown>) {
        let slot = self.slot(flow);
        let row = &mut self.at(slot).row;
        let taken = now.since(row.start).expect("a flow is completed after its start");
        assert_eq!(
            breakdown.total(),
            taken,
            "the components of flow {} are its completion time: {breakdown:?}",
            flow.0
        );
        row.breakdown = Some(breakdown);
    }

    /// The sender of `flow` gives up.
    ///
    /// # Panics
    /// If the flow is not active or its sender has reported before.
    pub fn abandoned(&mut self, flow: FlowId, report: SenderReport) {
        let slot = self.slot(flow);
        self.at(slot).row.abandoned = true;
        self.sender(flow, None, report);
    }

    /// The receiver of `flow` lets go of it without every byte.
    ///
    /// # Panics
    /// If the flow is not active or its receiver has reported before.
    pub fn let_go(&mut self, flow: FlowId, report: ReceiverReport) {
        let slot = self.slot(flow);
        self.set_received(slot, None, report);
        self.close(flow, slot);
    }

    /// Whether the sender of `flow`, whose other end is still open, has given up.
    pub fn is_abandoned(&self, flow: FlowId) -> bool {
        self.open_row(flow).is_some_and(|row| row.abandoned)
    }

    /// What is known so far of a flow that is open.
    pub fn open_row(&self, flow: FlowId) -> Option<&FlowRow> {
        let open = self.slots.get(flow).and_then(|slot| self.open[slot as usize].as_ref());
        open.map(|open| &open.row)
    }

    /// The run is cut off while an end of a flow is open.
    ///
    /// # Panics
    /// If the flow is not active or that end has reported before.
    pub fn cut_off(&mut self, end: Unfinished) {
        match end {
            Unfinished::Sender(flow, report) => self.sender(flow, None, report),
            Unfinished::Receiver(flow, report) => self.let_go(flow, report),
        }
    }

    /// What has been counted so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Whether a sink has refused rows, so that a long run can be stopped before its end; [`Recorder::finish`] says
    /// why.
    pub fn has_failed(&self) -> bool {
        self.flows.has_failed() || self.queries.has_failed()
    }

    /// Bytes that the recorder holds on to, the drops of active flows not counted.
    pub fn heap_bytes(&self) -> usize {
        self.slots.heap_bytes()
            + self.open.capacity() * size_of::<Option<Open>>()
            + self.free.capacity() * size_of::<u32>()
            + self.flows.heap_bytes()
            + self.queries_heap_bytes()
    }

    /// The part of them that queries take.
    pub(crate) fn queries_heap_bytes(&self) -> usize {
        self.open_queries.heap_bytes() + self.queries.heap_bytes()
    }

    /// Ends the recording. Flows with an end that has not reported are censored, and the numbers of that end are zero;
    /// so are queries with such an answer. Returns every row in the order of the numbers of flows and queries; none of
    /// those that went to a sink.
    ///
    /// # Errors
    /// If a sink could not store the rows.
    pub fn finish(mut self) -> Result<Records, RecordError> {
        let mut left: Vec<FlowRow> = self.open.iter_mut().filter_map(Option::take).map(|open| open.row).collect();
        left.sort_by_key(|row| row.flow);
        for row in &left {
            self.complete(row);
        }
        for row in self.open_queries.take() {
            self.queries.push(&row);
        }
        Ok(Records { flows: self.flows.finish()?, queries: self.queries.finish()? })
    }

    fn at(&mut self, slot: u32) -> &mut Open {
        self.open[slot as usize].as_mut().expect("an active flow has an open row")
    }

    fn slot(&self, flow: FlowId) -> u32 {
        self.slots.get(flow).expect("an end reports once, and after its flow has started")
    }

    fn set_received(&mut self, slot: u32, received: Option<Instant>, report: ReceiverReport) {
        let open = self.at(slot);
        assert!(!open.receiver_reported, "the receiver of a flow reports once");
        open.receiver_reported = true;
        open.row.received = received;
        open.row.reordered = report.reordered;
        open.row.ce_marks = report.ce_marks;
        open.row.multi_marked = report.multi_marked;
    }

    fn sender(&mut self, flow: FlowId, acknowledged: Option<Instant>, report: SenderReport) {
        let slot = self.slot(flow);
        let open = self.at(slot);
        assert!(!open.sender_reported, "the sender of a flow reports once");
        open.sender_reported = true;
        open.row.acknowledged = acknowledged;
        open.row.packets = report.packets;
        open.row.retransmissions = report.retransmissions;
        open.row.timeouts = report.timeouts;
        self.close(flow, slot);
    }

    /// Completes the row if both ends have reported.
    fn close(&mut self, flow: FlowId, slot: u32) {
        let open = self.at(slot);
        if open.sender_reported && open.receiver_reported {
            let open = self.open[slot as usize].take().expect("an active flow has an open row");
            self.slots.clear(flow);
            self.free.push(slot);
            self.totals.open -= 1;
            if open.row.abandoned && open.row.received.is_none() {
                self.totals.abandoned += 1;
                self.totals.abandoned_bytes += open.row.size;
            }
            self.complete(&open.row);
        }
    }

    fn complete(&mut self, row: &FlowRow) {
        self.flows.push(row);
        if let Some(query) = self.open_queries.complete(row) {
            self.queries.push(&query);
        }
    }
}

const PAGE: usize = 1024;
const NOWHERE: u32 = u32::MAX;

struct Page {
    slots: [u32; PAGE],
    live: u32,
}

/// Where the open row of each active flow is. Pages without active flows are given back; what grows with the run is
/// the table of pages, by 8 bytes for 1024 flows: 32 MiB if a run has all the 2^32 flows that can be numbered.
#[derive(Default)]
struct Slots {
    pages: Vec<Option<Box<Page>>>,
    live_pages: usize,
}

impl Slots {
    fn get(&self, flow: FlowId) -> Option<u32> {
        let page = self.pages.get(flow.0 as usize / PAGE)?.as_ref()?;
        Some(page.slots[flow.0 as usize % PAGE]).filter(|&slot| slot != NOWHERE)
    }

    fn set(&mut self, flow: FlowId, slot: u32) {
        let at = flow.0 as usize / PAGE;
        if at >= self.pages.len() {
            self.pages.resize_with(at + 1, || None);
        }
        let live_pages = &mut self.live_pages;
        let page = self.pages[at].get_or_insert_with(|| {
            *live_pages += 1;
            Box::new(Page { slots: [NOWHERE; PAGE], live: 0 })
        });
        let entry = &mut page.slots[flow.0 as usize % PAGE];
        assert!(*entry == NOWHERE, "a flow starts once");
        *entry = slot;
        page.live += 1;
    }

    fn clear(&mut self, flow: FlowId) {
        let at = flow.0 as usize / PAGE;
        let page = self.pages[at].as_mut().expect("an active flow has a page");
        page.slots[flow.0 as usize % PAGE] = NOWHERE;
        page.live -= 1;
        if page.live == 0 {
            self.pages[at] = None;
            self.live_pages -= 1;
        }
    }

    fn heap_bytes(&self) -> usize {
        self.live_pages * size_of::<Page>() + self.pages.capacity() * size_of::<Option<Box<Page>>>()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::{Arc, Mutex};

    use tailcut_base::HostId;
    use tailcut_model::{ClassId, PathFacts, Query, QueryId};

    use super::*;
    use crate::GROUP_ROWS;

    fn spec(start: u64) -> FlowSpec {
        FlowSpec {
            start: Instant::from_ps(start),
            src: HostId(3),
            dst: HostId(4),
            size: 5_000,
            class: ClassId(1),
            query: None,
            connection: 0,
            deadline: Some(Span::from_ps(800)),
            measured: true,
            path: PathFacts::default(),
        }
    }

    const SENT: SenderReport = SenderReport { packets: 6, retransmissions: 2, timeouts: 1 };
    const SEEN: ReceiverReport = ReceiverReport { packets: 4, reordered: 1, ce_marks: 3, multi_marked: 2 };

    #[test]
    fn a_flow_that_was_given_up_is_counted_once_whatever_its_receiver_says() {
        let nothing = ReceiverReport::default();
        let mut recorder = Recorder::new();
        for flow in 0..4 {
            recorder.start(FlowId(flow), &spec(0), Span::ZERO);
            recorder.abandoned(FlowId(flow), SENT);
            assert!(recorder.is_abandoned(FlowId(flow)));
        }
        // Its last bytes were on their way; the others end by a message, at the end of the run, and never.
        recorder.received(FlowId(0), Instant::from_ps(9), SEEN);
        recorder.let_go(FlowId(1), nothing);
        recorder.cut_off(Unfinished::Receiver(FlowId(2), nothing));
        let totals = *recorder.totals();
        assert_eq!((totals.received, totals.received_bytes), (1, 5_000));
        assert_eq!((totals.abandoned, totals.abandoned_bytes), (2, 10_000));
        assert_eq!((totals.acknowledged, totals.open), (0, 1));
        let rows: Vec<FlowRow> = recorder.finish().unwrap().flows.rows().collect();
        assert!(rows.iter().all(|row| row.abandoned && row.acknowledged.is_none() && row.packets == 6));
        assert_eq!(rows.iter().filter(|row| row.received.is_some()).count(), 1);
    }

    #[test]
    fn a_row_holds_what_both_ends_reported() {
        let mut recorder = Recorder::new();
        let (asked, deadline) = (Instant::from_ps(90), Some(Span::from_ps(809)));
        let query = Query { id: QueryId(7), asked, degree: 1, nth: 0, deadline };
        recorder.start(FlowId(0), &FlowSpec { query: Some(query), ..spec(100) }, Span::from_ps(50));
        for seq in [0, 1460, 1460, 2920] {
            recorder.drop(FlowId(0), seq, DropReason::PortFull);
        }
        recorder.received(FlowId(0), Instant::from_ps(900), SEEN);
        assert_eq!(recorder.totals().open, 1);
        recorder.acknowledged(FlowId(0), Instant::from_ps(950), SENT);
        recorder.drop(FlowId(0), 1460, DropReason::PushedOut);
        let totals = *recorder.totals();
        assert_eq!((totals.started, totals.received, totals.acknowledged, totals.open), (1, 1, 1, 0));
        assert_eq!((totals.received_bytes, totals.drops.total(), totals.late_drops), (5_000, 5, 1));
        let rows: Vec<FlowRow> = recorder.finish().unwrap().flows.rows().collect();
        assert_eq!(
            rows,
            [FlowRow {
                flow: 0,
                query: Some(7),
                query_start: Some(Instant::from_ps(90)),
                src: 3,
                dst: 4,
                class: 1,
                size: 5_000,
                start: Instant::from_ps(100),
                measured: true,
                abandoned: false,
                received: Some(Instant::from_ps(900)),
                acknowledged: Some(Instant::from_ps(950)),
                completion: Completion::Received,
                ideal: Span::from_ps(50),
                packets: 6,
                retransmissions: 2,
                timeouts: 1,
                drops: 4,
                max_packet_drops: 2,
                reordered: 1,
                ce_marks: 3,
                multi_marked: 2,
                deadline: Some(Span::from_ps(800)),
                permission: None,
                breakdown: None,
            }]
        );
    }

    #[test]
    fn a_flow_that_is_cut_off_is_censored_and_keeps_its_numbers() {
        let mut recorder = Recorder::new();
        for flow in 0..3 {
            recorder.start(FlowId(flow), &spec(u64::from(flow)), Span::from_ps(50));
        }
        // The first has arrived and its sender does not know; the second is under way; of the third nothing is known.
        recorder.received(FlowId(0), Instant::from_ps(900), SEEN);
        recorder.cut_off(Unfinished::Sender(FlowId(0), SENT));
        recorder.cut_off(Unfinished::Receiver(FlowId(1), SEEN));
        recorder.cut_off(Unfinished::Sender(FlowId(1), SENT));
        let rows: Vec<FlowRow> = recorder.finish().unwrap().flows.rows().collect();
        let facts: Vec<_> = rows.iter().map(|r| (r.received, r.acknowledged, r.packets, r.ce_marks)).collect();
        assert_eq!(facts, [(Some(Instant::from_ps(900)), None, 6, 3), (None, None, 6, 3), (None, None, 0, 0)]);
    }

    #[test]
    fn rows_come_in_the_order_of_flows_whatever_the_order_of_their_ends() {
        let mut recorder = Recorder::new();
        let flows = 5_000;
        for flow in 0..flows {
            recorder.start(FlowId(flow), &spec(u64::from(flow)), Span::from_ps(50));
        }
        for i in 0..flows {
            // A permutation, because 7 does not divide 5000.
            let flow = FlowId(i * 7 % flows);
            recorder.acknowledged(flow, Instant::from_ps(10_000), SENT);
            recorder.received(flow, Instant::from_ps(10_000), SEEN);
        }
        let rows = recorder.finish().unwrap().flows;
        assert!(rows.rows().map(|row| row.flow).eq(0..flows));
    }

    #[test]
    #[should_panic(expected = "the receiver of a flow reports once")]
    fn an_end_that_reports_twice_is_a_bug() {
        let mut recorder = Recorder::new();
        recorder.start(FlowId(0), &spec(0), Span::from_ps(50));
        recorder.received(FlowId(0), Instant::from_ps(900), SEEN);
        recorder.received(FlowId(0), Instant::from_ps(901), SEEN);
    }

    /// Notes the flows of each group, and refuses groups after the first `accepts`.
    struct Notes {
        groups: Arc<Mutex<Vec<Vec<u32>>>>,
        accepts: usize,
    }

    impl Sink<FlowColumns> for Notes {
        fn write(&mut self, rows: &mut FlowColumns) -> Result<(), RecordError> {
            let mut groups = self.groups.lock().unwrap();
            if groups.len() == self.accepts {
                return Err(RecordError::Format { path: PathBuf::from("notes"), message: "enough".into() });
            }
            groups.push(rows.rows().map(|row| row.flow).collect());
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<(), RecordError> {
            self.groups.lock().unwrap().push(Vec::new());
            Ok(())
        }
    }

    fn run_into(accepts: usize, flows: u32) -> (Result<FlowColumns, RecordError>, Vec<Vec<u32>>, usize) {
        let groups = Arc::new(Mutex::new(Vec::new()));
        let mut recorder = Recorder::with_sink(Box::new(Notes { groups: groups.clone(), accepts }));
        let mut peak = 0;
        for flow in 0..flows {
            recorder.start(FlowId(flow), &spec(u64::from(flow)), Span::from_ps(50));
            recorder.acknowledged(FlowId(flow), Instant::from_ps(1 << 40), SENT);
            if flow + 1 < flows {
                recorder.received(FlowId(flow), Instant::from_ps(1 << 40), SEEN);
            }
            peak = peak.max(recorder.heap_bytes());
        }
        let result = recorder.finish().map(|records| records.flows);
        let groups = groups.lock().unwrap().clone();
        (result, groups, peak)
    }

    #[test]
    fn a_sink_gets_every_row_once_and_memory_does_not_grow_with_the_run() {
        let flows = 4 * GROUP_ROWS as u32 + 10;
        let (result, groups, peak) = run_into(usize::MAX, flows);
        assert!(result.unwrap().is_empty());
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        assert_eq!(sizes, [GROUP_ROWS, GROUP_ROWS, GROUP_ROWS, GROUP_ROWS, 10, 0], "the last call is `finish`");
        assert!(groups.concat().into_iter().eq(0..flows));
        let (_, _, short) = run_into(usize::MAX, GROUP_ROWS as u32 + 10);
        assert!(peak < short + short / 100, "{peak} bytes, {short} in a run of a quarter");
    }

    #[test]
    fn an_active_flow_costs_its_row_and_two_slots() {
        let mut recorder = Recorder::new();
        let flows = 1 << 14;
        for flow in 0..flows {
            recorder.start(FlowId(flow), &spec(0), Span::from_ps(50));
        }
        assert!(recorder.heap_bytes() <= flows as usize * 236, "{} bytes", recorder.heap_bytes());
    }

    #[test]
    fn what_a_sink_refuses_is_told_at_the_end() {
        let (result, groups, _) = run_into(1, 3 * GROUP_ROWS as u32);
        assert_eq!(result.unwrap_err().to_string(), "notes: enough");
        assert_eq!(groups.len(), 1);
    }
}
