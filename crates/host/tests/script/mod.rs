//! Segment-level scripts: what a script says, and how it is read. `scripts/README.md` describes the language.

mod read;
mod run;

use std::fmt;

use tailcut_base::{BitRate, Instant, MSS_BYTES, Span};
use tailcut_host::HostConfig;

/// One script: a host, one flow, and what happens to it in the order of time.
#[derive(Debug)]
pub(crate) struct Script {
    file: String,
    pub(crate) title: String,
    config: HostConfig,
    end: End,
    /// Bytes of the flow.
    size: u64,
    /// Rate of the host's link; without it segments leave in no time.
    link: Option<BitRate>,
    /// Whether data is ECN-capable, if the script says so.
    ect: Option<bool>,
    /// How long a header takes over the path, one way; without it no round-trip time is known from the start.
    path: Option<Span>,
    steps: Vec<Step>,
}

/// Which end of the flow the host is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Sender,
    Receiver,
}

/// A line that has a time: what happens, and all that leaves because of it.
#[derive(Debug)]
struct Step {
    line: usize,
    at: Instant,
    event: Option<Event>,
    leaves: Vec<Output>,
}

#[derive(Debug)]
enum Event {
    /// An ACK arrives. `dsack`: the block that reports a duplicate.
    Ack { next: u64, ece: bool, dsack: Option<(u64, u64)>, sack: Vec<(u64, u64)>, echo: Echo },
    /// A SYN-ACK arrives.
    SynAck { ece: bool, echo: Echo },
    /// A SYN arrives.
    Syn,
    /// Data segments arrive, one after the other: number, and whether it is marked.
    Data(Vec<(u64, bool)>),
    /// The retransmission timer expires.
    Timeout,
    /// Another timer fires: that of a tail loss probe or of a reordering window.
    Timer,
}

/// Whose timestamp is echoed.
#[derive(Clone, Copy, Debug, Default)]
struct Echo {
    /// That of this segment; otherwise of the segment that the ACK seems to answer.
    segment: Option<u64>,
    /// Of this transmission of it, counted from 1; otherwise of the last one.
    copy: Option<usize>,
}

/// Something that leaves the host.
#[derive(Clone, Debug, PartialEq)]
enum Output {
    Data {
        number: u64,
        again: bool,
        cwr: bool,
    },
    /// `echo`: whose timestamp it echoes, if that is told.
    Ack {
        next: u64,
        ece: bool,
        dsack: Option<(u64, u64)>,
        sack: Vec<(u64, u64)>,
        echo: Option<u64>,
    },
    Syn,
    SynAck,
    /// To the simulator: this end of the flow has finished.
    Done,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Output::Data { number, again, cwr } => {
                write!(f, "{number}{}{}", if *again { "r" } else { "" }, if *cwr { "+cwr" } else { "" })
            }
            Output::Ack { next, ece, dsack, sack, echo } => {
                write!(f, "ack {next}{}", if *ece { " ece" } else { "" })?;
                let lists = [(" dsack", dsack.as_slice()), (" sack", sack.as_slice())];
                for (word, blocks) in lists.into_iter().filter(|(_, blocks)| !blocks.is_empty()) {
                    f.write_str(word)?;
                    for (first, last) in blocks {
                        if first == last { write!(f, " {first}")? } else { write!(f, " {first}-{last}")? }
                    }
                }
                echo.map_or(Ok(()), |segment| write!(f, " echo {segment}"))
            }
            Output::Syn => f.write_str("syn"),
            Output::SynAck => f.write_str("synack"),
            Output::Done => f.write_str("done"),
        }
    }
}

impl Output {
    /// `self` with no more than `expected` says: a script may leave out whose timestamp an ACK echoes.
    fn told_by(mut self, expected: Option<&Output>) -> Output {
        let is_told = matches!(expected, Some(Output::Ack { echo: Some(_), .. }));
        if let Output::Ack { echo, .. } = &mut self
            && !is_told
        {
            *echo = None;
        }
        self
    }
}

/// What leaves, as it is written in a script.
fn describe(outputs: &[Output]) -> String {
    if outputs.is_empty() {
        return "nothing".to_owned();
    }
    let mut text = String::new();
    for (i, output) in outputs.iter().enumerate() {
        if i > 0 {
            let lists = |output: &Output| matches!(output, Output::Data { .. });
            text += if lists(output) && lists(&outputs[i - 1]) { " " } else { ", " };
        }
        text += &output.to_string();
    }
    text
}

/// A script that says something wrong, or something that is not so.
#[derive(Debug)]
pub(crate) struct Failure {
    file: String,
    line: usize,
    message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl Script {
    /// The scripts of a file.
    ///
    /// # Errors
    /// At the first line that cannot be understood.
    pub(crate) fn read_all(file: &str, text: &str) -> Result<Vec<Script>, Failure> {
        read::read_all(file, text)
    }

    /// Plays the script to a host.
    ///
    /// # Errors
    /// At the first line that differs from what the host does.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        run::run(self)
    }

    /// The offset of a segment in its flow, in bytes; the end of the flow if it has no such segment.
    fn byte(&self, number: u64) -> u64 {
        (number * MSS_BYTES).min(self.size)
    }

    /// How many segments the flow has.
    fn segments(&self) -> u64 {
        self.size.div_ceil(MSS_BYTES)
    }
}
