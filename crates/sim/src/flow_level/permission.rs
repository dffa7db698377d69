//! Flows that a controller lets go and stops: the second class of HyLine (Abbasloo, Xu, Chao, HyLine: a Simple and
//! Practical Flow Scheduling for Commodity Datacenters, section IV), by the manager that decides with packets too.
//!
//! A large flow asks when it starts, and is a fluid from when it hears that it may send until it hears that it may not.
//! Messages take as long as with packets. Flows that may send at a time have links with room for all of them, so that
//! each has the rate of its host less what small flows take, which go first. A flow that opens a connection does so
//! when it is let go for the first time.

use std::collections::BTreeMap;

use tailcut_base::{HostId, Instant, MSS_BYTES, MTU_BYTES, Span, wire_bytes};
use tailcut_flow::Place;
use tailcut_host::transport::hyline::End;
use tailcut_model::seat::{Answer, ControllerCounts, Message, PermissionReport};
use tailcut_model::{FlowId, FlowSpec, Way};

use super::scheme::{self, FluidScheme, deadline};
use super::{Entering, Run};
use crate::Scenario;
use crate::controller::{Control, Told};

/// Where a large flow stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It was never let go.
    Asking,
    /// It may send, and does since then, or will.
    Going(Instant),
    /// It may not send since then.
    Stopped(Instant),
}

/// A large flow that has not ended.
pub(super) struct Large {
    spec: FlowSpec,
    flow: FlowId,
    /// What opening its connection takes.
    opens: Span,
    state: State,
    /// Where it is among the fluids, once it has entered.
    place: Option<Place>,
    /// Whether the controller wants to hear what is left.
    tells: bool,
    /// For how long it has been let go.
    pub(super) went: Span,
    pub(super) report: PermissionReport,
}

/// The controller, and the flows that ask it.
pub(super) struct Permissions {
    control: Control,
    rules: scheme::Permission,
    large: BTreeMap<u32, Large>,
    /// Answers on their way, by when they are at their hosts, and in the order in which they were given.
    answers: BTreeMap<(Instant, u64), Answer>,
    answered: u64,
}

impl Permissions {
    /// `None` where nobody asks.
    pub(super) fn new(scenario: &Scenario, scheme: &FluidScheme) -> Option<Permissions> {
        let rules = scheme.permission?;
        let control = scenario.controller()?;
        Some(Permissions { control, rules, large: BTreeMap::new(), answers: BTreeMap::new(), answered: 0 })
    }

    /// Whether a flow of so many payload bytes has to ask.
    pub(super) fn are_for(&self, size: u64) -> bool {
        size > self.rules.above
    }

    pub(super) fn counts(&self) -> Option<ControllerCounts> {
        self.control.counts()
    }

    /// A flow is among the fluids now.
    pub(super) fn entered(&mut self, flow: u32, place: Place, at: Instant) {
        if let Some(large) = self.large.get_mut(&flow) {
            (large.place, large.state) = (Some(place), State::Going(at));
        }
    }

    /// Links have carried all of a flow; `None` if it was none that asks.
    pub(super) fn end(&mut self, flow: u32, at: Instant) -> Option<Large> {
        let mut large = self.large.remove(&flow)?;
        if let State::Going(since) = large.state {
            large.went += at.saturating_since(since);
        }
        Some(large)
    }

    /// The host of a flow tells that it is finished: when its last byte was sent, or when it was acknowledged.
    pub(super) fn tell_end(&mut self, large: &Large, sent: Instant, acknowledged: Instant) {
        let at = match self.rules.end {
            End::Sent => sent,
            End::Acknowledged => acknowledged,
        };
        self.tell(at, large.spec.src, large.flow, tailcut_model::Permission::End.message());
    }

    fn tell(&mut self, at: Instant, from: HostId, flow: FlowId, message: Message) {
        self.control.take(std::iter::once(Told { at, from, flow, message }));
    }
}

impl Run<'_> {
    /// When something happens that has to do with permissions: where there are any, every end of a flow does.
    pub(super) fn next_permission(&mut self) -> Option<Instant> {
        let permissions = self.permissions.as_ref()?;
        let answer = permissions.answers.first_key_value().map(|((at, _), _)| *at);
        answer.into_iter().chain(permissions.control.next()).chain(self.fluids.next_event()).min()
    }

    /// A large flow asks, and waits.
    pub(super) fn ask(&mut self, flow: u32, spec: FlowSpec, header_rtt: Span) {
        let handshakes = self.scheme.costs_of(spec.size).handshakes;
        let permissions = self.permissions.as_mut().expect("it has to ask");
        let request = tailcut_model::Permission::Request { to: spec.dst, size: spec.size };
        permissions.tell(spec.start, spec.src, FlowId(flow), request.message());
        let large = Large {
            flow: FlowId(flow),
            opens: header_rtt * u64::from(handshakes),
            state: State::Asking,
            place: None,
            tells: false,
            went: Span::ZERO,
            report: PermissionReport::default(),
            spec,
        };
        permissions.large.insert(flow, large);
    }

    /// The controller decides what is due at `now`, and hosts do what it has told them.
    pub(super) fn heed(&mut self, now: Instant) {
        if self.permissions.is_none() {
            return;
        }
        self.tell_what_is_left(now);
        let Some(permissions) = &mut self.permissions else { return };
        for answer in permissions.control.run_until(now + Span::from_ps(1)) {
            permissions.answers.insert((answer.at, permissions.answered), answer);
            permissions.answered += 1;
        }
        while let Some(entry) = self.permissions.as_mut().and_then(|permissions| permissions.answers.first_entry())
            && entry.key().0 == now
        {
            let answer = entry.remove();
            match tailcut_model::Permission::of(answer.message) {
                Some(tailcut_model::Permission::Go { way, tells }) => self.go(now, answer.flow, way, tells),
                Some(tailcut_model::Permission::Stop) => self.stop(now, answer.flow),
                other => unreachable!("no controller says {other:?}"),
            }
        }
    }

    /// A flow is let go.
    fn go(&mut self, now: Instant, flow: FlowId, way: Way, tells: bool) {
        let Some(large) = self.permissions.as_mut().and_then(|permissions| permissions.large.get_mut(&flow.0)) else {
            return;
        };
        large.tells = tells;
        let mut hops = Vec::new();
        let spec = FlowSpec { connection: way.connection(), ..large.spec.clone() };
        self.ways.of(flow, &spec, &mut hops);
        match large.state {
            State::Asking => large.report.waited = now.saturating_since(spec.start),
            State::Stopped(since) => large.report.stopped += now.saturating_since(since),
            State::Going(_) => return,
        }
        // If it was stopped while its connection opened, the connection is taken to be open by now.
        let at = if large.state == State::Asking { now + large.opens } else { now };
        large.state = State::Going(at);
        if let Some(place) = large.place {
            return self.fluids.go(now, place, &hops);
        }
        let bits = wire_bytes(spec.size) as f64 * 8.0;
        let deadline = deadline(spec.start, spec.deadline);
        self.enter_at(now, Entering { flow: flow.0, at, bits, hops, deadline, resume: Span::ZERO });
    }

    /// A flow is stopped; one that has asked is told to wait.
    fn stop(&mut self, now: Instant, flow: FlowId) {
        let Some(large) = self.permissions.as_mut().and_then(|permissions| permissions.large.get_mut(&flow.0)) else {
            return;
        };
        let State::Going(since) = large.state else { return };
        large.state = State::Stopped(now);
        large.report.preemptions += 1;
        large.went += now.saturating_since(since);
        match large.place {
            Some(place) => self.fluids.stop(now, place),
            // Its connection was opening.
            None => _ = self.held.remove(&flow.0),
        }
    }

    /// Before the controller does anything, the hosts of flows for which it wants to know what is left tell it: with
    /// packets they do at each ACK, and what it knows is as old as a message.
    fn tell_what_is_left(&mut self, now: Instant) {
        let Some(permissions) = &mut self.permissions else { return };
        if permissions.control.next().is_none_or(|next| next > now) {
            return;
        }
        let delay = permissions.control.delay();
        let going = permissions.large.values().filter(|large| large.tells && matches!(large.state, State::Going(_)));
        let mut told = Vec::new();
        for large in going {
            let Some(place) = large.place else { continue };
            let (left, rate) = self.fluids.of(now, place);
            let bytes = (left + rate * delay.as_secs_f64()) / 8.0 * MSS_BYTES as f64 / MTU_BYTES as f64;
            let message = tailcut_model::Permission::Left((bytes as u64).min(large.spec.size)).message();
            let at = Instant::from_ps(now.as_ps().saturating_sub(delay.as_ps()));
            told.push(Told { at, from: large.spec.src, flow: large.flow, message });
        }
        permissions.control.take(told.into_iter());
    }
}
