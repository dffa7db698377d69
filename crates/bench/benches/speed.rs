//! The cost of a packet-hop: beside the limit of this machine, or of every preset beside DCTCP.
//!
//! Without arguments the limit and `scenarios/peers.toml` are measured in turns, and the last line is their ratio. With
//! `--all` every preset and variant is measured on the fabric of its paper, in turns with DCTCP on the same fabric.
//! With `--memories` DCTCP is measured over every memory that ports of a switch may share, in turns with ports that
//! have their own. With `--attribution` schemes are measured with the delays of their flows attributed, in turns with
//! the same without.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::process::ExitCode;

use tailcut_bench::limit::{Footprint, Limit};
use tailcut_bench::presets::{Fabric, PEERS, TAIL, fabric, schemes};
use tailcut_bench::simulation::{run, scenario};
use tailcut_bench::{Contender, Spread, in_turns, ns_each, print_table, ratio};
use tailcut_model::registry::seats_of;
use tailcut_sim::{Config, Engine, Scenario};

const ROUNDS: usize = 7;
const ROUNDS_OF_ALL: usize = 5;
/// A second of each way of the limit in each round.
const ITERATIONS: u64 = 20_000_000;

/// What every preset is compared with.
const REFERENCE: &str = "dctcp";

/// A preset that costs more than so many times the reference is pointed out.
const DEAR: f64 = 1.5;

/// A shared memory that costs more than so many times none is pointed out.
const DEAR_MEMORY: f64 = 1.3;

/// Attributing delays must not cost more than so many times the run without.
const DEAR_ATTRIBUTION: f64 = 1.3;

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => beside_the_limit(),
        ["--all"] => all_presets(),
        ["--memories"] => all_memories(),
        ["--attribution"] => attribution(),
        _ => {
            let expected = "expected nothing, --all, --memories or --attribution";
            Err(format!("`{}` is not known here: {expected}", arguments.join(" ")))
        }
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
    // Once to see what it works on; it is also warm then.
    let footprint = Footprint::of(&peers.scenario, &run(&peers.scenario).0.engine);
    let limits = [footprint, Footprint::SHARED].map(|footprint| RefCell::new(Limit::new(footprint)));
    println!(
        "speed: {} beside the limit, one thread, ns of CPU time, median (smallest to largest) of {ROUNDS} rounds in turns",
        PEERS.file
    );
    println!("limit: {footprint}, as in the run");
    println!("large limit: {}, as in earlier versions", Footprint::SHARED);
    println!();
    let of_limit = |at: usize, work: fn(&mut Limit, u64)| -> Contender<'_> {
        let limit = &limits[at];
        Box::new(move || ns_each(ITERATIONS, || work(&mut limit.borrow_mut(), black_box(ITERATIONS))))
    };
    let ways = [Limit::iterate, Limit::iterate_reading_ahead];
    let mut contenders: Vec<Contender<'_>> =
        (0..limits.len()).flat_map(|at| ways.map(|way| of_limit(at, way))).collect();
    contenders.push(peers.contender());
    let costs = in_turns(ROUNDS, &mut contenders);
    drop(contenders);
    limits.iter().for_each(|limit| _ = black_box(limit.borrow().sum()));
    let engine = peers.engine();
    let names = ["iteration of the limit", "the same, reading ahead", "of the large limit", "the same, reading ahead"];
    let iterations = format!("{:.2}", ITERATIONS as f64 / 1e6);
    let mut rows: Vec<[String; 3]> = names
        .iter()
        .zip(&costs)
        .map(|(name, own)| [(*name).to_owned(), iterations.clone(), Spread::of(own).to_string()])
        .collect();
    let hop = &costs[names.len()];
    rows.push([
        format!("packet-hop ({:.3} events)", events_per_hop(&engine)),
        format!("{:.2}", engine.packet_hops as f64 / 1e6),
        Spread::of(hop).to_string(),
    ]);
    print_table(["one", "millions", "ns"], &rows);
    println!();
    for (name, ways) in [("limit", &costs[..2]), ("large limit", &costs[2..4])] {
        // Whether it pays to read ahead depends on the machine and the calendar: the better way counts.
        let median = |way: &Vec<f64>| Spread::of(way).median;
        let best = if median(&ways[1]) < median(&ways[0]) { &ways[1] } else { &ways[0] };
        println!("packet-hop/{name} ratio: {:.2} ({:.1} ns / {:.1} ns)", ratio(hop, best), median(hop), median(best));
    }
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

/// What is told of packets costs, not what is dropped: no memory is ever full.
fn all_memories() -> Result<(), String> {
    let seats = seats_of::<Config>();
    let seat = seats.iter().find(|seat| seat.path == "switch.memory").ok_or("switches have no seat for a memory")?;
    let mut measured = Vec::new();
    for model in &seat.models {
        let memory = match model.name.as_str() {
            "private" | "unbounded" => format!("switch.memory.{}={{}}", model.name),
            // As long as flows count by default, in one round trip: ten times the parts.
            "rtt" => "switch.memory.rtt={size=\"100MB\",rtt=\"800us\",recent=1}".to_owned(),
            name => format!("switch.memory.{name}.size=100MB"),
        };
        let set: Vec<&str> = PEERS.set.iter().copied().chain([memory.as_str()]).collect();
        measured.push((model.name.clone(), Measured::new(REFERENCE, PEERS, &set)?));
    }
    println!(
        "speed: {REFERENCE} on {} over every memory, one thread, ns of CPU time, median (smallest to largest) of {ROUNDS} rounds in turns",
        PEERS.name
    );
    let mut contenders: Vec<Contender<'_>> = measured.iter().map(|(_, measured)| measured.contender()).collect();
    let costs = in_turns(ROUNDS, &mut contenders);
    let private = measured.iter().position(|(name, _)| name == "private").ok_or("no memory is private")?;
    let row = |((name, _), own): (&(String, Measured), &Vec<f64>)| {
        let times = ratio(own, &costs[private]);
        let dear = if times > DEAR_MEMORY { format!("> {DEAR_MEMORY}") } else { String::new() };
        [name.clone(), Spread::of(own).to_string(), format!("{times:.2}"), dear]
    };
    let rows: Vec<_> = measured.iter().zip(&costs).map(row).collect();
    print_table(["memory", "ns per packet-hop", "to private", ""], &rows);
    Ok(())
}

/// What is attributed: the common work, and the fabric and traffic of `scenarios/tail.toml` under schemes whose packets
/// wait in different places.
const ATTRIBUTED: [(&str, Fabric); 6] = {
    let peers = Fabric { set: &["workload.flows=400"], ..PEERS };
    let busy = Fabric { name: "leaf-spine", file: "crates/bench/scenarios/leaf-spine.toml", set: &[] };
    [("dctcp", peers), ("dctcp", TAIL), ("pias", TAIL), ("slytherin", TAIL), ("tcp", busy), ("homa", busy)]
};

fn attribution() -> Result<(), String> {
    println!(
        "speed: delays attributed, beside the same runs without, one thread, ns of CPU time, median (smallest to largest) of {ROUNDS} rounds in turns"
    );
    let mut rows = Vec::new();
    for (scheme, fabric) in ATTRIBUTED {
        let set = [fabric.set, &["record.attribution=true"]].concat();
        let off = Measured::new(scheme, fabric, fabric.set)?;
        let on = Measured::new(scheme, fabric, &set)?;
        let costs = in_turns(ROUNDS, &mut [off.contender(), on.contender()]);
        if off.engine().digest != on.engine().digest {
            return Err(format!("{scheme} on {}: attribution changes the run", fabric.name));
        }
        let times = ratio(&costs[1], &costs[0]);
        rows.push([
            scheme.to_owned(),
            fabric.name.to_owned(),
            format!("{:.2}", on.engine().packet_hops as f64 / 1e6),
            Spread::of(&costs[0]).to_string(),
            Spread::of(&costs[1]).to_string(),
            format!("{times:.2}"),
            if times > DEAR_ATTRIBUTION { format!("> {DEAR_ATTRIBUTION}") } else { String::new() },
        ]);
    }
    print_table(["scheme", "fabric", "M packet-hops", "ns per packet-hop", "attributed", "ratio", ""], &rows);
    Ok(())
}
