//! Which point of a run is meant, and which of its flows.

use std::path::Path;

use tailcut_base::Span;
use tailcut_record::{FlowRow, read_flows};
use tailcut_results::{Point, PointState, PointSummary, RunInfo};
use tailcut_sim::Problem;

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
/// If a scheme, a swept parameter or a value is none of the run, a point is damaged, or none has finished.
pub fn chosen(folder: &Path, info: &RunInfo, choice: &Choice) -> Result<Vec<(Point, Box<PointSummary>)>, Problem> {
    if let Some(scheme) = choice.scheme.as_ref().filter(|scheme| !info.schemes.contains(scheme)) {
        return Err(Problem::new(format!("the run has no scheme {scheme:?}"))
            .help(format!("expected one of {}", info.schemes.join(", "))));
    }
    let mut wanted = Vec::new();
    for assignment in &choice.at {
        let Some((path, value)) = assignment.split_once('=') else {
            return Err(Problem::new(format!("{assignment:?} says no value")).help("expected PATH=VALUE"));
        };
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
        wanted.push((at, value));
    }
    let fits = |point: &&Point| {
        choice.scheme.as_ref().is_none_or(|scheme| *scheme == point.scheme)
            && choice.seed.is_none_or(|seed| seed == point.seed)
            && wanted.iter().all(|&(at, value)| point.values[at] == value)
    };
    let mut points = Vec::new();
    for point in info.points.iter().filter(fits) {
        match PointState::of(&folder.join("points").join(&point.key)) {
            PointState::Intact(summary) => points.push((point.clone(), summary)),
            PointState::Damaged(why) => {
                return Err(Problem::new(format!("{} is not what was written: {why}", point.key))
                    .help("the command that made the folder runs it again"));
            }
            PointState::Unfinished => {}
        }
    }
    if points.is_empty() {
        return Err(Problem::new("no point that fits has finished")
            .help("the seeds, the schemes and the swept values that there are stand in run.json"));
    }
    Ok(points)
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
    let axes: Vec<String> = info.axes.iter().map(|axis| format!("--at {}={}", axis.path, axis.values[0])).collect();
    let seed = points[0].0.seed;
    let choose = [format!("--scheme {}", points[0].0.scheme), format!("--seed {seed}")].into_iter().chain(axes);
    Err(Problem::new(format!("{} points of the run fit, and each has flows and ports of its own", points.len()))
        .help(format!("expected one, such as that of `{}`", choose.collect::<Vec<_>>().join(" "))))
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

/// The `count` slowest finished flows of these points, slowest first; of one class, if it is given.
///
/// # Errors
/// If there is no such class, or a file cannot be read.
pub fn slowest(
    folder: &Path,
    info: &RunInfo,
    points: &[(Point, Box<PointSummary>)],
    count: usize,
    class: Option<&str>,
) -> Result<Vec<Slow>, Problem> {
    if let Some(class) = class.filter(|class| !info.classes.iter().any(|known| known == class)) {
        return Err(Problem::new(format!("the run has no class of flows {class:?}"))
            .help(format!("expected one of {}", info.classes.join(", "))));
    }
    let mut all = Vec::new();
    for (at, (point, _)) in points.iter().enumerate() {
        let path = folder.join("points").join(&point.key).join("flows.parquet");
        let file = read_flows(&path).map_err(|error| Problem::new(error.to_string()))?;
        let fits = |row: &FlowRow| {
            row.measured
                && class.is_none_or(|class| file.classes.get(usize::from(row.class)).is_some_and(|c| c == class))
        };
        let slow =
            file.rows.rows().filter(fits).filter_map(|row| Some(Slow { point: at, flow: row.flow, fct: row.fct()? }));
        all.extend(slow);
        all.sort_by_key(|slow| (std::cmp::Reverse(slow.fct), slow.point, slow.flow));
        all.truncate(count);
    }
    Ok(all)
}

/// The answer to a query of a point that was received last.
///
/// # Errors
/// If there is no such query, none of its answers has been received, or a file cannot be read.
pub fn last_answer(folder: &Path, point: &Point, query: u32) -> Result<u32, Problem> {
    let path = folder.join("points").join(&point.key).join("flows.parquet");
    let file = read_flows(&path).map_err(|error| Problem::new(error.to_string()))?;
    let answers = file.rows.rows().filter(|row| row.query == Some(query));
    let last = answers.filter_map(|row| Some((row.received?, row.flow))).max();
    last.map(|(_, flow)| flow).ok_or_else(|| {
        let queries = file.rows.rows().filter_map(|row| row.query).max();
        let expected =
            queries.map_or("there are no queries".to_owned(), |last| format!("expected a number up to {last}"));
        Problem::new(format!("{} has no query {query} with an answer that was received", point.key)).help(expected)
    })
}
