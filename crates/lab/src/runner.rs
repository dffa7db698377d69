//! Runs the points of a plan on all cores and keeps what is finished.
//!
//! A point is a folder; its `summary.json` is written last, so a point that has one is complete. Points are found again by their key, which
//! stands for the whole scenario, the seed and the program: a run that was stopped goes on where it was.

use std::collections::BTreeSet;
use std::fs::File;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant as WallClock;

use tailcut_record::{RecordError, write_atomically, write_ports, write_queue_series, write_queues, write_throughput};
use tailcut_sim::{Outcome, Scenario, Stopped, World};

use crate::cpu::CpuClock;
use crate::plan::{Plan, PlannedPoint};
use crate::results::{self, EngineFacts, FlowCounts, Load, Point, PointSummary, ResultsError, RunInfo, Summary};
use crate::rows;
use crate::share::{Asked, Share};
use crate::until::Look;
use crate::version::version;

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The run folder.
    pub out: PathBuf,
    /// How the user wants the cores divided.
    pub asked: Asked,
    /// The command, as it is saved with the results.
    pub command: String,
}

/// Hears of what happens; called from several threads.
pub trait Progress: Sync {
    /// `total` points will be run; `reused` more are finished already, by an earlier command. Comes once for each batch
    /// of seeds.
    fn begin(&self, total: usize, reused: usize);
    /// Point number `index` of those that are run is done to this fraction, 0 to 1.
    fn advanced(&self, index: usize, fraction: f64);
    /// A point is finished.
    fn finished(&self, index: usize, summary: &PointSummary);
    /// A point has failed.
    fn failed(&self, index: usize, failure: &Failure);
    /// A batch of seeds is finished: how wide the intervals are, and whether more seeds are added.
    fn looked(&self, _look: &Look) {}
    /// Whether the run is to stop soon; asked often.
    fn stop(&self) -> bool;
}

/// A point that could not be finished; the others are not touched by it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The point.
    pub point: Point,
    /// What happened.
    pub reason: String,
    /// The command that runs this point and nothing else.
    pub command: String,
}

/// What a run came to.
#[derive(Debug)]
pub struct RunReport {
    /// Statistics, tables and the files that were written.
    pub summary: Summary,
    /// The summaries of all finished points.
    pub points: Vec<PointSummary>,
    /// Points that failed.
    pub failures: Vec<Failure>,
    /// Points that were finished before.
    pub reused: usize,
}

/// Why a run could not be done.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The folder is in use for something else.
    #[error("{} {what}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is the matter with it, and what to do.
        what: String,
    },
    /// It was asked to stop; finished points are kept, and no results were written over a part of the points.
    #[error("stopped: {finished} of {points} points are finished and kept, and the same command goes on from there")]
    Stopped {
        /// Points that are finished.
        finished: usize,
        /// Points of the whole run.
        points: usize,
    },
    /// A file could not be written; finished points are kept.
    #[error("{0}; what is finished is kept, and the same command goes on from there")]
    Write(#[from] RecordError),
    /// The results could not be written; finished points are kept.
    #[error("{0}; the finished points are kept")]
    Results(#[from] ResultsError),
    /// The folder could not be made or looked into.
    #[error("{}: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
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

/// A word of a command as a shell reads it, quoted if it must be.
pub fn shell_word(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_alphanumeric() || "-_./=,:@+%".contains(c));
    if plain && !word.is_empty() { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
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

/// A run folder that is locked for this process.
pub(crate) struct Session<'a> {
    options: &'a RunOptions,
    progress: &'a dyn Progress,
    _lock: File,
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
        let lock = claim(&options.out, &info(plan, options))?;
        Ok(Session { options, progress, _lock: lock, seen: BTreeSet::new(), failures: Vec::new(), reused: 0 })
    }

    fn finished(&self, point: &Point) -> bool {
        self.options.out.join("points").join(&point.key).join("summary.json").exists()
    }

    /// Runs the points of `plan` that nobody has run before.
    pub(crate) fn run(&mut self, plan: &Plan) -> Result<(), RunError> {
        announce(&self.options.out, &info(plan, self.options))?;
        let fresh: Vec<&PlannedPoint> =
            plan.points.iter().filter(|planned| !self.seen.contains(&planned.point.key)).collect();
        let mut todo: Vec<&PlannedPoint> =
            fresh.iter().copied().filter(|planned| !self.finished(&planned.point)).collect();
        // The longest first, so that no core waits for a last long one; equal ones in the order of the plan.
        todo.sort_by(|a, b| b.size.packet_hops.total_cmp(&a.size.packet_hops));
        let reused = fresh.len() - todo.len();
        self.seen.extend(fresh.iter().map(|planned| planned.point.key.clone()));
        self.reused += reused;
        if !todo.is_empty() {
            // Those of another program, say: if this run is stopped, they are not to be taken for its own.
            results::remove_results(&self.options.out)?;
        }
        self.progress.begin(todo.len(), reused);
        let points_dir = self.options.out.join("points");
        self.failures.extend(run_points(&todo, plan, self.options, &points_dir, self.progress)?);
        if self.progress.stop() { Err(self.stopped(plan)) } else { Ok(()) }
    }

    /// Statistics of the points of `plan` that are finished, by `read`.
    pub(crate) fn measure<T>(
        &self,
        plan: &Plan,
        read: impl FnOnce(&Path, &RunInfo, &(dyn Fn() -> bool + Sync)) -> Result<T, ResultsError>,
    ) -> Result<T, RunError> {
        read(&self.options.out, &info(plan, self.options), &|| self.progress.stop()).map_err(|error| match error {
            ResultsError::Stopped => self.stopped(plan),
            error => RunError::Results(error),
        })
    }

    /// Writes statistics, tables, plots and the page.
    pub(crate) fn report(self, plan: &Plan) -> Result<RunReport, RunError> {
        let summary = self.measure(plan, |dir, info, stop| results::write_results_unless(dir, info, stop))?;
        let points_dir = self.options.out.join("points");
        let points = plan
            .points
            .iter()
            .filter_map(|planned| PointSummary::read(&points_dir.join(&planned.point.key).join("summary.json")).ok())
            .collect();
        Ok(RunReport { summary, points, failures: self.failures, reused: self.reused })
    }

    fn stopped(&self, plan: &Plan) -> RunError {
        RunError::Stopped {
            finished: plan.points.iter().filter(|planned| self.finished(&planned.point)).count(),
            points: plan.points.len(),
        }
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
        schemes: plan.schemes.clone(),
        axes: plan.axes.clone(),
        seeds: plan.seeds.clone(),
        classes: plan.classes.clone(),
        size_bounds: plan.size_bounds.clone(),
        points: plan.points.iter().map(|planned| planned.point.clone()).collect(),
    }
}

fn run_points(
    todo: &[&PlannedPoint],
    plan: &Plan,
    options: &RunOptions,
    points_dir: &Path,
    progress: &dyn Progress,
) -> Result<Vec<Failure>, RunError> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let failures = Mutex::new(Vec::new());
    let broken = Mutex::new(None);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = Share::new(todo.len(), cores, options.asked);
    let clock = CpuClock::default();
    let work = || {
        while !stop.load(Ordering::Relaxed) && !progress.stop() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(planned) = todo.get(index) else { return };
            let folder = points_dir.join(&planned.point.key);
            let attempt = catch_unwind(AssertUnwindSafe(|| {
                let threads = share.threads(planned.size);
                run_point(planned, plan, &folder, threads, &clock, |fraction| {
                    progress.advanced(index, fraction);
                    progress.stop()
                })
            }));
            match attempt {
                Ok(Ok(Some(summary))) => progress.finished(index, &summary),
                // It is empty, or holds what an earlier run left.
                Ok(Ok(None)) => drop(std::fs::remove_dir(&folder)),
                Ok(Err(error)) => {
                    // A disk that refuses one file refuses the next: stop, and keep what is finished.
                    stop.store(true, Ordering::Relaxed);
                    *broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
                Err(panic) => {
                    let failure = Failure {
                        point: planned.point.clone(),
                        reason: panic_text(panic.as_ref()),
                        command: plan.command_for(&planned.point, &options.out.join("scenario.toml")),
                    };
                    // The reason is only told; that it cannot be written does not matter beside it.
                    let _ = std::fs::create_dir_all(&folder);
                    let _ = write_atomically(&folder.join("error.txt"), |file| {
                        writeln!(file, "{} ({})", failure.reason, failure.command)
                    });
                    progress.failed(index, &failure);
                    failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..share.jobs {
            scope.spawn(work);
        }
        work();
    });
    match broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(failures.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the simulation stopped without a reason").replace('\n', " ")
}

/// Makes sure that `out` is the folder of this run, or an empty one, and that no one else runs in it.
fn claim(out: &Path, info: &RunInfo) -> Result<File, RunError> {
    let refuse = |what: &str| Err(RunError::Folder { folder: out.to_owned(), what: what.to_owned() });
    let io = |source| RunError::Io { path: out.to_owned(), source };
    if out.exists() && !out.is_dir() {
        return refuse("is not a folder: expected a folder or a free name behind --out");
    }
    let known = out.join("run.json");
    if known.exists() {
        match RunInfo::read(&known) {
            Ok(old) if same_but_for_seeds(&old.scenario_toml, &info.scenario_toml) => {}
            Ok(_) => return refuse("holds another run: choose another --out, or remove the folder"),
            Err(_) => {
                return refuse("holds a run.json that cannot be read: choose another --out, or remove the folder");
            }
        }
    } else if out.exists() && !holds_nothing(out).map_err(io)? {
        return refuse("is not empty and holds no run: choose another --out");
    }
    std::fs::create_dir_all(out.join("points")).map_err(io)?;
    let lock = File::create(out.join("run.lock")).map_err(io)?;
    if lock.try_lock().is_err() {
        return refuse("is in use by another tailcut: wait for it, or choose another --out");
    }
    // A killed run may have left halves of files; the lock says that nobody writes them now.
    remove_halves(out);
    announce(out, info)?;
    Ok(lock)
}

/// Whether two effective scenarios have the same points, up to seeds that only one of them has.
fn same_but_for_seeds(a: &str, b: &str) -> bool {
    let without = |text: &str| {
        let mut table: toml::Table = text.parse().ok()?;
        table.remove("seeds");
        Some(table)
    };
    a == b || without(a).is_some_and(|a| without(b) == Some(a))
}

/// Writes into the folder what is run there.
fn announce(out: &Path, info: &RunInfo) -> Result<(), RunError> {
    let known = out.join("run.json");
    if !RunInfo::read(&known).is_ok_and(|old| old == *info) {
        info.write(&known)?;
    }
    // Points without it would be refused as something else. A file system that cannot sync a folder has done what it can.
    let _ = File::open(out).and_then(|folder| folder.sync_all());
    let scenario = format!("# {}\n# tailcut {}\n\n{}", info.command, info.version, info.scenario_toml);
    Ok(results::replace(&out.join("scenario.toml"), scenario.as_bytes())?)
}

/// Whether a folder holds no more than a run leaves that could not even write what it is.
fn holds_nothing(out: &Path) -> std::io::Result<bool> {
    for entry in std::fs::read_dir(out)? {
        let entry = entry?;
        let name = entry.file_name();
        let empty = name == "points" && std::fs::read_dir(entry.path())?.next().is_none();
        if !empty && name != "run.lock" && !is_half(&name) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether this is the name of a file that was being written.
fn is_half(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') && name.contains(".tmp")
}

/// Removes the halves of files below `folder`. One that cannot be removed does no harm: nothing reads it.
fn remove_halves(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if is_half(&entry.file_name()) {
            let _ = std::fs::remove_file(entry.path());
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_halves(&entry.path());
        }
    }
}

/// Runs a point on up to `threads` threads and writes its files; `None` if it was stopped. `advanced` is told how far
/// it is, and says whether to stop.
fn run_point(
    planned: &PlannedPoint,
    plan: &Plan,
    folder: &Path,
    threads: usize,
    clock: &CpuClock,
    advanced: impl Fn(f64) -> bool,
) -> Result<Option<PointSummary>, RunError> {
    let scenario = planned.scenario(&plan.base_dir).expect("every point was checked before the first one ran");
    std::fs::create_dir_all(folder).map_err(|source| RunError::Io { path: folder.to_owned(), source })?;
    let writing_ns = Arc::new(AtomicU64::new(0));
    let queries = scenario.forecast().classes.iter().any(|class| class.queries.is_some());
    let recorder = rows::recorder(folder, scenario.classes(), queries, &writing_ns)?;
    let expected = scenario.forecast().duration.as_secs_f64();
    let wall = WallClock::now();
    let world = World::new(&scenario, recorder).with_threads(u32::try_from(threads).unwrap_or(u32::MAX));
    let threads = world.threads();
    let cpu = clock.start(threads);
    let attempt = world.run_with(|now| {
        let fraction = if expected > 0.0 { (now.as_secs_f64() / expected).min(1.0) } else { 0.0 };
        if advanced(fraction) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let outcome = match attempt {
        Ok(outcome) => outcome,
        Err(Stopped::Asked) => return Ok(None),
        Err(Stopped::Record(error)) => return Err(error.into()),
    };
    let used = Used {
        cpu_ns: cpu.used_ns().saturating_sub(writing_ns.load(Ordering::Relaxed)),
        wall_ns: wall.elapsed().as_nanos() as u64,
        threads,
    };
    drop(cpu);

    write_ports(&folder.join("ports.parquet"), &outcome.ports)?;
    write_queues(&folder.join("queues.parquet"), &outcome.queues)?;
    if scenario.config().record.queue_series {
        write_queue_series(&folder.join("queue_series.parquet"), &outcome.queue_series)?;
    }
    if let Some(width) = scenario.config().record.throughput {
        write_throughput(&folder.join("throughput.parquet"), scenario.classes(), width, &outcome.throughput)?;
    }
    let summary = summarise(&planned.point, &scenario, &outcome, &used);
    summary.write(&folder.join("summary.json"))?;
    Ok(Some(summary))
}

/// What a simulation took from the machine.
struct Used {
    cpu_ns: u64,
    wall_ns: u64,
    threads: u32,
}

fn summarise(point: &Point, scenario: &Scenario, outcome: &Outcome, used: &Used) -> PointSummary {
    let offered = &scenario.forecast().offered;
    let realised = &outcome.realised;
    let mut loads = std::collections::BTreeMap::new();
    let mut load = |name: &str, offered: Option<f64>, realised: Option<f64>| {
        if let Some(realised) = realised {
            loads.insert(name.to_owned(), Load { offered, realised });
        }
    };
    load("edge", Some(offered.edge_payload), Some(realised.edge_payload));
    load("edge_wire", Some(offered.edge_wire), Some(realised.edge_wire));
    load("core", offered.core_payload, realised.core_payload);
    load("fabric", offered.fabric_payload, realised.fabric_payload);
    let mut drops: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for row in &outcome.ports {
        for (reason, count) in row.drops.iter() {
            *drops.entry(reason.name().to_owned()).or_default() += count;
        }
    }
    let mut warnings = scenario.warnings();
    warnings.extend(scenario.forecast().notes.iter().cloned());
    let totals = &outcome.totals;
    PointSummary {
        scheme: point.scheme.clone(),
        values: point.values.clone(),
        seed: point.seed,
        end: outcome.end.name().to_owned(),
        simulated_ns: outcome.ended_at.as_ps() as f64 / 1e3,
        flows: FlowCounts {
            total: totals.started,
            finished: totals.received,
            censored: totals.started - totals.received,
        },
        loads,
        drops,
        engine: EngineFacts {
            packet_hops: outcome.engine.packet_hops,
            events: outcome.engine.events,
            cpu_ns: used.cpu_ns,
            wall_ns: used.wall_ns,
            threads: used.threads,
            peak_bytes: outcome.engine.peak_bytes,
            digest: format!("{:016x}", outcome.engine.digest),
            version: version().to_owned(),
        },
        warnings,
    }
}
