//! Which point of a run is meant, and which of its flows.

use std::path::Path;

use tailcut_base::{Instant, Span, dotted};
use tailcut_record::{FlowFile, FlowRow, read_flows};
use tailcut_results::{ALL, FlowSet, Point, PointState, PointSummary, RunInfo};
use tailcut_sim::Problem;

use crate::command::shell_word;

/// Which points of a run are meant; all that is left out fits.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Name of the scheme.
    pub scheme: Option<String>,
    /// The seed.
    pub seed: Option<u64>,
    /// Values of swept parameters, as `PATH=VALUE`.
    pub at: Vec<String>,
}

/// The finished points of the run in `folder` that are meant.
///
/// # Errors
/// If a scheme, a seed, a swept parameter or a value is none of the run, a point is damaged, or none has finished.
pub fn chosen(folder: &Path, info: &RunInfo, choice: &Choice) -> Result<Vec<(Point, Box<PointSummary>)>, Problem> {
    if let Some(scheme) = choice.scheme.as_ref().filter(|scheme| !info.schemes.contains(scheme)) {
        return Err(Problem::new(format!("the run has no scheme {scheme:?}"))
            .help(format!("expected one of {}", info.schemes.join(", "))));
    }
    if let Some(seed) = choice.seed.filter(|seed| !info.seeds.contains(seed)) {
        let seeds: Vec<String> = info.seeds.iter().map(u64::to_string).collect();
        return Err(
            Problem::new(format!("the run has no seed {seed}")).help(format!("expected one of {}", seeds.join(", ")))
        );
    }
    let mut wanted: Vec<(usize, &str)> = Vec::new();
    for assignment in &choice.at {
        let Some((path, value)) = dotted::assignment(assignment) else {
            return Err(Problem::new(format!("{assignment:?} says no value")).help("expected PATH=VALUE"));
        };
        let path = dotted::canonical(path);
        let Some(at) = info.axes.iter().position(|axis| axis.path == path) else {
            let paths: Vec<&str> = info.axes.iter().map(|axis| axis.path.as_str()).collect();
            return Err(Problem::new(format!("the run does not sweep {path:?}")).help(if paths.is_empty() {
                "it sweeps nothing".to_owned()
            } else {
                format!("expected one of {}", paths.join(", "))
            }));
        };
        if !info.axes[at].values.iter().any(|known| known == value) {
            return Err(Problem::new(format!("the run has no point with {path} = {value}"))
                .help(format!("expected one of {}", info.axes[at].values.join(", "))));
        }
        if let Some((_, other)) = wanted.iter().find(|(known, other)| *known == at && *other != value) {
            return Err(Problem::new(format!("no point has both {path} = {other} and {path} = {value}"))
                .help("expected each swept parameter once"));
        }
        wanted.push((at, value));
    }
    let fits = |point: &&Point| {
        choice.scheme.as_ref().is_none_or(|scheme| *scheme == point.scheme)
            && choice.seed.is_none_or(|seed| seed == point.seed)
            && wanted.iter().all(|&(at, value)| point.values[at] == value)
    };
    let mut points = Vec::new();
    let mut unfinished = None;
    for point in info.points.iter().filter(fits) {
        match point.state_in(folder) {
            PointState::Intact(summary) => points.push((point.clone(), summary)),
            PointState::Damaged(why) => {
                return Err(Problem::new(format!("{} is not what was written: {why}", point.key))
                    .help("the command that made the folder runs it again"));
            }
            PointState::Unfinished => unfinished = unfinished.or(Some(point)),
        }
    }
    if !points.is_empty() {
        return Ok(points);
    }
    let Some(point) = unfinished else {
        return Err(Problem::new("the run has no point that fits").help("its points stand in run.json"));
    };
    Err(match point.failure_in(folder) {
        Some(reason) => Problem::new(format!("no point that fits has finished; {} has failed: {reason}", point.key)),
        None => Problem::new(format!("no point that fits has finished, {} among them", point.key))
            .help("the command that made the folder goes on from where it was stopped"),
    })
}

/// The one point that is meant.
///
/// # Errors
/// If several are.
pub fn only(
    info: &RunInfo,
    mut points: Vec<(Point, Box<PointSummary>)>,
) -> Result<(Point, Box<PointSummary>), Problem> {
    if points.len() == 1 {
        return Ok(points.remove(0));
    }
    let first = &points[0].0;
    let axes = info.axes.iter().zip(&first.values);
    let axes = axes.map(|(axis, value)| format!("--at {}", shell_word(&format!("{}={value}", axis.path))));
    let choose = [format!("--scheme {}", shell_word(&first.scheme)), format!("--seed {}", first.seed)];
    let choose: Vec<String> = choose.into_iter().chain(axes).collect();
    Err(Problem::new(format!("{} points of the run fit, and each has flows and ports of its own", points.len()))
        .help(format!("expected one, such as that of `{}`", choose.join(" "))))
}

/// A flow of a point, and how long it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Slow {
    /// Index of the point among those that were given.
    pub point: usize,
    /// Number of the flow.
    pub flow: u32,
    /// Its FCT.
    pub fct: Span,
}

/// The flows of a finished point.
///
/// # Errors
/// If it has not finished or its file cannot be read.
pub(super) fn flows_of(folder: &Path, point: &Point) -> Result<FlowFile, Problem> {
    let path = point.file_in(folder, "flows.parquet");
    let path = path.ok_or_else(|| Problem::new(format!("{} has not finished", point.key)))?;
    read_flows(&path).map_err(|error| Problem::new(error.to_string()))
}

/// The `count` slowest finished flows of these points, slowest first; of one class, or another set of flows that the
/// tables of the run have, if it is given.
///
/// # Errors
/// If there is no such class, none of its flows has finished, or a file cannot be read.
pub fn slowest(
    folder: &Path,
    info: &RunInfo,
    points: &[(Point, Box<PointSummary>)],
    count: usize,
    class: Option<&str>,
) -> Result<Vec<Slow>, Problem> {
    let sets = FlowSet::of_run(info);
    let class = class.unwrap_or(ALL);
    let Some(set) = sets.iter().find(|set| set.name == class) else {
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        return Err(Problem::new(format!("the run has no class of flows {class:?}"))
            .help(format!("expected one of {}", names.join(", "))));
    };
    let mut all = Vec::new();
    for (at, (point, _)) in points.iter().enumerate() {
        let file = flows_of(folder, point)?;
        let fits = |row: &FlowRow| row.measured && set.has(row);
        let slow =
            file.rows.rows().filter(fits).filter_map(|row| Some(Slow { point: at, flow: row.flow, fct: row.fct()? }));
        all.extend(slow);
        all.sort_by_key(|slow| (std::cmp::Reverse(slow.fct), slow.point, slow.flow));
        all.truncate(count);
    }
    if all.is_empty() {
        return Err(Problem::new(format!("no measured flow of {class:?} has finished in the points that fit"))
            .help("flows that start in the warm-up are not measured"));
    }
    Ok(all)
}

/// The answer to a query of a point that came last; if some never came, the first of them.
///
/// # Errors
/// If there is no such query, or a file cannot be read.
pub fn last_answer(folder: &Path, point: &Point, query: u32) -> Result<u32, Problem> {
    let file = flows_of(folder, point)?;
    let answers = file.rows.rows().filter(|row| row.query == Some(query));
    let last = answers.max_by_key(|row| (row.received.unwrap_or(Instant::MAX), std::cmp::Reverse(row.flow)));
    last.map(|row| row.flow).ok_or_else(|| {
        let queries = file.rows.rows().filter_map(|row| row.query).max();
        let expected =
            queries.map_or("there are no queries".to_owned(), |last| format!("expected a number up to {last}"));
        Problem::new(format!("{} has no query {query}", point.key)).help(expected)
    })
}
