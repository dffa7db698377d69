//! No delay: a host sends and answers at the moment at which it may.

use tailcut_base::Span;

use super::{Delay, DelayContext};

tailcut_model::no_parameters!(DelayContext);

impl Delay for Model {
    fn is_on(&self) -> bool {
        false
    }

    fn before_sending(&mut self) -> Span {
        Span::ZERO
    }

    fn after_arrival(&mut self) -> Span {
        Span::ZERO
    }

    fn is_of_bursts(&self) -> bool {
        false
    }
}
