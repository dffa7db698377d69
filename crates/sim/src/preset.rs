//! The schemes that ship with tailcut: TOML files, each a choice of seats, with the
//! values that make it what it is, and in its table `[defaults]` those that a scenario may set for all schemes.

use crate::config::{Problem, Tree, suggest};
use crate::scheme::Scheme;

/// A scheme that ships with tailcut.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name in scenarios.
    pub name: &'static str,
    /// The TOML text.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal,)+) => {
        /// Every preset, by name.
        pub const PRESETS: &[Preset] = &[
            $(Preset { name: $name, text: include_str!(concat!("../../../schemes/", $name, ".toml")) },)+
        ];
    };
}

presets! {
    "cubic",
    "d2tcp",
    "d3",
    "dctcp",
    "homa",
    "hyline",
    "ia-icon",
    "icon",
    "icon-cn",
    "ictcp",
    "ideal-deadlines",
    "ideal-edf",
    "ideal-fair",
    "ideal-srpt",
    "l2dct",
    "las",
    "mp-pdq",
    "pdq",
    "pdq-basic",
    "pdq-es",
    "pdq-es-et",
    "pfabric",
    "pias",
    "qjump",
    "rcp",
    "resqueue",
    "sjf",
    "slytherin",
    "spq",
    "srpt",
    "swift",
    "tcp",
}

/// Profiles that several presets share, by name; a preset has that of its key `shared_profile`.
const SHARED_PROFILES: [(&str, &str); 1] = [("linux", include_str!("../../../schemes/profiles/linux.toml"))];

/// The key of a preset that names the profile which it shares with others.
const SHARED: &str = "shared_profile";

/// Keys of a preset that describe it and set nothing.
const DESCRIPTION: [&str; 3] = ["title", "paper", "summary"];

/// The table of what a scheme takes where a scenario says nothing.
pub const DEFAULTS: &str = "defaults";

/// Tables that a scheme may set; the network and the traffic are not a scheme's to choose.
pub const SCHEME_TABLES: [&str; 7] = ["controller", "fidelity", "host", "nic", "path", "port", "switch"];

impl Preset {
    /// The preset of this name.
    pub fn find(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The names of all presets.
    pub fn names() -> Vec<&'static str> {
        PRESETS.iter().map(|preset| preset.name).collect()
    }

    /// The presets of packets: [`World`](crate::World) runs them. The others are ideals without packets.
    pub fn of_packets() -> impl Iterator<Item = &'static Preset> {
        PRESETS.iter().filter(|preset| preset.whole().get("fidelity").is_none())
    }

    /// Title, paper or summary.
    pub fn describe(&self, key: &str) -> Option<String> {
        self.whole().get(key).and_then(Tree::as_str).map(str::to_owned)
    }

    /// The names of the profiles: variants that a scenario picks by `name@profile`.
    pub fn profiles(&self) -> Vec<String> {
        let tree = self.whole();
        tree.get("profile").map(|p| p.entries().iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default()
    }

    /// The scheme that `name` or `name@profile` stands for.
    ///
    /// # Errors
    /// If there is no such preset or profile.
    ///
    /// # Panics
    /// If the shipped text is not TOML.
    pub fn scheme(reference: &str) -> Result<Scheme, Problem> {
        let (name, profile) = match reference.split_once('@') {
            Some((name, profile)) => (name, Some(profile)),
            None => (reference, None),
        };
        let preset = Preset::find(name).ok_or_else(|| {
            Problem::new(format!("there is no scheme `{name}`")).help(suggest(name, &Preset::names()))
        })?;
        let mut identity = preset.whole();
        for key in DESCRIPTION {
            identity.take(key);
        }
        let profiles = identity.take("profile").unwrap_or_else(Tree::table);
        let mut defaults = identity.take(DEFAULTS).unwrap_or_else(Tree::table);
        if let Some(profile) = profile {
            let Some(mut layer) = profiles.get(profile).cloned() else {
                let names: Vec<&str> = profiles.entries().iter().map(|(name, _)| name.as_str()).collect();
                return Err(Problem::new(format!("the scheme `{name}` has no profile `{profile}`"))
                    .help(suggest(profile, &names)));
            };
            if let Some(of_profile) = layer.take(DEFAULTS) {
                defaults.merge(of_profile);
            }
            identity.merge(layer);
        }
        Ok(Scheme { defaults, identity }.with_every_seat())
    }

    /// Everything that a preset says, as one layer: [`Preset::scheme`] without the difference between what is its
    /// identity and what a scenario may set. Whatever is laid on top of it counts.
    ///
    /// # Errors
    /// If there is no such preset or profile.
    pub fn layer(reference: &str) -> Result<Tree, Problem> {
        Preset::scheme(reference).map(|scheme| scheme.tree())
    }

    fn whole(&self) -> Tree {
        let mut own = Tree::parse(&format!("schemes/{}.toml", self.name), self.text).expect("a shipped preset is TOML");
        let Some(shared) = own.take(SHARED) else { return own };
        let named = |(name, _): &&(&str, &str)| Some(*name) == shared.as_str();
        let (name, text) = SHARED_PROFILES.iter().find(named).expect("a shipped preset names a shipped profile");
        let profile = Tree::parse(&format!("schemes/profiles/{name}.toml"), text).expect("a shipped profile is TOML");
        // What the preset itself says of the profile is laid over it.
        let profiles = Tree::of_entries([("profile", Tree::of_entries([(*name, profile)]))]);
        Tree::layered([&profiles, &own])
    }
}
