//! The `tailcut` command: arguments and printing only.
#![allow(clippy::print_stderr, reason = "messages are what a command is for")]

mod advise;
mod bill;
mod check;
mod claims;
mod compare;
mod describe;
mod explain;
mod format;
mod list;
mod network;
mod page;
mod place;
mod progress;
mod reference;
mod report;
mod reproduce;
mod run;
mod shell;
mod show;
mod signals;
mod thresholds;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use tailcut_lab::{Plan, Precision, RunArguments, RunError, SeedChoice};
use tailcut_sim::Problem;

use crate::format::TextFormat;
use crate::page::say;

/// What the exit codes of the command mean, for its help.
const EXIT_CODES: &str = "\
Exit codes:
    0  done
    1  some points of a run failed; the others are kept
    2  the arguments or the input are wrong, or the command could not be done
  101  a fault of tailcut itself
  130  stopped by Ctrl-C; what is finished is kept, and the same command goes on from there
  143  stopped by SIGTERM, likewise";

/// A packet-level laboratory for datacenter networks
#[derive(Parser)]
#[command(name = "tailcut", version, arg_required_else_help = true, max_term_width = 100, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every point of a scenario on all cores and write a run folder with results, plots and a page
    Run(RunCommand),
    /// Write the results, plots and page of a run folder again, from whatever is finished; nothing is simulated
    Report(report::ReportCommand),
    /// Check that every file of a run folder is what was written, and simulate points of it again
    Verify(verify::VerifyCommand),
    /// Say why flows of a run were slow, or what happened at a port: the point is simulated again and looked at closely
    Explain(explain::ExplainCommand),
    /// Write the packets of a flow, or at a port, into a file that Wireshark and tshark read
    Trace(explain::TraceCommand),
    /// Compare two points: the flows whose FCT differs most, and the first packet at which they part
    Diff(explain::DiffCommand),
    /// Compare two runs, or two schemes, point by point: ratios with intervals, seed by seed where flows are the same
    Compare(compare::CompareCommand),
    /// List what documents claim, what was measured, and the verdicts; or write a scoreboard of them
    Claims(claims::ClaimsCommand),
    /// Say what a scenario would run and what is suspicious about it, without running it
    Check(CheckCommand),
    /// Run published figures and tables again, draw them, and judge the claims that rest on them
    Reproduce(reproduce::ReproduceCommand),
    /// Compute the best thresholds of a multi-level feedback queue, such as PIAS, for a size distribution
    Thresholds(thresholds::ThresholdsCommand),
    /// Search the smallest buffer with which a scenario keeps a target
    Advise(advise::AdviseCommand),
    /// Superways: place a scenario's incast applications, count their servers' extra links, and write what to run
    Place(place::PlaceCommand),
    /// What the extra links of Superways cost, item by item, beside Subways
    Bill(bill::BillCommand),
    /// List what there is to choose from, and what results mean
    List {
        /// What to list, such as schemes, workloads, metrics or markers; everything if it is left out
        kind: Option<String>,
        /// How to print
        #[arg(long, value_enum, default_value_t)]
        format: TextFormat,
    },
    /// Show what something is, its parameters, their defaults and where they come from
    Show {
        /// What kind of thing: scheme, topology, workload, table (of a scenario), or a seat such as marker; or
        /// reference, for every key of a scenario as a page of Markdown
        kind: String,
        /// Its name, as `tailcut list` prints it; with topology also a scenario file, whose network is shown
        name: Option<String>,
        /// How to print
        #[arg(long, value_enum, default_value_t)]
        format: TextFormat,
        #[command(flatten)]
        network: network::NetworkArguments,
    },
    /// Print the JSON schema of a scenario, by which editors complete and check one
    Schema,
    /// Print the script by which a shell completes the arguments of this command
    Completions(shell::CompletionsCommand),
    /// Write the manual pages of this command into a folder
    Man(shell::ManCommand),
}

/// Which seeds a run has.
#[derive(Args)]
struct SeedArguments {
    /// How many seeds, from 1 on; or a list of them such as 1,2,7
    #[arg(long, value_name = "SEEDS")]
    seeds: Option<SeedChoice>,
    /// One seed: this one
    #[arg(long, value_name = "SEED", conflicts_with = "seeds", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
}

impl SeedArguments {
    fn choice(&self) -> Option<SeedChoice> {
        self.seeds.clone().or_else(|| self.seed.map(|seed| SeedChoice::List(vec![seed])))
    }
}

#[derive(Args)]
struct CheckCommand {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: TextFormat,
    /// Print only warnings and errors, beside what --format json prints
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Args)]
struct ScenarioArguments {
    /// The scenario file
    scenario: PathBuf,
    /// Change a value of the scenario, such as workload.load=0.5; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    seeds: SeedArguments,
}

#[derive(Args)]
struct RunCommand {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// The run folder [default: runs/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Simulations at a time [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Threads in each simulation [default: one, or more if there are fewer points than cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// How to print the results
    #[arg(long, value_enum, default_value_t)]
    format: TextFormat,
    /// Print only warnings and errors, beside what --format json prints
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    until: UntilArguments,
}

#[derive(Args)]
struct UntilArguments {
    /// Add seeds, beginning with five, until the half width of the 95 % interval is at most this share of the value at
    /// every scheme and swept point
    ///
    /// Every scheme and point gets the same seeds, so that they stay comparable seed by seed. To look repeatedly and
    /// stop when the interval is narrow costs a little: of such 95 % intervals about 92 % hold the true value.
    #[arg(long, value_name = "ci=PERCENT%")]
    until: Option<Precision>,
    /// Which interval [default: fct_p99 of all flows]
    #[arg(long, value_name = "METRIC[:CLASS]", requires = "until")]
    of: Option<String>,
    /// Most seeds that --until runs
    #[arg(long, value_name = "N", requires = "until", default_value_t = 100)]
    max_seeds: usize,
}

impl ScenarioArguments {
    fn plan(&self) -> Result<Plan, Problem> {
        Plan::read(&self.scenario, &RunArguments { set: self.set.clone(), seeds: self.seeds.choice() })
    }

    /// What the command line changed, for the name of the run folder.
    fn changes(&self, plan: &Plan) -> Vec<String> {
        let mut changes = self.set.clone();
        if self.seeds.choice().is_some() {
            let seeds: Vec<String> = plan.seeds.iter().map(u64::to_string).collect();
            changes.push(format!("seeds={}", seeds.join(",")));
        }
        changes
    }
}

/// What ends a command with an exit code other than 0.
enum Stop {
    /// The input is wrong: exit code 2.
    Input(Problem),
    /// The run could not be done: exit code 2.
    Run(RunError),
    /// Some points failed: exit code 1.
    Points(usize),
    /// So many points are not what was written, or came to something else: exit code 1.
    Damaged(usize),
    /// An advice was asked for, and some scheme has none, as was printed: exit code 1.
    NoAnswer,
    /// The user stopped the run: the message, and the exit code that names the signal.
    Signal(RunError, u8),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Input(problem)
    }
}

impl From<RunError> for Stop {
    fn from(error: RunError) -> Stop {
        Stop::Run(error)
    }
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Verify(arguments) => verify::verify(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Trace(arguments) => explain::trace(&arguments).map_err(Stop::from),
        Command::Diff(arguments) => explain::diff(&arguments).map_err(Stop::from),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(&arguments),
        Command::Claims(arguments) => claims::claims(&arguments).map_err(Stop::from),
        Command::Thresholds(arguments) => thresholds::thresholds(&arguments).map_err(Stop::from),
        Command::Advise(arguments) => advise::advise(&arguments),
        Command::Place(arguments) => place::place(&arguments).map_err(Stop::from),
        Command::Bill(arguments) => bill::bill(&arguments).map_err(Stop::from),
        Command::Check(arguments) => check::check(&arguments).map_err(Stop::from),
        Command::List { kind, format } => list::list(kind.as_deref(), format).map_err(Stop::from),
        Command::Show { kind, name, format, network } => {
            show::show(&kind, name.as_deref(), format, &network).map_err(Stop::from)
        }
        Command::Schema => {
            shell::schema();
            Ok(())
        }
        Command::Completions(arguments) => {
            shell::completions(&arguments);
            Ok(())
        }
        Command::Man(arguments) => shell::man(&arguments).map_err(Stop::from),
    };
    match result {
        Ok(()) if page::is_lost() => ExitCode::from(2),
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Input(problem)) => {
            say!("{}", problem.render(page::has_colours()));
            ExitCode::from(2)
        }
        Err(Stop::Run(error)) => {
            say!("error: {error}");
            ExitCode::from(2)
        }
        Err(Stop::Signal(message, code)) => {
            say!("{message}");
            ExitCode::from(code)
        }
        Err(Stop::NoAnswer) => ExitCode::FAILURE,
        Err(Stop::Damaged(count)) => {
            say!(
                "error: {count} point(s) are not what was written; the command that made the folder runs damaged ones again"
            );
            ExitCode::FAILURE
        }
        Err(Stop::Points(count)) => {
            say!(
                "error: {count} point(s) failed; the others are kept, and the same command tries the failed ones again"
            );
            ExitCode::FAILURE
        }
    }
}
