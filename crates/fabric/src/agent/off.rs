//! A switch that knows no headers.

use tailcut_base::Instant;
use tailcut_model::seat::{Agent, Crossing};
use tailcut_model::{Header, Packet};

use crate::SwitchContext;

tailcut_model::no_parameters!(SwitchContext);

impl Agent for Model {
    fn is_on(&self) -> bool {
        false
    }

    fn on_forward(&mut self, _: Instant, _: &mut Packet, _: &mut Header, _: Crossing) {}

    fn on_reverse(&mut self, _: Instant, _: &mut Packet, _: &mut Header, _: Crossing) {}
}
