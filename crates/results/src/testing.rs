//! Made-up flows, queries and replications, for the tests of statistics.

use std::collections::BTreeMap;

use tailcut_base::{Bytes, Instant, Span};
use tailcut_record::{Burst, Completion, FlowColumns, FlowRow, Histogram, PauseCounts, QueryRow};

use crate::bursts::SeenBurst;
use crate::flow_set::FlowSet;
use crate::point::{EngineFacts, FlowCounts, Load, PointSummary};
use crate::replication::{PortCounts, Replication};
use crate::run::ClassSet;
use crate::statistics::FlowSetStatistics;
use crate::stats::Estimate;

/// A flow of `class` with an FCT of `fct_us`, an ideal one of 10 µs, and 10 packets.
pub(crate) fn flow(flow: u32, class: u8, fct_us: Option<u64>) -> FlowRow {
    let start = Instant::from_ps(u64::from(flow) * 1_000_000);
    let received = fct_us.map(|us| start + Span::from_us(us));
    FlowRow {
        flow,
        query: None,
        query_start: None,
        src: 0,
        dst: 1,
        class,
        size: 10_000,
        start,
        measured: true,
        abandoned: false,
        completion: Completion::Received,
        received,
        acknowledged: received.map(|at| at + Span::from_us(2)),
        ideal: Span::from_us(10),
        packets: 10,
        retransmissions: 0,
        timeouts: 0,
        drops: 0,
        max_packet_drops: 0,
        reordered: 0,
        ce_marks: 0,
        multi_marked: 0,
        deadline: None,
        permission: None,
        breakdown: None,
    }
}

/// A query of `class` that takes `qct_us` and may take 50 µs.
pub(crate) fn query(query: u32, class: u8, qct_us: Option<u64>) -> QueryRow {
    let asked = Instant::from_ps(u64::from(query) * 1_000_000);
    QueryRow {
        query,
        aggregator: 0,
        class,
        degree: 2,
        asked,
        received: qct_us.map(|us| asked + Span::from_us(us)),
        size: 20_000,
        answers_received: 2,
        drops: 0,
        retransmissions: 0,
        timeouts: 0,
        max_packet_drops: 0,
        deadline: Some(Span::from_us(50)),
        measured: true,
    }
}

/// A burst from 5 to 9 µs at port 7, of which half of `demand` was let in; what was predicted was granted.
pub(crate) fn burst(predicted: Option<u64>, demand: u64, fan_in: Option<u32>) -> SeenBurst {
    let burst = Burst {
        port: 7,
        began: Instant::ZERO + Span::from_us(5),
        ended: Instant::ZERO + Span::from_us(9),
        gradient: 1e9,
        predicted,
        was_granted: predicted.is_some(),
        peak: demand / 2,
        demand,
        drops: 1,
        entries: 4,
    };
    SeenBurst { burst, fan_in, measured: true }
}

/// A replication with these flows, no queries, and a network whose numbers all differ.
pub(crate) fn replication(rows: &[FlowRow]) -> Replication {
    Replication {
        summary: PointSummary {
            key: "a-s1-0".into(),
            scheme: "a".into(),
            values: Vec::new(),
            seed: 1,
            end: String::new(),
            simulated_ns: 1.0,
            measured: None,
            flows: FlowCounts::default(),
            loads: BTreeMap::from([("edge".to_owned(), Load { offered: Some(0.5), realised: 0.48 })]),
            drops: BTreeMap::from([("port_full".to_owned(), 7)]),
            engine: EngineFacts {
                packet_hops: 1,
                events: 1,
                cpu_ns: 1,
                wall_ns: 1,
                threads: 1,
                peak_bytes: 1,
                digest: String::new(),
                version: String::new(),
            },
            warnings: Vec::new(),
            overloaded: None,
            fidelity: None,
            controller: BTreeMap::new(),
            placement: BTreeMap::new(),
            files: std::collections::BTreeMap::new(),
        },
        flows: rows.iter().collect::<FlowColumns>(),
        queries: Vec::new(),
        bursts: Vec::new(),
        queues_bytes: Some([0, 0, 0, 7_000].into_iter().fold(Histogram::new(), |mut histogram, bytes| {
            histogram.add(bytes);
            histogram
        })),
        queues: [0, 0, 0, 5].into_iter().fold(Histogram::new(), |mut histogram, packets| {
            histogram.add(packets);
            histogram
        }),
        leaf_queues_busy: std::iter::once(5).fold(Histogram::new(), |mut histogram, packets| {
            histogram.add(packets);
            histogram
        }),
        demotions: 5,
        drops_fabric: 7,
        drops_nic: 3,
        sent_nic: 70,
        by_tiers: [("leaf_to_host", 42, 6), ("leaf_to_spine", 51, 1), ("spine_to_leaf", 50, 0)]
            .map(|(ports, sent, drops)| (ports.to_owned(), PortCounts { sent, marks: 12, drops }))
            .into(),
        pauses: [("leaf_to_host", 4), ("host_to_leaf", 0)]
            .map(|(ports, frames)| (ports.to_owned(), PauseCounts { frames, paused: Span::from_us(3), held: 2 }))
            .into(),
        aggregator_queues_p99: vec![3_000.0, 6_000.0],
        lossy_ports: vec![(0.2, 6), (0.9, 1)],
        max_utilisation: Some(0.9),
        min_core_utilisation: Some(0.4),
        core_imbalance: Some(1.5),
        to_aggregators: (6e9, 1e10),
        to_others: (4e9, 2e10),
    }
}

/// The traffic classes of the replications.
pub(crate) fn classes() -> Vec<String> {
    ["short", "incast", "long"].map(str::to_owned).to_vec()
}

/// The sets of classes of the replications.
pub(crate) fn class_sets() -> Vec<ClassSet> {
    vec![ClassSet { name: "short+incast".to_owned(), classes: vec!["short".to_owned(), "incast".to_owned()] }]
}

/// The sets of flows of the replications.
pub(crate) fn flow_sets(size_bounds: &[Bytes]) -> Vec<FlowSet> {
    FlowSet::of(&classes(), &class_sets(), size_bounds)
}

/// Value and number of samples of a metric of the set of flows `set`.
pub(crate) fn value(set: &str, metric: &str, replications: &[Replication]) -> Option<(f64, u64)> {
    estimate(set, metric, replications).map(|(estimate, n)| (estimate.value, n))
}

/// Estimate and number of samples of a metric of the set of flows `set`.
pub(crate) fn estimate(set: &str, metric: &str, replications: &[Replication]) -> Option<(Estimate, u64)> {
    let sets = flow_sets(&[]);
    let set = sets.iter().find(|known| known.name == set).unwrap();
    let all = FlowSetStatistics::of(set, replications).all;
    let found = all.into_iter().find(|known| known.metric == metric)?;
    Some((found.estimate?, found.n))
}
