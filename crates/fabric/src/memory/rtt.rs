//! A part for each port by what its link needs to stay busy: RTT x C / sqrt(N).
//!
//! Appenzeller, Keslassy and McKeown, "Sizing router buffers" (SIGCOMM 2004): a link of rate C that many long flows
//! share, N of them, stays busy with that much. Rezaei, PhD thesis (UIC 2021), section 4.5.2, divides the memory of a
//! switch by it, and does not say what N is: `count` does. No port has less than a packet of 1500 B; the parts of all
//! ports may add up to more than the memory, which is then full before.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Bytes, Instant, MTU_BYTES, Span};
use tailcut_model::seat::{DropReason, Memory, Pool, PortUse};
use tailcut_model::{Around, Build, Facts, FlowId, Invalid, Kind, Packet, Parameters, Thing};

use crate::SwitchContext;

/// A memory that is divided by what links need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// B: bytes that all ports of the switch have together, such as `"4MB"`.
    pub size: Bytes,
    /// RTT: the round trip of a flow without queues (Rezaei, section 4.5.1: 80 us).
    #[serde(default = "rtt")]
    pub rtt: Span,
    /// Which flows N counts.
    #[serde(default)]
    pub count: Count,
    /// N, if `count` is `constant`.
    #[serde(default = "n")]
    pub n: u32,
    /// A flow is long once it has sent more than this, such as `"100KB"`.
    #[serde(default = "long")]
    pub long: Bytes,
    /// A flow counts at a port for so many round trips after its last packet.
    #[serde(default = "recent")]
    pub recent: u32,
}

/// Which flows N counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// Long flows that sent data through the port lately, as in the theory, whose flows live long.
    #[default]
    Long,
    /// All flows that sent data through the port lately.
    All,
    /// None: N is what `n` says.
    Constant,
}

fn rtt() -> Span {
    Span::from_us(80)
}

fn n() -> u32 {
    20
}

fn long() -> Bytes {
    Bytes(100_000)
}

fn recent() -> u32 {
    10
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "size = \"100KB\", rtt = \"30us\", long = \"5KB\"",
        "size = \"60KB\", count = \"all\", recent = 2",
        "size = \"200KB\", count = \"constant\", n = 4",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::SharedMemory);
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        let mut warnings = super::below_limit("rtt", around.bdp.min(self.size.0), around);
        warnings.extend(around.short_round_trip("rtt", self.rtt, "ports get less than fills their links"));
        warnings
    }
}

/// The flows that sent data through a port lately.
#[derive(Debug, Default)]
struct Flows {
    /// When each did so last.
    last: FxHashMap<FlowId, Instant>,
    /// Each of them once, with a time at which it did, in the order of these times: it is looked at again when that is
    /// long ago.
    looks: VecDeque<(Instant, FlowId)>,
}

impl Flows {
    fn saw(&mut self, now: Instant, flow: FlowId) {
        if let Some(last) = self.last.get_mut(&flow) {
            *last = now;
            return;
        }
        self.last.insert(flow, now);
        self.looks.push_back((now, flow));
    }

    /// Forgets who has not sent for `window`.
    #[inline]
    fn forget(&mut self, now: Instant, window: Span) {
        while let Some(&(at, flow)) = self.looks.front()
            && now.saturating_since(at) > window
        {
            self.looks.pop_front();
            let last = self.last[&flow];
            if now.saturating_since(last) > window {
                self.last.remove(&flow);
            } else {
                let place = self.looks.partition_point(|&(at, _)| at <= last);
                self.looks.insert(place, (last, flow));
            }
        }
    }
}

/// The memory of one switch.
#[derive(Debug)]
pub struct Model {
    size: u64,
    count: Count,
    long: u64,
    window: Span,
    /// RTT x C in bytes, by port.
    bdp: Vec<f64>,
    flows: Vec<Flows>,
    /// The part of each port.
    parts: Vec<u64>,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, context: &SwitchContext) -> Result<Model, Invalid> {
        super::holds_a_packet(config.size)?;
        if config.rtt == Span::ZERO {
            return Err(Invalid::new("rtt", "a round trip takes time").help("expected a time such as \"80us\""));
        }
        for (path, value) in [("n", config.n), ("recent", config.recent)] {
            if value == 0 {
                return Err(Invalid::new(path, "0 is no number of them").help("expected 1 or more"));
            }
        }
        let window = config.rtt.as_ps().checked_mul(u64::from(config.recent)).map(Span::from_ps);
        let bdp = |rate: &BitRate| rate.as_bps() as f64 / 8.0 * config.rtt.as_secs_f64();
        let bdp: Vec<f64> = context.ports.iter().map(bdp).collect();
        let n = if config.count == Count::Constant { config.n as usize } else { 1 };
        Ok(Model {
            size: config.size.0,
            count: config.count,
            long: config.long.0,
            window: window.unwrap_or(Span::from_ps(u64::MAX)),
            parts: bdp.iter().map(|&bdp| part(bdp, n)).collect(),
            bdp,
            flows: context.ports.iter().map(|_| Flows::default()).collect(),
        })
    }

    fn heap_bytes(&self) -> usize {
        let of = |flows: &Flows| {
            (flows.last.capacity() + flows.looks.capacity()) * size_of::<(Instant, FlowId)>() + size_of::<Flows>()
        };
        size_of_val(&*self.bdp) + size_of_val(&*self.parts) + self.flows.iter().map(of).sum::<usize>()
    }
}

/// The part of a port whose RTT x C is `bdp` bytes, with `n` flows.
fn part(bdp: f64, n: usize) -> u64 {
    // What is no whole byte is cut off; the sum of a product may be a hair below one.
    ((bdp / (n as f64).sqrt() + 1e-6) as u64).max(MTU_BYTES)
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
        self.count != Count::Constant
    }

    fn admit(&mut self, now: Instant, packet: &Packet, port: PortUse, _: Pool) -> Result<(), DropReason> {
        if self.count != Count::Constant {
            let at = port.port as usize;
            let flows = &mut self.flows[at];
            let before = flows.last.len();
            // What a flow has sent stands in its packets: the offset of their last byte.
            let is_long = || packet.seq + u64::from(packet.payload) > self.long;
            if packet.kind == Kind::DATA && (self.count == Count::All || is_long()) {
                flows.saw(now, packet.flow);
            }
            flows.forget(now, self.window);
            if flows.last.len() != before {
                self.parts[at] = part(self.bdp[at], flows.last.len().max(1));
            }
        }
        super::within(self.parts[port.port as usize], packet, port)
    }

    fn threshold(&self, _: Instant, port: PortUse, pool: Pool) -> u64 {
        self.parts[port.port as usize].min(pool.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{B, Switch, context};

    fn config(more: &str) -> Config {
        toml::from_str(&format!("size = \"{B}B\"\n{more}")).unwrap()
    }

    fn switch(more: &str) -> Switch<Model> {
        Switch::new(Model::build(&config(more), &context(30)).unwrap(), 30)
    }

    #[test]
    fn a_port_has_what_its_link_needs_for_so_many_flows() {
        // 80 us at 10 Gbit/s are 100 000 B.
        for (n, part) in [(1, 100_000), (4, 50_000), (100, 10_000), (1_000_000, 1_500)] {
            let mut switch = switch(&format!("count = \"constant\"\nn = {n}\n"));
            assert_eq!(switch.threshold(3), part, "{n} flows");
            let taken = (0..200).filter(|_| switch.offer(3).is_ok()).count() as u64;
            assert_eq!(taken, part / 1500 + 1, "one is on the wire");
        }
    }

    #[test]
    fn long_flows_count_while_they_send() {
        let mut switch = switch("");
        // Flow 1 has sent 100 000 B before this packet, flow 2 nothing.
        switch.offer_of(3, 1500, 1, 98_540).unwrap();
        assert_eq!(switch.threshold(3), 100_000, "100 000 B are not more than 100 000 B");
        for flow in 1..5 {
            switch.offer_of(3, 1500, flow, 98_541).unwrap();
            switch.offer_of(3, 1500, 10 + flow, 0).unwrap();
        }
        assert_eq!((switch.threshold(3), switch.threshold(4)), (50_000, 100_000), "four of them, at one port");
        // 800 us later they still count; a moment after that only the one that has sent since.
        switch.now = switch.now + Span::from_us(400);
        switch.offer_of(3, 1500, 2, 200_000).unwrap();
        switch.now = switch.now + Span::from_us(400);
        switch.offer_of(3, 1500, 99, 0).unwrap();
        assert_eq!(switch.threshold(3), 50_000);
        switch.now = switch.now + Span::from_ps(1);
        switch.offer_of(3, 1500, 99, 0).unwrap();
        assert_eq!(switch.threshold(3), 100_000);
        let mut all = self::switch("count = \"all\"\n");
        (1..5).for_each(|flow| all.offer_of(3, 1500, flow, 0).unwrap());
        assert_eq!(all.threshold(3), 50_000);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (more, path) in [("rtt = \"0s\"", "rtt"), ("n = 0", "n"), ("recent = 0", "recent")] {
            let refused = Model::build(&config(more), &context(2)).unwrap_err();
            assert!(refused.path == path && refused.help.is_some(), "{refused}");
        }
    }
}
