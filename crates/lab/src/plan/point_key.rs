//! Names of the folders of points.

use std::path::Path;

use tailcut_sim::{Files, Tree};

use crate::version::{fingerprint, version};

/// Name of the folder of a point: readable, and different for another program and for other content. `content` is a
/// fingerprint of the scenario with its files.
pub(super) fn point_key(scheme: &str, values: &[String], seed: u64, content: u64) -> String {
    let identity = format!("{scheme}\n{values:?}\n{seed}\n{content:016x}\n{}", version());
    let readable: String = std::iter::once(scheme)
        .chain(values.iter().map(String::as_str))
        .map(|part| {
            part.chars().map(|c| if c.is_alphanumeric() || ".-@".contains(c) { c } else { '_' }).collect::<String>()
        })
        .collect::<Vec<_>>()
        .join("-");
    let short: String = readable.chars().take(80).collect();
    format!("{short}-s{seed}-{:08x}", fingerprint(identity.as_bytes()) as u32)
}

/// A fingerprint of the files that a workload or a topology names, whose bytes count as a part of the scenario.
pub(super) fn files_fingerprint(tree: &Tree, files: &Files) -> u64 {
    fn walk(tree: &Tree, files: &Files, state: &mut u64) {
        if let Some(path) = tree.get("path").and_then(Tree::as_str)
            && let Ok(bytes) = files.read("path", Path::new(path))
        {
            *state = tailcut_base::mix64(*state ^ fingerprint(&bytes));
        }
        for (_, child) in tree.entries() {
            walk(child, files, state);
        }
    }
    let mut state = 0;
    walk(tree.nearest("workload"), files, &mut state);
    walk(tree.nearest("topology"), files, &mut state);
    state
}
