//! What the transports of hosts ask for, and what is told of that between rounds.

use tailcut_base::Instant;
use tailcut_model::seat::{DropReason, Wish};

use super::super::exchange::{FlowEvent, LogEntry};
use super::Part;
use crate::controller::Told;
use crate::event::Event;

impl Part<'_> {
    /// Does what the transport of a host has asked for: the last wish first.
    #[inline(never)]
    pub(super) fn grant_wishes(&mut self, now: Instant, host: usize) {
        let id = self.hosts[host].id;
        let told = self.told.len();
        while let Some(wish) = self.wishes.pop() {
            let event = match wish {
                Wish::Timer { at, flow } => {
                    self.calendar.push(at, Event::Timer(id, flow).key());
                    continue;
                }
                Wish::Discarded { flow, seq } => {
                    let nic = self.nic_at(host, 0);
                    self.ports[nic].count_drop(DropReason::NicQueue);
                    FlowEvent::Dropped { flow, seq, reason: DropReason::NicQueue }
                }
                Wish::Tell { flow, message } => {
                    self.told.push(Told { at: now, from: id, flow, message });
                    continue;
                }
                Wish::Received { flow, report } => FlowEvent::Received { flow, report },
                Wish::Acknowledged { flow, report } => FlowEvent::Acknowledged { flow, report },
                Wish::Permitted { flow, report } => FlowEvent::Permitted { flow, report },
                Wish::Abandoned { flow, report } => FlowEvent::Abandoned { flow, report },
                Wish::LetGo { flow, report } => FlowEvent::LetGo { flow, report },
            };
            if self.attribution.is_some() {
                self.account_ended(now, &event);
            }
            self.log.push(LogEntry { at: now, key: self.key, event });
        }
        self.told[told..].reverse();
    }

    /// What happened to flows since the last call, in order.
    pub(in crate::world) fn take_log(&mut self, log: &mut Vec<LogEntry>) {
        log.append(&mut self.log);
    }

    /// What hosts have told the controller since the last call, that of each host in order.
    pub(in crate::world) fn take_told(&mut self, told: &mut Vec<Told>) {
        told.append(&mut self.told);
    }
}
