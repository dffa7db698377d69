//! Distributions of what single simulations recorded: queues and FCTs.

use std::collections::BTreeMap;

use tailcut_record::{FlowRow, Histogram, read_flows, read_ports, read_queries, read_queues};
use tailcut_results::{ALL, Curve, ports_to_aggregators};

use crate::study_run::SimulationFiles;

/// A cumulative distribution: values, each with the share at or below it.
type Distribution = Vec<(f64, f64)>;

/// The sampled queue lengths of the switch ports of these simulations, in packets.
///
/// # Errors
/// If a simulation did not record them.
pub(crate) fn queues(simulations: &[SimulationFiles<'_>]) -> Result<Distribution, String> {
    let mut all = Histogram::new();
    for files in simulations {
        all.merge(&read_queues(&files.path("queues.parquet")?).map_err(|e| e.to_string())?.all().packets());
    }
    Ok(Curve::of_histogram(&all).points)
}

/// For how long the ports that lead to hosts which ask queries held at most so many KB, over these simulations.
///
/// # Errors
/// If a simulation did not record them.
pub(crate) fn sink_queues(simulations: &[SimulationFiles<'_>]) -> Result<Distribution, String> {
    let mut times: BTreeMap<u64, f64> = BTreeMap::new();
    for files in simulations {
        let queries = read_queries(&files.path("queries.parquet")?).map_err(|e| e.to_string())?;
        let ports = read_ports(&files.path("ports.parquet")?).map_err(|e| e.to_string())?;
        for port in ports_to_aggregators(&queries.rows, &ports) {
            let bins = port.queue_histogram.as_ref();
            for (upper, time) in bins.ok_or("queues have no histograms: `record.queue_histogram` is off")? {
                *times.entry(*upper).or_default() += time.as_ns_f64();
            }
        }
    }
    let total: f64 = times.values().sum();
    let mut before = 0.0;
    let share = |(upper, time): (u64, f64)| {
        before += time;
        // The first bin is that of the empty queue.
        (if upper == 1 { 0.0 } else { upper as f64 / 1e3 }, before / total)
    };
    Ok(times.into_iter().map(share).collect())
}

/// FCTs in ms of the measured flows of a class, over these simulations.
///
/// # Errors
/// If the flows of a simulation cannot be read.
pub(crate) fn fcts(simulations: &[SimulationFiles<'_>], class: &str) -> Result<Distribution, String> {
    let mut times = Vec::new();
    for files in simulations {
        let file = read_flows(&files.path("flows.parquet")?).map_err(|e| e.to_string())?;
        let is_meant = |row: &FlowRow| class == ALL || file.classes[usize::from(row.class)] == class;
        let rows = file.rows.rows().filter(|row| row.measured && is_meant(row));
        times.extend(rows.filter_map(|row| row.fct()).map(|fct| fct.as_ns_f64() / 1e6));
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(Curve::of_sorted(&times).points)
}
