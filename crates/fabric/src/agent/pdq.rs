//! PDQ at switches: each link is granted whole to the most critical of its flows (Hong, Caesar, Godfrey, Finishing
//! Flows Quickly with Preemptive Scheduling, SIGCOMM 2012, section 3.3).
//!
//! A link keeps a list of its flows, the most critical first. A packet that asks is offered what the flows before its
//! own leave of the link; a flow that is nearly complete is taken for complete, so that the next one starts early. Who
//! is offered nothing is paused: the packet carries the name of the switch that pauses it, and switches that see the
//! name of another one forget the flow. What a flow was offered by all links becomes its rate in the lists only when
//! the answer comes back, so that no link is held for a flow that waits for another one.
//!
//! The text of the paper could not be read. What is here follows the slides of its authors, accounts of its algorithms,
//! and SymbioticLab/Aequitas (`ext/pdq_queue.cpp`), which leaves some of it open; each choice has a parameter or is
//! said here:
//! - A switch that accepts a flow hears of it again by the answer, a round trip later. Until then its rate in the list
//!   is zero, and others would be accepted beside it: dampening lets no less critical one in for `damping` after it.
//! - A flow that is paused elsewhere and then accepted there passes switches that have not voted with the packet that
//!   is accepted. It sends for less than a round trip before they have, and the rate controller drains what that
//!   queues. With `asks_again` at the host it asks once more instead, and waits.
//! - Probes of a paused flow come in the order of its place in the list (`probing`), so an entry is forgotten if
//!   nothing is heard for two of its probes and two round trips; so a TERM may be lost.
//! - A link computes its rate, C, when a packet asks and two mean round trips are over.
//! - A flow for which there is no room in the list has an equal part of what flows in the list do not use, as in RCP;
//!   nothing while one of the list waits. Else all newcomers beyond the first would be granted a part of the link in
//!   the round trip in which the first has not been answered.

#[cfg(test)]
mod convergence;
mod link;
pub mod steady;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Instant, Span};
use tailcut_model::explicit::PdqFields;
use tailcut_model::seat::{Agent, Crossing, Looks};
use tailcut_model::{Build, Direction, Facts, Header, Invalid, Packet, Parameters, Thing};

use crate::SwitchContext;
use link::Link;

/// Which flows are more critical. An operator's policy comes before all of them, if senders write one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Comparator {
    /// Earliest deadline first; flows without one come last, in the order of their numbers.
    Edf,
    /// Shortest remaining first, whatever the deadlines; equal ones in the order of their numbers.
    Sjf,
    /// Earliest deadline first, and the shortest remaining of those with the same deadline or none; equal ones in the
    /// order of their numbers.
    #[default]
    EdfSjf,
}

/// Which flows wait after one was accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Damped {
    /// Those that are less critical: a more critical one is accepted beside it, and both send for a round trip.
    #[default]
    LessCritical,
    /// Those only that this switch has paused before (Aequitas): flows that begin are accepted beside each other.
    Paused,
    /// All that do not send, those too that begin. Flows that begin together ask together: one of them is accepted in a
    /// round trip, in the order in which they ask, whatever their criticality, so that many of them end hardly sooner
    /// than if they shared.
    All,
}

impl Damped {
    /// Not written out then.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_default(&self) -> bool {
        *self == Damped::default()
    }
}

/// Which round trip of a flow Early Start counts in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EarlyStartRtt {
    /// The one that its packets tell, which is measured and has in it what they waited: where queues are long more
    /// flows count as nearly complete, and queues grow by them.
    #[default]
    Measured,
    /// The least that it has told this link: what is left of it is compared with a way on which nothing waits.
    Least,
}

impl EarlyStartRtt {
    /// Not written out then.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_default(&self) -> bool {
        *self == EarlyStartRtt::default()
    }
}

/// How PDQ behaves at switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which flows are more critical: `"edf"`, `"sjf"` or `"edf-sjf"`. Of equally critical flows the one with the lower
    /// number comes first, as the paper's comparator breaks ties by the id of the flow (from memory: its text could not
    /// be read); `run.ties` does not decide it.
    pub comparator: Comparator,
    /// K of Early Start: flows that are complete in fewer round trips than this, so many round trips together, are
    /// taken for complete (paper: 2). Zero switches it off.
    pub early_start: f64,
    /// In which round trips that counts: `"measured"`, or `"least"` for one without queueing. The accounts say no more
    /// than "RTT", and that the sender measures it.
    #[serde(skip_serializing_if = "EarlyStartRtt::is_default")]
    pub early_start_rtt: EarlyStartRtt,
    /// X of Suppressed Probing: a paused flow probes every so many round trips for each place in the list (paper: 0.2),
    /// and at most once in one. Zero switches it off.
    pub probing: f64,
    /// Dampening: for so many mean round trips after a flow that did not send was accepted, no other such flow is, of
    /// those that `damped` says. The paper says "a small period"; Aequitas has 10 us, but sets its clock once only;
    /// this is ours: longer ones make flows of a few packets wait, shorter ones queue more. Zero switches it off.
    pub damping: f64,
    /// Which flows wait then: `"less-critical"`, `"paused"` or `"all"`.
    #[serde(skip_serializing_if = "Damped::is_default")]
    pub damped: Damped,
    /// The rate controller gives flows this part of the link, less what drains the queue in two round trips.
    pub share: f64,
    /// A list has room for twice as many flows as send, and at least for so many (ours: an empty list has none that
    /// send).
    pub list_min: u32,
    /// M: most flows in a list; without it there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_max: Option<u32>,
    /// The round-trip time until a packet tells one.
    pub base_rtt: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            comparator: Comparator::EdfSjf,
            early_start: 2.0,
            early_start_rtt: EarlyStartRtt::Measured,
            probing: 0.2,
            damping: 0.25,
            damped: Damped::LessCritical,
            share: 1.0,
            list_min: 8,
            list_max: None,
            base_rtt: Span::from_us(200),
        }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "comparator = \"edf\", early_start = 0, probing = 0",
        "comparator = \"sjf\", damping = 1.0, share = 0.9, list_max = 4, list_min = 2",
        "damping = 0, list_min = 1, list_max = 1",
        "damped = \"all\", damping = 1",
        "damped = \"paused\", early_start_rtt = \"least\"",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::Agent);
        facts.provides(Thing::SwitchesOf("pdq"));
        facts.needs(Thing::Headers);
        facts.needs(Thing::HostsOf("pdq"));
        facts.needs(Thing::SymmetricWays);
        if self.comparator == Comparator::Edf {
            facts.idle_without(Thing::Deadlines, "flows are served in the order of their numbers");
        }
    }
}

/// The PDQ of one switch.
#[derive(Debug)]
pub struct Model {
    config: Config,
    /// The number of the switch, by which it names itself in packets.
    switch: u32,
    /// By port; those that no flow has passed have none.
    links: Vec<Option<Box<Link>>>,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, context: &SwitchContext) -> Result<Model, Invalid> {
        let Config { early_start, probing, damping, share, list_min, list_max, .. } = *config;
        for (key, value) in [("early_start", early_start), ("probing", probing), ("damping", damping)] {
            if !(0.0..=1000.0).contains(&value) {
                return Err(Invalid::new(key, format!("{value} is no number of round trips"))
                    .help("expected a number from 0, which switches it off, to 1000"));
            }
        }
        if !(share > 0.0 && share <= 1.0) {
            return Err(
                Invalid::new("share", format!("{share} is no part of a link")).help("expected more than 0, up to 1")
            );
        }
        if list_min == 0 {
            return Err(Invalid::new("list_min", "a list without room schedules nothing").help("expected at least 1"));
        }
        if list_max.is_some_and(|most| most < list_min) {
            return Err(Invalid::new("list_max", format!("it is less than `list_min`, {list_min}"))
                .help(format!("expected at least {list_min}")));
        }
        if config.base_rtt == Span::ZERO {
            return Err(Invalid::new("base_rtt", "no packet comes back in no time").help("expected such as \"200us\""));
        }
        let links = context.ports.iter().map(|_| None).collect();
        Ok(Model { config: config.clone(), switch: context.switch.0, links })
    }

    fn heap_bytes(&self) -> usize {
        let of_links = self.links.iter().flatten().map(|link| size_of::<Link>() + link.heap_bytes());
        self.links.capacity() * size_of::<Option<Box<Link>>>() + of_links.sum::<usize>()
    }
}

impl Agent for Model {
    fn is_on(&self) -> bool {
        true
    }

    /// At the link on which the flow goes out, in both directions.
    fn looks_at(&self, direction: Direction) -> Looks {
        if direction == Direction::Forward { Looks::Egress } else { Looks::Ingress }
    }

    fn on_forward(&mut self, now: Instant, packet: &mut Packet, header: &mut Header, crossing: Crossing) {
        let port = crossing.egress();
        let link = self.links[port.port as usize].get_or_insert_with(|| Box::new(Link::new(port.rate)));
        let key = (packet.flow, packet.connection);
        header
            .update(|fields: &mut PdqFields| link.on_forward(&self.config, now, self.switch, key, fields, port.queue));
    }

    fn on_reverse(&mut self, _: Instant, packet: &mut Packet, header: &mut Header, crossing: Crossing) {
        if let Some(link) = &mut self.links[crossing.ingress().port as usize] {
            let key = (packet.flow, packet.connection);
            header.update(|fields: &mut PdqFields| link.on_reverse(&self.config, self.switch, key, fields));
        }
    }
}
