//! Shortest remaining first: the flow that has the fewest bytes left to send, to its end or until one with fewer may
//! send.
//!
//! As a NIC with pFabric's priorities does it (Alizadeh et al., pFabric, SIGCOMM 2013, section 4), and SRPT without
//! preemption of a packet. O(log f) comparisons for each operation, with f flows that may send; a turn that leaves its
//! flow something to send moves nothing.

use tailcut_base::{Instant, MSS_BYTES};
use tailcut_model::seat::{SendOrder, Turn};
use tailcut_model::{Build, Invalid};

tailcut_model::no_parameters!();

/// What the order knows of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Bytes to send, as of the last offer and less a segment for each turn since.
    left: u64,
    /// Packets that it may send; it stands in `turns` while this is not zero.
    credit: u32,
}

/// The order.
#[derive(Debug, Default)]
pub struct Model {
    /// By slot.
    flows: Vec<Flow>,
    /// Bytes left and slot of each flow that may send. The next turn stands last: most flows come and go near it.
    turns: Vec<(u64, u32)>,
}

impl Model {
    /// Where a turn stands, or would stand.
    fn place(&self, turn: (u64, u32)) -> usize {
        self.turns.partition_point(|other| *other > turn)
    }
}

impl Build for Model {
    type Config = Config;
    type Context = ();

    fn build(_: &Config, _: &()) -> Result<Model, Invalid> {
        Ok(Model::default())
    }

    fn heap_bytes(&self) -> usize {
        self.flows.capacity() * size_of::<Flow>() + self.turns.capacity() * size_of::<(u64, u32)>()
    }
}

impl SendOrder for Model {
    fn is_queue(&self) -> bool {
        false
    }

    fn offer(&mut self, _now: Instant, slot: u32, packets: u32, left: u64) {
        let at = slot as usize;
        if at >= self.flows.len() {
            self.flows.resize(at + 1, Flow::default());
        }
        let Flow { left: before, credit } = self.flows[at];
        self.flows[at] = Flow { left, credit: credit + packets };
        if credit > 0 {
            if left == before {
                return;
            }
            self.turns.remove(self.place((before, slot)));
        }
        self.turns.insert(self.place((left, slot)), (left, slot));
    }

    fn next(&mut self) -> Option<Turn> {
        let (left, slot) = self.turns.last_mut()?;
        let slot = *slot;
        let flow = &mut self.flows[slot as usize];
        flow.credit -= 1;
        flow.left = flow.left.saturating_sub(MSS_BYTES);
        // With less left than before, its turn stays the next.
        *left = flow.left;
        if flow.credit == 0 {
            self.turns.pop();
        }
        Some(Turn { slot, mark: false, drop: false })
    }

    fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    fn forget(&mut self, slot: u32) {
        if let Some(flow) = self.flows.get_mut(slot as usize)
            && flow.credit > 0
        {
            flow.credit = 0;
            let turn = (flow.left, slot);
            self.turns.remove(self.place(turn));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = MSS_BYTES;

    fn all(order: &mut Model) -> Vec<u32> {
        std::iter::from_fn(|| order.next()).map(|turn| turn.slot).collect()
    }

    #[test]
    fn the_flow_with_the_least_left_goes_to_its_end() {
        let mut order = Model::default();
        order.offer(Instant::ZERO, 0, 3, 3 * MSS);
        order.offer(Instant::ZERO, 1, 2, 2 * MSS);
        order.offer(Instant::ZERO, 2, 1, 3 * MSS + 1);
        assert_eq!(order.next().map(|turn| turn.slot), Some(1));
        // One that comes with less than what is left goes between, and with more waits, though it is shorter as a
        // whole.
        order.offer(Instant::ZERO, 4, 1, MSS + 1);
        order.offer(Instant::ZERO, 3, 1, MSS - 1);
        assert_eq!(all(&mut order), [3, 1, 4, 0, 0, 0, 2]);
        assert!(order.is_empty());
    }

    #[test]
    fn a_window_says_how_much_may_go_and_what_is_left_says_when() {
        let mut order = Model::default();
        order.offer(Instant::ZERO, 0, 1, 10 * MSS);
        order.offer(Instant::ZERO, 1, 2, 100 * MSS);
        assert_eq!(all(&mut order), [0, 1, 1]);
        order.offer(Instant::ZERO, 1, 1, 98 * MSS);
        order.offer(Instant::ZERO, 0, 1, 9 * MSS);
        order.offer(Instant::ZERO, 0, 1, 9 * MSS);
        assert_eq!(all(&mut order), [0, 0, 1]);
    }

    #[test]
    fn what_a_flow_offered_is_void_when_it_has_ended() {
        let mut order = Model::default();
        order.offer(Instant::ZERO, 0, 2, 2 * MSS);
        order.offer(Instant::ZERO, 1, 1, 5 * MSS);
        order.next();
        order.forget(0);
        order.forget(7);
        assert_eq!(all(&mut order), [1]);
        order.offer(Instant::ZERO, 0, 1, 9 * MSS);
        assert_eq!(all(&mut order), [0]);
    }
}
