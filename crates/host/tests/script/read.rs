//! Reading a script.

use std::str::FromStr;

use tailcut_base::{BitRate, Instant, MSS_BYTES, Span};
use tailcut_host::{HostConfig, HostContext};
use tailcut_model::suggest;

use super::{Echo, End, Event, Failure, Output, Script, Step};

/// Words that begin a line of a script's head.
const HEAD: [&str; 7] = ["tcp", "congestion", "link", "path", "data", "send", "receive"];

/// A script whose head is being read.
#[derive(Default)]
struct Draft {
    title: String,
    line: usize,
    tcp: Option<(usize, String)>,
    congestion: Option<(usize, String)>,
    flow: Option<(End, u64)>,
    link: Option<BitRate>,
    ect: Option<bool>,
    path: Option<Span>,
    steps: Vec<Step>,
}

/// A mistake, without its place.
type Mistake = String;

pub(super) fn read_all(file: &str, text: &str) -> Result<Vec<Script>, Failure> {
    let fail = |line, message| Failure { file: file.to_owned(), line, message };
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
    if !head.iter().any(|line| line.contains("RFC ")) {
        return Err(fail(1, "a file begins with a comment that says the rule and its section of an RFC".to_owned()));
    }
    let mut scripts = Vec::new();
    let mut draft: Option<Draft> = None;
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default().trim();
        if let Some(title) = text.strip_prefix("== ") {
            if let Some(done) = draft.take() {
                scripts.push(done.finish(file)?);
            }
            draft = Some(Draft { title: title.trim().to_owned(), line, ..Draft::default() });
        } else if !text.is_empty() {
            let Some(draft) = &mut draft else {
                return Err(fail(line, "a script begins with its title: `== what it shows`".to_owned()));
            };
            draft.read_line(line, text).map_err(|message| fail(line, message))?;
        }
    }
    match draft {
        Some(last) => scripts.push(last.finish(file)?),
        None => return Err(fail(1, "no script: one begins with `== what it shows`".to_owned())),
    }
    Ok(scripts)
}

impl Draft {
    fn read_line(&mut self, line: usize, text: &str) -> Result<(), Mistake> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let is_step = word == ">"
            || word == "<"
            || word == "timeout"
            || word == "timer"
            || text.starts_with(|c: char| c.is_ascii_digit());
        if is_step {
            return self.read_step(line, text);
        }
        if !self.steps.is_empty() && HEAD.contains(&word) {
            return Err(format!("`{word}` stands before the first time"));
        }
        let rest = rest.trim();
        match word {
            "tcp" => self.tcp = Some((line, rest.to_owned())),
            "congestion" => self.congestion = Some((line, rest.to_owned())),
            "link" => self.link = Some(BitRate::from_str(rest).map_err(|e| e.to_string())?),
            "path" => self.path = Some(Span::from_str(rest).map_err(|e| e.to_string())?),
            "data" => {
                self.ect = Some(match rest {
                    "ect" => true,
                    "not-ect" => false,
                    _ => return Err(format!("`{rest}`: {}", suggest(rest, &["ect", "not-ect"]))),
                });
            }
            "send" => self.flow = Some((End::Sender, size(rest)?)),
            "receive" => self.flow = Some((End::Receiver, size(rest)?)),
            _ => return Err(format!("`{word}`: {}, or a time", suggest(word, &HEAD))),
        }
        Ok(())
    }

    fn read_step(&mut self, line: usize, text: &str) -> Result<(), Mistake> {
        let Some((end, _)) = self.flow else {
            return Err("`send` or `receive` comes first: which end of the flow the host is".to_owned());
        };
        let (mut before, leaves) = match text.split_once('>') {
            Some((before, leaves)) => (before.trim(), read_outputs(leaves)?),
            None => (text, Vec::new()),
        };
        let last = self.steps.last().map(|step| step.at);
        let mut at = last;
        if before.starts_with(|c: char| c.is_ascii_digit()) {
            let (time, rest) = before.split_once(char::is_whitespace).unwrap_or((before, ""));
            let time = Instant::ZERO + Span::from_str(time).map_err(|e| e.to_string())?;
            if last.is_some_and(|last| time < last) {
                return Err("this time is before that of the line above".to_owned());
            }
            (at, before) = (Some(time), rest.trim());
        }
        let Some(at) = at else { return Err("a time stands in front of the first line".to_owned()) };
        if before.is_empty() && !text.contains('>') {
            return Err("nothing happens: expected `<`, `>`, `timeout` or `timer` after the time".to_owned());
        }
        let event = match before {
            "" => None,
            "timeout" => Some(Event::Timeout),
            "timer" => Some(Event::Timer),
            _ => match before.strip_prefix('<') {
                Some(arrival) => Some(read_arrival(arrival.trim(), end)?),
                None => {
                    let word = before.split_whitespace().next().unwrap_or_default();
                    return Err(format!("`{word}`: {}", suggest(word, &["timeout", "timer", "<", ">"])));
                }
            },
        };
        match (event, self.steps.last_mut()) {
            // A line that only goes on with what leaves at this moment.
            (None, Some(step)) if step.at == at && text.starts_with('>') => step.leaves.extend(leaves),
            (event, _) => self.steps.push(Step { line, at, event, leaves }),
        }
        Ok(())
    }

    fn finish(self, file: &str) -> Result<Script, Failure> {
        let fail = |line, message| Failure { file: file.to_owned(), line, message };
        let Some((end, size)) = self.flow else {
            return Err(fail(self.line, "the script says neither `send` nor `receive`".to_owned()));
        };
        if self.steps.is_empty() {
            return Err(fail(self.line, "nothing happens in this script".to_owned()));
        }
        let mut line = self.line;
        let mut text = String::new();
        if let Some((at, keys)) = self.tcp {
            line = at;
            text += &format!("transport.tcp = {{ {keys} }}\n");
        }
        let tcp = read_config(&text).map_err(|message| fail(line, message))?;
        if let Some((at, words)) = self.congestion {
            line = at;
            let (name, keys) = words.split_once(char::is_whitespace).unwrap_or((&words, ""));
            text += &format!("congestion.{name} = {{ {keys} }}\n");
        }
        let config = if line == self.line { tcp } else { read_config(&text).map_err(|message| fail(line, message))? };
        HostContext::of(config.clone()).validate().map_err(|invalid| fail(line, invalid.to_string()))?;
        let Draft { title, link, ect, path, steps, .. } = self;
        Ok(Script { file: file.to_owned(), title, config, end, size, link, ect, path, steps })
    }
}

/// The keys are those of a scenario file, and so is what is said of a wrong one.
fn read_config(text: &str) -> Result<HostConfig, Mistake> {
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

/// `20 segments` or `14601 bytes`.
fn size(text: &str) -> Result<u64, Mistake> {
    let mistake = || format!("`{text}` is no size: expected `20 segments` or `14601 bytes`");
    let (number, unit) = text.split_once(' ').ok_or_else(mistake)?;
    let number: u64 = number.parse().map_err(|_| mistake())?;
    match unit.trim() {
        "segments" | "segment" if number > 0 => Ok(number * MSS_BYTES),
        "bytes" | "byte" if number > 0 => Ok(number),
        _ => Err(mistake()),
    }
}

/// `4` or `4-7`: the first and the last.
fn range(text: &str) -> Result<(u64, u64), Mistake> {
    let mistake = || format!("`{text}` is no segment: expected a number, or the first and the last as in `4-7`");
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().map_err(|_| mistake())?, last.parse().map_err(|_| mistake())?);
    if last < first {
        return Err(mistake());
    }
    Ok((first, last))
}

fn number(word: &str, of: Option<&str>) -> Result<u64, Mistake> {
    let of = of.ok_or_else(|| format!("a number is missing after `{word}`"))?;
    of.parse().map_err(|_| format!("`{of}` is no number: expected one after `{word}`"))
}

/// What follows `ack` or `synack`, whether it arrives or leaves.
#[derive(Default)]
struct Acknowledgement {
    next: u64,
    ece: bool,
    dsack: Option<(u64, u64)>,
    sack: Vec<(u64, u64)>,
    echo: Echo,
}

fn acknowledgement(text: &str) -> Result<Acknowledgement, Mistake> {
    let mut ack = Acknowledgement::default();
    let mut words = text.split_whitespace().peekable();
    let kind = words.next().unwrap_or_default();
    if kind == "ack" {
        ack.next = number("ack", words.next())?;
    }
    while let Some(word) = words.next() {
        match word {
            "ece" => ack.ece = true,
            "echo" => ack.echo.segment = Some(number(word, words.next())?),
            "copy" => {
                let copy = number(word, words.next())? as usize;
                ack.echo.copy = Some(copy);
            }
            "dsack" if kind == "ack" => ack.dsack = Some(range(words.next().unwrap_or_default())?),
            "sack" if kind == "ack" => {
                while words.peek().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
                    ack.sack.push(range(words.next().unwrap_or_default())?);
                }
                if ack.sack.is_empty() {
                    return Err("a block is missing after `sack`".to_owned());
                }
            }
            _ => return Err(format!("`{word}`: {}", suggest(word, &["sack", "dsack", "ece", "echo", "copy"]))),
        }
    }
    if let Some(block) = ack.sack.iter().find(|block| block.0 <= ack.next) {
        return Err(format!("the block from {} does not lie above a gap behind ack {}", block.0, ack.next));
    }
    Ok(ack)
}

fn read_arrival(text: &str, end: End) -> Result<Event, Mistake> {
    match (text.split_whitespace().next().unwrap_or_default(), end) {
        ("ack", End::Sender) => {
            let Acknowledgement { next, ece, dsack, sack, echo } = acknowledgement(text)?;
            Ok(Event::Ack { next, ece, dsack, sack, echo })
        }
        ("synack", End::Sender) => {
            let Acknowledgement { ece, echo, .. } = acknowledgement(text)?;
            Ok(Event::SynAck { ece, echo })
        }
        (word, End::Sender) => Err(format!("`{word}`: {}", suggest(word, &["ack", "synack"]))),
        (_, End::Receiver) if text == "syn" => Ok(Event::Syn),
        (_, End::Receiver) => {
            let mut segments = Vec::new();
            for part in text.split(',') {
                let mut words = part.split_whitespace();
                let (first, last) = range(words.next().unwrap_or_default())?;
                let marked = match words.next() {
                    None => false,
                    Some("ce") => true,
                    Some(word) => return Err(format!("`{word}`: {}", suggest(word, &["ce"]))),
                };
                segments.extend((first..=last).map(|number| (number, marked)));
            }
            Ok(Event::Data(segments))
        }
    }
}

fn read_outputs(text: &str) -> Result<Vec<Output>, Mistake> {
    let mut outputs = Vec::new();
    for part in text.split(',').map(str::trim) {
        match part.split_whitespace().next() {
            None => return Err("what leaves is missing: expected segments, or `nothing`".to_owned()),
            Some("nothing") if part == text.trim() => {}
            Some("done") if part == "done" => outputs.push(Output::Done),
            Some("syn") if part == "syn" => outputs.push(Output::Syn),
            Some("synack") if part == "synack" => outputs.push(Output::SynAck),
            Some("ack") => {
                let Acknowledgement { next, ece, dsack, sack, echo } = acknowledgement(part)?;
                if echo.copy.is_some() {
                    return Err("`copy` is for ACKs that arrive".to_owned());
                }
                outputs.push(Output::Ack { next, ece, dsack, sack, echo: echo.segment });
            }
            Some(_) => {
                for word in part.split_whitespace() {
                    let (rest, cwr) = word.strip_suffix("+cwr").map_or((word, false), |rest| (rest, true));
                    let (rest, again) = rest.strip_suffix('r').map_or((rest, false), |rest| (rest, true));
                    let (first, last) = range(rest).map_err(|_| {
                        format!(
                            "`{word}` cannot leave: expected segments such as `4`, `4-7`, `4r` for a retransmission \
                                 or `4+cwr`; or `ack`, `syn`, `synack`, `done`, `nothing`"
                        )
                    })?;
                    outputs.extend((first..=last).map(|number| Output::Data { number, again, cwr }));
                }
            }
        }
    }
    Ok(outputs)
}
