//! `cargo xtask`: everything that is done with this repository, the same on every machine.
//!
//! It has no dependencies, so that it is there seconds after the first command on a fresh machine.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what a command is for")]

mod compare_htsim;
mod compare_linux;
mod compare_ns3;
mod deny;
mod docs;
mod engines;
mod files;
mod flow_errors;
mod fuzz;
mod mutants;
mod oldest;
mod python;
mod random;
mod release;
mod shell;
mod speed;
mod test;
mod theory;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use shell::Stop;

const HELP: &str = "\
cargo xtask COMMAND

  test             set up what is missing, then run every check: format, tidiness, lints,
                   documentation, Rust tests, the tests in Python of the command as a user runs it,
                   and the count of instructions (left out where valgrind is missing, but not in CI)
  test --rust      the same without Python
  test --long [MINUTES]
                   run the tests that draw their cases with other seeds, for an hour or so long; what fails
                   is kept in target/random/
  tidy             what neither the compiler nor clippy looks at: see xtask/src/tidy/
  oldest           check that the workspace builds with the Rust that Cargo.toml gives as rust-version; a part of
                   release. The tests look at less, for its sake: what clippy knows of the age of functions, and
                   the oldest Rust that the dependencies say they need
  deny             check licences, sources and advisories of the dependencies with cargo-deny: see deny.toml
  docs             make every table, picture and figure of the pages that comes from a command anew, from
                   what is stored in results/, the scoreboard, and what is made of the schema of scenarios: the
                   reference of the guide and the keys of the Python package
  docs --check     change nothing, and fail if one of them is not up to date; a part of the tests
  docs --measure [NAME]
                   run the command of one source, such as scenarios/tail, store what the pages show of it,
                   and make the pages; without a name, list the sources
  fuzz [SECONDS] [TARGET]
                   feed hostile input to everything that reads what a user wrote, each target for
                   so long (default: 60); needs a C++ compiler
  mutants [N]      change one of N places of the crates that decide results (default: 200), and see whether a test
                   fails; hours for a small N; needs cargo-mutants
  bench [NAME]     measure: calendar, flow, limit, manager, port, whole
  speed            measure what a packet-hop costs beside the least that this machine can do
  speed --all      measure every preset and variant on the fabric of its paper, beside DCTCP
  speed --attribution
                   measure what it costs to attribute the delays of flows, beside the same runs without
  speed --million  run a million hosts for a millisecond, once: time and memory; 10 minutes and 4 GB
  speed --memories measure every memory that ports may share, beside ports with memories of their own
  speed --threads  measure what two threads gain on an idle machine and lose on a busy one
  speed --scale    measure it from 128 to 65,536 hosts, by load and by threads, in about six minutes;
                   with --plot FILE.svg draw it there, and as PNG beside it
  speed --fidelity measure what packets, links alone and the flow level take by hosts, and how far the
                   last two are from packets; with --plot FILE.svg as above
  speed --flow     measure what an event of the flow level costs by hosts, load and flows, as `bench flow`
                   does; with --plot FILE.svg as above
  instructions     count the instructions of a packet-hop with valgrind; fails if they are over 3 %
                   more than crates/bench/instructions.toml says for the same compiler
  instructions --caches
                   count wrong guesses of branches and misses of caches beside them
  instructions --bless
                   count, and write that file
  instructions --if-possible
                   count, but without valgrind say so and succeed, except in CI
  theory [NAME]    print closed forms of the literature beside what is simulated: queueing, srpt,
                   dctcp, throughput, sharing; see docs/validation.md
  engines          measure in turns what Ray and Dask cost for each point beside one process; two minutes
  flow-errors      measure how far the flow level and links alone are from packets, and write data/flow-errors.csv:
                   some minutes
  compare-ns3 [CASE]
                   install ns-3 from Debian's packages, run one case or all in it and in tailcut, and print
                   how they agree and what either cost; all take a quarter of an hour
  compare-ns3 --stored [CASE]
                   compare with what ns-3 gave when it was last asked, without ns-3
  compare-ns3 --bless [CASE]
                   ask it, and write that file: crates/validation/ns3/reference.json
  compare-linux [--flows] [CASE]...
                   build a Linux kernel that is a program in virtual time (nothing is installed and no
                   privilege is needed), run these cases or all in it and in tailcut, and print how they
                   agree, with --flows flow by flow; cases that have an answer are not run again;
                   --trace HOST prints the packets of a host in Linux, --set KEY=VALUE changes tailcut only
  compare-linux --kernel FILE ...
                   the same with a kernel that is built already; the variable TAILCUT_LINUX names one too
  compare-linux --scenario FILE
                   the same with a scenario of your own: a star, a line of switches, or two tiers of them
  compare-linux --stored [CASE]...
                   compare with the stored answers of Linux, without a kernel
  compare-linux --bless [CASE]...
                   run Linux, and write that file: crates/validation/linux/reference.json
  compare-htsim [FOLDER]
                   build a driver against a checkout of csg-htsim, which is there and built already, and
                   print what a packet-hop costs in either simulator on the same flows; without a
                   folder, the variable HTSIM names it
  release          check the oldest Rust, build the command and pack it with completions, manual pages, the
                   schema of a scenario, licences, schemes, scenarios and the guide: target/release-archive/;
                   then unpack it in an empty folder and run a small scenario there
  release --program PATH
                   the same with a command that is built already
  help             this text

Exit codes: 0 all is well, 1 a check failed, 2 it could not be run.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root();
    let result = match arguments.as_slice() {
        ["test"] => test::all(&root, true),
        ["test", "--rust"] => test::all(&root, false),
        ["test", "--long", rest @ ..] => random::long(&root, rest),
        ["tidy"] => tidy::run(&root),
        ["oldest"] => oldest::check(&root),
        ["deny"] => deny::check(&root).map(|unchecked| unchecked.iter().for_each(|what| println!("UNCHECKED: {what}"))),
        ["mutants", rest @ ..] => mutants::run(&root, rest),
        ["fuzz", rest @ ..] => fuzz::run(&root, rest),
        ["bench", rest @ ..] => speed::bench(&root, rest),
        ["speed", rest @ ..] => speed::speed(&root, rest),
        ["theory", rest @ ..] => theory::run(&root, rest),
        ["instructions", rest @ ..] => speed::instructions(&root, rest),
        ["release", rest @ ..] => release::run(&root, rest),
        ["docs", rest @ ..] => docs::run(&root, rest),
        ["engines", rest @ ..] => engines::run(&root, rest),
        ["flow-errors"] => flow_errors::run(&root),
        ["compare-htsim", rest @ ..] => compare_htsim::run(&root, rest),
        ["compare-linux", rest @ ..] => compare_linux::run(&root, rest),
        ["compare-ns3", rest @ ..] => compare_ns3::run(&root, rest),
        ["help" | "--help" | "-h"] | [] => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(Stop::Unusable(format!("there is no `cargo xtask {}`\n\n{HELP}", other.join(" ")))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(message)) => {
            eprintln!("\nfailed: {message}");
            ExitCode::from(1)
        }
        Err(Stop::Unusable(message)) => {
            eprintln!("\nerror: {message}");
            ExitCode::from(2)
        }
        Err(Stop::Told) => ExitCode::from(2),
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().map_or(own.clone(), PathBuf::from)
}
