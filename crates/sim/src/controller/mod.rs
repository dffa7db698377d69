//! A controller: one process for the whole network, to which hosts and it send messages.
//!
//! A message takes a fixed time each way, which is also how far ahead the parts of the network may run without a look
//! at the controller: nothing that a host tells it can come back sooner. It runs between two rounds, so that what it
//! does is the same however many threads there are.

use std::sync::Arc;

use tailcut_base::{HostId, Instant, Seeds, Span};
use tailcut_model::seat::{Answer, Controller, ControllerCounts, ControllerCx, Message};
use tailcut_model::{FlowId, register};
use tailcut_topology::Network;

register! {
    /// What decides for the whole network, and is told by messages.
    config ControllerConfig, seat "controller";
    /// The controller of a run.
    model ControllerSeat, dispatch match_controller, build(ControllerContext), custom dyn Controller;
    /// None.
    Off in off,
    /// Stop and go for large flows, each on a way of its own at line rate: HyLine's MAN.
    Hyline in hyline,
}

/// What a controller knows when it is made.
#[derive(Clone, Debug)]
pub struct ControllerContext {
    /// The network, with every link up.
    pub network: Arc<Network>,
    /// The root of all draws of the run.
    pub seeds: Seeds,
}

impl Controller for ControllerSeat {
    fn delay(&self) -> Option<Span> {
        match_controller!(self, model => model.delay())
    }
    fn counts(&self) -> Option<ControllerCounts> {
        match_controller!(self, model => model.counts())
    }
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: HostId, flow: FlowId, message: Message) {
        match_controller!(self, model => model.on_message(cx, from, flow, message));
    }
    fn timer(&self) -> Option<Instant> {
        match_controller!(self, model => model.timer())
    }
    fn on_timer(&mut self, cx: &mut ControllerCx<'_>) {
        match_controller!(self, model => model.on_timer(cx));
    }
}

/// A message from a host, on its way to the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    /// When the host sent it.
    pub(crate) at: Instant,
    pub(crate) from: HostId,
    pub(crate) flow: FlowId,
    pub(crate) message: Message,
}

/// The controller of a run, and what is on its way to it.
pub(crate) struct Control {
    seat: ControllerSeat,
    delay: Span,
    /// With the time at which each is there, the latest first.
    inbox: Vec<(Instant, Told)>,
    answers: Vec<Answer>,
}

impl Control {
    /// `None` if there is no controller.
    pub(crate) fn new(seat: ControllerSeat) -> Option<Control> {
        let delay = seat.delay()?;
        Some(Control { seat, delay, inbox: Vec::new(), answers: Vec::new() })
    }

    /// How long a message takes.
    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    /// What it has counted, if it counts anything.
    pub(crate) fn counts(&self) -> Option<ControllerCounts> {
        self.seat.counts()
    }

    /// When it has something to do next.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.inbox.last().map(|(at, _)| *at).into_iter().chain(self.seat.timer()).min()
    }

    /// Takes in what hosts have sent. Messages of one host are in the order in which it sent them.
    pub(crate) fn take(&mut self, told: impl Iterator<Item = Told>) {
        self.inbox.reverse();
        self.inbox.extend(told.map(|told| (told.at + self.delay, told)));
        // What comes at the same moment is taken by the numbers of the hosts: so it does not matter where they are.
        self.inbox.sort_by_key(|(at, told)| (*at, told.from));
        self.inbox.reverse();
    }

    /// Does what is due before `horizon`. Returns the answers, each with the time at which it is at its host.
    pub(crate) fn run_until(&mut self, horizon: Instant) -> impl Iterator<Item = Answer> {
        while let Some(now) = self.next().filter(|&at| at < horizon) {
            let first = self.answers.len();
            let mut cx = ControllerCx { now, answers: &mut self.answers };
            // A message before a timer of the same moment.
            if let Some((_, told)) = self.inbox.pop_if(|(at, _)| *at == now) {
                self.seat.on_message(&mut cx, told.from, told.flow, told.message);
            } else {
                self.seat.on_timer(&mut cx);
            }
            self.answers[first..].iter_mut().for_each(|answer| answer.at = answer.at + self.delay);
        }
        self.answers.drain(..)
    }
}
