//! Whether stored results still hold for the program that is there.

/// Whether stored results still hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Their study is configured as it was, and a simulation of it that was run again gave the same digest.
    Holds,
    /// They are of another configuration or of another program, for the reason given: a sentence.
    Stale(String),
    /// Nobody can tell: they were stored without digests.
    Unknown,
}

impl Standing {
    /// In one word.
    pub fn name(&self) -> &'static str {
        match self {
            Standing::Holds => "holds",
            Standing::Stale(_) => "stale",
            Standing::Unknown => "unknown",
        }
    }
}

/// The stored results of a study at one scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyStanding {
    /// The study.
    pub study: String,
    /// The scale: `quick` or `paper`.
    pub scale: String,
    /// The experiments that were made of it.
    pub experiments: Vec<String>,
    /// Whether the results still hold.
    pub standing: Standing,
}

impl StudyStanding {
    /// The standing of the results of an experiment at a scale; `None` if they are not among `all`.
    pub fn find<'a>(all: &'a [StudyStanding], experiment: &str, scale: &str) -> Option<&'a Standing> {
        let is_it = |one: &&StudyStanding| one.scale == scale && one.experiments.iter().any(|name| name == experiment);
        all.iter().find(is_it).map(|one| &one.standing)
    }
}
