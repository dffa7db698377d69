//! What receive windows do, fed by hand and by senders that use them up.

use proptest::prelude::*;
use tailcut_base::HostId;
use tailcut_model::FlowId;

use super::*;
use crate::HostConfig;

const RTT: Span = Span::from_us(100);

fn model() -> Model {
    Model::build(&Config::default(), &HostContext::of(HostConfig::default())).unwrap()
}

fn data(flow: u32, segment: u64) -> Packet {
    Packet::data(FlowId(flow), HostId(1), HostId(0), segment * MSS_BYTES, MSS_BYTES as u16, u64::MAX, Instant::ZERO)
}

/// Senders that always have their whole window on the way, a round trip of `RTT` from the receiver, which acknowledges
/// each packet.
struct Senders {
    model: Model,
    /// Segments that are on their way: when each lands, of which flow.
    on_the_way: std::collections::BTreeSet<(Instant, u32, u64)>,
    /// The next segment of each flow to leave, and the next one that its receiver expects.
    next: Vec<(u64, u64)>,
    now: Instant,
    /// When the link to the host is free again.
    link_free: Instant,
}

impl Senders {
    fn new(flows: u32) -> Senders {
        let mut senders = Senders {
            model: model(),
            on_the_way: Default::default(),
            next: vec![(0, 0); flows as usize],
            now: Instant::from_ps(1),
            link_free: Instant::ZERO,
        };
        for flow in 0..flows {
            senders.model.on_open(senders.now, flow);
            let window = senders.model.advertise(senders.now, flow, 0).unwrap();
            senders.send(flow, window);
        }
        senders
    }

    /// All that the window allows leaves; it reaches the host one after the other, at the rate of its link.
    fn send(&mut self, flow: u32, window: u16) {
        let (next, expected) = &mut self.next[flow as usize];
        while *next < *expected + u64::from(window) {
            self.link_free = self.link_free.max(self.now + RTT) + Span::from_ns(1_200);
            self.on_the_way.insert((self.link_free, flow, *next));
            *next += 1;
        }
    }

    /// The next packet arrives and is acknowledged; gives its flow and the window.
    fn step(&mut self) -> (u32, u16) {
        let (now, flow, segment) = self.on_the_way.pop_first().unwrap();
        self.now = now;
        self.model.on_data(now, flow, &data(flow, segment));
        self.next[flow as usize].1 = segment + 1;
        let window = self.model.advertise(now, flow, (segment + 1) * MSS_BYTES).unwrap();
        self.send(flow, window);
        (flow, window)
    }

    fn run(&mut self, time: Span, mut look: impl FnMut(u32, u16)) {
        let end = self.now + time;
        while self.now < end {
            let (flow, window) = self.step();
            look(flow, window);
        }
    }
}

#[test]
fn a_lone_flow_grows_to_nine_tenths_of_the_link_and_no_further() {
    let mut senders = Senders::new(1);
    let mut largest = 0;
    senders.run(Span::from_ms(100), |_, window| largest = largest.max(window));
    // 9 Gb/s in 100 us are 75 packets of 1500 B; packets that queue behind each other make the round trip longer than
    // RTT.
    assert!((60..=76).contains(&largest), "{largest} segments");
}

#[test]
fn the_round_trip_is_measured_at_the_receiver() {
    let mut senders = Senders::new(1);
    for _ in 0..3 {
        senders.step();
    }
    let rtt = senders.model.state.flow(0).rtt;
    assert!(rtt >= RTT && rtt < RTT + Span::from_us(5), "{rtt}");
}

#[test]
fn many_flows_stay_at_the_floor_and_never_below() {
    let mut senders = Senders::new(80);
    senders.run(Span::from_ms(50), |_, window| assert!(window >= 2));
    let total: u32 = senders.model.state.flows.iter().flatten().map(|flow| u32::from(flow.window)).sum();
    // Two segments each fill the link already: 160 packets in a round trip of 83.
    assert_eq!(total, 160);
}

/// A flow with a window of 20 whose intervals bring so many segments each; gives its windows after each interval.
fn windows(segments: &[u64]) -> Vec<u16> {
    let mut model = model();
    let start = Instant::from_ps(1);
    model.on_open(start, 0);
    let flow = model.state.flow(0);
    (flow.window, flow.rtt) = (20, RTT);
    model.state.slot.grows = true;
    segments
        .iter()
        .zip(1..)
        .map(|(&segments, n)| {
            let state = &mut *model.state;
            state.flow(0).bytes = segments * MSS_BYTES;
            // Measured throughput is what this interval alone brings.
            state.flow(0).rate = 0.0;
            state.judge(start + RTT * (2 * n), 0);
            state.flow(0).window
        })
        .collect()
}

#[test]
fn three_intervals_of_less_than_half_the_promise_cost_a_segment() {
    // 40 segments are promised in two round trips; 16 are 0.4 of them.
    assert_eq!(windows(&[16, 16, 16]), [20, 20, 19]);
    assert_eq!(windows(&[16, 16]), [20, 20]);
    // One better interval in between starts the count anew.
    assert_eq!(windows(&[16, 16, 30, 16, 16, 16]), [20, 20, 20, 20, 20, 19]);
}

#[test]
fn the_smoothed_throughput_falls_slowly_and_rises_at_once() {
    let mut model = model();
    model.on_open(Instant::ZERO, 0);
    let state = &mut *model.state;
    state.flow(0).rtt = RTT;
    state.slot.grows = true;
    let mut measure = |n: u64, segments: u64| {
        state.flow(0).bytes = segments * MSS_BYTES;
        state.judge(Instant::ZERO + RTT * (2 * n), 0);
        (state.flow(0).rate * (RTT * 2).as_secs_f64() / MSS_BYTES as f64 * 1e6).round() / 1e6
    };
    assert_eq!(measure(1, 100), 100.0);
    assert_eq!(measure(2, 20), 80.0);
    assert_eq!(measure(3, 400), 400.0);
}

#[test]
fn forty_senders_have_eighty_packets_on_their_way() {
    let mut model = model();
    let allowed: u32 = (0..40)
        .map(|flow| {
            model.on_open(Instant::ZERO, flow);
            u32::from(model.advertise(Instant::ZERO, flow, 0).unwrap())
        })
        .sum();
    assert_eq!(allowed, 80);
}

#[test]
fn a_nearly_full_link_takes_from_larger_windows() {
    let mut model = model();
    let start = Instant::from_ps(1);
    for (flow, window) in [(0, 30), (1, 10), (2, 2)] {
        model.on_open(start, flow);
        let state = model.state.flow(flow);
        (state.window, state.rtt) = (window, RTT);
    }
    let state = &mut *model.state;
    state.slot = Slot { began: start, half: RTT, grows: false, arrived: 0, quota: 0.0, weights: (0.0, 0.0) };
    // 0.75 of the link arrive in the first half, so that 0.15 are left.
    state.slot.arrived = (0.75 * state.link * RTT.as_secs_f64()) as u64;
    state.roll(start + RTT);
    let windows: Vec<u16> = state.flows.iter().flatten().map(|flow| flow.window).collect();
    assert_eq!(windows, [29, 10, 2]);
    assert_eq!(state.slot.quota, 0.0);
}

#[test]
fn a_retransmission_measures_nothing() {
    let mut model = model();
    model.on_open(Instant::ZERO, 0);
    model.advertise(Instant::ZERO, 0, 0);
    let mut packet = data(0, 0);
    packet.flags.set(Flags::RETRANSMITTED);
    model.on_data(Instant::ZERO + Span::from_ms(10), 0, &packet);
    assert_eq!(model.state.flow(0).rtt, Span::ZERO);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        Model::build(&config, &HostContext::of(HostConfig::default())).unwrap_err().path
    };
    assert_eq!(refused(|c| c.usable = 1.1), "usable");
    assert_eq!(refused(|c| c.smoothing = f64::NAN), "smoothing");
    assert_eq!(refused(|c| c.grow_below = 0.6), "grow_below");
    assert_eq!(refused(|c| c.min_window = 0), "min_window");
    assert_eq!(refused(|c| c.initial_window = 1), "initial_window");
    assert_eq!(refused(|c| c.base_rtt = Span::ZERO), "base_rtt");
}

proptest! {
    /// Whatever arrives, a window is never below the floor, and all together never promise more growth than the link
    /// has left.
    #[test]
    fn windows_stay_in_their_bounds(flows in 1u32..12, steps in 1usize..2_000) {
        let mut senders = Senders::new(flows);
        for _ in 0..steps {
            let (_, window) = senders.step();
            prop_assert!(window >= 2);
            prop_assert!(senders.model.state.slot.quota >= 0.0);
        }
        let total: u32 = senders.model.state.flows.iter().flatten().map(|flow| u32::from(flow.window)).sum();
        prop_assert!(total <= 2 * flows + 76, "{total} segments of {flows} flows");
    }
}
