//! What an event of the flow level costs, by the number of hosts, by the load and by the number of flows: tables, and a
//! picture of them if `--plot FILE.svg` says where.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

use std::process::ExitCode;

use tailcut_bench::flow::{Case, Sample, Shape, measure};
use tailcut_bench::{measure_and_draw, print_table};
use tailcut_report::{AxisScale, Figure, FigureKind, PlotPoint, Series};

/// One of each kind of discipline: fair shares, weighted ones, a feedback queue, and an order.
const SCHEMES: [&str; 4] = ["rcp", "l2dct", "pias", "pdq"];
const HOSTS: [u32; 6] = [64, 256, 1024, 4096, 16384, 65536];
const LOADS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];
const FLOWS: [u64; 3] = [10_000, 100_000, 1_000_000];
/// Ways through a fat-tree are drawn, so that links between its switches are full at a lower load.
const LOADS_OF_TREES: [f64; 3] = [0.2, 0.4, 0.6];

/// By what, and for each scheme what was measured.
struct Panel {
    what: &'static str,
    x: AxisScale,
    rows: Vec<Vec<(f64, Sample)>>,
}

fn main() -> ExitCode {
    measure_and_draw(|| {
        println!("flow level: web search on networks that are not oversubscribed, one thread, CPU time");
        let panels = panels();
        Ok([0, 1, 3].map(|nth| figure(&panels[nth])).to_vec())
    })
}

fn panels() -> [Panel; 4] {
    let base = |scheme| Case { scheme, shape: Shape::LeafSpine, hosts: 1024, load: 0.6, flows: 100_000 };
    let tree = |scheme| Case { shape: Shape::FatTree, ..base(scheme) };
    let panel = |what, on, x, cases: &dyn Fn(&'static str) -> Vec<(f64, Case)>| {
        let rows = SCHEMES.iter().map(|&scheme| rows(what, on, &cases(scheme))).collect();
        Panel { what, x, rows }
    };
    [
        panel("hosts", "leaf-spine", AxisScale::Log, &|scheme| {
            HOSTS.map(|hosts| (f64::from(hosts), Case { hosts, ..base(scheme) })).to_vec()
        }),
        panel("load", "leaf-spine", AxisScale::Linear, &|scheme| {
            LOADS.map(|load| (load, Case { load, ..base(scheme) })).to_vec()
        }),
        panel("load", "fat-tree", AxisScale::Linear, &|scheme| {
            LOADS_OF_TREES.map(|load| (load, Case { load, ..tree(scheme) })).to_vec()
        }),
        panel("flows", "leaf-spine", AxisScale::Log, &|scheme| {
            FLOWS.map(|flows| (flows as f64, Case { flows, ..base(scheme) })).to_vec()
        }),
    ]
}

/// Measures cases of a scheme and prints a row of each.
fn rows(what: &str, on: &str, cases: &[(f64, Case)]) -> Vec<(f64, Sample)> {
    let Case { scheme, hosts, load, flows, .. } = cases[0].1;
    let others = [("hosts", hosts.to_string()), ("load", load.to_string()), ("flows", flows.to_string())];
    let others: Vec<String> =
        others.iter().filter(|other| other.0 != what).map(|(of, at)| format!("{of} {at}")).collect();
    println!();
    println!("{scheme} on a {on} by {what}, {}", others.join(", "));
    let measured: Vec<(f64, Sample)> = cases.iter().map(|&(value, case)| (value, measure(case))).collect();
    let row = |(value, sample): &(f64, Sample)| {
        [
            value.to_string(),
            sample.events.to_string(),
            format!("{:.2}", sample.us_each()),
            format!("{:.1}", sample.seconds),
            format!("{:.0}", sample.bytes as f64 / 1e6),
        ]
    };
    let table: Vec<[String; 5]> = measured.iter().map(row).collect();
    print_table([what, "events", "us for each", "s", "MB"], &table);
    measured
}

fn figure(panel: &Panel) -> Figure {
    let point = |(value, sample): &(f64, Sample)| PlotPoint::new(*value, sample.us_each(), None);
    let schemes = SCHEMES.iter().zip(&panel.rows).enumerate();
    let series = schemes.map(|(style, (name, rows))| Series {
        name: (*name).to_owned(),
        style,
        points: rows.iter().map(point).collect(),
    });
    Figure {
        name: panel.what.to_owned(),
        title: format!("Cost of an event by {}", panel.what),
        subtitle: String::new(),
        x_label: panel.what.to_owned(),
        x: panel.x.clone(),
        y_label: "CPU time per event, us".to_owned(),
        y: AxisScale::Log,
        from_zero: false,
        reference: None,
        shades: Vec::new(),
        kind: FigureKind::Points,
        series: series.collect(),
    }
}
