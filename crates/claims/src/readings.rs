//! What claims come to under the readings of a document: `FOLDER/SCALE/readings/STUDY.csv`.
//!
//! The verdict of a claim is that of the base. Beside it stand how many of the readings reproduce it, and which value
//! decides.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tailcut_record::{RecordError, write_atomically};
use tailcut_results::csv::{CsvTable, number};

use crate::judgement::{Judgement, Verdict};
use crate::stored::ClaimsError;

/// What stands between the values of a reading.
const BETWEEN: char = '+';

/// A claim under a reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadJudgement {
    /// The claim.
    pub claim: String,
    /// The reading: `base`, or the names of the values that are not those of the base, joined by `+`.
    pub reading: String,
    /// A fingerprint of what was simulated for it, in hexadecimal digits; empty in files that are older than it.
    #[serde(default)]
    pub plan: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The number that decided.
    pub measured: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Why, in one sentence.
    pub reason: String,
}

impl ReadJudgement {
    /// A judgement under a reading, for which what has this fingerprint was simulated.
    pub fn of(reading: &str, plan: &str, judgement: &Judgement) -> ReadJudgement {
        let Judgement { id, verdict, measured, low, high, reason, .. } = judgement.clone();
        ReadJudgement {
            claim: id,
            reading: reading.to_owned(),
            plan: plan.to_owned(),
            verdict,
            measured,
            low,
            high,
            reason,
        }
    }

    /// Whether this value is taken.
    fn takes(&self, name: &str) -> bool {
        self.reading.split(BETWEEN).any(|taken| taken == name)
    }
}

/// What the claims of a study come to under its readings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadingResults {
    /// The study.
    pub study: String,
    /// The scale.
    pub scale: String,
    /// A judgement for each claim under each reading.
    pub judgements: Vec<ReadJudgement>,
}

impl ReadingResults {
    /// The file of a study in a folder of results.
    pub fn path(folder: &Path, scale: &str, study: &str) -> PathBuf {
        folder.join(scale).join("readings").join(format!("{study}.csv"))
    }

    /// Takes judgements in the place of those of the same claims under the same readings.
    pub fn replace(&mut self, judgements: impl IntoIterator<Item = ReadJudgement>) {
        for judgement in judgements {
            let is_same =
                |known: &&mut ReadJudgement| known.claim == judgement.claim && known.reading == judgement.reading;
            match self.judgements.iter_mut().find(is_same) {
                Some(known) => *known = judgement,
                None => self.judgements.push(judgement),
            }
        }
    }

    /// Forgets the judgements under readings that are not wanted, by their names and what was simulated for them.
    pub fn retain(&mut self, mut wanted: impl FnMut(&str, &str) -> bool) {
        self.judgements.retain(|one| wanted(&one.reading, &one.plan));
    }

    /// Reads a file; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is not of this form.
    pub fn read(path: &Path, scale: &str) -> Result<Option<ReadingResults>, ClaimsError> {
        if !path.exists() {
            return Ok(None);
        }
        let text =
            std::fs::read_to_string(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
        let judgements: Result<Vec<ReadJudgement>, csv::Error> =
            csv::Reader::from_reader(text.as_bytes()).deserialize().collect();
        let form = |error: csv::Error| ClaimsError::Form { path: path.to_owned(), message: error.to_string() };
        let study = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Some(ReadingResults { study, scale: scale.to_owned(), judgements: judgements.map_err(form)? }))
    }

    /// Every file of a folder of results, by study.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn read_all(folder: &Path) -> Result<Vec<ReadingResults>, ClaimsError> {
        let mut all = Vec::new();
        for scale in crate::SCALES {
            let entries = std::fs::read_dir(folder.join(scale).join("readings")).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
            paths.sort();
            for path in paths {
                all.extend(ReadingResults::read(&path, scale)?);
            }
        }
        Ok(all)
    }

    /// Writes the file, whole or not at all. Its folder is made.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ClaimsError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| RecordError::Write { path: folder.to_owned(), source })?;
        }
        let mut table = CsvTable::new(["claim", "reading", "plan", "verdict", "measured", "low", "high", "reason"]);
        for one in &self.judgements {
            let numbers = [one.measured, one.low, one.high].map(number);
            let [measured, low, high] = &numbers;
            table.line([&one.claim, &one.reading, &one.plan, one.verdict.name(), measured, low, high, &one.reason]);
        }
        let text = table.finish();
        Ok(write_atomically(path, |out| out.write_all(text.as_bytes()))?)
    }

    /// The readings, in the order in which they were run.
    pub fn readings(&self) -> Vec<&str> {
        let mut readings: Vec<&str> = Vec::new();
        for one in &self.judgements {
            if !readings.contains(&one.reading.as_str()) {
                readings.push(&one.reading);
            }
        }
        readings
    }

    /// The verdict on a claim under a reading.
    pub fn verdict(&self, claim: &str, reading: &str) -> Option<Verdict> {
        self.judgements.iter().find(|one| one.claim == claim && one.reading == reading).map(|one| one.verdict)
    }

    /// What a claim comes to under all of them; `None` if it was judged under fewer than two.
    pub fn of_claim(&self, claim: &str) -> Option<UnderReadings> {
        let judged: Vec<&ReadJudgement> =
            self.judgements.iter().filter(|one| one.claim == claim && one.verdict != Verdict::NotRun).collect();
        if judged.len() < 2 {
            return None;
        }
        let holds = judged.iter().filter(|one| one.verdict.is_reproduced()).count();
        Some(UnderReadings { judged: judged.len(), holds, decided_by: decided_by(&judged), scale: self.scale.clone() })
    }
}

/// A claim under the readings of its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderReadings {
    /// Under how many readings it was judged.
    pub judged: usize,
    /// Under how many of them it is reproduced.
    pub holds: usize,
    /// The value that decides; `not NAME` if it is reproduced without it. `None` if all readings agree, or no value by
    /// itself makes the difference.
    pub decided_by: Option<String>,
    /// At which scale.
    pub scale: String,
}

impl UnderReadings {
    /// Of those at several scales the one of most readings; of equal ones the first.
    pub fn of_most(results: &[ReadingResults], claim: &str) -> Option<UnderReadings> {
        let all = results.iter().filter_map(|results| results.of_claim(claim));
        all.reduce(|best, other| if other.judged > best.judged { other } else { best })
    }

    /// In words, beside a verdict of this scale.
    pub fn beside(&self, scale: Option<&str>) -> String {
        match scale {
            Some(scale) if scale != self.scale => format!("{self} ({})", self.scale),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for UnderReadings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "holds under {} of {}", self.holds, self.judged)?;
        match &self.decided_by {
            Some(name) => write!(f, "; decided by `{name}`"),
            None => Ok(()),
        }
    }
}

/// By how much the share of readings that reproduce a claim must be larger with a value than without it, or smaller,
/// for the value to decide.
const DECIDES: f64 = 0.5;

/// The value with which the share of readings that reproduce the claim changes most.
fn decided_by(judged: &[&ReadJudgement]) -> Option<String> {
    let mut effects: BTreeMap<&str, f64> = BTreeMap::new();
    for name in judged.iter().flat_map(|one| one.reading.split(BETWEEN)).filter(|name| *name != "base") {
        let share = |taken: bool| {
            let of: Vec<bool> =
                judged.iter().filter(|one| one.takes(name) == taken).map(|one| one.verdict.is_reproduced()).collect();
            of.iter().filter(|holds| **holds).count() as f64 / of.len() as f64
        };
        effects.entry(name).or_insert_with(|| share(true) - share(false));
    }
    let largest = effects.into_iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    match largest {
        (_, effect) if effect.abs() < DECIDES => None,
        (name, effect) if effect > 0.0 => Some(name.to_owned()),
        (name, _) => Some(format!("not {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(judged: &[(&str, Verdict)]) -> ReadingResults {
        let judgement = |&(reading, verdict): &(&str, Verdict)| ReadJudgement {
            claim: "a".to_owned(),
            reading: reading.to_owned(),
            plan: format!("of {reading}"),
            verdict,
            measured: Some(0.5),
            low: None,
            high: Some(0.75),
            reason: "Because, \"so\".".to_owned(),
        };
        ReadingResults {
            study: "study".to_owned(),
            scale: "quick".to_owned(),
            judgements: judged.iter().map(judgement).collect(),
        }
    }

    use Verdict::{NotReproduced as No, NotRun, Reproduced as Yes, Stronger};

    #[test]
    fn the_value_decides_with_which_the_verdict_changes() {
        let of = |judged: &[(&str, Verdict)]| results(judged).of_claim("a");
        let under = |judged, holds, decided_by: Option<&str>| {
            let decided_by = decided_by.map(str::to_owned);
            Some(UnderReadings { judged, holds, decided_by, scale: "quick".to_owned() })
        };
        let all = [("base", No), ("x", Yes), ("y", No), ("x+y", Stronger)];
        assert_eq!(of(&all), under(4, 2, Some("x")));
        assert_eq!(of(&[("base", Yes), ("x", No), ("y", Yes), ("x+y", No)]), under(4, 2, Some("not x")));
        assert_eq!(of(&[("base", Yes), ("x", Yes), ("y", Yes)]), under(3, 3, None));
        assert_eq!(of(&[("base", No), ("x", Yes), ("y", NotRun)]), under(2, 1, Some("x")));
        assert_eq!(of(&[("base", No), ("x", NotRun)]), None, "one verdict says nothing of readings");
        assert_eq!(results(&all).of_claim("b"), None);
    }

    #[test]
    fn the_scale_of_most_readings_counts_and_is_said_beside_a_verdict_of_another_one() {
        let quick = results(&[("base", No), ("x", Yes), ("y", No)]);
        let paper = ReadingResults { scale: "paper".to_owned(), ..results(&[("base", No), ("x", Yes)]) };
        let most = UnderReadings::of_most(&[paper.clone(), quick], "a").unwrap();
        assert_eq!((most.judged, most.scale.as_str()), (3, "quick"));
        assert_eq!(most.beside(Some("paper")), "holds under 1 of 3; decided by `x` (quick)");
        assert_eq!(most.beside(Some("quick")), most.to_string());
        assert_eq!(UnderReadings::of_most(&[paper], "a").unwrap().scale, "paper");
        assert_eq!(UnderReadings::of_most(&[], "a"), None);
    }

    #[test]
    fn a_file_comes_back_and_a_reading_that_is_run_again_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = ReadingResults::path(folder.path(), "quick", "study");
        assert_eq!(ReadingResults::read(&path, "quick").unwrap(), None);
        let mut written = results(&[("base", No), ("x", Yes)]);
        written.write(&path).unwrap();
        assert_eq!(ReadingResults::read_all(folder.path()).unwrap(), [written.clone()]);
        written.replace(results(&[("x", Stronger)]).judgements);
        assert_eq!((written.readings(), written.verdict("a", "x")), (vec!["base", "x"], Some(Stronger)));
        std::fs::write(&path, "claim,reading\na,b\n").unwrap();
        assert!(ReadingResults::read(&path, "quick").unwrap_err().to_string().contains("study.csv"));
    }
}
