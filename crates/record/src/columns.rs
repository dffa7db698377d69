//! Rows of flows, column by column: about 100 bytes a flow, for runs of millions of flows.

use tailcut_base::{Instant, Span};
use tailcut_model::Breakdown;
use tailcut_model::seat::PermissionReport;

use crate::{Completion, FlowRow};

/// No moment and no duration; no simulation lasts as long.
const NEVER: u64 = u64::MAX;
/// No query.
const NONE: u32 = u32::MAX;

/// What only some workloads have, kept only if any row has it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rare<T>(Vec<T>);

impl<T: Copy + PartialEq> Rare<T> {
    /// Appends the value of row `at`.
    fn push(&mut self, at: usize, value: T, absent: T) {
        if !self.0.is_empty() || value != absent {
            self.0.resize(at, absent);
            self.0.push(value);
        }
    }

    fn get(&self, at: usize, absent: T) -> Option<T> {
        self.0.get(at).copied().filter(|value| *value != absent)
    }
}

/// Rows of flows as columns. Counts of one flow saturate at 2^32 - 1 packets, which is a flow of 6 TB.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowColumns {
    flow: Vec<u32>,
    src: Vec<u32>,
    dst: Vec<u32>,
    class: Vec<u8>,
    measured: Vec<bool>,
    abandoned: Vec<bool>,
    size: Vec<u64>,
    start: Vec<u64>,
    received: Vec<u64>,
    acknowledged: Vec<u64>,
    completion: Vec<Completion>,
    ideal: Vec<u64>,
    packets: Vec<u32>,
    retransmissions: Vec<u32>,
    timeouts: Vec<u32>,
    drops: Vec<u32>,
    max_packet_drops: Vec<u32>,
    reordered: Vec<u32>,
    ce_marks: Vec<u32>,
    multi_marked: Vec<u32>,
    query: Rare<u32>,
    query_start: Rare<u64>,
    deadline: Rare<u64>,
    waited: Rare<u64>,
    stopped: Rare<u64>,
    preemptions: Rare<u32>,
    breakdown: Rare<Breakdown>,
}

/// Applies `$do!` to each column that every row has.
macro_rules! each_column {
    ($do:ident) => {
        $do!(
            flow,
            src,
            dst,
            class,
            measured,
            abandoned,
            size,
            start,
            received,
            acknowledged,
            completion,
            ideal,
            packets,
            retransmissions,
            timeouts,
            drops,
            max_packet_drops,
            reordered,
            ce_marks,
            multi_marked
        )
    };
}

fn count(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn pick<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
    if !column.is_empty() {
        *column = order.iter().map(|&at| column[at as usize]).collect();
    }
}

impl FlowColumns {
    /// No rows.
    pub fn new() -> FlowColumns {
        FlowColumns::default()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.flow.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.flow.is_empty()
    }

    /// Appends a row.
    pub fn push(&mut self, row: &FlowRow) {
        let at = self.len();
        self.flow.push(row.flow);
        self.src.push(row.src);
        self.dst.push(row.dst);
        self.class.push(row.class);
        self.measured.push(row.measured);
        self.abandoned.push(row.abandoned);
        self.size.push(row.size);
        self.start.push(row.start.as_ps());
        self.received.push(row.received.map_or(NEVER, Instant::as_ps));
        self.acknowledged.push(row.acknowledged.map_or(NEVER, Instant::as_ps));
        self.completion.push(row.completion);
        self.ideal.push(row.ideal.as_ps());
        self.packets.push(count(row.packets));
        self.retransmissions.push(count(row.retransmissions));
        self.timeouts.push(count(row.timeouts));
        self.drops.push(count(row.drops));
        self.max_packet_drops.push(row.max_packet_drops);
        self.reordered.push(count(row.reordered));
        self.ce_marks.push(count(row.ce_marks));
        self.multi_marked.push(count(row.multi_marked));
        self.query.push(at, row.query.unwrap_or(NONE), NONE);
        self.query_start.push(at, row.query_start.map_or(NEVER, Instant::as_ps), NEVER);
        self.deadline.push(at, row.deadline.map_or(NEVER, Span::as_ps), NEVER);
        let permission = row.permission.as_deref();
        self.waited.push(at, permission.map_or(NEVER, |permission| permission.waited.as_ps()), NEVER);
        self.stopped.push(at, permission.map_or(NEVER, |permission| permission.stopped.as_ps()), NEVER);
        self.preemptions.push(at, permission.map_or(NONE, |permission| permission.preemptions), NONE);
        // No flow takes no time.
        self.breakdown.push(at, row.breakdown.as_deref().copied().unwrap_or_default(), Breakdown::default());
    }

    /// The row at `at`, counted from 0.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, at: usize) -> FlowRow {
        let moment = |ps: u64| (ps != NEVER).then(|| Instant::from_ps(ps));
        FlowRow {
            flow: self.flow[at],
            query: self.query.get(at, NONE),
            query_start: self.query_start.get(at, NEVER).map(Instant::from_ps),
            src: self.src[at],
            dst: self.dst[at],
            class: self.class[at],
            size: self.size[at],
            start: Instant::from_ps(self.start[at]),
            measured: self.measured[at],
            abandoned: self.abandoned[at],
            received: moment(self.received[at]),
            acknowledged: moment(self.acknowledged[at]),
            completion: self.completion[at],
            ideal: Span::from_ps(self.ideal[at]),
            packets: u64::from(self.packets[at]),
            retransmissions: u64::from(self.retransmissions[at]),
            timeouts: u64::from(self.timeouts[at]),
            drops: u64::from(self.drops[at]),
            max_packet_drops: self.max_packet_drops[at],
            reordered: u64::from(self.reordered[at]),
            ce_marks: u64::from(self.ce_marks[at]),
            multi_marked: u64::from(self.multi_marked[at]),
            deadline: self.deadline.get(at, NEVER).map(Span::from_ps),
            permission: self.permission(at).map(Box::new),
            breakdown: self.breakdown.get(at, Breakdown::default()).map(Box::new),
        }
    }

    fn permission(&self, at: usize) -> Option<PermissionReport> {
        Some(PermissionReport {
            waited: Span::from_ps(self.waited.get(at, NEVER)?),
            stopped: Span::from_ps(self.stopped.get(at, NEVER)?),
            preemptions: self.preemptions.get(at, NONE)?,
        })
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = FlowRow> {
        (0..self.len()).map(|at| self.row(at))
    }

    /// Whether any flow was sent by permission.
    pub fn has_permissions(&self) -> bool {
        !self.preemptions.0.is_empty()
    }

    /// Whether it is known of any flow where its FCT goes.
    pub fn has_breakdowns(&self) -> bool {
        !self.breakdown.0.is_empty()
    }

    /// Puts the rows in the order of the flows' numbers, which is the order of their starts.
    pub fn sort_by_flow(&mut self) {
        if self.flow.is_sorted() {
            return;
        }
        let mut order: Vec<u32> = (0..u32::try_from(self.len()).expect("flow numbers fit 32 bits")).collect();
        order.sort_by_key(|&at| self.flow[at as usize]);
        let rows = self.len();
        self.query.0.resize(if self.query.0.is_empty() { 0 } else { rows }, NONE);
        self.query_start.0.resize(if self.query_start.0.is_empty() { 0 } else { rows }, NEVER);
        self.deadline.0.resize(if self.deadline.0.is_empty() { 0 } else { rows }, NEVER);
        self.waited.0.resize(if self.waited.0.is_empty() { 0 } else { rows }, NEVER);
        self.stopped.0.resize(if self.stopped.0.is_empty() { 0 } else { rows }, NEVER);
        self.preemptions.0.resize(if self.preemptions.0.is_empty() { 0 } else { rows }, NONE);
        self.breakdown.0.resize(if self.breakdown.0.is_empty() { 0 } else { rows }, Breakdown::default());
        macro_rules! pick_all { ($($name:ident),*) => {$( pick(&mut self.$name, &order); )*}; }
        each_column!(pick_all);
        pick(&mut self.query.0, &order);
        pick(&mut self.query_start.0, &order);
        pick(&mut self.deadline.0, &order);
        pick(&mut self.waited.0, &order);
        pick(&mut self.stopped.0, &order);
        pick(&mut self.preemptions.0, &order);
        pick(&mut self.breakdown.0, &order);
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        macro_rules! clear_all { ($($name:ident),*) => {$( self.$name.clear(); )*}; }
        each_column!(clear_all);
        self.query.0.clear();
        self.query_start.0.clear();
        self.deadline.0.clear();
        self.waited.0.clear();
        self.stopped.0.clear();
        self.preemptions.0.clear();
        self.breakdown.0.clear();
    }

    /// Bytes that the columns hold on to.
    pub fn heap_bytes(&self) -> usize {
        fn held<T>(column: &Vec<T>) -> usize {
            column.capacity() * size_of::<T>()
        }
        let mut bytes = held(&self.query.0) + held(&self.query_start.0) + held(&self.deadline.0);
        bytes += held(&self.waited.0) + held(&self.stopped.0) + held(&self.preemptions.0);
        bytes += held(&self.breakdown.0);
        macro_rules! sum_all { ($($name:ident),*) => {$( bytes += held(&self.$name); )*}; }
        each_column!(sum_all);
        bytes
    }
}

impl<'a> FromIterator<&'a FlowRow> for FlowColumns {
    fn from_iter<It: IntoIterator<Item = &'a FlowRow>>(rows: It) -> FlowColumns {
        let mut columns = FlowColumns::new();
        for row in rows {
            columns.push(row);
        }
        columns
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use tailcut_model::Component;

    /// A row in which every field differs from every other, and from that of any other flow.
    pub(crate) fn row(flow: u32) -> FlowRow {
        let n = u64::from(flow) * 100;
        FlowRow {
            flow,
            query: None,
            query_start: None,
            src: flow + 1,
            dst: flow + 2,
            class: (flow % 3) as u8,
            size: n + 3,
            start: Instant::from_ps(n + 4),
            measured: flow.is_multiple_of(2),
            abandoned: flow.is_multiple_of(5),
            received: (flow % 4 != 3).then_some(Instant::from_ps(n + 1_000_005)),
            acknowledged: (flow % 4 < 2).then_some(Instant::from_ps(n + 1_000_006)),
            // A file does not say what would have completed a flow that nobody has seen the end of.
            completion: if flow % 3 == 1 && flow % 4 != 3 { Completion::Acknowledged } else { Completion::Received },
            ideal: Span::from_ps(n + 7),
            packets: n + 8,
            retransmissions: n + 9,
            timeouts: n + 10,
            drops: n + 11,
            max_packet_drops: flow + 12,
            reordered: n + 13,
            ce_marks: n + 14,
            multi_marked: n + 15,
            deadline: None,
            permission: None,
            breakdown: None,
        }
    }

    /// As [`row`], and part of a query with a deadline.
    pub(crate) fn rich_row(flow: u32) -> FlowRow {
        FlowRow {
            query: Some(flow / 2),
            query_start: Some(Instant::from_ps(u64::from(flow))),
            deadline: Some(Span::from_ps(u64::from(flow) + 1_000_000)),
            ..row(flow)
        }
    }

    /// As [`row`], sent by permission.
    pub(crate) fn permitted_row(flow: u32) -> FlowRow {
        let waited = Span::from_ps(u64::from(flow) + 3);
        let stopped = Span::from_ps(u64::from(flow));
        FlowRow { permission: Some(Box::new(PermissionReport { waited, stopped, preemptions: flow })), ..row(flow) }
    }

    /// As [`row`], with a component of its own for each flow.
    pub(crate) fn attributed_row(flow: u32) -> FlowRow {
        let mut breakdown = Breakdown::default();
        breakdown.add(Component::ALL[flow as usize % Component::ALL.len()], Span::from_ps(u64::from(flow) + 1));
        FlowRow { breakdown: Some(Box::new(breakdown)), ..row(flow) }
    }

    proptest! {
        /// Rows go in and come out unchanged, in the order of the flows if sorted, whichever of them have rare fields.
        #[test]
        fn rows_go_in_and_come_out(kinds in prop::collection::vec(0usize..3, 0..40), seed: u64) {
            let mut rows: Vec<FlowRow> =
                (0u32..).zip(&kinds).map(|(i, &kind)| [row, rich_row, attributed_row][kind](i)).collect();
            let sorted = rows.clone();
            rows.sort_by_key(|row| tailcut_base::mix64(seed ^ u64::from(row.flow)));
            let mut columns: FlowColumns = rows.iter().collect();
            prop_assert_eq!(columns.rows().collect::<Vec<_>>(), rows);
            columns.sort_by_flow();
            prop_assert_eq!(columns.rows().collect::<Vec<_>>(), sorted);
            columns.clear();
            prop_assert!(columns.is_empty());
        }
    }

    #[test]
    fn a_flow_with_query_and_deadline_takes_108_bytes() {
        let columns: FlowColumns = (0..1 << 12).map(rich_row).collect::<Vec<_>>().iter().collect();
        assert_eq!(columns.heap_bytes(), 108 << 12, "a power of two of rows leaves no spare capacity");
    }
}
