//! What a run tells about itself while it is under way.

use tailcut_results::{Point, PointSummary};

use crate::precision::PrecisionCheck;

/// Hears of what happens; called from several threads.
pub trait Progress: Sync {
    /// `total` points will be run; `reused` more are finished already, by an earlier command. Comes once for each batch
    /// of seeds.
    fn begin(&self, total: usize, reused: usize);
    /// Point number `index` of those that are run is done to this fraction, 0 to 1.
    fn advanced(&self, index: usize, fraction: f64);
    /// A point is finished.
    fn finished(&self, index: usize, summary: &PointSummary);
    /// A point has failed.
    fn failed(&self, index: usize, failure: &Failure);
    /// A point that was finished is not what was written: it is run again.
    fn damaged(&self, _point: &Point, _why: &str) {}
    /// Something is the matter with the run folder that the user should know, in a sentence: a file was set aside, or
    /// `run.json` is written anew.
    fn noticed(&self, _note: &str) {}
    /// A batch of seeds is finished: how wide the intervals are, and whether more seeds are added.
    fn checked(&self, _check: &PrecisionCheck) {}
    /// A batch of a search is finished: what it says, in a line.
    fn tried(&self, _line: &str) {}
    /// Whether the run is to stop soon; asked often.
    fn stop(&self) -> bool;
}

/// A point that could not be finished; the others are not touched by it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The point.
    pub point: Point,
    /// What happened.
    pub reason: String,
    /// Whether it stalled, which is a matter of its scenario; else something is wrong with tailcut or the machine.
    pub stalled: bool,
    /// The command that runs this point and nothing else.
    pub command: String,
}
