//! What a run leaves in memory; `record` writes it to files.

use tailcut_base::{Instant, Span};
use tailcut_record::{FlowColumns, PortRow, QueryRow, QueuePoint, QueueSamples, RecordError, ThroughputBin, Totals};
use tailcut_workload::Loads;

/// Why a run has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// It was asked to stop.
    #[error("stopped before its end")]
    Asked,
    /// Its rows could not be stored.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Every flow was finished.
    Finished,
    /// The time to drain was over; unfinished flows are censored.
    CutOff,
}

impl EndReason {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            EndReason::Finished => "finished",
            EndReason::CutOff => "cut-off",
        }
    }
}

/// What the engine did, and a fingerprint of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Packets that crossed a link, counted once for each link.
    pub packet_hops: u64,
    /// Events taken from the calendar.
    pub events: u64,
    /// Bytes of state held at the peak: arena, ports, calendar, flows.
    pub peak_bytes: u64,
    /// Fingerprint of every landing of every packet: which, where, when. Equal runs have equal digests.
    pub digest: u64,
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub end: EndReason,
    /// When the last packet landed.
    pub ended_at: Instant,
    /// Start of the measured time: the first flow that counts.
    pub measured_from: Instant,
    /// Length of the measured time: until the last flow arrived.
    pub measured: Span,
    /// A row for each flow, in the order of their numbers.
    pub flows: FlowColumns,
    /// A row for each query, in the order of their numbers.
    pub queries: Vec<QueryRow>,
    /// A row for each port.
    pub ports: Vec<PortRow>,
    /// Queue lengths sampled over all switch ports.
    pub queues: QueueSamples,
    /// The same over time, by time and port; empty if that is not recorded.
    pub queue_series: Vec<QueuePoint>,
    /// Payload that arrived over time, by time and class; empty if that is not recorded.
    pub throughput: Vec<ThroughputBin>,
    /// Counts over all flows.
    pub totals: Totals,
    /// Control packets dropped.
    pub control_drops: u64,
    /// The load that the flows made, over the whole time of arrivals.
    pub realised: Loads,
    /// What the engine did.
    pub engine: Engine,
}
