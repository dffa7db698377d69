//! From a scenario file to its points: every scheme at every combination of swept values with every seed.
//!
//! The layers of a point, each over the one before: the scheme's preset, the scenario, the scheme's own table in the
//! scenario, the chosen settings and swept values, `--set`.

mod settings;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use settings::Settings;
use tailcut_base::Bytes;
use tailcut_sim::config::{from_node, suggest};
use tailcut_sim::{Config, Node, Origin, Preset, Problem, SCHEME_TABLES, Scenario, Value};

use crate::results::{ALL, Axis, Point, SHORT_AND_INCAST};
use crate::runner::shell_word;
use crate::seeding::Seeding;
use crate::size::Size;
use crate::version::{fingerprint, version};

/// Name of the only scheme of a scenario that names none.
const UNNAMED: &str = "scenario";

/// Most points that a run may have: more is a slip.
const MAX_POINTS: usize = 100_000;

/// What the command line adds to a scenario file.
#[derive(Clone, Debug, Default)]
pub struct RunArguments {
    /// `--set path=value`.
    pub set: Vec<String>,
    /// `--seeds`.
    pub seeds: Option<Seeding>,
}

/// One simulation to run.
#[derive(Clone, Debug)]
pub struct PlannedPoint {
    /// What it is called.
    pub point: Point,
    /// How large it is expected to be.
    pub size: Size,
    /// Its scenario, merged.
    node: Arc<Node>,
}

impl PlannedPoint {
    /// The checked scenario of this point.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub fn scenario(&self, base_dir: &Path) -> Result<Scenario, Problem> {
        Scenario::new(&self.node, self.point.seed, base_dir)
    }
}

/// A scenario file, read, merged and checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the scenario; the run folder is called so.
    pub name: String,
    /// What the scenario asks.
    pub title: String,
    /// Folder of the scenario file: files that it names are looked for from there.
    pub base_dir: PathBuf,
    /// The schemes in the order of the scenario.
    pub schemes: Vec<String>,
    /// The swept parameters.
    pub axes: Vec<Axis>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Names of the traffic classes.
    pub classes: Vec<String>,
    /// Sizes at which results tell flows apart, whatever their class; ascending.
    pub size_bounds: Vec<Bytes>,
    /// Every simulation.
    pub points: Vec<PlannedPoint>,
    /// The scenario with everything spelled out; running it gives the same points.
    pub effective: String,
    /// What is not wrong but probably not meant, each with the schemes and values that it is about.
    pub warnings: Vec<String>,
    /// The scenario file, if it is one.
    file: Option<PathBuf>,
    layers: Layers,
}

/// What points are made from.
#[derive(Clone, Debug)]
struct Layers {
    schemes: Vec<Scheme>,
    base: Node,
    settings: Settings,
    axes: Vec<SweptAxis>,
    /// What the command line sets.
    over: Node,
    set: Vec<String>,
}

impl Plan {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// If the file cannot be read, or anything in it is wrong.
    pub fn read(file: &Path, arguments: &RunArguments) -> Result<Plan, Problem> {
        let shown = file.display();
        let bytes = std::fs::read(file).map_err(|e| {
            Problem::new(format!("cannot read the scenario {shown}: {e}"))
                .help("expected the path of a TOML file, such as scenarios/tail.toml")
        })?;
        let text = String::from_utf8(bytes).map_err(|e| {
            Problem::new(format!("{shown} is not text: byte {} is not UTF-8", e.utf8_error().valid_up_to()))
                .help("expected a scenario in TOML")
        })?;
        let stem = file.file_stem().map_or_else(|| "run".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let base_dir = file.parent().map_or_else(PathBuf::new, Path::to_owned);
        let plan = Plan::parse(&shown.to_string(), &text, &stem, &base_dir, arguments)?;
        Ok(Plan { file: Some(file.to_owned()), ..plan })
    }

    /// The same with other seeds.
    ///
    /// # Errors
    /// If what one of them draws does not fit the scenario.
    pub fn with_seeds(&self, seeds: &[u64]) -> Result<Plan, Problem> {
        let mut plan = Plan { seeds: seeds.to_vec(), ..self.clone() };
        (plan.classes, plan.points, plan.warnings) = (Vec::new(), Vec::new(), Vec::new());
        plan.expand()?;
        plan.effective = plan.spell_out()?;
        Ok(plan)
    }

    /// The command that runs `point` and nothing else; `saved` is where the effective scenario stands, for a plan that was
    /// not read from a file.
    pub fn command_for(&self, point: &Point, saved: &Path) -> String {
        let mut sets: Vec<String> =
            self.axes.iter().zip(&point.values).map(|(axis, value)| format!("{}={value}", axis.path)).collect();
        sets.extend(self.layers.set.iter().cloned());
        if self.schemes.len() > 1 {
            sets.push(format!("schemes=[{:?}]", point.scheme));
        }
        sets.push(format!("seeds=[{}]", point.seed));
        let file = self.file.as_deref().unwrap_or(saved);
        let words = ["tailcut".to_owned(), "run".to_owned(), file.display().to_string()];
        let sets = sets.into_iter().flat_map(|set| ["--set".to_owned(), set]);
        words.into_iter().chain(sets).map(|word| shell_word(&word)).collect::<Vec<_>>().join(" ")
    }

    /// Reads a scenario's text; `source` is its name in messages, `stem` the name of a scenario that has none.
    ///
    /// # Errors
    /// If anything in it is wrong.
    pub fn parse(
        source: &str,
        text: &str,
        stem: &str,
        base_dir: &Path,
        arguments: &RunArguments,
    ) -> Result<Plan, Problem> {
        Plan::of_node(Node::parse(source, text)?, stem, base_dir, arguments)
    }

    /// As [`Plan::parse`], of a tree that was read before.
    ///
    /// # Errors
    /// If anything in it is wrong.
    pub fn of_node(mut base: Node, stem: &str, base_dir: &Path, arguments: &RunArguments) -> Result<Plan, Problem> {
        let assignments: Vec<Node> =
            arguments.set.iter().map(|set| Node::parse_assignment(set)).collect::<Result<_, _>>()?;
        let mut over = Node::table();
        for assignment in assignments {
            over.merge(assignment);
        }

        let sweep = base.take("sweep");
        let mut axes = match &sweep {
            Some(sweep) => swept(sweep)?,
            None => Vec::new(),
        };
        // A value that is set is no longer swept.
        axes.retain(|axis| !exists(&over, &axis.path));

        // `--set` may change the keys of the lab as well as those of the simulation.
        let mut lab = Node::table();
        for key in ["name", "title", "schemes", "seeds", "scheme", "size_bounds", settings::DEFINED, settings::CHOSEN] {
            for layer in [&mut base, &mut over] {
                if let Some(node) = layer.take(key) {
                    let key_origin = node.key.clone();
                    lab.merge(Node {
                        value: Value::Table(vec![(key.to_owned(), node)]),
                        origin: key_origin,
                        key: None,
                    });
                }
            }
        }
        let name = text_of(&lab, "name")?.unwrap_or_else(|| stem.to_owned());
        check_name(&name, &lab)?;
        let title = text_of(&lab, "title")?.unwrap_or_else(|| name.clone());
        let seeds = match &arguments.seeds {
            Some(seeding) => seeding.seeds(),
            None => seeds_of(&lab)?,
        };
        unique(&seeds, "seed", lab.get("seeds"))?;
        let schemes = schemes_of(&lab)?;
        let settings = Settings::of(&lab, schemes.iter().map(|(name, ..)| name.as_str()))?;
        for axis in &axes {
            settings.check_axis(&axis.path, &axis.values)?;
        }

        let mut plan = Plan {
            name,
            title,
            base_dir: base_dir.to_owned(),
            schemes: schemes.iter().map(|(name, ..)| name.clone()).collect(),
            axes: axes.iter().map(|axis| axis.named.clone()).collect(),
            seeds,
            classes: Vec::new(),
            size_bounds: size_bounds_of(&lab)?,
            points: Vec::new(),
            effective: String::new(),
            warnings: Vec::new(),
            file: None,
            layers: Layers { schemes, base, settings, axes, over, set: arguments.set.clone() },
        };
        plan.expand()?;
        plan.effective = plan.spell_out()?;
        Ok(plan)
    }

    /// Makes and checks every point. The seeds of one scheme and one combination of values share a network; what each of
    /// them draws is checked by itself.
    fn expand(&mut self) -> Result<(), Problem> {
        let Layers { schemes, base, settings, axes, over, .. } = &self.layers.clone();
        let factors = axes.iter().map(|axis| axis.values.len()).chain([schemes.len(), self.seeds.len()]);
        let count = factors.fold(1, usize::saturating_mul);
        let combinations = count / schemes.len() / self.seeds.len();
        if count > MAX_POINTS {
            return Err(Problem::new(format!("the run would have {count} points"))
                .help(format!("expected at most {MAX_POINTS}")));
        }
        for (scheme, preset, own) in schemes {
            for combination in 0..combinations {
                let mut node = layered(preset, base, own);
                settings.apply_chosen(&mut node, scheme);
                let mut values = Vec::new();
                // The last axis changes fastest.
                let mut rest = combination;
                for axis in axes.iter().rev() {
                    let value = &axis.values[rest % axis.values.len()];
                    rest /= axis.values.len();
                    values.insert(0, value.to_text());
                    if !settings.apply(&mut node, scheme, &axis.path, value) {
                        node.merge(Node::at_path(&axis.path, value.clone(), &axis.origin)?);
                    }
                }
                node.merge(over.clone());
                check_class_names(&node)?;
                let node = Arc::new(node);
                let first = Scenario::new(&node, self.seeds[0], &self.base_dir)?;
                for &seed in &self.seeds[1..] {
                    // A host that is drawn may not fit another that is: a seed can be wrong where the first is right.
                    first.check_seed(seed).map_err(|invalid| Problem::from_invalid(invalid, &node))?;
                }
                self.warn(&first, scheme, &values);
                if self.classes.is_empty() {
                    self.classes = first.classes().to_vec();
                } else if self.classes != first.classes() {
                    return Err(Problem::new("the points have different traffic classes")
                        .help("expected the same `[workload.traffic]` names everywhere"));
                }
                let size = Size::of(&first);
                let content =
                    fingerprint(first.config().to_toml().as_bytes()) ^ files_fingerprint(&node, &self.base_dir);
                for &seed in &self.seeds {
                    let key = point_key(scheme, &values, seed, content);
                    let point = Point { key, scheme: scheme.clone(), values: values.clone(), seed };
                    self.points.push(PlannedPoint { point, size, node: Arc::clone(&node) });
                }
            }
        }
        Ok(())
    }

    fn warn(&mut self, scenario: &Scenario, scheme: &str, values: &[String]) {
        let place = std::iter::once(scheme.to_owned())
            .chain(self.axes.iter().zip(values).map(|(axis, value)| format!("{} = {value}", axis.path)))
            .collect::<Vec<_>>()
            .join(", ");
        let notes = scenario.forecast().notes.clone();
        for warning in scenario.warnings().into_iter().chain(notes) {
            // One line for each kind of warning; it names the first point that it is about.
            let known = self.warnings.iter().any(|w| w.split_once(": ").is_some_and(|(_, rest)| rest == warning));
            if !known {
                self.warnings.push(format!("{place}: {warning}"));
            }
        }
    }

    /// The scenario as a text that gives the same points without presets, defaults or a command line.
    fn spell_out(&self) -> Result<String, Problem> {
        let Layers { schemes, base, settings, over, .. } = &self.layers;
        let mut root = toml::Table::new();
        root.insert("name".to_owned(), self.name.clone().into());
        root.insert("title".to_owned(), self.title.clone().into());
        root.insert("schemes".to_owned(), self.schemes.clone().into());
        let seeds: Vec<toml::Value> = self.seeds.iter().map(|&seed| toml::Value::Integer(seed as i64)).collect();
        root.insert("seeds".to_owned(), seeds.into());
        if !self.size_bounds.is_empty() {
            let bounds: Vec<String> = self.size_bounds.iter().map(Bytes::to_string).collect();
            root.insert("size_bounds".to_owned(), bounds.into());
        }
        // What is chosen once is a part of every scheme; what is swept is defined here.
        let defined = settings.swept(self.axes.iter().map(|axis| axis.path.as_str()));
        if let Some(defined) = defined {
            root.insert(settings::DEFINED.to_owned(), value_of_text(&defined.to_text()));
        }
        let mut sweep = toml::Table::new();
        for axis in &self.axes {
            let values: Vec<toml::Value> = axis.values.iter().map(|text| value_of_text(text)).collect();
            sweep.insert(axis.path.clone(), values.into());
        }
        if !sweep.is_empty() {
            root.insert("sweep".to_owned(), sweep.into());
        }
        let mut tables = toml::Table::new();
        for (name, preset, own) in schemes {
            let mut node = layered(preset, base, own);
            settings.apply_chosen(&mut node, name);
            node.merge(over.clone());
            let config = Config::from_node(&node)?;
            let toml::Value::Table(mut whole) = toml::Value::try_from(&config).expect("a configuration is TOML") else {
                unreachable!("a configuration is a table")
            };
            let mut scheme = toml::Table::new();
            for key in SCHEME_TABLES {
                if let Some(value) = whole.remove(key) {
                    scheme.insert(key.to_owned(), value);
                }
            }
            tables.insert(name.clone(), scheme.into());
            // What is not a scheme's to choose is the same for all.
            for (key, value) in whole {
                root.insert(key, value);
            }
        }
        root.insert("scheme".to_owned(), tables.into());
        Ok(toml::to_string_pretty(&root).expect("a table is TOML"))
    }
}

/// A scheme by its name, the layer below the scenario and the layer above it.
type Scheme = (String, Node, Node);

/// An axis with the place of its key, for messages.
#[derive(Clone, Debug)]
struct SweptAxis {
    path: String,
    values: Vec<Node>,
    origin: Origin,
    named: Axis,
}

fn layered(preset: &Node, base: &Node, own: &Node) -> Node {
    let mut node = preset.clone();
    node.merge(base.clone());
    node.merge(own.clone());
    node
}

/// The axes of a `[sweep]` table; a path may be written with quotes or as nested tables.
fn swept(sweep: &Node) -> Result<Vec<SweptAxis>, Problem> {
    fn walk(node: &Node, prefix: &str, axes: &mut Vec<SweptAxis>) -> Result<(), Problem> {
        for (key, child) in node.entries() {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            let origin = child.key.clone().expect("a key that was read has a place");
            match &child.value {
                Value::Table(_) => walk(child, &path, axes)?,
                Value::Array(values) if !values.is_empty() => {
                    let texts: Vec<String> = values.iter().map(Node::to_text).collect();
                    unique(&texts, "value", Some(child))?;
                    let named = Axis { path: path.clone(), values: texts };
                    axes.push(SweptAxis { path, values: values.clone(), origin, named });
                }
                _ => {
                    return Err(Problem::new(format!("`{path}` is swept over no list of values"))
                        .help("expected a list, such as \"workload.load\" = [0.4, 0.6, 0.8]")
                        .or_at(&origin));
                }
            }
        }
        Ok(())
    }
    let mut axes = Vec::new();
    walk(sweep, "", &mut axes)?;
    Ok(axes)
}

fn exists(node: &Node, path: &str) -> bool {
    path.split('.').try_fold(node, |node, key| node.get(key)).is_some()
}

fn place(problem: Problem, node: Option<&Node>) -> Problem {
    match node.and_then(|node| node.key_or_value()) {
        Some(origin) => problem.or_at(origin),
        None => problem,
    }
}

fn text_of(lab: &Node, key: &str) -> Result<Option<String>, Problem> {
    match lab.get(key) {
        None => Ok(None),
        Some(node) => match node.as_str() {
            Some(text) => Ok(Some(text.to_owned())),
            None => {
                Err(place(Problem::new(format!("`{key}` is not text")).help("expected text in quotes"), Some(node)))
            }
        },
    }
}

/// The name becomes a folder.
fn check_name(name: &str, lab: &Node) -> Result<(), Problem> {
    let fits = !name.is_empty()
        && !name.starts_with('.')
        && name.len() <= 100
        && name.chars().all(|c| c.is_alphanumeric() || "-_.+=@".contains(c));
    if fits {
        return Ok(());
    }
    let problem = Problem::new(format!("`{name}` cannot be the name of a folder"))
        .help("expected letters, digits and `-_.+=@`, such as name = \"tail\"");
    Err(place(problem, lab.get("name")))
}

/// Classes stand in the results beside sets of them.
fn check_class_names(node: &Node) -> Result<(), Problem> {
    for (name, class) in node.get("workload").and_then(|node| node.get("traffic")).map_or(&[][..], Node::entries) {
        let set = match name.as_str() {
            ALL => "all flows",
            SHORT_AND_INCAST => "the flows of the classes `short` and `incast`",
            _ => continue,
        };
        let problem = Problem::new(format!("a class cannot be called `{name}`: results call {set} so"))
            .help("expected another name, such as [workload.traffic.short]");
        return Err(place(problem, Some(class)));
    }
    Ok(())
}

fn seeds_of(lab: &Node) -> Result<Vec<u64>, Problem> {
    let Some(node) = lab.get("seeds") else { return Ok(vec![1]) };
    let wrong = |node: &Node| {
        place(
            Problem::new("this is neither a number of seeds nor a list of them")
                .help("expected seeds = 3 or seeds = [1, 2, 7]"),
            Some(node),
        )
    };
    match &node.value {
        Value::Integer(count) if (1..=1_000_000).contains(count) => Ok((1..=*count as u64).collect()),
        Value::Array(items) if !items.is_empty() => items
            .iter()
            .map(|item| match item.value {
                Value::Integer(seed) => u64::try_from(seed).map_err(|_| wrong(item)),
                _ => Err(wrong(item)),
            })
            .collect(),
        _ => Err(wrong(node)),
    }
}

fn size_bounds_of(lab: &Node) -> Result<Vec<Bytes>, Problem> {
    let Some(node) = lab.get("size_bounds") else { return Ok(Vec::new()) };
    let bounds: Vec<Bytes> = from_node(node)?;
    if bounds.is_sorted_by(|a, b| a < b) {
        return Ok(bounds);
    }
    let problem = Problem::new("the bounds between sizes do not ascend");
    Err(place(problem.help("expected ascending sizes, such as size_bounds = [\"100KB\", \"10MB\"]"), Some(node)))
}

fn unique<T: Ord + std::fmt::Display>(items: &[T], what: &str, node: Option<&Node>) -> Result<(), Problem> {
    let mut seen = std::collections::BTreeSet::new();
    match items.iter().find(|item| !seen.insert(*item)) {
        Some(item) => Err(place(Problem::new(format!("the {what} `{item}` is there twice")), node)),
        None => Ok(()),
    }
}

fn schemes_of(lab: &Node) -> Result<Vec<Scheme>, Problem> {
    let own_tables = lab.get("scheme");
    let own_names: Vec<&str> =
        own_tables.map(|node| node.entries().iter().map(|(name, _)| name.as_str()).collect()).unwrap_or_default();
    let names: Vec<(String, Option<&Node>)> = match lab.get("schemes") {
        Some(Node { value: Value::Array(items), .. }) if !items.is_empty() => items
            .iter()
            .map(|item| match item.as_str() {
                Some(name) => Ok((name.to_owned(), Some(item))),
                None => Err(place(
                    Problem::new("this is not the name of a scheme").help("expected text, such as \"dctcp\""),
                    Some(item),
                )),
            })
            .collect::<Result<_, _>>()?,
        Some(node) => {
            return Err(place(
                Problem::new("`schemes` is not a list of names").help("expected schemes = [\"dctcp\", \"pias\"]"),
                Some(node),
            ));
        }
        None if !own_names.is_empty() => own_names.iter().map(|name| ((*name).to_owned(), None)).collect(),
        None => return Ok(vec![(UNNAMED.to_owned(), Node::table(), Node::table())]),
    };
    let bare: Vec<&String> = names.iter().map(|(name, _)| name).collect();
    unique(&bare, "scheme", lab.get("schemes"))?;
    names
        .into_iter()
        .map(|(name, item)| match own_tables.and_then(|tables| tables.get(&name)) {
            Some(table) => own_scheme(name, table),
            None => match Preset::layer(&name) {
                Ok(layer) => Ok((name, layer, Node::table())),
                Err(problem) => {
                    let known: Vec<&str> = own_names.iter().copied().chain(Preset::names()).collect();
                    let problem = if name.contains('@') || own_names.is_empty() {
                        problem
                    } else {
                        Problem::new(problem.message().to_owned()).help(suggest(&name, &known))
                    };
                    Err(place(problem, item))
                }
            },
        })
        .collect()
}

/// A scheme that the scenario itself defines: a preset, if it names one, and tables on top of the scenario.
fn own_scheme(name: String, table: &Node) -> Result<Scheme, Problem> {
    let mut own = table.clone();
    let preset = match own.take("preset") {
        Some(node) => match node.as_str() {
            Some(reference) => Preset::layer(reference).map_err(|problem| place(problem, Some(&node)))?,
            None => return Err(place(Problem::new("`preset` is not the name of a scheme"), Some(&node))),
        },
        None => Node::table(),
    };
    for (key, child) in own.entries() {
        if !SCHEME_TABLES.contains(&key.as_str()) {
            let mut words = SCHEME_TABLES.to_vec();
            words.push("preset");
            let problem = Problem::new(format!("`{key}` is not a scheme's to set")).help(suggest(key, &words));
            return Err(match &child.key {
                Some(origin) => problem.or_at(origin),
                None => problem,
            });
        }
    }
    Ok((name, preset, own))
}

/// A value as `Node::to_text` wrote it, back as TOML.
fn value_of_text(text: &str) -> toml::Value {
    match format!("value = {text}").parse::<toml::Table>() {
        Ok(mut table) => table.remove("value").unwrap_or_else(|| text.into()),
        Err(_) => text.into(),
    }
}

/// Name of a point's folder: readable, and different for different content.
fn point_key(scheme: &str, values: &[String], seed: u64, content: u64) -> String {
    let identity = format!("{scheme}\n{values:?}\n{seed}\n{content:016x}\n{}", version());
    let readable: String = std::iter::once(scheme)
        .chain(values.iter().map(String::as_str))
        .map(|part| {
            part.chars().map(|c| if c.is_alphanumeric() || ".-@".contains(c) { c } else { '_' }).collect::<String>()
        })
        .collect::<Vec<_>>()
        .join("-");
    let short: String = readable.chars().take(80).collect();
    format!("{short}-s{seed}-{:08x}", fingerprint(identity.as_bytes()) as u32)
}

/// The bytes of the files that a workload names count as a part of the scenario.
fn files_fingerprint(node: &Node, base_dir: &Path) -> u64 {
    fn walk(node: &Node, base_dir: &Path, state: &mut u64) {
        if let Some(path) = node.get("path").and_then(Node::as_str)
            && let Ok(bytes) = std::fs::read(base_dir.join(path))
        {
            *state = tailcut_base::mix64(*state ^ fingerprint(&bytes));
        }
        for (_, child) in node.entries() {
            walk(child, base_dir, state);
        }
    }
    let mut state = 0;
    walk(node.nearest("workload"), base_dir, &mut state);
    state
}

#[cfg(test)]
mod tests;
