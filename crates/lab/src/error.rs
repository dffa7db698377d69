//! Why a run could not be done.

use std::path::PathBuf;

use tailcut_record::RecordError;
use tailcut_report::ReportError;
use tailcut_sim::Stall;

/// Why a run could not be done.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The folder is in use for something else.
    #[error("{} {what}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is the matter with it, and what to do.
        what: String,
    },
    /// It was asked to stop; finished points are kept, and no results were written over a part of the points.
    #[error("stopped: {finished} of {points} points are finished and kept, and the same command goes on from there")]
    Stopped {
        /// Points that are finished.
        finished: usize,
        /// Points of the whole run.
        points: usize,
    },
    /// A simulation stalled, in another process.
    #[error("{0}")]
    Stalled(Box<Stall>),
    /// A point could not be run by another process.
    #[error("the point {key} cannot be run: {what}")]
    Task {
        /// The point.
        key: String,
        /// What is the matter, and what to do.
        what: String,
    },
    /// Other machines could not be used any more; finished points are kept.
    #[error("{0}; what is finished is kept, and the same command goes on from there")]
    Executor(String),
    /// A file could not be written; finished points are kept.
    #[error("{0}; what is finished is kept, and the same command goes on from there")]
    Write(#[from] RecordError),
    /// The results could not be written; finished points are kept.
    #[error("{0}; the finished points are kept")]
    Results(#[from] ReportError),
    /// The folder could not be made or looked into.
    #[error("{}: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
