//! The least that an event of a packet simulator costs on this machine.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints")]

use std::cell::RefCell;
use std::hint::black_box;

use tailcut_bench::limit::{Footprint, Limit};
use tailcut_bench::presets::PEERS;
use tailcut_bench::simulation::{run, scenario};
use tailcut_bench::{Contender, Spread, in_turns, ns_each, print_table, ratio};

const ITERATIONS: u64 = 4_000_000;
const REPETITIONS: usize = 9;

type Work = fn(&mut Limit, u64);

const ROWS: [(&str, Work); 4] = [
    ("the limit: order and memory", Limit::iterate),
    ("with the next packet read ahead", Limit::iterate_reading_ahead),
    ("order alone", Limit::order),
    ("memory alone, in no order", Limit::memory),
];

fn main() {
    let peers = scenario(PEERS.file, PEERS.set, "dctcp").unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let engine = run(&peers).0.engine;
    println!("limit: ns of CPU time per iteration, median (smallest to largest) of {REPETITIONS} x {ITERATIONS}");
    for footprint in [Footprint::of(&peers, &engine), Footprint::SHARED] {
        println!("\n{footprint}");
        measure(footprint);
    }
}

fn measure(footprint: Footprint) {
    let limit = RefCell::new(Limit::new(footprint));
    let contender = |(_, work): (&str, Work)| -> Contender<'_> {
        let limit = &limit;
        Box::new(move || ns_each(ITERATIONS, || work(&mut limit.borrow_mut(), black_box(ITERATIONS))))
    };
    let costs = in_turns(REPETITIONS, &mut ROWS.map(contender));
    black_box(limit.borrow().sum());
    let row = |((name, _), own): (&(&str, Work), &Vec<f64>)| {
        [(*name).to_owned(), Spread::of(own).to_string(), format!("{:.2}", ratio(own, &costs[0]))]
    };
    print_table(["per iteration", "ns", "ratio"], &ROWS.iter().zip(&costs).map(row).collect::<Vec<_>>());
}
