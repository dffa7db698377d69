//! Every scheme in `schemes/` ships, and says what it is.

use std::path::Path;

use super::{Finding, Texts};

const LIST: &str = "crates/sim/src/preset.rs";

/// Keys that describe a scheme: what `tailcut list` and `tailcut show` print.
const DESCRIPTION: [&str; 3] = ["title", "paper", "summary"];

pub(super) fn check(texts: &Texts) -> Vec<Finding> {
    let list = Path::new(LIST);
    let Some(names) = texts.get(list).map(|text| listed(text)) else {
        return vec![Finding::new(list, None, "is not there: if it has moved, tell xtask/src/tidy/presets.rs")];
    };
    let mut findings = Vec::new();
    for (file, text) in texts {
        let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
        let ["schemes", name] = parts[..] else { continue };
        let Some(name) = name.strip_suffix(".toml") else { continue };
        if !names.contains(&name) {
            findings.push(Finding::new(file, None, format!("is not in `presets!` of {LIST}")));
        }
        for key in DESCRIPTION {
            if described(text, key).is_none_or(str::is_empty) {
                findings.push(Finding::new(file, None, format!("has no `{key} = \"...\"` above its tables")));
            }
        }
    }
    findings
}

/// The names in `presets! { "a", "b", }`.
fn listed(text: &str) -> Vec<&str> {
    let list = text.split("presets! {").nth(1).and_then(|rest| rest.split('}').next()).unwrap_or_default();
    list.split('"').skip(1).step_by(2).collect()
}

/// The text of a key above the first table.
fn described<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let head = text.lines().take_while(|line| !line.starts_with('['));
    let mut values = head.filter_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
    values.next().and_then(|value| value.trim().strip_prefix('"')?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::super::{shown, texts};
    use super::*;

    #[test]
    fn presets_are_listed_and_described() {
        let list = "macro_rules! presets {\n}\npresets! {\n    \"a\",\n    \"b\",\n}\nconst X: &str = \"c\";\n";
        let whole = "title = \"A\"\npaper = \"P\"\nsummary = \"S\"\n[host]\n";
        let found = check(&texts(&[
            (LIST, list),
            ("schemes/a.toml", whole),
            ("schemes/b.toml", "title = \"\"\npaper = \"P\"\n[host]\nsummary = \"S\"\n"),
            ("schemes/c.toml", whole),
            ("schemes/README.md", ""),
        ]));
        let expected = [
            "schemes/b.toml: has no `title = \"...\"` above its tables".to_owned(),
            "schemes/b.toml: has no `summary = \"...\"` above its tables".to_owned(),
            format!("schemes/c.toml: is not in `presets!` of {LIST}"),
        ];
        assert_eq!(shown(&found), expected);
        assert_eq!(check(&texts(&[("schemes/a.toml", whole)])).len(), 1);
    }
}
