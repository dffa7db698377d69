//! No loss by chance.

use tailcut_model::Packet;
use tailcut_model::seat::Loss;

use super::LossContext;

tailcut_model::no_parameters!(LossContext);

impl Loss for Model {
    #[inline]
    fn loses(&mut self, _: &Packet) -> bool {
        false
    }
}
