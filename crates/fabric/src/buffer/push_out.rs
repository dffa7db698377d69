//! Push-out: a packet of a higher class that does not fit evicts the last packets of the lowest class.
//!
//! As the authors of Slytherin coded it (hrezae2/IWQoS18, `dcn/model/simple-priority-ecn-queue.cc`); Algorithm 1 of the
//! paper does not have it. The lowest class itself is refused one byte earlier than under tail drop, also as coded.

use tailcut_model::seat::{Admission, BufferPolicy, DropReason, Occupancy, Waiting};
use tailcut_model::{Build, Invalid, Thing};

use crate::PortContext;

tailcut_model::no_parameters!(|facts| facts.excludes(Thing::Pauses, "it evicts what waits"));

/// The policy.
#[derive(Debug)]
pub struct Model {
    lowest: u8,
}

impl Build for Model {
    type Config = Config;
    type Context = PortContext;

    fn build(_: &Config, port: &PortContext) -> Result<Model, Invalid> {
        if port.classes < 2 {
            return Err(Invalid::new("", "`push-out` needs a class to evict from, and the port has one class")
                .help("expected `classes = 2` or more, or `buffer = \"tail-drop\"`"));
        }
        if port.limit <= tailcut_base::MTU_BYTES {
            let message = format!("a port of {} B never takes a full packet of the lowest class", port.limit);
            return Err(Invalid::new("", message).help("expected `limit = \"1501B\"` or more"));
        }
        Ok(Model { lowest: port.classes - 1 })
    }
}

impl BufferPolicy for Model {
    #[inline]
    fn admit(&mut self, o: Occupancy, class: u8, size: u64, waiting: &impl Waiting) -> Admission {
        let fits = if class == self.lowest { o.port + size < o.limit } else { o.port + size <= o.limit };
        if fits {
            Admission::Take
        } else if waiting.has_worse() {
            Admission::PushOut
        } else {
            Admission::Drop(DropReason::PortFull)
        }
    }

    fn takes_into_empty(&self) -> bool {
        true
    }
}
