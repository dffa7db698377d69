//! Counts the instructions of the event loop under valgrind and compares them with those in `instructions.toml`.
//!
//! Started without arguments it starts itself under callgrind for each case, and `--bless` writes the file instead of
//! comparing; `--caches` counts wrong guesses and misses beside them, and compares nothing. With `--count CASE` it is
//! the program that is counted.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};

use tailcut_bench::instructions::{Case, Counts, FILE, Totals, cases, compiler, judge, totals_of};
use tailcut_bench::print_table;
use tailcut_bench::simulation::{in_repository, run_event_loop, scenario};
use tailcut_record::Recorder;
use tailcut_sim::{Scenario, World};

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => compare(),
        ["--bless"] => bless().map(|()| ExitCode::SUCCESS),
        ["--caches"] => caches().map(|()| ExitCode::SUCCESS),
        ["--count", case] => count(case).map(|()| ExitCode::SUCCESS),
        _ => Err(format!("`{}` is not known here: expected nothing, --bless or --caches", arguments.join(" "))),
    };
    result.unwrap_or_else(|message| {
        eprintln!("error: {message}");
        ExitCode::from(2)
    })
}

fn compare() -> Result<ExitCode, String> {
    let path = in_repository(FILE);
    let text = std::fs::read_to_string(&path)
        .map_err(|e| format!("cannot read {FILE}: {e}; `cargo xtask instructions --bless` writes it"))?;
    let judgement = judge(&Counts::parse(&text)?, &count_all()?);
    for note in &judgement.notes {
        println!("note: {note}");
    }
    for failure in &judgement.failures {
        eprintln!("failed: {failure}");
    }
    Ok(if judgement.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn bless() -> Result<(), String> {
    std::fs::write(in_repository(FILE), count_all()?.to_text()).map_err(|e| format!("cannot write {FILE}: {e}"))?;
    println!("{FILE} is written");
    Ok(())
}

/// The cases whose wrong guesses and misses are counted: the common work, and a network that no cache holds.
const WITH_CACHES: [&str; 2] = ["peers", "large"];

/// A core with 48 KB of first-level and 2 MB of second-level cache, and callgrind's predictor of branches. It knows
/// nothing of prefetches, of pages and of how a processor overlaps what it waits for.
const CACHES: [&str; 5] =
    ["--branch-sim=yes", "--cache-sim=yes", "--I1=32768,8,64", "--D1=49152,12,64", "--LL=2097152,16,64"];

/// Prints what callgrind counts beside instructions.
fn caches() -> Result<(), String> {
    let mut rows = Vec::new();
    for name in WITH_CACHES {
        let case = Case::find(name).expect("it is a case");
        let (_, totals, hops) = finish(start(case, &CACHES)?)?;
        let each = |names: &[&str]| {
            let sum: u64 = names.iter().filter_map(|name| totals.get(*name)).sum();
            format!("{:.2}", sum as f64 / hops as f64)
        };
        rows.push([
            name.to_owned(),
            each(&["Ir"]),
            each(&["Bc", "Bi"]),
            each(&["Bcm", "Bim"]),
            each(&["D1mr", "D1mw"]),
            each(&["DLmr", "DLmw"]),
        ]);
    }
    println!("counts of callgrind for each packet-hop of the first part of a run, with 48 KB of L1 and 2 MB of L2");
    print_table(["case", "instructions", "branches", "guessed wrong", "L1 misses", "L2 misses"], &rows);
    Ok(())
}

/// One case that is being counted.
struct Counting {
    case: Case,
    child: Child,
    out: PathBuf,
}

/// Counts every case, as many at a time as there are processors: they do not disturb each other.
fn count_all() -> Result<Counts, String> {
    let compiler = compiler()?;
    let at_a_time = std::thread::available_parallelism().map_or(1, usize::from);
    let plain = |case| start(case, &[]);
    let mut waiting = cases().into_iter();
    let mut running: VecDeque<Counting> = waiting.by_ref().take(at_a_time).map(plain).collect::<Result<_, _>>()?;
    let mut rows = Vec::new();
    let mut per_hop = Vec::new();
    while let Some(counting) = running.pop_front() {
        let (case, totals, hops) = finish(counting)?;
        let instructions = totals["Ir"];
        running.extend(waiting.next().map(plain).transpose()?);
        let count = instructions as f64 / hops as f64;
        let millions = |n: u64| format!("{:.2}", n as f64 / 1e6);
        rows.push([case.name.clone(), millions(hops), millions(instructions), format!("{count:.1}")]);
        per_hop.push((case.name, count));
    }
    println!("{compiler}");
    print_table(["case", "M packet-hops", "M instructions", "per packet-hop"], &rows);
    Ok(Counts { compiler, per_hop })
}

/// Starts this program under callgrind, which counts from the moment the event loop is entered until it is left.
fn start(case: Case, options: &[&str]) -> Result<Counting, String> {
    let program = std::env::current_exe().map_err(|e| format!("where am I? {e}"))?;
    let out = std::env::temp_dir().join(format!("tailcut-callgrind-{}-{}", std::process::id(), case.name));
    let child = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--collect-atstart=no", "--toggle-collect=*run_event_loop*"])
        .args(options)
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(["--count", &case.name])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("valgrind does not start: {e}"))?;
    Ok(Counting { case, child, out })
}

/// What was counted of a case, and its packet-hops.
fn finish(counting: Counting) -> Result<(Case, Totals, u64), String> {
    let Counting { case, child, out } = counting;
    let said = child.wait_with_output().map_err(|e| format!("valgrind: {e}"))?;
    let written = std::fs::read_to_string(&out);
    // A file that cannot be removed from there does no harm.
    let _ = std::fs::remove_file(&out);
    if !said.status.success() {
        return Err(format!("{} under valgrind: {}", case.name, said.status));
    }
    let written = written.map_err(|e| format!("callgrind wrote no {}: {e}", out.display()))?;
    let totals = totals_of(&written)
        .ok_or("callgrind counted nothing: is `run_event_loop` still the function that is counted?".to_owned())?;
    let hops = String::from_utf8_lossy(&said.stdout).trim().parse();
    let hops = hops.map_err(|e| format!("{} said no number of packet-hops: {e}", case.name))?;
    Ok((case, totals, hops))
}

/// What callgrind sees.
fn count(name: &str) -> Result<(), String> {
    let case = Case::find(name).ok_or_else(|| format!("`{name}` is not counted"))?;
    let scenario: Scenario = scenario(case.file, case.set, &case.scheme).map_err(|problem| problem.render(false))?;
    let outcome = run_event_loop(World::new(&scenario, Recorder::new()));
    println!("{}", outcome.engine.packet_hops);
    Ok(())
}
