//! A million hosts: what a run of them costs in time and memory, once.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

use std::process::ExitCode;

use tailcut_bench::scale::MILLION;
use tailcut_bench::simulation::run;
use tailcut_bench::{grouped, peak_resident_bytes, print_table, thread_cpu_ns};

fn main() -> ExitCode {
    let (size, load) = (MILLION.size, MILLION.load);
    let began = thread_cpu_ns();
    let scenario = match MILLION.until(MILLION.until_us) {
        Ok(scenario) => scenario,
        Err(problem) => {
            eprintln!("{}", problem.render(false));
            return ExitCode::FAILURE;
        }
    };
    let read_ns = thread_cpu_ns() - began;
    let (outcome, run_ns) = run(&scenario);
    let engine = outcome.engine;
    let gigabytes = |bytes: u64| format!("{:.2} GB", bytes as f64 / 1e9);
    let seconds = |ns: u64| format!("{:.1} s of CPU time", ns as f64 / 1e9);
    println!("million: web search, DCTCP, one thread, once");
    println!();
    let rows = [
        ["hosts", &grouped(size.hosts().into())],
        ["ports", &grouped(size.ports().into())],
        ["load", &load.to_string()],
        ["simulated time", &format!("{} ms", MILLION.until_us as f64 / 1e3)],
        ["flows", &grouped(outcome.totals.started)],
        ["of which done", &grouped(outcome.totals.received)],
        ["packet-hops", &grouped(engine.packet_hops)],
        ["scenario and routes", &seconds(read_ns)],
        ["network and run", &seconds(run_ns)],
        ["a packet-hop", &format!("{:.0} ns of CPU time", run_ns as f64 / engine.packet_hops as f64)],
        ["engine's peak state", &gigabytes(engine.peak_bytes)],
        ["whole process", &peak_resident_bytes().map_or_else(|| "?".to_owned(), gigabytes)],
    ];
    print_table(["what", "figure"], &rows.map(|row| row.map(str::to_owned)));
    ExitCode::SUCCESS
}
