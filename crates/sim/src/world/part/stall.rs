//! What a part is asked when a run has stalled, and before, whether it has: how far its flows are, what they wait for,
//! and where their packets are.

use tailcut_base::{Instant, PortId, mix64};
use tailcut_model::FlowId;
use tailcut_model::seat::{Progress, Transport, Unfinished};

use super::Part;
use super::pfc::Ahead;
use crate::world::watchdog::Standing;

/// Packets of a flow that wait at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) struct Queued {
    pub(in crate::world) flow: FlowId,
    pub(in crate::world) port: PortId,
    pub(in crate::world) packets: u64,
    /// Whether their class is paused.
    pub(in crate::world) paused: bool,
}

impl Part<'_> {
    /// The flows that this part sends and that have not ended, with the data packets of each that are not sent again,
    /// and how far it is if its transport says so.
    fn sending(&self) -> impl Iterator<Item = (FlowId, u64, Option<Progress>)> {
        self.hosts.iter().flat_map(|host| {
            host.transport.unfinished().into_iter().filter_map(|end| match end {
                Unfinished::Sender(flow, report) => {
                    let progress = host.transport.progress(host.id, &self.flows, flow);
                    Some((flow, report.packets - report.retransmissions, progress))
                }
                Unfinished::Receiver(..) => None,
            })
        })
    }

    /// How far they are. Of a transport that does not say what is acknowledged, what is sent counts.
    pub(in crate::world) fn standing(&self) -> Standing {
        let mut standing = Standing::default();
        for (flow, sent, progress) in self.sending() {
            let far = progress.map_or(sent, |progress| progress.acknowledged);
            standing.add(Standing { print: mix64(mix64(u64::from(flow.0)) ^ far), open: 1 });
        }
        standing
    }

    /// What they wait for, if their transport says so.
    pub(in crate::world) fn awaited(&self) -> Vec<(FlowId, Option<Progress>)> {
        self.sending().map(|(flow, _, progress)| (flow, progress)).collect()
    }

    /// All packets that wait at ports of this part, which are taken out of them.
    pub(in crate::world) fn queued(&mut self, now: Instant) -> Vec<Queued> {
        let Part { ports, arena, pfc, router, network, switches, positions, cut, number, .. } = self;
        let mut all: Vec<Queued> = Vec::new();
        for (port, spec) in network.ports().iter_enumerated() {
            if cut.part_of(spec.owner) != *number {
                continue;
            }
            let at = positions.port(port);
            let first = all.len();
            for id in ports[at].flush(now, arena) {
                let packet = arena.get(id);
                let class = ports[at].class_of(packet);
                let paused = pfc.as_ref().is_some_and(|pfc| {
                    let ahead = Ahead { network, router, switches, positions, ports: &pfc.ports };
                    pfc.is_stopped(&ahead, at, packet, class)
                });
                match all[first..].iter_mut().find(|known| known.flow == packet.flow) {
                    Some(known) => {
                        known.packets += 1;
                        known.paused |= paused;
                    }
                    None => all.push(Queued { flow: packet.flow, port, packets: 1, paused }),
                }
            }
        }
        all
    }
}
