//! Windows against the equations of RFC 9438, the arithmetic of Linux against them, and the ends of slow start.

use proptest::prelude::*;
use tailcut_base::{Bytes, Span};

use super::super::tests::window;
use super::*;

fn cubic(config: &Config) -> Model {
    Model::build(config, &FlowContext::default()).unwrap()
}

fn linux() -> Config {
    Config { arithmetic: Arithmetic::Linux, ..Config::default() }
}

fn at(us: u64) -> Instant {
    Instant::ZERO + Span::from_us(us)
}

/// A flow with a window that is always used up, whose packets are acknowledged one by one and evenly.
struct Flow {
    model: Model,
    window: Window,
    /// In segments; a transport with whole windows shows the whole part to its model.
    fraction: f64,
    is_whole: bool,
    now_us: f64,
    rtt_us: f64,
    una: u64,
}

impl Flow {
    fn new(config: &Config, cwnd: f64, rtt_us: f64, is_whole: bool) -> Flow {
        Flow { model: cubic(config), window: window(cwnd), fraction: 0.0, is_whole, now_us: 1e6, rtt_us, una: 0 }
    }

    fn cwnd(&self) -> f64 {
        self.window.cwnd / MSS + self.fraction
    }

    fn lose(&mut self) {
        let now = at(self.now_us as u64);
        let flight = self.window.cwnd as u64;
        self.model.on_loss(now, &mut self.window, flight);
        if self.is_whole {
            self.window.cwnd = (self.window.cwnd / MSS).floor() * MSS;
            self.window.ssthresh = self.window.cwnd;
        }
        self.fraction = 0.0;
    }

    fn ack(&mut self) {
        let flight = (self.window.cwnd / MSS) as u64 * MSS_BYTES;
        self.una += MSS_BYTES;
        let rtt = Span::from_us(self.rtt_us as u64);
        let sample = AckSample {
            now: at(self.now_us as u64),
            newly_acked: MSS_BYTES,
            snd_una: self.una,
            snd_nxt: self.una + flight,
            window_limited: true,
            srtt: rtt,
            rtt,
            ..AckSample::default()
        };
        assert!(!self.model.on_ack(&mut self.window, &sample));
        if self.is_whole {
            let cwnd = self.window.cwnd / MSS + self.fraction;
            self.window.cwnd = (cwnd + 1e-9).floor() * MSS;
            self.fraction = (cwnd - (cwnd + 1e-9).floor()).max(0.0);
        }
    }

    /// So many round trips of ACKs.
    fn round_trips(&mut self, count: u32) {
        for _ in 0..count {
            let acks = self.cwnd().floor();
            for _ in 0..acks as u64 {
                self.ack();
                self.now_us += self.rtt_us / acks;
            }
        }
    }
}

/// The curve of RFC 9438, section 4.2, for a loss at `w_max` that has left `cwnd`.
fn w_cubic(c: f64, w_max: f64, cwnd: f64, t: f64) -> f64 {
    let k = ((w_max - cwnd) / c).cbrt();
    c * (t - k).powi(3) + w_max
}

#[test]
fn the_window_follows_the_curve_of_the_rfc_through_the_concave_and_the_convex_region() {
    let no_reno = Config { reno_friendly: false, ..Config::default() };
    for (config, whole, tolerance) in [
        (no_reno.clone(), false, 0.002),
        (no_reno.clone(), true, 0.002),
        (Config { reno_friendly: false, ..linux() }, true, 0.01),
    ] {
        let mut flow = Flow::new(&config, 1000.0, 50_000.0, whole);
        flow.lose();
        assert!((flow.cwnd() - 700.0).abs() < 0.6, "{}", flow.cwnd());
        let (start, began) = (flow.now_us, flow.cwnd());
        // K is 9.1 s.
        for _ in 0..40 {
            flow.round_trips(10);
            let expected = w_cubic(config.c, 1000.0, began, (flow.now_us - start) / 1e6);
            let off = flow.cwnd() / expected - 1.0;
            assert!(off.abs() < tolerance, "{whole} {:?}: {} not {expected}", config.arithmetic, flow.cwnd());
        }
        assert!(flow.cwnd() > 1300.0);
    }
}

/// RFC 9438, section 4.3: 3 (1 - beta) / (1 + beta) segments in a round trip, and one beyond the window of the loss.
#[test]
fn short_round_trips_grow_as_a_reno_of_the_same_average_does() {
    let mut flow = Flow::new(&Config::default(), 100.0, 100.0, false);
    flow.lose();
    let alpha = 3.0 * 0.3 / 1.7;
    flow.round_trips(50);
    assert!((flow.cwnd() - 70.0 - 50.0 * alpha).abs() < 0.3, "{}", flow.cwnd());
    // 57 round trips to 100.
    flow.round_trips(10);
    let before = flow.cwnd();
    flow.round_trips(20);
    assert!((flow.cwnd() - before - 20.0).abs() < 0.3, "{} {before}", flow.cwnd());
}

/// With that alpha the mean rate is NewReno's at any loss rate (RFC 9438, section 4.3): of a loss for each N packets,
/// the mean window of NewReno is the root of 3 N / 2, and so is this one.
#[test]
fn a_loss_for_each_so_many_packets_leaves_the_mean_window_of_newreno() {
    let packets = 20_000.0;
    let mut flow = Flow::new(&Config { fast_convergence: false, ..Config::default() }, 200.0, 100.0, false);
    let (mut sent, mut round_trips) = (0.0, 0.0);
    for loss in 0..60 {
        flow.lose();
        let mut left = packets;
        while left > 0.0 {
            left -= flow.cwnd();
            if loss >= 30 {
                (sent, round_trips) = (sent + flow.cwnd(), round_trips + 1.0);
            }
            flow.round_trips(1);
        }
    }
    let (mean, expected) = (sent / round_trips, (1.5 * packets).sqrt());
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean} not {expected}");
}

/// The same of Linux: a segment for 15/8 of a window of acknowledged segments, however long the flow lasts. What the
/// curve sets is up to 31 ms old.
#[test]
fn linux_grows_by_eight_fifteenths_of_a_segment_in_a_round_trip() {
    let mut flow = Flow::new(&linux(), 100.0, 10_000.0, true);
    flow.lose();
    flow.round_trips(100);
    let expected = 70.0 + 100.0 * 8.0 / 15.0;
    assert!((flow.cwnd() - expected).abs() < 4.0, "{} not {expected}", flow.cwnd());
}

/// Where a millisecond is many round trips, the rate that an ACK has set lasts until the next millisecond, or for up to
/// 31 ms while the window is the same: the window stands, and then grows by far more than NewReno's would.
#[test]
fn linux_grows_in_bursts_where_round_trips_are_shorter_than_its_clock() {
    let mut flow = Flow::new(&linux(), 100.0, 100.0, true);
    flow.lose();
    let windows = [10, 30, 10].map(|count| {
        flow.round_trips(count);
        flow.cwnd()
    });
    assert!((79.0..82.0).contains(&windows[0]), "a segment in a round trip: {windows:?}");
    assert!(windows[1] < windows[0] + 1.0, "{windows:?}");
    assert!(windows[2] > 1.5 * windows[1], "{windows:?}");
}

#[test]
fn a_loss_leaves_beta_and_below_the_last_maximum_that_is_lowered() {
    for (config, beta) in [(Config::default(), 0.7), (linux(), 717.0 / 1024.0)] {
        let mut model = cubic(&config);
        let lose = |model: &mut Model, cwnd: f64| {
            let mut window = window(cwnd);
            model.on_loss(Instant::ZERO, &mut window, (cwnd * MSS) as u64);
            assert_eq!(window.cwnd, window.ssthresh);
            (window.ssthresh / MSS, model.learned().unwrap())
        };
        let whole = |value: f64| if config.arithmetic == Arithmetic::Linux { value.floor() } else { value };
        let close = |is: (f64, f64), expected: (f64, f64)| {
            assert!((is.0 - expected.0).abs() < 1e-3 && (is.1 - expected.1).abs() < 1e-3, "{is:?} not {expected:?}");
        };
        close(lose(&mut model, 100.0), (whole(100.0 * beta), 100.0));
        close(lose(&mut model, 80.0), (whole(80.0 * beta), whole(80.0 * (1.0 + beta) / 2.0)));
        close(lose(&mut model, 300.0), (whole(300.0 * beta), 300.0));
        close(lose(&mut model, 2.0), (2.0, whole(1.0 + beta)));
        let mut slow = cubic(&Config { fast_convergence: false, ..config.clone() });
        close(lose(&mut slow, 100.0), (whole(100.0 * beta), 100.0));
        close(lose(&mut slow, 80.0), (whole(80.0 * beta), 80.0));
    }
}

#[test]
fn a_timeout_forgets_the_maximum_and_the_next_curve_begins_flat() {
    for config in [Config::default(), linux()] {
        let mut flow = Flow::new(&config, 100.0, 100.0, true);
        flow.lose();
        flow.round_trips(3);
        let flight = flow.window.cwnd as u64;
        let before = (flow.window.cwnd / MSS).floor();
        flow.model.on_timeout(at(2_000_000), &mut flow.window, flight, 1);
        assert_eq!(flow.window.cwnd, MSS);
        let ssthresh = flow.window.ssthresh / MSS;
        assert!((ssthresh - before * 0.7).abs() < 1.0, "{ssthresh}");
        assert_eq!(flow.model.learned(), Some(0.0));
        flow.model.on_timeout(at(3_000_000), &mut flow.window, flight, 2);
        assert_eq!(flow.window.ssthresh / MSS, ssthresh, "kept when the retransmission is lost as well");
    }
}

#[test]
fn what_is_not_used_up_or_in_recovery_does_not_grow() {
    for config in [Config::default(), linux()] {
        let mut model = cubic(&config);
        let mut window = window(50.0);
        let ack = AckSample { now: at(9), newly_acked: MSS_BYTES, snd_una: 1, ..AckSample::default() };
        model.on_ack(&mut window, &ack);
        model.on_ack(&mut window, &AckSample { window_limited: true, in_recovery: true, ..ack });
        model.on_ack(&mut window, &AckSample { window_limited: true, newly_acked: 0, ..ack });
        assert_eq!(window.cwnd, 50.0 * MSS);
    }
}

/// A pause of ten seconds, longer than K, leaves the window where the curve had it, and not far beyond `W_max`.
#[test]
fn an_idle_period_is_no_part_of_the_time_since_the_loss() {
    for config in [Config { reno_friendly: false, ..Config::default() }, Config { reno_friendly: false, ..linux() }] {
        let mut flows = [0.0, 10e6].map(|pause| {
            let mut flow = Flow::new(&config, 1000.0, 50_000.0, true);
            flow.lose();
            flow.round_trips(40);
            // Everything is acknowledged; the next packet leaves after the pause.
            let idle = AckSample {
                now: at(flow.now_us as u64),
                snd_una: 9,
                snd_nxt: 9,
                rtt: Span::from_ms(50),
                srtt: Span::from_ms(50),
                ..AckSample::default()
            };
            flow.model.on_ack(&mut flow.window, &idle);
            flow.now_us += pause + 50_000.0;
            flow.round_trips(40);
            flow
        });
        let [none, long] = &mut flows;
        assert!((long.cwnd() / none.cwnd() - 1.0).abs() < 0.005, "{} {}", long.cwnd(), none.cwnd());
    }
}

#[test]
fn the_next_flow_of_a_connection_begins_with_the_maximum_of_the_last() {
    for config in [Config { reno_friendly: false, ..Config::default() }, Config { reno_friendly: false, ..linux() }] {
        let mut next = Flow::new(&config, 700.0, 50_000.0, true);
        next.model.recall(1000.0);
        next.round_trips(100);
        let expected = w_cubic(0.4, 1000.0, 700.0, 5.0);
        assert!((next.cwnd() / expected - 1.0).abs() < 0.01, "{} {expected}", next.cwnd());
    }
}

/// Slow start in rounds of so many ACKs, `gap_us` apart, with these delays; gives the window at its end.
fn slow_start(config: &Config, cwnd: f64, rounds: &[(u64, u64)], gap_us: u64) -> Option<f64> {
    let mut model = cubic(config);
    let mut window = Window { ssthresh: f64::INFINITY, ..window(cwnd) };
    let (mut now, mut una) = (1_000_000, 0);
    for &(acks, rtt_us) in rounds {
        let start = una;
        for _ in 0..acks {
            una += MSS_BYTES;
            let sample = AckSample {
                now: at(now),
                newly_acked: MSS_BYTES,
                snd_una: una,
                // The ACK of a segment lets two leave; the first one comes before any has left.
                snd_nxt: start + acks * MSS_BYTES + 2 * (una - start - MSS_BYTES),
                window_limited: true,
                srtt: Span::from_us(rtt_us),
                rtt: Span::from_us(rtt_us),
                ..AckSample::default()
            };
            model.on_ack(&mut window, &sample);
            if window.ssthresh < f64::INFINITY {
                return Some(window.ssthresh / MSS);
            }
            now += gap_us;
        }
        now += 100_000;
    }
    None
}

#[test]
fn slow_start_ends_when_a_train_of_acks_fills_half_of_the_path() {
    // 40 ms of delay, to which bursts add at most 1 ms: a train of more than 20.5 ms at 1 ms a segment.
    let rounds = [(16, 40_000), (64, 40_000)];
    let bursty = Config { burst: Bytes(65_536), ..Config::default() };
    let end = slow_start(&bursty, 16.0, &rounds, 1_000).expect("it ends");
    // The round begins with its first ACK, at 32 segments, and 21 ms later the window is 21 larger.
    assert!((50.0..=55.0).contains(&end), "{end}");
    let without = slow_start(&Config::default(), 16.0, &rounds, 1_000).expect("it ends");
    assert!((49.0..=end).contains(&without), "{without}: no sooner than after half of the delay");
    let paced = slow_start(&Config { paced: true, ..bursty }, 16.0, &rounds, 1_000).expect("it ends");
    assert!((70.0..=75.0).contains(&paced), "{paced}");
    assert_eq!(slow_start(&Config { hystart: HystartKind::Off, ..Config::default() }, 16.0, &rounds, 1_000), None);
    // ACKs that come more than 2 ms apart are no train.
    assert_eq!(slow_start(&Config::default(), 16.0, &rounds, 2_001), None);
}

#[test]
fn slow_start_ends_when_the_delay_grows_by_an_eighth_and_4_to_16_ms() {
    for (least, limit) in [(1_000, 4_000), (80_000, 10_000), (400_000, 16_000)] {
        for (more, ends) in [(limit, false), (limit + 10, true)] {
            let rounds = [(20, least), (20, least + more)];
            let end = slow_start(&Config::default(), 20.0, &rounds, 1);
            // The ninth ACK of the round is the first one to end it.
            assert_eq!(end, ends.then_some(20.0 + 20.0 + 8.0), "{least} {more}");
        }
    }
    // Below 16 segments nothing ends slow start, and eight delays are needed.
    assert_eq!(slow_start(&Config::default(), 2.0, &[(6, 1_000), (7, 90_000)], 1), None);
    assert_eq!(slow_start(&Config::default(), 20.0, &[(20, 1_000), (8, 90_000)], 1), None);
}

proptest! {
    /// Whatever happens, windows are finite and never below one segment, and losses leave two or more.
    #[test]
    fn windows_stay_in_range(
        events in prop::collection::vec((0u8..8, 1u64..2_000_000, 1u64..400_000), 1..300),
        case in prop::sample::select(vec![Config::default(), linux(), Config { c: 1e9, beta: 0.1, ..linux() }]),
    ) {
        let mut model = cubic(&case);
        let mut window = Window { max: 1e5 * MSS, ..window(10.0) };
        let (mut now, mut una) = (0, 0);
        for (what, later, rtt) in events {
            now += later;
            let before = window.cwnd;
            match what {
                0 => model.on_loss(at(now), &mut window, before as u64),
                1 => model.on_timeout(at(now), &mut window, before as u64, 1),
                what => {
                    una += MSS_BYTES;
                    let sample = AckSample {
                        now: at(now),
                        newly_acked: MSS_BYTES,
                        snd_una: una,
                        snd_nxt: una + if what == 2 { 0 } else { before as u64 },
                        window_limited: true,
                        rtt: Span::from_us(rtt.min(now)),
                        srtt: Span::from_us(rtt),
                        ..AckSample::default()
                    };
                    model.on_ack(&mut window, &sample);
                    prop_assert!(window.cwnd >= before && window.cwnd <= before + MSS, "{before} {}", window.cwnd);
                }
            }
            prop_assert!(window.cwnd >= MSS && window.ssthresh >= 2.0 * MSS && window.cwnd.is_finite());
        }
    }
}

#[test]
fn values_out_of_range_are_refused() {
    for (config, key) in [
        (Config { c: 0.0, ..Config::default() }, "c"),
        (Config { c: f64::NAN, ..Config::default() }, "c"),
        (Config { beta: 1.0, ..Config::default() }, "beta"),
    ] {
        assert_eq!(Model::build(&config, &FlowContext::default()).unwrap_err().path, key);
    }
}

#[test]
fn linux_grows_by_a_twentieth_in_a_round_trip_until_it_has_lost_a_packet() {
    let grown = |w_max: f64| {
        let mut flow = Flow::new(&linux(), 1000.0, 10_000.0, true);
        flow.model.recall(w_max);
        flow.round_trips(4);
        flow.cwnd() / 1000.0
    };
    let expected = 1.05f64.powi(4);
    assert!((grown(0.0) / expected - 1.0).abs() < 0.005, "{}", grown(0.0));
    assert!(grown(1000.0) < 1.01, "{}", grown(1000.0));
}
