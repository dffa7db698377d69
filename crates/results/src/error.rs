//! Why results could not be read or written.

use std::path::PathBuf;

use tailcut_record::RecordError;

/// Why results could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// A file could not be written or read.
    #[error(transparent)]
    File(#[from] RecordError),
    /// A file of JSON does not have the expected form.
    #[error("{}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A file is not what was written.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// In what it differs.
        what: String,
    },
    /// The caller asked to stop before everything was done.
    #[error("stopped before the results were written")]
    Stopped,
}
