//! Whole run folders, from fabricated points to files.

use std::path::Path;

use super::fabricate::{USUAL, fabricate};
use super::*;

/// Where pictures and pages are kept for a human to look at, if the environment names a folder.
fn kept(name: &str) -> (Option<tempfile::TempDir>, PathBuf) {
    match std::env::var_os("TAILCUT_KEEP") {
        Some(folder) => (None, Path::new(&folder).join(name)),
        None => {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().to_owned();
            (Some(folder), path)
        }
    }
}

#[test]
fn the_usual_run() {
    let (_keep, dir) = kept("usual");
    let run = fabricate(&dir, &USUAL);
    let t = std::time::Instant::now();
    let summary = write_results(&dir, &run).unwrap();
    eprintln!("{:?} {} files", t.elapsed(), summary.files.len());
    for t in &summary.tables { eprintln!("{}", t.text); }
    for w in &summary.warnings { eprintln!("{w}"); }
}
