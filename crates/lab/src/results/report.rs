//! x
use super::RunInfo; use super::analysis::Analysis; use super::figure::Figure;
pub(crate) fn page(_run: &RunInfo, _analysis: &Analysis, _figures: &[Figure]) -> String { String::new() }
