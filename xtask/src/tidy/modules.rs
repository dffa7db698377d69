//! Every source file is part of its crate, and every file of a seat is a model that scenarios can name.
//!
//! A file that nobody declares compiles nowhere and is not missed; a model that nobody registers neither.

use std::path::{Path, PathBuf};

use super::{Finding, Texts, is_source, source};

/// What makes a file of a seat a model rather than a helper of models.
const MODEL: [&str; 2] = ["pub struct Config", "no_parameters!("];

pub(super) fn check(texts: &Texts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, text) in texts.iter().filter(|(file, _)| is_source(file)) {
        let Some((parent, name)) = parent_of(texts, file) else { continue };
        let Some(declaring) = texts.get(&parent) else { continue };
        let declaring = source::code(declaring);
        let is_registered = registered(&declaring).iter().any(|module| *module == name);
        if !is_registered && !declared(&declaring).iter().any(|module| *module == name) {
            findings.push(Finding::new(file, None, format!("is no module of {}", parent.display())));
        } else if !is_registered && is_seat(&declaring) {
            let code = source::code(text);
            if MODEL.iter().any(|model| code.contains(model)) {
                findings.push(Finding::new(
                    file,
                    None,
                    format!("is a model that {} does not register", parent.display()),
                ));
            }
        }
    }
    findings
}

/// Whether a file registers the models of a seat, which lie in its folder.
fn is_seat(code: &str) -> bool {
    code.contains("register! {")
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
    // A name that is a word of the language is written `r#name`.
    triples.filter_map(|w| w[2].strip_suffix(',')).map(|name| name.trim_start_matches("r#")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{shown, texts};
    use super::*;

    const SEAT: &str =
        "//! Seat.\nmod helper;\nregister! {\n    config C;\n    /// One.\n    One in one,\n    Big in big,\n}\n";

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        shown(&check(&texts(files)))
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
    fn a_folder_is_a_seat_if_its_file_registers_models() {
        let model = "//! M.\ntailcut_model::no_parameters!(());\n";
        let found = |declaring| {
            findings(&[
                ("crates/any/src/lib.rs", "mod seat;"),
                ("crates/any/src/seat/mod.rs", declaring),
                ("crates/any/src/seat/helper.rs", model),
                ("crates/any/src/seat/one.rs", model),
                ("crates/any/src/seat/big.rs", model),
            ])
        };
        assert_eq!(found("mod helper; mod one; mod big;"), [""; 0]);
        assert_eq!(found(SEAT).len(), 1);
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
