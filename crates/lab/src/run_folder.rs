//! The folder of a run: it belongs to one scenario, and one process at a time runs in it.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tailcut_record::{is_temporary, make_folder, read_regular, set_aside, write_atomically};
use tailcut_report::ReportError;
use tailcut_results::{Point, PointState, ResultFiles, ResultsError, RunInfo, content_hash, replace};
use tailcut_sim::{Files, Problem};

use crate::command::shell_word;
use crate::error::RunError;
use crate::{inputs, under_way};

/// Reads what was run in a run folder; `example` is one of the folders that were expected.
///
/// # Errors
/// If there is no such folder, it holds no run, or its `run.json` is not what was written.
pub fn read_info(folder: &Path, example: &str) -> Result<RunInfo, Problem> {
    let restore = format!(
        "`tailcut run SCENARIO --out {}` writes run.json anew, and runs nothing again that is intact",
        shell_word(&folder.display().to_string())
    );
    if folder.join("run.json").symlink_metadata().is_err() {
        let problem = Problem::new(format!("{} is no run folder", folder.display()));
        return Err(match folder.join("points").is_dir() {
            true => Problem::new(format!("{} has no run.json", folder.display())).help(restore),
            false => problem.help(format!("expected a folder that `tailcut run` has written, {example}")),
        });
    }
    RunInfo::read(folder).map_err(|error| Problem::new(error.to_string()).help(restore))
}

/// A run folder that is locked for this process until it is dropped.
pub(crate) struct Locked {
    _file: File,
    /// Notes on the folder for the user, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// Makes sure that `out` is the folder of this run, or an empty one, and locks it for this process. A run that searches
/// over the swept parameters `searched` is the same whatever their values.
///
/// # Errors
/// If the folder holds something else, is in use, or cannot be written.
pub(crate) fn lock(out: &Path, info: &RunInfo, files: &Files, searched: &[String]) -> Result<Locked, RunError> {
    let mut notes = is_for(out, info, searched)?;
    let lock = open(out, &mut notes)?;
    // Where files cannot be locked, nothing tells whether another process writes here: that is refused, too.
    if patiently(|| lock.try_lock()).is_err() {
        let what = "is in use by another tailcut: wait for it, or choose another --out".to_owned();
        return Err(RunError::Folder { folder: out.to_owned(), what });
    }
    // A killed run may have left temporary files; the lock says that nobody writes them now.
    remove_temporary_files(out);
    notes.extend(announce(out, info, files)?);
    Ok(Locked { _file: lock, notes })
}

/// As [`lock`], for a process that runs some points of the run while others run other points of it: all of them hold
/// the lock, and nobody who wants it alone gets it meanwhile.
///
/// # Errors
/// If the folder holds something else, a whole run goes on in it, or it cannot be written.
pub(crate) fn join(out: &Path, info: &RunInfo, files: &Files) -> Result<Locked, RunError> {
    let mut notes = is_for(out, info, &[])?;
    let lock = open(out, &mut notes)?;
    // A file system that cannot lock cannot tell; points are written so that two processes do no harm to each other.
    if let Err(TryLockError::WouldBlock) = patiently(|| lock.try_lock_shared()) {
        let what = "is in use by a whole run or by `tailcut gather`: wait for it, or choose another --out".to_owned();
        return Err(RunError::Folder { folder: out.to_owned(), what });
    }
    notes.extend(announce(out, info, files)?);
    Ok(Locked { _file: lock, notes })
}

/// Tries a lock for a fifth of a second: `tailcut report` and `tailcut gather` hold it for an instant, to find whether
/// a run goes on.
fn patiently(try_lock: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    let began = Instant::now();
    loop {
        match try_lock() {
            Err(TryLockError::WouldBlock) if began.elapsed() < Duration::from_millis(200) => {
                std::thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

/// Waits until no other process writes results or `run.json` in the run folder `out`, and keeps them from it until the
/// returned file is dropped: processes that run points, reports and a whole run may be at work at once. The folder of
/// the points is locked, so that no further file is needed; `None` where the system cannot do that.
pub(crate) fn hold_results(out: &Path) -> Option<File> {
    let points = File::open(out.join("points")).ok()?;
    points.lock().ok().map(|()| points)
}

/// Makes the folder and opens its lock.
fn open(out: &Path, notes: &mut Vec<String>) -> Result<File, RunError> {
    let points = out.join("points");
    let aside = make_folder(&points).map_err(|source| RunError::Io { path: points.clone(), source })?;
    notes.extend(aside.map(|aside| format!("{} was not a folder: it is now {}", points.display(), aside.display())));
    open_lock(out)
}

/// Makes sure that `out` is the folder of this run, an empty one, or none. Returns what the user should know of it: a
/// folder whose `run.json` is lost or damaged is known by its intact runs.
fn is_for(out: &Path, info: &RunInfo, searched: &[String]) -> Result<Vec<String>, RunError> {
    let refuse = |what: String| Err(RunError::Folder { folder: out.to_owned(), what });
    if out.exists() && !out.is_dir() {
        return refuse("is not a folder: expected a folder or a free name behind --out".to_owned());
    }
    // Another process may have begun the same run in the folder between two looks: it writes `run.json` first.
    let is_known = out.join("run.json").symlink_metadata().is_ok();
    let what = match RunInfo::read(out) {
        Ok(old) if same_run(&old.scenario_toml, &info.scenario_toml, searched) => return Ok(Vec::new()),
        Ok(_) => return refuse("holds another run: choose another --out".to_owned()),
        Err(_) if !is_known && !out.exists() => return Ok(Vec::new()),
        Err(_) if !is_known => {
            if holds_nothing(out).map_err(|source| RunError::Io { path: out.to_owned(), source })? {
                return Ok(Vec::new());
            }
            "its run.json is missing".to_owned()
        }
        Err(error) => error.to_string(),
    };
    match info.points.iter().filter(|point| point.state_in(out).is_intact()).count() {
        0 if is_known => refuse(format!("cannot be told to hold this run ({what}): choose another --out")),
        0 => refuse("is not empty and holds no run: choose another --out".to_owned()),
        intact => Ok(vec![format!(
            "{what}; it is written anew, because {intact} of {} points are intact in {} and belong to this run",
            info.points.len(),
            out.display()
        )]),
    }
}

/// Opens the file that says whether somebody works in the run folder `out`. Nothing is written to it.
///
/// # Errors
/// If it cannot be opened, or is a symbolic link to some other file.
pub(crate) fn open_lock(out: &Path) -> Result<File, RunError> {
    let path = out.join("run.lock");
    let io = |source| RunError::Io { path: path.clone(), source };
    if path.is_symlink() {
        return Err(io(std::io::Error::other("it is a symbolic link: expected a file of the run, or none")));
    }
    if path.metadata().is_ok_and(|kind| !kind.is_file()) {
        set_aside(&path).map_err(io)?;
    }
    File::options().create(true).truncate(false).read(true).write(true).open(&path).map_err(io)
}

/// Takes a finished point into the folder `out` from the first of the `shared` folders that has it, unless it is there.
/// Files that a file system cannot link are copied; a point that can be neither is run. Returns where things are now
/// that were set aside.
pub(crate) fn take_from(shared: &[PathBuf], out: &Path, point: &Point) -> Vec<PathBuf> {
    if shared.is_empty() || point.state_in(out).is_intact() {
        return Vec::new();
    }
    let intact = |run: &PathBuf| match point.state_in(run) {
        PointState::Intact(summary) => Some((point.folder_in(run), summary)),
        _ => None,
    };
    let Some((from, summary)) = shared.iter().find_map(intact) else { return Vec::new() };
    let to = point.folder_in(out);
    let Ok(aside) = make_room(&to) else { return Vec::new() };
    let take = |name: &str| {
        let _ = std::fs::remove_file(to.join(name));
        std::fs::hard_link(from.join(name), to.join(name))
            .or_else(|_| std::fs::copy(from.join(name), to.join(name)).map(drop))
    };
    let all = || -> std::io::Result<()> {
        summary.files.keys().try_for_each(|name| take(name))?;
        // The summary says that the point is complete, and comes last.
        take("summary.json")
    };
    let _ = all();
    aside
}

/// Makes the folder of a point. What cannot be replaced by a file of the point, such as a folder that has its name, is
/// set aside; returns where it is now.
///
/// # Errors
/// If the folder cannot be made.
pub(crate) fn make_room(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut aside = Vec::new();
    // Nothing is written through a symbolic link: what it leads to may be another run.
    if folder.is_symlink() {
        aside.push(set_aside(folder)?);
    }
    aside.extend(make_folder(folder)?);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_ours = path.extension().is_some_and(|extension| extension == "parquet")
            || path.file_name().is_some_and(|name| name == "summary.json" || name == "error.txt");
        if is_ours && !path.symlink_metadata()?.is_file() {
            aside.push(set_aside(&path)?);
        }
    }
    Ok(aside)
}

/// Writes into the folder what is run there: `run.json`, copies of the files that the scenario names, and
/// `scenario.toml`, which has a table of the copies. Returns what the user should know.
///
/// # Errors
/// If one of them cannot be written.
pub(crate) fn announce(out: &Path, info: &RunInfo, files: &Files) -> Result<Vec<String>, RunError> {
    let _held = hold_results(out);
    let old = RunInfo::read(out);
    let path = out.join("scenario.toml");
    let text = scenario_text(info);
    let mut scenario = vec![content_hash(text.as_bytes())];
    let mut notes = Vec::new();
    let mut aside = |path: &Path| {
        let to = set_aside(path).map_err(|source| RunError::Io { path: path.to_owned(), source })?;
        notes.push(format!("{} is not what tailcut has written there: it is now {}", path.display(), to.display()));
        Ok::<(), RunError>(())
    };
    match read_regular(&path) {
        Ok(there) if there == text => {}
        Ok(there) => {
            let hash = content_hash(there.as_bytes());
            match &old {
                // Until it is replaced, the one before is there, also if this process is killed.
                Ok(old) if old.scenario.contains(&hash) => scenario.push(hash),
                Err(_) if without_head(&there) == without_head(&text) => scenario.push(hash),
                _ => aside(&path)?,
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(_) => aside(&path)?,
    }
    if let Err(ResultsError::Damaged { path, .. }) = &old {
        aside(path)?;
    }
    // What was written before is still there.
    let old = old.ok();
    let results = old.as_ref().map_or_else(ResultFiles::new, |old| old.results.clone());
    // With the one before it, the list is that of an announcement that was made already.
    if let Some(known) = old.as_ref().map(|old| &old.scenario).filter(|known| known.starts_with(&scenario)) {
        scenario.clone_from(known);
    }
    let info = RunInfo { results, scenario, ..info.clone() };
    if old.as_ref() != Some(&info) {
        info.write(out).map_err(ReportError::from)?;
    }
    // A folder with points and without run.json would be refused, so that the name has to be on the disk before the
    // first point. A file system that cannot sync a folder has done what it can.
    let _ = File::open(out).and_then(|folder| folder.sync_all());
    inputs::keep(out, files)?;
    if read_regular(&path).ok().as_ref() != Some(&text) {
        replace(&path, text.as_bytes())?;
    }
    Ok(notes)
}

/// The text of `scenario.toml` in the folder of a run.
pub(crate) fn scenario_text(info: &RunInfo) -> String {
    let scenario = inputs::with_table(&info.scenario_toml, &info.inputs);
    format!("# {}\n# tailcut {}\n\n{scenario}", info.command, info.version)
}

/// The text of `scenario.toml` without its first two lines, the command and the version.
fn without_head(text: &str) -> &str {
    let behind_line =
        |text| str::split_once(text, '\n').filter(|(line, _)| line.starts_with('#')).map(|(_, rest)| rest);
    behind_line(text).and_then(behind_line).unwrap_or(text)
}

/// Whether two effective scenarios have the same points, up to seeds that only one of them has, and values of the
/// swept parameters `searched`.
fn same_run(a: &str, b: &str, searched: &[String]) -> bool {
    let without = |text: &str| {
        let mut table: toml::Table = text.parse().ok()?;
        table.remove("seeds");
        if let Some(toml::Value::Table(sweep)) = table.get_mut("sweep") {
            for path in searched {
                // The parameter stays, so that a run that does not sweep it is another one.
                if let Some(values) = sweep.get_mut(path) {
                    *values = toml::Value::Boolean(true);
                }
            }
        }
        Some(table)
    };
    a == b || without(a).is_some_and(|a| without(b) == Some(a))
}

/// Whether a folder holds nothing that matters: at most the lock, temporary files and a folder for points in which
/// there are only empty ones. A run leaves these if it is killed before it has written `run.json`, and workflow engines
/// make the folders of what a command will write.
fn holds_nothing(out: &Path) -> std::io::Result<bool> {
    for entry in std::fs::read_dir(out)? {
        let entry = entry?;
        let name = entry.file_name();
        let empty = name == "points" && has_only_empty_folders(&entry.path())?;
        if !empty && name != "run.lock" && !is_temporary(&name) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_only_empty_folders(folder: &Path) -> std::io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() || std::fs::read_dir(entry.path())?.next().is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes a point that was simulated elsewhere into the folder `out`: its files by their names, the summary last.
///
/// # Errors
/// If one of them cannot be written.
pub(crate) fn put(out: &Path, point: &Point, files: &[(String, Vec<u8>)]) -> Result<(), RunError> {
    const SUMMARY: &str = "summary.json";
    let folder = point.folder_in(out);
    make_room(&folder).map_err(|source| RunError::Io { path: folder.clone(), source })?;
    let (last, first): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| name == SUMMARY);
    for (name, bytes) in first.into_iter().chain(last) {
        // Only names of files of the point itself: nothing that leads out of its folder.
        if Path::new(name).components().count() == 1 && Path::new(name).file_name().is_some() {
            write_atomically(&folder.join(name), |file| file.write_all(bytes))?;
        }
    }
    Ok(())
}

/// Removes what killed processes have left in the run folder `out`: files with the exact names of temporary ones, where
/// tailcut writes any. One that cannot be removed does no harm, because nothing reads it.
pub(crate) fn remove_temporary_files(out: &Path) {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let own = ["tables", "plots", "inputs", "points"].map(|name| out.join(name));
    let points = entries(&out.join("points")).map(|entry| entry.path());
    for folder in [out.to_owned()].into_iter().chain(own).chain(points).filter(|folder| !folder.is_symlink()) {
        for entry in entries(&folder) {
            let name = entry.file_name();
            if is_temporary(&name) || name == under_way::NAME {
                let path = entry.path();
                let _ = if path.is_dir() && !path.is_symlink() {
                    std::fs::remove_dir_all(path)
                } else {
                    std::fs::remove_file(path)
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tailcut_record::temporary_name;

    use super::*;

    #[test]
    fn only_leftovers_of_our_own_are_removed() {
        let out = tempfile::tempdir().unwrap();
        let [leftover, folder] = ["a.csv", "results"].map(|name| temporary_name(name.as_ref()));
        let mine = [".my.tmp.notes", "notes/.chapter.tmpl", "a.tmp", "points/k/.draft.tmp", "points/k/a.tmp"];
        let mut ours = Vec::new();
        for below in ["", "tables", "plots", "inputs", "points/k"] {
            fs::create_dir_all(out.path().join(below)).unwrap();
            ours.push(out.path().join(below).join(&leftover));
        }
        ours.push(out.path().join("points/k").join(under_way::NAME));
        ours.push(out.path().join(&folder).join("report.html"));
        fs::create_dir_all(out.path().join("notes")).unwrap();
        fs::create_dir_all(out.path().join(&folder)).unwrap();
        let mine: Vec<PathBuf> = mine.iter().map(|name| out.path().join(name)).collect();
        // Not a folder of ours, so that nothing in it is.
        let mine: Vec<PathBuf> = mine.into_iter().chain([out.path().join("notes").join(&leftover)]).collect();
        mine.iter().chain(&ours).for_each(|path| fs::write(path, "text").unwrap());
        remove_temporary_files(out.path());
        assert!(mine.iter().all(|path| path.exists()));
        assert!(ours.iter().all(|path| !path.exists()) && !out.path().join(&folder).exists());
    }
}
