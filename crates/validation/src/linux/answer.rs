//! The answer of Linux to a case: as the driver gives it, and the part of it that is stored.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The answer as the driver writes it. Fields that are not compared are in its file only.
#[derive(Clone, Debug, Deserialize)]
pub struct FullAnswer {
    /// Version of the kernel.
    pub kernel: String,
    /// The rounds.
    pub rounds: Vec<FullRound>,
}

/// One round of a [`FullAnswer`].
#[derive(Clone, Debug, Deserialize)]
pub struct FullRound {
    /// Time from the last jiffy whose number is a multiple of 4096 to the base of the round.
    pub wheel_ns: u64,
    /// The flows, in the order of the plan.
    pub flows: Vec<FullFlow>,
    /// Counters of the hosts that changed, by host.
    pub hosts: BTreeMap<String, BTreeMap<String, i64>>,
    /// For each port that had packets: sent, dropped by its queue, dropped before it, marked.
    pub ports: BTreeMap<String, [u64; 4]>,
    /// Packets of traced hosts, a line each.
    #[serde(default)]
    pub trace: Vec<String>,
}

/// One flow of a [`FullRound`].
#[derive(Clone, Debug, Deserialize)]
pub struct FullFlow {
    /// The host that sends it.
    pub src: u32,
    /// When its bytes were handed to the socket, counted from the base of the round.
    pub start_ns: Option<u64>,
    /// Time to the last byte at the receiver.
    pub fct_ns: Option<u64>,
    /// Time to the ACK of the last byte at the sender.
    pub ack_ns: Option<u64>,
    /// Segments that its connection sent again.
    #[serde(default)]
    pub retransmissions: u64,
}

/// What is stored of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The rounds.
    pub rounds: Vec<Round>,
}

/// One round of an [`Answer`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// As [`FullRound::wheel_ns`].
    pub wheel_ns: u64,
    /// For each flow: start and completion time in nanoseconds, -1 if it did not finish, and retransmissions.
    pub flows: Vec<(u64, i64, u64)>,
    /// Expiries of retransmission timers of hosts that send, those of connections that are being opened included.
    pub timeouts: u64,
    /// Packets that ports dropped.
    pub drops: u64,
    /// Packets that ports marked and queued.
    pub marks: u64,
    /// Counters of TCP that changed, the sum of all hosts.
    pub counters: BTreeMap<String, i64>,
}

/// Counters that tell how losses were found and repaired.
const COUNTERS: [&str; 23] = [
    "TCPSynRetrans",
    "TCPLossProbes",
    "TCPLossProbeRecovery",
    "TCPFastRetrans",
    "TCPSlowStartRetrans",
    "TCPLostRetransmit",
    "TCPRenoRecovery",
    "TCPSackRecovery",
    "TCPRenoRecoveryFail",
    "TCPSackRecoveryFail",
    "TCPSackFailures",
    "TCPLossFailures",
    "TCPDSACKRecv",
    "TCPDSACKUndo",
    "TCPFullUndo",
    "TCPPartialUndo",
    "TCPLossUndo",
    "TCPSpuriousRTOs",
    "TCPSpuriousRtxHostQueues",
    "TCPSACKReorder",
    "TCPHystartTrainDetect",
    "TCPHystartDelayDetect",
    "TCPDeliveredCE",
];

impl From<&FullAnswer> for Answer {
    fn from(full: &FullAnswer) -> Answer {
        Answer { rounds: full.rounds.iter().map(Round::from).collect() }
    }
}

impl From<&FullRound> for Round {
    fn from(full: &FullRound) -> Round {
        let of = |flow: &FullFlow| {
            let fct = flow.fct_ns.and_then(|fct| i64::try_from(fct).ok()).unwrap_or(-1);
            (flow.start_ns.unwrap_or(0), fct, flow.retransmissions)
        };
        let mut counters = BTreeMap::new();
        for (name, count) in full.hosts.values().flatten() {
            if COUNTERS.contains(&name.as_str()) {
                *counters.entry(name.clone()).or_insert(0) += count;
            }
        }
        let senders: BTreeSet<String> = full.flows.iter().map(|flow| flow.src.to_string()).collect();
        let of_senders = full.hosts.iter().filter(|(host, _)| senders.contains(*host));
        let timeouts: i64 = of_senders.filter_map(|(_, counters)| counters.get("TCPTimeouts")).sum();
        // RED marks a packet before the queue below it drops it: a full queue is longer than its threshold.
        let queued = |[_, dropped, _, marked]: &[u64; 4]| marked.saturating_sub(*dropped);
        Round {
            wheel_ns: full.wheel_ns,
            flows: full.flows.iter().map(of).collect(),
            timeouts: u64::try_from(timeouts).unwrap_or(0),
            drops: full.ports.values().map(|[_, queue, filters, _]| queue + filters).sum(),
            marks: full.ports.values().map(queued).sum(),
            counters,
        }
    }
}
