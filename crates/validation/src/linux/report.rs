//! What the comparison prints.

use comfy_table::{CellAlignment, ContentArrangement, Table, TableStyle};

use super::judge::{Compared, cause};

/// All cases, a line each, and the causes of failed bands below.
pub fn overview(all: &[Compared]) -> String {
    let mut table = new_table();
    table.set_header([
        "case", "flows", "mean us", "p50", "p99", "timeouts", "retrans", "drops", "marks", "mean", "p50", "p99",
        "per flow", "largest", "timeouts", "retrans", "drops", "marks", "",
    ]);
    let mut below = Vec::new();
    let is_alone = |name: &str| all.iter().filter(|other| other.name == name).count() == 1;
    for compared in all {
        let linux = &compared.linux;
        let named = format!("{} {}", compared.name, compared.scheme);
        let mut row = vec![
            if is_alone(&compared.name) { compared.name.clone() } else { named },
            linux.flows.to_string(),
            time(linux.mean_us),
            time(linux.p50_us),
            time(linux.p99_us),
            linux.timeouts.to_string(),
            linux.retransmissions.to_string(),
            linux.drops.to_string(),
            linux.marks.to_string(),
        ];
        match &compared.own {
            Ok(own) => row.extend([
                percent(own.mean_us / linux.mean_us - 1.0),
                percent(own.p50_us / linux.p50_us - 1.0),
                percent(own.p99_us / linux.p99_us - 1.0),
                format!("{:.2} %", 100.0 * compared.per_flow.0),
                format!("{:.2} %", 100.0 * compared.per_flow.1),
                own.timeouts.to_string(),
                own.retransmissions.to_string(),
                own.drops.to_string(),
                own.marks.to_string(),
            ]),
            Err(_) => row.extend(std::iter::repeat_n("-".to_owned(), 9)),
        }
        let failed = compared.failed();
        row.push(failed.join(", "));
        table.add_row(row);
        if let Err(why) = &compared.own {
            let first = why.lines().next().unwrap_or_default();
            let first = first.strip_prefix("error: ").unwrap_or(first);
            below.push(format!("{}: tailcut refused the case: {first}", compared.name));
        }
        if !failed.is_empty()
            && let Some(cause) = cause(&compared.name)
        {
            below.push(format!("{}: {cause}", compared.name));
        }
    }
    for column in table.column_iter_mut().skip(1).take(17) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let within = all.iter().filter(|compared| compared.failed().is_empty()).count();
    format!(
        "{table}\nthe first figures are those of Linux, those from the second `mean` on tailcut's: mean, p50 and p99 of \
         the completion times over Linux, the median and the largest difference of single flows, and counts\nlast \
         column: bands that the case is outside of\n{within} of {} cases within all bands\n{}",
        all.len(),
        below.join("\n"),
    )
}

/// Flow by flow.
pub fn flows(compared: &Compared) -> String {
    let mut text = format!("{} {}\n", compared.name, compared.scheme);
    for (round, flow, linux, own) in &compared.pairs {
        let shown = |time: &Option<f64>| time.map_or("unfinished".to_owned(), |ns| format!("{ns:.0} ns"));
        let difference = match (linux, own) {
            (Some(linux), Some(own)) => percent(own / linux - 1.0),
            _ => String::new(),
        };
        text.push_str(&format!(
            "round {round} flow {flow}: Linux {}, tailcut {} {difference}\n",
            shown(linux),
            shown(own)
        ));
    }
    text
}

/// A table with these columns.
pub(super) fn new_table() -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_content_arrangement(ContentArrangement::Disabled);
    table
}

fn percent(share: f64) -> String {
    format!("{:+.2} %", 100.0 * share)
}

fn time(us: f64) -> String {
    if us < 100.0 { format!("{us:.2}") } else { format!("{us:.1}") }
}
