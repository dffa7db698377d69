//! `tailcut run`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum as _;
use serde_json::{Map, Value, json};
use tailcut_lab::{
    OnlyReport, Parallelism, Plan, PrecisionCheck, RunError, RunOptions, RunReport, StoppingRule, UntilError,
    default_folder, fidelity, run as run_plan, run_only, run_until,
};
use tailcut_report::WrittenResults;
use tailcut_results::Axis;
use tailcut_sim::Problem;

use crate::engine::{self, command_line, command_line_of_all};
use crate::format::TextFormat;
use crate::page::{Page, say};
use crate::progress::Display;
use crate::signals::Signals;
use crate::{Failed, FidelityChoice, RunCommand, Stop};

pub(crate) fn run(arguments: &RunCommand) -> Result<(), Stop> {
    let began = Instant::now();
    let is_measured = arguments.fidelity.is_some_and(FidelityChoice::is_measured);
    if is_measured && (arguments.only.is_some() || arguments.on.is_some()) {
        let message = "a sample with packets is measured on this machine, and its points cannot be run elsewhere";
        let help = "expected `--fidelity flow` or `--fidelity links`, or neither `--only` nor `--on`";
        return Err(Problem::new(message).help(help).into());
    }
    if engine::hand_over(arguments.on.as_deref())? {
        return Ok(());
    }
    let word = arguments.fidelity.map(FidelityChoice::word);
    let mut plan = arguments.scenario.plan_with(word.map(|word| format!("fidelity={word:?}")).as_deref())?;
    if let Some(key) = &arguments.only {
        let out = arguments.out.clone().unwrap_or_else(|| default_folder(&plan, &arguments.scenario.changes(&plan)));
        return only(&plan, key, out, arguments.threads.map(usize::from), arguments.quiet, arguments.format);
    }
    for warning in &plan.warnings {
        say!("warning: {warning}");
    }
    let mut changes = arguments.scenario.changes(&plan);
    changes.extend(
        arguments.fidelity.and_then(|fidelity| Some(format!("fidelity={}", fidelity.to_possible_value()?.get_name()))),
    );
    let options = RunOptions {
        out: arguments.out.clone().unwrap_or_else(|| default_folder(&plan, &changes)),
        parallelism: Parallelism { jobs: arguments.jobs.map(usize::from), threads: arguments.threads.map(usize::from) },
        command: command_line(),
        shared: Vec::new(),
        executor: engine::executor(arguments.on.as_deref())?,
    };
    let signals = Signals::listen().map_err(|e| Problem::new(format!("cannot listen for Ctrl-C: {e}")))?;
    let measured = if is_measured { Some(measure(&mut plan, &options, &signals)?) } else { None };
    let display = Display::new(&signals, arguments.quiet);
    let until = &arguments.until;
    let outcome = match until.until {
        None => run_plan(&plan, &options, &display).map(|report| (report, None)).map_err(UntilError::from),
        Some(precision) => {
            let rule = StoppingRule::new(precision, until.of.as_deref(), until.max_seeds);
            run_until(&plan, &rule, &options, &display).map(|mut report| (report.run, report.checks.pop()))
        }
    };
    display.close();
    let (report, last) = match outcome {
        Ok(outcome) => outcome,
        Err(UntilError::Input(problem)) => return Err(problem.into()),
        Err(UntilError::Run(error @ RunError::Stopped { .. })) => {
            return Err(Stop::Signal(error, signals.exit_code()));
        }
        Err(UntilError::Run(error)) => return Err(error.into()),
    };
    if let Some(check) = last {
        still_wide(&check);
    }
    for warning in &report.results.warnings {
        say!("warning: {warning}");
    }
    if let Some(rows) = measured {
        let file = options.out.join("fidelity.csv");
        let written = std::fs::write(&file, fidelity::table(&rows));
        written.map_err(|source| RunError::Io { path: file.clone(), source })?;
        say!("against packets: {}", file.display());
    }
    let mut out = Page::default();
    match (arguments.format, arguments.quiet) {
        (TextFormat::Json, _) => results_as_json(&mut out, &plan.axes, &options.out, &report, began),
        (TextFormat::Text, true) => {}
        (TextFormat::Text, false) => {
            tables(&mut out, &report.results);
            costs(&mut out, &report, began);
            whereabouts(&mut out, &options.out);
        }
    }
    out.print();
    Failed::of(&report.failures).result()
}

/// Measures how far a plan is from packets; its points say so from then on.
fn measure(plan: &mut Plan, options: &RunOptions, signals: &Signals) -> Result<Vec<fidelity::Row>, Stop> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = options.parallelism.jobs.unwrap_or_else(cores);
    match fidelity::measure(plan, jobs, &|| signals.caught())? {
        Some(rows) => Ok(rows),
        None => {
            let stopped = RunError::Stopped { finished: 0, points: plan.points.len() };
            Err(Stop::Signal(stopped, signals.exit_code()))
        }
    }
}

/// The tables of a run, and what to know of its schemes.
pub(crate) fn tables(out: &mut Page, results: &WrittenResults) {
    for table in &results.tables {
        out.line(&table.text);
    }
    for note in &results.notes {
        out.line(note);
    }
}

/// Where the results of a run are.
pub(crate) fn whereabouts(out: &mut Page, folder: &Path) {
    let page = folder.join("report.html");
    out.line(format_args!("results: {}, page: {}", folder.join("summary.csv").display(), page.display()));
}

/// Runs one point of a plan into the run folder `out`, and says what became of it.
pub(crate) fn only(
    plan: &Plan,
    key: &str,
    out: PathBuf,
    threads: Option<usize>,
    quiet: bool,
    format: TextFormat,
) -> Result<(), Stop> {
    let options = RunOptions {
        out,
        // Others run on the same machine, and each of them is told to have one core.
        parallelism: Parallelism { jobs: Some(1), threads },
        command: command_line_of_all(),
        shared: Vec::new(),
        executor: None,
    };
    let signals = Signals::listen().map_err(|e| Problem::new(format!("cannot listen for Ctrl-C: {e}")))?;
    let display = Display::new(&signals, quiet);
    let outcome = run_only(plan, key, &options, &display);
    display.close();
    let report = match outcome {
        Ok(report) => report,
        Err(UntilError::Input(problem)) => return Err(problem.into()),
        Err(UntilError::Run(error @ RunError::Stopped { .. })) => {
            return Err(Stop::Signal(error, signals.exit_code()));
        }
        Err(UntilError::Run(error)) => return Err(error.into()),
    };
    let state = match &report {
        OnlyReport::Reused => "was finished before",
        OnlyReport::Finished(_) => "finished",
        OnlyReport::Failed(failure) if failure.stalled => "stalled",
        OnlyReport::Failed(_) => "failed",
    };
    let mut page = Page::default();
    match format {
        TextFormat::Json => page.line(json!({ "kind": "point", "key": key, "state": state, "folder": options.out })),
        TextFormat::Text if quiet => {}
        TextFormat::Text => page.line(format_args!("{key}: {state}")),
    }
    page.print();
    match &report {
        OnlyReport::Failed(failure) => Failed::of([failure]).result(),
        OnlyReport::Reused | OnlyReport::Finished(_) => Ok(()),
    }
}

/// The points whose intervals are wider than was asked for.
fn still_wide(check: &PrecisionCheck) {
    if check.wide.is_empty() {
        return;
    }
    let (wide, points, seeds) = (check.wide.len(), check.design_points, check.seeds);
    say!("warning: after {seeds} seeds intervals are still too wide at {wide} of {points} points:");
    for wide in &check.wide {
        say!("  {wide}");
    }
}

/// Every statistic, what failed, what to know before believing it, and at last the run as a whole.
fn results_as_json(out: &mut Page, axes: &[Axis], folder: &Path, report: &RunReport, began: Instant) {
    let by_path = |values: &[String]| -> Map<String, Value> {
        axes.iter().zip(values).map(|(axis, value)| (axis.path.clone(), json!(value))).collect()
    };
    for row in &report.results.rows {
        out.line(json!({
            "kind": "metric",
            "scheme": row.scheme,
            "values": by_path(&row.values),
            "class": row.class,
            "metric": row.metric,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "n": row.n,
            "unit": row.unit,
        }));
    }
    for note in &report.results.notes {
        out.line(json!({ "kind": "note", "text": note }));
    }
    for failure in &report.failures {
        out.line(json!({
            "kind": "failure",
            "scheme": failure.point.scheme,
            "values": by_path(&failure.point.values),
            "seed": failure.point.seed,
            "reason": failure.reason,
            "stalled": failure.stalled,
            "command": failure.command,
        }));
    }
    for warning in &report.results.warnings {
        out.line(json!({ "kind": "warning", "text": warning }));
    }
    let engines = || report.points.iter().map(|point| &point.engine);
    out.line(json!({
        "kind": "run",
        "folder": folder,
        "summary": folder.join("summary.csv"),
        "page": folder.join("report.html"),
        "points": report.points.len(),
        "reused": report.reused,
        "failed": report.failures.len(),
        "packet_hops": engines().map(|engine| engine.packet_hops).sum::<u64>(),
        "events": engines().map(|engine| engine.events).sum::<u64>(),
        "cpu_s": engines().map(|engine| engine.cpu_ns).sum::<u64>() as f64 / 1e9,
        "wall_s": began.elapsed().as_secs_f64(),
        "peak_bytes": engines().map(|engine| engine.peak_bytes).max().unwrap_or(0),
    }));
}

fn costs(out: &mut Page, report: &RunReport, began: Instant) {
    let engines: Vec<_> = report.points.iter().map(|point| &point.engine).collect();
    let hops: u64 = engines.iter().map(|engine| engine.packet_hops).sum();
    let events: u64 = engines.iter().map(|engine| engine.events).sum();
    let cpu_ns: u64 = engines.iter().map(|engine| engine.cpu_ns).sum();
    if hops == 0 {
        return;
    }
    out.line(format_args!("{:.1} M packet-hops, {:.1} ns CPU and {:.2} events per packet-hop, {:.1} s CPU in all points, {:.1} s for this command",
        hops as f64 / 1e6,
        cpu_ns as f64 / hops as f64,
        events as f64 / hops as f64,
        cpu_ns as f64 / 1e9,
        began.elapsed().as_secs_f64()));
    let process =
        peak_memory().map_or_else(String::new, |bytes| format!(", {:.0} MB the whole command", bytes as f64 / 1e6));
    if let Some(largest) = report.points.iter().max_by_key(|point| point.engine.peak_bytes) {
        let mut point = vec![largest.scheme.clone()];
        point.extend(largest.values.iter().cloned());
        point.push(format!("seed {}", largest.seed));
        let (bytes, point) = (largest.engine.peak_bytes as f64 / 1e6, point.join(", "));
        out.line(format_args!("peak memory: {bytes:.1} MB the largest simulation ({point}){process}"));
    }
}

/// Largest resident set of this process in bytes, where the system tells it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
