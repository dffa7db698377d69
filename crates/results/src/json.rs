//! Values as files of JSON with a seal: their last key is a hash of what stands before it, so that damage and edits are
//! found. XXH3 with 128 bits is no protection against forgery, and none is needed.

use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tailcut_record::{RecordError, open_regular, write_atomically};

use crate::error::ResultsError;
use crate::seal::content_hash;

/// The text between a value and its seal.
const BEFORE_SEAL: &str = ",\n  \"seal\": \"";

/// Reads a value from a file and checks its seal.
///
/// # Errors
/// If there is no such file, it is not what was written, or it does not hold such a value.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, ResultsError> {
    let damaged = |what: String| ResultsError::Damaged { path: path.to_owned(), what };
    let file = open_regular(path).map_err(|source| match source.kind() {
        ErrorKind::IsADirectory | ErrorKind::InvalidInput => damaged(source.to_string()),
        _ => RecordError::Read { path: path.to_owned(), source }.into(),
    })?;
    let text = std::io::read_to_string(file).map_err(|source| match source.kind() {
        ErrorKind::InvalidData => damaged("it is no text".to_owned()),
        _ => RecordError::Read { path: path.to_owned(), source }.into(),
    })?;
    if text.is_empty() {
        return Err(damaged("it is empty".to_owned()));
    }
    let Some((body, rest)) = text.rsplit_once(BEFORE_SEAL) else {
        return Err(damaged("it has no seal: it was cut off or edited, or an older tailcut has written it".to_owned()));
    };
    if rest.strip_suffix("\"\n}\n") != Some(&content_hash(body.as_bytes())) {
        return Err(damaged("it is not what was written: its hash is another one".to_owned()));
    }
    serde_json::from_str(&text).map_err(|source| damaged(format!("it does not have the expected form: {source}")))
}

/// Writes a value with its seal to a file, which appears complete or not at all.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), ResultsError> {
    let text =
        serde_json::to_string_pretty(value).map_err(|source| ResultsError::Json { path: path.to_owned(), source })?;
    let body = text.strip_suffix("\n}").expect("what is sealed is an object with keys");
    let seal = content_hash(body.as_bytes());
    Ok(write_atomically(path, |out| writeln!(out, "{body}{BEFORE_SEAL}{seal}\"\n}}"))?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// So that no damage to the name of the seal passes for a file without one.
    #[test]
    fn a_seal_whose_name_is_damaged_or_that_is_gone_is_missed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write(&path, &[("key", 1)].into_iter().collect::<std::collections::BTreeMap<_, _>>()).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        read::<serde_json::Value>(&path).unwrap();
        let name = whole.rfind("\"seal\"").unwrap();
        let without = format!("{}\n}}\n", whole.rsplit_once(BEFORE_SEAL).unwrap().0);
        let damaged = [(name - 1, "\t"), (name + 1, "S"), (name + 4, "m"), (name + 7, "\t")].map(|(place, other)| {
            let mut text = whole.clone();
            text.replace_range(place..=place, other);
            text
        });
        for text in damaged.into_iter().chain([without, String::new(), format!("{whole} ")]) {
            fs::write(&path, &text).unwrap();
            let error = read::<serde_json::Value>(&path).unwrap_err();
            assert!(matches!(error, ResultsError::Damaged { .. }), "{text}: {error}");
        }
    }
}
