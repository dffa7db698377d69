//! What a study measured, beside its verdicts: `SCALE/studies/STUDY.summary.csv.gz`, and of other readings than the
//! base `SCALE/readings/STUDY/READING.summary.csv.gz`. Any verdict can be checked with it by hand, without a run.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use tailcut_claims::ClaimsError;
use tailcut_record::{RecordError, write_atomically};

use crate::reading::Reading;
use crate::scale::Scale;

/// The file of a study under a reading in a folder of results.
pub fn stored_summary(results: &Path, scale: Scale, study: &str, reading: &Reading) -> PathBuf {
    let folder = results.join(scale.name());
    match reading.is_base() {
        true => folder.join("studies").join(format!("{study}.summary.csv.gz")),
        false => folder.join("readings").join(study).join(format!("{reading}.summary.csv.gz")),
    }
}

/// The `summary.csv` that is kept in a file.
///
/// # Errors
/// If the file cannot be read.
pub fn read_summary(path: &Path) -> Result<String, ClaimsError> {
    let wrong = |source| RecordError::Read { path: path.to_owned(), source };
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).map_err(wrong)?).read_to_string(&mut text).map_err(wrong)?;
    Ok(text)
}

/// Keeps the `summary.csv` of a run folder in the file `to`, compressed. The same statistics give the same bytes.
///
/// # Errors
/// If the folder has none, or the file cannot be written.
pub fn store_summary(run: &Path, to: &Path) -> Result<(), ClaimsError> {
    let from = run.join("summary.csv");
    let text = std::fs::read(&from).map_err(|source| RecordError::Read { path: from, source })?;
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(|source| RecordError::Write { path: folder.to_owned(), source })?;
    }
    Ok(write_atomically(to, |file| {
        let mut compressed = GzBuilder::new().mtime(0).write(file, Compression::best());
        compressed.write_all(&text)?;
        compressed.finish().map(drop)
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_kept_whole_and_the_same_one_in_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("summary.csv"), "scheme,value\ntcp,1\n").unwrap();
        let keep = |reading: &str| {
            let path = stored_summary(folder.path(), Scale::Quick, "icon-ls400", &Reading::parse(reading));
            store_summary(folder.path(), &path).unwrap();
            (path.strip_prefix(folder.path()).unwrap().display().to_string(), std::fs::read(path).unwrap())
        };
        let (base, first) = keep("base");
        let (other, second) = keep("jitter+kb");
        assert_eq!(base, "quick/studies/icon-ls400.summary.csv.gz");
        assert_eq!(other, "quick/readings/icon-ls400/jitter+kb.summary.csv.gz");
        assert_eq!(first, second);
        assert_eq!(read_summary(&folder.path().join(base)).unwrap(), "scheme,value\ntcp,1\n");
        assert!(read_summary(&folder.path().join("summary.csv")).is_err(), "it is not compressed");
        assert!(store_summary(&folder.path().join("empty"), &folder.path().join("x")).is_err());
    }
}
