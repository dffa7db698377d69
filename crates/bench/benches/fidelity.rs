//! Hosts against CPU time with packets, link by link and at the flow level, with the errors of the last two beside it:
//! a table, and a picture of it if `--plot FILE.svg` says where.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

use std::process::ExitCode;

use tailcut_bench::fidelity::{FLOWS_PER_HOST, LOAD, Level, OF_KIND, Run, SCHEME, WITH_PACKETS, WITHOUT_PACKETS, run};
use tailcut_bench::{picture_of_arguments, print_table};
use tailcut_report::{AxisScale, Figure, FigureKind, PlotPoint, Series, draw_side_by_side};

const LEVELS: [(Level, &str); 3] = [(Level::Packet, "packet"), (Level::Links, "links"), (Level::Flow, "flow")];

fn main() -> ExitCode {
    let picture = match picture_of_arguments() {
        Ok(picture) => picture,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    println!(
        "fidelity: {SCHEME}, web search at load {LOAD}, {FLOWS_PER_HOST} flows a host, leaf-spine; links: {OF_KIND} of \
         each kind; one thread, CPU time"
    );
    println!();
    let rows = measure();
    let Some(picture) = picture else { return ExitCode::SUCCESS };
    let figures = [cost(&rows), errors(&rows)];
    match draw_side_by_side(&figures, &picture, &picture.with_extension("png")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: cannot draw {}: {e}", picture.display());
            ExitCode::from(2)
        }
    }
}

/// Hosts and what each level gave, packets first, if they were simulated.
type Row = (u32, [Option<Run>; 3]);

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
    figure("Time of a run by hosts", "CPU time, s", AxisScale::Log, (0..3).map(series).collect())
}

fn errors(rows: &[Row]) -> Figure {
    let series = |style: usize, name: &str, nth: usize, of: fn(&Run, &Run) -> f64| {
        let point = |(hosts, runs): &Row| {
            let (packets, own) = (runs[0].as_ref()?, runs[nth].as_ref()?);
            Some(PlotPoint::new(f64::from(*hosts), 100.0 * of(own, packets), None))
        };
        Series { name: name.to_owned(), style, points: rows.iter().filter_map(point).collect() }
    };
    let mean = |own: &Run, packets: &Run| own.errors(packets).mean;
    let tail = |own: &Run, packets: &Run| own.errors(packets).slowdown_p99;
    figure(
        "Error against packets by hosts",
        "error, %",
        AxisScale::Linear,
        vec![
            series(1, "links, mean FCT", 1, mean),
            series(2, "flow, mean FCT", 2, mean),
            series(3, "links, p99 slowdown", 1, tail),
            series(4, "flow, p99 slowdown", 2, tail),
        ],
    )
}
