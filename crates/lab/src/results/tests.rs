//! Whole run folders, from fabricated points to files.

use std::fs;
use std::path::Path;

use super::fabricate::{Plan, USUAL, fabricate, run_info};
use super::*;

#[test]
fn look() {
    for (name, plan) in [
        ("usual", USUAL),
        ("plain", Plan { axes: &[], seeds: 5, ..USUAL }),
        ("many", Plan { axes: &[("workload.load", &["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"])], seeds: 1, flows: 1000, schemes: &["slytherin","pias","dctcp","icon","pfabric","homa","a-much-longer-scheme-name","spq","hyline"], ..USUAL }),
        ("two", Plan { axes: &[("fabric.path", &["ecmp", "spray"]), ("fabric.buffer.size", &["100KB", "240KB", "1MB"])], flows: 800, ..USUAL }),
        ("names", Plan { axes: &[("fabric.path", &["ecmp", "spray", "round-robin"])], flows: 800, classes: &["flows"], ..USUAL }),
    ] {
        let dir = Path::new("/tmp/keep").join(name);
        let run = fabricate(&dir, &plan);
        write_results(&dir, &run).unwrap();
    }
    let _ = run_info;
    let _ = fs::read_dir("/tmp");
}
