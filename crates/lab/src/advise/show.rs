//! An advice as a table and sentences for the terminal, as CSV and as JSON.

use serde_json::{Value, json};
use tailcut_base::{Bytes, MTU_BYTES, dotted};
use tailcut_results::Axis;
use tailcut_results::csv::{self, AxisNumbers, CsvTable};
use tailcut_results::number::{aligned, significant, with_interval};
use tailcut_results::stats::Estimate;
use tailcut_results::table::{FEW_BEHIND, align_right, list_of_notes, meaning_of_few, ruled_table};
use tailcut_results::text::wrapped;

use super::Design;
use super::judge::Worse;
use super::outcome::{Advice, Answer, Outcome, SizeTried, TriedVerdict};
use super::search::Verdict;
use super::target::Target;

/// Columns of the terminal that sentences fill.
const WIDTH: usize = 100;

/// Of 100 sizes whose metric is exactly at the limit, how many are called kept at most, and how many not kept: a test
/// measures it.
pub(super) const MISJUDGED: u32 = 5;

impl TriedVerdict {
    /// As outputs show it.
    pub fn text(self) -> &'static str {
        match self {
            TriedVerdict::Kept => "kept",
            TriedVerdict::NotKept => "not kept",
            TriedVerdict::Undecided => "undecided",
        }
    }
}

impl Outcome {
    /// As outputs for programs show it.
    pub fn text(&self) -> &'static str {
        match self {
            Outcome::Smallest { .. } => "smallest",
            Outcome::NoneKeeps => "none keeps it",
            Outcome::Undecided => "undecided",
            Outcome::NotMonotone { .. } => "not monotone",
            Outcome::Failed(_) => "failed",
        }
    }
}

/// What has been learnt of some sizes, in a line.
pub(super) fn look(design: &Design, sizes: &[u64]) -> String {
    let name = |verdict: Verdict| match verdict {
        Verdict::Kept => "kept",
        Verdict::NotKept => "not kept",
        Verdict::Open => "open",
    };
    let sizes = sizes.iter().filter_map(|&size| {
        let at = design.sizes.get(&size)?;
        let verdict = at.judgement.as_ref()?.verdict;
        let seeds = at.looks.last()?.0;
        Some((seeds, format!("{} {}", Bytes(size), name(verdict))))
    });
    // All sizes of a batch that begin together have as many seeds; those that went on before have more.
    let mut by_seeds: Vec<(usize, Vec<String>)> = Vec::new();
    for (seeds, text) in sizes {
        match by_seeds.iter_mut().find(|(known, _)| *known == seeds) {
            Some((_, texts)) => texts.push(text),
            None => by_seeds.push((seeds, vec![text])),
        }
    }
    let parts: Vec<String> =
        by_seeds.iter().map(|(seeds, texts)| format!("after {seeds} seeds {}", texts.join(", "))).collect();
    let place = std::iter::once(&design.scheme).chain(&design.values).cloned().collect::<Vec<_>>().join(" ");
    format!("{place}: {}", parts.join("; "))
}

/// A size in bytes and in full packets: "61500B (41 packets)".
fn size(bytes: Bytes) -> String {
    let packets = significant(bytes.as_f64() / MTU_BYTES as f64, 4);
    let s = if packets == "1" { "" } else { "s" };
    format!("{bytes} ({packets} packet{s})")
}

/// A value with its unit, unless the unit says nothing.
fn with_unit(value: f64, digits: usize, unit: &str) -> String {
    let value = aligned(value, digits);
    if ["share", "ratio", "index", ""].contains(&unit) { value } else { format!("{value} {unit}") }
}

impl Advice {
    /// The targets in words.
    fn targets(&self) -> String {
        self.keep.iter().map(Target::to_string).collect::<Vec<_>>().join(" and ")
    }

    /// Paths of all that is swept but the buffer.
    fn heads(&self) -> Vec<String> {
        self.axes.iter().map(|axis| axis.path.clone()).chain(self.marking.clone()).collect()
    }

    /// Every size that was tried, and the answers in sentences; ends in a line feed.
    pub fn text(&self) -> String {
        let mut table = ruled_table();
        let several = self.answers.iter().any(|answer| answer.scheme != self.answers[0].scheme);
        let last = |path: &String| dotted::last(path).to_owned();
        let mut head = if several { vec!["scheme".to_owned()] } else { Vec::new() };
        head.extend(self.heads().iter().map(last));
        let before = head.len();
        head.extend([self.key.clone(), "packets".to_owned(), "seeds".to_owned()]);
        head.extend(self.keep.iter().map(|target| format!("{} ({})", target.subject(), target.unit())));
        head.push("verdict".to_owned());
        table.set_header(head);
        let mut notes: Vec<&str> = Vec::new();
        for answer in &self.answers {
            for (nth, tried) in answer.tried.iter().enumerate() {
                let place = if several { vec![answer.scheme.clone()] } else { Vec::new() };
                let mut cells: Vec<String> = place.into_iter().chain(answer.values.iter().cloned()).collect();
                if nth > 0 {
                    cells.iter_mut().for_each(String::clear);
                }
                cells.push(tried.size.to_string());
                cells.push(significant(tried.size.as_f64() / MTU_BYTES as f64, 4));
                cells.push(tried.seeds.to_string());
                cells.extend(tried.metrics.iter().map(|metric| value(metric.as_ref())));
                let advised = if answer.size() == Some(tried.size) { " <" } else { "" };
                let star = if tried.note.is_some() { " *" } else { "" };
                cells.push(format!("{}{star}{advised}", tried.verdict.text()));
                notes.extend(tried.note.as_deref());
                table.add_row(cells);
            }
        }
        align_right(&mut table, before..before + 3 + self.keep.len());
        let mut metrics =
            self.answers.iter().flat_map(|answer| &answer.tried).flat_map(|tried| tried.metrics.iter().flatten());
        let few = if metrics.any(|metric| metric.thin) { meaning_of_few() } else { String::new() };
        let mut out = format!("{table}\n{few}{}", list_of_notes(notes));
        for sentence in [self.how()].into_iter().chain(self.sentences()) {
            for line in wrapped(&sentence, WIDTH) {
                out += &line;
                out.push('\n');
            }
        }
        out
    }

    /// How sizes were judged, and how far that can be trusted.
    fn how(&self) -> String {
        let looks = match self.looks.as_slice() {
            [only] => only.to_string(),
            [first @ .., last] => {
                format!("{} and {last}", first.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
            }
            [] => String::new(),
        };
        let wider = match self.looks.len() {
            1 => "Intervals are of 95 %".to_owned(),
            all => {
                format!("Intervals are of 95 % for all {all} looks together, and therefore wider than in summary.csv")
            }
        };
        format!(
            "Looked at after {looks} seeds, the same ones at every size, until the interval lies wholly on one side of the \
             limit. {wider}: a size that is exactly at the limit is called kept in at most {MISJUDGED} of 100 cases.",
        )
    }

    /// The answers: one sentence or two for each scheme at each combination of the scenario's own swept values.
    pub fn sentences(&self) -> Vec<String> {
        self.groups().iter().flat_map(|group| self.sentence(group)).collect()
    }

    fn sentence(&self, group: &[&Answer]) -> Vec<String> {
        let place = |answer: &Answer| format!("{}{}", answer.scheme, super::keys::place(&self.axes, &answer.values));
        let [only] = group else {
            let mut all: Vec<String> =
                group.iter().map(|answer| self.of(answer, &self.with_threshold(answer))).collect();
            let best = group.iter().filter_map(|answer| answer.size()).min();
            all.push(match best {
                None => format!("{}: no marking threshold that was tried has an answer.", place(group[0])),
                Some(best) => {
                    let which = group.iter().filter(|answer| answer.size() == Some(best));
                    let which: Vec<&str> =
                        which.filter_map(|answer| answer.values.last()).map(String::as_str).collect();
                    format!(
                        "{}: the smallest buffer of all is {}, with {} = {}.",
                        place(group[0]),
                        size(best),
                        self.marking.as_deref().unwrap_or_default(),
                        which.join(" or ")
                    )
                }
            });
            return all;
        };
        let name = if self.marking.is_some() { self.with_threshold(only) } else { place(only) };
        vec![self.of(only, &name)]
    }

    fn with_threshold(&self, answer: &Answer) -> String {
        let axes: Vec<Axis> = self.heads().into_iter().map(|path| Axis { path, values: Vec::new() }).collect();
        format!("{}{}", answer.scheme, super::keys::place(&axes, &answer.values))
    }

    /// The answer of one search; `place` says which one.
    fn of(&self, answer: &Answer, place: &str) -> String {
        let targets = self.targets();
        let measured = |bytes: Bytes| answer.at(bytes).map_or_else(String::new, |tried| self.measured(tried));
        match &answer.outcome {
            Outcome::Smallest { size: found, not_kept: None, undecided: None } => format!(
                "{place}: {} keeps {targets} ({}), and nothing smaller was tried: the smallest buffer is at most that; try a \
                 smaller --from.",
                size(*found),
                measured(*found)
            ),
            Outcome::Smallest { size: found, not_kept, undecided } => {
                let mut text = format!(
                    "{place}: {} is the smallest buffer that was shown to keep {targets} ({}).",
                    size(*found),
                    measured(*found)
                );
                if let Some(below) = not_kept {
                    text += &format!(" {} does not ({}).", size(*below), measured(*below));
                }
                if let Some((first, last)) = undecided {
                    let range = if first == last { first.to_string() } else { format!("{first} to {last}") };
                    text += &format!(" Undecided between: {range}. {}", self.what_may_tell(answer, "."));
                }
                text
            }
            Outcome::NoneKeeps => {
                let last = answer.tried.last().map(|tried| tried.size).unwrap_or(self.to);
                format!(
                    "{place}: no buffer up to {} keeps {targets} (there {}): try a larger --to, or another target.",
                    size(last),
                    measured(last)
                )
            }
            Outcome::Undecided => {
                let open = answer.tried.iter().filter(|tried| tried.verdict == TriedVerdict::Undecided);
                let open: Vec<String> = open.map(|tried| tried.size.to_string()).collect();
                format!(
                    "{place}: no size was shown to keep {targets}; undecided: {}. {}",
                    open.join(", "),
                    self.what_may_tell(answer, ", or a larger --to.")
                )
            }
            Outcome::NotMonotone { worse, reversal } => self.not_monotone(place, worse.as_ref(), *reversal),
            Outcome::Failed(reason) => format!("{place}: no answer, a simulation failed: {reason}."),
        }
    }

    /// What may decide about sizes of which nothing could be shown.
    fn what_may_tell(&self, answer: &Answer, end: &str) -> String {
        let mut open = answer.tried.iter().filter(|tried| tried.verdict == TriedVerdict::Undecided);
        if open.all(|tried| tried.is_obstructed) {
            return "More seeds do not help: flows or queries were open at the end (run.drain).".to_owned();
        }
        let most = self.looks.last().copied().unwrap_or_default();
        format!("More seeds than {most} may tell (--max-seeds), or more flows in each{end}")
    }

    fn not_monotone(&self, place: &str, worse: Option<&Worse>, reversal: Option<(Bytes, Bytes)>) -> String {
        let mut text = format!("{place}: refused, because a larger buffer is not always better.");
        if let Some(worse) = worse {
            let target = self.keep.iter().find(|target| target.to_string() == worse.target);
            let (subject, unit) = target.map_or((worse.target.clone(), ""), |t| (t.subject(), t.unit()));
            text += &format!(
                " {subject} is {} with {} and {} with {}: worse by {} at least, over {} seeds.",
                with_unit(worse.at_smaller, 4, unit),
                Bytes(worse.smaller),
                with_unit(worse.at_larger, 4, unit),
                Bytes(worse.larger),
                with_unit(worse.at_least, 2, unit),
                worse.seeds
            );
        }
        if let Some((kept, not_kept)) = reversal {
            text += &format!(" {kept} keeps {}, and {not_kept} does not.", self.targets());
        }
        text + " Which sizes of those tried keep the target stands above; of the others nothing follows. Ask about a range \
                in which larger is better (--from, --to), about what a larger buffer can only help, such as drops, or \
                allow it to be worse by a share of the limit (--tolerance)."
    }

    /// The metrics of a size that was tried, in words.
    fn measured(&self, tried: &SizeTried) -> String {
        let one = |(target, metric): (&Target, &Option<Estimate>)| {
            let Some(metric) = metric else { return format!("{} without samples", target.metric) };
            let interval = metric
                .interval
                .map_or_else(String::new, |i| format!(", interval {} to {}", aligned(i.low, 4), aligned(i.high, 4)));
            let few = if metric.thin { ", of too few values" } else { "" };
            format!("{} {}{interval}{few}", target.metric, with_unit(metric.value, 4, target.unit()))
        };
        let all: Vec<String> = self.keep.iter().zip(&tried.metrics).map(one).collect();
        format!("{}; {} seeds", all.join("; "), tried.seeds)
    }

    /// A line for each target at each size that was tried.
    pub fn csv(&self) -> String {
        let heads = self.heads();
        let axis = |(at, path): (usize, &String)| {
            let values = self.answers.iter().map(|answer| answer.values[at].clone()).collect();
            Axis { path: path.clone(), values }
        };
        let axes: Vec<Axis> = heads.iter().enumerate().map(axis).collect();
        let numbers = AxisNumbers::of(&axes);
        let head = ["scheme".to_owned()].into_iter().chain(heads.iter().cloned()).chain(numbers.heads());
        let columns =
            ["key", "size", "size_bytes", "seeds", "target", "class", "metric", "value", "low", "high", "unit"];
        let columns = columns.into_iter().chain(["verdict", "advised", "note"]).map(str::to_owned);
        let mut table = CsvTable::new(head.chain(columns));
        for answer in &self.answers {
            for tried in &answer.tried {
                for (target, metric) in self.keep.iter().zip(&tried.metrics) {
                    let interval = metric.as_ref().and_then(|metric| metric.interval);
                    let mut fields = vec![answer.scheme.clone()];
                    fields.extend(answer.values.iter().cloned().chain(numbers.cells(&answer.values)));
                    fields.extend([self.key.clone(), tried.size.to_string(), tried.size.0.to_string()]);
                    fields.extend([tried.seeds.to_string(), target.to_string()]);
                    fields.extend([target.class.clone(), target.metric.clone()]);
                    fields.push(csv::number(metric.as_ref().map(|metric| metric.value)));
                    fields.extend([interval.map(|i| i.low), interval.map(|i| i.high)].map(csv::number));
                    fields.extend([target.unit().to_owned(), tried.verdict.text().to_owned()]);
                    fields.push((answer.size() == Some(tried.size)).to_string());
                    fields.push(tried.note.clone().unwrap_or_default());
                    table.line(fields);
                }
            }
        }
        table.finish()
    }

    /// Everything, as one JSON document.
    ///
    /// # Panics
    /// Never: texts and numbers are JSON.
    pub fn json(&self) -> String {
        let answers: Vec<Value> = self.answers.iter().map(|answer| self.answer_as_json(answer)).collect();
        let whole = json!({
            "key": self.key,
            "marking": self.marking,
            "keep": self.keep.iter().map(Target::to_string).collect::<Vec<_>>(),
            "from_bytes": self.from.0,
            "to_bytes": self.to.0,
            "step_bytes": self.step.0,
            "within": self.within,
            "tolerance": self.tolerance,
            "looks": self.looks,
            "called_kept_at_the_limit": f64::from(MISJUDGED) / 100.0,
            "answers": answers,
            "sentences": self.sentences(),
        });
        serde_json::to_string_pretty(&whole).expect("texts and numbers are JSON") + "\n"
    }

    fn answer_as_json(&self, answer: &Answer) -> Value {
        let values: serde_json::Map<String, Value> =
            self.heads().into_iter().zip(answer.values.iter().map(|value| json!(value))).collect();
        let (mut not_kept, mut undecided, mut worse) = (None, None, None);
        match &answer.outcome {
            Outcome::Smallest { not_kept: below, undecided: between, .. } => {
                not_kept = below.map(|size| size.0);
                undecided = between.map(|(first, last)| [first.0, last.0]);
            }
            Outcome::NotMonotone { worse: Some(found), .. } => {
                worse = Some(json!({
                    "target": found.target,
                    "smaller_bytes": found.smaller,
                    "larger_bytes": found.larger,
                    "at_smaller": found.at_smaller,
                    "at_larger": found.at_larger,
                    "worse_at_least": found.at_least,
                    "seeds": found.seeds,
                }));
            }
            _ => {}
        }
        let tried = answer.tried.iter().map(|tried| {
            let metrics = self.keep.iter().zip(&tried.metrics).map(|(target, metric)| {
                let interval = metric.as_ref().and_then(|metric| metric.interval);
                json!({
                    "target": target.to_string(),
                    "value": metric.as_ref().map(|metric| metric.value),
                    "low": interval.map(|i| i.low),
                    "high": interval.map(|i| i.high),
                    "unit": target.unit(),
                })
            });
            json!({
                "size_bytes": tried.size.0,
                "seeds": tried.seeds,
                "metrics": metrics.collect::<Vec<_>>(),
                "verdict": tried.verdict.text(),
                "note": tried.note,
            })
        });
        json!({
            "scheme": answer.scheme,
            "values": values,
            "outcome": answer.outcome.text(),
            "size_bytes": answer.size().map(|size| size.0),
            "not_kept_bytes": not_kept,
            "undecided_bytes": undecided,
            "worse": worse,
            "tried": tried.collect::<Vec<_>>(),
        })
    }
}

/// A metric with its interval, for a table.
fn value(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(
        || "-".to_owned(),
        |estimate| {
            let interval = estimate.interval.map(|interval| (interval.low, interval.high));
            format!("{}{}", with_interval(estimate.value, interval), if estimate.thin { FEW_BEHIND } else { "" })
        },
    )
}
