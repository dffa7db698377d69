//! What the engine costs: times for the curious, and a count of instructions that fails when it rises.
//!
//! The measuring itself is in `crates/bench`.

use std::path::Path;

use crate::shell::{Call, Done, Stop, cargo};

/// Benchmarks of `cargo xtask bench`; those with a command of their own are not among them.
const BENCHES: [&str; 6] = ["calendar", "flow", "limit", "manager", "port", "whole"];

/// `cargo xtask bench [NAME]`.
pub(crate) fn bench(root: &Path, arguments: &[&str]) -> Done {
    let names = match arguments {
        [] => BENCHES.to_vec(),
        [name] if BENCHES.contains(name) => vec![*name],
        _ => {
            let given = arguments.join(" ");
            return Err(Stop::Unusable(format!("there is no benchmark `{given}`: expected {}", BENCHES.join(", "))));
        }
    };
    names.into_iter().try_for_each(|name| program(root, name).run())
}

/// `cargo xtask speed`, with one of `--all`, `--attribution`, `--memories`, `--million` and `--threads`, or with one of
/// `--scale`, `--fidelity` and `--flow`, which may be followed by `--plot FILE.svg`.
pub(crate) fn speed(root: &Path, arguments: &[&str]) -> Done {
    match arguments {
        [] => {
            program(root, "speed").run_own()?;
            counts_if_possible(root)
        }
        ["--all" | "--attribution" | "--memories"] => program(root, "speed").args(["--"]).args(arguments).run_own(),
        [what @ ("--million" | "--threads")] => program(root, what.trim_start_matches('-')).run_own(),
        [what @ ("--scale" | "--fidelity" | "--flow")]
        | [what @ ("--scale" | "--fidelity" | "--flow"), "--plot", _] => {
            program(root, what.trim_start_matches('-')).args(["--"]).args(&arguments[1..]).run_own()
        }
        _ => {
            let given = arguments.join(" ");
            let expected = "expected nothing, --all, --attribution, --memories, --million, --threads, or one of --scale, \
                            --fidelity and --flow, with --plot FILE.svg or without";
            Err(Stop::Unusable(format!("`cargo xtask speed` knows no `{given}`: {expected}")))
        }
    }
}

/// `cargo xtask instructions [--bless | --caches | --if-possible]`.
pub(crate) fn instructions(root: &Path, arguments: &[&str]) -> Done {
    if arguments == ["--if-possible"] {
        return instructions_if_possible(root);
    }
    if !matches!(arguments, [] | ["--bless" | "--caches"]) {
        let given = arguments.join(" ");
        let expected = "expected nothing, --bless, --caches or --if-possible";
        return Err(Stop::Unusable(format!("`cargo xtask instructions` knows no `{given}`: {expected}")));
    }
    if !has_valgrind(root) {
        return Err(Stop::Unusable(format!("valgrind is missing, which counts the instructions: {INSTALL}")));
    }
    program(root, "instructions").args(["--"]).args(arguments).run_own()
}

/// The same as a step of the tests: without valgrind it is left out, but not in CI, where nobody would see that.
fn instructions_if_possible(root: &Path) -> Done {
    let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    if has_valgrind(root) || in_ci {
        return instructions(root, &[]);
    }
    println!("SKIPPED: valgrind is missing, which counts the instructions: {INSTALL}");
    Ok(())
}

/// What no neighbour changes, beside the times: instructions, wrong guesses and misses.
fn counts_if_possible(root: &Path) -> Done {
    println!();
    if has_valgrind(root) {
        return program(root, "instructions").args(["--", "--caches"]).run_own();
    }
    println!("valgrind is missing, which counts instructions, wrong guesses and misses: {INSTALL}");
    Ok(())
}

const INSTALL: &str = "on Debian or Ubuntu: apt install valgrind; on Fedora: dnf install valgrind";

fn has_valgrind(root: &Path) -> bool {
    Call::new(root, "valgrind", &["--version"]).output().is_some()
}

/// A benchmark, optimised as a release. Only those that draw are built with what draws: that is half of the build.
fn program(root: &Path, name: &str) -> Call {
    let call = cargo(root, &["bench", "--locked", "--package", "tailcut-bench", "--bench", name]);
    if matches!(name, "fidelity" | "flow" | "scale") { call } else { call.args(["--no-default-features"]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_mean_nothing_are_refused_before_anything_is_built() {
        let root = crate::root();
        let refused = [
            bench(&root, &["ports"]),
            bench(&root, &["port", "whole"]),
            speed(&root, &["--bless"]),
            speed(&root, &["--all", "--all"]),
            speed(&root, &["--plot", "x.svg"]),
            speed(&root, &["--scale", "--plot"]),
            instructions(&root, &["--all"]),
        ];
        for result in refused {
            assert!(matches!(&result, Err(Stop::Unusable(message)) if message.contains("expected")), "{result:?}");
        }
    }

    #[test]
    fn every_benchmark_is_there() {
        for name in BENCHES.into_iter().chain(["fidelity", "instructions", "million", "scale", "speed"]) {
            let benches = crate::root().join("crates/bench/benches");
            let is_there =
                [format!("{name}.rs"), format!("{name}/main.rs")].iter().any(|at| benches.join(at).is_file());
            assert!(is_there, "{name}");
        }
    }
}
