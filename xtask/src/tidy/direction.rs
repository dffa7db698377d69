//! Who may import whom.
//!
//! `base <- model <- {models} <- sim`, and `base <- calendar <- sim`: models import neither the calendar nor each
//! other. What reads and shows finished runs, `record <- results <- report <- claims`, imports neither the simulator
//! nor a model of a host, port or network, so that a change of one of them does not rebuild it. What needs both is
//! above both: `{sim, report} <- lab`, `{lab, claims} <- reproduce <- cli`.

use super::{Finding, Texts};

/// Each crate by its folder, with the folders of the crates that it may import.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("calendar", &["base"]),
    ("model", &["base"]),
    ("fabric", MODELS_MAY),
    ("host", MODELS_MAY),
    ("control", MODELS_MAY),
    ("topology", MODELS_MAY),
    ("workload", MODELS_MAY),
    ("record", MODELS_MAY),
    ("flow", &["base"]),
    ("placement", &["base"]),
    (
        "sim",
        &[
            "base",
            "calendar",
            "model",
            "fabric",
            "host",
            "control",
            "topology",
            "workload",
            "record",
            "flow",
            "placement",
        ],
    ),
    ("results", &["base", "record"]),
    ("report", &["base", "record", "results", "fixtures"]),
    ("fixtures", &["base", "model", "record", "results"]),
    ("claims", &["base", "record", "results", "report"]),
    ("lab", &["base", "topology", "workload", "record", "placement", "sim", "results", "report", "fixtures"]),
    (
        "reproduce",
        &[
            "base",
            "model",
            "fabric",
            "host",
            "topology",
            "workload",
            "record",
            "placement",
            "sim",
            "results",
            "report",
            "claims",
            "lab",
            "fixtures",
        ],
    ),
    ("view", &["sim", "results", "report", "lab", "fixtures"]),
    ("cli", FRONTS_MAY),
    ("fuzzing", &["workload", "record", "sim", "results", "lab"]),
    ("docs", &["base", "sim", "results", "report", "claims", "lab", "reproduce", "fixtures"]),
    ("python", PYTHON_MAY),
    (
        "bench",
        &["base", "calendar", "model", "fabric", "host", "control", "topology", "workload", "record", "sim", "report"],
    ),
    ("validation", FRONTS_MAY),
];

/// The Python package has the command, too.
const PYTHON_MAY: &[&str] = &["cli", "lab", "record", "results", "sim"];
const MODELS_MAY: &[&str] = &["base", "model"];
const FRONTS_MAY: &[&str] = &[
    "base",
    "model",
    "fabric",
    "host",
    "control",
    "topology",
    "workload",
    "record",
    "placement",
    "sim",
    "results",
    "report",
    "claims",
    "lab",
    "reproduce",
    "view",
];

pub(super) fn check(texts: &Texts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, text) in texts {
        let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
        let ["crates", name, "Cargo.toml"] = parts[..] else { continue };
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(known, _)| *known == name) else {
            findings.push(Finding::new(
                file,
                None,
                "stands nowhere: say in xtask/src/tidy/direction.rs what it may import",
            ));
            continue;
        };
        for (line, imported) in imports(text) {
            if !allowed.contains(&imported.as_str()) {
                let what = format!("`{name}` may not import `{imported}`: only {}", listed(allowed));
                findings.push(Finding::new(file, Some(line), what));
            }
        }
    }
    findings
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "what is not of this workspace".to_owned() } else { names.join(", ") }
}

/// Crates of this workspace among the dependencies in a manifest, with their lines. Those of tests count too: a test
/// that needs what lies above belongs above.
fn imports(manifest: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut among_dependencies = false;
    for (at, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            among_dependencies = table.ends_with("dependencies");
            // [dependencies.tailcut-base]
            if let Some((head, name)) = table.rsplit_once('.')
                && head.ends_with("dependencies")
            {
                found.extend(own(name).map(|name| (at + 1, name)));
            }
            continue;
        }
        if !among_dependencies || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = key.trim().trim_end_matches(".workspace");
        // A crate may be imported by another name.
        let package = value.split("package").nth(1).and_then(|rest| rest.split('"').nth(1));
        found.extend(own(package.unwrap_or(key)).map(|name| (at + 1, name)));
    }
    found
}

/// The folder of a crate of this workspace; the command is called as the project.
fn own(package: &str) -> Option<String> {
    let package = package.trim_matches('"');
    match package.strip_prefix("tailcut-") {
        Some(name) => Some(name.to_owned()),
        None => (package == "tailcut").then(|| "cli".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{shown, texts};
    use super::*;

    fn findings(name: &str, manifest: &str) -> Vec<String> {
        shown(&check(&texts(&[(&format!("crates/{name}/Cargo.toml"), manifest)])))
    }

    #[test]
    fn imports_downward_are_fine_and_others_are_not() {
        let manifest = "[package]\nname = \"tailcut-x\"\n[dependencies]\nserde.workspace = true\ntailcut-base.workspace = true\ntailcut-model.workspace = true\n";
        assert_eq!(findings("fabric", manifest), [""; 0]);
        let found = findings("base", manifest);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("crates/base/Cargo.toml:5: `base` may not import `base`"), "{found:?}");
        for (importer, imported) in [
            ("model", "calendar"),
            ("host", "fabric"),
            ("record", "calendar"),
            ("sim", "lab"),
            ("lab", "calendar"),
            ("lab", "cli"),
            ("results", "sim"),
            ("report", "topology"),
            ("claims", "host"),
            ("lab", "reproduce"),
        ] {
            let name = if imported == "cli" { "tailcut".to_owned() } else { format!("tailcut-{imported}") };
            assert_eq!(findings(importer, &format!("[dependencies]\n{name} = {{ workspace = true }}\n")).len(), 1);
        }
    }

    #[test]
    fn every_way_to_write_an_import_is_seen() {
        for manifest in [
            "[dev-dependencies]\ntailcut-sim.workspace = true",
            "[build-dependencies]\ntailcut-sim = { path = \"../sim\" }",
            "[dependencies.tailcut-sim]\nworkspace = true",
            "[target.'cfg(unix)'.dependencies]\ntailcut-sim.workspace = true",
            "[dependencies]\nworld = { package = \"tailcut-sim\", path = \"../sim\" }",
        ] {
            assert_eq!(findings("base", manifest).len(), 1, "{manifest}");
        }
        assert_eq!(
            findings("base", "[dependencies]\n# tailcut-sim.workspace = true\n[features]\ntailcut-sim = []"),
            [""; 0]
        );
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        assert_eq!(findings("new", "[package]").len(), 1);
    }
}
