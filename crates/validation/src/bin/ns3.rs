//! `cargo xtask compare-ns3`: runs both simulators and prints how they agree.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what a command is for")]

use std::path::PathBuf;
use std::process::ExitCode;

use tailcut_base::MSS_BYTES;
use tailcut_validation::ns3::cases::bound;
use tailcut_validation::ns3::reference::MadeBy;
use tailcut_validation::ns3::report::{Compared, overview};
use tailcut_validation::ns3::{CASES, CaseSpec, Reference, own, peer};
use tailcut_validation::pinned;

const USAGE: &str = "\
ns3 [--driver FILE --ns3 VERSION --compiler VERSION] [--bless] [CASE]

Compares tailcut with what the driver gives, or without one with what ns-3 gave when it was last asked.
";

/// ns-3 needs minutes from about here on.
const LONG_PACKETS: u64 = 500_000;

struct Arguments {
    driver: Option<PathBuf>,
    made_by: MadeBy,
    bless: bool,
    cases: Vec<&'static CaseSpec>,
}

fn main() -> ExitCode {
    let outcome = arguments().and_then(|arguments| compare(&arguments));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn arguments() -> Result<Arguments, String> {
    let mut parsed = Arguments { driver: None, made_by: MadeBy::default(), bless: false, cases: Vec::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value\n\n{USAGE}"));
        match word.as_str() {
            "--driver" => parsed.driver = Some(value()?.into()),
            "--ns3" => parsed.made_by.ns3 = value()?,
            "--compiler" => parsed.made_by.compiler = value()?,
            "--bless" => parsed.bless = true,
            name => parsed.cases.push(CaseSpec::find(name).ok_or_else(|| unknown(name))?),
        }
    }
    if parsed.bless && parsed.driver.is_none() {
        return Err(format!("`--bless` writes down what ns-3 gives, and needs its driver\n\n{USAGE}"));
    }
    if parsed.cases.is_empty() {
        parsed.cases = CASES.iter().collect();
    }
    "cargo xtask compare-ns3 --bless".clone_into(&mut parsed.made_by.command);
    Ok(parsed)
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    format!("there is no case `{name}`: expected one of {}", names.join(", "))
}

/// Whether every case is within its bound.
fn compare(arguments: &Arguments) -> Result<bool, String> {
    // All cases make a new file, whatever was in the old one.
    let is_whole = arguments.cases.len() == CASES.len();
    let is_needed = arguments.driver.is_none() || arguments.bless && !is_whole;
    let mut reference = if is_needed { Reference::read()? } else { Reference::default() };
    let mut all = Vec::new();
    let mut is_good = true;
    for &spec in &arguments.cases {
        for scheme in spec.schemes {
            let case = pinned::load(spec, scheme)?;
            let peer = match &arguments.driver {
                Some(driver) => {
                    let packets: u64 = case.flows.iter().map(|flow| flow.size.div_ceil(MSS_BYTES)).sum();
                    if packets > LONG_PACKETS {
                        eprintln!("{}: ns-3 has {packets} packets to send, which takes it minutes ...", case.key());
                    }
                    peer::run(&case, driver)?
                }
                None => reference.get(&case)?.clone(),
            };
            if arguments.bless {
                reference.put(&case, peer.clone())?;
                reference.made_by = arguments.made_by.clone();
                reference.write()?;
            }
            let compared = Compared::new(&case, peer, own::measure(&case));
            println!("{}", compared.details());
            for beyond in compared.beyond(bound(spec.name, scheme)) {
                is_good = false;
                println!("BEYOND: {beyond}\n");
            }
            all.push(compared);
        }
    }
    println!("{}", overview(&all));
    Ok(is_good)
}
