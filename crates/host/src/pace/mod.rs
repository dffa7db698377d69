//! When the next packet of a flow may go, whatever its window says: pacing.
//!
//! A pacer goes with every transport that has a window. The gap before a packet is set when the packet before it
//! leaves.

use tailcut_base::Instant;
use tailcut_model::register;
use tailcut_model::seat::{Awareness, Leave, Outgoing, PaceView, Pacer};

use crate::HostContext;

register! {
    /// When the next packet of a flow may go.
    config PaceConfig, seat "pacer", needs [Window];
    /// The pacer of one host.
    model PaceSeat, dispatch match_pace, build(HostContext), custom dyn Pacer;
    /// As soon as the window allows.
    Off in off,
    /// A window is spread over a round trip, and over all hosts that answer the same query: ICON and IA-ICON.
    Icon in icon,
    /// At a multiple of the window in a round trip, larger in slow start: Linux.
    Linux in linux,
    /// So many bytes of each class in an epoch: Qjump.
    Qjump in qjump,
}

impl Pacer for PaceSeat {
    fn is_on(&self) -> bool {
        match_pace!(self, model => model.is_on())
    }
    fn awareness(&self) -> Awareness {
        match_pace!(self, model => model.awareness())
    }
    fn next_due(&self, due: Instant, sent: Instant, flow: &PaceView) -> Instant {
        match_pace!(self, model => model.next_due(due, sent, flow))
    }
    fn release(&self, due: Instant) -> Instant {
        match_pace!(self, model => model.release(due))
    }
    fn shares_clock(&self) -> bool {
        match_pace!(self, model => model.shares_clock())
    }
    fn limits(&self) -> bool {
        match_pace!(self, model => model.limits())
    }
    fn leave(&mut self, now: Instant, packet: Outgoing) -> Leave {
        match_pace!(self, model => model.leave(now, packet))
    }
    fn on_close(&mut self, slot: u32) {
        match_pace!(self, model => model.on_close(slot));
    }
}
