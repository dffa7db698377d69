//! Homa of one host as its world calls it.

use proptest::prelude::*;
use tailcut_base::{HostId, Instant, MSS_BYTES};
use tailcut_model::seat::SenderReport;
use tailcut_model::{Flags, Query, QueryId};

use super::*;
use crate::order::OrderConfig;
use crate::transport::around::{Around, spec};

const MSS: u64 = MSS_BYTES;
/// 10,000 B in whole packets.
const WINDOW: u64 = 7 * MSS;

/// What a host says without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// Message, offset, level.
    Grant(u32, u64, u8),
    /// Message, from, to.
    Resend(u32, u64, u64),
    /// Message, bytes.
    Ack(u32, u64),
}
use Said::{Ack, Grant, Resend};

fn around(config: Config) -> Around {
    Around::new(HostConfig {
        transport: TransportConfig::Homa(config),
        order: OrderConfig::Srpt(crate::order::srpt::Config {}),
        ..HostConfig::default()
    })
}

fn us(us: u64) -> Instant {
    Instant::ZERO + Span::from_us(us)
}

impl Around {
    fn starts(&mut self, flow: u32, size: u64) {
        self.begin(flow, &spec(size), true);
    }

    fn expects(&mut self, flow: u32, size: u64) {
        self.begin(flow, &spec(size), false);
    }

    /// Packet `nth` of a message arrives; gives what the host says to that.
    fn arrives(&mut self, flow: u32, size: u64, nth: u64) -> Vec<Said> {
        let payload = MSS.min(size - nth * MSS) as u16;
        self.receive(Packet::data(FlowId(flow), HostId(0), HostId(1), nth * MSS, payload, size, self.now));
        self.says()
    }

    /// What the host has said since the last call.
    fn says(&mut self) -> Vec<Said> {
        let said = |packet: Packet| {
            assert_eq!((packet.class, packet.size), (0, 40), "what is said goes first, and is a header");
            let flow = packet.flow.0;
            match packet.kind {
                packets::GRANT => Grant(flow, packet.seq, packets::granted_class(&packet)),
                packets::RESEND => Resend(flow, packet.seq, packets::resend_end(&packet)),
                Kind::ACK => Ack(flow, packet.seq),
                kind => panic!("{kind:?}"),
            }
        };
        self.take_control().into_iter().map(said).collect()
    }

    /// What the receiver of a message says arrives at its sender.
    fn hears(&mut self, said: Said) {
        let control = |kind, flow, seq| Packet::control(kind, FlowId(flow), HostId(1), HostId(0), seq, Instant::ZERO);
        let packet = match said {
            Grant(flow, until, level) => {
                let mut packet = control(packets::GRANT, flow, until);
                packets::set_granted_class(&mut packet, level);
                packet
            }
            Resend(flow, from, to) => {
                let mut packet = control(packets::RESEND, flow, from);
                packets::set_resend_end(&mut packet, to);
                packet
            }
            Ack(flow, size) => control(Kind::ACK, flow, size),
        };
        self.receive(packet);
    }

    /// Packets that leave now, as message, number and class.
    fn leave(&mut self) -> Vec<(u32, u64, u8)> {
        let next = || {
            let packet = self.call(|host, cx| host.poll_send(cx, 0))?;
            assert!(!packet.flags.has(Flags::ECT) && packet.connection == 9);
            Some((packet.flow.0, packet.seq / MSS, packet.class))
        };
        std::iter::from_fn(next).collect()
    }

    fn timers(&self) -> usize {
        self.wishes.iter().filter(|wish| matches!(wish, Wish::Timer { .. })).count()
    }
}

/// Homa where a round trip carries 10,000 B: seven packets, 10,220 B.
pub(super) fn usual() -> Config {
    Config { rtt_bytes: Bytes(10_000).into(), ..Config::default() }
}

fn of(overcommit: u8) -> Config {
    Config { overcommit: Some(overcommit), cutoffs: Cutoffs::List(Vec::new()), ..usual() }
}

#[test]
fn a_message_within_rtt_bytes_is_never_granted() {
    let (mut sender, mut receiver) = (around(of(7)), around(of(7)));
    sender.starts(0, 5_000);
    receiver.expects(0, 5_000);
    assert_eq!(sender.leave(), [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0)]);
    assert!((0..3).all(|nth| receiver.arrives(0, 5_000, nth).is_empty()));
    assert_eq!(receiver.arrives(0, 5_000, 3), [Ack(0, 5_000)]);
    sender.hears(Ack(0, 5_000));
    assert!(sender.host.unfinished().is_empty() && receiver.host.unfinished().is_empty());
    // Said again for what comes late; to what is said too late nobody listens.
    assert_eq!(receiver.arrives(0, 5_000, 1), [Ack(0, 5_000)]);
    for late in [Ack(0, 5_000), Grant(0, 5_000, 7), Resend(0, 0, 1460)] {
        sender.hears(late);
    }
    sender.wait(us(100_000));
    assert!(sender.leave().is_empty());
}

#[test]
fn at_most_rtt_bytes_of_a_message_are_on_the_way() {
    let size = 100_000;
    let (mut sender, mut receiver) = (around(of(7)), around(of(7)));
    sender.starts(0, size);
    receiver.expects(0, size);
    let mut on_the_way: Vec<(u32, u64, u8)> = sender.leave();
    assert_eq!(on_the_way, (0..7).map(|nth| (0, nth, 0)).collect::<Vec<_>>(), "the first 10,000 B, unasked");
    let (mut received, mut granted, mut packets) = (0, WINDOW, 0);
    while !on_the_way.is_empty() {
        let (_, nth, class) = on_the_way.remove(0);
        assert_eq!(class, if nth < 7 { 0 } else { 7 }, "a message that is granted alone has the lowest level");
        received += MSS.min(size - nth * MSS);
        packets += 1;
        for said in receiver.arrives(0, size, nth) {
            if let Grant(0, until, 7) = said {
                assert_eq!(until, (received + WINDOW).min(size), "each packet that comes lets another go");
                granted = until;
            }
            sender.hears(said);
        }
        assert!(granted - received <= WINDOW);
        on_the_way.extend(sender.leave());
    }
    assert_eq!((received, packets, granted), (size, size.div_ceil(MSS), size));
    assert!(sender.host.unfinished().is_empty());
}

#[test]
fn of_two_messages_the_one_with_less_left_is_granted() {
    // 20 KB and 50 KB are left when the first packet of each has come.
    let (short, long) = (20_000 + MSS, 50_000 + MSS);
    for overcommit in [1, 2] {
        let mut host = around(of(overcommit));
        host.expects(0, long);
        host.expects(1, short);
        assert_eq!(host.arrives(1, short, 0), [Grant(1, WINDOW + MSS, 7)]);
        let with_second = if overcommit == 1 { vec![] } else { vec![Grant(0, WINDOW + MSS, 7)] };
        assert_eq!(host.arrives(0, long, 0), with_second);
        let (level, mut to_long) = (8 - overcommit, 0);
        for nth in 1..short.div_ceil(MSS) {
            for said in host.arrives(1, short, nth) {
                match said {
                    Grant(1, until, of) => assert!(until > WINDOW + nth * MSS && of == level, "{said:?}"),
                    // It comes first once the other one is granted to its end and has less than RTTbytes on the way.
                    Grant(0, until, 7) => to_long = until,
                    said => assert_eq!(said, Ack(1, short)),
                }
            }
            assert_eq!(to_long > 0, overcommit == 1 && nth * MSS + WINDOW >= short, "{nth}");
        }
    }
}

#[test]
fn a_sender_keeps_to_what_was_granted_and_to_its_class() {
    let mut host = around(Config { cutoffs: Cutoffs::List(vec![Bytes(1_000), Bytes(30_000)]), ..of(4) });
    host.starts(0, 40_000);
    host.starts(1, 25_000);
    host.starts(2, 900);
    let first = host.leave();
    assert_eq!(first[0], (2, 0, 0), "the shortest goes first");
    assert!(first[1..8].iter().all(|&(flow, _, class)| (flow, class) == (1, 1)));
    assert!(first[8..15].iter().all(|&(flow, _, class)| (flow, class) == (0, 2)) && first.len() == 15);
    host.hears(Grant(0, 9 * MSS, 6));
    host.hears(Grant(0, 8 * MSS, 5));
    host.hears(Grant(1, 8 * MSS, 4));
    assert_eq!(host.leave(), [(1, 7, 4), (0, 7, 6), (0, 8, 6)], "the grant that was overtaken means nothing");
}

#[test]
fn a_receiver_asks_for_the_first_gap_when_nothing_has_come_for_so_long() {
    let mut host = around(of(7));
    host.expects(0, 20 * MSS);
    assert_eq!((host.timers(), host.says()), (0, vec![]), "a message of which nothing came is not known");
    host.wait(us(10_000));
    for nth in [0, 1, 4, 6] {
        host.arrives(0, 20 * MSS, nth);
    }
    host.wait(us(12_999));
    assert_eq!(host.says(), []);
    host.wait(us(13_000));
    assert_eq!(host.says(), [Resend(0, 2 * MSS, 4 * MSS)]);
    host.wait(us(18_999));
    assert_eq!(host.says(), [Resend(0, 2 * MSS, 4 * MSS)], "once in each timeout");
    for nth in [2, 3, 5] {
        host.arrives(0, 20 * MSS, nth);
    }
    host.wait(us(22_000));
    assert_eq!(host.says(), [Resend(0, 7 * MSS, 14 * MSS)], "no further than what was granted");
}

#[test]
fn what_a_receiver_asks_for_goes_again_in_its_class() {
    let mut host = around(of(7));
    host.starts(0, 20 * MSS);
    assert_eq!(host.leave().len(), 7);
    host.hears(Grant(0, 9 * MSS, 3));
    host.leave();
    host.hears(Resend(0, 5 * MSS, 9 * MSS));
    let again = host.call(|host, cx| host.poll_send(cx, 0)).expect("it goes again");
    assert!(again.flags.has(Flags::RETRANSMITTED) && (again.seq, again.class) == (5 * MSS, 0));
    assert_eq!(host.leave(), [(0, 6, 0), (0, 7, 3), (0, 8, 3)]);
    assert_eq!(host.report(0), SenderReport { packets: 13, retransmissions: 4, timeouts: 1 });
    // A grant was lost: what was never sent is no retransmission.
    host.hears(Resend(0, 9 * MSS, 11 * MSS));
    assert_eq!(host.leave(), [(0, 9, 3), (0, 10, 3)]);
    assert_eq!(host.report(0), SenderReport { packets: 15, retransmissions: 4, timeouts: 1 });
}

#[test]
fn a_sender_that_never_heard_anything_begins_again() {
    let mut host = around(of(7));
    host.starts(0, 20 * MSS);
    host.leave();
    host.wait(us(2_999));
    assert_eq!(host.leave(), []);
    host.wait(us(3_000));
    assert_eq!(host.leave(), (0..7).map(|nth| (0, nth, 0)).collect::<Vec<_>>());
    host.wait(us(6_000));
    assert_eq!((host.leave().len(), host.report(0).timeouts), (7, 2));
    // Known to the receiver, which asks for what it misses, it waits for as long as it takes.
    host.hears(Grant(0, WINDOW, 7));
    host.wait(us(1_000_000));
    assert_eq!((host.leave().len(), host.report(0).timeouts), (0, 2));
    // All is sent, and it waits for the acknowledgement: the last packet asks for one.
    host.hears(Grant(0, 20 * MSS, 7));
    assert_eq!(host.leave().len(), 13);
    host.wait(us(1_003_000));
    assert_eq!(host.leave(), [(0, 19, 7)]);
    host.wait(us(1_005_999));
    assert_eq!((host.leave().len(), host.report(0).timeouts), (0, 3));
}

#[test]
fn a_message_that_waits_for_its_turn_expects_no_answer() {
    let mut host = around(of(7));
    host.starts(0, 7 * MSS);
    host.call(|host, cx| host.poll_send(cx, 0)).expect("the first packet leaves");
    host.wait(us(20_000));
    assert_eq!(host.leave().iter().map(|packet| packet.1).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(host.report(0).timeouts, 0);
}

#[test]
fn a_receiver_that_grants_others_first_says_that_it_knows_of_a_message_that_begins_again() {
    let mut host = around(of(1));
    host.expects(0, 20 * MSS);
    host.expects(1, 90 * MSS);
    host.arrives(0, 20 * MSS, 0);
    for nth in 0..7 {
        assert_eq!(host.arrives(1, 90 * MSS, nth), []);
    }
    assert_eq!(host.arrives(1, 90 * MSS, 0), [Grant(1, WINDOW, 7)]);
    // All of it that may come has: there is nothing to ask for. Of the other message there is.
    host.wait(us(4_000));
    assert_eq!(host.says(), [Resend(0, MSS, 8 * MSS)]);
}

#[test]
fn a_discarded_packet_is_sent_to_its_sender_and_goes_again() {
    let las = crate::order::las::Config { limit: Some(Bytes(4 * 1500)), ..Default::default() };
    let config =
        HostConfig { transport: TransportConfig::Homa(of(7)), order: OrderConfig::Las(las), ..HostConfig::default() };
    let mut host = Around { host: HostContext::of(config).build().unwrap(), ..around(of(7)) };
    host.starts(0, 6 * MSS);
    assert_eq!(host.leave().len(), 4);
    let discarded = |wish: &&Wish| matches!(wish, Wish::Discarded { flow: FlowId(0), .. });
    assert_eq!((host.wishes.iter().filter(discarded).count(), host.report(0).packets), (2, 6));
    host.hears(Resend(0, 4 * MSS, 6 * MSS));
    assert_eq!(host.leave(), [(0, 4, 0), (0, 5, 0)]);
}

#[test]
fn an_idle_host_holds_nothing_and_a_message_costs_its_two_ends() {
    assert_eq!(around(of(7)).host.heap_bytes(), 0);
    for flows in [1usize, 64] {
        let (mut sends, mut receives) = (around(of(7)), around(of(7)));
        for flow in 0..flows as u32 {
            sends.starts(flow, 1_000_000);
            receives.expects(flow, 1_000_000);
        }
        // The order makes room for four messages at once.
        assert!(sends.host.heap_bytes() <= flows.max(4) * 32 + flows * 136, "{}", sends.host.heap_bytes());
        assert!(receives.host.heap_bytes() <= 32 + flows * 152, "{}", receives.host.heap_bytes());
    }
}

/// Messages of 14 packets, all of whose unscheduled ones have come, wait for the one that is granted.
#[test]
fn messages_of_two_round_trips_are_granted_one_after_another() {
    let size = 2 * WINDOW;
    let granted = |grants: Grants| {
        let mut host = around(Config { grants, ..of(1) });
        (0..3).for_each(|flow| host.expects(flow, size));
        let mut said = Vec::new();
        for nth in 0..7 {
            said.extend((0..3).flat_map(|flow| host.arrives(flow, size, nth)));
        }
        (0..3)
            .map(|flow| said.iter().rfind(|said| matches!(said, Grant(of, ..) if *of == flow)).copied())
            .collect::<Vec<_>>()
    };
    // The last seven of the first message are on the way, and nothing else may be.
    assert_eq!(granted(Grants::Bounded), [Some(Grant(0, size, 7)), None, None]);
    assert_eq!(granted(Grants::UntilReceived), [Some(Grant(0, size, 7)), None, None]);
    // Of 21 packets that have come, those that find the first message with RTTbytes on the way let nothing go.
    assert_eq!(granted(Grants::EachPacket), [Some(Grant(0, size, 7)), Some(Grant(1, 9 * MSS, 7)), None]);
}

#[test]
fn each_packet_that_comes_of_what_was_granted_lets_another_one_go() {
    let size = 2 * WINDOW;
    for (grants, first) in [(Grants::Bounded, 7), (Grants::UntilReceived, 13)] {
        let mut host = around(Config { grants, ..of(1) });
        (0..2).for_each(|flow| host.expects(flow, size));
        for nth in 0..7 {
            host.arrives(0, size, nth);
            assert_eq!(host.arrives(1, size, nth), []);
        }
        for nth in 7..14 {
            let until = match grants {
                Grants::Bounded => Some((nth + 1) * MSS),
                // All of it at once, when the other one has come.
                _ => (nth == first).then_some(size),
            };
            let said = host.arrives(0, size, nth);
            let grant = said.iter().find(|said| matches!(said, Grant(..)));
            assert_eq!(grant.copied(), until.map(|until| Grant(1, until, 7)), "{grants:?}, packet {nth}");
            assert_eq!(said.contains(&Ack(0, size)), nth == 13);
        }
    }
}

#[test]
fn an_answer_to_a_marked_request_begins_with_a_short_packet() {
    let control = IncastControl { threshold: 1, unscheduled: Bytes(400) };
    let config = Config { incast: Some(control), ..of(7) };
    let answer = |nth, size| {
        let query = Query { id: QueryId(0), asked: Instant::ZERO, degree: 3, nth, deadline: None };
        FlowSpec { query: Some(query), ..spec(size) }
    };
    let (mut sender, mut receiver) = (around(config.clone()), around(config));
    for (flow, (nth, size)) in (0..).zip([(0, 400), (1, 20_000), (2, 400)]) {
        sender.begin(flow, &answer(nth, size), true);
        receiver.begin(flow, &answer(nth, size), false);
    }
    let leave = |sender: &mut Around| -> Vec<(u32, u64, u16, u8)> {
        let next = || sender.call(|host, cx| host.poll_send(cx, 0));
        std::iter::from_fn(next).map(|packet| (packet.flow.0, packet.seq, packet.payload, packet.class)).collect()
    };
    assert_eq!(leave(&mut sender), [(0, 0, 400, 0), (2, 0, 400, 0), (1, 0, 400, 0)]);
    // Nothing else of it is on the way: seven packets may go.
    let first = Packet::data(FlowId(1), HostId(0), HostId(1), 0, 400, 20_000, Instant::ZERO);
    receiver.receive(first.clone());
    assert_eq!(receiver.says(), [Grant(1, 400 + WINDOW, 7)]);
    sender.hears(Grant(1, 400 + WINDOW, 7));
    assert_eq!(leave(&mut sender), (0..7).map(|nth| (1, 400 + nth * MSS, MSS as u16, 7)).collect::<Vec<_>>());
    // Asked for again, packets are what they were.
    sender.hears(Resend(1, 0, 400 + MSS));
    assert_eq!(leave(&mut sender), [(1, 0, 400, 0), (1, 400, MSS as u16, 7)]);
    sender.hears(Grant(1, 20_000, 7));
    let rest = leave(&mut sender);
    assert_eq!((rest.len(), rest[6]), (7, (1, 400 + 13 * MSS, 620, 7)));
    [0, 2].into_iter().for_each(|flow| sender.hears(Ack(flow, 400)));
    // It waits for the acknowledgement, and the last packet asks for one.
    sender.wait(us(3_000));
    assert_eq!(leave(&mut sender), [(1, 400 + 13 * MSS, 620, 7)]);
}

/// A message as the slow receiver knows it.
#[derive(Clone, Debug)]
struct Slow {
    flow: u32,
    size: u64,
    come: Vec<bool>,
    granted: u64,
}

impl Slow {
    fn received(&self) -> u64 {
        let bytes = |nth: usize| MSS.min(self.size - nth as u64 * MSS);
        (0..self.come.len()).filter(|&nth| self.come[nth]).map(bytes).sum()
    }
}

/// Sorts all messages for each grant. Of a message `WINDOW` bytes come unasked.
fn slow_grants(messages: &mut [Slow], overcommit: usize, grants: Grants) -> Vec<Said> {
    let mut said = Vec::new();
    loop {
        let granted: u64 = messages
            .iter()
            .map(|message| (message.granted - message.received()).min(message.granted.saturating_sub(WINDOW)))
            .sum();
        let room = match grants {
            Grants::Bounded => overcommit as u64 * WINDOW - granted,
            Grants::UntilReceived => u64::MAX,
            Grants::EachPacket => MSS,
        };
        let has_place = |message: &&mut Slow| {
            let is_open = match grants {
                Grants::UntilReceived => message.size > WINDOW && message.received() < message.size,
                _ => message.granted < message.size,
            };
            is_open && message.received() > 0
        };
        let mut open: Vec<&mut Slow> = messages.iter_mut().filter(has_place).collect();
        open.sort_by_key(|message| (message.size - message.received(), message.flow));
        open.truncate(overcommit);
        let active = open.len();
        let next = open.into_iter().enumerate().find_map(|(nth, message)| {
            let most = (message.received() + WINDOW).min(message.granted.saturating_add(room));
            let until = if most >= message.size { message.size } else { most / MSS * MSS };
            (until > message.granted).then(|| {
                message.granted = until;
                Grant(message.flow, until, (8 - active + nth) as u8)
            })
        });
        said.extend(next);
        if next.is_none() || grants == Grants::EachPacket {
            return said;
        }
    }
}

proptest! {
    #[test]
    fn a_receiver_grants_as_one_that_sorts_all_messages_each_time(
        sizes in prop::collection::vec(1u64..60_000, 1..9),
        overcommit in 1u8..8,
        grants in prop::sample::select(vec![Grants::Bounded, Grants::UntilReceived, Grants::EachPacket]),
        arrivals in prop::collection::vec((0usize..8, 0usize..1_000, prop::bool::weighted(0.1)), 1..300),
    ) {
        let mut host = around(Config { grants, ..of(overcommit) });
        let mut slow: Vec<Slow> = (0..).zip(&sizes).map(|(flow, &size)| {
            Slow { flow, size, come: vec![false; size.div_ceil(MSS) as usize], granted: size.min(WINDOW) }
        }).collect();
        slow.iter().for_each(|message| host.expects(message.flow, message.size));
        for (which, nth, again) in arrivals {
            let which = which % slow.len();
            let message = &mut slow[which];
            // Of what was granted anything may come, and mostly what has not.
            let may: Vec<usize> = (0..message.granted.div_ceil(MSS) as usize).filter(|&nth| message.come[nth] == again).collect();
            let Some(&nth) = may.get(nth % may.len().max(1)) else { continue };
            let (flow, size) = (message.flow, message.size);
            let was_done = message.received() == size;
            message.come[nth] = true;
            let mut expected = Vec::new();
            if message.received() == size {
                expected.push(Ack(flow, size));
            } else if again {
                expected.push(Grant(flow, message.granted, 7));
            }
            if !was_done {
                expected.extend(slow_grants(&mut slow, usize::from(overcommit), grants));
            }
            prop_assert_eq!(host.arrives(flow, size, nth as u64), expected);
            for message in &slow {
                prop_assert!(message.granted <= message.size.min(message.received() + WINDOW).max(WINDOW.min(message.size)));
            }
        }
    }
}
