//! The rows that a run leaves: one for each flow and one for each port.

use tailcut_base::{Instant, Span};
use tailcut_model::Breakdown;
use tailcut_model::seat::{DropReason, PermissionReport};

use crate::Histogram;

/// What completes a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// Its last byte reaches the receiver.
    #[default]
    Received,
    /// Its sender knows that the receiver has every byte.
    Acknowledged,
}

/// What a run leaves of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRow {
    /// Number of the flow in the order of starts.
    pub flow: u32,
    /// The query that it answered, if it was part of an incast.
    pub query: Option<u32>,
    /// When that query was asked.
    pub query_start: Option<Instant>,
    /// Number of the host that sent it.
    pub src: u32,
    /// Number of the host that received it.
    pub dst: u32,
    /// Traffic class: an index into the names of the workload's classes.
    pub class: u8,
    /// Payload in bytes.
    pub size: u64,
    /// When the application handed it to the sender.
    pub start: Instant,
    /// Whether it counts in the results: it started after the warm-up.
    pub measured: bool,
    /// Whether its sender gave it up; it may have been received all the same.
    pub abandoned: bool,
    /// When the last byte reached the receiver; `None` if the run ended before: the flow is censored.
    pub received: Option<Instant>,
    /// When the sender knew that; `None` if the run ended before.
    pub acknowledged: Option<Instant>,
    /// Which of the two ends its FCT.
    pub completion: Completion,
    /// FCT in an empty network.
    pub ideal: Span,
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Data packets that carried bytes sent before.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Data packets dropped.
    pub drops: u64,
    /// Largest number of times that the packet of one byte offset was dropped.
    pub max_packet_drops: u32,
    /// Data packets that arrived with a lower offset than one before them.
    pub reordered: u64,
    /// Data packets that arrived marked.
    pub ce_marks: u64,
    /// Data packets that arrived and that at least two switches would have marked.
    pub multi_marked: u64,
    /// When it should be received, counted from its start.
    pub deadline: Option<Span>,
    /// What it had to wait for, if it was sent by permission and has ended.
    pub permission: Option<Box<PermissionReport>>,
    /// Where its FCT goes, if that is recorded and the flow is not censored.
    pub breakdown: Option<Box<Breakdown>>,
}

impl FlowRow {
    /// Flow completion time: from the start to what completes the flow; `None` if the flow is censored.
    pub fn fct(&self) -> Option<Span> {
        let end = match self.completion {
            Completion::Received => self.received,
            Completion::Acknowledged => self.acknowledged,
        };
        end.map(|at| at.since(self.start).expect("a flow is completed after its start"))
    }

    /// FCT over the FCT in an empty network; `None` if the flow is censored.
    pub fn slowdown(&self) -> Option<f64> {
        let fct = self.fct()?;
        (self.ideal > Span::ZERO).then(|| fct.as_ps() as f64 / self.ideal.as_ps() as f64)
    }

    /// Whether the deadline was met; `None` without a deadline. A censored flow has not met its deadline.
    pub fn met(&self) -> Option<bool> {
        self.deadline.map(|deadline| self.fct().is_some_and(|fct| fct <= deadline))
    }
}

/// Dropped packets by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCounts([u64; DropReason::ALL.len()]);

impl DropCounts {
    /// Counts one packet.
    #[inline]
    pub fn add(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }

    /// Sets the number of packets dropped for `reason`.
    pub fn set(&mut self, reason: DropReason, packets: u64) {
        self.0[reason as usize] = packets;
    }

    /// Packets dropped for `reason`.
    pub fn get(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// Packets dropped.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every reason with its packets, in the order of the columns.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> {
        DropReason::ALL.into_iter().map(|reason| (reason, self.get(reason)))
    }
}

/// Statistics of the sampled length of one queue, in bytes that wait. The packet on the wire is not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueStatistics {
    /// Mean.
    pub mean_bytes: f64,
    /// Median, nearest rank.
    pub p50_bytes: u64,
    /// 99th percentile, nearest rank.
    pub p99_bytes: u64,
    /// Maximum.
    pub max_bytes: u64,
}

impl QueueStatistics {
    /// Statistics of sampled lengths in bytes; `None` without samples.
    pub fn of(samples: &Histogram) -> Option<QueueStatistics> {
        Some(QueueStatistics {
            mean_bytes: samples.mean()?,
            p50_bytes: samples.quantile(500)?,
            p99_bytes: samples.quantile(990)?,
            max_bytes: samples.max()?,
        })
    }
}

/// What priority flow control did at an output port since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseCounts {
    /// Frames that the port sent, to stop classes on the link in the other direction or to let them go on.
    pub frames: u64,
    /// Time in which the far end had stopped at least one class of the port.
    pub paused: Span,
    /// Packets that waited in the port while their class was stopped, whoever was the cause of it, and left later.
    pub held: u64,
}

/// What a run leaves of one output port and the link that leaves it.
#[derive(Clone, Debug, PartialEq)]
pub struct PortRow {
    /// Number of the port.
    pub port: u32,
    /// Name of the host or switch that it belongs to.
    pub owner: String,
    /// Name of the host or switch at the other end of the link.
    pub peer: String,
    /// Where the owner stands: `host`, `leaf`, `spine` ...
    pub tier: String,
    /// Rate of the link in bit/s.
    pub rate_bps: u64,
    /// Packets sent.
    pub packets: u64,
    /// Bytes sent, headers included.
    pub bytes: u64,
    /// Share of the measured time in which the link was busy, 0 to 1.
    pub utilisation: f64,
    /// Packets dropped.
    pub drops: DropCounts,
    /// Packets let into a lower class than their own.
    pub demotions: u64,
    /// Packets marked with CE.
    pub marks: u64,
    /// What priority flow control did at the port; `None` in a network without it.
    pub pauses: Option<PauseCounts>,
    /// Length of the queue at periodic samples; `None` if it was not sampled.
    pub queue: Option<QueueStatistics>,
    /// For how long the queue was how long, if that was asked for: upper bound in bytes, and the time below it and not
    /// below the bound before.
    pub queue_histogram: Option<Vec<(u64, Span)>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_reasons_are_counted_apart() {
        let mut drops = DropCounts::default();
        for (i, reason) in DropReason::ALL.into_iter().enumerate() {
            for _ in 0..=i {
                drops.add(reason);
            }
        }
        let counted: Vec<u64> = drops.iter().map(|(_, packets)| packets).collect();
        let expected: Vec<u64> = (1..=DropReason::ALL.len() as u64).collect();
        assert_eq!(counted, expected);
        assert_eq!(drops.total(), expected.iter().sum::<u64>());
    }

    #[test]
    fn a_deadline_is_met_up_to_its_last_picosecond_and_never_by_a_censored_flow() {
        let mut row = crate::columns::tests::row(0);
        row.start = Instant::from_ps(100);
        row.received = Some(Instant::from_ps(150));
        row.ideal = Span::from_ps(20);
        row.deadline = Some(Span::from_ps(50));
        row.completion = Completion::Received;
        assert_eq!((row.fct(), row.slowdown(), row.met()), (Some(Span::from_ps(50)), Some(2.5), Some(true)));
        row.deadline = Some(Span::from_ps(49));
        assert_eq!(row.met(), Some(false));
        row.received = None;
        assert_eq!((row.fct(), row.slowdown(), row.met()), (None, None, Some(false)));
        row.deadline = None;
        assert_eq!(row.met(), None);
        // Whoever waits for the ACK needs no receiver to say so.
        row.completion = Completion::Acknowledged;
        row.acknowledged = Some(Instant::from_ps(160));
        assert_eq!((row.fct(), row.slowdown()), (Some(Span::from_ps(60)), Some(3.0)));
    }
}
