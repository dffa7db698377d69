//! First come, first served: packets go in the order in which their windows allowed them.
//!
//! The same order as in a NIC queue into which every window is pushed at once (ns-2, ns-3, htsim), without the packets.
//! The packets that were allowed and have not gone are the length of that queue; it may mark, but it drops nothing.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Instant};
use tailcut_model::seat::{SendOrder, Turn};
use tailcut_model::{Around, Build, Facts, Invalid, Parameters, Thing};

/// Whether the NIC queue marks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A packet that is allowed while more than this waits is marked with CE, as at a switch port; each packet counts
    /// as 1500 B. Without it the NIC never marks (the public ns-2 and htsim scripts put the switches' queue into the
    /// NIC too).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Bytes>,
}

/// Packets of one flow that were allowed one after the other.
#[derive(Clone, Copy, Debug)]
struct Run {
    turn: Turn,
    packets: u32,
}

/// The order: runs of packets, oldest first.
#[derive(Debug)]
pub struct Model {
    runs: VecDeque<Run>,
    /// Packets in all runs.
    waiting: u32,
    /// The longest queue, in packets and with the new one, that is not marked.
    unmarked: u32,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "mark = \"20pkt\""];

    fn facts(&self, facts: &mut Facts) {
        if self.mark.is_some() {
            facts.provides(Thing::Marks);
            facts.idle_without(Thing::EcnCapable, "there are none: nothing is marked");
        }
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        super::mark_warnings(self.mark, around)
    }
}

impl Build for Model {
    type Config = Config;
    type Context = ();

    fn build(config: &Config, _: &()) -> Result<Model, Invalid> {
        Ok(Model { runs: VecDeque::new(), waiting: 0, unmarked: super::unmarked(config.mark)? })
    }

    fn heap_bytes(&self) -> usize {
        self.runs.capacity() * size_of::<Run>()
    }
}

impl Model {
    fn push(&mut self, slot: u32, mark: bool, packets: u32) {
        if packets == 0 {
            return;
        }
        self.waiting += packets;
        let turn = Turn { slot, mark, drop: false };
        match self.runs.back_mut() {
            Some(run) if run.turn == turn => run.packets += packets,
            _ => self.runs.push_back(Run { turn, packets }),
        }
    }
}

impl SendOrder for Model {
    fn is_queue(&self) -> bool {
        true
    }

    #[inline]
    fn offer(&mut self, _now: Instant, slot: u32, packets: u32, _left: u64) {
        let room = self.unmarked.saturating_sub(self.waiting).min(packets);
        self.push(slot, false, room);
        self.push(slot, true, packets - room);
    }

    #[inline]
    fn next(&mut self) -> Option<Turn> {
        let run = self.runs.front_mut()?;
        let turn = run.turn;
        run.packets -= 1;
        if run.packets == 0 {
            self.runs.pop_front();
        }
        self.waiting -= 1;
        Some(turn)
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    fn forget(&mut self, slot: u32) {
        let waiting = &mut self.waiting;
        self.runs.retain(|run| {
            if run.turn.slot == slot {
                *waiting -= run.packets;
            }
            run.turn.slot != slot
        });
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::MTU_BYTES;

    use super::*;

    #[test]
    fn windows_go_in_the_order_in_which_they_opened() {
        let mut order = Model::build(&Config::default(), &()).unwrap();
        order.offer(Instant::ZERO, 1, 2, 0);
        order.offer(Instant::ZERO, 2, 1, 0);
        order.offer(Instant::ZERO, 1, 1, 0);
        order.offer(Instant::ZERO, 3, 1, 0);
        order.forget(2);
        let sent: Vec<u32> = std::iter::from_fn(|| order.next()).map(|turn| turn.slot).collect();
        assert_eq!(sent, [1, 1, 1, 3]);
        assert!(order.is_empty() && order.waiting == 0);
    }

    #[test]
    fn packets_beyond_the_threshold_are_marked() {
        let mut order = Model::build(&Config { mark: Some(Bytes(3 * MTU_BYTES)) }, &()).unwrap();
        order.offer(Instant::ZERO, 1, 2, 0);
        order.offer(Instant::ZERO, 2, 3, 0);
        let sent: Vec<(u32, bool)> = std::iter::from_fn(|| order.next()).map(|t| (t.slot, t.mark)).collect();
        assert_eq!(sent, [(1, false), (1, false), (2, false), (2, true), (2, true)]);
    }

    #[test]
    fn a_threshold_of_less_than_a_packet_is_refused() {
        let error = Model::build(&Config { mark: Some(Bytes(MTU_BYTES - 1)) }, &()).unwrap_err();
        assert_eq!(error.path, "mark");
        assert!(Model::build(&Config { mark: Some(Bytes(MTU_BYTES)) }, &()).is_ok());
    }

    #[test]
    fn what_has_left_makes_room_below_the_threshold() {
        let mut order = Model::build(&Config { mark: Some(Bytes(2 * MTU_BYTES)) }, &()).unwrap();
        order.offer(Instant::ZERO, 1, 3, 0);
        let marks: Vec<bool> = std::iter::from_fn(|| order.next().map(|turn| turn.mark)).collect();
        assert_eq!(marks, [false, false, true]);
        order.offer(Instant::ZERO, 1, 1, 0);
        assert_eq!(order.next().map(|turn| turn.mark), Some(false));
        assert_eq!(order.next(), None);
    }
}
