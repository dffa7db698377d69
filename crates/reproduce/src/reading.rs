//! Readings of a document: what can be taken for each choice that it leaves open.
//!
//! A study says of each choice which value is its base and by which rule, and which others the document allows. A
//! reading takes some of these others. `docs/readings.md` has the rules, which are fixed before anything is run.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use tailcut_sim::Tree;

use crate::measure::MeasureDefinition;

/// By which rule a value is the base of a choice: the first that says anything counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The document's words.
    Document,
    /// The public code of its authors.
    Authors,
    /// Code or settings that it cites, or the scripts of the simulator that it names.
    Cited,
    /// What is usual in the field, with a source.
    Custom,
    /// Our own choice.
    Ours,
}

impl Rule {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Document => "the document's words",
            Rule::Authors => "its authors' code",
            Rule::Cited => "what it cites",
            Rule::Custom => "custom",
            Rule::Ours => "ours",
        }
    }
}

/// A choice that the document leaves open.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// What it is.
    pub parameter: String,
    /// The value of the base.
    pub value: String,
    /// The rule by which it is the base.
    pub rule: Rule,
    /// Why, and from where.
    pub reason: String,
    /// Other values that the document allows.
    #[serde(default)]
    pub other: Vec<Other>,
}

/// Another value of an open choice.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Other {
    /// Its name on the command line.
    pub name: String,
    /// The value.
    pub value: String,
    /// Why the document allows it, and from where it comes.
    pub reason: String,
    /// Whether it is only there to be asked for by its name: it belongs to another question, and would not be
    /// comparable with the other readings.
    #[serde(default)]
    pub apart: bool,
    /// What it measures in another way: no simulation changes by that.
    #[serde(default)]
    pub measures: BTreeMap<String, MeasureDefinition>,
    /// What it changes in the scenario.
    #[serde(skip)]
    pub(crate) set: Option<Tree>,
}

/// A reading: names of values other than those of the base, of different choices.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reading(Vec<String>);

impl Reading {
    /// The reading that takes these values.
    pub fn of<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Reading {
        Reading(names.into_iter().map(Into::into).collect())
    }

    /// The reading of this name, as [`Reading`] is displayed.
    pub fn parse(text: &str) -> Reading {
        match text {
            BASE => Reading::default(),
            names => Reading::of(names.split('+')),
        }
    }

    /// Whether it is the base.
    pub fn is_base(&self) -> bool {
        self.0.is_empty()
    }

    /// The values that are not those of the base.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// What is added to the name of a scale where this reading is not the base: `+shallow`.
    pub fn ending(&self) -> String {
        self.0.iter().map(|name| format!("+{name}")).collect()
    }
}

/// The name of the reading in which every choice has the value of the base.
const BASE: &str = "base";

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_base() { BASE.to_owned() } else { self.0.join("+") }.as_str())
    }
}

/// The readings by which claims are judged: the base, each other value alone, and combinations of the choices, each of
/// which has its base or its first other value there.
///
/// Of up to four choices all combinations are run. Of more, sixteen or more are run so that each value meets each value
/// of any other choice equally often, and the effect of a choice is not mixed with that of any pair (a fractional
/// factorial of resolution IV: the columns of a Hadamard matrix and their negatives; Box, Hunter and Hunter,
/// Statistics for Experimenters, chapter 6).
pub fn screening(open: &[Open]) -> Vec<Reading> {
    let choices: Vec<Vec<&str>> = open
        .iter()
        .map(|open| open.other.iter().filter(|other| !other.apart).map(|other| other.name.as_str()).collect())
        .filter(|names: &Vec<&str>| !names.is_empty())
        .collect();
    let mut all = vec![Reading::default()];
    all.extend(choices.iter().flatten().map(|name| Reading::of([*name])));
    let count = choices.len();
    let runs: Vec<Vec<bool>> = if count <= 4 {
        (0..1u32 << count).map(|bits| (0..count).map(|at| bits >> at & 1 == 1).collect()).collect()
    } else {
        let size = count.next_power_of_two().max(8);
        // The element of the Hadamard matrix of Sylvester is negative where row and column have an odd number of
        // common bits. The first column is the same everywhere: with its negative it tells the halves apart.
        let is_negative = |row: usize, column: usize| (row & column).count_ones() % 2 == 1;
        let half = |negated: bool| {
            (0..size).map(move |row| (0..count).map(|column| is_negative(row, column) != negated).collect())
        };
        half(false).chain(half(true)).collect()
    };
    for run in runs {
        let taken = choices.iter().zip(run).filter(|(_, is_other)| *is_other).map(|(names, _)| names[0]);
        let reading = Reading::of(taken);
        if !all.contains(&reading) {
            all.push(reading);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(others: &[&[&str]]) -> Vec<Open> {
        let other = |name: &&str| Other {
            name: (*name).to_owned(),
            value: String::new(),
            reason: String::new(),
            apart: name.starts_with("apart"),
            measures: BTreeMap::new(),
            set: None,
        };
        let open = |names: &&[&str]| Open {
            parameter: String::new(),
            value: String::new(),
            rule: Rule::Ours,
            reason: String::new(),
            other: names.iter().map(other).collect(),
        };
        others.iter().map(open).collect()
    }

    fn names(readings: &[Reading]) -> Vec<String> {
        readings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn few_choices_are_combined_in_every_way_and_each_value_stands_alone_once() {
        assert_eq!(names(&screening(&[])), ["base"]);
        let all = screening(&open(&[&["a", "b"], &[], &["c", "apart"]]));
        assert_eq!(names(&all), ["base", "a", "b", "c", "a+c"]);
        assert_eq!(Reading::parse("a+c"), all[4]);
        assert_eq!((Reading::parse("base"), all[4].ending()), (Reading::default(), "+a+c".to_owned()));
    }

    #[test]
    fn of_many_choices_each_pair_of_values_is_met_equally_often_and_main_effects_are_clear_of_pairs() {
        for count in [5usize, 8, 11] {
            let letters: Vec<String> = (0..count).map(|at| format!("v{at}")).collect();
            let choices: Vec<Vec<&str>> = letters.iter().map(|name| vec![name.as_str()]).collect();
            let choices: Vec<&[&str]> = choices.iter().map(Vec::as_slice).collect();
            let all = screening(&open(&choices));
            let size = 2 * count.next_power_of_two().max(8);
            // Those of the design: the base and values that stand alone may be among them, so that they are not twice
            // in the list.
            let has = |reading: &Reading, at: usize| reading.names().contains(&letters[at]);
            let level = |row: usize, column: usize| (row & column).count_ones() % 2 == 1;
            let design: Vec<Vec<bool>> = (0..size)
                .map(|row| (0..count).map(|at| level(row % (size / 2), at) != (row >= size / 2)).collect())
                .collect();
            for run in &design {
                let found = all.iter().any(|reading| (0..count).all(|at| has(reading, at) == run[at]));
                assert!(found, "{count}: {run:?}");
            }
            let sign = |value: bool| if value { 1i32 } else { -1 };
            for a in 0..count {
                for b in 0..a {
                    let balance: i32 = design.iter().map(|run| sign(run[a]) * sign(run[b])).sum();
                    assert_eq!(balance, 0, "{count}: {a} and {b} are not mixed");
                    for c in 0..b {
                        let mixed: i32 = design.iter().map(|run| sign(run[a]) * sign(run[b]) * sign(run[c])).sum();
                        assert_eq!(mixed, 0, "{count}: {a} is mixed with the pair of {b} and {c}");
                    }
                }
            }
        }
    }
}
