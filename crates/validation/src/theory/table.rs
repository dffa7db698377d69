//! Tables as text that is also Markdown.

use std::fmt;

/// A table with a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Table {
        Table { title: title.into(), columns: columns.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }

    /// One more row.
    ///
    /// # Panics
    /// If it has another number of cells than there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells = self.rows.iter().map(|row| &row[at]).chain([&self.columns[at]]);
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
            })
            .collect();
        let line = |f: &mut fmt::Formatter<'_>, cells: &[String]| {
            for (cell, width) in cells.iter().zip(&widths) {
                write!(f, "| {cell:>width$} ")?;
            }
            writeln!(f, "|")
        };
        writeln!(f, "{}\n", self.title)?;
        line(f, &self.columns)?;
        let rule: Vec<String> = widths.iter().map(|width| format!("{}:", "-".repeat(width - 1))).collect();
        line(f, &rule)?;
        self.rows.iter().try_for_each(|row| line(f, row))
    }
}

/// A figure with four significant digits or so.
pub fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 10.0 => format!("{value:.2}"),
        v if v >= 1.0 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// How far `measured` is from `expected`, in percent.
pub fn deviation(measured: f64, expected: f64) -> String {
    format!("{:+.1} %", 100.0 * (measured / expected - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_markdown_with_aligned_columns() {
        let mut table = Table::new("Waits", &["load", "wait"]);
        table.row(vec!["0.5".into(), figure(1234.5)]);
        table.row(vec!["0.8".into(), deviation(1.1, 1.0)]);
        let expected = "Waits\n\n| load |    wait |\n| ---: | ------: |\n|  0.5 |    1234 |\n|  0.8 | +10.0 % |\n";
        assert_eq!(table.to_string(), expected);
    }
}
