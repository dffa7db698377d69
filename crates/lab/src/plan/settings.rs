//! Settings: values that change together and have a name.
//!
//! `[settings.workload.hybrid]` is a layer of a scenario, with tables `scheme.NAME` for what differs between schemes.
//! `setting.workload = "hybrid"` chooses it, and `sweep."setting.workload" = ["web-search", "hybrid"]` sweeps over
//! layers as over the values of a key.

use tailcut_base::dotted;
use tailcut_sim::config::suggest;
use tailcut_sim::{Preset, Problem, Tree};

use super::place::{at_value, place_of};
use super::schemes::check_tables;
use super::sweep::SweptAxis;
use super::{Over, names};

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
            names::check(kind, "kind of settings", settings)?;
            let mut all = Vec::new();
            for (name, layer) in settings.entries() {
                names::check(name, "setting", layer)?;
                let mut layer = layer.clone();
                let schemes = layer.take("scheme").unwrap_or_else(Tree::table);
                for (scheme, tables) in schemes.entries() {
                    if !known.contains(&scheme.as_str()) {
                        let problem = Problem::new(format!("there is no scheme `{scheme}`"));
                        return Err(at_value(problem.help(suggest(scheme, &known)), Some(tables)));
                    }
                    check_tables(tables, &[])?;
                }
                all.push(Setting { name: name.clone(), layer, schemes });
            }
            kinds.push((kind.clone(), all));
        }
        let mut settings = Settings { kinds, chosen: Vec::new() };
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
            Some(kind) => values.iter().try_for_each(|value| self.check(&kind, value)),
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

    /// Whether a point has this setting.
    fn is_used(&self, kind: &str, name: &str, axes: &[SweptAxis]) -> bool {
        let is_value = |swept: &SweptAxis| {
            kind_of(&swept.axis.path).is_some_and(|of| of == kind)
                && swept.axis.values.iter().any(|value| value == name)
        };
        self.chosen.iter().any(|(of, chosen)| of == kind && chosen == name) || axes.iter().any(is_value)
    }

    /// What of the settings is used by no point: the kinds of which the scenario chooses none, and what the command
    /// line, with these arguments, changes in others.
    pub(super) fn warnings(&self, axes: &[SweptAxis], set: &[String]) -> Vec<String> {
        let mut warnings = Vec::new();
        for (kind, settings) in &self.kinds {
            if settings.iter().any(|setting| self.is_used(kind, &setting.name, axes)) {
                continue;
            }
            let place = settings.first().map_or_else(String::new, |setting| place_of(&setting.layer));
            let kind = dotted::word(kind);
            warnings.push(format!(
                "`[{DEFINED}.{kind}]`{place} is not used: neither `{CHOSEN}.{kind}` nor a sweep over it chooses one of them"
            ));
        }
        for argument in set {
            if let [defined, kind, name, ..] = &names::keys_of(argument)[..]
                && defined == DEFINED
                && !self.is_used(kind, name, axes)
                && self.kinds.iter().any(|(known, _)| known == kind)
            {
                warnings
                    .push(format!("`--set {argument}` sets nothing: no point has the setting `{name}` of `{kind}`"));
            }
        }
        warnings
    }

    /// The settings that points have: the dotted path of each, and what it says of all schemes.
    pub(super) fn used<'a>(&'a self, axes: &'a [SweptAxis]) -> impl Iterator<Item = (String, &'a Tree)> {
        let all = self.kinds.iter().flat_map(|(kind, settings)| settings.iter().map(move |setting| (kind, setting)));
        let used = all.filter(|(kind, setting)| self.is_used(kind, &setting.name, axes));
        used.map(|(kind, setting)| (dotted::path(&[DEFINED, kind, &setting.name]), &setting.layer))
    }

    /// The settings that no point has: what each says of all schemes, and of single ones.
    pub(super) fn unused(&self, axes: &[SweptAxis]) -> Vec<(&Tree, &Tree)> {
        let all = self.kinds.iter().flat_map(|(kind, settings)| settings.iter().map(move |setting| (kind, setting)));
        let unused = all.filter(|(kind, setting)| !self.is_used(kind, &setting.name, axes));
        unused.map(|(_, setting)| (&setting.layer, &setting.schemes)).collect()
    }

    /// The layers that are chosen for every point: what they say of all schemes, and of this one by its name.
    pub(super) fn chosen(&self, scheme: &str) -> impl Iterator<Item = (&Tree, Option<&Tree>)> {
        self.chosen.iter().map(|(kind, name)| self.layers(scheme, kind, name))
    }

    /// The layers of a value of the axis `path`, likewise, if the axis sweeps over settings.
    pub(super) fn swept(&self, scheme: &str, path: &str, value: &Tree) -> Option<(&Tree, Option<&Tree>)> {
        Some(self.layers(scheme, &kind_of(path)?, &value.to_text()))
    }

    fn layers(&self, scheme: &str, kind: &str, name: &str) -> (&Tree, Option<&Tree>) {
        let found = self.kinds.iter().find(|(known, _)| known == kind);
        let found = found.and_then(|(_, settings)| settings.iter().find(|setting| setting.name == name));
        let setting = found.expect("what is chosen was checked");
        (&setting.layer, setting.schemes.get(scheme))
    }

    /// The definitions of the settings that these axes sweep over, each with what the command line says on top of it.
    pub(super) fn spelled_out<'a>(&self, over: &Over, axes: impl Iterator<Item = &'a str>) -> Option<Tree> {
        let kinds: Vec<String> = axes.filter_map(kind_of).collect();
        if kinds.is_empty() {
            return None;
        }
        let mut all = Tree::table();
        for (kind, settings) in self.kinds.iter().filter(|(kind, _)| kinds.contains(kind)) {
            for setting in settings {
                let mut layer = Tree::layered([&setting.layer, &over.surroundings]);
                for schemes in [&setting.schemes, &over.schemes] {
                    if !schemes.entries().is_empty() {
                        layer.merge(Tree::of_entries([("scheme", schemes.clone())]));
                    }
                }
                let kind_of_it =
                    Tree::of_entries([(kind.as_str(), Tree::of_entries([(setting.name.as_str(), layer)]))]);
                all = Tree::layered([&all, &kind_of_it]);
            }
        }
        Some(all)
    }
}

/// The kind of setting that an axis sweeps over, if it does.
fn kind_of(path: &str) -> Option<String> {
    let below = path.strip_prefix(CHOSEN)?.strip_prefix('.')?;
    match dotted::keys(below) {
        Ok(mut keys) if keys.len() == 1 => keys.pop(),
        // There are no settings of such a kind, which is reported with those that there are.
        _ => Some(below.to_owned()),
    }
}
