//! Which flow of a host sends next.

use tailcut_base::{Bytes, Instant, MTU_BYTES};
use tailcut_model::seat::{SendOrder, Turn};
use tailcut_model::{Around, Invalid, register};

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

/// The longest queue of a NIC in packets, with the new one, that is not marked, for this `mark`.
///
/// # Errors
/// If it is less than a packet.
fn unmarked(mark: Option<Bytes>) -> Result<u32, Invalid> {
    match mark {
        Some(mark) if mark.0 < MTU_BYTES => {
            Err(Invalid::new("mark", format!("{mark} is less than one packet of 1500 B"))
                .help("expected a size such as \"65pkt\""))
        }
        Some(mark) => Ok(u32::try_from(mark.0 / MTU_BYTES).unwrap_or(u32::MAX)),
        None => Ok(u32::MAX),
    }
}

/// Warnings about the `mark` of a NIC.
fn mark_warnings(mark: Option<Bytes>, around: &Around) -> Vec<String> {
    mark.and_then(|mark| around.short_threshold("`mark` of the NIC", mark.0)).into_iter().collect()
}

/// The send orders of one host: one for each of its interfaces.
#[derive(Debug)]
pub(crate) struct Orders {
    first: OrderSeat,
    /// Those of the other interfaces, which few hosts have.
    #[expect(clippy::box_collection, reason = "most hosts have none, and each is small without them")]
    others: Option<Box<Vec<OrderSeat>>>,
}

impl Orders {
    /// The orders of a host with so many interfaces.
    ///
    /// # Errors
    /// If a value is out of range.
    pub(crate) fn new(config: &OrderConfig, nics: u8) -> Result<Orders, Invalid> {
        let others = (1..nics).map(|_| config.build(&())).collect::<Result<Vec<_>, _>>()?;
        Ok(Orders { first: config.build(&())?, others: (!others.is_empty()).then(|| Box::new(others)) })
    }

    /// The order of interface `nic`.
    #[inline]
    pub(crate) fn of(&self, nic: u8) -> &OrderSeat {
        match (nic, &self.others) {
            (1.., Some(others)) => &others[usize::from(nic) - 1],
            _ => &self.first,
        }
    }

    /// The order of interface `nic`, to change it.
    #[inline]
    pub(crate) fn of_mut(&mut self, nic: u8) -> &mut OrderSeat {
        match (nic, &mut self.others) {
            (1.., Some(others)) => &mut others[usize::from(nic) - 1],
            _ => &mut self.first,
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let others = self.others.iter().flat_map(|others| others.iter());
        let sizes = others.map(|order| size_of::<OrderSeat>() + order.heap_bytes());
        self.first.heap_bytes() + sizes.sum::<usize>()
    }
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
    #[inline]
    fn upcoming(&self) -> Option<u32> {
        match_order!(self, model => model.upcoming())
    }
    #[inline]
    fn prefetch(&self) {
        match_order!(self, model => model.prefetch());
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
    #[inline]
    fn on_echo(&mut self) {
        match_order!(self, model => model.on_echo());
    }
    fn on_recovery(&mut self, slot: u32) {
        match_order!(self, model => model.on_recovery(slot));
    }
}
