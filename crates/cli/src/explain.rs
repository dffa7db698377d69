//! `tailcut explain`, `tailcut trace` and `tailcut diff`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tailcut_base::{HostId, Instant, PortId, Span, dotted};
use tailcut_lab::explain::{
    Choice, Replay, Replays, chosen, differences, flow_page, only, port_packets, port_page, port_story, slowest,
    stories, write_pcapng,
};
use tailcut_lab::read_info;
use tailcut_record::write_atomically;
use tailcut_results::{Point, PointSummary, RunInfo};
use tailcut_sim::Problem;
use tailcut_sim::model::FlowId;
use tailcut_sim::trace::Lens;
use tailcut_topology::Node;

use crate::Stop;
use crate::format::TextFormat;
use crate::page::{Page, say};

/// Which point of a run.
#[derive(Args)]
struct PointArguments {
    /// A run folder, such as runs/tail
    folder: PathBuf,
    /// The scheme of the point
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    /// The seed of the point
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// The value of a swept parameter at the point, such as workload.load=0.8; may be given several times
    #[arg(long, value_name = "PATH=VALUE")]
    at: Vec<String>,
}

impl PointArguments {
    fn info(&self) -> Result<RunInfo, Problem> {
        read_info(&self.folder, "such as runs/tail")
    }

    fn points(&self, info: &RunInfo) -> Result<Vec<(Point, Box<PointSummary>)>, Problem> {
        let choice = Choice { scheme: self.scheme.clone(), seed: self.seed, at: self.at.clone() };
        chosen(&self.folder, info, &choice)
    }

    /// The one point that is meant, ready to be looked at.
    fn replay(&self, info: &RunInfo) -> Result<Replay, Problem> {
        let (point, summary) = only(info, self.points(info)?)?;
        Replays::of(&self.folder, info)?.point(&point, &summary)
    }
}

/// A file that there is a folder for: what can not be written is said before anything is simulated.
fn file_to_write(text: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(text);
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(format!("there is no folder {}", folder.display()))
        }
        _ if file.is_dir() => Err("it is a folder: expected a file".to_owned()),
        _ => Ok(file),
    }
}

/// How what waits in a port is told apart.
#[derive(Clone, Copy, ValueEnum)]
enum By {
    Flow,
    Class,
}

#[derive(Args)]
pub(crate) struct ExplainCommand {
    #[command(flatten)]
    point: PointArguments,
    /// Why this flow was slow, by its number in flows.parquet
    #[arg(long, value_name = "N")]
    flow: Option<u32>,
    /// Why this query was slow, by its number in queries.parquet: the answer that came last, or one that never came
    #[arg(long, value_name = "N", conflicts_with = "flow")]
    query: Option<u32>,
    /// Why the N slowest flows were slow, of all points that fit
    #[arg(long, value_name = "N", conflicts_with_all = ["flow", "query"], value_parser = clap::value_parser!(u16).range(1..=1000))]
    worst: Option<u16>,
    /// Only flows of this traffic class, or of another set of flows that the tables of the run have
    #[arg(long, value_name = "CLASS", requires = "worst", conflicts_with_all = ["flow", "query"])]
    class: Option<String>,
    /// What happened at this port, such as 'leaf3->host17'
    #[arg(long, value_name = "OWNER->PEER", conflicts_with_all = ["flow", "query", "worst"])]
    port: Option<String>,
    /// From when on the port is looked at, such as 1.2ms
    #[arg(long, value_name = "TIME", requires = "port", conflicts_with_all = ["flow", "query", "worst"])]
    from: Option<Span>,
    /// Until when
    #[arg(long, value_name = "TIME", requires = "port", conflicts_with_all = ["flow", "query", "worst"])]
    to: Option<Span>,
    /// Whether what waits in the port is told apart by flow or by class, in the page
    #[arg(long, value_enum, requires = "port", conflicts_with_all = ["flow", "query", "worst"], default_value = "flow")]
    by: By,
    /// Also write a page with diagrams
    #[arg(long, value_name = "FILE", value_parser = file_to_write)]
    html: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: TextFormat,
}

pub(crate) fn explain(arguments: &ExplainCommand) -> Result<(), Stop> {
    let info = arguments.point.info()?;
    if let Some(port) = &arguments.port {
        return explain_port(arguments, &info, port).map_err(Stop::from);
    }
    // The flows of each point, in the order in which they are told.
    let mut wanted: Vec<(Replay, Vec<u32>)> = Vec::new();
    match (arguments.flow, arguments.query, arguments.worst) {
        (Some(flow), ..) => wanted.push((arguments.point.replay(&info)?, vec![flow])),
        (None, Some(query), _) => {
            let (point, summary) = only(&info, arguments.point.points(&info)?)?;
            let last = tailcut_lab::explain::last_answer(&arguments.point.folder, &point, query)?;
            wanted.push((Replays::of(&arguments.point.folder, &info)?.point(&point, &summary)?, vec![last]));
        }
        (None, None, Some(count)) => {
            let points = arguments.point.points(&info)?;
            let class = arguments.class.as_deref();
            let slow = slowest(&arguments.point.folder, &info, &points, usize::from(count), class)?;
            let replays = Replays::of(&arguments.point.folder, &info)?;
            let places: BTreeSet<usize> = slow.iter().map(|slow| slow.point).collect();
            for place in places {
                let flows = slow.iter().filter(|slow| slow.point == place).map(|slow| slow.flow).collect();
                wanted.push((replays.point(&points[place].0, &points[place].1)?, flows));
            }
        }
        (None, None, None) => {
            return Err(Problem::new("nothing is asked for")
                .help("expected --flow N, --query N, --worst N or --port OWNER->PEER")
                .into());
        }
    }
    let mut out = Page::default();
    let mut pages = Vec::new();
    let mut all = Vec::new();
    for (replay, flows) in &wanted {
        let told = stories(replay, flows)?;
        let words = replay.words(&info);
        if arguments.format == TextFormat::Text {
            out.line(format_args!("{words}: simulated again, with the digest that was saved"));
            told.iter().flat_map(|story| story.lines()).for_each(|line| out.line(line));
        }
        if arguments.html.is_some() {
            pages.push(flow_page(&info, &words, &told));
        }
        all.push(serde_json::json!({ "point": replay.point.key, "what": words, "flows": told }));
    }
    if arguments.format == TextFormat::Json {
        all.iter().for_each(|point| out.line(point));
    }
    if let Some(file) = &arguments.html {
        write_pages(file, &pages)?;
    }
    out.print();
    Ok(())
}

/// Writes the page of each point into a file of its own: `why.html`, `why-2.html` ...
fn write_pages(file: &std::path::Path, pages: &[String]) -> Result<(), Problem> {
    for (nth, page) in pages.iter().enumerate() {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let path = if nth == 0 { file.to_owned() } else { file.with_file_name(format!("{stem}-{}.html", nth + 1)) };
        write_atomically(&path, |out| out.write_all(page.as_bytes()))
            .map_err(|error| Problem::new(error.to_string()))?;
        say!("wrote {}", path.display());
    }
    Ok(())
}

/// The time that is asked for.
fn period(from: Option<Span>, to: Option<Span>) -> Result<(Instant, Instant), Problem> {
    let from = Instant::ZERO + from.unwrap_or(Span::ZERO);
    let until = to.map_or(Instant::MAX, |to| Instant::ZERO + to);
    if until <= from {
        return Err(Problem::new("--to is not after --from").help("expected a later time"));
    }
    Ok((from, until))
}

fn explain_port(arguments: &ExplainCommand, info: &RunInfo, name: &str) -> Result<(), Problem> {
    let replay = arguments.point.replay(info)?;
    let port = replay.port(name)?;
    let (from, until) = period(arguments.from, arguments.to)?;
    let story = port_story(&replay, port, from, until)?;
    let words = replay.words(info);
    let mut out = Page::default();
    if arguments.format == TextFormat::Text {
        out.line(format_args!("{words}: simulated again, with the digest that was saved"));
        story.lines().into_iter().for_each(|line| out.line(line));
    } else {
        let json = serde_json::json!({ "point": replay.point.key, "what": words, "port": story });
        out.line(json);
    }
    if let Some(file) = &arguments.html {
        write_pages(file, &[port_page(info, &words, &story, matches!(arguments.by, By::Class))])?;
    }
    out.print();
    Ok(())
}

/// From where packets are captured.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum View {
    /// At every port that they pass
    #[default]
    All,
    /// At the sender of the flow, as it sends and receives them: for tools that follow a connection
    Sender,
    /// At its receiver
    Receiver,
}

#[derive(Args)]
pub(crate) struct TraceCommand {
    #[command(flatten)]
    point: PointArguments,
    /// The packets of this flow, in both directions
    #[arg(long, value_name = "N")]
    flow: Option<u32>,
    /// All packets at this port, such as 'leaf3->host17'
    #[arg(long, value_name = "OWNER->PEER", required_unless_present = "flow", conflicts_with = "flow")]
    port: Option<String>,
    /// From when on the port is looked at, such as 1.2ms
    #[arg(long, value_name = "TIME", requires = "port", conflicts_with = "flow")]
    from: Option<Span>,
    /// Until when
    #[arg(long, value_name = "TIME", requires = "port", conflicts_with = "flow")]
    to: Option<Span>,
    /// From where the packets of a flow are captured
    #[arg(long, value_enum, default_value_t, requires = "flow", conflicts_with = "port")]
    view: View,
    /// The file to write
    #[arg(long, value_name = "FILE", value_parser = file_to_write)]
    pcapng: PathBuf,
}

pub(crate) fn trace(arguments: &TraceCommand) -> Result<(), Problem> {
    let info = arguments.point.info()?;
    let replay = arguments.point.replay(&info)?;
    let network = replay.scenario.network();
    let mut ports: Vec<PortId> = Vec::new();
    let (outcome, seen) = match (&arguments.port, arguments.flow) {
        (Some(name), _) => {
            let port = replay.port(name)?;
            let (from, until) = period(arguments.from, arguments.to)?;
            ports.push(port);
            let (outcome, seen, _) = port_packets(&replay, port, from, until)?;
            (outcome, seen)
        }
        (None, flow) => replay.look(Lens { flows: flow.into_iter().map(FlowId).collect(), ..Lens::default() })?,
    };
    let mut inward: Vec<PortId> = Vec::new();
    if let Some(flow) = arguments.flow {
        let Some(row) = outcome.flows.rows().find(|row| row.flow == flow) else {
            return Err(Problem::new(format!("{} has no flow {flow}", replay.point.key))
                .help(format!("expected a number below {}", outcome.flows.len())));
        };
        let host = match arguments.view {
            View::All => None,
            View::Sender => Some(HostId(row.src)),
            View::Receiver => Some(HostId(row.dst)),
        };
        if let Some(host) = host {
            let of = |node: fn(&tailcut_topology::PortSpec) -> Node| {
                let ports = network.ports().iter_enumerated();
                ports.filter(move |(_, spec)| node(spec) == Node::Host(host)).map(|(port, _)| port).collect::<Vec<_>>()
            };
            inward = of(|spec| spec.peer);
            ports = [of(|spec| spec.owner), inward.clone()].concat();
        }
    }
    let packets = write_pcapng(&arguments.pcapng, &replay.scenario, &seen, &ports, &inward)?;
    say!("{}: simulated again, with the digest that was saved", replay.words(&info));
    say!("wrote {}: {packets} packets", arguments.pcapng.display());
    Ok(())
}

#[derive(Args)]
pub(crate) struct DiffCommand {
    /// The run folder of A
    a: PathBuf,
    /// The run folder of B; may be the same
    b: PathBuf,
    /// The scheme of the points
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    /// The scheme of B, if it is another one
    #[arg(long, value_name = "NAME")]
    scheme_b: Option<String>,
    /// The seed of the points
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// The seed of B, if it is another one
    #[arg(long, value_name = "SEED")]
    seed_b: Option<u64>,
    /// The value of a swept parameter at the points, such as workload.load=0.8; may be given several times
    #[arg(long, value_name = "PATH=VALUE")]
    at: Vec<String>,
    /// The value of a swept parameter at the point of B, if it is another one
    #[arg(long, value_name = "PATH=VALUE")]
    at_b: Vec<String>,
    /// How many flows are told of
    #[arg(long, value_name = "N", default_value_t = 10)]
    flows: usize,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: TextFormat,
}

pub(crate) fn diff(arguments: &DiffCommand) -> Result<(), Problem> {
    let side = |folder: &PathBuf, scheme: Option<&String>, seed: Option<u64>, at: Vec<String>| {
        let point = PointArguments { folder: folder.clone(), scheme: scheme.cloned(), seed, at };
        let info = point.info()?;
        let replay = point.replay(&info)?;
        let words = replay.words(&info);
        Ok::<_, Problem>((replay, words))
    };
    let (a, a_words) = side(&arguments.a, arguments.scheme.as_ref(), arguments.seed, arguments.at.clone())?;
    let scheme = arguments.scheme_b.as_ref().or(arguments.scheme.as_ref());
    // What is said of B alone stands in the place of what is said of both.
    let path = |value: &String| dotted::canonical(dotted::assignment(value).map_or(value, |(path, _)| path));
    let of_b: BTreeSet<String> = arguments.at_b.iter().map(path).collect();
    let at_b = arguments.at.iter().filter(|value| !of_b.contains(&path(value))).chain(&arguments.at_b);
    let (b, b_words) = side(&arguments.b, scheme, arguments.seed_b.or(arguments.seed), at_b.cloned().collect())?;
    let found = differences((&arguments.a, &a), (&arguments.b, &b), arguments.flows)?;
    let mut out = Page::default();
    if arguments.format == TextFormat::Json {
        out.line(serde_json::json!({ "a": a_words, "b": b_words, "differences": found }));
    } else {
        out.line(format_args!("A: {}: {a_words}", arguments.a.display()));
        out.line(format_args!("B: {}: {b_words}", arguments.b.display()));
        found.lines().into_iter().for_each(|line| out.line(line));
    }
    out.print();
    Ok(())
}
