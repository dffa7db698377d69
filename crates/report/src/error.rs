//! Why plots or the page could not be written.

use std::path::{Path, PathBuf};

use tailcut_record::RecordError;
use tailcut_results::ResultsError;

/// Why plots or the page could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Results could not be read or written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A picture could not be drawn.
    #[error("cannot draw {}: {message}", path.display())]
    Plot {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        message: String,
    },
}

impl ReportError {
    pub(crate) fn plot(path: &Path, message: String) -> ReportError {
        ReportError::Plot { path: path.to_owned(), message }
    }
}

impl From<RecordError> for ReportError {
    fn from(error: RecordError) -> ReportError {
        ReportError::Results(error.into())
    }
}
