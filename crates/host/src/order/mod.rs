//! Which flow of a host sends next.

use tailcut_base::Instant;
use tailcut_model::register;
use tailcut_model::seat::{SendOrder, Turn};

register! {
    /// Which flow of a host sends next.
    config OrderConfig, seat "send order";
    /// The send order of one host.
    model OrderSeat, dispatch match_order, build(());
    /// In the order in which the windows opened.
    Fifo in fifo,
    /// A packet of each flow in turn.
    RoundRobin in round_robin,
    /// The flow that has sent the least: LAS, and the NIC of SPQ.
    Las in las,
    /// The flow with the fewest bytes left to send: pFabric, and ideal shortest remaining first.
    Srpt in srpt,
}

impl SendOrder for OrderSeat {
    fn is_queue(&self) -> bool {
        match_order!(self, model => model.is_queue())
    }
    #[inline(always)]
    fn offer(&mut self, now: Instant, slot: u32, packets: u32, left: u64) {
        match_order!(self, model => model.offer(now, slot, packets, left));
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
    #[inline]
    fn on_sent(&mut self, slot: u32, payload: u64) {
        match_order!(self, model => model.on_sent(slot, payload));
    }
    fn on_timeout(&mut self, slot: u32, sent: u64, until: Instant) {
        match_order!(self, model => model.on_timeout(slot, sent, until));
    }
    fn on_recovery(&mut self, slot: u32) {
        match_order!(self, model => model.on_recovery(slot));
    }
}
