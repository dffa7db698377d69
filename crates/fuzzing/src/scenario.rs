//! Any text as a scenario: it is planned or refused, and what is refused can be shown.
//!
//! What follows a zero byte, up to the next, is a `--set`.

use std::path::Path;

use tailcut_lab::{Plan, RunArguments};

/// Keys that multiply: a network of a million hosts is not wrong, but takes the memory and the time of this test.
const COUNTS: [&str; 6] = ["leaves", "hosts", "spines", "senders", "pairs", "k ="];

/// Most characters that swept values may take, so that there are thousands of points and not millions.
const MOST_SWEPT: usize = 60;

/// Plans the scenario. Returns whether it was one to plan: text, and not too large for a test.
pub fn run(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let mut parts = text.split('\0');
    let scenario = parts.next().unwrap_or_default();
    let arguments = RunArguments { set: parts.map(str::to_owned).collect(), seeds: None };
    if text.split(['\n', '\0']).any(too_many) || swept(text) > MOST_SWEPT {
        return false;
    }
    plan(scenario, &arguments);
    true
}

fn plan(scenario: &str, arguments: &RunArguments) {
    // A folder that is not there, so that no file is found.
    let nowhere = Path::new("no-such-folder");
    match Plan::parse("fuzz.toml", scenario, "fuzz", nowhere, arguments) {
        Ok(plan) => {
            assert!(!plan.points.is_empty(), "a plan without points is refused");
            for point in plan.points.iter().take(3) {
                assert!(point.scenario().is_ok(), "a point of a plan is right");
            }
            let again = Plan::parse("again.toml", &plan.effective, "fuzz", nowhere, &RunArguments::default())
                .unwrap_or_else(|problem| panic!("the effective scenario is right: {}", problem.render(false)));
            let keys = |plan: &Plan| plan.points.iter().map(|p| p.point.key.clone()).collect::<Vec<_>>();
            assert_eq!(keys(&plan), keys(&again), "the effective scenario gives the same points");
        }
        Err(problem) => {
            assert!(!problem.message().is_empty());
            assert!(problem.render(false).starts_with("error: "));
            problem.render(true);
            let _ = problem.to_string();
        }
    }
}

fn too_many(line: &str) -> bool {
    let longest = line.split(|c: char| !c.is_ascii_digit() && c != '_').map(str::len).max().unwrap_or(0);
    COUNTS.iter().any(|key| line.contains(key)) && longest > 2
}

fn swept(text: &str) -> usize {
    text.split("sweep").skip(1).map(|rest| rest.split("\n\n").next().unwrap_or_default().matches(',').count()).sum()
}
