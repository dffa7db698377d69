//! The operation for shapes of curves.

use super::*;

/// A claim about the shape of `new`.
fn shape(form: &str, keys: &str, reproduced: &str, partly: &str) -> Claim {
    claim(&format!(
        "quantified_by = \"none\"\n\
         expected = {{ op = \"shape\", form = \"{form}\", {} {keys} }}\n\
         tolerance = {{ reproduced = {{ {reproduced} }}, partly = {{ {partly} }} }}",
        if keys.contains("series") { "x = \"load\"," } else { "series = [\"new\"], x = \"load\"," }
    ))
}

/// Judged where `new` follows a function of the load, at loads of 1 to 8 tenths.
fn drawn(claim: &Claim, new: impl Fn(f64) -> f64) -> Judgement {
    let of = |subject: &str, point: &SweepPoint, _: &str| {
        let load = number(point, "load");
        Some(vec![if subject == "new" { new(load) } else { 1.0 }])
    };
    judged(claim, loads(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]), &of)
}

fn verdicts<const N: usize>(claim: &Claim, curves: [&dyn Fn(f64) -> f64; N]) -> [Verdict; N] {
    curves.map(|curve| drawn(claim, curve).verdict)
}

use Verdict::{NotReproduced as No, NotRun, Partly, Reproduced as Yes, Undecided};

#[test]
fn rising_and_falling_are_rank_correlations() {
    let bumpy = |x: f64| if x > 0.35 && x < 0.75 { 1.1 - x } else { x };
    let rising = shape("increasing", "", "min_spearman = 0.9", "min_spearman = 0.5");
    assert_eq!(verdicts(&rising, [&|x| x * x, &bumpy, &|x| -x, &|_| 1.0]), [Yes, Partly, No, No]);
    let falling = shape("decreasing", "", "min_spearman = 0.9", "min_spearman = 0.5");
    assert_eq!(verdicts(&falling, [&|x| 1.0 / x, &|x| -bumpy(x), &|x| x]), [Yes, Partly, No]);
    let one = judged(&rising, loads(&[0.5]), &|_, _, _| Some(vec![1.0]));
    assert_eq!(one.verdict, NotRun);
    assert!(one.reason.contains("needs at least 2 values of load"), "{}", one.reason);
}

#[test]
fn curves_of_zeros_neither_rise_nor_fall() {
    let rising = shape("increasing", "series = [\"new\", \"old\"]", "min_spearman = 0.9", "min_spearman = 0.5");
    let one_is_zero = |subject: &str, point: &SweepPoint, _: &str| {
        Some(vec![if subject == "new" { 0.0 } else { number(point, "load") }])
    };
    let judgement = judged(&rising, loads(&[0.1, 0.2, 0.3, 0.4]), &one_is_zero);
    assert_eq!(judgement.verdict, Yes, "{}", judgement.reason);
    let zeros = judged(&rising, loads(&[0.1, 0.2, 0.3, 0.4]), &|_, _, _| Some(vec![0.0]));
    assert_eq!(zeros.verdict, NotRun);
    assert!(zeros.reason.contains("every curve is zero everywhere"), "{}", zeros.reason);
}

#[test]
fn a_shape_that_depends_on_the_seeds_is_undecided() {
    let rising = shape("increasing", "", "min_spearman = 0.9", "min_spearman = 0.5");
    let of = |_: &str, point: &SweepPoint, _: &str| {
        let x = number(point, "load");
        Some(vec![x, x, 3.0 - 5.0 * x])
    };
    let judgement = judged(&rising, loads(&[0.1, 0.2, 0.3, 0.4]), &of);
    assert_eq!(judgement.verdict, Undecided);
    assert!(judgement.reason.contains("straddles"), "{}", judgement.reason);
}

#[test]
fn the_worst_curve_decides() {
    let claim = shape("increasing", "series = [\"new\", \"old\"]", "min_spearman = 0.9", "min_spearman = 0.5");
    let judgement = drawn(&claim, |x| x);
    assert_eq!((judgement.verdict, judgement.measured), (No, Some(0.0)));
    assert!(judgement.reason.contains("of old"), "{}", judgement.reason);
}

#[test]
fn ratios_and_gains_are_formed_from_samples() {
    let ratio = shape("increasing", "series = [\"old/new\"]", "min_spearman = 0.9", "min_spearman = 0.5");
    assert_eq!(verdicts(&ratio, [&|x| 1.0 / x, &|x| x]), [Yes, No]);
    let gain = shape("increasing", "series = [\"gain\"]", "min_spearman = 0.9", "min_spearman = 0.5");
    assert_eq!(verdicts(&gain, [&|x| 1.0 - x, &|x| x]), [Yes, No]);
    // A subject may have a slash in its name.
    let mut named = shape("increasing", "series = [\"old/new\"]", "min_spearman = 0.9", "min_spearman = 0.5");
    named.subject = "old/new".into();
    let of = |subject: &str, point: &SweepPoint, _: &str| (subject == "old/new").then(|| vec![number(point, "load")]);
    assert_eq!(judged(&named, loads(&[0.1, 0.2]), &of).verdict, Yes);
}

#[test]
fn each_coordinate_and_each_quantity_counts_by_itself() {
    let mut claim = shape("increasing", "", "min_spearman = 0.9", "min_spearman = 0.4");
    if let Expected::Shape(shape) = &mut claim.expected {
        shape.x = OneOrMany::Many(vec!["load".into(), "degree".into()]);
    }
    let mut points = Vec::new();
    for degree in [24.0, 32.0, 40.0] {
        for mut point in loads(&[0.2, 0.5, 0.8]) {
            point.insert("degree".into(), Coordinate::Number(degree));
            points.push(point);
        }
    }
    let both = |_: &str, point: &SweepPoint, _: &str| Some(vec![number(point, "load") * number(point, "degree")]);
    assert_eq!(judged(&claim, points.clone(), &both).verdict, Yes);
    let one = |_: &str, point: &SweepPoint, _: &str| Some(vec![number(point, "load")]);
    let judgement = judged(&claim, points, &one);
    assert_eq!((judgement.verdict, judgement.measured), (No, Some(0.0)));
    assert!(judgement.reason.starts_with("The rank correlation of new with degree is 0"), "{}", judgement.reason);
    // Along one of the two it was not measured.
    let half = drawn(&claim, |load| load);
    assert_eq!(half.verdict, Partly);
    assert!(half.reason.contains("needs at least 2 values of degree"), "{}", half.reason);

    let mut claim = shape("increasing", "", "min_spearman = 0.9", "min_spearman = 0.4");
    claim.measures = ["p50", "p99"].map(|name| Measure::Plain(name.into())).to_vec();
    let of = |_: &str, point: &SweepPoint, metric: &str| {
        let load = number(point, "load");
        Some(vec![if metric == "p50" { -load } else { load }])
    };
    let judgement = judged(&claim, loads(&[0.2, 0.5, 0.8]), &of);
    assert_eq!((judgement.verdict, judgement.measured), (No, Some(-1.0)));
    assert!(judgement.reason.contains("of new in p50 with load is -1"), "{}", judgement.reason);
}
