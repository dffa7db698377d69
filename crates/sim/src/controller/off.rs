//! No controller: hosts and switches decide for themselves.

use tailcut_base::{HostId, Span};
use tailcut_model::FlowId;
use tailcut_model::seat::{Controller, ControllerCx, Message};

use super::ControllerContext;

tailcut_model::no_parameters!(ControllerContext);

impl Controller for Model {
    fn delay(&self) -> Option<Span> {
        None
    }

    fn on_message(&mut self, _: &mut ControllerCx<'_>, _: HostId, _: FlowId, _: Message) {}
}
