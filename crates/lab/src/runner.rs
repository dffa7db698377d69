//! Runs the points of a plan on all cores and keeps what is finished.
//!
//! A point is a folder; its `summary.json` is written last, so that a point which has one is complete, and says what
//! its other files are, so that one which was damaged later is run again. Points are found again by their key, which
//! stands for the whole scenario, the seed and the program: a run that was stopped goes on where it was.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tailcut_base::on_threads;
use tailcut_record::write_atomically;
use tailcut_report::{ReportError, WrittenResults, remove_results};
use tailcut_results::{PointState, PointSummary, ResultFiles, ResultsError, RunInfo, forget};
use tailcut_sim::Stall;

use crate::cores::{CoreDivision, Parallelism, idle_processors};
use crate::cpu::CpuClock;
use crate::error::RunError;
use crate::executor::{Executor, Task, TaskEvent, find_point};
use crate::inputs;
use crate::plan::{Differences, Plan, PlannedPoint};
use crate::progress::{Failure, Progress};
use crate::report;
use crate::run_folder::{self, Locked};
use crate::simulate::{Simulated, simulate};
use crate::until::UntilError;
use crate::version::version;

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The run folder.
    pub out: PathBuf,
    /// How the user wants the cores divided.
    pub parallelism: Parallelism,
    /// The command, as it is saved with the results.
    pub command: String,
    /// Other run folders: a point that is finished there, with the same key and so the same results, is taken from
    /// there.
    pub shared: Vec<PathBuf>,
    /// Who simulates the points; this process if it is `None`.
    pub executor: Option<Arc<dyn Executor>>,
}

/// What a run came to.
#[derive(Debug)]
pub struct RunReport {
    /// The results that were written.
    pub results: WrittenResults,
    /// The summaries of all finished points.
    pub points: Vec<PointSummary>,
    /// Points that failed.
    pub failures: Vec<Failure>,
    /// Points that were finished before.
    pub reused: usize,
}

/// The folder of a run that was given none: `runs/NAME`, with what the command line changed behind it.
pub fn default_folder(plan: &Plan, changes: &[String]) -> PathBuf {
    let mut name = plan.name.clone();
    for change in changes {
        name.push('+');
        name.extend(change.chars().map(|c| if c.is_alphanumeric() || ".-_=@".contains(c) { c } else { '_' }));
    }
    Path::new("runs").join(name.chars().take(200).collect::<String>())
}

/// Runs every point of `plan` that is not finished yet, then writes statistics, tables, plots and the page.
///
/// # Errors
/// If the folder holds something else, a file cannot be written, or `progress` stops it.
pub fn run(plan: &Plan, options: &RunOptions, progress: &dyn Progress) -> Result<RunReport, RunError> {
    let mut session = Session::open(plan, options, progress)?;
    session.run(plan)?;
    session.report(plan)
}

/// What running one point came to.
#[derive(Debug)]
pub enum OnlyReport {
    /// It was finished before.
    Reused,
    /// It is finished.
    Finished(Box<PointSummary>),
    /// It has failed.
    Failed(Failure),
}

/// Runs the point called `key` of `plan` into the run folder, unless it is finished there. Other processes may run
/// other points of the same plan in the folder at the same time, or even the same one. No statistics are written.
///
/// # Errors
/// If there is no such point, the folder holds something else, a file cannot be written, or `progress` stops it.
pub fn run_only(
    plan: &Plan,
    key: &str,
    options: &RunOptions,
    progress: &dyn Progress,
) -> Result<OnlyReport, UntilError> {
    let planned = find_point(plan, key)?;
    let lock = run_folder::join(&options.out, &info(plan, options), &plan.files)?;
    lock.notes.iter().for_each(|note| progress.noticed(note));
    match planned.point.state_in(&options.out) {
        PointState::Intact(_) => return Ok(OnlyReport::Reused),
        PointState::Unfinished => {}
        PointState::Damaged(why) => {
            progress.damaged(&planned.point, &why);
            let _ = forget(&planned.point.folder_in(&options.out));
        }
    }
    // Results that were gathered before are about fewer points.
    let held = run_folder::hold_results(&options.out);
    let aside = remove_results(&options.out).map_err(RunError::from)?;
    drop(held);
    aside.iter().for_each(|note| progress.noticed(note));
    progress.begin(1, 0);
    let failures = run_points(&[planned], plan, options, progress)?;
    match (failures.into_iter().next(), planned.point.state_in(&options.out)) {
        (Some(failure), _) => Ok(OnlyReport::Failed(failure)),
        (None, PointState::Intact(summary)) => Ok(OnlyReport::Finished(summary)),
        (None, _) => Err(RunError::Stopped { finished: 0, points: 1 }.into()),
    }
}

/// A run folder that is locked for this process.
pub(crate) struct Session<'a> {
    options: &'a RunOptions,
    progress: &'a dyn Progress,
    _lock: Locked,
    /// Keys of the points that this process has dealt with: a failed one is not tried twice.
    seen: BTreeSet<String>,
    failures: Vec<Failure>,
    reused: usize,
}

impl<'a> Session<'a> {
    pub(crate) fn open(
        plan: &Plan,
        options: &'a RunOptions,
        progress: &'a dyn Progress,
    ) -> Result<Session<'a>, RunError> {
        Session::open_search(plan, options, progress, &[])
    }

    /// As [`Session::open`], for a search over the swept parameters `searched`: it goes on in its folder whatever
    /// values of them were tried there.
    pub(crate) fn open_search(
        plan: &Plan,
        options: &'a RunOptions,
        progress: &'a dyn Progress,
        searched: &[String],
    ) -> Result<Session<'a>, RunError> {
        let lock = run_folder::lock(&options.out, &info(plan, options), &plan.files, searched)?;
        lock.notes.iter().for_each(|note| progress.noticed(note));
        Ok(Session { options, progress, _lock: lock, seen: BTreeSet::new(), failures: Vec::new(), reused: 0 })
    }

    /// Runs the points of `plan` that are neither finished nor have failed before.
    pub(crate) fn run(&mut self, plan: &Plan) -> Result<(), RunError> {
        let out = &self.options.out;
        let notes = run_folder::announce(out, &info(plan, self.options), &plan.files)?;
        notes.iter().for_each(|note| self.progress.noticed(note));
        let fresh: Vec<&PlannedPoint> =
            plan.points.iter().filter(|planned| !self.seen.contains(&planned.point.key)).collect();
        let notice_aside = |to: &PathBuf| {
            self.progress.noticed(&format!("what stood in the way of a file of a point is now {}", to.display()));
        };
        for planned in &fresh {
            run_folder::take_from(&self.options.shared, out, &planned.point).iter().for_each(notice_aside);
        }
        let mut todo: Vec<&PlannedPoint> = Vec::new();
        for planned in &fresh {
            match planned.point.state_in(out) {
                PointState::Intact(_) => continue,
                PointState::Unfinished => {}
                PointState::Damaged(why) => {
                    self.progress.damaged(&planned.point, &why);
                    // It must not speak for files that are written after it. What cannot be removed is replaced.
                    let _ = forget(&planned.point.folder_in(out));
                }
            }
            todo.push(planned);
        }
        for planned in &todo {
            let folder = planned.point.folder_in(out);
            if folder.symlink_metadata().is_ok() {
                let aside = run_folder::make_room(&folder).map_err(|source| RunError::Io { path: folder, source })?;
                aside.iter().for_each(notice_aside);
            }
        }
        // The longest first, so that no core waits for a last long one; equal ones in the order of the plan.
        todo.sort_by(|a, b| b.size.packet_hops.total_cmp(&a.size.packet_hops));
        let reused = fresh.len() - todo.len();
        self.seen.extend(fresh.iter().map(|planned| planned.point.key.clone()));
        self.reused += reused;
        if !todo.is_empty() {
            // Results of an earlier run are about other points than this run will have. They are removed before any
            // point is run, so that nobody takes them for the results of this run if it is stopped.
            let _held = run_folder::hold_results(out);
            remove_results(out)?.iter().for_each(|note| self.progress.noticed(note));
        }
        self.progress.begin(todo.len(), reused);
        let failures = match &self.options.executor {
            None => run_points(&todo, plan, self.options, self.progress)?,
            Some(executor) => run_elsewhere(&todo, plan, self.options, self.progress, executor.as_ref())?,
        };
        self.failures.extend(failures);
        if self.progress.stop() { Err(self.stopped(plan)) } else { Ok(()) }
    }

    /// What `read` finds in the files of the points of `plan` that are finished.
    pub(crate) fn read<T, E: Into<ReportError>>(
        &self,
        plan: &Plan,
        read: impl FnOnce(&Path, &RunInfo, &(dyn Fn() -> bool + Sync)) -> Result<T, E>,
    ) -> Result<T, RunError> {
        let found = read(&self.options.out, &info(plan, self.options), &|| self.progress.stop());
        found.map_err(|error| match error.into() {
            ReportError::Results(ResultsError::Stopped) => self.stopped(plan),
            error => RunError::Results(error),
        })
    }

    /// Writes statistics, tables, plots and the page.
    pub(crate) fn report(self, plan: &Plan) -> Result<RunReport, RunError> {
        let held = run_folder::hold_results(&self.options.out);
        let results = self.read(plan, report::write)?;
        drop(held);
        let summary = |planned: &PlannedPoint| planned.point.summary_in(&self.options.out).ok()?;
        let points = plan.points.iter().filter_map(summary).collect();
        Ok(RunReport { results, points, failures: self.failures, reused: self.reused })
    }

    fn stopped(&self, plan: &Plan) -> RunError {
        let is_finished = |planned: &&PlannedPoint| matches!(planned.point.summary_in(&self.options.out), Ok(Some(_)));
        RunError::Stopped { finished: plan.points.iter().filter(is_finished).count(), points: plan.points.len() }
    }
}

/// What is saved of a run.
fn info(plan: &Plan, options: &RunOptions) -> RunInfo {
    RunInfo {
        name: plan.name.clone(),
        title: plan.title.clone(),
        version: version().to_owned(),
        command: options.command.clone(),
        scenario_toml: plan.effective.clone(),
        inputs: inputs::copies(&plan.files),
        schemes: plan.schemes.clone(),
        axes: plan.axes.clone(),
        seeds: plan.seeds.clone(),
        classes: plan.classes.clone(),
        class_sets: plan.class_sets.clone(),
        size_bounds: plan.size_bounds.clone(),
        notes: plan.differences.iter().filter_map(Differences::by_name).map(|changes| changes.sentence()).collect(),
        differences: plan.differences.iter().flat_map(Differences::around).collect(),
        scenario: Vec::new(),
        results: ResultFiles::new(),
        points: plan.points.iter().map(|planned| planned.point.clone()).collect(),
    }
}

/// Has some points simulated by an executor, and returns those that failed.
fn run_elsewhere(
    todo: &[&PlannedPoint],
    plan: &Plan,
    options: &RunOptions,
    progress: &dyn Progress,
    executor: &dyn Executor,
) -> Result<Vec<Failure>, RunError> {
    if todo.is_empty() {
        return Ok(Vec::new());
    }
    let tasks: Vec<Task> = todo.iter().map(|planned| Task::of(planned)).collect();
    let mut failures = Vec::new();
    let mut broken = None;
    let mut ended = vec![false; tasks.len()];
    let outcome = executor.run(&tasks, &options.out, &mut |event| {
        let (index, reason) = match event {
            TaskEvent::Nothing => (None, None),
            TaskEvent::InFolder(index) => (Some(index), None),
            TaskEvent::Failed(index, reason) => (Some(index), Some(reason)),
            TaskEvent::Files(index, files) => {
                let put = todo.get(index).map(|planned| run_folder::put(&options.out, &planned.point, &files));
                if let Some(Err(error)) = put {
                    broken = Some(error);
                    return ControlFlow::Break(());
                }
                (Some(index), None)
            }
        };
        // Of a task that was run twice, after a worker seemed to be lost, the first end counts.
        if let Some((index, planned)) = index.and_then(|index| todo.get(index).map(|planned| (index, planned)))
            && !std::mem::replace(&mut ended[index], true)
        {
            let state = planned.point.state_in(&options.out);
            match (reason, state) {
                (None, PointState::Intact(summary)) => progress.finished(index, &summary),
                (reason, state) => {
                    let reason = reason.unwrap_or_else(|| match state {
                        PointState::Damaged(why) => why,
                        _ => "its files did not come back".to_owned(),
                    });
                    let command = plan.command_for(&planned.point, &options.out.join("scenario.toml"));
                    let stalled = reason.starts_with(Stall::FIRST_WORDS);
                    let failure = Failure { point: planned.point.clone(), reason, stalled, command };
                    progress.failed(index, &failure);
                    failures.push(failure);
                }
            }
        }
        if progress.stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match (broken, outcome) {
        (Some(error), _) => Err(error),
        // Whoever stops a run may have stopped the executor in the middle of its work.
        (None, Err(reason)) if !progress.stop() => Err(RunError::Executor(reason)),
        (None, Ok(())) if !progress.stop() && ended.contains(&false) => {
            Err(RunError::Executor("some points were neither run nor refused".to_owned()))
        }
        (None, Ok(())) if !progress.stop() => {
            // Workers that were lost may have left temporary files, and nobody else writes here any more.
            run_folder::remove_temporary_files(&options.out);
            Ok(failures)
        }
        _ => Ok(failures),
    }
}

/// Runs some points side by side, and returns those that failed.
fn run_points(
    todo: &[&PlannedPoint],
    plan: &Plan,
    options: &RunOptions,
    progress: &dyn Progress,
) -> Result<Vec<Failure>, RunError> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let failures = Mutex::new(Vec::new());
    let broken = Mutex::new(None);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Simulations side by side take their turns on a busy machine without loss. Threads that wait for each other do
    // not.
    let is_for_threads = todo.len() < cores && options.parallelism == Parallelism::default();
    let cores = if is_for_threads { idle_processors().max(todo.len()) } else { cores };
    let division = CoreDivision::new(todo.len(), cores, options.parallelism);
    let clock = CpuClock::default();
    let fail = |index: usize, reason: String, stalled: bool| {
        let point = todo[index].point.clone();
        let folder = point.folder_in(&options.out);
        let command = plan.command_for(&point, &options.out.join("scenario.toml"));
        let failure = Failure { point, reason, stalled, command };
        // The failure is also told to `progress`, so that an error of writing it does not matter.
        let _ = std::fs::create_dir_all(&folder);
        let _ = write_atomically(&folder.join("error.txt"), |file| {
            writeln!(file, "{} ({})", failure.reason, failure.command)
        });
        progress.failed(index, &failure);
        failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
    };
    let work = || {
        while !stop.load(Ordering::Relaxed) && !progress.stop() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(planned) = todo.get(index) else { return };
            let folder = planned.point.folder_in(&options.out);
            let attempt = catch_unwind(AssertUnwindSafe(|| {
                let threads = division.threads(planned.size);
                simulate(planned, &folder, threads, &clock, |fraction| {
                    progress.advanced(index, fraction);
                    progress.stop()
                })
            }));
            match attempt {
                Ok(Ok(Simulated::Finished(summary))) => progress.finished(index, &summary),
                // A point that was stopped leaves an empty folder, which is removed. If an earlier run has left files
                // in it, it is not empty, removing it fails, and the files stay.
                Ok(Ok(Simulated::Stopped)) => drop(std::fs::remove_dir(&folder)),
                Ok(Ok(Simulated::Stalled(stall))) => fail(index, said_of(planned, &stall), true),
                Ok(Err(error)) => {
                    // A disk that refuses one file refuses the next: stop, and keep what is finished.
                    stop.store(true, Ordering::Relaxed);
                    *broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
                Err(panic) => fail(index, panic_text(panic.as_ref()), false),
            }
        }
    };
    on_threads(division.jobs, work);
    match broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(failures.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// What is said of a simulation that stalled, with the place where the scenario has a watchdog if that saw it.
fn said_of(planned: &PlannedPoint, stall: &Stall) -> String {
    let place = planned.tree().nearest("run.watchdog").key_or_value().filter(|_| stall.since.is_some());
    let place = place.map(|origin| format!("\n  `run.watchdog` stands at {}:{}", origin.source.name, origin.line()));
    format!("{stall}{}", place.unwrap_or_default())
}

/// What a panic says.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the simulation stopped without a reason").replace('\n', " ")
}
