//! The files that a scenario names: the one place where a scenario touches the file system.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Invalid;

/// Most bytes of one file: a list of 30 million flows.
const MOST_BYTES: u64 = 1 << 30;

/// The files that a scenario names, looked for from one folder. Each is read once, however often it is asked for, also
/// by copies of this value: what a file holds later changes nothing. They are known by their paths as the scenario has
/// them.
#[derive(Clone, Debug, Default)]
pub struct Files {
    folder: PathBuf,
    read: Arc<Mutex<BTreeMap<PathBuf, Arc<[u8]>>>>,
}

impl Files {
    /// Files that are looked for from `folder`; none has been read.
    pub fn at(folder: impl Into<PathBuf>) -> Files {
        Files { folder: folder.into(), read: Arc::default() }
    }

    /// These files, which were read before, by their paths as the scenario has them; others are looked for in `folder`.
    pub fn of_read(folder: impl Into<PathBuf>, read: BTreeMap<PathBuf, Arc<[u8]>>) -> Files {
        Files { folder: folder.into(), read: Arc::new(Mutex::new(read)) }
    }

    /// The files that were read so far, by their paths as the scenario has them.
    pub fn all_read(&self) -> BTreeMap<PathBuf, Arc<[u8]>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where they are looked for.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The bytes of the file at `path`, relative to the folder, which the key at `key` names.
    ///
    /// # Errors
    /// If it cannot be read, is no regular file, or is larger than 1 GiB.
    pub fn read(&self, key: &str, path: &Path) -> Result<Arc<[u8]>, Invalid> {
        let full = self.folder.join(path);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = read.get(path) {
            return Ok(Arc::clone(bytes));
        }
        let bytes: Arc<[u8]> = whole(&full)
            .map_err(|reason| {
                let invalid = Invalid::new(key, format!("cannot read `{}`: {reason}", full.display()));
                if path.is_relative() {
                    invalid.help("paths are relative to the directory of the scenario")
                } else {
                    invalid
                }
            })?
            .into();
        read.insert(path.to_owned(), Arc::clone(&bytes));
        Ok(bytes)
    }
}

impl From<&Path> for Files {
    fn from(folder: &Path) -> Files {
        Files::at(folder)
    }
}

impl From<&Files> for Files {
    fn from(files: &Files) -> Files {
        files.clone()
    }
}

/// All bytes of a regular file that is not too large, or why not. What kind it is is asked before it is opened: to open
/// a pipe that nobody writes to would wait for ever.
fn whole(path: &Path) -> Result<Vec<u8>, String> {
    let too_large = || format!("it is larger than {} GiB", MOST_BYTES >> 30);
    let metadata = std::fs::metadata(path).map_err(|error| plain(&error))?;
    if metadata.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if !metadata.is_file() {
        return Err("it is a pipe, a device or a socket, and no file".to_owned());
    }
    if metadata.len() > MOST_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| plain(&error))?;
    // Files of the system may say that they are empty.
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| plain(&error))?;
    if bytes.len() as u64 > MOST_BYTES { Err(too_large()) } else { Ok(bytes) }
}

/// The operating system's words, without its number.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_also_by_copies() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "first").unwrap();
        let files = Files::at(folder.path());
        let copy = files.clone();
        assert_eq!(&*files.read("key", Path::new("a")).unwrap(), b"first");
        std::fs::write(folder.path().join("a"), "second").unwrap();
        assert_eq!(&*copy.read("key", Path::new("a")).unwrap(), b"first");
        std::fs::remove_file(folder.path().join("a")).unwrap();
        assert_eq!(&*files.read("key", Path::new("a")).unwrap(), b"first");
        let fresh = Files::at(folder.path()).read("key", Path::new("a")).unwrap_err();
        assert!(fresh.message.contains("there is no such file") && fresh.path == "key", "{fresh}");
        assert!(files.read("key", Path::new("")).unwrap_err().message.contains("it is a directory"));
        let elsewhere = Files::of_read(files.folder(), files.all_read());
        assert_eq!(
            &*elsewhere.read("key", Path::new("a")).unwrap(),
            b"first",
            "it is read where there is no such file"
        );
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_files_without_end_are_refused_at_once() {
        let files = Files::at("/");
        for device in ["/dev/zero", "/dev/null"] {
            let refused = files.read("key", Path::new(device)).unwrap_err();
            assert!(refused.message.contains("no file"), "{refused}");
        }
        let folder = tempfile::tempdir().unwrap();
        let large = File::create(folder.path().join("large")).unwrap();
        large.set_len(MOST_BYTES + 1).unwrap();
        let refused = Files::at(folder.path()).read("key", Path::new("large")).unwrap_err();
        assert!(refused.message.contains("larger than 1 GiB"), "{refused}");
    }
}
