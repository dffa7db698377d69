//! A small table for each shipped scheme and profile, compared to the character with the one that is stored beside.
//!
//! A table that moves is a change of behaviour. `TAILCUT_BLESS=1 cargo test -p tailcut-sim --test all golden` stores
//! the new ones; what moved and why belongs in the change log.
//!
//! PINNED: the tables of all schemes are of the former defaults, as stored results are; those of a few schemes in
//! `golden-defaults` are of today's.

use std::fmt::Write;
use std::path::PathBuf;

use crate::common::{SMALL, all_schemes, rows, run, run_pinned, slytherin_mix};
use tailcut_record::FlowRow;
use tailcut_sim::Outcome;

const LOADS: [f64; 2] = [0.4, 0.8];
const SEED: u64 = 1;

/// Congestion controls that answer marks, one that does not, and a transport without windows.
const BY_DEFAULT: [&str; 6] = ["d2tcp", "dctcp", "homa", "l2dct", "pias", "tcp"];

/// How a scenario is run.
type Runs = fn(&str, &str, u64) -> Outcome;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Nanoseconds as microseconds with three digits.
fn us(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

fn line(table: &mut String, load: f64, class: &str, rows: &[&FlowRow]) {
    let mut fcts: Vec<u64> = rows.iter().map(|row| row.fct().expect("every flow is finished").as_ps()).collect();
    fcts.sort_unstable();
    // Integers, so that no machine rounds differently; percentiles are nearest ranks.
    let mean = fcts.iter().sum::<u64>() / fcts.len() as u64 / 1000;
    let percentile = |p: usize| fcts[(p * fcts.len()).div_ceil(100) - 1] / 1000;
    let sum = |of: fn(&FlowRow) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
    writeln!(
        table,
        "{load:<5} {class:<7} {:>5} {:>10} {:>10} {:>10} {:>6} {:>6} {:>8} {:>9}",
        fcts.len(),
        us(mean),
        us(percentile(50)),
        us(percentile(99)),
        sum(|row| row.drops),
        sum(|row| row.ce_marks),
        sum(|row| row.timeouts),
        sum(|row| row.reordered)
    )
    .expect("a text takes what is written");
}

fn table(scheme: &str, runs: Runs) -> String {
    let mut table = format!(
        "{scheme}: 4 leaves of 4 hosts, 2 spines, 10 Gb/s, 2 us; 70 % of the bytes in flows of 1 MB, the rest in 8 to 32 KB\n\
         {:<5} {:<7} {:>5} {:>10} {:>10} {:>10} {:>6} {:>6} {:>8} {:>9}\n",
        "load", "class", "flows", "mean us", "p50 us", "p99 us", "drops", "marks", "timeouts", "reordered"
    );
    for load in LOADS {
        // Flows of 1 MB are of the first class by default.
        let own = if scheme.starts_with("hyline") { "host.transport.hyline.threshold = \"500KB\"\n" } else { "" };
        let outcome = runs(scheme, &(own.to_owned() + SMALL + &slytherin_mix(load, "20ms")), SEED);
        let all = rows(&outcome);
        for (class, name) in ["short", "incast", "long"].iter().enumerate() {
            let of_class: Vec<&FlowRow> = all.iter().filter(|row| usize::from(row.class) == class).collect();
            line(&mut table, load, name, &of_class);
        }
        line(&mut table, load, "all", &all.iter().collect::<Vec<_>>());
        let engine = outcome.engine;
        writeln!(table, "{load:<5} digest {:016x} of {} packet-hops", engine.digest, engine.packet_hops)
            .expect("a text takes what is written");
    }
    table
}

/// The lines that differ, as `diff` shows them.
fn difference(stored: &str, new: &str) -> String {
    let (stored, new): (Vec<&str>, Vec<&str>) = (stored.lines().collect(), new.lines().collect());
    let mut text = String::new();
    for at in 0..stored.len().max(new.len()) {
        let (old, new) = (stored.get(at).copied().unwrap_or(""), new.get(at).copied().unwrap_or(""));
        if old != new {
            writeln!(text, "  stored {old}\n  now    {new}").expect("a text takes what is written");
        }
    }
    text
}

#[test]
fn every_scheme_gives_the_table_that_is_stored() {
    compare("golden", &all_schemes(), run_pinned);
}

#[test]
fn some_schemes_give_the_table_that_is_stored_by_default() {
    compare("golden-defaults", &BY_DEFAULT, run);
}

fn compare(name: &str, schemes: &[&str], runs: Runs) {
    let bless = std::env::var_os("TAILCUT_BLESS").is_some_and(|value| value == "1");
    let mut differences = String::new();
    let mut unknown = Vec::new();
    for &scheme in schemes {
        let (file, new) = (folder(name).join(format!("{scheme}.txt")), table(scheme, runs));
        if bless {
            std::fs::create_dir_all(folder(name)).unwrap();
            std::fs::write(&file, new).unwrap();
            continue;
        }
        match std::fs::read_to_string(&file) {
            Ok(stored) if stored == new => {}
            Ok(stored) => write!(differences, "{}\n{}", file.display(), difference(&stored, &new)).unwrap(),
            Err(_) => unknown.push(scheme),
        }
    }
    assert!(
        unknown.is_empty(),
        "no table is stored of {}: TAILCUT_BLESS=1 cargo test -p tailcut-sim --test all golden stores one of each",
        unknown.join(", ")
    );
    assert!(
        differences.is_empty(),
        "what schemes do has changed:\n{differences}If it was meant to, TAILCUT_BLESS=1 stores the new tables."
    );
}

#[test]
fn every_stored_table_belongs_to_a_scheme() {
    let schemes = all_schemes();
    for entry in std::fs::read_dir(folder("golden")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let scheme = name.strip_suffix(".txt").expect("tables are .txt files");
        assert!(schemes.contains(&scheme), "{name} is the table of no scheme");
    }
}
