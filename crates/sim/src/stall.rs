//! Why a run stalled: what its open flows wait for, and where.

use std::fmt;

use tailcut_base::{Bytes, Instant};
use tailcut_model::FlowId;
use tailcut_model::seat::Progress;

/// A run that stalled: flows are open, and nothing is acknowledged any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Since when nothing was acknowledged, if the watchdog saw it.
    pub since: Option<Instant>,
    /// When the run was given up.
    pub at: Instant,
    /// Flows that are open.
    pub open: u64,
    /// For how many of them there is what reason, most first.
    pub reasons: Vec<(&'static str, u64)>,
    /// Pauses that wait for each other, if that is why.
    pub circle: Option<Circle>,
    /// The first open flows.
    pub flows: Vec<StalledFlow>,
    /// Links that are down then, the first of them by name, and how many there are.
    pub down: (Vec<String>, usize),
}

/// Pauses that wait for each other: each port goes on when the next one sends, and the last when the first does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// The class that is paused.
    pub class: u8,
    /// The ports, as `owner->peer`.
    pub ports: Vec<String>,
}

/// A flow that does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StalledFlow {
    /// Its number.
    pub flow: FlowId,
    /// Name of the host that sends it.
    pub src: String,
    /// Name of the host that receives it.
    pub dst: String,
    /// Its size in bytes.
    pub size: u64,
    /// How far it is and what it waits for, if its transport says so.
    pub progress: Option<Progress>,
    /// Whether links that are down have cut every way to its receiver.
    pub is_cut_off: bool,
    /// Where packets of it wait: name of the port, how many, and whether their class is paused there.
    pub queued: Vec<(String, u64, bool)>,
}

impl Stall {
    /// What is said of a run that stalled begins so.
    pub const FIRST_WORDS: &str = "stalled at ";
}

/// A moment, rounded: `310.3ms`.
fn time(at: Instant) -> String {
    let ps = at.as_ps() as f64;
    let (value, unit) = match ps {
        1e12.. => (ps / 1e12, "s"),
        1e9.. => (ps / 1e9, "ms"),
        _ => (ps / 1e6, "us"),
    };
    let digits = format!("{value:.4}");
    format!("{}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Names, and how many more there are.
fn some(names: &[String], all: usize) -> String {
    match all - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, open) = (time(self.at), self.open);
        let flows = if open == 1 { "1 flow is open".to_owned() } else { format!("{open} flows are open") };
        write!(f, "{}{at}: ", Stall::FIRST_WORDS)?;
        match (&self.circle, self.since) {
            (Some(_), _) => write!(f, "a deadlock, and {flows}")?,
            (None, Some(since)) => write!(f, "nothing was acknowledged since {}, and {flows}", time(since))?,
            (None, None) => write!(f, "nothing is left to happen, and {flows}")?,
        }
        if let Some(Circle { class, ports }) = &self.circle {
            write!(
                f,
                "\n  the ports {} are paused for class {class}, each until the next one sends and the last until the \
                 first does: routes go round, or the switches are connected in a ring",
                ports.join(", ")
            )?;
        }
        if let (down, all @ 1..) = &self.down {
            write!(f, "\n  down: {}", some(down, *all))?;
        }
        for flow in &self.flows {
            write!(f, "\n  {flow}")?;
        }
        if open > self.flows.len() as u64 {
            let reasons: Vec<String> =
                self.reasons.iter().map(|(words, count)| format!("{count} for {words}")).collect();
            write!(f, "\n  all together wait: {}", reasons.join("; "))?;
        }
        Ok(())
    }
}

impl fmt::Display for StalledFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StalledFlow { flow, src, dst, size, progress, is_cut_off, queued } = self;
        write!(f, "flow {} ({src} -> {dst}, ", flow.0)?;
        match progress {
            None => write!(f, "{})", Bytes(*size))?,
            Some(Progress { acknowledged, awaits, timer }) => {
                write!(f, "{} of {} acknowledged) waits for {}", Bytes(*acknowledged), Bytes(*size), awaits.words())?;
                match timer {
                    Some(at) => write!(f, ", or its timer at {}", time(*at))?,
                    None => f.write_str(", and has no timer")?,
                }
            }
        }
        if *is_cut_off {
            f.write_str("; no way is left to its receiver")?;
        }
        for (port, packets, paused) in queued {
            let what = if *packets == 1 { "1 packet waits".to_owned() } else { format!("{packets} packets wait") };
            write!(f, "; {what} at {port}{}", if *paused { ", which is paused" } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::Span;
    use tailcut_model::seat::Awaits;

    use super::*;

    #[test]
    fn what_a_flow_waits_for_is_said_in_a_line() {
        let at = Instant::ZERO + Span::from_ms(20);
        let flow = StalledFlow {
            flow: FlowId(3),
            src: "host0".to_owned(),
            dst: "host2".to_owned(),
            size: 3_000_000,
            progress: Some(Progress {
                acknowledged: 12_000,
                awaits: Awaits::Window,
                timer: Some(at + Span::from_ns(1_234_567)),
            }),
            is_cut_off: false,
            queued: vec![("s0->s1".to_owned(), 12, true)],
        };
        assert_eq!(
            flow.to_string(),
            "flow 3 (host0 -> host2, 12KB of 3MB acknowledged) waits for an ACK: its window is used up, or its timer \
             at 21.2346ms; 12 packets wait at s0->s1, which is paused"
        );
        let stall = Stall {
            since: Some(Instant::ZERO),
            at,
            open: 9,
            reasons: vec![("an ACK: its window is used up", 8), ("its pacer", 1)],
            circle: None,
            flows: Vec::new(),
            down: (vec!["s0->s1".to_owned()], 3),
        };
        assert_eq!(
            stall.to_string(),
            "stalled at 20ms: nothing was acknowledged since 0us, and 9 flows are open\n  down: s0->s1 and 2 more\n  \
             all together wait: 8 for an ACK: its window is used up; 1 for its pacer"
        );
    }
}
