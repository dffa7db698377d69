//! The cost of a packet-hop beside htsim's, on the same flows in turns: what `cargo xtask compare-htsim` runs.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;

use tailcut_bench::htsim::{Cost, FILE, flow_list, run, scenario};
use tailcut_bench::{Contender, Spread, in_turns, print_table, ratio, simulation};

const ROUNDS: usize = 5;
const FLOWS: u32 = 5_000;

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--driver", driver] => compare(Path::new(driver)),
        _ => Err(format!("`{}` is not known here: expected --driver FILE", arguments.join(" "))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn compare(driver: &Path) -> Result<(), String> {
    let scenario = scenario(FLOWS)?;
    let flows = flow_list(&scenario);
    // Once to see that it works at all.
    let costs = RefCell::new([run(driver, &flows)?; 2]);
    let failure = RefCell::new(None);
    let ours: Contender<'_> = Box::new(|| {
        let (outcome, ns) = simulation::run(&scenario);
        let cost = Cost { packet_hops: outcome.engine.packet_hops, ns };
        costs.borrow_mut()[0] = cost;
        ns as f64 / cost.packet_hops as f64
    });
    let theirs: Contender<'_> = Box::new(|| match run(driver, &flows) {
        Ok(cost) => {
            costs.borrow_mut()[1] = cost;
            cost.ns as f64 / cost.packet_hops as f64
        }
        Err(message) => {
            *failure.borrow_mut() = Some(message);
            f64::NAN
        }
    });
    println!(
        "compare-htsim: {FILE} with {FLOWS} flows, one thread, ns of CPU time for each packet-hop, median (smallest to largest) of {ROUNDS} rounds in turns"
    );
    let spent = in_turns(ROUNDS, &mut [ours, theirs]);
    if let Some(message) = failure.take() {
        return Err(message);
    }
    let row = |name: &str, at: usize| {
        let hops = costs.borrow()[at].packet_hops as f64 / 1e6;
        [name.to_owned(), format!("{hops:.2}"), Spread::of(&spent[at]).to_string()]
    };
    print_table(["simulator", "M packet-hops", "ns per packet-hop"], &[row("tailcut", 0), row("htsim", 1)]);
    println!();
    println!("htsim/tailcut ratio: {:.2}", ratio(&spent[1], &spent[0]));
    Ok(())
}
