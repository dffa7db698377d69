//! L2DCT: DCTCP whose window opens and is cut by the bytes that the flow has sent, so that rates imitate least attained
//! service.
//!
//! Munir et al., "Minimizing Flow Completion Times in Data Centers" (INFOCOM 2013): a flow has a weight w that falls
//! from `w_max` to `w_min` as it sends; its window opens by k = w / `w_max` segments in a round trip, and is cut by b /
//! 2 with b = alpha^w. The formula and its constants are those of the public ns-2 code (HKUST-SING/PIAS-NS2,
//! `tcp/tcp.cc`), without its slip of counting each ACK twice in congestion avoidance, under which flows of any weight
//! grow alike. Slow start and losses are TCP's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Bytes;
use tailcut_model::seat::{AckSample, CongestionControl, Window};
use tailcut_model::{Build, Facts, Invalid, Parameters, Thing};

use super::FlowContext;
use super::marks::{Answer, Marks};

/// How marks are answered, and by which bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// g: weight of the newest window in the estimate of the marked share (SPQ, Xie et al. 2018, section 4.2: 1/16).
    pub gain: f64,
    /// alpha at the start of a flow (RFC 8257, section 4.2: 1; ns-2 and some ns-3 trees: 0).
    pub alpha0: f64,
    /// Smallest window after a cut, in packets (RFC 8257, section 3.3: 1).
    pub floor: u32,
    /// Weight of a flow that has sent up to `full_weight` (HKUST-SING/PIAS-NS2, `tcp/tcp.cc`: 2.5).
    pub w_max: f64,
    /// Weight of a flow that has sent `least_weight` or more (HKUST-SING/PIAS-NS2, `tcp/tcp.cc`: 0.125).
    pub w_min: f64,
    /// Bytes sent from which on the weight falls (HKUST-SING/PIAS-NS2, `tcp/tcp.cc`: 200 KiB).
    pub full_weight: Bytes,
    /// Bytes sent at which the weight is the least (HKUST-SING/PIAS-NS2, `tcp/tcp.cc`: 1 MiB).
    pub least_weight: Bytes,
    /// Whether each ACK is counted twice on the way to the next segment, so that the window opens by two segments in a
    /// round trip whatever the weight is (HKUST-SING/PIAS-NS2, `tcp/tcp.cc`; no paper has it).
    pub double_count: bool,
    /// Whether an ACK with ECN echo that does not cut opens the window as any other, as in the model of DCTCP (SIGCOMM
    /// 2010, section 3.3). RFC 3168, section 6.1.2: it does not.
    pub grow_on_ece: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            gain: 1.0 / 16.0,
            alpha0: 1.0,
            floor: 1,
            w_max: 2.5,
            w_min: 0.125,
            full_weight: Bytes(200 * 1024),
            least_weight: Bytes(1024 * 1024),
            double_count: false,
            grow_on_ece: false,
        }
    }
}

/// The congestion control of one flow.
// Boxed, so that flows under DCTCP are no larger for it.
#[derive(Debug)]
pub struct Model(Box<State>);

#[derive(Debug)]
struct State {
    marks: Marks,
    weights: Weights,
    double_count: bool,
    grows_on_ece: bool,
}

/// The weight by the bytes that a flow has sent: level, then falling in a line, then level.
#[derive(Debug)]
struct Weights {
    max: f64,
    min: f64,
    full: u64,
    least: u64,
}

impl Weights {
    fn at(&self, sent: u64) -> f64 {
        if sent <= self.full {
            self.max
        } else if sent >= self.least {
            self.min
        } else {
            self.max - (sent - self.full) as f64 * (self.max - self.min) / (self.least - self.full) as f64
        }
    }

    /// Segments by which the window opens in a round trip at this weight.
    #[inline]
    fn step(&self, weight: f64, double_count: bool) -> f64 {
        if double_count { 2.0 } else { weight / self.max }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] =
        &["", "full_weight = \"10KB\", least_weight = \"50KB\"", "double_count = true", "grow_on_ece = true"];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::EcnCapable);
        facts.idle_without(Thing::Marks, "there are none: it behaves as NewReno");
    }
}

impl Build for Model {
    type Config = Config;
    type Context = FlowContext;

    fn build(config: &Config, _: &FlowContext) -> Result<Model, Invalid> {
        let Config { w_max, w_min, full_weight, least_weight, .. } = *config;
        if !(w_max > 0.0 && w_max.is_finite()) {
            return Err(
                Invalid::new("w_max", format!("{w_max} is no weight")).help("expected a positive number, such as 2.5")
            );
        }
        if !(w_min > 0.0 && w_min <= w_max) {
            return Err(Invalid::new("w_min", format!("{w_min} is no weight below w_max, {w_max}"))
                .help("expected a positive number of at most w_max"));
        }
        if least_weight < full_weight {
            let message = format!("{least_weight} is below full_weight, {full_weight}");
            return Err(Invalid::new("least_weight", message).help("expected at least full_weight"));
        }
        let marks = Marks::new(config.gain, config.alpha0, config.floor)?;
        let weights = Weights { max: w_max, min: w_min, full: full_weight.0, least: least_weight.0 };
        let Config { double_count, grow_on_ece: grows_on_ece, .. } = *config;
        Ok(Model(Box::new(State { marks, weights, double_count, grows_on_ece })))
    }

    fn heap_bytes(&self) -> usize {
        size_of::<State>()
    }
}

impl CongestionControl for Model {
    fn learned(&self) -> Option<f64> {
        Some(self.0.marks.alpha)
    }

    fn recall(&mut self, alpha: f64) {
        self.0.marks.alpha = alpha;
    }

    fn opens_by_increase(&self) -> bool {
        true
    }

    fn increase(&mut self, _window: &Window, ack: &AckSample<'_>) -> f64 {
        self.0.weights.step(self.0.weights.at(ack.snd_nxt), self.0.double_count)
    }

    #[inline]
    fn ecn_capable(&self) -> bool {
        true
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool {
        let State { marks, weights, double_count, grows_on_ece } = &mut *self.0;
        let weight = weights.at(ack.snd_nxt);
        let step = weights.step(weight, *double_count);
        let penalty = |alpha: f64, _: &Window| libm::pow(alpha, weight);
        marks.on_ack(
            window,
            ack,
            Answer { is_fixed_point: false, cut_every_ece: false, grows_on_ece: *grows_on_ece, penalty, step },
        )
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::{Instant, MSS_BYTES};

    use super::super::tests::{ack, window};
    use super::*;

    const MSS: u64 = MSS_BYTES;

    fn l2dct(config: Config) -> Model {
        Model::build(&config, &FlowContext::default()).unwrap()
    }

    /// The factor of a cut at this alpha of a flow that has sent so much.
    fn cut(alpha: f64, sent: u64) -> f64 {
        let mut model = l2dct(Config { alpha0: alpha, ..Config::default() });
        model.0.marks.window_end = u64::MAX;
        let mut w = window(100.0);
        assert!(model.on_ack(&mut w, &ack(10 * MSS, sent, MSS, true)));
        w.cwnd / window(100.0).cwnd
    }

    #[test]
    fn the_weight_falls_in_a_line_between_200_kib_and_1_mib() {
        let weights = l2dct(Config::default()).0.weights;
        for (sent, weight, step) in [
            (0, 2.5, 1.0),
            (100_000, 2.5, 1.0),
            (204_800, 2.5, 1.0),
            (626_688, 1.3125, 0.525),
            (1_048_576, 0.125, 0.05),
            (2_000_000, 0.125, 0.05),
        ] {
            assert!((weights.at(sent) - weight).abs() < 1e-12, "{sent}: {}", weights.at(sent));
            assert!((weights.at(sent) / weights.max - step).abs() < 1e-12);
        }
        assert!(weights.at(204_801) < 2.5 && weights.at(1_048_575) > 0.125);
    }

    #[test]
    fn marks_cut_long_flows_more_than_short_ones() {
        for (sent, factor) in [(100_000, 0.984), (626_688, 0.919), (2_000_000, 0.580)] {
            assert!((cut(0.25, sent) - factor).abs() < 5e-4, "{sent}: {}", cut(0.25, sent));
        }
    }

    #[test]
    fn where_everything_is_marked_every_flow_halves() {
        for sent in [100_000, 626_688, 2_000_000] {
            assert_eq!(cut(1.0, sent), 0.5);
        }
    }

    #[test]
    fn a_long_flow_without_marks_opens_its_window_by_one_segment_in_20_round_trips() {
        let mut model = l2dct(Config::default());
        let mut w = window(100.0);
        // An ACK for each segment of 20 windows; the window is 100 at first and 101 at last.
        for i in 0..2_010 {
            model.on_ack(&mut w, &ack(2_000_000 + i * MSS, 2_000_000 + (i + 100) * MSS, MSS, false));
        }
        assert!((w.cwnd / MSS as f64 - 101.0).abs() < 0.01, "{}", w.cwnd / MSS as f64);
    }

    #[test]
    fn where_no_flow_is_long_the_window_opens_as_dctcps_and_the_cut_is_that_of_alpha_to_the_power_of_2_5() {
        let never = Bytes(u64::MAX);
        let config = Config { full_weight: never, least_weight: never, alpha0: 0.25, ..Config::default() };
        let mut model = l2dct(config);
        let mut dctcp =
            super::super::dctcp::Model::build(&super::super::dctcp::Config::default(), &FlowContext::default())
                .unwrap();
        model.0.marks.window_end = u64::MAX;
        let (mut w, mut other) = (window(50.0), window(50.0));
        for i in 0..1_000 {
            let sample = ack((i + 1) * MSS, (i + 5_000) * MSS, MSS, false);
            model.on_ack(&mut w, &sample);
            dctcp.on_ack(&mut other, &sample);
            assert_eq!(w, other);
        }
        let before = w.cwnd;
        model.on_ack(&mut w, &ack(2_000 * MSS, 9_000 * MSS, MSS, true));
        assert!((w.cwnd / before - (1.0 - 0.03125 / 2.0)).abs() < 1e-12);
    }

    #[test]
    fn one_cut_for_each_window() {
        let mut model = l2dct(Config::default());
        model.0.marks.window_end = u64::MAX;
        let mut w = window(100.0);
        assert!(model.on_ack(&mut w, &ack(10 * MSS, 110 * MSS, MSS, true)));
        assert!(!model.on_ack(&mut w, &ack(11 * MSS, 110 * MSS, MSS, true)));
        assert!(model.on_ack(&mut w, &ack(111 * MSS, 150 * MSS, MSS, true)));
    }

    #[test]
    fn loss_is_answered_as_by_tcp() {
        let mut model = l2dct(Config::default());
        let mut w = window(100.0);
        model.on_loss(Instant::ZERO, &mut w, 80 * MSS);
        assert_eq!(w.cwnd, 40.0 * MSS as f64);
        model.on_timeout(Instant::ZERO, &mut w, 40 * MSS, 1);
        assert_eq!(w.cwnd, MSS as f64);
    }

    #[test]
    fn values_out_of_range_are_refused_at_their_key() {
        let usual = Config::default;
        for (config, path) in [
            (Config { gain: 0.0, ..usual() }, "gain"),
            (Config { alpha0: 2.0, ..usual() }, "alpha0"),
            (Config { floor: 0, ..usual() }, "floor"),
            (Config { w_max: 0.0, ..usual() }, "w_max"),
            (Config { w_max: f64::INFINITY, ..usual() }, "w_max"),
            (Config { w_min: 0.0, ..usual() }, "w_min"),
            (Config { w_min: 3.0, ..usual() }, "w_min"),
            (Config { least_weight: Bytes(1), ..usual() }, "least_weight"),
        ] {
            assert_eq!(Model::build(&config, &FlowContext::default()).unwrap_err().path, path);
        }
    }

    #[test]
    fn counted_twice_the_window_of_any_flow_opens_by_two_segments_in_a_round_trip() {
        for sent in [10 * MSS, 2_000_000] {
            let mut model = l2dct(Config { double_count: true, alpha0: 0.0, ..Config::default() });
            let mut w = window(50.0);
            for _ in 0..50 {
                model.on_ack(&mut w, &ack(sent - MSS, sent, MSS, false));
            }
            let grown = w.cwnd / MSS as f64;
            assert!((51.9..52.0).contains(&grown), "{sent}: {grown}");
        }
    }
}
