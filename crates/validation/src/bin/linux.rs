//! `cargo xtask compare-linux`: runs cases in Linux and in tailcut and prints how they agree.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what a command is for")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tailcut_sim::config::suggest;
use tailcut_validation::linux::answer::FullAnswer;
use tailcut_validation::linux::case::Spec;
use tailcut_validation::linux::cases::{CaseSpec, OFFSETS};
use tailcut_validation::linux::guest::{Guest, driver_hash};
use tailcut_validation::linux::reference::MadeBy;
use tailcut_validation::linux::{Answer, CASES, Case, Compared, Reference, offsets, own, report};

const USAGE: &str = "\
linux [--kernel FILE --answers FOLDER --version VERSION --options HASH --edits HASH] [--bless] [--flows]
      [--trace HOST]... [--set KEY=VALUE]... [--scenario FILE]... [CASE]...

Compares tailcut with the kernel, or without one with the stored answers of Linux.

Exit codes: 0 if every case was compared, also where a case is outside of a band, which the last column shows; 2 if an
argument is wrong or a case did not run.
";
/// Kernels at a time.
const AT_A_TIME: usize = 2;

struct Arguments {
    kernel: Option<PathBuf>,
    answers: PathBuf,
    made_by: MadeBy,
    bless: bool,
    flows: bool,
    trace: Vec<u32>,
    specs: Vec<Spec>,
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| compare(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Problems of scenarios are rendered with the word.
            eprintln!("error: {}", message.strip_prefix("error: ").unwrap_or(&message));
            ExitCode::from(2)
        }
    }
}

fn arguments() -> Result<Arguments, String> {
    let mut parsed = Arguments {
        kernel: None,
        answers: PathBuf::from("target/linux/answers"),
        made_by: MadeBy::default(),
        bless: false,
        flows: false,
        trace: Vec::new(),
        specs: Vec::new(),
    };
    let mut has_scenario = false;
    let mut set = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value\n\n{USAGE}"));
        match word.as_str() {
            "--kernel" => parsed.kernel = Some(value()?.into()),
            "--answers" => parsed.answers = value()?.into(),
            "--version" => parsed.made_by.kernel = value()?,
            "--options" => parsed.made_by.options = value()?,
            "--edits" => parsed.made_by.edits = value()?,
            "--bless" => parsed.bless = true,
            "--flows" => parsed.flows = true,
            "--set" => set.push(value()?),
            "--trace" => {
                let host = value()?;
                let expected = |_| format!("`--trace` needs the number of a host, got `{host}`");
                parsed.trace.push(host.parse().map_err(expected)?);
            }
            "--scenario" => {
                has_scenario = true;
                parsed.specs.extend(Spec::of_file(value()?.as_ref())?);
            }
            name if name.starts_with('-') => return Err(format!("there is no option `{name}`\n\n{USAGE}")),
            name => parsed.specs.push(Spec::of(CaseSpec::find(name).ok_or_else(|| unknown(name))?)?),
        }
    }
    if parsed.bless && parsed.kernel.is_none() {
        return Err(format!("`--bless` stores the answers of Linux and needs a kernel\n\n{USAGE}"));
    }
    if has_scenario && (parsed.bless || parsed.kernel.is_none()) {
        return Err("a scenario of your own has no stored answer: expected a kernel, and no `--bless`".to_owned());
    }
    if !parsed.trace.is_empty() && parsed.kernel.is_none() {
        return Err("`--trace` prints packets of Linux and needs a kernel".to_owned());
    }
    if parsed.specs.is_empty() {
        parsed.specs = CASES.iter().map(Spec::of).collect::<Result<_, _>>()?;
    }
    parsed.specs.iter_mut().for_each(|spec| spec.own.extend(set.iter().cloned()));
    "cargo xtask compare-linux --bless".clone_into(&mut parsed.made_by.command);
    parsed.made_by.driver = driver_hash()?;
    Ok(parsed)
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    format!("there is no case `{name}`\nhelp: {}", suggest(name, &names))
}

fn compare(arguments: &Arguments) -> Result<(), String> {
    for warning in arguments.specs.iter().flat_map(|spec| &spec.warnings) {
        eprintln!("warning: {warning}");
    }
    let cases: Vec<Case> = arguments.specs.iter().cloned().map(Case::load).collect::<Result<_, _>>()?;
    let answers = match &arguments.kernel {
        Some(kernel) => ask(&cases, &Guest::new(kernel, &arguments.answers)?, &arguments.trace)?,
        None => {
            let reference = Reference::read()?;
            cases.iter().map(|case| reference.get(case).cloned()).collect::<Result<_, _>>()?
        }
    };
    if arguments.bless {
        let is_whole = cases.len() == CASES.len();
        let mut reference = if is_whole { Reference::default() } else { Reference::read()? };
        for (case, answer) in cases.iter().zip(&answers) {
            reference.put(case, answer.clone())?;
        }
        reference.made_by = arguments.made_by.clone();
        reference.write()?;
    }
    let compared = cases.iter().zip(&answers).map(|(case, answer)| Compared::new(case, answer, own::run(case, answer)));
    let compared: Vec<Compared> = compared.collect();
    if arguments.flows {
        for one in &compared {
            println!("{}", report::flows(one));
        }
    }
    println!("{}", report::overview(&compared));
    let refused: Vec<(&str, &String)> =
        compared.iter().filter_map(|one| Some((one.name.as_str(), one.own.as_ref().err()?))).collect();
    if let Some((name, why)) = refused.first() {
        let count = format!("{} of {} cases did not run", refused.len(), compared.len());
        return Err(format!("{count}; `{name}`: {}", why.strip_prefix("error: ").unwrap_or(why)));
    }
    let idle = cases.into_iter().zip(answers).filter(|(case, _)| OFFSETS.contains(&case.spec.name.as_str()));
    let idle: Vec<(Case, Answer)> = idle.collect();
    if !idle.is_empty() {
        println!("offsets of the instrument, in idle networks:\n{}", offsets::table(&idle)?);
    }
    Ok(())
}

/// The answers of Linux, some at a time.
fn ask(cases: &[Case], guest: &Guest, trace: &[u32]) -> Result<Vec<Answer>, String> {
    let plans: Vec<String> = cases
        .iter()
        .map(|case| {
            let mut plan = case.plan().map_err(|e| format!("{} cannot be replayed in Linux: {e}", case.key()))?;
            plan.trace = trace.to_owned();
            Ok(plan.text())
        })
        .collect::<Result<_, String>>()?;
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Option<Result<Answer, String>>>> = Mutex::new(vec![None; cases.len()]);
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { return };
                    let began = std::time::Instant::now();
                    let full = guest.answer(&case.key(), &plans[at]);
                    if let Ok(full) = &full {
                        print_trace(full);
                    }
                    let answer = full.map(|full| Answer::from(&full));
                    eprintln!("{}: {:.1} s", case.key(), began.elapsed().as_secs_f64());
                    found.lock().expect("no thread panics with it")[at] = Some(answer);
                }
            });
        }
    });
    let found = found.into_inner().expect("no thread panics with it");
    found.into_iter().map(|answer| answer.expect("every case was asked")).collect()
}

/// The packets of the first round by time, if any were traced.
fn print_trace(answer: &FullAnswer) {
    let Some(round) = answer.rounds.first() else { return };
    let mut lines: Vec<&String> = round.trace.iter().collect();
    lines.sort_by_key(|line| line.split(' ').next().and_then(|time| time.parse::<i64>().ok()));
    for line in lines {
        println!("{line}");
    }
}
