//! Runs a command anew and stores what the pages show of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use chrono::Utc;
use tailcut_reproduce::StoredPoints;
use tailcut_results::{PointSummary, RunInfo};

use crate::figures::Figures;
use crate::pages::Pages;
use crate::source::Source;
use crate::statistics::Statistics;
use crate::store::{Facts, Store, picture_fingerprint, write};

/// Runs the command of a source in its repository, and stores what the pages show of its results.
///
/// # Errors
/// If the command fails, or a page shows something that its results do not have.
pub fn measure(source: &Source, pages: &Pages) -> Result<(), String> {
    let root = &pages.store().root;
    let mut facts =
        Facts { command: source.command(), date: Utc::now().format("%Y-%m-%d").to_string(), ..Facts::default() };
    match source {
        Source::Output { words, kind } => {
            let (own, arguments) = match words.split_first() {
                Some((first, arguments)) if first == "tailcut" => (tailcut(), arguments),
                _ => (Vec::new(), words.as_slice()),
            };
            let words = own.iter().chain(arguments).map(String::as_str);
            let printed = run(root, words)?;
            facts.depends = pages.store().depends(kind.depends);
            facts.machine = kind.is_measurement.then(|| machine(root));
            for picture in source.plots() {
                let content = picture_fingerprint(&root.join(&picture));
                facts.pictures.extend(content.map(|content| (picture.display().to_string(), content)));
            }
            write(&pages.store().path(source, ".txt"), printed.as_bytes())?;
        }
        Source::Scenario { .. } | Source::Study { .. } => {
            run_simulations(source, pages.store())?;
            store_run(source, pages)?;
            facts.statistics = Some(Statistics::now()?.name());
        }
    }
    Store::read(root).map_err(|finding| finding.to_string())?.keep(source, facts)
}

/// Runs the simulations of a scenario or a study; those that are finished are not run again.
fn run_simulations(source: &Source, store: &Store) -> Result<(), String> {
    let folder = store.root.join(source.run_folder());
    let (_, plan) = store.plan(source)?;
    if RunInfo::read(&folder).is_ok_and(|info| info.scenario_toml != plan.effective) {
        // Another configuration of the same name: the command would refuse the folder.
        std::fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    }
    let command = source.command();
    let words = command.split_whitespace().skip(1);
    let options = match source {
        Source::Scenario { .. } => vec!["--out".to_owned(), source.run_folder().display().to_string()],
        // Its command names its folder, and nothing that it would judge is stored.
        Source::Study { changed: Some(_), .. } => Vec::new(),
        _ => ["--out", "runs/reproduce", "--store", "results"].map(str::to_owned).to_vec(),
    };
    let tailcut = tailcut();
    run(&store.root, tailcut.iter().map(String::as_str).chain(words).chain(options.iter().map(String::as_str)))?;
    Ok(())
}

/// The words that run the command. As in its tests, a variable names a program that was built before.
fn tailcut() -> Vec<String> {
    match std::env::var("TAILCUT") {
        Ok(program) => vec![program],
        Err(_) => ["cargo", "run", "--locked", "--release", "--quiet", "--package", "tailcut", "--"]
            .map(str::to_owned)
            .to_vec(),
    }
}

/// Stores what the pages show of a run that is finished, and the digests of its simulations.
fn store_run(source: &Source, pages: &Pages) -> Result<(), String> {
    let store = pages.store();
    let folder = store.root.join(source.run_folder());
    let summary = folder.join("summary.csv");
    let text =
        std::fs::read_to_string(&summary).map_err(|error| format!("cannot read {}: {error}", summary.display()))?;
    let figures = Figures::read_summary(&text)?;
    pages.ask(source, &figures)?;
    // Those of a study as it is were stored by `tailcut reproduce --store`.
    if let Source::Scenario { .. } | Source::Study { changed: Some(_), .. } = source {
        let info = RunInfo::read(&folder).map_err(|error| error.to_string())?;
        let finished: Vec<PointSummary> =
            info.points.iter().filter_map(|point| point.summary_in(&folder).ok()?).collect();
        let (name, plan) = store.plan(source)?;
        let mut points = StoredPoints::of(name, &plan, &finished);
        points.add_witness(name, &plan, "");
        points.write(&store.path(source, ".points.csv")).map_err(|error| error.to_string())?;
        write(&store.path(source, ".figures.csv"), figures.asked()?.as_bytes())?;
    }
    Ok(())
}

/// Runs a command in a folder, and returns what it prints; what it says on its way is shown.
fn run<'w>(folder: &Path, words: impl IntoIterator<Item = &'w str>) -> Result<String, String> {
    let words: Vec<&str> = words.into_iter().collect();
    let shown = words.join(" ");
    let (program, arguments) = words.split_first().ok_or("there is no command")?;
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run `{shown}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{shown}` failed: {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// This machine in words: its processor, how many of them, and the compiler.
fn machine(root: &Path) -> String {
    let facts: BTreeMap<String, String> = std::fs::read_to_string("/proc/cpuinfo")
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect();
    let processor = facts.get("model name").map_or("an unknown processor", String::as_str);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let compiler = run(root, ["rustc", "--version"]).unwrap_or_default();
    let compiler: Vec<&str> = compiler.split_whitespace().take(2).collect();
    format!("{cores} of {processor}, {}", compiler.join(" "))
}
