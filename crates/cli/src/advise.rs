//! `tailcut advise`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tailcut_base::Bytes;
use tailcut_lab::advise::{Advice, BufferQuery, Target, advise_buffer};
use tailcut_lab::{Parallelism, RunError, RunOptions, UntilError, default_folder};
use tailcut_sim::Problem;

use crate::engine::command_line;
use crate::format::TableFormat;
use crate::page::{Page, say};
use crate::progress::Display;
use crate::signals::Signals;
use crate::{Failed, ScenarioArguments, Stop};

#[derive(Args)]
pub(crate) struct AdviseCommand {
    #[command(subcommand)]
    of: Of,
}

#[derive(Subcommand)]
enum Of {
    /// Search the smallest buffer with which a scenario keeps a target, by simulation
    ///
    /// The buffer is the memory that the ports of a switch share, if they share one, else `port.limit`. Sizes at equal
    /// ratios are tried from the smallest to the largest; then the gap below the smallest size that keeps the target is
    /// halved. Every size has the same seeds: five, and more until the interval of the metric lies on one side of the
    /// limit. A target that a larger buffer makes worse is refused, with what was measured.
    Buffer(BufferCommand),
}

/// What the exit codes mean here, for the help.
const EXIT_CODES: &str = "\
Exit codes:
    0  every scheme has an answer at every combination of swept values
    1  some have none: no buffer keeps the target, seeds do not tell, a larger buffer is worse, or a point failed
    2  the arguments or the input are wrong, or the command could not be done
  130  stopped by Ctrl-C; what is finished is kept, and the same command goes on from there";

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
struct BufferCommand {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// What is to be kept, such as 'fct_p99(class=short) < 2ms'; may be given several times, and then all of it is
    #[arg(long, value_name = "TARGET", required = true)]
    keep: Vec<Target>,
    /// Search the marking threshold too: a quarter to four times that of the scenario, or --with-marking=20KB,65KB
    #[arg(long, value_name = "THRESHOLDS", num_args = 0..=1, require_equals = true, default_missing_value = "",
        hide_default_value = true)]
    with_marking: Option<String>,
    /// The key that holds the buffer, such as switch.leaf.memory.dt.size [default: found]
    #[arg(long, value_name = "PATH")]
    key: Option<String>,
    /// The smallest size to try [default: a sixteenth of that of the scenario]
    #[arg(long, value_name = "SIZE")]
    from: Option<Bytes>,
    /// The largest size to try [default: four times that of the scenario]
    #[arg(long, value_name = "SIZE")]
    to: Option<Bytes>,
    /// Try multiples of this size only
    #[arg(long, value_name = "SIZE", default_value = "1pkt")]
    step: Bytes,
    /// Search until the answer is above a size that does not do by no more than this share
    #[arg(long, value_name = "PERCENT%", default_value = "10%", value_parser = share)]
    within: f64,
    /// A larger buffer may be worse than a smaller one by this share of the limit before the target is refused
    #[arg(long, value_name = "PERCENT%", default_value = "1%", value_parser = share)]
    tolerance: f64,
    /// Most seeds at a size
    #[arg(long, value_name = "N", default_value_t = 40)]
    max_seeds: usize,
    /// The folder [default: runs/NAME+buffer]; other targets use the simulations that are there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Simulations at a time [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Threads in each simulation [default: one, or more if there are fewer points than cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    /// Print only the answer, warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

/// Reads `10%` as 0.1.
fn share(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match percent {
        Some(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(format!("`{text}` is no share in percent: expected such as 5%")),
    }
}

impl BufferCommand {
    fn query(&self) -> BufferQuery {
        let thresholds = |text: &String| {
            text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        BufferQuery {
            key: self.key.clone(),
            from: self.from,
            to: self.to,
            step: self.step,
            within: self.within,
            tolerance: self.tolerance,
            max_seeds: self.max_seeds,
            marking: self.with_marking.as_ref().map(thresholds),
            ..BufferQuery::new(self.keep.clone())
        }
    }
}

pub(crate) fn advise(arguments: &AdviseCommand) -> Result<(), Stop> {
    let Of::Buffer(arguments) = &arguments.of;
    let plan = arguments.scenario.plan()?;
    for warning in &plan.warnings {
        say!("warning: {warning}");
    }
    // Whatever is asked of the same key, the simulations are the same: another target uses those that are there.
    let mut changes = vec!["buffer".to_owned()];
    changes.extend(arguments.with_marking.as_ref().map(|_| "marking".to_owned()));
    changes.extend(arguments.key.clone());
    changes.extend(arguments.scenario.changes(&plan));
    let options = RunOptions {
        out: arguments.out.clone().unwrap_or_else(|| default_folder(&plan, &changes)),
        parallelism: Parallelism { jobs: arguments.jobs.map(usize::from), threads: arguments.threads.map(usize::from) },
        command: command_line(),
        shared: Vec::new(),
        executor: None,
    };
    let signals = Signals::listen().map_err(|e| Problem::new(format!("cannot listen for Ctrl-C: {e}")))?;
    let display = Display::new(&signals, arguments.quiet);
    let outcome = advise_buffer(&plan, &arguments.query(), &options, &display);
    display.close();
    let advice = match outcome {
        Ok(advice) => advice,
        Err(UntilError::Input(problem)) => return Err(problem.into()),
        Err(UntilError::Run(error @ RunError::Stopped { .. })) => {
            return Err(Stop::Signal(error, signals.exit_code()));
        }
        Err(UntilError::Run(error)) => return Err(error.into()),
    };
    print(&advice, arguments, &options);
    Failed::of(&advice.run.failures).result()?;
    if advice.is_incomplete() { Err(Stop::NoAnswer) } else { Ok(()) }
}

fn print(advice: &Advice, arguments: &BufferCommand, options: &RunOptions) {
    let mut out = Page::default();
    let text = match arguments.format {
        TableFormat::Table => advice.text(),
        TableFormat::Csv => advice.csv(),
        TableFormat::Json => advice.json(),
    };
    out.line(text.trim_end());
    if arguments.format == TableFormat::Table {
        let page = options.out.join("report.html");
        out.line(format_args!("results: {}, page: {}", options.out.join("advice.csv").display(), page.display()));
    }
    out.print();
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_in_percent() {
        assert_eq!([share("10%"), share("0%"), share(" 2.5 % ")], [Ok(0.1), Ok(0.0), Ok(0.025)]);
        for text in ["10", "-1%", "%", "nan%", "1e9%"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
