//! Published tables: their cells against measured ones.
//!
//! A row is found at the sweep points whose coordinate has the name of the first column and the row's label as its
//! value (`load_pct` is a load in per cent). If no sweep point has that coordinate, the label is asked for as part of
//! the quantity: "completion times: ABC". A column is a scheme if the claim compares schemes of that name; otherwise,
//! and if there are several such columns, its name is part of the quantity too: "completion times: ABC: mean".

use tailcut_results::stats::{Resample, bootstrap};

use crate::case::Case;
use crate::catalogue::Measure;
use crate::curves::spearman;
use crate::evidence::{Coordinate, SweepPoint};
use crate::expected::{Cell, Expected, ExpectedFunction};
use crate::finding::{Bounds, Finding, Number};
use crate::samples::{Operand, Samples};

/// The table that the document of a claim prints.
pub(super) fn published<'a>(case: &Case<'a>) -> Result<&'a ExpectedFunction, String> {
    match &case.claim.expected {
        Expected::Function(expected) if !expected.rows.is_empty() => Ok(expected),
        _ => Err("the claim has no table to compare with".into()),
    }
}

/// The name of a row: its first cell.
pub(super) fn label(row: &[Cell]) -> String {
    match row.first() {
        Some(Cell::Number(number)) => format!("{number}"),
        Some(Cell::Text(text)) => text.clone(),
        None => String::new(),
    }
}

/// Whether a sweep point is that of a row, by the name of the first column and the row's label.
pub(super) fn is_row(point: &SweepPoint, column: &str, label: &str) -> bool {
    row_value(point, column).is_some_and(|value| value.is(&Coordinate::of(label)))
}

/// The value of a row's coordinate at a sweep point, in the unit of the table.
fn row_value(point: &SweepPoint, column: &str) -> Option<Coordinate> {
    match (point.get(column), column.strip_suffix("_pct").and_then(|name| point.get(name))) {
        (Some(value), _) => Some(value.clone()),
        (None, Some(Coordinate::Number(share))) => Some(Coordinate::Number(share * 100.0)),
        _ => None,
    }
}

/// A published cell with the samples that it is compared with.
struct ComparedCell {
    name: String,
    row: usize,
    published: f64,
    operand: Operand,
    measure: usize,
    points: Vec<usize>,
}

/// A published table beside what was measured of it.
pub(super) struct ComparedTable {
    samples: Samples,
    /// The cells that were measured.
    cells: Vec<ComparedCell>,
    /// Number of published cells.
    total: usize,
    /// Whether rows are found by a coordinate.
    swept: bool,
}

impl ComparedTable {
    /// Fetches what was measured of the table of a claim.
    ///
    /// # Errors
    /// If no cell was measured, with the reason.
    pub(super) fn of(case: &Case<'_>) -> Result<ComparedTable, String> {
        let (claim, table) = (case.claim, published(case)?);
        let measure = claim.measures().first().map(Measure::name).unwrap_or_default();
        let key = table.columns.first().map(String::as_str).unwrap_or_default();
        let schemes: Vec<&String> = std::iter::once(&claim.subject).chain(&claim.baseline).collect();
        let swept = case.evidence.sweep_points().iter().any(|point| row_value(point, key).is_some());
        let several = table.columns.len() > 2;
        let (mut operands, mut measures): (Vec<Operand>, Vec<Measure>) = (Vec::new(), Vec::new());
        let mut wanted = Vec::new();
        for (row, cells) in table.rows.iter().enumerate() {
            let label = label(cells);
            for (head, cell) in table.columns.iter().zip(cells).skip(1) {
                let Cell::Number(published) = cell else { return Err("a cell of the table is not a number".into()) };
                let scheme = schemes.iter().find(|scheme| **scheme == head);
                let mut quantity = measure.clone();
                if !swept {
                    quantity += &format!(": {label}");
                }
                if scheme.is_none() && several {
                    quantity += &format!(": {head}");
                }
                let operand = Operand::of(scheme.map_or(&claim.subject, |scheme| *scheme));
                if !operands.contains(&operand) {
                    operands.push(operand.clone());
                }
                let quantity = Measure::Plain(quantity);
                let at = measures.iter().position(|known| *known == quantity).unwrap_or_else(|| {
                    measures.push(quantity);
                    measures.len() - 1
                });
                let name = format!("{label}, {head}");
                let cell = ComparedCell { name, row, published: *published, operand, measure: at, points: Vec::new() };
                wanted.push((cell, label.clone()));
            }
        }
        let samples = Samples::fetch(case, operands, measures)?;
        let total = wanted.len();
        let mut cells = Vec::new();
        for (mut cell, label) in wanted {
            cell.points = (0..samples.points.len())
                .filter(|&point| !swept || is_row(&samples.points[point], key, &label))
                .filter(|&point| samples.measured(&cell.operand, point, cell.measure).is_some())
                .collect();
            if !cell.points.is_empty() {
                cells.push(cell);
            }
        }
        if cells.is_empty() {
            return Err("none of the cells of the table has been measured".into());
        }
        Ok(ComparedTable { samples, cells, total, swept })
    }

    /// A finding without numbers, that says how many of the cells were measured.
    pub(super) fn finding(&self) -> Finding {
        let mut found = self.samples.finding();
        found.remarks[0] = format!("{} of {} cells", self.cells.len(), self.total);
        let missing = self.cells.len() < self.total && !self.swept;
        found.incomplete = missing.then(|| "the other cells were not measured".to_owned());
        found
    }

    /// The mean of the distances of the cells from the published ones.
    pub(super) fn add_mean_distance(&self, found: &mut Finding, reproduced: f64, partly: f64) {
        let mean = |resample: Resample<'_>| {
            self.distances(resample).iter().map(|(distance, _)| distance).sum::<f64>() / self.cells.len() as f64
        };
        let name = "the mean distance of the cells from the published ones".into();
        self.add(found, name, &mean, Some(Bounds::at_most(reproduced)), Some(Bounds::at_most(partly)));
    }

    /// The rank correlation of the cells with the published ones.
    pub(super) fn add_rank_correlation(&self, found: &mut Finding, reproduced: f64, partly: f64) {
        let published: Vec<f64> = self.cells.iter().map(|cell| cell.published).collect();
        let correlation = |resample: Resample<'_>| {
            let values: Vec<f64> = self.cells.iter().map(|cell| self.value(cell, resample)).collect();
            spearman(&published, &values)
        };
        let name = "the rank correlation of the cells with the published ones".into();
        self.add(found, name, &correlation, Some(Bounds::at_least(reproduced)), Some(Bounds::at_least(partly)));
    }

    /// The largest distance of a cell from the published one.
    pub(super) fn add_largest_distance(&self, found: &mut Finding, reproduced: f64, partly: Option<f64>) {
        let distances =
            |resample: Resample<'_>| self.distances(resample).into_iter().map(|(distance, _)| distance).collect();
        self.add_largest(found, "distance", &distances, reproduced, partly);
    }

    /// The largest distance of a cell from the published one, relative to that.
    pub(super) fn add_largest_relative_distance(&self, found: &mut Finding, reproduced: f64, partly: f64) {
        let relative = |resample: Resample<'_>| {
            self.distances(resample).into_iter().map(|(distance, published)| distance / published.abs()).collect()
        };
        self.add_largest(found, "relative distance", &relative, reproduced, Some(partly));
    }

    /// The first cell over the second one, which must be at least this for `partly`.
    pub(super) fn add_first_over_second(&self, found: &mut Finding, partly: f64) {
        if let [first, second, ..] = self.cells.as_slice() {
            let ratio = |resample: Resample<'_>| self.value(first, resample) / self.value(second, resample);
            let name = format!("{} over {}", first.name, second.name);
            self.add(found, name, &ratio, None, Some(Bounds::at_least(partly)));
        }
    }

    /// The share of cells within a factor of the published ones, where each cell is first divided by that of a baseline
    /// in its row: a factor and the least share for `reproduced`, and both for `partly`. A cell that is published as at
    /// most `few` may be anything that would be at most that if the baseline were as published. Rows in which the
    /// baseline was measured as zero say nothing.
    ///
    /// # Errors
    /// If the baseline was not measured, or is zero everywhere.
    pub(super) fn add_share_within_factor(
        &self,
        found: &mut Finding,
        (baseline, few): (&str, f64),
        reproduced: (f64, f64),
        partly: (f64, f64),
    ) -> Result<(), String> {
        let is_baseline = |cell: &&ComparedCell| cell.operand.subject == baseline;
        let of_row = |row: usize| self.cells.iter().filter(is_baseline).find(|cell| cell.row == row);
        let others = self.cells.iter().filter(|cell| !is_baseline(cell));
        let pairs: Vec<(&ComparedCell, &ComparedCell)> =
            others.filter_map(|cell| Some((cell, of_row(cell.row)?))).collect();
        if pairs.is_empty() {
            return Err(format!("{baseline} was not measured, by which the cells are divided"));
        }
        let is_zero = |cell: &ComparedCell| self.value(cell, Resample::Measured) == 0.0;
        let (empty, pairs): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(_, base)| is_zero(base));
        if pairs.is_empty() {
            return Err(format!("{baseline}, by which the cells are divided, is zero in every row"));
        }
        if !empty.is_empty() {
            found.remarks.push(format!("{} of them say nothing, because {baseline} is zero in their row", empty.len()));
        }
        let share = |factor: f64, resample: Resample<'_>| {
            let within = pairs.iter().filter(|(cell, base)| {
                let measured = self.value(cell, resample) / self.value(base, resample);
                let expected = cell.published / base.published;
                if cell.published <= few && measured * base.published <= few {
                    return true;
                }
                measured >= expected / factor * (1.0 - 1e-9) && measured <= expected * factor * (1.0 + 1e-9)
            });
            within.count() as f64 / pairs.len() as f64
        };
        let name =
            |factor| format!("the share of cells, each over the baseline in its row, within a factor of {factor}");
        let (near, wide) = (Some(Bounds::at_least(reproduced.1)), Some(Bounds::at_least(partly.1)));
        self.add(found, name(reproduced.0), &|resample| share(reproduced.0, resample), near, None);
        self.add(found, name(partly.0), &|resample| share(partly.0, resample), None, wide);
        Ok(())
    }

    /// The value of a cell: the mean over its sweep points.
    fn value(&self, cell: &ComparedCell, resample: Resample<'_>) -> f64 {
        let value = |&point: &usize| self.samples.value(&cell.operand, point, cell.measure, resample);
        let all: Vec<f64> = cell.points.iter().filter_map(value).collect();
        all.iter().sum::<f64>() / all.len() as f64
    }

    /// For each cell the distance from the published one, and the published one.
    fn distances(&self, resample: Resample<'_>) -> Vec<(f64, f64)> {
        let distance = |cell: &ComparedCell| ((self.value(cell, resample) - cell.published).abs(), cell.published);
        self.cells.iter().map(distance).collect()
    }

    fn add_largest(
        &self,
        found: &mut Finding,
        what: &str,
        distances: &dyn Fn(Resample<'_>) -> Vec<f64>,
        reproduced: f64,
        partly: Option<f64>,
    ) {
        let measured = distances(Resample::Measured);
        let worst = (0..measured.len()).max_by(|&a, &b| measured[a].total_cmp(&measured[b])).unwrap_or_default();
        let name = format!("the largest {what} of a cell from the published one ({})", self.cells[worst].name);
        let largest = |resample: Resample<'_>| distances(resample).into_iter().fold(0.0, f64::max);
        self.add(found, name, &largest, Some(Bounds::at_most(reproduced)), partly.map(Bounds::at_most));
    }

    fn add(
        &self,
        found: &mut Finding,
        name: String,
        statistic: &dyn Fn(Resample<'_>) -> f64,
        reproduced: Option<Bounds>,
        partly: Option<Bounds>,
    ) {
        let interval = bootstrap(self.samples.seeds, statistic);
        found.add(Number { name, value: statistic(Resample::Measured), interval }, reproduced, partly);
    }
}
