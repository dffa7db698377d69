//! The files that a workload names.

use std::path::Path;

use tailcut_model::{FileSpot, Files, Invalid};

use crate::text::ParseError;

/// Parses the file at `path`. `key` is the dotted path of the key that names it.
pub(crate) fn load<T>(
    key: &str,
    files: &Files,
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Result<T, ParseError>,
) -> Result<T, Invalid> {
    parse(&files.read(key, path)?).map_err(|error| {
        let message = format!("`{}`, line {}: {}", path.display(), error.line, error.message);
        let spot = FileSpot { file: files.folder().join(path), line: error.line, text: error.text };
        let invalid = Invalid::new(key, message).at(spot);
        match error.help {
            Some(help) => invalid.help(help),
            None => invalid,
        }
    })
}
