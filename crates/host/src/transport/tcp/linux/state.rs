//! The states of congestion: which ACK begins and ends a reduction, a recovery, or the repair after a timeout.

use tailcut_base::Instant;
use tailcut_model::seat::CongestionControl;

use super::ack::News;
use super::prr::{Progress, Reduction};
use super::rack::Surroundings;
use super::rtt::micros;
use super::timer::Pending;
use super::{LEAST_WAIT, Linux, Resend, Sender, State, UNLIMITED, arm};

impl Linux {
    /// An ACK came that is not the usual one, or the state is not Open. `una` was the first outstanding segment before.
    pub(super) fn alert(&mut self, flow: &mut Sender, now: Instant, news: &mut News, una: u64) {
        if news.ece {
            self.undo.prior_ssthresh = 0;
        }
        if self.state == State::Open {
            self.has_resent = false;
        } else if self.ends_now() {
            match self.state {
                State::Reduced => {
                    self.end_reduction();
                    self.state = State::Open;
                }
                State::Recovery => {
                    self.end_recovery(flow);
                    self.end_reduction();
                }
                _ => {}
            }
        }
        match self.state {
            State::Recovery => {
                let mut counts_above = news.is_bare() || (news.sacked && self.is_far_above());
                if news.advanced && self.undo.from.is_some() && !self.has_resent {
                    // The hole was filled by a late segment and not by a retransmission.
                    self.note_reordering(una, self.board.sacked_end());
                    if self.board.resent() > 0 {
                        return;
                    }
                    self.restore_window(flow, true);
                    self.stay_open();
                } else if news.advanced {
                    counts_above = self.is_far_above();
                }
                if self.undo_by_duplicates(flow) {
                    self.try_open(flow, news);
                }
                self.infer_losses(flow, now, news);
                if self.state != State::Recovery {
                    if !self.must_recover() {
                        return;
                    }
                    self.enter_recovery(flow, now, news.ece);
                }
                self.count_losses(counts_above, false);
            }
            State::Loss => {
                self.go_on_after_timeout(flow, news);
                self.infer_losses(flow, now, news);
                if self.state != State::Open && !news.lost_retransmission {
                    return;
                }
                self.decide(flow, now, news);
            }
            _ => {
                if self.state <= State::Disorder {
                    self.undo_by_duplicates(flow);
                }
                self.infer_losses(flow, now, news);
                self.decide(flow, now, news);
            }
        }
    }

    /// Whether what is acknowledged ends the state, so that this ACK is judged as in the Open state.
    pub(super) fn ends_now(&self) -> bool {
        let first = self.board.first();
        match self.state {
            State::Open | State::Disorder => false,
            // The mark that says so must have arrived: something beyond is acknowledged.
            State::Reduced => first > self.high,
            State::Recovery | State::Loss => first >= self.high,
        }
    }

    /// Whether a segment is known to be lost, or without RACK enough SACKed ones say so.
    fn must_recover(&self) -> bool {
        self.board.lost() > 0 || (!self.config.rack && self.board.sacked() >= self.reordering)
    }

    /// Begins a recovery if a segment is known to be lost.
    fn decide(&mut self, flow: &mut Sender, now: Instant, news: &News) {
        if !self.must_recover() {
            self.try_open(flow, news);
            return;
        }
        self.enter_recovery(flow, now, news.ece);
        self.count_losses(news.is_bare() || (news.sacked && self.is_far_above()), true);
        self.resend = Resend::Lost;
    }

    /// Whether something is SACKed further above the first outstanding segment than reordering explains.
    fn is_far_above(&self) -> bool {
        self.board.sacked_end() > self.board.first() + u64::from(self.reordering)
    }

    /// Without RACK: segments with enough SACKed ones above them are lost (RFC 6675), and the first one when a recovery
    /// begins.
    fn count_losses(&mut self, counts_above: bool, begins: bool) {
        if self.state != State::Recovery {
            return;
        }
        self.resend = Resend::Lost;
        if self.config.rack || !(counts_above || begins) {
            return;
        }
        if self.board.sacked() >= self.reordering {
            for number in self.board.below_sacked(self.reordering) {
                self.lose_once(number);
            }
        } else if begins {
            self.lose_once(self.board.first());
        }
    }

    /// Marks a segment as lost whose retransmission is not in flight: counting says nothing of that one.
    fn lose_once(&mut self, number: u64) {
        if !self.board.get(number).is_lost {
            self.lost += u64::from(self.board.lose(number));
        }
    }

    /// RACK's inference, and its timer for what may only be late.
    fn infer_losses(&mut self, flow: &mut Sender, now: Instant, news: &mut News) {
        if self.board.outstanding() == 0 || !self.config.rack || !self.rack.is_due {
            return;
        }
        let resent = self.board.resent();
        let (lost, wait) = self.detect(now);
        self.lost += u64::from(lost);
        if wait > 0 {
            let most = self.timeout_or_first();
            arm(self, flow, now, Pending::Reordering, (wait + LEAST_WAIT).min(most));
            news.restarts_timer = false;
        }
        news.lost_retransmission |= self.board.resent() < resent;
    }

    fn detect(&mut self, now: Instant) -> (u32, u64) {
        let around = Surroundings {
            recovers: self.state >= State::Recovery,
            many_sacked: self.board.sacked() >= self.reordering,
            min_rtt: self.rtt.min_rtt,
            srtt: self.rtt.srtt().unwrap_or(0),
        };
        self.rack.detect(&mut self.board, micros(now), around)
    }

    /// The reordering window is over: what has not arrived is lost.
    pub(super) fn on_reordering_timer(&mut self, flow: &mut Sender, now: Instant) {
        let in_flight = self.board.in_flight();
        let (lost, _) = self.detect(now);
        self.lost += u64::from(lost);
        if in_flight != self.board.in_flight() {
            if self.state != State::Recovery {
                self.enter_recovery(flow, now, false);
                self.reduce(Progress { delivered: 1, lost, advanced: false });
            }
            self.resend = Resend::Lost;
        }
        if self.pending != Pending::Timeout {
            self.restart_timeout(flow, now);
        }
    }

    /// Opens the connection again, or keeps it in disorder; marks reduce the window.
    fn try_open(&mut self, flow: &mut Sender, news: &News) {
        if !self.has_any_resent() {
            self.has_resent = false;
        }
        if news.ece
            && let Some(target) = self.cut_to
            && self.state < State::Reduced
        {
            self.undo.prior_ssthresh = 0;
            self.undo.from = None;
            self.begin_reduction(flow, target);
            self.state = State::Reduced;
        }
        if self.state != State::Reduced {
            self.stay_open();
        }
    }

    fn has_any_resent(&self) -> bool {
        self.board.resent() > 0 || self.board.head().is_some_and(|head| head.was_resent)
    }

    /// Open, or Disorder while something is SACKed, lost or was sent again.
    pub(super) fn stay_open(&mut self) {
        let is_disordered = self.board.sacked() + self.board.lost() > 0 || self.has_any_resent();
        let state = if is_disordered { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.high = self.board.end();
        }
    }

    /// Begins to reduce the window to `target`.
    pub(super) fn begin_reduction(&mut self, flow: &mut Sender, target: u32) {
        self.high = self.board.end();
        self.probe.end = None;
        self.forget_parts();
        self.undo.prior_cwnd = self.cwnd;
        self.reduction = Reduction::begin(self.cwnd);
        self.ssthresh = target;
        flow.say_window_was_cut();
    }

    /// An ACK arrived while the window is being reduced.
    pub(super) fn reduce(&mut self, progress: Progress) {
        let in_flight = self.board.in_flight();
        if !self.config.prr {
            let forced = u32::from(self.reduction.sent == 0);
            self.cwnd = self.ssthresh.max(in_flight.min(self.ssthresh) + forced);
        } else if let Some(cwnd) = self.reduction.on_ack(progress, in_flight, self.ssthresh) {
            self.cwnd = cwnd;
        }
    }

    /// The reduction is complete, unless it was taken back.
    pub(super) fn end_reduction(&mut self) {
        if self.ssthresh < UNLIMITED && (self.state == State::Reduced || self.undo.from.is_some()) {
            self.cwnd = self.ssthresh;
        }
    }

    fn enter_recovery(&mut self, flow: &mut Sender, now: Instant, ece: bool) {
        if !self.has_any_resent() {
            self.has_resent = false;
        }
        self.undo.prior_ssthresh = 0;
        self.begin_undo();
        if !self.state.reduces() {
            if !ece {
                self.undo.prior_ssthresh = self.present_ssthresh();
            }
            let target = self.target_after_loss(flow, now);
            self.begin_reduction(flow, target);
        } else if self.state == State::Reduced && flow.congestion().ecn_capable() {
            // Marks have begun a reduction; the loss asks for its own (RFC 8257, section 3.5).
            self.ssthresh = self.target_after_loss(flow, now);
        }
        self.state = State::Recovery;
    }

    /// All that was outstanding when the recovery began is acknowledged.
    fn end_recovery(&mut self, flow: &mut Sender) {
        if self.may_undo() {
            self.restore_window(flow, false);
        } else {
            self.rack.recovered();
        }
        self.state = State::Open;
    }

    /// An ACK after a timeout: F-RTO with SACK (RFC 5682, section 3).
    fn go_on_after_timeout(&mut self, flow: &mut Sender, news: &News) {
        let is_over = self.board.first() >= self.high;
        if news.advanced && self.may_undo() {
            self.undo_timeout(flow);
            return;
        }
        if self.may_be_spurious {
            if news.original {
                self.undo_timeout(flow);
                return;
            }
            if self.board.end() > self.high {
                if news.sacked || news.is_bare() {
                    self.may_be_spurious = false;
                }
            } else if news.advanced && !is_over {
                self.high = self.board.end();
                if flow.allows_new(self.board.outstanding()) {
                    self.resend = Resend::NewFirst;
                    return;
                }
                self.may_be_spurious = false;
            }
        }
        if is_over {
            self.end_recovery(flow);
            return;
        }
        self.resend = Resend::Lost;
    }

    fn undo_timeout(&mut self, flow: &mut Sender) {
        self.restore_window(flow, true);
        self.timeouts = 0;
        self.state = State::Open;
    }

    /// The retransmission timer has fired: what is overdue is lost.
    pub(super) fn on_timeout(&mut self, flow: &mut Sender, now: Instant) {
        let is_new = self.state < State::Recovery;
        let micros = micros(now);
        let first = self.board.first();
        for number in first..self.board.end() {
            let is_late =
                number == first || !self.config.rack || self.rack.remaining(self.board.get(number), micros, 0) <= 0;
            if is_late {
                self.lost += u64::from(self.board.lose(number));
            }
        }
        let is_first = self.state == State::Loss && self.timeouts == 0;
        if self.state <= State::Disorder || self.high <= first || is_first {
            self.undo.prior_ssthresh = self.present_ssthresh();
            self.undo.prior_cwnd = self.cwnd;
            self.ssthresh = self.threshold_after_timeout(flow, now);
            self.begin_undo();
        }
        self.cwnd = self.board.in_flight() + 1;
        self.forget_parts();
        if self.state <= State::Disorder && self.board.sacked() >= self.usual_reordering {
            self.reordering = self.reordering.min(self.usual_reordering);
        }
        self.state = State::Loss;
        self.high = self.board.end();
        self.probe.end = None;
        flow.say_window_was_cut();
        self.may_be_spurious = self.config.f_rto && (is_new || self.timeouts > 0);
        self.timeouts += 1;
        self.pending = Pending::Nothing;
        if !self.board.get(first).is_queued {
            self.send_again(flow, now, first, true);
        }
        let most = super::micros_of(flow.max_rto());
        let timeout = (2 * self.timeout_or_first()).min(most);
        self.timeout = Some(timeout);
        arm(self, flow, now, Pending::Timeout, timeout);
    }
}
