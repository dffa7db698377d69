//! What is compared, and what came of it.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;
use tailcut_results::stats::QuotientEstimate;

/// One of the two: a run folder, or a scheme of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The run folder.
    pub folder: PathBuf,
    /// The scheme; every scheme that both have if there is none.
    pub scheme: Option<String>,
}

impl FromStr for Side {
    type Err = String;

    /// `runs/tail` or `runs/tail:dctcp`.
    fn from_str(text: &str) -> Result<Side, String> {
        match text.rsplit_once(':') {
            // A folder may have a colon in its name.
            Some((folder, scheme)) if !folder.is_empty() && !scheme.is_empty() && !Path::new(text).is_dir() => {
                Ok(Side { folder: folder.into(), scheme: Some(scheme.to_owned()) })
            }
            _ if text.is_empty() => Err("expected a run folder, such as runs/tail or runs/tail:dctcp".to_owned()),
            _ => Ok(Side { folder: text.into(), scheme: None }),
        }
    }
}

/// What to compare.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The metrics; the usual ones if it is empty.
    pub metrics: Vec<String>,
    /// The sets of classes; the classes of the workload if it is empty.
    pub classes: Vec<String>,
}

/// A metric of a class at a swept point, on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRow {
    /// The scheme of A.
    pub scheme_a: String,
    /// The scheme of B.
    pub scheme_b: String,
    /// The swept values, in the order of the axes of A.
    pub values: Vec<String>,
    /// The set of classes.
    pub class: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: &'static str,
    /// Its value in A, over all seeds that count.
    pub a: f64,
    /// Its value in B, over all seeds that count.
    pub b: f64,
    /// The ratio of B to A: of the two values above.
    #[serde(flatten)]
    pub ratio: QuotientEstimate,
    /// What the values need to be read with, and why there is no interval.
    pub note: Option<String>,
    /// Whether the value in A is a percentile of fewer values than it needs: the maximum or near it.
    pub a_is_of_few: bool,
    /// The same in B.
    pub b_is_of_few: bool,
    /// Seeds of A that count.
    pub seeds_a: usize,
    /// Seeds of B that count.
    pub seeds_b: usize,
}

/// One of the two sides, as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SideInfo {
    /// The run folder.
    pub folder: String,
    /// The schemes that are compared.
    pub schemes: Vec<String>,
    /// The versions of the engine that made its points.
    pub versions: Vec<String>,
    /// The seeds of the run.
    pub seeds: Vec<u64>,
}

/// Two sides, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The first.
    pub a: SideInfo,
    /// The second.
    pub b: SideInfo,
    /// Paths of the swept parameters.
    pub axes: Vec<String>,
    /// What was compared.
    pub rows: Vec<ComparedRow>,
    /// What the reader should know before believing it.
    pub warnings: Vec<String>,
    /// How many points of the two sides are damaged, so that they are not in it.
    pub damaged: usize,
}
