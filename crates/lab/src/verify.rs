//! Whether a run folder is what its simulations have written, and whether they come to the same again.

use std::io::ErrorKind;
use std::path::Path;

use tailcut_record::read_regular;
use tailcut_results::{Point, PointState, PointSummary, RunInfo, changed, content_hash};
use tailcut_sim::Problem;

use crate::inputs;
use crate::plan::{Plan, PlannedPoint, RunArguments};
use crate::simulate::digest;
use crate::version::version;

/// What [`verify`] has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verified {
    /// Points whose files are what was written.
    pub intact: Vec<(Point, Box<PointSummary>)>,
    /// Points whose files are not, each with the reason.
    pub damaged: Vec<(Point, String)>,
    /// Points that have not finished.
    pub unfinished: Vec<Point>,
    /// Other files that are not what was written, in a sentence each: the scenario, copies of the files that it names,
    /// tables, the summary, plots and the report.
    pub damaged_files: Vec<String>,
}

/// Reads every file of the run `info` in `folder`.
pub fn verify(folder: &Path, info: &RunInfo) -> Verified {
    let scenario = match read_regular(&folder.join("scenario.toml")) {
        Ok(text) if info.scenario.contains(&content_hash(text.as_bytes())) => None,
        Ok(_) => Some("scenario.toml: it is not what was written".to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => Some("scenario.toml: it is missing".to_owned()),
        Err(error) => Some(format!("scenario.toml: {error}")),
    };
    let is_foreign = |name: &&str| !info.results.contains_key(*name) && folder.join(name).exists();
    let foreign = ["summary.csv", "report.html"].into_iter().filter(is_foreign);
    let foreign = foreign.map(|name| format!("{name}: it is not of the points that are there"));
    let files = scenario
        .into_iter()
        .chain(foreign)
        .chain(inputs::damaged(folder, &info.inputs))
        .chain(changed(folder, &info.results));
    let mut verified = Verified { damaged_files: files.collect(), ..Verified::default() };
    for point in &info.points {
        match point.state_in(folder) {
            PointState::Intact(summary) => verified.intact.push((point.clone(), summary)),
            PointState::Damaged(why) => verified.damaged.push((point.clone(), why)),
            PointState::Unfinished => verified.unfinished.push(point.clone()),
        }
    }
    verified
}

/// A point that was simulated again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The point.
    pub point: Point,
    /// The digest of its events, as it was saved.
    pub saved: String,
    /// What it is now.
    pub now: String,
    /// The version of the program that had made it, if that was another one: another digest then says that the programs
    /// differ, and not that the point is wrong.
    pub other_version: Option<String>,
}

impl Replay {
    /// Whether the simulation came to the same, event for event.
    pub fn is_same(&self) -> bool {
        self.saved == self.now
    }
}

/// The plan of the run `info`, from the scenario and the copies of files that `folder` has saved.
pub(crate) fn saved_plan(folder: &Path, info: &RunInfo) -> Result<Plan, Problem> {
    let scenario = inputs::with_table(&info.scenario_toml, &info.inputs);
    Plan::parse("scenario.toml", &scenario, &info.name, folder, &RunArguments::default())
}

/// A point of a run, among those of its plan.
pub(crate) fn planned<'p>(plan: &'p Plan, point: &Point) -> Result<&'p PlannedPoint, Problem> {
    let same = |known: &Point| (&known.scheme, &known.values, known.seed) == (&point.scheme, &point.values, point.seed);
    let found = plan.points.iter().find(|planned| same(&planned.point));
    found.ok_or_else(|| Problem::new(format!("{} is no point of the scenario that the folder has saved", point.key)))
}

/// Simulates `count` of the points that are `intact` in `folder` again, spread evenly over them, and tells `told` of
/// each.
///
/// # Errors
/// If the scenario that the folder has saved cannot be run any more, such as where a file that it names is gone.
pub fn replay(
    folder: &Path,
    info: &RunInfo,
    intact: &[(Point, Box<PointSummary>)],
    count: usize,
    mut told: impl FnMut(&Replay),
) -> Result<Vec<Replay>, Problem> {
    let plan = saved_plan(folder, info)?;
    let count = count.min(intact.len());
    let mut replays = Vec::new();
    for nth in 0..count {
        let (point, summary) = &intact[nth * intact.len() / count];
        let planned = planned(&plan, point)?;
        let made_by = &summary.engine.version;
        let replay = Replay {
            point: point.clone(),
            saved: summary.engine.digest.clone(),
            now: digest(planned),
            other_version: (made_by != version()).then(|| made_by.clone()),
        };
        told(&replay);
        replays.push(replay);
    }
    Ok(replays)
}
