//! Shapes of curves.

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
    let of = |subject: &str, place: &Place, _: &str| {
        let load = number(place, "load");
        Some(vec![if subject == "new" { new(load) } else { 1.0 }])
    };
    judged(claim, loads(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]), &of)
}

fn verdicts<const N: usize>(claim: &Claim, curves: [&dyn Fn(f64) -> f64; N]) -> [Verdict; N] {
    curves.map(|curve| drawn(claim, curve).verdict)
}

use Verdict::{NotReproduced as No, NotRun, Partly, Reproduced as Yes};

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
fn a_shape_that_depends_on_the_seeds_straddles() {
    let rising = shape("increasing", "", "min_spearman = 0.9", "min_spearman = 0.5");
    let of = |_: &str, place: &Place, _: &str| {
        let x = number(place, "load");
        Some(vec![x, x, 3.0 - 5.0 * x])
    };
    let judgement = judged(&rising, loads(&[0.1, 0.2, 0.3, 0.4]), &of);
    assert_eq!(judgement.verdict, Partly);
    assert!(judgement.reason.contains("straddles"), "{}", judgement.reason);
}

#[test]
fn the_worst_curve_decides_and_a_flat_one_must_be_flat() {
    let claim = shape("increasing", "series = [\"new\", \"old\"]", "min_spearman = 0.9", "min_spearman = 0.5");
    let judgement = drawn(&claim, |x| x);
    assert_eq!((judgement.verdict, judgement.measured), (No, Some(0.0)));
    assert!(judgement.reason.contains("of old"), "{}", judgement.reason);
    let claim = shape("increasing", "series = [\"new\"], flat = [\"old\"]", "min_spearman = 0.9", "min_spearman = 0.5");
    assert_eq!(drawn(&claim, |x| x).verdict, Yes);
    let claim = shape("increasing", "series = [\"new\"], flat = [\"new\"]", "min_spearman = 0.9", "min_spearman = 0.5");
    let steep = drawn(&claim, |x| x);
    assert_eq!(steep.verdict, No);
    assert!(steep.reason.contains("called flat"), "{}", steep.reason);
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
    let of = |subject: &str, place: &Place, _: &str| (subject == "old/new").then(|| vec![number(place, "load")]);
    assert_eq!(judged(&named, loads(&[0.1, 0.2]), &of).verdict, Yes);
}

#[test]
fn quantities_can_be_the_x() {
    let mut claim = shape("increasing", "", "min_spearman = 0.9", "min_spearman = 0.5");
    claim.measures = ["p9", "p99", "p99.9"].map(|name| Measure::Plain(name.into())).to_vec();
    if let Expected::Shape(shape) = &mut claim.expected {
        shape.x = OneOrMany::One("statistic".into());
    }
    let of = |_: &str, _: &Place, metric: &str| Some(vec![metric.len() as f64]);
    assert_eq!(judged(&claim, loads(&[0.5]), &of).verdict, Yes);
}

#[test]
fn two_coordinates_are_looked_along_both_ways() {
    let mut claim = shape("increasing", "", "min_spearman = 0.9", "min_spearman = 0.4");
    if let Expected::Shape(shape) = &mut claim.expected {
        shape.x = OneOrMany::Many(vec!["load".into(), "degree".into()]);
    }
    let mut places = Vec::new();
    for degree in [24.0, 32.0, 40.0] {
        for mut place in loads(&[0.2, 0.5, 0.8]) {
            place.insert("degree".into(), Coordinate::Number(degree));
            places.push(place);
        }
    }
    let both = |_: &str, place: &Place, _: &str| Some(vec![number(place, "load") * number(place, "degree")]);
    assert_eq!(judged(&claim, places.clone(), &both).verdict, Yes);
    let one = |_: &str, place: &Place, _: &str| Some(vec![number(place, "load")]);
    let judgement = judged(&claim, places, &one);
    assert_eq!((judgement.verdict, judgement.measured), (Partly, Some(0.5)));
}

#[test]
fn convex_is_ever_steeper() {
    let claim = shape("convex-increasing", "", "min_slope_ratio = 1.5", "min_slope_ratio = 1.0");
    assert_eq!(verdicts(&claim, [&|x| x * x, &|x| x + 0.1 * x * x, &f64::sqrt, &|x| -x * x]), [Yes, Partly, No, No]);
}

#[test]
fn flat_is_a_small_spread() {
    let claim = shape("flat", "", "max_spread = 1.15", "max_spread = 1.4");
    assert_eq!(verdicts(&claim, [&|x| 1.0 + 0.1 * x, &|x| 1.0 + 0.4 * x, &|x| x]), [Yes, Partly, No]);
    let middle = shape("flat-middle", "", "max_spread = 1.3", "max_spread = 2.0");
    let ends = |x: f64| if !(0.15..0.75).contains(&x) { 9.0 } else { 1.0 + 0.1 * x };
    assert_eq!(verdicts(&middle, [&ends, &|x| 1.0 + x, &|x| x]), [Yes, Partly, No]);
}

#[test]
fn saturation_is_level_after_and_gains_before() {
    let claim = shape(
        "saturates",
        "at = 0.4",
        "max_change_after = 0.05, min_gain_before = 0.05",
        "max_change_after = 0.15, min_gain_before = 0.0",
    );
    let falls_to = |at: f64| move |x: f64| if x < at { 2.0 - x / at } else { 1.0 };
    assert_eq!(
        verdicts(&claim, [&falls_to(0.4), &falls_to(0.45), &falls_to(0.8), &|_| 1.0]),
        [Yes, Partly, No, Partly]
    );
    let elsewhere = shape("saturates", "at = 0.45", "max_change_after = 0.05", "max_change_after = 0.15");
    assert_eq!(drawn(&elsewhere, |_| 1.0).verdict, NotRun);
    let knee = shape(
        "saturates",
        "at = 0.5",
        "max_change_after = 0.05, knee_low = 0.3, knee_high = 0.6",
        "max_change_after = 0.15, knee_low = 0.2, knee_high = 0.8",
    );
    assert_eq!(verdicts(&knee, [&falls_to(0.5), &falls_to(0.2), &|_| 1.0]), [Yes, Partly, No]);
}

#[test]
fn separated_curves_keep_their_distance() {
    let mut claim = shape("separated", "min_gap = 0.05", "min_fraction = 0.95", "min_fraction = 0.7");
    claim.measures = ["10", "50", "100"].map(|name| Measure::Plain(name.into())).to_vec();
    let judge = |near: f64| {
        let of = move |_: &str, place: &Place, metric: &str| {
            let size: f64 = metric.parse().unwrap();
            Some(vec![if number(place, "load") < near { 1.0 } else { size }])
        };
        judged(&claim, loads(&[0.1, 0.2, 0.3, 0.4, 0.5]), &of).verdict
    };
    assert_eq!([0.0, 0.15, 0.35].map(judge), [Yes, Partly, No]);
}

#[test]
fn a_u_has_its_minimum_inside() {
    let claim = shape("u-shape", "inside = [0.3, 0.5]", "min_rise_ends = 0.05", "min_rise_ends = 0.01");
    let valley = |at: f64, depth: f64| move |x: f64| 1.0 + depth * (x - at).abs();
    let curves: [&dyn Fn(f64) -> f64; 4] = [&valley(0.4, 1.0), &valley(0.4, 0.1), &valley(0.6, 1.0), &|x| x];
    assert_eq!(verdicts(&claim, curves), [Yes, Partly, Partly, No]);
}

#[test]
fn a_crossover_is_where_the_curve_stays_beyond() {
    let claim = shape(
        "crossover",
        "series = [\"new/old\"], at = 0.6, level = 1.0, direction = \"up\"",
        "at_low = 0.5, at_high = 0.7",
        "at_low = 0.2, at_high = 0.9",
    );
    let through = |at: f64| move |x: f64| 1.0 + x - at;
    assert_eq!(verdicts(&claim, [&through(0.63), &through(0.33), &|x| x - 9.0, &|x| x + 9.0]), [Yes, Partly, No, No]);
    let at = drawn(&claim, through(0.63)).measured.unwrap();
    assert!((at - 0.63).abs() < 1e-9, "{at}");
    assert!(drawn(&claim, |x| x - 9.0).reason.contains("out of all bounds"));
}

#[test]
fn a_gap_widens_a_step_is_a_factor_and_linear_is_an_exponent() {
    let gap = shape("gap-widens", "series = [\"new\", \"old\"]", "min_spearman = 0.8", "min_spearman = 0.3");
    assert_eq!(verdicts(&gap, [&|x| 1.0 + x, &|x| 1.0 - x]), [Yes, No]);
    let step = shape("step", "at = 0.6, min_factor = 2.0", "min_factor = 2.0", "min_factor = 1.2");
    let up = |factor: f64| move |x: f64| if x < 0.55 { 1.0 } else { factor };
    assert_eq!(verdicts(&step, [&up(3.0), &up(1.5), &up(1.0)]), [Yes, Partly, No]);
    assert_eq!(judged(&step, loads(&[0.1, 0.2]), &|_, _, _| Some(vec![1.0])).verdict, NotRun);
    let linear = shape("linear", "", "max_exponent = 1.15", "max_exponent = 1.5");
    assert_eq!(verdicts(&linear, [&|x| 3.0 * x, &|x| x.powf(1.3), &|x| x * x]), [Yes, Partly, No]);
}

#[test]
fn dips_are_measured_over_time() {
    let judge = |claim: &Claim, new: f64, old: f64| {
        let of = move |subject: &str, _: &Place, _: &str| {
            let low = if subject == "new" { new } else { old };
            Some(vec![10.0, 10.0, low, 10.0, 10.0])
        };
        judged(claim, vec![Place::new()], &of).verdict
    };
    let dip = shape("dip", "min_dip = 0.3", "min_dip = 0.3", "min_dip = 0.1");
    assert_eq!([5.0, 8.0, 10.0].map(|low| judge(&dip, low, 10.0)), [Yes, Partly, No]);
    let steady = shape(
        "no-dip",
        "dips = [\"old\"], min_dip = 0.3",
        "max_dip = 0.1, other_min_dip = 0.3",
        "min_dip_difference = 0.1",
    );
    assert_eq!(judge(&steady, 10.0, 5.0), Yes);
    assert_eq!(judge(&steady, 7.0, 5.0), Partly);
    assert_eq!(judge(&steady, 5.0, 5.0), No);
}
