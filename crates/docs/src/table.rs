//! Tables of statistics, as Markdown.

use serde::Deserialize;

use tailcut_results::stats::FEW_IN_WORDS;
use tailcut_results::table::FEW_BEHIND;

use crate::cell::Cell;
use crate::figures::Figures;

/// A table: its cells are what their row and their column say together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// What stands above the heads of the rows.
    #[serde(default)]
    corner: String,
    /// What every cell says that neither its row nor its column does.
    #[serde(default)]
    cells: Cell,
    rows: Vec<Cell>,
    columns: Vec<Cell>,
}

impl Table {
    /// The table as Markdown.
    ///
    /// # Errors
    /// What a cell lacks, or that there is no such statistic.
    pub(crate) fn text(&self, figures: &Figures) -> Result<String, String> {
        let head = |cell: &Cell| cell.head.clone().unwrap_or_default();
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut heads = vec![self.corner.clone()];
        heads.extend(self.columns.iter().map(head));
        let mut text = line(heads) + "|" + &"---|".repeat(1 + self.columns.len()) + "\n";
        for row in &self.rows {
            let mut cells = vec![head(row)];
            for column in &self.columns {
                cells.push(self.cells.with(row).with(column).text(figures)?);
            }
            text += &line(cells);
        }
        if text.contains(FEW_BEHIND) {
            text += &format!("\n{FEW_IN_WORDS}\n");
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_what_its_row_and_its_column_say() {
        let figures = "scheme,at,class,metric,value,low,high\ntcp,load=0.4,all,fct_p99,1,,\ntcp,load=0.8,all,fct_p99,2,,\n\
                       pias,load=0.4,all,fct_p99,3,,\npias,load=0.8,all,fct_p99,4,,\n";
        let table = "corner = \"p99\"\ncells = { metric = \"fct_p99\", digits = 1 }\n\
                     rows = [{ head = \"TCP\", scheme = \"tcp\" }, { head = \"PIAS\", scheme = \"pias\" }]\n\
                     columns = [{ head = \"0.4\", at.load = \"0.4\" }, { head = \"0.8\", at.load = \"0.8\" }]\n";
        let table: Table = toml::from_str(table).unwrap();
        let text = table.text(&Figures::read(figures).unwrap()).unwrap();
        assert_eq!(text, "| p99 | 0.4 | 0.8 |\n|---|---|---|\n| TCP | 1 | 2 |\n| PIAS | 3 | 4 |\n");
    }
}
