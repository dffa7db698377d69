//! Complete partitioning: every port has an equal part of the memory, whoever waits elsewhere.
//!
//! The baseline of Rezaei, PhD thesis (UIC 2021), section 4.5.2, which calls it static partitioning. What is left when
//! the memory is divided by the number of ports is nobody's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Instant, MTU_BYTES};
use tailcut_model::seat::{DropReason, Memory, Pool, PortUse};
use tailcut_model::{Around, Build, Facts, Invalid, Packet, Parameters, Thing};

use crate::SwitchContext;

/// A memory that is divided once and for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// B: bytes of the memory, such as `"4MB"`; each of `n` ports of the switch has `B / n`.
    pub size: Bytes,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["size = \"60KB\"", "size = \"400KB\""];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::SharedMemory);
    }

    fn warnings(&self, _: &Around) -> Vec<String> {
        Vec::new()
    }
}

/// The memory of one switch.
#[derive(Debug)]
pub struct Model {
    size: u64,
    ports: u64,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, context: &SwitchContext) -> Result<Model, Invalid> {
        super::holds_a_packet(config.size)?;
        let ports = context.ports.len().max(1) as u64;
        if config.size.0 / ports < MTU_BYTES {
            let message = format!("{} divided by {ports} ports does not hold one packet of 1500 B", config.size);
            return Err(Invalid::new("size", message).help(format!("expected at least \"{}B\"", ports * MTU_BYTES)));
        }
        Ok(Model { size: config.size.0, ports })
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

    #[inline]
    fn admit(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        super::within(self.threshold(now, port, pool), packet, port)
    }

    #[inline]
    fn threshold(&self, _: Instant, _: PortUse, pool: Pool) -> u64 {
        pool.size / self.ports
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{B, Switch, context};

    fn switch(ports: usize) -> Switch<Model> {
        Switch::new(Model::build(&Config { size: Bytes(B) }, &context(ports)).unwrap(), ports)
    }

    #[test]
    fn a_port_has_its_part_and_no_more_and_takes_none_from_others() {
        let mut switch = switch(30);
        // 133 333 B hold 88 packets; of 100 that find the port idle, one more is on the wire, and 11 are dropped.
        assert_eq!((0..100).filter(|_| switch.offer(7).is_ok()).count(), 89);
        assert_eq!((switch.waiting(7), switch.offer(7)), (132_000, Err(DropReason::OverThreshold)));
        for port in (0..30).filter(|&port| port != 7) {
            assert_eq!((0..100).filter(|_| switch.offer(port).is_ok()).count(), 89, "the others have theirs");
        }
        // All parts together are within the memory: it is never full before a port's part is.
        assert!(30 * (B / 30) <= B && switch.used() == 30 * 132_000);
    }

    #[test]
    fn parts_that_hold_no_packet_are_refused() {
        let refused = Model::build(&Config { size: Bytes(29 * 1500) }, &context(30)).unwrap_err();
        assert!(refused.path == "size" && refused.help.unwrap().contains("45000B"));
        assert!(Model::build(&Config { size: Bytes(30 * 1500) }, &context(30)).is_ok());
    }
}
