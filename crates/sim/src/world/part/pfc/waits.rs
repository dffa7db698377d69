//! Pauses that are counted for the results, and which queue waits for which because of them: a cycle is a deadlock.

use tailcut_base::{Instant, PortId, Span};
use tailcut_fabric::Counts;
use tailcut_model::seat::MAX_CLASSES;
use tailcut_record::PauseCounts;

use super::{Ahead, Part};
use crate::world::pauses::{Pauses, Wait};

impl Part<'_> {
    /// Pause frames that a port has sent, and how long and how many packets pauses have held there; `None` without PFC.
    pub(in crate::world) fn pause_counts(&self, port: PortId, ended: Instant) -> Option<PauseCounts> {
        let state = &self.pfc.as_ref()?.ports[self.positions.port(port)];
        let open = if state.paused == 0 { Span::ZERO } else { ended.saturating_since(state.paused_since) };
        Some(PauseCounts { frames: state.frames, paused: state.paused_for + open, held: state.held })
    }

    /// For each pause that this part has caused, the queues that must drain before it ends; and the paused ports of
    /// this part.
    pub(in crate::world) fn pauses(&mut self) -> Pauses {
        let mut pauses = Pauses::default();
        let Part { ports, arena, pfc, router, network, switches, positions, .. } = self;
        let Some(pfc) = pfc else { return pauses };
        for (at, state) in pfc.ports.iter().enumerate() {
            let of_mask = |mask: u8| (0..MAX_CLASSES).filter(move |class| mask >> class & 1 != 0);
            if pfc.is_ideal {
                let ahead = Ahead { network, router, switches, positions, ports: &pfc.ports };
                for class in of_mask(state.full) {
                    let mut behind = Vec::new();
                    ports[at].visit_waiting(arena, &mut |packet, of| {
                        if usize::from(of) == class
                            && let Some(next) = ahead.next_port(at, packet)
                        {
                            behind.push((pfc.ports[next].id, u64::from(packet.size)));
                        }
                    });
                    pauses.stopped.push((state.id, class as u8));
                    pauses.waits.push(Wait { port: state.id, class: class as u8, resumes_below: state.xon, behind });
                }
                continue;
            }
            pauses.stopped.extend(of_mask(state.paused).map(|class| (state.id, class as u8)));
            for class in of_mask(state.wanted) {
                let siblings = &pfc.ports[state.first..state.first + state.siblings];
                let sibling = at - state.first;
                let (resumes_below, behind) = match pfc.counts {
                    Counts::Ingress => (
                        state.xon,
                        siblings.iter().map(|port| port.from[sibling * pfc.classes + class]).collect::<Vec<_>>(),
                    ),
                    // One full queue is enough to keep the link paused.
                    Counts::Queue => {
                        (1, siblings.iter().map(|port| u64::from(port.holds[sibling] >> class & 1)).collect())
                    }
                };
                let behind = siblings.iter().map(|port| port.id).zip(behind).filter(|&(_, bytes)| bytes > 0).collect();
                let port = network.ports()[state.id].reverse;
                pauses.waits.push(Wait { port, class: class as u8, resumes_below, behind });
            }
        }
        pauses
    }
}
