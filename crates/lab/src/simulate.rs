//! Simulates one point and writes its files.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant as WallClock;

use tailcut_base::{Instant, Span};
use tailcut_record::{
    Recorder, write_bursts, write_memory_series, write_ports, write_queue_series, write_queues, write_throughput,
};
use tailcut_report::ReportError;
use tailcut_results::{EngineFacts, FidelityError, FlowCounts, Load, MeasuredTime, PointSummary};
use tailcut_sim::model::ControllerCounts;
use tailcut_sim::{Outcome, Scenario, Stall, Stopped, World};

use crate::cpu::CpuClock;
use crate::error::RunError;
use crate::place;
use crate::plan::PlannedPoint;
use crate::recording;
use crate::run_folder::make_room;
use crate::under_way::Teller;
use crate::version::version;

/// What became of a simulation.
pub(crate) enum Simulated {
    /// Its files are written.
    Finished(Box<PointSummary>),
    /// It was asked to stop.
    Stopped,
    /// Nothing goes on in it.
    Stalled(Box<Stall>),
}

/// Runs a point on up to `threads` threads and writes its files into `folder`. `advanced` is told which fraction of it
/// is done, from 0 to 1, and says whether to stop.
///
/// # Errors
/// If a file cannot be written.
///
/// # Panics
/// If the simulation finds a mistake in itself.
pub(crate) fn simulate(
    planned: &PlannedPoint,
    folder: &Path,
    threads: usize,
    clock: &CpuClock,
    advanced: impl Fn(f64) -> bool,
) -> Result<Simulated, RunError> {
    let scenario = planned.scenario().expect("every point was checked before the first one ran");
    make_room(folder).map_err(|source| RunError::Io { path: folder.to_owned(), source })?;
    let writing_ns = Arc::new(AtomicU64::new(0));
    let (recorder, mut files) = recording::recorder(folder, &scenario, &writing_ns)?;
    let mut file = |name: &'static str| {
        files.push(name);
        folder.join(name)
    };
    let expected = scenario.forecast().duration.as_secs_f64();
    let wall = WallClock::now();
    let simulator = scenario.simulator(u32::try_from(threads).unwrap_or(u32::MAX));
    let threads = simulator.threads(&scenario);
    let cpu = clock.start(threads);
    let teller = Teller::new(folder);
    let attempt = simulator.simulate(&scenario, recorder, &mut |now| {
        let fraction = if expected > 0.0 { (now.as_secs_f64() / expected).min(1.0) } else { 0.0 };
        teller.tell(fraction, now);
        if advanced(fraction) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let outcome = match attempt {
        Ok(outcome) => outcome,
        Err(Stopped::Asked) => return Ok(Simulated::Stopped),
        Err(Stopped::Record(error)) => return Err(error.into()),
        Err(Stopped::Stalled(stall)) => return Ok(Simulated::Stalled(stall)),
    };
    let used = Used {
        cpu_ns: cpu.used_ns().saturating_sub(writing_ns.load(Ordering::Relaxed)),
        wall_ns: wall.elapsed().as_nanos() as u64,
        threads,
    };
    drop((cpu, teller));

    write_ports(&file("ports.parquet"), &outcome.ports)?;
    write_queues(&file("queues.parquet"), &outcome.queues)?;
    if scenario.config().record.queue_series {
        write_queue_series(&file("queue_series.parquet"), &outcome.queue_series)?;
    }
    if scenario.config().record.memory {
        write_memory_series(&file("memory_series.parquet"), &outcome.memory_series)?;
        write_bursts(&file("bursts.parquet"), &outcome.bursts)?;
    }
    if let Some(width) = scenario.config().record.throughput {
        write_throughput(&file("throughput.parquet"), scenario.classes(), width, &outcome.throughput)?;
    }
    let summary = summarise(planned, &scenario, &outcome, &used);
    summary.write(folder, &files).map_err(ReportError::from)?;
    Ok(Simulated::Finished(Box::new(summary)))
}

/// Runs a point on one thread, keeps no files, and returns the digest that its `summary.json` would have: equal digests
/// mean the same simulation, event for event.
///
/// # Panics
/// If the simulation finds a mistake in itself.
pub fn digest(planned: &PlannedPoint) -> String {
    let scenario = checked(planned);
    let outcome = scenario.simulator(1).simulate(&scenario, Recorder::new(), &mut |_| ControlFlow::Continue(()));
    // Neither a sink that could fail nor anybody who asks to stop.
    digits(outcome.expect("nothing stops it").engine.digest)
}

/// The same of what happens in a point until then.
///
/// # Panics
/// As [`digest`], and if the point is not simulated packet by packet.
pub fn digest_until(planned: &PlannedPoint, until: Instant) -> String {
    let scenario = checked(planned);
    digits(World::new(&scenario, Recorder::new()).until(until).run().engine.digest)
}

/// How long a point goes on until about so many packets have crossed a link, by its forecast, in whole microseconds;
/// `None` if it has no more of them, or is not simulated packet by packet.
///
/// # Panics
/// As [`digest`].
pub fn beginning(planned: &PlannedPoint, packet_hops: f64) -> Option<Instant> {
    let part = packet_hops / planned.size.packet_hops;
    let scenario = checked(planned);
    (part < 1.0 && scenario.config().fidelity.is_packet())
        .then(|| Instant::ZERO + Span::from_us((scenario.forecast().duration.as_secs_f64() * part * 1e6) as u64))
}

fn checked(planned: &PlannedPoint) -> Scenario {
    planned.scenario().expect("every point of a plan was checked when it was made")
}

/// A digest as results show it.
pub(crate) fn digits(digest: u64) -> String {
    format!("{digest:016x}")
}

/// What a simulation took from the machine.
struct Used {
    cpu_ns: u64,
    wall_ns: u64,
    threads: u32,
}

fn summarise(planned: &PlannedPoint, scenario: &Scenario, outcome: &Outcome, used: &Used) -> PointSummary {
    let point = &planned.point;
    let offered = &scenario.forecast().offered;
    let realised = &outcome.realised;
    let mut loads = BTreeMap::new();
    let mut load = |name: &str, offered: Option<f64>, realised: Option<f64>| {
        if let Some(realised) = realised {
            loads.insert(name.to_owned(), Load { offered, realised });
        }
    };
    load("edge", Some(offered.edge_payload), Some(realised.edge_payload));
    load("edge_wire", Some(offered.edge_wire), Some(realised.edge_wire));
    load("core", offered.core_payload, realised.core_payload);
    load("fabric", offered.fabric_payload, realised.fabric_payload);
    let mut drops: BTreeMap<String, u64> = BTreeMap::new();
    for row in &outcome.ports {
        for (reason, count) in row.drops.iter() {
            *drops.entry(reason.name().to_owned()).or_default() += count;
        }
    }
    let fidelity = planned.fidelity_error(scenario);
    let mut warnings = scenario.warnings();
    warnings.extend(fidelity.as_ref().map(FidelityError::sentence));
    warnings.extend(scenario.forecast().notes.iter().cloned());
    let of_outcome = outcome.warnings(scenario);
    warnings.extend(of_outcome.into_iter().filter(|warning| !scenario.warnings().contains(warning)));
    let totals = &outcome.totals;
    PointSummary {
        key: point.key.clone(),
        scheme: point.scheme.clone(),
        values: point.values.clone(),
        seed: point.seed,
        end: outcome.end.name().to_owned(),
        simulated_ns: outcome.ended_at.as_ps() as f64 / 1e3,
        measured: Some(MeasuredTime {
            from_ns: outcome.measured_from.as_ps() as f64 / 1e3,
            until_ns: (outcome.measured_from + outcome.measured).as_ps() as f64 / 1e3,
            sample_ns: scenario.config().record.queue_sample.as_ns_f64(),
        }),
        flows: FlowCounts {
            total: totals.started,
            finished: totals.received,
            censored: totals.started - totals.received,
        },
        loads,
        drops,
        controller: outcome.controller.iter().flat_map(ControllerCounts::iter).collect(),
        placement: scenario.placed().map(place::needs).unwrap_or_default(),
        engine: EngineFacts {
            packet_hops: outcome.engine.packet_hops,
            events: outcome.engine.events,
            cpu_ns: used.cpu_ns,
            wall_ns: used.wall_ns,
            threads: used.threads,
            peak_bytes: outcome.engine.peak_bytes,
            digest: digits(outcome.engine.digest),
            version: version().to_owned(),
        },
        warnings,
        overloaded: scenario
            .overloaded()
            .first()
            .map(|(link, times)| format!("overloaded: {link} is offered {times:.2} times what it carries")),
        fidelity,
        files: BTreeMap::new(),
    }
}
