//! Hosts against CPU time with packets, link by link and at the flow level, with the errors of the last two beside it:
//! a table, and a picture of it if `--plot FILE.svg` says where.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

use std::process::ExitCode;

use tailcut_bench::fidelity::{FLOWS_PER_HOST, LOAD, Level, Run, SCHEME, WITH_PACKETS, WITHOUT_PACKETS, run};
use tailcut_bench::{measure_and_draw, print_table};
use tailcut_report::{AxisScale, Figure, FigureKind, PlotPoint, Series};

/// Packets first: the others are compared with them.
const LEVELS: [(Level, &str); 4] = [
    (Level::Packet, "packet"),
    (Level::Links { of_kind: 32 }, "links, 32 of a kind"),
    (Level::Links { of_kind: 128 }, "links, 128 of a kind"),
    (Level::Flow, "flow"),
];

fn main() -> ExitCode {
    measure_and_draw(|| {
        println!(
            "fidelity: {SCHEME}, web search at load {LOAD}, {FLOWS_PER_HOST} flows a host, leaf-spine; one thread, CPU time"
        );
        println!();
        let rows = measure();
        Ok(vec![cost(&rows), errors(&rows)])
    })
}

/// Hosts and what each level gave, packets first, if they were simulated.
type Row = (u32, [Option<Run>; LEVELS.len()]);

fn measure() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut table = Vec::new();
    for hosts in WITH_PACKETS.into_iter().chain(WITHOUT_PACKETS) {
        let is_measured = |level: Level| level != Level::Packet || WITH_PACKETS.contains(&hosts);
        let runs = LEVELS.map(|(level, _)| is_measured(level).then(|| run(hosts, level)));
        for ((_, name), own) in LEVELS.iter().zip(&runs) {
            let Some(own) = own else { continue };
            let packets = runs[0].as_ref();
            let part = |of: &dyn Fn(&Run) -> String| packets.map_or("-".to_owned(), of);
            let percent = |part: f64| format!("{:+.1}", 100.0 * part);
            table.push([
                hosts.to_string(),
                (*name).to_owned(),
                format!("{:.3}", own.seconds),
                part(&|packets| format!("{:.1}", packets.seconds / own.seconds)),
                part(&|packets| percent(own.errors(packets).mean)),
                part(&|packets| percent(own.errors(packets).p99)),
                part(&|packets| percent(own.errors(packets).slowdown_p99)),
            ]);
        }
        rows.push((hosts, runs));
    }
    let heads = ["hosts", "fidelity", "s", "times as fast", "mean FCT, %", "p99 FCT, %", "p99 slowdown, %"];
    print_table(heads, &table);
    rows
}

fn figure(title: &str, y_label: &str, y: AxisScale, series: Vec<Series>) -> Figure {
    Figure {
        name: "hosts".to_owned(),
        title: title.to_owned(),
        subtitle: String::new(),
        x_label: "hosts".to_owned(),
        x: AxisScale::Log,
        y_label: y_label.to_owned(),
        y,
        from_zero: false,
        reference: None,
        shades: Vec::new(),
        kind: FigureKind::Points,
        series,
    }
}

fn cost(rows: &[Row]) -> Figure {
    let series = |nth: usize| {
        let point = |(hosts, runs): &Row| {
            let run = runs[nth].as_ref()?;
            Some(PlotPoint::new(f64::from(*hosts), run.seconds, None))
        };
        Series { name: LEVELS[nth].1.to_owned(), style: nth, points: rows.iter().filter_map(point).collect() }
    };
    figure("Time of a run by hosts", "CPU time, s", AxisScale::Log, (0..LEVELS.len()).map(series).collect())
}

fn errors(rows: &[Row]) -> Figure {
    let series = |style: usize, what: &str, nth: usize, of: fn(&Run, &Run) -> f64| {
        let point = |(hosts, runs): &Row| {
            let (packets, own) = (runs[0].as_ref()?, runs[nth].as_ref()?);
            Some(PlotPoint::new(f64::from(*hosts), 100.0 * of(own, packets), None))
        };
        Series { name: format!("{}, {what}", LEVELS[nth].1), style, points: rows.iter().filter_map(point).collect() }
    };
    let mean = |own: &Run, packets: &Run| own.errors(packets).mean;
    let tail = |own: &Run, packets: &Run| own.errors(packets).slowdown_p99;
    figure(
        "Error against packets by hosts",
        "error, %",
        AxisScale::Linear,
        (1..LEVELS.len())
            .map(|nth| series(nth, "mean FCT", nth, mean))
            .chain((1..LEVELS.len()).map(|nth| series(nth + LEVELS.len() - 1, "p99 slowdown", nth, tail)))
            .collect(),
    )
}
