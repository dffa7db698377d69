//! EDT: a dynamic threshold, and none for a port whose queue grows as fast as in a short burst.
//!
//! Shan, Jiang and Ren, "Absorbing micro-burst traffic by enhancing dynamic threshold policy of data center switches"
//! (INFOCOM 2015; IEEE Transactions on Parallel and Distributed Systems 28(9), 2017): a port is controlled, and has the
//! threshold of DT; or uncontrolled, and may use the whole memory, for a time. The automaton is the one of the public
//! implementations for ns-2 (gaokaihui/ns2-tso, whose file is older than the paper) and DPDK (alery315/dpdk-switch):
//!
//! - A controlled port counts what is let in less what leaves, from the last drop on or for `t1`, whichever is shorter.
//!   At `c2` packets it becomes uncontrolled.
//! - An uncontrolled port becomes controlled after `c1` departures without an arrival, because the burst is over; after
//!   `t2`, because no short burst lasts longer; and when the memory overflows (`overflow`).
//!
//! Rezaei, PhD thesis (UIC 2021), section 4.5.2: the uncontrolled state "sets the port threshold to the whole buffer
//! size". Where several ports are uncontrolled, both implementations divide the memory by their number, as
//! `whole = false` does.
//!
//! C1, C2, T1 and T2 are the defaults of the implementation for ns-2, which has 16 ports of 1 Gbit/s and 1 MB. The one
//! for DPDK has other numbers for other switches, down to C2 = 6 and T1 = 1 ms.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Instant, Span};
use tailcut_model::seat::{DropReason, Memory, Pool, PortUse};
use tailcut_model::{Around, Build, Facts, Invalid, Packet, Parameters, Thing};

use crate::SwitchContext;

/// A memory with a dynamic threshold, and room for short bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// B: bytes that all ports of the switch share, such as `"4MB"`.
    pub size: Bytes,
    /// Alpha: a controlled port may hold so many times what is free.
    #[serde(default = "one")]
    pub alpha: f64,
    /// C1: departures without an arrival after which a burst is over.
    #[serde(default = "c1")]
    pub c1: u32,
    /// C2: packets by which a queue grows in a burst.
    #[serde(default = "c2")]
    pub c2: u32,
    /// T1: the time in which it grows so much.
    #[serde(default = "t1")]
    pub t1: Span,
    /// T2: the longest time that a port is uncontrolled.
    #[serde(default = "t2")]
    pub t2: Span,
    /// Whether each uncontrolled port may use the whole memory; otherwise they divide it.
    #[serde(default = "yes")]
    pub whole: bool,
    /// Which ports become controlled when a packet does not fit into the memory.
    #[serde(default)]
    pub overflow: Overflow,
}

/// Which ports become controlled when a packet does not fit into the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// All of them, as in the implementation for ns-2.
    #[default]
    All,
    /// The one for which the packet was, as in an earlier version of it.
    Port,
    /// None, as in the implementation for DPDK.
    None,
}

fn one() -> f64 {
    1.0
}

fn c1() -> u32 {
    3
}

fn c2() -> u32 {
    14
}

fn t1() -> Span {
    Span::from_us(2100)
}

fn t2() -> Span {
    Span::from_ms(10)
}

fn yes() -> bool {
    true
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "size = \"30KB\", c2 = 4",
        "size = \"200KB\", alpha = 0.25, c2 = 2, t2 = \"5us\", overflow = \"port\"",
        "size = \"60KB\", whole = false, c2 = 3, t1 = \"100us\", overflow = \"none\"",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::SharedMemory);
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        super::below_limit("edt", self.size.0, around)
    }
}

/// A port as the automaton sees it.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    /// Since when it is uncontrolled, if it is.
    uncontrolled: Option<Instant>,
    /// Packets by which its queue has grown since the window began.
    net: u32,
    /// Departures since the last arrival.
    idle: u32,
    /// When the window began in which growth is counted.
    window: Instant,
}

impl Port {
    fn becomes_controlled(&mut self, now: Instant) {
        (self.uncontrolled, self.net, self.window) = (None, 0, now);
    }
}

/// The memory of one switch.
#[derive(Debug)]
pub struct Model {
    config: Config,
    ports: Vec<Port>,
    /// The uncontrolled ports, by the times at which they became so.
    uncontrolled: VecDeque<u32>,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, context: &SwitchContext) -> Result<Model, Invalid> {
        super::holds_a_packet(config.size)?;
        super::is_factor("alpha", config.alpha)?;
        for (path, count) in [("c1", config.c1), ("c2", config.c2)] {
            if count == 0 {
                return Err(Invalid::new(path, "nothing is counted up to 0 packets").help("expected 1 or more"));
            }
        }
        let ports = vec![Port::default(); context.ports.len()];
        Ok(Model { config: config.clone(), ports, uncontrolled: VecDeque::new() })
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.ports) + self.uncontrolled.capacity() * size_of::<u32>()
    }
}

impl Model {
    fn is_uncontrolled(&self, now: Instant, port: u32) -> bool {
        self.ports[port as usize].uncontrolled.is_some_and(|since| now.saturating_since(since) <= self.config.t2)
    }

    /// Ports that were uncontrolled for longer than may be are controlled, from the end of that time on.
    #[inline(always)]
    fn expire(&mut self, now: Instant) {
        if !self.uncontrolled.is_empty() {
            self.expire_first(now);
        }
    }

    fn expire_first(&mut self, now: Instant) {
        while let Some(&first) = self.uncontrolled.front()
            && !self.is_uncontrolled(now, first)
        {
            self.uncontrolled.pop_front();
            let port = &mut self.ports[first as usize];
            let since = port.uncontrolled.expect("it is among the uncontrolled ones");
            port.becomes_controlled(since + self.config.t2);
        }
    }
}

impl Memory for Model {
    fn size(&self) -> Option<u64> {
        Some(self.config.size.0)
    }

    #[inline]
    fn admit(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        self.expire(now);
        super::within(self.threshold(now, port, pool), packet, port)
    }

    #[inline(always)]
    fn on_enqueue(&mut self, now: Instant, _: &Packet, port: PortUse, _: Pool) {
        let number = port.port;
        let port = &mut self.ports[number as usize];
        port.idle = 0;
        if port.uncontrolled.is_some() {
            return;
        }
        if now.saturating_since(port.window) > self.config.t1 {
            (port.net, port.window) = (0, now);
        }
        port.net += 1;
        if port.net >= self.config.c2 {
            port.uncontrolled = Some(now);
            self.uncontrolled.push_back(number);
        }
    }

    #[inline(always)]
    fn on_dequeue(&mut self, now: Instant, _: u64, port: PortUse, _: Pool) {
        self.expire(now);
        let number = port.port;
        let port = &mut self.ports[number as usize];
        port.idle = port.idle.saturating_add(1);
        if port.uncontrolled.is_none() {
            port.net = port.net.saturating_sub(1);
        } else if port.idle >= self.config.c1 {
            port.idle = 0;
            port.becomes_controlled(now);
            self.uncontrolled.retain(|&other| other != number);
        }
    }

    fn on_drop(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) {
        self.ports[port.port as usize].net = 0;
        if pool.used + u64::from(packet.size) <= pool.size {
            return;
        }
        match self.config.overflow {
            Overflow::All => {
                for number in self.uncontrolled.drain(..) {
                    self.ports[number as usize].becomes_controlled(now);
                }
            }
            Overflow::Port if self.ports[port.port as usize].uncontrolled.is_some() => {
                self.ports[port.port as usize].becomes_controlled(now);
                self.uncontrolled.retain(|&other| other != port.port);
            }
            Overflow::Port | Overflow::None => {}
        }
    }

    fn is_patient(&self) -> bool {
        true
    }

    #[inline]
    fn due(&self) -> Instant {
        match self.uncontrolled.front() {
            None => Instant::MAX,
            Some(&first) => {
                self.ports[first as usize].uncontrolled.map_or(Instant::ZERO, |since| since + self.config.t2)
            }
        }
    }

    #[inline(always)]
    fn threshold(&self, now: Instant, port: PortUse, pool: Pool) -> u64 {
        if !self.is_uncontrolled(now, port.port) {
            return super::dynamic(self.config.alpha, pool);
        }
        let others = self.uncontrolled.iter().filter(|&&other| self.is_uncontrolled(now, other)).count() as u64;
        if self.config.whole { pool.size } else { pool.size / others }
    }

    fn state(&self, now: Instant, port: u32) -> &'static str {
        if self.is_uncontrolled(now, port) { "uncontrolled" } else { "controlled" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::dt;
    use crate::memory::testing::{B, Switch, context};

    fn switch(more: &str) -> Switch<Model> {
        // Numbers that are told apart easily.
        let own = "c2 = 6\nt1 = \"100us\"\nt2 = \"1ms\"";
        let config = toml::from_str(&format!("size = \"{B}B\"\n{own}\n{more}")).unwrap();
        Switch::new(Model::build(&config, &context(30)).unwrap(), 30)
    }

    fn is_uncontrolled(switch: &Switch<Model>, port: u32) -> bool {
        switch.memory.state(switch.now, port) == "uncontrolled"
    }

    #[test]
    fn a_queue_that_does_not_grow_fast_is_as_under_dt() {
        let size = Bytes(400_000);
        let dt = dt::Model::build(&dt::Config { size, alpha: 1.0 }, &context(30)).unwrap();
        let config = toml::from_str("size = \"400KB\"\nc2 = 6\nt1 = \"100us\"").unwrap();
        let mut edt = Switch::new(Model::build(&config, &context(30)).unwrap(), 30);
        let mut dt = Switch::new(dt, 30);
        let mut dropped = 0;
        for step in 0..20_000u64 {
            // One comes for each that leaves; and one more each 41 us, which is far below six in 100 us.
            let extra = usize::from(step % 34 == 0);
            for _ in 0..=extra {
                let answer = edt.offer(2);
                assert_eq!(answer, dt.offer(2), "step {step}");
                dropped += u32::from(answer.is_err());
            }
            edt.leave(2);
            dt.leave(2);
            edt.now = edt.now + Span::from_ns(1200);
            dt.now = edt.now;
            assert!(!is_uncontrolled(&edt, 2));
        }
        // Half of the memory are 133 packets, which 588 more than leave fill.
        assert!(dropped > 400 && edt.used() == dt.used(), "{dropped}");
    }

    #[test]
    fn the_sixth_arrival_at_a_busy_port_ends_its_control_and_three_departures_bring_it_back() {
        let mut switch = switch("");
        // The first one finds the port idle and leaves at once.
        for arrival in 1..=7 {
            assert!(!is_uncontrolled(&switch, 2), "before arrival {arrival}");
            switch.offer(2).unwrap();
        }
        assert!(is_uncontrolled(&switch, 2) && switch.threshold(2) == B);
        switch.leave(2);
        switch.leave(2);
        // An arrival says that the burst is not over.
        switch.offer(2).unwrap();
        switch.leave(2);
        switch.leave(2);
        assert!(is_uncontrolled(&switch, 2));
        switch.leave(2);
        assert!(!is_uncontrolled(&switch, 2));
        assert_eq!(switch.threshold(2), B - switch.used(), "as under DT");
    }

    #[test]
    fn arrivals_that_take_longer_than_t1_are_no_burst() {
        let mut switch = switch("");
        for arrival in 0..7 {
            switch.offer(2).unwrap();
            // Six arrivals of those that wait take 100 us and 1 ps.
            switch.now = switch.now + Span::from_us(20) + Span::from_ps(u64::from(arrival == 3));
        }
        assert!(!is_uncontrolled(&switch, 2));
        let mut fast = self::switch("");
        for _ in 0..7 {
            fast.offer(2).unwrap();
            fast.now = fast.now + Span::from_us(16);
        }
        assert!(is_uncontrolled(&fast, 2));
    }

    #[test]
    fn a_burst_gets_the_whole_memory_and_two_of_them_half_each() {
        let mut alone = switch("");
        while alone.offer(2).is_ok() {}
        assert_eq!(alone.waiting(2), B / 1500 * 1500);
        let mut two = switch("whole = false");
        for _ in 0..7 {
            two.offer(2).unwrap();
            two.offer(3).unwrap();
        }
        assert_eq!((two.threshold(2), two.threshold(3)), (B / 2, B / 2));
        let mut whole = switch("");
        for _ in 0..7 {
            whole.offer(2).unwrap();
            whole.offer(3).unwrap();
        }
        assert_eq!((whole.threshold(2), whole.threshold(3)), (B, B));
    }

    #[test]
    fn no_port_is_uncontrolled_for_longer_than_t2() {
        let mut switch = switch("whole = false");
        for _ in 0..7 {
            switch.offer(2).unwrap();
        }
        switch.now = switch.now + Span::from_us(500);
        for _ in 0..7 {
            switch.offer(3).unwrap();
        }
        switch.now = switch.now + Span::from_us(500);
        assert!(is_uncontrolled(&switch, 2) && switch.threshold(3) == B / 2);
        // Nothing happens at the first port, and still it is no burst any longer; the other one has all.
        switch.now = switch.now + Span::from_ps(1);
        assert!(!is_uncontrolled(&switch, 2) && is_uncontrolled(&switch, 3) && switch.threshold(3) == B);
        switch.offer(2).unwrap();
        assert!(!is_uncontrolled(&switch, 2));
        // Six more within 100 us are a burst again: the first was one of them.
        for _ in 0..5 {
            switch.offer(2).unwrap();
        }
        assert!(is_uncontrolled(&switch, 2));
    }

    #[test]
    fn a_packet_that_does_not_fit_into_the_memory_ends_what_is_uncontrolled() {
        for (overflow, expected) in [("all", [false, false]), ("port", [true, false]), ("none", [true, true])] {
            let mut switch = switch(&format!("overflow = \"{overflow}\""));
            for _ in 0..7 {
                switch.offer(2).unwrap();
                switch.offer(3).unwrap();
            }
            while switch.offer(3).is_ok() {}
            assert!(switch.used() + 1500 > B);
            assert_eq!([2, 3].map(|port| is_uncontrolled(&switch, port)), expected, "{overflow}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (more, path) in [("alpha = 0.0", "alpha"), ("c1 = 0", "c1"), ("c2 = 0", "c2")] {
            let config = toml::from_str(&format!("size = \"4MB\"\n{more}")).unwrap();
            let refused = Model::build(&config, &context(2)).unwrap_err();
            assert!(refused.path == path && refused.help.is_some(), "{refused}");
        }
    }
}
