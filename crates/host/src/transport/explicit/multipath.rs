//! A flow of several subflows, each on a way of its own: Multipath PDQ (Hong, Caesar, Godfrey, Finishing Flows Quickly
//! with Preemptive Scheduling, slides and SIGCOMM 2012, section 6).
//!
//! The sender splits a flow into subflows of equal size, each with a connection of its own, and so with a way of its
//! own where ways are chosen by connection. To switches each subflow is a flow. "Periodically" the sender shifts the
//! load of those that are paused to the one that sends and has the least left. A paused subflow keeps a packet, so that
//! it goes on asking, unless the one that sends has nothing left: what is left at last is not held up by a way that is
//! closed. What is on its way is never shifted.
//!
//! A subflow that has sent its load and heard of all of it ends at its switches. The receiver has one buffer for the
//! whole flow, and each ACK says how far the flow is, and by its offset which packet it answers.
//!
//! Choices that are ours, because the slides leave them open: a period is a round trip, and one that may send and has
//! nothing left is given load at once; packets that were lost are load as well; one that sends less than a packet in a
//! round trip does not count as sending; a paused subflow tells switches that what is left of the flow is left to it. A
//! flow is given up when what is left of it, in equal parts over the links by which it leaves, would be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Instant, MSS_BYTES, MTU_BYTES, Span};
use tailcut_model::Invalid;
use tailcut_model::seat::SenderReport;

use super::Protocol;
use super::sender::{Others, Sender};

/// Most subflows of a flow.
const MOST: u32 = 64;

/// Several subflows for each flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Subflows of each flow, but no more than it has packets (paper: 3; five reach the full gain).
    pub subflows: u32,
    /// Whose remaining size makes a subflow critical: that of the whole `"flow"`, so that its subflows are equally
    /// critical (ours), or that of the `"subflow"` alone, as in standard PDQ.
    pub criticality: Criticality,
    /// Round trips between two shifts of load ("periodically"). Zero shifts at each answer.
    pub shift_every: f64,
    /// To whom load is shifted: to the `"one"` that sends and has the least left, or `"each-packet"` to the one that
    /// has the least then, so that those that send have equally much.
    pub shift_to: ShiftTo,
    /// A subflow is given so much load that it sends for so many round trips, and the rest stays where it is; zero
    /// gives it all ("the load").
    pub shift_round_trips: f64,
}

/// To whom load is shifted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShiftTo {
    /// All to one, "the sending one with minimal remaining load".
    #[default]
    One,
    /// Each packet to the one that has the least then.
    EachPacket,
}

/// Whose remaining size makes a subflow critical.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Criticality {
    /// That of the whole flow. Because it falls while one of them sends, a paused one tells it as it was when it asked
    /// last: else the subflow that spoke last would always come first, and those of one way would preempt each other.
    #[default]
    Flow,
    /// That of the subflow.
    Subflow,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            subflows: 3,
            criticality: Criticality::Flow,
            shift_every: 1.0,
            shift_to: ShiftTo::One,
            shift_round_trips: 0.0,
        }
    }
}

impl Config {
    /// Refuses what cannot be.
    ///
    /// # Errors
    /// If a value is out of range.
    pub fn validate(&self) -> Result<(), Invalid> {
        if !(1..=MOST).contains(&self.subflows) {
            return Err(Invalid::new("subflows", format!("{} subflows cannot be", self.subflows))
                .help(format!("expected 1 to {MOST}")));
        }
        for (key, value) in [("shift_every", self.shift_every), ("shift_round_trips", self.shift_round_trips)] {
            if !(0.0..=1000.0).contains(&value) {
                return Err(Invalid::new(key, format!("{value} is no number of round trips"))
                    .help("expected a number from 0 to 1000"));
            }
        }
        Ok(())
    }
}

/// The sending end of a flow.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all flows are whole")]
pub(super) enum Outgoing<P> {
    /// One sender for the whole flow.
    Whole(Sender<P>),
    /// Several subflows, and when load is shifted next.
    Split(Vec<Sender<P>>, Instant),
}

impl<P: Protocol> Outgoing<P> {
    /// A flow of up to so many subflows; `sender` makes the sender of the whole flow.
    pub(super) fn new(subflows: u32, size: u64, sender: impl Fn() -> Sender<P>) -> Outgoing<P> {
        let packets = size.div_ceil(MSS_BYTES);
        let count = u64::from(subflows).min(packets);
        if count <= 1 {
            return Outgoing::Whole(sender());
        }
        let edge = |nth: u64| (packets * nth / count * MSS_BYTES).min(size);
        let subflow = |nth: u64| sender().of_subflow(nth as u32, (edge(nth), edge(nth + 1)));
        let mut outgoing = Outgoing::Split((0..count).map(subflow).collect(), Instant::ZERO);
        outgoing.tell_each_of_the_others();
        outgoing
    }

    /// Its senders: one, or those of its subflows.
    pub(super) fn senders(&self) -> &[Sender<P>] {
        match self {
            Outgoing::Whole(sender) => std::slice::from_ref(sender),
            Outgoing::Split(senders, _) => senders,
        }
    }

    /// The same, to change them.
    pub(super) fn senders_mut(&mut self) -> &mut [Sender<P>] {
        match self {
            Outgoing::Whole(sender) => std::slice::from_mut(sender),
            Outgoing::Split(senders, _) => senders,
        }
    }

    /// Which of its senders a packet with this connection is for.
    pub(super) fn nth(&self, connection: u32) -> usize {
        match self {
            Outgoing::Whole(_) => 0,
            Outgoing::Split(senders, _) => {
                (connection.wrapping_sub(senders[0].connection()) as usize).min(senders.len() - 1)
            }
        }
    }

    /// What all senders together report.
    pub(super) fn report(&self) -> SenderReport {
        let mut sum = SenderReport::default();
        for report in self.senders().iter().map(Sender::report) {
            sum.packets += report.packets;
            sum.retransmissions += report.retransmissions;
            sum.timeouts += report.timeouts;
        }
        sum
    }

    /// Whether the flow was given up: its report has been made.
    pub(super) fn is_ending(&self) -> bool {
        self.senders().iter().any(Sender::is_ending)
    }

    /// Whether all senders are over.
    pub(super) fn is_over(&self) -> bool {
        self.senders().iter().all(Sender::is_over)
    }

    /// Shifts load between subflows, if that is due.
    pub(super) fn shift(&mut self, config: &Config, now: Instant, rtt: Span, link: BitRate) {
        let Outgoing::Split(senders, next) = self else { return };
        // One that may send and has nothing left would end.
        let is_idle = |sender: &Sender<P>| sender.is_sending() && sender.left() == 0;
        let has_idle = senders.iter().any(is_idle);
        if now < *next && !has_idle {
            return;
        }
        // The last packet of each stays, unless there is one that has nothing else to do.
        let keep = if has_idle { 0 } else { MSS_BYTES };
        let enough = match config.shift_round_trips {
            0.0 => u64::MAX,
            round_trips => {
                (rtt.as_ps() as f64 * round_trips / link.tx_time(MTU_BYTES).as_ps() as f64) as u64 * MSS_BYTES
            }
        };
        let least = |senders: &[Sender<P>]| {
            let sending = senders.iter().enumerate().filter(|(_, sender)| sender.is_sending());
            sending.map(|(nth, sender)| (sender.left(), nth)).min()
        };
        let Some((_, one)) = least(senders) else { return };
        for from in 0..senders.len() {
            while senders[from].is_paused() && senders[from].left() > keep {
                let to = match config.shift_to {
                    ShiftTo::One => one,
                    ShiftTo::EachPacket => least(senders).map_or(one, |(_, nth)| nth),
                };
                if senders[to].left() >= enough {
                    break;
                }
                let all = config.shift_to == ShiftTo::One && enough == u64::MAX;
                let most = if all { u64::MAX } else { MSS_BYTES };
                let load = senders[from].unload(keep, most);
                if load.is_empty() {
                    break;
                }
                senders[to].load(load);
                *next = now + Span::from_ps((rtt.as_ps() as f64 * config.shift_every) as u64);
            }
        }
    }

    /// Whether the flow is to be given up: whether its subflows, with an equal part of what is left for each link of
    /// the host that they leave by, would be.
    pub(super) fn wants_to_give_up(&self, now: Instant) -> bool {
        let Outgoing::Split(senders, _) = self else { return false };
        let left: u64 = senders.iter().map(Sender::left).sum();
        let links: u64 =
            senders.iter().fold(0u64, |links, sender| links | 1 << (sender.nic() % 64)).count_ones().into();
        let speaks = senders.iter().find(|sender| sender.is_sending());
        let speaks = speaks.or_else(|| senders.iter().find(|sender| sender.is_paused()));
        speaks.is_some_and(|sender| sender.would_give_up(now, left.div_ceil(links)))
    }

    /// Tells each subflow what the others have sent and have left.
    pub(super) fn tell_each_of_the_others(&mut self) {
        let Outgoing::Split(senders, _) = self else { return };
        let sum = |of: fn(&Sender<P>) -> u64| senders.iter().map(of).sum::<u64>();
        let (sent, left) = (sum(Sender::sent), sum(Sender::left));
        for sender in senders {
            sender.set_others(Others { sent: sent - sender.sent(), left: left - sender.left() });
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let own = match self {
            Outgoing::Whole(_) => 0,
            Outgoing::Split(senders, _) => senders.capacity() * size_of::<Sender<P>>(),
        };
        own + self.senders().iter().map(Sender::heap_bytes).sum::<usize>()
    }
}
