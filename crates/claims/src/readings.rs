//! What claims come to under the readings of a document: `FOLDER/SCALE/readings/STUDY.csv`.
//!
//! The verdict of a claim is that of the base. Beside it stand how many of the readings reproduce it, and which value
//! decides.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tailcut_record::{RecordError, write_atomically};
use tailcut_results::csv::{CsvTable, number};

use crate::catalogue::catalogue;
use crate::evidence::NoEvidence;
use crate::judge::judge;
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

    /// The values that are taken in the place of those of the base.
    fn taken(&self) -> impl Iterator<Item = &str> {
        self.reading.split(BETWEEN).filter(|name| *name != "base")
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
        self.judge_from_parts();
    }

    /// Judges the claims that have parts from the verdicts on these under the same reading, where all are here: they
    /// may have been judged before their parts were, or before these were judged anew.
    fn judge_from_parts(&mut self) {
        for at in 0..self.judgements.len() {
            let ReadJudgement { claim, reading, plan, .. } = &self.judgements[at];
            let Some(claim) = catalogue().claims.iter().find(|known| known.id == *claim && !known.parts.is_empty())
            else {
                continue;
            };
            let verdict_on = |id: &str| {
                let part = self.judgements.iter().find(|one| one.reading == *reading && one.claim == id);
                part.map(|one| one.verdict)
            };
            if claim.parts.iter().all(|part| verdict_on(part).is_some()) {
                let judgement = judge(claim, &NoEvidence, &verdict_on);
                self.judgements[at] = ReadJudgement::of(reading, plan, &judgement);
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
        let mut results = ReadingResults { study, scale: scale.to_owned(), judgements: judgements.map_err(form)? };
        results.judge_from_parts();
        Ok(Some(results))
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
        let mut seen = BTreeSet::new();
        let readings = self.judgements.iter().map(|one| one.reading.as_str());
        readings.filter(|reading| seen.insert(*reading)).collect()
    }

    /// The verdict on a claim under a reading.
    pub fn verdict(&self, claim: &str, reading: &str) -> Option<Verdict> {
        self.judgements.iter().find(|one| one.claim == claim && one.reading == reading).map(|one| one.verdict)
    }

    /// The judgements of a claim.
    fn judged(&self, claim: &str) -> Vec<&ReadJudgement> {
        self.judgements.iter().filter(|one| one.claim == claim && one.verdict != Verdict::NotRun).collect()
    }

    /// What moves a claim most: one value, and two together. None of a kind if that moves nothing.
    pub fn strongest(&self, claim: &str) -> [Option<ReadingEffect>; 2] {
        let effects = Effects::of(&self.judged(claim));
        [effects.strongest_value(), effects.strongest_pair()]
    }

    /// What a claim comes to under all of them; `None` if it was judged under fewer than two.
    pub fn of_claim(&self, claim: &str) -> Option<UnderReadings> {
        let judged = self.judged(claim);
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
    /// The value that decides; `not NAME` if it is reproduced without it. Where no value does by itself, the two that
    /// do together. `None` if all readings agree, or neither makes the difference.
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

/// Of how many readings there must be some with two values together, for the two to decide. A design over all choices
/// has as many for every pair; a pair that somebody tried by itself has one or two.
const PAIRS_FROM: usize = 4;

/// Readings: how many reproduce a claim, and how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many reproduce the claim.
    pub holds: usize,
    /// How many there are.
    pub judged: usize,
}

impl Share {
    fn value(self) -> Option<f64> {
        (self.judged > 0).then(|| self.holds as f64 / self.judged as f64)
    }

    /// The share that is to be expected of further readings, by Laplace's rule of succession: one of one says less than
    /// thirty of thirty-two.
    fn expected(self) -> f64 {
        (self.holds + 1) as f64 / (self.judged + 2) as f64
    }
}

/// Those that are not among the others, which all are among these.
impl std::ops::Sub for Share {
    type Output = Share;

    fn sub(self, some: Share) -> Share {
        Share { holds: self.holds - some.holds, judged: self.judged - some.judged }
    }
}

/// What a value of a choice, or two together, does to a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadingEffect {
    /// The value; of two `a and b`, and `not a` is whatever is taken in the place of `a`.
    pub taken: String,
    /// The readings that have it.
    pub with: Share,
    /// All others.
    pub without: Share,
}

impl ReadingEffect {
    /// By how much the share of readings that reproduce the claim is larger with it than without it.
    pub fn size(&self) -> f64 {
        self.with.value().zip(self.without.value()).map_or(0.0, |(with, without)| with - without)
    }

    /// The same of the shares that are to be expected: by this effects are compared.
    fn expected(&self) -> f64 {
        self.with.expected() - self.without.expected()
    }

    /// The same seen from where it is not taken, if that is where the claim holds.
    fn where_it_holds(self) -> ReadingEffect {
        if self.size() >= 0.0 {
            return self;
        }
        ReadingEffect { taken: format!("not {}", self.taken), with: self.without, without: self.with }
    }
}

/// The larger one; of equal ones the first.
fn larger(best: ReadingEffect, other: ReadingEffect) -> ReadingEffect {
    if other.expected() > best.expected() { other } else { best }
}

/// Some of the readings under which a claim was judged: a bit for each of them.
struct Readings(Vec<u64>);

impl Readings {
    /// None of so many.
    fn none(all: usize) -> Readings {
        Readings(vec![0; all.div_ceil(64)])
    }

    /// Takes one in, by its place among all.
    fn add(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    /// Those that are among the others too.
    fn and(&self, other: &Readings) -> Readings {
        Readings(self.0.iter().zip(&other.0).map(|(one, other)| one & other).collect())
    }

    fn count(&self) -> usize {
        self.0.iter().map(|bits| bits.count_ones() as usize).sum()
    }
}

/// What values do to a claim. A study may have fifty values, and for each of their thousand pairs a hundred readings
/// are counted, so that which of them take a value is looked up once.
struct Effects<'a> {
    /// In the order of the alphabet, each with the readings that take it.
    values: Vec<(&'a str, Readings)>,
    /// The readings that reproduce the claim.
    holds: Readings,
    /// All readings.
    all: Share,
}

impl<'a> Effects<'a> {
    fn of(judged: &[&'a ReadJudgement]) -> Effects<'a> {
        let mut values: BTreeMap<&str, Readings> = BTreeMap::new();
        let mut holds = Readings::none(judged.len());
        for (at, one) in judged.iter().enumerate() {
            if one.verdict.is_reproduced() {
                holds.add(at);
            }
            for name in one.taken() {
                values.entry(name).or_insert_with(|| Readings::none(judged.len())).add(at);
            }
        }
        let all = Share { holds: holds.count(), judged: judged.len() };
        Effects { values: values.into_iter().collect(), holds, all }
    }

    /// How many of these readings reproduce the claim.
    fn share(&self, some: &Readings) -> Share {
        Share { holds: some.and(&self.holds).count(), judged: some.count() }
    }

    /// What is taken under the readings `with`, and under no other.
    fn effect(&self, taken: String, with: Share) -> ReadingEffect {
        ReadingEffect { taken, with, without: self.all - with }
    }

    /// The value with which the share of readings that reproduce the claim changes most, with `not` if it is larger
    /// without it.
    fn strongest_value(&self) -> Option<ReadingEffect> {
        let effects =
            self.values.iter().map(|(name, with)| self.effect((*name).to_owned(), self.share(with)).where_it_holds());
        effects.filter(|effect| effect.size() > 0.0).reduce(larger)
    }

    /// The two values, each taken or not, with which the share changes most.
    fn strongest_pair(&self) -> Option<ReadingEffect> {
        let pairs = self.values.iter().enumerate().flat_map(|(at, first)| {
            let others = self.values[at + 1..].iter();
            others.flat_map(move |second| self.pair(first, second))
        });
        pairs.filter(|effect| effect.size() > 0.0).reduce(larger)
    }

    /// The effects of two values, each taken or not; none if they are hardly met together.
    fn pair(&self, (first, of_first): &(&str, Readings), (second, of_second): &(&str, Readings)) -> Vec<ReadingEffect> {
        let both = self.share(&of_first.and(of_second));
        // A choice has one value at a time: two of its values are never met together, and say nothing.
        if both.judged < PAIRS_FROM {
            return Vec::new();
        }
        let [with_first, with_second] = [of_first, of_second].map(|of| self.share(of));
        vec![
            self.effect(format!("{first} and {second}"), both),
            self.effect(format!("{first} and not {second}"), with_first - both),
            self.effect(format!("not {first} and {second}"), with_second - both),
            self.effect(format!("not {first} and not {second}"), self.all - with_first - (with_second - both)),
        ]
    }
}

/// The value that decides, or else the two that do.
fn decided_by(judged: &[&ReadJudgement]) -> Option<String> {
    let decides = |effect: &ReadingEffect| effect.size() >= DECIDES;
    let effects = Effects::of(judged);
    let effect = effects.strongest_value().filter(decides).or_else(|| effects.strongest_pair().filter(decides))?;
    Some(effect.taken)
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

    /// Whatever was stored of it: in the file, and when its parts are judged anew.
    #[test]
    fn a_claim_that_has_parts_is_judged_from_these_under_the_same_reading() {
        let whole = catalogue().claims.iter().find(|claim| claim.id == "spq-meets-design-goals").expect("it has parts");
        let row = |claim: &str, reading: &str, verdict| ReadJudgement {
            claim: claim.to_owned(),
            ..results(&[(reading, verdict)]).judgements.remove(0)
        };
        let mut judged = ReadingResults::default();
        judged.replace(["base", "x", "y"].map(|reading| row(&whole.id, reading, Verdict::Undecided)));
        judged.replace(whole.parts.iter().map(|part| row(part, "base", No)));
        judged.replace(whole.parts.iter().map(|part| row(part, "x", Yes)));
        judged.replace([row(&whole.parts[0], "y", No)]);
        let verdict = |judged: &ReadingResults, reading: &str| {
            judged.judgements.iter().find(|one| one.claim == whole.id && one.reading == reading).map(|one| one.verdict)
        };
        assert_eq!(verdict(&judged, "base"), Some(No));
        assert_eq!(verdict(&judged, "x"), Some(Yes));
        assert_eq!(verdict(&judged, "y"), Some(Verdict::Undecided), "most parts are of another study");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spq-ls144.csv");
        for one in &mut judged.judgements {
            one.verdict = if one.claim == whole.id { Yes } else { one.verdict };
        }
        judged.write(&path).unwrap();
        let read = ReadingResults::read(&path, "quick").unwrap().unwrap();
        assert_eq!(verdict(&read, "base"), Some(No));
        read.write(&path).unwrap();
        assert_eq!(ReadingResults::read(&path, "quick").unwrap().unwrap(), read);
    }

    #[test]
    fn where_no_value_decides_two_may_that_a_design_has_often_enough_together() {
        // All combinations of three values: the claim holds where `x` is taken and `y` is not.
        let names: Vec<String> = (0..8u32)
            .map(|bits| {
                let taken: Vec<&str> = ["x", "y", "z"]
                    .into_iter()
                    .enumerate()
                    .filter(|(at, _)| bits >> at & 1 == 1)
                    .map(|(_, n)| n)
                    .collect();
                if taken.is_empty() { "base".to_owned() } else { taken.join("+") }
            })
            .collect();
        let holds = |name: &str| name.contains('x') && !name.contains('y');
        let of = |names: &[String]| {
            let judged: Vec<(&str, Verdict)> =
                names.iter().map(|name| (name.as_str(), if holds(name) { Yes } else { No })).collect();
            results(&judged)
        };
        let share = |holds, judged| Share { holds, judged };
        let effect = |taken: &str, with, without| Some(ReadingEffect { taken: taken.to_owned(), with, without });
        // Twice as many readings, so that each pair is met four times: a fourth value that changes nothing.
        let all: Vec<String> = names.iter().cloned().chain(names.iter().map(|name| format!("{name}+w"))).collect();
        let [value, pair] = of(&all).strongest("a");
        // `x` takes the share from 0 to a half, and so does `not y`: the first of the alphabet.
        assert_eq!(value, effect("x", share(4, 8), share(0, 8)));
        assert_eq!(pair, effect("x and not y", share(4, 4), share(0, 12)));
        assert_eq!(of(&all).of_claim("a").unwrap().decided_by.as_deref(), Some("x"), "one value goes before two");
        // Without half of those that hold no value decides by itself, and the pair does.
        let fewer: Vec<String> = all.iter().filter(|name| *name != "x+z" && *name != "x+z+w").cloned().collect();
        assert_eq!(of(&fewer).of_claim("a").unwrap().decided_by.as_deref(), Some("x and not y"));
        let [_, pair] = of(&names).strongest("a");
        assert_eq!(pair, None, "two readings with both values are somebody's trial and no design");
        assert_eq!(of(&all).strongest("b"), [None, None]);
    }

    proptest::proptest! {
        /// As counted one reading after the other, also of more than fit into one word.
        #[test]
        fn the_readings_with_two_values_are_counted(
            taken in proptest::collection::vec((0u8..8, proptest::bool::ANY), 2..200),
        ) {
            let name = |bits: u8| {
                let names: Vec<&str> = ["x", "y", "z"].into_iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, n)| n).collect();
                if names.is_empty() { "base".to_owned() } else { names.join("+") }
            };
            let judged: Vec<(String, Verdict)> =
                taken.iter().map(|&(bits, holds)| (name(bits), if holds { Yes } else { No })).collect();
            let judged: Vec<(&str, Verdict)> = judged.iter().map(|(name, verdict)| (name.as_str(), *verdict)).collect();
            let results = results(&judged);
            let share = |wanted: &dyn Fn(u8) -> bool| {
                let of: Vec<bool> = taken.iter().filter(|(bits, _)| wanted(*bits)).map(|&(_, holds)| holds).collect();
                Share { holds: of.iter().filter(|holds| **holds).count(), judged: of.len() }
            };
            let [value, pair] = results.strongest("a");
            for effect in value.into_iter().chain(pair) {
                let has = |bits: u8| {
                    effect.taken.split(" and ").all(|name| {
                        let (name, is_taken) = name.strip_prefix("not ").map_or((name, true), |name| (name, false));
                        let at = ["x", "y", "z"].iter().position(|known| *known == name).unwrap();
                        (bits >> at & 1 == 1) == is_taken
                    })
                };
                proptest::prop_assert_eq!(effect.with, share(&has));
                proptest::prop_assert_eq!(effect.without, share(&|bits| !has(bits)));
                proptest::prop_assert!(effect.size() > 0.0);
            }
        }
    }

    #[test]
    fn a_value_of_one_reading_does_not_go_before_one_of_many() {
        // `x` is in half of the readings, and all but one of those hold; `z` is in one, which holds.
        let mut judged = vec![("base", No), ("z", Yes)];
        judged.extend(["a", "b", "c", "d", "e", "f"].map(|name| (name, No)));
        judged.extend(["x", "x+a", "x+b", "x+c", "x+d", "x+e"].map(|name| (name, Yes)));
        judged.push(("x+f", No));
        let [value, _] = results(&judged).strongest("a");
        let effect = value.unwrap();
        assert_eq!((effect.taken.as_str(), effect.with), ("x", Share { holds: 6, judged: 7 }));
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
