//! Whole simulations, run as the command runs them.

use std::path::{Path, PathBuf};

use tailcut_record::Recorder;
use tailcut_sim::{Outcome, Preset, Problem, Scenario, Tree, World};

use crate::thread_cpu_ns;

/// Keys of a scenario file that are not of one simulation.
const OF_A_RUN: [&str; 8] = ["name", "title", "schemes", "seeds", "sweep", "scheme", "class_sets", "size_bounds"];

/// A file of this repository, by its path from the root.
pub fn in_repository(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

/// The simulation of `scheme`, a preset or `preset@variant`, on the scenario in `file`, a path from the root, with the
/// assignments of `set`, as if they were made for this scheme by its name, and seed 1.
///
/// # Errors
/// If the scenario cannot be read or is wrong.
pub fn scenario(file: &str, set: &[&str], scheme: &str) -> Result<Scenario, Problem> {
    let path = in_repository(file);
    let text = std::fs::read_to_string(&path).map_err(|e| Problem::new(format!("cannot read {file}: {e}")))?;
    scenario_of(file, &text, path.parent().unwrap_or(Path::new("")), set, scheme)
}

/// As [`scenario`], of a scenario's text. Messages call it `name`, and it finds its files in `folder`.
///
/// # Errors
/// If it is wrong.
pub fn scenario_of(name: &str, text: &str, folder: &Path, set: &[&str], scheme: &str) -> Result<Scenario, Problem> {
    let mut scenario = Tree::parse(name, text)?;
    for key in OF_A_RUN {
        scenario.take(key);
    }
    let assignments = set.iter().map(|assignment| Tree::parse_assignment(assignment)).collect::<Result<Vec<_>, _>>()?;
    let by_name: Vec<&Tree> = assignments.iter().collect();
    Scenario::new(&Preset::scheme(scheme)?.in_scenario(&[&scenario], &by_name), 1, folder)
}

/// Runs a world from its first event to its last. Never inlined: its name is what callgrind looks for.
#[inline(never)]
pub fn run_event_loop(world: World<'_>) -> Outcome {
    world.run()
}

/// Builds the world of `scenario` and runs it with the default recording. The outcome, and the CPU time of both in ns.
pub fn run(scenario: &Scenario) -> (Outcome, u64) {
    let began = thread_cpu_ns();
    let outcome = run_event_loop(World::new(scenario, Recorder::new()));
    (outcome, thread_cpu_ns() - began)
}

#[cfg(test)]
mod tests {
    use tailcut_sim::Config;

    use super::*;

    fn config(set: &[&str], scheme: &str) -> Config {
        let scenario = scenario("scenarios/peers.toml", set, scheme);
        scenario.unwrap_or_else(|problem| panic!("{}", problem.render(false))).config().clone()
    }

    #[test]
    fn a_scheme_is_laid_over_the_scenario_and_assignments_over_both() {
        let mut dctcp = config(&[], "dctcp");
        let shallow = config(&[], "slytherin@shallow");
        assert_eq!((dctcp.port.limit_bytes(), shallow.port.limit_bytes()), (240 * 1500, 240_000));
        assert_eq!(config(&["port.limit=1MB"], "slytherin@shallow").port.limit_bytes(), 1_000_000);
        let marker = format!("{:?}", config(&[], "slytherin").port.marker);
        assert!(marker.contains("inclusive: true"), "{marker}");
        // What the scheme does not speak of is the scenario's.
        dctcp.port = shallow.port.clone();
        assert_eq!(shallow, dctcp);
    }

    #[test]
    fn every_scenario_of_the_repository_without_settings_can_be_measured() {
        for entry in std::fs::read_dir(in_repository("scenarios")).unwrap() {
            let file = format!("scenarios/{}", entry.unwrap().file_name().to_string_lossy());
            let text = std::fs::read_to_string(in_repository(&file)).unwrap();
            if file.ends_with(".toml") && !text.contains("[settings.") {
                scenario(&file, &[], "dctcp").unwrap_or_else(|problem| panic!("{file}: {}", problem.render(false)));
            }
        }
    }

    #[test]
    fn what_is_wrong_is_a_problem() {
        assert!(scenario("scenarios/peers.toml", &[], "dctp").is_err());
        assert!(scenario("scenarios/peer.toml", &[], "dctcp").is_err());
        assert!(scenario("scenarios/peers.toml", &["port.limit=3"], "dctcp").is_err());
    }
}
