//! The effects of the factors of a study, as ratios: measured, as a table, and as a picture.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use tailcut_report::html::escaped;
use tailcut_report::{Forest, ForestMark, ForestPanel, ReportError};
use tailcut_results::number::significant;
use tailcut_results::stats::FEW_IN_WORDS;
use tailcut_results::table::FEW_BEHIND;
use tailcut_results::{Measurements, ResultsError, RunInfo, is_of_few};

use crate::experiment::{Experiment, FigureForm, FigureSpec};
use crate::factorial::{Analysis, Observation, analyse};
use crate::measure::MeasureDefinition;
use crate::study_run::StudyRun;

/// Between the names of factors that are there together.
const TOGETHER: &str = " x ";

/// The effect of a factor, or of two together, on a quantity at one value of the coordinate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectRow {
    /// The quantity, by the study's words.
    pub quantity: String,
    /// The value of the coordinate, as it is swept.
    pub at: String,
    /// The factors; ` x ` between two. Empty for what the design as a whole says, in `alone`, `pairs` and `more`.
    pub effect: String,
    /// With it over without it, averaged over the others on a logarithmic scale. Of two: how much the ratio of the one
    /// is larger where the other is.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// Combinations with a value under every seed.
    pub cells: usize,
    /// Seeds.
    pub seeds: usize,
    /// Share of the variation between combinations that factors alone explain, pairs, and three or more together.
    pub alone: Option<f64>,
    /// As `alone`.
    pub pairs: Option<f64>,
    /// As `alone`.
    pub more: Option<f64>,
}

impl EffectRow {
    /// Whether the interval excludes 1.
    pub fn is_clear(&self) -> bool {
        self.low.is_some_and(|low| low > 1.0) || self.high.is_some_and(|high| high < 1.0)
    }
}

/// The effects of one figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectTable {
    /// The name of the coordinate.
    pub coordinate: String,
    /// The effects: by quantity, then by the coordinate.
    pub rows: Vec<EffectRow>,
    /// The quantities that are percentiles of fewer values in some run than they need, with how few; not in its CSV.
    pub few: BTreeMap<String, u64>,
}

/// Where the effects of the figure number `at` stand in the folder of their experiment.
pub(crate) fn file_name(at: usize) -> String {
    if at == 0 { "effects.csv".to_owned() } else { format!("effects-{}.csv", at + 1) }
}

/// The effects that `experiment` shows. What cannot be estimated is added to `undrawn`.
///
/// # Errors
/// If results cannot be read.
pub(crate) fn of(
    experiment: &Experiment,
    run: &StudyRun<'_>,
    undrawn: &mut Vec<String>,
) -> Result<Vec<EffectTable>, ReportError> {
    let figures: Vec<&FigureSpec> =
        experiment.figure.iter().filter(|figure| figure.form == FigureForm::Effects).collect();
    if figures.is_empty() {
        return Ok(Vec::new());
    }
    let by_seed = measured_by_seed(run)?;
    Ok(figures.into_iter().map(|figure| table(figure, run, &by_seed, undrawn)).collect())
}

/// What was measured under each seed alone: a percentile or a count of one run.
fn measured_by_seed(run: &StudyRun<'_>) -> Result<Vec<(u64, Measurements)>, ResultsError> {
    let of_seed = |&seed: &u64| {
        let points = run.info.points.iter().filter(|point| point.seed == seed).cloned().collect();
        let info = RunInfo { seeds: vec![seed], points, ..run.info.clone() };
        Ok((seed, Measurements::read(run.folder, &info, &|| false)?))
    };
    run.info.seeds.iter().map(of_seed).collect()
}

fn table(
    figure: &FigureSpec,
    run: &StudyRun<'_>,
    by_seed: &[(u64, Measurements)],
    undrawn: &mut Vec<String>,
) -> EffectTable {
    let study = run.study;
    let coordinate = figure.x.clone().unwrap_or_default();
    let mut table = EffectTable { coordinate: coordinate.clone(), ..EffectTable::default() };
    let path = study.coordinates.get(&coordinate).unwrap_or(&coordinate);
    let axes = &run.measurements.axes;
    let Some(at) = axes.iter().position(|axis| axis.path == *path) else {
        undrawn.push(format!("nothing is swept over {path}"));
        return table;
    };
    if let Some(factor) = study.factors.iter().find(|factor| axes.iter().all(|axis| axis.path != factor.of)) {
        undrawn.push(format!("the factor {} is of {}, over which nothing is swept", factor.name, factor.of));
        return table;
    }
    for quantity in &figure.of {
        let Some(measure) = study.measures.get(quantity) else {
            undrawn.push(format!("the study does not measure \"{quantity}\""));
            continue;
        };
        if let Some(fewest) = fewest(measure, by_seed) {
            table.few.insert(quantity.clone(), fewest);
        }
        for value in &axes[at].values {
            let observations = observations(measure, (at, value), run, by_seed);
            match analyse(study.factors.len(), &observations) {
                Ok(analysis) => {
                    let names: Vec<&str> = study.factors.iter().map(|factor| factor.name.as_str()).collect();
                    for term in &analysis.not_estimated {
                        undrawn.push(format!(
                            "{quantity} at {coordinate} {value}: the combinations that are there do not tell the effect of {}",
                            named(&names, term)
                        ));
                    }
                    // As a setting that reaches no simulation.
                    for (_, name) in names.iter().enumerate().filter(|&(factor, _)| analysis.is_void(factor)) {
                        undrawn.push(format!("{quantity} at {coordinate} {value}: {name} changes nothing at all"));
                    }
                    table.rows.extend(rows(&analysis, &names, quantity, value));
                }
                Err(reason) => undrawn.push(format!("{quantity} at {coordinate} {value}: {reason}")),
            }
        }
    }
    table
}

/// How few values some run has of a quantity, if that is a percentile and they are fewer than it needs.
fn fewest(measure: &MeasureDefinition, by_seed: &[(u64, Measurements)]) -> Option<u64> {
    let metric = measure.metric.as_deref()?;
    let of_run = |measurements: &Measurements| {
        let places = measurements
            .schemes
            .iter()
            .flat_map(|scheme| measurements.values_of(scheme).into_iter().map(move |values| (scheme.clone(), values)));
        let n = |(scheme, values): (String, Vec<String>)| {
            Some(measurements.get(&scheme, &values, &measure.class, metric)?.n)
        };
        places.filter_map(n).min()
    };
    let fewest = by_seed.iter().filter_map(|(_, measurements)| of_run(measurements)).min()?;
    is_of_few(metric, fewest).then_some(fewest)
}

/// The logarithm of a quantity in each combination and under each seed, at one value of the axis with this index.
fn observations(
    measure: &MeasureDefinition,
    (axis, value): (usize, &str),
    run: &StudyRun<'_>,
    by_seed: &[(u64, Measurements)],
) -> Vec<Observation> {
    let metric = measure.metric.as_deref().unwrap_or_default();
    let place = |path: &str| run.measurements.axes.iter().position(|axis| axis.path == path);
    let mut all = Vec::new();
    for (seed, measurements) in by_seed {
        for scheme in &measurements.schemes {
            for values in measurements.values_of(scheme).into_iter().filter(|values| values[axis] == value) {
                let is_on = |of: &str, on: &[String]| place(of).is_some_and(|place| on.contains(&values[place]));
                let on = run.study.factors.iter().map(|factor| is_on(&factor.of, &factor.on)).collect();
                if let Some(found) = measurements.get(scheme, &values, &measure.class, metric) {
                    let value = (found.pooled.value * measure.times.unwrap_or(1.0) + measure.plus).ln();
                    all.push(Observation { on, seed: *seed, value });
                }
            }
        }
    }
    all
}

fn named(names: &[&str], factors: &[usize]) -> String {
    factors.iter().map(|&factor| names[factor]).collect::<Vec<_>>().join(TOGETHER)
}

fn rows(analysis: &Analysis, names: &[&str], quantity: &str, at: &str) -> Vec<EffectRow> {
    let [alone, pairs, more] = analysis.parts.map_or([None; 3], |parts| parts.map(Some));
    let whole = EffectRow {
        quantity: quantity.to_owned(),
        at: at.to_owned(),
        effect: String::new(),
        ratio: None,
        low: None,
        high: None,
        cells: analysis.cells.0,
        seeds: analysis.seeds,
        alone,
        pairs,
        more,
    };
    let effect = |effect: &crate::factorial::Effect| EffectRow {
        effect: named(names, &effect.factors),
        ratio: Some(effect.value.exp()),
        low: effect.half.map(|half| (effect.value - half).exp()),
        high: effect.half.map(|half| (effect.value + half).exp()),
        alone: None,
        pairs: None,
        more: None,
        ..whole.clone()
    };
    analysis.effects.iter().map(effect).chain([whole.clone()]).collect()
}

impl EffectTable {
    /// The table as CSV.
    pub fn csv(&self) -> String {
        let mut text = format!(
            "# coordinate: {}\nquantity,at,effect,ratio,low,high,cells,seeds,alone,pairs,more\n",
            self.coordinate
        );
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
        for row in &self.rows {
            let numbers = [row.ratio, row.low, row.high].map(number).join(",");
            let parts = [row.alone, row.pairs, row.more].map(number).join(",");
            // Quantities have commas, and neither they nor factors have quotes.
            let _ = writeln!(
                text,
                "\"{}\",{},\"{}\",{numbers},{},{},{parts}",
                row.quantity, row.at, row.effect, row.cells, row.seeds
            );
        }
        text
    }

    /// Reads what [`EffectTable::csv`] wrote.
    ///
    /// # Errors
    /// The line that is wrong.
    pub fn parse(text: &str) -> Result<EffectTable, String> {
        let mut lines = text.lines();
        let coordinate = lines.next().and_then(|line| line.strip_prefix("# coordinate: ")).ok_or("no coordinate")?;
        let rows = lines.skip(1).map(|line| row(line).ok_or_else(|| format!("`{line}` is no effect")));
        Ok(EffectTable {
            coordinate: coordinate.to_owned(),
            rows: rows.collect::<Result<_, _>>()?,
            few: BTreeMap::new(),
        })
    }

    /// The quantities, in their order.
    pub fn quantities(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.quantity.as_str()))
    }

    /// The values of the coordinate.
    pub fn values(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.at.as_str()))
    }

    /// The effects.
    pub fn effects(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.effect.as_str()).filter(|effect| !effect.is_empty()))
    }

    /// The effect on a quantity at a value of the coordinate; an empty `effect` is what the whole design says.
    pub fn find(&self, quantity: &str, at: &str, effect: &str) -> Option<&EffectRow> {
        self.rows.iter().find(|row| row.quantity == quantity && row.at == at && row.effect == effect)
    }

    pub(crate) fn forest(&self, title: &str) -> Forest {
        let (effects, values) = (self.effects(), self.values());
        let panel = |quantity: &str| ForestPanel {
            title: quantity.to_owned(),
            marks: self
                .rows
                .iter()
                .filter(|row| row.quantity == quantity)
                .filter_map(|row| {
                    Some(ForestMark {
                        row: effects.iter().position(|effect| *effect == row.effect)?,
                        group: values.iter().position(|value| *value == row.at)?,
                        value: row.ratio?,
                        interval: row.low.zip(row.high),
                    })
                })
                .collect(),
        };
        Forest {
            title: title.to_owned(),
            rows: effects.iter().map(|&effect| effect.to_owned()).collect(),
            groups: values.iter().map(|value| format!("{} {value}", self.coordinate)).collect(),
            panels: self.quantities().into_iter().map(panel).collect(),
        }
    }

    /// The table on a page: an effect in each row.
    pub(crate) fn html(&self) -> String {
        let mut html = String::from(
            "<h2>Effects</h2>\n<p>With a proposal over without it, averaged over all combinations of the others on a \
             logarithmic scale; of two, how much larger the ratio of the one is where the other is: below 1 they add up to more \
             than each alone where less is better. 95 % intervals by Student's t over the seeds; those that exclude 1 are bold, \
             of which one in twenty does by chance. The last row has the parts of the variation between the combinations \
             that proposals alone explain, pairs, and three or more together.</p>\n",
        );
        for quantity in self.quantities() {
            let heads: String = self
                .values()
                .iter()
                .map(|at| format!("<th>{} {}</th>", escaped(&self.coordinate), escaped(at)))
                .collect();
            let _ = write!(
                html,
                "<div class=\"scroll\"><table class=\"data\"><thead><tr><th>{}</th>{heads}</tr></thead><tbody>",
                escaped(&format!("{quantity}{}", if self.few.contains_key(quantity) { FEW_BEHIND } else { "" }))
            );
            for effect in self.effects().into_iter().chain([""]) {
                let cell = |at: &&str| match self.find(quantity, at, effect) {
                    Some(row) if row.is_clear() => format!("<td><b>{}</b></td>", row.text()),
                    Some(row) => format!("<td>{}</td>", row.text()),
                    None => "<td></td>".to_owned(),
                };
                let cells: String = self.values().iter().map(cell).collect();
                let name = if effect.is_empty() { "alone / pairs / more" } else { effect };
                let _ = write!(html, "<tr><td>{}</td>{cells}</tr>", escaped(name));
            }
            html.push_str("</tbody></table></div>\n");
            if let Some(fewest) = self.few.get(quantity) {
                let _ = writeln!(html, "<p>{} Some run has {fewest}.</p>", escaped(FEW_IN_WORDS));
            }
        }
        html
    }
}

impl EffectRow {
    /// The ratio with its interval, or the parts of the variation.
    pub fn text(&self) -> String {
        match (self.ratio, self.low.zip(self.high), self.alone.zip(self.pairs).zip(self.more)) {
            (Some(ratio), Some((low, high)), _) => {
                format!("{} ({} to {})", significant(ratio, 3), significant(low, 3), significant(high, 3))
            }
            (Some(ratio), None, _) => significant(ratio, 3),
            (None, _, Some(((alone, pairs), more))) => {
                [alone, pairs, more].map(|part| format!("{:.0} %", part * 100.0)).join(" / ")
            }
            _ => String::new(),
        }
    }
}

fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

fn row(line: &str) -> Option<EffectRow> {
    let (quantity, rest) = line.strip_prefix('"')?.split_once("\",")?;
    let (at, rest) = rest.split_once(",\"")?;
    let (effect, rest) = rest.split_once("\",")?;
    let fields: Vec<&str> = rest.split(',').collect();
    let &[ratio, low, high, cells, seeds, alone, pairs, more] = fields.as_slice() else { return None };
    let number = |text: &str| text.parse().ok();
    Some(EffectRow {
        quantity: quantity.to_owned(),
        at: at.to_owned(),
        effect: effect.to_owned(),
        ratio: number(ratio),
        low: number(low),
        high: number(high),
        cells: cells.parse().ok()?,
        seeds: seeds.parse().ok()?,
        alone: number(alone),
        pairs: number(pairs),
        more: number(more),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_what_its_text_says() {
        let analysis = analyse(
            2,
            &[(false, false, 0.0), (true, false, 2.0f64.ln()), (false, true, 0.0), (true, true, 8.0f64.ln())]
                .map(|(a, b, value)| Observation { on: vec![a, b], seed: 1, value }),
        )
        .unwrap();
        let rows = rows(&analysis, &["A", "B"], "drops, all", "0.4");
        let table = EffectTable { coordinate: "load".to_owned(), rows, ..EffectTable::default() };
        // A doubles without B and makes eight of one with it: four times on average, and four times as much with B.
        assert_eq!(table.find("drops, all", "0.4", "A").unwrap().text(), "4");
        assert_eq!(table.find("drops, all", "0.4", "B").unwrap().text(), "2");
        assert_eq!(table.find("drops, all", "0.4", "A x B").unwrap().text(), "4");
        assert_eq!((table.effects(), table.values()), (vec!["A", "B", "A x B"], vec!["0.4"]));
        let read = EffectTable::parse(&table.csv()).unwrap();
        assert_eq!(read.csv(), table.csv());
        assert_eq!(read.rows.len(), 4);
        assert!(EffectTable::parse("# coordinate: load\nhead\nnonsense").is_err());
        assert!(!table.rows[0].is_clear(), "one seed says nothing of chance");
    }
}
