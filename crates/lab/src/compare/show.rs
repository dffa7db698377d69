//! A comparison as a table for the terminal, as CSV and as JSON.

use tailcut_base::dotted;
use tailcut_results::Axis;
use tailcut_results::csv::{self, AxisNumbers, CsvTable};
use tailcut_results::number::aligned;
use tailcut_results::stats::{Difference, Method};
use tailcut_results::table::{FEW_BEHIND, align_right, list_of_notes, meaning_of_few, ruled_table};

use super::comparison::{ComparedRow, Comparison, SideInfo};

impl Comparison {
    /// A table with what is needed to read it; ends in a line feed.
    pub fn to_table(&self) -> String {
        let mut table = ruled_table();
        let schemes = self.a.schemes.len() > 1;
        let mut head: Vec<String> = if schemes { vec!["scheme".into()] } else { Vec::new() };
        head.extend(self.axes.iter().map(|path| dotted::last(path).to_owned()));
        head.extend(["class", "metric"].map(str::to_owned));
        let texts = head.len();
        head.extend(["A", "B", "B/A", "95 %", "B is", "seeds"].map(str::to_owned));
        table.set_header(head);
        for row in &self.rows {
            let mut cells = if schemes { vec![row.scheme_a.clone()] } else { Vec::new() };
            cells.extend(row.values.iter().cloned());
            cells.extend([row.class.clone(), format!("{} ({})", row.metric, row.unit)]);
            let marked =
                |value: f64, is_of_few| format!("{}{}", aligned(value, 4), if is_of_few { FEW_BEHIND } else { "" });
            cells.extend([marked(row.a, row.a_is_of_few), marked(row.b, row.b_is_of_few)]);
            cells.extend([row.ratio.ratio.map_or("-".into(), ratio), interval(row)]);
            let star = if row.note.is_some() { " *" } else { "" };
            cells.extend([format!("{}{star}", row.ratio.difference.text()), seeds(row)]);
            table.add_row(cells);
        }
        align_right(&mut table, texts..texts + 4);
        let (a, b) = (side("A", &self.a), side("B", &self.b));
        let has_few = self.rows.iter().any(|row| row.a_is_of_few || row.b_is_of_few);
        let few = if has_few { meaning_of_few() } else { String::new() };
        let notes = list_of_notes(self.rows.iter().filter_map(|row| row.note.as_deref()).collect());
        format!("{a}{b}{table}\n{few}{notes}{}{}", self.methods(), self.chance())
    }

    /// Lines that say how the rows were compared: paired by seed or not.
    fn methods(&self) -> String {
        let paired = self.rows.iter().filter(|row| row.ratio.method == Method::Paired).count();
        let unpaired = self.rows.len() - paired;
        let one = "paired by seed: equal seeds have equal flows on both sides, and are compared with each other";
        let two = "unpaired (Welch): seeds or flows differ, and the sides are independent samples";
        match (paired, unpaired) {
            (_, 0) => format!("{one}\n"),
            (0, _) => format!("{two}\n"),
            _ => format!("{paired} rows {one}\n{unpaired} rows {two}\n"),
        }
    }

    /// A line that warns of looking at many rows: some of them differ by chance.
    fn chance(&self) -> String {
        let judged = self.rows.iter().filter(|row| row.ratio.difference != Difference::Unknown).count();
        if judged == 0 {
            return String::new();
        }
        let expected = judged as f64 / 20.0;
        format!("at 95 % one in twenty differs by chance alone: about {expected:.1} of these {judged} rows\n")
    }

    /// One line for each row.
    pub fn to_csv(&self) -> String {
        let axis = |(at, path): (usize, &String)| {
            let values = self.rows.iter().map(|row| row.values[at].clone()).collect();
            Axis { path: path.clone(), values }
        };
        let axes: Vec<Axis> = self.axes.iter().enumerate().map(axis).collect();
        let numbers = AxisNumbers::of(&axes);
        let head = ["scheme_a", "scheme_b"].map(str::to_owned).into_iter();
        let head = head.chain(self.axes.iter().cloned()).chain(numbers.heads());
        let columns = ["class", "metric", "unit", "a", "b", "ratio", "low", "high", "verdict", "method"];
        let columns = columns.into_iter().chain(["seeds_a", "seeds_b", "note"]).map(str::to_owned);
        let mut table = CsvTable::new(head.chain(columns));
        for row in &self.rows {
            let ratio = &row.ratio;
            let mut fields = vec![row.scheme_a.clone(), row.scheme_b.clone()];
            fields.extend(row.values.iter().cloned().chain(numbers.cells(&row.values)));
            fields.extend([row.class.clone(), row.metric.clone(), row.unit.to_owned()]);
            fields.extend([Some(row.a), Some(row.b), ratio.ratio, ratio.low, ratio.high].map(csv::number));
            fields.extend([ratio.difference.text(), ratio.method.text()].map(str::to_owned));
            fields.extend([row.seeds_a, row.seeds_b].map(|seeds| seeds.to_string()));
            fields.push(row.note.clone().unwrap_or_default());
            table.line(fields);
        }
        table.finish()
    }

    /// Everything, with the warnings.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and texts are JSON") + "\n"
    }
}

fn side(name: &str, side: &SideInfo) -> String {
    let seeds = side.seeds.len();
    let s = if seeds == 1 { "" } else { "s" };
    format!("{name}: {}, {}, {seeds} seed{s}, {}\n", side.folder, side.schemes.join(", "), side.versions.join(", "))
}

/// A ratio as text. Three decimals, because ratios are mostly near 1; large ones have four digits in all.
fn ratio(value: f64) -> String {
    if value >= 100.0 { aligned(value, 4) } else { format!("{value:.3}") }
}

fn interval(row: &ComparedRow) -> String {
    match (row.ratio.low, row.ratio.high) {
        (Some(low), Some(high)) => format!("{} to {}", ratio(low), ratio(high)),
        _ => "-".to_owned(),
    }
}

fn seeds(row: &ComparedRow) -> String {
    match row.ratio.method {
        Method::Paired => format!("{} pairs", row.seeds_a),
        Method::Unpaired => format!("{} and {}", row.seeds_a, row.seeds_b),
    }
}
