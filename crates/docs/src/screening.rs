//! Tables of what moves claims most under the readings of their document.

use serde::Deserialize;
use tailcut_claims::{ReadingEffect, ReadingResults, Share};

/// Claims of a study, each with the value that moves it most, and with the two that do so together.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Screening {
    /// What stands above the claims.
    #[serde(default)]
    corner: String,
    /// The claims that are shown, in this order; without it all that hold under some readings and not under others.
    #[serde(default)]
    rows: Vec<Row>,
}

/// A claim.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    head: String,
    claim: String,
}

impl Screening {
    /// The table as Markdown.
    ///
    /// # Errors
    /// If a claim was judged under fewer than two readings, or no claim depends on the reading.
    pub(crate) fn text(&self, results: &ReadingResults) -> Result<String, String> {
        let rows = if self.rows.is_empty() { depending(results) } else { self.rows.clone() };
        if rows.is_empty() {
            return Err(format!("every claim of {} holds under all readings or under none", results.study));
        }
        let mut text = format!(
            "| {} | holds under | one value: with it, without it | two together: with both, otherwise |\n|---|---|---|---|\n",
            self.corner
        );
        for Row { head, claim } in rows {
            let under = results.of_claim(&claim).ok_or_else(|| {
                format!("the claim {claim} was judged under fewer than two readings of {}", results.study)
            })?;
            let [value, pair] = results.strongest(&claim).map(|effect| effect.as_ref().map(cell).unwrap_or_default());
            text += &format!("| {head} | {} of {} | {value} | {pair} |\n", under.holds, under.judged);
        }
        Ok(text)
    }
}

/// The claims whose verdict depends on the reading, by their names, in the order in which they were judged.
fn depending(results: &ReadingResults) -> Vec<Row> {
    let mut claims: Vec<&str> = Vec::new();
    for one in &results.judgements {
        if !claims.contains(&one.claim.as_str()) {
            claims.push(&one.claim);
        }
    }
    let depends = |claim: &&str| results.of_claim(claim).is_some_and(|under| (1..under.judged).contains(&under.holds));
    let row = |claim: &str| Row { head: format!("`{claim}`"), claim: claim.to_owned() };
    claims.into_iter().filter(depends).map(row).collect()
}

/// What is taken, and under how many readings the claim then holds.
fn cell(effect: &ReadingEffect) -> String {
    let of = |Share { holds, judged }: Share| format!("{holds} of {judged}");
    let taken: Vec<String> = effect
        .taken
        .split(" and ")
        .map(|name| match name.strip_prefix("not ") {
            Some(name) => format!("not `{name}`"),
            None => format!("`{name}`"),
        })
        .collect();
    format!("{}: {}, {}", taken.join(" and "), of(effect.with), of(effect.without))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> ReadingResults {
        // Every combination of `x`, `y` and two values that change nothing.
        let judged = (0..16u32).flat_map(|bits| {
            let taken: Vec<&str> = ["x", "y", "v", "w"]
                .into_iter()
                .enumerate()
                .filter(|(at, _)| bits >> at & 1 == 1)
                .map(|(_, n)| n)
                .collect();
            let name = if taken.is_empty() { "base".to_owned() } else { taken.join("+") };
            let of = |claim: &str, holds: bool| {
                let verdict = if holds { "reproduced" } else { "not reproduced" };
                format!("{claim},{name},,{verdict},,,,\n")
            };
            [of("a", bits & 3 == 1), of("b", true), of("c", false)]
        });
        let text = "claim,reading,plan,verdict,measured,low,high,reason\n".to_owned() + &judged.collect::<String>();
        let judgements: Result<Vec<_>, _> = csv::Reader::from_reader(text.as_bytes()).deserialize().collect();
        ReadingResults { study: "s".to_owned(), scale: "quick".to_owned(), judgements: judgements.unwrap() }
    }

    #[test]
    fn a_claim_stands_beside_what_moves_it_most() {
        let table = |text: &str| toml::from_str::<Screening>(text).unwrap().text(&results());
        let head = "|  | holds under | one value: with it, without it | two together: with both, otherwise |\n|---|---|---|---|\n";
        let a = "4 of 16 | `x`: 4 of 8, 0 of 8 | `x` and not `y`: 4 of 4, 0 of 12 |\n";
        assert_eq!(table("").unwrap(), format!("{head}| `a` | {a}"));
        let rows = "rows = [{ head = \"C\", claim = \"c\" }, { head = \"B\", claim = \"b\" }]";
        assert_eq!(table(rows).unwrap(), format!("{head}| C | 0 of 16 |  |  |\n| B | 16 of 16 |  |  |\n"));
        assert!(table("rows = [{ head = \"D\", claim = \"d\" }]").unwrap_err().contains("the claim d"));
    }
}
