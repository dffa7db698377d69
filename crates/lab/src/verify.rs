//! Whether a run folder is what its simulations have written, and whether they come to the same again.

use std::path::Path;

use tailcut_results::{Point, PointState, PointSummary, RunInfo};
use tailcut_sim::{Problem, Tree};

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
    /// Copies of files of the scenario that are not what was read, in a sentence each.
    pub damaged_inputs: Vec<String>,
}

/// Reads every file of every point of the run `info` in `folder`, and the copies of the files that its scenario names.
pub fn verify(folder: &Path, info: &RunInfo) -> Verified {
    let mut verified = Verified { damaged_inputs: inputs::damaged(folder, &info.inputs), ..Verified::default() };
    for point in &info.points {
        match PointState::of(&folder.join("points").join(&point.key)) {
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
    /// Files that the scenario names and of which the folder keeps no copy: they may be others today.
    pub without_copy: Vec<String>,
}

impl Replay {
    /// Whether the simulation came to the same, event for event.
    pub fn is_same(&self) -> bool {
        self.saved == self.now
    }
}

/// The plan of the run `info`, from the scenario and the copies of files that `folder` has saved. Folders of versions
/// that kept no copies are read with the files of today, from the working directory.
pub(crate) fn saved_plan(folder: &Path, info: &RunInfo) -> Result<Plan, Problem> {
    let base = if info.inputs.is_empty() { Path::new(".") } else { folder };
    let scenario = inputs::with_table(&info.scenario_toml, &info.inputs);
    let plan = Plan::parse("scenario.toml", &scenario, &info.name, base, &RunArguments::default());
    plan.map_err(|problem| match &without_copy(info)[..] {
        [] => problem,
        files => problem.help(format!(
            "tailcut {} made this folder and kept no copy of {}: expected these files as they were, from the directory of \
             the scenario",
            info.version,
            files.join(", ")
        )),
    })
}

/// The files that the scenario of a run names and of which its folder keeps no copy.
pub(crate) fn without_copy(info: &RunInfo) -> Vec<String> {
    let named = Tree::parse("scenario.toml", &info.scenario_toml).map(|tree| inputs::named(&tree));
    let mut named = named.unwrap_or_default();
    named.retain(|path| !info.inputs.contains_key(path));
    named.sort();
    named.dedup();
    named
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
    let without_copy = without_copy(info);
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
            without_copy: without_copy.clone(),
        };
        told(&replay);
        replays.push(replay);
    }
    Ok(replays)
}
