//! How numbers with intervals become verdicts.

use super::*;
use Verdict::{NotReproduced as No, Partly, Reproduced as Yes, Stronger, Undecided};

/// An effect: 0.8 of the old one is published, and less would be more of it.
const SMALLER: &str = r#"
    expected = { op = "ratio", value = 0.8, agg = "mean" }
    tolerance = { reproduced = { low = 0.7, high = 0.9 }, partly = { low = 0.0, high = 0.95 } }
"#;

/// The same for an effect above 1.
const LARGER: &str = r#"
    expected = { op = "ratio", value = 1.3, agg = "mean" }
    tolerance = { reproduced = { low = 1.2, high = 1.4 }, partly = { low = 1.07, high = inf } }
"#;

/// Two that are said to be alike.
const CLOSE: &str = r#"
    expected = { op = "ratio", low = 1.0, high = 1.07, agg = "mean" }
    tolerance = { reproduced = { low = 0.98, high = 1.09 }, partly = { low = 0.9, high = 1.3 } }
"#;

/// The verdict on ratios, one for each seed.
fn of_ratios(keys: &str, ratios: &[f64]) -> Verdict {
    judgement(keys, ratios).verdict
}

fn judgement(keys: &str, ratios: &[f64]) -> Judgement {
    let new: Vec<f64> = ratios.iter().map(|ratio| 10.0 * ratio).collect();
    with(&claim(keys), &[("new", &new), ("old", &vec![10.0; ratios.len()])])
}

/// One ratio under every seed, so that the interval is a point.
fn exactly(keys: &str, ratio: f64) -> Verdict {
    of_ratios(keys, &[ratio; 3])
}

#[test]
fn an_effect_beyond_the_published_one_is_stronger_on_its_own_side_only() {
    assert_eq!([0.5, 0.8, 0.93, 1.2].map(|ratio| exactly(SMALLER, ratio)), [Stronger, Yes, Partly, No]);
    assert_eq!([1.9, 1.3, 1.1, 0.5].map(|ratio| exactly(LARGER, ratio)), [Stronger, Yes, Partly, No]);
    let reason = judgement(SMALLER, &[0.5; 3]).reason;
    assert!(reason.contains("0.5 [0.5, 0.5], a stronger effect than between 0.7 and 0.9 as asked"), "{reason}");
}

#[test]
fn an_effect_is_stronger_only_with_its_whole_interval() {
    assert_eq!(of_ratios(SMALLER, &[0.49, 0.5, 0.51]), Stronger);
    // The interval ends within the bounds: the effect is there, and perhaps stronger.
    let perhaps = judgement(SMALLER, &[0.6, 0.66, 0.72]);
    assert!(perhaps.high > Some(0.7) && perhaps.high < Some(0.9), "{perhaps:?}");
    assert_eq!(perhaps.verdict, Yes);
    assert!(perhaps.reason.contains("between 0.7 and 0.9 as asked or a stronger effect"), "{}", perhaps.reason);
    // It reaches beyond both ends: perhaps there is hardly an effect.
    assert_eq!(of_ratios(SMALLER, &[0.4, 0.6, 0.9]), Undecided);
}

#[test]
fn a_claim_of_several_numbers_is_stronger_only_if_all_are() {
    let keys = SMALLER.replace("mean", "each");
    let judge = |at_high_load: f64| {
        let of = move |subject: &str, point: &SweepPoint, _: &str| {
            let own = if number(point, "load") < 0.5 { 0.5 } else { at_high_load };
            Some(vec![if subject == "new" { own } else { 1.0 }])
        };
        judged(&claim(&keys), loads(&[0.2, 0.8]), &of).verdict
    };
    assert_eq!([0.6, 0.8, 0.93].map(judge), [Stronger, Yes, Partly]);
}

#[test]
fn what_is_said_to_be_alike_is_never_stronger() {
    assert_eq!([1.0, 1.07, 0.92, 1.2, 0.5, 2.0].map(|ratio| exactly(CLOSE, ratio)), [Yes, Yes, Partly, Partly, No, No]);
}

#[test]
fn a_value_is_never_stronger() {
    let keys = r#"
        baseline = []
        expected = { op = "value", value = 5.0, agg = "mean" }
        tolerance = { reproduced = { low = 4.0, high = 6.0 }, partly = { low = 2.0, high = inf } }
    "#;
    let judge = |value: f64| with(&claim(keys), &[("new", &[value; 3])]).verdict;
    assert_eq!([5.0, 50.0, 1.0].map(judge), [Yes, Partly, No]);
}

#[test]
fn an_interval_that_crosses_a_bound_is_undecided_and_says_which() {
    for (ratios, bound) in [
        // Whether it is reproduced or partly is open.
        ([0.88, 0.9, 0.91], "straddles the bound 0.9 of reproduced; it is at least partly"),
        // Even whether it is partly is.
        ([0.7, 1.0, 0.8], "straddles the bound 0.9 of reproduced; at"),
        // It is not reproduced, and perhaps partly: the value is on either side of the bound.
        ([0.94, 0.938, 0.947], "straddles the bound 0.95 of partly"),
        ([0.949, 0.955, 0.952], "straddles the bound 0.95 of partly"),
    ] {
        let judgement = judgement(SMALLER, &ratios);
        assert_eq!(judgement.verdict, Undecided, "{}", judgement.reason);
        assert!(judgement.reason.contains(bound), "{}", judgement.reason);
    }
}

#[test]
fn partly_needs_the_whole_interval_too() {
    assert_eq!(of_ratios(SMALLER, &[0.929, 0.93, 0.931]), Partly);
}

/// A number that surely fails decides, whatever the others leave open.
#[test]
fn what_surely_fails_is_not_made_undecided_by_another_number() {
    let of = |subject: &str, point: &SweepPoint, _: &str| {
        Some(match (subject, number(point, "load") < 0.5) {
            ("old", _) => vec![1.0; 3],
            (_, true) => vec![0.85, 0.9, 0.95],
            (_, false) => vec![1.5; 3],
        })
    };
    assert_eq!(judged(&claim(&SMALLER.replace("mean", "each")), loads(&[0.2, 0.8]), &of).verdict, No);
}

/// Evidence in which a quantity of a subject is one sample.
struct One<F: Fn(&str, &str) -> Sample>(F, Vec<SweepPoint>);

impl<F: Fn(&str, &str) -> Sample> Evidence for One<F> {
    fn sweep_points(&self) -> &[SweepPoint] {
        &self.1
    }

    fn sample(&self, subject: &str, _: usize, metric: &str) -> Result<Sample, String> {
        Ok((self.0)(subject, metric))
    }

    fn series(&self, _: &str, _: usize, _: &str) -> Result<Vec<(f64, f64)>, String> {
        Err("none".into())
    }
}

#[test]
fn one_seed_has_no_interval_and_the_reason_says_so() {
    let of = |subject: &str, _: &str| match subject {
        "new" => Sample { by_seed: vec![(1, 8.0)], ..Sample::exact(8.0) },
        _ => Sample::exact(10.0),
    };
    let judgement = judge(&claim(SMALLER), &One(of, loads(&[0.5])), &|_| None);
    assert_eq!((judgement.verdict, judgement.low), (Yes, None));
    assert!(judgement.reason.ends_with("one seed, so no interval."), "{}", judgement.reason);
}

/// What tables refuse an interval has none here either, and decides nothing.
#[test]
fn thin_samples_are_undecided_whatever_their_value() {
    for (agg, value) in [("mean", 8.0), ("each", 8.0), ("best", 8.0), ("mean", 3.0), ("mean", 9.2), ("mean", 20.0)] {
        let claim = claim(&SMALLER.replace("mean", agg));
        let judged = |thin: bool| {
            let of = |subject: &str, _: &str| {
                let value = if subject == "new" { value } else { 10.0 };
                let note = thin.then(|| "594 flows are too few for an interval of the 99th percentile".to_owned());
                let by_seed = vec![(1, 0.99 * value), (2, 1.01 * value)];
                Sample { by_seed, note, thin, ..Sample::exact(value) }
            };
            judge(&claim, &One(of, loads(&[0.5])), &|_| None)
        };
        assert!(judged(false).verdict != Undecided && judged(false).low.is_some(), "{agg} {value}");
        let thin = judged(true);
        assert_eq!((thin.verdict, thin.measured, thin.low), (Undecided, Some(value / 10.0), None), "{agg}");
        assert!(thin.reason.contains("594 flows") && thin.reason.ends_with("so undecided."), "{}", thin.reason);
    }
}

/// A sentence of which one half rests on too few flows is undecided, however clear the other half is.
#[test]
fn a_finding_of_several_parts_is_as_thin_as_one_of_them() {
    let judge = |thin: bool| {
        let of = |_: &str, metric: &str| {
            let is_median = metric.starts_with("p50");
            let value = if is_median { 50.0 } else { 3.5 };
            let by_seed = vec![(1, 0.99 * value), (2, 1.01 * value)];
            Sample { by_seed, thin: thin && is_median, ..Sample::exact(value) }
        };
        judge(known("resqueue-fct-100us-vs-3-4ms"), &One(of, loads(&[0.5, 0.8])), &|_| None).verdict
    };
    assert_eq!([judge(false), judge(true)], [Yes, Undecided]);
}

const NEVER: &str = r#"
    baseline = []
    invariant = true
    expected = { op = "value", value = 0.0, agg = "each" }
    tolerance = { reproduced = { low = 0.0, high = 0.0 }, partly = { low = 0.0, high = 100.0 } }
"#;

#[test]
fn one_counterexample_refutes_what_is_never_said_to_happen() {
    let judge = |seeds: &[f64]| with(&claim(NEVER), &[("new", seeds)]);
    assert_eq!(judge(&[0.0, 0.0, 0.0]).verdict, Yes);
    // The interval of the mean holds zero, and the bounds for partly would hold it all: what was seen was seen.
    let once = judge(&[0.0, 0.0, 1.0]);
    assert_eq!((once.verdict, once.low), (No, None), "{}", once.reason);
    // Without the word it would be open.
    let ordinary = with(&claim(&NEVER.replace("true", "false")), &[("new", &[0.0, 0.0, 1.0])]);
    assert_eq!(ordinary.verdict, Undecided, "{}", ordinary.reason);
    let partly = with(&claim(&NEVER.replace("true", "false")), &[("new", &[5.0, 5.0, 5.0])]);
    assert_eq!(partly.verdict, Partly);
}

#[test]
fn an_invariant_of_ratios_allows_no_place_without_it() {
    let keys = r#"
        invariant = true
        expected = { op = "ratio", high = 1.0, agg = "each" }
        tolerance = { reproduced = { high = 1.0 }, partly = { high = 1.5 } }
    "#;
    let judge = |at_high_load: f64| {
        let of = move |subject: &str, point: &SweepPoint, _: &str| {
            let own = if number(point, "load") < 0.5 { 0.5 } else { at_high_load };
            Some(if subject == "new" { vec![0.9 * own, own, 1.1 * own] } else { vec![1.0; 3] })
        };
        judged(&claim(keys), loads(&[0.2, 0.8]), &of).verdict
    };
    assert_eq!([0.99, 1.01, 1.4].map(judge), [Yes, No, No]);
}

#[test]
fn a_claim_at_most_partly_measured_is_at_most_partly() {
    for keys in [SMALLER, &SMALLER.replace("0.7", "0.1")] {
        let keys = format!("{keys}\nbaseline = [\"old\", \"older\"]");
        let judgement = with(&claim(&keys), &[("new", &[5.0; 3]), ("old", &[10.0; 3])]);
        assert_eq!(judgement.verdict, Partly, "{}", judgement.reason);
    }
}
