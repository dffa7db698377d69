//! What is different between the schemes of a run and their presets, and what of a scenario counts for none of them.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_base::dotted;
use tailcut_results::SchemeDifferences;
use tailcut_sim::pinned::is_pinned;
use tailcut_sim::{Config, Origin, Preset, Problem, SCHEME_TABLES, Scheme, Tree, Value};

use super::place::place_of;
use super::schemes::RunScheme;
use super::{Around, Layers};

/// A value that is not as it would be otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Its dotted path. What names a model has the path of the seat: `port.marker`.
    pub path: String,
    /// The value here; `None` if there is none.
    pub here: Option<String>,
    /// What it would be otherwise.
    pub otherwise: Option<String>,
}

/// What is different between one scheme of a run and its preset, at its first point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The scheme, as results call it.
    pub scheme: String,
    /// The preset that it is built on.
    pub preset: Option<String>,
    /// What the scenario says of this scheme by its name, and what would hold if it did not.
    pub by_name: Vec<Difference>,
    /// What the scenario says of all schemes and holds for this one, and what the preset has.
    pub surroundings: Vec<Difference>,
    /// What the scheme keeps, and what the scenario says of all schemes.
    pub kept: Vec<Difference>,
}

impl Differences {
    /// What the scenario makes of the scheme by its name, if anything.
    pub fn by_name(&self) -> Option<SchemeDifferences> {
        let name = self.preset.as_deref().unwrap_or_else(|| self.scheme.trim_end_matches('*'));
        self.told(&self.by_name, &format!("{name} in this scenario"))
    }

    /// What the scheme takes from the scenario, and what it keeps.
    pub fn around(&self) -> Vec<SchemeDifferences> {
        let surroundings = self.told(&self.surroundings, "its preset");
        surroundings.into_iter().chain(self.told(&self.kept, "what the scenario says of all schemes")).collect()
    }

    fn told(&self, differences: &[Difference], from: &str) -> Option<SchemeDifferences> {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "not there".to_owned());
        let one = |d: &Difference| format!("{} is {} instead of {}", d.path, value(&d.here), value(&d.otherwise));
        (!differences.is_empty()).then(|| SchemeDifferences {
            scheme: self.scheme.clone(),
            from: from.to_owned(),
            differences: differences.iter().map(one).collect(),
        })
    }
}

/// What was found.
pub(super) struct Found {
    pub(super) of_schemes: Vec<Differences>,
    pub(super) warnings: Vec<String>,
}

/// Finds the differences of all schemes of a run with so many combinations of swept values, and puts a star behind the
/// name of a preset that is changed by its name.
///
/// # Errors
/// If no scheme takes a swept value.
pub(super) fn find(layers: &mut Layers, combinations: usize) -> Result<Found, Problem> {
    let mut found = Found { of_schemes: Vec::new(), warnings: Vec::new() };
    let mut taken = BTreeSet::new();
    let mut labels = Vec::new();
    for scheme in &layers.schemes {
        let mut differences = Differences { preset: scheme.preset.clone(), ..Differences::default() };
        for combination in 0..combinations {
            let (_, swept) = layers.swept(scheme, combination)?;
            differences.by_name = by_name(scheme, &layers.around_with(scheme, &swept));
            if !differences.by_name.is_empty() {
                break;
            }
        }
        let (mut of_scheme, mut kept) = (BTreeSet::new(), BTreeSet::new());
        for combination in one_at_a_time(layers) {
            let (_, swept) = layers.swept(scheme, combination)?;
            let around = layers.around_with(scheme, &swept);
            check(scheme, &around)?;
            let there = around_it(scheme, &around)?;
            if combination == 0 {
                differences.surroundings = there.surroundings;
            }
            of_scheme.extend(there.taken);
            for (path, difference) in there.kept {
                kept.insert(path);
                if differences.kept.iter().all(|known| known.path != difference.path) {
                    differences.kept.push(difference);
                }
            }
        }
        // A scheme's own value may be among those of a sweep, which it does not take for that.
        taken.extend(of_scheme.into_iter().filter(|path| !kept.contains(path)));
        let is_changed = scheme.has_name_of_preset() && !differences.by_name.is_empty();
        differences.scheme = if is_changed { format!("{}*", scheme.name) } else { scheme.name.clone() };
        labels.push(differences.scheme.clone());
        found.of_schemes.push(differences);
    }
    void(layers, &taken, &mut found)?;
    check_unused(layers)?;
    for (scheme, label) in layers.schemes.iter_mut().zip(labels) {
        scheme.label = label;
    }
    Ok(found)
}

/// Refuses what is wrong in a setting that no point has: it is wrong whether or not it is used today.
///
/// # Errors
/// If a key or a value of one cannot be.
fn check_unused(layers: &Layers) -> Result<(), Problem> {
    for (all, by_name) in layers.settings.unused(&layers.axes) {
        let mut schemes: Vec<RunScheme> = layers.schemes.clone();
        for (name, _) in by_name.entries() {
            if schemes.iter().all(|scheme| scheme.name != *name) {
                schemes.push(RunScheme::of_preset(name.clone())?);
            }
        }
        for scheme in &schemes {
            let mut around = layers.around(scheme);
            around.add((all, by_name.get(&scheme.name)));
            let read = Config::from_tree(&around.tree(&scheme.scheme)).map(|_| ());
            // Errors of other kinds are reported where they are found.
            let is_here = |problem: &Problem| {
                let origin = problem.origin();
                origin.is_some_and(|origin| stands_in(all, origin) || stands_in(by_name, origin))
            };
            match read.and_then(|()| check(scheme, &around)) {
                Err(problem) if !problem.is_incomplete() && is_here(&problem) => return Err(problem),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Whether a key or value of `tree` stands at this place.
fn stands_in(tree: &Tree, origin: &Origin) -> bool {
    let is_it = |at: &Option<Origin>| at.as_ref() == Some(origin);
    let items = match &tree.value {
        Value::Array(items) => &items[..],
        _ => &[],
    };
    is_it(&tree.origin)
        || is_it(&tree.key)
        || tree.entries().iter().map(|(_, child)| child).chain(items).any(|child| stands_in(child, origin))
}

/// The combination of the first values of all axes, and those in which one axis has another value.
fn one_at_a_time(layers: &Layers) -> Vec<usize> {
    let mut combinations = vec![0];
    let mut step = 1;
    // The last axis changes fastest.
    for swept in layers.axes.iter().rev() {
        combinations.extend((1..swept.values.len()).map(|value| value * step));
        step *= swept.values.len();
    }
    combinations
}

/// What these layers say of hosts and ports, and what they say of everything else.
fn parted<'a>(layers: impl IntoIterator<Item = &'a Tree>) -> (Tree, Tree) {
    let mut rest = Tree::layered(layers);
    let said = Tree::of_entries(SCHEME_TABLES.iter().filter_map(|key| Some((*key, rest.take(key)?))));
    (said, rest)
}

/// The values of a configuration that a scheme may set; none if it is not valid, which is said elsewhere.
fn values(tree: &Tree) -> Option<BTreeMap<String, String>> {
    Config::from_tree(tree).ok().map(|config| config.values(&SCHEME_TABLES))
}

/// Refuses what the scenario says of models that the scheme does not have, if it is wrong: nobody else reads it.
fn check(scheme: &RunScheme, around: &Around<'_>) -> Result<(), Problem> {
    let whole = around.tree(&scheme.scheme);
    if Config::from_tree(&whole).is_err() {
        return Ok(());
    }
    let (said, _) = parted(around.surroundings.iter().copied());
    let mut wrong = None;
    said.each_choice(&mut |path, name, parameters| {
        let Some(origin) = parameters.key_or_value().cloned() else { return };
        let mut named = Tree::of_entries([(name, parameters)]);
        named.origin = Some(origin.clone());
        let Ok(over) = Tree::at_path(path, named, &origin) else { return };
        let mut elsewhere = whole.clone();
        elsewhere.remove(path);
        // A key that is missing here may be one that each scheme with this model has by its name.
        if let Err(problem) = Config::from_tree(&Tree::layered([&elsewhere, &over]))
            && !problem.is_incomplete()
        {
            wrong.get_or_insert(problem);
        }
    });
    wrong.map_or(Ok(()), Err)
}

/// What the scenario changes of a scheme by its name.
fn by_name(scheme: &RunScheme, around: &Around<'_>) -> Vec<Difference> {
    if scheme.without.is_none() && around.by_name.iter().all(|layer| layer.entries().is_empty()) {
        return Vec::new();
    }
    let without = match &scheme.preset {
        // What a scheme with a preset's name took away from the preset is a change too.
        Some(preset) => {
            let preset = Preset::scheme(preset).expect("it was found before");
            let defaults = Tree::layered([&preset.defaults, &scheme.scheme.defaults]);
            Scheme { defaults, identity: preset.identity }.in_scenario(&around.surroundings, &[])
        }
        None => return Vec::new(),
    };
    match (values(&around.tree(&scheme.scheme)), values(&without)) {
        (Some(here), Some(otherwise)) => between(&here, &otherwise),
        _ => Vec::new(),
    }
}

/// What a scheme makes of what the scenario says of all schemes.
#[derive(Default)]
struct AroundIt {
    /// What is not as in the preset.
    surroundings: Vec<Difference>,
    /// The paths of what it takes.
    taken: Vec<String>,
    /// The paths of what it does not take, with what it keeps instead.
    kept: Vec<(String, Difference)>,
}

/// What a scheme takes from the scenario and what it keeps.
///
/// # Errors
/// If a value of the scenario cannot be read, though nobody reads it: the scheme has one of its own.
fn around_it(scheme: &RunScheme, around: &Around<'_>) -> Result<AroundIt, Problem> {
    let whole = around.tree(&scheme.scheme);
    let Some(here) = values(&whole) else { return Ok(AroundIt::default()) };
    // The same traffic in the same network, and nothing said of hosts and ports.
    let (said, bare) = parted(around.surroundings.iter().copied());
    // As the preset is, without what the scenario may say of the scheme's defaults.
    let preset = scheme.preset.as_ref().and_then(|preset| Preset::scheme(preset).ok());
    let preset = preset.unwrap_or_else(|| scheme.scheme.clone());
    let by_name = std::iter::once(&scheme.scheme.identity).chain(around.by_name.iter().copied()).collect::<Vec<_>>();
    let alone = values(&preset.in_scenario(&[&bare], &by_name));
    let surroundings = alone.map_or_else(Vec::new, |alone| between(&here, &alone));
    let mut found = AroundIt { surroundings, ..AroundIt::default() };
    let mut wrong = None;
    said.each(&mut |path, value| {
        // PINNED: nobody wrote these values.
        if is_pinned(value) {
            return;
        }
        // A parameter of another model than the scheme's waits for a scheme that has it.
        let Some(model_path) = named_at(path, &here) else { return };
        let Some(over) = value.origin.as_ref().and_then(|o| Tree::at_path(path, value.clone(), o).ok()) else { return };
        let if_it_counted = match Config::from_tree(&Tree::layered([&whole, &over])) {
            Ok(config) => config.values(&SCHEME_TABLES),
            Err(problem) => {
                wrong.get_or_insert(problem);
                return;
            }
        };
        let differences = between(&if_it_counted, &here);
        match differences.into_iter().find(|d| d.path == path || d.path == model_path) {
            Some(d) => {
                found.kept.push((path.to_owned(), Difference { path: d.path, here: d.otherwise, otherwise: d.here }));
            }
            None => found.taken.push(path.to_owned()),
        }
    });
    wrong.map_or(Ok(found), Err)
}

/// The path under which a value is compared: its own, or that of the seat if it names a model there. `None` if it is a
/// parameter of a model that does not sit there.
fn named_at(path: &str, here: &BTreeMap<String, String>) -> Option<String> {
    let keys = dotted::keys(path).unwrap_or_default();
    for above in 1..keys.len() {
        let seat = dotted::path(&keys[..above]);
        if let Some(model) = here.get(&seat)
            && keys[above] != *model
        {
            // A model without parameters of its own names itself: `marker.off = {}`.
            return (above + 1 == keys.len()).then_some(seat);
        }
    }
    Some(path.to_owned())
}

/// The values that differ. Of a seat with another model only the seat is named, and not what belongs to either model.
fn between(here: &BTreeMap<String, String>, otherwise: &BTreeMap<String, String>) -> Vec<Difference> {
    let paths: BTreeSet<&String> = here.keys().chain(otherwise.keys()).collect();
    let mut differences: Vec<Difference> = Vec::new();
    for path in paths {
        let is_below = |d: &Difference| path.strip_prefix(d.path.as_str()).is_some_and(|rest| rest.starts_with('.'));
        if here.get(path) != otherwise.get(path) && !differences.iter().any(is_below) {
            let value = |values: &BTreeMap<String, String>| values.get(path).cloned();
            differences.push(Difference { path: path.clone(), here: value(here), otherwise: value(otherwise) });
        }
    }
    differences
}

/// Says what of the scenario counts for no scheme, and refuses to sweep over it.
fn void(layers: &Layers, taken: &BTreeSet<String>, found: &mut Found) -> Result<(), Problem> {
    for swept in &layers.axes {
        let path = &swept.axis.path;
        let is_of_a_scheme = |table: &&str| path.strip_prefix(*table).is_some_and(|below| below.starts_with('.'));
        if !SCHEME_TABLES.iter().any(|table| is_of_a_scheme(table) || path == table) {
            continue;
        }
        let is_below = |other: &String| other == path || other.starts_with(&format!("{path}."));
        if !taken.iter().any(is_below) {
            return Err(Problem::new(format!("no scheme of this run takes `{path}` from the sweep"))
                .help("expected a parameter that a scheme leaves to the scenario; what makes a scheme that scheme is swept by its name: \"scheme.NAME.PATH\"")
                .or_at(&swept.origin));
        }
        for of_scheme in &found.of_schemes {
            if of_scheme.kept.iter().any(|kept| kept.path == *path)
                || of_scheme.by_name.iter().any(|own| own.path == *path)
            {
                found.warnings.push(format!(
                    "{}: the sweep over {path} does not change this scheme, which has a value of its own",
                    of_scheme.scheme
                ));
            }
        }
    }
    let (said, _) = parted(layers.scenario.iter().chain([&layers.over.surroundings]));
    let settings = layers.settings.used(&layers.axes).map(|(path, layer)| (path, parted([layer]).0));
    for (within, said) in std::iter::once((None, said)).chain(settings.map(|(path, said)| (Some(path), said))) {
        warn_of_void(layers, taken, within.as_deref(), &said, found);
    }
    Ok(())
}

/// Warns of what of `said`, by all of the scenario or by the setting at the path `within`, counts for no scheme.
fn warn_of_void(layers: &Layers, taken: &BTreeSet<String>, within: Option<&str>, said: &Tree, found: &mut Found) {
    said.each(&mut |path, value| {
        // PINNED: nobody wrote these values.
        if !is_pinned(value) && !taken.contains(path) && !layers.axes.iter().any(|swept| swept.axis.path == path) {
            // A model without parameters of its own stands for its seat: `host.order.fifo` for `host.order`.
            let seat;
            let shown = if value.entries().is_empty() && matches!(value.value, Value::Table(_)) {
                let keys = dotted::keys(path).unwrap_or_default();
                seat = dotted::path(keys.split_last().map_or(&[], |(_, above)| above));
                &seat
            } else {
                path
            };
            let kept = found.of_schemes.iter().any(|of| of.kept.iter().any(|kept| kept.path == shown));
            let why = if kept { "every scheme has a value of its own" } else { "no scheme here has a use for it" };
            let within = within.map_or_else(String::new, |within| format!("{within}."));
            found.warnings.push(format!("`{within}{shown}`{} sets nothing: {why}", place_of(value)));
        }
    });
}
