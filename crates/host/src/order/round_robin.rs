//! Round robin: one packet of each flow that may send, in turn, as fair queueing with small NIC queues does (Linux
//! `fq`).

use std::collections::VecDeque;

use tailcut_base::{Instant, prefetch};
use tailcut_model::seat::{SendOrder, Turn};
use tailcut_model::{Build, Invalid};

tailcut_model::no_parameters!();

/// The order.
#[derive(Debug, Default)]
pub struct Model {
    turn: VecDeque<u32>,
    /// Packets that each flow may send, by slot; a flow stands in `turn` while it is not zero.
    credit: Vec<u32>,
}

impl Build for Model {
    type Config = Config;
    type Context = ();

    fn build(_: &Config, _: &()) -> Result<Model, Invalid> {
        Ok(Model::default())
    }

    fn heap_bytes(&self) -> usize {
        (self.turn.capacity() + self.credit.capacity()) * size_of::<u32>()
    }
}

impl SendOrder for Model {
    fn is_queue(&self) -> bool {
        false
    }

    fn offer(&mut self, _now: Instant, slot: u32, packets: u32, _left: u64) {
        let at = slot as usize;
        if at >= self.credit.len() {
            self.credit.resize(at + 1, 0);
        }
        if self.credit[at] == 0 {
            self.turn.push_back(slot);
        }
        self.credit[at] += packets;
    }

    fn next(&mut self) -> Option<Turn> {
        let slot = self.turn.pop_front()?;
        let credit = &mut self.credit[slot as usize];
        *credit -= 1;
        if *credit > 0 {
            self.turn.push_back(slot);
        }
        Some(Turn { slot, mark: false, drop: false })
    }

    fn is_empty(&self) -> bool {
        self.turn.is_empty()
    }

    fn upcoming(&self) -> Option<u32> {
        let slot = *self.turn.front()?;
        prefetch(self.credit.get(slot as usize)?);
        Some(slot)
    }

    fn prefetch(&self) {
        if let Some(first) = self.turn.front() {
            prefetch(first);
        }
    }

    fn forget(&mut self, slot: u32) {
        if let Some(credit) = self.credit.get_mut(slot as usize)
            && *credit > 0
        {
            *credit = 0;
            self.turn.retain(|&other| other != slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_take_turns() {
        let mut order = Model::default();
        order.offer(Instant::ZERO, 0, 3, 0);
        order.offer(Instant::ZERO, 7, 2, 0);
        order.offer(Instant::ZERO, 2, 5, 0);
        order.forget(2);
        let sent: Vec<u32> = std::iter::from_fn(|| order.next()).map(|turn| turn.slot).collect();
        assert_eq!(sent, [0, 7, 0, 7, 0]);
    }
}
