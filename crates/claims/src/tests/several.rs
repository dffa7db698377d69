//! Functions for sentences that say several things, each of which must hold.

use super::*;
use Verdict::{NotReproduced as No, NotRun, Partly, Reproduced as Yes};

/// The verdicts on a claim for these numbers in the evidence.
fn verdicts<T: Copy, const N: usize>(numbers: [T; N], judged: impl Fn(T) -> Judgement) -> [Verdict; N] {
    numbers.map(|number| judged(number).verdict)
}

const LOADS: [f64; 7] = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];

/// Judged where a subject has these values in a quantity, whatever the place.
fn with_values(id: &str, points: Vec<SweepPoint>, values: &[(&str, &str, f64)]) -> Judgement {
    let of = |subject: &str, _: &SweepPoint, metric: &str| {
        let found = values.iter().find(|(known, quantity, _)| *known == subject && metric.contains(quantity));
        found.map(|(_, _, value)| vec![*value])
    };
    judged(known(id), points, &of)
}

#[test]
fn near_the_ideal_is_near_it_and_ahead_of_the_others() {
    let judge = |(gap, pias): (f64, f64)| {
        let all = [("pfabric", 1.0), ("spq", gap), ("pias", pias), ("l2dct", 9.0), ("dctcp", 9.0)];
        with_values("spq-near-optimal-tail", loads(&[0.5, 0.9]), &all.map(|(scheme, value)| (scheme, "FCT", value)))
    };
    assert_eq!(verdicts([(1.05, 2.0), (1.2, 2.0), (1.5, 2.0), (1.05, 0.9)], judge), [Yes, Partly, No, No]);
    // That the ideal is ahead of the others is no merit of SPQ.
    assert!(judge((1.05, 0.9)).reason.contains("with spq before pias is 0"), "{}", judge((1.05, 0.9)).reason);
    assert_eq!(with_values("spq-near-optimal-tail", loads(&[0.5]), &[("spq", "FCT", 1.0)]).verdict, NotRun);
}

#[test]
fn losses_move_only_if_the_fabric_loses_fewer() {
    let judge = |(hosts, fabric): (f64, f64)| {
        let values = [("spq", "host", hosts), ("spq", "fabric", fabric), ("l2dct", "fabric", 100.0)];
        with_values("spq-loss-moves-to-hosts", loads(&[0.5]), &values)
    };
    assert_eq!(verdicts([(90.0, 10.0), (900.0, 200.0), (5.0, 10.0)], judge), [Yes, No, No]);
}

#[test]
fn sizes_are_told_apart_only_if_more_so_than_by_another_scheme() {
    let judge = |(near, pias): (f64, f64)| {
        let of = move |subject: &str, point: &SweepPoint, metric: &str| {
            let size = ["10KB", "50KB", "100KB"].iter().position(|size| metric.contains(size))?;
            let step = if subject == "pias" { pias } else { 1.0 };
            Some(vec![if number(point, "load") < near { 1.0 } else { 1.0 + step * size as f64 }])
        };
        judged(known("spq-fig9-three-levels"), loads(&[0.1, 0.2, 0.3, 0.4, 0.5]), &of)
    };
    assert_eq!(verdicts([(0.0, 0.1), (0.15, 0.1), (0.35, 0.1)], judge), [Yes, Partly, No]);
    // As far apart, and further, under PIAS.
    assert_eq!(verdicts([(0.0, 0.98), (0.0, 1.5)], judge), [Partly, No]);
    assert!(judge((0.0, 1.5)).reason.contains("over the same of pias"), "{}", judge((0.0, 1.5)).reason);
}

#[test]
fn the_tail_of_every_scheme_is_far_above_its_median() {
    let judge = |ictcp: f64| {
        let of = move |subject: &str, _: &SweepPoint, metric: &str| {
            let above = if subject == "ictcp" { ictcp } else { 50.0 };
            Some(vec![if metric.starts_with("p99") { above } else { 1.0 }])
        };
        judged(known("icon-tail-median-gap"), loads(&LOADS), &of)
    };
    assert_eq!(verdicts([20.0, 6.0, 2.0], judge), [Yes, Partly, No]);
    assert!(judge(2.0).reason.contains("of ictcp is 2"), "{}", judge(2.0).reason);
    let of = |subject: &str, _: &SweepPoint, metric: &str| {
        (subject == "dctcp").then(|| vec![if metric.starts_with("p99") { 50.0 } else { 1.0 }])
    };
    let alone = judged(known("icon-tail-median-gap"), loads(&LOADS), &of);
    assert_eq!(alone.verdict, Partly);
    assert!(alone.reason.contains("not measured: ictcp, ia-icon"), "{}", alone.reason);
}

/// At low loads ICTCP may be below DCTCP, but ICON below none.
#[test]
fn each_part_of_an_order_has_its_own_loads() {
    let judge = |(icon, ictcp_from): (f64, f64)| {
        let of = move |subject: &str, point: &SweepPoint, _: &str| {
            Some(vec![match subject {
                "icon" => icon,
                "ictcp" if number(point, "load") < ictcp_from => 1.0,
                "ictcp" | "ia-icon" => 5.0,
                _ => 3.0,
            }])
        };
        judged(known("icon-throughput-order"), loads(&LOADS), &of)
    };
    assert_eq!(verdicts([(9.0, 0.45), (9.0, 0.55), (9.0, 0.75), (4.0, 0.1)], judge), [Yes, Partly, No, No]);
}

#[test]
fn a_throughput_falls_and_stays_above_another() {
    let judge = |(rises, over): (bool, f64)| {
        let of = move |subject: &str, point: &SweepPoint, _: &str| {
            let load = number(point, "load");
            let own = if rises { load } else { 1.0 - load };
            Some(vec![if subject == "resqueue" { own * over } else { own }])
        };
        judged(known("resqueue-throughput-falls-with-load"), loads(&LOADS), &of)
    };
    assert_eq!(verdicts([(false, 1.1), (false, 0.9), (true, 1.1), (false, 1.0)], judge), [Yes, No, No, No]);
}

#[test]
fn what_is_called_flat_is_the_same_everywhere() {
    let judge = |resqueue: &dyn Fn(f64) -> f64, totals: f64| {
        let of = |subject: &str, point: &SweepPoint, metric: &str| {
            let load = number(point, "load");
            Some(vec![match (subject, metric) {
                ("resqueue", _) => resqueue(load),
                (_, "packet drops") => totals * load,
                _ => load,
            }])
        };
        judged(known("resqueue-drops-worsen-for-others"), loads(&LOADS), &of)
    };
    assert_eq!(judge(&|_| 1.0, 1.0).verdict, Yes);
    assert_eq!(judge(&|load| if load > 0.65 { 2.0 } else { 1.0 }, 1.0).verdict, Partly);
    // No rank correlation with the load, but far from flat.
    let jumps = judge(&|load| if ((load * 10.0).round() as u64).is_multiple_of(2) { 1.0 } else { 5.0 }, 1.0);
    assert_eq!((jumps.verdict, jumps.measured), (No, Some(4.0)));
    assert!(jumps.reason.contains("called flat"), "{}", jumps.reason);
    assert_eq!(judge(&|_| 1.0, -1.0).verdict, No, "the losses of the others must rise too");
}

#[test]
fn no_packet_is_lost_where_few_are_sent_again() {
    let judge = |(lost, share): (f64, f64)| {
        let values = [("resqueue", "queue 1", lost), ("resqueue", "share", share)];
        with_values("resqueue-retransmissions-few", loads(&LOADS), &values)
    };
    assert_eq!(verdicts([(0.0, 0.004), (0.0, 0.03), (0.0, 0.2), (1.0, 0.004)], judge), [Yes, Partly, No, No]);
    // An average of a third of a packet is one that was lost under one of three seeds.
    let of = |_: &str, _: &SweepPoint, metric: &str| {
        Some(if metric.contains("queue 1") { vec![0.0, 0.0, 1.0] } else { vec![0.004; 3] })
    };
    let once = judged(known("resqueue-retransmissions-few"), loads(&LOADS), &of);
    assert_eq!((once.verdict, once.low), (No, None), "{}", once.reason);
}

#[test]
fn the_best_size_is_the_smallest_of_those_that_lose_no_more() {
    let judge = |best: f64, throughput: f64, sizes: &[f64]| {
        let of = |_: &str, point: &SweepPoint, metric: &str| {
            let size = number(point, "reserved_queue_kb");
            Some(vec![match metric {
                "packet drops of short flows" => 100.0 + 10.0 * (best - size).max(0.0),
                // Larger ones may lose one packet less.
                _ if size > 25.0 => 10.0,
                _ => throughput,
            }])
        };
        judged(known("resqueue-buffer-sweet-spot"), along("reserved_queue_kb", sizes), &of)
    };
    let sizes = [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0];
    assert_eq!(
        [5.0, 10.0, 15.0, 20.0, 25.0, 40.0].map(|best| judge(best, 10.0, &sizes).verdict),
        [No, Partly, Yes, Yes, Partly, No]
    );
    assert_eq!(judge(20.0, 10.0, &sizes).measured, Some(20.0));
    assert_eq!([9.9, 9.6, 9.0].map(|throughput| judge(20.0, throughput, &sizes).verdict), [Yes, Partly, No]);
    assert_eq!(judge(5.0, 10.0, &[5.0]).verdict, NotRun);
}

#[test]
fn flows_that_lose_a_packet_twice_take_long_where_others_do_not() {
    let judge = |(twice, median): (f64, Option<f64>)| {
        let of = move |_: &str, point: &SweepPoint, metric: &str| {
            // At low loads no packet is dropped twice.
            let busy = number(point, "load") > 0.45;
            if metric.starts_with("p50") { median.map(|median| vec![median]) } else { busy.then(|| vec![twice]) }
        };
        judged(known("resqueue-fct-100us-vs-3-4ms"), loads(&LOADS), &of)
    };
    let verdicts = verdicts([(3.5, Some(90.0)), (8.0, Some(90.0)), (20.0, Some(90.0)), (3.5, Some(150.0))], judge);
    assert_eq!(verdicts, [Yes, Partly, No, Partly]);
    let half = judge((3.5, None));
    assert_eq!(half.verdict, Partly);
    assert!(half.reason.contains("not measured: p50 FCT of short flows"), "{}", half.reason);
}
