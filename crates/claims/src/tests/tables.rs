//! Functions that compare with a published table.

use super::*;

use Verdict::{NotReproduced as No, NotRun, Partly, Reproduced as Yes};

fn by_workload(names: &[&str]) -> Vec<SweepPoint> {
    names.iter().map(|name| SweepPoint::from([("workload".to_owned(), Coordinate::Text((*name).to_owned()))])).collect()
}

#[test]
fn cells_are_found_by_a_coordinate_and_compared_as_a_whole() {
    let claim = known("slytherin-table1-opportunity");
    let published = [(0.4, 0.013), (0.5, 0.038), (0.6, 0.19), (0.7, 0.4), (0.8, 0.56), (0.9, 0.65)];
    let judge = |change: &dyn Fn(f64) -> f64| {
        let of = |_: &str, point: &SweepPoint, _: &str| {
            let load = number(point, "load");
            published.iter().find(|row| (row.0 - load).abs() < 1e-9).map(|row| vec![change(row.1)])
        };
        judged(claim, loads(&[0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]), &of)
    };
    let same = judge(&|cell| cell);
    assert_eq!((same.verdict, same.published.as_str()), (Yes, "table of 6 rows"));
    assert_eq!(judge(&|cell| cell + 0.12).verdict, Partly);
    // Nothing at all is not near.
    assert_eq!(judge(&|cell| cell / 1e3).verdict, No);
    assert_eq!(judge(&|cell| 1.0 - cell).verdict, No);
    let of = |_: &str, _: &SweepPoint, _: &str| Some(vec![0.013]);
    assert!(judged(claim, loads(&[0.4, 0.5]), &of).reason.contains("2 of 6 cells"));
}

/// What a table of losses comes to if all of its cells are `scale` times the published ones, those of SPQ `spq` times
/// as much, and DCTCP loses nothing at loads below `from`.
fn losses(id: &str, scale: f64, spq: f64, from: f64) -> Judgement {
    let Expected::Function(table) = &known(id).expected else { panic!("it is a table") };
    let of = |subject: &str, point: &SweepPoint, _: &str| {
        let load = number(point, "load") * 100.0;
        let row = table.rows.iter().find(|row| matches!(row[0], Cell::Number(at) if (at - load).abs() < 1e-6))?;
        let at = ["spq", "dctcp", "pias"].iter().position(|name| *name == subject)?;
        let Cell::Number(cell) = row[at + 1] else { return None };
        Some(vec![match subject {
            "spq" => cell * scale * spq,
            "dctcp" if load < from => 0.0,
            _ => cell * scale,
        }])
    };
    judged(known(id), loads(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]), &of)
}

/// Losses depend on how long a run is, so each is compared as a multiple of DCTCP's.
#[test]
fn losses_are_compared_as_multiples_of_the_baseline() {
    let judge = |scale: f64, spq: f64| losses("spq-table2-losses-websearch", scale, spq, 0.0);
    assert_eq!(judge(1.0, 1.0).verdict, Yes);
    assert_eq!(judge(7.0, 1.0).measured, Some(1.0), "a longer run loses more");
    // Half of the cells are those of PIAS.
    let far = judge(1.0, 3.0);
    assert_eq!((far.verdict, far.measured), (Partly, Some(0.5)), "{}", far.reason);
    assert_eq!(judge(1.0, 30.0).verdict, No);
}

/// SPQ loses 0 to 12 packets there, by which no two numbers can be told apart.
#[test]
fn few_losses_are_alike_and_rows_without_losses_of_the_baseline_say_nothing() {
    let judge = |scale: f64, spq: f64, from: f64| losses("spq-table3-losses-datamining", scale, spq, from);
    let few = judge(1.0, 3.0, 0.0);
    // 12 and 10 have become 36 and 30.
    assert_eq!((few.verdict, few.measured), (Yes, Some(16.0 / 18.0)), "{}", few.reason);
    assert_eq!(judge(5.0, 3.0, 0.0).measured, few.measured, "they are scaled to the published losses of DCTCP");
    assert_eq!(judge(1.0, 30.0, 0.0).verdict, No);
    let some = judge(1.0, 1.0, 35.0);
    assert_eq!((some.verdict, some.measured), (Yes, Some(1.0)), "{}", some.reason);
    assert!(some.reason.contains("6 of them say nothing, because dctcp is zero in their row"), "{}", some.reason);
    assert_eq!(judge(1.0, 1.0, 95.0).verdict, NotRun);
}

#[test]
fn the_best_ratio_of_each_workload_has_its_own_limits() {
    let claim = known("spq-short-p999-by-workload");
    let judge = |hybrid: f64, names: &[&str]| {
        let of = move |subject: &str, point: &SweepPoint, _: &str| {
            let own = if point["workload"] == Coordinate::Text("hybrid".into()) { hybrid } else { 0.1 };
            Some(vec![match subject {
                "spq" => own,
                "pias" => 1.0,
                _ => 0.9,
            }])
        };
        judged(claim, by_workload(names), &of)
    };
    let all = ["web-search", "data-mining", "hybrid"];
    assert_eq!([0.12, 0.5, 0.9].map(|hybrid| judge(hybrid, &all).verdict), [Yes, Partly, No]);
    let some = judge(0.12, &all[..2]);
    assert_eq!(some.verdict, Partly);
    assert!(some.reason.contains("not measured: hybrid"), "{}", some.reason);
}

#[test]
fn improvements_are_in_per_cent_of_each_topology() {
    let claim = known("superways-table3-simulation");
    let judge = |tail: f64, throughput: f64| {
        let of = move |subject: &str, _: &SweepPoint, metric: &str| {
            let own = if metric.starts_with("p99") { tail } else { throughput };
            Some(vec![if subject.starts_with("superways/") { own } else { 1.0 }])
        };
        judged(claim, loads(&[0.5]), &of)
    };
    assert_eq!(judge(0.035, 1.2).verdict, Partly, "20 % are far from 50.7 % on leaf-spine");
    let published = |subject: &str, _: &SweepPoint, metric: &str| {
        let throughput = [("leaf-spine", 1.507), ("jellyfish", 1.171), ("bcube", 1.115), ("subways", 1.205)];
        let Some(topology) = subject.strip_prefix("superways/") else { return Some(vec![1.0]) };
        let (_, throughput) = throughput.iter().find(|(name, _)| *name == topology)?;
        Some(vec![if metric.starts_with("p99") { 0.04 } else { *throughput }])
    };
    assert_eq!(judged(claim, loads(&[0.5]), &published).verdict, Yes);
    let worse = judge(0.9, 1.2);
    assert_eq!(worse.verdict, No);
    assert!(worse.reason.contains("tail FCT"), "{}", worse.reason);
}

#[test]
fn rows_without_a_coordinate_are_part_of_the_quantity() {
    let claim = known("superways-aggregator-bandwidth-68pct");
    let judge = |aggregator: f64, ordinary: f64| {
        let of = move |subject: &str, _: &SweepPoint, metric: &str| match (subject, metric) {
            ("superways", "link utilisation: aggregator") => Some(vec![aggregator]),
            ("superways", "link utilisation: ordinary") => Some(vec![ordinary]),
            _ => None,
        };
        judged(claim, vec![SweepPoint::new()], &of).verdict
    };
    assert_eq!([judge(0.6, 0.2), judge(0.4, 0.2), judge(0.2, 0.2)], [Yes, Partly, No]);

    let orders = known("pdq-order-table");
    let Expected::Function(table) = &orders.expected else { panic!("it is a table") };
    let judge = |factor: f64| {
        let of = move |_: &str, _: &SweepPoint, metric: &str| {
            let mut parts = metric.split(": ").skip(1);
            let (order, column) = (parts.next()?, parts.next()?);
            let row = table.rows.iter().find(|row| row[0] == Cell::Text(order.into()))?;
            let at = table.columns.iter().position(|name| name == column)?;
            let Cell::Number(cell) = row[at] else { return None };
            Some(vec![if order == "CBA" { cell * factor } else { cell }])
        };
        judged(orders, vec![SweepPoint::new()], &of)
    };
    assert_eq!([1.0, 1.02, 2.0].map(|factor| judge(factor).verdict), [Yes, Partly, No]);
    assert!(judge(2.0).reason.contains("(CBA, "), "{}", judge(2.0).reason);
}

#[test]
fn a_workload_table_is_compared_cell_by_cell() {
    let claim = known("hyline-table-workloads");
    let judge = |web: f64| {
        let of = move |_: &str, point: &SweepPoint, _: &str| {
            let Coordinate::Text(name) = &point["workload"] else { return None };
            Some(vec![match name.as_str() {
                "heavy" => 0.4,
                "web-search" => web,
                "data-mining" => 0.83,
                _ => 0.97,
            }])
        };
        judged(claim, by_workload(&["heavy", "web-search", "data-mining", "light"]), &of)
    };
    assert_eq!([0.57, 0.54, 0.4].map(|web| judge(web).verdict), [Yes, Partly, No]);
    assert!(judge(0.4).reason.contains("(web-search, below_100kb)"), "{}", judge(0.4).reason);
}

#[test]
fn a_configuration_may_deviate_if_it_is_written_down() {
    struct Compared(Sample, Vec<SweepPoint>);
    impl Evidence for Compared {
        fn sweep_points(&self) -> &[SweepPoint] {
            &self.1
        }
        fn sample(&self, _: &str, _: usize, _: &str) -> Result<Sample, String> {
            Ok(self.0.clone())
        }
        fn series(&self, _: &str, _: usize, _: &str) -> Result<Vec<(f64, f64)>, String> {
            Err("none".into())
        }
    }
    let claim = known("spq-table1-parameters");
    let judge = |value: f64, note: Option<&str>| {
        let sample = Sample { note: note.map(str::to_owned), ..Sample::exact(value) };
        judge(claim, &Compared(sample, vec![SweepPoint::new()]), &|_| None)
    };
    assert_eq!(judge(1.0, None).verdict, Yes);
    let deviates = judge(0.9, Some("the RTO is 1 ms"));
    assert_eq!(deviates.verdict, Partly);
    assert!(deviates.reason.contains("the RTO is 1 ms"), "{}", deviates.reason);
    assert_eq!(judge(0.9, None).verdict, No);
}

#[test]
fn a_table_of_formulas_takes_the_largest_difference() {
    let claim = known("hyline-eq1-eq2-total-times");
    let judge = |error: f64| {
        let of =
            move |_: &str, _: &SweepPoint, metric: &str| metric.ends_with("relative difference").then(|| vec![error]);
        judged(claim, vec![SweepPoint::new()], &of).verdict
    };
    assert_eq!([0.0, 0.02, 0.5].map(judge), [Yes, Partly, No]);
    assert_eq!(judged(claim, Vec::new(), &|_, _, _| None).verdict, NotRun);
}
