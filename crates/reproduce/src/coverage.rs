//! What a changed run of a study says of a claim: the claim is judged by it only if it has the very simulations by
//! which the published claim is judged.
//!
//! Nothing is decided by names. The claim is asked, with made-up numbers, at which points of the study as it is it
//! would be judged, and at which of the changed one. Where the changed run has other values of a swept parameter, or
//! lacks a scheme, the claim is not run. Where the points are the same and their configurations are not, what was
//! measured stands beside what is published, and is no verdict.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_claims::Claim;
use tailcut_lab::{Plan, PlannedPoint, RunArguments};
use tailcut_sim::config::RecordConfig;
use tailcut_sim::{Networks, Problem, Tree};

use crate::design::{DesignPoint, coordinate};
use crate::needs::needed_for;
use crate::reading::Reading;
use crate::scale::Scale;
use crate::study::Study;

/// What a run was changed in, and the study as it is.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    /// The study as it is, read and scaled like the changed run.
    published: Plan,
    /// What the command line says, by dotted paths.
    set: BTreeMap<String, String>,
    /// The configurations of both runs by scheme and values, as paths with values. Making one takes time.
    published_points: BTreeMap<DesignPoint, Configured>,
    own_points: BTreeMap<DesignPoint, Configured>,
}

/// Values by their dotted paths.
type Flat = BTreeMap<String, String>;

/// A configuration.
#[derive(Clone, Debug)]
struct Configured {
    /// All tables but `record`.
    flat: Flat,
    /// The table `record`: measurements, and files beside them.
    record: RecordConfig,
}

/// Whether a changed run judges a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// It has the simulations of the published claim.
    Same,
    /// It has not, for this reason.
    Lacking(String),
    /// It has them with another configuration: these are the differences.
    Changed(String),
}

/// Differences that are named; of more there is a number.
const NAMED: usize = 3;
/// The table of what is measured and kept.
const RECORD: &str = "record";

impl Changes {
    /// What `arguments` change in the plan `own` of a study; `None` if they only choose seeds.
    ///
    /// # Errors
    /// If the study as it is cannot be planned.
    pub(crate) fn of(
        study: &Study,
        scale: Scale,
        reading: &Reading,
        own: &Plan,
        arguments: &RunArguments,
    ) -> Result<Option<Changes>, Problem> {
        if arguments.set.is_empty() {
            return Ok(None);
        }
        let seeds = RunArguments { set: Vec::new(), seeds: arguments.seeds.clone() };
        let published = study.plan(scale, reading, &seeds)?;
        let mut set = BTreeMap::new();
        for assignment in &arguments.set {
            Tree::parse_assignment(assignment)?.each(&mut |path, value| {
                set.insert(path.to_owned(), value.to_text());
            });
        }
        let (published_points, own_points) = (configurations(&published)?, configurations(own)?);
        Ok(Some(Changes { published, set, published_points, own_points }))
    }

    /// What the plan `own` says of a claim.
    pub(crate) fn coverage(&self, claim: &Claim, study: &Study, own: &Plan) -> Coverage {
        let published = places(claim, study, &self.published);
        let found = places(claim, study, own);
        let scheme_of = |place: &DesignPoint| place.0.trim_end_matches('*').to_owned();
        let known: BTreeSet<String> = own.schemes.iter().map(|name| name.trim_end_matches('*').to_owned()).collect();
        let missing: BTreeSet<String> = published.iter().map(scheme_of).filter(|name| !known.contains(name)).collect();
        if !missing.is_empty() {
            let missing = missing.into_iter().collect::<Vec<_>>().join(", ");
            return Coverage::Lacking(format!("This run has no {missing}, and the claim is about it"));
        }
        for (at, axis) in self.published.axes.iter().enumerate() {
            let wanted = distinct(published.iter().map(|place| place.1[at].as_str()));
            let here = self.values_in(own, &axis.path, &found);
            if !same_values(&wanted, &here) {
                let name =
                    study.coordinates.iter().find(|(_, path)| **path == axis.path).map(|(name, _)| name.as_str());
                let name = name.unwrap_or(&axis.path).replace('_', " ");
                return Coverage::Lacking(format!(
                    "This run has {name} {}; the claim is about {}",
                    listed(&here),
                    listed(&wanted)
                ));
            }
        }
        let mut differences = BTreeMap::new();
        for place in &published {
            let Some(before) = self.published_points.get(place) else { continue };
            for now in self.own_at(place, own) {
                // More that is kept is no other measurement.
                let record = now.record.without_additions_to(&before.record);
                let [was, is] = [&before.record, &record].map(flat_record);
                for (before, now) in [(&before.flat, &now.flat), (&was, &is)] {
                    for path in before.keys().chain(now.keys()) {
                        let (was, is) = (before.get(path), now.get(path));
                        if was != is {
                            differences.insert(path.clone(), (was.cloned(), is.cloned()));
                        }
                    }
                }
            }
        }
        if differences.is_empty() { Coverage::Same } else { Coverage::Changed(in_words(&differences)) }
    }

    /// The values of a parameter in the changed run: at the points where it judges a claim if it sweeps it, else what
    /// the command line says.
    fn values_in(&self, own: &Plan, path: &str, found: &BTreeSet<DesignPoint>) -> Vec<String> {
        match own.axes.iter().position(|axis| axis.path == path) {
            Some(at) if found.is_empty() => own.axes[at].values.clone(),
            Some(at) => distinct(found.iter().map(|place| place.1[at].as_str())),
            None => self.set.get(path).cloned().into_iter().collect(),
        }
    }

    /// The configurations of the changed run at the values that a point has of the parameters that both sweep.
    fn own_at(&self, place: &DesignPoint, own: &Plan) -> impl Iterator<Item = &Configured> {
        let axes = self.published.axes.iter().zip(&place.1);
        let wanted: Vec<(usize, &str)> = axes
            .filter_map(|(axis, value)| {
                Some((own.axes.iter().position(|known| known.path == axis.path)?, value.as_str()))
            })
            .collect();
        let scheme = place.0.trim_end_matches('*');
        let is_it = move |known: &DesignPoint| {
            known.0.trim_end_matches('*') == scheme && wanted.iter().all(|&(at, value)| is_same(&known.1[at], value))
        };
        self.own_points.iter().filter(move |(known, _)| is_it(known)).map(|(_, configured)| configured)
    }
}

/// The points by which a claim is judged; all of its study if it is computed without any.
fn places(claim: &Claim, study: &Study, plan: &Plan) -> BTreeSet<DesignPoint> {
    let needed = needed_for(claim, plan, study, &|_| 1.0);
    if !needed.is_empty() || claim.measures().iter().any(|measure| is_simulated(study, &measure.name())) {
        return needed;
    }
    plan.points.iter().map(|planned| (planned.point.scheme.clone(), planned.point.values.clone())).collect()
}

/// Whether a quantity comes from simulations.
fn is_simulated(study: &Study, name: &str) -> bool {
    study.measures.get(name).is_some_and(|measure| measure.function.is_none())
}

/// The configuration of each scheme at each combination of values.
fn configurations(plan: &Plan) -> Result<BTreeMap<DesignPoint, Configured>, Problem> {
    let mut all = BTreeMap::new();
    let mut networks = Networks::default();
    let place = |planned: &PlannedPoint| (planned.point.scheme.clone(), planned.point.values.clone());
    for seeds in plan.points.chunk_by(|a, b| place(a) == place(b)) {
        let mut flat = Flat::new();
        let scenario = seeds[0].scenario_in(&mut networks)?;
        let mut table = scenario.asked().to_table();
        table.remove(RECORD);
        flatten("", &toml::Value::Table(table), &mut flat);
        all.insert(place(&seeds[0]), Configured { flat, record: scenario.asked().record.clone() });
    }
    Ok(all)
}

/// The values of the table `record` by their dotted paths.
fn flat_record(record: &RecordConfig) -> Flat {
    let mut flat = Flat::new();
    flatten(RECORD, &toml::Value::try_from(record).expect("a configuration is TOML"), &mut flat);
    flat
}

fn flatten(path: &str, value: &toml::Value, flat: &mut Flat) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, value, flat);
            }
        }
        toml::Value::String(text) => drop(flat.insert(path.to_owned(), text.clone())),
        value => drop(flat.insert(path.to_owned(), value.to_string())),
    }
}

fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for value in values {
        if !found.iter().any(|known| known == value) {
            found.push(value.to_owned());
        }
    }
    found.sort_by(|a, b| coordinate(a).partial_cmp(&coordinate(b)).unwrap_or(std::cmp::Ordering::Equal));
    found
}

/// Whether two texts are the same value of a parameter: `0.8` and `0.80` are.
fn is_same(a: &str, b: &str) -> bool {
    a == b || coordinate(a) == coordinate(b)
}

fn same_values(a: &[String], b: &[String]) -> bool {
    let within = |some: &[String], all: &[String]| some.iter().all(|one| all.iter().any(|other| is_same(one, other)));
    within(a, b) && within(b, a)
}

/// "0.8 and 0.9".
fn listed(values: &[String]) -> String {
    match values {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// "`port.limit` is 1MB, published 240KB".
fn in_words(differences: &BTreeMap<String, (Option<String>, Option<String>)>) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".to_owned());
    let one = |(path, (was, is)): (&String, &(Option<String>, Option<String>))| {
        format!("`{path}` is {}, published {}", text(is), text(was))
    };
    let mut all: Vec<String> = differences.iter().take(NAMED).map(one).collect();
    if differences.len() > NAMED {
        all.push(format!("{} keys more differ", differences.len() - NAMED));
    }
    all.join("; ")
}
