//! What can go wrong with a file of results.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

/// Why a file of results could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The system refused to write, for instance because the disk is full.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file as it would have been called.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The system refused to read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file was read and is not what it should be.
    #[error("{}: {message}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

impl RecordError {
    /// The file that could not be written or read.
    pub fn path(&self) -> &Path {
        match self {
            RecordError::Write { path, .. } | RecordError::Read { path, .. } | RecordError::Format { path, .. } => path,
        }
    }

    pub(crate) fn write(path: &Path, error: impl Into<IoCause>) -> RecordError {
        RecordError::Write { path: path.to_owned(), source: error.into().0 }
    }

    pub(crate) fn read(path: &Path, error: ParquetError) -> RecordError {
        match into_io(error) {
            Ok(source) => RecordError::Read { path: path.to_owned(), source },
            Err(error) => RecordError::format(path, error.to_string()),
        }
    }

    pub(crate) fn format(path: &Path, message: impl Into<String>) -> RecordError {
        RecordError::Format { path: path.to_owned(), message: message.into() }
    }
}

/// The error of the system in whatever wraps it, so that "no space left on device" stays recognisable.
pub(crate) struct IoCause(io::Error);

impl From<io::Error> for IoCause {
    fn from(error: io::Error) -> IoCause {
        IoCause(error)
    }
}

impl From<ParquetError> for IoCause {
    fn from(error: ParquetError) -> IoCause {
        IoCause(into_io(error).unwrap_or_else(io::Error::other))
    }
}

fn into_io(error: ParquetError) -> Result<io::Error, ParquetError> {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => Ok(*error),
            Err(cause) => Err(ParquetError::External(cause)),
        },
        other => Err(other),
    }
}
