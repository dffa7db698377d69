//! `tailcut compare`.

use clap::Args;
use tailcut_lab::compare::{Selection, Side, compare as compare_sides};

use crate::Stop;
use crate::format::TableFormat;
use crate::page::{Page, say};

#[derive(Args)]
pub(crate) struct CompareCommand {
    /// A run folder, or a scheme of it: runs/tail or runs/tail:dctcp
    #[arg(value_name = "A")]
    a: Side,
    /// What it is compared with
    #[arg(value_name = "B")]
    b: Side,
    /// Metrics, as in summary.csv [default: fct_mean, fct_p99, goodput_mean and slowdown_mean]
    #[arg(long = "metric", value_name = "METRIC", num_args = 1.., value_delimiter = ',')]
    metrics: Vec<String>,
    /// Traffic classes, or `all` [default: each class of the workload]
    #[arg(long = "class", value_name = "CLASS", num_args = 1.., value_delimiter = ',')]
    classes: Vec<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

pub(crate) fn compare(arguments: &CompareCommand) -> Result<(), Stop> {
    let selection = Selection { metrics: arguments.metrics.clone(), classes: arguments.classes.clone() };
    let comparison = compare_sides(&arguments.a, &arguments.b, &selection)?;
    for warning in &comparison.warnings {
        say!("warning: {warning}");
    }
    let mut out = Page::default();
    let text = match arguments.format {
        TableFormat::Table => comparison.to_table(),
        TableFormat::Csv => comparison.to_csv(),
        TableFormat::Json => comparison.to_json(),
    };
    out.line(text.trim_end());
    out.print();
    if comparison.damaged == 0 { Ok(()) } else { Err(Stop::Damaged(comparison.damaged)) }
}
