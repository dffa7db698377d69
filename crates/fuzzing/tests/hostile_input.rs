//! Every target with what is kept for it, and with inputs made from that: bytes changed, cut, doubled and put together.

use std::path::{Path, PathBuf};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use tailcut_fuzzing::{distribution, flows, run_folder, scenario, simulation};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is kept in some folders.
fn kept(folders: &[&str]) -> Vec<Vec<u8>> {
    let mut kept = Vec::new();
    for folder in folders {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(repository().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        kept.extend(files.iter().filter(|file| file.is_file()).map(|file| std::fs::read(file).unwrap()));
    }
    assert!(!kept.is_empty());
    kept
}

/// Bytes that mean something somewhere.
const SPECIAL: &[u8] = b"0189-.eE\n \t,#[]{}\"=\0";

/// The seed that inputs are made from; `cargo xtask test` prints that of a commit.
fn seed() -> u64 {
    std::env::var("PROPTEST_RNG_SEED").map_or(1, |seed| seed.parse().expect("PROPTEST_RNG_SEED is a whole number"))
}

/// Another input, made from those that are kept.
fn made(kept: &[Vec<u8>], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut below = |limit: usize| random.next_u64() as usize % limit.max(1);
    let mut input = kept[below(kept.len())].clone();
    for _ in 0..1 + below(6) {
        let place = below(input.len());
        match below(7) {
            0 if !input.is_empty() => input[place] ^= 1 << below(8),
            1 if !input.is_empty() => input[place] = below(256) as u8,
            2 => input.truncate(place),
            3 => input.insert(place, SPECIAL[below(SPECIAL.len())]),
            4 => {
                let other = &kept[below(kept.len())];
                let from = below(other.len());
                let part = other[from..(from + below(40)).min(other.len())].to_vec();
                input.splice(place..place, part);
            }
            5 => {
                let end = (place + below(40)).min(input.len());
                input.drain(place..end);
            }
            _ => {
                let end = (place + below(20)).min(input.len());
                let part = input[place..end].to_vec();
                input.splice(place..place, part);
            }
        }
    }
    input
}

#[expect(clippy::print_stdout, reason = "shown where a test fails")]
fn try_all(kept: &[Vec<u8>], number: usize, target: impl Fn(&[u8])) {
    kept.iter().for_each(|input| target(input));
    let mut random = ChaCha8Rng::seed_from_u64(seed());
    println!("PROPTEST_RNG_SEED={} repeats this", seed());
    (0..number).for_each(|_| target(&made(kept, &mut random)));
}

/// Bytes that stand for nothing.
fn noise(number: usize, length: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = ChaCha8Rng::seed_from_u64(self::seed().wrapping_add(seed));
    let mut bytes = |length: usize| (0..length).map(|_| random.next_u32() as u8).collect::<Vec<u8>>();
    (0..number).map(|_| bytes(length)).collect()
}

#[test]
fn distributions() {
    try_all(&kept(&["data/distributions", "fuzz/seeds/distribution"]), 15_000, distribution::run);
}

#[test]
fn lists_of_flows() {
    try_all(&kept(&["fuzz/seeds/flows"]), 150_000, flows::run);
}

#[test]
fn scenarios() {
    let planned = std::cell::Cell::new(0);
    try_all(&kept(&["schemes", "fuzz/seeds/scenario"]), 10_000, |input| {
        planned.set(planned.get() + u32::from(scenario::run(input)));
    });
    assert!(planned.get() > 1_000, "{} were planned", planned.get());
}

#[test]
fn small_simulations() {
    let run = std::cell::Cell::new(0);
    try_all(&noise(60, 160, 7), 1_500, |input| run.set(run.get() + u32::from(simulation::run(input))));
    assert!(run.get() > 600, "{} of 1,560 were simulated", run.get());
}

#[test]
fn damaged_run_folders() {
    try_all(&noise(100, 16, 9), 1_500, run_folder::run);
    run_folder::run(&[]);
}
