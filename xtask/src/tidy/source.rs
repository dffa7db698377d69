//! Rust text without what is not code: comments and literals blanked, tests cut out. And the lines that have comments.
//!
//! Not a parser: it knows comments, literals and brackets, which is enough to look for words in code.

use std::collections::BTreeSet;
use std::ops::Range;

/// `text` with every comment, string and character literal replaced by blanks. Lines stay where they are.
pub(super) fn code(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    for (_, place) in comments_and_literals(text) {
        for byte in &mut out[place] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    // Only whole literals and comments were blanked, so that no character was cut.
    String::from_utf8(out).unwrap_or_default()
}

/// The lines, counted from 1, that have a comment or a part of one.
pub(super) fn lines_with_comments(text: &str) -> BTreeSet<usize> {
    let line = |at: usize| text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let comments = comments_and_literals(text).into_iter().filter(|(part, _)| *part == Part::Comment);
    comments.flat_map(|(_, place)| line(place.start)..=line(place.end)).collect()
}

/// What is not code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Comment,
    Literal,
}

/// Every comment, string and character literal, and where it stands. A comment ends before its line feed.
fn comments_and_literals(text: &str) -> Vec<(Part, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (part, end) = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => (Part::Comment, line_end(bytes, at)),
            b'/' if bytes[at..].starts_with(b"/*") => (Part::Comment, block_end(bytes, at)),
            b'"' => (Part::Literal, string_end(bytes, at)),
            b'r' if !in_word(bytes, at) => (Part::Literal, raw_end(bytes, at).unwrap_or(at)),
            b'\'' => (Part::Literal, character_end(bytes, at).unwrap_or(at)),
            _ => (Part::Literal, at),
        };
        if end > at {
            found.push((part, at..end));
        }
        at = end.max(at + 1);
    }
    found
}

/// Whether the byte at `at` continues a word: the `r` of `br"..."` does not begin one, but may begin a raw string.
fn in_word(bytes: &[u8], at: usize) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let prefix = at >= 1 && matches!(bytes[at - 1], b'b' | b'c') && (at < 2 || !word(bytes[at - 2]));
    at >= 1 && word(bytes[at - 1]) && !prefix
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n)
}

fn block_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// End of a raw string whose `r` stands at `start`.
fn raw_end(bytes: &[u8], start: usize) -> Option<usize> {
    let hashes = bytes[start + 1..].iter().take_while(|&&b| b == b'#').count();
    let quote = start + 1 + hashes;
    if bytes.get(quote) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let inside = &bytes[quote + 1..];
    Some(inside.windows(close.len()).position(|w| w == close).map_or(bytes.len(), |n| quote + 1 + n + close.len()))
}

/// End of a character literal; `None` for a lifetime.
fn character_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start + 1)? {
        b'\\' => bytes[start + 3..].iter().position(|&b| b == b'\'').map(|n| start + 3 + n + 1),
        _ => {
            // One character, of up to four bytes, and a quote.
            let close = (start + 2..start + 6).find(|&at| bytes.get(at) == Some(&b'\''))?;
            let one = std::str::from_utf8(&bytes[start + 1..close]).is_ok_and(|text| text.chars().count() == 1);
            one.then_some(close + 1)
        }
    }
}

/// Code without its tests, and the names of the modules in other files that are only tests.
pub(super) struct Shipped {
    pub(super) code: String,
    pub(super) test_modules: Vec<String>,
}

const TEST: &str = "#[cfg(test)]";

/// Cuts every item below `#[cfg(test)]` out of blanked code.
pub(super) fn without_tests(code: &str) -> Shipped {
    let mut out = code.to_owned();
    let mut test_modules = Vec::new();
    while let Some(start) = out.find(TEST) {
        let from = start + TEST.len();
        let end = match out[from..].find(['{', ';']).map(|n| from + n) {
            None => out.len(),
            Some(at) if out.as_bytes()[at] == b';' => {
                let item = out[from..at].trim();
                test_modules.extend(item.rsplit_once("mod ").map(|(_, name)| name.trim().to_owned()));
                at + 1
            }
            Some(open) => closing(&out, open),
        };
        let blank: String = out[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(start..end, &blank);
    }
    Shipped { code: out, test_modules }
}

/// One past the bracket that closes the one at `open`.
fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// Lines, counted from 1, on which `word` stands in `code`, not as a part of a longer word.
pub(super) fn lines_with(code: &str, word: &str) -> Vec<usize> {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let stands = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let begins = word.starts_with(|c: char| c.is_alphanumeric());
            let ends = word.ends_with(|c: char| c.is_alphanumeric());
            let (before, after) = (line[..at].chars().next_back(), line[at + word.len()..].chars().next());
            !(begins && part(before) || ends && part(after))
        })
    };
    code.lines().enumerate().filter(|(_, line)| stands(line)).map(|(at, _)| at + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blank_and_lines_stay() {
        let text = "a // b.c()\n/* d /* e */\n f */ g \"h\\\"i\n\" j r#\"k\"l\"# m 'n' '\\'' '\\u{1F600}' 'é' o<'p>\nb\"q\" br\"r\" c\"s\" rs";
        let blank = code(text);
        assert_eq!(blank.len(), text.len());
        assert_eq!(blank.lines().count(), text.lines().count());
        let words: Vec<&str> = blank.split_whitespace().collect();
        assert_eq!(words, ["a", "g", "j", "m", "o<'p>", "b", "b", "c", "rs"]);
    }

    #[test]
    fn comments_are_told_from_literals() {
        let text = "a // b\n\"// c\"\nr\"// d\n// e\"\n/* f\n g */ h\n'/' // i";
        assert_eq!(lines_with_comments(text).into_iter().collect::<Vec<_>>(), [1, 5, 6, 7]);
    }

    #[test]
    fn tests_are_cut_out_and_those_in_other_files_are_named() {
        let text = "fn f() { g(); }\n#[cfg(test)]\nmod tests {\n    fn t() { h(); }\n}\n#[cfg(test)]\nmod fakes;\nfn i() {}\n#[cfg(test)]\npub(crate) mod more;\n";
        let shipped = without_tests(&code(text));
        assert_eq!(lines_with(&shipped.code, "g"), [1]);
        assert_eq!(lines_with(&shipped.code, "h"), []);
        assert_eq!(lines_with(&shipped.code, "i"), [8]);
        assert_eq!(shipped.test_modules, ["fakes", "more"]);
    }

    #[test]
    fn words_are_whole() {
        let code = "HashMapper\nMyHashMap\nHashMap<u8>\nx.unwrap_or()\nx.unwrap()\n";
        assert_eq!(lines_with(code, "HashMap"), [3]);
        assert_eq!(lines_with(code, ".unwrap()"), [5]);
    }
}
