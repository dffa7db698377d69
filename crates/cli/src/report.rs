//! `tailcut report`.

use std::path::PathBuf;

use clap::Args;
use tailcut_lab::{read_info, report as report_on};

use crate::Stop;
use crate::page::{Page, say};
use crate::run::{tables, whereabouts};

#[derive(Args)]
pub(crate) struct ReportCommand {
    /// A run folder, such as runs/tail
    folder: PathBuf,
}

pub(crate) fn report(arguments: &ReportCommand) -> Result<(), Stop> {
    let folder = &arguments.folder;
    let info = read_info(folder, "such as runs/tail")?;
    let report = report_on(folder, &info)?;
    if report.in_use {
        say!("warning: a run goes on in {}: this is what is finished so far", folder.display());
    }
    for warning in &report.results.warnings {
        say!("warning: {warning}");
    }
    let mut out = Page::default();
    tables(&mut out, &report.results);
    whereabouts(&mut out, folder);
    out.print();
    let damaged: Vec<_> = report.results.missing.iter().filter(|missing| missing.damaged).collect();
    for missing in &damaged {
        say!("damaged: {}: {}", missing.point.key, missing.reason);
    }
    if damaged.is_empty() { Ok(()) } else { Err(Stop::Damaged(damaged.len())) }
}
