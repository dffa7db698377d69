//! How much the senders may have on its way to a host, beside what their own windows allow: the receive window.
//!
//! A receive window goes with every transport that has a window, and with every congestion control of its senders.

use tailcut_base::Instant;
use tailcut_model::seat::ReceiveWindow;
use tailcut_model::{Packet, register};

use crate::HostContext;

register! {
    /// How much the senders may have on its way to a host.
    config ReceiveConfig, seat "receive window", needs [Window];
    /// The receive windows of one host.
    model ReceiveSeat, dispatch match_receive, build(HostContext), custom dyn ReceiveWindow;
    /// All that comes.
    Unlimited in unlimited,
    /// By what each flow should bring and does, within what the link has left: ICTCP.
    Ictcp in ictcp,
}

impl ReceiveWindow for ReceiveSeat {
    fn initial_window(&self) -> Option<u16> {
        match_receive!(self, model => model.initial_window())
    }
    fn on_open(&mut self, now: Instant, slot: u32) {
        match_receive!(self, model => model.on_open(now, slot));
    }
    fn on_data(&mut self, now: Instant, slot: u32, packet: &Packet) {
        match_receive!(self, model => model.on_data(now, slot, packet));
    }
    fn advertise(&mut self, now: Instant, slot: u32, next: u64) -> Option<u16> {
        match_receive!(self, model => model.advertise(now, slot, next))
    }
    fn on_close(&mut self, slot: u32) {
        match_receive!(self, model => model.on_close(slot));
    }
}
