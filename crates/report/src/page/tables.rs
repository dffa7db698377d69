//! The tables of the page: headline statistics, and their ratios to the baseline.

use tailcut_results::number::{numeric, significant};
use tailcut_results::stats::FEW_IN_WORDS;
use tailcut_results::table::{FEW_BEHIND, cell_of, headlines};
use tailcut_results::{Row, RunInfo};

use crate::annotations::SchemeRatio;
use crate::run_figures::Material;
use crate::words;

/// The head of a column, by which the page sorts.
pub(super) struct Head {
    pub(super) name: String,
    pub(super) number: bool,
}

/// A cell of a table.
pub(super) struct Cell {
    pub(super) text: String,
    /// What stands smaller behind or below it.
    pub(super) small: String,
    /// By what it is sorted; its text, if it is none.
    pub(super) sorted_by: Option<String>,
    /// What it needs to be read with.
    pub(super) note: String,
    pub(super) number: bool,
    /// `lower` or `higher`, if it differs from the baseline by more than chance.
    pub(super) verdict: &'static str,
}

/// A row of a table, of the design point at the index `group`.
pub(super) struct TableRow {
    pub(super) group: usize,
    pub(super) cells: Vec<Cell>,
}

/// The tables of one set of flows.
pub(super) struct ClassView {
    pub(super) name: String,
    /// Its flows in words.
    pub(super) flows: String,
    pub(super) heads: Vec<Head>,
    pub(super) rows: Vec<TableRow>,
    pub(super) notes: Vec<String>,
    /// The ratios to the baseline; no rows if there is no other scheme.
    pub(super) ratio_heads: Vec<Head>,
    pub(super) ratio_rows: Vec<TableRow>,
}

impl Cell {
    /// A text.
    fn text(text: &str) -> Cell {
        Cell {
            text: text.to_owned(),
            small: String::new(),
            sorted_by: None,
            note: String::new(),
            number: false,
            verdict: "",
        }
    }

    /// A number that is shown as `text`.
    pub(super) fn number(value: f64, text: String) -> Cell {
        Cell { text, sorted_by: Some(value.to_string()), number: true, ..Cell::text("") }
    }

    /// A number that there is not.
    fn missing() -> Cell {
        Cell { text: "–".to_owned(), sorted_by: Some(String::new()), number: true, ..Cell::text("") }
    }
}

fn head(name: &str, number: bool) -> Head {
    Head { name: name.to_owned(), number }
}

/// The heads of the columns that say which design point it is.
fn place_heads(run: &RunInfo) -> Vec<Head> {
    let axes = run.axes.iter().map(|axis| head(&words::axis(run, &axis.path), numeric(&axis.values).is_some()));
    std::iter::once(head("scheme", false)).chain(axes).collect()
}

/// The cells below them.
pub(super) fn place_cells(run: &RunInfo, scheme: &str, values: &[String]) -> Vec<Cell> {
    let value = |(axis, value): (&tailcut_results::Axis, &String)| Cell {
        number: numeric(&axis.values).is_some(),
        ..Cell::text(value)
    };
    std::iter::once(Cell::text(scheme)).chain(run.axes.iter().zip(values).map(value)).collect()
}

/// The tables of every set of flows that has any.
pub(super) fn class_views(material: &Material<'_>) -> Vec<ClassView> {
    material.analysis.sets_with_flows().map(|(set, class)| class_view(material, set, &class.name)).collect()
}

fn class_view(material: &Material<'_>, set: usize, class: &str) -> ClassView {
    let Material { run, analysis, ratios, .. } = material;
    let shown = headlines(analysis, set);
    let metric_head = |name: &str| head(&name.replace("(us)", "(µs)"), true);
    let mut heads = place_heads(run);
    heads.push(head("flows", true));
    heads.extend(shown.iter().map(|(_, name)| metric_head(name)));
    let (mut rows, mut ratio_rows, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut has_few = false;
    // Of a metric that is zero for the baseline everywhere there is no ratio, and no column.
    let ratio_of = |point, metric: &str| {
        let known = ratios.as_ref()?;
        let point: &tailcut_results::DesignPoint = point;
        known.get(&run.schemes[point.scheme], &material.values_of(point), class, metric)
    };
    let has_ratio = |metric: &str| analysis.design_points.iter().any(|point| ratio_of(point, metric).is_some());
    let with_ratio: Vec<_> = shown.iter().filter(|(metric, _)| has_ratio(metric)).collect();
    for (group, point) in analysis.design_points.iter().enumerate() {
        let place = || place_cells(run, &run.schemes[point.scheme], &material.values_of(point));
        let value = |metric: &str| analysis.row(point, set, metric).and_then(|row| row.value).unwrap_or_default();
        let (flows, censored) = (value("flows"), value("censored"));
        let mut cells = place();
        let small = if censored > 0.0 { format!("{censored} open") } else { String::new() };
        cells.push(Cell { small, ..Cell::number(flows, flows.to_string()) });
        for (metric, _) in &shown {
            let row = analysis.row(point, set, metric);
            has_few |= row.is_some_and(Row::is_of_few);
            notes.extend(row.and_then(|row| row.note.clone()));
            cells.push(statistic(row));
        }
        rows.push(TableRow { group, cells });
        let found: Vec<_> = with_ratio.iter().map(|(metric, _)| ratio_of(point, metric)).collect();
        if found.iter().any(Option::is_some) {
            let baseline =
                analysis.design_points.iter().find(|other| (other.scheme, &other.values) == (0, &point.values));
            let is_of_few = |metric: &str| {
                let sides = [Some(point), baseline].into_iter().flatten();
                sides.filter_map(|side| analysis.row(side, set, metric)).any(Row::is_of_few)
            };
            let ratios = found.into_iter().zip(&with_ratio).map(|(one, (metric, _))| ratio(one, is_of_few(metric)));
            let cells = place().into_iter().chain(ratios).collect();
            ratio_rows.push(TableRow { group, cells });
        }
    }
    notes.sort_unstable();
    notes.dedup();
    if has_few {
        notes.insert(0, FEW_IN_WORDS.to_owned());
    }
    let mut ratio_heads = place_heads(run);
    // A ratio has no unit.
    let without_unit = |name: &str| name.split('(').next().unwrap_or(name).trim_end().to_owned();
    ratio_heads.extend(with_ratio.iter().map(|(_, name)| head(&without_unit(name), true)));
    ClassView { name: class.to_owned(), flows: words::flows_of(class), heads, rows, notes, ratio_heads, ratio_rows }
}

fn statistic(row: Option<&Row>) -> Cell {
    let Some((row, value)) = row.and_then(|row| Some((row, row.value?))) else { return Cell::missing() };
    let text = cell_of(row, value);
    let (main, interval) = text.split_once(' ').unwrap_or((&text, ""));
    Cell {
        small: interval.to_owned(),
        sorted_by: Some(significant(value, 9)),
        note: row.note.clone().unwrap_or_default(),
        number: true,
        ..Cell::text(&marked(main, row.is_of_few()))
    }
}

/// A number with the mark of few values, if it is of few.
fn marked(text: &str, is_of_few: bool) -> String {
    format!("{text}{}", if is_of_few { FEW_BEHIND } else { "" })
}

fn ratio(one: Option<&SchemeRatio>, is_of_few: bool) -> Cell {
    let Some(one) = one else { return Cell::missing() };
    let verdict = match one.interval {
        Some((_, high)) if high < 1.0 => "lower",
        Some((low, _)) if low > 1.0 => "higher",
        _ => "",
    };
    // An end that leaves out 1 does not look like 1.
    let hides = |decimals: usize| {
        let shown = |end: f64| format!("{end:.decimals$}").trim_end_matches('0') == "1.";
        !verdict.is_empty() && one.interval.is_some_and(|(low, high)| shown(low) || shown(high))
    };
    let decimals = (2..6).find(|&decimals| !hides(decimals)).unwrap_or(6);
    let short = |ratio| short(ratio, decimals);
    let note =
        if one.paired { String::new() } else { "not seed by seed: the flows or seeds of the two differ".to_owned() };
    Cell {
        small: one.interval.map_or_else(String::new, |(low, high)| format!("[{}, {}]", short(low), short(high))),
        note,
        verdict,
        ..Cell::number(one.ratio, marked(&short(one.ratio), is_of_few))
    }
}

/// A ratio with so many decimals; two significant digits where that would be too few or too many.
fn short(ratio: f64, decimals: usize) -> String {
    if (0.095..100.0).contains(&ratio) { format!("{ratio:.decimals$}") } else { significant(ratio, 2) }
}

/// The heads of the table of all statistics, which the page fills in.
pub(super) fn explorer_heads(run: &RunInfo) -> Vec<Head> {
    let mut heads: Vec<Head> = place_heads(run).into_iter().map(|one| Head { number: false, ..one }).collect();
    heads.extend([head("class", false), head("metric", false)]);
    heads.extend(["value", "low", "high", "n"].map(|name| head(name, true)));
    heads.push(head("unit", false));
    heads
}

/// The heads of the table of costs.
pub(super) fn cost_heads(run: &RunInfo) -> Vec<Head> {
    let mut heads = place_heads(run);
    let names = ["seed", "flows", "simulated", "packet-hops", "CPU", "million hops\nper CPU second", "memory"];
    heads.extend(names.map(|name| head(name, true)));
    heads.extend(["end", "digest", "files"].map(|name| head(name, false)));
    heads
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ratio: f64, interval: Option<(f64, f64)>) -> SchemeRatio {
        SchemeRatio {
            scheme: String::new(),
            values: Vec::new(),
            class: String::new(),
            metric: String::new(),
            ratio,
            interval,
            paired: true,
            seeds: 5,
        }
    }

    #[test]
    fn a_ratio_says_whether_it_is_more_than_chance() {
        let said = |ratio_, interval| {
            let cell = ratio(Some(&of(ratio_, interval)), false);
            format!("{} {} {}", cell.text, cell.small, cell.verdict)
        };
        assert_eq!(said(0.63, Some((0.571, 0.694))), "0.63 [0.57, 0.69] lower");
        assert_eq!(said(1.2, Some((1.01, 1.4))), "1.20 [1.01, 1.40] higher");
        assert_eq!(said(0.99, Some((0.9, 1.1))), "0.99 [0.90, 1.10] ");
        assert_eq!(said(0.996, Some((0.992, 0.9996))), "0.9960 [0.9920, 0.9996] lower");
        assert_eq!(said(0.996, Some((0.992, 1.0004))), "1.00 [0.99, 1.00] ");
        assert_eq!(said(0.0012, None), "0.0012  ");
        assert_eq!(ratio(None, true).text, "–");
        assert_eq!(ratio(Some(&of(0.99, None)), true).text, "0.99 †");
    }
}
