//! What two threads of a simulation gain where the machine is idle, and lose where it is busy: a table.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

use std::cell::Cell;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tailcut_bench::simulation::scenario;
use tailcut_bench::{Contender, Spread, in_turns, print_table, ratio};
use tailcut_record::Recorder;
use tailcut_sim::World;

const ROUNDS: usize = 5;

/// Networks of three sizes: the file, and what is set in it. Links of 1 us, but 10 us in the second.
const CASES: [(&str, &str, &[&str]); 3] = [
    (
        "144",
        "scenarios/scale.toml",
        &[
            "topology.leaf-spine.leaves=9",
            "topology.leaf-spine.hosts_per_leaf=16",
            "topology.leaf-spine.spines=16",
            "workload.load=0.8",
            "workload.duration=20ms",
        ],
    ),
    ("400", "scenarios/tail.toml", &["workload.load=0.8", "workload.duration=12ms"]),
    ("8192", "scenarios/scale.toml", &["topology.leaf-spine.leaves=128", "workload.duration=1ms"]),
];

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn measure() -> Result<(), String> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "one and two threads beside others that never rest: ms of wall time, median (smallest to largest) of {ROUNDS} \
         rounds in turns, {processors} processors"
    );
    println!();
    let mut table = Vec::new();
    for others in 0..=2 {
        for (hosts, file, set) in CASES {
            let scenario = scenario(file, set, "dctcp").map_err(|problem| problem.render(false))?;
            let digest = Cell::new(None);
            let contender = |threads: u32| -> Contender<'_> {
                let (digest, scenario) = (&digest, &scenario);
                Box::new(move || {
                    let began = Instant::now();
                    let engine = World::new(scenario, Recorder::new()).with_threads(threads).run().engine;
                    let ms = began.elapsed().as_secs_f64() * 1e3;
                    let same = digest.replace(Some(engine.digest)).is_none_or(|before| before == engine.digest);
                    assert!(same, "{threads} threads give the run of one");
                    ms
                })
            };
            let times = beside(others, || in_turns(ROUNDS, &mut [contender(1), contender(2)]));
            table.push([
                others.to_string(),
                hosts.to_owned(),
                Spread::of(&times[0]).to_string(),
                Spread::of(&times[1]).to_string(),
                format!("{:.2}", ratio(&times[1], &times[0])),
            ]);
        }
    }
    print_table(["others", "hosts", "one thread", "two threads", "two to one"], &table);
    Ok(())
}

/// Does something while so many other threads do nothing but use processors.
fn beside<R>(others: usize, work: impl FnOnce() -> R) -> R {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..others {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = work();
        over.store(true, Ordering::Relaxed);
        result
    })
}
