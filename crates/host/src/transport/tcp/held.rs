//! Flows whose permission is taken back, and given again.

use tailcut_model::FlowId;
use tailcut_model::seat::HostCx;

use super::Model;
use crate::transport::TransportConfig;

impl Model {
    /// The flow, which this host sends, sends nothing until it is released.
    pub(in crate::transport) fn hold(&mut self, cx: &mut HostCx<'_>, flow: FlowId) {
        if let Some(slot) = cx.flows.sender(flow) {
            self.senders.get_mut(slot).hold();
        }
    }

    /// The flow, which this host sends and which was held, goes on with this connection, and with its first window.
    pub(in crate::transport) fn release(&mut self, cx: &mut HostCx<'_>, flow: FlowId, connection: u32) {
        if let Some(slot) = cx.flows.sender(flow) {
            let TransportConfig::Tcp(tcp) = &self.config.transport else {
                unreachable!("the model was built from its own configuration");
            };
            self.senders.get_mut(slot).go_on(connection, tcp.initial_window);
            self.settle(cx, slot);
        }
    }

    /// Bytes of the flow, which this host sends, that are not acknowledged; `None` once all are.
    pub(in crate::transport) fn unacknowledged(&self, cx: &HostCx<'_>, flow: FlowId) -> Option<u64> {
        let slot = cx.flows.sender(flow)?;
        self.senders.get(slot).map(|sender| sender.unacknowledged())
    }
}
