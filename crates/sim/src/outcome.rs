//! What a run leaves in memory; `record` writes it to files.

use tailcut_base::{Instant, PortId, Span};
use tailcut_model::FlowSpec;
use tailcut_model::seat::ControllerCounts;
use tailcut_record::{
    BurstRow, DropCounts, FlowColumns, MemoryPoint, PortRow, QueryRow, QueuePoint, QueueSamples, RecordError, Recorder,
    ThroughputBin, Totals,
};
use tailcut_topology::{Network, Node};
use tailcut_workload::{Loads, Realised};

use crate::Scenario;
use crate::packet_losses::PacketLoss;
use crate::stall::Stall;
use crate::trace::Trace;
use crate::window::{self, Window};

/// Why a run has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// It was asked to stop.
    #[error("stopped before its end")]
    Asked,
    /// Flows are open, and nothing goes on.
    #[error("{0}")]
    Stalled(Box<Stall>),
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
    /// What happened, however the network is cut into parts: packet-hops, starts of flows, timers, calls of agents,
    /// messages of the controller, packets that hosts take in late, and what pauses need. Samples are not counted, and
    /// neither are interfaces that become free, for which the calendar of some parts has an event and of others none.
    pub events: u64,
    /// Events that were pending, the mean over all events. It depends on the parts into which a network is cut, because
    /// between them nobody knows what is on its way.
    pub pending: u64,
    /// Most packets that were held at a time, counted in each part.
    pub packets: u64,
    /// Bytes of state held at the peak: arena, ports, calendar, flows.
    pub peak_bytes: u64,
    /// Fingerprint of every landing of every packet: which, where, when. Equal runs have equal digests.
    pub digest: u64,
}

/// The row of a port that has sent nothing.
pub(crate) fn idle_port(network: &Network, port: PortId) -> PortRow {
    let spec = &network.ports()[port];
    PortRow {
        port: port.0,
        owner: network.node_name(spec.owner).to_string(),
        peer: network.node_name(spec.peer).to_string(),
        tier: match spec.owner {
            Node::Host(_) => "host".to_owned(),
            Node::Switch(switch) => network.tier_name(network.switches()[switch].tier).to_owned(),
        },
        rate_bps: spec.rate.as_bps(),
        packets: 0,
        bytes: 0,
        utilisation: 0.0,
        drops: DropCounts::default(),
        demotions: 0,
        marks: 0,
        pauses: None,
        queue: None,
        queue_histogram: None,
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub end: EndReason,
    /// When the last packet landed.
    pub ended_at: Instant,
    /// Start of the measurement window: if `record.window` does not say otherwise, that of the first flow that counts.
    pub measured_from: Instant,
    /// Length of the measurement window: if `record.window` does not say otherwise, until the last arrival if any flows
    /// are generated, and until the end of the run if all are listed or all that count start at once. Zero if nothing
    /// was measured.
    pub measured: Span,
    /// A row for each flow, in the order of their numbers.
    pub flows: FlowColumns,
    /// A row for each query, in the order of their numbers.
    pub queries: Vec<QueryRow>,
    /// A row for each port.
    pub ports: Vec<PortRow>,
    /// Queue lengths sampled over all switch ports in the measurement window.
    pub queues: QueueSamples,
    /// The same over time from the start of the run to its end, by time and port; empty if that is not recorded.
    pub queue_series: Vec<QueuePoint>,
    /// The memories that ports of a switch share over time, by time, switch and port; empty if that is not recorded.
    pub memory_series: Vec<MemoryPoint>,
    /// Bursts that these memories saw, by switch and end; empty if that is not recorded.
    pub bursts: Vec<BurstRow>,
    /// Payload that arrived over time, by time and class; empty if that is not recorded.
    pub throughput: Vec<ThroughputBin>,
    /// Counts over all flows.
    pub totals: Totals,
    /// Control packets dropped.
    pub control_drops: u64,
    /// What the controller counted, if there is one that counts.
    pub controller: Option<ControllerCounts>,
    /// The load that the flows made, over the whole time of arrivals.
    pub realised: Loads,
    /// What happened to each packet of `failures.packets`.
    pub packet_losses: Vec<PacketLoss>,
    /// What was seen by a lens, if there was one.
    pub trace: Option<Trace>,
    /// What the engine did.
    pub engine: Engine,
}

/// When a run ended, and from when to when it was measured.
pub(crate) struct Times {
    /// When the last flow was received.
    pub(crate) ended_at: Instant,
    /// Start of the first flow that counts.
    pub(crate) measured_from: Instant,
    /// End of the measurement window.
    pub(crate) measured_until: Instant,
    /// Start of the last flow.
    pub(crate) last_start: Instant,
}

impl Times {
    /// The times of a run with this measurement window whose flows are all known, in the order of their starts.
    pub(crate) fn of(window: Window, flows: &[FlowSpec], ended_at: Instant) -> Times {
        let last_start = flows.last().map_or(Instant::ZERO, |spec| spec.start);
        let from = flows.iter().find(|spec| spec.measured).map(|spec| spec.start);
        Times::new(window, from, last_start, ended_at)
    }

    /// The times of a run with this measurement window, whose first flow that counts starts at `from`.
    pub(crate) fn new(window: Window, from: Option<Instant>, last_start: Instant, ended_at: Instant) -> Times {
        let until = if window.ends_with_run(from, last_start) { ended_at } else { last_start };
        let measured_from = from.unwrap_or(Instant::ZERO);
        Times { ended_at, measured_from, measured_until: from.map_or(measured_from, |_| until), last_start }
    }

    /// The length of the measurement window.
    pub(crate) fn measured(&self) -> Span {
        self.measured_until.saturating_since(self.measured_from)
    }
}

impl Outcome {
    /// Warnings about this outcome of a scenario: ports and queues that were measured for no time, failures that were
    /// not drawn until its end, and listed packets that were not dropped.
    pub fn warnings(&self, scenario: &Scenario) -> Vec<String> {
        let has_no_length = self.measured == Span::ZERO && !self.ports.is_empty();
        let unmeasured = has_no_length.then(|| window::NO_LENGTH.to_owned());
        let not_dropped = scenario.packet_losses().warnings(&self.packet_losses, self.totals.started);
        unmeasured.into_iter().chain(scenario.outages().warning(self.ended_at)).chain(not_dropped).collect()
    }

    /// The result of a run that has flows, and no switches whose queues, memories or controller could be looked at.
    ///
    /// # Errors
    /// What was recorded could not be kept.
    pub(crate) fn of_flows(
        end: EndReason,
        times: Times,
        recorder: Recorder,
        realised: &Realised,
        ports: Vec<PortRow>,
        engine: Engine,
    ) -> Result<Outcome, Stopped> {
        let totals = *recorder.totals();
        let records = recorder.finish().map_err(Stopped::Record)?;
        Ok(Outcome {
            end,
            ended_at: times.ended_at,
            measured_from: times.measured_from,
            measured: times.measured(),
            flows: records.flows,
            queries: records.queries,
            ports,
            queues: QueueSamples::default(),
            queue_series: Vec::new(),
            memory_series: Vec::new(),
            bursts: Vec::new(),
            throughput: Vec::new(),
            totals,
            control_drops: 0,
            controller: None,
            realised: realised.loads(times.last_start.saturating_since(Instant::ZERO)),
            packet_losses: Vec::new(),
            trace: None,
            engine,
        })
    }
}
