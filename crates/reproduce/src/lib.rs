//! Published figures and tables, run again: `experiments/` and `experiments/studies/`.
//!
//! A *study* is a scenario at two scales; an *experiment* draws one figure or table of a document from the simulations
//! of a study, and the claims of `data/claims.toml` that it bears on are judged by the same numbers. Several
//! experiments share a study, so that its simulations run once.

mod analytic;
mod evidence;
mod experiment;
mod measure;
mod network;
mod page;
mod pictures;
mod study;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tailcut_sim::Problem;
use tailcut_sim::config::suggest;

pub use evidence::StudyEvidence;
pub use experiment::{Experiment, Form, Picture};
pub use measure::{Convergence, Measure};
pub use study::{Open, Scale, Study, Subject, Variant};

use tailcut_claims::{Claim, Judgement, Verdict, catalogue, judge};
use tailcut_lab::{Plan, RunArguments};
use tailcut_report::{ReportError, draw_figures};
use tailcut_results::{Measurements, OutputFolder, RunInfo};

macro_rules! texts {
    ($(#[$doc:meta])* $name:ident, $folder:literal: $($file:literal,)+) => {
        $(#[$doc])*
        const $name: &[(&str, &str)] =
            &[$(($file, include_str!(concat!("../../../", $folder, $file, ".toml"))),)+];
    };
}

texts! {
    /// The experiments, by document and figure.
    EXPERIMENTS, "experiments/":
    "slytherin-fig3a",
    "slytherin-fig3b",
    "slytherin-fig4",
    "slytherin-fig5",
    "slytherin-fig6",
    "slytherin-fig7",
    "slytherin-fig8",
    "slytherin-fig9",
    "slytherin-fig10",
    "slytherin-table1",
    "slytherin-ablations",
    "slytherin-single-window",
    "slytherin-parking-lot",
    "slytherin-aware",
    "slytherin-map-buffer",
    "slytherin-map-min-rto",
    "slytherin-map-pias",
    "slytherin-map-workload",
    "spq-fig1",
    "spq-fig2",
    "spq-fig3",
    "spq-fig4",
    "spq-fig5",
    "spq-fig6",
    "spq-fig9",
    "spq-fig10",
    "spq-fig11",
    "spq-fig12",
    "spq-fig13",
    "spq-fig14",
    "spq-fig15",
    "spq-fig16",
    "spq-fig17",
    "spq-fig18",
    "spq-fig19",
    "spq-fig20",
    "spq-table1",
    "spq-table2",
    "spq-table3",
    "spq-ablations",
    "spq-workloads",
    "thesis-fig6",
    "thesis-fig23",
    "thesis-fig24",
    "thesis-fig25",
    "thesis-fig26",
    "thesis-fig27",
    "thesis-fig28",
    "icon-isolated",
    "icon-buffers",
    "icon-ablations",
    "icon-map",
    "thesis-fig3",
    "background-drops",
    "thesis-fig29",
    "thesis-fig30",
    "thesis-fig31",
    "thesis-fig32",
    "thesis-fig33",
    "resqueue-ablations",
    "resqueue-same-size",
    "resqueue-timer",
}

texts! {
    /// The studies.
    STUDIES, "experiments/studies/":
    "slytherin-ls400",
    "slytherin-convergence",
    "slytherin-incast",
    "slytherin-threshold",
    "slytherin-reordering",
    "slytherin-ablations",
    "slytherin-single-window",
    "slytherin-parking-lot",
    "slytherin-aware",
    "slytherin-map-buffer",
    "slytherin-map-min-rto",
    "slytherin-map-pias",
    "slytherin-map-workload",
    "spq-ls144",
    "spq-os144",
    "spq-mismatch",
    "spq-probes",
    "spq-upstream",
    "spq-ablations",
    "icon-ls400",
    "icon-incast",
    "icon-queue",
    "icon-isolated",
    "icon-buffers",
    "icon-pacing",
    "icon-map",
    "icon-ablations",
    "background-ls400",
    "background-homa",
    "resqueue-ls400",
    "resqueue-incast",
    "resqueue-reserved",
    "resqueue-timer",
    "resqueue-ablations",
    "resqueue-same-size",
}

/// Names of all experiments that can be run, in the order in which they are shown.
pub fn names() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().map(|(name, _)| *name)
}

/// The experiment of this name. A figure that a document repeats is the one that it repeats.
///
/// # Errors
/// If there is none.
pub fn find(id: &str) -> Result<Experiment, Problem> {
    let same = catalogue().experiments.iter().find(|known| known.id == id).and_then(|known| known.same_as.as_deref());
    let id = same.unwrap_or(id);
    let Some((name, text)) = EXPERIMENTS.iter().find(|(name, _)| *name == id) else {
        let published = catalogue().experiments.iter().any(|known| known.id == id);
        let problem = if published {
            Problem::new(format!("the experiment `{id}` cannot be run yet: its schemes are not there"))
        } else {
            Problem::new(format!("there is no experiment `{id}`"))
        };
        return Err(problem.help(suggest(id, &names().collect::<Vec<_>>())));
    };
    Experiment::parse(&format!("experiments/{name}.toml"), name, text)
}

/// The study of this name.
///
/// # Errors
/// If there is none, or its text is wrong.
pub fn study(name: &str) -> Result<Study, Problem> {
    let source = |name: &str| {
        let found = STUDIES.iter().find(|(known, _)| *known == name);
        found.map(|(name, text)| (format!("experiments/studies/{name}.toml"), (*text).to_owned()))
    };
    let (file, text) = source(name).ok_or_else(|| {
        let known: Vec<&str> = STUDIES.iter().map(|(name, _)| *name).collect();
        Problem::new(format!("there is no study `{name}`")).help(suggest(name, &known))
    })?;
    Study::parse(&file, name, &text, &source)
}

/// Names of the experiments that bear on the claims about a scheme.
pub fn of_scheme(scheme: &str) -> Vec<&'static str> {
    names()
        .filter(|name| {
            claims_of(name).is_ok_and(|claims| claims.iter().any(|claim| claim.scheme == scheme))
                || name.starts_with(&format!("{scheme}-"))
        })
        .collect()
}

/// The claims that an experiment bears on, each once, in the order of `data/claims.toml`.
///
/// # Errors
/// If there is no such experiment.
pub fn claims_of(id: &str) -> Result<Vec<&'static Claim>, Problem> {
    let experiment = find(id)?;
    let listed = catalogue().experiments.iter().find(|known| known.id == experiment.id);
    let bears = |claim: &&Claim| {
        experiment.claims.contains(&claim.id)
            || claim.experiment.as_deref() == Some(experiment.id.as_str())
            || listed.is_some_and(|listed| listed.claims.contains(&claim.id))
    };
    Ok(catalogue().claims.iter().filter(bears).collect())
}

/// The experiment in which a claim is judged: the first that bears on it.
pub fn experiment_of(claim: &str) -> Option<&'static str> {
    names().find(|name| claims_of(name).is_ok_and(|claims| claims.iter().any(|known| known.id == claim)))
}

/// Where the simulations of a study are, below the folder of all.
pub fn study_folder(out: &Path, study: &str, scale: Scale, variant: Option<&str>) -> PathBuf {
    scale_folder(out, scale, variant).join("studies").join(study)
}

/// Where the pictures and verdicts of an experiment are, below the folder of all.
pub fn experiment_folder(out: &Path, id: &str, scale: Scale, variant: Option<&str>) -> PathBuf {
    scale_folder(out, scale, variant).join(id)
}

fn scale_folder(out: &Path, scale: Scale, variant: Option<&str>) -> PathBuf {
    match variant {
        Some(variant) => out.join(format!("{}+{variant}", scale.name())),
        None => out.join(scale.name()),
    }
}

/// What an experiment came to.
#[derive(Debug)]
pub struct Reproduced {
    /// The experiment.
    pub experiment: Experiment,
    /// Its title.
    pub title: String,
    /// What became of its claims.
    pub judgements: Vec<Judgement>,
    /// Vector pictures that were drawn.
    pub pictures: Vec<PathBuf>,
    /// What could not be drawn, and why.
    pub undrawn: Vec<String>,
    /// The page.
    pub page: PathBuf,
}

/// What an experiment is made from.
pub struct Material<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its scale.
    pub scale: Scale,
    /// Its variant.
    pub variant: Option<&'a str>,
    /// Its simulations, planned.
    pub plan: &'a Plan,
    /// Its run.
    pub run: &'a RunInfo,
    /// The folder of the run.
    pub dir: &'a Path,
    /// What it measured.
    pub data: &'a Measurements,
}

/// Judges the claims of an experiment, draws its pictures and writes its page to `out`. `known` are the verdicts on
/// other claims, for claims about claims.
///
/// # Errors
/// If a file cannot be written.
pub fn reproduce(
    experiment: Experiment,
    material: &Material<'_>,
    known: &BTreeMap<String, Verdict>,
    out: &Path,
) -> Result<Reproduced, ReportError> {
    let claims = claims_of(&experiment.id).unwrap_or_default();
    let judgements: Vec<Judgement> = claims.iter().map(|claim| judged(claim, material, known)).collect();
    let entry = catalogue().experiments.iter().find(|entry| entry.id == experiment.id);
    let title = match (&experiment.title, entry) {
        (Some(title), _) => title.clone(),
        (None, Some(entry)) => format!("{}: {}", entry.figure, entry.title),
        (None, None) => experiment.id.clone(),
    };
    let mut files = OutputFolder::new(out);
    let (figures, mut undrawn) =
        pictures::figures(&experiment, &title, material.study, material.data, material.run, material.dir);
    draw_figures(&figures, &mut files, &|| false)?;
    if experiment.figure.iter().any(|picture| picture.form == Form::Network) {
        match material.plan.points.first().map(|point| point.scenario(&material.plan.base_dir)) {
            Some(Ok(scenario)) => {
                let name = pictures::network_name(&experiment);
                network::diagram(scenario.network(), &title).draw(&name, &mut files)?;
            }
            _ => undrawn.push("the network could not be made".to_owned()),
        }
    }
    let pictures: Vec<PathBuf> =
        files.written().iter().filter(|path| path.extension().is_some_and(|found| found == "svg")).cloned().collect();
    let mut reproduced = Reproduced { experiment, title, judgements, pictures, undrawn, page: out.join("report.html") };
    reproduced.undrawn.dedup();
    files.write("report.html", &page::page(&reproduced, &claims, material))?;
    Ok(reproduced)
}

/// The verdict on a claim from the measurements of a study.
pub fn judged(claim: &Claim, material: &Material<'_>, known: &BTreeMap<String, Verdict>) -> Judgement {
    let subjects = std::iter::once(&claim.subject).chain(&claim.baseline).map(String::as_str);
    let evidence = StudyEvidence::new(material.study, material.data, material.run, material.dir, subjects);
    judge(claim, &evidence, &|id| known.get(id).copied())
}

/// The simulations of a study at a scale.
///
/// # Errors
/// If the study is wrong, or has no such variant.
pub fn plan(study: &Study, scale: Scale, variant: Option<&str>, arguments: &RunArguments) -> Result<Plan, Problem> {
    study.plan(scale, variant, arguments)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tailcut_results::flow_set_names;

    use super::*;

    /// Files in a folder of the repository, without their ending.
    fn files(folder: &str) -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        let toml = entries.filter(|path| path.extension().is_some_and(|found| found == "toml"));
        toml.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn every_file_is_part_of_the_program() {
        let of = |list: &[(&str, &str)]| list.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(of(EXPERIMENTS), files("experiments"));
        assert_eq!(of(STUDIES), files("experiments/studies"));
    }

    #[test]
    fn every_study_can_be_run_at_both_scales_and_in_every_variant() {
        for (name, _) in STUDIES {
            let study = study(name).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
            let variants = study.variants.iter().map(|variant| Some(variant.name.as_str())).chain([None]);
            for variant in variants {
                for scale in Scale::ALL {
                    let plan = study.plan(scale, variant, &RunArguments::default());
                    let plan = plan.unwrap_or_else(|problem| panic!("{name} {variant:?}: {}", problem.render(false)));
                    for path in study.coordinates.values() {
                        let known = plan.axes.iter().any(|axis| axis.path == *path);
                        assert!(known || plan.axes.is_empty(), "{name}: nothing is swept over {path}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_experiment_knows_its_study_subjects_and_claims() {
        for name in names() {
            let experiment = find(name).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
            let study = study(&experiment.study).unwrap();
            let plan = study.plan(Scale::Quick, None, &RunArguments::default()).unwrap();
            for subject in experiment.figure.iter().flat_map(|picture| picture.series.iter().chain(&picture.over)) {
                let scheme = study.subject(subject).scheme;
                assert!(plan.schemes.contains(&scheme), "{name}: no scheme {scheme}");
            }
            for claim in &experiment.claims {
                assert!(catalogue().claims.iter().any(|known| known.id == *claim), "{name}: no claim {claim}");
            }
        }
    }

    /// A quantity of a class or of a set of classes that the study does not have would only be missed when it is run.
    #[test]
    fn every_class_that_is_measured_or_drawn_is_one_of_the_study() {
        fn classes(measure: &Measure) -> Vec<&str> {
            let over = measure.over.as_deref().map(classes).unwrap_or_default();
            std::iter::once(measure.class.as_str()).chain(over).collect()
        }
        let check = |study: &Study, name: &str, measures: &mut dyn Iterator<Item = &Measure>| {
            let plan = study.plan(Scale::Quick, None, &RunArguments::default()).unwrap();
            let known = flow_set_names(&plan.classes, &plan.class_sets, &plan.size_bounds);
            for class in measures.flat_map(classes) {
                assert!(known.iter().any(|name| name == class), "{name}: {} has no class {class}", study.name);
            }
        };
        for (name, _) in STUDIES {
            let study = study(name).unwrap();
            check(&study, name, &mut study.measures.values());
        }
        for name in names() {
            let experiment = find(name).unwrap();
            let study = study(&experiment.study).unwrap();
            check(&study, name, &mut experiment.figure.iter().filter_map(|picture| picture.y.as_ref()));
        }
    }

    #[test]
    fn a_repeated_figure_is_the_one_that_it_repeats() {
        assert_eq!(find("thesis-fig13").unwrap().id, "slytherin-fig3a");
        let problem = find("slytherin-fig33a").unwrap_err();
        assert!(problem.help_text().unwrap().contains("slytherin-fig3a"), "{}", problem.render(false));
        assert!(find("pdq-fig1").is_err() || find("icon-fig24").is_err());
    }
}
