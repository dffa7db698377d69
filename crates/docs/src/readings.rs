//! Tables of what claims come to under the readings of their document.

use serde::Deserialize;
use tailcut_claims::{ReadJudgement, ReadingResults};
use tailcut_results::number::significant;

/// Claims of a study under its readings: a row for each reading and a column for each claim.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Readings {
    /// What stands above the readings.
    #[serde(default)]
    corner: String,
    /// The readings that are shown, in this order; without it all that were judged, in the order in which they were.
    #[serde(default)]
    rows: Vec<String>,
    columns: Vec<Column>,
}

/// A claim.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    head: String,
    claim: String,
}

impl Readings {
    /// The table as Markdown.
    ///
    /// # Errors
    /// If a claim or a reading was not judged.
    pub(crate) fn text(&self, results: &ReadingResults) -> Result<String, String> {
        let judged = &results.judgements;
        let of = |reading: &str, claim: &str| {
            judged.iter().find(|judgement| judgement.reading == reading && judgement.claim == claim)
        };
        let mut readings: Vec<&str> = self.rows.iter().map(String::as_str).collect();
        if readings.is_empty() {
            for judgement in judged {
                if !readings.contains(&judgement.reading.as_str()) {
                    readings.push(&judgement.reading);
                }
            }
        }
        if let Some(column) = self.columns.iter().find(|column| !judged.iter().any(|one| one.claim == column.claim)) {
            return Err(format!("the claim {} was judged under no reading of {}", column.claim, results.study));
        }
        let heads: Vec<&str> = self.columns.iter().map(|column| column.head.as_str()).collect();
        let mut text = format!("| {} | {} |\n|---|{}\n", self.corner, heads.join(" | "), "---|".repeat(heads.len()));
        for reading in readings {
            let cells: Vec<Option<&ReadJudgement>> =
                self.columns.iter().map(|column| of(reading, &column.claim)).collect();
            if cells.iter().all(Option::is_none) {
                return Err(format!("no claim was judged under the reading {reading} of {}", results.study));
            }
            let cells: Vec<String> = cells.into_iter().map(|judged| judged.map(cell).unwrap_or_default()).collect();
            let name = if reading == "base" { "base".to_owned() } else { format!("`{reading}`") };
            text += &format!("| {name} | {} |\n", cells.join(" | "));
        }
        Ok(text)
    }
}

/// The number that decided, and the verdict.
fn cell(judged: &ReadJudgement) -> String {
    match judged.measured {
        Some(measured) => format!("{}, {}", significant(measured, 3), judged.verdict),
        None => judged.verdict.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_stand_below_each_other_and_claims_beside() {
        let judged = |claim: &str, reading: &str, verdict: &str, measured: Option<f64>| {
            let text = format!(
                "claim,reading,plan,verdict,measured,low,high,reason\n{claim},{reading},,{verdict},{},,,\n",
                measured.map(|measured| measured.to_string()).unwrap_or_default()
            );
            csv::Reader::from_reader(text.as_bytes()).deserialize().next().unwrap().unwrap()
        };
        let results = ReadingResults {
            study: "s".to_owned(),
            scale: "quick".to_owned(),
            judgements: vec![
                judged("a", "base", "reproduced", Some(0.055_54)),
                judged("a", "shallow", "partly", Some(0.34)),
                judged("b", "base", "undecided", None),
            ],
        };
        let table = |text: &str| toml::from_str::<Readings>(text).unwrap().text(&results);
        let columns = "columns = [{ head = \"A\", claim = \"a\" }, { head = \"B\", claim = \"b\" }]";
        let head = "|  | A | B |\n|---|---|---|\n";
        let (base, shallow) = ("| base | 0.0555, reproduced | undecided |\n", "| `shallow` | 0.34, partly |  |\n");
        assert_eq!(table(columns).unwrap(), format!("{head}{base}{shallow}"));
        assert_eq!(table(&format!("rows = [\"shallow\"]\n{columns}")).unwrap(), format!("{head}{shallow}"));
        assert!(table(&format!("rows = [\"deep\"]\n{columns}")).unwrap_err().contains("the reading deep"));
        assert!(table("columns = [{ head = \"C\", claim = \"c\" }]").unwrap_err().contains("the claim c"));
    }
}
