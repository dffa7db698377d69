//! Tables of the effects of factors.

use std::fmt::Write;
use std::path::PathBuf;

use serde::Deserialize;
use tailcut_reproduce::EffectTable;
use tailcut_results::stats::FEW_IN_WORDS;
use tailcut_results::table::FEW_BEHIND;

use crate::source::Source;

/// The effects of an experiment of a factorial study: a table for each quantity, with a row for each effect and a
/// column for each value of the coordinate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Effects {
    /// The experiment.
    pub(crate) of: String,
    /// The quantities that are shown, by the study's words; all without it.
    #[serde(default)]
    quantities: Vec<String>,
    /// Show only effects whose interval excludes 1 in some column.
    #[serde(default)]
    clear: bool,
}

impl Effects {
    /// Where they are stored, below `results/`.
    pub(crate) fn file(&self, source: &Source) -> Result<PathBuf, String> {
        let Source::Study { scale, .. } = source else { return Err("only a study has effects".to_owned()) };
        Ok(PathBuf::from(scale.name()).join(format!("{}.effects.csv", self.of)))
    }

    /// The tables. `few` is for each quantity how few values each run has of it, if it is a percentile of fewer than
    /// that needs.
    pub(crate) fn text(&self, table: &EffectTable, few: &dyn Fn(&str) -> Option<u64>) -> Result<String, String> {
        let known = table.quantities();
        if let Some(unknown) = self.quantities.iter().find(|quantity| !known.contains(&quantity.as_str())) {
            return Err(format!("there is no quantity `{unknown}`: expected one of {}", known.join("; ")));
        }
        let shown = |quantity: &&str| self.quantities.is_empty() || self.quantities.iter().any(|one| one == quantity);
        let tables =
            known.iter().filter(|quantity| shown(quantity)).map(|quantity| self.table(table, quantity, few(quantity)));
        Ok(tables.collect::<Vec<_>>().join("\n"))
    }

    fn table(&self, table: &EffectTable, quantity: &str, few: Option<u64>) -> String {
        let values = table.values();
        let heads: Vec<String> = values.iter().map(|at| format!("{} {at}", table.coordinate)).collect();
        let mark = if few.is_some() { FEW_BEHIND } else { "" };
        let mut text = format!("| {quantity}{mark} | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(values.len()));
        for effect in table.effects().into_iter().chain([""]) {
            let rows: Vec<_> = values.iter().map(|at| table.find(quantity, at, effect)).collect();
            let is_clear = rows.iter().flatten().any(|row| row.is_clear());
            if self.clear && !is_clear && !effect.is_empty() {
                continue;
            }
            let cell = |row: &Option<&tailcut_reproduce::EffectRow>| match row {
                Some(row) if row.is_clear() => format!("**{}**", row.text()),
                Some(row) => row.text(),
                None => String::new(),
            };
            let cells: Vec<String> = rows.iter().map(cell).collect();
            let name = if effect.is_empty() { "variation: alone / pairs / more" } else { effect };
            let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
        }
        if let Some(fewest) = few {
            let _ = writeln!(text, "\n{FEW_IN_WORDS} Each run has about {fewest} or more.");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORED: &str = "# coordinate: load\nquantity,at,effect,ratio,low,high,cells,seeds,alone,pairs,more\n\
        \"FCT\",0.4,\"A\",0.5,0.4,0.6,4,2,,,\n\"FCT\",0.4,\"B\",1.1,0.9,1.3,4,2,,,\n\"FCT\",0.4,\"\",,,,4,2,0.9,0.1,0.0\n";

    #[test]
    fn effects_that_chance_does_not_explain_are_bold() {
        let table = EffectTable::parse(STORED).unwrap();
        let of = |clear, quantities: &[&str]| {
            let quantities = quantities.iter().map(|&one| one.to_owned()).collect();
            Effects { of: "x".to_owned(), quantities, clear }.text(&table, &|_| None)
        };
        let head = "| FCT | load 0.4 |\n|---|---|\n| A | **0.5 (0.4 to 0.6)** |\n";
        let parts = "| variation: alone / pairs / more | 90 % / 10 % / 0 % |\n";
        assert_eq!(of(true, &[]).unwrap(), format!("{head}{parts}"));
        assert_eq!(of(false, &["FCT"]).unwrap(), format!("{head}| B | 1.1 (0.9 to 1.3) |\n{parts}"));
        assert!(of(false, &["QCT"]).unwrap_err().contains("no quantity `QCT`"));
        let all = Effects { of: "x".to_owned(), quantities: Vec::new(), clear: false };
        let marked = all.text(&table, &|_| Some(45)).unwrap();
        assert!(marked.starts_with("| FCT † |") && marked.contains("Each run has about 45 or more."), "{marked}");
    }
}
