//! `tailcut verify`.

use std::path::PathBuf;

use clap::Args;
use tailcut_lab::{read_info, replay, verify as verify_folder};

use crate::Stop;
use crate::page::{Page, say};

#[derive(Args)]
pub(crate) struct VerifyCommand {
    /// A run folder, such as runs/tail
    folder: PathBuf,
    /// Also simulate so many of its points again, and compare the digests of their events
    #[arg(long, value_name = "N", default_value_t = 0)]
    replay: usize,
}

pub(crate) fn verify(arguments: &VerifyCommand) -> Result<(), Stop> {
    let info = read_info(&arguments.folder, "such as runs/tail")?;
    let found = verify_folder(&arguments.folder, &info);
    let mut out = Page::default();
    for (point, why) in &found.damaged {
        out.line(format_args!("damaged: {}: {why}", point.key));
    }
    for file in &found.damaged_files {
        out.line(format_args!("damaged: {file}"));
    }
    for point in &found.unfinished {
        out.line(format_args!("not finished: {}", point.key));
    }
    out.line(format_args!(
        "{} points: {} are what was written, {} are damaged, {} have not finished",
        info.points.len(),
        found.intact.len(),
        found.damaged.len(),
        found.unfinished.len()
    ));
    let mut differing = 0;
    if arguments.replay > 0 {
        let replays = replay(&arguments.folder, &info, &found.intact, arguments.replay, |replay| {
            say!("replayed {}: {}", replay.point.key, if replay.is_same() { "the same" } else { "another digest" });
        })?;
        for one in replays.iter().filter(|one| !one.is_same()) {
            differing += 1;
            let by = one.other_version.as_ref().map_or_else(String::new, |other| format!(" (made by version {other})"));
            out.line(format_args!("differs: {}: digest {}, and {} was saved{by}", one.point.key, one.now, one.saved));
        }
        out.line(format_args!("{} replayed: {} came to the same", replays.len(), replays.len() - differing));
    }
    out.print();
    match found.damaged.len() + found.damaged_files.len() + differing {
        0 => Ok(()),
        damaged => Err(Stop::Damaged(damaged)),
    }
}
