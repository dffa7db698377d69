//! Which flow of a host sends next.

use tailcut_model::register;
use tailcut_model::seat::{SendOrder, Turn};

register! {
    /// Which flow of a host sends next.
    config OrderConfig;
    /// The send order of one host.
    model OrderSeat, dispatch match_order, build(());
    /// In the order in which the windows opened.
    Fifo in fifo,
    /// A packet of each flow in turn.
    RoundRobin in round_robin,
    /// The flow with the fewest bytes left to send: pFabric, and ideal shortest remaining first.
    Srpt in srpt,
}

impl OrderSeat {
    /// Bytes that the order holds on to.
    pub(crate) fn heap_bytes(&self) -> usize {
        match_order!(self, model => model.heap_bytes())
    }
}

impl SendOrder for OrderSeat {
    #[inline]
    fn offer(&mut self, slot: u32, packets: u32, left: u64) {
        match_order!(self, model => model.offer(slot, packets, left));
    }
    #[inline]
    fn next(&mut self) -> Option<Turn> {
        match_order!(self, model => model.next())
    }
    #[inline]
    fn is_empty(&self) -> bool {
        match_order!(self, model => model.is_empty())
    }
    fn forget(&mut self, slot: u32) {
        match_order!(self, model => model.forget(slot));
    }
}
