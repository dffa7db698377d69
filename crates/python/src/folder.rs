//! Run folders, finished or still being written.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde_json::json;
use tailcut_lab::compare::{Selection, Side, compare as compare_sides};
use tailcut_lab::{gather as gather_points, read_info};
use tailcut_results::{Analysis, Point, PointState, Row};

use crate::problem::{error_at, error_of};
use crate::table::{Axes, Table, of_rows};

/// What a folder name should have been.
const EXAMPLE: &str = "such as runs/tail";

/// What `run.json` says.
#[pyfunction]
pub(crate) fn info(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    let info = read_info(&folder, EXAMPLE).map_err(|problem| error_at(py, &problem))?;
    Ok(serde_json::to_string(&info).expect("texts and numbers are JSON"))
}

/// The summary of each finished point by its key, as JSON.
#[pyfunction]
pub(crate) fn finished(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    let info = read_info(&folder, EXAMPLE).map_err(|problem| error_at(py, &problem))?;
    let found = py.detach(|| {
        let summary = |point: &Point| match point.state_in(&folder) {
            PointState::Intact(summary) => Some((point.key.clone(), json!(summary))),
            _ => None,
        };
        info.points.iter().filter_map(summary).collect::<serde_json::Map<_, _>>()
    });
    Ok(json!(found).to_string())
}

/// Writes results, plots and the page of what is finished; says what is missing, as JSON.
#[pyfunction]
pub(crate) fn gather(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    let info = read_info(&folder, EXAMPLE).map_err(|problem| error_at(py, &problem))?;
    let report = py.detach(|| gather_points(&folder, &info)).map_err(|wrong| error_of(py, &wrong))?;
    let missing: Vec<_> =
        report.results.missing.iter().map(|missing| json!([missing.point.key, missing.reason])).collect();
    Ok(json!({ "missing": missing, "in_use": report.in_use, "warnings": report.results.warnings }).to_string())
}

/// Every statistic of what is finished, as a table and as JSON.
#[pyfunction]
pub(crate) fn summary(py: Python<'_>, folder: PathBuf) -> PyResult<(Table, String)> {
    let info = read_info(&folder, EXAMPLE).map_err(|problem| error_at(py, &problem))?;
    let analysis = py.detach(|| Analysis::of(&folder, &info, &|| false)).map_err(|wrong| error_of(py, &wrong))?;
    let table = of_rows(&Axes::of(&info.axes), &analysis.rows).map_err(|wrong| error_of(py, &wrong))?;
    let rows = analysis.rows.iter().map(|row| {
        let Row { scheme, values, class, metric, value, low, high, n, unit, note } = row;
        json!([scheme, values, class, metric, value, low, high, n, unit, note])
    });
    Ok((table, json!(rows.collect::<Vec<_>>()).to_string()))
}

/// Two run folders, or schemes of them, side by side: as JSON, and as the table of the command line.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    a: (PathBuf, Option<String>),
    b: (PathBuf, Option<String>),
    metrics: Vec<String>,
    classes: Vec<String>,
) -> PyResult<(String, String)> {
    let side = |(folder, scheme)| Side { folder, scheme };
    let selection = Selection { metrics, classes };
    let comparison = py.detach(|| compare_sides(&side(a), &side(b), &selection));
    comparison.map(|found| (found.to_json(), found.to_table())).map_err(|problem| error_at(py, &problem))
}
