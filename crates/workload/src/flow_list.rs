//! Explicit lists of flows: tailcut's own CSV, and HPCC's `flow.txt`.
//!
//! Times are read as decimals, never as floats: a start of 123456.789012345678 s keeps its picoseconds. What other
//! readers pass over in silence is refused here: fewer flows than the file announces, a flow without bytes or with a
//! fraction of one, a flow of a host to itself. Lines after the announced flows, which HPCC's reader never reads, are
//! left out with a note.
//!
//! Left out: HPCC's priority group and port, and the triggers of htsim's connection matrices.

use std::sync::Arc;

use tailcut_base::{Bytes, HostId, Instant, MOST_NAME_BYTES, Span};

use crate::config::FlowFormat;
use crate::text::{Line, ParseError, Records, lines, moment, scaled, whole};

/// Flows in the order of their start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowList {
    pub(crate) flows: Vec<Listed>,
    pub(crate) classes: Vec<String>,
    /// The parts of the file that were not read, in a sentence each.
    pub(crate) notes: Vec<String>,
}

/// The hosts of a network, and how files number them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostNumbers {
    /// Number of hosts.
    pub hosts: u32,
    /// The host of each node of a topology in a file of HPCC, which numbers hosts and switches together; `None` for a
    /// switch. A flow list of the same format has these numbers. In any other network, hosts have their own ones there
    /// too: those of a network that HPCC generates come before its switches.
    pub nodes: Option<Arc<[Option<HostId>]>>,
}

impl HostNumbers {
    /// So many hosts, numbered alone.
    pub fn alone(hosts: u32) -> HostNumbers {
        HostNumbers { hosts, nodes: None }
    }

    /// Hosts that are numbered together with switches: whether each node is a host.
    pub fn among_switches(is_host: impl IntoIterator<Item = bool>) -> HostNumbers {
        let mut hosts = 0;
        let number = |is_host: bool| {
            let host = is_host.then_some(HostId(hosts));
            hosts += u32::from(is_host);
            host
        };
        let nodes = is_host.into_iter().map(number).collect();
        HostNumbers { hosts, nodes: Some(nodes) }
    }
}

/// One flow of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Listed {
    pub(crate) start: Instant,
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) size: u64,
    pub(crate) deadline: Option<Span>,
    /// Index into `FlowList::classes`; `None` for the traffic's own.
    pub(crate) class: Option<u16>,
}

/// Most classes that one file may name; a class is a `u8` in the end.
const MOST_CLASSES: usize = 256;

/// Picoseconds as digits after the point of a second and of a nanosecond.
const SECOND_DIGITS: u32 = 12;
const NANOSECOND_DIGITS: u32 = 3;

impl FlowList {
    /// Reads a list from the text of a file, for a network with these hosts.
    ///
    /// # Errors
    /// If a line is wrong, or names a host that is not there.
    pub fn parse(bytes: &[u8], format: FlowFormat, numbers: &HostNumbers) -> Result<FlowList, ParseError> {
        let lines = lines(bytes)?;
        match format {
            FlowFormat::Tailcut => csv(&lines, numbers.hosts),
            FlowFormat::Hpcc => hpcc(&lines, numbers),
        }
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether there is no flow.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Moves all starts so that the first flow starts at `at`. `None` if a start is then beyond the end of time.
    pub(crate) fn moved_to(mut self, at: Instant) -> Option<FlowList> {
        let Some(first) = self.flows.first().map(|flow| flow.start) else { return Some(self) };
        for flow in &mut self.flows {
            let offset = flow.start.saturating_since(first);
            flow.start = Instant::from_ps(at.as_ps().checked_add(offset.as_ps())?);
        }
        Some(self)
    }
}

const REQUIRED: [&str; 4] = ["start_ns", "src", "dst", "size_bytes"];
const OPTIONAL: [&str; 2] = ["class", "deadline_ns"];
const HEADER: &str = "`start_ns,src,dst,size_bytes` and optionally `class` and `deadline_ns`";

fn csv(lines: &[Line<'_>], hosts: u32) -> Result<FlowList, ParseError> {
    let mut records = Records::of(lines);
    let header = lines[0];
    let names: Vec<String> = match records.next()? {
        Some((_, names)) => names.iter().map(str::to_owned).collect(),
        None => Vec::new(),
    };
    let first_is_number = names.iter().all(|name| name.parse::<f64>().is_ok());
    if first_is_number {
        let help = format!("expected the columns {HEADER}");
        return Err(header.error("the first line is not a header").help(if names.len() == 1 {
            format!("{help}; for HPCC's flow.txt write format = \"hpcc\"")
        } else {
            help
        }));
    }
    let is_known = |name: &str| REQUIRED.contains(&name) || OPTIONAL.contains(&name);
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        let error = header.error(format!("the header has the unknown column `{unknown}`"));
        return Err(error.help(format!("expected {HEADER}")));
    }
    let column = |wanted: &str| names.iter().position(|name| name == wanted);
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| column(name) != Some(*i)) {
        return Err(header.error(format!("the header has the column `{}` twice", twice.1)));
    }
    let [start_at, src_at, dst_at, size_at] = {
        let mut at = [0; 4];
        for (place, name) in at.iter_mut().zip(REQUIRED) {
            *place = column(name).ok_or_else(|| {
                header.error(format!("the header has no column `{name}`")).help(format!("expected {HEADER}"))
            })?;
        }
        at
    };
    let (class_at, deadline_at) = (column("class"), column("deadline_ns"));

    let mut list = FlowList::default();
    while let Some((line, cells)) = records.next()? {
        if cells.len() != names.len() {
            let message = format!("the line has {} columns, and the header {}", cells.len(), names.len());
            return Err(line.error(message).help("expected one value for each column, separated by commas"));
        }
        let start =
            moment(&cells[start_at], NANOSECOND_DIGITS).ok_or_else(|| bad_number(line, &cells[start_at], "start"))?;
        let deadline = match deadline_at.map(|at| &cells[at]).filter(|cell| !cell.is_empty()) {
            Some(cell) => {
                let deadline = moment(cell, NANOSECOND_DIGITS).ok_or_else(|| bad_number(line, cell, "deadline"))?;
                Some(deadline.saturating_since(Instant::ZERO))
            }
            None => None,
        };
        let class = match class_at.map(|at| &cells[at]).filter(|cell| !cell.is_empty()) {
            Some(name) => Some(class_index(line, &mut list.classes, name)?),
            None => None,
        };
        let listed = Listed {
            start,
            src: host(line, &cells[src_at], "source", hosts)?,
            dst: host(line, &cells[dst_at], "destination", hosts)?,
            size: size(line, &cells[size_at], size_at)?,
            deadline,
            class,
        };
        append(line, &mut list.flows, listed)?;
    }
    if list.flows.is_empty() {
        return Err(header.error("the file has a header and no flow"));
    }
    Ok(list)
}

fn class_index(line: Line<'_>, classes: &mut Vec<String>, name: &str) -> Result<u16, ParseError> {
    if !is_class_name(name) {
        return Err(line.error(format!("the class `{name}` is not a name")).help(CLASS_NAME_HELP));
    }
    let index = classes.iter().position(|known| known == name).unwrap_or_else(|| {
        classes.push(name.to_owned());
        classes.len() - 1
    });
    if classes.len() > MOST_CLASSES {
        return Err(line.error(format!("the file has more than {MOST_CLASSES} classes")));
    }
    Ok(u16::try_from(index).expect("at most 256 classes"))
}

/// What a class may be called: its name becomes part of dotted paths, of columns and of file names.
pub(crate) fn is_class_name(name: &str) -> bool {
    (1..=MOST_NAME_BYTES).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

pub(crate) const CLASS_NAME_HELP: &str = "expected 1 to 64 letters, digits, `_` and `-`";

/// Reads what the first line announces, as HPCC's reader does.
fn hpcc(lines: &[Line<'_>], numbers: &HostNumbers) -> Result<FlowList, ParseError> {
    const COLUMNS: &str = "`src dst pg dport bytes start_seconds`";
    let first = lines[0];
    let Some(count) = whole(first.text) else {
        let error = first.error("the first line is not the number of flows");
        return Err(if first.text.contains(',') {
            error.help("for comma-separated columns with a header write format = \"tailcut\"")
        } else {
            error.help(format!("expected the number of flows, then lines of {COLUMNS}"))
        });
    };
    let rows = &lines[1..];
    let announced = usize::try_from(count).unwrap_or(usize::MAX);
    let mut list = FlowList::default();
    // The columns before those of HPCC: a flow id, or none.
    let mut front = None;
    let mut last_id = None;
    for &line in rows.iter().take(announced) {
        let cells: Vec<&str> = line.text.split_whitespace().collect();
        let expected = [6, 7].map(|columns| front.is_none_or(|front| columns == 6 + front).then_some(columns));
        if !expected.contains(&Some(cells.len())) {
            let error = line.error(format!("the line has {} columns", cells.len()));
            let nth = list.flows.len() + 1;
            return Err(error.help(format!(
                "expected {COLUMNS}, in every line with a flow id in front or in none: the first line announces {count} \
                 flows, and this should be number {nth}"
            )));
        }
        let id = *front.get_or_insert(cells.len() - 6);
        let row = &cells[id..];
        if id > 0 {
            last_id = Some(flow_id(line, &cells, last_id)?);
        }
        let listed = Listed {
            start: moment(row[5], SECOND_DIGITS).ok_or_else(|| bad_number(line, row[5], "start"))?,
            src: node(line, row[0], "source", numbers)?,
            dst: node(line, row[1], "destination", numbers)?,
            size: size(line, row[4], id + 4)?,
            deadline: None,
            class: None,
        };
        append(line, &mut list.flows, listed)?;
    }
    if rows.len() < announced {
        let message = format!("the first line announces {count} flows, and the file has {}", rows.len());
        return Err(first.error(message).help(format!("expected {count} lines of {COLUMNS} below it")));
    }
    if list.flows.is_empty() {
        return Err(first.error("the file has no flow"));
    }
    if let Some(unread) = rows.get(announced) {
        list.notes.push(format!(
            "the first line announces {count} flows, and the {} from line {} on {} not read",
            lines_of(rows.len() - announced),
            unread.number,
            if rows.len() - announced == 1 { "is" } else { "are" },
        ));
    }
    Ok(list)
}

/// The flow id in front of a line with one more column than HPCC's. A value too many at the end of a line would be read
/// as one in front: ids count up, and HPCC has so many priority groups that what comes before is none.
fn flow_id(line: Line<'_>, cells: &[&str], last: Option<u64>) -> Result<u64, ParseError> {
    const GROUPS: u64 = 8;
    let help = "expected `flow_id src dst pg dport bytes start_seconds`, or no more than `src dst pg dport bytes start_seconds`";
    let wrong = |message: String| Err(line.error(message).help(help));
    let Some(id) = whole(cells[0]) else { return wrong(format!("the flow id `{}` is not a whole number", cells[0])) };
    match last {
        Some(last) if id <= last => wrong(format!("the flow id {id} does not count up from {last}")),
        _ if whole(cells[3]).is_some_and(|group| group < GROUPS) => Ok(id),
        _ => wrong(format!("the priority group {} in column 4 is not one of 0 to {}", cells[3], GROUPS - 1)),
    }
}

fn lines_of(count: usize) -> String {
    if count == 1 { "line".to_owned() } else { format!("{count} lines") }
}

fn bad_number(line: Line<'_>, cell: &str, what: &str) -> ParseError {
    if cell.starts_with('-') {
        return line.error(format!("the {what} {cell} is negative"));
    }
    let is_number = cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_number && !cell.is_empty() && cell != "." && cell.matches('.').count() < 2 {
        return line.error(format!("the {what} {cell} is too large")).help(format!(
            "expected a time of at most {} or a size of at most {}",
            Span::MOST,
            Bytes::MOST
        ));
    }
    line.error(format!("the {what} `{cell}` is not a number")).help("expected a plain decimal number such as 2.000001")
}

/// A size in bytes that is not too large, in the column with this index. A fraction of a byte is refused and not
/// rounded: nothing says whether it was meant, and it decides how many packets a flow has.
fn size(line: Line<'_>, cell: &str, column: usize) -> Result<u64, ParseError> {
    match whole(cell) {
        Some(size) if size <= Bytes::MOST.0 => Ok(size),
        Some(_) => Err(bad_number(line, cell, "size")),
        None => match scaled(cell, 0).filter(|&below| below < Bytes::MOST.0) {
            Some(below) => {
                let message = format!("the size {cell} in column {} is not a whole number of bytes", column + 1);
                Err(line.error(message).help(format!("expected {below} or {}", below + 1)))
            }
            None => Err(bad_number(line, cell, "size")),
        },
    }
}

/// The host of a node in a file of HPCC.
fn node(line: Line<'_>, cell: &str, what: &str, numbers: &HostNumbers) -> Result<u32, ParseError> {
    let Some(nodes) = &numbers.nodes else { return host(line, cell, what, numbers.hosts) };
    let help = || {
        format!(
            "expected the number of a host in the topology's file, which has nodes 0 to {}",
            nodes.len().saturating_sub(1)
        )
    };
    let Ok(id) = cell.parse::<u32>() else {
        return Err(line.error(format!("the {what} `{cell}` is not the number of a node")).help(help()));
    };
    match nodes.get(id as usize) {
        Some(Some(host)) => Ok(host.0),
        Some(None) => Err(line.error(format!("the {what} {id} is a switch")).help(help())),
        None => Err(line.error(format!("the {what} {id} is not a node")).help(help())),
    }
}

fn host(line: Line<'_>, cell: &str, what: &str, hosts: u32) -> Result<u32, ParseError> {
    let Ok(id) = cell.parse::<u32>() else {
        return Err(line.error(format!("the {what} `{cell}` is not the number of a host")));
    };
    if id >= hosts {
        return Err(line.error(format!("the {what} {id} is not a host")).help(host_help(hosts)));
    }
    Ok(id)
}

/// Which hosts there are.
pub(crate) fn host_help(hosts: u32) -> String {
    format!("the topology has {hosts} hosts, 0 to {}", hosts.saturating_sub(1))
}

fn append(line: Line<'_>, flows: &mut Vec<Listed>, flow: Listed) -> Result<(), ParseError> {
    if flow.size == 0 {
        return Err(line.error("the flow has no bytes").help("expected a size of at least 1 B"));
    }
    if flow.src == flow.dst {
        return Err(line.error(format!("host {} sends to itself", flow.src)));
    }
    if flows.last().is_some_and(|last| last.start > flow.start) {
        return Err(line.error("the flow starts before the one above it").help("expected flows sorted by start"));
    }
    flows.push(flow);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CSV: FlowFormat = FlowFormat::Tailcut;
    const HPCC: FlowFormat = FlowFormat::Hpcc;

    /// Reads a list for a network that numbers its hosts alone.
    fn read(bytes: &[u8], format: FlowFormat, hosts: u32) -> Result<FlowList, ParseError> {
        FlowList::parse(bytes, format, &HostNumbers::alone(hosts))
    }

    #[test]
    fn the_own_format_with_all_columns() {
        let text = "start_ns,src,dst,size_bytes,class,deadline_ns\n0,0,1,1000,short,\n\
                    1.5, 2, 3, 5000000000, , 20000000\n1.5,1,0,7,long,5\n";
        let list = read(text.as_bytes(), CSV, 4).unwrap();
        assert_eq!(list.classes, ["short", "long"]);
        assert_eq!(list.len(), 3);
        let flow = list.flows[1];
        assert_eq!((flow.start.as_ps(), flow.src, flow.dst, flow.size), (1500, 2, 3, 5_000_000_000));
        assert_eq!((flow.class, flow.deadline), (None, Some(Span::from_ms(20))));
        assert_eq!((list.flows[0].class, list.flows[2].class), (Some(0), Some(1)));
        assert_eq!(list.flows[0].deadline, None);
    }

    /// As programs write it that quote every text, behind a comment and an empty line.
    #[test]
    fn fields_may_be_quoted_and_errors_name_their_line() {
        let text = "# made elsewhere\n\n\"start_ns\",\"src\",\"dst\",\"size_bytes\",\"class\"\n0,0,1,1000,\"short\"\n";
        let list = read(text.as_bytes(), CSV, 4).unwrap();
        assert_eq!((list.len(), list.classes.as_slice()), (1, ["short".to_owned()].as_slice()));
        let error = read(format!("{text}\n# more\n5,0,9,1,short\n").as_bytes(), CSV, 4).unwrap_err();
        assert_eq!((error.line, error.text.as_str()), (7, "5,0,9,1,short"));
    }

    #[test]
    fn cells_may_be_quoted_as_spreadsheets_and_data_frames_write_them() {
        let plain = "start_ns,src,dst,size_bytes,class\n0,0,1,1000,short\n";
        let quoted = "\"start_ns\",\"src\",\"dst\",\"size_bytes\",\"class\"\r\n\"0\",0, 1 ,\"1000\",\"short\"\r\n";
        let read = |text: &str| read(text.as_bytes(), CSV, 4).unwrap();
        assert_eq!(read(quoted), read(plain));
    }

    #[test]
    fn hpcc_starts_are_exact_and_large_flows_stay_large() {
        let text = "2 \n2 1 3 100 200000000 2\n3 1 3 100 6000000000 2.000001234\n";
        let list = read(text.as_bytes(), HPCC, 4).unwrap();
        assert_eq!(list.flows[1].start.as_ps(), 2_000_001_234_000);
        assert_eq!(list.flows[1].size, 6_000_000_000);
        let moved = list.moved_to(Instant::from_ps(7)).unwrap();
        assert_eq!(moved.flows.iter().map(|f| f.start.as_ps()).collect::<Vec<_>>(), [7, 1_234_007]);
    }

    /// Each defect: the format, the text, the line, a part of the message and a part of the help.
    const DEFECTS: &[(FlowFormat, &str, usize, &str, &str)] = &[
        (CSV, "", 1, "empty", ""),
        (CSV, "start_ns,src,dst,size_bytes\n", 1, "no flow", ""),
        (CSV, "0,1,2,3\n", 1, "not a header", "start_ns,src,dst,size_bytes"),
        (CSV, "2\n2 1 3 100 2000 2\n3 1 3 100 2000 2", 1, "not a header", "format = \"hpcc\""),
        (CSV, "start_ns,src,dst,bytes\n0,0,1,1", 1, "unknown column `bytes`", "size_bytes"),
        (CSV, "start_ns,src,dst,dst,size_bytes\n", 1, "`dst` twice", ""),
        (CSV, "start_ns,src,size_bytes\n", 1, "no column `dst`", "size_bytes"),
        (CSV, "start_ns,src,dst,size_bytes\n0,0,1\n", 2, "3 columns, and the header 4", "commas"),
        (CSV, "start_ns,src,dst,size_bytes\nx,0,1,1\n", 2, "start `x` is not a number", "plain decimal"),
        (CSV, "start_ns,src,dst,size_bytes\n-1,0,1,1\n", 2, "start -1 is negative", ""),
        (CSV, "start_ns,src,dst,size_bytes\n0,0,1,-4\n", 2, "size -4 is negative", ""),
        (CSV, "start_ns,src,dst,size_bytes\n0,0,1,1e3\n", 2, "size `1e3` is not a number", "plain decimal"),
        (CSV, "start_ns,src,dst,size_bytes\n0,0,1,0\n", 2, "no bytes", "at least 1 B"),
        (CSV, "start_ns,src,dst,size_bytes\n0,0,9,1\n", 2, "destination 9 is not a host", "4 hosts, 0 to 3"),
        (CSV, "start_ns,src,dst,size_bytes\n0,a,1,1\n", 2, "source `a` is not the number of a host", ""),
        (CSV, "start_ns,src,dst,size_bytes\n0,1,1,1\n", 2, "host 1 sends to itself", ""),
        (CSV, "start_ns,src,dst,size_bytes\n5,0,1,1\n4,0,1,1\n", 3, "before the one above", "sorted"),
        (CSV, "start_ns,src,dst,size_bytes,class\n5,0,1,1,a.b\n", 2, "`a.b` is not a name", "letters"),
        (CSV, "start_ns,src,dst,size_bytes\n0,0,1,1\n1,\"0,1,1\n2,0,1,1\n", 3, "not closed", "in pairs"),
        (HPCC, "start_ns,src\n", 1, "not the number of flows", "format = \"tailcut\""),
        (HPCC, "2 1 3 100 2000 2\n", 1, "not the number of flows", "`src dst pg dport bytes start_seconds`"),
        (HPCC, "3\n2 1 3 100 2000 2\n3 1 3 100 2000 2\n", 1, "announces 3 flows, and the file has 2", "3 lines of"),
        (HPCC, "2.5\n2 1 3 100 2000 2\n", 1, "not the number of flows", ""),
        (
            HPCC,
            "2\n2 1 3 100 2000 2\nflows must be sorted\n",
            3,
            "4 columns",
            "announces 2 flows, and this should be number 2",
        ),
        (HPCC, "2\n2 1 3 100 2000 2\n7 2 1 3 100 2000 2\n", 3, "7 columns", "a flow id in front or in none"),
        (HPCC, "0\n", 1, "no flow", ""),
        // A value too many is no flow id: 2 B from 1 to 3 at 5 s.
        (HPCC, "1\n0 1 3 100 14600 2.0 5\n", 2, "the priority group 100 in column 4", "flow_id src dst"),
        (HPCC, "2\n3 0 1 3 100 5 2\n3 1 0 3 100 5 2\n", 3, "the flow id 3 does not count up from 3", "flow_id src dst"),
        (HPCC, "2\n3 0 1 3 100 5 2\n2 1 0 3 100 5 2\n", 3, "the flow id 2 does not count up from 3", "flow_id src dst"),
        (HPCC, "1\na 0 1 3 100 5 2\n", 2, "the flow id `a` is not a whole number", "flow_id src dst"),
        (HPCC, "1\n0 1 3 100 1460.999 1\n", 2, "size 1460.999 in column 5 is not a whole number", "1460 or 1461"),
        (HPCC, "1\n9 0 1 3 100 1460.5 1\n", 2, "size 1460.5 in column 6 is not a whole number", "1460 or 1461"),
        (
            CSV,
            "start_ns,src,dst,size_bytes\n0,0,1,1460.999\n",
            2,
            "size 1460.999 in column 4 is not a whole number",
            "1460 or 1461",
        ),
        (CSV, "start_ns,src,dst,size_bytes\n0,0,1,1.5.5\n", 2, "size `1.5.5` is not a number", "plain decimal"),
        (HPCC, "1\n0 1 3 100 1234\n", 2, "5 columns", "start_seconds"),
        (HPCC, "1\n0 1 3 100 1234 1e-6\n", 2, "start `1e-6` is not a number", "plain decimal"),
        (HPCC, "2\n0 1 3 100 1234 2\n0 1 3 100 1234 1\n", 3, "before the one above", "sorted"),
    ];

    #[test]
    fn each_defect_has_its_own_message() {
        for &(format, text, line, message, help) in DEFECTS {
            let error = read(text.as_bytes(), format, 4).expect_err(text);
            assert_eq!(error.line, line, "{text:?}: {error}");
            assert!(error.message.contains(message), "{text:?}: {error}");
            assert!(error.help.clone().unwrap_or_default().contains(help), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_class_has_a_name_of_at_most_64_characters() {
        assert_eq!(MOST_NAME_BYTES, 64, "the help says so");
        assert!(is_class_name(&"a".repeat(64)) && !is_class_name(&"a".repeat(65)) && !is_class_name(""));
        let text = format!("start_ns,src,dst,size_bytes,class\n0,0,1,5,{}\n", "a".repeat(65));
        let error = read(text.as_bytes(), CSV, 4).unwrap_err();
        assert!(error.line == 2 && error.help.unwrap().contains("1 to 64"));
    }

    #[test]
    fn lines_after_the_announced_flows_are_left_out_with_a_note() {
        let text = "1\n0 1 3 100 2000 2\n\nsrc dst pg dport bytes start\n5 5 5\n";
        let list = read(text.as_bytes(), HPCC, 4).unwrap();
        assert_eq!(list.len(), 1);
        assert_eq!(list.notes, ["the first line announces 1 flows, and the 2 lines from line 4 on are not read"]);
        let with_ids = read(b"2\n7 0 1 3 100 2000.0 2\n9 1 0 3 100 5 2\n", HPCC, 4).unwrap();
        assert_eq!(
            with_ids.flows.iter().map(|f| (f.src, f.dst, f.size)).collect::<Vec<_>>(),
            [(0, 1, 2000), (1, 0, 5)]
        );
        assert!(with_ids.notes.is_empty());
    }

    #[test]
    fn numbers_of_nodes_are_those_of_the_topology() {
        let numbers = HostNumbers::among_switches([false, true, true, false, true]);
        assert_eq!((numbers.hosts, HostNumbers::among_switches([]).hosts), (3, 0));
        let read = |row: &str| FlowList::parse(format!("1\n{row} 3 100 5 0").as_bytes(), HPCC, &numbers);
        let ends = |row: &str| read(row).map(|list| (list.flows[0].src, list.flows[0].dst)).unwrap();
        assert_eq!([ends("1 2"), ends("4 1")], [(0, 1), (2, 0)]);
        for (row, message) in [("0 1", "the source 0 is a switch"), ("1 5", "the destination 5 is not a node")] {
            let error = read(row).unwrap_err();
            assert!(error.message == message && error.help.unwrap().contains("nodes 0 to 4"), "{row}");
        }
        // tailcut's own format counts hosts alone.
        let own = FlowList::parse(b"start_ns,src,dst,size_bytes\n0,0,2,5\n", CSV, &numbers).unwrap();
        assert_eq!((own.flows[0].src, own.flows[0].dst), (0, 2));
    }

    proptest! {
        /// A decimal is a size exactly if it is whole, however it is written.
        #[test]
        fn a_size_is_a_whole_number_of_bytes(size in 1u64..1_000_000_000, fraction in "[0-9]{0,20}") {
            let text = format!("start_ns,src,dst,size_bytes\n0,0,1,{size}.{fraction}\n");
            match read(text.as_bytes(), CSV, 4) {
                Ok(list) => prop_assert!(list.flows[0].size == size && fraction.bytes().all(|digit| digit == b'0')),
                Err(error) => {
                    prop_assert!(error.line == 2 && error.message.contains("column 4"), "{}", error);
                    prop_assert!(fraction.bytes().any(|digit| digit != b'0'));
                }
            }
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>, hosts in 0u32..5) {
            for format in [CSV, HPCC] {
                let _ = read(&bytes, format, hosts);
            }
        }

        /// Texts that are nearly right reach further than random bytes.
        #[test]
        fn nearly_right_texts_give_sorted_flows_or_an_error(rows in "([0-9]{1,2},[0-4],[0-4],[0-9]{1,2}(,[a-c]?)?\n){0,6}") {
            for header in ["start_ns,src,dst,size_bytes\n", "start_ns,src,dst,size_bytes,class\n"] {
                if let Ok(list) = read(format!("{header}{rows}").as_bytes(), CSV, 4) {
                    prop_assert!(list.flows.windows(2).all(|f| f[0].start <= f[1].start));
                    prop_assert!(list.flows.iter().all(|f| f.size > 0 && f.src != f.dst && f.dst < 4));
                }
            }
        }
    }
}
