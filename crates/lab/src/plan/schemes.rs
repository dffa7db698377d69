//! The schemes of a scenario: presets by their names, and schemes that the scenario itself defines.

use tailcut_sim::config::suggest;
use tailcut_sim::{DEFAULTS, Preset, Problem, SCHEME_TABLES, Scheme, Tree, Value};

use super::names;
use super::place::{at_key, at_value, place_of, unique};

/// The key that chooses schemes.
pub(super) const CHOSEN: &str = "schemes";
/// The table that defines schemes.
pub(super) const DEFINED: &str = "scheme";

/// The key of a scheme's table that names the preset it is built on.
const PRESET: &str = "preset";
/// The key of a scheme's table that takes parts of its preset away.
pub(super) const WITHOUT: &str = "without";

/// Name of the only scheme of a scenario that names none.
const UNNAMED: &str = "scenario";

/// A scheme of a run.
#[derive(Clone, Debug)]
pub(super) struct RunScheme {
    /// Its name.
    pub(super) name: String,
    /// What it is called in results: its name, with a star if it is a preset's name and the scheme is not as the preset
    /// and the scenario say.
    pub(super) label: String,
    /// The preset that it is built on, as it is referred to.
    pub(super) preset: Option<String>,
    /// What it is apart from the scenario.
    pub(super) scheme: Scheme,
    /// The parts of the preset that are taken away.
    pub(super) without: Option<Tree>,
    /// What the scenario says of this scheme by its name.
    pub(super) own: Tree,
}

impl RunScheme {
    /// The preset of this name, as it is.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn of_preset(name: String) -> Result<RunScheme, Problem> {
        let scheme = Preset::scheme(&name)?;
        Ok(RunScheme {
            label: name.clone(),
            preset: Some(name.clone()),
            name,
            scheme,
            without: None,
            own: Tree::table(),
        })
    }

    /// Whether it is called as a preset is, so that its label promises to be that preset.
    pub(super) fn has_name_of_preset(&self) -> bool {
        Preset::find(self.name.split('@').next().unwrap_or(&self.name)).is_some()
    }
}

/// The schemes that the keys of a run choose; all that are defined there if they choose none.
///
/// # Errors
/// If one is unknown or there twice, or its definition is wrong.
pub(super) fn chosen(keys: &Tree) -> Result<Vec<RunScheme>, Problem> {
    let defined = keys.get(DEFINED);
    let defined_names: Vec<&str> =
        defined.map(|tree| tree.entries().iter().map(|(name, _)| name.as_str()).collect()).unwrap_or_default();
    let names: Vec<(String, Option<&Tree>)> = match keys.get(CHOSEN) {
        Some(Tree { value: Value::Array(items), .. }) if !items.is_empty() => items
            .iter()
            .map(|item| match item.as_str() {
                Some(name) => Ok((name.to_owned(), Some(item))),
                None => Err(at_value(
                    Problem::new("this is not the name of a scheme").help("expected text, such as \"dctcp\""),
                    Some(item),
                )),
            })
            .collect::<Result<_, _>>()?,
        Some(tree) => {
            return Err(at_value(
                Problem::new("`schemes` is not a list of names").help("expected schemes = [\"dctcp\", \"pias\"]"),
                Some(tree),
            ));
        }
        None if !defined_names.is_empty() => defined_names.iter().map(|name| ((*name).to_owned(), None)).collect(),
        None => {
            let name = UNNAMED.to_owned();
            let (label, scheme, own) = (name.clone(), Scheme::empty(), Tree::table());
            return Ok(vec![RunScheme { name, label, preset: None, scheme, without: None, own }]);
        }
    };
    let bare: Vec<&String> = names.iter().map(|(name, _)| name).collect();
    unique(&bare, "scheme", keys.get(CHOSEN))?;
    let table = |name: &str| defined.and_then(|tables| tables.get(name));
    for (name, item) in &names {
        if let Some(tree) = item.or(table(name)) {
            names::check(name, "scheme", tree)?;
        }
    }
    names
        .into_iter()
        .map(|(name, item)| match defined.and_then(|tables| tables.get(&name)) {
            Some(table) => defined_scheme(name, table),
            None => match RunScheme::of_preset(name.clone()) {
                Ok(scheme) => Ok(scheme),
                Err(problem) => {
                    let known: Vec<&str> = defined_names.iter().copied().chain(Preset::names()).collect();
                    let problem = if name.contains('@') || defined_names.is_empty() {
                        problem
                    } else {
                        Problem::new(problem.message().to_owned()).help(suggest(&name, &known))
                    };
                    Err(at_value(problem, item))
                }
            },
        })
        .collect()
}

/// What the scenario says of schemes and is not used, or probably not meant.
pub(super) fn warnings(keys: &Tree, schemes: &[RunScheme]) -> Vec<String> {
    let mut warnings = Vec::new();
    let source = |tree: &Tree| tree.key_or_value().map(|origin| origin.source.name.clone());
    let chosen_in = keys.get(CHOSEN).and_then(source);
    for (name, table) in keys.get(DEFINED).map_or(&[][..], Tree::entries) {
        // Whoever chooses among the schemes of another text, on the command line or in a study that is built on it,
        // knows that the others are not used.
        if chosen_in.is_some() && source(table) != chosen_in {
            continue;
        }
        if schemes.iter().all(|scheme| scheme.name != *name) {
            let place = place_of(table);
            warnings.push(format!("`[scheme.{name}]`{place} is not used: `{CHOSEN}` does not name it"));
        }
    }
    if let [scheme] = schemes
        && scheme.preset.is_none()
        && scheme.name == UNNAMED
    {
        warnings.push(format!("there is no list of `{CHOSEN}`: hosts and ports are as the scenario and the defaults say, and results call that `{UNNAMED}`"));
    }
    warnings
}

/// A scheme of which the scenario speaks: a preset, if it names one or has its name, without what it takes away, and
/// tables on top of what the scenario says of all schemes.
fn defined_scheme(name: String, table: &Tree) -> Result<RunScheme, Problem> {
    let mut own = table.clone();
    let is_preset = Preset::scheme(&name).is_ok();
    let preset = match own.take(PRESET) {
        Some(tree) => match tree.as_str() {
            Some(reference) if is_preset && reference != name => {
                let problem = Problem::new(format!(
                    "the scheme `{name}` is built on `{reference}`, and its name is that of another scheme"
                ));
                return Err(at_value(problem.help("expected another name for it"), Some(&tree)));
            }
            Some(reference) => {
                Preset::scheme(reference).map_err(|problem| at_value(problem, Some(&tree)))?;
                Some(reference.to_owned())
            }
            None => return Err(at_value(Problem::new("`preset` is not the name of a scheme"), Some(&tree))),
        },
        None => is_preset.then(|| name.clone()),
    };
    let mut scheme = match &preset {
        Some(reference) => Preset::scheme(reference)?,
        None => Scheme::empty(),
    };
    let without = own.take(WITHOUT);
    if let Some(without) = &without {
        take_away(&mut scheme, preset.as_deref(), without)?;
    }
    if let Some(defaults) = own.take(DEFAULTS) {
        check_tables(&defaults, &[])?;
        scheme.defaults.merge(defaults);
    }
    check_tables(&own, &[PRESET, WITHOUT, DEFAULTS])?;
    Ok(RunScheme { label: name.clone(), name, preset, scheme, without, own })
}

/// Takes away parts of a preset: `without = ["host.tag", "port.classes"]`.
fn take_away(scheme: &mut Scheme, preset: Option<&str>, without: &Tree) -> Result<(), Problem> {
    let Value::Array(parts) = &without.value else {
        let problem = Problem::new("`without` is not a list of parts of a preset");
        return Err(at_value(problem.help("expected a list such as without = [\"host.tag\"]"), Some(without)));
    };
    let Some(preset) = preset else {
        let problem = Problem::new("nothing can be taken away from a scheme that is built on no preset");
        return Err(at_key(problem.help("expected `preset = \"NAME\"` beside it"), without));
    };
    for part in parts {
        let path = part.as_str().unwrap_or_default();
        if !scheme.take_away(path) {
            let said = scheme.tree();
            let known: Vec<String> = said.paths();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let problem = Problem::new(format!("the scheme `{preset}` says nothing of `{}`", part.to_text()));
            return Err(at_value(problem.help(suggest(path, &known)), Some(part)));
        }
    }
    Ok(())
}

/// Refuses what a scheme cannot set.
pub(super) fn check_tables(tables: &Tree, words: &[&str]) -> Result<(), Problem> {
    match tables.entries().iter().find(|(key, _)| !SCHEME_TABLES.contains(&key.as_str())) {
        Some((key, child)) => {
            let known: Vec<&str> = SCHEME_TABLES.iter().chain(words).copied().collect();
            Err(at_key(Problem::new(format!("`{key}` is not a scheme's to set")).help(suggest(key, &known)), child))
        }
        None => Ok(()),
    }
}
