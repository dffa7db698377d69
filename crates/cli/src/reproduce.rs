//! `tailcut reproduce`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use tailcut_claims::{Judgement, Stored, Verdict, catalogue};
use tailcut_lab::{Parallelism, RunArguments, RunError, RunOptions, RunReport, run as run_plan};
use tailcut_report::ReportError;
use tailcut_reproduce::{self as reproduce, Experiment, Reproduced, Scale, StoredPoints, StudyRun};
use tailcut_results::RunInfo;
use tailcut_results::text::wrapped;
use tailcut_sim::Problem;

use crate::page::Page;
use crate::progress::Display;
use crate::run::command_line;
use crate::signals::Signals;
use crate::{SeedArguments, Stop};

#[derive(Args)]
#[command(mut_arg("seeds", |seeds| seeds.requires("out")), mut_arg("seed", |seed| seed.requires("out")))]
pub(crate) struct ReproduceCommand {
    /// Figures and tables, such as slytherin-fig3a
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,
    /// All experiments, or with --scheme all that bear on its claims
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// With --all: only those of this scheme
    #[arg(long, value_name = "NAME", requires = "all")]
    scheme: Option<String>,
    /// How large: quick (a minute or two on two cores) or paper (the size of the document)
    #[arg(long, default_value = "quick", value_name = "SCALE")]
    scale: Scale,
    /// Another setting of the study, such as shallow
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Change a value of the scenario, such as port.limit=1MB; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "out")]
    set: Vec<String>,
    #[command(flatten)]
    seeds: SeedArguments,
    /// The folder for simulations, pictures and pages [default: runs/reproduce]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write verdicts, pictures and the digests of all simulations into this folder, for `tailcut claims`:
    /// results, in the repository
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Simulations at a time [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Threads in each simulation [default: one, or more if there are fewer points than cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

impl ReproduceCommand {
    /// The experiments that are asked for, each once.
    fn experiments(&self) -> Result<Vec<Experiment>, Problem> {
        let ids: Vec<String> = match (&self.scheme, self.all) {
            (Some(scheme), _) => {
                let ids = reproduce::of_scheme(scheme);
                if ids.is_empty() {
                    let mut known: Vec<&str> = catalogue().claims.iter().map(|claim| claim.scheme.as_str()).collect();
                    known.dedup();
                    let problem = Problem::new(format!("no experiment bears on claims about `{scheme}`"));
                    return Err(problem.help(tailcut_sim::config::suggest(scheme, &known)));
                }
                ids.into_iter().map(str::to_owned).collect()
            }
            (None, true) => reproduce::names().map(str::to_owned).collect(),
            (None, false) => self.ids.clone(),
        };
        let mut experiments: Vec<Experiment> = Vec::new();
        for id in ids {
            let experiment = reproduce::find(&id)?;
            if experiments.iter().all(|known| known.id != experiment.id) {
                experiments.push(experiment);
            }
        }
        Ok(experiments)
    }

    fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| Path::new("runs").join("reproduce"))
    }
}

pub(crate) fn reproduce(arguments: &ReproduceCommand) -> Result<(), Stop> {
    let experiments = arguments.experiments()?;
    let variant = arguments.variant.as_deref();
    let overrides = RunArguments { set: arguments.set.clone(), seeds: arguments.seeds.choice() };
    // Everything is checked before anything runs.
    let mut studies = Vec::new();
    for experiment in &experiments {
        if studies.iter().all(|(known, _): &(reproduce::Study, _)| known.name != experiment.study) {
            let study = reproduce::study(&experiment.study)?;
            if variant.is_some() && arguments.all && study.variant(variant.unwrap_or_default()).is_err() {
                eprintln!("left out: the study {} has no variant {}", study.name, variant.unwrap_or_default());
                continue;
            }
            let plan = study.plan(arguments.scale, variant, &overrides)?;
            studies.push((study, plan));
        }
    }
    let signals = Signals::listen().map_err(|e| Problem::new(format!("cannot listen for Ctrl-C: {e}")))?;
    let mut known = known_verdicts(arguments);
    let mut failed = 0;
    for (study, plan) in &studies {
        let began = Instant::now();
        let folder = reproduce::study_folder(&arguments.out(), &study.name, arguments.scale, variant);
        let options = RunOptions {
            out: folder.clone(),
            parallelism: Parallelism {
                jobs: arguments.jobs.map(usize::from),
                threads: arguments.threads.map(usize::from),
            },
            command: command_line(),
        };
        if !arguments.quiet {
            eprintln!("study {}: {} points", study.name, plan.points.len());
        }
        let display = Display::new(&signals, arguments.quiet);
        let report = run_plan(plan, &options, &display);
        display.close();
        let report: RunReport = match report {
            Err(error @ RunError::Stopped { .. }) => return Err(Stop::Signal(error, signals.exit_code())),
            report => report?,
        };
        failed += report.failures.len();
        let info = RunInfo::read(&folder.join("run.json")).map_err(ReportError::from).map_err(RunError::from)?;
        let run = StudyRun {
            study,
            scale: arguments.scale,
            variant,
            plan,
            info: &info,
            folder: &folder,
            measurements: &report.results.measurements,
        };
        for experiment in experiments.iter().filter(|experiment| experiment.study == study.name) {
            let out = reproduce::experiment_folder(&arguments.out(), &experiment.id, arguments.scale, variant);
            let reproduced = reproduce::reproduce(experiment.clone(), &run, &known, &out).map_err(RunError::from)?;
            for judgement in &reproduced.judgements {
                known.insert(judgement.id.clone(), judgement.verdict);
            }
            if !arguments.quiet {
                print(&reproduced, &run);
            }
            if let Some(store) = &arguments.store {
                keep(store, &reproduced, &run).map_err(|e| Problem::new(e.to_string()))?;
            }
        }
        if let Some(store) = &arguments.store {
            let points = reproduce::points_to_store(study, arguments.scale, variant, plan, &report.points)?;
            let path = StoredPoints::path(store, &setting(arguments.scale, variant), &study.name);
            points.write(&path).map_err(|e| Problem::new(e.to_string()))?;
        }
        if !arguments.quiet {
            eprintln!("study {}: {:.1} s", study.name, began.elapsed().as_secs_f64());
        }
    }
    if failed == 0 { Ok(()) } else { Err(Stop::Points(failed)) }
}

/// Verdicts that were stored before, for claims that have parts.
fn known_verdicts(arguments: &ReproduceCommand) -> BTreeMap<String, Verdict> {
    let folder = arguments.store.clone().unwrap_or_else(|| PathBuf::from("results")).join(arguments.scale.name());
    let mut known = BTreeMap::new();
    for id in reproduce::names() {
        if let Ok(stored) = Stored::read(&folder.join(format!("{id}.toml"))) {
            known.extend(stored.judgements.into_iter().map(|judgement| (judgement.id, judgement.verdict)));
        }
    }
    known
}

/// The folder of a scale and a variant in a folder of results.
fn setting(scale: Scale, variant: Option<&str>) -> String {
    variant.map_or_else(|| scale.name().to_owned(), |variant| format!("{}+{variant}", scale.name()))
}

/// Writes the verdicts and the first picture into the folder of results.
fn keep(store: &Path, reproduced: &Reproduced, run: &StudyRun<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let folder = store.join(setting(run.scale, run.variant));
    std::fs::create_dir_all(&folder)?;
    let id = &reproduced.experiment.id;
    let variant = run.variant.map_or_else(String::new, |variant| format!(" --variant {variant}"));
    let stored = Stored {
        experiment: id.clone(),
        scale: run.scale.name().to_owned(),
        command: format!("tailcut reproduce {id} --scale {}{variant}", run.scale.name()),
        version: run.info.version.clone(),
        seeds: run.info.seeds.clone(),
        judgements: reproduced.judgements.clone(),
        note: reproduced.experiment.note.clone(),
    };
    stored.write(&folder.join(format!("{id}.toml")))?;
    if let Some(picture) = reproduced.pictures.first() {
        std::fs::copy(picture, folder.join(format!("{id}.svg")))?;
    }
    Ok(())
}

fn print(reproduced: &Reproduced, run: &StudyRun<'_>) {
    let mut out = Page::default();
    let id = &reproduced.experiment.id;
    let variant = run.variant.map_or_else(String::new, |variant| format!(", variant {variant}"));
    out.line(format_args!("{id} ({}{variant}): {}", run.scale.name(), reproduced.title));
    for judgement in &reproduced.judgements {
        claim(&mut out, judgement);
    }
    if reproduced.judgements.is_empty() {
        out.line("  no claim rests on it alone");
    }
    for reason in &reproduced.undrawn {
        out.line(format_args!("  not drawn: {reason}"));
    }
    out.line(format_args!("  page: {}", reproduced.page.display()));
    out.line("");
    out.print();
}

fn claim(out: &mut Page, judgement: &Judgement) {
    let claim = catalogue().claims.iter().find(|claim| claim.id == judgement.id);
    let priority = claim.map_or("", |claim| claim.priority.name());
    out.line(format_args!("  {} {priority} {}", judgement.verdict.name().to_uppercase(), judgement.id));
    if let Some(claim) = claim {
        for line in wrapped(&claim.statement, 92) {
            out.line(format_args!("      {line}"));
        }
    }
    out.line(format_args!("      published {}; measured {}", judgement.published, judgement.measured_text()));
    for line in wrapped(&judgement.reason, 92) {
        out.line(format_args!("      {line}"));
    }
}
