//! The files of results in a run folder. Each is known by its seal, so that one which somebody has edited, or put
//! there, is set aside and never overwritten or removed.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use tailcut_record::{RecordError, make_folder, set_aside, temporary_name};

use crate::error::ResultsError;
use crate::seal::FileSeal;

/// The files of results of a run, by their names below its folder.
pub type ResultFiles = BTreeMap<String, FileSeal>;

/// A hidden folder in a run folder, in which results are written before they get their places. Its name is that of a
/// temporary file, so that the next run removes what a killed one has left.
#[derive(Debug)]
pub struct Staging<'a> {
    run: &'a Path,
    folder: PathBuf,
}

impl<'a> Staging<'a> {
    /// Makes an empty one.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn new(run: &'a Path) -> Result<Staging<'a>, RecordError> {
        let folder = run.join(temporary_name("results".as_ref()));
        match std::fs::create_dir_all(&folder) {
            Ok(()) => Ok(Staging { run, folder }),
            Err(source) => Err(RecordError::Write { path: folder, source }),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Gives the files `names` in the folder their places in the run folder. Those of `old` that are not among them are
    /// removed. What is neither of the two is set aside.
    ///
    /// `save` gets the seals of the new files before the first of them is in its place, and must save them: whenever
    /// the program is killed, what is there is known.
    ///
    /// Returns a sentence for each file that was set aside.
    ///
    /// # Errors
    /// If a file cannot be moved, or `save` fails.
    pub fn publish(
        self,
        names: &[String],
        old: &ResultFiles,
        save: impl FnOnce(&ResultFiles) -> Result<(), ResultsError>,
    ) -> Result<Vec<String>, ResultsError> {
        publish(self.run, &self.folder, names, old, save)
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        // Whoever failed has the error that matters, and the next run removes a leftover.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Gives the files `names` in the folder `from` their places; see [`Staging::publish`].
fn publish(
    run: &Path,
    from: &Path,
    names: &[String],
    old: &ResultFiles,
    save: impl FnOnce(&ResultFiles) -> Result<(), ResultsError>,
) -> Result<Vec<String>, ResultsError> {
    let seal = |name: &String| {
        let path = from.join(name);
        let seal = FileSeal::of(&path).map_err(|source| RecordError::Read { path, source })?;
        Ok((name.clone(), seal))
    };
    let new = names.iter().map(seal).collect::<Result<ResultFiles, RecordError>>()?;
    let mut notes = Vec::new();
    let mut missing = Vec::new();
    for name in new.keys() {
        let path = run.join(name);
        let folder = path.parent().unwrap_or(run);
        if folder != run && folder.is_symlink() {
            let what = "it is a symbolic link, and results are not written through one";
            return Err(RecordError::Write { path: folder.to_owned(), source: io::Error::other(what) }.into());
        }
        let aside = make_folder(folder).map_err(|source| RecordError::Write { path: folder.to_owned(), source })?;
        notes.extend(aside.map(|aside| set_aside_note(run, folder, &aside)));
        if FileSeal::of(&path).ok().as_ref() != new.get(name) {
            notes.extend(clear(run, name, old.get(name))?);
            missing.push(name);
        }
    }
    for (name, seal) in old.iter().filter(|(name, _)| !new.contains_key(*name)) {
        notes.extend(clear(run, name, Some(seal))?);
    }
    save(&new)?;
    for name in missing {
        let path = run.join(name);
        std::fs::rename(from.join(name), &path).map_err(|source| RecordError::Write { path, source })?;
    }
    Ok(notes)
}

/// Removes the files of results `old` from the run folder `run`; those that were edited are set aside.
///
/// Returns a sentence for each file that was set aside.
///
/// # Errors
/// If a file cannot be removed.
pub fn withdraw(run: &Path, old: &ResultFiles) -> Result<Vec<String>, RecordError> {
    let mut notes = Vec::new();
    for (name, seal) in old {
        notes.extend(clear(run, name, Some(seal))?);
    }
    for folder in ["tables", "plots"] {
        // It stays if it holds something else, and so does a symbolic link.
        let _ = std::fs::remove_dir(run.join(folder));
    }
    Ok(notes)
}

/// The damage to the files of results in the run folder `run`, in a sentence each.
pub fn changed(run: &Path, files: &ResultFiles) -> Vec<String> {
    files.iter().filter_map(|(name, seal)| Some(format!("{name}: {}", seal.damage(&run.join(name))?))).collect()
}

/// Frees the name of a file of results: removes the file if it is what was written, else sets it aside and says so.
/// Nothing outside of the run folder is touched.
fn clear(run: &Path, name: &str, seal: Option<&FileSeal>) -> Result<Option<String>, RecordError> {
    let path = run.join(name);
    let wrong = |source| RecordError::Write { path: path.clone(), source };
    let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let leads_out = path.parent().is_some_and(|folder| folder != run && folder.is_symlink());
    if !is_inside || leads_out {
        return Ok(None);
    }
    match path.symlink_metadata() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(wrong(error)),
        Ok(kind) if kind.is_file() && FileSeal::of(&path).ok().as_ref() == seal => {
            return std::fs::remove_file(&path).map(|()| None).map_err(wrong);
        }
        Ok(_) => {}
    }
    let aside = set_aside(&path).map_err(wrong)?;
    Ok(Some(set_aside_note(run, &path, &aside)))
}

/// Says that something was set aside.
fn set_aside_note(run: &Path, path: &Path, aside: &Path) -> String {
    let below = |path: &Path| -> PathBuf { path.strip_prefix(run).unwrap_or(path).to_owned() };
    format!("{} is not what tailcut has written there: it is now {}", below(path).display(), below(aside).display())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Publishes files with their own names as content and `version` behind it.
    fn publish_all(run: &Path, names: &[&str], version: u32, old: &ResultFiles) -> (ResultFiles, Vec<String>) {
        let from = tempfile::tempdir_in(run).unwrap();
        for name in names {
            let path = from.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{name}{version}")).unwrap();
        }
        let mut saved = None;
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let save = |new: &ResultFiles| {
            saved = Some(new.clone());
            let is_known =
                |path: &Path, name: &str| !path.exists() || FileSeal::of(path).ok().as_ref() == new.get(name);
            assert!(new.keys().all(|name| is_known(&run.join(name), name)), "all that is there is known");
            Ok(())
        };
        let notes = publish(run, from.path(), &names, old, save).unwrap();
        (saved.unwrap(), notes)
    }

    fn content(run: &Path, name: &str) -> Option<String> {
        fs::read_to_string(run.join(name)).ok()
    }

    #[test]
    fn results_replace_those_before_and_leave_what_others_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path();
        fs::create_dir(run.join("plots")).unwrap();
        fs::write(run.join("plots/b"), "mine").unwrap();
        let (old, notes) = publish_all(run, &["a", "plots/b", "plots/c", "tables/d"], 1, &ResultFiles::new());
        assert_eq!(notes, ["plots/b is not what tailcut has written there: it is now plots/b.aside"]);
        assert_eq!(content(run, "plots/b.aside").unwrap(), "mine");
        assert!(changed(run, &old).is_empty());
        fs::write(run.join("a"), "edited").unwrap();
        fs::remove_file(run.join("tables/d")).unwrap();
        assert_eq!(changed(run, &old), ["a: it has 6 B, and had 2 B", "tables/d: it is missing"]);
        let (new, notes) = publish_all(run, &["a", "plots/b"], 2, &old);
        assert_eq!(notes, ["a is not what tailcut has written there: it is now a.aside"]);
        assert_eq!(content(run, "a.aside").unwrap(), "edited");
        assert_eq!((content(run, "a").unwrap(), content(run, "plots/b").unwrap()), ("a2".into(), "plots/b2".into()));
        assert_eq!(content(run, "plots/c"), None);
        let modified = || fs::metadata(run.join("a")).unwrap().modified().unwrap();
        let before = modified();
        let (again, notes) = publish_all(run, &["a", "plots/b"], 2, &new);
        assert_eq!((again, notes, modified()), (new.clone(), Vec::new(), before), "equal files stay");
        fs::write(run.join("plots/b"), "edited").unwrap();
        assert_eq!(withdraw(run, &new).unwrap().len(), 1);
        assert_eq!((content(run, "a"), content(run, "plots/b")), (None, None));
        assert_eq!(content(run, "plots/b.aside-2").unwrap(), "edited");
    }

    #[test]
    fn a_folder_in_the_place_of_a_file_and_a_file_in_that_of_a_folder_are_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path();
        fs::create_dir_all(run.join("a/mine")).unwrap();
        fs::write(run.join("tables"), "mine").unwrap();
        let (new, notes) = publish_all(run, &["a", "tables/b"], 1, &ResultFiles::new());
        assert_eq!(notes.len(), 2);
        assert!(changed(run, &new).is_empty() && run.join("a.aside/mine").is_dir());
        assert_eq!(content(run, "tables.aside").unwrap(), "mine");
    }

    #[test]
    fn nothing_outside_of_the_run_folder_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        fs::create_dir(&run).unwrap();
        fs::write(folder.path().join("mine"), "mine").unwrap();
        let seal = FileSeal::of(&folder.path().join("mine")).unwrap();
        let outside = folder.path().join("mine").to_string_lossy().into_owned();
        let old = [("../mine".to_owned(), seal.clone()), (outside, seal)].into();
        assert!(withdraw(&run, &old).unwrap().is_empty());
        assert_eq!(content(folder.path(), "mine").unwrap(), "mine");
    }
}
