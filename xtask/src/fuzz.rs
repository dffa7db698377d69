//! `cargo xtask fuzz`: the targets in `fuzz/`, built with a stable compiler.
//!
//! libFuzzer needs the compiler to count which code runs, which LLVM does if it is told to by flags that are stable.
//! The address sanitizer, which is not, would find nothing here: no crate has unsafe code. Whoever has a nightly
//! compiler and cargo-fuzz can use those on the same folder.

use std::path::{Path, PathBuf};

use crate::shell::{Call, Done, Stop, cargo};

/// Each target with the folders of files to begin with.
const TARGETS: [(&str, &[&str]); 5] = [
    ("scenario", &["scenarios", "schemes", "fuzz/seeds/scenario"]),
    ("distribution", &["data/distributions", "fuzz/seeds/distribution"]),
    ("flows", &["fuzz/seeds/flows"]),
    ("simulation", &[]),
    ("run_folder", &[]),
];

/// What is registered, for the target `scenario`: settings that each put one model on its seat. A test of
/// `tailcut-sim` keeps it complete.
const CASES: &str = "fuzz/cases.txt";

/// The scenario that the cases change.
const PLAIN: &str = r#"
[topology.star]
hosts = 3
host_link = { rate = "10Gbps", delay = "1us" }

[workload.traffic.a]
list = [{ src = 0, dst = 1, size = "1MB", start = "0ns" }]
"#;

/// Checks that the locked versions of the targets fit the workspace: otherwise `cargo xtask fuzz` could not begin. What
/// the targets call is a crate of the workspace and runs in its tests; to build the targets takes a C++ compiler and
/// minutes.
///
/// # Errors
/// If they do not.
pub(crate) fn check(root: &Path) -> Done {
    let locked = ["metadata", "--locked", "--format-version", "1", "--manifest-path", "fuzz/Cargo.toml"];
    match cargo(root, &locked).output() {
        Some(_) => Ok(()),
        None => Err(Stop::Failed(
            "fuzz/Cargo.lock does not fit the workspace: cargo metadata --manifest-path fuzz/Cargo.toml puts it right"
                .to_owned(),
        )),
    }
}

/// Seconds for each target if nobody says.
const SECONDS: u32 = 60;

/// What the compiler must do for libFuzzer; the same flags as cargo-fuzz uses.
const FLAGS: [&str; 8] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Clink-dead-code",
    "-Ccodegen-units=1",
    "--cfg=fuzzing",
];

pub(crate) fn run(root: &Path, arguments: &[&str]) -> Done {
    let (seconds, targets) = parse(arguments)?;
    let triple = host(root)?;
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default() + " " + &FLAGS.join(" ");
    // Without a triple the flags would also go to build scripts, which have no libFuzzer to count for.
    let build = ["build", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--release", "--target", &triple];
    let built = root.join("fuzz").join("target");
    cargo(root, &build).env("CARGO_TARGET_DIR", &built).env("RUSTFLAGS", flags.trim()).run()?;
    let cases = write_cases(root, &built)?;
    for (target, seeds) in targets {
        let seeds = seeds.iter().map(|&folder| root.join(folder)).chain((target == "scenario").then(|| cases.clone()));
        fuzz(root, &built.join(&triple).join("release").join(target), target, seeds, seconds)?;
    }
    Ok(())
}

type Target = (&'static str, &'static [&'static str]);

fn parse(arguments: &[&str]) -> Result<(u32, Vec<Target>), Stop> {
    let names = TARGETS.map(|(name, _)| name).join(", ");
    let (mut seconds, mut targets) = (SECONDS, Vec::new());
    for argument in arguments {
        if let Some(target) = TARGETS.iter().find(|(name, _)| name == argument) {
            targets.push(*target);
        } else {
            seconds = argument.parse().ok().filter(|&seconds| seconds > 0).ok_or_else(|| {
                Stop::Unusable(format!("`{argument}` is neither a number of seconds nor one of {names}"))
            })?;
        }
    }
    if targets.is_empty() {
        targets = TARGETS.to_vec();
    }
    Ok((seconds, targets))
}

/// Scenarios to begin with, made of a text of cases that empty lines part: what follows a zero byte is a `--set`.
fn scenarios(cases: &str) -> Vec<String> {
    cases
        .split("\n\n")
        .filter(|case| !case.trim().is_empty())
        .map(|case| format!("{PLAIN}\0{}", case.trim_end()))
        .collect()
}

/// Writes the scenarios that are made of cases, and says where.
fn write_cases(root: &Path, built: &Path) -> Result<PathBuf, Stop> {
    let folder = built.join("cases");
    let write = || -> std::io::Result<()> {
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        let cases = std::fs::read_to_string(root.join(CASES))?;
        scenarios(&cases).iter().enumerate().try_for_each(|(n, text)| std::fs::write(folder.join(n.to_string()), text))
    };
    write().map_err(|e| Stop::Unusable(format!("{CASES}: {e}")))?;
    Ok(folder)
}

/// The triple of this machine.
fn host(root: &Path) -> Result<String, Stop> {
    let version = Call::new(root, "rustc", &["--version", "--verbose"]).output().unwrap_or_default();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Stop::Unusable("rustc does not say which machine it is for".to_owned()))
}

fn fuzz(root: &Path, program: &Path, target: &str, seeds: impl Iterator<Item = PathBuf>, seconds: u32) -> Done {
    println!("\n== {target}: {seconds} s");
    let folder = |kind: &str| -> Result<PathBuf, Stop> {
        let folder = root.join("fuzz").join(kind).join(target);
        std::fs::create_dir_all(&folder).map_err(|e| Stop::Unusable(format!("{}: {e}", folder.display())))?;
        Ok(folder)
    };
    let artifacts = format!("-artifact_prefix={}/", folder("artifacts")?.display());
    let limits = ["-timeout=20", "-rss_limit_mb=4096", "-max_len=8192", "-print_final_stats=1", "-verbosity=0"];
    let dictionary = format!("fuzz/{target}.dict");
    let mut call = Call::new(root, program, &limits)
        .args([format!("-max_total_time={seconds}"), artifacts])
        // The first folder is the one that libFuzzer adds to.
        .args([folder("corpus")?])
        .args(seeds.filter(|folder| folder.is_dir()));
    if root.join(&dictionary).is_file() {
        call = call.args([format!("-dict={dictionary}")]);
    }
    call.run().map_err(|stop| match stop {
        Stop::Failed(message) => Stop::Failed(format!("{target}: {message}; the input is in fuzz/artifacts/{target}")),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_targets_are_told_apart() {
        let names = |arguments: &[&str]| {
            let (seconds, targets) = parse(arguments).unwrap();
            (seconds, targets.iter().map(|(name, _)| *name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]), (SECONDS, vec!["scenario", "distribution", "flows", "simulation", "run_folder"]));
        assert_eq!(names(&["5", "flows"]), (5, vec!["flows"]));
        assert_eq!(names(&["flows", "scenario"]), (SECONDS, vec!["flows", "scenario"]));
        for wrong in ["0", "-1", "flow"] {
            assert!(matches!(parse(&[wrong]), Err(Stop::Unusable(_))), "{wrong}");
        }
    }

    #[test]
    fn each_case_is_a_setting_of_a_scenario_to_begin_with() {
        let made = scenarios("a = { b = {  } }\n\nc = { d = { e = \"\"\"\nf\"\"\" } }\n");
        let settings: Vec<_> = made.iter().map(|text| text.split_once('\0').unwrap().1).collect();
        assert_eq!(settings, ["a = { b = {  } }", "c = { d = { e = \"\"\"\nf\"\"\" } }"]);
        assert!(scenarios(&std::fs::read_to_string(crate::root().join(CASES)).unwrap()).len() > 50);
    }

    #[test]
    fn every_target_is_there_with_its_seeds() {
        for (name, seeds) in TARGETS {
            assert!(crate::root().join(format!("fuzz/fuzz_targets/{name}.rs")).is_file(), "{name}");
            for folder in seeds {
                assert!(crate::root().join(folder).is_dir(), "{folder}");
            }
        }
    }
}
