//! Functions that claims name, each on a claim of the catalogue.

use std::collections::BTreeSet;

use Verdict::{NotReproduced as No, NotRun, Partly, Reproduced as Yes, Stronger, Undecided};

use super::*;
use crate::functions;

#[test]
fn every_function_is_named_by_a_claim_and_every_name_is_a_function() {
    let of = |claim: &'static Claim| match &claim.expected {
        Expected::Function(expected) => Some(expected.name.as_str()),
        _ => None,
    };
    let named: BTreeSet<&str> = catalogue().claims.iter().filter_map(of).collect();
    let functions = functions::names();
    let unique: BTreeSet<&str> = functions.iter().copied().collect();
    assert_eq!(functions.len(), unique.len(), "two functions have the same name");
    assert_eq!(named.difference(&unique).collect::<Vec<_>>(), Vec::<&&str>::new(), "no function has this name");
    assert_eq!(unique.difference(&named).collect::<Vec<_>>(), Vec::<&&str>::new(), "no claim names this function");
}

#[test]
fn a_claim_that_names_no_function_is_not_judged() {
    let judgement = judge(&claim(r#"expected = { op = "function", name = "none" }"#), &NoEvidence, &|_| None);
    assert_eq!((judgement.verdict, judgement.reason.as_str()), (NotRun, "There is no function `none`."));
}

/// The verdicts on a claim for these values of a number in the evidence.
fn verdicts<T: Copy, const N: usize>(numbers: [T; N], judged: impl Fn(T) -> Judgement) -> [Verdict; N] {
    numbers.map(|number| judged(number).verdict)
}

/// Judged where the subjects in `curves` follow a function of a coordinate, and all others are 1.
fn drawn(id: &str, (x, values): (&str, &[f64]), curves: &[(&str, &dyn Fn(f64) -> f64)]) -> Judgement {
    let of = |subject: &str, point: &SweepPoint, _: &str| {
        let curve = curves.iter().find(|(name, _)| *name == subject);
        Some(vec![curve.map_or(1.0, |(_, curve)| curve(number(point, x)))])
    };
    judged(known(id), along(x, values), &of)
}

const LOADS: (&str, &[f64]) = ("load", &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);

/// A curve that falls in proportion to its x until some x, and is level from there on.
fn falls_to(at: f64) -> impl Fn(f64) -> f64 {
    move |x| if x < at { 2.0 - x / at } else { 1.0 }
}

/// A sweep point for each of two workloads.
fn workloads(names: [&str; 2]) -> Vec<SweepPoint> {
    names.map(|name| SweepPoint::from([("workload".to_owned(), Coordinate::Text(name.into()))])).to_vec()
}

#[test]
fn the_tail_rises_ever_faster_if_its_curve_is_convex() {
    let judge = |curve: &dyn Fn(f64) -> f64| {
        drawn("icon-tail-rises-fast-at-high-load", LOADS, &["dctcp", "ictcp", "ia-icon"].map(|name| (name, curve)))
    };
    let curves: [&dyn Fn(f64) -> f64; 4] = [&|x| x * x, &|x| x + 0.1 * x * x, &f64::sqrt, &|x| -x * x];
    assert_eq!(verdicts(curves, judge), [Yes, Partly, No, No]);
}

#[test]
fn flat_is_a_small_spread() {
    let judge = |curve: &dyn Fn(f64) -> f64| {
        drawn("pdq-scalability-flat", ("hosts", &[16.0, 54.0, 128.0, 250.0, 432.0, 1024.0]), &[("pdq", curve)])
    };
    let curves: [&dyn Fn(f64) -> f64; 3] = [&|x| 1.0 + x / 1e4, &|x| 1.0 + x / 3e3, &|x| x];
    assert_eq!(verdicts(curves, judge), [Yes, Partly, No]);
}

#[test]
fn the_smallest_and_the_largest_buffer_may_differ() {
    let judge = |curve: &dyn Fn(f64) -> f64| {
        drawn("smartbuf-buffer-size-robust", ("shared_buffer_mb", &[1.0, 2.0, 4.0, 8.0, 16.0]), &[("edt", curve)])
    };
    let ends = |x: f64| if (2.0..=8.0).contains(&x) { 1.0 + 0.02 * x } else { 9.0 };
    let curves: [&dyn Fn(f64) -> f64; 3] = [&ends, &|x| 6.0 + x, &|x| x];
    assert_eq!(verdicts(curves, judge), [Yes, Partly, No]);
}

#[test]
fn saturation_is_level_after_and_gains_before() {
    let entries = ("k", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].as_slice());
    let knee = |at: f64| drawn("smartbuf-k3-knee", entries, &[("smartbuf", &falls_to(at))]);
    assert_eq!(verdicts([3.0, 3.4, 6.0, 0.0], knee), [Yes, Partly, No, Partly]);
    let elsewhere = drawn("smartbuf-k3-knee", ("k", &[2.0, 4.0]), &[("smartbuf", &|_| 1.0)]);
    assert_eq!(elsewhere.verdict, NotRun);

    let queues = ("reserved_queue_kb", [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0].as_slice());
    let queue = |at: f64| drawn("resqueue-buffer-saturates-20kb", queues, &[("resqueue", &falls_to(at))]);
    assert_eq!(verdicts([20.0, 21.5, 40.0], queue), [Yes, Partly, No]);
    // That more than 20 KB gains nothing does not mean that it does no harm.
    let harm = drawn("resqueue-buffer-saturates-20kb", queues, &[("resqueue", &|x| if x > 20.0 { x } else { 20.0 })]);
    assert_eq!((harm.verdict, harm.measured), (Yes, Some(0.0)), "{}", harm.reason);

    // Where it becomes level is claimed too.
    let subflows = ("subflows", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0].as_slice());
    let subflow = |at: f64| drawn("pdq-multipath-5-subflows", subflows, &[("mp-pdq", &falls_to(at))]);
    assert_eq!(verdicts([5.0, 2.0, 0.0], subflow), [Yes, Partly, No]);
}

#[test]
fn quantities_can_be_the_x_of_a_shape() {
    let judge = |base: f64| {
        let of = move |subject: &str, _: &SweepPoint, metric: &str| {
            let statistic = ["mean", "p99 ", "p99.9"].iter().position(|name| metric.starts_with(name))?;
            Some(vec![if subject == "pias" { base.powi(statistic as i32) } else { 1.0 }])
        };
        judged(known("spq-pias-poor-p999"), loads(&[0.5]), &of)
    };
    let claim = known("spq-pias-poor-p999");
    assert_eq!(claim.measures().len(), 3, "{:?}", claim.measures());
    // It rises, but to no more than half as much again, or a tenth.
    assert_eq!(verdicts([2.0, 1.1, 1.01, 0.5], judge), [Yes, Partly, No, No]);
}

#[test]
fn the_best_threshold_is_inside() {
    let valley = |at: f64, depth: f64| move |x: f64| 1.0 + depth * (x / at - 1.0).abs();
    let thresholds: &[f64] =
        &[20_000.0, 50_000.0, 100_000.0, 200_000.0, 400_000.0, 700_000.0, 1_000_000.0, 2_500_000.0];
    let judge = |(at, depth): (f64, f64)| {
        let points = thresholds.iter().map(|&bytes| {
            let number = |name: &str, value| (name.to_owned(), Coordinate::Number(value));
            SweepPoint::from([number("threshold_bytes", bytes), number("load", 0.6)])
        });
        let of = |_: &str, point: &SweepPoint, _: &str| Some(vec![valley(at, depth)(number(point, "threshold_bytes"))]);
        judged(known("hyline-threshold-u-shape"), points.collect(), &of)
    };
    assert_eq!(verdicts([(7e5, 1.0), (7e5, 0.03), (1e5, 1.0), (2e4, 1.0)], judge), [Yes, Partly, Partly, No]);
}

#[test]
fn a_crossover_is_where_the_curve_stays_beyond() {
    let judge = |curve: &dyn Fn(f64) -> f64| drawn("slytherin-reorder-crossover-60", LOADS, &[("pias", curve)]);
    let through = |at: f64| move |x: f64| 1.0 + x - at;
    let curves: [&dyn Fn(f64) -> f64; 4] = [&through(0.63), &through(0.33), &|_| 0.5, &|_| 2.0];
    assert_eq!(verdicts(curves, judge), [Yes, Partly, No, No]);
    let at = judge(&through(0.63)).measured.unwrap();
    assert!((at - 0.63).abs() < 1e-9, "{at}");
    assert!(judge(&|_| 0.5).reason.contains("out of all bounds"));
}

#[test]
fn a_gap_widens_a_step_is_a_factor_and_linear_is_an_exponent() {
    let gap = |curve: &dyn Fn(f64) -> f64| drawn("smartbuf-edt-good-only-at-low-load", LOADS, &[("edt", curve)]);
    let curves: [&dyn Fn(f64) -> f64; 2] = [&|x| 1.0 + x, &|x| 1.0 - x];
    assert_eq!(verdicts(curves, gap), [Yes, No]);
    let gap = |curve: &dyn Fn(f64) -> f64| drawn("superways-dt-only-low-load", LOADS, &[("leaf-spine+dt", curve)]);
    assert_eq!(verdicts(curves, gap), [Yes, No]);

    let step = |factor: f64| {
        drawn("dt-excessive-drops-60-80", LOADS, &[("dt", &|load| if load < 0.55 { 1.0 } else { factor })])
    };
    assert_eq!(verdicts([3.0, 1.5, 1.0], step), [Yes, Partly, No]);
    let one_side = drawn("dt-excessive-drops-60-80", ("load", &[0.1, 0.2]), &[]);
    assert_eq!(one_side.verdict, NotRun);

    let exponent = |exponent: f64| {
        let flows = ("second_class_flows", [1.0, 2.0, 4.0, 8.0].as_slice());
        drawn("hyline-complexity-linear", flows, &[("hyline", &|x| x.powf(exponent))])
    };
    assert_eq!(verdicts([1.0, 1.3, 2.0], exponent), [Yes, Partly, No]);
}

#[test]
fn dips_are_measured_over_time() {
    let judge = |id: &str, smartbuf: f64, edt: f64| {
        let of = move |subject: &str, _: &SweepPoint, _: &str| {
            let low = if subject == "smartbuf" { smartbuf } else { edt };
            Some(vec![10.0, 10.0, low, 10.0, 10.0])
        };
        judged(known(id), vec![SweepPoint::new()], &of)
    };
    assert_eq!(verdicts([5.0, 8.0, 10.0], |edt| judge("smartbuf-edt-throughput-dip", 10.0, edt)), [Yes, Partly, No]);
    assert_eq!(verdicts([10.0, 7.0, 5.0], |own| judge("smartbuf-fairness", own, 5.0)), [Yes, Partly, No]);
}

#[test]
fn a_ratio_between_workloads_is_taken_for_every_scheme() {
    let judge = |others: f64| {
        let of = move |subject: &str, point: &SweepPoint, _: &str| {
            let heavy = point["workload"] == Coordinate::Text("heavy".into());
            Some(vec![if heavy { if subject == "dctcp" { 6.0 } else { others } } else { 1.0 }])
        };
        judged(known("hyline-heavy-drops"), workloads(["light", "heavy"]), &of)
    };
    // The mean of five schemes.
    assert_eq!(judge(1.0).measured, Some(2.0));
    assert_eq!(verdicts([1.0, 0.1, -0.5], judge), [Yes, Partly, No]);
}

#[test]
fn numbers_are_computed_from_what_was_measured() {
    let spread = drawn("smartbuf-beta-stable-range", ("beta", &[0.4, 0.5]), &[("smartbuf", &|beta| beta)]);
    assert!((spread.measured.unwrap() - 1.25).abs() < 1e-9, "{spread:?}");

    let of =
        |subject: &str, _: &SweepPoint, _: &str| Some(vec![if subject.starts_with("superways/") { 2.0 } else { 8.0 }]);
    let reduction = judged(known("superways-subways-bcube-dont-solve-incast"), loads(&[0.5]), &of);
    assert_eq!((reduction.verdict, reduction.measured), (Partly, Some(0.75)));

    let of = |subject: &str, _: &SweepPoint, metric: &str| {
        Some(vec![match (subject, metric.contains("queue")) {
            ("icon", _) => 1.0,
            (_, true) => 6.0,
            (_, false) => 3.0,
        }])
    };
    let gains = judged(known("icon-queue-gain-matches-tail-gain"), loads(&[0.3]), &of);
    assert_eq!((gains.verdict, gains.measured), (Partly, Some(2.0)));

    let of = |subject: &str, _: &SweepPoint, metric: &str| {
        let order = if metric.starts_with("mean") {
            ["hyline", "pfabric", "qjump", "dctcp", "tcp"]
        } else {
            ["pfabric", "hyline", "qjump", "dctcp", "tcp"]
        };
        Some(vec![order.iter().position(|name| *name == subject)? as f64])
    };
    let kendall = judged(known("hyline-p99-like-average"), loads(&[0.5]), &of);
    // One of ten pairs is swapped.
    assert!((kendall.measured.unwrap() - 0.8).abs() < 1e-9, "{kendall:?}");

    let of = |subject: &str, _: &SweepPoint, _: &str| Some(vec![if subject == "subways" { 9.0 } else { 1.0 }]);
    let cost = judged(known("superways-9x-cheaper"), vec![SweepPoint::new()], &of);
    assert_eq!((cost.verdict, cost.measured), (Yes, Some(9.0)));
}

#[test]
fn a_second_quantity_can_be_part_of_a_claim() {
    let judge = |throughput: f64| {
        let of = move |subject: &str, _: &SweepPoint, metric: &str| {
            let own = if metric.starts_with("p99") { 0.92 } else { throughput };
            Some(vec![if subject == "superways@spine" { own } else { 1.0 }])
        };
        judged(known("superways-spine-vs-leaf-8pct"), loads(&[0.5]), &of)
    };
    assert_eq!(verdicts([1.1, 1.0], judge), [Yes, Partly]);
}

#[test]
fn only_the_published_loss_counts() {
    let judge = |at_three_percent: f64| {
        let of = move |subject: &str, point: &SweepPoint, _: &str| {
            let lossy = (number(point, "loss_rate") - 0.03).abs() < 1e-9;
            Some(vec![match (subject, lossy) {
                ("pdq@0%", _) => 1.0,
                (_, true) => at_three_percent,
                (_, false) => 50.0,
            }])
        };
        judged(known("pdq-loss-6pct-12pct"), along("loss_rate", &[0.0, 0.01, 0.02, 0.03]), &of)
    };
    assert_eq!(verdicts([1.12, 1.3, 2.0], judge), [Yes, Partly, No]);
}

#[test]
fn what_a_document_exempts_does_not_count() {
    let judge = |id: &str, exempt: &dyn Fn(&SweepPoint, &str) -> bool| {
        let claim = known(id);
        let mut points = Vec::new();
        for mut point in workloads(["web-search", "data-mining"]) {
            for load in [0.5, 0.9] {
                point.insert("load".into(), Coordinate::Number(load));
                points.push(point.clone());
            }
        }
        let of = |subject: &str, point: &SweepPoint, metric: &str| {
            let agrees = !exempt(point, metric);
            Some(vec![if (subject == claim.subject) == agrees { 1.0 } else { 2.0 }])
        };
        judged(claim, points, &of).measured
    };
    let web_search = |point: &SweepPoint| point["workload"] == Coordinate::Text("web-search".into());
    let at_high_load = |point: &SweepPoint, _: &str| web_search(point) && number(point, "load") > 0.8;
    assert_eq!(judge("spq-loss-below-dctcp", &at_high_load), Some(1.0));
    assert_eq!(judge("spq-loss-below-dctcp", &|point, _| web_search(point)), Some(2.0 / 3.0));
    let largest_at_high_load =
        |point: &SweepPoint, metric: &str| at_high_load(point, "") && metric.contains("(10MB,inf)");
    assert_eq!(judge("hyline-best-second-class", &largest_at_high_load), Some(1.0));
    // Of the two quantities the worse one decides, at one of four places.
    assert_eq!(judge("hyline-best-second-class", &at_high_load), Some(0.75));
}

/// HyLine is about equal to pFabric under data mining, and best elsewhere.
#[test]
fn a_rival_can_be_exempt_under_one_workload() {
    let judge = |ahead: &str, under: &str| {
        let of = |subject: &str, point: &SweepPoint, _: &str| {
            let is_ahead = subject == ahead && point["workload"] == Coordinate::Text(under.into());
            Some(vec![if is_ahead {
                0.5
            } else if subject == "hyline" {
                1.0
            } else {
                2.0
            }])
        };
        judged(known("hyline-best-avg-and-p99"), workloads(["web-search", "data-mining"]), &of).measured
    };
    assert_eq!(judge("pfabric", "data-mining"), Some(1.0));
    assert_eq!(judge("pfabric", "web-search"), Some(0.0), "the only place where they are compared");
    assert_eq!(judge("qjump", "data-mining"), Some(0.5));
}

/// "Generally": one scheme of five that is not better is a fifth of the comparisons, and not a pair of its own.
#[test]
fn comparisons_that_are_pooled_count_together() {
    let of = |subject: &str, point: &SweepPoint, _: &str| {
        let is_light = point["workload"] == Coordinate::Text("light".into());
        Some(vec![if is_light == (subject == "hyline") { 2.0 } else { 1.0 }])
    };
    let judged = judged(known("hyline-light-all-good"), workloads(["light", "heavy"]), &of);
    assert_eq!((judged.verdict, judged.measured), (Partly, Some(0.8)));
}

/// A share that rises with every load is claimed to rise slightly.
#[test]
fn a_share_that_rises_too_far_does_not_rise_slightly() {
    let judge = |last: f64| {
        let of = |_: &str, point: &SweepPoint, _: &str| Some(vec![last * number(point, "load") / 0.9]);
        judged(known("hyline-waiting-grows-slightly"), loads(&[0.1, 0.3, 0.5, 0.7, 0.9]), &of)
    };
    assert_eq!(verdicts([0.1, 0.2, 0.5], judge), [Yes, Partly, No]);
}

#[test]
fn workloads_are_ranked_for_some_schemes_only() {
    let judge = |id: &str, harder_on_data_mining: &str| {
        let of = |subject: &str, point: &SweepPoint, _: &str| {
            let data_mining = point["workload"] == Coordinate::Text("data-mining".into());
            Some(vec![if data_mining == (subject == harder_on_data_mining) { 2.0 } else { 1.0 }])
        };
        judged(known(id), workloads(["web-search", "data-mining"]), &of).verdict
    };
    assert_eq!(judge("spq-loss-datamining-easier", "pias"), Yes);
    assert_eq!(judge("spq-loss-datamining-easier", "dctcp"), No);
    assert_eq!(judge("spq-loss-pias-datamining-harder", "pias"), Yes);
    assert_eq!(judge("spq-loss-pias-datamining-harder", "dctcp"), No);
    assert_eq!(judge("spq-datamining-easier-than-websearch", "spq"), Yes);
    assert_eq!(judge("spq-datamining-easier-than-websearch", "dctcp"), No);
}

#[test]
fn all_orders_must_hold() {
    let claim = known("slytherin-better-than-dctcp-fct-and-throughput");
    let judge = |fct: f64, throughput: f64| {
        let of = move |subject: &str, _: &SweepPoint, metric: &str| {
            let own = if metric.starts_with("p99 FCT") { fct } else { throughput };
            Some(vec![if subject == "slytherin" { own } else { 10.0 }])
        };
        judged(claim, loads(&[0.5]), &of)
    };
    assert_eq!(judge(5.0, 20.0).verdict, Yes);
    let worse = judge(5.0, 5.0);
    assert_eq!((worse.verdict, worse.measured), (No, Some(0.0)));
    assert!(worse.reason.contains("comparisons of mean throughput"), "{}", worse.reason);
    let half = judged(claim, loads(&[0.5]), &|subject, _, metric| {
        metric.starts_with("p99 FCT").then(|| vec![if subject == "slytherin" { 1.0 } else { 2.0 }])
    });
    assert_eq!(half.verdict, Partly, "{}", half.reason);
}

#[test]
fn an_invariant_may_not_be_violated_anywhere() {
    let violated = |id: &'static str| move |share: f64| with(known(id), &[("pdq", &[share])]);
    assert_eq!(verdicts([0.0, 0.005, 0.02], violated("pdq-deadlock-freedom")), [Yes, Partly, No]);
    assert_eq!(verdicts([0.0, 0.02, 0.06], violated("pdq-convergence-pmax-plus-1")), [Yes, Partly, No]);
    let reason = with(known("pdq-deadlock-freedom"), &[("pdq", &[0.02])]).reason;
    assert!(reason.starts_with("The share of violations at load 0.5 is 0.02"), "{reason}");
}

#[test]
fn closed_forms_are_compared_with_arithmetic_or_with_evidence() {
    let claim = known("smartbuf-lookup-15-cycles");
    let alone = judge(claim, &NoEvidence, &|_| None);
    assert_eq!((alone.verdict, alone.published.as_str()), (Yes, "5, 15, 25"));
    assert!(alone.reason.contains("by the formula alone"), "{}", alone.reason);
    let computed = |last: f64| judged(claim, vec![SweepPoint::new()], &|_, _, _| Some(vec![5.0, 15.0, last]));
    assert_eq!(verdicts([25.0, 25.5, 50.0], computed), [Yes, Partly, No]);
    let wrong = computed(50.0);
    assert_eq!(wrong.measured, Some(50.0));
    assert!(wrong.reason.contains("number 3") && wrong.reason.contains("what was computed"), "{}", wrong.reason);
    let too_few = judged(claim, vec![SweepPoint::new()], &|_, _, _| Some(vec![5.0]));
    assert_eq!(too_few.verdict, NotRun);

    // An example that only the evidence can compute.
    let queues = known("spq-fig1-threshold-example");
    assert_eq!(judge(queues, &NoEvidence, &|_| None).verdict, NotRun);
    let computed = |last: f64| judged(queues, vec![SweepPoint::new()], &|_, _, _| Some(vec![3.0, 3.0, last]));
    assert_eq!(verdicts([3.0, 1.0], computed), [Yes, No]);

    // Slides that say little get more room.
    let delays = |last: f64| {
        judged(known("pdq-default-hop-delays"), vec![SweepPoint::new()], &|_, _, _| Some(vec![11.0, 0.1, last]))
    };
    assert_eq!(verdicts([26.0, 30.0, 50.0], delays), [Yes, Partly, No]);
}

#[test]
fn claims_with_parts_follow_them() {
    let claim = known("spq-meets-design-goals");
    assert_eq!(claim.parts.len(), 4);
    let judge = |verdicts: [Verdict; 4]| {
        let verdict_on = |id: &str| claim.parts.iter().position(|known| known == id).map(|at| verdicts[at]);
        judge(claim, &NoEvidence, &verdict_on)
    };
    assert_eq!(judge([Yes; 4]).verdict, Yes);
    assert_eq!(judge([Yes, Yes, Partly, No]).verdict, Partly);
    assert_eq!(judge([Yes, No, Partly, No]).verdict, No);
    assert_eq!(judge([NotRun; 4]).verdict, NotRun);
    assert_eq!(judge([Yes, Yes, Yes, NotRun]).verdict, NotRun, "the one that was not run decides");
    let decided = judge([No, No, No, NotRun]);
    assert_eq!(decided.verdict, No, "{}", decided.reason);
    assert!(decided.reason.contains("not run: 1 of them"));

    // An undecided part leaves open what it decides.
    let open = judge([Yes, Yes, Yes, Undecided]);
    assert_eq!((open.verdict, open.low, open.high), (Undecided, Some(0.75), Some(1.0)));
    assert!(open.reason.contains("undecided: 1 of them") && open.reason.contains("at least partly"), "{}", open.reason);
    assert_eq!(judge([Yes, Yes, No, Undecided]).verdict, Partly);
    assert_eq!(judge([Yes, No, No, Undecided]).verdict, Undecided);
    assert_eq!(judge([No, No, No, Undecided]).verdict, No);
    assert_eq!(judge([Stronger, Stronger, Yes, Yes]).verdict, Yes, "a part that is stronger is reproduced");
}
