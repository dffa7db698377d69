//! A study: one scenario at two scales, from which several figures and tables of a document are made.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use tailcut_base::dotted;
use tailcut_lab::{Plan, RunArguments};
use tailcut_sim::config::{from_tree, suggest};
use tailcut_sim::pinned::pinned;
use tailcut_sim::{Networks, Problem, Tree, Value};

use crate::coverage::Changes;
use crate::measure::MeasureDefinition;
use crate::reading::{Open, Other, Reading};
use crate::scale::Scale;

/// What the claims call a scheme, or a scheme at one value of a swept parameter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The scheme of the scenario.
    pub scheme: String,
    /// Values of swept parameters, by path, as the scenario writes them.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
}

/// Something that is there or not in a factorial experiment: a swept parameter, and its values at which it is there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Path of the swept parameter.
    pub of: String,
    /// The values at which it is there, as the scenario writes them.
    pub on: Vec<String>,
}

/// Everything of a study file but the scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    title: String,
    #[serde(default)]
    coordinates: BTreeMap<String, String>,
    #[serde(default)]
    names: BTreeMap<String, Subject>,
    #[serde(default)]
    variants: BTreeMap<String, Variant>,
    #[serde(default)]
    measures: BTreeMap<String, MeasureDefinition>,
    #[serde(default)]
    factors: Vec<Factor>,
    #[serde(default)]
    open: Vec<Open>,
    overload: Option<String>,
}

/// A scheme that is another one with a difference: what a reading changes in the other one, it changes in this one too.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The other one.
    pub of: String,
    /// Paths of what a reading does not change here, such as `port.pfc`: the difference.
    #[serde(default)]
    pub but: Vec<String>,
}

/// Takes out what stands at a dotted path, and the tables that are empty without it.
fn forget(tree: &mut Tree, keys: &[String]) {
    let Some((key, below)) = keys.split_first() else { return };
    if let Some(mut table) = tree.take(key)
        && !below.is_empty()
    {
        forget(&mut table, below);
        if let (Value::Table(entries), false) = (&mut tree.value, table.entries().is_empty()) {
            entries.push((key.to_owned(), table));
        }
    }
}

/// What a reading changes in the scenario, with the variants of the schemes that it changes. What it says of a variant
/// itself is above what it says of the other scheme.
fn with_variants(set: Tree, variants: &BTreeMap<String, Variant>) -> Tree {
    let of_scheme = |name: &str| set.get("scheme").and_then(|schemes| schemes.get(name));
    let of_variants = variants.iter().filter_map(|(name, variant)| {
        let mut changes = of_scheme(&variant.of)?.clone();
        for path in &variant.but {
            forget(&mut changes, &dotted::keys(path).unwrap_or_default());
        }
        (!changes.entries().is_empty()).then_some((name.as_str(), changes))
    });
    let of_variants = Tree::of_entries(of_variants);
    match of_variants.entries().is_empty() {
        true => set,
        false => Tree::layered(&[Tree::of_entries([("scheme", of_variants)]), set]),
    }
}

/// A study, as its file in `experiments/studies/` says.
#[derive(Clone, Debug)]
pub struct Study {
    /// The name of its file.
    pub name: String,
    /// What it simulates.
    pub title: String,
    /// Paths of swept parameters by the names of the claims: `load`.
    pub coordinates: BTreeMap<String, String>,
    /// What the claims call its schemes, where the names differ.
    pub names: BTreeMap<String, Subject>,
    /// How the quantities of the claims are measured here, by the claims' words for them.
    pub measures: BTreeMap<String, MeasureDefinition>,
    /// What is there or not, if it is a factorial experiment.
    pub factors: Vec<Factor>,
    /// The choices that the document leaves open, with what is taken and what else it allows.
    pub open: Vec<Open>,
    /// Why a link may be overloaded, if one may.
    pub overload: Option<String>,
    /// Schemes that are another one with a difference, here or in a study that is built on this one.
    variants: BTreeMap<String, Variant>,
    /// The layers of the scenario: that of the study which all are built on is the lowest.
    scenario: Vec<Tree>,
    /// The layers of each scale, likewise.
    scales: [Vec<Tree>; 2],
    /// What a run of it changes; `None` if it runs as it is.
    pub(crate) changes: Option<Arc<Changes>>,
}

impl Study {
    /// Reads a study's text; `source` is its name in messages, and `find` gives the name in messages and the text of
    /// the study that it is built on: whatever is not said here is as it is there. A parameter that is left open there
    /// is so here too, unless this study says it anew, or that it is `not_open`: its document gives it, or has no use
    /// for it. What is `not_measured` here is left out likewise.
    ///
    /// # Errors
    /// If it is not TOML or anything but its scenario is wrong; the scenario is checked by [`Study::plan`].
    pub fn parse(
        source: &str,
        name: &str,
        text: &str,
        find: &dyn Fn(&str) -> Option<(String, String)>,
    ) -> Result<Study, Problem> {
        let mut documents = Vec::new();
        let open = with_bases(Tree::parse(source, text)?, find, &mut documents)?;
        let mut take = |key: &str| documents.iter_mut().filter_map(|document| document.take(key)).collect::<Vec<_>>();
        let scenario = take("scenario");
        if scenario.is_empty() {
            return Err(Problem::new(format!("{source} has no scenario")).help("expected a table `[scenario]`"));
        }
        let scales = Scale::ALL.map(|scale| take(scale.name()));
        let not_measured: Vec<Tree> = take("not_measured").into_iter().flat_map(|tree| list(Some(tree))).collect();
        // What the other values change is of the scenario, and not read here.
        let (open, sets): (Vec<Tree>, Vec<Vec<Option<Tree>>>) = open.into_iter().map(with_sets).unzip();
        let mut tree = Tree::layered(&documents);
        if let Value::Table(entries) = &mut tree.value {
            entries.push(("open".to_owned(), Tree { value: Value::Array(open), ..Tree::table() }));
        }
        let mut keys: Keys = from_tree(&tree)?;
        for name in not_measured {
            if name.as_str().and_then(|name| keys.measures.remove(name)).is_none() {
                let known: Vec<&str> = keys.measures.keys().map(String::as_str).collect();
                let problem = Problem::new("the study below does not measure this")
                    .help(suggest(name.as_str().unwrap_or_default(), &known));
                return Err(name
                    .key_or_value()
                    .map_or_else(|| problem.clone(), |origin| problem.clone().or_at(origin)));
            }
        }
        let mut names: Vec<&str> = Vec::new();
        for (open, sets) in keys.open.iter_mut().zip(sets) {
            for (other, set) in open.other.iter_mut().zip(sets) {
                let wrong = |what: &str| Problem::new(format!("{source}: the value `{}` {what}", other.name));
                if other.name.is_empty() || other.name == "base" || other.name.contains(['+', '/', ' ']) {
                    return Err(wrong("has no name that can be asked for")
                        .help("expected a word without `+`, `/` and spaces, and not `base`"));
                }
                if names.contains(&other.name.as_str()) {
                    return Err(wrong("is there twice"));
                }
                if set.as_ref().is_none_or(|set| set.entries().is_empty()) && other.measures.is_empty() {
                    return Err(wrong("changes nothing").help(
                        "expected a table `set` with what it changes in the scenario, or `measures` with what it \
                         measures in another way",
                    ));
                }
                if let Some(unknown) = other.measures.keys().find(|name| !keys.measures.contains_key(*name)) {
                    let known: Vec<&str> = keys.measures.keys().map(String::as_str).collect();
                    return Err(wrong(&format!("measures `{unknown}`, which the study does not measure"))
                        .help(suggest(unknown, &known)));
                }
                other.set = set.map(|set| with_variants(set, &keys.variants));
                names.push(&other.name);
            }
        }
        Ok(Study {
            name: name.to_owned(),
            title: keys.title,
            coordinates: keys.coordinates,
            names: keys.names,
            measures: keys.measures,
            factors: keys.factors,
            open: keys.open,
            overload: keys.overload,
            variants: keys.variants,
            scenario,
            scales,
            changes: None,
        })
    }

    /// The simulations of this study under a reading.
    ///
    /// # Errors
    /// If there is no such reading, or the scenario is wrong.
    pub fn plan(&self, scale: Scale, reading: &Reading, arguments: &RunArguments) -> Result<Plan, Problem> {
        Plan::of_layers(self.layers(scale, reading)?, &self.name, std::path::Path::new(""), arguments)
    }

    /// What the points of [`Study::plan`] are, of the first seed.
    pub(crate) fn contents(&self, scale: Scale, reading: &Reading) -> Result<Vec<u64>, Problem> {
        Plan::contents_of_layers(self.layers(scale, reading)?, &self.name, std::path::Path::new(""))
    }

    fn layers(&self, scale: Scale, reading: &Reading) -> Result<Vec<Tree>, Problem> {
        let taken = self.taken(reading)?;
        let layers = self.scenario.iter().chain(&self.scales[scale as usize]);
        let layers = layers.chain(taken.into_iter().filter_map(|other| other.set.as_ref())).cloned();
        // PINNED: results are stored of these values.
        Ok(pinned().into_iter().chain(layers).collect())
    }

    /// Refuses a plan of this study, read so, with an overloaded link, unless the study says why one may be: results
    /// there grow with the length of the run, and say nothing of a scheme.
    ///
    /// # Errors
    /// If a link is overloaded, or a scenario cannot be.
    pub fn refuse_overload(&self, reading: &Reading, plan: &Plan) -> Result<(), Problem> {
        if self.overload.is_some() {
            return Ok(());
        }
        let mut seen = Vec::new();
        let mut networks = Networks::default();
        for planned in &plan.points {
            // The schemes of a point have the same traffic.
            if seen.contains(&&planned.point.values) {
                continue;
            }
            seen.push(&planned.point.values);
            if let Some((link, times)) = planned.scenario_in(&mut networks)?.overloaded().first() {
                let at = planned.point.values.join(", ");
                return Err(Problem::new(format!(
                    "the study {} under the reading {reading} is overloaded at {at}: {link} is offered {times:.2} times \
                     what it carries",
                    self.name
                ))
                .help("expected less load, or `overload = \"the reason\"` in the study"));
            }
        }
        Ok(())
    }

    /// The study as a reading measures it.
    ///
    /// # Errors
    /// If there is no such reading.
    pub fn read_as(mut self, reading: &Reading) -> Result<Study, Problem> {
        let measures: Vec<_> = self.taken(reading)?.into_iter().flat_map(|other| other.measures.clone()).collect();
        self.measures.extend(measures);
        Ok(self)
    }

    /// The study as a run of the plan `own` under a reading changes it by `arguments`. Only claims whose simulations
    /// stay the same are judged by such a run.
    ///
    /// # Errors
    /// If the study as it is cannot be planned.
    pub fn changed_by(
        mut self,
        scale: Scale,
        reading: &Reading,
        own: &Plan,
        arguments: &RunArguments,
    ) -> Result<Study, Problem> {
        self.changes = Changes::of(&self, scale, reading, own, arguments)?.map(Arc::new);
        Ok(self)
    }

    /// The values that a reading takes, in the order of the choices.
    ///
    /// # Errors
    /// If there is no value of such a name, or two are of the same choice.
    pub fn taken(&self, reading: &Reading) -> Result<Vec<&Other>, Problem> {
        let is_taken = |other: &&Other| reading.names().contains(&other.name);
        let known = || self.open.iter().flat_map(|open| &open.other).map(|other| other.name.as_str());
        if let Some(unknown) = reading.names().iter().find(|name| known().all(|known| known != *name)) {
            let known: Vec<&str> = known().collect();
            let problem = Problem::new(format!("the study {} has no reading `{unknown}`", self.name));
            return Err(match known.is_empty() {
                true => problem.help("it has its base only"),
                false => problem.help(suggest(unknown, &known)),
            });
        }
        let mut taken = Vec::new();
        for open in &self.open {
            let of_choice: Vec<&Other> = open.other.iter().filter(is_taken).collect();
            if let [first, second, ..] = of_choice.as_slice() {
                let (first, second, parameter) = (&first.name, &second.name, &open.parameter);
                return Err(Problem::new(format!(
                    "`{first}` and `{second}` are two values of one choice, {parameter}"
                ))
                .help("expected one of them"));
            }
            taken.extend(of_choice);
        }
        Ok(taken)
    }

    /// Its schemes that are another one with a difference.
    pub fn variants(&self) -> Vec<(&str, &Variant)> {
        let scenario = Tree::layered(&self.scenario);
        let schemes = list(scenario.get("schemes").cloned());
        let variants = schemes.iter().filter_map(|scheme| self.variants.get_key_value(scheme.as_str()?));
        variants.map(|(name, variant)| (name.as_str(), variant)).collect()
    }

    /// Its schemes whose preset is another one of its schemes, and that one.
    #[cfg(test)]
    pub(crate) fn made_of_another(&self) -> Vec<(String, String)> {
        let scenario = Tree::layered(&self.scenario);
        let schemes = list(scenario.get("schemes").cloned());
        let names: Vec<&str> = schemes.iter().filter_map(Tree::as_str).collect();
        let preset = |name: &str| scenario.get("scheme")?.get(name)?.get("preset")?.as_str();
        let of = |name: &&str| preset(name).filter(|preset| preset != name && names.contains(preset));
        names.iter().filter_map(|name| Some(((*name).to_owned(), of(name)?.to_owned()))).collect()
    }

    /// The scheme and the values of swept parameters that a claim means by `subject`.
    pub fn subject(&self, subject: &str) -> Subject {
        let same = || Subject { scheme: subject.to_owned(), at: BTreeMap::new() };
        self.names.get(subject).cloned().unwrap_or_else(same)
    }
}

/// An entry of the open choices, and apart from it what its other values change.
fn with_sets(mut open: Tree) -> (Tree, Vec<Option<Tree>>) {
    let mut sets = Vec::new();
    if let Value::Table(entries) = &mut open.value
        && let Some((_, Tree { value: Value::Array(others), .. })) = entries.iter_mut().find(|(key, _)| key == "other")
    {
        sets = others.iter_mut().map(|other| other.take("set")).collect();
    }
    (open, sets)
}

/// Adds a study to `documents`, below it the study that it is built on, which may be built on another one in turn, and
/// returns the parameters that it leaves open together with those that are left open below.
fn with_bases(
    mut tree: Tree,
    find: &dyn Fn(&str) -> Option<(String, String)>,
    documents: &mut Vec<Tree>,
) -> Result<Vec<Tree>, Problem> {
    let own = list(tree.take("open"));
    let Some(base) = tree.take("base") else {
        documents.push(tree);
        return Ok(own);
    };
    let missing = || {
        let problem = Problem::new("there is no such study").help("expected the name of a file beside this one");
        base.key_or_value().map_or_else(|| problem.clone(), |origin| problem.clone().or_at(origin))
    };
    let (source, text) = base.as_str().and_then(find).ok_or_else(missing)?;
    let mut open = with_bases(Tree::parse(&source, &text)?, find, documents)?;
    for closed in list(tree.take("not_open")) {
        let is_it = |entry: &Tree| closed.as_str().is_some() && parameter(entry) == closed.as_str();
        let Some(at) = open.iter().position(is_it) else {
            let known: Vec<&str> = open.iter().filter_map(parameter).collect();
            let problem = Problem::new("the study below leaves no such parameter open")
                .help(suggest(closed.as_str().unwrap_or_default(), &known));
            return Err(closed.key_or_value().map_or_else(|| problem.clone(), |origin| problem.clone().or_at(origin)));
        };
        open.remove(at);
    }
    open.retain(|entry| own.iter().all(|other| parameter(other) != parameter(entry)));
    open.extend(own);
    documents.push(tree);
    Ok(open)
}

/// The entries of a list; none if there is no list. A value that is not a list is returned as the only entry: whoever
/// reads the entries refuses it with a message.
fn list(tree: Option<Tree>) -> Vec<Tree> {
    match tree {
        Some(Tree { value: Value::Array(entries), .. }) => entries,
        tree => tree.into_iter().collect(),
    }
}

/// The parameter that an entry leaves open.
fn parameter(entry: &Tree) -> Option<&str> {
    entry.get("parameter").and_then(Tree::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BELOW: &str = "title = \"below\"\n[scenario]\nschemes = [\"tcp\"]\n\
         [[open]]\nparameter = \"buffer\"\nvalue = \"4 MB\"\nrule = \"ours\"\nreason = \"theirs\"\n\
         [[open]]\nparameter = \"loads\"\nvalue = \"all\"\nrule = \"ours\"\nreason = \"theirs\"\n";

    fn open(text: &str) -> Result<Vec<(String, String)>, Problem> {
        let find = |name: &str| (name == "below").then(|| ("below.toml".to_owned(), BELOW.to_owned()));
        let study = Study::parse("above.toml", "above", &format!("base = \"below\"\n{text}"), &find)?;
        Ok(study.open.into_iter().map(|open| (open.parameter, open.value)).collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(parameter, value)| ((*parameter).to_owned(), (*value).to_owned())).collect()
    }

    const READ: &str = "title = \"read\"\n[scenario]\nschemes = [\"tcp\"]\n[measures]\nwait = { metric = \"fct_mean\" }\n\
         [[open]]\nparameter = \"mean\"\nvalue = \"of times\"\nrule = \"ours\"\nreason = \"none\"\n\
         [[open.other]]\nname = \"of-ratios\"\nvalue = \"of ratios\"\nreason = \"none\"\n";

    #[test]
    fn a_reading_may_measure_in_another_way() {
        let study = |text: &str| Study::parse("read.toml", "read", &format!("{READ}{text}"), &|_| None);
        let of_ratios = study("measures.wait = { metric = \"slowdown_mean\" }\n").unwrap();
        let metric = |reading: &str| {
            let read = of_ratios.clone().read_as(&Reading::parse(reading)).unwrap();
            read.measures["wait"].metric.clone().unwrap()
        };
        assert_eq!([metric("base"), metric("of-ratios")], ["fct_mean", "slowdown_mean"]);
        let problem = study("measures.waits = { metric = \"slowdown_mean\" }\n").unwrap_err();
        assert!(problem.help_text().unwrap().contains("`wait`"), "{}", problem.render(false));
        let unmeasured = |name: &str| format!("not_measured = [\"{name}\"]\n{READ}set.seeds = 2\n");
        let study_of = |text: &str| Study::parse("read.toml", "read", text, &|_| None);
        assert!(study_of(&unmeasured("wait")).unwrap().measures.is_empty());
        assert!(study_of(&unmeasured("wiat")).unwrap_err().help_text().unwrap().contains("`wait`"));
        assert!(study("").unwrap_err().render(false).contains("changes nothing"));
    }

    /// A reading of a scheme is one of its variants too, but for their difference; what it says of them itself counts.
    #[test]
    fn what_a_reading_changes_in_a_scheme_it_changes_in_its_variants() {
        let text = "title = \"variants\"\n[variants]\nfixed = { of = \"dctcp\", but = [\"port.limit\", \"port.marker\"] }\n\
                    loose = { of = \"dctcp\" }\n[scenario]\nschemes = [\"dctcp\", \"fixed\", \"loose\"]\n\
                    [[open]]\nparameter = \"ports\"\nvalue = \"250 KB\"\nrule = \"ours\"\nreason = \"custom\"\n\
                    [[open.other]]\nname = \"large\"\nvalue = \"1 MB\"\nreason = \"custom\"\n\
                    set.scheme.dctcp = { port.limit = \"1MB\", nic = \"pull\" }\n\
                    set.scheme.loose.port.limit = \"2MB\"\n\
                    [[open.other]]\nname = \"limit\"\nvalue = \"3 MB\"\nreason = \"custom\"\n\
                    set.scheme.dctcp.port.limit = \"3MB\"\n";
        let study = Study::parse("variants.toml", "variants", text, &|_| None).unwrap();
        let set = |name: &str| {
            let taken = study.taken(&Reading::of([name])).unwrap();
            let mut said = Vec::new();
            taken[0].set.as_ref().unwrap().each(&mut |path, tree| said.push(format!("{path} = {}", tree.to_text())));
            said.sort();
            said
        };
        assert_eq!(
            set("large"),
            [
                "scheme.dctcp.nic = pull",
                "scheme.dctcp.port.limit = 1MB",
                "scheme.fixed.nic = pull",
                "scheme.loose.nic = pull",
                "scheme.loose.port.limit = 2MB",
            ]
        );
        assert_eq!(set("limit"), ["scheme.dctcp.port.limit = 3MB", "scheme.loose.port.limit = 3MB"]);
    }

    #[test]
    fn what_is_open_below_is_open_above_unless_it_is_said_otherwise() {
        let own = "[[open]]\nparameter = \"buffer\"\nvalue = \"225 KB\"\nrule = \"ours\"\nreason = \"ours\"\n";
        assert_eq!(open("").unwrap(), pairs(&[("buffer", "4 MB"), ("loads", "all")]));
        assert_eq!(open(own).unwrap(), pairs(&[("loads", "all"), ("buffer", "225 KB")]));
        assert_eq!(open("not_open = [\"loads\"]\n").unwrap(), pairs(&[("buffer", "4 MB")]));
        let problem = open("not_open = [\"load\"]\n").unwrap_err();
        assert!(problem.help_text().unwrap().contains("`loads`"), "{}", problem.render(false));
        assert!(open("open = \"buffer\"\n").is_err() && open("not_open = \"loads\"\n").is_ok());
    }
}
