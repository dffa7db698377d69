//! Reads distributions of flow sizes: tailcut's own columns, and those of ns-2 and HPCC.
//!
//! The same name stands for different files: "web search" has a mean of 1 665 831 B in the packets of ns-2 and of
//! 1 711 250 B in the rounded bytes of HPCC. All are read as linear between their lines, as the published scripts of
//! pFabric, PIAS and HPCC read them. Readers that take the upper step instead (netbench, Homa) find larger means in the
//! same file.

use tailcut_base::{Bytes, MSS_BYTES};

use crate::distribution::{Distribution, Knot};
use crate::text::{Line, ParseError, Records, lines};

/// Columns of a size distribution, separated by blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// `size_bytes cumulative_probability`, or the same with commas and a header.
    Tailcut,
    /// `size_packets ignored cumulative_probability`.
    Ns2 {
        /// Bytes of a packet; 1460 if not given, but then the sizes must look like packets.
        packet_bytes: Option<u64>,
    },
    /// `size_bytes cumulative_percent`.
    Hpcc,
}

/// Above it a size in packets is a size in bytes: it would be a flow of more than 1.4 GB.
const MOST_PACKETS: f64 = 1e6;

/// How far the last probability may be from 1, for decimals that were cut off.
const LAST_TOLERANCE: f64 = 1e-9;

impl TableFormat {
    fn columns(self) -> usize {
        match self {
            TableFormat::Tailcut | TableFormat::Hpcc => 2,
            TableFormat::Ns2 { .. } => 3,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            TableFormat::Tailcut => "`size_bytes cumulative_probability`",
            TableFormat::Ns2 { .. } => "`size_packets ignored cumulative_probability`",
            TableFormat::Hpcc => "`size_bytes cumulative_percent`",
        }
    }

    /// The value of the last column that means "all flows".
    fn all(self) -> f64 {
        match self {
            TableFormat::Tailcut | TableFormat::Ns2 { .. } => 1.0,
            TableFormat::Hpcc => 100.0,
        }
    }

    fn share(self) -> &'static str {
        match self {
            TableFormat::Tailcut | TableFormat::Ns2 { .. } => "probability",
            TableFormat::Hpcc => "percentage",
        }
    }
}

impl Distribution {
    /// Reads a distribution from the text of a file.
    ///
    /// Lines are linear between each other; equal sizes on two lines are an atom. Comments (`#`) and blank lines are
    /// skipped.
    pub fn parse(bytes: &[u8], format: TableFormat) -> Result<Distribution, ParseError> {
        let mut lines = lines(bytes)?;
        let mut rows = Vec::with_capacity(lines.len());
        if matches!(format, TableFormat::Tailcut) && lines[0].text.contains(',') {
            (lines, rows) = comma_separated(&lines)?;
        } else {
            for &line in &lines {
                let cells: Vec<&str> = line.text.split_whitespace().collect();
                if cells.len() != format.columns() {
                    return Err(wrong_columns(line, &cells, format));
                }
                rows.push(row(line, cells[0], cells[cells.len() - 1], format)?);
            }
        }
        check_order(&lines, &rows, format)?;
        check_ends(&lines, &rows, format)?;
        let unit = match format {
            TableFormat::Tailcut | TableFormat::Hpcc => 1.0,
            TableFormat::Ns2 { packet_bytes } => packet_unit(&lines, &rows, packet_bytes)?,
        };
        let all = format.all();
        let mut knots: Vec<Knot> =
            rows.iter().map(|&(size, share)| Knot { size: size * unit, p: (share / all).min(1.0) }).collect();
        let last = lines.len() - 1;
        // Within the tolerance of `check_ends`.
        knots[last].p = 1.0;
        if knots[last].size > Bytes::MOST.as_f64() {
            let error = lines[last].error(format!("a flow of {:e} B is too large", knots[last].size));
            return Err(error.help(format!("expected at most {}", Bytes::MOST)));
        }
        let distribution = Distribution::table(knots);
        if distribution.mean() < 1.0 {
            let message = format!("the mean size is {} B", distribution.mean());
            return Err(lines[last].error(message).help("expected sizes in bytes with a mean of at least 1 B"));
        }
        Ok(distribution)
    }
}

/// The columns of tailcut's own format, as a header names them.
const HEADER: [&str; 2] = ["size_bytes", "cumulative_probability"];

/// Lines with the size and the share of each.
type Rows<'a> = (Vec<Line<'a>>, Vec<(f64, f64)>);

/// tailcut's own format with commas between its columns, and a header or none; the lines are those behind it.
fn comma_separated<'a>(lines: &[Line<'a>]) -> Result<Rows<'a>, ParseError> {
    let format = TableFormat::Tailcut;
    let mut records = Records::of(lines);
    let (mut behind, mut rows) = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
    let [mut size_at, mut share_at] = [0, 1];
    while let Some((line, cells)) = records.next()? {
        if cells.len() != HEADER.len() {
            let cells: Vec<&str> = cells.iter().collect();
            return Err(wrong_columns(line, &cells, format));
        }
        if line.number == lines[0].number && cells.iter().all(|cell| cell.parse::<f64>().is_err()) {
            let column = |name| cells.iter().position(|cell| cell == name);
            let (Some(size), Some(share)) = (column(HEADER[0]), column(HEADER[1])) else {
                let help = format!("expected `{}`, or no header", HEADER.join(","));
                return Err(line.error("the header has other columns").help(help));
            };
            [size_at, share_at] = [size, share];
            continue;
        }
        rows.push(row(line, &cells[size_at], &cells[share_at], format)?);
        behind.push(line);
    }
    if rows.is_empty() {
        return Err(lines[0].error("the file has a header and no sizes"));
    }
    Ok((behind, rows))
}

/// Size and share of one line, each in the file's own unit.
fn row(line: Line<'_>, size: &str, share: &str, format: TableFormat) -> Result<(f64, f64), ParseError> {
    let written = size;
    let size = number(line, size, "size")?;
    let share = number(line, share, format.share())?;
    if size < 0.0 {
        return Err(line.error(format!("the size {written} is negative")).help("sizes start at 0"));
    }
    if share < 0.0 {
        let message = format!("the {} {share} is negative", format.share());
        return Err(line.error(message).help(format!("expected 0 to {}", format.all())));
    }
    if share > format.all() * (1.0 + LAST_TOLERANCE) {
        let error = line.error(format!("the {} {share} is above {}", format.share(), format.all()));
        return Err(match format {
            TableFormat::Tailcut if share <= 100.0 => {
                error.help("expected 0 to 1; for percentages write format = \"hpcc\"")
            }
            TableFormat::Tailcut => error.help("expected `size_bytes cumulative_probability`, in this order"),
            TableFormat::Ns2 { .. } => error.help("expected 0 to 1"),
            TableFormat::Hpcc => error.help("expected `size_bytes cumulative_percent`, in this order, from 0 to 100"),
        });
    }
    Ok((size, share))
}

fn number(line: Line<'_>, cell: &str, what: &str) -> Result<f64, ParseError> {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(line.error(format!("the {what} `{cell}` is not finite"))),
        Err(_) => {
            let error = line.error(format!("the {what} `{cell}` is not a number"));
            Err(match cell.starts_with(|c: char| c.is_ascii_digit()) && cell.ends_with(|c: char| c.is_alphabetic()) {
                true => error.help("expected a number without a unit"),
                false => error.help("comments start with #"),
            })
        }
    }
}

fn wrong_columns(line: Line<'_>, cells: &[&str], format: TableFormat) -> ParseError {
    let count = match cells.len() {
        1 => "1 column".to_owned(),
        n => format!("{n} columns"),
    };
    let error = line.error(format!("the line has {count}"));
    let expected = format!("expected {} columns, {}", format.columns(), format.describe());
    if cells.iter().any(|cell| cell.contains([',', ';'])) {
        let separators = match format {
            TableFormat::Tailcut => "all by blanks or all by commas",
            TableFormat::Ns2 { .. } | TableFormat::Hpcc => "by blanks and not by commas",
        };
        return error.help(format!("{expected}, separated {separators}"));
    }
    let all_numbers = cells.iter().all(|cell| cell.parse::<f64>().is_ok());
    match (format, cells.len()) {
        (TableFormat::Tailcut | TableFormat::Hpcc, 3) if all_numbers => {
            error.help(format!("{expected}; for the three columns of ns-2 write format = \"ns2\""))
        }
        (TableFormat::Ns2 { .. }, 2) if all_numbers => error.help(format!(
            "{expected}; for two columns write format = \"tailcut\" (probabilities) or \"hpcc\" (percentages)"
        )),
        (_, 1) if all_numbers => {
            error.help(format!("{expected}; Homa's files start with the mean, which must be removed"))
        }
        _ => error.help(expected),
    }
}

fn check_order(lines: &[Line<'_>], rows: &[(f64, f64)], format: TableFormat) -> Result<(), ParseError> {
    for (pair, line) in rows.windows(2).zip(&lines[1..]) {
        let ((size, share), (next_size, next_share)) = (pair[0], pair[1]);
        if next_size < size {
            let message = format!("the size falls from {size} to {next_size}");
            return Err(line.error(message).help("expected sizes that rise from line to line, or stay for an atom"));
        }
        if next_share < share {
            let message = format!("the {} falls from {share} to {next_share}", format.share());
            let help = format!("expected a cumulative {}, which never falls", format.share());
            return Err(line.error(message).help(help));
        }
    }
    Ok(())
}

fn check_ends(lines: &[Line<'_>], rows: &[(f64, f64)], format: TableFormat) -> Result<(), ParseError> {
    let ((size, first), (_, last)) = (rows[0], rows[rows.len() - 1]);
    let all = format.all();
    if first > 0.0 {
        let middle = if format.columns() == 3 { " 1" } else { "" };
        let message = format!("the first {} is {first}, and no line says where the flows below it lie", format.share());
        return Err(lines[0].error(message).help(format!(
            "put a line `{size}{middle} 0` in front if {first} of the flows have exactly that size, or \
             `0{middle} 0` if their sizes are spread evenly below it"
        )));
    }
    if (last - all).abs() > all * LAST_TOLERANCE {
        let line = lines[lines.len() - 1];
        let error = line.error(format!("the last {} is {last} and not {all}", format.share()));
        let looks_like_fractions = (last - 1.0).abs() < LAST_TOLERANCE;
        return Err(match format {
            TableFormat::Hpcc if looks_like_fractions => {
                error.help("expected percentages from 0 to 100; for fractions write format = \"tailcut\"")
            }
            _ => error.help("expected the last line to cover all flows; is the file cut off?"),
        });
    }
    Ok(())
}

/// Bytes of one unit of the size column of an ns-2 file.
fn packet_unit(lines: &[Line<'_>], rows: &[(f64, f64)], packet_bytes: Option<u64>) -> Result<f64, ParseError> {
    let last = rows.len() - 1;
    match packet_bytes {
        Some(bytes) => Ok(bytes as f64),
        None if rows[last].0 <= MOST_PACKETS => Ok(MSS_BYTES as f64),
        None => {
            let message = format!("the size {} looks like bytes, and ns-2 counts packets", rows[last].0);
            Err(lines[last].error(message).help(format!(
                "write packet_bytes = \"1B\" if the sizes are bytes, or packet_bytes = \"{MSS_BYTES}B\" if they are packets"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OWN: TableFormat = TableFormat::Tailcut;
    const NS2: TableFormat = TableFormat::Ns2 { packet_bytes: None };
    const HPCC: TableFormat = TableFormat::Hpcc;

    #[test]
    fn the_three_formats_read_the_same_distribution() {
        let own = Distribution::parse(b"8760 0\n8760 0.15\n18980 0.2 # odd", OWN).unwrap_err();
        assert!(own.message.contains("4 columns"), "{own}");
        let own = Distribution::parse(b"# web search\n8760 0\n8760 0.15\n18980 0.25\n29200000 1\n", OWN).unwrap();
        let ns2 = Distribution::parse(b"6 1 0\n6 1 0.15\n13\t1\t0.25\r\n20000 1 1.0", NS2).unwrap();
        let hpcc = Distribution::parse(b"8760 0\n8760 15\n18980 25\n29200000 100\n", HPCC).unwrap();
        assert_eq!(own, ns2);
        assert_eq!(own, hpcc);
    }

    #[test]
    fn commas_and_a_header_with_or_without_quotes_change_nothing() {
        let plain = Distribution::parse(b"0 0\n1000 0.5\n9000 1\n", OWN).unwrap();
        for text in [
            "0,0\n1000,0.5\n9000,1\n",
            "size_bytes,cumulative_probability\n0, 0\n1000, 0.5\n9000, 1\n",
            "# mine\n\"size_bytes\",\"cumulative_probability\"\r\n\"0\",0\r\n1000,\"0.5\"\r\n9000,1\r\n",
            "\"cumulative_probability\",\"size_bytes\"\n0,0\n0.5,1000\n1,9000",
        ] {
            assert_eq!(Distribution::parse(text.as_bytes(), OWN), Ok(plain.clone()), "{text:?}");
        }
    }

    #[test]
    fn three_columns_in_bytes_need_to_say_so() {
        let text = b"0 1 0\n9000 1 0.15\n30000000 1 1\n";
        let error = Distribution::parse(text, NS2).unwrap_err();
        assert_eq!(error.line, 3);
        assert!(error.message.contains("looks like bytes"), "{error}");
        assert!(error.help.unwrap().contains("packet_bytes = \"1B\""));
        let bytes = Distribution::parse(text, TableFormat::Ns2 { packet_bytes: Some(1) }).unwrap();
        assert_eq!(bytes.max(), 30e6);
        // The largest size of the data-mining table, in packets.
        assert_eq!(Distribution::parse(b"1 1 0\n666667 1 1", NS2).unwrap().max(), 666_667.0 * 1460.0);
    }

    /// Each defect: the format, the text, the line, a part of the message and a part of the help.
    const DEFECTS: &[(TableFormat, &str, usize, &str, &str)] = &[
        (OWN, "", 1, "the file is empty", "columns"),
        (OWN, "# only\n", 1, "only comments", "columns"),
        (OWN, "1 0\n2 \0 1", 2, "not a text file", "binary"),
        (OWN, "1460\n", 1, "1 column", "Homa"),
        (OWN, "6 1 0\n6 1 0.15\n20000 1 1", 1, "3 columns", "format = \"ns2\""),
        (HPCC, "6 1 0\n6 1 0.15\n20000 1 1", 1, "3 columns", "format = \"ns2\""),
        (NS2, "0 0\n100 1", 1, "2 columns", "format = \"tailcut\""),
        (HPCC, "0,0\n100,100", 1, "1 column", "not by commas"),
        (OWN, "0;0\n100;1", 1, "1 column", "all by blanks or all by commas"),
        (OWN, "0 0\n100,1", 2, "1 column", "all by blanks or all by commas"),
        (OWN, "0,0\n100 1", 2, "1 column", "`size_bytes cumulative_probability`"),
        (OWN, "0, 0, 3, 4\n100,1", 1, "4 columns", "`size_bytes cumulative_probability`"),
        (OWN, "size,p\n0,0\n100,1", 1, "other columns", "`size_bytes,cumulative_probability`"),
        (OWN, "size_bytes,cumulative_probability\n", 1, "no sizes", ""),
        (OWN, "size_bytes,cumulative_probability\n0,0\n10KB,1", 3, "`10KB` is not a number", "without a unit"),
        (OWN, "0,0\n20,0.5\n10,1", 3, "falls from 20 to 10", "atom"),
        (OWN, "1 2 3 4\n", 1, "4 columns", "`size_bytes cumulative_probability`"),
        (OWN, "size p\n0 0\n1 1", 1, "`size` is not a number", "comments start with #"),
        (OWN, "0 0\n10KB 1", 2, "`10KB` is not a number", "without a unit"),
        (OWN, "0 0\ninf 1", 2, "not finite", ""),
        (OWN, "0 0\n10 NaN", 2, "not finite", ""),
        (OWN, "-5 0\n10 1", 1, "-5 is negative", "start at 0"),
        (OWN, "0 -0.5\n10 1", 1, "-0.5 is negative", "0 to 1"),
        (OWN, "0 0\n20 0.5\n10 1", 3, "falls from 20 to 10", "atom"),
        (OWN, "0 0\n20 0.5\n30 0.4\n40 1", 3, "falls from 0.5 to 0.4", "cumulative"),
        (OWN, "1000 0.15\n2000 1", 1, "first probability is 0.15", "`1000 0` in front"),
        (NS2, "6 1 0.15\n20000 1 1", 1, "first probability is 0.15", "`6 1 0` in front"),
        (HPCC, "10000 15\n20000 100", 1, "first percentage is 15", "`0 0`"),
        (OWN, "0 0\n10 0.9", 2, "is 0.9 and not 1", "cut off"),
        (HPCC, "0 0\n10 90", 2, "is 90 and not 100", "cut off"),
        (HPCC, "0 0\n10 0.5\n20 1", 3, "is 1 and not 100", "format = \"tailcut\""),
        (OWN, "0 0\n10 15\n20 100", 2, "15 is above 1", "format = \"hpcc\""),
        (OWN, "0 0\n0.5 1000", 2, "1000 is above 1", "in this order"),
        (HPCC, "0 0\n10 101", 2, "101 is above 100", "in this order"),
        (NS2, "0 1 0\n10 1 1.5", 2, "1.5 is above 1", "0 to 1"),
        (OWN, "0 0\n0 1", 2, "mean size is 0 B", "at least 1 B"),
        (OWN, "0 0\n1e300 1", 2, "is too large", "at most 1000000GB"),
        (OWN, "1000 0", 1, "is 0 and not 1", "cut off"),
    ];

    #[test]
    fn each_defect_has_its_own_message() {
        for &(format, text, line, message, help) in DEFECTS {
            let error = Distribution::parse(text.as_bytes(), format).expect_err(text);
            assert_eq!(error.line, line, "{text:?}: {error}");
            assert!(error.message.contains(message), "{text:?}: {error}");
            assert!(error.help.clone().unwrap_or_default().contains(help), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_last_probability_that_was_cut_off_counts_as_one() {
        let d = Distribution::parse(b"0 0\n10 0.4\n20 0.9999999999", OWN).unwrap();
        assert_eq!(d.cdf(20.0), 1.0);
        assert_eq!(d.draw(1.0 - f64::EPSILON / 2.0), 20);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>, packet in prop::option::of(0u64..3000)) {
            for format in [OWN, TableFormat::Ns2 { packet_bytes: packet }, HPCC] {
                let _ = Distribution::parse(&bytes, format);
            }
        }

        /// Texts that are nearly right reach further than random bytes.
        #[test]
        fn no_nearly_right_text_makes_the_reader_panic(text in "([0-9]{1,4}( 1)? (0|0?\\.[0-9]{1,3}|1|100)\n){0,8}") {
            for format in [OWN, NS2, HPCC] {
                if let Ok(d) = Distribution::parse(text.as_bytes(), format) {
                    prop_assert!(d.mean() >= 1.0 && d.mean().is_finite());
                    prop_assert!(d.draw(0.0) as f64 >= d.min());
                    prop_assert!(d.mean_wire() > d.mean());
                }
            }
        }
    }
}
