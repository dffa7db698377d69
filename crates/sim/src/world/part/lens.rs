//! A run looked at closely: what happens to packets of some flows or at some ports is written down.

use tailcut_base::{Instant, PortId, Span, mix64};
use tailcut_fabric::Offered;
use tailcut_model::seat::{DropReason, Look};
use tailcut_model::{FlowId, PacketId};

use super::Part;
use crate::trace::{Happened, Lens, Seen, Stood, Trace};

/// What is written down, and where each packet is meanwhile.
pub(super) struct Watch {
    lens: Lens,
    trace: Trace,
    /// The number of each port, by position.
    ids: Vec<PortId>,
    /// The port at which each packet was last, by the ids of packets.
    at: Vec<PortId>,
}

impl Watch {
    pub(super) fn new(lens: Lens, ids: &[PortId]) -> Box<Watch> {
        Box::new(Watch { lens, trace: Trace::default(), ids: ids.to_vec(), at: Vec::new() })
    }
}

impl Part<'_> {
    /// Something has happened to a packet at a port.
    fn watch(&mut self, now: Instant, port: PortId, id: PacketId, what: Happened) {
        let packet = self.arena.get(id);
        let Some(Watch { lens, trace, at, .. }) = self.lens.as_deref_mut() else { return };
        if at.len() <= id.index() {
            at.resize(id.index() + 1, port);
        }
        at[id.index()] = port;
        if lens.sees(now, port, packet.flow) {
            trace.packets.push(Seen { at: now, port, packet: packet.clone(), what });
        }
    }

    fn number_of(&self, at: usize) -> PortId {
        self.lens.as_ref().map_or(PortId(u32::MAX), |watch| watch.ids[at])
    }

    /// A host has made a packet for the interface whose port stands at `at`.
    pub(super) fn watch_made(&mut self, now: Instant, at: usize, id: PacketId) {
        self.watch(now, self.number_of(at), id, Happened::Made);
    }

    /// A packet leaves the port at `at`, where pauses held it for so long.
    pub(super) fn watch_held(&mut self, now: Instant, at: usize, id: PacketId, paused: Span) {
        self.watch(now, self.number_of(at), id, Happened::Held { paused });
    }

    /// A packet was offered to the port at `at`. Where it was dropped is noted, and the drop itself is seen to later.
    pub(super) fn watch_offered(&mut self, now: Instant, at: usize, id: PacketId, offered: Offered) {
        let port = self.number_of(at);
        match offered {
            Offered::Dropped(_) => {
                if let Some(watch) = self.lens.as_deref_mut()
                    && let Some(place) = watch.at.get_mut(id.index())
                {
                    *place = port;
                }
            }
            Offered::Sent { .. } | Offered::Queued => {
                let bytes = self.ports[at].backlog();
                self.watch(now, port, id, Happened::Queued { bytes });
            }
        }
    }

    /// A packet has crossed the link behind `port`, which stands at `at`.
    pub(super) fn watch_crossed(&mut self, now: Instant, port: PortId, at: usize, id: PacketId) {
        let wire = &self.ports[at].wire;
        let on_link = wire.tx_time(self.arena.get(id).size) + wire.link().delay;
        let left = Instant::from_ps(now.as_ps() - on_link.as_ps());
        self.print(now, port, id);
        self.watch(now, port, id, Happened::Crossed { left });
    }

    /// Adds the print of a landing to that of its bin of time.
    fn print(&mut self, now: Instant, port: PortId, id: PacketId) {
        let packet = self.arena.get(id);
        let Some(Watch { lens, trace, .. }) = self.lens.as_deref_mut() else { return };
        let Some(width) = lens.prints else { return };
        let bin = (now.as_ps() / width.as_ps()) as usize;
        if trace.prints.len() <= bin {
            trace.prints.resize(bin + 1, 0);
        }
        let what = [u64::from(packet.flow.0), u64::from(port.0), u64::from(packet.kind.number()), packet.seq];
        let print = what.into_iter().fold(mix64(now.as_ps()), |print, what| mix64(print ^ what));
        trace.prints[bin] = trace.prints[bin].wrapping_add(print);
    }

    /// A packet is dropped where it was last.
    pub(super) fn watch_dropped(&mut self, now: Instant, id: PacketId, reason: DropReason) {
        let port = self.lens.as_ref().and_then(|watch| watch.at.get(id.index()).copied());
        if let Some(port) = port {
            self.watch(now, port, id, Happened::Dropped(reason));
        }
    }

    /// Something has happened to a flow at its sender.
    pub(super) fn watch_sender(&mut self, now: Instant, flow: FlowId, timer: bool, look: Option<Look>) {
        if let Some(watch) = self.lens.as_deref_mut()
            && let Some(look) = look
            && watch.lens.flows.contains(&flow)
        {
            watch.trace.senders.push(Stood { at: now, flow, timer, look });
        }
    }

    /// What was seen.
    pub(in crate::world) fn take_trace(&mut self) -> Option<Trace> {
        self.lens.take().map(|watch| watch.trace)
    }
}
