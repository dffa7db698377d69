//! Files that are computed from finished points and can be computed again.

use std::path::{Path, PathBuf};

use tailcut_record::{RecordError, temporary_name};

/// A folder in which results are written, and what has been written there so far.
pub struct OutputFolder<'a> {
    folder: &'a Path,
    written: Vec<PathBuf>,
}

impl<'a> OutputFolder<'a> {
    /// Files below `folder`, of which none is written yet.
    pub fn new(folder: &'a Path) -> OutputFolder<'a> {
        OutputFolder { folder, written: Vec::new() }
    }

    /// The files that were written, in their order.
    pub fn written(&self) -> &[PathBuf] {
        &self.written
    }

    /// The path of the file `name`, which counts as written from now on; its folder is made.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn file(&mut self, name: &str) -> Result<PathBuf, RecordError> {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            if folder != self.folder && folder.is_symlink() {
                let what = "it is a symbolic link, and results are not written through one";
                return Err(RecordError::Write { path: folder.to_owned(), source: std::io::Error::other(what) });
            }
            std::fs::create_dir_all(folder).map_err(|source| RecordError::Write { path: folder.to_owned(), source })?;
        }
        self.written.push(path.clone());
        Ok(path)
    }

    /// Writes the file `name`.
    ///
    /// # Errors
    /// If the file or its folder cannot be written.
    pub fn write(&mut self, name: &str, text: &str) -> Result<(), RecordError> {
        let path = self.file(name)?;
        replace(&path, text.as_bytes())
    }
}

/// Writes a file that is computed from the points. It appears complete or not at all, but this does not wait for the
/// disk: after a power failure the same command writes the file again.
///
/// # Errors
/// If the file cannot be written.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), RecordError> {
    // The temporary file is hidden and names this process; a later run removes what a killed one left.
    let temporary = path.with_file_name(temporary_name(path.file_name().unwrap_or_default()));
    std::fs::write(&temporary, content).and_then(|()| std::fs::rename(&temporary, path)).map_err(|source| {
        // The error is what matters, whether or not a temporary file is left.
        let _ = std::fs::remove_file(&temporary);
        RecordError::Write { path: path.to_owned(), source }
    })
}
