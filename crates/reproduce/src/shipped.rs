//! The experiments and studies that the program ships with, `experiments/` and `experiments/studies/`, and the claims
//! that an experiment bears on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use tailcut_claims::{Claim, Test, catalogue};
use tailcut_sim::Problem;
use tailcut_sim::config::suggest;

use crate::experiment::Experiment;
use crate::study::Study;

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
    "hyline-fig1",
    "hyline-fig2",
    "hyline-fig3",
    "hyline-fig4",
    "hyline-fig5",
    "hyline-fig6",
    "hyline-deadlines",
    "hyline-fig7",
    "hyline-fig8",
    "hyline-fig9",
    "hyline-fig10",
    "hyline-fig11",
    "hyline-fig12",
    "hyline-fig13",
    "hyline-fig14",
    "hyline-fig15",
    "hyline-fig16",
    "hyline-table1",
    "hyline-ablations",
    "hyline-control",
    "hyline-decisions",
    "hyline-ecmp",
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
    "thesis-fig4",
    "background-drops",
    "background-balancing",
    "background-grants",
    "background-fairness",
    "thesis-fig29",
    "thesis-fig30",
    "thesis-fig31",
    "thesis-fig32",
    "thesis-fig33",
    "resqueue-ablations",
    "resqueue-same-size",
    "resqueue-timer",
    "smartbuf-beta",
    "thesis-fig34",
    "thesis-fig35",
    "thesis-fig36",
    "thesis-fig37",
    "thesis-table3",
    "superways-tail",
    "superways-unfair",
    "superways-schemes",
    "superways-failures",
    "superways-testbed",
    "thesis-fig40",
    "thesis-fig42",
    "superways-isolated",
    "superways-one-link",
    "superways-placed",
    "superways-estimates",
    "thesis-fig43",
    "thesis-fig44",
    "thesis-fig45",
    "thesis-fig46",
    "thesis-cross",
    "thesis-fig47",
    "thesis-fig48",
    "smartbuf-size",
    "smartbuf-alpha",
    "smartbuf-ablations",
    "smartbuf-ports",
    "smartbuf-adversary",
    "smartbuf-change",
    "pdq-fair-sharing",
    "pdq-order-table",
    "pdq-disciplines",
    "pdq-mean-fct",
    "pdq-default-setting",
    "pdq-early-start",
    "pdq-deadline-flows",
    "pdq-size-estimation",
    "pdq-cc-metrics",
    "pdq-loss",
    "pdq-fairness",
    "pdq-aging",
    "pdq-scalability",
    "pdq-central",
    "pdq-convergence",
    "pdq-invariants",
    "pdq-topologies-mean",
    "pdq-early-start-k",
    "pdq-multipath-load",
    "pdq-multipath-subflows",
    "thesis-table2",
    "thesis-fig9",
    "thesis-fig10",
    "thesis-fig11",
    "thesis-fig38",
    "thesis-fig39",
    "superways-attachment",
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
    "hyline-examples",
    "hyline-threshold",
    "hyline-fattree",
    "hyline-deadlines",
    "hyline-manager",
    "hyline-control",
    "hyline-decisions",
    "hyline-ecmp",
    "hyline-h",
    "hyline-second-class",
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
    "background-balancing",
    "background-grants",
    "background-fairness",
    "background-dt",
    "resqueue-ls400",
    "resqueue-incast",
    "resqueue-reserved",
    "resqueue-timer",
    "resqueue-ablations",
    "resqueue-same-size",
    "thesis-cross",
    "superways-ls400",
    "superways-networks",
    "superways-unfair",
    "superways-schemes",
    "superways-failures",
    "superways-testbed",
    "superways-attached",
    "superways-isolated",
    "superways-one-link",
    "superways-placed",
    "superways-estimates",
    "smartbuf-ls400",
    "smartbuf-fairness",
    "smartbuf-k",
    "smartbuf-sigma",
    "smartbuf-beta",
    "smartbuf-size",
    "smartbuf-alpha",
    "smartbuf-ablations",
    "smartbuf-ports",
    "smartbuf-adversary",
    "smartbuf-change",
    "pdq-example",
    "pdq-orders",
    "pdq-one-link",
    "pdq-tree",
    "pdq-deadlines",
    "pdq-sizes",
    "pdq-congestion",
    "pdq-loss",
    "pdq-topologies",
    "pdq-aging",
    "pdq-scale",
    "pdq-properties",
    "pdq-k",
    "pdq-central",
    "pdq-multipath",
    "pdq-subflows",
    "superways-examples",
    "superways-pods",
    "superways-wires",
    "superways-cost",
    "superways-links",
}

/// Names of all experiments that can be run, in the order in which they are shown.
pub fn names() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().map(|(name, _)| *name)
}

/// Names of all studies, in the order in which they are shown.
pub fn studies() -> impl Iterator<Item = &'static str> {
    STUDIES.iter().map(|(name, _)| *name)
}

/// The experiment of this name. If the document shows the same figure twice, both names give the same experiment.
///
/// # Errors
/// If there is none.
pub fn find(id: &str) -> Result<Experiment, Problem> {
    let published = catalogue().experiment(id);
    let id = published.and_then(|known| known.same_as.as_deref()).unwrap_or(id);
    let Some((name, text)) = EXPERIMENTS.iter().find(|(name, _)| *name == id) else {
        let problem = if published.is_some() {
            Problem::new(format!("the experiment `{id}` cannot be run yet: its schemes are not there"))
        } else {
            Problem::new(format!("there is no experiment `{id}`"))
        };
        let near = suggest(id, &names().collect::<Vec<_>>());
        return Err(problem.help(format!("{near}; `tailcut list experiments` prints them")));
    };
    parse(name, text)
}

fn parse(name: &str, text: &str) -> Result<Experiment, Problem> {
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
        Problem::new(format!("there is no study `{name}`"))
            .help(format!("{}; `tailcut list studies` prints them", suggest(name, &known)))
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
    Ok(claims_on(&find(id)?))
}

fn claims_on(experiment: &Experiment) -> Vec<&'static Claim> {
    let listed: BTreeSet<&str> = match catalogue().experiment(&experiment.id) {
        Some(published) => catalogue().claims_of(published).map(|claim| claim.id.as_str()).collect(),
        None => BTreeSet::new(),
    };
    let bears = |claim: &&Claim| experiment.claims.contains(&claim.id) || listed.contains(claim.id.as_str());
    catalogue().claims.iter().filter(bears).collect()
}

/// The title of an experiment: its own, or what the catalogue of claims says of the figure.
pub fn title_of(experiment: &Experiment) -> String {
    match (&experiment.title, catalogue().experiment(&experiment.id)) {
        (Some(title), _) => title.clone(),
        (None, Some(published)) => format!("{}: {}", published.figure, published.title),
        (None, None) => experiment.id.clone(),
    }
}

/// The experiment in which a claim is judged: the first that bears on it.
pub fn experiment_of(claim: &str) -> Option<&'static str> {
    /// By claim. It is asked for every claim in turn, and all experiments are read for the answer.
    static JUDGED_IN: OnceLock<BTreeMap<&str, &str>> = OnceLock::new();
    let judged_in = JUDGED_IN.get_or_init(|| {
        let mut judged_in = BTreeMap::new();
        for (name, text) in EXPERIMENTS {
            for claim in parse(name, text).iter().flat_map(claims_on) {
                judged_in.entry(claim.id.as_str()).or_insert(*name);
            }
        }
        judged_in
    });
    judged_in.get(claim).copied()
}

/// A claim, after the claims that it is made of if there are such.
///
/// # Errors
/// If there is no claim of this name, or no experiment tests it.
pub fn claim_with_parts(id: &str) -> Result<Vec<&'static Claim>, Problem> {
    let mut asked: Vec<&Claim> = Vec::new();
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        let claims = &catalogue().claims;
        let Some(claim) = claims.iter().find(|claim| claim.id == id) else {
            let known: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
            return Err(Problem::new(format!("there is no claim `{id}`"))
                .help(format!("{}; `tailcut claims` prints them", suggest(id, &known))));
        };
        if let Err(reason) = runnable(claim) {
            return Err(Problem::new(format!("the claim `{id}` cannot be judged"))
                .help(format!("expected a claim that an experiment tests; {reason}")));
        }
        if asked.iter().all(|known| known.id != id) {
            asked.push(claim);
            open.extend(claim.parts.iter().map(String::as_str));
        }
    }
    asked.reverse();
    Ok(asked)
}

/// The experiment that can be run to test a claim, and the readings that its study declares.
///
/// # Errors
/// Why there is none: a sentence.
pub fn runnable(claim: &Claim) -> Result<Test, String> {
    if let Some(id) = experiment_of(&claim.id) {
        let study = find(id).and_then(|experiment| study(&experiment.study)).map_err(|problem| problem.to_string())?;
        let others = study.open.iter().flat_map(|open| &open.other).filter(|other| !other.apart);
        let readings = others.map(|other| other.name.clone()).collect();
        return Ok(Test { experiment: id.to_owned(), study: study.name, readings });
    }
    Err(match &claim.experiment {
        Some(id) => format!("{id} cannot be run yet: its schemes or quantities are not there."),
        None => "No experiment tests it: the documents have none, and there is no other.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;
    use std::sync::{Arc, Mutex, OnceLock};

    use tailcut_base::each_on_all_cores;
    use tailcut_lab::{Plan, RunArguments};
    use tailcut_results::{flow_set_names, scheme_called};

    use super::*;
    use crate::analytic;
    use crate::measure::MeasureDefinition;
    use crate::reading::{Open, Reading, screening};
    use crate::scale::Scale;

    /// Files in a folder of the repository, without their ending.
    fn files(folder: &str) -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        let toml = entries.filter(|path| path.extension().is_some_and(|found| found == "toml"));
        toml.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
    }

    /// A scheme that is made of another one of its study would else stay as it is under a reading of that one, and be
    /// compared with it.
    #[test]
    fn every_scheme_that_is_made_of_another_one_is_a_variant_of_it() {
        let mut found = 0;
        for name in studies() {
            let study = study(name).unwrap();
            let made = study.made_of_another();
            let variants: Vec<(&str, &str)> =
                study.variants().iter().map(|(name, variant)| (*name, variant.of.as_str())).collect();
            for pair in &made {
                assert!(variants.contains(&(pair.0.as_str(), pair.1.as_str())), "{name}: {pair:?} of {variants:?}");
            }
            found += made.len();
        }
        assert!(found > 20, "{found}");
    }

    #[test]
    fn every_file_is_part_of_the_program() {
        let of = |list: &[(&str, &str)]| list.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(of(EXPERIMENTS), files("experiments"));
        assert_eq!(of(STUDIES), files("experiments/studies"));
    }

    /// The quick plan of a study in its own reading: several tests look at it, and it is made once for all of them.
    fn quick_plan(name: &str) -> Arc<Plan> {
        static MADE: Mutex<BTreeMap<String, Arc<OnceLock<Arc<Plan>>>>> = Mutex::new(BTreeMap::new());
        let made = Arc::clone(MADE.lock().unwrap().entry(name.to_owned()).or_default());
        let make = || {
            let plan =
                study(name).and_then(|study| study.plan(Scale::Quick, &Reading::default(), &RunArguments::default()));
            Arc::new(plan.unwrap_or_else(|problem| panic!("{name}: {}", problem.render(false))))
        };
        Arc::clone(made.get_or_init(make))
    }

    /// Studies with a scheme of which one part does nothing, on purpose.
    const DO_NOTHING: [(&str, &str); 2] = [("icon-ablations", "icon-unmarked,"), ("icon-pacing", "icon*:")];

    #[test]
    fn every_study_can_be_run_at_both_scales_and_under_every_reading() {
        let changes_something: Mutex<BTreeMap<String, bool>> = Mutex::default();
        let overloaded: Mutex<Vec<String>> = Mutex::default();
        let check = &|name: &str, text: &str| {
            let study = study(name).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
            let plan = |scale, reading: &Reading| {
                let plan = study.plan(scale, reading, &RunArguments::default());
                plan.unwrap_or_else(|problem| panic!("{name} {reading}: {}", problem.render(false)))
            };
            let base = quick_plan(name);
            for plan in [&*base, &plan(Scale::Paper, &Reading::default())] {
                let refused = study.refuse_overload(&Reading::default(), plan);
                overloaded.lock().unwrap().extend(refused.err().map(|problem| problem.render(false)));
                // A scheme that is not what its name says: DCTCP whose ports do not mark is NewReno.
                for warning in plan.warnings.iter().filter(|warning| warning.contains("there are none")) {
                    let is_meant = DO_NOTHING.iter().any(|(of, scheme)| name == *of && warning.starts_with(scheme));
                    assert!(is_meant, "{name}: {warning}");
                }
                for path in study.coordinates.values() {
                    let known = plan.axes.iter().any(|axis| axis.path == *path);
                    assert!(known || plan.axes.is_empty(), "{name}: nothing is swept over {path}");
                }
            }
            for reading in screening(&study.open) {
                study.taken(&reading).unwrap_or_else(|problem| panic!("{name}: {}", problem.render(false)));
            }
            // Other studies have the values of the one that they are built on.
            if !text.contains("[[open.other]]") {
                return;
            }
            // Any two values that a design combines are together here: values that exclude each other belong to one
            // choice.
            let first = |open: &Open| open.other.iter().find(|other| !other.apart).map(|other| other.name.clone());
            plan(Scale::Quick, &Reading::of(study.open.iter().filter_map(first)));
            for other in study.open.iter().flat_map(|open| &open.other) {
                let read = plan(Scale::Quick, &Reading::of([&other.name]));
                // What is computed without a simulation may depend on the place in the sweep alone.
                let is_computed = study.measures.values().all(|measure| measure.function.is_some());
                let is_elsewhere = format!("{:?}", base.axes) != format!("{:?}", read.axes);
                let is_measured = !other.measures.is_empty();
                let changed = is_computed && is_elsewhere || is_measured || !base.is_as(&read);
                *changes_something.lock().unwrap().entry(other.name.clone()).or_default() |= changed;
            }
        };
        each_on_all_cores(STUDIES, |(name, text)| check(name, text));
        assert!(overloaded.lock().unwrap().is_empty(), "{}", overloaded.lock().unwrap().join("\n"));
        // A value that changes no simulation of any study would be judged as if it were another reading.
        for (name, changes) in changes_something.into_inner().unwrap() {
            assert!(changes, "the value {name} changes nothing");
        }
    }

    #[test]
    fn every_experiment_knows_its_study_subjects_and_claims() {
        for name in names() {
            let experiment = find(name).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
            let (study, plan) = (study(&experiment.study).unwrap(), quick_plan(&experiment.study));
            for subject in experiment.figure.iter().flat_map(|figure| figure.series.iter().chain(&figure.over)) {
                let scheme = study.subject(subject).scheme;
                assert!(scheme_called(&plan.schemes, &scheme).is_some(), "{name}: no scheme {scheme}");
            }
            for claim in &experiment.claims {
                assert!(catalogue().claims.iter().any(|known| known.id == *claim), "{name}: no claim {claim}");
            }
        }
    }

    /// A quantity of a class or of a set of classes that the study does not have would only be missed when it is run.
    #[test]
    fn every_class_that_is_measured_or_drawn_is_one_of_the_study() {
        fn classes(measure: &MeasureDefinition) -> Vec<&str> {
            let over = measure.over.as_deref().map(classes).unwrap_or_default();
            std::iter::once(measure.class.as_str()).chain(over).collect()
        }
        let check = |study: &Study, name: &str, measures: &mut dyn Iterator<Item = &MeasureDefinition>| {
            let plan = quick_plan(&study.name);
            let known = flow_set_names(&plan.classes, &plan.class_sets, &plan.size_bounds);
            for class in measures.flat_map(classes) {
                assert!(known.iter().any(|name| name == class), "{name}: {} has no class {class}", study.name);
            }
        };
        for (name, _) in STUDIES {
            let study = study(name).unwrap();
            let others = study.open.iter().flat_map(|open| &open.other).flat_map(|other| other.measures.values());
            check(&study, name, &mut study.measures.values().chain(others));
        }
        for name in names() {
            let experiment = find(name).unwrap();
            let study = study(&experiment.study).unwrap();
            check(&study, name, &mut experiment.figure.iter().filter_map(|figure| figure.y.as_ref()));
        }
    }

    #[test]
    fn every_function_computes_a_quantity_of_a_study_and_every_name_is_a_function() {
        let functions = analytic::names();
        let unique: BTreeSet<String> = functions.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(functions.len(), unique.len(), "two functions have the same name");
        let mut named = BTreeSet::new();
        for (name, _) in STUDIES {
            named.extend(study(name).unwrap().measures.into_values().filter_map(|measure| measure.function));
        }
        assert_eq!(named, unique);
    }

    #[test]
    fn a_repeated_figure_is_the_one_that_it_repeats() {
        assert_eq!(find("thesis-fig13").unwrap().id, "slytherin-fig3a");
        let problem = find("slytherin-fig33a").unwrap_err();
        assert!(problem.help_text().unwrap().contains("slytherin-fig3a"), "{}", problem.render(false));
        assert!(find("pdq-fig1").is_err() || find("icon-fig24").is_err());
    }
}
