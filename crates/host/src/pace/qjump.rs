//! Qjump: each host may send so many bytes of a class in an epoch, the fewer the higher the class.
//!
//! Grosvenor et al., "Queues Don't Matter When You Can JUMP Them!" (NSDI 2015), section 3. If each of n hosts sends at
//! most P bytes of the highest class in an epoch of 2 n P / R + epsilon, where R is the rate of the slowest link, then
//! none of these packets waits longer than an epoch wherever all hosts send to one: the link serves all of them within
//! n P / R, epsilon is the time of an idle network, and the factor is there because hosts do not begin their epochs
//! together. A class below may send more, with a factor on P, and its packets may wait longer. The lowest is not
//! limited.
//!
//! The kernel module (camsas/qjump-tc, `sch_qjump.c`) has a budget for each class of a host; an epoch begins with the
//! first packet after the one before has ended. What does not fit it returns to the sender's TCP, which tries again:
//! `excess = "wait"` stands for that. The ns-2 code (camsas/qjump-ns2, `adc/qjump.cc`) gives each flow a budget of its
//! own, renewed at fixed times from its start on, and drops what does not fit: `budget_of = "flow"` and
//! `excess = "drop"`. Its epoch is n P / R + epsilon, without the factor 2.
//!
//! There the policer stands before the NIC's queue, where windows come as bursts. Here it does with `nic = "queue"`; a
//! link that pulls asks for one packet after the other, so that a packet may be judged later by what those before it
//! take.
//!
//! Left out: the classifier of the kernel module that lowers an application's class when it sends too much.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Instant, MTU_BYTES, Span};
use tailcut_model::seat::{Awareness, Leave, MAX_CLASSES, Outgoing, PaceView, Pacer};
use tailcut_model::{Build, Facts, Invalid, Parameters, Thing};

use crate::HostContext;

/// What a host may send of each class in an epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Bytes on the wire that go in an epoch in each class, the highest first; P of the rule is the first. Classes
    /// after these are not limited (camsas/qjump-ns2, `tcp-common-opt.tcl`: 72 000, 156 000, 228 000, 396 000, 636 000,
    /// 1 596 000 and 8 004 000 bits).
    pub budgets: Vec<Bytes>,
    /// Factor on n P / R in the length of an epoch (section 3: 2, because hosts are not synchronised; the public ns-2
    /// code: 1).
    pub factor: f64,
    /// Epsilon, what an epoch is longer than that (section 3: the time of an idle network; the public ns-2 code: an
    /// epoch of 1.05 ms for 144 hosts at 10 Gb/s, which is 13.2 us longer than n P / R).
    pub epsilon: Span,
    /// n, the hosts that may send to one at a time: all of the network if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// Who has a budget.
    #[serde(skip_serializing_if = "BudgetOf::is_default")]
    pub budget_of: BudgetOf,
    /// What becomes of a packet that does not fit into the budget.
    #[serde(skip_serializing_if = "Excess::is_default")]
    pub excess: Excess,
}

/// Who has a budget for each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetOf {
    /// The host, for all its flows; an epoch begins with the first packet after the one before (camsas/qjump-tc).
    #[default]
    Host,
    /// Each flow; epochs follow each other from its first packet on (camsas/qjump-ns2).
    Flow,
}

impl BudgetOf {
    /// Not written out then.
    fn is_default(&self) -> bool {
        *self == BudgetOf::default()
    }
}

/// What becomes of a packet that does not fit into the budget of its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Excess {
    /// It waits at its host for the next epoch.
    #[default]
    Wait,
    /// Its host discards it (camsas/qjump-ns2).
    Drop,
}

impl Excess {
    /// Not written out then.
    fn is_default(&self) -> bool {
        *self == Excess::default()
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            budgets: [6, 13, 19, 33, 53, 133, 667].map(|packets| Bytes(packets * MTU_BYTES)).to_vec(),
            factor: 2.0,
            epsilon: Span::from_ns(13_200),
            hosts: None,
            budget_of: BudgetOf::Host,
            excess: Excess::Wait,
        }
    }
}

/// What has gone of a budget.
#[derive(Clone, Copy, Debug, Default)]
struct Epoch {
    end: Instant,
    /// Bytes that have gone in this epoch.
    spent: u64,
}

/// The limiter of one host.
#[derive(Debug)]
pub struct Model {
    budgets: Vec<u64>,
    /// How long an epoch is.
    length: Span,
    budget_of: BudgetOf,
    excess: Excess,
    /// The epochs of the host's classes.
    shared: [Epoch; MAX_CLASSES],
    /// Those of its flows, by the slot of the flow and the class, if each flow has its own.
    own: BTreeMap<(u32, u8), Epoch>,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "budgets = [\"3KB\", \"30KB\"], factor = 1.0, hosts = 4",
        "budgets = [\"9KB\"], epsilon = \"0us\", excess = \"drop\"",
        "budget_of = \"flow\", excess = \"drop\", factor = 1.0",
        "budgets = [\"2pkt\", \"4pkt\"], budget_of = \"flow\", factor = 0.5",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.needs(Thing::Class);
        facts.own_times();
        facts.for_classes(self.budgets.len(), "budgets");
    }
}

/// The longest epoch: what waits for it would be called lost by any timer before.
const LONGEST: Span = Span::from_ms(10_000);

impl Build for Model {
    type Config = Config;
    type Context = HostContext;

    fn build(config: &Config, context: &HostContext) -> Result<Model, Invalid> {
        if config.budgets.is_empty() || config.budgets.len() >= MAX_CLASSES {
            let help = format!("expected 1 to {} budgets: the lowest class has none", MAX_CLASSES - 1);
            let message = format!("there cannot be {} budgets", config.budgets.len());
            return Err(Invalid::new("budgets", message).help(help));
        }
        if let Some(budget) = config.budgets.iter().find(|budget| budget.0 < MTU_BYTES) {
            return Err(Invalid::new("budgets", format!("a packet of 1500 B never fits into {budget}"))
                .help("expected budgets of \"1pkt\" or more"));
        }
        if !config.budgets.is_sorted() {
            return Err(Invalid::new("budgets", "a class has less than the class above it")
                .help("expected budgets that ascend: the highest class has the least"));
        }
        if !(config.factor > 0.0 && config.factor.is_finite()) {
            return Err(Invalid::new("factor", format!("an epoch cannot be {} times n P / R", config.factor))
                .help("expected a positive number, such as 2.0"));
        }
        if config.hosts == Some(0) {
            return Err(Invalid::new("hosts", "nobody sends").help("expected 1 or more, or no `hosts`"));
        }
        let hosts = config.hosts.unwrap_or(context.hosts);
        let serve = f64::from(hosts) * 8.0 * config.budgets[0].0 as f64 / context.nic.as_bps() as f64;
        let length = config.factor * serve + config.epsilon.as_secs_f64();
        if config.epsilon > LONGEST {
            return Err(Invalid::new(
                "epsilon",
                format!("{} is more than an epoch may take, {LONGEST}", config.epsilon),
            )
            .help("expected the time that packets wait in hosts and switches, such as \"4us\""));
        }
        if length > LONGEST.as_secs_f64() {
            let rate = context.nic;
            let message = format!("{hosts} hosts make an epoch of {length:.1} s at {rate}, more than {LONGEST}");
            return Err(Invalid::new("budgets", message)
                .help("expected a smaller first budget, or `hosts`: how many send to one at a time"));
        }
        let length = Span::from_secs_f64(length);
        if length == Span::ZERO {
            return Err(Invalid::new("factor", format!("{} times n P / R makes an epoch of no time", config.factor))
                .help("expected a larger number, such as 2.0"));
        }
        Ok(Model {
            budgets: config.budgets.iter().map(|budget| budget.0).collect(),
            length,
            budget_of: config.budget_of,
            excess: config.excess,
            shared: [Epoch::default(); MAX_CLASSES],
            own: BTreeMap::new(),
        })
    }

    fn heap_bytes(&self) -> usize {
        // A map holds its items in blocks that are between half and wholly full.
        self.budgets.capacity() * size_of::<u64>() + 2 * self.own.len() * size_of::<((u32, u8), Epoch)>()
    }
}

impl Pacer for Model {
    fn is_on(&self) -> bool {
        false
    }

    fn awareness(&self) -> Awareness {
        Awareness::Off
    }

    fn next_due(&self, _: Instant, sent: Instant, _: &PaceView) -> Instant {
        sent
    }

    fn release(&self, due: Instant) -> Instant {
        due
    }

    fn limits(&self) -> bool {
        true
    }

    fn leave(&mut self, now: Instant, packet: Outgoing) -> Leave {
        let Some(&budget) = self.budgets.get(usize::from(packet.class)) else { return Leave::Go };
        let epoch = match self.budget_of {
            BudgetOf::Host => &mut self.shared[usize::from(packet.class)],
            BudgetOf::Flow => self.own.entry((packet.slot, packet.class)).or_insert(Epoch { end: now, spent: 0 }),
        };
        if now >= epoch.end {
            let over = match self.budget_of {
                BudgetOf::Host => Span::ZERO,
                BudgetOf::Flow => now.saturating_since(epoch.end),
            };
            // The next end of an epoch: of one that begins now, or of one in a row.
            let into = Span::from_ps(over.as_ps() % self.length.as_ps());
            epoch.end = now + (self.length - into);
            epoch.spent = 0;
        }
        if epoch.spent + packet.bytes <= budget {
            epoch.spent += packet.bytes;
            return Leave::Go;
        }
        match self.excess {
            Excess::Wait => Leave::Wait(epoch.end),
            Excess::Drop => Leave::Discard,
        }
    }

    fn on_close(&mut self, slot: u32) {
        if self.budget_of == BudgetOf::Flow {
            self.own.retain(|&(of, _), _| of != slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::BitRate;

    use super::*;
    use crate::HostConfig;

    /// A host of HyLine's network: 128 of them, with links of 1 Gb/s.
    fn limiter(config: Config) -> Result<Model, Invalid> {
        let context = HostContext { nic: BitRate::gbps(1), hosts: 128, ..HostContext::of(HostConfig::default()) };
        Model::build(&config, &context)
    }

    fn packet(slot: u32, class: u8, bytes: u64) -> Outgoing {
        Outgoing { slot, class, bytes }
    }

    fn at_us(us: u64) -> Instant {
        Instant::ZERO + Span::from_us(us)
    }

    #[test]
    fn an_epoch_serves_a_budget_of_every_host() {
        let length = |config: Config| limiter(config).unwrap().length;
        // 128 hosts of 72 000 bits at 1 Gb/s take 9.216 ms.
        assert_eq!(length(Config { factor: 1.0, ..Config::default() }), Span::from_ns(9_229_200));
        assert_eq!(length(Config::default()), Span::from_ns(18_445_200));
        assert_eq!(length(Config { hosts: Some(32), ..Config::default() }), Span::from_ns(4_621_200));
        // The public ns-2 code: 144 hosts at 10 Gb/s, 1.05 ms.
        let context = HostContext { hosts: 144, ..HostContext::of(HostConfig::default()) };
        let published = Config { factor: 1.0, ..Config::default() };
        assert_eq!(Model::build(&published, &context).unwrap().length, Span::from_us(1050));
    }

    /// What makes an epoch too long or takes it away is named, for the network at hand: 128 hosts at 1 Gb/s.
    #[test]
    fn an_epoch_of_no_time_or_of_hours_is_refused() {
        let seconds = |seconds: u64| Span::from_ms(1000 * seconds);
        for (config, key) in [
            (Config { budgets: vec![Bytes(1_000_000_000)], ..Config::default() }, "budgets"),
            (Config { epsilon: seconds(11), ..Config::default() }, "epsilon"),
            (Config { epsilon: Span::ZERO, factor: 1e-300, ..Config::default() }, "factor"),
        ] {
            let refused = limiter(config).unwrap_err();
            assert!(refused.path == key && refused.help.is_some(), "{key}: {refused}");
        }
        assert!(limiter(Config { epsilon: seconds(9), ..Config::default() }).is_ok());
    }

    #[test]
    fn a_second_budget_waits_for_the_next_epoch_which_begins_with_its_first_packet() {
        let mut limiter = limiter(Config { factor: 1.0, ..Config::default() }).unwrap();
        let start = at_us(1000);
        for _ in 0..6 {
            assert_eq!(limiter.leave(start, packet(0, 0, 1500)), Leave::Go);
        }
        let end = start + Span::from_ns(9_229_200);
        assert_eq!(limiter.leave(start, packet(1, 0, 1500)), Leave::Wait(end), "another flow of the same host");
        assert_eq!(limiter.leave(start, packet(1, 0, 41)), Leave::Wait(end), "nothing is left, however little");
        assert_eq!(limiter.leave(start, packet(1, 1, 1500)), Leave::Go, "another class has its own budget");
        assert_eq!(limiter.leave(end, packet(1, 0, 1500)), Leave::Go);
        // An idle host begins its next epoch when it sends again, and has all of the budget.
        let later = at_us(50_000);
        for _ in 0..6 {
            assert_eq!(limiter.leave(later, packet(1, 0, 1500)), Leave::Go);
        }
        assert_eq!(limiter.leave(later, packet(1, 0, 1500)), Leave::Wait(later + Span::from_ns(9_229_200)));
    }

    #[test]
    fn a_budget_of_13_packets_lets_13_go_and_the_lowest_class_has_no_limit() {
        let mut limiter = limiter(Config::default()).unwrap();
        let mut gone =
            |class| (0..10_000).take_while(|_| limiter.leave(at_us(1), packet(0, class, 1500)) == Leave::Go).count();
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(&mut gone), [13, 19, 33, 53, 133, 667, 10_000]);
    }

    #[test]
    fn flows_with_budgets_of_their_own_lose_the_excess_and_their_epochs_follow_each_other() {
        let config = Config { factor: 1.0, budget_of: BudgetOf::Flow, excess: Excess::Drop, ..Config::default() };
        let mut limiter = limiter(config).unwrap();
        for slot in [0, 1] {
            for _ in 0..6 {
                assert_eq!(limiter.leave(at_us(1000), packet(slot, 0, 1500)), Leave::Go);
            }
            assert_eq!(limiter.leave(at_us(1000), packet(slot, 0, 1500)), Leave::Discard);
        }
        // The second epoch of both ends 18.4584 ms after their start, whenever its first packet goes.
        for _ in 0..6 {
            assert_eq!(limiter.leave(at_us(19_000), packet(0, 0, 1500)), Leave::Go);
        }
        assert_eq!(limiter.leave(at_us(19_458), packet(0, 0, 1500)), Leave::Discard);
        assert_eq!(limiter.leave(at_us(19_459), packet(0, 0, 1500)), Leave::Go);
        // Its slot is another flow's afterwards.
        limiter.on_close(0);
        assert_eq!(limiter.own.len(), 1);
        for _ in 0..6 {
            assert_eq!(limiter.leave(at_us(19_460), packet(0, 0, 1500)), Leave::Go);
        }
    }

    #[test]
    fn values_out_of_range_are_refused_at_their_key() {
        let refused = |config: Config| limiter(config).unwrap_err().path;
        let budgets =
            |sizes: &[u64]| Config { budgets: sizes.iter().map(|&b| Bytes(b)).collect(), ..Config::default() };
        for sizes in [&[][..], &[1499], &[9000, 3000], &[9000; 8], &[9_000_000_000]] {
            assert_eq!(refused(budgets(sizes)), "budgets");
        }
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(Config { factor, ..Config::default() }), "factor");
        }
        assert_eq!(refused(Config { hosts: Some(0), ..Config::default() }), "hosts");
    }
}
