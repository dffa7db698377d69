//! Comparisons of fabricated runs, and of a scheme with itself.

use std::path::Path;

use tailcut_fixtures::{FakeRun, USUAL, fabricate};
use tailcut_results::stats::Difference;

use super::*;

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

const SMALL: FakeRun = FakeRun { flows: 400, seeds: 3, schemes: &["pias", "dctcp"], ..USUAL };

fn side(folder: &Path, scheme: Option<&str>) -> Side {
    Side { folder: folder.to_owned(), scheme: scheme.map(str::to_owned) }
}

#[test]
fn a_run_is_compared_with_itself_and_scheme_with_scheme() {
    let folder = tempfile::tempdir().unwrap();
    fabricate(folder.path(), &SMALL).write(folder.path()).unwrap();
    let itself = compare(&side(folder.path(), None), &side(folder.path(), None), &Selection::default()).unwrap();
    assert_eq!(itself.rows.len(), 2 * 3 * 3 * USUAL_METRICS.len(), "schemes, loads, classes and metrics");
    assert!(itself.rows.iter().all(|row| row.ratio.method == Method::Paired && row.ratio.ratio == Some(1.0)));
    for row in &itself.rows {
        // No class has the 1000 flows of which ten lie above the 99th percentile.
        let thin = row.metric == "fct_p99";
        let expected = if thin { Difference::Unknown } else { Difference::NoDifference };
        assert_eq!(
            (row.ratio.difference, row.note.as_ref().is_some_and(|note| note.contains("it needs 1000"))),
            (expected, thin),
            "{row:?}"
        );
    }
    assert!(itself.to_table().contains("about 2.7 of these 54 rows"), "{}", itself.to_table());

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
    fabricate(one.path(), &SMALL).write(one.path()).unwrap();
    let elsewhere = FakeRun { axes: &[("workload.load", &["0.2"])], classes: &["rpc"], ..SMALL };
    fabricate(other.path(), &elsewhere).write(other.path()).unwrap();
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
    run.write(one.path()).unwrap();
    fabricate(other.path(), &plan).write(other.path()).unwrap();
    for point in &run.points {
        let mut summary = point.summary_in(other.path()).unwrap().unwrap();
        summary.engine.version = "0.2.0".into();
        let files = summary.files.clone();
        let files: Vec<&str> = files.keys().map(String::as_str).collect();
        summary.write(&point.folder_in(other.path()), &files).unwrap();
    }
    let compared = compare(&side(one.path(), None), &side(other.path(), None), &Selection::default()).unwrap();
    for part in ["different versions of the engine, 0.1.0 and 0.2.0", "rest on 2 seed(s)", "flows are censored in"] {
        assert!(compared.warnings.iter().any(|warning| warning.contains(part)), "{part}: {:?}", compared.warnings);
    }
}
