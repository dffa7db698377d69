//! Any bytes as damage to a run folder: a damaged point is told, an intact one is not called damaged, and nothing
//! panics.
//!
//! Each four bytes are one damage: a file, a place in it, and what becomes of the byte there or of the rest.

use std::fs;
use std::sync::LazyLock;

use tailcut_lab::{Failure, Parallelism, Plan, Progress, RunArguments, RunOptions, read_info, run as run_plan, verify};
use tailcut_results::PointSummary;

const SCENARIO: &str = "schemes = [\"dctcp\"]\n\
    [topology.star]\nhosts = 3\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n\
    [workload.traffic.a]\nlist = [{ src = 0, dst = 1, size = \"20KB\" }]\n";

struct Silent;

impl Progress for Silent {
    fn begin(&self, _: usize, _: usize) {}
    fn advanced(&self, _: usize, _: f64) {}
    fn finished(&self, _: usize, _: &PointSummary) {}
    fn failed(&self, _: usize, failure: &Failure) {
        panic!("{}", failure.reason);
    }
    fn stop(&self) -> bool {
        false
    }
}

/// A run of one point.
struct Whole {
    folder: tempfile::TempDir,
    /// The key of the point.
    key: String,
    /// The names of its files, and what is in each.
    files: Vec<(String, Vec<u8>)>,
}

static POINT: LazyLock<Whole> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder for the run");
    let plan = Plan::parse("fuzz.toml", SCENARIO, "fuzz", folder.path(), &RunArguments::default());
    let plan = plan.unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let options = RunOptions {
        out: folder.path().join("run"),
        parallelism: Parallelism { jobs: Some(1), threads: Some(1) },
        command: "tailcut run fuzz.toml".to_owned(),
        shared: Vec::new(),
        executor: None,
    };
    run_plan(&plan, &options, &Silent).expect("the run is written");
    let key = plan.points[0].point.key.clone();
    let point = options.out.join("points").join(&key);
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(&point)
        .expect("the point is there")
        .map(|entry| entry.expect("a file"))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file")))
        .collect();
    files.sort();
    Whole { folder, key, files }
});

/// Damages a copy of the run and looks at it.
pub fn run(bytes: &[u8]) {
    let Whole { folder: whole, key, files } = &*POINT;
    let mut damaged = files.clone();
    for damage in bytes.chunks_exact(4).take(8) {
        let file = usize::from(damage[0]) % damaged.len();
        let content = &mut damaged[file].1;
        let place = usize::from(damage[1]) << 8 | usize::from(damage[2]);
        let place = place % content.len().max(1);
        match damage[3] {
            0 => content.truncate(place),
            255 => content.insert(place.min(content.len()), damage[1]),
            other if !content.is_empty() => content[place] ^= other,
            _ => {}
        }
    }
    let folder = tempfile::tempdir().expect("a folder for the copy");
    let copy = folder.path().join("run");
    let point = copy.join("points").join(key);
    fs::create_dir_all(&point).expect("a folder of a point");
    fs::copy(whole.path().join("run").join("run.json"), copy.join("run.json")).expect("the run's own file");
    for (name, content) in &damaged {
        fs::write(point.join(name), content).expect("a file of the copy");
    }

    let info = read_info(&copy, "tailcut verify").expect("run.json is as it was");
    let found = verify(&copy, &info);
    let is_whole = damaged == *files;
    assert_eq!(found.intact.len(), usize::from(is_whole), "{:?}", found.damaged);
    assert_eq!(found.damaged.len(), usize::from(!is_whole));
}
