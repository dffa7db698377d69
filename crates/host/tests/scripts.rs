//! The TCP of a host, segment by segment: the scripts in `tests/scripts` say what arrives and when, and what must
//! leave.

mod script;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use script::Script;

/// Name and text of each file of scripts.
fn files() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&folder).expect("the folder of the scripts") {
        let path = entry.expect("an entry of the folder").path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            files.insert(name, fs::read_to_string(&path).expect("a script is text"));
        }
    }
    files
}

#[test]
fn every_script_holds() {
    let mut failures = Vec::new();
    let mut scripts = 0;
    for (name, text) in files() {
        match Script::read_all(&format!("tests/scripts/{name}"), &text) {
            Err(mistake) => failures.push(mistake.to_string()),
            Ok(all) => {
                scripts += all.len();
                for script in all {
                    if let Err(failure) = script.run() {
                        failures.push(format!("{failure}\n    in \"{}\"", script.title));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {scripts} scripts fail:\n{}", failures.len(), failures.join("\n"));
    assert!(scripts > 0, "there are scripts");
}

/// What the first script of `text` fails with.
fn failure(text: &str) -> String {
    let text = format!("# RFC 5681\n{text}");
    match Script::read_all("a.txt", &text) {
        Err(mistake) => mistake.to_string(),
        Ok(scripts) => scripts[0].run().expect_err("the script is wrong").to_string(),
    }
}

/// A script that holds; the tests below change one thing in it.
const RIGHT: &str = "== title
tcp initial_window = 2
send 5 segments
0us > 0 1
10ms timeout > 0r
10.1ms < ack 2 > 2 3
10.2ms < ack 3 > 4";

#[test]
fn what_differs_is_shown_with_its_line() {
    Script::read_all("a.txt", &format!("# RFC 5681\n{RIGHT}")).unwrap()[0].run().unwrap();
    for (from, to, expected) in [
        ("0us > 0 1", "0us > 0", "a.txt:5: at 0ps expected: 0; got: 0 1"),
        ("0us > 0 1", "0us > 1 0", "a.txt:5: at 0ps expected: 1 0; got: 0 1"),
        ("> 0r", "> 0", "a.txt:6: at 10ms expected: 0; got: 0r"),
        ("> 2 3", "> 2 3+cwr", "a.txt:7: at 10100us expected: 2 3+cwr; got: 2 3"),
        ("> 2 3", "> nothing", "a.txt:7: at 10100us expected: nothing; got: 2 3"),
        ("10.1ms < ack 2 > 2 3", "10.1ms > 2 3", "a.txt:7: at 10100us expected: 2 3; got: nothing"),
        (
            "10ms timeout",
            "9ms timeout",
            "a.txt:6: at 9ms the retransmission timer does not expire; the next timer: 10ms",
        ),
        ("10ms timeout", "9ms timer", "a.txt:6: at 9ms no timer fires; the next timer: 10ms"),
        (
            "10ms timeout",
            "10ms timer",
            "a.txt:6: at 10ms the retransmission timer expires; the script says nothing of it",
        ),
        (
            "10ms timeout > 0r",
            "",
            "a.txt:7: before 10100us the retransmission timer expired; the script says nothing of it",
        ),
        ("10ms timeout", "10ms", "a.txt:6: at 10ms the retransmission timer expires; the script says nothing of it"),
        ("5 segments", "2 segments", "a.txt:7: at 10100us expected: 2 3; got: done"),
        ("< ack 2", "< ack 4", "a.txt:7: the timestamp of segment 3 cannot be echoed: it has not left"),
    ] {
        assert_eq!(failure(&RIGHT.replacen(from, to, 1)), expected);
    }
}

#[test]
fn what_leaves_later_than_the_last_line_that_tells_of_it_is_shown() {
    let text = "== t\ntcp initial_window = 2\nlink 10Gbps\nsend 2 segments\n0us > 0\n5us > nothing";
    assert_eq!(failure(text), "a.txt:7: `1` left at 1200ns; the script says nothing of it");
}

#[test]
fn an_ack_with_another_number_mark_block_or_timestamp_is_shown() {
    for (from, to, expected, got) in [
        ("ack 1", "ack 2", "ack 2, ack 1 ece sack 2", "ack 1, ack 1 ece sack 2"),
        (" ece", "", "ack 1, ack 1 sack 2", "ack 1, ack 1 ece sack 2"),
        ("sack 2", "sack 2-3", "ack 1, ack 1 ece sack 2-3", "ack 1, ack 1 ece sack 2"),
        ("sack 2", "sack 2 echo 0", "ack 1, ack 1 ece sack 2 echo 0", "ack 1, ack 1 ece sack 2 echo 2"),
    ] {
        let text = "== t\nreceive 5 segments\n0us < 0, 2 ce > ack 1, ack 1 ece sack 2";
        let found = failure(&text.replacen(from, to, 1));
        assert_eq!(found, format!("a.txt:4: at 0ps expected: {expected}; got: {got}"));
    }
}

#[test]
fn a_report_of_a_duplicate_is_shown() {
    let right = "== t\ntcp recovery = \"linux\"\nreceive 5 segments\n0us < 0-1, 3, 1 > ack 1, ack 2, ack 2 sack 3, ";
    let run = |reported: &str| Script::read_all("a.txt", &format!("# RFC 2883\n{right}{reported}")).unwrap()[0].run();
    run("ack 2 dsack 1 sack 3").unwrap();
    for wrong in ["ack 2 dsack 0 sack 3", "ack 2 sack 3", "ack 2 dsack 1"] {
        let expected = format!(
            "a.txt:5: at 0ps expected: ack 1, ack 2, ack 2 sack 3, {wrong}; got: ack 1, ack 2, ack 2 sack 3, ack 2 dsack 1 sack 3"
        );
        assert_eq!(run(wrong).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_mistake_is_shown_with_its_line() {
    for (from, to, expected) in [
        ("== title", "", "a.txt:3: a script begins with its title: `== what it shows`"),
        ("send 5 segments", "sned 5 segments", "a.txt:4: `sned`: did you mean `send`? expected one of `tcp`"),
        ("5 segments", "5 pieces", "a.txt:4: `5 pieces` is no size: expected `20 segments` or `14601 bytes`"),
        ("send 5 segments", "", "a.txt:5: `send` or `receive` comes first"),
        ("10.1ms", "9ms", "a.txt:7: this time is before that of the line above"),
        ("10.1ms", "10.1hours", "a.txt:7: `10.1hours` has the unknown unit `hours`"),
        ("timeout", "timeuot", "a.txt:6: `timeuot`: did you mean `timeout`?"),
        ("> 0r", "> 0x", "a.txt:6: `0x` cannot leave: expected segments"),
        ("< ack 2", "< ack 2 sock 4", "a.txt:7: `sock`: did you mean `sack`?"),
        ("< ack 2", "< ack 2 dsack", "a.txt:7: `` is no segment"),
        ("tcp initial_window = 2", "path 2", "a.txt:3: `2` has no unit"),
        ("< ack 2", "< ack 2 sack 2-3", "a.txt:7: the block from 2 does not lie above a gap behind ack 2"),
        ("< ack 2", "< akc 2", "a.txt:7: `akc`: did you mean `ack`?"),
        ("initial_window = 2", "inital_window = 2", "a.txt:3: unknown field `inital_window`"),
        ("initial_window = 2", "initial_window = 0", "a.txt:3: transport.tcp.initial_window: is zero"),
    ] {
        let found = failure(&RIGHT.replacen(from, to, 1));
        assert!(found.starts_with(expected), "{found}\nis not\n{expected}");
    }
    let without_rule = Script::read_all("a.txt", "# a comment\n== t\n").unwrap_err().to_string();
    assert!(without_rule.starts_with("a.txt:1: a file begins with a comment"), "{without_rule}");
}

/// The page that lists the rules of the standards names the script of each; it names all scripts, and none that is not
/// there.
#[test]
fn the_page_of_the_standards_names_the_scripts_that_exist() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/validation.md");
    let Ok(page) = fs::read_to_string(page) else { return };
    let files = files();
    let mut unnamed: Vec<&str> = files.keys().map(String::as_str).collect();
    for (line, text) in (1..).zip(page.lines()) {
        // Mentions are `file.txt`, or `file.txt` "title".
        let mut pieces = text.split('`').peekable();
        while let Some(piece) = pieces.next() {
            if !piece.ends_with(".txt") {
                continue;
            }
            let name = piece.rsplit('/').next().unwrap_or_default();
            let file = files.get(name);
            let Some(file) = file else { panic!("docs/validation.md:{line}: there is no script {piece}") };
            unnamed.retain(|other| *other != name);
            let title = pieces.peek().and_then(|next| next.strip_prefix(" \"")).and_then(|rest| rest.split('"').next());
            if let Some(title) = title {
                let exists = file.lines().any(|line| line.strip_prefix("== ").is_some_and(|other| other == title));
                assert!(exists, "docs/validation.md:{line}: {name} has no script \"{title}\"");
            }
        }
    }
    assert!(unnamed.is_empty(), "docs/validation.md does not name {unnamed:?}");
}

/// The tables of the kernel's tests name files that exist, and the numbers of tests add up.
#[test]
fn the_tables_of_the_kernels_tests_add_up_and_name_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = "tests/scripts/linux-packetdrill.md";
    let page = fs::read_to_string(root.join(name)).expect("the page of the kernel's tests");
    let (mut sum, mut totals) = (0, 0);
    for (line, text) in (1..).zip(page.lines()) {
        if let Some(total) = text.strip_prefix("Total: ") {
            let total: u32 = total.split(' ').next().and_then(|total| total.parse().ok()).expect("a total");
            assert_eq!(total, sum, "{name}:{line}: the rows above have {sum} files");
            (sum, totals) = (0, totals + 1);
        }
        let mut cells = text.split('|').map(str::trim).skip(2);
        let (Some(files), Some(here)) = (cells.next(), cells.next()) else { continue };
        let Ok(files) = files.parse::<u32>() else { continue };
        sum += files;
        assert!(!here.is_empty(), "{name}:{line}: neither a script nor a reason");
        for file in here.split('`').skip(1).step_by(2) {
            let path = match file.rsplit('.').next() {
                Some("txt") => root.join("tests/scripts").join(file),
                Some("rs") => root.join(file),
                _ => continue,
            };
            assert!(path.exists(), "{name}:{line}: there is no {file}");
        }
    }
    assert_eq!((sum, totals), (0, 2), "{name}: every table has its total");
}
