//! Run folders that no simulation made, for tests: lognormal FCTs, and schemes that differ as schemes do.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tailcut_base::{Instant, Seeds, Span, packets, wire_bytes};
use tailcut_model::seat::DropReason;
use tailcut_record::{
    DropCounts, FlowColumns, FlowRow, Histogram, PortRow, QueryRow, QueueSamples, QueueStatistics, write_flows,
    write_ports, write_queries, write_queues,
};

use super::{Axis, EngineFacts, FlowCounts, Load, Point, PointSummary, RunInfo};

/// What to fabricate.
pub(crate) struct Plan {
    pub(crate) schemes: &'static [&'static str],
    pub(crate) axes: &'static [(&'static str, &'static [&'static str])],
    pub(crate) seeds: u64,
    pub(crate) flows: u32,
    pub(crate) classes: &'static [&'static str],
}

/// Four schemes, three loads, two seeds.
pub(crate) const USUAL: Plan = Plan {
    schemes: &["slytherin", "pias", "dctcp", "icon"],
    axes: &[("workload.load", &["0.3", "0.6", "0.9"])],
    seeds: 2,
    flows: 3_000,
    classes: &["short", "incast", "long"],
};

/// What a run of this plan would be called.
pub(crate) fn run_info(plan: &Plan) -> RunInfo {
    let mut places: Vec<Vec<String>> = vec![Vec::new()];
    for (_, values) in plan.axes {
        places = places
            .iter()
            .flat_map(|place| values.iter().map(|value| [place.as_slice(), &[(*value).to_owned()]].concat()))
            .collect();
    }
    let mut points = Vec::new();
    for scheme in plan.schemes {
        for values in &places {
            for seed in 1..=plan.seeds {
                let key = format!("{scheme}-{}-{seed}", values.join("-").replace('/', "_"));
                points.push(Point { key, scheme: (*scheme).to_owned(), values: values.clone(), seed });
            }
        }
    }
    RunInfo {
        name: "fabricated".into(),
        title: "Four schemes on a leaf-spine network <fabricated>".into(),
        version: "0.1.0".into(),
        command: "tailcut run scenarios/leaf_spine.toml --set workload.load=0.3,0.6,0.9 --seeds 2".into(),
        scenario_toml: "title = \"Four schemes & a leaf-spine\"\n\n[topology.leaf-spine]\nleaves = 20\nspines = 10\n\
                        hosts_per_leaf = 20\n\n[workload]\nload = 0.6 # </script> is not the end\n"
            .into(),
        schemes: plan.schemes.iter().map(|&name| name.to_owned()).collect(),
        axes: plan
            .axes
            .iter()
            .map(|(path, values)| Axis {
                path: (*path).to_owned(),
                values: values.iter().map(|&value| value.to_owned()).collect(),
            })
            .collect(),
        seeds: (1..=plan.seeds).collect(),
        classes: plan.classes.iter().map(|&name| name.to_owned()).collect(),
        size_bounds: Vec::new(),
        points,
    }
}

/// Fabricates all points of `plan` in `dir`.
pub(crate) fn fabricate(dir: &Path, plan: &Plan) -> RunInfo {
    let run = run_info(plan);
    for point in &run.points {
        let folder = dir.join("points").join(&point.key);
        fs::create_dir_all(&folder).unwrap();
        fabricate_point(&folder, plan, &run, point);
    }
    run
}

/// A query of the second class that nobody has answered.
fn fabricated_query(query: u32, asked: Instant, measured: bool) -> QueryRow {
    QueryRow {
        query,
        aggregator: query % 400,
        class: 1,
        degree: 0,
        asked,
        received: None,
        size: 0,
        answers_received: 0,
        drops: 0,
        retransmissions: 0,
        timeouts: 0,
        max_packet_drops: 0,
        deadline: Some(Span::from_us(300)),
        measured,
    }
}

/// The load of a point: its first number, or a usual one.
fn load_of(point: &Point) -> f64 {
    point.values.iter().find_map(|value| value.parse().ok()).filter(|load| *load < 1.0).unwrap_or(0.6)
}

fn fabricate_point(folder: &Path, plan: &Plan, run: &RunInfo, point: &Point) {
    let load = load_of(point);
    let scheme = run.schemes.iter().position(|name| *name == point.scheme).unwrap();
    let mut draws = Seeds::new(point.seed).stream("fabricated", scheme as u64 * 1000 + (load * 100.0) as u64);
    let (mut rows, mut queries) = (FlowColumns::new(), Vec::<QueryRow>::new());
    let mut counts = FlowCounts::default();
    let mut drops = DropCounts::default();
    for flow in 0..plan.flows {
        let class = match flow % 20 {
            _ if plan.classes.len() == 1 => 0,
            0 => 2,
            n if n % 3 == 0 => 1,
            _ => 0,
        };
        let size = if class == 2 { 1_000_000 } else { 8_000 + u64::from(draws.below(24_000)) };
        let start = Instant::from_ps(u64::from(flow) * 7_300_123);
        let ideal = Span::from_ps(13_000_000 + wire_bytes(size) * 800);
        // Spread grows with the load, and more so for the later schemes; incast suffers most.
        let spread = (0.15 + 0.25 * scheme as f64 + if class == 1 { 0.4 } else { 0.0 }) * load;
        let slow = 1.0 + load * (0.4 + 0.5 * scheme as f64) * (spread * draws.normal()).exp();
        let timed_out = draws.unit() < 0.002 * load * scheme as f64;
        let mut fct = Span::from_ps((ideal.as_ps() as f64 * slow) as u64);
        if timed_out {
            fct += Span::from_ms(10);
        }
        let finished = !(class == 2 && scheme == 3 && load > 0.8 && draws.unit() < 0.05);
        let dropped = if timed_out { 2 + u64::from(draws.below(3)) } else { 0 };
        for _ in 0..dropped {
            drops.add(DropReason::PortFull);
        }
        let sent = packets(size) + dropped;
        let marks = (sent as f64 * load * 0.3 * draws.unit()) as u64;
        let query = (class == 1).then_some(flow / 20);
        let query_start = query.map(|query| Instant::from_ps(u64::from(query) * 20 * 7_300_123));
        let measured = flow >= plan.flows / 10;
        if let (Some(query), Some(asked)) = (query, query_start) {
            if queries.last().is_none_or(|row| row.query != query) {
                queries.push(fabricated_query(query, asked, measured));
            }
            let row = queries.last_mut().expect("it has just been put there");
            (row.degree, row.answers_received) = (row.degree + 1, row.answers_received + 1);
            row.received = row.received.max(Some(start + fct));
        }
        counts.total += 1;
        counts.finished += u64::from(finished);
        counts.censored += u64::from(!finished);
        rows.push(&FlowRow {
            flow,
            query,
            query_start,
            src: draws.below(400),
            dst: draws.below(400),
            class,
            size,
            start,
            measured,
            received: finished.then_some(start + fct),
            acknowledged: finished.then_some(start + fct + Span::from_us(6)),
            ideal,
            packets: sent,
            retransmissions: dropped,
            timeouts: u64::from(timed_out),
            drops: dropped,
            max_packet_drops: u32::from(timed_out),
            reordered: u64::from(point.scheme == "pias") * (sent / 9),
            ce_marks: marks,
            abandoned: false,
            multi_marked: marks / 3,
            deadline: (class == 0).then_some(ideal * 4),
        });
    }
    write_flows(&folder.join("flows.parquet"), &run.classes, &rows).unwrap();
    write_queries(&folder.join("queries.parquet"), &run.classes, queries).unwrap();

    let mut queues = QueueSamples::new(["leaf", "spine"]);
    for sample in 0..20_000 {
        let busy = draws.unit() < 0.25 * load;
        let packets = if busy { draws.exponential(4.0 + 20.0 * load * (1.0 + scheme as f64)) as u64 } else { 0 };
        queues.add(sample % 2, packets.min(167));
    }
    write_queues(&folder.join("queues.parquet"), &queues).unwrap();
    let mut samples = Histogram::new();
    samples.add_many(0, 90);
    samples.add_many(30_000, 10);
    let port = |port: u32| PortRow {
        port,
        owner: format!("leaf{port}"),
        peer: "spine0".into(),
        tier: "leaf".into(),
        rate_bps: 10_000_000_000,
        packets: 1_000,
        bytes: 1_500_000,
        utilisation: load * (0.9 + 0.02 * f64::from(port)),
        drops,
        demotions: 3,
        marks: 12,
        queue: QueueStatistics::of(&samples),
        queue_histogram: (port == 1).then(|| vec![(1_500, Span::from_us(90)), (30_000, Span::from_ps(10_000_001))]),
    };
    write_ports(&folder.join("ports.parquet"), &[port(0), port(1)]).unwrap();

    let realised = load * (1.0 + 0.03 * draws.normal());
    let loads = [("edge", load * 0.5, realised * 0.5), ("core", load * 0.952, realised * 0.952)]
        .map(|(place, offered, realised)| (place.to_owned(), Load { offered: Some(offered), realised }));
    let hops = u64::from(plan.flows) * 420;
    PointSummary {
        scheme: point.scheme.clone(),
        values: point.values.clone(),
        seed: point.seed,
        end: if counts.censored > 0 { "time limit".into() } else { "all measured flows finished".into() },
        simulated_ns: f64::from(plan.flows) * 7_300.123,
        flows: counts,
        loads: BTreeMap::from(loads),
        drops: drops.iter().map(|(reason, packets)| (reason.name().to_owned(), packets)).collect(),
        engine: EngineFacts {
            packet_hops: hops,
            events: hops + hops / 7,
            cpu_ns: hops * 90,
            wall_ns: hops * 93,
            threads: 1,
            peak_bytes: 48_000_000,
            digest: format!("{:016x}", draws.bits()),
            version: "0.1.0".into(),
        },
        warnings: if load > 0.8 {
            vec!["offered load above 0.8 on the edge: queues may not settle".into()]
        } else {
            vec![]
        },
    }
    .write(&folder.join("summary.json"))
    .unwrap();
}
