//! Instructions for each packet-hop, counted by callgrind: the guard of the engine's speed.
//!
//! A count is the same on a busy machine as on an idle one, so that a test can fail on it; a time is not. It depends on
//! the compiler, which is why the compiler stands beside the counts in [`FILE`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

/// The counts that are compared with, a path from the root of the repository.
pub const FILE: &str = "crates/bench/instructions.toml";

/// How far a count may be from the one in the file, as a share of it.
pub const MARGIN: f64 = 0.03;

/// The command that writes the file.
const BLESS: &str = "cargo xtask instructions --bless";

/// A short simulation whose event loop is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The name in the file.
    pub name: String,
    /// The scheme: a preset, or `preset@variant`.
    pub scheme: String,
    /// The scenario's file, a path from the root of the repository.
    pub file: &'static str,
    /// What is changed of it.
    pub set: &'static [&'static str],
}

/// A small fabric whose ports are busy and sometimes full.
const BUSY: &str = "crates/bench/scenarios/leaf-spine.toml";

/// 2,048 hosts for a short time.
const LARGE: [&str; 3] =
    ["topology.leaf-spine.leaves=64", "topology.leaf-spine.hosts_per_leaf=32", "workload.duration=400us"];

/// Every switch shares a memory that is never full: what that costs, beside `dctcp`.
const SHARED: [&str; 2] = ["workload.flows=250", "switch.memory.dt.size=100MB"];

/// The same of a memory that is told what comes and leaves.
const TOLD: [&str; 2] = ["workload.flows=250", "switch.memory.edt.size=100MB"];

/// What is counted: every preset and variant on a busy fabric, DCTCP on the common work, without and with the delays of
/// its flows attributed, and with switches whose ports share a memory, asked alone or told as well, and DCTCP in a
/// network whose ports no cache holds, where the loop reads ahead.
pub fn cases() -> Vec<Case> {
    let case = |name: &str, scheme: String, file, set| Case { name: name.to_owned(), scheme, file, set };
    let mut cases: Vec<Case> = crate::presets::schemes()
        .into_iter()
        .map(|scheme| case(&scheme, scheme.clone(), BUSY, &["workload.flows=250"]))
        .collect();
    cases.push(case("peers", "dctcp".to_owned(), "scenarios/peers.toml", &["workload.flows=60"]));
    let attributed = &["workload.flows=60", "record.attribution=true"];
    cases.push(case("attribution", "dctcp".to_owned(), "scenarios/peers.toml", attributed));
    cases.push(case("shared-memory", "dctcp".to_owned(), BUSY, &SHARED));
    cases.push(case("told-memory", "dctcp".to_owned(), BUSY, &TOLD));
    cases.push(case("large", "dctcp".to_owned(), "crates/bench/scenarios/scale.toml", &LARGE));
    cases
}

impl Case {
    /// The case of this name.
    pub fn find(name: &str) -> Option<Case> {
        cases().into_iter().find(|case| case.name == name)
    }
}

/// Instructions for each packet-hop, by case.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// The compiler, with its target.
    pub compiler: String,
    /// The count of each case.
    pub per_hop: Vec<(String, f64)>,
}

impl Counts {
    /// Reads the text of [`FILE`].
    ///
    /// # Errors
    /// A sentence, if the text is not as [`Counts::to_text`] writes it.
    pub fn parse(text: &str) -> Result<Counts, String> {
        let table: toml::Table = text.parse().map_err(|e| format!("{FILE} is not TOML: {e}"))?;
        let compiler = table.get("compiler").and_then(toml::Value::as_str);
        let per_hop = table.get("per-hop").and_then(toml::Value::as_table);
        let (Some(compiler), Some(per_hop)) = (compiler, per_hop) else {
            return Err(format!("{FILE} has no `compiler` or no `[per-hop]`: write it anew with {BLESS}"));
        };
        let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|n| n as f64));
        let count = |(scheme, value): (&String, &toml::Value)| match number(value) {
            Some(count) if count > 0.0 => Ok((scheme.clone(), count)),
            _ => Err(format!("{FILE}: `{scheme} = {value}` is not a number of instructions")),
        };
        Ok(Counts { compiler: compiler.to_owned(), per_hop: per_hop.iter().map(count).collect::<Result<_, _>>()? })
    }

    /// The text of [`FILE`].
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "# Instructions for each packet-hop of the event loop, as callgrind counts them.\n# Written by {BLESS}\n"
        );
        let _ = writeln!(text, "compiler = \"{}\"\n\n[per-hop]", self.compiler);
        for (scheme, count) in &self.per_hop {
            let _ = writeln!(text, "\"{scheme}\" = {count:.1}");
        }
        text
    }

    fn of(&self, scheme: &str) -> Option<f64> {
        self.per_hop.iter().find(|(name, _)| name == scheme).map(|(_, count)| *count)
    }
}

/// What new counts mean beside those in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Reasons to fail.
    pub failures: Vec<String>,
    /// What whoever reads should know.
    pub notes: Vec<String>,
}

/// Compares new counts with those in the file.
pub fn judge(stored: &Counts, counted: &Counts) -> Judgement {
    let mut judgement = Judgement::default();
    let same_compiler = stored.compiler == counted.compiler;
    if !same_compiler {
        judgement.notes.push(format!(
            "{FILE} is of {}, and this is {}: nothing fails for a difference; {BLESS} writes the counts of this compiler",
            stored.compiler, counted.compiler
        ));
    }
    for (scheme, count) in &counted.per_hop {
        let Some(before) = stored.of(scheme) else {
            judgement.failures.push(format!("{FILE} has no count of {scheme}: {BLESS} writes it"));
            continue;
        };
        let change = count / before - 1.0;
        let what = format!(
            "{scheme}: {count:.1} instructions per packet-hop, {:.1} % {} than the {before:.1} of {FILE}",
            change.abs() * 100.0,
            if change > 0.0 { "more" } else { "fewer" }
        );
        if change > MARGIN && same_compiler {
            judgement.failures.push(format!("{what}: find what costs so much, or accept it with {BLESS}"));
        } else if change > MARGIN {
            judgement.notes.push(what);
        } else if change < -MARGIN {
            judgement.notes.push(format!("{what}: {BLESS} lowers the count in the file, so that it stays so"));
        }
    }
    judgement
}

/// What callgrind counted, by its names: `Ir` are instructions.
pub type Totals = BTreeMap<String, u64>;

/// The sums in a file that callgrind wrote; `None` if there are none, or no instruction.
pub fn totals_of(callgrind_out: &str) -> Option<Totals> {
    let line = |start| callgrind_out.lines().find_map(|line| line.strip_prefix(start));
    // One file may have several parts, each with a summary; `totals` is for all of them.
    let totals = line("totals:")?.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
    let names = line("events:")?.split_whitespace().map(str::to_owned);
    let totals: Totals = names.zip(totals).collect();
    totals.get("Ir").is_some_and(|&instructions| instructions > 0).then_some(totals)
}

/// The compiler and its target: `rustc 1.89.0 (29483883e 2025-08-04), x86_64-unknown-linux-gnu`.
///
/// # Errors
/// A sentence, if it cannot be asked.
pub fn compiler() -> Result<String, String> {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let asked = Command::new(program).args(["--version", "--verbose"]).output();
    let said = asked.map_err(|e| format!("rustc does not start: {e}"))?;
    compiler_in(&String::from_utf8_lossy(&said.stdout)).ok_or_else(|| "rustc does not say its version".to_owned())
}

fn compiler_in(said: &str) -> Option<String> {
    let host = said.lines().find_map(|line| line.strip_prefix("host: "))?;
    Some(format!("{}, {host}", said.lines().next()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation;

    fn counts(compiler: &str, dctcp: f64) -> Counts {
        Counts { compiler: compiler.to_owned(), per_hop: vec![("dctcp".to_owned(), dctcp)] }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let counts = counts("rustc 1.89.0 (29483883e 2025-08-04), x86_64-unknown-linux-gnu", 431.5);
        assert_eq!(Counts::parse(&counts.to_text()), Ok(counts));
        for wrong in ["", "compiler = \"a\"", "compiler = 1\n[per-hop]", "compiler = \"a\"\n[per-hop]\nx = 0", "["] {
            let problem = Counts::parse(wrong).unwrap_err();
            assert!(problem.contains(FILE), "{wrong}: {problem}");
        }
    }

    #[test]
    fn the_file_in_the_repository_has_every_case() {
        let stored = Counts::parse(&std::fs::read_to_string(simulation::in_repository(FILE)).unwrap()).unwrap();
        let names: Vec<String> = stored.per_hop.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, cases().into_iter().map(|case| case.name).collect::<Vec<_>>());
    }

    #[test]
    fn more_than_the_margin_fails_and_less_is_told() {
        let judged = |count| judge(&counts("a", 100.0), &counts("a", count));
        assert_eq!(judged(102.9), Judgement::default());
        assert_eq!(judged(97.1), Judgement::default());
        let (slower, faster) = (judged(103.1), judged(96.9));
        assert_eq!((slower.failures.len(), slower.notes.len()), (1, 0));
        assert!(
            slower.failures[0].starts_with("dctcp: 103.1 instructions per packet-hop, 3.1 % more than the 100.0 of ")
        );
        assert_eq!((faster.failures.len(), faster.notes.len()), (0, 1));
        assert!(faster.notes[0].contains("3.1 % fewer than") && faster.notes[0].contains("--bless"));
    }

    #[test]
    fn another_compiler_only_notes() {
        let judged = judge(&counts("a", 100.0), &counts("b", 200.0));
        assert_eq!((judged.failures.len(), judged.notes.len()), (0, 2), "{judged:?}");
        assert_eq!(judge(&counts("a", 100.0), &counts("b", 100.0)).notes.len(), 1);
    }

    #[test]
    fn a_case_without_a_count_fails() {
        let stored = Counts { per_hop: Vec::new(), ..counts("a", 1.0) };
        assert_eq!(judge(&stored, &counts("a", 1.0)).failures.len(), 1);
    }

    #[test]
    fn the_totals_are_read_from_what_callgrind_wrote() {
        let out = "version: 1\npid: 7\nevents: Ir Bc Bcm\nsummary: 5\n\nfn=(1) main\n1 5\n\ntotals: 12345 67 8\n";
        let expected = [("Ir", 12_345), ("Bc", 67), ("Bcm", 8)].map(|(name, count)| (name.to_owned(), count));
        assert_eq!(totals_of(out), Some(Totals::from(expected)));
        for wrong in [
            "events: Ir\nsummary: 5\n",
            "totals: 5\n",
            "events: Ir\ntotals: 0\n",
            "events: Ir\ntotals: \n",
            "events: Ir\ntotals: x\n",
        ] {
            assert_eq!(totals_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_compiler_is_named_with_its_target() {
        let said = "rustc 1.89.0 (29483883e 2025-08-04)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\n";
        assert_eq!(compiler_in(said).as_deref(), Some("rustc 1.89.0 (29483883e 2025-08-04), x86_64-unknown-linux-gnu"));
        assert_eq!(compiler_in("rustc 1.89.0\n"), None);
    }

    #[test]
    fn the_cases_are_right() {
        for case in cases() {
            if let Err(problem) = simulation::scenario(case.file, case.set, &case.scheme) {
                panic!("{}: {}", case.name, problem.render(false));
            }
        }
    }
}
