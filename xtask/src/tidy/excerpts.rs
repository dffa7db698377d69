//! What a page shows of a file is in the file, word for word.
//!
//! A line `<!-- verbatim: PATH -->` stands before a block of code that is shown of `PATH`.

use std::path::Path;

use super::{Finding, Texts};

const OPEN: &str = "<!-- verbatim: ";

pub(super) fn check(texts: &Texts) -> Vec<Finding> {
    let pages = texts.iter().filter(|(file, _)| file.extension().is_some_and(|extension| extension == "md"));
    pages.flat_map(|(page, text)| of_page(texts, page, text)).collect()
}

fn of_page(texts: &Texts, page: &Path, text: &str) -> Vec<Finding> {
    let lines: Vec<&str> = text.lines().collect();
    let mut findings = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(of) = line.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(" -->")) else { continue };
        let wrong = |what: String| Finding::new(page, Some(at + 1), what);
        let Some(excerpt) = block(&lines[at + 1..]) else {
            findings.push(wrong("no block of code follows".to_owned()));
            continue;
        };
        match texts.get(Path::new(of)) {
            None => findings.push(wrong(format!("there is no {of}"))),
            // Whole lines, so that the end of a longer one is no excerpt.
            Some(text) if !format!("\n{text}\n").contains(&format!("\n{excerpt}\n")) => {
                findings.push(wrong(format!("the block is not in {of}, word for word")));
            }
            Some(_) => {}
        }
    }
    findings
}

/// The lines of a fenced block that begins at once and has any.
fn block(lines: &[&str]) -> Option<String> {
    let (fence, rest) = lines.split_first()?;
    let end = rest.iter().position(|line| *line == "```")?;
    (fence.starts_with("```") && end > 0).then(|| rest[..end].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::super::{shown, texts};
    use super::*;

    #[test]
    fn excerpts_are_whole_lines_of_the_file_that_they_name() {
        let page = |of: &str, block: &str| format!("# A\n\n<!-- verbatim: {of} -->\n{block}\nmore\n");
        let found = |page: String| shown(&check(&texts(&[("a/b.rs", "one\n  two\nthree\n"), ("P.md", &page)])));
        assert_eq!(found(page("a/b.rs", "```rust\n  two\nthree\n```")), [""; 0]);
        assert_eq!(found(page("a/b.rs", "```rust\none\n```")), [""; 0]);
        for (of, block) in [
            ("a/b.rs", "```rust\ntwo\n```"),
            ("a/b.rs", "```rust\n  two\nthre\n```"),
            ("a/c.rs", "```rust\none\n```"),
            ("a/b.rs", "one"),
            ("a/b.rs", "```rust\n```"),
            ("a/b.rs", "```rust\none"),
        ] {
            let found = found(page(of, block));
            assert!(found.len() == 1 && found[0].starts_with("P.md:3: "), "{found:?}");
        }
    }
}
