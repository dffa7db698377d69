//! Content of an ACK: the segments SACKed, acknowledged or reported as duplicates, and the round-trip times.

use std::ops::Range;

use tailcut_base::{Instant, MSS_BYTES};
use tailcut_model::{Flags, Header, Packet, SACK_BLOCKS, SackBlock};

use super::board::Segment;
use super::growth::Heard;
use super::prr::Progress;
use super::rtt::micros;
use super::{Linux, MOST_REORDERING, Resend, Sender, State, probe};

/// Content of one ACK.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    /// It acknowledged the first outstanding segment.
    pub(super) advanced: bool,
    /// It acknowledged less than an earlier one.
    is_old: bool,
    /// It carried ECN echo.
    pub(super) ece: bool,
    /// It SACKed something new.
    pub(super) sacked: bool,
    /// It reported a duplicate of a retransmission.
    pub(super) duplicate: bool,
    /// That duplicate was the tail loss probe.
    pub(super) duplicate_of_probe: bool,
    /// It delivered a segment, sent before the state began and never sent again.
    pub(super) original: bool,
    /// It acknowledged a segment that was sent again.
    resent: bool,
    /// The timer starts anew.
    pub(super) restarts_timer: bool,
    /// A retransmission was lost.
    pub(super) lost_retransmission: bool,
    /// When the earliest and the latest segment were sent that it delivered and that were never sent again, by
    /// cumulative ACK and by SACK.
    acked_sent: Option<(u64, u64)>,
    sacked_sent: Option<(u64, u64)>,
    /// Lowest segment that it delivered out of order although it was never sent again.
    reordered: Option<u64>,
    /// Segments that were delivered when the newest segment that it delivers was sent.
    prior_delivered: u64,
}

impl News {
    /// An ACK that acknowledges nothing new and reports no duplicate: a duplicate ACK.
    pub(super) fn is_bare(&self) -> bool {
        !self.advanced && !self.duplicate && !self.is_old
    }
}

/// The numbers of the segments that lie wholly in a block.
fn numbers(block: SackBlock, size: u64) -> Range<u64> {
    // The last segment of a flow may be short.
    let end = if block.end >= size { block.end.div_ceil(MSS_BYTES) } else { block.end / MSS_BYTES };
    block.start.div_ceil(MSS_BYTES)..end
}

impl Linux {
    /// An ACK arrived.
    pub(in crate::transport::tcp) fn on_ack(
        &mut self,
        flow: &mut Sender,
        at: Instant,
        packet: &Packet,
        header: Option<&Header>,
    ) {
        let now = micros(at);
        let ack = packet.seq.div_ceil(MSS_BYTES);
        let una = self.board.first();
        // The echo of an old ACK was said by a later one.
        let is_old = ack < una;
        let mut news = News { ece: packet.flags.has(Flags::ECE) && !is_old, is_old, ..News::default() };
        let was_sacked_to = self.board.sacked_end();
        let (delivered, lost) = (self.delivered, self.lost);
        if ack > una {
            news.advanced = true;
            self.timeouts = 0;
        }
        if packet.has_sack() {
            self.take_sack(flow, now, packet, ack, &mut news);
        }
        if is_old {
            // Only its SACK blocks count.
            if packet.has_sack() {
                self.alert(flow, at, &mut news, una);
            }
            return;
        }
        let is_outstanding = self.board.outstanding() > 0;
        if is_outstanding {
            self.acknowledge(flow, at, ack, was_sacked_to, &mut news);
            if self.config.rack {
                self.rack.adapt(news.prior_delivered, self.delivered);
            }
        }
        let newest = news.sacked_sent.or(news.acked_sent.filter(|_| !news.resent)).map(|(_, last)| now - last);
        let heard = Heard { ece: news.ece, delivered: self.delivered - delivered, rtt: newest, header };
        self.inform(flow, at, heard);
        let answer = probe::Answer { is_duplicate: news.duplicate_of_probe, is_bare: !news.advanced && !news.sacked };
        if !is_outstanding {
            // Nothing is left to be acknowledged: a report of a duplicate may still take a reduction back.
            if news.duplicate {
                self.alert(flow, at, &mut news, una);
            }
            self.on_ack_of_probe(flow, at, ack, answer);
            return;
        }
        self.on_ack_of_probe(flow, at, ack, answer);
        if !news.advanced || news.sacked || news.ece || news.duplicate || self.state != State::Open {
            self.alert(flow, at, &mut news, una);
        }
        if news.restarts_timer && !self.schedule_probe(flow, at, true) {
            self.restart_timeout(flow, at);
        }
        let delivered = u32::try_from(self.delivered - delivered).unwrap_or(u32::MAX);
        if self.state.reduces() {
            let lost = (self.lost - lost) as u32;
            self.reduce(Progress { delivered, lost, advanced: news.advanced });
        } else if news.advanced || (self.reordering > self.usual_reordering && news.sacked) {
            self.grow(flow, at, Heard { delivered: u64::from(delivered), ..heard });
        }
    }

    /// A segment was delivered that was not known to be.
    fn deliver(&mut self, now: u64, number: u64, segment: &Segment, news: &mut News) {
        self.delivered += 1;
        self.rack.delivered(number, segment, now, self.rtt.min_rtt);
        news.prior_delivered = news.prior_delivered.max(segment.delivered);
    }

    /// Takes the blocks of SACK.
    fn take_sack(&mut self, flow: &Sender, now: u64, packet: &Packet, ack: u64, news: &mut News) {
        if let Some(block) = packet.duplicate_sack() {
            self.take_duplicate(flow, block, ack, news);
        }
        // From the lowest up: of several blocks with news, the higher one has not arrived before the lower one.
        let mut above = packet.sack_above().map(|block| numbers(block, flow.size()));
        let mut blocks: [Range<u64>; SACK_BLOCKS] = std::array::from_fn(|_| above.next().unwrap_or_default());
        blocks.sort_unstable_by_key(|block| block.start);
        for block in blocks.into_iter().filter(|block| !block.is_empty()) {
            for number in self.board.unsacked(block.clone()) {
                let segment = *self.board.get(number);
                if segment.is_sacked {
                    continue;
                }
                let highest = self.board.sacked_end();
                self.board.sack(number);
                self.deliver(now, number, &segment, news);
                news.sacked = true;
                if segment.was_resent {
                    continue;
                }
                if number < highest {
                    news.reordered = Some(news.reordered.map_or(number, |lowest| lowest.min(number)));
                }
                news.original |= number < self.high;
                let (first, _) = news.sacked_sent.unwrap_or((segment.sent, 0));
                news.sacked_sent = Some((first, segment.sent));
            }
            self.board.remember(block);
        }
        if (self.state != State::Loss || self.undo.from.is_some())
            && let Some(lowest) = news.reordered
        {
            self.note_reordering(lowest, self.board.sacked_end());
        }
    }

    /// A duplicate was reported (RFC 2883). One that no retransmission explains means nothing.
    fn take_duplicate(&mut self, flow: &Sender, block: SackBlock, ack: u64, news: &mut News) {
        let segments = numbers(block, flow.size());
        let count = segments.end.saturating_sub(segments.start).max(1);
        self.duplicates += count;
        if self.duplicates > self.retransmissions {
            return;
        }
        news.duplicate = true;
        news.duplicate_of_probe = count == 1 && self.probe.end == Some(segments.end);
        if self.rack.saw_reordering && !news.duplicate_of_probe {
            self.rack.duplicate_seen = true;
        }
        self.delivered += count;
        if segments.end <= self.board.first() {
            self.undo.report(segments.end, count);
            return;
        }
        let outstanding = segments.start.max(self.board.first())..segments.end.min(self.board.end());
        for number in outstanding {
            let segment = *self.board.get(number);
            if segment.was_resent {
                self.undo.report(number + 1, 1);
                if segment.is_sacked && (number >= ack || self.undo.from.is_some()) {
                    news.reordered = Some(news.reordered.map_or(number, |lowest| lowest.min(number)));
                }
            }
            if number >= ack {
                self.board.duplicate_arrived(number);
            }
        }
    }

    /// Segments arrived out of order: from `lowest`, which was never lost, up to `highest`.
    pub(super) fn note_reordering(&mut self, lowest: u64, highest: u64) {
        if lowest < highest {
            let distance = u32::try_from(highest - lowest).unwrap_or(MOST_REORDERING);
            if distance > self.reordering {
                self.reordering = distance.min(MOST_REORDERING);
            }
            self.rack.saw_reordering = true;
        }
    }

    /// Everything before segment `ack` is acknowledged.
    fn acknowledge(&mut self, flow: &mut Sender, at: Instant, ack: u64, was_sacked_to: u64, news: &mut News) {
        let now = micros(at);
        let mut lowest = None;
        while self.board.first() < ack {
            let number = self.board.first();
            let Some(segment) = self.board.pop() else { break };
            if segment.was_resent {
                news.resent = true;
            } else if !segment.is_sacked {
                let (first, _) = news.acked_sent.unwrap_or((segment.sent, 0));
                news.acked_sent = Some((first, segment.sent));
                lowest = lowest.or(Some(number));
                news.original |= number < self.high;
            }
            if !segment.is_sacked {
                self.deliver(now, number, &segment, news);
            }
        }
        flow.set_acknowledged(self.board.first());
        let is_sampled = self.sample_round_trip(flow, now, news);
        if news.advanced {
            news.restarts_timer = true;
            if let Some(lowest) = lowest {
                self.note_reordering(lowest, was_sacked_to);
            }
        } else if is_sampled && let (Some((sent, _)), Some(head)) = (news.sacked_sent, self.board.head()) {
            // A sample of what was sent after the head was says nothing of the head.
            news.restarts_timer = now - sent > now - head.sent;
        }
    }

    /// Takes a round-trip time, unless a segment was sent again (RFC 6298, section 3). Returns whether it did.
    fn sample_round_trip(&mut self, flow: &Sender, now: u64, news: &News) -> bool {
        let acked = news.acked_sent.filter(|_| !news.resent);
        let Some((first, _)) = acked.or(news.sacked_sent) else { return false };
        let (_, last) = news.sacked_sent.or(acked).expect("one of them is there");
        self.rtt.observe(now - last);
        self.take_round_trip(flow, now - first);
        true
    }

    /// Takes the round-trip time of a handshake.
    pub(in crate::transport::tcp) fn take_handshake(&mut self, flow: &Sender, rtt: u64) {
        self.rtt.observe(rtt);
        self.take_round_trip(flow, rtt);
    }

    /// Takes a round-trip time.
    fn take_round_trip(&mut self, flow: &Sender, rtt: u64) {
        let min_rto = super::micros_of(flow.min_rto());
        self.rtt.sample(rtt, min_rto, self.board.first(), self.board.end());
        let most = super::micros_of(flow.max_rto());
        self.timeout = self.rtt.timeout().map(|timeout| super::timer::in_ticks(self.clock, timeout).min(most));
    }

    /// Permission to send again now; it is taken once.
    pub(super) fn take_resend(&mut self) -> Resend {
        std::mem::replace(&mut self.resend, Resend::Nothing)
    }
}
