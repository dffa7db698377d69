//! `tailcut list`.

use tailcut_model::registry::{SeatEntry, seats_of};
use tailcut_record::schema;
use tailcut_sim::config::suggest;
use tailcut_sim::{Config, PRESETS, Problem};

use crate::describe::columns;
use crate::page::Page;

/// Every seat, found by the type of a configuration.
pub(crate) fn seats() -> Vec<SeatEntry> {
    seats_of::<Config>()
}

/// The name of one of the things on a seat, as an argument: `send-order`.
pub(crate) fn singular(seat: &SeatEntry) -> String {
    seat.word.replace(' ', "-")
}

/// The name of all of them: `send-orders`.
pub(crate) fn plural(seat: &SeatEntry) -> String {
    let word = singular(seat);
    match word.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if word.ends_with('s') => format!("{word}es"),
        None => format!("{word}s"),
    }
}

/// Whether `name` means this seat: the word for what sits there, of one or of many, or the key.
pub(crate) fn is_called(seat: &SeatEntry, name: &str) -> bool {
    let key = seat.path.rsplit('.').next().unwrap_or_default();
    let words = [singular(seat), plural(seat), format!("{key}s")];
    words.iter().any(|known| known == name) || key == name || seat.path == name
}

pub(crate) fn list(kind: Option<&str>) -> Result<(), Problem> {
    let mut out = Page::default();
    let seats = seats();
    let names: Vec<String> = seats.iter().map(plural).collect();
    let other = ["schemes", "workloads", "columns"];
    match kind {
        None => {
            for kind in other {
                print(&mut out, kind);
                out.line("");
            }
            for seat in &seats {
                print_seat(&mut out, seat);
                out.line("");
            }
        }
        Some(kind) if other.contains(&kind) => print(&mut out, kind),
        Some(kind) => match seats.iter().find(|seat| is_called(seat, kind)) {
            Some(seat) => print_seat(&mut out, seat),
            None => {
                let known: Vec<&str> = other.into_iter().chain(names.iter().map(String::as_str)).collect();
                return Err(Problem::new(format!("there is no list of `{kind}`")).help(suggest(kind, &known)));
            }
        },
    }
    out.print();
    Ok(())
}

fn print_seat(out: &mut Page, seat: &SeatEntry) {
    let (one, many) = (singular(seat), plural(seat));
    out.line(format_args!("{many}, key {} of a scenario (tailcut show {one} NAME)", seat.path));
    let rows: Vec<_> = seat.models.iter().map(|model| (model.name.clone(), model.doc.clone())).collect();
    columns(out, &rows);
}

fn print(out: &mut Page, kind: &str) {
    match kind {
        "schemes" => {
            out.line("schemes (tailcut show scheme NAME)");
            let rows: Vec<(String, String)> = PRESETS
                .iter()
                .map(|preset| {
                    let mut name = preset.name.to_owned();
                    for profile in preset.profiles() {
                        name.push_str(&format!(" @{profile}"));
                    }
                    (name, preset.describe("summary").unwrap_or_default())
                })
                .collect();
            columns(out, &rows);
        }
        "workloads" => {
            out.line("flow-size distributions (tailcut show workload NAME)");
            let rows: Vec<_> =
                tailcut_workload::distributions().iter().map(|d| (d.name.to_owned(), d.summary.to_owned())).collect();
            columns(out, &rows);
        }
        _ => {
            for (file, columns) in [
                ("flows.parquet", schema::FLOW_COLUMNS.to_vec()),
                ("queries.parquet", schema::QUERY_COLUMNS.to_vec()),
                ("ports.parquet", schema::port_columns()),
                ("queues.parquet", schema::QUEUE_COLUMNS.to_vec()),
                ("queue_series.parquet", schema::SERIES_COLUMNS.to_vec()),
                ("throughput.parquet", schema::THROUGHPUT_COLUMNS.to_vec()),
            ] {
                out.line(format_args!("columns of {file}"));
                let rows: Vec<_> = columns
                    .iter()
                    .map(|column| {
                        (
                            column.name.to_string(),
                            if column.unit.is_empty() {
                                column.meaning.to_string()
                            } else {
                                format!("{} [{}]", column.meaning, column.unit)
                            },
                        )
                    })
                    .collect();
                self::columns(out, &rows);
            }
        }
    }
}
