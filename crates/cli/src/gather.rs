//! `tailcut gather`: the results of points that were run one by one.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tailcut_lab::{gather as gather_points, read_info};

use crate::Stop;
use crate::format::TextFormat;
use crate::page::{Page, say};
use crate::run::{tables, whereabouts};

#[derive(Args)]
pub(crate) struct GatherCommand {
    /// A run folder into which `tailcut run --only` has written points
    folder: PathBuf,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: TextFormat,
    /// Print only warnings and errors, beside what --format json prints
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn gather(arguments: &GatherCommand) -> Result<(), Stop> {
    let folder = &arguments.folder;
    let info = read_info(folder, "such as runs/tail")?;
    let report = gather_points(folder, &info)?;
    if report.in_use {
        say!("warning: points are still being run in {}: this is what is finished so far", folder.display());
    }
    for warning in &report.results.warnings {
        say!("warning: {warning}");
    }
    let (all, missing) = (info.points.len(), &report.results.missing);
    let mut out = Page::default();
    match (arguments.format, arguments.quiet) {
        (TextFormat::Json, _) => {
            for missing in missing {
                out.line(json!({ "kind": "missing", "key": missing.point.key, "reason": missing.reason }));
            }
            out.line(json!({
                "kind": "run",
                "folder": folder,
                "summary": folder.join("summary.csv"),
                "page": folder.join("report.html"),
                "points": all,
                "finished": all - missing.len(),
            }));
        }
        (TextFormat::Text, true) => {}
        (TextFormat::Text, false) => {
            tables(&mut out, &report.results);
            whereabouts(&mut out, folder);
        }
    }
    out.print();
    for missing in missing {
        say!("missing: {}: {}", missing.point.key, missing.reason);
    }
    if missing.is_empty() { Ok(()) } else { Err(Stop::Missing(missing.len(), all)) }
}
