//! `tailcut list`.

use schemars::JsonSchema;
use tailcut_record::schema;
use tailcut_sim::config::suggest;
use tailcut_sim::seats;
use tailcut_sim::{PRESETS, Problem};
use tailcut_topology::TopologyConfig;

use crate::describe::{Schema, columns};
use crate::page::Page;

/// A seat by its name in lists, the key that it has in a scenario, and its models.
pub(crate) struct Seat {
    pub(crate) name: &'static str,
    pub(crate) key: &'static str,
    pub(crate) schema: fn() -> Schema,
}

impl Seat {
    /// The name of one of its models: `marker` of `markers`, and `loss` as it is.
    pub(crate) fn singular(&self) -> &'static str {
        if self.name.ends_with("ss") { self.name } else { self.name.strip_suffix('s').unwrap_or(self.name) }
    }
}

const fn seat<T: JsonSchema>(name: &'static str, key: &'static str) -> Seat {
    Seat { name, key, schema: Schema::of::<T> }
}

/// Every seat.
pub(crate) const SEATS: &[Seat] = &[
    seat::<seats::TransportConfig>("transports", "host.transport"),
    seat::<seats::CongestionConfig>("congestion", "host.congestion"),
    seat::<seats::OrderConfig>("orders", "host.order"),
    seat::<seats::TagConfig>("tags", "host.tag"),
    seat::<seats::PaceConfig>("pacing", "host.pace"),
    seat::<seats::ReceiveConfig>("receive-windows", "host.receive"),
    seat::<seats::LossConfig>("loss", "port.loss"),
    seat::<seats::ClassifierConfig>("classifiers", "port.classifier"),
    seat::<seats::SchedulerConfig>("schedulers", "port.scheduler"),
    seat::<seats::MarkerConfig>("markers", "port.marker"),
    seat::<seats::BufferConfig>("buffers", "port.buffer"),
    seat::<seats::PathConfig>("paths", "path"),
];

pub(crate) fn list(kind: Option<&str>) -> Result<(), Problem> {
    let mut out = Page::default();
    let mut known = vec!["schemes", "topologies", "workloads", "columns"];
    known.extend(SEATS.iter().map(|seat| seat.name));
    match kind {
        None => {
            for kind in known {
                print(&mut out, kind);
                out.line("");
            }
        }
        Some(kind) if known.contains(&kind) => {
            print(&mut out, kind);
        }
        Some(kind) => {
            return Err(Problem::new(format!("there is no list of `{kind}`")).help(suggest(kind, &known)));
        }
    }
    out.print();
    Ok(())
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
        "topologies" => {
            out.line("topologies (tailcut show topology NAME)");
            let rows: Vec<_> =
                TopologyConfig::KINDS.iter().map(|kind| (kind.name.to_owned(), kind.doc.join(" "))).collect();
            columns(out, &rows);
        }
        "workloads" => {
            out.line("flow-size distributions (tailcut show workload NAME)");
            let rows: Vec<_> =
                tailcut_workload::distributions().iter().map(|d| (d.name.to_owned(), d.summary.to_owned())).collect();
            columns(out, &rows);
        }
        "columns" => {
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
        _ => {
            let seat = SEATS.iter().find(|seat| seat.name == kind).expect("the kind is known");
            out.line(format_args!("{} (key {} of a scenario)", seat.name, seat.key));
            columns(out, &(seat.schema)().variants());
        }
    }
}
