//! Swift: the window follows the round-trip time of each packet against a target; below one packet it becomes a pause.
//!
//! Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter" (SIGCOMM 2020),
//! algorithm 1: while the delay of an acknowledged packet is below its target the window grows by `ai` packets in a
//! round trip; once it is above, the window is cut by the share by which it is, at most once in a round trip and by at
//! most `max_mdf`. The target (section 3.5) is `base_target`, and `per_hop` for each switch of the way, and what flow
//! scaling adds for small windows: queues of N flows grow with the square root of N, and so do the targets of windows
//! that N flows share. A window below one packet sends one, and the next one after the round-trip time over the window
//! (section 3.4). A loss or a timeout cuts by `max_mdf`, also at most once in a round trip (algorithm 1, section 3.6).
//!
//! The paper splits the delay into that of the fabric and that of the end points, with a window for either, and takes
//! the smaller one (section 3.3). Hosts have no delay here: a packet is stamped when it begins to leave, and its ACK is
//! made when it has landed. The window of the end points would never be the smaller one, and there is none. (ACKs that
//! the transport is told to delay would count as delay of the fabric; the paper delays none, section 3.6.)
//!
//! What the paper leaves to the transport is TCP's here: the window of a new flow (`initial_window`), the largest one
//! (`max_window`), what means a loss, one cut for all losses of a recovery, and timeouts. There is no slow start.
//! Without ECN.
//!
//! Three things are not as in algorithm 1:
//!
//! - A window that is not used up does not grow, as in TCP (RFC 7661). The paper says nothing of it.
//! - The time of the last cut is set by a cut alone, as section 3.2 says in words, and as csg-htsim and Falcon do it.
//!   Line 27 of the listing sets it also when the window stays as it is (`cwnd <= cwnd_prev`): above the target that
//!   is at each ACK, and no cut would follow the first one before the delay has fallen.
//! - Below one packet a flow waits for the ACK of a packet before the next one, too, as the window of the transport is
//!   one packet then: where the round trip has grown beyond the pause, the next packet comes that much later.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Instant, MSS_BYTES, MTU_BYTES, Span, bdp_bytes};
use tailcut_model::seat::{AckSample, CongestionControl, Window};
use tailcut_model::{Around, Build, Facts, Invalid, Parameters, PathFacts, PortAround};

use super::FlowContext;

const MSS: f64 = MSS_BYTES as f64;

/// What delay is aimed at, and how the window follows it.
///
/// The paper names these parameters and gives values for few of them. The others are from two public programs: Falcon,
/// the transport of Google's network cards, as in its simulator (falcon-transport/isekai,
/// `isekai/host/falcon/rue/algorithm/swift.cc`, "many of the default values comes from Swift in Pony", the stack of the
/// paper), and csg-htsim (Broadcom/csg-htsim, `sim/swift.cpp`), which calls its own guesses. What Pony itself uses is
/// not public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Additive increase in packets per round trip (algorithm 1, ai; Falcon, csg-htsim: 1).
    pub ai: f64,
    /// How much of the share of the delay that is above the target the window is cut by (algorithm 1, beta; Falcon,
    /// csg-htsim: 0.8).
    pub beta: f64,
    /// The most that a window is cut by at a time, as a share of it (algorithm 1, max_mdf; Falcon, csg-htsim: 0.5).
    pub max_mdf: f64,
    /// The target of a large window but for what `per_hop` adds (section 3.5, base_target; csg-htsim: 20 us, and 25 us
    /// in Falcon and in the experiments of sections 5.1 and 5.2). Together they have to be above the round trip of the
    /// idle network, by what may wait in queues; without `per_hop` this is what may wait.
    pub base_target: Span,
    /// What each switch of the way adds to the target (section 3.5, topology scaling, which counts hops by the time to
    /// live of packets; Falcon: 1 us, csg-htsim: 20 us / 6.55, for each link). Without it, the round trip of a full
    /// packet over the way in the idle network is added (ours): what the hop count is to stand for, exactly. A fixed
    /// cost fits one network; where links are longer, targets would be below the idle round trip and leave links empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_hop: Option<Span>,
    /// What flow scaling adds to the target at most, at windows of `fs_min_cwnd` and less (section 3.5; Falcon,
    /// csg-htsim: 100 us). Zero: no flow scaling.
    pub fs_range: Span,
    /// The window in packets at and below which flow scaling adds all of `fs_range` (section 3.5; Falcon,
    /// csg-htsim: 0.1).
    pub fs_min_cwnd: f64,
    /// The window in packets from which on flow scaling adds nothing (section 3.5; csg-htsim: 100, Falcon: 256, its
    /// largest window).
    pub fs_max_cwnd: f64,
    /// Smallest window in packets (algorithm 1, min_cwnd; section 3.4: 0.001).
    pub min_cwnd: f64,
    /// After so many timeouts without an ACK between them the window is the smallest one (algorithm 1,
    /// RETX_RESET_THRESHOLD; csg-htsim: 5, Falcon: 3).
    pub retx_reset_threshold: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            base_target: Span::from_us(20),
            per_hop: None,
            fs_range: Span::from_us(100),
            fs_min_cwnd: 0.1,
            fs_max_cwnd: 100.0,
            min_cwnd: 0.001,
            retx_reset_threshold: 5,
        }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "base_target = \"5us\", per_hop = \"2us\", fs_range = \"0us\"",
        "ai = 2.0, beta = 0.4, max_mdf = 0.3, min_cwnd = 0.01, retx_reset_threshold = 2",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.own_times();
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        let target = Target::new(self, &PathFacts { hops: around.hops, rtt: around.rtt, ..PathFacts::default() });
        let aimed = Span::from_ps(target.fixed as u64);
        if aimed <= around.rtt {
            return vec![format!(
                "swift aims for a round trip of {aimed} between the hosts that are furthest apart, and it is {} where \
                 nothing waits: large windows do not grow, and links stay empty",
                around.rtt
            )];
        }
        let waits = aimed - around.rtt;
        // At the rate of the port, and no higher one than paths have.
        let bdp = |port: &PortAround| bdp_bytes(port.rate.min(around.path_rate), around.rtt);
        let bytes =
            |port: &PortAround, waits: f64| (bdp(port) as f64 * (waits / around.rtt.as_ps() as f64)).round() as u64;
        let queue = |port: &PortAround| bytes(port, waits.as_ps() as f64);
        if let Some((port, name)) = around.overfull_port(queue, |port| Some(port.class_room)) {
            return vec![format!(
                "swift aims for {} B in queues ({waits} at {}), and {name} holds {} B: it drops before the delay is seen",
                queue(port),
                port.rate.min(around.path_rate),
                port.class_room
            )];
        }
        let most = |port: &PortAround| bytes(port, waits.as_ps() as f64 + target.range);
        let Some((port, name)) = around.overfull_port(most, |port| Some(port.class_room)) else { return Vec::new() };
        let (bdp, held) = (bdp(port), port.class_room);
        // The window at which the delay that is aimed for is that of a full port, and how many of it fill way and port.
        let room = around.rtt.as_ps() as f64 * (held as f64 / bdp as f64) - waits.as_ps() as f64;
        let cwnd = (target.alpha / (room - target.beta)).powi(2);
        let flows = ((bdp + held) as f64 / (cwnd * MTU_BYTES as f64)).ceil();
        vec![format!(
            "swift aims for more in queues than the {held} B of {name} where about {flows} flows or more meet: it \
             drops before the delay is seen (`fs_range` adds up to {})",
            self.fs_range
        )]
    }
}

/// The congestion control of one flow.
// Boxed, so that flows under DCTCP are no larger for it.
#[derive(Debug)]
pub struct Model(Box<State>);

#[derive(Debug)]
struct State {
    ai: f64,
    beta: f64,
    max_mdf: f64,
    min_cwnd: f64,
    retx_reset_threshold: u32,
    /// Timeouts since the last ACK or recovery.
    timeouts: u32,
    target: Target,
    /// The window in packets while it is below one, and `Window::cwnd` is one packet; 1 else.
    below_one: f64,
    /// The newest round-trip time.
    rtt: Span,
    /// When the window was last cut.
    cut: Option<Instant>,
}

/// The delay that a flow aims for, by its window. Picoseconds.
#[derive(Debug)]
struct Target {
    /// What depends on neither the window nor the path.
    base: Span,
    per_hop: Option<Span>,
    /// What does not depend on the window.
    fixed: f64,
    range: f64,
    alpha: f64,
    beta: f64,
}

impl Target {
    fn new(config: &Config, path: &PathFacts) -> Target {
        let range = config.fs_range.as_ps() as f64;
        let root = |cwnd: f64| 1.0 / cwnd.sqrt();
        let alpha = range / (root(config.fs_min_cwnd) - root(config.fs_max_cwnd));
        let (base, per_hop) = (config.base_target, config.per_hop);
        let mut target = Target { base, per_hop, fixed: 0.0, range, alpha, beta: -alpha * root(config.fs_max_cwnd) };
        target.set_path(path);
        target
    }

    /// Takes another path.
    fn set_path(&mut self, path: &PathFacts) {
        let way = match self.per_hop {
            // What the time to live of a packet tells the receiver: switches, which are one fewer than links.
            Some(per_hop) => per_hop * u64::from(path.hops.saturating_sub(1)),
            None => path.rtt,
        };
        self.fixed = (self.base + way).as_ps() as f64;
    }

    /// Base target, topology scaling and flow scaling (section 3.5), at a window in packets.
    fn at(&self, cwnd: f64) -> f64 {
        self.fixed + (self.alpha / cwnd.sqrt() + self.beta).min(self.range).max(0.0)
    }
}

impl Build for Model {
    type Config = Config;
    type Context = FlowContext;

    fn build(config: &Config, flow: &FlowContext) -> Result<Model, Invalid> {
        config.validate()?;
        Ok(Model(Box::new(State {
            ai: config.ai,
            beta: config.beta,
            max_mdf: config.max_mdf,
            min_cwnd: config.min_cwnd,
            retx_reset_threshold: config.retx_reset_threshold,
            timeouts: 0,
            target: Target::new(config, &flow.path),
            below_one: 1.0,
            rtt: flow.path.rtt,
            cut: None,
        })))
    }

    fn heap_bytes(&self) -> usize {
        size_of::<State>()
    }
}

impl Config {
    fn validate(&self) -> Result<(), Invalid> {
        let positive = |key: &str, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Invalid::new(key, format!("{value} is out of range")).help("expected a positive number")),
        };
        positive("ai", self.ai)?;
        positive("beta", self.beta)?;
        positive("fs_min_cwnd", self.fs_min_cwnd)?;
        if !(self.max_mdf > 0.0 && self.max_mdf < 1.0) {
            return Err(Invalid::new("max_mdf", format!("{} is no share of a window", self.max_mdf))
                .help("expected a number above 0 and below 1, such as 0.5"));
        }
        if !(self.fs_max_cwnd > self.fs_min_cwnd && self.fs_max_cwnd.is_finite()) {
            let message = format!("{} is not above fs_min_cwnd, {}", self.fs_max_cwnd, self.fs_min_cwnd);
            return Err(Invalid::new("fs_max_cwnd", message).help("expected more packets than fs_min_cwnd"));
        }
        // A millionth of a packet in a round trip of a millisecond is one in a quarter of an hour.
        if !(self.min_cwnd >= 1e-6 && self.min_cwnd <= 1.0) {
            return Err(Invalid::new("min_cwnd", format!("{} is no smallest window", self.min_cwnd))
                .help("expected a number of packets between 0.000001 and 1"));
        }
        if self.retx_reset_threshold == 0 {
            return Err(Invalid::new("retx_reset_threshold", "is zero").help("expected 1 or more"));
        }
        Ok(())
    }
}

impl State {
    /// The window in packets. It is the transport's, which may change it between two calls, but for what is below one
    /// packet.
    fn cwnd(&self, window: &Window) -> f64 {
        window.cwnd / MSS * self.below_one
    }

    /// Whether the last cut is a round trip ago.
    fn can_decrease(&self, now: Instant) -> bool {
        self.cut.is_none_or(|cut| now.saturating_since(cut) >= self.rtt)
    }

    /// Sets the window to so many packets: what is below one is a pause.
    fn set(&mut self, now: Instant, window: &mut Window, cwnd: f64) {
        let before = self.cwnd(window);
        let cwnd = cwnd.clamp(self.min_cwnd, (window.max / MSS).max(self.min_cwnd));
        if cwnd < before {
            self.cut = Some(now);
        }
        self.below_one = cwnd.min(1.0);
        window.cwnd = cwnd.max(1.0) * MSS;
        // No slow start, and the end of a recovery changes nothing.
        window.ssthresh = window.cwnd;
        window.gap = match cwnd < 1.0 {
            true => Span::from_ps((self.rtt.as_ps() as f64 / cwnd).round() as u64),
            false => Span::ZERO,
        };
    }

    /// Cuts by the most, if it is time.
    fn cut_by_most(&mut self, now: Instant, window: &mut Window) {
        let factor = if self.can_decrease(now) { 1.0 - self.max_mdf } else { 1.0 };
        self.set(now, window, factor * self.cwnd(window));
    }
}

impl CongestionControl for Model {
    /// The part of the window below one packet.
    fn learned(&self) -> Option<f64> {
        Some(self.0.below_one)
    }

    fn recall(&mut self, below_one: f64) {
        self.0.below_one = below_one;
    }

    fn on_path(&mut self, path: PathFacts) {
        self.0.target.set_path(&path);
    }

    #[inline]
    fn ecn_capable(&self) -> bool {
        false
    }

    fn paces(&self) -> bool {
        true
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool {
        let state = &mut *self.0;
        state.timeouts = 0;
        state.rtt = ack.rtt;
        let cwnd = state.cwnd(window);
        let delay = ack.rtt.as_ps() as f64;
        let target = state.target.at(cwnd);
        let next = if delay < target {
            let acked = if ack.window_limited { ack.newly_acked as f64 / MSS } else { 0.0 };
            cwnd + state.ai * acked / cwnd.max(1.0)
        } else if state.can_decrease(ack.now) {
            cwnd * (1.0 - state.beta * (delay - target) / delay).max(1.0 - state.max_mdf)
        } else {
            cwnd
        };
        state.set(ack.now, window, next);
        false
    }

    fn on_loss(&mut self, now: Instant, window: &mut Window, _flight: u64) {
        self.0.timeouts = 0;
        self.0.cut_by_most(now, window);
    }

    fn on_timeout(&mut self, now: Instant, window: &mut Window, _flight: u64, _consecutive: u32) {
        let state = &mut *self.0;
        // The transport counts on until an ACK acknowledges something new; here any ACK ends the row.
        state.timeouts += 1;
        if state.timeouts >= state.retx_reset_threshold {
            state.set(now, window, state.min_cwnd);
        } else {
            state.cut_by_most(now, window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::window;
    use tailcut_base::BitRate;

    use super::*;

    fn us(us: u64) -> Instant {
        Instant::ZERO + Span::from_us(us)
    }

    /// A flow over four links, so three switches, whose target is 32 us, and 100 us more at the smallest windows.
    fn config() -> Config {
        Config { per_hop: Some(Span::from_us(4)), ..Config::default() }
    }

    fn flow(hops: u8) -> FlowContext {
        FlowContext {
            path: PathFacts { hops, rtt: Span::from_us(24), ..PathFacts::default() },
            ..FlowContext::default()
        }
    }

    fn swift(config: &Config) -> Model {
        Model::build(config, &flow(4)).unwrap()
    }

    /// A flow whose target is 32 us whatever its window is.
    fn unscaled() -> Model {
        swift(&Config { fs_range: Span::ZERO, ..config() })
    }

    /// An ACK for so many segments, of a packet that was so long on its way.
    fn ack(at_us: u64, segments: u64, rtt_us: u64) -> AckSample<'static> {
        AckSample {
            now: us(at_us),
            newly_acked: segments * MSS_BYTES,
            window_limited: true,
            rtt: Span::from_us(rtt_us),
            ..AckSample::default()
        }
    }

    /// The window in packets, with what is below one.
    fn packets(model: &Model, window: &Window) -> f64 {
        model.0.cwnd(window)
    }

    fn close(is: f64, expected: f64) {
        assert!((is - expected).abs() < 1e-6 * expected, "{is}, not {expected}");
    }

    #[test]
    fn the_target_has_a_part_for_each_switch_and_one_that_falls_with_the_root_of_the_window() {
        // alpha = 100 us / (1 / sqrt 0.1 - 1 / sqrt 100) = 32.655432 us, beta = -alpha / sqrt 100 = -3.265543 us.
        for (cwnd, scaling) in [
            (0.001, 100.0),
            (0.1, 100.0),
            (1.0, 29.389889),
            (4.0, 13.062173),
            (25.0, 3.265543),
            (100.0, 0.0),
            (1_000.0, 0.0),
        ] {
            for (links, switches) in [(2, 1.0), (4, 3.0), (8, 7.0)] {
                let model = Model::build(&config(), &flow(links)).unwrap();
                close(model.0.target.at(cwnd) / 1e6, 20.0 + switches * 4.0 + scaling);
            }
        }
    }

    #[test]
    fn without_a_cost_for_each_switch_the_idle_round_trip_is_that_of_the_way() {
        let model = Model::build(&Config::default(), &flow(4)).unwrap();
        close(model.0.target.at(100.0) / 1e6, 20.0 + 24.0);
    }

    #[test]
    fn below_the_target_a_round_trip_of_acks_adds_ai_packets() {
        for ai in [0.5, 1.0, 3.0] {
            let mut model = swift(&Config { ai, ..config() });
            let mut w = window(10.0);
            model.on_ack(&mut w, &ack(100, 10, 31));
            close(packets(&model, &w), 10.0 + ai);
            // One ACK for each packet: a little less, because the window grows meanwhile.
            let mut w = window(100.0);
            for nth in 0..100 {
                model.on_ack(&mut w, &ack(100 + nth, 1, 31));
            }
            let grown = packets(&model, &w) - 100.0;
            assert!(grown <= ai && grown > 0.95 * ai, "{grown}");
        }
    }

    #[test]
    fn a_window_that_is_not_used_up_does_not_grow_and_is_cut_all_the_same() {
        let mut model = unscaled();
        let mut w = window(10.0);
        model.on_ack(&mut w, &AckSample { window_limited: false, ..ack(100, 10, 31) });
        assert_eq!(packets(&model, &w), 10.0);
        model.on_ack(&mut w, &AckSample { window_limited: false, ..ack(100, 10, 64) });
        close(packets(&model, &w), 6.0);
    }

    #[test]
    fn the_cut_is_beta_times_the_share_of_the_delay_above_the_target_and_at_most_max_mdf() {
        // 1 - 0.8 (delay - 32) / delay, at least one half.
        for (rtt, factor) in [(32, 1.0), (40, 0.84), (48, 0.733_333_333), (64, 0.6), (80, 0.52), (96, 0.5), (900, 0.5)]
        {
            let mut model = unscaled();
            let mut w = window(50.0);
            model.on_ack(&mut w, &ack(1_000, 1, rtt));
            close(packets(&model, &w), 50.0 * factor);
        }
    }

    #[test]
    fn the_window_is_cut_at_most_once_in_a_round_trip() {
        let mut model = unscaled();
        let mut w = window(50.0);
        model.on_ack(&mut w, &ack(1_000, 1, 64));
        close(packets(&model, &w), 30.0);
        model.on_ack(&mut w, &ack(1_063, 1, 64));
        close(packets(&model, &w), 30.0);
        model.on_loss(us(1_063), &mut w, 0);
        model.on_timeout(us(1_063), &mut w, 0, 1);
        close(packets(&model, &w), 30.0);
        model.on_ack(&mut w, &ack(1_064, 1, 64));
        close(packets(&model, &w), 18.0);
    }

    #[test]
    fn losses_cut_by_the_most_and_leave_no_jump_for_the_end_of_recovery() {
        let mut model = unscaled();
        let mut w = window(50.0);
        model.on_ack(&mut w, &ack(1_000, 0, 31));
        model.on_loss(us(1_001), &mut w, 3 * MSS_BYTES);
        assert_eq!((packets(&model, &w), w.ssthresh), (25.0, w.cwnd));
        // The delay goes on to decide in recovery.
        model.on_ack(&mut w, &AckSample { in_recovery: true, ..ack(1_040, 25, 31) });
        assert_eq!((packets(&model, &w), w.ssthresh), (26.0, w.cwnd));
        model.on_timeout(us(2_000), &mut w, 0, 1);
        assert_eq!(packets(&model, &w), 13.0);
    }

    #[test]
    fn as_many_timeouts_in_a_row_as_the_threshold_leave_the_smallest_window() {
        let mut model = swift(&Config { retx_reset_threshold: 3, min_cwnd: 0.01, ..config() });
        let mut w = window(8.0);
        for (consecutive, expected) in [(1, 4.0), (2, 2.0), (3, 0.01), (4, 0.01)] {
            model.on_timeout(us(10_000 * u64::from(consecutive)), &mut w, 0, consecutive);
            close(packets(&model, &w), expected);
        }
    }

    #[test]
    fn any_ack_and_any_recovery_end_the_row_of_timeouts() {
        let mut model = swift(&Config { retx_reset_threshold: 2, ..config() });
        let mut w = window(64.0);
        model.on_timeout(us(10_000), &mut w, 0, 1);
        // Nothing new is acknowledged, and the transport counts on.
        model.on_ack(&mut w, &ack(20_000, 0, 31));
        model.on_timeout(us(30_000), &mut w, 0, 2);
        model.on_loss(us(40_000), &mut w, 0);
        model.on_timeout(us(50_000), &mut w, 0, 3);
        close(packets(&model, &w), 4.0);
        model.on_timeout(us(60_000), &mut w, 0, 4);
        close(packets(&model, &w), 0.001);
    }

    #[test]
    fn below_one_packet_the_window_is_one_and_the_pause_a_round_trip_over_it() {
        let mut model = unscaled();
        let mut w = window(1.0);
        for (at, expected) in [(1_000, 0.5), (2_000, 0.25), (3_000, 0.125)] {
            model.on_ack(&mut w, &ack(at, 0, 100));
            close(packets(&model, &w), expected);
            assert_eq!(w.cwnd, MSS);
            assert_eq!(w.gap, Span::from_ps((100e6 / expected) as u64));
        }
        // There, ai packets are added for each packet and not for each window.
        model.on_ack(&mut w, &ack(3_500, 1, 30));
        close(packets(&model, &w), 1.125);
        assert_eq!((w.cwnd, w.gap), (1.125 * MSS, Span::ZERO));
    }

    #[test]
    fn the_window_stays_between_the_smallest_one_and_that_of_the_transport() {
        let mut model = swift(&Config { min_cwnd: 0.2, ..config() });
        let mut w = Window { max: 12.0 * MSS, ..window(11.5) };
        model.on_ack(&mut w, &ack(100, 50, 25));
        assert_eq!(packets(&model, &w), 12.0);
        for nth in 1..20 {
            model.on_ack(&mut w, &ack(10_000 * nth, 0, 5_000));
        }
        assert_eq!(packets(&model, &w), 0.2);
    }

    #[test]
    fn values_out_of_range_are_refused_at_their_key() {
        let usual = Config::default;
        for (config, path) in [
            (Config { ai: 0.0, ..usual() }, "ai"),
            (Config { beta: f64::NAN, ..usual() }, "beta"),
            (Config { max_mdf: 1.0, ..usual() }, "max_mdf"),
            (Config { fs_min_cwnd: 0.0, ..usual() }, "fs_min_cwnd"),
            (Config { fs_max_cwnd: 0.1, ..usual() }, "fs_max_cwnd"),
            (Config { min_cwnd: 0.0, ..usual() }, "min_cwnd"),
            (Config { min_cwnd: 1.5, ..usual() }, "min_cwnd"),
            (Config { retx_reset_threshold: 0, ..usual() }, "retx_reset_threshold"),
        ] {
            let error = Model::build(&config, &FlowContext::default()).unwrap_err();
            assert_eq!(error.path, path);
            assert!(error.help.is_some());
        }
    }

    #[test]
    fn a_target_that_no_port_holds_and_one_below_the_idle_round_trip_are_warned_of() {
        let warning = |config: &Config, class_room| {
            let around = Around {
                rtt: Span::from_us(80),
                hops: 4,
                bdp: 100_000,
                path_rate: BitRate::gbps(10),
                ports: vec![PortAround {
                    name: "the port switch0->host1".to_owned(),
                    rate: BitRate::gbps(10),
                    bdp: 100_000,
                    room: class_room,
                    class_room,
                    lossy_room: Some(class_room),
                }],
                port_rate: BitRate::gbps(10),
                port_bdp: 100_000,
                port_limit: class_room,
                port_room: class_room,
                class_room,
                lossy_room: Some(class_room),
                sprays: false,
                marks_are_read: false,
                may_lose: true,
                arrivals: Span::from_ms(10),
                run_drain: Span::from_ms(10_000),
                largest_sizes: Vec::new(),
                incasts: Vec::new(),
            };
            config.warnings(&around).join("; ")
        };
        let says = |config: &Config, class_room, words: &str| {
            let warning = warning(config, class_room);
            assert!(warning.contains(words), "{warning}");
        };
        // 20 us at 10 Gb/s are 25,000 B, and 120 us 150,000 B.
        let usual = Config::default();
        assert_eq!(warning(&usual, 150_000), "");
        says(&usual, 24_000, "aims for 25000 B in queues (20us at 10Gbps), and a port holds 24000 B");
        // With the 29.389889 us that scaling adds for a window of one packet it is 49.389889 us, or 61,737 B. The way
        // and the port hold 161,737 B then, which are 108 such windows.
        says(&usual, 61_737, "than the 61737 B of a port where about 108 flows or more meet");
        let unscaled = Config { fs_range: Span::ZERO, ..Config::default() };
        assert_eq!(warning(&unscaled, 61_737), "");
        // Three switches: 20 + 3 x 30 us are 30 us above the idle round trip, 3 x 20 us are not above it.
        let per_hop = |us| Config { per_hop: Some(Span::from_us(us)), ..unscaled.clone() };
        assert_eq!(warning(&per_hop(30), 37_500), "");
        says(&per_hop(30), 37_499, "aims for 37500 B in queues (30us");
        says(&per_hop(20), 250_000, "a round trip of 80us between the hosts that are furthest apart");
    }
}
