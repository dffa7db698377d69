//! The tail loss probe (RFC 8985, section 7): when nothing was acknowledged for two round-trip times, one segment is
//! sent, a new one or the last one again, so that its ACK shows what is lost before the timeout.

use super::timer::{self, Pending};
use super::{LEAST_WAIT, Linux, Sender, State, arm, micros_of};
use tailcut_base::Instant;

/// A probe in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    /// One past the last segment when it was sent; `None` if none is in flight.
    pub(super) end: Option<u64>,
    /// Whether it was a retransmission.
    is_retransmission: bool,
}

/// Facts of an ACK that concern the probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// It reports the probe as a duplicate.
    pub(super) is_duplicate: bool,
    /// It says nothing new at all.
    pub(super) is_bare: bool,
}

impl Probe {
    /// The next flow of the connection begins, whose segments count from 0: any of its ACKs is beyond a probe in
    /// flight.
    pub(super) fn begin_flow(&mut self) {
        self.end = self.end.map(|_| 0);
    }

    pub(super) fn is_retransmission_in_flight(&self) -> bool {
        self.end.is_some() && self.is_retransmission
    }
}

impl Linux {
    /// Starts the timer for a probe, if one may be sent. `progress` says whether the timeout counts from now.
    pub(super) fn schedule_probe(&mut self, flow: &mut Sender, now: Instant, progress: bool) -> bool {
        let may = self.config.tail_loss_probe && matches!(self.state, State::Open | State::Reduced);
        if !may || self.board.outstanding() == 0 {
            return false;
        }
        let wait = match self.rtt.two_round_trips() {
            None => super::FIRST_TIMEOUT,
            // A lone segment may be acknowledged late.
            Some(wait) if self.board.outstanding() == 1 => wait + micros_of(flow.min_rto()),
            Some(wait) => wait + LEAST_WAIT,
        };
        let wait = timer::in_ticks(self.clock, wait);
        let rest = if progress { self.timeout_or_first() as i64 } else { self.time_to_timeout(now) };
        let wait = if rest > 0 { wait.min(timer::in_ticks(self.clock, rest as u64)) } else { wait };
        arm(self, flow, now, Pending::Probe, wait);
        true
    }

    /// The timer for a probe has fired.
    pub(super) fn send_probe(&mut self, flow: &mut Sender, now: Instant) {
        if self.probe.end.is_none() {
            let before = self.board.outstanding();
            let may_send_new = flow.allows_new(self.board.outstanding());
            let mut is_sent = false;
            if may_send_new {
                self.send_new(flow, now, 1, true);
                is_sent = self.board.outstanding() > before;
            } else if let Some(last) = self.board.last()
                && !self.board.get(last).is_queued
            {
                self.send_again(flow, now, last, false);
                is_sent = true;
            }
            if is_sent {
                self.probe = Probe { end: Some(self.board.end()), is_retransmission: !may_send_new };
                // The timeout counts from the probe.
                self.pending = Pending::Nothing;
            }
        }
        self.restart_timeout(flow, now);
    }

    /// An ACK for everything before segment `ack` arrived while a probe is in flight: a loss that the probe has
    /// repaired reduces the window like any other (RFC 8985, section 7.4).
    pub(super) fn on_ack_of_probe(&mut self, flow: &mut Sender, now: Instant, ack: u64, answer: Answer) {
        let Some(end) = self.probe.end.filter(|&end| ack >= end) else { return };
        if !self.probe.is_retransmission || answer.is_duplicate {
            self.probe.end = None;
        } else if ack > end {
            let target = self.target_after_probe(flow, now);
            self.begin_reduction(flow, target);
            self.state = State::Reduced;
            self.end_reduction();
            self.stay_open();
        } else if answer.is_bare {
            self.probe.end = None;
        }
    }
}
