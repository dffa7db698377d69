//! The judgements of all claims, side by side: for the terminal, as CSV, as JSON.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use tailcut_results::csv::{self, CsvTable};
use tailcut_results::text::wrapped;

use crate::catalogue::{Claim, Priority, catalogue};
use crate::evidence::NoEvidence;
use crate::judge::judge;
use crate::judgement::{Judgement, Verdict};
use crate::readings::{ReadingResults, UnderReadings};
use crate::stored::{ClaimsError, SCALES, Stored};

/// Columns that the list for the terminal may take.
const WIDTH: usize = 100;

/// Widths of the columns of the list: claim, priority, verdict, published; what is left is for what was measured.
const COLUMNS: [usize; 4] = [46, 1, 14, 17];

/// What tests a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The experiment that can be run.
    pub experiment: String,
    /// The study whose simulations it needs.
    pub study: String,
    /// The readings of the document that the study declares, beside the base.
    pub readings: Vec<String>,
}

/// What tests a claim, or why nothing does.
pub type Runnable<'a> = &'a dyn Fn(&Claim) -> Result<Test, String>;

/// Which claims are listed.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Those about a scheme.
    pub scheme: Option<String>,
    /// Those of a priority.
    pub priority: Option<Priority>,
    /// Those with a verdict.
    pub verdict: Option<Verdict>,
    /// Those that an experiment tests.
    pub experiment: Option<String>,
}

/// A claim with its judgement.
#[derive(Clone, Debug)]
pub struct Line {
    /// The claim.
    pub claim: &'static Claim,
    /// The judgement.
    pub judgement: Judgement,
    /// The scale at which it was judged; `None` if that did not need a run.
    pub scale: Option<String>,
    /// The experiment whose run judged it.
    pub experiment: Option<String>,
    /// The command that runs it again, or for the first time.
    pub command: Option<String>,
    /// What it comes to under the readings of its document, if they were run.
    pub readings: Option<UnderReadings>,
    /// What can test it; `None` if nothing can.
    pub test: Option<Test>,
    /// How many of the readings that its study declares were not run; 0 of judgements that are read from no folder.
    pub to_run: usize,
}

impl Line {
    /// What it comes to under the readings of its document, or why that is not known.
    pub fn under_readings(&self) -> String {
        match (&self.readings, &self.test) {
            (Some(readings), _) => readings.beside(self.scale.as_deref()),
            (None, None) => "-".to_owned(),
            (None, Some(test)) if test.readings.is_empty() => "nothing is left open".to_owned(),
            (None, Some(_)) if self.to_run == 0 => "fewer than two readings have a verdict".to_owned(),
            (None, Some(test)) => format!("{} of {} readings are to be run", self.to_run, test.readings.len()),
        }
    }
}

/// The judgements of all claims.
#[derive(Clone, Debug)]
pub struct Listing {
    /// A line for each claim, in the order of the catalogue.
    pub lines: Vec<Line>,
    /// What the claims come to under the readings of the documents, study by study.
    pub readings: Vec<ReadingResults>,
}

/// A line as JSON.
#[derive(Serialize)]
struct Record<'a> {
    id: &'a str,
    scheme: &'a str,
    priority: Priority,
    verdict: Verdict,
    published: &'a str,
    measured: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    scale: Option<&'a str>,
    readings: Option<usize>,
    holds_under: Option<usize>,
    decided_by: Option<&'a str>,
    reason: &'a str,
}

impl Listing {
    /// The judgements stored in `folder`: those of the scale `paper` count before those of `quick`, unless only those
    /// of `scale` are wanted. A claim that needs no measurements is judged at once, and so is one that has parts, from
    /// the verdicts on these as they are now: what was stored of it may be older than they are.
    ///
    /// # Errors
    /// If a file of judgements cannot be read.
    pub fn read(folder: &Path, scale: Option<&str>, runnable: Runnable<'_>) -> Result<Listing, ClaimsError> {
        let mut listing = Listing::of(&Stored::read_all(folder, scale)?, scale, runnable);
        listing.readings = ReadingResults::read_all(folder)?;
        let mut run: BTreeSet<(&str, &str)> = BTreeSet::new();
        for results in &listing.readings {
            run.extend(results.readings().into_iter().map(|reading| (results.study.as_str(), reading)));
        }
        for line in &mut listing.lines {
            line.readings = UnderReadings::of_most(&listing.readings, &line.claim.id);
            if let Some(test) = &line.test {
                let was_run = |name: &&String| run.contains(&(test.study.as_str(), name.as_str()));
                line.to_run = test.readings.iter().filter(|name| !was_run(name)).count();
            }
        }
        Ok(listing)
    }

    /// The same from judgements, those that count more first.
    pub fn of(stored: &[Stored], scale: Option<&str>, runnable: Runnable<'_>) -> Listing {
        let catalogue = catalogue();
        let mut lines: Vec<Line> = catalogue.claims.iter().map(|claim| line(claim, stored, scale, runnable)).collect();
        let has_parts = |line: &Line| !line.claim.parts.is_empty();
        // A claim that has parts can be a part itself. Each round judges those whose parts the round before has judged,
        // so that as many rounds as there are such claims are enough.
        for _ in 0..lines.iter().filter(|line| has_parts(line)).count() {
            let known: Vec<(&str, Verdict)> =
                lines.iter().map(|line| (line.claim.id.as_str(), line.judgement.verdict)).collect();
            let verdict_on = |id: &str| known.iter().find(|(known, _)| *known == id).map(|(_, verdict)| *verdict);
            let composed: Vec<(usize, Judgement)> = lines
                .iter()
                .enumerate()
                .filter(|(_, line)| has_parts(line))
                .map(|(at, line)| (at, judge(line.claim, &NoEvidence, &verdict_on)))
                .collect();
            for (at, judgement) in composed {
                lines[at].judgement = judgement;
            }
        }
        Listing { lines, readings: Vec::new() }
    }

    /// Only those lines that a filter lets through.
    #[must_use]
    pub fn filtered(mut self, filter: &Filter) -> Listing {
        let tests = |claim: &Claim, id: &str| {
            let experiment = catalogue().experiment(id);
            experiment.is_some_and(|experiment| {
                claim.experiment.as_deref() == Some(id) || experiment.claims.contains(&claim.id)
            })
        };
        self.lines.retain(|line| {
            filter.scheme.as_ref().is_none_or(|scheme| line.claim.scheme == *scheme)
                && filter.priority.is_none_or(|priority| line.claim.priority == priority)
                && filter.verdict.is_none_or(|verdict| line.judgement.verdict == verdict)
                && filter
                    .experiment
                    .as_ref()
                    .is_none_or(|id| line.experiment.as_ref() == Some(id) || tests(line.claim, id))
        });
        self
    }

    /// The lines of each scheme, in the order of the catalogue; schemes without any are left out.
    pub fn by_scheme(&self) -> Vec<(&'static str, Vec<&Line>)> {
        catalogue()
            .schemes()
            .into_iter()
            .map(|scheme| (scheme, self.lines.iter().filter(|line| line.claim.scheme == scheme).collect::<Vec<_>>()))
            .filter(|(_, lines)| !lines.is_empty())
            .collect()
    }

    /// The number of lines with each verdict, in the order of [`Verdict::ALL`].
    pub fn counts<'a>(lines: impl IntoIterator<Item = &'a Line>) -> [usize; Verdict::COUNT] {
        let mut counts = [0; Verdict::COUNT];
        for line in lines {
            counts[line.judgement.verdict as usize] += 1;
        }
        counts
    }

    /// For the terminal: at most 100 columns wide, a block for each scheme, and the counts at the end.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (scheme, lines) in self.by_scheme() {
            out += &format!("{scheme}: {}\n", counted(Listing::counts(lines.iter().copied())));
            out += &columns(["claim", "", "verdict", "published", "measured"]);
            for line in lines {
                let judgement = &line.judgement;
                let measured = judgement.measured_text();
                out += &columns([
                    &line.claim.id,
                    line.claim.priority.name(),
                    judgement.verdict.name(),
                    &judgement.published,
                    &measured,
                ]);
                let scale = line.scale.as_ref().map(|scale| format!(" ({scale})")).unwrap_or_default();
                for text in wrapped(&format!("{}{scale}", judgement.reason), WIDTH - 4) {
                    out += &format!("    {text}\n");
                }
            }
            out.push('\n');
        }
        let claims = self.lines.len();
        let plural = if claims == 1 { "" } else { "s" };
        out += &format!("{claims} claim{plural}: {}\n", counted(Listing::counts(&self.lines)));
        out
    }

    /// As CSV: id, scheme, priority, verdict, published, measured, low, high, scale, readings, holds_under, decided_by,
    /// reason. `readings` says under how many readings of the document the claim was judged, `holds_under` under how
    /// many of them it is reproduced.
    pub fn csv(&self) -> String {
        let count = |line: &Line, of: fn(&UnderReadings) -> usize| {
            line.readings.as_ref().map_or_else(String::new, |under| of(under).to_string())
        };
        let mut table = CsvTable::new([
            "id",
            "scheme",
            "priority",
            "verdict",
            "published",
            "measured",
            "low",
            "high",
            "scale",
            "readings",
            "holds_under",
            "decided_by",
            "reason",
        ]);
        for line in &self.lines {
            let judgement = &line.judgement;
            table.line([
                line.claim.id.as_str(),
                &line.claim.scheme,
                line.claim.priority.name(),
                judgement.verdict.name(),
                &judgement.published,
                &csv::number(judgement.measured),
                &csv::number(judgement.low),
                &csv::number(judgement.high),
                line.scale.as_deref().unwrap_or_default(),
                &count(line, |under| under.judged),
                &count(line, |under| under.holds),
                line.readings.as_ref().and_then(|under| under.decided_by.as_deref()).unwrap_or_default(),
                &judgement.reason,
            ]);
        }
        table.finish()
    }

    /// As JSON: a list of objects with the fields of the CSV.
    ///
    /// # Panics
    /// Never: a list of strings and numbers is JSON.
    pub fn json(&self) -> String {
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        let records: Vec<Record<'_>> = self
            .lines
            .iter()
            .map(|Line { claim, judgement, scale, readings, .. }| Record {
                id: &claim.id,
                scheme: &claim.scheme,
                priority: claim.priority,
                verdict: judgement.verdict,
                published: &judgement.published,
                measured: finite(judgement.measured),
                low: finite(judgement.low),
                high: finite(judgement.high),
                scale: scale.as_deref(),
                readings: readings.as_ref().map(|under| under.judged),
                holds_under: readings.as_ref().map(|under| under.holds),
                decided_by: readings.as_ref().and_then(|under| under.decided_by.as_deref()),
                reason: &judgement.reason,
            })
            .collect();
        serde_json::to_string_pretty(&records).expect("strings and numbers are JSON") + "\n"
    }
}

/// The line of a claim: the judgement that counts most, else what can be said without one.
fn line(claim: &'static Claim, stored: &[Stored], scale: Option<&str>, runnable: Runnable<'_>) -> Line {
    let runnable = runnable(claim);
    let test = runnable.as_ref().ok().cloned();
    let judgements = stored.iter().flat_map(|file| {
        let of_claim = |judgement: &&Judgement| judgement.id == claim.id && claim.parts.is_empty();
        file.judgements.iter().filter(of_claim).map(move |judgement| (file, judgement))
    });
    // What was run counts before what was not, and at one scale the claim's own experiment before another one that also
    // looked at it. The order of `stored` breaks ties.
    let rank = |(file, judgement): &(&Stored, &Judgement)| {
        let place = SCALES.iter().position(|known| *known == file.scale);
        (
            judgement.verdict == Verdict::NotRun,
            place,
            runnable.as_ref().map(|test| &test.experiment) != Ok(&file.experiment),
        )
    };
    if let Some((file, judgement)) = judgements.min_by_key(rank) {
        return Line {
            claim,
            judgement: judgement.clone(),
            scale: Some(file.scale.clone()),
            experiment: Some(file.experiment.clone()),
            command: Some(file.command.clone()),
            readings: None,
            test,
            to_run: 0,
        };
    }
    let mut judgement = judge(claim, &NoEvidence, &|_| None);
    let option = scale.map(|scale| format!(" --scale {scale}")).unwrap_or_default();
    let command = runnable.as_ref().ok().map(|test| format!("tailcut reproduce {}{option}", test.experiment));
    if judgement.verdict == Verdict::NotRun {
        judgement.reason = match (&runnable, &command) {
            (Ok(test), Some(command)) => format!("{} has not been run; to run it: {command}", test.experiment),
            (Err(why), _) => why.clone(),
            (Ok(_), None) => judgement.reason,
        };
    }
    Line { claim, judgement, scale: None, experiment: None, command, readings: None, test, to_run: 0 }
}

/// `12 reproduced (2 stronger), 3 partly, 0 undecided, 1 not reproduced, 341 not run`.
pub(crate) fn counted(counts: [usize; Verdict::COUNT]) -> String {
    let stronger = counts[Verdict::Stronger as usize];
    let part = |(verdict, count): (Verdict, usize)| match verdict {
        Verdict::Stronger => None,
        Verdict::Reproduced if stronger > 0 => Some(format!("{} {verdict} ({stronger} stronger)", count + stronger)),
        _ => Some(format!("{count} {verdict}")),
    };
    Verdict::ALL.into_iter().zip(counts).filter_map(part).collect::<Vec<_>>().join(", ")
}

/// One row of the list, each cell wrapped in its column.
fn columns(cells: [&str; 5]) -> String {
    let last = WIDTH - COLUMNS.iter().sum::<usize>() - 2 * COLUMNS.len();
    let widths: Vec<usize> = COLUMNS.into_iter().chain([last]).collect();
    let cells: Vec<Vec<String>> = cells.iter().zip(&widths).map(|(text, &width)| wrapped(text, width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::new();
    for row in 0..height {
        let parts: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(lines, &width)| format!("{:<width$}", lines.get(row).map_or("", String::as_str)))
            .collect();
        out += parts.join("  ").trim_end();
        out.push('\n');
    }
    out
}
