//! The cost of a packet-hop: beside the limit of this machine, or of every preset beside DCTCP.
//!
//! Without arguments the limit and `scenarios/peers.toml` are measured in turns, and the last line is their ratio. With
//! `--all` every preset and variant is measured on the fabric of its paper, in turns with DCTCP on the same fabric.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::process::ExitCode;

use tailcut_bench::limit::Limit;
use tailcut_bench::presets::{Fabric, PEERS, fabric, schemes};
use tailcut_bench::simulation::{run, scenario};
use tailcut_bench::{Contender, Spread, in_turns, ns_each, print_table, ratio};
use tailcut_sim::{Engine, Scenario};

const ROUNDS: usize = 7;
const ROUNDS_OF_ALL: usize = 5;
/// A second of each way of the limit in each round.
const ITERATIONS: u64 = 20_000_000;

/// What every preset is compared with.
const REFERENCE: &str = "dctcp";

/// A preset that costs more than so many times the reference is pointed out.
const DEAR: f64 = 1.5;

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => beside_the_limit(),
        ["--all"] => all_presets(),
        _ => Err(format!("`{}` is not known here: expected nothing or --all", arguments.join(" "))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// A scenario to run, and what the engine did.
struct Measured {
    scheme: String,
    scenario: Scenario,
    engine: Cell<Option<Engine>>,
}

impl Measured {
    fn new(scheme: &str, fabric: Fabric, set: &[&str]) -> Result<Measured, String> {
        let scenario = scenario(fabric.file, set, scheme)
            .map_err(|problem| format!("{scheme} on {}: {}", fabric.file, problem.render(false)))?;
        Ok(Measured { scheme: scheme.to_owned(), scenario, engine: Cell::new(None) })
    }

    /// Runs it. Each call gives the cost of a packet-hop in ns.
    fn contender(&self) -> Contender<'_> {
        Box::new(|| {
            let (outcome, ns) = run(&self.scenario);
            let same = self.engine.get().is_none_or(|before| before == outcome.engine);
            assert!(same, "the same scenario gives the same run");
            self.engine.set(Some(outcome.engine));
            ns as f64 / outcome.engine.packet_hops as f64
        })
    }

    fn engine(&self) -> Engine {
        self.engine.get().expect("it ran")
    }
}

fn beside_the_limit() -> Result<(), String> {
    let peers = Measured::new(REFERENCE, PEERS, &[])?;
    let limit = RefCell::new(Limit::new());
    println!(
        "speed: {} beside the limit, one thread, ns of CPU time, median (smallest to largest) of {ROUNDS} rounds in turns",
        PEERS.file
    );
    let of_limit = |work: fn(&mut Limit, u64)| -> Contender<'_> {
        let limit = &limit;
        Box::new(move || ns_each(ITERATIONS, || work(&mut limit.borrow_mut(), black_box(ITERATIONS))))
    };
    let costs =
        in_turns(ROUNDS, &mut [of_limit(Limit::iterate), of_limit(Limit::iterate_reading_ahead), peers.contender()]);
    black_box(limit.borrow().sum());
    let [plain, ahead, hop] = [&costs[0], &costs[1], &costs[2]].map(|costs| Spread::of(costs));
    // Whether it pays to read ahead depends on the machine and the calendar; the limit is the better way of the two.
    let (best, limit) = if ahead.median < plain.median { (&costs[1], ahead) } else { (&costs[0], plain) };
    let engine = peers.engine();
    let rows = [
        ["iteration of the limit".to_owned(), format!("{:.2}", ITERATIONS as f64 / 1e6), plain.to_string()],
        ["the same, reading ahead".to_owned(), format!("{:.2}", ITERATIONS as f64 / 1e6), ahead.to_string()],
        [
            format!("packet-hop ({:.3} events)", events_per_hop(&engine)),
            format!("{:.2}", engine.packet_hops as f64 / 1e6),
            hop.to_string(),
        ],
    ];
    print_table(["one", "millions", "ns"], &rows);
    println!();
    println!("packet-hop/limit ratio: {:.2} ({:.1} ns / {:.1} ns)", ratio(&costs[2], best), hop.median, limit.median);
    Ok(())
}

fn events_per_hop(engine: &Engine) -> f64 {
    engine.events as f64 / engine.packet_hops as f64
}

fn all_presets() -> Result<(), String> {
    let mut groups: Vec<(Fabric, Vec<Measured>)> = Vec::new();
    for scheme in std::iter::once(REFERENCE.to_owned()).chain(schemes()) {
        let fabric = fabric(&scheme);
        let at = match groups.iter().position(|(known, _)| *known == fabric) {
            Some(at) => at,
            None => {
                groups.push((fabric, vec![Measured::new(REFERENCE, fabric, fabric.set)?]));
                groups.len() - 1
            }
        };
        if scheme != REFERENCE {
            groups[at].1.push(Measured::new(&scheme, fabric, fabric.set)?);
        }
    }
    println!(
        "speed: every preset on the fabric of its paper, one thread, ns of CPU time, median (smallest to largest) of {ROUNDS_OF_ALL} rounds in turns"
    );
    let mut rows = Vec::new();
    for (fabric, measured) in &groups {
        let mut contenders: Vec<Contender<'_>> = measured.iter().map(Measured::contender).collect();
        let costs = in_turns(ROUNDS_OF_ALL, &mut contenders);
        for (measured, own) in measured.iter().zip(&costs) {
            let engine = measured.engine();
            let times = ratio(own, &costs[0]);
            rows.push([
                measured.scheme.clone(),
                fabric.name.to_owned(),
                format!("{:.2}", engine.packet_hops as f64 / 1e6),
                format!("{:.3}", events_per_hop(&engine)),
                Spread::of(own).to_string(),
                format!("{times:.2}"),
                if times > DEAR { format!("> {DEAR}") } else { String::new() },
            ]);
        }
    }
    let of_reference = format!("to {REFERENCE}");
    let heads = ["preset", "fabric", "M packet-hops", "events per hop", "ns per packet-hop", of_reference.as_str(), ""];
    print_table(heads, &rows);
    Ok(())
}
