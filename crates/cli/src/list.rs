//! `tailcut list`.

use serde_json::{Value, json};
use tailcut_model::registry::{SeatEntry, seats_of};
use tailcut_record::schema;
use tailcut_reproduce as reproduce;
use tailcut_results::METRICS;
use tailcut_sim::config::suggest;
use tailcut_sim::{Config, PRESETS, Problem};

use crate::describe::columns;
use crate::format::TextFormat;
use crate::page::Page;

/// Lists of what is not on a seat.
const OTHER: [&str; 6] = ["schemes", "workloads", "columns", "metrics", "experiments", "studies"];

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
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if word.ends_with('s') => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

/// Whether `name` means this seat: the word for what sits there, of one or of many, or the key.
pub(crate) fn is_called(seat: &SeatEntry, name: &str) -> bool {
    let key = seat.path.rsplit('.').next().unwrap_or_default();
    let words = [singular(seat), plural(seat), format!("{key}s")];
    words.iter().any(|known| known == name) || key == name || seat.path == name
}

/// A list: what stands above it, and what is on it.
struct List {
    title: String,
    entries: Vec<Entry>,
}

/// Something on a list: as it is shown, and as a JSON object.
struct Entry {
    name: String,
    meaning: String,
    json: Value,
}

pub(crate) fn list(kind: Option<&str>, format: TextFormat) -> Result<(), Problem> {
    let seats = seats();
    let lists: Vec<List> = match kind {
        None => {
            let mut all = Vec::new();
            for kind in OTHER {
                all.extend(other(kind)?);
            }
            all.extend(seats.iter().map(of_seat));
            all
        }
        Some(kind) if OTHER.contains(&kind) => other(kind)?,
        Some(kind) => match seats.iter().find(|seat| is_called(seat, kind)) {
            Some(seat) => vec![of_seat(seat)],
            None => {
                let names: Vec<String> = seats.iter().map(plural).collect();
                let known: Vec<&str> = OTHER.into_iter().chain(names.iter().map(String::as_str)).collect();
                return Err(Problem::new(format!("there is no list of `{kind}`")).help(suggest(kind, &known)));
            }
        },
    };
    let mut out = Page::default();
    match format {
        TextFormat::Json => lists.iter().flat_map(|list| &list.entries).for_each(|entry| out.line(&entry.json)),
        TextFormat::Text => {
            for (at, list) in lists.into_iter().enumerate() {
                if at > 0 {
                    out.line("");
                }
                out.line(list.title);
                let rows: Vec<(String, String)> =
                    list.entries.into_iter().map(|entry| (entry.name, entry.meaning)).collect();
                columns(&mut out, &rows);
            }
        }
    }
    out.print();
    Ok(())
}

fn of_seat(seat: &SeatEntry) -> List {
    let (one, many) = (singular(seat), plural(seat));
    let entry = |model: &tailcut_model::registry::ModelEntry| Entry {
        name: model.name.clone(),
        meaning: model.doc.clone(),
        json: json!({ "list": many, "key": seat.path, "name": model.name, "meaning": model.doc }),
    };
    List {
        title: format!("{many}, key {} of a scenario (tailcut show {one} NAME)", seat.path),
        entries: seat.models.iter().map(entry).collect(),
    }
}

fn other(kind: &str) -> Result<Vec<List>, Problem> {
    Ok(match kind {
        "schemes" => vec![schemes()],
        "workloads" => vec![workloads()],
        "metrics" => vec![metrics()],
        "experiments" => vec![experiments()?],
        "studies" => vec![studies()?],
        _ => columns_of_files(),
    })
}

fn experiments() -> Result<List, Problem> {
    let entry = |name: &str| {
        let experiment = reproduce::find(name)?;
        let (study, meaning) = (experiment.study.clone(), reproduce::title_of(&experiment));
        let json = json!({ "list": "experiments", "name": name, "study": study, "meaning": meaning });
        Ok(Entry { name: name.to_owned(), meaning, json })
    };
    let entries = reproduce::names().map(entry).collect::<Result<Vec<_>, Problem>>()?;
    Ok(List { title: "experiments (tailcut reproduce NAME)".to_owned(), entries })
}

fn studies() -> Result<List, Problem> {
    let entry = |name: &str| {
        let meaning = reproduce::study(name)?.title;
        let json = json!({ "list": "studies", "name": name, "meaning": meaning });
        Ok(Entry { name: name.to_owned(), meaning, json })
    };
    let entries = reproduce::studies().map(entry).collect::<Result<Vec<_>, Problem>>()?;
    Ok(List { title: "studies (tailcut show study NAME)".to_owned(), entries })
}

fn schemes() -> List {
    let entries = PRESETS.iter().map(|preset| {
        let (profiles, meaning) = (preset.profiles(), preset.describe("summary").unwrap_or_default());
        let shown = profiles.iter().map(|profile| format!(" @{profile}")).collect::<String>();
        let json = json!({ "list": "schemes", "name": preset.name, "profiles": profiles, "meaning": meaning });
        Entry { name: format!("{}{shown}", preset.name), meaning, json }
    });
    List { title: "schemes (tailcut show scheme NAME)".to_owned(), entries: entries.collect() }
}

fn workloads() -> List {
    let entries = tailcut_workload::distributions().iter().map(|known| Entry {
        name: known.name.to_owned(),
        meaning: known.summary.to_owned(),
        json: json!({ "list": "workloads", "name": known.name, "meaning": known.summary, "source": known.source }),
    });
    List { title: "flow-size distributions (tailcut show workload NAME)".to_owned(), entries: entries.collect() }
}

fn metrics() -> List {
    let entries = METRICS.iter().map(|metric| Entry {
        name: metric.name.to_owned(),
        meaning: format!("{} [{}; n counts {}]", metric.meaning, metric.unit, metric.of),
        json: json!({
            "list": "metrics",
            "name": metric.name,
            "unit": metric.unit,
            "of": metric.of,
            "meaning": metric.meaning,
        }),
    });
    List { title: "metrics of summary.csv, of --metric and of --of".to_owned(), entries: entries.collect() }
}

fn columns_of_files() -> Vec<List> {
    let files = [
        ("flows.parquet", [schema::FLOW_COLUMNS, schema::PERMISSION_COLUMNS, &schema::breakdown_columns()].concat()),
        ("queries.parquet", schema::QUERY_COLUMNS.to_vec()),
        ("ports.parquet", schema::port_columns()),
        ("queues.parquet", schema::QUEUE_COLUMNS.to_vec()),
        ("queue_series.parquet", schema::SERIES_COLUMNS.to_vec()),
        ("memory_series.parquet", schema::MEMORY_COLUMNS.to_vec()),
        ("bursts.parquet", schema::BURST_COLUMNS.to_vec()),
        ("throughput.parquet", schema::THROUGHPUT_COLUMNS.to_vec()),
    ];
    let list = |(file, columns): (&str, Vec<schema::Column>)| List {
        title: format!("columns of {file}"),
        entries: columns
            .iter()
            .map(|column| {
                let unit = if column.unit.is_empty() { String::new() } else { format!(" [{}]", column.unit) };
                Entry {
                    name: column.name.to_string(),
                    meaning: format!("{}{unit}", column.meaning),
                    json: json!({
                        "list": "columns",
                        "file": file,
                        "name": column.name,
                        "unit": column.unit,
                        "meaning": column.meaning,
                    }),
                }
            })
            .collect(),
    };
    files.into_iter().map(list).collect()
}
