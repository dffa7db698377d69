//! What a host of HyLine does with a flow at each word of the controller.

use tailcut_base::{HostId, MSS_BYTES};
use tailcut_model::seat::{Message, Transport, Wish};

use super::*;
use crate::transport::around::{Around, spec};

const MSS: u64 = MSS_BYTES;
const SIZE: u64 = 100 * MSS;

fn host(config: Config) -> Around {
    let config = Config { threshold: Bytes(50 * MSS), second_window: 4, second_max_window: 4, ..config };
    Around::new(HostConfig { transport: TransportConfig::Hyline(config), ..HostConfig::default() })
}

fn way(number: u64) -> Way {
    Way::new(number).expect("it is small")
}

fn say(around: &mut Around, flow: u32, what: Permission) {
    around.call(|host, cx| host.on_message(cx, FlowId(flow), what.message()));
}

/// The packets that leave now.
fn leave(around: &mut Around) -> Vec<Packet> {
    std::iter::from_fn(|| around.call(|host, cx| host.poll_send(cx, 0))).collect()
}

/// What the controller was told.
fn told(around: &mut Around) -> Vec<Permission> {
    let (told, rest): (Vec<Wish>, Vec<Wish>) =
        around.wishes.drain(..).partition(|wish| matches!(wish, Wish::Tell { .. }));
    around.wishes = rest;
    let message = |wish: Wish| match wish {
        Wish::Tell { message, .. } => Permission::of(message).expect("a word of HyLine"),
        other => panic!("{other:?}"),
    };
    told.into_iter().map(message).collect()
}

fn acknowledge(around: &mut Around, packet: &Packet) {
    around.receive(packet.answer(Kind::ACK, packet.seq + u64::from(packet.payload)));
}

#[test]
fn nothing_leaves_before_a_go_and_between_a_stop_and_the_next_go() {
    let mut around = host(Config::default());
    around.begin(0, &spec(SIZE), true);
    assert_eq!(told(&mut around), [Permission::Request { to: HostId(1), size: SIZE }]);
    say(&mut around, 0, Permission::Stop);
    around.wait(Instant::ZERO + Span::from_ms(5_000));
    assert!(leave(&mut around).is_empty() && around.take_control().is_empty());

    say(&mut around, 0, Permission::Go { way: way(6), tells: false });
    let first = leave(&mut around);
    assert_eq!(first.len(), 4);
    assert!(first.iter().all(|packet| packet.connection == way(6).connection() && packet.class == SECOND));
    acknowledge(&mut around, &first[0]);
    // One may go for it, and is offered already.
    say(&mut around, 0, Permission::Stop);
    assert!(leave(&mut around).is_empty());
    for packet in &first[1..] {
        acknowledge(&mut around, packet);
    }
    around.wait(around.now + Span::from_ms(3_000));
    assert!(leave(&mut around).is_empty());
    assert_eq!(around.report(0).timeouts, 0);

    say(&mut around, 0, Permission::Go { way: way(1), tells: false });
    let next = leave(&mut around);
    assert_eq!(next.iter().map(|packet| packet.seq / MSS).collect::<Vec<_>>(), [4, 5, 6, 7]);
    assert!(next.iter().all(|packet| packet.connection == way(1).connection()));
    assert!(told(&mut around).is_empty());
}

/// A SYN leaves with the first permission and no sooner; a stop before it is answered holds the data, and not the
/// connection.
#[test]
fn a_connection_is_opened_when_it_is_let_go_and_goes_on_opening_when_it_is_stopped() {
    let open = |stops: bool| {
        let first = tcp::Config { handshake: tcp::Handshake::OneRtt, ..Config::default().first };
        let mut around = host(Config { first, ..Config::default() });
        around.begin(0, &spec(SIZE), true);
        around.wait(Instant::ZERO + Span::from_ms(5));
        assert!(around.take_control().is_empty());
        say(&mut around, 0, Permission::Go { way: way(6), tells: false });
        assert!(leave(&mut around).is_empty());
        let syn = around.take_control();
        assert_eq!(syn.len(), 1);
        assert_eq!((syn[0].kind, syn[0].class, syn[0].connection), (tcp::packets::SYN, 0, way(6).connection()));
        if stops {
            say(&mut around, 0, Permission::Stop);
        }
        (around, syn[0].answer(tcp::packets::SYN_ACK, 0))
    };
    let (mut around, answer) = open(false);
    around.receive(answer);
    assert_eq!(leave(&mut around).len(), 4);

    let (mut around, answer) = open(true);
    around.receive(answer);
    assert!(leave(&mut around).is_empty(), "the flow is stopped");
    say(&mut around, 0, Permission::Go { way: way(1), tells: false });
    let packets = leave(&mut around);
    assert!(packets.len() == 4 && packets.iter().all(|packet| packet.connection == way(1).connection()));

    let (mut around, answer) = open(true);
    say(&mut around, 0, Permission::Go { way: way(1), tells: false });
    assert!(leave(&mut around).is_empty(), "the connection is not open yet");
    around.receive(answer);
    assert_eq!(leave(&mut around).len(), 4);
}

#[test]
fn what_was_lost_while_it_was_stopped_is_sent_again_when_it_goes() {
    let mut around = host(Config::default());
    around.begin(0, &spec(SIZE), true);
    say(&mut around, 0, Permission::Go { way: way(0), tells: false });
    let first = leave(&mut around);
    say(&mut around, 0, Permission::Stop);
    // All four are lost. The timer of a second starts again and again, and means nothing before it may go.
    around.wait(around.now + Span::from_ms(3_500));
    assert!(leave(&mut around).is_empty());
    say(&mut around, 0, Permission::Go { way: way(0), tells: false });
    assert!(leave(&mut around).is_empty(), "the window is full as far as it knows");
    around.wait(Instant::ZERO + Span::from_ms(4_001));
    let again = leave(&mut around);
    assert_eq!(around.report(0).timeouts, 1);
    // The window is as it was.
    assert_eq!(
        again.iter().map(|packet| packet.seq).collect::<Vec<_>>(),
        first.iter().map(|p| p.seq).collect::<Vec<_>>()
    );
}

#[test]
fn the_first_class_goes_first_and_asks_nobody() {
    let mut around = host(Config::default());
    around.begin(0, &spec(SIZE), true);
    say(&mut around, 0, Permission::Go { way: way(0), tells: false });
    told(&mut around);
    around.begin(1, &spec(3 * MSS), true);
    assert!(told(&mut around).is_empty());
    let packets = leave(&mut around);
    let order: Vec<(u32, u8)> = packets.iter().map(|packet| (packet.flow.0, packet.class)).collect();
    assert_eq!(order, [(1, 0), (1, 0), (1, 0), (0, 1), (0, 1), (0, 1), (0, 1)]);
    assert!(Way::of_connection(packets[0].connection).is_none());
}

#[test]
fn its_end_is_told_with_the_last_ack_and_what_comes_later_means_nothing() {
    for end in [End::Acknowledged, End::Sent] {
        let mut around = host(Config { end, ..Config::default() });
        around.begin(0, &spec(51 * MSS), true);
        told(&mut around);
        say(&mut around, 0, Permission::Go { way: way(0), tells: true });
        let mut acknowledged = 0;
        let mut has_ended = false;
        while acknowledged < 51 {
            let packets = leave(&mut around);
            let is_last = packets.iter().any(|packet| packet.seq == 50 * MSS);
            if end == End::Sent && is_last {
                assert_eq!(told(&mut around), [Permission::End]);
                has_ended = true;
                // It crosses the end on its way.
                say(&mut around, 0, Permission::Stop);
            }
            assert!(told(&mut around).is_empty());
            for packet in packets {
                acknowledge(&mut around, &packet);
                acknowledged += 1;
                let expected = match acknowledged {
                    _ if has_ended => vec![],
                    51 => vec![Permission::End],
                    n => vec![Permission::Left((51 - n) * MSS)],
                };
                assert_eq!(told(&mut around), expected);
            }
        }
        // The last wish is granted first.
        let ends: Vec<_> = around.wishes.iter().filter(|wish| !matches!(wish, Wish::Timer { .. })).collect();
        assert!(matches!(ends[..], [Wish::Acknowledged { .. }, Wish::Permitted { .. }]), "{ends:?}");
        say(&mut around, 0, Permission::Go { way: way(0), tells: true });
        say(&mut around, 0, Permission::Stop);
        assert!(leave(&mut around).is_empty() && told(&mut around).is_empty());
        around.wait(around.now + Span::from_ms(2_000));
    }
}

#[test]
fn a_flow_that_still_asks_is_unfinished() {
    let mut around = host(Config::default());
    around.begin(0, &spec(SIZE), true);
    assert_eq!(around.report(0), SenderReport::default());
    let other = Message::default();
    assert!(matches!(Permission::of(other), Some(Permission::Request { .. })), "no word of a controller");
}

#[test]
fn the_second_class_opens_as_in_slow_start_and_begins_again_after_a_loss() {
    let packets = |cwnd: f64| cwnd / MSS_BYTES as f64;
    let first = 25.0 * MSS_BYTES as f64;
    let mut grows = Grows { first };
    let mut window = Window { cwnd: first, ssthresh: f64::INFINITY, max: 40.0 * MSS_BYTES as f64, gap: Span::ZERO };
    let mut ack = |window: &mut Window, in_recovery: bool| {
        let newly_acked = MSS_BYTES;
        let ack = AckSample { newly_acked, in_recovery, window_limited: true, ..AckSample::default() };
        assert!(!grows.on_ack(window, &ack));
        packets(window.cwnd)
    };
    // A packet more for each that is acknowledged, whatever ssthresh is, up to the largest.
    window.ssthresh = 0.0;
    assert_eq!(ack(&mut window, false), 26.0);
    assert_eq!(ack(&mut window, true), 26.0);
    (0..20).for_each(|_| _ = ack(&mut window, false));
    assert_eq!(packets(window.cwnd), 40.0);
    grows.on_loss(Instant::ZERO, &mut window, 0);
    assert_eq!(window.ssthresh, first);
    grows.on_timeout(Instant::ZERO, &mut window, 0, 1);
    assert_eq!(window.cwnd, first);
}
