//! Reads distributions of flow sizes: tailcut's own columns, and those of ns-2 and HPCC.
//!
//! The same name stands for different files: "web search" has a mean of 1 665 831 B in the packets of ns-2 and of 1
//! 711 250 B in the rounded bytes of HPCC. The published scripts of pFabric, PIAS and HPCC interpolate linearly
//! between the lines; netbench and Homa take the upper step, and find larger means in the same file. A file that
//! begins with its mean, as Homa's do, decides which of the two it is; any other is linear unless the scenario says
//! otherwise.

use tailcut_base::{Bytes, MSS_BYTES};

use crate::config::Interpolation;
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

/// How far the mean that a file announces may be from that of its sizes, for rounded probabilities: a hundredth of it.
const MEAN_TOLERANCE: f64 = 0.01;

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
    /// Comments (`#`) and blank lines are skipped. A number alone in the first line is the mean of the sizes, in the
    /// file's own unit. With [`Interpolation::Linear`], equal sizes on two lines are an atom. `None` is linear, unless
    /// the file announces its mean: then it is the interpolation that has this mean.
    ///
    /// # Errors
    /// If a line is wrong, an atom or a step lies at a fraction of a byte, or the announced mean is not that of the
    /// sizes.
    pub fn parse(
        bytes: &[u8],
        format: TableFormat,
        interpolation: Option<Interpolation>,
    ) -> Result<Distribution, ParseError> {
        let all_lines = lines(bytes)?;
        let (announced, mut lines) = match announced_mean(&all_lines) {
            Some((line, mean)) => (Some((line, mean)), all_lines[1..].to_vec()),
            None => (None, all_lines),
        };
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
        check_end(&lines, &rows, format)?;
        let interpolation = match announced {
            Some((line, mean)) => with_mean(line, mean, &rows, format, interpolation)?,
            None => interpolation.unwrap_or(Interpolation::Linear),
        };
        if interpolation == Interpolation::Linear && announced.is_none() {
            check_start(&lines, &rows, format)?;
        }
        let unit = match format {
            TableFormat::Tailcut | TableFormat::Hpcc => 1.0,
            TableFormat::Ns2 { packet_bytes } => packet_unit(&lines, &rows, packet_bytes)?,
        };
        let last = lines.len() - 1;
        let largest = rows[last].0 * unit;
        if largest > Bytes::MOST.as_f64() {
            let error = lines[last].error(format!("a flow of {largest:e} B is too large"));
            return Err(error.help(format!("expected at most {}", Bytes::MOST)));
        }
        check_atoms(&lines, &rows, unit, interpolation)?;
        let distribution = Distribution::table(knots(&rows, unit, format, interpolation));
        if distribution.mean() < 1.0 {
            let message = format!("the mean size is {} B", distribution.mean());
            return Err(lines[last].error(message).help("expected sizes in bytes with a mean of at least 1 B"));
        }
        Ok(distribution)
    }
}

/// The mean that a file announces: the number that stands alone in its first line, if lines of columns follow.
fn announced_mean<'a>(lines: &[Line<'a>]) -> Option<(Line<'a>, f64)> {
    let (first, second) = (lines.first()?, lines.get(1)?);
    let mean: f64 = first.text.parse().ok()?;
    second.text.contains([' ', '\t', ',']).then_some((*first, mean))
}

/// The interpolation with which the sizes have the announced mean: the declared one, or the one that comes nearer.
fn with_mean(
    line: Line<'_>,
    announced: f64,
    rows: &[(f64, f64)],
    format: TableFormat,
    declared: Option<Interpolation>,
) -> Result<Interpolation, ParseError> {
    let [step, linear] = [Interpolation::Step, Interpolation::Linear].map(|interpolation| {
        let mean = Distribution::table(knots(rows, 1.0, format, interpolation)).mean();
        (interpolation, mean, (mean - announced).abs())
    });
    let nearer = if step.2 <= linear.2 { step } else { linear };
    let (interpolation, _, distance) = match declared {
        Some(declared) => [step, linear].into_iter().find(|of| of.0 == declared).unwrap_or(nearer),
        None => nearer,
    };
    if distance <= MEAN_TOLERANCE * announced {
        return Ok(interpolation);
    }
    let rounded = |mean: f64| (mean * 1e3).round() / 1e3;
    let message = format!(
        "the first line announces a mean of {announced}, and the mean of the sizes is {} with steps and {} with linear \
         interpolation",
        rounded(step.1),
        rounded(linear.1)
    );
    let expected = declared.map_or("one of the two", |declared| declared.described());
    Err(line.error(message).help(format!(
        "expected {expected} in the first line, within 1 %; remove the line if it is wrong, and write \
         interpolation = \"step\" or \"linear\""
    )))
}

/// The distribution function of these rows, with sizes in bytes.
fn knots(rows: &[(f64, f64)], unit: f64, format: TableFormat, interpolation: Interpolation) -> Vec<Knot> {
    let (all, last) = (format.all(), rows.len() - 1);
    let mut knots = Vec::with_capacity(2 * rows.len());
    let mut before = 0.0;
    for (index, &(size, share)) in rows.iter().enumerate() {
        // The last one is 1 within the tolerance of `check_end`.
        let (size, p) = (size * unit, if index == last { 1.0 } else { (share / all).min(1.0) });
        // What lies below the first line of a linear table has exactly its size.
        if interpolation == Interpolation::Step || index == 0 && p > 0.0 {
            knots.push(Knot { size, p: before });
        }
        knots.push(Knot { size, p });
        before = p;
    }
    knots
}

/// Refuses sizes that many flows have and that are no whole number of bytes. Between the lines of a linear table sizes
/// are continuous, and a drawn one is rounded up.
fn check_atoms(
    lines: &[Line<'_>],
    rows: &[(f64, f64)],
    unit: f64,
    interpolation: Interpolation,
) -> Result<(), ParseError> {
    for (index, &(size, share)) in rows.iter().enumerate() {
        let (below, from) = if index == 0 { (size, 0.0) } else { rows[index - 1] };
        let is_atom = share > from && (interpolation == Interpolation::Step || below == size);
        let bytes = size * unit;
        if is_atom && bytes.fract() != 0.0 {
            let error = lines[index].error(format!("the size {bytes} B is not a whole number of bytes"));
            return Err(error.help(format!(
                "expected {} B or {} B: flows have exactly this size",
                bytes.floor(),
                bytes.ceil()
            )));
        }
    }
    Ok(())
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
        (_, 1) if all_numbers => error
            .help(format!("{expected}; the mean of the sizes may stand alone in the first line, as in Homa's files")),
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

fn check_start(lines: &[Line<'_>], rows: &[(f64, f64)], format: TableFormat) -> Result<(), ParseError> {
    let (size, first) = rows[0];
    if first > 0.0 {
        let middle = if format.columns() == 3 { " 1" } else { "" };
        let message = format!("the first {} is {first}, and no line says where the flows below it lie", format.share());
        return Err(lines[0].error(message).help(format!(
            "write interpolation = \"step\" if each line has the size of the flows that it adds; else put a line \
             `{size}{middle} 0` in front if {first} of the flows have exactly that size, or `0{middle} 0` if their \
             sizes are spread evenly below it"
        )));
    }
    Ok(())
}

fn check_end(lines: &[Line<'_>], rows: &[(f64, f64)], format: TableFormat) -> Result<(), ParseError> {
    let (_, last) = rows[rows.len() - 1];
    let all = format.all();
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
        let own = Distribution::parse(b"8760 0\n8760 0.15\n18980 0.2 # odd", OWN, None).unwrap_err();
        assert!(own.message.contains("4 columns"), "{own}");
        let own = Distribution::parse(b"# web search\n8760 0\n8760 0.15\n18980 0.25\n29200000 1\n", OWN, None).unwrap();
        let ns2 = Distribution::parse(b"6 1 0\n6 1 0.15\n13\t1\t0.25\r\n20000 1 1.0", NS2, None).unwrap();
        let hpcc = Distribution::parse(b"8760 0\n8760 15\n18980 25\n29200000 100\n", HPCC, None).unwrap();
        assert_eq!(own, ns2);
        assert_eq!(own, hpcc);
    }

    #[test]
    fn commas_and_a_header_with_or_without_quotes_change_nothing() {
        let plain = Distribution::parse(b"0 0\n1000 0.5\n9000 1\n", OWN, None).unwrap();
        for text in [
            "0,0\n1000,0.5\n9000,1\n",
            "size_bytes,cumulative_probability\n0, 0\n1000, 0.5\n9000, 1\n",
            "# mine\n\"size_bytes\",\"cumulative_probability\"\r\n\"0\",0\r\n1000,\"0.5\"\r\n9000,1\r\n",
            "\"cumulative_probability\",\"size_bytes\"\n0,0\n0.5,1000\n1,9000",
        ] {
            assert_eq!(Distribution::parse(text.as_bytes(), OWN, None), Ok(plain.clone()), "{text:?}");
        }
    }

    #[test]
    fn three_columns_in_bytes_need_to_say_so() {
        let text = b"0 1 0\n9000 1 0.15\n30000000 1 1\n";
        let error = Distribution::parse(text, NS2, None).unwrap_err();
        assert_eq!(error.line, 3);
        assert!(error.message.contains("looks like bytes"), "{error}");
        assert!(error.help.unwrap().contains("packet_bytes = \"1B\""));
        let bytes = Distribution::parse(text, TableFormat::Ns2 { packet_bytes: Some(1) }, None).unwrap();
        assert_eq!(bytes.max(), 30e6);
        // The largest size of the data-mining table, in packets.
        assert_eq!(Distribution::parse(b"1 1 0\n666667 1 1", NS2, None).unwrap().max(), 666_667.0 * 1460.0);
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
            let error = Distribution::parse(text.as_bytes(), format, None).expect_err(text);
            assert_eq!(error.line, line, "{text:?}: {error}");
            assert!(error.message.contains(message), "{text:?}: {error}");
            assert!(error.help.clone().unwrap_or_default().contains(help), "{text:?}: {error}");
        }
    }

    /// The mean of a file without a mean in its first line, with each interpolation.
    fn means(text: &str) -> [f64; 2] {
        [Interpolation::Step, Interpolation::Linear]
            .map(|interpolation| Distribution::parse(text.as_bytes(), OWN, Some(interpolation)).unwrap().mean())
    }

    #[test]
    fn steps_give_each_size_its_probability() {
        let text = "100 0.5\n1000 0.999\n2000 1\n";
        let steps = Distribution::parse(text.as_bytes(), OWN, Some(Interpolation::Step)).unwrap();
        assert!((steps.mean() - 551.0).abs() < 1e-9, "100 * 0.5 + 1000 * 0.499 + 2000 * 0.001");
        assert_eq!([0.0, 0.49, 0.5, 0.998, 0.9995].map(|u| steps.draw(u)), [100, 100, 1000, 1000, 2000]);
        assert_eq!((steps.cdf(99.0), steps.cdf(100.0), steps.cdf(999.0)), (0.0, 0.5, 0.5));
        let [step, linear] = means(&format!("100 0\n{text}"));
        assert!((step - 551.0).abs() < 1e-9 && (linear - 325.95).abs() < 1e-9, "{step} {linear}");
    }

    #[test]
    fn the_mean_in_the_first_line_decides_the_interpolation() {
        // Homa's TestDistribution.txt, and the same sizes with the mean of a reader that interpolates.
        let rows = "100  0.5\n1456  0.65\n10000  0.75\n100000  0.999\n1000000  1.0\n";
        for (mean, expected) in [("27168.4", 27_168.4), ("14984.5", 14_984.5)] {
            let read = Distribution::parse(format!("{mean}\n{rows}").as_bytes(), OWN, None).unwrap();
            assert!((read.mean() - expected).abs() < 1.0, "{} for {mean}", read.mean());
        }
        let both = Distribution::parse(format!("20000\n{rows}").as_bytes(), OWN, None).unwrap_err();
        assert_eq!(both.line, 1);
        assert!(both.message.contains("27168.4") && both.message.contains("14984."), "{both}");
        let wrong = Distribution::parse(format!("27168.4\n{rows}").as_bytes(), OWN, Some(Interpolation::Linear));
        assert!(wrong.unwrap_err().message.contains("announces a mean of 27168.4"));
        let commas = Distribution::parse(b"550.5\n100,0.5\n1000,0.999\n2000,1", OWN, None).unwrap();
        assert!((commas.mean() - 551.0).abs() < 1e-9);
    }

    #[test]
    fn flows_have_no_fraction_of_a_byte() {
        for (text, interpolation) in
            [("1460.0 0.5\n1460.5 1", Some(Interpolation::Step)), ("0 0\n10 0.2\n1460.5 0.2\n1460.5 1", None)]
        {
            let error = Distribution::parse(text.as_bytes(), OWN, interpolation).unwrap_err();
            assert!(error.message.contains("1460.5 B is not a whole number of bytes"), "{error}");
            assert!(error.help.unwrap().contains("1460 B or 1461 B"));
        }
        // A size between the lines of a linear table is continuous, and half a packet of 1460 B is 730 B.
        assert!(Distribution::parse(b"0.5 0\n1460.5 1", OWN, None).is_ok());
        assert!(Distribution::parse(b"0.5 1 0.5\n2 1 1", NS2, Some(Interpolation::Step)).is_ok());
    }

    #[test]
    fn a_last_probability_that_was_cut_off_counts_as_one() {
        let d = Distribution::parse(b"0 0\n10 0.4\n20 0.9999999999", OWN, None).unwrap();
        assert_eq!(d.cdf(20.0), 1.0);
        assert_eq!(d.draw(1.0 - f64::EPSILON / 2.0), 20);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>, packet in prop::option::of(0u64..3000)) {
            for format in [OWN, TableFormat::Ns2 { packet_bytes: packet }, HPCC] {
                let _ = Distribution::parse(&bytes, format, None);
            }
        }

        /// Whatever the sizes, the mean in the first line finds the interpolation again that it was made with.
        #[test]
        fn the_announced_mean_finds_its_interpolation(
            sizes in prop::collection::btree_set(1u32..1_000_000, 2..12), shares in prop::collection::vec(1u32..100, 12)
        ) {
            let all: u32 = shares[..sizes.len()].iter().sum();
            let mut sum = 0;
            let rows: String = sizes.iter().zip(&shares).map(|(size, share)| {
                sum += share;
                format!("{size} {}\n", f64::from(sum) / f64::from(all))
            }).collect();
            let first = sizes.first().unwrap();
            let [step, linear] = means(&format!("{first} 0\n{rows}"));
            for (mean, other) in [(step, linear), (linear, step)] {
                let read = Distribution::parse(format!("{mean}\n{rows}").as_bytes(), OWN, None).unwrap();
                prop_assert!((read.mean() - mean).abs() <= 1e-9 * mean, "{} for {mean}", read.mean());
                if (mean - other).abs() > 0.1 * mean {
                    let neither = format!("{}\n{rows}", (mean + other) / 2.0);
                    prop_assert!(Distribution::parse(neither.as_bytes(), OWN, None).is_err());
                }
            }
        }

        /// Texts that are nearly right reach further than random bytes.
        #[test]
        fn no_nearly_right_text_makes_the_reader_panic(text in "([0-9]{1,4}( 1)? (0|0?\\.[0-9]{1,3}|1|100)\n){0,8}") {
            for format in [OWN, NS2, HPCC] {
                for interpolation in [None, Some(Interpolation::Linear), Some(Interpolation::Step)] {
                    let Ok(d) = Distribution::parse(text.as_bytes(), format, interpolation) else { continue };
                    prop_assert!(d.mean() >= 1.0 && d.mean().is_finite());
                    prop_assert!(d.draw(0.0) as f64 >= d.min());
                    prop_assert!(d.mean_wire() > d.mean());
                }
            }
        }
    }
}
