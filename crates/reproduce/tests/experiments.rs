//! Experiments made from run folders that no simulation made.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_claims::{Judgement, Verdict};
use tailcut_fixtures::{FakeRun, USUAL, fabricate};
use tailcut_lab::RunArguments;
use tailcut_report::{Annotations, write_results};
use tailcut_reproduce::{Reading, Reproduced, Scale, StudyRun, find, reproduce, study};
use tailcut_results::{Analysis, Measurements};

const SMALL: FakeRun = FakeRun { flows: 500, ..USUAL };
const SLYTHERIN: FakeRun = FakeRun { schemes: &["dctcp", "pias", "sjf", "slytherin"], ..SMALL };
const ICON: FakeRun = FakeRun { schemes: &["dctcp", "icon"], axes: &[], classes: &["long"], ..SMALL };

/// What an experiment comes to if its study measured what `fake` says.
fn made(id: &str, fake: &FakeRun, folder: &Path) -> (Reproduced, Measurements) {
    let experiment = find(id).unwrap();
    let study = study(&experiment.study).unwrap();
    let plan = study.plan(Scale::Quick, &Reading::default(), &RunArguments::default()).unwrap();
    let run_folder = folder.join("run");
    let info = fabricate(&run_folder, fake);
    let analysis = Analysis::of(&run_folder, &info, &|| false).unwrap();
    let results = write_results(&run_folder, &info, analysis, &Annotations::default(), &|| false).unwrap();
    let run = StudyRun {
        study: &study,
        scale: Scale::Quick,
        reading: &Reading::default(),
        plan: &plan,
        info: &info,
        folder: &run_folder,
        measurements: &results.measurements,
    };
    let reproduced = reproduce(experiment, &run, &BTreeMap::new(), &folder.join("out")).unwrap();
    (reproduced, results.measurements)
}

fn judgement<'a>(reproduced: &'a Reproduced, claim: &str) -> &'a Judgement {
    reproduced.judgements.iter().find(|judgement| judgement.id == claim).unwrap()
}

/// Names of the pictures that were drawn.
fn pictures(reproduced: &Reproduced) -> Vec<&str> {
    reproduced.pictures.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
}

#[test]
fn claims_are_judged_by_what_was_measured_and_a_page_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let (reproduced, measurements) = made("slytherin-fig3a", &SLYTHERIN, folder.path());
    let p99 = |scheme: &str, load: &str| {
        measurements.get(scheme, &[load.to_owned()], "short+incast", "fct_p99").unwrap().pooled.value
    };
    // The claim is about loads of 30 % and more, and all that were run are.
    let ratio = |load: &&str| p99("slytherin", load) / p99("pias", load);
    let mean = ["0.3", "0.6", "0.9"].iter().map(ratio).sum::<f64>() / 3.0;
    let judgement = judgement(&reproduced, "slytherin-tail-fct-vs-pias");
    assert_ne!(judgement.verdict, Verdict::NotRun, "{}", judgement.reason);
    assert!((judgement.measured.unwrap() - mean).abs() < 1e-12, "{judgement:?}");
    assert!(judgement.reason.contains("at 3 of 7 sweep points"), "{}", judgement.reason);
    assert_eq!(pictures(&reproduced), ["slytherin-fig3a.svg"]);
    assert_eq!(reproduced.undrawn, Vec::<String>::new());
    let page = std::fs::read_to_string(&reproduced.page).unwrap();
    for text in ["<svg", "slytherin-tail-fct-vs-pias", &judgement.measured_text(), "buffer of a port", "Fig 3"] {
        assert!(page.contains(text), "the page lacks {text}");
    }
}

/// Queues were sampled, of the loads that the document draws one was run, and the claims call SJF by another name.
#[test]
fn distributions_are_drawn_at_the_sweep_points_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let (reproduced, _) = made("slytherin-fig5", &SLYTHERIN, folder.path());
    assert_eq!((pictures(&reproduced), reproduced.undrawn.len()), (vec!["slytherin-fig5.svg"], 0));
    let picture = std::fs::read_to_string(&reproduced.pictures[0]).unwrap();
    assert!(picture.contains("load 0.6") && picture.contains("ideal-sjf"));
}

#[test]
fn what_was_not_recorded_is_not_drawn_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let (reproduced, _) = made("thesis-fig6", &ICON, folder.path());
    assert_eq!(pictures(&reproduced), Vec::<&str>::new());
    assert_eq!(reproduced.undrawn.len(), 2);
    assert!(reproduced.undrawn[0].starts_with("tcp: ") && reproduced.undrawn[0].contains("throughput.parquet"));
    let page = std::fs::read_to_string(&reproduced.page).unwrap();
    assert!(page.contains("Not drawn:") && page.contains("throughput.parquet"));
}

#[test]
fn quantities_of_functions_need_no_simulation() {
    let folder = tempfile::tempdir().unwrap();
    let (reproduced, _) = made("thesis-fig6", &ICON, folder.path());
    for claim in ["icon-pacing-gap-10p8us", "icon-eq-3p1-rate"] {
        let judgement = judgement(&reproduced, claim);
        assert_eq!(judgement.verdict, Verdict::Reproduced);
        assert!(judgement.reason.contains("by what was computed"), "{}", judgement.reason);
    }

    let folder = tempfile::tempdir().unwrap();
    let (reproduced, _) = made("spq-fig1", &SLYTHERIN, folder.path());
    assert_eq!(judgement(&reproduced, "spq-fig1-threshold-example").verdict, Verdict::Reproduced);
    assert_eq!(pictures(&reproduced), ["spq-fig1-network.svg"]);
}

/// A threshold in the name of a subject is no coordinate: claims and series of such subjects are about loads alone.
#[test]
fn a_subject_may_name_the_value_of_a_swept_parameter() {
    let folder = tempfile::tempdir().unwrap();
    let axes: &[(&str, &[&str])] =
        &[("port.marker.step.threshold", &["12.5%", "25%", "37.5%"]), ("workload.load", &["0.6", "0.9"])];
    let (reproduced, _) = made("slytherin-fig9", &FakeRun { schemes: &["slytherin"], axes, ..SMALL }, folder.path());
    let judgement = judgement(&reproduced, "slytherin-ecn-high-threshold-helps-tail");
    // Two pairs of thresholds at two loads.
    assert!(judgement.reason.contains("4 comparisons"), "{}", judgement.reason);
    assert!(judgement.reason.contains("at 2 of 4 sweep points"), "{}", judgement.reason);
    // The last figure has the threshold on its axis, so that it is drawn once for each load.
    assert_eq!(reproduced.undrawn, Vec::<String>::new());
    assert_eq!(pictures(&reproduced).len(), 4);
}

/// One subject names a value of the sweep and the other does not: the sweep stays on the axis, and each of its points
/// is compared with the one that is named.
#[test]
fn a_sweep_that_only_one_subject_names_stays_a_coordinate() {
    let folder = tempfile::tempdir().unwrap();
    let axes: &[(&str, &[&str])] =
        &[("workload.traffic.query.incast.degree", &["15"]), ("setting.loss", &["0", "0.01", "0.03"])];
    let fake = FakeRun { schemes: &["pdq", "rcp", "tcp"], axes, classes: &["query"], ..SMALL };
    let (reproduced, measurements) = made("pdq-loss", &fake, folder.path());
    let mean = |scheme: &str, loss: &str| {
        measurements.get(scheme, &["15".to_owned(), loss.to_owned()], "all", "fct_mean").unwrap().pooled.value
    };
    let lossy = judgement(&reproduced, "pdq-loss-6pct-12pct");
    assert!((lossy.measured.unwrap() - mean("pdq", "0.03") / mean("pdq", "0")).abs() < 1e-12, "{lossy:?}");
    // What a measure is divided by may be fixed at a value of the sweep, for each scheme by itself.
    let order = judgement(&reproduced, "pdq-loss-better-than-tcp");
    assert!(order.reason.contains("2 comparisons"), "{}", order.reason);
    assert_eq!((pictures(&reproduced).len(), reproduced.undrawn.len()), (2, 0));
}

/// Flows are compared with themselves under another scheme; those of a fabricated run are not the same.
#[test]
fn flows_that_are_not_the_same_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let axes: &[(&str, &[&str])] = &[("setting.network", &["fat-tree", "bcube", "jellyfish"])];
    let fake = FakeRun { schemes: &["pdq", "rcp"], axes, classes: &["permutation"], ..SMALL };
    let (reproduced, _) = made("pdq-fairness", &fake, folder.path());
    for claim in ["pdq-85-95pct-faster", "pdq-fairness-random-permutation"] {
        let judgement = judgement(&reproduced, claim);
        assert_eq!(judgement.verdict, Verdict::NotRun);
        assert!(judgement.reason.contains("did not have the same flows"), "{}", judgement.reason);
    }
    assert_eq!((pictures(&reproduced).len(), reproduced.undrawn.len()), (0, 1));
}

/// The parameter of which the largest value is asked is no coordinate, also in a picture.
#[test]
fn the_largest_value_of_a_sweep_is_a_quantity_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let axes: &[(&str, &[&str])] = &[
        ("workload.traffic.query.incast.degree", &["1", "4", "16"]),
        ("workload.traffic.query.deadline.exponential.mean", &["20ms", "40ms"]),
    ];
    let fake = FakeRun { schemes: &["pdq", "d3", "rcp", "tcp"], axes, classes: &["query"], ..SMALL };
    let (reproduced, _) = made("pdq-deadline-flows", &fake, folder.path());
    let judgement = judgement(&reproduced, "pdq-deadline-3x-d3");
    assert_ne!(judgement.verdict, Verdict::NotRun, "{}", judgement.reason);
    assert!(judgement.reason.contains("at 2 of 2 sweep points"), "{}", judgement.reason);
    // The deadlines that were met are drawn for each mean deadline, the two largest numbers against it.
    assert_eq!((pictures(&reproduced).len(), reproduced.undrawn.as_slice()), (4, [].as_slice()));
}
