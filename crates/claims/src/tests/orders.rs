//! The operation for orders.

use super::*;

const ORDER: &str = r#"
    quantified_by = "none"
    expected = { op = "order", better = "lower", rank = [["new"], ["old"]] }
    tolerance = { reproduced = { min_fraction = 0.9 }, partly = { min_fraction = 0.6 } }
"#;

#[test]
fn an_order_is_the_share_of_comparisons_that_agree() {
    let claim = claim(ORDER);
    // At ten sweep points the first `good` agree.
    let points = || loads(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
    let share = |good: f64| {
        let of = move |subject: &str, point: &SweepPoint, _: &str| {
            let agrees = number(point, "load") < good / 10.0 + 0.05;
            Some(vec![if (subject == "new") == agrees { 1.0 } else { 2.0 }])
        };
        let judgement = judged(&claim, points(), &of);
        assert!((judgement.measured.unwrap() - good / 10.0).abs() < 1e-9);
        judgement
    };
    assert_eq!(share(10.0).verdict, Verdict::Reproduced);
    assert_eq!(share(9.0).verdict, Verdict::Reproduced);
    let partly = share(7.0);
    assert_eq!((partly.verdict, partly.published.as_str()), (Verdict::Partly, "qualitative"));
    assert!(
        partly.reason.contains("10 comparisons") && partly.reason.contains("new and old at load 0.8"),
        "{}",
        partly.reason
    );
    assert_eq!(share(5.0).verdict, Verdict::NotReproduced);
}

#[test]
fn ties_are_left_out() {
    let claim = claim(ORDER);
    // Within 2 % at the first two loads, zero on both sides at the third.
    let judge = |new: f64, at: &[f64]| {
        let of = move |subject: &str, point: &SweepPoint, _: &str| {
            Some(vec![match number(point, "load") {
                load if load < 0.25 => {
                    if subject == "new" {
                        102.0
                    } else {
                        100.0
                    }
                }
                load if load < 0.35 => 0.0,
                _ => {
                    if subject == "new" {
                        new
                    } else {
                        10.0
                    }
                }
            }])
        };
        judged(&claim, loads(at), &of)
    };
    let agrees = judge(5.0, &[0.1, 0.2, 0.3, 0.4]);
    assert_eq!((agrees.verdict, agrees.measured), (Verdict::Reproduced, Some(1.0)));
    assert!(agrees.reason.contains("4 comparisons, 3 of them tied and left out"), "{}", agrees.reason);
    assert_eq!(judge(20.0, &[0.1, 0.2, 0.3, 0.4]).measured, Some(0.0));
    // Where there is nothing but ties there is no order.
    let ties = judge(5.0, &[0.1, 0.2, 0.3]);
    assert_eq!((ties.verdict, ties.measured), (Verdict::NotReproduced, Some(0.0)));
    assert!(ties.reason.contains("new before old, all of which are ties, is 0"), "{}", ties.reason);
    // Nobody loses anything anywhere: that says nothing of an order.
    assert_eq!(judge(5.0, &[0.3]).verdict, Verdict::NotRun);
}

#[test]
fn a_tie_is_within_two_per_cent() {
    let claim = claim(ORDER);
    let share = |old: f64| with(&claim, &[("new", &[100.0]), ("old", &[old])]).measured;
    assert_eq!([102.0, 102.1, 98.0, 97.9].map(share), [0.0, 1.0, 0.0, 0.0].map(Some));
    let endless = |new: f64, old: f64| with(&claim, &[("new", &[new]), ("old", &[old])]);
    assert_eq!(endless(5.0, f64::INFINITY).verdict, Verdict::Reproduced);
    assert!(endless(f64::INFINITY, f64::INFINITY).reason.contains("all of which are ties"));
}

/// That one pair keeps the order does not make up for another one.
#[test]
fn each_pair_counts_by_itself_and_the_worst_decides() {
    let claim = claim(&ORDER.replace("[[\"new\"], [\"old\"]]", "[[\"new\"], [\"old\"], [\"oldest\"]]"));
    let judge = |new: f64| with(&claim, &[("new", &[new]), ("old", &[2.0]), ("oldest", &[9.0])]);
    assert_eq!(judge(1.0).verdict, Verdict::Reproduced);
    let second = judge(3.0);
    assert_eq!((second.verdict, second.measured), (Verdict::NotReproduced, Some(0.0)));
    assert!(second.reason.starts_with("The share of comparisons with new before old is 0"), "{}", second.reason);
    // A pair that is zero everywhere is not compared, so that not all of the claim is judged.
    let none = with(&claim, &[("new", &[0.0]), ("old", &[0.0]), ("oldest", &[9.0])]);
    assert_eq!(none.verdict, Verdict::Partly);
    assert!(none.reason.contains("new and old are zero everywhere"), "{}", none.reason);
}

#[test]
fn each_quantity_counts_by_itself() {
    let claim = claim(&format!("{ORDER}\nmeasures = [\"p50\", \"p99\"]"));
    let judge = |median: f64| {
        let of = move |subject: &str, _: &SweepPoint, metric: &str| {
            Some(vec![if subject == "old" {
                2.0
            } else if metric == "p50" {
                median
            } else {
                1.0
            }])
        };
        judged(&claim, loads(&[0.2, 0.5, 0.8]), &of)
    };
    assert_eq!(judge(1.0).verdict, Verdict::Reproduced);
    let worse = judge(3.0);
    assert_eq!((worse.verdict, worse.measured), (Verdict::NotReproduced, Some(0.0)));
    assert!(worse.reason.contains("new before old in p50 is 0"), "{}", worse.reason);
}

/// At the highest of four loads other seeds might say the contrary, so that the share is 0.75 or 1.
#[test]
fn unclear_comparisons_make_the_interval() {
    let judge = |unclear: &[f64], keys: &str| {
        let of = |subject: &str, point: &SweepPoint, _: &str| {
            Some(match (subject, number(point, "load") > 0.75) {
                ("old", _) => vec![5.0; 3],
                (_, true) => unclear.to_vec(),
                (_, false) => vec![1.0, 1.1, 0.9],
            })
        };
        judged(&claim(&format!("{ORDER}\n{keys}")), loads(&[0.2, 0.4, 0.6, 0.8]), &of)
    };
    let ends = |judgement: &Judgement| (judgement.measured, judgement.low, judgement.high);
    let better = judge(&[1.0, 1.0, 9.0], "");
    assert_eq!((better.verdict, ends(&better)), (Verdict::Undecided, (Some(1.0), Some(0.75), Some(1.0))));
    assert!(
        better.reason.contains("straddles the bound 0.9 of reproduced; it is at least partly"),
        "{}",
        better.reason
    );
    let worse = judge(&[9.0, 9.0, 1.0], "");
    assert_eq!((worse.verdict, ends(&worse)), (Verdict::Undecided, (Some(0.75), Some(0.75), Some(1.0))));
    let clear = judge(&[9.0, 9.1, 8.9], "");
    assert_eq!((clear.verdict, ends(&clear)), (Verdict::Partly, (Some(0.75), None, None)));
    // No exception is allowed; but noise is none.
    let always = "invariant = true";
    assert_eq!(judge(&[9.0, 9.0, 1.0], always).verdict, Verdict::Undecided);
    assert_eq!(judge(&[9.0, 9.1, 8.9], always).verdict, Verdict::NotReproduced);
}

/// Seeds that differ by more than the schemes do not blur what is the same under each of them.
#[test]
fn comparisons_are_paired_by_seed() {
    let judgement = with(&claim(ORDER), &[("new", &[9.0, 90.0, 900.0]), ("old", &[10.0, 100.0, 1000.0])]);
    assert_eq!(judgement.verdict, Verdict::Undecided, "{}", judgement.reason);
    let judgement = with(&claim(ORDER), &[("new", &[9.0, 19.0, 29.1]), ("old", &[10.0, 20.0, 30.0])]);
    assert_eq!((judgement.verdict, judgement.low), (Verdict::Reproduced, None), "{}", judgement.reason);
}

/// Turning a strict order around turns reproduced into not reproduced.
#[test]
fn a_swapped_order_is_not_reproduced() {
    for better in ["lower", "higher"] {
        for values in [[1.0, 2.0], [3.0, 4.5], [0.01, 7.0]] {
            let rank = |first: &str, second: &str| {
                let rank = format!("rank = [[\"{first}\"], [\"{second}\"]]");
                claim(
                    &ORDER
                        .replace("\"lower\"", &format!("\"{better}\""))
                        .replace("rank = [[\"new\"], [\"old\"]]", &rank),
                )
            };
            let (good, bad) = if better == "lower" { (values[0], values[1]) } else { (values[1], values[0]) };
            let of = |subject: &str, point: &SweepPoint, _: &str| {
                let factor = 1.0 + number(point, "load");
                let value = factor * if subject == "new" { good } else { bad };
                Some(vec![value, value * 1.01, value * 0.99])
            };
            let judge = |claim: &Claim| judged(claim, loads(&[0.2, 0.5, 0.9]), &of).verdict;
            assert_eq!(judge(&rank("new", "old")), Verdict::Reproduced);
            assert_eq!(judge(&rank("old", "new")), Verdict::NotReproduced);
        }
    }
}

#[test]
fn workloads_and_quantities_can_be_ranked() {
    let workloads =
        ["light", "heavy"].map(|name| SweepPoint::from([("workload".to_owned(), Coordinate::Text(name.into()))]));
    let ranked = claim(&ORDER.replace("[[\"new\"], [\"old\"]]", "[[\"light\"], [\"heavy\"]], items = \"workload\""));
    let of = |subject: &str, point: &SweepPoint, _: &str| {
        let heavy = point["workload"] == Coordinate::Text("heavy".into());
        Some(vec![if subject == "new" && heavy {
            2.0
        } else if heavy {
            1.5
        } else {
            1.0
        }])
    };
    assert_eq!(judged(&ranked, workloads.to_vec(), &of).verdict, Verdict::Reproduced);
    let only_light = judged(&ranked, workloads[..1].to_vec(), &of);
    assert_eq!(only_light.verdict, Verdict::NotRun);

    let quantities = claim(&ORDER.replace("[[\"new\"], [\"old\"]]", "[[\"small\"], [\"large\"]], items = \"measure\""));
    let of = |_: &str, _: &SweepPoint, metric: &str| Some(vec![if metric == "small" { 1.0 } else { 2.0 }]);
    assert_eq!(judged(&quantities, loads(&[0.5]), &of).verdict, Verdict::Reproduced);
}

#[test]
fn an_order_with_someone_missing_is_at_most_partly() {
    let claim = claim(&ORDER.replace("[\"old\"]]", "[\"old\", \"older\"]]"));
    let judgement = with(&claim, &[("new", &[1.0]), ("old", &[2.0])]);
    assert_eq!((judgement.verdict, judgement.measured), (Verdict::Partly, Some(1.0)));
    assert!(judgement.reason.contains("not measured: older"), "{}", judgement.reason);
    assert_eq!(with(&claim, &[("new", &[3.0]), ("old", &[2.0])]).verdict, Verdict::NotReproduced);
    assert_eq!(with(&claim, &[("new", &[3.0])]).verdict, Verdict::NotRun);
}
