//! Values as files of JSON.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tailcut_record::{RecordError, write_atomically};

use crate::error::ResultsError;

/// Reads a value from a file.
///
/// # Errors
/// If the file cannot be read or does not hold such a value.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, ResultsError> {
    let text = std::fs::read_to_string(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
    serde_json::from_str(&text).map_err(|source| ResultsError::Json { path: path.to_owned(), source })
}

/// Writes a value to a file, which appears complete or not at all.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), ResultsError> {
    let text =
        serde_json::to_string_pretty(value).map_err(|source| ResultsError::Json { path: path.to_owned(), source })?;
    Ok(write_atomically(path, |out| writeln!(out, "{text}"))?)
}
