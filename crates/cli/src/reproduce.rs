//! `tailcut reproduce`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use tailcut_claims::{Claim, Judgement, ReadJudgement, ReadingResults, Stored, Verdict, catalogue};
use tailcut_lab::{
    Parallelism, Plan, RunArguments, RunError, RunOptions, RunReport, find_point, run as run_plan, with_more_seeds,
};
use tailcut_report::ReportError;
use tailcut_reproduce::{
    self as reproduce, Experiment, Open, Reading, Reproduced, Scale, StoredPoints, Study, StudyRun,
};
use tailcut_results::text::wrapped;
use tailcut_results::{Measurements, Point, PointSummary, RunInfo};
use tailcut_sim::Problem;

use crate::engine::{self, command_line};
use crate::format::TextFormat;
use crate::page::{Page, say};
use crate::points;
use crate::progress::Display;
use crate::run;
use crate::signals::Signals;
use crate::{Failed, SeedArguments, Stop};

#[derive(Args)]
#[command(mut_arg("seeds", |seeds| seeds.requires("out")), mut_arg("seed", |seed| seed.requires("out")))]
pub(crate) struct ReproduceCommand {
    /// Figures and tables, such as slytherin-fig3a
    #[arg(value_name = "ID", required_unless_present_any = ["all", "claims"])]
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
    /// Another reading of the document, such as shallow, or shallow+jitter; `tailcut show study` lists what it allows
    #[arg(long, value_name = "NAME", value_parser = |text: &str| Ok::<_, String>(Reading::parse(text)), default_value = "base")]
    reading: Reading,
    /// Run the base, each other value alone, and combinations of them, and say under which readings each claim holds
    #[arg(long, conflicts_with = "reading")]
    readings: bool,
    /// Run only what the claims of these figures are judged by, and draw nothing; --readings does so with all but the
    /// base
    #[arg(long, conflicts_with_all = ["readings", "until"])]
    claims_only: bool,
    /// Run only what this claim is judged by, as --claims-only does for all of a figure; may be given several times
    #[arg(long = "claim", value_name = "ID", conflicts_with_all = ["ids", "all", "until"])]
    claims: Vec<String>,
    /// Run more seeds while a claim is undecided: while its interval holds a bound of what it says
    #[arg(long, value_name = "WHAT", value_parser = ["decided"], conflicts_with_all = ["readings", "judge_only"])]
    until: Option<String>,
    /// With --until: at most so many seeds; each time as many are added as there are
    #[arg(long, value_name = "N", requires = "until", default_value_t = 24, value_parser = clap::value_parser!(u16).range(2..))]
    max_seeds: u16,
    /// Change a value of the scenario, such as port.limit=1MB; may be given several times. Only claims whose
    /// simulations stay the same are judged then, and nothing is stored
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "out", conflicts_with = "store")]
    set: Vec<String>,
    #[command(flatten)]
    seeds: SeedArguments,
    /// The folder for simulations, pictures and pages [default: runs/reproduce]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write verdicts, pictures and the digests of all simulations into this folder, for `tailcut claims`, and of
    /// other readings than the base the verdicts: results, in the repository
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Judge what was simulated before, also by another version of this program, and simulate nothing
    #[arg(long)]
    judge_only: bool,
    /// Simulations at a time [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Threads in each simulation [default: one, or more if there are fewer points than cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print only warnings and errors
    #[arg(long, short)]
    quiet: bool,
    /// Print the simulations instead of running them, one JSON object a line: key, expected cost and command
    #[arg(long, conflicts_with_all = ["only", "on", "until", "judge_only"])]
    points: bool,
    /// Run this simulation and nothing else, for the same command without --only to find
    #[arg(long, value_name = "KEY", conflicts_with_all = ["on", "until", "judge_only", "jobs"])]
    only: Option<String>,
    /// Simulate on other machines: ray, dask, slurm, or the address of a cluster, such as ray://head:10001 or
    /// tcp://head:8786
    #[arg(long, value_name = "ENGINE", conflicts_with_all = ["judge_only", "jobs", "threads"])]
    on: Option<String>,
}

impl ReproduceCommand {
    /// The experiments that are asked for, each once: those of the claims that are `asked` for, if these are.
    fn experiments(&self, asked: Option<&[&Claim]>) -> Result<Vec<Experiment>, Problem> {
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
            (None, false) => match asked {
                Some(claims) => {
                    claims.iter().filter_map(|claim| reproduce::experiment_of(&claim.id)).map(str::to_owned).collect()
                }
                None => self.ids.clone(),
            },
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

    /// The claims that are asked for, and the claims that they are made of; `None` for all of the experiments.
    fn asked(&self) -> Result<Option<Vec<&'static Claim>>, Problem> {
        if self.claims.is_empty() {
            return Ok(None);
        }
        let all: Result<Vec<_>, Problem> = self.claims.iter().map(|id| reproduce::claim_with_parts(id)).collect();
        Ok(Some(all?.concat()))
    }

    /// Whether this run judges claims alone, the base too.
    fn claims_alone(&self) -> bool {
        self.claims_only || !self.claims.is_empty()
    }

    /// Whether a reading is judged and not drawn.
    fn only_judges(&self) -> bool {
        self.readings || self.claims_alone()
    }

    fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| Path::new("runs").join("reproduce"))
    }
}

/// A study to be run under a reading.
struct Planned {
    study: Study,
    reading: Reading,
    /// The simulations that are run: all, or those by which claims are judged.
    plan: Plan,
    /// The fingerprint of all.
    fingerprint: String,
}

pub(crate) fn reproduce(arguments: &ReproduceCommand) -> Result<(), Stop> {
    if engine::hand_over(arguments.on.as_deref())? {
        return Ok(());
    }
    let asked = arguments.asked()?;
    let is_asked = |id: &str| asked.as_ref().is_none_or(|asked| asked.iter().any(|claim| claim.id == id));
    let experiments = arguments.experiments(asked.as_deref())?;
    let studies = planned(arguments, &experiments, &is_asked)?;
    if arguments.points {
        points::of_studies(studies.iter().map(|planned| (&planned.plan, folder_of(arguments, planned))));
        return Ok(());
    }
    if let Some(key) = &arguments.only {
        return only(arguments, &studies, key);
    }
    let signals = Signals::listen().map_err(|e| Problem::new(format!("cannot listen for Ctrl-C: {e}")))?;
    for (nth, planned) in studies.iter().enumerate() {
        if !studies[..nth].iter().any(|known| known.study.name == planned.study.name) {
            forget_stale_readings(arguments, &planned.study)?;
        }
    }
    // A changed run says nothing by verdicts that others have.
    let stored = if arguments.set.is_empty() { known_verdicts(arguments) } else { BTreeMap::new() };
    // A claim that is made of others is judged by the verdicts on these under the same reading.
    let mut known_under: BTreeMap<String, BTreeMap<String, Verdict>> = BTreeMap::new();
    let mut failed = Failed::default();
    // A reading that changes one scheme leaves the points of the others as they are.
    let base_of = |planned: &Planned| {
        reproduce::study_folder(&arguments.out(), &planned.study.name, arguments.scale, &Reading::default())
    };
    let mut shared: Vec<PathBuf> = studies.iter().filter(|planned| !planned.reading.is_base()).map(base_of).collect();
    shared.dedup();
    for planned in &studies {
        let began = Instant::now();
        let of_study: Vec<&Experiment> =
            experiments.iter().filter(|experiment| experiment.study == planned.study.name).collect();
        let known = known_under.entry(planned.reading.to_string()).or_insert_with(|| stored.clone());
        let planned = &decided(arguments, planned, &of_study, known, &shared, &signals)?;
        let Planned { study, reading, plan, .. } = planned;
        let Simulated { folder, info, points, measurements, failures } = match arguments.judge_only {
            true => simulated_before(arguments, planned)?,
            false => run(arguments, planned, &shared, &signals)?,
        };
        shared.push(folder.clone());
        failed = failed.and(failures.all, failures.stalled);
        if let Some(first) = measurements.missing().first() {
            let (missing, all) = (measurements.missing().len(), plan.points.len());
            say!(
                "error: the study {} is not judged: {missing} of its {all} points have no results, the first of them {}: {}",
                study.name,
                first.point.key,
                first.reason
            );
            failed = failed.and(missing.saturating_sub(failures.all), 0);
            continue;
        }
        let run = StudyRun {
            study,
            scale: arguments.scale,
            reading,
            plan,
            info: &info,
            folder: &folder,
            measurements: &measurements,
        };
        let mut judged = Vec::new();
        for experiment in of_study {
            if arguments.only_judges() {
                let mut of_experiment = reproduce::judged(experiment, &run, known);
                of_experiment.retain(|judgement| is_asked(&judgement.id));
                known.extend(of_experiment.iter().map(|judgement| (judgement.id.clone(), judgement.verdict)));
                judged.extend(of_experiment);
                continue;
            }
            let out = reproduce::experiment_folder(&arguments.out(), &experiment.id, arguments.scale, reading);
            let reproduced = reproduce::reproduce(experiment.clone(), &run, known, &out).map_err(RunError::from)?;
            for judgement in &reproduced.judgements {
                known.insert(judgement.id.clone(), judgement.verdict);
            }
            if !arguments.quiet {
                print(&reproduced, &run);
            }
            if let Some(store) = arguments.store.as_ref().filter(|_| reading.is_base()) {
                keep(arguments, store, &reproduced, &run).map_err(|e| Problem::new(e.to_string()))?;
            }
            judged.extend(reproduced.judgements);
        }
        if arguments.only_judges() || arguments.store.is_some() {
            keep_reading(arguments, planned, &judged)?;
        }
        if let Some(store) = &arguments.store {
            let (scale, name) = (arguments.scale, &study.name);
            let stored = match reading.is_base() && !arguments.claims_alone() {
                true => reproduce::store_summary(&folder, &reproduce::stored_summary(store, scale, name, reading)),
                false => {
                    reproduce::add_to_summary(&folder, &reproduce::summary_for_claims(store, scale, name, reading))
                }
            };
            stored.map_err(|e| Problem::new(e.to_string()))?;
        }
        if arguments.only_judges() && !arguments.quiet {
            let holds = judged.iter().filter(|judgement| judgement.verdict.is_reproduced()).count();
            say!("{}, {reading}: {holds} of {} claims hold", study.name, judged.len());
        }
        if let Some(store) = arguments.store.as_ref().filter(|_| reading.is_base() && !arguments.claims_alone()) {
            let stored = reproduce::points_to_store(study, arguments.scale, reading, plan, &points)?;
            let path = StoredPoints::path(store, arguments.scale.name(), &study.name);
            stored.write(&path).map_err(|e| Problem::new(e.to_string()))?;
        }
        if !arguments.quiet {
            say!("study {}: {:.1} s", study.name, began.elapsed().as_secs_f64());
        }
    }
    failed.result()
}

/// Runs one simulation of the studies.
fn only(arguments: &ReproduceCommand, studies: &[Planned], key: &str) -> Result<(), Stop> {
    let Some(planned) = studies.iter().find(|planned| find_point(&planned.plan, key).is_ok()) else {
        return Err(Problem::new(format!("no study that is asked for has a point `{key}`"))
            .help("`--points` instead of `--only` lists them, and another build of tailcut has other keys")
            .into());
    };
    let threads = arguments.threads.map(usize::from);
    run::only(&planned.plan, key, folder_of(arguments, planned), threads, arguments.quiet, TextFormat::Text)
}

/// The studies of some experiments under the readings that are asked for. Everything is checked before anything runs.
fn planned(
    arguments: &ReproduceCommand,
    experiments: &[Experiment],
    is_asked: &dyn Fn(&str) -> bool,
) -> Result<Vec<Planned>, Problem> {
    let overrides = RunArguments { set: arguments.set.clone(), seeds: arguments.seeds.choice() };
    let mut all: Vec<Planned> = Vec::new();
    let mut said = BTreeSet::new();
    for experiment in experiments {
        if all.iter().any(|known| known.study.name == experiment.study) {
            continue;
        }
        let study = reproduce::study(&experiment.study)?;
        if arguments.all && study.taken(&arguments.reading).is_err() {
            say!("left out: the study {} has no reading {}", study.name, arguments.reading);
            continue;
        }
        let base = study.plan(arguments.scale, &arguments.reading, &overrides)?;
        let readings = match arguments.readings {
            true => reproduce::screening(&counting(&study, &base, arguments, &overrides)),
            false => vec![arguments.reading.clone()],
        };
        for reading in readings {
            let plan = if reading == arguments.reading {
                study.refuse_overload(&reading, &base)?;
                base.clone()
            } else {
                match runnable(&study, &reading, arguments, &overrides) {
                    Ok(plan) => plan,
                    Err(problem) => {
                        say!("left out: {reading}: {problem}");
                        continue;
                    }
                }
            };
            if !arguments.quiet {
                // What a reading has in common with one before it is said once.
                let label = if reading.is_base() { String::new() } else { format!(", {reading}") };
                for warning in &plan.warnings {
                    if said.insert((study.name.clone(), warning.clone())) {
                        say!("warning: {}{label}: {warning}", study.name);
                    }
                }
            }
            let fingerprint = reproduce::fingerprint(&plan);
            let study = study.clone().changed_by(arguments.scale, &reading, &plan, &overrides)?.read_as(&reading)?;
            // The base is drawn beside the other readings, unless it is asked for its claims alone.
            let plan = if arguments.claims_alone() || arguments.readings && !reading.is_base() {
                let of_study = experiments.iter().filter(|experiment| experiment.study == study.name);
                let mut claims = Vec::new();
                for experiment in of_study {
                    claims.extend(reproduce::claims_of(&experiment.id)?);
                }
                claims.retain(|claim| is_asked(&claim.id));
                reproduce::only_for_claims(&plan, &study, &claims)
            } else {
                plan
            };
            if plan.points.is_empty() {
                say!("left out: no claim is judged by the study {}", study.name);
            } else {
                all.push(Planned { study, reading, plan, fingerprint });
            }
        }
    }
    Ok(all)
}

/// The simulations of a study under a reading.
///
/// # Errors
/// If the scenario cannot be, or if it is overloaded.
fn runnable(
    study: &Study,
    reading: &Reading,
    arguments: &ReproduceCommand,
    overrides: &RunArguments,
) -> Result<Plan, Problem> {
    let plan = study.plan(arguments.scale, reading, overrides)?;
    study.refuse_overload(reading, &plan)?;
    Ok(plan)
}

/// The open choices of a study without the values that change nothing in it, such as thresholds of a scheme that it
/// does not run, and without those that cannot be run in it.
fn counting(study: &Study, base: &Plan, arguments: &ReproduceCommand, overrides: &RunArguments) -> Vec<Open> {
    let mut open = study.open.clone();
    for choice in &mut open {
        let mut others = Vec::new();
        for other in choice.other.drain(..) {
            match runnable(study, &Reading::of([&other.name]), arguments, overrides) {
                Ok(plan) if other.measures.is_empty() && base.is_as(&plan) => {
                    say!("left out: {} changes nothing in the study {}", other.name, study.name);
                }
                Ok(_) => others.push(other),
                Err(problem) => {
                    say!("left out: {}: {problem}", other.name);
                }
            }
        }
        choice.other = others;
    }
    open
}

/// The study with as many seeds as its claims need to be decided, if that is asked for and there are enough; these
/// seeds have been run then.
fn decided(
    arguments: &ReproduceCommand,
    planned: &Planned,
    experiments: &[&Experiment],
    known: &BTreeMap<String, Verdict>,
    shared: &[PathBuf],
    signals: &Signals,
) -> Result<Planned, Stop> {
    let Planned { study, reading, plan, fingerprint } = planned;
    let mut planned = Planned {
        study: study.clone(),
        reading: reading.clone(),
        plan: plan.clone(),
        fingerprint: fingerprint.clone(),
    };
    while arguments.until.is_some() {
        let Simulated { folder, info, measurements, failures, .. } = run(arguments, &planned, shared, signals)?;
        let run = StudyRun {
            study: &planned.study,
            scale: arguments.scale,
            reading: &planned.reading,
            plan: &planned.plan,
            info: &info,
            folder: &folder,
            measurements: &measurements,
        };
        let judged = experiments.iter().flat_map(|experiment| reproduce::judged(experiment, &run, known));
        let open: Vec<String> =
            judged.filter(|judgement| judgement.verdict == Verdict::Undecided).map(|judgement| judgement.id).collect();
        let seeds = planned.plan.seeds.len();
        let more = seeds.min(usize::from(arguments.max_seeds).saturating_sub(seeds));
        if !arguments.quiet && !open.is_empty() {
            say!("undecided with {seeds} seeds: {}", open.join(", "));
        }
        if open.is_empty() || more == 0 || failures.all > 0 {
            break;
        }
        planned.plan = with_more_seeds(&planned.plan, more)?;
    }
    Ok(planned)
}

/// The simulations of a study.
struct Simulated {
    folder: PathBuf,
    info: RunInfo,
    points: Vec<PointSummary>,
    measurements: Measurements,
    /// Points that came to no end.
    failures: Failed,
}

fn folder_of(arguments: &ReproduceCommand, planned: &Planned) -> PathBuf {
    reproduce::study_folder(&arguments.out(), &planned.study.name, arguments.scale, &planned.reading)
}

fn info_of(folder: &Path) -> Result<RunInfo, Stop> {
    Ok(RunInfo::read(folder).map_err(ReportError::from).map_err(RunError::from)?)
}

/// The simulations that a study had before, if they are those of the study as it is now.
fn simulated_before(arguments: &ReproduceCommand, planned: &Planned) -> Result<Simulated, Stop> {
    let folder = folder_of(arguments, planned);
    let info = info_of(&folder)?;
    if info.scenario_toml != planned.plan.effective {
        return Err(Problem::new(format!("{} is of another configuration of the study", folder.display()))
            .help("expected the simulations of this configuration; without --judge-only they are run")
            .into());
    }
    let wrong = |error: &dyn std::fmt::Display| Problem::new(format!("{}: {error}", folder.display()));
    let summary = |point: &Point| match point.summary_in(&folder) {
        Ok(Some(summary)) => Ok(summary),
        Ok(None) => Err(wrong(&format!("{} has not finished", point.key))),
        Err(why) => Err(wrong(&format!("{}: {why}", point.key))),
    };
    let points: Result<Vec<PointSummary>, Problem> = info.points.iter().map(summary).collect();
    let points = points.map_err(|problem| problem.help("a verdict needs all points: run it without --judge-only"))?;
    let measurements = Measurements::read(&folder, &info, &|| false).map_err(|error| wrong(&error))?;
    Ok(Simulated { folder, info, points, measurements, failures: Failed::default() })
}

/// Runs the simulations of a study; those that are finished, here or in one of the `shared` folders, are not run again.
fn run(
    arguments: &ReproduceCommand,
    planned: &Planned,
    shared: &[PathBuf],
    signals: &Signals,
) -> Result<Simulated, Stop> {
    let Planned { study, reading, plan, .. } = planned;
    let folder = folder_of(arguments, planned);
    let options = RunOptions {
        out: folder.clone(),
        parallelism: Parallelism { jobs: arguments.jobs.map(usize::from), threads: arguments.threads.map(usize::from) },
        command: command_line(),
        shared: shared.to_vec(),
        executor: engine::executor(arguments.on.as_deref())?,
    };
    if !arguments.quiet {
        let under = if reading.is_base() { String::new() } else { format!(" under the reading {reading}") };
        say!("study {}{under}: {} points", study.name, plan.points.len());
    }
    let display = Display::new(signals, arguments.quiet);
    let report = run_plan(plan, &options, &display);
    display.close();
    let report: RunReport = match report {
        Err(error @ RunError::Stopped { .. }) => return Err(Stop::Signal(error, signals.exit_code())),
        report => report?,
    };
    let info = info_of(&folder)?;
    let RunReport { points, results, failures, .. } = report;
    Ok(Simulated { folder, info, points, measurements: results.measurements, failures: Failed::of(&failures) })
}

/// Writes the verdicts of a reading beside those of the others, after each: a run that is stopped loses none.
fn keep_reading(arguments: &ReproduceCommand, planned: &Planned, judged: &[Judgement]) -> Result<(), Problem> {
    let wrong = |error: tailcut_claims::ClaimsError| Problem::new(error.to_string());
    let folder = arguments.store.clone().unwrap_or_else(|| arguments.out());
    let (scale, study) = (arguments.scale.name(), &planned.study.name);
    let path = ReadingResults::path(&folder, scale, study);
    let mut results = ReadingResults::read(&path, scale).map_err(wrong)?.unwrap_or_default();
    let name = planned.reading.to_string();
    results.replace(judged.iter().map(|judgement| ReadJudgement::of(&name, &planned.fingerprint, judgement)));
    results.write(&path).map_err(wrong)
}

/// Forgets the stored verdicts of the readings of a study that it no longer has, or that are another configuration now,
/// and what was measured for them: a reading is what it changes in the base, so that all are others with another base.
fn forget_stale_readings(arguments: &ReproduceCommand, study: &Study) -> Result<(), Problem> {
    let wrong = |error: tailcut_claims::ClaimsError| Problem::new(error.to_string());
    let Some(folder) = &arguments.store else { return Ok(()) };
    let scale = arguments.scale.name();
    let path = ReadingResults::path(folder, scale, &study.name);
    let Some(mut results) = ReadingResults::read(&path, scale).map_err(wrong)? else { return Ok(()) };
    let mut now: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut stale = BTreeSet::new();
    results.retain(|reading, plan| {
        let of_now = now
            .entry(reading.to_owned())
            .or_insert_with(|| reproduce::fingerprint_under(study, arguments.scale, reading));
        let is_same = of_now.as_deref() == Some(plan);
        if !is_same {
            stale.insert(reading.to_owned());
        }
        is_same
    });
    for reading in stale {
        let summary = reproduce::summary_for_claims(folder, arguments.scale, &study.name, &Reading::parse(&reading));
        match std::fs::remove_file(&summary) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Problem::new(format!("cannot remove {}: {error}", summary.display())));
            }
            _ => {}
        }
    }
    results.write(&path).map_err(wrong)
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

/// Writes the verdicts and the first picture into the folder of results.
fn keep(
    arguments: &ReproduceCommand,
    store: &Path,
    reproduced: &Reproduced,
    run: &StudyRun<'_>,
) -> Result<(), Box<dyn std::error::Error>> {
    let folder = store.join(run.scale.name());
    std::fs::create_dir_all(&folder)?;
    let id = &reproduced.experiment.id;
    let until = if arguments.until.is_some() { " --until decided" } else { "" };
    let stored = Stored {
        experiment: id.clone(),
        scale: run.scale.name().to_owned(),
        command: format!("tailcut reproduce {id} --scale {}{until}", run.scale.name()),
        version: run.info.version.clone(),
        seeds: run.info.seeds.clone(),
        judgements: reproduced.judgements.clone(),
        note: reproduced.experiment.note.clone(),
    };
    stored.write(&folder.join(format!("{id}.toml")))?;
    if let Some(picture) = reproduced.pictures.first() {
        std::fs::copy(picture, folder.join(format!("{id}.svg")))?;
    }
    if let Some(effects) = reproduced.effects.first() {
        std::fs::write(folder.join(format!("{id}.effects.csv")), effects.csv())?;
    }
    Ok(())
}

fn print(reproduced: &Reproduced, run: &StudyRun<'_>) {
    let mut out = Page::default();
    let id = &reproduced.experiment.id;
    let reading = if run.reading.is_base() { String::new() } else { format!(", reading {}", run.reading) };
    out.line(format_args!("{id} ({}{reading}): {}", run.scale.name(), reproduced.title));
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
    out.line(format_args!("  {} {priority} {}", judgement.verdict_text().to_uppercase(), judgement.id));
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
