//! What the engine costs: times for the curious, and a count of instructions that fails when it rises.
//!
//! The measuring itself is in `crates/bench`.

use std::path::Path;

use crate::shell::{Call, Done, Stop, cargo};

/// Benchmarks of `cargo xtask bench`; those with a command of their own are not among them.
const BENCHES: [&str; 4] = ["calendar", "limit", "port", "whole"];

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

/// `cargo xtask speed [--all]`.
pub(crate) fn speed(root: &Path, arguments: &[&str]) -> Done {
    only("speed", "--all", arguments)?;
    program(root, "speed").args(["--"]).args(arguments).run_own()
}

/// `cargo xtask instructions [--bless]`.
pub(crate) fn instructions(root: &Path, arguments: &[&str]) -> Done {
    only("instructions", "--bless", arguments)?;
    if !has_valgrind(root) {
        return Err(Stop::Unusable(format!("valgrind is missing, which counts the instructions: {INSTALL}")));
    }
    program(root, "instructions").args(["--"]).args(arguments).run_own()
}

/// The same as a step of the tests: without valgrind it is left out, but not in CI, where nobody would see that.
pub(crate) fn instructions_if_possible(root: &Path) -> Done {
    let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    if has_valgrind(root) || in_ci {
        return instructions(root, &[]);
    }
    println!("SKIPPED: valgrind is missing, which counts the instructions: {INSTALL}");
    Ok(())
}

const INSTALL: &str = "on Debian or Ubuntu: apt install valgrind; on Fedora: dnf install valgrind";

fn has_valgrind(root: &Path) -> bool {
    Call::new(root, "valgrind", &["--version"]).output().is_some()
}

/// Refuses anything but nothing and `option`.
fn only(command: &str, option: &str, arguments: &[&str]) -> Done {
    if arguments.is_empty() || arguments == [option] {
        return Ok(());
    }
    let given = arguments.join(" ");
    Err(Stop::Unusable(format!("`cargo xtask {command}` knows no `{given}`: expected nothing or {option}")))
}

/// A benchmark, optimised as a release.
fn program(root: &Path, name: &str) -> Call {
    cargo(root, &["bench", "--locked", "--package", "tailcut-bench", "--bench", name])
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
            instructions(&root, &["--all"]),
        ];
        for result in refused {
            assert!(matches!(&result, Err(Stop::Unusable(message)) if message.contains("expected")), "{result:?}");
        }
    }

    #[test]
    fn every_benchmark_is_there() {
        for name in BENCHES.into_iter().chain(["speed", "instructions"]) {
            assert!(crate::root().join(format!("crates/bench/benches/{name}.rs")).is_file(), "{name}");
        }
    }
}
