//! `tailcut points`: what would run, a line for each simulation.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use tailcut_lab::{Plan, PlannedPoint, default_folder};
use tailcut_results::Axis;
use tailcut_sim::Problem;

use crate::ScenarioArguments;
use crate::engine::{command_line, line_of};
use crate::page::Page;

#[derive(Args)]
pub(crate) struct PointsCommand {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// The run folder of the commands [default: runs/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only points that are not finished in the run folder
    #[arg(long)]
    missing: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: PointsFormat,
    /// Say how long so many workers would take
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    workers: u16,
}

/// How points are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PointsFormat {
    /// Lines for people, and how long all points take
    #[default]
    Text,
    /// One JSON object for each point and line
    #[value(alias = "json")]
    Jsonl,
    /// The commands alone, one a line
    Commands,
}

pub(crate) fn points(arguments: &PointsCommand) -> Result<(), Problem> {
    let plan = arguments.scenario.plan()?;
    let folder = arguments.out.clone().unwrap_or_else(|| default_folder(&plan, &arguments.scenario.changes(&plan)));
    let mut out = Page::default();
    let command = |key: &str| {
        let mut words = vec!["run".to_owned()];
        words.extend(arguments.scenario.words());
        words.extend(["--only".to_owned(), key.to_owned(), "--out".to_owned(), folder.display().to_string()]);
        line_of(words)
    };
    let listed: Vec<&PlannedPoint> = longest_first(&plan, arguments.missing.then_some(folder.as_path()));
    for planned in &listed {
        let command = command(&planned.point.key);
        match arguments.format {
            PointsFormat::Text => {
                out.line(format_args!("{:>8.1} s  {}", planned.size.cpu_ns() / 1e9, planned.point.key));
            }
            PointsFormat::Jsonl => out.line(line(planned, &plan.axes, &folder, &command)),
            PointsFormat::Commands => out.line(command),
        }
    }
    if arguments.format == PointsFormat::Text {
        let costs: Vec<f64> = listed.iter().map(|planned| planned.size.cpu_ns() / 1e9).collect();
        let (workers, all) = (usize::from(arguments.workers), costs.iter().sum::<f64>());
        out.line(format_args!(
            "{} points, about {all:.1} s of CPU time; the longest first on {workers} worker(s): about {:.1} s",
            listed.len(),
            makespan(&costs, workers)
        ));
    }
    out.print();
    Ok(())
}

/// Prints the points of some plans with their run folders, and for each this command with the key of the point.
pub(crate) fn of_studies<'a>(studies: impl Iterator<Item = (&'a Plan, PathBuf)>) {
    let mut out = Page::default();
    let whole = command_line();
    let whole = whole.split(' ').filter(|word| *word != "--points").collect::<Vec<_>>().join(" ");
    for (plan, folder) in studies {
        for planned in longest_first(plan, None) {
            let command = format!("{whole} --only {}", tailcut_lab::shell_word(&planned.point.key));
            out.line(line(planned, &plan.axes, &folder, &command));
        }
    }
    out.print();
}

/// The points of a plan, those that cost most first; with a run folder only those that are not finished there.
fn longest_first<'a>(plan: &'a Plan, unless_in: Option<&Path>) -> Vec<&'a PlannedPoint> {
    let is_finished = |planned: &PlannedPoint| unless_in.is_some_and(|run| planned.point.state_in(run).is_intact());
    let mut points: Vec<&PlannedPoint> = plan.points.iter().filter(|planned| !is_finished(planned)).collect();
    points.sort_by(|a, b| b.size.packet_hops.total_cmp(&a.size.packet_hops));
    points
}

fn line(planned: &PlannedPoint, axes: &[Axis], folder: &Path, command: &str) -> Value {
    let point = &planned.point;
    let values: Map<String, Value> =
        axes.iter().zip(&point.values).map(|(axis, value)| (axis.path.clone(), json!(value))).collect();
    json!({
        "key": point.key,
        "scheme": point.scheme,
        "values": values,
        "seed": point.seed,
        "packet_hops": planned.size.packet_hops,
        "cpu_s": planned.size.cpu_ns() / 1e9,
        "memory_bytes": planned.size.bytes,
        "folder": folder,
        "command": command,
    })
}

/// How long so many workers take for tasks of these costs, if each that is free takes the next one.
fn makespan(costs: &[f64], workers: usize) -> f64 {
    let mut free = vec![0.0f64; workers.max(1)];
    for cost in costs {
        let first = free.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("there is a worker");
        *first += cost;
    }
    free.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_take_the_next_task_when_they_are_free() {
        let costs = [5.0, 3.0, 3.0, 1.0];
        assert_eq!(makespan(&costs, 1), 12.0);
        // 5 and 1 on one, 3 and 3 on the other.
        assert_eq!(makespan(&costs, 2), 6.0);
        assert_eq!(makespan(&costs, 9), 5.0);
        assert_eq!(makespan(&[], 3), 0.0);
    }
}
