//! Regular files, told apart from what may stand under their names: folders, pipes, devices.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Opens a regular file to read it.
///
/// # Errors
/// If it cannot be opened or is not a regular file. The kind is checked first, because opening a pipe waits for a
/// writer.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?;
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe, a device or a socket, not a file"));
    }
    File::open(path)
}

/// Reads a regular file as text.
///
/// # Errors
/// As [`open_regular`], and if it is not UTF-8.
pub fn read_regular(path: &Path) -> io::Result<String> {
    io::read_to_string(open_regular(path)?)
}

/// Renames `path` to a free name beside it, `NAME.aside`, and returns the new path. The content is not touched.
///
/// # Errors
/// If it cannot be renamed.
pub fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default();
    let mut number = 1;
    loop {
        let mut free = OsString::from(name);
        free.push(if number == 1 { ".aside".to_owned() } else { format!(".aside-{number}") });
        let to = path.with_file_name(free);
        // A broken symbolic link has its name, too.
        if to.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return fs::rename(path, &to).map(|()| to);
        }
        number += 1;
    }
}

/// Makes the folder `path` with those above it. A file in its place is set aside, and its new path is returned.
///
/// # Errors
/// If the folder cannot be made.
pub fn make_folder(path: &Path) -> io::Result<Option<PathBuf>> {
    let aside = match path.metadata() {
        Ok(kind) if !kind.is_dir() => Some(set_aside(path)?),
        _ => None,
    };
    fs::create_dir_all(path).map(|()| aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_a_device_are_not_regular_files() {
        let folder = tempfile::tempdir().unwrap();
        assert!(open_regular(folder.path()).unwrap_err().to_string().contains("a folder"));
        assert!(open_regular(Path::new("/dev/null")).unwrap_err().to_string().contains("a device"));
        assert_eq!(open_regular(&folder.path().join("a")).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::write(folder.path().join("a"), "text").unwrap();
        assert_eq!(read_regular(&folder.path().join("a")).unwrap(), "text");
    }

    #[test]
    fn nothing_is_overwritten_when_something_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        for (content, expected) in [("first", "a.csv.aside"), ("second", "a.csv.aside-2")] {
            fs::write(&path, content).unwrap();
            let aside = set_aside(&path).unwrap();
            assert_eq!(aside, folder.path().join(expected));
            assert_eq!(fs::read_to_string(aside).unwrap(), content);
        }
        assert!(!path.exists());
        fs::write(&path, "third").unwrap();
        assert_eq!(make_folder(&path).unwrap(), Some(folder.path().join("a.csv.aside-3")));
        assert!(path.is_dir());
        assert_eq!(make_folder(&path).unwrap(), None);
    }
}
