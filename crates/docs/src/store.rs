//! What is stored of the commands that the pages show: `results/NAME.*`, and `results/measured.toml` with what was
//! there when each of them was run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tailcut_claims::Standing;
use tailcut_lab::{Plan, RunArguments, fingerprint};
use tailcut_reproduce::{Scale, StoredPoints, Witness, read_summary, standing, stored_summary, study};
use tailcut_sim::Problem;

use crate::Finding;
use crate::figures::Figures;
use crate::source::Source;
use crate::statistics::{self, Statistics};

/// The name of a scenario's plan among stored points.
pub(crate) const RUN: &str = "run";

const MEASURED: &str = "results/measured.toml";
/// How statistics were computed then.
const STATISTICS: &str = "results/statistics.csv";

/// What was there when a command was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    /// The command.
    pub(crate) command: String,
    /// The day: `2026-11-22`.
    pub(crate) date: String,
    /// The machine, if what was measured is of a machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<String>,
    /// How statistics were computed: a name in `results/statistics.csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) statistics: Option<String>,
    /// A number for the files that the output depends on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) depends: Option<String>,
    /// Pictures that the command drew, each with a number for its content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) pictures: BTreeMap<String, String>,
}

/// What is stored in a repository.
#[derive(Debug)]
pub struct Store {
    pub(crate) root: PathBuf,
    facts: BTreeMap<String, Facts>,
    /// How statistics were computed when something of it was measured, by name.
    statistics: BTreeMap<String, Statistics>,
}

impl Store {
    /// Reads what is stored below `root`.
    ///
    /// # Errors
    /// If `results/measured.toml` or `results/statistics.csv` is not of its form.
    pub fn read(root: &Path) -> Result<Store, Finding> {
        let wrong = |file: &str, what: String| Finding::new(file, None, what);
        let text = |file: &str| {
            let path = root.join(file);
            let text = if path.exists() { std::fs::read_to_string(&path) } else { Ok(String::new()) };
            text.map_err(|error| wrong(file, format!("cannot be read: {error}")))
        };
        let facts =
            toml::from_str(&text(MEASURED)?).map_err(|error: toml::de::Error| wrong(MEASURED, error.to_string()))?;
        let statistics = statistics::read(&text(STATISTICS)?).map_err(|error| wrong(STATISTICS, error))?;
        Ok(Store { root: root.to_owned(), facts, statistics })
    }

    /// What was there when a source was measured.
    pub(crate) fn facts(&self, source: &Source) -> Option<&Facts> {
        self.facts.get(&source.name())
    }

    /// Keeps what was there, in the file as well.
    pub(crate) fn keep(&mut self, source: &Source, facts: Facts) -> Result<(), String> {
        if facts.statistics.is_some() {
            let now = Statistics::now()?;
            self.statistics.insert(now.name(), now.clone());
        }
        self.facts.insert(source.name(), facts);
        let used: BTreeSet<&String> = self.facts.values().filter_map(|facts| facts.statistics.as_ref()).collect();
        self.statistics.retain(|name, _| used.contains(name));
        write(&self.root.join(STATISTICS), &statistics::write(&self.statistics)?)?;
        let text = toml::to_string(&self.facts).map_err(|error| error.to_string())?;
        write(&self.root.join(MEASURED), text.as_bytes())
    }

    /// A file of a source: `ending` is `.figures.csv`, `.points.csv` or `.txt`. A study as it is has no figures of its
    /// own: they stand in its summary.
    pub(crate) fn path(&self, source: &Source, ending: &str) -> PathBuf {
        self.root.join("results").join(source.name() + ending)
    }

    /// The statistics of a run that are stored.
    pub(crate) fn figures(&self, source: &Source) -> Result<Figures, String> {
        // What the verdicts on a study are made of is what the pages show of it.
        if let Source::Study { study, scale, reading, changed: None } = source {
            let path = stored_summary(&self.root.join("results"), *scale, study, reading);
            let text = read_summary(&path).map_err(|_| format!("nothing is stored of it: {}", again(source)))?;
            return Figures::read_summary(&text);
        }
        Figures::read(&self.text(source, ".figures.csv")?)
    }

    /// What a command printed.
    pub(crate) fn output(&self, source: &Source) -> Result<String, String> {
        self.text(source, ".txt")
    }

    fn text(&self, source: &Source, ending: &str) -> Result<String, String> {
        let path = self.path(source, ending);
        std::fs::read_to_string(&path).map_err(|_| format!("nothing is stored of it: {}", again(source)))
    }

    /// Why what is stored of a source is no longer what its command gives; `None` if it is, as far as can be told
    /// without measuring again.
    pub(crate) fn stale(&self, source: &Source) -> Option<String> {
        let Some(facts) = self.facts(source) else { return Some("it has not been measured".to_owned()) };
        match source {
            Source::Output { kind, .. } => {
                if kind.is_measurement && facts.machine.is_none() {
                    return Some("it is of a machine, and does not say of which".to_owned());
                }
                for (picture, was) in &facts.pictures {
                    if picture_fingerprint(&self.root.join(picture)).as_ref() != Some(was) {
                        return Some(format!("{picture} is not the picture that it drew"));
                    }
                }
                let is_same = facts.depends == self.depends(kind.depends);
                (!is_same).then(|| format!("{} changed since {}", kind.depends.join(" or "), facts.date))
            }
            Source::Scenario { .. } | Source::Study { .. } => {
                let then = facts.statistics.as_ref().and_then(|name| self.statistics.get(name));
                match Statistics::now().map(|now| then.map(|then| then.changed(now))) {
                    Err(error) => return Some(error),
                    Ok(None) => return Some("nothing says how its statistics were computed".to_owned()),
                    Ok(Some(Some(metric))) => {
                        return Some(format!("{metric} is computed in another way than on {}", facts.date));
                    }
                    Ok(Some(None)) => {}
                }
                match self.standing(source) {
                    Ok(Standing::Holds) => None,
                    Ok(Standing::Stale(reason)) => Some(reason),
                    Ok(Standing::Unknown) => Some("it was stored without digests".to_owned()),
                    Err(error) => Some(error),
                }
            }
        }
    }

    /// Whether the simulations of a run still come out as they did; one of them is run.
    fn standing(&self, source: &Source) -> Result<Standing, String> {
        let stored = StoredPoints::read(&self.path(source, ".points.csv")).map_err(|error| error.to_string())?;
        let Some(stored) = stored else { return Ok(Standing::Unknown) };
        let (name, plan) = self.plan(source)?;
        // The witness of a study is of its quick scale.
        let (of, small, called) = match source {
            Source::Study { study, reading, changed: None, .. } => {
                let (study, reading) = (study.clone(), reading.clone());
                let quick = Source::Study { study, scale: Scale::Quick, reading, changed: None };
                (Scale::Quick.name(), self.plan(&quick)?.1, source.study())
            }
            _ => (RUN, plan.clone(), ""),
        };
        let again = Witness::again(&stored, of, &small, called);
        standing(&stored, name, &plan, &again).map_err(|problem| problem.render(false))
    }

    /// The simulations of a run, and what they are called among stored points.
    pub(crate) fn plan(&self, source: &Source) -> Result<(&'static str, Plan), String> {
        let shown = |problem: Problem| problem.render(false).trim_end().to_owned();
        match source {
            Source::Scenario { file } => {
                Ok((RUN, Plan::read(&self.root.join(file), &RunArguments::default()).map_err(shown)?))
            }
            Source::Study { study: name, scale, reading, changed } => {
                let set = changed.as_ref().map_or(Vec::new(), |changed| changed.set.clone());
                let arguments = RunArguments { set, ..RunArguments::default() };
                let plan = study(name).and_then(|study| study.plan(*scale, reading, &arguments)).map_err(shown)?;
                Ok((if changed.is_some() { RUN } else { scale.name() }, plan))
            }
            Source::Output { .. } => Err("it has no simulations".to_owned()),
        }
    }

    /// A number for the content of files and folders; `None` if none are named. Comments and empty lines do not count.
    pub(crate) fn depends(&self, paths: &[&str]) -> Option<String> {
        fn walk(path: &Path, all: &mut String) {
            if path.is_dir() {
                let mut entries: Vec<PathBuf> =
                    std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
                entries.sort();
                entries.iter().for_each(|entry| walk(entry, all));
                return;
            }
            // A file that cannot be read counts as one without content: when it was measured, it could be.
            let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
            *all += &path.file_name().unwrap_or_default().to_string_lossy();
            let code = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
            code.for_each(|line| *all += &format!("\n{line}"));
        }
        if paths.is_empty() {
            return None;
        }
        let mut all = String::new();
        paths.iter().for_each(|path| walk(&self.root.join(path), &mut all));
        Some(format!("{:016x}", fingerprint(all.as_bytes())))
    }
}

/// How a source is measured again.
pub(crate) fn again(source: &Source) -> String {
    format!("`cargo xtask docs --measure {}` runs `{}`", source.name(), source.command())
}

/// A number for the content of a picture; `None` if it cannot be read.
pub(crate) fn picture_fingerprint(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| format!("{:016x}", fingerprint(&bytes)))
}

/// Writes a file, whose folder is made.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    let done = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    done.map_err(|error| format!("cannot make the folder of {}: {error}", path.display()))?;
    tailcut_results::replace(path, content).map_err(|error| error.to_string())
}
