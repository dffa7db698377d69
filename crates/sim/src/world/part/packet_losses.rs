//! Packets that are listed in `failures.packets`: flagged as their host sends them, and dropped at their port.

use tailcut_base::{Instant, PortId};
use tailcut_fabric::Offered;
use tailcut_model::seat::DropReason;
use tailcut_model::{Flags, PacketId};
use tailcut_topology::Node;

use super::{Any, Part};
use crate::packet_losses::PacketLossCounts;

const REASON: DropReason = DropReason::LinkDown;

impl Part<'_> {
    /// Flags a packet that its host sends now, if this transmission is listed.
    #[inline]
    pub(super) fn flag_listed(&mut self, id: PacketId) {
        if let Some(losses) = &mut self.packet_losses {
            losses.sent(self.arena.get_mut(id));
        }
    }

    /// Drops a packet that arrives at the port of a switch at `at`, if it is listed to be lost there. Returns whether
    /// it was.
    #[inline]
    pub(super) fn drops_listed(&mut self, now: Instant, at: usize, id: PacketId) -> bool {
        if self.packet_losses.is_none() || !self.is_listed_at(self.ids[at], id) {
            return false;
        }
        if self.lens.is_some() {
            self.watch_offered(now, at, id, Offered::Dropped(REASON));
        }
        self.drop_on_the_way(now, at, id, REASON);
        true
    }

    /// As the rest of [`Part::forward`], at a switch whose ports have nothing in common or classes that may be paused.
    #[cold]
    #[inline(never)]
    pub(super) fn offer_unless_listed(&mut self, now: Instant, from: PortId, at: usize, switch: usize, id: PacketId) {
        if self.drops_listed(now, at, id) {
            return;
        }
        if self.pfc.is_some() {
            return self.offer_held::<Any>(now, from, at, switch, id);
        }
        let offered = self.ports[at].offer(now, &mut self.arena, id, &mut self.evicted);
        self.see_to::<Any>(now, at, id, offered);
    }

    /// Drops a packet that has crossed the link behind `port`, which is at `at`, if the link begins at a host and the
    /// packet is listed to be lost there. Returns whether it was.
    #[inline]
    pub(super) fn loses_listed(&mut self, now: Instant, port: PortId, at: usize, id: PacketId) -> bool {
        let is_lost = self.packet_losses.is_some()
            && matches!(self.network.ports()[port].owner, Node::Host(_))
            && self.is_listed_at(port, id);
        if is_lost {
            self.drop_on_the_way(now, at, id, REASON);
        }
        is_lost
    }

    #[cold]
    #[inline(never)]
    fn is_listed_at(&mut self, port: PortId, id: PacketId) -> bool {
        let packet = self.arena.get(id);
        if !packet.flags.has(Flags::LISTED_LOSS) {
            return false;
        }
        let peer = self.network.ports()[port].peer;
        self.packet_losses.as_mut().is_some_and(|losses| losses.drops(packet, port, peer))
    }

    /// What this part has sent and dropped of the listed packets.
    pub(in crate::world) fn packet_losses(&self) -> Option<&PacketLossCounts<'_>> {
        self.packet_losses.as_deref()
    }
}
