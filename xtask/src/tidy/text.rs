//! Rules of single files: length, width of comments, documentation, words that are not wanted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Finding, Texts, crate_of, is_rust, is_source, source};

/// Most lines of a Rust file. One that is longer holds two things.
const MOST_LINES: usize = 700;

/// Most characters of a line with a comment. Rustfmt keeps code as narrow, but leaves comments alone.
const MOST_COLUMNS: usize = 120;

/// Words that no Rust file has, with what to do instead.
const UNWANTED: [(&str, &str); 4] = [
    ("todo!", "finish it, or leave it out"),
    ("unimplemented!", "finish it, or leave it out"),
    ("HashMap", "its order differs between runs: BTreeMap, or a Vec by index"),
    ("HashSet", "its order differs between runs: BTreeSet, or a sorted Vec"),
];

/// Crates that may stop without a reason: nobody's results depend on them.
const MAY_UNWRAP: [&str; 1] = ["bench"];

/// Places that exist on no other machine. Written in parts, so that this file does not name them.
const FOREIGN: [&str; 4] =
    [concat!("/", "work/"), concat!("/", "farm/"), concat!("..", "/shared"), concat!("/tmp/", "bash_jobs")];

pub(super) fn check(texts: &Texts) -> Vec<Finding> {
    let mut findings = Vec::new();
    let only_tests = only_tests(texts);
    for (file, text) in texts {
        findings.extend(foreign(file, text));
        findings.extend(wide_comments(file, text));
        if !is_rust(file) {
            continue;
        }
        findings.extend(length(file, text));
        let code = source::code(text);
        findings.extend(unwanted(file, &code));
        if is_source(file) {
            findings.extend(undocumented(file, text));
            let exempt = crate_of(file).is_some_and(|name| MAY_UNWRAP.contains(&name)) || only_tests.contains(file);
            if !exempt {
                findings.extend(unwrapped(file, &code));
            }
        }
    }
    findings
}

fn length(file: &Path, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    (lines > MOST_LINES)
        .then(|| Finding::new(file, None, format!("{lines} lines are too many, at most {MOST_LINES}: split it")))
}

/// Lines with a comment that are too wide, in Rust, Python and TOML.
fn wide_comments(file: &Path, text: &str) -> Vec<Finding> {
    let wide: Vec<(usize, &str)> =
        (1..).zip(text.lines()).filter(|(_, line)| line.chars().count() > MOST_COLUMNS).collect();
    if wide.is_empty() {
        return Vec::new();
    }
    let commented: Vec<usize> = match file.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => {
            let lines = source::lines_with_comments(text);
            wide.iter().map(|(at, _)| *at).filter(|at| lines.contains(at)).collect()
        }
        Some("py" | "toml") => wide.iter().filter(|(_, line)| has_hash_comment(line)).map(|(at, _)| *at).collect(),
        _ => Vec::new(),
    };
    let what = format!("a comment that ends behind column {MOST_COLUMNS}: wrap it");
    commented.into_iter().map(|at| Finding::new(file, Some(at), what.clone())).collect()
}

/// Whether a line of Python or TOML has a `#` outside of its quotes. Strings of several lines are not followed.
fn has_hash_comment(line: &str) -> bool {
    let mut quote = None;
    let mut escaped = false;
    for c in line.chars() {
        match quote {
            None if c == '#' => return true,
            None if c == '"' || c == '\'' => quote = Some(c),
            Some(open) if c == open && !escaped => quote = None,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    false
}

fn undocumented(file: &Path, text: &str) -> Option<Finding> {
    (!text.starts_with("//! "))
        .then(|| Finding::new(file, Some(1), "the file does not begin with what it is about (`//! ...`)"))
}

fn unwanted(file: &Path, code: &str) -> Vec<Finding> {
    let of = |&(word, instead): &(&str, &str)| {
        let found = |line| Finding::new(file, Some(line), format!("`{word}` is not wanted: {instead}"));
        source::lines_with(code, word).into_iter().map(found).collect::<Vec<_>>()
    };
    UNWANTED.iter().flat_map(of).collect()
}

fn unwrapped(file: &Path, code: &str) -> Vec<Finding> {
    let what = "`.unwrap()` outside of tests: return the error, or `.expect(\"the invariant in words\")`";
    let code = source::without_tests(code).code;
    source::lines_with(&code, ".unwrap()").into_iter().map(|line| Finding::new(file, Some(line), what)).collect()
}

/// Files that are modules of tests only.
fn only_tests(texts: &Texts) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for (file, text) in texts.iter().filter(|(file, _)| is_source(file)) {
        let folder = super::modules::folder_of_children(file);
        for module in source::without_tests(&source::code(text)).test_modules {
            found.insert(folder.join(format!("{module}.rs")));
            found.insert(folder.join(module).join("mod.rs"));
        }
    }
    found
}

fn foreign(file: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for place in FOREIGN.iter().filter(|place| line.contains(**place)) {
            findings.push(Finding::new(file, Some(at + 1), format!("`{place}` exists on no other machine")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::{shown, texts};
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        shown(&check(&texts(files)))
    }

    #[test]
    fn a_file_may_have_its_limit_of_lines_and_not_one_more() {
        let text = |lines| "//! x\n".to_owned() + &"\n".repeat(lines - 1);
        assert_eq!(findings(&[("crates/a/src/lib.rs", &text(MOST_LINES))]), [""; 0]);
        let long = findings(&[("crates/a/tests/lib.rs", &text(MOST_LINES + 1))]);
        assert!(long[0].starts_with("crates/a/tests/lib.rs: 701 lines"), "{long:?}");
    }

    #[test]
    fn comments_end_at_the_column_and_not_behind_it() {
        let comment = |columns: usize| format!("//! x\n/// {}\n", "é".repeat(columns - 4));
        assert_eq!(findings(&[("crates/a/src/x.rs", &comment(MOST_COLUMNS))]), [""; 0]);
        let found = findings(&[("crates/a/src/x.rs", &comment(MOST_COLUMNS + 1))]);
        assert!(found.len() == 1 && found[0].starts_with("crates/a/src/x.rs:2: a comment"), "{found:?}");
        let long = "x".repeat(MOST_COLUMNS);
        let behind_code = format!("//! x\nlet a = \"{long}\"; // b\nlet a = \"// {long}\";\n");
        let toml = format!("# {long}\na = \"{long}\" # b\nc = '# {long}'\nd = \"\\\" # {long}\"\n");
        let found = findings(&[("crates/a/src/x.rs", &behind_code), ("a.toml", &toml), ("a.md", &toml)]);
        let places: Vec<&str> = found.iter().filter_map(|one| one.split(": ").next()).collect();
        assert_eq!(places, ["a.toml:1", "a.toml:2", "crates/a/src/x.rs:2"]);
    }

    #[test]
    fn sources_say_what_they_are_about() {
        let found = findings(&[("crates/a/src/x.rs", "fn f() {}\n"), ("crates/a/tests/x.rs", "fn f() {}\n")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/a/src/x.rs:1: "), "{found:?}");
    }

    #[test]
    fn unwrap_is_found_in_code_and_not_in_tests() {
        let code = "//! x\nfn f() { g().unwrap(); }\n// h.unwrap()\n#[cfg(test)]\nmod tests {\n  fn t() { g().unwrap(); }\n}\n";
        let found = findings(&[
            ("crates/a/src/x.rs", code),
            ("crates/bench/src/x.rs", code),
            ("crates/a/benches/x.rs", code),
            ("crates/b/src/lib.rs", "//! x\n#[cfg(test)]\nmod fakes;\n"),
            ("crates/b/src/fakes.rs", code),
            ("crates/b/src/deep.rs", "//! x\n#[cfg(test)]\nmod fakes;\n"),
            ("crates/b/src/deep/fakes.rs", code),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/x.rs:2: `.unwrap()`"), "{found:?}");
    }

    #[test]
    fn unwanted_words_are_found_in_code_only() {
        let text = "//! HashMap\nlet a = \"todo!\";\nuse x::HashMap;\nfn f() { todo!() }\n";
        let found = findings(&[("crates/a/tests/x.rs", text)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains(":4: `todo!`") && found[1].contains(":3: `HashMap`"), "{found:?}");
    }

    #[test]
    fn foreign_places_are_found_in_every_text() {
        let place = FOREIGN[0].to_owned() + "main";
        let found = findings(&[("docs/x.md", &format!("a\nsee {place}\n")), ("net/x.toml", "a net/work")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("docs/x.md:2: "), "{found:?}");
    }
}
