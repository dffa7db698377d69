//! What the files of a finished point are, so that damage to one of them is seen.
//!
//! `summary.json` is written last. It has the length and the hash of every other file of its point, and at its end a
//! hash of itself. A file that was cut, emptied, changed or removed later differs from what stands there, whatever it
//! holds. XXH3 with 128 bits finds damage; it is no protection against forgery, and none is needed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tailcut_record::{RecordError, write_atomically};
use twox_hash::xxhash3_128::Hasher as Xxh3;

use crate::error::ResultsError;
use crate::point::PointSummary;

/// The file that says that its point is finished.
const SUMMARY: &str = "summary.json";

/// Length and hash of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSeal {
    /// Its length in bytes.
    pub bytes: u64,
    /// XXH3 of its bytes, 128 bits, in hexadecimal digits.
    pub xxh3: String,
}

impl FileSeal {
    /// That of a file as it is now.
    fn of(path: &Path) -> std::io::Result<FileSeal> {
        let mut file = File::open(path)?;
        let mut hasher = Xxh3::new();
        let mut bytes = 0;
        let mut block = vec![0; 1 << 16];
        loop {
            match file.read(&mut block)? {
                0 => return Ok(FileSeal { bytes, xxh3: digits(&hasher) }),
                read => {
                    bytes += read as u64;
                    hasher.write(&block[..read]);
                }
            }
        }
    }
}

/// The hash by which content is called: XXH3 with 128 bits, in hexadecimal digits.
pub fn content_hash(bytes: &[u8]) -> String {
    let mut hasher = Xxh3::new();
    hasher.write(bytes);
    digits(&hasher)
}

fn digits(hasher: &Xxh3) -> String {
    format!("{:032x}", hasher.finish_128())
}

/// The seals of the files of a point, but for its summary and what a failed attempt has left.
pub(crate) fn files_of(folder: &Path) -> Result<BTreeMap<String, FileSeal>, ResultsError> {
    let wrong = |path: &Path| {
        let path = path.to_owned();
        |source| RecordError::Read { path, source }
    };
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(wrong(folder))? {
        let path = entry.map_err(wrong(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || name == SUMMARY || name == "error.txt" || !path.is_file() {
            continue;
        }
        files.insert(name, FileSeal::of(&path).map_err(wrong(&path))?);
    }
    Ok(files)
}

/// What stands before the seal of a summary, which is its last key.
const BEFORE_SEAL: &str = ",\n  \"seal\": \"";

/// Writes a summary with its seal.
pub(crate) fn write_sealed(path: &Path, summary: &PointSummary) -> Result<(), ResultsError> {
    let text =
        serde_json::to_string_pretty(summary).map_err(|source| ResultsError::Json { path: path.to_owned(), source })?;
    let body = text.strip_suffix("\n}").expect("a summary is an object with keys");
    let seal = seal_of(body);
    Ok(write_atomically(path, |out| writeln!(out, "{body}{BEFORE_SEAL}{seal}\"\n}}"))?)
}

fn seal_of(body: &str) -> String {
    let mut hasher = Xxh3::new();
    hasher.write(body.as_bytes());
    digits(&hasher)
}

/// Reads a summary, and makes sure that it is what was written.
///
/// Programs that are older than seals wrote none, and named no files either: a summary that names some has lost its
/// seal if it has none.
pub(crate) fn read_sealed(path: &Path) -> Result<PointSummary, ResultsError> {
    let bytes = std::fs::read(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
    let damaged = |what: &str| ResultsError::Damaged { path: path.to_owned(), what: what.to_owned() };
    if bytes.is_empty() {
        return Err(damaged("it is empty"));
    }
    let text = String::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
    let sealed = text.rsplit_once(BEFORE_SEAL);
    if let Some((body, rest)) = sealed {
        let seal = rest.strip_suffix("\"\n}\n").unwrap_or_default();
        if seal_of(body) != seal {
            return Err(damaged("it is not what was written: its hash is another one"));
        }
    }
    let summary: PointSummary =
        serde_json::from_str(&text).map_err(|source| damaged(&format!("it is no summary of a point: {source}")))?;
    if sealed.is_none() && !summary.files.is_empty() {
        return Err(damaged("its seal is gone"));
    }
    Ok(summary)
}

/// Whether a point is finished, and whether its files are still what was written.
#[derive(Clone, Debug, PartialEq)]
pub enum PointState {
    /// It has no summary: it is still to be run.
    Unfinished,
    /// Its files are what was written.
    Intact(Box<PointSummary>),
    /// They are not, for this reason.
    Damaged(String),
}

impl PointState {
    /// That of the point in `folder`. All its files are read.
    pub fn of(folder: &Path) -> PointState {
        let path = folder.join(SUMMARY);
        if !path.exists() {
            return PointState::Unfinished;
        }
        let summary = match read_sealed(&path) {
            Ok(summary) => summary,
            Err(ResultsError::Damaged { what, .. }) => return PointState::Damaged(format!("{SUMMARY}: {what}")),
            Err(error) => return PointState::Damaged(error.to_string()),
        };
        for (name, sealed) in &summary.files {
            let what = match FileSeal::of(&folder.join(name)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => "it is missing".to_owned(),
                Err(error) => format!("it cannot be read: {error}"),
                Ok(now) if now.bytes != sealed.bytes => format!("it has {} B, and had {} B", now.bytes, sealed.bytes),
                Ok(now) if now.xxh3 != sealed.xxh3 => "it is not what was written: its hash is another one".to_owned(),
                Ok(_) => continue,
            };
            return PointState::Damaged(format!("{name}: {what}"));
        }
        PointState::Intact(Box::new(summary))
    }

    /// Whether it is finished and its files are what was written.
    pub fn is_intact(&self) -> bool {
        matches!(self, PointState::Intact(_))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::testing::replication;

    /// A folder with two files beside its summary.
    fn point() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("flows.parquet"), [7; 300]).unwrap();
        fs::write(folder.path().join("ports.parquet"), b"ports").unwrap();
        replication(&[]).summary.write(&folder.path().join(SUMMARY)).unwrap();
        folder
    }

    fn damage(folder: &Path) -> String {
        match PointState::of(folder) {
            PointState::Damaged(why) => why,
            state => panic!("{state:?}"),
        }
    }

    #[test]
    fn a_point_is_intact_until_one_of_its_files_is_cut_emptied_or_removed() {
        let folder = point();
        assert!(PointState::of(folder.path()).is_intact());
        let flows = folder.path().join("flows.parquet");
        fs::write(&flows, [7; 299]).unwrap();
        assert_eq!(damage(folder.path()), "flows.parquet: it has 299 B, and had 300 B");
        fs::write(&flows, "").unwrap();
        assert_eq!(damage(folder.path()), "flows.parquet: it has 0 B, and had 300 B");
        fs::remove_file(&flows).unwrap();
        assert_eq!(damage(folder.path()), "flows.parquet: it is missing");
        fs::write(folder.path().join(SUMMARY), "").unwrap();
        assert_eq!(damage(folder.path()), "summary.json: it is empty");
        fs::remove_file(folder.path().join(SUMMARY)).unwrap();
        assert_eq!(PointState::of(folder.path()), PointState::Unfinished);
    }

    /// So that no damage makes a summary one of a program that wrote no seals.
    #[test]
    fn a_seal_whose_name_is_damaged_is_missed() {
        let folder = point();
        let path = folder.path().join(SUMMARY);
        let whole = fs::read_to_string(&path).unwrap();
        let name = whole.rfind("\"seal\"").unwrap();
        for (place, other) in [(name - 1, "\t"), (name + 1, "S"), (name + 4, "m"), (name + 7, "\t")] {
            let mut text = whole.clone();
            text.replace_range(place..=place, other);
            fs::write(&path, text).unwrap();
            assert!(damage(folder.path()).starts_with("summary.json: "), "{place}");
        }
        let without = format!("{}\n}}\n", whole.rsplit_once(BEFORE_SEAL).unwrap().0);
        fs::write(&path, without).unwrap();
        assert_eq!(damage(folder.path()), "summary.json: its seal is gone");
    }

    #[test]
    fn files_that_are_not_of_the_point_do_not_matter() {
        let folder = point();
        fs::write(folder.path().join("my-notes.txt"), "mine").unwrap();
        assert!(PointState::of(folder.path()).is_intact());
    }

    proptest! {
        /// Whatever bit of whatever file flips, it is seen.
        #[test]
        fn a_bit_that_flips_anywhere_is_seen(file in 0usize..3, at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let folder = point();
            let path = folder.path().join(["flows.parquet", "ports.parquet", SUMMARY][file]);
            let mut bytes = fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            fs::write(&path, bytes).unwrap();
            let after = PointState::of(folder.path());
            prop_assert!(matches!(after, PointState::Damaged(_)), "{path:?}, byte {at}: {after:?}");
        }
    }
}
