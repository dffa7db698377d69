//! Whether a run folder is what its simulations have written, and whether they come to the same again.

use std::path::Path;

use tailcut_results::{Point, PointState, PointSummary, RunInfo};
use tailcut_sim::Problem;

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
}

/// Reads every file of every point of the run `info` in `folder`.
pub fn verify(folder: &Path, info: &RunInfo) -> Verified {
    let mut verified = Verified::default();
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
}

impl Replay {
    /// Whether the simulation came to the same, event for event.
    pub fn is_same(&self) -> bool {
        self.saved == self.now
    }
}

/// The plan of a run, from the scenario that its folder has saved.
pub(crate) fn saved_plan(info: &RunInfo) -> Result<Plan, Problem> {
    Plan::parse("scenario.toml", &info.scenario_toml, &info.name, Path::new("."), &RunArguments::default())
}

/// A point of a run, among those of its plan.
pub(crate) fn planned<'p>(plan: &'p Plan, point: &Point) -> Result<&'p PlannedPoint, Problem> {
    let same = |known: &Point| (&known.scheme, &known.values, known.seed) == (&point.scheme, &point.values, point.seed);
    let found = plan.points.iter().find(|planned| same(&planned.point));
    found.ok_or_else(|| Problem::new(format!("{} is no point of the scenario that the folder has saved", point.key)))
}

/// Simulates `count` of the points that are `intact` again, spread evenly over them, and tells `told` of each.
///
/// # Errors
/// If the scenario that the folder has saved cannot be run any more, such as where a file that it names is gone.
pub fn replay(
    info: &RunInfo,
    intact: &[(Point, Box<PointSummary>)],
    count: usize,
    mut told: impl FnMut(&Replay),
) -> Result<Vec<Replay>, Problem> {
    let plan = saved_plan(info)?;
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
