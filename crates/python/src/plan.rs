//! A scenario that was read, merged and checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::json;
use tailcut_lab::{
    Executor, Expected, Parallelism, Plan as LabPlan, Precision, RunArguments, RunError, RunOptions, RunReport,
    StoppingRule, UntilError, default_folder, run, run_until, shell_word,
};
use tailcut_sim::Tree;

use crate::executor::PythonExecutor;
use crate::problem::{error, error_at, error_of};
use crate::progress::Watch;

/// A scenario that was read, merged and checked.
#[pyclass(frozen, module = "tailcut._native")]
pub(crate) struct Plan {
    plan: LabPlan,
}

#[pymethods]
impl Plan {
    /// Reads the layers of a scenario, the lowest first: pairs of a name for messages and a text in TOML.
    #[staticmethod]
    fn read(py: Python<'_>, layers: Vec<(String, String)>, stem: &str, folder: PathBuf) -> PyResult<Plan> {
        let plan = py.detach(|| {
            let trees = layers.iter().map(|(name, text)| Tree::parse(name, text)).collect::<Result<_, _>>()?;
            LabPlan::of_layers(trees, stem, &folder, &RunArguments::default())
        });
        plan.map(|plan| Plan { plan }).map_err(|problem| error_at(py, &problem))
    }

    /// The layers of a scenario in one text; nothing but their syntax is checked.
    #[staticmethod]
    fn merged(py: Python<'_>, layers: Vec<(String, String)>) -> PyResult<String> {
        let trees = layers.iter().map(|(name, text)| Tree::parse(name, text)).collect::<Result<Vec<_>, _>>();
        trees.map(|trees| Tree::layered(&trees).to_toml()).map_err(|problem| error_at(py, &problem))
    }

    /// The scenario with everything spelled out.
    fn effective(&self) -> &str {
        &self.plan.effective
    }

    /// What would run and what is suspicious, as JSON.
    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let expected = py.detach(|| Expected::of(&self.plan)).map_err(|problem| error_at(py, &problem))?;
        let axes: Vec<_> = self.plan.axes.iter().map(|axis| json!([axis.path, axis.values])).collect();
        let value = json!({
            "name": self.plan.name,
            "title": self.plan.title,
            "hosts": expected.largest.network().hosts(),
            "schemes": self.plan.schemes,
            "axes": axes,
            "seeds": self.plan.seeds,
            "points": self.plan.points.len(),
            "flows": expected.flows,
            "wire_bytes": expected.wire_bytes,
            "packet_hops": expected.packet_hops,
            "cpu_s": expected.cpu_ns / 1e9,
            "memory_bytes": expected.memory,
            "largest_point": self.plan.in_words(&expected.largest_point.scheme, &expected.largest_point.values),
            "warnings": expected.warnings(&self.plan),
        });
        Ok(value.to_string())
    }

    /// Every simulation with what it is expected to cost, as JSON.
    fn points(&self) -> String {
        let points = self.plan.points.iter().map(|planned| {
            let point = &planned.point;
            json!({
                "key": point.key,
                "scheme": point.scheme,
                "values": self.plan.axes.iter().zip(&point.values).map(|(axis, value)| (axis.path.clone(), json!(value)))
                    .collect::<serde_json::Map<_, _>>(),
                "seed": point.seed,
                "packet_hops": planned.size.packet_hops,
                "cpu_s": planned.size.cpu_ns() / 1e9,
                "memory_bytes": planned.size.bytes,
            })
        });
        serde_json::Value::from(points.collect::<Vec<_>>()).to_string()
    }

    /// Runs it into a folder, and says what became of it, as JSON.
    #[pyo3(signature = (out, jobs, threads, until, of, max_seeds, executor, progress))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of `tailcut run`")]
    fn run(
        &self,
        py: Python<'_>,
        out: Option<PathBuf>,
        jobs: Option<usize>,
        threads: Option<usize>,
        until: Option<String>,
        of: Option<String>,
        max_seeds: usize,
        executor: Option<Py<PyAny>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let out = out.unwrap_or_else(|| default_folder(&self.plan, &[]));
        let rule = until.as_deref().map(str::parse::<Precision>).transpose();
        let rule = rule.map_err(|wrong| error(py, &wrong, None))?;
        let rule = rule.map(|precision| StoppingRule::new(precision, of.as_deref(), max_seeds));
        let options = RunOptions {
            command: command_of(&out),
            out,
            parallelism: Parallelism { jobs, threads },
            shared: Vec::new(),
            executor: executor.map(|called| Arc::new(PythonExecutor(called)) as Arc<dyn Executor>),
        };
        let watch = Watch::default();
        let outcome = watch.over(py, progress.as_ref(), |watch| match &rule {
            None => run(&self.plan, &options, watch).map_err(UntilError::from),
            Some(rule) => run_until(&self.plan, rule, &options, watch).map(|report| report.run),
        })?;
        match outcome {
            Ok(report) => Ok(told_of(&options.out, &report)),
            Err(UntilError::Input(problem)) => Err(error_at(py, &problem)),
            Err(UntilError::Run(wrong @ RunError::Stopped { .. })) => Err(error_of(py, &wrong)),
            Err(UntilError::Run(wrong)) => Err(error_of(py, &wrong)),
        }
    }
}

/// The command that runs what was run into a folder again.
fn command_of(out: &Path) -> String {
    let scenario = out.join("scenario.toml").display().to_string();
    format!("tailcut run {} --out {}", shell_word(&scenario), shell_word(&out.display().to_string()))
}

fn told_of(out: &Path, report: &RunReport) -> String {
    let failures = report.failures.iter().map(|failure| {
        let point = &failure.point;
        json!({
            "key": point.key,
            "scheme": point.scheme,
            "seed": point.seed,
            "reason": failure.reason,
            "stalled": failure.stalled,
            "command": failure.command,
        })
    });
    json!({
        "folder": out,
        "points": report.points.len(),
        "reused": report.reused,
        "failures": failures.collect::<Vec<_>>(),
        "warnings": report.results.warnings,
        "notes": report.results.notes,
    })
    .to_string()
}
