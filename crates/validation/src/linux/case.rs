//! A case, runnable by Linux and by tailcut.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tailcut_base::{Seeds, mix64};
use tailcut_lab::{Plan as Run, PlannedPoint, RunArguments};
use tailcut_model::FlowSpec;
use tailcut_sim::config::{LostKind, LostPacket};
use tailcut_sim::{Preset, Problem, Scenario, Tree, Value};
use tailcut_topology::Node;
use tailcut_workload::Workload;

use super::cases::CaseSpec;
use super::plan::Plan;

/// Keys of a case's scenario that are not of one simulation.
const OF_A_RUN: [&str; 4] = ["name", "title", "schemes", "seeds"];
const TICK_NS: u64 = 1_000_000;

/// What a case is made of.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its name on the command line and in tables.
    pub name: String,
    /// All that the scenario says of this scheme, laid over each other as in `tailcut run`.
    pub base: Tree,
    /// The folder of the files that it names.
    pub folder: PathBuf,
    /// Assignments for tailcut only: what changes if one thing is different there.
    pub own: Vec<String>,
    /// The scheme.
    pub scheme: String,
    /// The seeds of the rounds, which differ by the phase of the clock, drawn starts and drawn losses.
    pub seeds: Vec<u64>,
    /// Each start is later by a time below this one, drawn for each flow and round.
    pub jitter_ns: u64,
    /// The link from host n is longer by n times this time.
    pub apart_ns: u64,
    /// The share of segments whose first transmission is lost, drawn for each round.
    pub loss: f64,
    /// What `tailcut run` warns of in a scenario file; with the first scheme of the file.
    pub warnings: Vec<String>,
}

/// One round of a case.
#[derive(Debug)]
pub struct Round {
    /// The scenario with the flows of the round as a list.
    pub scenario: Scenario,
    /// Its flows, by start.
    pub flows: Vec<FlowSpec>,
    /// The packets that are lost.
    pub losses: Vec<LostPacket>,
}

/// A case with its rounds.
#[derive(Debug)]
pub struct Case {
    /// What it is made of.
    pub spec: Spec,
    /// The rounds.
    pub rounds: Vec<Round>,
    /// All that the scenario says but its flows.
    base: Tree,
}

/// The folder of the scenarios, the driver and the reference.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("linux")
}

impl Spec {
    /// The spec of a case of the table.
    ///
    /// # Errors
    /// If its scenario cannot be read.
    pub fn of(case: &CaseSpec) -> Result<Spec, String> {
        let path = folder().join(case.file);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let base = layered(case, &text).map_err(|problem| problem.render(false))?;
        Ok(Spec {
            name: case.name.to_owned(),
            base,
            folder: folder(),
            own: Vec::new(),
            scheme: case.scheme.to_owned(),
            seeds: (1..=u64::from(case.rounds)).collect(),
            jitter_ns: case.jitter_us * 1000,
            apart_ns: case.apart_ns,
            loss: case.loss,
            warnings: Vec::new(),
        })
    }

    /// One spec for each scheme of a scenario file, as `tailcut run` has it.
    ///
    /// # Errors
    /// If it cannot be read, is wrong, has a sweep or names no schemes.
    pub fn of_file(path: &Path) -> Result<Vec<Spec>, String> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
        let tree = Tree::parse(&shown, &text).map_err(|problem| problem.render(false))?;
        if tree.get("sweep").is_some() {
            return Err(format!("`{shown}` has a table `sweep`: a replay has one setting; remove the table"));
        }
        if tree.get("schemes").is_none() {
            return Err(format!("`{shown}` names no schemes: expected such as `schemes = [\"tcp@linux\"]`"));
        }
        let is_wrong = tree.get("seeds").is_some_and(|seeds| match &seeds.value {
            Value::Integer(count) => *count < 1,
            Value::Array(seeds) => seeds.is_empty(),
            _ => true,
        });
        if is_wrong {
            return Err(format!(
                "`seeds` in `{shown}` must be a number of rounds, at least 1, or a list of seeds: expected such as \
                 `seeds = 3` or `seeds = [1, 2, 7]`, got `seeds = {}`",
                tree.get("seeds").map_or_else(String::new, Tree::to_text)
            ));
        }
        let run = Run::read(path, &RunArguments::default()).map_err(|problem| problem.render(false))?;
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let spec = |planned: &PlannedPoint| {
            let scenario = planned.scenario()?;
            let whole = toml::to_string(&scenario.config().to_table()).expect("a table is TOML");
            Ok(Spec {
                name: name.clone(),
                base: Tree::parse(&shown, &whole)?,
                folder: folder.clone(),
                own: Vec::new(),
                scheme: planned.point.scheme.clone(),
                seeds: run.seeds.clone(),
                jitter_ns: 0,
                apart_ns: 0,
                loss: 0.0,
                warnings: Vec::new(),
            })
        };
        let of_schemes = run.points.iter().filter(|planned| planned.point.seed == run.seeds[0]);
        let specs: Result<Vec<Spec>, Problem> = of_schemes.map(spec).collect();
        let mut specs = specs.map_err(|problem| problem.render(false))?;
        if let Some(first) = specs.first_mut() {
            first.warnings.clone_from(&run.warnings);
        }
        Ok(specs)
    }
}

/// All that is said of a case: the scheme in its scenario, with the assignments of the case by the scheme's name.
fn layered(case: &CaseSpec, text: &str) -> Result<Tree, Problem> {
    let mut scenario = Tree::parse(case.file, text)?;
    for key in OF_A_RUN {
        scenario.take(key);
    }
    let set = case.set.iter().map(|assignment| Tree::parse_assignment(assignment)).collect::<Result<Vec<_>, _>>()?;
    let by_name: Vec<&Tree> = set.iter().collect();
    Ok(Preset::scheme(case.scheme)?.in_scenario(&[&scenario], &by_name))
}

impl Case {
    /// Reads the scenario of a case and draws its rounds.
    ///
    /// # Errors
    /// If it cannot be read or is wrong.
    pub fn load(spec: Spec) -> Result<Case, String> {
        Case::build(spec).map_err(|problem| problem.render(false))
    }

    fn build(spec: Spec) -> Result<Case, Problem> {
        let mut base = spec.base.clone();
        if spec.apart_ns > 0 {
            base.merge(longer_links(&base, &spec)?);
        }
        let mut rounds = Vec::new();
        for &seed in &spec.seeds {
            let drawn = Scenario::new(&base, seed, spec.folder.as_path())?;
            let workload =
                Workload::new(&drawn.config().workload, &drawn.host_links(), Seeds::new(seed), spec.folder.as_path());
            let workload = workload.map_err(|invalid| Problem::new(invalid.to_string()))?;
            let mut starts: Vec<(u64, FlowSpec)> = workload
                .zip(0..)
                .map(|(flow, at)| {
                    let jitter = draw(seed, at).checked_rem(spec.jitter_ns).unwrap_or(0);
                    (flow.start.as_ps() / 1000 + jitter, flow)
                })
                .collect();
            starts.sort_by_key(|(start, _)| *start);
            let mut losses = drawn.config().failures.packets.clone();
            losses.extend(drawn_losses(&spec, seed, &starts));
            let mut list = base.clone();
            list.remove("workload");
            list.merge(listed(starts.iter().map(|(start, flow)| (*start, flow.src.0, flow.dst.0, flow.size)))?);
            let scenario = Scenario::new(&list, seed, spec.folder.as_path())?;
            let flows = scenario.workload().collect();
            rounds.push(Round { scenario, flows, losses });
        }
        base.remove("workload");
        Ok(Case { spec, rounds, base })
    }

    /// Its name in the reference: `idle-1b tcp@linux`.
    pub fn key(&self) -> String {
        format!("{} {}", self.spec.name, self.spec.scheme)
    }

    /// The case as the driver reads it.
    ///
    /// # Errors
    /// As [`Plan::of`].
    pub fn plan(&self) -> Result<Plan, String> {
        Plan::of(self)
    }

    /// A hash of all that the driver reads.
    ///
    /// # Errors
    /// As [`Plan::of`].
    pub fn fingerprint(&self) -> Result<String, String> {
        Ok(hash(self.plan()?.text().as_bytes()))
    }

    /// Time from a tick of the clock to the base of a round.
    pub fn phase_ns(&self, round: u64) -> u64 {
        let name = self.spec.name.bytes().fold(0, |hash, byte| mix64(hash ^ u64::from(byte)));
        mix64(name ^ round) % TICK_NS
    }

    /// The scenario of a round in which flows start at these times, in nanoseconds from the start of the run.
    ///
    /// # Errors
    /// If tailcut does not know what the case requires.
    pub fn replay(&self, round: usize, starts: &[u64]) -> Result<Scenario, String> {
        let build = || {
            let Round { flows, losses, .. } = &self.rounds[round];
            let mut tree = self.base.clone();
            let rows = flows.iter().zip(starts).map(|(flow, start)| (*start, flow.src.0, flow.dst.0, flow.size));
            tree.merge(listed(rows)?);
            for assignment in &self.spec.own {
                tree.merge(Tree::parse_assignment(assignment)?);
            }
            // Packets of one host never arrive at the same moment.
            let is_shared = flows.iter().any(|flow| flow.src != flows[0].src);
            if is_shared {
                tree.merge(slower_interfaces(&tree, &self.spec)?);
            }
            // Time 0 is a tick of Linux.
            if tree.at("host.transport.tcp.timer_tick").is_some() {
                tree.merge(Tree::parse_assignment("host.transport.tcp.timer_phase=0s")?);
            }
            if !losses.is_empty() {
                tree.merge(Tree::parse("losses", &failures(losses))?);
            }
            Scenario::new(&tree, self.spec.seeds[round], self.spec.folder.as_path())
        };
        build().map_err(|problem: Problem| problem.render(false))
    }
}

/// How much slower the interfaces of hosts are in a replay, as a share.
///
/// At equal times Linux takes events in the order in which their timers were started: a packet that waited behind
/// another one in its interface comes after one that did not. With interfaces that are slower by less than a
/// nanosecond in a thousand packets it does so in tailcut.
const SLOWER: f64 = 8.3e-7;

/// The links from the hosts to their switch, slower by [`SLOWER`].
fn slower_interfaces(tree: &Tree, spec: &Spec) -> Result<Tree, Problem> {
    let scenario = Scenario::new(tree, 1, spec.folder.as_path())?;
    let network = scenario.network();
    let mut text = String::new();
    for (id, port) in network.ports().iter_enumerated() {
        if matches!(port.owner, Node::Host(_)) {
            let rate = (port.rate.as_bps() as f64 * (1.0 - SLOWER)).round();
            let name = network.port_name(id);
            writeln!(text, "[link.\"{name}\"]\nrate = \"{rate}bps\"").expect("a text takes what is written to it");
        }
    }
    Tree::parse("interfaces", &text)
}

/// Links from the hosts to their switch, each longer than the one before it.
fn longer_links(base: &Tree, spec: &Spec) -> Result<Tree, Problem> {
    let scenario = Scenario::new(base, 1, spec.folder.as_path())?;
    let network = scenario.network();
    let mut text = String::new();
    for (id, port) in network.ports().iter_enumerated() {
        if let Node::Host(host) = port.owner {
            let delay = port.delay.as_ps() / 1000 + spec.apart_ns * u64::from(host.0);
            let name = network.port_name(id);
            writeln!(text, "[link.\"{name}\"]\ndelay = \"{delay}ns\"").expect("a text takes what is written to it");
        }
    }
    Tree::parse("links", &text)
}

/// A workload that is a list of flows: start in nanoseconds, sender, receiver and bytes.
fn listed(flows: impl Iterator<Item = (u64, u32, u32, u64)>) -> Result<Tree, Problem> {
    let mut text = "[workload.traffic.replay]\nlist = [\n".to_owned();
    for (start, src, dst, size) in flows {
        writeln!(text, "{{ start = \"{start}ns\", src = {src}, dst = {dst}, size = \"{size}B\" }},")
            .expect("a text takes what is written to it");
    }
    text.push_str("]\n");
    Tree::parse("replay", &text)
}

/// The packets that are lost, as a scenario has them.
fn failures(losses: &[LostPacket]) -> String {
    #[derive(Serialize)]
    struct Failing<'a> {
        failures: Packets<'a>,
    }
    #[derive(Serialize)]
    struct Packets<'a> {
        packets: &'a [LostPacket],
    }
    toml::to_string(&Failing { failures: Packets { packets: losses } }).expect("numbers and texts are TOML")
}

/// Segments whose first transmission is lost in one round.
fn drawn_losses(spec: &Spec, seed: u64, flows: &[(u64, FlowSpec)]) -> Vec<LostPacket> {
    let mut losses = Vec::new();
    for (number, (_, flow)) in flows.iter().enumerate() {
        for segment in 0..flow.size.div_ceil(tailcut_base::MSS_BYTES) {
            let drawn = draw(mix64(seed ^ 0x10_55), (number as u64) << 32 | segment) >> 11;
            if (drawn as f64) < spec.loss * (1_u64 << 53) as f64 {
                losses.push(LostPacket {
                    flow: number as u32,
                    kind: LostKind::Data,
                    segment: Some(segment),
                    times: 1,
                    link: None,
                });
            }
        }
    }
    losses
}

fn draw(seed: u64, of: u64) -> u64 {
    mix64(mix64(seed) ^ of)
}

/// A hash that is stored.
pub fn hash(bytes: &[u8]) -> String {
    let folded = bytes.iter().fold(0, |hash, byte| mix64(hash ^ u64::from(*byte)));
    format!("{folded:016x}")
}
