//! A small repository with pages, and what makes them stale.

use std::fs;
use std::path::{Path, PathBuf};

use tailcut_lab::digest;
use tailcut_reproduce::{Scale, StoredPoint, StoredPoints, fingerprint_under, study};
use tempfile::TempDir;

use crate::pages::Pages;
use crate::source::Source;
use crate::statistics::Statistics;
use crate::store::{Facts, RUN, Store};

const SCENARIO: &str = "schemes = [\"tcp\", \"dctcp\"]\nseeds = 1\n\
    topology.star = { hosts = 4, host_link = { rate = \"10Gbps\", delay = \"1us\" } }\n\
    sweep.\"workload.load\" = [0.2, 0.4]\nworkload.load_of = \"host-links\"\nworkload.flows = 20\n\
    workload.traffic.short = { share = 1.0, sizes.fixed = \"10KB\" }\n";

const FIGURES: &str = "scheme,at,class,metric,value,low,high\n\
    tcp,workload.load=0.2,all,fct_p99,21.5,,\ntcp,workload.load=0.4,all,fct_p99,42.25,40,45\n";

const README: &str = "# Small\n\n<!-- made by: tailcut run small.toml\n\
    [[table]]\n\
    cells = { scheme = \"tcp\", metric = \"fct_p99\" }\n\
    rows = [{ head = \"TCP\" }]\n\
    columns = [{ head = \"0.2\", at.\"workload.load\" = \"0.2\" }, { head = \"0.4\", at.\"workload.load\" = \"0.4\" }]\n\
    -->\n<!-- end -->\n\nThe tail is <!-- value: tail -->?<!-- end --> us.\n\n\
    <!-- made by: cargo xtask theory dctcp -->\n<!-- end -->\n\n\
    <!-- made by: tailcut run small.toml\n[picture]\nfile = \"docs/images/tail.png\"\nalt = \"the tail\"\ntitle = \"Tail\"\n\
    x = \"workload.load\"\nvalues = [\"0.2\", \"0.4\"]\nx_label = \"load\"\ny_label = \"us\"\nschemes = [\"tcp\"]\n\
    cell.metric = \"fct_p99\"\n-->\n<!-- end -->\n";

const VALUES: &str = "[tail]\nfrom = \"tailcut run small.toml\"\ndigits = 2\n\
    cell = { scheme = \"tcp\", metric = \"fct_p99\", at.\"workload.load\" = \"0.4\", digits = 2 }\n";

/// A repository whose pages are up to date.
fn repository() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (path, text) in [
        ("small.toml", SCENARIO),
        ("README.md", README),
        ("docs/values.toml", VALUES),
        ("xtask/src/main.rs", "const HELP: &str = \"\n  theory [NAME]    print closed forms\n\";"),
        ("crates/validation/src/theory/dctcp.rs", "fn queue() -> u32 {\n    3\n}\n"),
        ("results/scenarios/small.figures.csv", FIGURES),
        ("results/outputs/cargo-xtask-theory-dctcp.txt", "dctcp: about\n\n| a |\n| - |\n| 3 |\n"),
    ] {
        crate::store::write(&root.join(path), text.as_bytes()).unwrap();
    }
    let mut store = Store::read(root).unwrap();
    for command in ["tailcut run small.toml", "cargo xtask theory dctcp"] {
        let source = Source::parse(command, root).unwrap();
        let mut facts = Facts { command: command.to_owned(), date: "2026-11-22".to_owned(), ..Facts::default() };
        if let Source::Output { kind, .. } = &source {
            facts.depends = store.depends(kind.depends);
        } else {
            facts.statistics = Some(Statistics::now().unwrap().name());
            points(&store, &source).write(&store.path(&source, ".points.csv")).unwrap();
        }
        store.keep(&source, facts).unwrap();
    }
    let changed = Pages::read(root).unwrap().write().unwrap();
    assert_eq!(changed, ["README.md", "docs/images/tail.png"].map(PathBuf::from));
    folder
}

/// The digests of all simulations of a source.
fn points(store: &Store, source: &Source) -> StoredPoints {
    let (_, plan) = store.plan(source).unwrap();
    let points = plan.points.iter().map(|planned| StoredPoint {
        plan: RUN.to_owned(),
        scheme: planned.point.scheme.clone(),
        values: planned.point.values.join("; "),
        seed: planned.point.seed,
        content: format!("{:016x}", planned.content),
        packet_hops: 1,
        until_ns: None,
        digest: digest(planned),
    });
    StoredPoints(points.collect())
}

/// What is found when one file of the repository has other words.
fn found(file: &str, from: &str, to: &str) -> Vec<String> {
    let folder = repository();
    change(folder.path(), file, from, to);
    check(folder.path())
}

fn change(root: &Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(root.join(file)).unwrap();
    assert!(text.contains(from), "{file} has no `{from}`:\n{text}");
    fs::write(root.join(file), text.replacen(from, to, 1)).unwrap();
}

fn check(root: &Path) -> Vec<String> {
    match Pages::read(root) {
        Ok(pages) => pages.check().iter().map(ToString::to_string).collect(),
        Err(findings) => findings.iter().map(ToString::to_string).collect(),
    }
}

#[track_caller]
fn one(found: &[String], begins: &str, holds: &str) {
    assert!(found.len() == 1 && found[0].starts_with(begins) && found[0].contains(holds), "{found:#?}");
}

#[test]
fn pages_that_were_just_made_are_up_to_date_and_show_what_is_stored() {
    let folder = repository();
    assert_eq!(check(folder.path()), Vec::<String>::new());
    let page = fs::read_to_string(folder.path().join("README.md")).unwrap();
    for text in [
        "-->\n\n|  | 0.2 | 0.4 |\n|---|---|---|\n| TCP | 21.5 | 42.2 |\n\n(`tailcut run small.toml`)\n<!-- end -->",
        "The tail is <!-- value: tail -->42<!-- end --> us.",
        "\n\ndctcp: about\n\n| a |\n| - |\n| 3 |\n\n(`cargo xtask theory dctcp`)\n<!-- end -->",
        "-->\n![the tail](docs/images/tail.png)\n<!-- end -->",
    ] {
        assert!(page.contains(text), "{text}\nis not on\n{page}");
    }
    assert_eq!(Pages::read(folder.path()).unwrap().write().unwrap(), Vec::<PathBuf>::new(), "nothing is to be done");
}

#[test]
fn a_figure_that_was_edited_is_found_where_it_stands() {
    one(&found("README.md", "| 42.2 |", "| 32.2 |"), "README.md:3: ", "`| TCP | 21.5 | 32.2 |`");
    one(&found("README.md", "-->42<!--", "-->32<!--"), "README.md:17: the value tail", "`32`");
    one(&found("README.md", "| 3 |", "| 4 |"), "README.md:19: ", "`cargo xtask docs` makes it anew");
    one(&found("README.md", "![the tail]", "![a tail]"), "README.md:30: ", "![a tail]");
    // What is stored is different, and the page has not been made anew.
    let found = found("results/scenarios/small.figures.csv", "21.5", "22.5");
    assert!(found.len() == 2 && found[0].starts_with("README.md:3: "), "{found:#?}");
    assert!(found[1].starts_with("docs/images/tail.png: is not what is stored"), "{found:#?}");
}

#[test]
fn what_was_measured_before_a_change_is_stale() {
    let run = "results/scenarios/small: is stale: ";
    let again = "`cargo xtask docs --measure scenarios/small` runs `tailcut run small.toml`";
    one(&found("small.toml", "flows = 20", "flows = 30"), run, again);
    one(&found("small.toml", "[0.2, 0.4]", "[0.2]"), run, "configured");
    let folder = repository();
    let store = Store::read(folder.path()).unwrap();
    let source = Source::parse("tailcut run small.toml", folder.path()).unwrap();
    let path = store.path(&source, ".points.csv");
    let mut moved = StoredPoints::read(&path).unwrap().unwrap();
    moved.0[0].digest = "0123456789abcdef".to_owned();
    moved.write(&path).unwrap();
    one(&check(folder.path()), run, "the digest of tcp, 0.2, seed 1 was 0123456789abcdef and is ");
    fs::remove_file(&path).unwrap();
    one(&check(folder.path()), run, "without digests");
    let now = Statistics::now().unwrap().name();
    one(&found("results/measured.toml", &now, "0"), run, "nothing says how its statistics were computed");
}

#[test]
fn verdicts_on_a_reading_that_is_another_configuration_now_are_stale() {
    let folder = repository();
    let now = |reading: &str| fingerprint_under(&study("slytherin-ls400").unwrap(), Scale::Quick, reading).unwrap();
    let store = |rows: [(&str, String); 3]| {
        let row = |(reading, plan): (&str, String)| format!("slytherin-tail-order,{reading},{plan},undecided,,,,\n");
        let text = rows.map(row).concat();
        let text = format!("claim,reading,plan,verdict,measured,low,high,reason\n{text}");
        let path = folder.path().join("results/quick/readings/slytherin-ls400.csv");
        crate::store::write(&path, text.as_bytes()).unwrap();
        check(folder.path())
    };
    let hold = [("base", now("base")), ("shallow", now("shallow")), ("shallow+kb", now("shallow+kb"))];
    assert_eq!(store(hold), Vec::<String>::new());
    let found = store([("base", now("base")), ("shallow", now("kb")), ("no-such", now("base"))]);
    assert_eq!(found.len(), 2, "{found:#?}");
    let (no_such, shallow) = (&found[0], &found[1]);
    assert!(no_such.contains("no-such are stale, because it cannot be planned"), "{no_such}");
    assert!(shallow.contains("shallow are stale, because it is another configuration now"), "{shallow}");
    assert!(shallow.contains("`tailcut reproduce slytherin-fig3a --reading shallow --claims-only"), "{shallow}");
}

#[test]
fn output_is_stale_when_the_code_changes_that_it_depends_on_and_not_when_a_comment_does() {
    let file = "crates/validation/src/theory/dctcp.rs";
    one(&found(file, "3", "4"), "results/outputs/cargo-xtask-theory-dctcp: is stale: ", "since 2026-11-22");
    assert_eq!(found(file, "fn", "// A queue.\nfn"), Vec::<String>::new());
}

#[test]
fn measurements_say_of_which_machine_they_are() {
    let folder = repository();
    let root = folder.path();
    change(root, "xtask/src/main.rs", "  theory", "  speed    measure\n  theory");
    change(root, "README.md", "# Small\n", "# Small\n\n<!-- made by: cargo xtask speed -->\n<!-- end -->\n");
    let found = check(root);
    assert!(found.len() == 2 && found[0].starts_with("README.md:3: nothing is stored of it: "), "{found:#?}");
    let mut store = Store::read(root).unwrap();
    let source = Source::parse("cargo xtask speed", root).unwrap();
    crate::store::write(&store.path(&source, ".txt"), b"packet-hop 85 ns\n").unwrap();
    let mut facts = Facts { command: "cargo xtask speed".into(), date: "2026-11-22".into(), ..Facts::default() };
    store.keep(&source, facts.clone()).unwrap();
    Pages::read(root).unwrap().write().unwrap();
    one(&check(root), "results/outputs/cargo-xtask-speed: is stale: ", "does not say of which");
    facts.machine = Some("2 of a kind".to_owned());
    store.keep(&source, facts).unwrap();
    Pages::read(root).unwrap().write().unwrap();
    assert_eq!(check(root), Vec::<String>::new());
    let page = fs::read_to_string(root.join("README.md")).unwrap();
    let shown = "```text\npacket-hop 85 ns\n```\n\n(`cargo xtask speed`, 2026-11-22: 2 of a kind.)\n";
    assert!(page.contains(shown), "{page}");
}

#[test]
fn what_cannot_be_made_is_said_and_nothing_is_written() {
    for (file, from, to, place, what) in [
        ("README.md", "run small.toml", "run large.toml", "README.md:3: ", "no scenario large.toml"),
        ("README.md", "theory dctcp", "thoery dctcp", "README.md:19: ", "no command `cargo xtask thoery dctcp`"),
        ("README.md", "value: tail", "value: tial", "README.md:17: ", "no value `tial`"),
        ("README.md", "metric = \"fct_p99\"", "metric = \"fct_p98\"", "README.md:3: ", "no fct_p98 of all under tcp"),
        ("README.md", "rows = [", "lines = [", "README.md:3: ", "lines"),
        ("README.md", "[[table]]", "from = \"a\"\n[[table]]", "README.md:3: ", "this has `table` and `from`"),
        ("README.md", "<!-- end -->\n\nThe", "\nThe", "README.md:3: ", "does not end"),
        ("docs/values.toml", "cell =", "cells =", "docs/values.toml: ", "cells"),
    ] {
        let folder = repository();
        let root = folder.path();
        change(root, file, from, to);
        let (before, found) = (fs::read_to_string(root.join("README.md")).unwrap(), check(root));
        assert!(found.iter().any(|one| one.starts_with(place) && one.contains(what)), "{to}: {found:#?}");
        let written = Pages::read(root).and_then(|pages| pages.write());
        assert!(written.is_err() && fs::read_to_string(root.join("README.md")).unwrap() == before, "{to}");
    }
}
