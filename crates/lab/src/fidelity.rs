//! How far the flow level and links alone are from packets: measured, kept in a table, and told with every result.
//!
//! `data/flow-errors.csv` has the error for schemes, networks and loads under web search; [`measure`] finds that of
//! a plan at hand on a sample of each point. Both compare the completion times of the same flows, over those that were
//! finished and measured in both.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tailcut_base::{Span, on_threads};
use tailcut_record::{FlowRow, Recorder};
use tailcut_results::{FidelityError, Level, MeasuredError};
use tailcut_sim::config::{Failures, Fidelity};
use tailcut_sim::{Config, LinksConfig, Outcome, Problem, Scenario};

use crate::plan::{Plan, PlannedPoint};

/// The table that ships.
const SHIPPED: &str = include_str!("../../../data/flow-errors.csv");
/// Flows of a sample: enough for ten above the 99th percentile.
const SAMPLE_FLOWS: f64 = 1_000.0;

/// Loads of the busiest link that are taken for alike, by the highest of each class.
const LOADS: [f64; 3] = [0.4, 0.7, 0.9];

/// An error, and what it is that of.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was simulated instead of packets.
    pub level: Level,
    /// The scheme.
    pub scheme: String,
    /// The topology.
    pub network: String,
    /// The highest load of its class; `None` above all of them, or if the load is not known.
    pub load: Option<f64>,
    /// The error.
    pub error: MeasuredError,
}

/// The table as text.
pub fn table(rows: &[Row]) -> String {
    let mut text = "fidelity,scheme,network,load_to,flows,mean,p99,slowdown_p99\n".to_owned();
    for Row { level, scheme, network, load, error: MeasuredError { flows, mean, p99, slowdown_p99 } } in rows {
        let load = load.map_or_else(String::new, |load| load.to_string());
        let level = level.word();
        text += &format!("{level},{scheme},{network},{load},{flows},{mean:.4},{p99:.4},{slowdown_p99:.4}\n");
    }
    text
}

/// The rows of a table that [`table`] has written.
///
/// # Errors
/// The line that is none.
pub fn rows(text: &str) -> Result<Vec<Row>, String> {
    let row = |line: &str| -> Option<Row> {
        let fields: Vec<&str> = line.split(',').collect();
        let &[level, scheme, network, load, flows, mean, p99, slowdown_p99] = &fields[..] else { return None };
        Some(Row {
            level: Level::of_word(level)?,
            scheme: scheme.to_owned(),
            network: network.to_owned(),
            load: if load.is_empty() { None } else { Some(load.parse().ok()?) },
            error: MeasuredError {
                flows: flows.parse().ok()?,
                mean: mean.parse().ok()?,
                p99: p99.parse().ok()?,
                slowdown_p99: slowdown_p99.parse().ok()?,
            },
        })
    };
    text.lines().skip(1).map(|line| row(line).ok_or_else(|| line.to_owned())).collect()
}

/// The network of a scenario and the class of its load.
fn class(scenario: &Scenario) -> (String, Option<f64>) {
    let network = scenario.config().values(&["topology"]).remove("topology").unwrap_or_default();
    let load = scenario.link_loads().busiest();
    (network, LOADS.into_iter().find(|&to| 0.0 < load && load <= to))
}

/// The tables of a scenario by which its network is another one than the topology of its name, in which errors were
/// measured: there, all paths between two hosts are alike, and no link fails.
fn changed(config: &Config) -> Vec<&'static str> {
    let tables = [
        ("[link]", config.link.is_empty()),
        ("[network]", config.network.is_default()),
        ("[failures]", config.failures == Failures::default()),
    ];
    tables.into_iter().filter(|(_, is_as_measured)| !is_as_measured).map(|(table, _)| table).collect()
}

/// What a scenario has instead of every packet in the whole network; `None` for packets and for ideals, which are no
/// estimate of them.
fn level(scenario: &Scenario) -> Option<Level> {
    match scenario.config().fidelity {
        Fidelity::Flow => Some(Level::Flow),
        Fidelity::Links(_) => Some(Level::Links),
        Fidelity::Packet | Fidelity::Ideal(_) => None,
    }
}

/// How far a scenario is from packets; `None` if it has them, or is an ideal.
pub(crate) fn error_of(scheme: &str, scenario: &Scenario, measured: Option<MeasuredError>) -> Option<FidelityError> {
    let level = level(scenario)?;
    if measured.is_some() {
        return Some(FidelityError { level, of: format!("{scheme} here, on a sample"), measured });
    }
    let (network, load) = class(scenario);
    let shipped = rows(SHIPPED).expect("the table that ships is right");
    // The table is of links as they are simulated by default.
    let is_default = matches!(scenario.config().fidelity, Fidelity::Flow | Fidelity::Links(LinksConfig::DEFAULT));
    let changed = changed(scenario.config());
    let is_alike = |row: &&Row| {
        row.level == level && row.scheme == scheme && row.network == network && is_default && changed.is_empty()
    };
    let found = load.and_then(|load| shipped.iter().filter(is_alike).find(|row| row.load == Some(load)));
    let load = load.map_or_else(|| "a load that has no class".to_owned(), |load| format!("load to {load}"));
    let under = if found.is_some() { ", under web search" } else { "" };
    let changed = if changed.is_empty() { String::new() } else { format!(" with `{}`", changed.join("` and `")) };
    let of = format!("{scheme}, {network}{changed}, {load}{under}");
    Some(FidelityError { level, of, measured: found.map(|row| row.error) })
}

/// A configuration with about so many flows as a sample.
fn sample(config: &mut Config, expected: f64) {
    if expected <= SAMPLE_FLOWS {
        return;
    }
    let part = SAMPLE_FLOWS / expected;
    if let Some(flows) = &mut config.workload.flows {
        *flows = (*flows as f64 * part).ceil() as u64;
    }
    if let Some(duration) = &mut config.workload.duration {
        *duration = Span::from_secs_f64(duration.as_secs_f64() * part);
    }
}

/// FCTs in seconds and slowdowns of the flows that are finished and measured, by their numbers.
fn fcts(outcome: &Outcome) -> Vec<Option<(f64, f64)>> {
    let row = |row: FlowRow| {
        let fct = row.fct().filter(|_| row.measured)?;
        Some((fct.as_secs_f64(), row.slowdown()?))
    };
    outcome.flows.rows().map(row).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The 99th percentile, the nearest rank.
fn p99(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[(values.len() * 99).div_ceil(100) - 1]
}

/// The error of flows against the same flows with packets; `None` if there are none.
fn error_against(packets: &Outcome, outcome: &Outcome) -> Option<MeasuredError> {
    let both = fcts(packets).into_iter().zip(fcts(outcome)).filter_map(|(packet, other)| packet.zip(other));
    let (of_packets, of_other): (Vec<_>, Vec<_>) = both.unzip();
    if of_packets.is_empty() {
        return None;
    }
    let flows = of_packets.len() as u64;
    let [(fcts, slowdowns), (other_fcts, other_slowdowns)]: [(Vec<f64>, Vec<f64>); 2] =
        [of_packets, of_other].map(|of| of.into_iter().unzip());
    Some(MeasuredError {
        flows,
        mean: mean(&other_fcts) / mean(&fcts) - 1.0,
        p99: p99(other_fcts) / p99(fcts) - 1.0,
        slowdown_p99: p99(other_slowdowns) / p99(slowdowns) - 1.0,
    })
}

/// Runs a sample of a point as it is and with packets; `None` if it was stopped or stalled, or no flow can be compared.
fn compare(planned: &PlannedPoint, stop: &(dyn Fn() -> bool + Sync)) -> Result<Option<MeasuredError>, Problem> {
    let whole = planned.scenario()?;
    let mut config = whole.config().clone();
    sample(&mut config, whole.forecast().flows);
    let run = |fidelity| {
        let config = Config { fidelity, ..config.clone() };
        let scenario = Scenario::from_config(config, whole.seed(), planned.files()).map_err(|invalid| {
            Problem::new(format!("a sample of {} cannot be run: {}", planned.point.key, invalid.message))
        })?;
        let mut go_on = |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        Ok::<_, Problem>(scenario.simulator(1).simulate(&scenario, Recorder::new(), &mut go_on).ok())
    };
    let (Some(packets), Some(own)) = (run(Fidelity::Packet)?, run(config.fidelity)?) else { return Ok(None) };
    Ok(error_against(&packets, &own))
}

/// Measures the error of each design point of a plan against packets on a sample of its first seed, so many at a time,
/// and lets its points say so. Points that have packets, or are ideals, have none. `None` if `stop` says to stop.
///
/// # Errors
/// If a sample of a point cannot be run.
pub fn measure(plan: &mut Plan, jobs: usize, stop: &(dyn Fn() -> bool + Sync)) -> Result<Option<Vec<Row>>, Problem> {
    let seed = plan.seeds[0];
    let mut firsts: Vec<(&PlannedPoint, Level)> = Vec::new();
    for planned in plan.points.iter().filter(|planned| planned.point.seed == seed) {
        firsts.extend(level(&planned.scenario()?).map(|level| (planned, level)));
    }
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    on_threads(jobs.max(1), || {
        while let Some(&(planned, level)) = firsts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let of_point = (planned.point.clone(), level, compare(planned, stop));
            found.lock().expect("nobody panics with it").push(of_point);
        }
    });
    if stop() {
        return Ok(None);
    }
    let mut rows = Vec::new();
    let mut found = found.into_inner().expect("nobody panicked with it");
    found.sort_by_key(|(point, ..)| firsts.iter().position(|(first, _)| first.point.key == point.key));
    for (point, level, error) in found {
        let Some(error) = error? else { continue };
        let of_design =
            |planned: &&mut PlannedPoint| planned.point.scheme == point.scheme && planned.point.values == point.values;
        let mut scenario = None;
        for planned in plan.points.iter_mut().filter(of_design) {
            scenario = Some(planned.scenario()?);
            planned.set_measured(error);
        }
        let scenario = scenario.expect("it has its first seed");
        let (network, load) = class(&scenario);
        rows.push(Row { level, scheme: point.scheme, network, load, error });
    }
    Ok(Some(rows))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plan::RunArguments;

    const SCENARIO: &str = r#"
schemes = ["rcp", "pdq"]
seeds = 2
fidelity = "flow"
topology.star = { hosts = 6, host_link = { rate = "10Gbps", delay = "1us" } }
[workload]
load = 0.3
load_of = "host-links"
flows = 5000
[workload.traffic.short]
share = 1.0
sizes.fixed = "100KB"
"#;

    fn plan() -> Plan {
        Plan::parse("test.toml", SCENARIO, "test", Path::new("."), &RunArguments::default()).unwrap()
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let row = Row {
            level: Level::Links,
            scheme: "pdq@edf".to_owned(),
            network: "fat-tree".to_owned(),
            load: Some(0.4),
            error: MeasuredError { flows: 7, mean: -0.0123, p99: 0.5, slowdown_p99: -0.25 },
        };
        let text = table(&[row.clone(), Row { load: None, ..row.clone() }]);
        assert_eq!(rows(&text), Ok(vec![row.clone(), Row { load: None, ..row }]));
        assert_eq!(rows("head\nnot,a,row\n"), Err("not,a,row".to_owned()));
        assert!(!rows(SHIPPED).unwrap().is_empty());
    }

    /// A star is in no table; when it was measured, its points have other keys and say so.
    #[test]
    fn what_was_not_measured_says_so_and_measuring_helps() {
        let mut plan = plan();
        let first = plan.points[0].clone();
        let scenario = first.scenario().unwrap();
        let unknown = first.fidelity_error(&scenario).unwrap();
        assert_eq!((unknown.of.as_str(), unknown.measured), ("rcp, star, load to 0.4", None));
        let rows = measure(&mut plan, 2, &|| false).unwrap().unwrap();
        assert_eq!(rows.iter().map(|row| row.scheme.as_str()).collect::<Vec<_>>(), ["rcp", "pdq"]);
        for row in &rows {
            assert!((900..1100).contains(&row.error.flows), "{row:?}");
            assert!(row.error.mean.abs() < 0.25, "{row:?}");
        }
        for planned in &plan.points {
            let known = planned.fidelity_error(&planned.scenario().unwrap()).unwrap();
            assert!(known.measured.is_some() && planned.point.key != first.point.key, "{known:?}");
        }
        assert_eq!(measure(&mut plan, 1, &|| true).unwrap(), None);
    }

    /// The table is of networks whose paths are alike: it says nothing of one with a link of its own.
    #[test]
    fn a_network_with_changed_links_was_not_measured() {
        let leaf_spine = "topology.leaf-spine = { leaves = 2, hosts_per_leaf = 3, spines = 2, \
                          host_link = { rate = \"10Gbps\", delay = \"1us\" }, core_link = { rate = \"10Gbps\", delay = \"1us\" } }";
        let star = SCENARIO.lines().find(|line| line.starts_with("topology")).unwrap();
        let scenario = SCENARIO.replace(star, leaf_spine);
        let error = |tables: &str| {
            let text = format!("{scenario}{tables}");
            let plan = Plan::parse("test.toml", &text, "test", Path::new("."), &RunArguments::default()).unwrap();
            plan.points[0].fidelity_error(&plan.points[0].scenario().unwrap()).unwrap()
        };
        assert!(error("").measured.is_some());
        for (tables, named) in [
            ("[link.\"leaf0--spine0\"]\nrate = \"1Gbps\"\n", "`[link]`"),
            ("[network]\ncost = \"inverse-rate\"\n", "`[network]`"),
            ("[failures]\nlist = [{ link = \"leaf0--spine0\", at = \"1ms\" }]\n", "`[failures]`"),
        ] {
            let error = error(tables);
            assert!(error.measured.is_none() && error.of.contains(named), "{error:?}");
        }
    }

    #[test]
    fn the_nearest_rank_is_taken() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((mean(&values), p99(values)), (50.5, 99.0));
        assert_eq!(p99(vec![5.0]), 5.0);
    }
}
