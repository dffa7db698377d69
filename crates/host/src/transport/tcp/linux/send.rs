//! Sending: what the window allows is handed to the interface at once; and the timers that this starts.

use tailcut_base::{Instant, MSS_BYTES};

use super::rtt::micros;
use super::timer::{self, Pending};
use super::{FIRST_TIMEOUT, Linux, Queued, Resend, Sender, arm};

impl Linux {
    /// Hands up to `budget` segments to the interface: lost ones as far as the last ACK allows it, then new ones.
    pub(in crate::transport::tcp) fn transmit(&mut self, flow: &mut Sender, now: Instant, budget: usize) {
        let most = self.queue.len() + budget;
        match self.take_resend() {
            Resend::Nothing => {}
            Resend::Lost => self.send_lost(flow, now, most),
            Resend::NewFirst => {
                self.send_new(flow, now, budget, false);
                if self.board.end() <= self.high {
                    self.may_be_spurious = false;
                    self.send_lost(flow, now, most);
                }
            }
        }
        self.send_new(flow, now, most.saturating_sub(self.queue.len()), false);
    }

    /// Segments that wait for the interface.
    pub(in crate::transport::tcp) fn queued(&self) -> u32 {
        self.queue.len() as u32
    }

    /// Segments that could be handed to the interface now.
    pub(in crate::transport::tcp) fn sendable(&self, flow: &Sender) -> u64 {
        let room = self.cwnd.saturating_sub(self.board.in_flight());
        let again = if self.resend == Resend::Nothing { 0 } else { u64::from(self.board.waiting()) };
        let new = flow.new_allowed(self.board.outstanding());
        u64::from(room).min(again + new)
    }

    /// Takes the next segment that waits for the interface.
    pub(in crate::transport::tcp) fn take_queued(&mut self) -> Option<Queued> {
        let queued = self.queue.pop_front()?;
        self.board.left(queued.number);
        Some(queued)
    }

    /// The segment that leaves next, if one waits.
    pub(in crate::transport::tcp) fn front(&self) -> Option<(u64, u8)> {
        self.queue.front().map(|queued| (queued.number, queued.priority.class))
    }

    fn send_lost(&mut self, flow: &mut Sender, now: Instant, most: usize) {
        let head = self.board.first();
        let mut restarts = false;
        while self.queue.len() < most && self.board.in_flight() < self.cwnd && self.board.waiting() > 0 {
            let Some(number) = self.board.next_lost() else { break };
            if self.board.get(number).is_queued {
                break;
            }
            self.send_again(flow, now, number, true);
            if self.state.reduces() {
                self.reduction.sent += 1;
            }
            restarts |= number == head && self.pending != Pending::Reordering;
        }
        if self.board.waiting() > 0 && self.queue.len() >= most {
            // A pacer holds the rest back.
            self.resend = Resend::Lost;
        }
        if restarts {
            let timeout = self.timeout_or_first();
            arm(self, flow, now, Pending::Timeout, timeout);
        }
    }

    /// Sends a segment again. `counts` says whether the retransmission counts as in flight.
    pub(super) fn send_again(&mut self, flow: &mut Sender, now: Instant, number: u64, counts: bool) {
        self.board.resend(number, micros(now), self.delivered, counts);
        self.retransmissions += 1;
        if counts {
            self.has_resent = true;
            self.undo.unreported = self.undo.unreported.max(0) + 1;
        }
        let priority = flow.priority_of(number * MSS_BYTES, self.sacked());
        self.queue.push_back(Queued { number, is_retransmission: true, cwr: false, priority });
        self.last_sent = micros(now);
    }

    /// Hands up to `budget` new segments to the interface, as the window allows; a probe goes beyond the window.
    pub(super) fn send_new(&mut self, flow: &mut Sender, now: Instant, budget: usize, is_probe: bool) {
        if !flow.allows_new(self.board.outstanding()) {
            return;
        }
        let mut sent = 0;
        while sent < budget
            && flow.allows_new(self.board.outstanding())
            && (self.board.in_flight() < self.cwnd || is_probe)
        {
            let number = self.board.end();
            let (priority, cwr) = flow.begin_segment(self.sacked());
            let was_idle = self.board.outstanding() == 0;
            self.board.push(micros(now), self.delivered);
            self.queue.push_back(Queued { number, is_retransmission: false, cwr, priority });
            self.last_sent = micros(now);
            if was_idle || self.pending == Pending::Probe {
                self.restart_timeout(flow, now);
            }
            sent += 1;
        }
        let is_limited = self.board.in_flight() >= self.cwnd;
        if sent > 0 || is_limited {
            self.usage.on_send(self.board.first(), self.board.end(), self.board.outstanding(), is_limited);
        }
        if sent > 0 {
            if self.state.reduces() {
                self.reduction.sent += sent as u32;
            }
            if !is_probe {
                self.schedule_probe(flow, now, false);
            }
        }
    }

    /// The timeout with its backoff.
    pub(super) fn timeout_or_first(&self) -> u64 {
        self.timeout.unwrap_or(FIRST_TIMEOUT)
    }

    /// Microseconds until the timeout, counted from the last transmission of the first outstanding segment; may be
    /// negative.
    pub(super) fn time_to_timeout(&self, now: Instant) -> i64 {
        let sent = self.board.head().map_or(0, |head| head.sent);
        (sent + self.timeout_or_first()) as i64 - micros(now) as i64
    }

    /// Starts the timer for the timeout, or stops it if nothing is outstanding. What a probe or a reordering window has
    /// taken counts.
    pub(super) fn restart_timeout(&mut self, flow: &mut Sender, now: Instant) {
        if self.board.outstanding() == 0 {
            self.pending = Pending::Nothing;
            flow.set_deadline(Instant::MAX);
            return;
        }
        let wait = match self.pending {
            Pending::Reordering | Pending::Probe => self.time_to_timeout(now).max(1) as u64,
            Pending::Nothing | Pending::Timeout => self.timeout_or_first(),
        };
        arm(self, flow, now, Pending::Timeout, timer::in_ticks(self.clock, wait));
    }
}
