//! What a study measured, beside its verdicts: `SCALE/studies/STUDY.summary.csv.gz`, and of other readings than the
//! base `SCALE/readings/STUDY/READING.summary.csv.gz`. Any verdict can be checked with it by hand, without a run.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use csv::StringRecord;
use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use tailcut_claims::ClaimsError;
use tailcut_record::{RecordError, write_atomically};

use crate::reading::Reading;
use crate::scale::Scale;

/// The file of a study under a reading in a folder of results. That of the base has all its simulations.
pub fn stored_summary(results: &Path, scale: Scale, study: &str, reading: &Reading) -> PathBuf {
    match reading.is_base() {
        true => results.join(scale.name()).join("studies").join(format!("{study}.summary.csv.gz")),
        false => summary_for_claims(results, scale, study, reading),
    }
}

/// The file of those simulations of a study under a reading by which claims are judged, in a folder of results.
pub fn summary_for_claims(results: &Path, scale: Scale, study: &str, reading: &Reading) -> PathBuf {
    results.join(scale.name()).join("readings").join(study).join(format!("{reading}.summary.csv.gz"))
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
    keep(&summary_of(run)?, to)
}

/// Keeps the `summary.csv` of a run folder in the file `to` as [`store_summary`] does, beside the simulations there
/// that the run has none of: claims that are judged one after the other may need different ones.
///
/// # Errors
/// If the folder has none, or the file cannot be read or written.
pub fn add_to_summary(run: &Path, to: &Path) -> Result<(), ClaimsError> {
    let run = summary_of(run)?;
    let before = if to.exists() { read_summary(to)? } else { String::new() };
    let both =
        both(&before, &run).map_err(|error| ClaimsError::Form { path: to.to_owned(), message: error.to_string() });
    keep(&both?, to)
}

fn summary_of(run: &Path) -> Result<String, ClaimsError> {
    let from = run.join("summary.csv");
    Ok(std::fs::read_to_string(&from).map_err(|source| RecordError::Read { path: from, source })?)
}

/// The lines of `run`, after those of `before` that are of other simulations. A summary with other columns is of
/// another study, and left out.
fn both(before: &str, run: &str) -> Result<String, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let mut reader = csv::Reader::from_reader(run.as_bytes());
    let columns = reader.headers()?.clone();
    out.write_record(&columns)?;
    // A simulation is a scheme and the values before what is measured of it.
    let of_simulation = columns.iter().position(|column| column == "class").unwrap_or(columns.len());
    let simulation = |line: &StringRecord| line.iter().take(of_simulation).map(str::to_owned).collect::<Vec<String>>();
    let lines: Vec<StringRecord> = reader.records().collect::<Result<_, _>>()?;
    let now: BTreeSet<Vec<String>> = lines.iter().map(simulation).collect();
    let mut reader = csv::Reader::from_reader(before.as_bytes());
    if *reader.headers()? == columns {
        for line in reader.records() {
            let line = line?;
            if !now.contains(&simulation(&line)) {
                out.write_record(&line)?;
            }
        }
    }
    for line in &lines {
        out.write_record(line)?;
    }
    let bytes = out.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn keep(text: &str, to: &Path) -> Result<(), ClaimsError> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(|source| RecordError::Write { path: folder.to_owned(), source })?;
    }
    Ok(write_atomically(to, |file| {
        let mut compressed = GzBuilder::new().mtime(0).write(file, Compression::best());
        compressed.write_all(text.as_bytes())?;
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

    #[test]
    fn what_was_measured_for_another_claim_stays() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("stored.csv.gz");
        let add = |text: &str| {
            std::fs::write(folder.path().join("summary.csv"), text).unwrap();
            add_to_summary(folder.path(), &to).unwrap();
            read_summary(&to).unwrap()
        };
        let head = "scheme,load,class,metric,value\n";
        let first = format!("{head}tcp,0.1,flows,fct_mean,1\ntcp,0.2,flows,fct_mean,2\ntcp,0.2,flows,drops,3\n");
        assert_eq!(add(&first), first);
        let again = format!("{head}dctcp,0.2,flows,fct_mean,4\ntcp,0.2,flows,fct_mean,5\n");
        let both = format!("{head}tcp,0.1,flows,fct_mean,1\ndctcp,0.2,flows,fct_mean,4\ntcp,0.2,flows,fct_mean,5\n");
        assert_eq!(add(&again), both, "a simulation is as it was measured last");
        let other = "scheme,class,metric,value\ntcp,flows,fct_mean,6\n";
        assert_eq!(add(other), other, "of another study");
    }
}
