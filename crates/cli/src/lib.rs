//! The `tailcut` command: arguments and printing only. It is a library, so that the Python package has the command too.
#![allow(clippy::print_stderr, reason = "messages are what a command is for")]

mod advise;
mod bill;
mod check;
mod claims;
mod compare;
mod describe;
mod engine;
mod explain;
mod format;
mod gather;
mod list;
mod network;
mod page;
mod place;
mod points;
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
mod view;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tailcut_lab::{Failure, Plan, Precision, RunArguments, RunError, SeedChoice};
use tailcut_sim::Problem;

use crate::format::TextFormat;
use crate::page::say;

pub use crate::engine::Engines;

/// What the exit codes of the command mean, for its help.
const EXIT_CODES: &str = "\
Exit codes:
    0  done
    1  some points of a run failed; the others are kept
    2  the arguments or the input are wrong, or the command could not be done
    3  some points of a run stalled: flows are open and nothing goes on; the others are kept
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
    /// List the simulations of a scenario: key, expected cost and the command that runs each, for clusters
    Points(points::PointsCommand),
    /// Write the results, plots and page of what is finished in a run folder whose points were run one by one
    Gather(gather::GatherCommand),
    /// Write the results, plots and page of a run folder again, from whatever is finished; nothing is simulated
    Report(report::ReportCommand),
    /// Check that every file of a run folder is what was written, and simulate points of it again
    Verify(verify::VerifyCommand),
    /// Compare two runs, or two schemes, point by point: ratios with intervals, seed by seed where flows are the same
    Compare(compare::CompareCommand),
    /// Say why flows of a run were slow, or what happened at a port: the point is simulated again and looked at closely
    Explain(explain::ExplainCommand),
    /// Write the packets of a flow, or at a port, into a file that Wireshark and tshark read
    Trace(explain::TraceCommand),
    /// Compare two points: the flows whose FCT differs most, and the first packet at which they part
    Diff(explain::DiffCommand),
    /// Show run folders in a browser of this machine, while runs go on: what is under way, results so far, slow flows
    View(view::ViewCommand),
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
        /// What to list, such as schemes, experiments, metrics or markers; everything if it is left out
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
    /// What is simulated: every packet, each link alone, or flows as fluids; the last two also after a sample of each
    /// point with packets, so that results say how far they are from packets [default: as the scenario says]
    #[arg(long, value_enum, conflicts_with = "until")]
    fidelity: Option<FidelityChoice>,
    #[command(flatten)]
    until: UntilArguments,
    /// Run this point and nothing else, as `tailcut points` lists them; other processes may run other points of the
    /// same run meanwhile. `tailcut gather` then makes the results
    #[arg(long, value_name = "KEY", conflicts_with_all = ["until", "jobs", "on"])]
    only: Option<String>,
    /// Simulate on other machines: ray, dask, slurm, or the address of a cluster, such as ray://head:10001 or
    /// tcp://head:8786
    #[arg(long, value_name = "ENGINE", conflicts_with_all = ["jobs", "threads"])]
    on: Option<String>,
}

/// What `--fidelity` says.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FidelityChoice {
    /// Every packet on every link
    Packet,
    /// Each link alone, with every packet
    Links,
    /// Flows as fluids
    Flow,
    /// Flows as fluids, and how far they are from packets on a sample
    Both,
    /// Each link alone, and how far that is from packets on a sample
    LinksBoth,
}

impl FidelityChoice {
    /// The word of a scenario.
    fn word(self) -> &'static str {
        match self {
            FidelityChoice::Packet => "packet",
            FidelityChoice::Links | FidelityChoice::LinksBoth => "links",
            FidelityChoice::Flow | FidelityChoice::Both => "flow",
        }
    }

    /// Whether a sample with packets comes first.
    fn is_measured(self) -> bool {
        matches!(self, FidelityChoice::Both | FidelityChoice::LinksBoth)
    }
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
        self.plan_with(None)
    }

    /// The same with a further assignment.
    fn plan_with(&self, further: Option<&str>) -> Result<Plan, Problem> {
        let set = self.set.iter().cloned().chain(further.map(str::to_owned)).collect();
        Plan::read(&self.scenario, &RunArguments { set, seeds: self.seeds.choice() })
    }

    /// The words of a command about this scenario, as they were given.
    fn words(&self) -> Vec<String> {
        let mut words = vec![self.scenario.display().to_string()];
        words.extend(self.set.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
        match (&self.seeds.seeds, self.seeds.seed) {
            (Some(SeedChoice::Count(count)), _) => words.extend(["--seeds".to_owned(), count.to_string()]),
            (Some(SeedChoice::List(seeds)), _) => {
                let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
                words.extend(["--seeds".to_owned(), seeds.join(",")]);
            }
            (None, Some(seed)) => words.extend(["--seed".to_owned(), seed.to_string()]),
            (None, None) => {}
        }
        words
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
    /// Some points stalled, and none failed otherwise: exit code 3.
    Stalled(usize),
    /// So many points are not what was written, or came to something else: exit code 1.
    Damaged(usize),
    /// So many points of so many are not there: exit code 1.
    Missing(usize, usize),
    /// Another program did what was asked for, with this exit code.
    Ended(u8),
    /// An advice was asked for, and some scheme has none, as was printed: exit code 1.
    NoAnswer,
    /// The user stopped the run: the message, and the exit code that names the signal.
    Signal(RunError, u8),
}

/// How many points of a run have failed, and how many of them because they stalled.
#[derive(Clone, Copy, Default)]
struct Failed {
    all: usize,
    stalled: usize,
}

impl Failed {
    fn of<'a>(failures: impl IntoIterator<Item = &'a Failure>) -> Failed {
        failures.into_iter().fold(Failed::default(), |failed, failure| failed.and(1, usize::from(failure.stalled)))
    }

    fn and(self, all: usize, stalled: usize) -> Failed {
        Failed { all: self.all + all, stalled: self.stalled + stalled }
    }

    fn result(self) -> Result<(), Stop> {
        match self {
            Failed { all: 0, .. } => Ok(()),
            Failed { all, stalled } if all == stalled => Err(Stop::Stalled(stalled)),
            Failed { all, .. } => Err(Stop::Points(all)),
        }
    }
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

/// Runs the command with these arguments, of which the first is its name, and returns its exit code. `engines` are
/// where else simulations may run; without them, `--on` hands the command over to the Python package.
pub fn command(arguments: impl IntoIterator<Item = OsString>, engines: Option<Box<dyn Engines>>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    engine::begin(&arguments, engines);
    let parsed = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            return match (printed, error.exit_code()) {
                (Err(wrong), 0) if wrong.kind() != ErrorKind::BrokenPipe => {
                    say!("error: cannot print: {wrong}");
                    2
                }
                // An error that cannot be printed stays one.
                (_, code) => u8::try_from(code).unwrap_or(2),
            };
        }
    };
    let result = match parsed.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Points(arguments) => points::points(&arguments).map_err(Stop::from),
        Command::Gather(arguments) => gather::gather(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Verify(arguments) => verify::verify(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Trace(arguments) => explain::trace(&arguments).map_err(Stop::from),
        Command::View(arguments) => view::view(&arguments).map_err(Stop::from),
        Command::Diff(arguments) => explain::diff(&arguments).map_err(Stop::from),
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
        Ok(()) if page::is_lost() => 2,
        Ok(()) => 0,
        Err(Stop::Input(problem)) => {
            say!("{}", problem.render(page::has_colours()));
            2
        }
        Err(Stop::Run(error)) => {
            say!("error: {error}");
            2
        }
        Err(Stop::Signal(message, code)) => {
            say!("{message}");
            code
        }
        Err(Stop::Ended(code)) => code,
        Err(Stop::NoAnswer) => 1,
        Err(Stop::Missing(count, all)) => {
            say!(
                "error: {count} of {all} points are missing; `tailcut points --missing` with the arguments of the run lists them"
            );
            1
        }
        Err(Stop::Damaged(count)) => {
            say!(
                "error: {count} points or other files are not what was written; the command that made the folder writes them anew"
            );
            1
        }
        Err(Stop::Stalled(count)) => {
            say!("error: {count} point(s) stalled; the others are kept");
            3
        }
        Err(Stop::Points(count)) => {
            say!(
                "error: {count} point(s) failed; the others are kept, and the command that runs them tries the failed ones again"
            );
            1
        }
    }
}
