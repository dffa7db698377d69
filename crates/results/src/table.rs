//! Tables of the headline statistics: for the terminal, at most 120 columns wide, and as CSV.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use tailcut_base::dotted;

use crate::analysis::{Analysis, DesignPoint};
use crate::csv::{self, AxisNumbers, CsvTable};
use crate::number::{aligned, with_interval};
use crate::run::RunInfo;
use crate::statistics::Row;
use crate::stats::FEW_IN_WORDS;
use crate::text::wrapped;

/// The headline statistics of one set of flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassTable {
    /// Name of the set of flows.
    pub class: String,
    /// To print: at most 120 columns wide, ends in a line feed.
    pub text: String,
    /// To read by programs: a row for each design point, three columns for each statistic.
    pub csv: String,
}

/// Characters that a line of a table for the terminal may have.
pub const WIDTH: usize = 120;

/// The headline statistics, the most important first, with their column heads.
const HEADLINES: [(&str, &str); 13] = [
    ("fct_p99", "FCT p99\n(us)"),
    ("fct_mean", "FCT mean\n(us)"),
    ("goodput_mean", "goodput\n(Gb/s)"),
    ("drops", "drops\n(/run)"),
    ("queue_p99", "queue p99\n(packets)"),
    ("qct_p99", "QCT p99\n(us)"),
    ("slowdown_p99", "slowdown\np99"),
    ("timeouts", "timeouts\n(/run)"),
    ("query_deadline_met", "queries\nin time"),
    ("fct_p50", "FCT p50\n(us)"),
    ("qct_mean", "QCT mean\n(us)"),
    ("fct_p999", "FCT p99.9\n(us)"),
    ("deadline_met", "deadlines\nmet"),
];

/// The order of the columns.
const SHOWN: [&str; 13] = [
    "fct_mean",
    "fct_p50",
    "fct_p99",
    "fct_p999",
    "slowdown_p99",
    "goodput_mean",
    "deadline_met",
    "qct_mean",
    "qct_p99",
    "query_deadline_met",
    "queue_p99",
    "drops",
    "timeouts",
];

/// An empty table for the terminal: lines above and below it and below its head, and none between columns.
pub fn ruled_table() -> Table {
    let mut table = Table::new();
    let rule = |fill| LineStyle::none().fill(fill).junction(fill);
    table.load_style(TableStyle::new().top_border(rule('─')).header_separator(rule('─')).bottom_border(rule('─')));
    table.set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// Aligns these columns to the right, as numbers are.
pub fn align_right(table: &mut Table, columns: std::ops::Range<usize>) {
    for (at, column) in table.column_iter_mut().enumerate() {
        if columns.contains(&at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// A table of each set of flows that has any.
pub fn tables(run: &RunInfo, analysis: &Analysis) -> Vec<ClassTable> {
    analysis
        .sets_with_flows()
        .map(|(at, set)| ClassTable {
            class: set.name.clone(),
            text: text(run, analysis, at),
            csv: comma_separated(run, analysis, at),
        })
        .collect()
}

/// The headline statistics that a set of flows has, with their heads, in the order in which they are shown.
pub fn headlines(analysis: &Analysis, set: usize) -> Vec<(&'static str, &'static str)> {
    let has = |metric: &str| analysis.design_points.iter().any(|point| analysis.row(point, set, metric).is_some());
    let shown = SHOWN.iter().filter_map(|name| HEADLINES.iter().find(|(metric, _)| metric == name));
    shown.copied().filter(|(metric, _)| has(metric)).collect()
}

/// A statistic as the terminal shows it: a dash without a value, a mark if it is of few values, else a star if it has a
/// note.
fn cell(row: Option<&Row>) -> String {
    let Some((row, value)) = row.and_then(|row| Some((row, row.value?))) else { return "-".into() };
    let text = cell_of(row, value);
    match row.is_of_few() {
        true => format!("{text}{FEW_BEHIND}"),
        false if row.note.is_some() => format!("{text} *"),
        false => text,
    }
}

/// A value with its interval; a space separates them where there are both.
pub fn cell_of(row: &Row, value: f64) -> String {
    match row.metric.as_str() {
        // Counts are whole numbers or have few digits; their intervals, wider than the column, are in `summary.csv`.
        "drops" | "timeouts" | "queue_p99" if value.fract() == 0.0 => format!("{value}"),
        "drops" | "timeouts" => aligned(value, 3),
        "deadline_met" => format!("{value:.4}"),
        _ => with_interval(value, row.low.zip(row.high)),
    }
}

/// The last part of a dotted path, or the whole path if another axis ends in the same part.
pub fn short_path<'a>(run: &'a RunInfo, path: &'a str) -> &'a str {
    let alone = run.axes.iter().filter(|axis| dotted::last(&axis.path) == dotted::last(path)).count() == 1;
    if alone { dotted::last(path) } else { path }
}

fn text(run: &RunInfo, analysis: &Analysis, set: usize) -> String {
    let all = headlines(analysis, set);
    // The least important columns are left out until the table fits; `summary.csv` has all of them.
    let mut left: Vec<&str> = HEADLINES.iter().map(|(metric, _)| *metric).collect();
    loop {
        let shown: Vec<_> = all.iter().copied().filter(|(metric, _)| left.contains(metric)).collect();
        let table = render(run, analysis, set, &shown);
        let width = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        if width <= WIDTH || left.len() == 1 {
            return format!("{}\n{table}{}", analysis.sets[set].name, notes(analysis, set, &shown));
        }
        left.pop();
    }
}

fn render(run: &RunInfo, analysis: &Analysis, set: usize, shown: &[(&str, &str)]) -> String {
    let mut table = ruled_table();
    let head = ["scheme"].into_iter().chain(run.axes.iter().map(|axis| short_path(run, &axis.path)));
    table.set_header(head.chain(["flows"]).chain(shown.iter().map(|(_, head)| *head)));
    let mut last = None;
    for point in &analysis.design_points {
        let row = |metric: &str| analysis.row(point, set, metric);
        let flows = row("flows").and_then(|row| row.value).unwrap_or_default();
        let censored = row("censored").and_then(|row| row.value).unwrap_or_default();
        let flows = if censored > 0.0 { format!("{flows} ({censored} open)") } else { format!("{flows}") };
        let name = if last == Some(point.scheme) { "" } else { &run.schemes[point.scheme] };
        last = Some(point.scheme);
        let mut cells = vec![name.to_owned()];
        cells.extend(values_of(run, point).map(str::to_owned));
        cells.push(flows);
        cells.extend(shown.iter().map(|(metric, _)| cell(row(metric))));
        table.add_row(cells);
    }
    let columns = table.column_count();
    align_right(&mut table, 1..columns);
    format!("{table}\n")
}

/// The swept values of a design point, as they are written in the scenario.
pub fn values_of<'a>(run: &'a RunInfo, point: &'a DesignPoint) -> impl Iterator<Item = &'a str> {
    point.values.iter().zip(&run.axes).map(|(&value, axis)| axis.values[value].as_str())
}

/// The notes of the statistics that are shown, each once.
fn notes(analysis: &Analysis, set: usize, shown: &[(&str, &str)]) -> String {
    let rows = analysis.design_points.iter().flat_map(|point| analysis.rows_of(point, set));
    let shown: Vec<&Row> = rows.filter(|row| shown.iter().any(|(metric, _)| *metric == row.metric)).collect();
    let few = if shown.iter().any(|row| row.is_of_few()) { meaning_of_few() } else { String::new() };
    few + &list_of_notes(shown.iter().filter_map(|row| row.note.as_deref()).collect())
}

/// The mark of few values, as it stands behind a number.
pub const FEW_BEHIND: &str = " †";

/// What the mark of few values means, below a table for the terminal that has it.
pub fn meaning_of_few() -> String {
    wrapped(FEW_IN_WORDS, WIDTH)
        .iter()
        .enumerate()
        .map(|(at, line)| format!("{}{line}\n", if at == 0 { "" } else { "  " }))
        .collect()
}

/// Notes below a table for the terminal: each once, in lines with stars.
pub fn list_of_notes(mut notes: Vec<&str>) -> String {
    notes.sort_unstable();
    notes.dedup();
    let more = notes.len().saturating_sub(NOTES);
    let mut text = String::new();
    for note in notes.iter().take(NOTES) {
        for (at, line) in wrapped(note, WIDTH - 2).iter().enumerate() {
            text += &format!("{}{line}\n", if at == 0 { "* " } else { "  " });
        }
    }
    if more > 0 {
        text += &format!("* ... and {more} notes like these\n");
    }
    text
}

/// Notes below a table at most.
const NOTES: usize = 6;

fn comma_separated(run: &RunInfo, analysis: &Analysis, set: usize) -> String {
    let shown = headlines(analysis, set);
    let mut head = vec!["scheme".to_owned()];
    let numbers = AxisNumbers::of(&run.axes);
    head.extend(run.axes.iter().map(|axis| axis.path.clone()).chain(numbers.heads()));
    head.extend(["flows".to_owned(), "censored".to_owned()]);
    head.extend(
        shown.iter().flat_map(|(metric, _)| [(*metric).to_owned(), format!("{metric}_low"), format!("{metric}_high")]),
    );
    let mut table = CsvTable::new(head);
    for point in &analysis.design_points {
        let row = |metric: &str| analysis.row(point, set, metric);
        let value = |metric: &str| csv::number(row(metric).and_then(|row| row.value));
        let mut fields = vec![run.schemes[point.scheme].clone()];
        let values = run.value_texts(&point.values);
        fields.extend(values.iter().cloned().chain(numbers.cells(&values)));
        fields.extend([value("flows"), value("censored")]);
        for (metric, _) in &shown {
            let row = row(metric);
            fields.extend(
                [row.and_then(|r| r.value), row.and_then(|r| r.low), row.and_then(|r| r.high)].map(csv::number),
            );
        }
        table.line(fields);
    }
    table.finish()
}
