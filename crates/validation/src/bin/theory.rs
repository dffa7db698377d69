//! `cargo xtask theory`: prints the closed forms beside what is simulated.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what a command is for")]

use std::process::ExitCode;

use tailcut_validation::theory::{ALL, Theory};

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let mut chosen = Vec::new();
    for name in &names {
        let Some(theory) = Theory::find(name) else {
            let known: Vec<&str> = ALL.iter().map(|theory| theory.name).collect();
            eprintln!("error: there is no theory `{name}`: expected {}", known.join(", "));
            return ExitCode::from(2);
        };
        chosen.push(theory);
    }
    if chosen.is_empty() {
        chosen.extend(ALL);
    }
    for theory in chosen {
        println!("{}: {}\n", theory.name, theory.about);
        for table in (theory.tables)() {
            println!("{table}");
        }
    }
    ExitCode::SUCCESS
}
