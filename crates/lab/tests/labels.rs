//! A label is true: on every shipped scenario, schemes that differ in a seat do different things, or it is said why not.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tailcut_lab::{Plan, PlannedPoint, RunArguments};
use tailcut_model::registry::seats_of;
use tailcut_record::Recorder;
use tailcut_sim::{Config, Preset, SCHEME_TABLES, World};

/// What makes a shipped scenario short enough for a test, and no shorter: queues still build up.
fn shortened(name: &str) -> Vec<String> {
    let sets: &[&str] = match name {
        "homa" => &["workload.load=0.8", "setting.messages=W4", "workload.flows=4000"],
        "incast" => &["workload.flows=1200"],
        "scale" => &["topology.leaf-spine={ leaves = 4, hosts_per_leaf = 16, spines = 8 }", "workload.duration=5ms"],
        "tail" => &["workload.load=0.8", "workload.duration=8ms"],
        _ => &["workload.flows=800"],
    };
    sets.iter().map(|&set| set.to_owned()).collect()
}

/// The digest of one simulation.
fn digest(planned: &PlannedPoint, base_dir: &Path) -> u64 {
    let scenario = planned.scenario(base_dir).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    World::new(&scenario, Recorder::new()).run().engine.digest
}

/// What sits on every seat that a scheme may choose.
fn seats(config: &Config) -> BTreeMap<String, String> {
    static SEATS: LazyLock<Vec<String>> =
        LazyLock::new(|| seats_of::<Config>().into_iter().map(|seat| seat.path).collect());
    let mut values = config.values(&SCHEME_TABLES);
    values.retain(|path, _| SEATS.contains(path));
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
        set.extend([format!("schemes={:?}", Preset::names()), "seeds=[1]".to_owned()]);
        let plan = Plan::read(&file, &RunArguments { set, seeds: None });
        let plan = plan.unwrap_or_else(|problem| panic!("{name}: {}", problem.render(false)));
        assert_eq!(plan.points.len(), Preset::names().len(), "{name}: one point for each preset");
        let next = AtomicUsize::new(0);
        let run = || {
            let mut done = Vec::new();
            while let Some(planned) = plan.points.get(next.fetch_add(1, Ordering::Relaxed)) {
                done.push((planned.point.scheme.clone(), digest(planned, &plan.base_dir)));
            }
            done
        };
        let digests: BTreeMap<String, u64> = std::thread::scope(|scope| {
            let other = scope.spawn(run);
            run().into_iter().chain(other.join().unwrap()).collect()
        });
        let scenarios: Vec<_> = plan.points.iter().map(|planned| planned.scenario(&plan.base_dir).unwrap()).collect();
        for (at, a) in scenarios.iter().enumerate() {
            for (b, other) in scenarios[..at].iter().zip(&plan.points) {
                let (first, second) = (&other.point.scheme, &plan.points[at].point.scheme);
                if digests[first] != digests[second] || seats(a.config()) == seats(b.config()) {
                    continue;
                }
                // Such as: host.congestion = "d2tcp" uses deadlines, and there are none: it behaves as DCTCP.
                let is_said = |warning: &String| warning.contains(" uses ") && warning.contains("there are none");
                if !a.warnings().iter().chain(&b.warnings()).any(is_said) {
                    unexplained.push(format!("{name}: {first} and {second} are the same, and nothing says why"));
                }
            }
        }
    }
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
}
