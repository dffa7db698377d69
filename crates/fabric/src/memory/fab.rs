//! FAB: a dynamic threshold whose factor is large for flows that have sent little lately.
//!
//! Apostolaki, Vanbever and Ghobadi, "FAB: Toward flow-aware buffer sharing on programmable switches" (BS 2019).
//! Rezaei, PhD thesis (UIC 2021), section 4.5.1: it "extends DT by using multiple parameters per port depending on flow
//! priority (e.g., flow size)". The numbers are those of the public ns-3 scripts of ABM (inet-tub/ns3-datacenter).
//!
//! A flow is known by its number and its sender, so that the ACKs of a flow are another one.

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Instant, Span};
use tailcut_model::seat::{DropReason, Memory, Pool, PortUse};
use tailcut_model::{Around, Build, Facts, Invalid, Packet, Parameters, Thing};

use crate::SwitchContext;

/// A memory with two dynamic thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// B: bytes that all ports of the switch share, such as `"4MB"`.
    pub size: Bytes,
    /// Alpha for flows that have sent little: with 1024 they find no threshold before the memory is full.
    #[serde(default = "short")]
    pub alpha_short: f64,
    /// Alpha for the others.
    #[serde(default = "half")]
    pub alpha_long: f64,
    /// A flow has sent little until so much has come of it to the switch: 15 packets of 1400 B.
    #[serde(default = "threshold")]
    pub threshold: Bytes,
    /// A flow of which nothing came for longer begins anew.
    #[serde(default = "window")]
    pub window: Span,
}

fn short() -> f64 {
    1024.0
}

fn half() -> f64 {
    0.5
}

fn threshold() -> Bytes {
    Bytes(21_000)
}

fn window() -> Span {
    Span::from_ms(5)
}

impl Parameters for Config {
    const CASES: &'static [&'static str] =
        &["size = \"30KB\", threshold = \"4500B\"", "size = \"200KB\", alpha_long = 1.0, window = \"20us\""];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::SharedMemory);
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        let most = self.alpha_short / (1.0 + self.alpha_short) * self.size.0 as f64;
        super::below_limit("fab", most as u64, around)
    }
}

/// What came of a flow.
#[derive(Clone, Copy, Debug)]
struct Seen {
    bytes: u64,
    last: Instant,
}

/// The memory of one switch.
#[derive(Debug)]
pub struct Model {
    size: u64,
    alpha_short: f64,
    alpha_long: f64,
    threshold: u64,
    window: Span,
    /// By flow and sender: its ACKs come from its receiver.
    flows: FxHashMap<u64, Seen>,
    /// When flows are looked through next for those that begin anew anyway.
    next_sweep: Instant,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, _: &SwitchContext) -> Result<Model, Invalid> {
        super::holds_a_packet(config.size)?;
        super::is_factor("alpha_short", config.alpha_short)?;
        super::is_factor("alpha_long", config.alpha_long)?;
        if config.window == Span::ZERO {
            return Err(Invalid::new("window", "every packet would be the first of its flow")
                .help("expected a time such as \"5ms\""));
        }
        Ok(Model {
            size: config.size.0,
            alpha_short: config.alpha_short,
            alpha_long: config.alpha_long,
            threshold: config.threshold.0,
            window: config.window,
            flows: FxHashMap::default(),
            next_sweep: Instant::ZERO,
        })
    }

    fn heap_bytes(&self) -> usize {
        self.flows.capacity() * size_of::<(u64, Seen)>()
    }
}

impl Model {
    /// Whether the flow of `packet`, which has come, has sent little.
    fn is_short(&mut self, now: Instant, packet: &Packet) -> bool {
        let window = self.window;
        if now >= self.next_sweep {
            self.flows.retain(|_, seen| now.saturating_since(seen.last) <= window);
            self.next_sweep = now + window;
        }
        let which = u64::from(packet.flow.0) << 32 | u64::from(packet.src.0);
        let seen = match self.flows.get_mut(&which) {
            Some(seen) => seen,
            None => self.flows.entry(which).or_insert(Seen { bytes: 0, last: now }),
        };
        if now.saturating_since(seen.last) > window {
            seen.bytes = 0;
        }
        seen.bytes += u64::from(packet.size);
        seen.last = now;
        seen.bytes < self.threshold
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

    fn remembers(&self) -> bool {
        true
    }

    fn admit(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        let alpha = if self.is_short(now, packet) { self.alpha_short } else { self.alpha_long };
        super::within(super::dynamic(alpha, pool), packet, port)
    }

    fn threshold(&self, _: Instant, _: PortUse, pool: Pool) -> u64 {
        super::dynamic(self.alpha_short.min(self.alpha_long), pool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{B, Switch, context};
    use crate::memory::{complete, dt};

    fn switch(more: &str) -> Switch<Model> {
        let config = toml::from_str(&format!("size = \"{B}B\"\n{more}")).unwrap();
        Switch::new(Model::build(&config, &context(30)).unwrap(), 30)
    }

    #[test]
    fn long_flows_alone_are_as_under_dt() {
        let dt = dt::Model::build(&dt::Config { size: Bytes(B), alpha: 1.0 }, &context(30)).unwrap();
        let (mut fab, mut dt) = (switch("alpha_long = 1.0"), Switch::new(dt, 30));
        // Thirteen packets of 1500 B are less than 21,000 B, and the next one is of a long flow.
        for _ in 0..13 {
            fab.pass(5, 1);
        }
        for step in 0..6000u32 {
            let port = if step % 3 == 0 { 1 } else { 2 };
            assert_eq!(fab.offer_of(port, 1500, 1, 0), dt.offer_of(port, 1500, 1, 0), "packet {step}");
        }
        assert_eq!(fab.used(), dt.used());
    }

    #[test]
    fn short_flows_alone_are_as_under_complete_sharing() {
        let complete = complete::Model::build(&complete::Config { size: Bytes(B) }, &context(30)).unwrap();
        let (mut fab, mut complete) = (switch(""), Switch::new(complete, 30));
        for flow in 0..2600 {
            assert_eq!(fab.offer_of(4, 1500, flow, 0), complete.offer_of(4, 1500, flow, 0), "flow {flow}");
        }
        // Of the memory, a 1025th stays free.
        assert_eq!(fab.waiting(4), 2599 * 1500);
    }

    #[test]
    fn at_one_moment_a_short_flow_is_let_in_where_a_long_one_is_dropped() {
        let mut switch = switch("");
        for _ in 0..15 {
            switch.pass(5, 1);
        }
        while switch.offer_of(4, 1500, 1, 0).is_ok() {}
        assert_eq!(switch.offer_of(4, 1500, 1, 0), Err(DropReason::OverThreshold));
        assert_eq!(switch.offer_of(4, 1500, 2, 0), Ok(()));
        // The flow is silent for 5 ms: it is still long. A moment longer, and it is short again.
        switch.now = switch.now + Span::from_ms(5);
        assert_eq!(switch.offer_of(4, 1500, 1, 0), Err(DropReason::OverThreshold));
        switch.now = switch.now + Span::from_ms(5) + Span::from_ps(1);
        assert_eq!(switch.offer_of(4, 1500, 1, 0), Ok(()));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (more, path) in
            [("alpha_short = 0.0", "alpha_short"), ("alpha_long = -1.0", "alpha_long"), ("window = \"0s\"", "window")]
        {
            let config = toml::from_str(&format!("size = \"4MB\"\n{more}")).unwrap();
            let refused = Model::build(&config, &context(2)).unwrap_err();
            assert!(refused.path == path && refused.help.is_some(), "{refused}");
        }
    }
}
