//! Settings: values that change together and have a name.
//!
//! `[settings.workload.hybrid]` is a layer of a scenario, with tables `scheme.NAME` for what differs between schemes.
//! `setting.workload = "hybrid"` chooses it, and `sweep."setting.workload" = ["web-search", "hybrid"]` sweeps over
//! layers as over the values of a key.

use tailcut_sim::config::suggest;
use tailcut_sim::{Preset, Problem, SCHEME_TABLES, Tree};

use super::place::at_value;

/// The table that defines settings.
pub(super) const DEFINED: &str = "settings";
/// The table that chooses from them.
pub(super) const CHOSEN: &str = "setting";

/// One setting: a layer of the scenario, and the name by which it is chosen.
#[derive(Clone, Debug)]
struct Setting {
    name: String,
    layer: Tree,
    /// Further layers, each for one scheme only: a table by the names of the schemes.
    schemes: Tree,
}

/// All settings of a scenario.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Every setting that the scenario defines, by the kind of setting.
    kinds: Vec<(String, Vec<Setting>)>,
    /// The kinds with the names that are chosen for every point.
    chosen: Vec<(String, String)>,
    defined: Tree,
}

impl Settings {
    /// The settings of the lab's part of a scenario.
    ///
    /// # Errors
    /// If one is chosen that is not there, or says something of a scheme that is not there.
    pub(super) fn of<'a>(lab: &Tree, schemes: impl Iterator<Item = &'a str>) -> Result<Settings, Problem> {
        let known: Vec<&str> = schemes.chain(Preset::names()).collect();
        let defined = lab.get(DEFINED).cloned().unwrap_or_else(Tree::table);
        let mut kinds = Vec::new();
        for (kind, settings) in defined.entries() {
            let mut all = Vec::new();
            for (name, layer) in settings.entries() {
                let mut layer = layer.clone();
                let schemes = layer.take("scheme").unwrap_or_else(Tree::table);
                for (scheme, tables) in schemes.entries() {
                    if !known.contains(&scheme.as_str()) {
                        let problem = Problem::new(format!("there is no scheme `{scheme}`"));
                        return Err(at_value(problem.help(suggest(scheme, &known)), Some(tables)));
                    }
                    if let Some((key, value)) =
                        tables.entries().iter().find(|(key, _)| !SCHEME_TABLES.contains(&key.as_str()))
                    {
                        let problem = Problem::new(format!("`{key}` is not a scheme's to set"));
                        return Err(at_value(problem.help(suggest(key, &SCHEME_TABLES)), Some(value)));
                    }
                }
                all.push(Setting { name: name.clone(), layer, schemes });
            }
            kinds.push((kind.clone(), all));
        }
        let mut settings = Settings { kinds, chosen: Vec::new(), defined };
        for (kind, name) in lab.get(CHOSEN).map_or(&[][..], Tree::entries) {
            settings.check(kind, name)?;
            settings.chosen.push((kind.clone(), name.to_text()));
        }
        Ok(settings)
    }

    /// Whether the values of a swept axis are settings, if it is one of them.
    ///
    /// # Errors
    /// If it is and they are not.
    pub(super) fn check_axis(&self, path: &str, values: &[Tree]) -> Result<(), Problem> {
        match kind_of(path) {
            Some(kind) => values.iter().try_for_each(|value| self.check(kind, value)),
            None => Ok(()),
        }
    }

    fn check(&self, kind: &str, name: &Tree) -> Result<(), Problem> {
        let Some((_, settings)) = self.kinds.iter().find(|(known, _)| known == kind) else {
            let known: Vec<&str> = self.kinds.iter().map(|(kind, _)| kind.as_str()).collect();
            let problem = Problem::new(format!("there are no settings `{kind}`"));
            let help = if known.is_empty() {
                format!("expected a table such as [{DEFINED}.{kind}.NAME] that defines one")
            } else {
                suggest(kind, &known)
            };
            return Err(at_value(problem.help(help), Some(name)));
        };
        let text = name.to_text();
        if settings.iter().any(|setting| setting.name == text) {
            return Ok(());
        }
        let known: Vec<&str> = settings.iter().map(|setting| setting.name.as_str()).collect();
        let problem = Problem::new(format!("there is no setting `{text}` of `{kind}`"));
        Err(at_value(problem.help(suggest(&text, &known)), Some(name)))
    }

    /// Lays what is chosen for every point over `tree`, which is that of `scheme`.
    pub(super) fn apply_chosen(&self, tree: &mut Tree, scheme: &str) {
        for (kind, name) in &self.chosen {
            self.lay(tree, scheme, kind, name);
        }
    }

    /// Lays a value of the axis `path` over `tree` if the axis sweeps over settings, and says whether it does.
    pub(super) fn apply(&self, tree: &mut Tree, scheme: &str, path: &str, value: &Tree) -> bool {
        let Some(kind) = kind_of(path) else { return false };
        self.lay(tree, scheme, kind, &value.to_text());
        true
    }

    fn lay(&self, tree: &mut Tree, scheme: &str, kind: &str, name: &str) {
        let found = self.kinds.iter().find(|(known, _)| known == kind);
        let found = found.and_then(|(_, settings)| settings.iter().find(|setting| setting.name == name));
        let setting = found.expect("what is chosen was checked");
        tree.merge(setting.layer.clone());
        if let Some(own) = setting.schemes.get(scheme) {
            tree.merge(own.clone());
        }
    }

    /// The definitions of the settings that these axes sweep over.
    pub(super) fn swept<'a>(&self, axes: impl Iterator<Item = &'a str>) -> Option<Tree> {
        let kinds: Vec<&str> = axes.filter_map(kind_of).collect();
        if kinds.is_empty() {
            return None;
        }
        let mut defined = self.defined.clone();
        for (kind, _) in &self.kinds {
            if !kinds.contains(&kind.as_str()) {
                defined.take(kind);
            }
        }
        Some(defined)
    }
}

/// The kind of setting that an axis sweeps over, if it does.
fn kind_of(path: &str) -> Option<&str> {
    path.strip_prefix(CHOSEN)?.strip_prefix('.')
}
