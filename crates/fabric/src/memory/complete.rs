//! Complete sharing: what fits into the memory is let in, whoever has how much of it.
//!
//! Rezaei, PhD thesis (UIC 2021), section 4.5.2: it "allows queues to grow arbitrarily large until the buffer is full".

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Instant};
use tailcut_model::seat::{DropReason, Memory, Pool, PortUse};
use tailcut_model::{Around, Build, Facts, Invalid, Packet, Parameters, Thing};

use crate::SwitchContext;

/// A memory that is shared without a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// B: bytes that all ports of the switch share, such as `"4MB"`.
    pub size: Bytes,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["size = \"30KB\"", "size = \"200KB\""];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::SharedMemory);
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        super::below_limit("complete", self.size.0, around)
    }
}

/// The memory of one switch.
#[derive(Debug)]
pub struct Model {
    size: u64,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, _: &SwitchContext) -> Result<Model, Invalid> {
        super::holds_a_packet(config.size)?;
        Ok(Model { size: config.size.0 })
    }
}

impl Memory for Model {
    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn listens(&self) -> bool {
        false
    }

    fn is_patient(&self) -> bool {
        true
    }

    fn admit(&mut self, _: Instant, _: &Packet, _: PortUse, _: Pool) -> Result<(), DropReason> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{B, Switch, context};

    #[test]
    fn one_port_may_have_all_and_leaves_nothing_to_the_others() {
        let mut switch = Switch::new(Model::build(&Config { size: Bytes(B) }, &context(30)).unwrap(), 30);
        let taken = (0..4000).filter(|_| switch.offer(7).is_ok()).count() as u64;
        assert_eq!((taken, switch.waiting(7)), (B / 1500 + 1, B / 1500 * 1500), "one is on the wire");
        // 1000 B are left: no packet fits, not even one that would pass through.
        assert_eq!((B - switch.used(), switch.offer(3)), (1000, Err(DropReason::MemoryFull)));
        assert_eq!(switch.offer_of(3, 1000, 1, 0), Ok(()));
    }
}
