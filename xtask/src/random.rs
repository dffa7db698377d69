//! Tests that draw their cases: the seed they draw from, and `cargo xtask test --long`, which gives them many.
//!
//! All of them read [`SEED`], which is a variable of proptest. The seed of a run of the tests follows from the commit,
//! so that each commit draws other cases, and whatever one finds is found again on every machine.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::files;
use crate::shell::{Call, Done, Stop, cargo, target_folder};

/// The variable with the seed.
pub(crate) const SEED: &str = "PROPTEST_RNG_SEED";

/// Minutes of `--long` if nobody says.
const MINUTES: u64 = 60;

/// The seed of a run of the tests: that of the environment, or one that follows from the files of the commit.
///
/// # Errors
/// If that of the environment is no whole number.
pub(crate) fn seed(root: &Path) -> Result<u64, Stop> {
    if let Ok(given) = std::env::var(SEED) {
        return given.parse().map_err(|_| Stop::Unusable(format!("{SEED} is `{given}`: expected a whole number")));
    }
    // 32 bits are enough, and easier to copy. What is no checkout, such as an archive, always draws the same.
    let tree = Call::new(root, "git", &["rev-parse", "HEAD^{tree}"]).output();
    let digits = tree.and_then(|tree| u64::from_str_radix(tree.get(..8)?, 16).ok());
    Ok(digits.unwrap_or(1))
}

/// Packages of the workspace with tests that draw: those that use proptest, and the fuzzing targets.
fn packages(root: &Path) -> Result<Vec<String>, Stop> {
    let mut found = Vec::new();
    for manifest in files::all(root)?.iter().filter(|path| path.ends_with("Cargo.toml")) {
        let text = std::fs::read_to_string(root.join(manifest))
            .map_err(|error| Stop::Unusable(format!("cannot read {}: {error}", manifest.display())))?;
        let draws = text.contains("\nproptest.workspace") || text.contains("\nrand_chacha.workspace");
        let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        if let Some(name) = name.filter(|_| draws && manifest.starts_with("crates/")) {
            found.push(name.to_owned());
        }
    }
    match found.is_empty() {
        true => Err(Stop::Unusable("no package has tests that draw".to_owned())),
        false => Ok(found),
    }
}

/// Runs the tests that draw again and again with other seeds, for so many minutes or an hour. What a failed run has
/// printed stays in `target/random/SEED.log`, and proptest keeps the case that it found in a file beside the test.
///
/// # Errors
/// If a run failed.
pub(crate) fn long(root: &Path, rest: &[&str]) -> Done {
    let minutes = match rest {
        [] => MINUTES,
        [minutes] => minutes
            .parse()
            .map_err(|_| Stop::Unusable(format!("`{minutes}` is not a number of minutes: expected such as 60")))?,
        _ => return Err(Stop::Unusable("expected a number of minutes, or nothing".to_owned())),
    };
    let logs = target_folder()?.join("random");
    std::fs::create_dir_all(&logs)
        .map_err(|error| Stop::Unusable(format!("cannot make {}: {error}", logs.display())))?;
    let packages = packages(root)?;
    let packages = packages.iter().flat_map(|name| ["--package", name]);
    let arguments: Vec<&str> = ["test", "--locked", "--no-fail-fast"].into_iter().chain(packages).collect();
    let first = match std::env::var(SEED) {
        Ok(_) => seed(root)?,
        Err(_) => RandomState::new().hash_one(Instant::now().elapsed()) & 0xffff_ffff,
    };
    let (began, mut failed) = (Instant::now(), Vec::new());
    let mut runs = 0;
    while runs == 0 || began.elapsed() < Duration::from_secs(60 * minutes) {
        let seed = first.wrapping_add(runs);
        runs += 1;
        let log = logs.join(format!("{seed}.log"));
        let mut started = cargo(root, &arguments).env(SEED, seed.to_string()).start(&log)?;
        let done = loop {
            match started.ended() {
                Some(done) => break done,
                None => std::thread::sleep(Duration::from_millis(200)),
            }
        };
        let seconds = began.elapsed().as_secs();
        match done {
            Ok(()) => {
                println!("seed {seed}: passed, {seconds} s");
                // The log of a run that passed is not needed.
                let _ = std::fs::remove_file(log);
            }
            Err(_) => {
                println!("seed {seed}: FAILED, {seconds} s: {}", log.display());
                failed.push(seed.to_string());
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Stop::Failed(format!(
            "{} of {runs} seeds failed: {}; {SEED}=N cargo xtask test runs one again",
            failed.len(),
            failed.join(", ")
        ))),
    }
}
