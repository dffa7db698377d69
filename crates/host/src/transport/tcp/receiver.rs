//! The receiving end of a flow: what has come, and what to acknowledge.

use tailcut_base::{HostId, Instant};
use tailcut_model::seat::ReceiverReport;
use tailcut_model::{Flags, FlowId, FlowSpec, Kind, Packet, SackBlock};

use super::DelayedAck;
use crate::transport::reassembly::Reassembly;

/// A delayed acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Packets that it will acknowledge; 0: nothing is pending.
    packets: u32,
    /// Timestamp of the first of them (RFC 7323, section 4.3).
    sent: Instant,
    /// It is sent at the latest now.
    deadline: Instant,
    /// When the timer that was asked for fires.
    timer: Instant,
}

/// Behaviour of a receiver beside acknowledging in order and by SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acks {
    /// Whether it reports duplicates (RFC 2883).
    pub(super) reports_duplicates: bool,
    /// Packets that are acknowledged at once at the beginning and after a duplicate.
    pub(super) quick: u16,
    /// Whether SACK blocks make an ACK longer.
    pub(super) have_size: bool,
}

/// The receiving end of one flow.
#[derive(Debug)]
pub(super) struct Receiver {
    flow: FlowId,
    host: HostId,
    peer: HostId,
    connection: u32,
    size: u64,
    /// How many hosts answer the same query.
    degree: u32,
    /// Whether ACKs say what has come out of order.
    sack: bool,
    /// ACKs that were sent at once since the beginning or the last duplicate.
    quick_sent: u16,
    received: Reassembly,
    /// Offset of the packet that lies furthest ahead.
    furthest: u64,
    /// Whether the packets that the pending ACK covers were marked (RFC 8257, DCTCP.CE).
    ce: bool,
    pending: Pending,
    report: ReceiverReport,
}

impl Receiver {
    pub(super) fn new(flow: FlowId, spec: &FlowSpec, sack: bool) -> Receiver {
        Receiver {
            flow,
            host: spec.dst,
            peer: spec.src,
            connection: spec.connection,
            size: spec.size,
            degree: spec.query.map_or(1, |query| query.degree),
            sack,
            quick_sent: 0,
            received: Reassembly::new(),
            furthest: 0,
            ce: false,
            pending: Pending { packets: 0, sent: Instant::ZERO, deadline: Instant::MAX, timer: Instant::MAX },
            report: ReceiverReport::default(),
        }
    }

    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    /// How many hosts answer the same query; 1 outside of an incast.
    pub(super) fn degree(&self) -> u32 {
        self.degree
    }

    pub(super) fn report(&self) -> ReceiverReport {
        self.report
    }

    /// Whether every byte has come.
    pub(super) fn is_done(&self) -> bool {
        self.received.next() == self.size
    }

    /// Bytes that it holds on to beside itself: what lies out of order.
    pub(super) fn heap_bytes(&self) -> usize {
        self.received.heap_bytes()
    }

    /// Takes in a data packet and gives the ACKs that it causes to `send`: none, one, or two when the mark flips.
    #[inline(always)]
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        packet: &Packet,
        delayed: Option<&DelayedAck>,
        mut send: impl FnMut(Packet),
    ) {
        let ce = packet.flags.has(Flags::CE);
        self.report.packets += 1;
        self.report.ce_marks += u64::from(ce);
        self.report.multi_marked += u64::from(packet.marks >= 2);
        if packet.seq < self.furthest {
            self.report.reordered += 1;
        }
        self.furthest = self.furthest.max(packet.seq);

        let flipped = ce != self.ce;
        if flipped && self.pending.packets > 0 {
            // RFC 8257, section 3.2: the packets before the flip are acknowledged with the old state first.
            send(self.acknowledge());
        }
        self.ce = ce;

        let in_order = packet.seq == self.received.next() && self.received.blocks().is_empty();
        self.received.take(packet.seq, u64::from(packet.payload));

        if self.pending.packets == 0 {
            self.pending.sent = packet.sent;
        }
        self.pending.packets += 1;
        match delayed {
            // A gap, a gap filled and the end of the flow are acknowledged at once (RFC 5681, section 4.2), and so is a
            // flip of the mark, beside what was pending (RFC 8257, section 3.2).
            Some(delayed) if in_order && !flipped && self.pending.packets < delayed.every && !self.is_done() => {
                if self.pending.packets == 1 {
                    self.pending.deadline = now + delayed.timeout;
                }
            }
            Some(_) => send(self.acknowledge()),
            None => {
                self.pending.sent = packet.sent;
                send(self.acknowledge());
            }
        }
    }

    /// As [`Receiver::on_data`], where duplicates are reported or the first packets are acknowledged at once.
    pub(super) fn on_data_with(
        &mut self,
        acks: Acks,
        now: Instant,
        packet: &Packet,
        delayed: Option<&DelayedAck>,
        mut send: impl FnMut(Packet),
    ) {
        let has_it = packet.payload > 0 && self.received.has(packet.seq, u64::from(packet.payload));
        let mut duplicate = (has_it && acks.reports_duplicates)
            .then(|| SackBlock { start: packet.seq, end: packet.seq + u64::from(packet.payload) });
        if has_it {
            self.quick_sent = 0;
        }
        let is_quick = self.quick_sent < acks.quick;
        self.quick_sent += u16::from(is_quick);
        let blocks_before = self.received.blocks().len();
        let (mut first, mut second) = (None, None);
        self.on_data(now, packet, delayed.filter(|_| !is_quick && !has_it), |ack| {
            if first.is_none() { first = Some(ack) } else { second = Some(ack) }
        });
        // Of two ACKs, the first one was due before the packet arrived.
        let blocks = self.received.blocks().len();
        let acks_and_blocks = match (first, second) {
            (Some(first), Some(second)) => [Some((first, blocks_before)), Some((second, blocks))],
            (first, _) => [first.map(|ack| (ack, blocks)), None],
        };
        for (mut ack, mut blocks) in acks_and_blocks.into_iter().flatten() {
            if let Some(block) = duplicate.take() {
                ack.report_duplicate(block);
                blocks += 1;
            }
            if acks.have_size && blocks > 0 {
                // Two bytes of padding, kind, length, and up to four blocks of eight bytes, also if only three of them
                // are carried here.
                ack.size += 4 + 8 * blocks.min(4) as u16;
            }
            send(ack);
        }
    }

    /// When the receiver wants to be called, if it has not asked for that moment or an earlier one.
    pub(super) fn wanted_timer(&mut self) -> Option<Instant> {
        if self.pending.deadline >= self.pending.timer {
            return None;
        }
        self.pending.timer = self.pending.deadline;
        Some(self.pending.timer)
    }

    /// A timer fired: gives the delayed ACK if it is due.
    pub(super) fn on_timer(&mut self, now: Instant) -> Option<Packet> {
        if now != self.pending.timer {
            return None;
        }
        self.pending.timer = Instant::MAX;
        (now >= self.pending.deadline).then(|| self.acknowledge())
    }

    fn acknowledge(&mut self) -> Packet {
        let mut ack =
            Packet::control(Kind::ACK, self.flow, self.host, self.peer, self.received.next(), self.pending.sent);
        ack.connection = self.connection;
        ack.flags = Flags::NONE.with(Flags::ECE, self.ce);
        if self.sack && !self.received.blocks().is_empty() {
            ack.set_sack(self.received.blocks().iter().copied());
        }
        self.pending.packets = 0;
        self.pending.deadline = Instant::MAX;
        ack
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailcut_base::{MSS_BYTES, Span};
    use tailcut_model::{ClassId, PathFacts};

    use super::*;

    const MSS: u64 = MSS_BYTES;

    fn receiver(packets: u64) -> Receiver {
        let spec = FlowSpec {
            start: Instant::ZERO,
            src: HostId(0),
            dst: HostId(1),
            size: packets * MSS,
            class: ClassId(0),
            query: None,
            connection: 0,
            deadline: None,
            measured: true,
            path: PathFacts::default(),
        };
        Receiver::new(FlowId(0), &spec, true)
    }

    fn data(index: u64, ce: bool) -> Packet {
        let mut packet =
            Packet::data(FlowId(0), HostId(0), HostId(1), index * MSS, MSS as u16, 0, Instant::from_ps(index));
        packet.flags = Flags::ECT.with(Flags::CE, ce);
        packet
    }

    /// An ACK as (next byte, ECE, blocks), counted in packets.
    type Answer = (u64, bool, Vec<(u64, u64)>);

    fn answers(receiver: &mut Receiver, packets: &[(u64, bool)], delayed: Option<&DelayedAck>) -> Vec<Answer> {
        let mut acks = Vec::new();
        for &(index, ce) in packets {
            receiver.on_data(Instant::from_ps(1000), &data(index, ce), delayed, |ack| {
                let blocks = ack.sack().map(|b| (b.start / MSS, b.end / MSS)).collect();
                acks.push((ack.seq / MSS, ack.flags.has(Flags::ECE), blocks));
            });
        }
        acks
    }

    #[test]
    fn every_packet_is_acknowledged_with_its_own_mark() {
        let acks = answers(&mut receiver(3), &[(0, false), (1, true), (2, false)], None);
        assert_eq!(acks, [(1, false, vec![]), (2, true, vec![]), (3, false, vec![])]);
    }

    #[test]
    fn no_delayed_ack_mixes_marked_and_unmarked_packets() {
        let delayed = DelayedAck { every: 2, timeout: Span::from_us(500), quick: 0 };
        let mut receiver = receiver(6);
        let pattern = [(0, false), (1, false), (2, true), (3, true), (4, false)];
        let acks = answers(&mut receiver, &pattern, Some(&delayed));
        // Each flip acknowledges what was pending with the old state, and at once the packet that flipped it.
        let expected = [(2, false, vec![]), (3, true, vec![]), (4, true, vec![]), (5, false, vec![])];
        assert_eq!(acks, expected);
        let delayed_ack = answers(&mut receiver, &[(5, false)], Some(&delayed));
        assert_eq!(delayed_ack, [(6, false, vec![])], "the last packet is acknowledged at once");
    }

    #[test]
    fn a_flip_of_the_mark_acknowledges_what_is_pending_with_the_old_state() {
        let delayed = DelayedAck { every: 2, timeout: Span::from_us(500), quick: 0 };
        let acks = answers(&mut receiver(9), &[(0, false), (1, true), (2, true)], Some(&delayed));
        assert_eq!(acks, [(1, false, vec![]), (2, true, vec![])]);
    }

    #[test]
    fn the_first_block_is_the_one_that_changed_last() {
        let mut receiver = receiver(10);
        let acks = answers(&mut receiver, &[(2, false), (6, false), (3, false), (0, false), (1, false)], None);
        assert_eq!(acks[0], (0, false, vec![(2, 3)]));
        assert_eq!(acks[1], (0, false, vec![(6, 7), (2, 3)]));
        assert_eq!(acks[2], (0, false, vec![(2, 4), (6, 7)]));
        assert_eq!(acks[3], (1, false, vec![(2, 4), (6, 7)]));
        assert_eq!(acks[4], (4, false, vec![(6, 7)]));
        assert_eq!(receiver.report().reordered, 3);
    }

    proptest! {
        /// In any order, with any repetition, the receiver ends when and only when it has every packet.
        #[test]
        fn any_order_of_arrival_completes(order in Just((0..12u64).collect::<Vec<_>>()).prop_shuffle(),
                                          repeats in prop::collection::vec(0usize..12, 0..6)) {
            let mut receiver = receiver(12);
            let mut seen = [false; 12];
            for (i, &index) in order.iter().enumerate() {
                prop_assert!(!receiver.is_done());
                let mut arrivals = vec![index];
                arrivals.extend(repeats.iter().filter(|&&r| r < i).map(|&r| order[r]));
                for index in arrivals {
                    seen[index as usize] = true;
                    let mut last = None;
                    receiver.on_data(Instant::ZERO, &data(index, false), None, |ack| last = Some(ack));
                    let ack = last.expect("every packet is acknowledged");
                    let prefix = seen.iter().take_while(|&&s| s).count() as u64;
                    prop_assert_eq!(ack.seq, prefix * MSS);
                    for block in ack.sack() {
                        prop_assert!((block.start / MSS..block.end / MSS).all(|p| seen[p as usize]));
                    }
                }
            }
            prop_assert!(receiver.is_done());
        }
    }
}
