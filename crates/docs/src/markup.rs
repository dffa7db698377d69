//! What of a page is made by commands: blocks and values.
//!
//! A block stands on lines of its own:
//!
//! ```text
//! <!-- made by: tailcut run scenarios/tail.toml
//! what of its results is shown, in TOML
//! -->
//! the content
//! <!-- end -->
//! ```
//!
//! Without a line of TOML the comment may end where it begins. A value stands in a sentence:
//! `<!-- value: NAME -->85<!-- end -->`. What stands in a block of code is neither.

use std::ops::Range;

const BLOCK: &str = "<!-- made by: ";
const VALUE: &str = "<!-- value: ";
const END: &str = "<!-- end -->";
const CLOSE: &str = "-->";

/// A part of a page that is made by a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The command that it comes from.
    pub command: String,
    /// What of its results is shown, in TOML.
    pub spec: String,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// Where its content stands in the text: whole lines.
    pub content: Range<usize>,
}

/// A number in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name in `docs/values.toml`.
    pub name: String,
    /// The line on which it stands, from 1.
    pub line: usize,
    /// Where it stands in the text.
    pub content: Range<usize>,
}

/// Everything on a page that is made by commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// The blocks, in their order.
    pub blocks: Vec<Block>,
    /// The values outside of blocks, in their order.
    pub values: Vec<Value>,
}

/// Finds what is made by commands in the text of a page.
///
/// # Errors
/// The line of what does not end, and what is wrong.
pub fn parse(text: &str) -> Result<Made, (usize, String)> {
    let mut made = Made::default();
    let mut lines = Lines { text, at: 0, number: 0 };
    let mut is_code = false;
    while let Some((start, line)) = lines.next() {
        let number = lines.number;
        is_code ^= line.starts_with("```");
        if is_code {
            continue;
        }
        if let Some(opening) = line.strip_prefix(BLOCK) {
            made.blocks.push(block(&mut lines, opening, number)?);
            continue;
        }
        let mut at = 0;
        while let Some(found) = line[at..].find(VALUE) {
            let rest = &line[at + found + VALUE.len()..];
            let unfinished =
                || (number, format!("a value does not end: expected `{VALUE}NAME -->12{END}` on one line"));
            let (name, content) = rest.split_once(CLOSE).ok_or_else(unfinished)?;
            let length = content.find(END).ok_or_else(unfinished)?;
            let begin = line.len() - content.len();
            let content = start + begin..start + begin + length;
            made.values.push(Value { name: name.trim().to_owned(), line: number, content });
            at = begin + length + END.len();
        }
        if line[at..].contains(END) {
            return Err((number, format!("`{END}` ends nothing: expected `{BLOCK}COMMAND -->` before it")));
        }
    }
    Ok(made)
}

/// A block behind its opening.
fn block(lines: &mut Lines<'_>, opening: &str, line: usize) -> Result<Block, (usize, String)> {
    let (command, mut spec) = (opening.trim_end().strip_suffix(CLOSE), String::new());
    let is_whole = command.is_some();
    let command = command.unwrap_or(opening).trim().to_owned();
    if !is_whole {
        loop {
            match lines.next() {
                Some((_, CLOSE)) => break,
                Some((_, END)) | None => {
                    return Err((line, format!("the comment does not end: expected a line `{CLOSE}`")));
                }
                Some((_, of_spec)) => spec = spec + of_spec + "\n",
            }
        }
    }
    let start = lines.at;
    loop {
        match lines.next() {
            Some((end, END)) => return Ok(Block { command, spec, line, content: start..end }),
            Some((_, inside)) if !inside.starts_with(BLOCK) => {}
            _ => return Err((line, format!("the block does not end: expected a line `{END}`"))),
        }
    }
}

/// The lines of a text with the places where they begin.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    number: usize,
}

impl<'t> Iterator for Lines<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<(usize, &'t str)> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (start, length) = (self.at, rest.find('\n').map_or(rest.len(), |at| at + 1));
        self.at += length;
        self.number += 1;
        Some((start, rest[..length].trim_end_matches(['\n', '\r'])))
    }
}

/// The text with other contents: `pieces` are ranges of it and what stands there instead, in their order.
pub(crate) fn replaced(text: &str, pieces: &[(Range<usize>, String)]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (range, content) in pieces {
        out += &text[at..range.start];
        out += content;
        at = range.end;
    }
    out + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A\n\n<!-- made by: tailcut run a.toml\nmetric = \"x\"\n-->\n| 1 |\n| 2 |\n<!-- end -->\n\
                        from <!-- value: low -->3<!-- end --> to <!-- value: high -->4<!-- end -->.\n\
                        <!-- made by: cargo xtask speed -->\n<!-- end -->\n";

    #[test]
    fn blocks_and_values_are_found_where_they_stand() {
        let made = parse(PAGE).unwrap();
        let blocks: Vec<_> = made
            .blocks
            .iter()
            .map(|b| (b.command.as_str(), b.spec.as_str(), b.line, &PAGE[b.content.clone()]))
            .collect();
        assert_eq!(
            blocks,
            [("tailcut run a.toml", "metric = \"x\"\n", 3, "| 1 |\n| 2 |\n"), ("cargo xtask speed", "", 10, "")]
        );
        let values: Vec<_> = made.values.iter().map(|v| (v.name.as_str(), v.line, &PAGE[v.content.clone()])).collect();
        assert_eq!(values, [("low", 9, "3"), ("high", 9, "4")]);
        let pieces =
            [(made.blocks[0].content.clone(), "new\n".to_owned()), (made.values[1].content.clone(), "5".into())];
        let text = replaced(PAGE, &pieces);
        assert!(
            text.contains("-->\nnew\n<!-- end -->\nfrom <!-- value: low -->3") && text.contains("high -->5<"),
            "{text}"
        );
    }

    #[test]
    fn examples_in_code_are_no_blocks() {
        let page = format!("```markdown\n{PAGE}```\n<!-- value: x -->1<!-- end -->\n");
        let made = parse(&page).unwrap();
        assert_eq!((made.blocks.len(), made.values.len(), made.values[0].name.as_str()), (0, 1, "x"));
    }

    #[test]
    fn what_does_not_end_is_said_with_its_line() {
        for (text, line, what) in [
            ("\n<!-- made by: a -->\ntext\n", 2, "the block does not end"),
            ("<!-- made by: a -->\n<!-- made by: b -->\n<!-- end -->\n", 1, "the block does not end"),
            ("<!-- made by: a\nx = 1\n", 1, "the comment does not end"),
            ("a\n<!-- value: x -->3\n", 2, "a value does not end"),
            ("a <!-- end -->\n", 1, "ends nothing"),
        ] {
            let (found, message) = parse(text).unwrap_err();
            assert!(found == line && message.contains(what), "{text}: {found} {message}");
        }
    }
}
