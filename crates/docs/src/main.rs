//! `cargo xtask docs`: makes what the pages show of commands, or checks that it is up to date.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what a command is for")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use tailcut_docs::{Finding, Pages, measure};

/// Makes every table, picture and figure of the pages from what is stored in results/, and the scoreboard.
#[derive(Parser)]
#[command(name = "cargo xtask docs")]
struct Arguments {
    /// Change nothing, and say what is not up to date
    #[arg(long)]
    check: bool,
    /// Run the commands of these sources first, such as scenarios/tail, and store what the pages show of them; without
    /// a name, list them
    #[arg(long, value_name = "NAME", num_args = 0.., conflicts_with = "check")]
    measure: Option<Vec<String>>,
    /// The root of the repository
    #[arg(long, value_name = "DIR", default_value = ".", hide = true)]
    root: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            findings.iter().for_each(|finding| println!("{finding}"));
            eprintln!("\n{} of the pages are not up to date", findings.len());
            ExitCode::from(1)
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn lines(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn run(arguments: &Arguments) -> Result<Vec<Finding>, String> {
    let begins = |study: &str| eprintln!("study {study}: does it still hold?");
    let mut pages = Pages::read(&arguments.root).map_err(|findings| lines(&findings))?;
    if arguments.check {
        let mut findings = pages.check();
        findings.extend(pages.check_scoreboard(&begins));
        return Ok(findings);
    }
    if let Some(names) = &arguments.measure {
        let sources = pages.sources();
        if names.is_empty() {
            sources.iter().for_each(|(name, source)| println!("{name}: {}", source.command()));
            return Ok(Vec::new());
        }
        for name in names {
            let known = || sources.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let source = sources.get(name).ok_or_else(|| format!("no page shows `{name}`: there are {}", known()))?;
            eprintln!("{} ...", source.command());
            measure(source, &pages)?;
        }
        pages = Pages::read(&arguments.root).map_err(|findings| lines(&findings))?;
    }
    let changed = pages.write().map_err(|findings| lines(&findings))?;
    changed.iter().for_each(|path| println!("{}", path.display()));
    for (path, text) in pages.scoreboard(&begins)? {
        let whole = arguments.root.join(&path);
        if std::fs::read_to_string(&whole).is_ok_and(|there| there == text) {
            continue;
        }
        std::fs::write(&whole, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(Vec::new())
}
