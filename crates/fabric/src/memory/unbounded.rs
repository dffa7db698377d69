//! A memory without an end: what everybody would need.
//!
//! Rezaei, PhD thesis (UIC 2021), section 4.5.2.3, compares what Smartbuf predicts with what flows take "from a
//! hypothetically unbounded memory with the complete sharing policy". Nothing is refused but by the ports themselves,
//! whose `limit` should be as large; bursts are recorded as Smartbuf sees them in a memory of the size that is given.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Instant};
use tailcut_model::seat::{Burst, DropReason, Memory, Pool, PortUse};
use tailcut_model::{Around, Build, Facts, Invalid, Packet, Parameters, Thing};

use super::bursts::{Bursts, Step};
use crate::SwitchContext;

/// A memory without an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The memory that this one stands for: a queue above `1 / sigma` of it is a burst.
    pub instead_of: Bytes,
    /// Sigma: see `smartbuf`.
    pub sigma: f64,
    /// Beta: see `smartbuf`.
    pub beta: f64,
    /// Weight of a new gradient: see `smartbuf`.
    pub weight: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config { instead_of: Bytes(4_000_000), sigma: 5.0, beta: 0.5, weight: 0.25 }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "instead_of = \"30KB\""];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::SharedMemory);
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        super::below_limit("unbounded", self.instead_of.0.saturating_mul(2), around)
    }
}

/// The memory of one switch.
#[derive(Debug)]
pub struct Model {
    bursts: Bursts,
    least: f64,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, context: &SwitchContext) -> Result<Model, Invalid> {
        super::bursts::check(config.sigma, config.beta, config.weight)?;
        let bursts = Bursts::new(config.weight, config.beta, &context.ports);
        Ok(Model { bursts, least: config.instead_of.0 as f64 / config.sigma })
    }

    fn heap_bytes(&self) -> usize {
        self.bursts.heap_bytes()
    }
}

impl Memory for Model {
    fn size(&self) -> Option<u64> {
        Some(u64::MAX)
    }

    fn admit(&mut self, _: Instant, _: &Packet, _: PortUse, _: Pool) -> Result<(), DropReason> {
        Ok(())
    }

    #[inline(always)]
    fn on_enqueue(&mut self, now: Instant, packet: &Packet, port: PortUse, _: Pool) {
        self.bursts.on_arrival(now, port.port, u64::from(packet.size), false);
    }

    #[inline(always)]
    fn on_dequeue(&mut self, now: Instant, _: u64, port: PortUse, _: Pool) {
        if let Step::Ends(ended) = self.bursts.on_dequeue(now, port.port, port.bytes, self.least) {
            self.bursts.close(now, port.port, ended, None, false, 0);
        }
    }

    fn on_drop(&mut self, now: Instant, packet: &Packet, port: PortUse, _: Pool) {
        self.bursts.on_arrival(now, port.port, u64::from(packet.size), true);
    }

    fn is_patient(&self) -> bool {
        true
    }

    fn minds(&self, port: PortUse) -> bool {
        self.bursts.may_be(port.port, port.bytes, self.least)
    }

    fn state(&self, _: Instant, port: u32) -> &'static str {
        if self.bursts.is_in_burst(port) { "burst" } else { "" }
    }

    fn keep_bursts(&mut self) {
        self.bursts.keep();
    }

    fn take_bursts(&mut self) -> Vec<Burst> {
        self.bursts.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{Switch, context};
    use tailcut_base::Span;

    #[test]
    fn everything_is_let_in_and_bursts_are_recorded() {
        let mut switch = Switch::new(Model::build(&Config::default(), &context(3)).unwrap(), 3);
        switch.memory.keep_bursts();
        for _ in 0..6001 {
            switch.offer(1).unwrap();
        }
        assert_eq!(switch.waiting(1), 9_000_000);
        while switch.waiting(1) > 0 {
            switch.now = switch.now + Span::from_ns(1200);
            switch.leave(1);
        }
        let bursts = switch.memory.take_bursts();
        // The first departure saw one packet less than ever waited.
        assert_eq!((bursts[0].peak, bursts[0].drops, bursts[0].predicted), (8_998_500, 0, None));
        assert!(bursts[0].demand.abs_diff(9_000_000) <= 1500, "{bursts:?}");
        assert!(switch.memory.take_bursts().is_empty());
    }
}
