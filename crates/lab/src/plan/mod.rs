//! From a scenario file to its points: every scheme at every combination of swept values with every seed.
//!
//! The layers of a point, each over the one before:
//! 1. what the scheme takes where nobody says anything (the table `[defaults]` of its preset),
//! 2. what is said of all schemes: the scenario, its chosen settings, the swept values, `--set PATH=...`,
//! 3. what makes the scheme this scheme (the rest of its preset),
//! 4. what is said of this scheme by its name: the scenario's `[scheme.NAME]`, that of the chosen and of the swept
//!    settings, `--set scheme.NAME.PATH=...`.

mod class_sets;
mod differences;
mod documented;
mod keys;
mod names;
mod place;
mod point_key;
mod schemes;
mod settings;
mod sweep;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tailcut_base::Bytes;
use tailcut_results::{Axis, ClassSet, FidelityError, MeasuredError, Point};
use tailcut_sim::config::suggest;
use tailcut_sim::{
    Config, DEFAULTS, Files, Networks, Origin, Problem, SCHEME_TABLES, Scenario, Scheme, Source, Tree, pinned,
};

pub use self::differences::{Difference, Differences};
pub use self::documented::{RunKeys, scenario_schema};
use self::place::{at_key, unique};
use self::point_key::point_key;
use self::schemes::RunScheme;
use self::settings::Settings;
use self::sweep::SweptAxis;
use crate::command::shell_word;
use crate::fidelity;
use crate::inputs;
use crate::seeds::SeedChoice;
use crate::size::Size;
use crate::version::fingerprint;

/// The table of a scenario that asks for a placement.
pub(crate) const PLACEMENT: &str = "placement";

/// Most points that a run may have. A sweep with more of them is a mistake rather than a wish.
const MAX_POINTS: usize = 100_000;

/// What the command line adds to a scenario file.
#[derive(Clone, Debug, Default)]
pub struct RunArguments {
    /// `--set path=value`.
    pub set: Vec<String>,
    /// `--seeds`.
    pub seeds: Option<SeedChoice>,
}

/// One simulation to run.
#[derive(Clone, Debug)]
pub struct PlannedPoint {
    /// Which one it is.
    pub point: Point,
    /// How large it is expected to be.
    pub size: Size,
    /// A fingerprint of its configuration and of the files that it names. With the seed and the program it decides the
    /// outcome.
    pub content: u64,
    /// How far it is from packets, of a point without them for which that was measured by itself.
    measured: Option<MeasuredError>,
    /// Its scenario, merged.
    tree: Arc<Tree>,
    /// The files that it names, as they were when the plan was made.
    files: Files,
}

impl PlannedPoint {
    /// The checked scenario of this point.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub fn scenario(&self) -> Result<Scenario, Problem> {
        self.scenario_in(&mut Networks::default())
    }

    /// The same, in one of these networks of points of its plan if it is built from the same.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub fn scenario_in(&self, networks: &mut Networks) -> Result<Scenario, Problem> {
        Scenario::sharing(&self.tree, self.point.seed, &self.files, networks)
    }

    /// The same without a placement, if it asks for one.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub(crate) fn unplaced(&self) -> Result<Scenario, Problem> {
        let mut tree = Tree::clone(&self.tree);
        tree.take(PLACEMENT);
        Scenario::new(&tree, self.point.seed, &self.files)
    }

    /// The same, where delays are attributed: what happens in it is the same.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub fn attributed(&self) -> Result<Scenario, Problem> {
        let mut tree = Tree::clone(&self.tree);
        tree.merge(Tree::parse_assignment("record.attribution=true")?);
        Scenario::new(&tree, self.point.seed, &self.files)
    }

    /// The point with this scenario, merged.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub(crate) fn of_tree(point: Point, tree: Tree, files: Files) -> Result<PlannedPoint, Problem> {
        let scenario = Scenario::new(&tree, point.seed, &files)?;
        let (size, content) = (Size::of(&scenario), content_of(&scenario, &files));
        Ok(PlannedPoint { point, size, content, measured: None, tree: Arc::new(tree), files })
    }

    /// Its scenario, merged.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The files that it names.
    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    /// How far it is from packets in the whole network, if it is not one of them.
    pub(crate) fn fidelity_error(&self, scenario: &Scenario) -> Option<FidelityError> {
        fidelity::error_of(&self.point.scheme, scenario, self.measured)
    }

    /// The same with an error that was measured for it. Its results are others than without.
    pub(crate) fn set_measured(&mut self, measured: MeasuredError) {
        self.measured = Some(measured);
        let content = self.content ^ fingerprint(format!("{measured:?}").as_bytes());
        self.point.key = point_key(&self.point.scheme, &self.point.values, self.point.seed, content);
    }
}

/// A fingerprint of a scenario with the content of the files that it names, whatever they are called.
fn content_of(scenario: &Scenario, files: &Files) -> u64 {
    let mut configuration = scenario.asked().to_table();
    inputs::by_content(&mut configuration, files);
    let text = toml::to_string_pretty(&configuration).expect("a table is TOML");
    // PINNED: what stored results name has the fingerprint that they were stored with.
    fingerprint(pinned::without_pins(&text).as_bytes())
}

/// A scenario file, read, merged and checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the scenario; the run folder is called so.
    pub name: String,
    /// What the scenario asks.
    pub title: String,
    /// The files that the scenario names, looked for from its folder. They are read when the plan is made and never
    /// again: what a point is called and what is simulated come from the same bytes.
    pub files: Files,
    /// The schemes in the order of the scenario, as results call them: `dctcp`, and `dctcp*` where the scenario changes
    /// what DCTCP is.
    pub schemes: Vec<String>,
    /// What is different from their presets, for each of them.
    pub differences: Vec<Differences>,
    /// The swept parameters.
    pub axes: Vec<Axis>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Names of the traffic classes.
    pub classes: Vec<String>,
    /// Sets of these classes.
    pub class_sets: Vec<ClassSet>,
    /// Sizes at which results tell flows apart, whatever their class; ascending.
    pub size_bounds: Vec<Bytes>,
    /// Every simulation.
    pub points: Vec<PlannedPoint>,
    /// The scenario with everything spelled out; running it gives the same points.
    pub effective: String,
    /// What is not wrong but probably not meant, each with the scheme and the values of the first point that it is
    /// about.
    pub warnings: Vec<String>,
    /// The scenario file, if it is one.
    file: Option<PathBuf>,
    layers: Layers,
}

/// What the command line sets.
#[derive(Clone, Debug)]
struct Over {
    /// For all schemes.
    surroundings: Tree,
    /// For single schemes: a table by their names.
    schemes: Tree,
}

/// What points are made from.
#[derive(Clone, Debug)]
struct Layers {
    schemes: Vec<RunScheme>,
    /// The scenario: several layers if it is built on another one, the lowest first.
    scenario: Vec<Tree>,
    settings: Settings,
    axes: Vec<SweptAxis>,
    /// The declaration of sets of classes, which is checked when the classes are known.
    class_sets: Option<Tree>,
    over: Over,
    /// The assignments of the command line as they were given, to be shown in commands.
    set: Vec<String>,
    /// What of all this is not used.
    warnings: Vec<String>,
}

impl Plan {
    /// Whether another plan has the same simulations in the same order, and statistics of the same sets of flows.
    pub fn is_as(&self, other: &Plan) -> bool {
        let of = |plan: &Plan| -> Vec<(u64, u64)> {
            plan.points.iter().map(|planned| (planned.content, planned.point.seed)).collect()
        };
        of(self) == of(other) && self.class_sets == other.class_sets
    }

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
        (plan.classes, plan.points, plan.warnings) = (Vec::new(), Vec::new(), self.layers.warnings.clone());
        plan.expand()?;
        plan.effective = plan.spell_out()?;
        Ok(plan)
    }

    /// The same with further swept parameters, of which the last changes fastest: their paths and values. A parameter
    /// that is swept already is swept over these values instead.
    ///
    /// # Errors
    /// If a value does not fit the scenario, or no scheme takes it.
    pub(crate) fn with_axes(&self, axes: &[Axis]) -> Result<Plan, Problem> {
        let mut plan = self.clone();
        for axis in axes {
            plan.layers.axes.retain(|swept| swept.axis.path != axis.path);
            let text = format!("{} = {:?}", axis.path, axis.values);
            let source = Arc::new(Source { name: "the search".to_owned(), text });
            let origin = Origin { range: 0..axis.path.len(), source };
            let value = |text: &String| Tree { origin: Some(origin.clone()), ..Tree::text(text) };
            let values = axis.values.iter().map(value).collect();
            plan.layers.axes.push(SweptAxis { axis: axis.clone(), values, origin });
        }
        plan.axes = plan.layers.axes.iter().map(|swept| swept.axis.clone()).collect();
        plan.with_seeds(&self.seeds)
    }

    /// The first scheme of which the value at this path is a part, by its preset or by what the scenario says of it by
    /// its name, so that no sweep over all schemes changes it.
    pub(crate) fn keeper_of(&self, path: &str) -> Option<&str> {
        let keeps =
            |scheme: &&RunScheme| [&scheme.scheme.identity, &scheme.own].iter().any(|of| sweep::exists(of, path));
        self.layers.schemes.iter().find(keeps).map(|scheme| scheme.name.as_str())
    }

    /// Whether the command line sets this parameter, so that it cannot be swept.
    pub(crate) fn is_set(&self, path: &str) -> bool {
        let Over { surroundings, schemes } = &self.layers.over;
        let own = path.strip_prefix("scheme.").is_some_and(|path| sweep::exists(schemes, path));
        own || sweep::exists(surroundings, path)
    }

    /// The command that runs `point` and nothing else; `saved` is where the effective scenario stands, for a plan that
    /// was not read from a file.
    pub fn command_for(&self, point: &Point, saved: &Path) -> String {
        let mut sets: Vec<String> =
            self.axes.iter().zip(&point.values).map(|(axis, value)| format!("{}={value}", axis.path)).collect();
        sets.extend(self.layers.set.iter().cloned());
        if self.schemes.len() > 1 {
            let scheme = self.layers.schemes.iter().find(|scheme| scheme.label == point.scheme);
            sets.push(format!("schemes=[{:?}]", scheme.map_or(&point.scheme, |scheme| &scheme.name)));
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
        Plan::of_layers(vec![Tree::parse(source, text)?], stem, base_dir, arguments)
    }

    /// As [`Plan::parse`], of the layers of a scenario that were read before, the lowest first.
    ///
    /// # Errors
    /// If anything in it is wrong.
    pub fn of_layers(
        scenario: Vec<Tree>,
        stem: &str,
        base_dir: &Path,
        arguments: &RunArguments,
    ) -> Result<Plan, Problem> {
        let mut plan = Plan::without_points(scenario, stem, base_dir, arguments)?;
        plan.expand()?;
        plan.effective = plan.spell_out()?;
        Ok(plan)
    }

    /// [`PlannedPoint::content`] of the points of the first seed that [`Plan::of_layers`] would plan, in their order.
    /// What of the scenario is void, and what other seeds draw, is not looked at.
    ///
    /// # Errors
    /// If anything in it is wrong.
    pub fn contents_of_layers(scenario: Vec<Tree>, stem: &str, base_dir: &Path) -> Result<Vec<u64>, Problem> {
        let plan = Plan::without_points(scenario, stem, base_dir, &RunArguments::default())?;
        let combinations = plan.combinations()?;
        let mut contents = Vec::new();
        let mut networks = Networks::default();
        for scheme in &plan.layers.schemes {
            for combination in 0..combinations {
                let (_, tree) = plan.layers.point(scheme, combination)?;
                let scenario = Scenario::sharing(&tree, plan.seeds[0], &plan.files, &mut networks)?;
                contents.push(content_of(&scenario, &plan.files));
            }
        }
        Ok(contents)
    }

    /// The plan before its points are made.
    fn without_points(
        mut scenario: Vec<Tree>,
        stem: &str,
        base_dir: &Path,
        arguments: &RunArguments,
    ) -> Result<Plan, Problem> {
        let assignments: Vec<Tree> =
            arguments.set.iter().map(|set| Tree::parse_assignment(set)).collect::<Result<_, _>>()?;
        names::check_set(&arguments.set, &assignments, &scenario)?;
        let mut surroundings = Tree::layered(&assignments);
        let by_name = surroundings.take(schemes::DEFINED).unwrap_or_else(Tree::table);
        let axes = sweep::take(&mut scenario, &surroundings)?;
        names::check_axes(&axes, &assignments, &scenario)?;
        let keys = keys::take(scenario.iter_mut().chain([&mut surroundings]));
        let over = Over { surroundings, schemes: by_name };
        let name = keys::name(&keys, stem)?;
        let title = keys::text(&keys, "title")?.unwrap_or_else(|| name.clone());
        let seeds = match &arguments.seeds {
            Some(choice) => choice.seeds(),
            None => keys::seeds(&keys)?,
        };
        // What the command line chose stands in no file.
        unique(&seeds, "seed", keys.get("seeds").filter(|_| arguments.seeds.is_none()))?;
        let schemes = schemes::chosen(&keys)?;
        over.check(&schemes)?;
        let mut warnings = schemes::warnings(&keys, &schemes);
        let settings = Settings::of(&keys, schemes.iter().map(|scheme| scheme.name.as_str()))?;
        for swept in &axes {
            settings.check_axis(&swept.axis.path, &swept.values)?;
        }
        warnings.extend(settings.warnings(&axes, &arguments.set));

        Ok(Plan {
            name,
            title,
            files: inputs::files(keys.get(inputs::TABLE), base_dir)?,
            schemes: Vec::new(),
            differences: Vec::new(),
            axes: axes.iter().map(|swept| swept.axis.clone()).collect(),
            seeds,
            classes: Vec::new(),
            class_sets: Vec::new(),
            size_bounds: keys::size_bounds(&keys)?,
            points: Vec::new(),
            effective: String::new(),
            warnings: warnings.clone(),
            file: None,
            layers: Layers {
                schemes,
                scenario,
                settings,
                axes,
                class_sets: keys.get(class_sets::DECLARED).cloned(),
                over,
                set: arguments.set.clone(),
                warnings,
            },
        })
    }

    /// How many combinations of swept values there are.
    fn combinations(&self) -> Result<usize, Problem> {
        let combinations = self.layers.axes.iter().map(|swept| swept.values.len()).fold(1, usize::saturating_mul);
        let points =
            [self.layers.schemes.len(), self.seeds.len()].into_iter().fold(combinations, usize::saturating_mul);
        if points > MAX_POINTS {
            return Err(Problem::new(format!("the run would have {points} points"))
                .help(format!("expected at most {MAX_POINTS}")));
        }
        Ok(combinations)
    }

    /// Makes and checks every point. The seeds of one scheme and one combination of values share a network; what each
    /// of them draws is checked by itself.
    fn expand(&mut self) -> Result<(), Problem> {
        let combinations = self.combinations()?;
        self.label(combinations)?;
        let Layers { schemes, class_sets, .. } = &self.layers.clone();
        let mut networks = Networks::default();
        for scheme in schemes {
            for combination in 0..combinations {
                let (values, tree) = self.layers.point(scheme, combination)?;
                class_sets::check_class_names(&tree)?;
                let tree = Arc::new(tree);
                let first = Scenario::sharing(&tree, self.seeds[0], &self.files, &mut networks)?;
                for &seed in &self.seeds[1..] {
                    // Some scenarios draw hosts at random, and two hosts that a seed draws may not fit each other, so
                    // that the scenario is invalid for one seed and valid for another.
                    first.check_seed(seed).map_err(|invalid| Problem::from_invalid(invalid, &tree))?;
                }
                self.warn(&first, &scheme.label, &values);
                if self.classes.is_empty() {
                    self.classes = first.classes().to_vec();
                    self.class_sets = class_sets::of(class_sets.as_ref(), &self.classes, &self.size_bounds)?;
                } else if self.classes != first.classes() {
                    return Err(Problem::new("the points have different traffic classes")
                        .help("expected the same `[workload.traffic]` names everywhere"));
                }
                let size = Size::of(&first);
                let content = content_of(&first, &self.files);
                for &seed in &self.seeds {
                    let key = point_key(&scheme.label, &values, seed, content);
                    let point = Point { key, scheme: scheme.label.clone(), values: values.clone(), seed };
                    self.points.push(PlannedPoint {
                        point,
                        size,
                        content,
                        measured: None,
                        tree: Arc::clone(&tree),
                        files: self.files.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Finds what each scheme is called, what is different from its preset, and what of the scenario is void.
    fn label(&mut self, combinations: usize) -> Result<(), Problem> {
        let found = differences::find(&mut self.layers, combinations)?;
        self.schemes = self.layers.schemes.iter().map(|scheme| scheme.label.clone()).collect();
        self.differences = found.of_schemes;
        self.warnings.extend(found.warnings);
        Ok(())
    }

    /// A scheme at these swept values, as messages name it: `dctcp, workload.load = 0.4`.
    pub fn in_words(&self, scheme: &str, values: &[String]) -> String {
        let values = self.axes.iter().zip(values).map(|(axis, value)| format!("{} = {value}", axis.path));
        std::iter::once(scheme.to_owned()).chain(values).collect::<Vec<_>>().join(", ")
    }

    fn warn(&mut self, scenario: &Scenario, scheme: &str, values: &[String]) {
        let point = self.in_words(scheme, values);
        let notes = scenario.forecast().notes.clone();
        for warning in scenario.warnings().into_iter().chain(notes) {
            // A warning that several points give is shown once, with the first of them.
            let known = self.warnings.iter().any(|w| w.split_once(": ").is_some_and(|(_, rest)| rest == warning));
            if !known {
                self.warnings.push(format!("{point}: {warning}"));
            }
        }
    }

    /// The scenario as a text that gives the same points without presets, defaults or a command line.
    fn spell_out(&self) -> Result<String, Problem> {
        let Layers { schemes, settings, over, .. } = &self.layers;
        let mut root = toml::Table::new();
        root.insert("name".to_owned(), self.name.clone().into());
        root.insert("title".to_owned(), self.title.clone().into());
        let names: Vec<String> = schemes.iter().map(|scheme| scheme.name.clone()).collect();
        root.insert(schemes::CHOSEN.to_owned(), names.into());
        let seeds: Vec<toml::Value> = self.seeds.iter().map(|&seed| toml::Value::Integer(seed as i64)).collect();
        root.insert("seeds".to_owned(), seeds.into());
        if !self.size_bounds.is_empty() {
            let bounds: Vec<String> = self.size_bounds.iter().map(Bytes::to_string).collect();
            root.insert("size_bounds".to_owned(), bounds.into());
        }
        if !self.class_sets.is_empty() {
            let sets = self.class_sets.iter().map(|set| (set.name.clone(), set.classes.clone().into()));
            root.insert(class_sets::DECLARED.to_owned(), sets.collect::<toml::Table>().into());
        }
        // Settings that hold for every point become a part of every scheme; those that are swept over are defined here.
        let defined = settings.spelled_out(over, self.axes.iter().map(|axis| axis.path.as_str()));
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
        for scheme in schemes {
            let around = self.layers.around(scheme);
            // A scheme with the name of a preset is that preset again when this is read: what is changed by its name
            // stays above it, and shows in its label.
            let is_preset = scheme.has_name_of_preset();
            let by_name = if is_preset { &[] } else { &around.by_name[..] };
            let config = Config::from_tree(&scheme.scheme.in_scenario(&around.surroundings, by_name))?;
            let mut whole = config.to_table();
            let mut defaults = toml::Table::new();
            for key in SCHEME_TABLES {
                if let Some(value) = whole.remove(key) {
                    defaults.insert(key.to_owned(), value);
                }
            }
            // Swept values lie between what a scheme takes where nobody says anything and what makes it this scheme.
            let above = Tree::layered(std::iter::once(&scheme.scheme.identity).chain(around.by_name.iter().copied()));
            let mut own: toml::Table = above.to_toml().parse().expect("it was written as TOML");
            own.insert(DEFAULTS.to_owned(), defaults.into());
            if let Some(without) = scheme.without.as_ref().filter(|_| is_preset) {
                own.insert(schemes::WITHOUT.to_owned(), value_of_text(&without.to_text()));
            }
            tables.insert(scheme.name.clone(), own.into());
            // The other keys are none that a scheme can choose, and therefore the same for all schemes.
            for (key, value) in whole {
                root.insert(key, value);
            }
        }
        root.insert(schemes::DEFINED.to_owned(), tables.into());
        Ok(toml::to_string_pretty(&root).expect("a table is TOML"))
    }
}

impl Over {
    /// Checks what the command line says of single schemes.
    fn check(&self, schemes: &[RunScheme]) -> Result<(), Problem> {
        for (name, tables) in self.schemes.entries() {
            if schemes.iter().all(|scheme| scheme.name != *name) {
                let known: Vec<&str> = schemes.iter().map(|scheme| scheme.name.as_str()).collect();
                let problem = Problem::new(format!("the run has no scheme `{name}`")).help(suggest(name, &known));
                return Err(at_key(problem, tables));
            }
            schemes::check_tables(tables, &[])?;
        }
        Ok(())
    }
}

/// The layers of one scheme but its own two: what is said of all schemes, and what of this one, the lowest first.
#[derive(Default)]
struct Around<'a> {
    surroundings: Vec<&'a Tree>,
    by_name: Vec<&'a Tree>,
}

impl<'a> Around<'a> {
    fn add(&mut self, (all, own): (&'a Tree, Option<&'a Tree>)) {
        self.surroundings.push(all);
        self.by_name.extend(own);
    }

    fn tree(&self, scheme: &Scheme) -> Tree {
        scheme.in_scenario(&self.surroundings, &self.by_name)
    }
}

impl Layers {
    /// The layers around a scheme, without swept values.
    fn around<'a>(&'a self, scheme: &'a RunScheme) -> Around<'a> {
        self.around_with(scheme, &[])
    }

    /// The layers around a scheme with a value of each axis.
    fn around_with<'a>(&'a self, scheme: &'a RunScheme, swept: &'a [SweptLayer]) -> Around<'a> {
        let mut around = Around::default();
        self.scenario.iter().for_each(|layer| around.add((layer, None)));
        around.by_name.push(&scheme.own);
        self.settings.chosen(&scheme.name).for_each(|layers| around.add(layers));
        swept.iter().for_each(|layer| around.add((&layer.all, layer.own.as_ref())));
        around.add((&self.over.surroundings, self.over.schemes.get(&scheme.name)));
        around
    }

    /// The values of the axes in a combination, and the layer of each. The last axis changes fastest.
    fn swept(&self, scheme: &RunScheme, combination: usize) -> Result<(Vec<String>, Vec<SweptLayer>), Problem> {
        let mut rest = combination;
        let (mut values, mut layers) = (Vec::new(), Vec::new());
        for swept in self.axes.iter().rev() {
            let (path, value) = (&swept.axis.path, &swept.values[rest % swept.values.len()]);
            rest /= swept.values.len();
            values.insert(0, value.to_text());
            let layer = match self.settings.swept(&scheme.name, path, value) {
                Some((all, own)) => SweptLayer { all: all.clone(), own: own.cloned() },
                None => {
                    let mut all = Tree::at_path(path, value.clone(), &swept.origin)?;
                    let own = all.take(schemes::DEFINED).and_then(|mut schemes| schemes.take(&scheme.name));
                    SweptLayer { all, own }
                }
            };
            layers.insert(0, layer);
        }
        Ok((values, layers))
    }

    /// The values of a point, and its scenario, merged.
    fn point(&self, scheme: &RunScheme, combination: usize) -> Result<(Vec<String>, Tree), Problem> {
        let (values, swept) = self.swept(scheme, combination)?;
        Ok((values, self.around_with(scheme, &swept).tree(&scheme.scheme)))
    }
}

/// The layers of one value of an axis.
struct SweptLayer {
    /// What it says of all schemes.
    all: Tree,
    /// What it says of the scheme in question by its name.
    own: Option<Tree>,
}

/// A value as `Tree::to_text` wrote it, back as TOML.
fn value_of_text(text: &str) -> toml::Value {
    match format!("value = {text}").parse::<toml::Table>() {
        Ok(mut table) => table.remove("value").unwrap_or_else(|| text.into()),
        Err(_) => text.into(),
    }
}

#[cfg(test)]
mod tests;
