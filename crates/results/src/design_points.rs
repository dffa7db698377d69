//! The design points of a run, read one after the other.

use std::path::Path;

use crate::error::ResultsError;
use crate::repeats::Replications;
use crate::replication::{NoResults, Replication};
use crate::run::{MissingPoint, Point, RunInfo, value_indices};

/// Index of the scheme, and of the value on each axis.
pub(crate) type DesignIndex = (usize, Vec<usize>);

/// Reads the points of `run` in the run folder `dir`, and gives `visit` the index of every design point that has a
/// finished point, with its replications in the order of their seeds: if all are identical they count once. Only the
/// flows of one design point are in memory at a time. Returns the points without results.
///
/// # Errors
/// [`ResultsError::Stopped`] if `stop` says so; it is asked before each point.
pub(crate) fn visit(
    dir: &Path,
    run: &RunInfo,
    stop: &dyn Fn() -> bool,
    mut visit: impl FnMut(usize, &[usize], &Replications),
) -> Result<Vec<MissingPoint>, ResultsError> {
    let mut missing = Vec::new();
    for design_point in all(run) {
        let mut replications = Vec::new();
        for point in run.points.iter().filter(|point| index_of(run, point).as_ref() == Some(&design_point)) {
            if stop() {
                return Err(ResultsError::Stopped);
            }
            match Replication::read(dir, run, point) {
                Ok(replication) => replications.push(replication),
                Err(NoResults { reason, damaged }) => {
                    missing.push(MissingPoint { point: point.clone(), reason, damaged });
                }
            }
        }
        if !replications.is_empty() {
            visit(design_point.0, &design_point.1, &Replications::of(replications));
        }
    }
    for point in run.points.iter().filter(|point| index_of(run, point).is_none()) {
        let reason = "its scheme or values are not those of the run".to_owned();
        missing.push(MissingPoint { point: point.clone(), reason, damaged: false });
    }
    Ok(missing)
}

/// Every design point that has a simulation, in the order in which they are shown: schemes, then the first axis, then
/// the others.
fn all(run: &RunInfo) -> Vec<DesignIndex> {
    let mut all: Vec<DesignIndex> = run.points.iter().filter_map(|point| index_of(run, point)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The design point of a point; `None` if its scheme or values are none of the run's.
fn index_of(run: &RunInfo, point: &Point) -> Option<DesignIndex> {
    let scheme = run.schemes.iter().position(|name| *name == point.scheme)?;
    Some((scheme, value_indices(&run.axes, &point.values)?))
}
