//! What a study measured, beside its verdicts: `SCALE/studies/STUDY.summary.csv.gz`, and of other readings than the
//! base `SCALE/readings/STUDY/READING.summary.csv.gz`. Any verdict can be checked with it by hand, without a run.

use std::io::Write;
use std::path::{Path, PathBuf};

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
    use std::io::Read;

    use flate2::read::GzDecoder;

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
        let mut text = String::new();
        GzDecoder::new(first.as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "scheme,value\ntcp,1\n");
        assert!(store_summary(&folder.path().join("empty"), &folder.path().join("x")).is_err());
    }
}
