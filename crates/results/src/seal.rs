//! The seal of a run of a sweep: which run it is, and what its files are.
//!
//! `summary.json` is written last. It names the run by its key, scheme, swept values and seed, has the length and the
//! hash of each file that the simulation has written, and ends with a hash of itself. So results that were copied from
//! another run or swapped with its are found, as are files that were cut, emptied, changed or removed. A file that the
//! summary does not name belongs to somebody else and is never read.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tailcut_record::{RecordError, open_regular, read_regular};
use twox_hash::xxhash3_128::Hasher as Xxh3;

use crate::error::ResultsError;
use crate::json;
use crate::point::PointSummary;
use crate::run::Point;

/// The file that marks its run as finished.
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
    ///
    /// # Errors
    /// If it is not a regular file or cannot be read.
    pub fn of(path: &Path) -> std::io::Result<FileSeal> {
        let mut file = open_regular(path)?;
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

    /// The damage to a file that had this seal, if there is any.
    pub(crate) fn damage(&self, path: &Path) -> Option<String> {
        match FileSeal::of(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Some("it is missing".to_owned()),
            Err(error) if matches!(error.kind(), ErrorKind::IsADirectory | ErrorKind::InvalidInput) => {
                Some(error.to_string())
            }
            Err(error) => Some(format!("it cannot be read: {error}")),
            Ok(now) if now.bytes != self.bytes => Some(format!("it has {} B, and had {} B", now.bytes, self.bytes)),
            Ok(now) if now.xxh3 != self.xxh3 => Some("it is not what was written: its hash is another one".to_owned()),
            Ok(_) => None,
        }
    }
}

/// The hash that stands for content: XXH3 with 128 bits, in hexadecimal digits.
pub fn content_hash(bytes: &[u8]) -> String {
    let mut hasher = Xxh3::new();
    hasher.write(bytes);
    digits(&hasher)
}

fn digits(hasher: &Xxh3) -> String {
    format!("{:032x}", hasher.finish_128())
}

/// State of the files of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum PointState {
    /// It has no summary: it is still to be run.
    Unfinished,
    /// They are what the simulation of this run has written.
    Intact(Box<PointSummary>),
    /// They are not, for this reason.
    Damaged(String),
}

impl PointState {
    /// Whether the run is finished and its files are what was written.
    pub fn is_intact(&self) -> bool {
        matches!(self, PointState::Intact(_))
    }
}

impl Point {
    /// The folder of its files in the run folder `run`.
    pub fn folder_in(&self, run: &Path) -> PathBuf {
        run.join("points").join(&self.key)
    }

    /// State of its files in the run folder `run`. All of them are read.
    pub fn state_in(&self, run: &Path) -> PointState {
        let summary = match self.summary_in(run) {
            Ok(Some(summary)) => summary,
            Ok(None) => return PointState::Unfinished,
            Err(why) => return PointState::Damaged(why),
        };
        let folder = self.folder_in(run);
        let damage = |(name, seal): (&String, &FileSeal)| Some(format!("{name}: {}", seal.damage(&folder.join(name))?));
        match summary.files.iter().find_map(damage) {
            Some(why) => PointState::Damaged(why),
            None => PointState::Intact(Box::new(summary)),
        }
    }

    /// Its summary in the run folder `run`, or nothing if it has not finished. Its other files are not read; see
    /// [`Point::state_in`].
    ///
    /// # Errors
    /// If the summary is not what was written, or is that of another run: the reason.
    pub fn summary_in(&self, run: &Path) -> Result<Option<PointSummary>, String> {
        let folder = self.folder_in(run);
        let path = folder.join(SUMMARY);
        if folder.is_symlink() {
            return Err("its folder is a symbolic link".to_owned());
        }
        if folder.exists() && !folder.is_dir() {
            return Err("its folder is a file".to_owned());
        }
        if !path.exists() {
            return Ok(None);
        }
        let summary: PointSummary = json::read(&path).map_err(|error| match error {
            ResultsError::Damaged { what, .. } => format!("{SUMMARY}: {what}"),
            error => error.to_string(),
        })?;
        if summary.key.is_empty() {
            let version = summary.engine.version;
            return Err(format!(
                "{SUMMARY}: tailcut {version} has written it, which did not record the key of its run"
            ));
        }
        let own = (&self.key, &self.scheme, &self.values, self.seed);
        if (&summary.key, &summary.scheme, &summary.values, summary.seed) == own {
            Ok(Some(summary))
        } else {
            Err(format!("{SUMMARY}: it belongs to another run, {}", summary.key))
        }
    }

    /// Why it has failed, as the first line of the file `error.txt` in its folder has it; `None` if there is none.
    pub fn failure_in(&self, run: &Path) -> Option<String> {
        let text = read_regular(&self.folder_in(run).join("error.txt")).ok()?;
        text.lines().next().map(str::to_owned)
    }

    /// The path of one of its files in the run folder `run`; `None` if the simulation has not written such a file, or
    /// the run has not finished. Files that somebody else has put there are not found.
    pub fn file_in(&self, run: &Path, name: &str) -> Option<PathBuf> {
        let summary = self.summary_in(run).ok()??;
        summary.files.contains_key(name).then(|| self.folder_in(run).join(name))
    }
}

impl PointSummary {
    /// Writes `summary.json` into the folder of a run, which marks it as finished, with the seals of these other files
    /// of the run: write it last.
    ///
    /// # Errors
    /// If it cannot be written, or another file cannot be read.
    pub fn write(&self, folder: &Path, files: &[&str]) -> Result<(), ResultsError> {
        let seal = |name: &&str| {
            let path = folder.join(name);
            let seal = FileSeal::of(&path).map_err(|source| RecordError::Read { path, source })?;
            Ok(((*name).to_owned(), seal))
        };
        let files = files.iter().map(seal).collect::<Result<_, RecordError>>()?;
        json::write(&folder.join(SUMMARY), &PointSummary { files, ..self.clone() })
    }
}

/// Makes a run that is in the folder `folder` unfinished, so that it is run again.
///
/// # Errors
/// If its summary cannot be removed.
pub fn forget(folder: &Path) -> std::io::Result<()> {
    // The target of a symbolic link is not this run's.
    if folder.is_symlink() {
        return Ok(());
    }
    fs::remove_file(folder.join(SUMMARY))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::replication;

    const FILES: [&str; 2] = ["flows.parquet", "ports.parquet"];

    fn point(key: &str) -> Point {
        Point { key: key.to_owned(), scheme: "a".to_owned(), values: Vec::new(), seed: 1 }
    }

    /// A run folder with a run that has two files beside its summary.
    fn run() -> (tempfile::TempDir, Point) {
        let (run, point) = (tempfile::tempdir().unwrap(), point("a-s1-0"));
        let folder = point.folder_in(run.path());
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("flows.parquet"), [7; 300]).unwrap();
        fs::write(folder.join("ports.parquet"), b"ports").unwrap();
        let summary = PointSummary { key: point.key.clone(), ..replication(&[]).summary };
        summary.write(&folder, &FILES).unwrap();
        (run, point)
    }

    fn damage(run: &Path, point: &Point) -> String {
        match point.state_in(run) {
            PointState::Damaged(why) => why,
            state => panic!("{state:?}"),
        }
    }

    #[test]
    fn a_run_is_intact_until_one_of_its_files_is_cut_emptied_removed_or_replaced() {
        let (run, point) = run();
        let (run, folder) = (run.path(), point.folder_in(run.path()));
        assert!(point.state_in(run).is_intact());
        let flows = folder.join("flows.parquet");
        fs::write(&flows, [7; 299]).unwrap();
        assert_eq!(damage(run, &point), "flows.parquet: it has 299 B, and had 300 B");
        fs::write(&flows, "").unwrap();
        assert_eq!(damage(run, &point), "flows.parquet: it has 0 B, and had 300 B");
        fs::remove_file(&flows).unwrap();
        assert_eq!(damage(run, &point), "flows.parquet: it is missing");
        fs::create_dir(&flows).unwrap();
        assert_eq!(damage(run, &point), "flows.parquet: it is a folder, not a file");
        fs::write(folder.join(SUMMARY), "").unwrap();
        assert_eq!(damage(run, &point), "summary.json: it is empty");
        fs::remove_file(folder.join(SUMMARY)).unwrap();
        assert_eq!(point.state_in(run), PointState::Unfinished);
        fs::create_dir(folder.join(SUMMARY)).unwrap();
        assert_eq!(damage(run, &point), "summary.json: it is a folder, not a file");
        fs::remove_dir_all(&folder).unwrap();
        fs::write(&folder, "a file").unwrap();
        assert_eq!(damage(run, &point), "its folder is a file");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_the_place_of_a_file_is_damage() {
        let (run, point) = run();
        for name in ["flows.parquet", SUMMARY] {
            let path = point.folder_in(run.path()).join(name);
            fs::remove_file(&path).unwrap();
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            assert_eq!(damage(run.path(), &point), format!("{name}: it is a pipe, a device or a socket, not a file"));
        }
    }

    /// Each part of the identity counts, whatever the name of the folder.
    #[test]
    fn results_of_another_run_are_not_taken() {
        let (run, own) = run();
        let others = [
            point("a-s1-1"),
            Point { scheme: "b".to_owned(), ..own.clone() },
            Point { values: vec!["0.4".to_owned()], ..own.clone() },
            Point { seed: 2, ..own.clone() },
        ];
        for other in others {
            let folder = other.folder_in(run.path());
            if other.key != own.key {
                fs::rename(own.folder_in(run.path()), &folder).unwrap();
            }
            assert_eq!(damage(run.path(), &other), "summary.json: it belongs to another run, a-s1-0");
            assert_eq!(other.file_in(run.path(), "flows.parquet"), None);
            fs::rename(folder, own.folder_in(run.path())).unwrap();
        }
        let summary = PointSummary { key: String::new(), ..replication(&[]).summary };
        summary.write(&own.folder_in(run.path()), &FILES).unwrap();
        assert!(damage(run.path(), &own).contains("did not record the key"));
    }

    #[test]
    fn files_that_are_not_of_the_run_are_neither_read_nor_sealed() {
        let (run, point) = run();
        let folder = point.folder_in(run.path());
        fs::write(folder.join("queries.parquet"), "another's").unwrap();
        assert!(point.state_in(run.path()).is_intact());
        assert_eq!(point.file_in(run.path(), "queries.parquet"), None);
        assert_eq!(point.file_in(run.path(), "flows.parquet"), Some(folder.join("flows.parquet")));
        let summary = point.summary_in(run.path()).unwrap().unwrap();
        assert_eq!(summary.files.keys().collect::<Vec<_>>(), FILES.iter().collect::<Vec<_>>());
        forget(&folder).unwrap();
        assert_eq!(point.file_in(run.path(), "flows.parquet"), None);
    }

    proptest! {
        /// Whatever bit of whatever file flips, it is seen.
        #[test]
        fn a_bit_that_flips_anywhere_is_seen(file in 0usize..3, at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let (run, point) = run();
            let path = point.folder_in(run.path()).join(["flows.parquet", "ports.parquet", SUMMARY][file]);
            let mut bytes = fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            fs::write(&path, bytes).unwrap();
            let after = point.state_in(run.path());
            prop_assert!(matches!(after, PointState::Damaged(_)), "{path:?}, byte {at}: {after:?}");
        }
    }
}
