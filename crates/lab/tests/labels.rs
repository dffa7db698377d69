//! A label is true: on every shipped scenario, schemes that differ in a seat do different things, or it is said why
//! not.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_lab::{Failure, Parallelism, Plan, Progress, RunArguments, RunOptions, run};
use tailcut_results::PointSummary;
use tailcut_sim::{Config, Preset, SCHEME_TABLES};

/// What makes a shipped scenario short enough for a test, and no shorter: queues still build up.
fn shortened(name: &str) -> Vec<String> {
    let sets: &[&str] = match name {
        "lossless" => &["workload.flows=2000"],
        "homa" => &["workload.load=0.8", "setting.messages=W4", "workload.flows=1500"],
        "fidelity" => &["setting.network=leaf-spine", "workload.load=0.8", "workload.flows=160"],
        // Some schemes cannot be simulated link by link.
        "links" => &["setting.level=packets", "workload.load=0.6", "workload.flows=160"],
        // Some schemes have no flow level.
        "pdq-scale" => &["fidelity=packet", "setting.network=fat-tree-128", "workload.flows=200"],
        "incast" => &["workload.flows=800"],
        "scale" => &["topology.leaf-spine={ leaves = 4, hosts_per_leaf = 16, spines = 8 }", "workload.duration=3ms"],
        "shared-memory" => &["workload.duration=8ms"],
        // Without further links, with which some schemes do not go together.
        "superways" => &["setting.links=none", "workload.duration=8ms"],
        "tail" => &["workload.load=0.8", "workload.duration=1.5ms"],
        _ => &["workload.flows=160"],
    };
    sets.iter().map(|&set| set.to_owned()).collect()
}

/// Nobody watches.
struct Silent;

impl Progress for Silent {
    fn begin(&self, _: usize, _: usize) {}
    fn advanced(&self, _: usize, _: f64) {}
    fn finished(&self, _: usize, _: &PointSummary) {}
    fn failed(&self, _: usize, _: &Failure) {}
    fn stop(&self) -> bool {
        false
    }
}

/// What sits on every seat that a scheme may choose.
fn seats(config: &Config) -> BTreeMap<String, String> {
    let seats: Vec<String> = config.seats().into_iter().map(|(path, ..)| path).collect();
    let mut values = config.values(&SCHEME_TABLES);
    values.retain(|path, _| seats.contains(path));
    values
}

#[test]
fn presets_that_differ_in_a_seat_differ_on_every_shipped_scenario_or_say_why_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 5, "{files:?}");
    let mut unexplained = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut set = shortened(&name);
        set.extend([
            format!("schemes={:?}", Preset::of_packets().map(|preset| preset.name).collect::<Vec<_>>()),
            "seeds=[1]".to_owned(),
        ]);
        let plan = Plan::read(&file, &RunArguments { set, seeds: None });
        let plan = plan.unwrap_or_else(|problem| panic!("{name}: {}", problem.render(false)));
        assert_eq!(plan.points.len(), Preset::of_packets().count(), "{name}: one point for each preset");
        let out = tempfile::tempdir().unwrap();
        let options = RunOptions {
            out: out.path().join("run"),
            parallelism: Parallelism { jobs: None, threads: Some(1) },
            command: String::new(),
            shared: Vec::new(),
            executor: None,
        };
        let report = run(&plan, &options, &Silent).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(report.failures.is_empty(), "{name}: {:?}", report.failures);
        let digests: BTreeMap<&str, &str> =
            report.points.iter().map(|point| (point.scheme.as_str(), point.engine.digest.as_str())).collect();
        let scenarios: Vec<_> = plan.points.iter().map(|planned| planned.scenario().unwrap()).collect();
        for (at, a) in scenarios.iter().enumerate() {
            for (b, other) in scenarios[..at].iter().zip(&plan.points) {
                let (first, second) = (other.point.scheme.as_str(), plan.points[at].point.scheme.as_str());
                if digests[first] != digests[second] || seats(a.config()) == seats(b.config()) {
                    continue;
                }
                // Before the run, such as: host.congestion = "d2tcp" uses deadlines, and there are none: it behaves as
                // DCTCP. After it: pias and resqueue are the same here: ..., and no packet was dropped.
                let is_said = |warning: &String| warning.contains(" uses ") && warning.contains("there are none");
                let names = |note: &str, name: &str| note.split(' ').any(|word| word == name);
                let mut notes = report.results.notes.iter().filter(|note| note.contains("are the same here"));
                if !a.warnings().iter().chain(&b.warnings()).any(is_said)
                    && !notes.any(|note| names(note, first) && names(note, second))
                {
                    unexplained.push(format!("{name}: {first} and {second} are the same, and nothing says why"));
                }
            }
        }
    }
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
}
