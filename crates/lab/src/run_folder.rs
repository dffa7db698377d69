//! The folder of a run: it belongs to one scenario, and one process at a time runs in it.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use tailcut_record::write_atomically;
use tailcut_report::ReportError;
use tailcut_results::{PointState, RunInfo, replace};
use tailcut_sim::{Files, Problem};

use crate::error::RunError;
use crate::inputs;

/// What was run in a run folder; `example` says what would have been one.
///
/// # Errors
/// If there is no such folder, it holds no run, or its `run.json` cannot be read.
pub fn read_info(folder: &Path, example: &str) -> Result<RunInfo, Problem> {
    let path = folder.join("run.json");
    if !path.exists() {
        return Err(Problem::new(format!("{} is no run folder", folder.display()))
            .help(format!("expected a folder that `tailcut run` has written, {example}")));
    }
    RunInfo::read(&path)
        .map_err(|error| Problem::new(error.to_string()).help("expected what `tailcut run` has written"))
}

/// Makes sure that `out` is the folder of this run, or an empty one, and locks it for this process. The lock ends when
/// the file is dropped. A run that searches over the swept parameters `searched` is the same whatever their values.
///
/// # Errors
/// If the folder holds something else, is in use, or cannot be written.
pub(crate) fn lock(out: &Path, info: &RunInfo, files: &Files, searched: &[String]) -> Result<File, RunError> {
    is_for(out, info, searched)?;
    std::fs::create_dir_all(out.join("points")).map_err(|source| RunError::Io { path: out.to_owned(), source })?;
    let lock = open_lock(out)?;
    if lock.try_lock().is_err() {
        let what = "is in use by another tailcut: wait for it, or choose another --out".to_owned();
        return Err(RunError::Folder { folder: out.to_owned(), what });
    }
    // A killed run may have left temporary files; the lock says that nobody writes them now.
    remove_temporary_files(out);
    announce(out, info, files)?;
    Ok(lock)
}

/// As [`lock`], for a process that runs some points of the run while others run other points of it: all of them hold
/// the lock, and nobody who wants it alone gets it meanwhile.
///
/// # Errors
/// If the folder holds something else, a whole run goes on in it, or it cannot be written.
pub(crate) fn join(out: &Path, info: &RunInfo, files: &Files) -> Result<File, RunError> {
    is_for(out, info, &[])?;
    std::fs::create_dir_all(out.join("points")).map_err(|source| RunError::Io { path: out.to_owned(), source })?;
    let lock = open_lock(out)?;
    // A file system that cannot lock cannot tell; points are written so that two processes do no harm to each other.
    if let Err(TryLockError::WouldBlock) = lock.try_lock_shared() {
        let what = "is in use by a whole run or by `tailcut gather`: wait for it, or choose another --out".to_owned();
        return Err(RunError::Folder { folder: out.to_owned(), what });
    }
    announce(out, info, files)?;
    Ok(lock)
}

/// Makes sure that `out` is the folder of this run, an empty one, or none.
fn is_for(out: &Path, info: &RunInfo, searched: &[String]) -> Result<(), RunError> {
    let refuse = |what: &str| Err(RunError::Folder { folder: out.to_owned(), what: what.to_owned() });
    let io = |source| RunError::Io { path: out.to_owned(), source };
    if out.exists() && !out.is_dir() {
        return refuse("is not a folder: expected a folder or a free name behind --out");
    }
    let known = out.join("run.json");
    // Another process may have begun the same run in the folder between two looks: it writes `run.json` first.
    let holds_nothing = known.exists() || !out.exists() || holds_nothing(out).map_err(io)?;
    if known.exists() {
        match RunInfo::read(&known) {
            Ok(old) if same_run(&old.scenario_toml, &info.scenario_toml, searched) => {}
            Ok(_) => return refuse("holds another run: choose another --out, or remove the folder"),
            Err(_) => {
                return refuse("holds a run.json that cannot be read: choose another --out, or remove the folder");
            }
        }
    } else if !holds_nothing {
        return refuse("is not empty and holds no run: choose another --out");
    }
    Ok(())
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
    File::options().create(true).truncate(false).read(true).write(true).open(&path).map_err(io)
}

/// Takes the finished point `key` into the folder `out` from the first of the `shared` folders that has it, unless it
/// is there. Files that a file system cannot link are copied; a point that can be neither is run.
pub(crate) fn take_from(shared: &[PathBuf], out: &Path, key: &str) {
    if shared.is_empty() {
        return;
    }
    let folder = |run: &Path| run.join("points").join(key);
    let to = folder(out);
    let is_finished = |point: &Path| PointState::of(point).is_intact();
    if is_finished(&to) {
        return;
    }
    let Some(from) = shared.iter().map(|run| folder(run)).find(|point| is_finished(point)) else { return };
    let take = |name: &std::ffi::OsStr| {
        let _ = std::fs::remove_file(to.join(name));
        std::fs::hard_link(from.join(name), to.join(name))
            .or_else(|_| std::fs::copy(from.join(name), to.join(name)).map(drop))
    };
    let all = || -> std::io::Result<()> {
        std::fs::create_dir_all(&to)?;
        for entry in std::fs::read_dir(&from)? {
            let name = entry?.file_name();
            // The summary says that the point is complete, and comes last.
            if name != "summary.json" {
                take(&name)?;
            }
        }
        take("summary.json".as_ref())
    };
    let _ = all();
}

/// Writes into the folder what is run there: `run.json`, copies of the files that the scenario names, and
/// `scenario.toml`, which has a table of the copies.
///
/// # Errors
/// If one of them cannot be written.
pub(crate) fn announce(out: &Path, info: &RunInfo, files: &Files) -> Result<(), RunError> {
    let known = out.join("run.json");
    let old = RunInfo::read(&known).ok();
    // What was written before is still there.
    let results = old.as_ref().map_or_else(Vec::new, |old| old.results.clone());
    let info = RunInfo { results, ..info.clone() };
    if old.as_ref() != Some(&info) {
        info.write(&known).map_err(ReportError::from)?;
    }
    // A folder with points and without run.json would be refused, so that the name has to be on the disk before the
    // first point. A file system that cannot sync a folder has done what it can.
    let _ = File::open(out).and_then(|folder| folder.sync_all());
    inputs::keep(out, files)?;
    let scenario = inputs::with_table(&info.scenario_toml, &info.inputs);
    let scenario = format!("# {}\n# tailcut {}\n\n{scenario}", info.command, info.version);
    Ok(replace(&out.join("scenario.toml"), scenario.as_bytes())?)
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

/// Whether this is the name of a file that was being written.
fn is_temporary(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') && name.contains(".tmp")
}

/// Writes a point that was simulated elsewhere into the folder `out`: its files by their names, the summary last.
///
/// # Errors
/// If one of them cannot be written.
pub(crate) fn put(out: &Path, key: &str, files: &[(String, Vec<u8>)]) -> Result<(), RunError> {
    const SUMMARY: &str = "summary.json";
    let folder = out.join("points").join(key);
    std::fs::create_dir_all(&folder).map_err(|source| RunError::Io { path: folder.clone(), source })?;
    let (last, first): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| name == SUMMARY);
    for (name, bytes) in first.into_iter().chain(last) {
        // Only names of files of the point itself: nothing that leads out of its folder.
        if Path::new(name).components().count() == 1 && Path::new(name).file_name().is_some() {
            write_atomically(&folder.join(name), |file| file.write_all(bytes))?;
        }
    }
    Ok(())
}

/// Removes the temporary files below `folder`. One that cannot be removed does no harm, because nothing reads it.
pub(crate) fn remove_temporary_files(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if is_temporary(&entry.file_name()) {
            let _ = std::fs::remove_file(entry.path());
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_temporary_files(&entry.path());
        }
    }
}
