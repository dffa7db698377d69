//! The files that a workload names: the one place of this crate that touches the file system.

use std::path::Path;

use tailcut_model::{FileSpot, Invalid};

use crate::text::ParseError;

/// Reads the file at `path`, relative to `base`, and parses it. `key` is the dotted path of the key that names it.
pub(crate) fn load<T>(
    key: &str,
    base: &Path,
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Result<T, ParseError>,
) -> Result<T, Invalid> {
    let full = base.join(path);
    let bytes = std::fs::read(&full).map_err(|error| {
        let message = format!("cannot read `{}`: {}", full.display(), plain(&error));
        let invalid = Invalid::new(key, message);
        if path.is_relative() { invalid.help("paths are relative to the directory of the scenario") } else { invalid }
    })?;
    parse(&bytes).map_err(|error| {
        let message = format!("`{}`, line {}: {}", path.display(), error.line, error.message);
        let spot = FileSpot { file: full, line: error.line, text: error.text };
        let invalid = Invalid::new(key, message).at(spot);
        match error.help {
            Some(help) => invalid.help(help),
            None => invalid,
        }
    })
}

/// The operating system's words, without its number.
fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::IsADirectory => "it is a directory".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}
