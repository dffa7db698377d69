//! Lines and comma-separated records of the small text files that a scenario names, and what to say when one is wrong.

use std::fmt;
use std::io::Cursor;

use tailcut_base::{Instant, Span};

/// What is wrong in a file, and on which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, counted from 1.
    pub line: usize,
    /// Text of that line, to show; cut if very long.
    pub text: String,
    /// What is wrong, as a clause.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)?;
        if let Some(help) = &self.help {
            write!(f, ": {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseError {}

/// A line with something on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) text: &'a str,
}

/// Characters of a line that an error shows.
const SHOWN: usize = 120;

impl Line<'_> {
    pub(crate) fn error(self, message: impl Into<String>) -> ParseError {
        let mut text: String = self.text.chars().take(SHOWN).collect();
        if text.len() < self.text.len() {
            text.push_str("...");
        }
        ParseError { line: self.number, text, message: message.into(), help: None }
    }
}

impl ParseError {
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> ParseError {
        self.help = Some(help.into());
        self
    }
}

/// The lines of a text file that are neither empty nor comments (`#`), without blanks around them. At least one.
pub(crate) fn lines(bytes: &[u8]) -> Result<Vec<Line<'_>>, ParseError> {
    let binary = |at: usize| ParseError {
        line: 1 + bytes[..at].iter().filter(|&&b| b == b'\n').count(),
        text: String::new(),
        message: format!("is not a text file: it has the byte 0x{:02x}", bytes[at]),
        help: Some("expected ASCII or UTF-8 text; is it compressed or binary?".into()),
    };
    let text = std::str::from_utf8(bytes).map_err(|e| binary(e.valid_up_to()))?;
    if let Some(at) = text.find(|c: char| c.is_control() && !c.is_whitespace()) {
        return Err(binary(at));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<Line<'_>> = text
        .lines()
        .enumerate()
        .map(|(i, text)| Line { number: i + 1, text: text.trim() })
        .filter(|line| !line.text.is_empty() && !line.text.starts_with('#'))
        .collect();
    if lines.is_empty() {
        let message = if text.trim().is_empty() { "the file is empty" } else { "the file has only comments" };
        return Err(Line { number: 1, text: "" }.error(message).help("expected lines of numbers in columns"));
    }
    Ok(lines)
}

/// Lines of comma-separated values, one after the other, in which cells may be quoted.
pub(crate) struct Records<'l, 'a> {
    lines: &'l [Line<'a>],
    reader: csv::Reader<Cursor<String>>,
    record: csv::StringRecord,
}

impl<'l, 'a> Records<'l, 'a> {
    /// The records of these lines.
    pub(crate) fn of(lines: &'l [Line<'a>]) -> Records<'l, 'a> {
        let texts: Vec<&str> = lines.iter().map(|line| line.text).collect();
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .terminator(csv::Terminator::Any(b'\n'))
            .from_reader(Cursor::new(texts.join("\n")));
        Records { lines, reader, record: csv::StringRecord::new() }
    }

    /// The line of the next record and its cells, without blanks around them; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<(Line<'a>, &csv::StringRecord)>, ParseError> {
        let index = usize::try_from(self.reader.position().line()).unwrap_or(usize::MAX) - 1;
        let Some(&line) = self.lines.get(index) else { return Ok(None) };
        match self.reader.read_record(&mut self.record) {
            Ok(true) if self.record.iter().any(|cell| cell.contains('\n')) => {
                Err(line.error("a quotation mark is not closed on its line").help("expected quotes in pairs, or none"))
            }
            Ok(true) => Ok(Some((line, &self.record))),
            Ok(false) => Ok(None),
            Err(error) => Err(line.error(format!("this is not a line of comma-separated values: {error}"))),
        }
    }
}

/// `text`, a plain decimal number that is not negative, times 10^`digits`; further digits are cut off. Exact: no float
/// takes part, because 2.000001234 s are no float.
pub(crate) fn scaled(text: &str, digits: u32) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut value = 0u64;
    let kept = fraction.bytes().chain(std::iter::repeat(b'0')).take(digits as usize);
    for digit in whole.bytes().chain(kept) {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    Some(value)
}

/// `text`, a plain decimal number that is not negative and whole: `1460.0` is 1460, and `1460.5` is none.
pub(crate) fn whole(text: &str) -> Option<u64> {
    let is_whole = text.split_once('.').is_none_or(|(_, fraction)| fraction.bytes().all(|digit| digit == b'0'));
    is_whole.then(|| scaled(text, 0)).flatten()
}

/// A moment that is written as a decimal number of units of 10^`digits` picoseconds.
pub(crate) fn moment(text: &str, digits: u32) -> Option<Instant> {
    scaled(text, digits).filter(|&ps| ps <= Span::MOST.as_ps()).map(Instant::from_ps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_scaled_without_a_float() {
        assert_eq!(scaled("2.000001234", 12), Some(2_000_001_234_000));
        // As floats these two are the same number.
        assert_eq!(scaled("123456.789012345678", 12), Some(123_456_789_012_345_678));
        assert_eq!(scaled("123456.789012345679", 12), Some(123_456_789_012_345_679));
        assert_eq!(scaled("7", 3), Some(7_000));
        assert_eq!(scaled("7.12345", 3), Some(7_123));
        assert_eq!(scaled(".5", 1), Some(5));
        for bad in ["", ".", "-1", "+1", "1e3", "1.2.3", "nan", "1 ", "99999999999999999999"] {
            assert_eq!(scaled(bad, 3), None, "{bad}");
        }
    }

    #[test]
    fn a_whole_number_may_have_zeros_behind_its_point_and_nothing_else() {
        for (text, expected) in [("1460", Some(1460)), ("1460.000", Some(1460)), ("1460.", Some(1460)), (".0", Some(0))]
        {
            assert_eq!(whole(text), expected, "{text}");
        }
        for bad in ["1460.999", "0.5", ".", "", "1.0.0", "-1.0", "1e3", "99999999999999999999.0"] {
            assert_eq!(whole(bad), None, "{bad}");
        }
    }

    #[test]
    fn binary_and_empty_files_are_told_apart() {
        let message = |bytes: &[u8]| lines(bytes).unwrap_err();
        assert!(message(b"").message.contains("empty"));
        assert!(message(b" \n\t\n").message.contains("empty"));
        assert!(message(b"# nothing\n").message.contains("only comments"));
        assert!(message(b"1 0\n\x00\x01").message.contains("0x00"));
        assert_eq!(message(b"1 0\n\xff\xfe").line, 2);
        assert!(message(b"\x1f\x8b\x08").message.contains("0x8b"));
    }

    #[test]
    fn comments_and_blank_lines_keep_the_line_numbers() {
        let found = lines("\u{feff}# a\r\n\r\n  1 2 \r\n#b\n3 4".as_bytes()).unwrap();
        assert_eq!(found.iter().map(|l| (l.number, l.text)).collect::<Vec<_>>(), [(3, "1 2"), (5, "3 4")]);
    }

    #[test]
    fn records_know_their_lines_and_lose_their_quotes() {
        let found = lines(b"# one\n\"a\",\"b, c\" ,d\n\n x,\"say \"\"y\"\"\",\n").unwrap();
        let mut records = Records::of(&found);
        let mut all = Vec::new();
        while let Some((line, cells)) = records.next().unwrap() {
            all.push((line.number, cells.iter().map(str::to_owned).collect::<Vec<_>>()));
        }
        let expected = [(2, ["a", "b, c", "d"]), (4, ["x", "say \"y\"", ""])];
        assert_eq!(all, expected.map(|(line, cells)| (line, cells.map(str::to_owned).to_vec())));
    }

    #[test]
    fn a_quotation_mark_that_is_not_closed_is_shown_where_it_opens() {
        let found = lines(b"a,b\n1,\"2\n3,4\n").unwrap();
        let mut records = Records::of(&found);
        assert_eq!(records.next().unwrap().unwrap().0.number, 1);
        let error = records.next().unwrap_err();
        assert!(error.line == 2 && error.message.contains("not closed"), "{error}");
    }

    #[test]
    fn a_very_long_line_is_cut() {
        let long = "é".repeat(500);
        assert_eq!(Line { number: 1, text: &long }.error("").text.chars().count(), SHOWN + 3);
    }
}
