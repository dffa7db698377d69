//! HyLine's central manager, MAN: it lets large flows go, one after the other, each on a way of its own at line rate
//! (Abbasloo, Xu, Chao, HyLine: a Simple and Practical Flow Scheduling for Commodity Datacenters, sections IV-A, IV-C
//! and IV-D, algorithm 1; ns-2 code: Soheil-ab/HyLine).
//!
//! It knows the network, what it has promised of each link to flows of the second class, and what is left of each of
//! them. A flow that asks is let go on the way that costs the fewest preemptions, and of those on the one with the
//! most bandwidth left. A preemption is worth it if it lowers the sum of completion times: N victims wait for the new
//! flow, N x P_new, or the new flow waits for the largest of them, P_max. After a request that is granted, and when a
//! flow has ended, the flows that are stopped are looked at again, those with the least left first; one that was
//! stopped just now is looked at in a later round only.
//!
//! Algorithm 1 as printed contradicts the text. Followed here is the text:
//! - line 48 preempts if N x P_new is at least P_max: it is to be less (section IV-C);
//! - line 40 asks for fewer preemptions *and* more bandwidth: a tie of the first is decided by the second ("Balanced
//!   Load"); `compare` has the other reading;
//! - line 31 lets a victim go instead of the flow;
//! - lines 46 and 47 take the victims of whichever way was looked at last, not those of the chosen one;
//! - P_max is that of a path in the text, where the best path is the one with the smallest of all N x P_new and all
//!   P_max; so it preempts if the smallest N x P_new is below the smallest P_max of any path; `largest_wait` has the
//!   other reading.
//!
//! "Remaining bandwidth of a path" is the smallest of its links without those of the two hosts, which all ways share:
//! one of them always has just what the flow takes, and with them all ways would be alike. Where all links have the
//! same rate, ways without preemptions are alike in any case, and one is drawn.
//!
//! A link on which nobody with more left can make room closes a way. Where links are faster than those of hosts, they
//! carry several flows; slower ones carry one at their rate. Ways are enumerated as the network computes them, and none
//! is stored. Links that fail are not known to the manager: flows on them have to find that out.
//!
//! **Time.** A message takes `delay` each way. A request is decided on so late that a flow which finds room hears of it
//! `cost` after it has asked: the cost of the document has both the network and the computation in it (section IV-E).
//! Everything else counts at once. The ns-2 code charges the cost and nothing else; with a delay of a microsecond this
//! is nearly that. No message can take no time at all: `delay` is also how far the parts of a simulation run ahead
//! without a look at each other, and the shorter it is, the more often they wait.
//! With a `service` time the manager decides on one message at a time, in the order in which they are due, and needs
//! that time for each. While it `fails`, it answers nothing: requests and ends wait, a decision that would be ready
//! during the failure begins again after it, and what hosts tell of bytes left is lost. Hosts go on as they were told
//! last.

mod busy;
mod manager;
#[cfg(test)]
mod tests;
mod victims;
mod ways;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{HostId, Instant, Span};
use tailcut_model::seat::{Controller, ControllerCounts, ControllerCx, Message};
use tailcut_model::{Around, Build, Facts, FlowId, Invalid, Parameters, Permission, Thing};

use super::ControllerContext;
pub use busy::Busy;
use manager::Manager;

/// Which of several ways with as few preemptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathRule {
    /// The one with the most bandwidth left ("maximum remaining BW", section IV-D).
    #[default]
    MostRemaining,
    /// The one with the least that is enough (the ns-2 code).
    BestFit,
}

/// How preemptions and bandwidth are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// Fewer preemptions first; bandwidth decides ties (section IV-D).
    #[default]
    Lexicographic,
    /// A way is better only if it has fewer preemptions and more bandwidth (line 40): which is found depends on the
    /// order of the ways.
    Conjunction,
}

/// Whose largest flow is the alternative to a preemption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LargestWait {
    /// That of the way on which it is the smallest (section IV-C, line 48, ns-2 code).
    #[default]
    AnyPath,
    /// That of the way which would be taken.
    Path,
}

/// What happens if a preemption changes nothing in sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Equal {
    /// The flow waits ("if N x P_new < P_max, preemption is preferred", section IV-C).
    #[default]
    Wait,
    /// It preempts (the ns-2 code refuses only if N x P_new is above P_max).
    Preempt,
}

/// How the manager knows what is left of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Remaining {
    /// By its size and the time for which it was let go, at line rate (ours: what the messages of the document allow).
    #[default]
    Estimate,
    /// Its host tells it at each ACK (the ns-2 code looks at the senders): what it knows is `delay` old.
    Told,
}

/// A time in which the manager answers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// When it begins, since the start of the run.
    pub at: Span,
    /// How long it lasts.
    #[serde(rename = "for")]
    pub lasts: Span,
}

/// HyLine's manager.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How long a message takes from a host to the manager, and back; more than zero (the ns-2 code: nothing beside
    /// `cost`; ours: a microsecond, a twelfth of a packet at 1 Gb/s).
    pub delay: Span,
    /// From a request until the answer to it is at the host, both messages included (T_cost, section IV-E: 100 us).
    /// `service` is added to it, and an answer comes later still from a manager that is busy or fails.
    pub cost: Span,
    /// How long the manager is busy with one message about a flow before it looks at the next one (document and code:
    /// nothing).
    #[serde(skip_serializing_if = "is_zero")]
    pub service: Span,
    /// Which of several ways with as few preemptions a flow takes; of those that are alike in this too, one at random.
    pub path: PathRule,
    /// How preemptions and bandwidth are compared.
    pub compare: Compare,
    /// Whose largest flow is the alternative to a preemption, P_max.
    pub largest_wait: LargestWait,
    /// What happens if N x P_new is P_max.
    pub equal: Equal,
    /// How the manager knows what is left of a flow.
    pub remaining: Remaining,
    /// How often stopped flows are looked at after a change (section IV-D: once).
    pub rounds: u32,
    /// A time in which the manager answers nothing: requests and ends wait, and what it is told of bytes left is lost.
    /// None if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails: Option<Failure>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(span: &Span) -> bool {
    *span == Span::ZERO
}

impl Default for Config {
    fn default() -> Config {
        Config {
            delay: Span::from_us(1),
            cost: Span::from_us(100),
            service: Span::ZERO,
            path: PathRule::default(),
            compare: Compare::default(),
            largest_wait: LargestWait::default(),
            equal: Equal::default(),
            remaining: Remaining::default(),
            rounds: 1,
            fails: None,
        }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "delay = \"3us\", cost = \"20us\", path = \"best-fit\", largest_wait = \"path\", rounds = 3, service = \"2us\"",
        "delay = \"10us\", compare = \"conjunction\", equal = \"preempt\", remaining = \"told\", fails = { at = \"50us\", for = \"300us\" }",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::Controller);
        facts.provides(Thing::ControllerOf("hyline"));
        facts.provides(Thing::Permissions);
        facts.provides(Thing::Assignments);
        facts.needs(Thing::HostsOf("hyline"));
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        let end = around.arrivals + around.run_drain;
        let too_late = self.fails.filter(|failure| failure.at >= end);
        let sentence = |failure: Failure| {
            format!(
                "the manager fails at {}, and the run is over after {end} at the latest: it never fails",
                failure.at
            )
        };
        too_late.map(sentence).into_iter().collect()
    }
}

/// HyLine's manager, and the messages that wait for it.
#[derive(Debug)]
pub struct Model {
    config: Config,
    manager: Manager,
    /// Messages by the time at which they are due, and in the order in which they came.
    waiting: BTreeMap<(Instant, u64), (HostId, FlowId, Permission)>,
    arrived: u64,
    /// When it has decided on the message before.
    free: Instant,
}

impl Build for Model {
    type Config = Config;
    type Context = ControllerContext;

    fn build(config: &Config, context: &ControllerContext) -> Result<Model, Invalid> {
        if config.delay == Span::ZERO {
            let help = "expected a short time: with 1us little else than `cost` counts, as in the ns-2 code";
            return Err(Invalid::new("delay", "a message cannot take no time").help(help));
        }
        if config.cost < config.delay * 2 {
            return Err(Invalid::new(
                "cost",
                format!("{} is less than the two messages take, {} each", config.cost, config.delay),
            )
            .help(format!("expected at least {}, or a shorter `delay`", config.delay * 2)));
        }
        if config.rounds == 0 {
            return Err(Invalid::new("rounds", "without rescheduling, a flow that was stopped would never go again")
                .help("expected 1 or more"));
        }
        if config.fails.is_some_and(|failure| failure.lasts == Span::ZERO) {
            return Err(Invalid::new("fails.for", "a failure of no time is none")
                .help("expected a positive time, or no `fails`"));
        }
        let network = &context.network;
        if network.relays() || (0..network.hosts()).any(|host| network.nics(HostId(host)).len() > 1) {
            return Err(Invalid::new(
                "",
                "a way of HyLine begins at the only link of a host, and hosts here have several",
            )
            .help("expected a topology whose hosts have one link, such as `fat-tree` or `leaf-spine`"));
        }
        Ok(Model {
            manager: Manager::new(network.clone(), config.clone(), context.seeds),
            config: config.clone(),
            waiting: BTreeMap::new(),
            arrived: 0,
            free: Instant::ZERO,
        })
    }
}

impl Model {
    /// The end of the failure, if the manager has failed at `at`.
    fn back_after(&self, at: Instant) -> Option<Instant> {
        let failure = self.config.fails?;
        let from = Instant::ZERO + failure.at;
        (at >= from && at < from + failure.lasts).then(|| from + failure.lasts)
    }

    /// When a message that is due then is decided on, if the manager looks at it next.
    fn decided_at(&self, due: Instant) -> Instant {
        let begun = due.max(self.free);
        let begun = self.back_after(begun).unwrap_or(begun);
        // A decision during which the manager fails begins again when the failure is over.
        let failed = self.config.fails.map(|failure| Instant::ZERO + failure.at);
        let again = failed.filter(|&at| begun <= at && at <= begun + self.config.service);
        again.and_then(|at| self.back_after(at)).unwrap_or(begun) + self.config.service
    }
}

impl Controller for Model {
    fn delay(&self) -> Option<Span> {
        Some(self.config.delay)
    }

    fn counts(&self) -> Option<ControllerCounts> {
        Some(self.manager.counts())
    }

    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: HostId, flow: FlowId, message: Message) {
        let due = match Permission::of(message) {
            // What is left is noted at once; a manager that has failed misses it, and hears the next.
            Some(Permission::Left(bytes)) if self.back_after(cx.now).is_none() => {
                return self.manager.hear_left(flow, bytes);
            }
            Some(Permission::Left(_)) => return,
            Some(Permission::Request { .. }) => cx.now + (self.config.cost - self.config.delay * 2),
            Some(Permission::End) => cx.now,
            other => unreachable!("no host of HyLine says {other:?}"),
        };
        if let Some(said) = Permission::of(message) {
            self.waiting.insert((due, self.arrived), (from, flow, said));
            self.arrived += 1;
        }
    }

    fn timer(&self) -> Option<Instant> {
        self.waiting.first_key_value().map(|(&(due, _), _)| self.decided_at(due))
    }

    fn on_timer(&mut self, cx: &mut ControllerCx<'_>) {
        let Some((_, (from, flow, said))) = self.waiting.pop_first() else { return };
        self.free = cx.now;
        let mut told = Vec::new();
        match said {
            Permission::Request { to, size } => self.manager.request(cx.now, flow, (from, to), size, &mut told),
            _ => self.manager.end(cx.now, flow, &mut told),
        }
        for manager::Told { host, flow, what } in told {
            cx.send(Span::ZERO, host, flow, what.message());
        }
    }
}
