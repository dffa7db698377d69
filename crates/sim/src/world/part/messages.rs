//! Messages of the controller to hosts.

use std::collections::btree_map::Entry;

use tailcut_base::{HostId, Instant};
use tailcut_model::FlowId;
use tailcut_model::seat::{Answer, Transport};

use super::{Any, Part};
use crate::event::Event;

impl Part<'_> {
    /// A message of the controller will be at a host of this part.
    pub(in crate::world) fn expect_message(&mut self, answer: Answer) {
        let Answer { at, to, flow, message } = answer;
        self.messages.entry((at, to, flow)).or_default().push_back(message);
        self.calendar.push(at, Event::Message(to, flow).key());
    }

    #[cold]
    #[inline(never)]
    pub(super) fn hear_controller(&mut self, now: Instant, host: HostId, flow: FlowId) {
        self.counts.calls += 1;
        let mut entry = match self.messages.entry((now, host, flow)) {
            Entry::Occupied(entry) => entry,
            Entry::Vacant(_) => unreachable!("the event stands for a message"),
        };
        let message = entry.get_mut().pop_front().expect("there is an event for each message");
        if entry.get().is_empty() {
            entry.remove();
        }
        let host = self.positions.host(host);
        self.catch_up_host::<Any>(now, host);
        if self.attribution.is_some() {
            self.account_message(host, flow);
        }
        self.with_host::<Any, _>(now, host, |transport, cx| transport.on_message(cx, flow, message));
        if self.attribution.is_some() {
            self.account_handled(now, host);
        }
        self.pull::<Any>(now, host);
    }
}
