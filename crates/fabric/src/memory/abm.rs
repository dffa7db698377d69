//! ABM: what is free, times a factor, divided by the congested queues of a priority, times how fast a queue drains.
//!
//! Addanki, Apostolaki, Ghobadi, Schmid and Vanbever, "ABM: Active buffer management in datacenters" (SIGCOMM 2022): a
//! queue of priority p may hold `alpha_p * (B - Q) / n_p * mu`. n_p is the number of congested queues of the priority
//! in the switch, and mu the rate at which the queue drains, as a part of its link. How both are measured, and the
//! numbers, are those of its authors' public ns-3 tree (inet-tub/ns3-datacenter,
//! `GenQueueDisc::ActiveBufferManagement`):
//!
//! - A queue counts to n_p by what waits in it, as a part of `saturated`, and never for more than one; n_p is at least
//!   1.
//! - n_p and mu are measured once in each `interval`. mu below one over the number of classes counts as 1: the queue
//!   had too little to send. With one class it is thus always 1.
//! - Packets of the first round trip of their flow have a factor of their own, because nothing has slowed them yet. So
//!   have control packets: a receiver of which nothing but ACKs comes has never sent more than that.
//!
//! Two things are not theirs. They count the bytes that a flow has sent, retransmissions too, and here it is the place
//! of a packet in its flow. And where a port has several classes, they add a packet to what a class has sent each time
//! that the scheduler finds it empty.
//!
//! A priority is a class of a port. It is the one memory here that looks at classes: its threshold is that of a class,
//! not of a port.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Bytes, Instant, Span};
use tailcut_model::seat::{DropReason, MAX_CLASSES, Memory, Pool, PortUse};
use tailcut_model::{Around, Build, Facts, Invalid, Kind, Packet, Parameters, Thing};

use super::float;
use crate::SwitchContext;

/// A memory that is shared by what is free, who is congested, and who drains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// B: bytes that all ports of the switch share, such as `"4MB"`.
    pub size: Bytes,
    /// Alpha of every class.
    #[serde(default = "half")]
    pub alpha: f64,
    /// Alpha of packets of the first round trip of their flow.
    #[serde(default = "first")]
    pub alpha_unscheduled: f64,
    /// Those are the packets of so many first bytes of a flow, such as C x RTT; `"0B"` for none.
    #[serde(default = "unscheduled")]
    pub unscheduled: Bytes,
    /// A queue of so many bytes is congested: 20 packets of 1400 B.
    #[serde(default = "saturated")]
    pub saturated: Bytes,
    /// Time between two measurements of n and mu: a round trip.
    #[serde(default = "interval")]
    pub interval: Span,
}

fn half() -> f64 {
    0.5
}

fn first() -> f64 {
    1024.0
}

fn unscheduled() -> Bytes {
    Bytes(100_000)
}

fn saturated() -> Bytes {
    Bytes(28_000)
}

fn interval() -> Span {
    Span::from_us(80)
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "size = \"60KB\", saturated = \"3KB\", interval = \"10us\", unscheduled = \"3KB\"",
        "size = \"200KB\", alpha = 1.0, unscheduled = \"0B\"",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::SharedMemory);
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        let alpha = if self.unscheduled.0 > 0 { self.alpha.max(self.alpha_unscheduled) } else { self.alpha };
        let mut warnings = super::below_limit("abm", (alpha / (1.0 + alpha) * self.size.0 as f64) as u64, around);
        let what = "what is measured in an interval is less than a round trip brings";
        warnings.extend(around.short_round_trip("interval", self.interval, what));
        if self.unscheduled.0 > 0 && self.unscheduled.0 < around.bdp / 2 {
            warnings.push(format!(
                "`unscheduled`, {}, is less than half of the bandwidth-delay product of {}: packets of the first round \
                 trip of a flow count as later ones",
                self.unscheduled.rounded(),
                Bytes(around.bdp).rounded()
            ));
        }
        warnings
    }
}

/// What is measured of a class of a port.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Which part of a congested queue it was at its last arrival.
    congestion: f64,
    /// Bytes that left it in this interval.
    sent: u64,
    /// Mu.
    drains: f64,
}

/// Alpha over n, the number of queues of a class that are congested.
#[derive(Clone, Copy, Debug)]
struct Shares {
    unscheduled: f64,
    others: f64,
    /// That of those packets that have the least.
    least: f64,
}

impl Shares {
    fn new(config: &Config, congested: f64) -> Shares {
        let (unscheduled, others) = (config.alpha_unscheduled / congested, config.alpha / congested);
        let least = if config.unscheduled.0 > 0 { unscheduled.min(others) } else { others };
        Shares { unscheduled, others, least }
    }
}

/// The memory of one switch.
#[derive(Debug)]
pub struct Model {
    config: Config,
    rates: Vec<BitRate>,
    classes: u8,
    /// By port and class.
    queues: Vec<[Queue; MAX_CLASSES]>,
    /// Alpha over n of each class, for what is unscheduled and for the rest.
    shares: [Shares; MAX_CLASSES],
    /// Number of the interval at hand, and when it ends.
    nth: u64,
    due: Instant,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, context: &SwitchContext) -> Result<Model, Invalid> {
        super::holds_a_packet(config.size)?;
        super::is_factor("alpha", config.alpha)?;
        super::is_factor("alpha_unscheduled", config.alpha_unscheduled)?;
        if config.saturated.0 == 0 {
            return Err(
                Invalid::new("saturated", "an empty queue is not congested").help("expected a size such as \"28KB\"")
            );
        }
        if config.interval == Span::ZERO {
            return Err(
                Invalid::new("interval", "nothing is measured in no time").help("expected a time such as \"80us\"")
            );
        }
        let quiet = Queue { congestion: 0.0, sent: 0, drains: 1.0 };
        Ok(Model {
            config: config.clone(),
            rates: context.ports.clone(),
            classes: context.classes,
            queues: vec![[quiet; MAX_CLASSES]; context.ports.len()],
            shares: [Shares::new(config, 1.0); MAX_CLASSES],
            nth: 0,
            due: Instant::ZERO + config.interval,
        })
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.rates) + size_of_val(&*self.queues)
    }
}

impl Model {
    /// Measures at the end of each interval.
    #[inline]
    fn measure(&mut self, now: Instant) {
        if now >= self.due {
            self.measure_all(now);
        }
    }

    #[inline(never)]
    fn measure_all(&mut self, now: Instant) {
        let interval = self.config.interval.as_ps();
        let nth = now.as_ps() / interval;
        self.due = Instant::from_ps((nth + 1).saturating_mul(interval));
        // Of intervals in which nothing happened, only the last one counts.
        let just_ended = nth == self.nth + 1;
        self.nth = nth;
        for (rate, queues) in self.rates.iter().zip(&mut self.queues) {
            let whole = rate.as_bps() as f64 / 8.0 * self.config.interval.as_secs_f64();
            for queue in &mut queues[..usize::from(self.classes)] {
                let part = if just_ended { queue.sent as f64 / whole } else { 0.0 };
                let counts = part >= 1.0 / f64::from(self.classes) && part <= 1.0;
                (queue.drains, queue.sent) = (if counts { part } else { 1.0 }, 0);
            }
        }
        for class in 0..usize::from(self.classes) {
            let all: f64 = self.queues.iter().map(|queues| queues[class].congestion).sum();
            self.shares[class] = Shares::new(&self.config, all.max(1.0));
        }
    }

    #[inline]
    fn threshold_by(&self, share: impl FnOnce(&Shares) -> f64, port: PortUse, pool: Pool) -> u64 {
        let class = usize::from(port.class);
        let drains = self.queues[port.port as usize][class].drains;
        super::dynamic(share(&self.shares[class]) * drains, pool)
    }
}

impl Memory for Model {
    fn size(&self) -> Option<u64> {
        Some(self.config.size.0)
    }

    #[inline]
    fn admit(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        self.measure(now);
        let congestion = match port.class_bytes {
            0 => 0.0,
            bytes => (float(bytes) / float(self.config.saturated.0)).min(1.0),
        };
        self.queues[port.port as usize][usize::from(port.class)].congestion = congestion;
        let is_first = packet.kind != Kind::DATA || packet.seq < self.config.unscheduled.0;
        let has_own = is_first && self.config.unscheduled.0 > 0;
        let share = |shares: &Shares| if has_own { shares.unscheduled } else { shares.others };
        let threshold = self.threshold_by(share, port, pool);
        let after = port.class_bytes + u64::from(packet.size);
        if after <= threshold { Ok(()) } else { Err(DropReason::OverThreshold) }
    }

    #[inline(always)]
    fn on_dequeue(&mut self, now: Instant, size: u64, port: PortUse, _: Pool) {
        self.measure(now);
        self.queues[port.port as usize][usize::from(port.class)].sent += size;
    }

    fn looks_at_classes(&self) -> bool {
        true
    }

    fn is_patient(&self) -> bool {
        true
    }

    fn remembers(&self) -> bool {
        true
    }

    fn due(&self) -> Instant {
        self.due
    }

    fn threshold(&self, _: Instant, port: PortUse, pool: Pool) -> u64 {
        self.threshold_by(|shares| shares.least, port, pool)
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::HostId;
    use tailcut_model::FlowId;

    use super::*;
    use crate::memory::testing::{B, context};

    fn model(more: &str, classes: u8) -> Model {
        let config = toml::from_str(&format!("size = \"{B}B\"\n{more}")).unwrap();
        Model::build(&config, &SwitchContext { classes, ..context(4) }).unwrap()
    }

    /// Whether a full packet from the byte at `seq` of its flow is let in where so much waits in its class.
    fn admits(model: &mut Model, at_us: u64, port: u32, class: u8, class_bytes: u64, used: u64, seq: u64) -> bool {
        let packet = Packet::data(FlowId(1), HostId(0), HostId(1), seq, 1460, 1 << 40, Instant::ZERO);
        let port = PortUse { port, bytes: class_bytes, class, class_bytes };
        model.admit(Instant::ZERO + Span::from_us(at_us), &packet, port, Pool { used, size: B }).is_ok()
    }

    fn threshold(model: &Model, port: u32, class: u8, used: u64) -> u64 {
        let port = PortUse { port, class, ..PortUse::default() };
        model.threshold(Instant::ZERO, port, Pool { used, size: B })
    }

    const LATE: u64 = 1_000_000;

    #[test]
    fn alone_a_queue_is_under_dt_with_its_alpha() {
        let mut model = model("", 1);
        assert_eq!(threshold(&model, 0, 0, 1_000_000), 1_500_000);
        assert!(admits(&mut model, 0, 0, 0, 1_498_500, 1_000_000, LATE));
        assert!(!admits(&mut model, 0, 0, 0, 1_498_501, 1_000_000, LATE));
        // The first 100 KB of a flow find no threshold.
        assert!(admits(&mut model, 0, 0, 0, 2_900_000, 1_000_000, 99_999));
        assert!(!admits(&mut model, 0, 0, 0, 2_900_000, 1_000_000, 100_000));
    }

    #[test]
    fn congested_queues_of_a_class_divide_its_part() {
        let mut model = model("", 2);
        for port in 0..3 {
            admits(&mut model, 10, port, 1, 50_000, 0, LATE);
        }
        // Half of what makes a queue congested.
        admits(&mut model, 10, 3, 1, 14_000, 0, LATE);
        assert_eq!(threshold(&model, 0, 1, 0), 2_000_000, "it is measured once in 80 us");
        admits(&mut model, 80, 0, 0, 0, 0, LATE);
        assert_eq!(threshold(&model, 0, 1, 0), (0.5 / 3.5 * B as f64) as u64);
        assert_eq!(threshold(&model, 0, 0, 0), 2_000_000, "the other class is not congested");
    }

    #[test]
    fn a_queue_that_drains_at_a_part_of_its_link_has_that_part() {
        let mut model = model("", 4);
        // 80 us of 10 Gbit/s are 100 000 B: three quarters of them are one class's, a fifth another's.
        for (class, sent) in [(1, 75_000), (2, 20_000)] {
            let port = PortUse { port: 2, class, ..PortUse::default() };
            model.on_dequeue(Instant::ZERO + Span::from_us(30), sent, port, Pool { used: 0, size: B });
        }
        admits(&mut model, 80, 0, 0, 0, 0, LATE);
        assert!(threshold(&model, 2, 1, 0).abs_diff(1_500_000) <= 1);
        assert_eq!(threshold(&model, 2, 2, 0), 2_000_000, "below a quarter, it had too little to send");
        // An interval later nothing has left.
        admits(&mut model, 160, 0, 0, 0, 0, LATE);
        assert_eq!(threshold(&model, 2, 1, 0), 2_000_000);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (more, path) in [
            ("alpha = 0.0", "alpha"),
            ("alpha_unscheduled = -1.0", "alpha_unscheduled"),
            ("saturated = \"0B\"", "saturated"),
            ("interval = \"0s\"", "interval"),
        ] {
            let config = toml::from_str(&format!("size = \"4MB\"\n{more}")).unwrap();
            let refused = Model::build(&config, &context(2)).unwrap_err();
            assert!(refused.path == path && refused.help.is_some(), "{refused}");
        }
    }
}
