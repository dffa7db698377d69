//! `tailcut place`.

use std::path::PathBuf;

use clap::Args;
use tailcut_lab::place::{self, Placing, random_text};
use tailcut_lab::{Plan, RunArguments};
use tailcut_placement::{MOST_APPLICATIONS, RandomCase, random_rows};
use tailcut_sim::{Problem, Tree};

use crate::SeedArguments;
use crate::claims::one_of;
use crate::format::TextFormat;
use crate::page::{Page, say};

#[derive(Args)]
pub(crate) struct PlaceCommand {
    /// The scenario file
    #[arg(required_unless_present = "random")]
    scenario: Option<PathBuf>,
    /// Change a value of the scenario, such as workload.load=0.5; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    seeds: SeedArguments,
    /// How links are given: heuristic, one (a link for each server, nothing is moved), or as-coded (three links of
    /// 40 Gb/s to three spines, nothing is moved) [default: heuristic]
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// A file with a table `placement`: the parameters of the equations and how they are read
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
    /// Change one of these parameters, such as alpha=0.9 or leaf_buffer=100KB; may be given several times
    #[arg(long = "place", value_name = "KEY=VALUE")]
    place: Vec<String>,
    /// A file with prices [default: those of the thesis, data/prices.toml]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// The scenario with extra links, static routes and moved applications, for tailcut run
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Compare with the fewest links of any placement, by trying all
    #[arg(long)]
    fewest: bool,
    /// In place of a scenario: compare the heuristic with the fewest links over so many random sets of applications
    #[arg(long, value_name = "N", conflicts_with_all = ["scenario", "out", "fewest", "mode", "parameters", "place", "prices", "set"],
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    random: Option<u32>,
    /// Applications in each of these sets
    #[arg(long, value_name = "N", requires = "random", default_value_t = 8)]
    applications: usize,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: TextFormat,
}

/// What random applications are drawn from: the degrees and the buffer of section 4.4, and sizes and rates with which
/// the equations ask for links at all.
const RANDOM: [(f64, f64, f64, (u32, u32)); 7] = [
    (1500.0, 240e3, 4.0, (48, 96)),
    (4000.0, 240e3, 4.0, (48, 96)),
    (4000.0, 240e3, 1.0, (48, 96)),
    (10e3, 240e3, 4.0, (48, 96)),
    (10e3, 240e3, 1.0, (48, 96)),
    (10e3, 240e3, 4.0, (1, 96)),
    (10e3, 100e3, 1.0, (1, 96)),
];

fn random(arguments: &PlaceCommand, instances: u32) -> Result<String, Problem> {
    let count = arguments.applications;
    if !(1..=MOST_APPLICATIONS).contains(&count) {
        return Err(Problem::new(format!("all placements of {count} applications cannot be tried"))
            .help(format!("expected 1 to {MOST_APPLICATIONS}")));
    }
    let seed = arguments.seeds.choice().and_then(|choice| choice.seeds().first().copied()).unwrap_or(1);
    let cases = RANDOM.map(|(size, buffer, theta, degrees)| RandomCase { size, buffer, theta, degrees });
    let rows = random_rows(&cases, count, instances, seed);
    Ok(match arguments.format {
        TextFormat::Text => random_text(&rows, count, instances),
        TextFormat::Json => rows.iter().map(|row| serde_json::json!(row).to_string() + "\n").collect(),
    })
}

pub(crate) fn place(arguments: &PlaceCommand) -> Result<(), Problem> {
    let mut out = Page::default();
    let Some(file) = &arguments.scenario else {
        out.line(random(arguments, arguments.random.unwrap_or(1))?.trim_end_matches('\n'));
        out.print();
        return Ok(());
    };
    let mut assignments = arguments.place.clone();
    if let Some(mode) = &arguments.mode {
        assignments.push(format!("mode={}", one_of("mode", mode, &["heuristic", "one", "as-coded"])?));
    }
    let prices = place::prices(arguments.prices.as_deref())?;
    let plan = Plan::read(file, &RunArguments { set: arguments.set.clone(), seeds: arguments.seeds.choice() })?;
    let parameters = place::parameters(&plan, arguments.parameters.as_deref(), &assignments)?;
    for warning in &plan.warnings {
        say!("warning: {warning}");
    }
    let placing = Placing::of(&plan, &parameters, &prices, arguments.fewest)?;
    if let Some(written) = &arguments.out {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Problem::new(format!("cannot read {}: {error}", file.display())))?;
        let mut layers = vec![Tree::parse(&file.display().to_string(), &text)?];
        for set in &arguments.set {
            layers.push(Tree::parse_assignment(set)?);
        }
        let scenario = placing.scenario(&Tree::layered(&layers))?;
        std::fs::write(written, scenario)
            .map_err(|error| Problem::new(format!("cannot write {}: {error}", written.display())))?;
    }
    let text = match arguments.format {
        TextFormat::Text => placing.text(),
        TextFormat::Json => placing.json(),
    };
    out.line(text.trim_end_matches('\n'));
    out.print();
    Ok(())
}
