//! The two scales of a study.

use std::str::FromStr;

/// How large a study is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    /// A minute or two on two cores: the rates and, where possible, the topology of the document, less time.
    #[default]
    Quick,
    /// The size of the document, with enough flows and seeds for its percentiles.
    Paper,
}

impl Scale {
    /// Both.
    pub const ALL: [Scale; 2] = [Scale::Quick, Scale::Paper];

    /// The name on the command line and in folders.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Quick => "quick",
            Scale::Paper => "paper",
        }
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        let found = Scale::ALL.into_iter().find(|scale| scale.name() == text);
        found.ok_or_else(|| format!("there is no scale `{text}`: expected quick or paper"))
    }
}
