//! The operations of the language: ratios and values.

use super::*;

const RATIO: &str = r#"
    expected = { op = "ratio", value = 0.8, agg = "mean" }
    tolerance = { reproduced = { low = 0.7, high = 0.9 }, partly = { low = 0.0, high = 0.95 } }
"#;

fn verdict(claim: &Claim, values: &[(&str, &[f64])]) -> Verdict {
    with(claim, values).verdict
}

#[test]
fn a_ratio_is_reproduced_partly_or_not() {
    let claim = claim(RATIO);
    let old: &[f64] = &[10.0, 12.0, 11.0];
    assert_eq!(verdict(&claim, &[("new", &[8.0, 9.6, 8.8]), ("old", old)]), Verdict::Reproduced);
    assert_eq!(verdict(&claim, &[("new", &[9.2, 11.04, 10.12]), ("old", old)]), Verdict::Partly);
    assert_eq!(verdict(&claim, &[("new", &[12.0, 14.4, 13.2]), ("old", old)]), Verdict::NotReproduced);
    let missing = with(&claim, &[("new", &[8.0, 9.0])]);
    assert_eq!((missing.verdict, missing.reason.as_str()), (Verdict::NotRun, "old has not been measured."));
}

/// The seeds differ by a factor of three, but not their ratios: paired, the interval is a point.
#[test]
fn ratios_are_paired_by_seed() {
    let judgement = with(&claim(RATIO), &[("new", &[4.0, 8.0, 12.0]), ("old", &[5.0, 10.0, 15.0])]);
    assert_eq!(judgement.verdict, Verdict::Reproduced);
    let near = |value: Option<f64>| (value.unwrap() - 0.8).abs() < 1e-9;
    assert!(near(judgement.measured) && near(judgement.low) && near(judgement.high), "{judgement:?}");
    assert_eq!(
        judgement.reason,
        "The mean ratio to old is 0.8 [0.8, 0.8], between 0.7 and 0.9 as asked; at 1 of 1 sweep point."
    );
}

#[test]
fn each_is_as_good_as_the_worst_point_and_best_names_the_best_one() {
    let of = |subject: &str, point: &SweepPoint, _: &str| {
        Some(vec![if subject == "new" { number(point, "load") } else { 1.0 }])
    };
    let judged_with = |agg: &str| {
        let claim = claim(&RATIO.replace("mean", agg));
        judged(&claim, loads(&[0.75, 0.8, 0.85, 0.92]), &of)
    };
    let each = judged_with("each");
    assert_eq!((each.verdict, each.measured), (Verdict::Partly, Some(0.92)));
    assert!(each.reason.starts_with("The ratio new to old at load 0.92 is 0.92, not at most 0.9"), "{}", each.reason);
    let best = judged_with("best");
    assert_eq!((best.verdict, best.measured), (Verdict::Reproduced, Some(0.75)));
    assert!(best.reason.starts_with("The best ratio new to old at load 0.75"), "{}", best.reason);
    let mean = judged_with("mean");
    assert!((mean.measured.unwrap() - 0.83).abs() < 1e-9);
}

#[test]
fn the_best_ratio_of_a_gain_above_one_is_the_largest() {
    let claim = claim(
        r#"expected = { op = "ratio", value = 1.3, agg = "best" }
           tolerance = { reproduced = { low = 1.17, high = 1.444 }, partly = { low = 1.068, high = inf } }"#,
    );
    let of = |subject: &str, point: &SweepPoint, _: &str| {
        Some(vec![if subject == "new" { 1.0 + number(point, "load") } else { 1.0 }])
    };
    let judgement = judged(&claim, loads(&[0.1, 0.3]), &of);
    assert_eq!((judgement.verdict, judgement.measured), (Verdict::Reproduced, Some(1.3)));
    let judgement = judged(&claim, loads(&[0.1, 0.9]), &of);
    assert_eq!(judgement.verdict, Verdict::Stronger, "more than claimed is stronger: {}", judgement.reason);
}

#[test]
fn every_baseline_counts_by_itself_if_the_claim_says_so() {
    let keys =
        format!("{}\nbaseline = [\"old\", \"older\"]", RATIO.replace("}\n    tol", ", per_baseline = true }\n    tol"));
    let values: &[(&str, &[f64])] = &[("new", &[8.0]), ("old", &[10.0]), ("older", &[8.6])];
    let each = with(&claim(&keys), values);
    assert_eq!((each.verdict, each.measured.map(|value| value > 0.81)), (Verdict::Partly, Some(true)));
    let together = with(&claim(&format!("{RATIO}\nbaseline = [\"old\", \"older\"]")), values);
    assert_eq!(together.verdict, Verdict::Reproduced);
    let missing = with(&claim(&keys), &values[..2]);
    assert_eq!(missing.verdict, Verdict::Partly, "it cannot be wholly reproduced");
    assert!(missing.reason.contains("not measured: older"), "{}", missing.reason);
}

#[test]
fn zero_over_zero_says_nothing_and_more_over_zero_is_infinite() {
    let claim = claim(
        r#"expected = { op = "ratio", agg = "each", high = 0.1 }
           tolerance = { reproduced = { low = 0.0, high = 0.1 }, partly = { low = 0.0, high = 0.5 } }"#,
    );
    let drops = |new: f64| {
        move |subject: &str, point: &SweepPoint, _: &str| {
            let busy = number(point, "load") > 0.5;
            Some(vec![if subject == "new" {
                new
            } else if busy {
                100.0
            } else {
                0.0
            }])
        }
    };
    let none = judged(&claim, loads(&[0.2, 0.8]), &drops(0.0));
    assert_eq!((none.verdict, none.measured), (Verdict::Reproduced, Some(0.0)));
    assert!(none.reason.contains("1 with zero on both sides say nothing"), "{}", none.reason);
    let some = judged(&claim, loads(&[0.2, 0.8]), &drops(1.0));
    assert_eq!((some.verdict, some.measured), (Verdict::NotReproduced, None));
    let empty = judged(&claim, loads(&[0.2]), &drops(0.0));
    assert_eq!(empty.verdict, Verdict::NotRun);
}

#[test]
fn a_claim_counts_only_its_own_points_and_says_how_many_there_are() {
    let claim = claim(&format!(
        "{RATIO}\nscenario = {{ ref = \"analytic\", loads = [0.4, 0.6, 0.8], workload = \"web-search\" }}"
    ));
    let mut points = Vec::new();
    for workload in ["web-search", "data-mining"] {
        for mut point in loads(&[0.2, 0.4, 0.8]) {
            point.insert("workload".into(), Coordinate::Text(workload.into()));
            points.push(point);
        }
    }
    let of = |subject: &str, point: &SweepPoint, _: &str| {
        let inside = number(point, "load") > 0.3 && point["workload"] == Coordinate::Text("web-search".into());
        Some(vec![if subject == "old" {
            1.0
        } else if inside {
            0.8
        } else {
            50.0
        }])
    };
    let judgement = judged(&claim, points, &of);
    assert_eq!(judgement.verdict, Verdict::Reproduced);
    assert!(judgement.reason.contains("at 2 of 3 sweep points"), "{}", judgement.reason);
    let elsewhere = judged(&claim, loads(&[0.5]), &of);
    assert_eq!(elsewhere.verdict, Verdict::NotRun);
    assert!(elsewhere.reason.starts_with("None of the places"), "{}", elsewhere.reason);
}

const VALUE: &str = r#"
    baseline = []
    metric = "fraction of packets"
    expected = { op = "value", value = 0.5, agg = "each" }
    tolerance = { reproduced = { low = 0.4, high = 1.0 }, partly = { low = 0.2, high = 1.0 } }
"#;

#[test]
fn a_value_is_reproduced_partly_or_not() {
    let claim = claim(VALUE);
    assert_eq!(verdict(&claim, &[("new", &[0.5, 0.51, 0.49])]), Verdict::Reproduced);
    assert_eq!(verdict(&claim, &[("new", &[0.3, 0.31, 0.29])]), Verdict::Partly);
    assert_eq!(verdict(&claim, &[("new", &[0.1, 0.11, 0.09])]), Verdict::NotReproduced);
    assert_eq!(verdict(&claim, &[("new", &[0.3, 0.5, 0.4])]), Verdict::Undecided, "it straddles");
    // A share does not leave 0 to 1, and neither does its interval.
    assert_eq!(verdict(&claim, &[("new", &[1.0, 0.9, 1.0])]), Verdict::Reproduced);
}

#[test]
fn a_quantity_may_be_a_quotient() {
    let claim = claim(
        r#"baseline = []
           measures = [{ of = "p99", over = "p50" }]
           expected = { op = "value", low = 5.0, high = 10.0, agg = "mean" }
           tolerance = { reproduced = { low = 3.5, high = 14.0 }, partly = { low = 2.0, high = 30.0 } }"#,
    );
    let of = |_: &str, _: &SweepPoint, metric: &str| {
        Some(if metric == "p99" { vec![70.0, 140.0, 35.0] } else { vec![10.0, 20.0, 5.0] })
    };
    let judgement = judged(&claim, loads(&[0.5]), &of);
    assert_eq!(judgement.verdict, Verdict::Reproduced);
    assert!((judgement.measured.unwrap() - 7.0).abs() < 1e-9 && (judgement.low.unwrap() - 7.0).abs() < 1e-9);
}

/// Without limits any number would do.
#[test]
fn a_claim_without_limits_is_not_judged() {
    for expected in [r#"{ op = "value", value = 1.0 }"#, r#"{ op = "ratio", value = 1.0, agg = "each" }"#] {
        let judgement = with(&claim(&format!("expected = {expected}")), &[("new", &[1.0]), ("old", &[1.0])]);
        assert_eq!(judgement.verdict, Verdict::NotRun);
        assert_eq!(judgement.reason, "The claim gives no limits to compare with.");
    }
}
