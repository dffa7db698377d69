//! The cost of a packet-hop by hosts, by load and by threads: tables, and a picture of them if `--plot FILE.svg` says
//! where.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

use std::process::ExitCode;
use std::time::Instant;

use tailcut_bench::scale::{Case, LOADS_LARGE, LOADS_SMALL, Measurable, SIZES, Sample};
use tailcut_bench::simulation::scenario;
use tailcut_bench::{Contender, Spread, grouped, in_turns, measure_and_draw, print_table, ratio};
use tailcut_record::Recorder;
use tailcut_report::{AxisScale, Figure, FigureKind, PlotPoint, Series};
use tailcut_sim::World;

const ROUNDS: usize = 3;

/// Threads are compared on the 400 hosts of Slytherin's paper at the highest of its loads.
const THREADS_FILE: &str = "scenarios/tail.toml";
const THREADS_SET: [&str; 2] = ["workload.load=0.8", "workload.duration=12ms"];
const THREADS_SCHEME: &str = "dctcp";
const THREADS_ROUNDS: usize = 5;
const MOST_THREADS: u32 = 4;

fn main() -> ExitCode {
    measure_and_draw(measure)
}

fn measure() -> Result<Vec<Figure>, String> {
    println!(
        "scale: web search, DCTCP, one thread, ns of CPU time, median (smallest to largest) of {ROUNDS} rounds in turns"
    );
    println!();
    let by_size = rows(&SIZES)?;
    println!();
    let small = rows(&LOADS_SMALL)?;
    println!();
    let large = rows(&LOADS_LARGE)?;
    println!();
    threads()?;
    let series = |style: usize, name: String, cases: &[Case], costs: &[Spread], of: fn(&Case) -> f64| Series {
        name,
        style,
        points: cases.iter().zip(costs).map(|(case, cost)| PlotPoint::new(of(case), cost.median, None)).collect(),
    };
    let by_load = |style: usize, cases: &[Case], costs: &[Spread]| {
        series(style, format!("{} hosts", grouped(cases[0].size.hosts().into())), cases, costs, |case| case.load)
    };
    let of_hosts = |case: &Case| f64::from(case.size.hosts());
    let figure = |name: &str, x_label: &str, x: AxisScale, series: Vec<Series>| Figure {
        name: name.to_owned(),
        title: format!("Cost of a packet-hop by {name}"),
        subtitle: String::new(),
        x_label: x_label.to_owned(),
        x,
        y_label: "CPU time per packet-hop, ns".to_owned(),
        y: AxisScale::Linear,
        from_zero: true,
        reference: None,
        shades: Vec::new(),
        kind: FigureKind::Points,
        series,
    };
    Ok(vec![
        figure(
            "hosts",
            "hosts",
            AxisScale::Log,
            vec![series(0, format!("load {}", SIZES[0].load), &SIZES, &by_size, of_hosts)],
        ),
        figure(
            "load",
            "load: share of the hosts' links",
            AxisScale::Linear,
            vec![by_load(0, &LOADS_SMALL, &small), by_load(1, &LOADS_LARGE, &large)],
        ),
    ])
}

/// Measures cases in turns and prints a row of each. Returns what a packet-hop costs in each.
fn rows(cases: &[Case]) -> Result<Vec<Spread>, String> {
    let measurable = |&case| Measurable::new(case).map_err(|problem| problem.render(false));
    let mut measured: Vec<Measurable> = cases.iter().map(measurable).collect::<Result<_, _>>()?;
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for (case, samples) in measured.iter_mut().zip(&mut samples) {
            samples.push(case.measure());
        }
    }
    let of = |samples: &[Sample], what: fn(&Sample) -> f64| samples.iter().map(what).collect::<Vec<f64>>();
    let costs: Vec<Vec<f64>> = samples.iter().map(|samples| of(samples, |sample| sample.ns_per_hop)).collect();
    let mut table = Vec::new();
    for ((measured, samples), own) in measured.iter().zip(&samples).zip(&costs) {
        let (case, work) = (measured.case, measured.work());
        table.push([
            grouped(case.size.hosts().into()),
            grouped(case.size.ports().into()),
            format!("{}", case.load),
            format!("{} to {}", case.from_us as f64 / 1e3, case.until_us as f64 / 1e3),
            format!("{:.1}", work.packet_hops as f64 / 1e6),
            format!("{:.3}", work.events as f64 / work.packet_hops as f64),
            Spread::of(own).to_string(),
            format!("{:.2}", ratio(own, &costs[0])),
            format!("{:.1}", work.peak_bytes as f64 / 1e6),
            grouped(work.peak_bytes / u64::from(case.size.hosts())),
            format!("{:.1}", Spread::of(&of(samples, |sample| sample.empty_ms)).median),
        ]);
    }
    let heads = [
        "hosts",
        "ports",
        "load",
        "time (ms)",
        "M packet-hops",
        "events per hop",
        "ns per packet-hop",
        "to first",
        "peak state (MB)",
        "B per host",
        "empty run (ms)",
    ];
    print_table(heads, &table);
    Ok(costs.iter().map(|costs| Spread::of(costs)).collect())
}

/// The same run by more and more threads.
fn threads() -> Result<(), String> {
    let scenario = scenario(THREADS_FILE, &THREADS_SET, THREADS_SCHEME).map_err(|problem| problem.render(false))?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let numbers: Vec<u32> = (1..=MOST_THREADS).filter(|&threads| threads as usize <= processors).collect();
    println!(
        "threads: {THREADS_FILE} with {}, ms of wall time, median (smallest to largest) of {THREADS_ROUNDS} rounds in turns, {processors} processors",
        THREADS_SET.join(" ")
    );
    println!();
    let digest = std::cell::Cell::new(None);
    let contender = |&threads: &u32| -> Contender<'_> {
        let (digest, scenario) = (&digest, &scenario);
        Box::new(move || {
            let began = Instant::now();
            let engine = World::new(scenario, Recorder::new()).with_threads(threads).run().engine;
            let ms = began.elapsed().as_secs_f64() * 1e3;
            let same = digest.get().is_none_or(|before| before == (engine.digest, engine.packet_hops));
            assert!(same, "{threads} threads give the run of one");
            digest.set(Some((engine.digest, engine.packet_hops)));
            ms
        })
    };
    let mut contenders: Vec<Contender<'_>> = numbers.iter().map(contender).collect();
    let times = in_turns(THREADS_ROUNDS, &mut contenders);
    let hops = digest.get().map_or(0, |(_, hops)| hops) as f64;
    let row = |(threads, own): (&u32, &Vec<f64>)| {
        [
            threads.to_string(),
            format!("{:.1}", hops / 1e6),
            Spread::of(own).to_string(),
            format!("{:.1}", hops / Spread::of(own).median / 1e3),
            format!("{:.2}", ratio(&times[0], own)),
        ]
    };
    let rows: Vec<[String; 5]> = numbers.iter().zip(&times).map(row).collect();
    print_table(["threads", "M packet-hops", "ms", "M packet-hops per s", "times as fast as one"], &rows);
    Ok(())
}
