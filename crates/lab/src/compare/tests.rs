//! Comparisons of fabricated runs, and of a scheme with itself.

use std::path::Path;

use tailcut_base::{Seeds, Stream};

use tailcut_fixtures::{FakeRun, USUAL, fabricate};
use tailcut_results::PointSummary;
use tailcut_results::stats::nearest_rank;

use super::*;
use crate::queueing::MM1;

#[test]
fn a_side_is_a_folder_and_perhaps_a_scheme() {
    let side = |text: &str| text.parse::<Side>().map(|side| (side.folder.display().to_string(), side.scheme));
    assert_eq!(side("runs/tail"), Ok(("runs/tail".into(), None)));
    assert_eq!(side("runs/tail:dctcp"), Ok(("runs/tail".into(), Some("dctcp".into()))));
    assert_eq!(side("runs/tail+load=0.5:slytherin@shallow").unwrap().1.as_deref(), Some("slytherin@shallow"));
    assert!(side("").is_err());
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("a:b");
    std::fs::create_dir(&odd).unwrap();
    assert_eq!(side(odd.to_str().unwrap()), Ok((odd.display().to_string(), None)), "a folder with a colon");
}

/// Worked out by hand from the formulas and a table of Student's t.
#[test]
fn intervals_are_those_of_students_t_and_of_welch() {
    let (a, b) = ([10.0, 20.0, 40.0], [11.0, 24.0, 42.0]);
    // Means 23.333 and 25.667; differences of shares 0, 0.077922, -0.077922; t = 4.3027.
    let paired = ratio_of_pairs(&a, &b);
    let close = |x: Option<f64>, y: f64| (x.unwrap() - y).abs() < 1e-3 * y;
    assert!(close(paired.ratio, 1.1) && close(paired.low, 0.90641) && close(paired.high, 1.33493), "{paired:?}");
    assert_eq!(paired.difference, Difference::NoDifference);
    // Squared errors of the means, as shares: 0.142857 and 0.122618; 3.9769 degrees of freedom, t = 2.7826.
    let unpaired = ratio_of_samples(&a, &b);
    assert!(
        close(unpaired.ratio, 1.1) && close(unpaired.low, 0.26226) && close(unpaired.high, 4.61369),
        "{unpaired:?}"
    );
    assert_eq!(ratio_of_pairs(&[10.0, 10.5, 9.5], &[8.0, 8.5, 7.6]).difference, Difference::Lower);
    assert_eq!(ratio_of_samples(&[10.0, 10.5, 9.5], &[18.0, 18.5, 17.6]).difference, Difference::Higher);
}

#[test]
fn the_answer_is_the_same_whichever_side_is_first() {
    let (a, b) = ([3.0, 5.0, 4.0, 6.0], [4.0, 4.0, 7.0, 9.0]);
    for judge in [ratio_of_pairs, ratio_of_samples] {
        let (one, other) = (judge(&a, &b), judge(&b, &a));
        assert!((one.ratio.unwrap() * other.ratio.unwrap() - 1.0).abs() < 1e-12);
        assert!((one.low.unwrap() * other.high.unwrap() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn zeros_and_single_seeds_are_not_guessed_at() {
    let none = ratio_of_pairs(&[0.0, 0.0], &[0.0, 0.0]);
    assert_eq!((none.ratio, none.difference), (None, Difference::NoDifference));
    let drops = ratio_of_pairs(&[10.0, 12.0, 11.0], &[0.0, 0.0, 0.0]);
    assert_eq!((drops.ratio, drops.difference), (Some(0.0), Difference::Lower));
    let appear = ratio_of_samples(&[0.0, 0.0, 0.0], &[10.0, 12.0, 11.0]);
    assert_eq!((appear.ratio, appear.difference), (None, Difference::Higher));
    let single = ratio_of_pairs(&[10.0], &[12.0]);
    assert_eq!((single.low, single.difference), (None, Difference::Unknown));
    assert!((single.ratio.unwrap() - 1.2).abs() < 1e-12);
    assert_eq!(ratio_of_samples(&[10.0, 10.0], &[10.0, 10.0]).difference, Difference::NoDifference);
    assert_eq!(ratio_of_samples(&[], &[1.0]).difference, Difference::Unknown);
}

/// The mean and the 99th percentile of the sojourn times of each of `seeds` runs of M/M/1.
fn sojourns(seeds: usize, stream: &mut Stream) -> [Vec<f64>; 2] {
    let runs: Vec<Vec<f64>> = (0..seeds).map(|_| MM1 { load: 0.7 }.sojourns(500, stream)).collect();
    let mean = |run: &Vec<f64>| run.iter().sum::<f64>() / run.len() as f64;
    [runs.iter().map(mean).collect(), runs.iter().map(|run| nearest_rank(run, 990).unwrap()).collect()]
}

#[test]
fn a_scheme_compared_with_itself_under_other_seeds_does_not_differ() {
    for seeds in [3, 5] {
        let mut stream = Seeds::new(1).stream("itself", seeds as u64);
        let mut same = [0; 2];
        for _ in 0..1_000 {
            let (a, b) = (sojourns(seeds, &mut stream), sojourns(seeds, &mut stream));
            for (same, (a, b)) in same.iter_mut().zip(a.iter().zip(&b)) {
                *same += usize::from(ratio_of_samples(a, b).difference == Difference::NoDifference);
            }
        }
        assert!(same.iter().all(|&same| same >= 940), "mean and p99 of {seeds} seeds: {same:?} of 1000");
    }
}

/// A scheme that makes the FCT of every flow 5 % longer, on flows that differ much between seeds.
#[test]
fn pairs_find_a_difference_that_independent_samples_do_not() {
    let mut stream = Seeds::new(2).stream("pairs", 0);
    let a: Vec<f64> = (0..5).map(|_| 100.0 * (0.3 * stream.normal()).exp()).collect();
    let b: Vec<f64> = a.iter().map(|a| a * 1.05 * (0.01 * stream.normal()).exp()).collect();
    assert_eq!(ratio_of_pairs(&a, &b).difference, Difference::Higher);
    assert_eq!(ratio_of_samples(&a, &b).difference, Difference::NoDifference);
}

const SMALL: FakeRun = FakeRun { flows: 400, seeds: 3, schemes: &["pias", "dctcp"], ..USUAL };

fn side(folder: &Path, scheme: Option<&str>) -> Side {
    Side { folder: folder.to_owned(), scheme: scheme.map(str::to_owned) }
}

#[test]
fn a_run_is_compared_with_itself_and_scheme_with_scheme() {
    let folder = tempfile::tempdir().unwrap();
    fabricate(folder.path(), &SMALL).write(&folder.path().join("run.json")).unwrap();
    let itself = compare(&side(folder.path(), None), &side(folder.path(), None), &Selection::default()).unwrap();
    assert_eq!(itself.rows.len(), 2 * 3 * 3 * USUAL_METRICS.len(), "schemes, loads, classes and metrics");
    assert!(itself.rows.iter().all(|row| row.ratio.method == Method::Paired && row.ratio.ratio == Some(1.0)));
    assert!(itself.rows.iter().all(|row| row.ratio.difference == Difference::NoDifference));
    assert!(itself.to_table().contains("about 3.6 of these 72 rows"), "{}", itself.to_table());

    let selection = Selection { metrics: vec!["fct_mean".into()], classes: vec!["all".into()] };
    let schemes = compare(&side(folder.path(), Some("pias")), &side(folder.path(), Some("dctcp")), &selection).unwrap();
    assert_eq!(schemes.rows.len(), 3);
    let first = &schemes.rows[0];
    assert_eq!((first.scheme_a.as_str(), first.scheme_b.as_str(), first.values[0].as_str()), ("pias", "dctcp", "0.3"));
    // Fabricated schemes draw their own sizes.
    assert_eq!((first.ratio.method, first.seeds_a, first.seeds_b), (Method::Unpaired, 3, 3));
    assert_eq!(schemes.rows[2].ratio.difference, Difference::Higher, "{:?}", schemes.rows[2]);
    assert_eq!(schemes.to_csv().lines().count(), 4);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let (one, other, empty) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fabricate(one.path(), &SMALL).write(&one.path().join("run.json")).unwrap();
    let elsewhere = FakeRun { axes: &[("workload.load", &["0.2"])], classes: &["rpc"], ..SMALL };
    fabricate(other.path(), &elsewhere).write(&other.path().join("run.json")).unwrap();
    let (a, b) = (side(one.path(), None), side(other.path(), None));
    let refusal = |a: &Side, b: &Side, metric: &str, class: &str| {
        let list = |name: &str| if name.is_empty() { Vec::new() } else { vec![name.to_owned()] };
        let selection = Selection { metrics: list(metric), classes: list(class) };
        let problem = compare(a, b, &selection).unwrap_err();
        format!("{} ({})", problem.message(), problem.help_text().unwrap_or_default())
    };
    for (a, b, metric, class, part) in [
        (&a, &b, "", "", "no traffic class in common"),
        (&a, &b, "", "all", "no swept values in common"),
        (&a, &b, "", "short", "do not both have a class `short`"),
        (&a, &a, "fct_p98", "", "there is no metric `fct_p98`"),
        (&a, &a, "queue_mean", "short", "no common point has queue_mean of short"),
        (&a, &side(empty.path(), None), "", "", "is no run folder"),
        (&a, &side(one.path(), Some("dctpc")), "", "", "did you mean `dctcp`?"),
    ] {
        let shown = refusal(a, b, metric, class);
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn versions_few_seeds_and_censored_flows_are_warned_of() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plan = FakeRun { seeds: 2, schemes: &["slytherin", "pias", "dctcp", "icon"], ..SMALL };
    let run = fabricate(one.path(), &plan);
    run.write(&one.path().join("run.json")).unwrap();
    fabricate(other.path(), &plan).write(&other.path().join("run.json")).unwrap();
    for point in &run.points {
        let path = other.path().join("points").join(&point.key).join("summary.json");
        let mut summary = PointSummary::read(&path).unwrap();
        summary.engine.version = "0.2.0".into();
        summary.write(&path).unwrap();
    }
    let compared = compare(&side(one.path(), None), &side(other.path(), None), &Selection::default()).unwrap();
    for part in ["different versions of the engine, 0.1.0 and 0.2.0", "rest on 2 seed(s)", "flows are censored in"] {
        assert!(compared.warnings.iter().any(|warning| warning.contains(part)), "{part}: {:?}", compared.warnings);
    }
}
