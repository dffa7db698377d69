//! From a scenario file to its points: every scheme at every combination of swept values with every seed.
//!
//! The layers of a point, each over the one before: the scheme's preset, the scenario, the scheme's own table in the
//! scenario, the chosen settings and swept values, `--set`.

mod class_sets;
mod keys;
mod place;
mod point_key;
mod schemes;
mod settings;
mod sweep;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tailcut_base::Bytes;
use tailcut_results::{Axis, ClassSet, Point};
use tailcut_sim::{Config, Problem, SCHEME_TABLES, Scenario, Tree};

use self::place::unique;
use self::point_key::{files_fingerprint, point_key};
use self::schemes::Scheme;
use self::settings::Settings;
use self::sweep::SweptAxis;
use crate::command::shell_word;
use crate::seeds::SeedChoice;
use crate::size::Size;
use crate::version::fingerprint;

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
    /// Its scenario, merged.
    tree: Arc<Tree>,
}

impl PlannedPoint {
    /// The checked scenario of this point.
    ///
    /// # Errors
    /// If the scenario is wrong.
    pub fn scenario(&self, base_dir: &Path) -> Result<Scenario, Problem> {
        Scenario::new(&self.tree, self.point.seed, base_dir)
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

/// What points are made from.
#[derive(Clone, Debug)]
struct Layers {
    schemes: Vec<Scheme>,
    scenario: Tree,
    settings: Settings,
    axes: Vec<SweptAxis>,
    /// The declaration of sets of classes, which is checked when the classes are known.
    class_sets: Option<Tree>,
    /// The layer that the command line sets.
    over: Tree,
    /// The assignments of the command line as they were given, to be shown in commands.
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

    /// The command that runs `point` and nothing else; `saved` is where the effective scenario stands, for a plan that
    /// was not read from a file.
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
        Plan::of_tree(Tree::parse(source, text)?, stem, base_dir, arguments)
    }

    /// As [`Plan::parse`], of a tree that was read before.
    ///
    /// # Errors
    /// If anything in it is wrong.
    pub fn of_tree(mut scenario: Tree, stem: &str, base_dir: &Path, arguments: &RunArguments) -> Result<Plan, Problem> {
        let assignments: Vec<Tree> =
            arguments.set.iter().map(|set| Tree::parse_assignment(set)).collect::<Result<_, _>>()?;
        let mut over = Tree::table();
        for assignment in assignments {
            over.merge(assignment);
        }
        let axes = sweep::take(&mut scenario, &over)?;
        let keys = keys::take(&mut scenario, &mut over);
        let name = keys::name(&keys, stem)?;
        let title = keys::text(&keys, "title")?.unwrap_or_else(|| name.clone());
        let seeds = match &arguments.seeds {
            Some(choice) => choice.seeds(),
            None => keys::seeds(&keys)?,
        };
        unique(&seeds, "seed", keys.get("seeds"))?;
        let schemes = schemes::chosen(&keys)?;
        let settings = Settings::of(&keys, schemes.iter().map(|scheme| scheme.name.as_str()))?;
        for swept in &axes {
            settings.check_axis(&swept.axis.path, &swept.values)?;
        }

        let mut plan = Plan {
            name,
            title,
            base_dir: base_dir.to_owned(),
            schemes: schemes.iter().map(|scheme| scheme.name.clone()).collect(),
            axes: axes.iter().map(|swept| swept.axis.clone()).collect(),
            seeds,
            classes: Vec::new(),
            class_sets: Vec::new(),
            size_bounds: keys::size_bounds(&keys)?,
            points: Vec::new(),
            effective: String::new(),
            warnings: Vec::new(),
            file: None,
            layers: Layers {
                schemes,
                scenario,
                settings,
                axes,
                class_sets: keys.get(class_sets::DECLARED).cloned(),
                over,
                set: arguments.set.clone(),
            },
        };
        plan.expand()?;
        plan.effective = plan.spell_out()?;
        Ok(plan)
    }

    /// Makes and checks every point. The seeds of one scheme and one combination of values share a network; what each
    /// of them draws is checked by itself.
    fn expand(&mut self) -> Result<(), Problem> {
        let Layers { schemes, settings, axes, class_sets, over, .. } = &self.layers.clone();
        let factors = axes.iter().map(|swept| swept.values.len()).chain([schemes.len(), self.seeds.len()]);
        let count = factors.fold(1, usize::saturating_mul);
        let combinations = count / schemes.len() / self.seeds.len();
        if count > MAX_POINTS {
            return Err(Problem::new(format!("the run would have {count} points"))
                .help(format!("expected at most {MAX_POINTS}")));
        }
        for scheme in schemes {
            for combination in 0..combinations {
                let mut tree = self.layers.of_scheme(scheme);
                let mut values = Vec::new();
                // The last axis changes fastest.
                let mut rest = combination;
                for swept in axes.iter().rev() {
                    let (path, value) = (&swept.axis.path, &swept.values[rest % swept.values.len()]);
                    rest /= swept.values.len();
                    values.insert(0, value.to_text());
                    if !settings.apply(&mut tree, &scheme.name, path, value) {
                        tree.merge(Tree::at_path(path, value.clone(), &swept.origin)?);
                    }
                }
                tree.merge(over.clone());
                class_sets::check_class_names(&tree)?;
                let tree = Arc::new(tree);
                let first = Scenario::new(&tree, self.seeds[0], &self.base_dir)?;
                for &seed in &self.seeds[1..] {
                    // Some scenarios draw hosts at random, and two hosts that a seed draws may not fit each other, so
                    // that the scenario is invalid for one seed and valid for another.
                    first.check_seed(seed).map_err(|invalid| Problem::from_invalid(invalid, &tree))?;
                }
                self.warn(&first, &scheme.name, &values);
                if self.classes.is_empty() {
                    self.classes = first.classes().to_vec();
                    self.class_sets = class_sets::of(class_sets.as_ref(), &self.classes, &self.size_bounds)?;
                } else if self.classes != first.classes() {
                    return Err(Problem::new("the points have different traffic classes")
                        .help("expected the same `[workload.traffic]` names everywhere"));
                }
                let size = Size::of(&first);
                let content =
                    fingerprint(first.config().to_toml().as_bytes()) ^ files_fingerprint(&tree, &self.base_dir);
                for &seed in &self.seeds {
                    let key = point_key(&scheme.name, &values, seed, content);
                    let point = Point { key, scheme: scheme.name.clone(), values: values.clone(), seed };
                    self.points.push(PlannedPoint { point, size, content, tree: Arc::clone(&tree) });
                }
            }
        }
        Ok(())
    }

    fn warn(&mut self, scenario: &Scenario, scheme: &str, values: &[String]) {
        let point = std::iter::once(scheme.to_owned())
            .chain(self.axes.iter().zip(values).map(|(axis, value)| format!("{} = {value}", axis.path)))
            .collect::<Vec<_>>()
            .join(", ");
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
        root.insert(schemes::CHOSEN.to_owned(), self.schemes.clone().into());
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
        for scheme in schemes {
            let mut tree = self.layers.of_scheme(scheme);
            tree.merge(over.clone());
            let config = Config::from_tree(&tree)?;
            let toml::Value::Table(mut whole) = toml::Value::try_from(&config).expect("a configuration is TOML") else {
                unreachable!("a configuration is a table")
            };
            let mut own = toml::Table::new();
            for key in SCHEME_TABLES {
                if let Some(value) = whole.remove(key) {
                    own.insert(key.to_owned(), value);
                }
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

impl Layers {
    /// The layers of a scheme up to the settings that hold for every point.
    fn of_scheme(&self, scheme: &Scheme) -> Tree {
        let mut tree = scheme.preset.clone();
        tree.merge(self.scenario.clone());
        tree.merge(scheme.own.clone());
        self.settings.apply_chosen(&mut tree, &scheme.name);
        tree
    }
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
