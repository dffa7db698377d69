//! Every source file is part of its crate, and every file of a seat is a model that scenarios can name.
//!
//! A file that nobody declares compiles nowhere and is not missed; a model that nobody registers neither.

use std::path::{Path, PathBuf};

use super::{Finding, Texts, is_source, source};

/// Folders whose files are models, each registered by a line `Variant in file,`.
const SEATS: [&str; 10] = [
    "crates/fabric/src/buffer",
    "crates/fabric/src/classify",
    "crates/fabric/src/mark",
    "crates/fabric/src/sched",
    "crates/host/src/congestion",
    "crates/host/src/order",
    "crates/host/src/tag",
    "crates/host/src/transport",
    "crates/topology/src/generate",
    "crates/topology/src/path",
];

/// What makes a file of a seat a model rather than a helper of models.
const MODEL: &str = "pub struct Config";

pub(super) fn check(texts: &Texts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for seat in SEATS.map(Path::new) {
        let parent = seat.join("mod.rs");
        if texts.get(&parent).is_none_or(|text| registered(&source::code(text)).is_empty()) {
            findings.push(Finding::new(
                &parent,
                None,
                "registers no model: if it has moved, tell xtask/src/tidy/modules.rs",
            ));
        }
    }
    for (file, text) in texts.iter().filter(|(file, _)| is_source(file)) {
        let Some((parent, name)) = parent_of(texts, file) else { continue };
        let Some(declaring) = texts.get(&parent) else { continue };
        let declaring = source::code(declaring);
        let is_registered = registered(&declaring).iter().any(|module| *module == name);
        if !is_registered && !declared(&declaring).iter().any(|module| *module == name) {
            findings.push(Finding::new(file, None, format!("is no module of {}", parent.display())));
        } else if !is_registered
            && SEATS.iter().any(|seat| parent == Path::new(seat).join("mod.rs"))
            && source::code(text).contains(MODEL)
        {
            findings.push(Finding::new(file, None, format!("is a model that {} does not register", parent.display())));
        }
    }
    findings
}

/// The folder in which the modules lie that a file declares.
pub(super) fn folder_of_children(file: &Path) -> PathBuf {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let folder = file.parent().unwrap_or(Path::new(""));
    if ["lib", "main", "mod"].contains(&stem) { folder.to_owned() } else { folder.join(stem) }
}

/// The file that should declare `file`, and the name by which it does; `None` for the root of a crate.
fn parent_of(texts: &Texts, file: &Path) -> Option<(PathBuf, String)> {
    let stem = file.file_stem()?.to_str()?;
    let folder = file.parent()?;
    let (folder, name) = match stem {
        "mod" => (folder.parent()?, folder.file_name()?.to_str()?),
        // `src/bin/x.rs` would be a root too, but no crate has one.
        "lib" | "main" => return None,
        name => (folder, name),
    };
    let beside = folder.with_extension("rs");
    let candidates = [folder.join("mod.rs"), folder.join("lib.rs"), folder.join("main.rs"), beside];
    let parent = candidates.iter().find(|candidate| texts.contains_key(*candidate)).unwrap_or(&candidates[0]);
    Some((parent.clone(), name.to_owned()))
}

/// Modules that blanked code declares by `mod name;` or `mod name {`.
fn declared(code: &str) -> Vec<&str> {
    let words: Vec<&str> = code.split_whitespace().collect();
    let names = words.windows(2).filter(|pair| pair[0] == "mod").map(|pair| pair[1]);
    names.map(|name| name.trim_end_matches([';', '{'])).collect()
}

/// Modules that blanked code registers by `Variant in name,`.
fn registered(code: &str) -> Vec<&str> {
    let words: Vec<&str> = code.split_whitespace().collect();
    let triples = words.windows(3).filter(|w| w[1] == "in" && w[0].starts_with(|c: char| c.is_ascii_uppercase()));
    triples.filter_map(|w| w[2].strip_suffix(',')).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{shown, texts};
    use super::*;

    const SEAT: &str =
        "//! Seat.\nmod helper;\nregister! {\n    config C;\n    /// One.\n    One in one,\n    Big in big,\n}\n";

    /// The findings beside those on seats that the few files do not have.
    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let found = shown(&check(&texts(files)));
        found.into_iter().filter(|f| !f.contains("registers no model")).collect()
    }

    #[test]
    fn a_model_that_is_not_registered_is_found() {
        let model = "//! M.\npub struct Config {}\npub struct Model;\n";
        let seat = [
            ("crates/fabric/src/lib.rs", "pub mod mark;"),
            ("crates/fabric/src/mark/mod.rs", SEAT),
            ("crates/fabric/src/mark/one.rs", model),
            ("crates/fabric/src/mark/big/mod.rs", model),
            ("crates/fabric/src/mark/helper.rs", "//! H.\n"),
        ];
        assert_eq!(findings(&seat), [""; 0]);
        let mut wrong = seat.to_vec();
        wrong.push(("crates/fabric/src/mark/two.rs", model));
        wrong[4].1 = model;
        let found = findings(&wrong);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("helper.rs: is a model that crates/fabric/src/mark/mod.rs does not register"));
        assert!(found[1].contains("two.rs: is no module of crates/fabric/src/mark/mod.rs"), "{found:?}");
    }

    #[test]
    fn a_seat_that_has_moved_is_missed() {
        let found =
            shown(&check(&texts(&[("crates/fabric/src/mark/mod.rs", "//! No `One in one,` here.\nfn f() {}")])));
        assert_eq!(found.len(), SEATS.len(), "{found:?}");
        let found = shown(&check(&texts(&[("crates/fabric/src/mark/mod.rs", SEAT)])));
        assert_eq!(found.iter().filter(|f| f.contains("registers no model")).count(), SEATS.len() - 1, "{found:?}");
    }

    #[test]
    fn a_file_that_nobody_declares_is_found_wherever_it_lies() {
        let files = [
            ("crates/a/src/lib.rs", "mod x;\npub(crate) mod y;\n#[cfg(test)]\nmod z;\n// mod w;\n"),
            ("crates/a/src/x.rs", "mod deep;"),
            ("crates/a/src/x/deep.rs", ""),
            ("crates/a/src/x/deeper.rs", ""),
            ("crates/a/src/y.rs", ""),
            ("crates/a/src/z.rs", ""),
            ("crates/a/src/w.rs", ""),
        ];
        let found = findings(&files);
        let expected = [
            "crates/a/src/w.rs: is no module of crates/a/src/lib.rs",
            "crates/a/src/x/deeper.rs: is no module of crates/a/src/x.rs",
        ];
        assert_eq!(found, expected);
    }
}
