//! Files that are either the old ones or complete: written under a temporary name in the same folder, then renamed.
//!
//! After a power failure, too: the bytes are on the disk before the file has its name. The name itself reaches the disk
//! with the folder, at some time after [`AtomicFile::commit`] and before [`write_atomically`] gives another file in the
//! folder its name. A file that is written by the latter so says that all that were committed before it are there, and
//! one folder of files costs one wait for the folder.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::RecordError;

/// A file that appears under its name only when it is complete. Dropped without [`AtomicFile::commit`] it leaves
/// nothing.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    path: PathBuf,
    temporary: PathBuf,
    committed: bool,
}

impl AtomicFile {
    /// Opens a temporary file beside `path`, with a name of this process: see [`temporary_name`].
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path) -> Result<AtomicFile, RecordError> {
        let name = path.file_name().ok_or_else(|| {
            RecordError::write(path, io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"))
        })?;
        let temporary = path.with_file_name(temporary_name(name));
        let file = File::create(&temporary).map_err(|e| RecordError::write(path, e))?;
        Ok(AtomicFile { file, path: path.to_owned(), temporary, committed: false })
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Brings the bytes to the disk and gives the file its name.
    ///
    /// # Errors
    /// If the bytes cannot be stored or the name cannot be given; then the file does not appear.
    pub fn commit(self) -> Result<(), RecordError> {
        self.store(|_| ())
    }

    /// The same, after the names of all files that were committed to the folder before.
    fn commit_after_others(self) -> Result<(), RecordError> {
        self.store(|path| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            // A file system that cannot sync a folder has done what it can.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        })
    }

    fn store(mut self, before_the_name: impl FnOnce(&Path)) -> Result<(), RecordError> {
        let store = || {
            self.file.sync_all()?;
            before_the_name(&self.path);
            fs::rename(&self.temporary, &self.path)
        };
        store().map_err(|e| RecordError::write(&self.path, e))?;
        self.committed = true;
        Ok(())
    }
}

/// The name under which this process writes a file that will be called `name`: hidden, with the process id and a number
/// that the process has drawn, so that two processes that write the same file, on one machine or two, do not mix their
/// bytes.
pub fn temporary_name(name: &OsStr) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}-{:08x}.tmp", std::process::id(), drawn()));
    hidden
}

/// Whether [`temporary_name`] gives such names: `.NAME.PID-0123abcd.tmp`, with eight hexadecimal digits.
pub fn is_temporary(name: &OsStr) -> bool {
    let inner = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
    let Some((of, (pid, drawn))) =
        inner.and_then(|inner| inner.rsplit_once('.')).and_then(|(of, id)| Some((of, id.split_once('-')?)))
    else {
        return false;
    };
    let is_hexadecimal = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    !of.is_empty() && pid.parse::<u32>().is_ok() && drawn.len() == 8 && drawn.chars().all(is_hexadecimal)
}

/// A number that another process has not drawn, not even one with the same id on another machine.
fn drawn() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    use std::sync::OnceLock;

    static DRAWN: OnceLock<u32> = OnceLock::new();
    // The standard library draws the keys of its hash tables from the system's randomness.
    *DRAWN.get_or_init(|| RandomState::new().hash_one(std::process::id()) as u32)
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            // Nothing can be done about a leftover, and whoever dropped the file has the error that matters.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a whole file by `fill`, which gets a buffered writer, so that it appears complete or not at all, and not
/// before the files that were committed to its folder earlier.
///
/// # Errors
/// If the file cannot be written, or `fill` says so.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), RecordError> {
    let mut buffer = BufWriter::new(AtomicFile::create(path)?);
    fill(&mut buffer).map_err(|e| RecordError::write(path, e))?;
    buffer.into_inner().map_err(|e| RecordError::write(path, e.into_error()))?.commit_after_others()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_appears_whole_and_replaces_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "old").unwrap();
        write_atomically(&path, |out| {
            out.write_all(b"new")?;
            assert_eq!(fs::read_to_string(&path)?, "old");
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_failed_write_keeps_the_old_file_and_leaves_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "old").unwrap();
        let error = write_atomically(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::new(io::ErrorKind::StorageFull, "full"))
        })
        .unwrap_err();
        assert!(matches!(&error, RecordError::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull));
        assert_eq!(error.path(), path);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn only_names_of_temporary_files_are_taken_for_such() {
        for name in ["a.txt", ".hidden", "a", ".", "流.csv"] {
            assert!(is_temporary(&temporary_name(name.as_ref())), "{name}");
        }
        for name in [
            ".chapter.tmpl",
            ".my.tmp.notes",
            ".tmp",
            "a.txt.1-0123abcd.tmp",
            ".a.txt.1-0123abcd.tm",
            "..1-0123abcd.tmp",
            ".a.txt.x-0123abcd.tmp",
            ".a.txt.1-0123abc.tmp",
            ".a.txt.1-0123abcg.tmp",
            ".a.txt.1-0123ABCD.tmp",
            ".1-0123abcd.tmp",
            ".a.txt.-0123abcd.tmp",
            ".a.tmp",
        ] {
            assert!(!is_temporary(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error_with_the_path() {
        let error = AtomicFile::create(Path::new("/no/such/folder/a.txt")).unwrap_err().to_string();
        assert!(error.contains("/no/such/folder/a.txt"), "{error}");
    }
}
