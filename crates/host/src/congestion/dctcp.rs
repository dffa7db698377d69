//! DCTCP: the share of marked bytes in each window scales the cut.
//!
//! Alizadeh et al. (SIGCOMM 2010) and RFC 8257. Loss is answered as NewReno answers it, never by alpha (RFC 8257,
//! section 3.5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::seat::{AckSample, CongestionControl, Window};
use tailcut_model::{Build, Facts, Invalid, Parameters, Thing};

use super::FlowContext;
use super::marks::{Answer, Marks};

/// How marks are answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// g: weight of the newest window in the estimate of the marked share (RFC 8257, section 4.2).
    pub gain: f64,
    /// alpha at the start of a flow (RFC 8257, section 4.2: 1; ns-2 and some ns-3 trees: 0).
    pub alpha0: f64,
    /// Smallest window after a cut, in packets (RFC 8257, section 3.3: 1; the code of Slytherin's authors: 2).
    pub floor: u32,
    /// Cut at every ACK with ECN echo and not once for each window, as one public ns-3 tree does; for comparison only.
    pub cut_every_ece: bool,
    /// Whether an ACK with ECN echo that does not cut opens the window as any other. RFC 3168, section 6.1.2, which RFC
    /// 8257 keeps, and Linux: it does not. The model of SIGCOMM 2010, section 3.3, opens it by a packet in each round
    /// trip, marks or not.
    pub grow_on_ece: bool,
    /// Whether alpha is a whole number of 1024ths, rounded as Linux does.
    #[serde(skip_serializing_if = "is_false")]
    pub fixed_point: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Default for Config {
    fn default() -> Config {
        Config { gain: 1.0 / 16.0, alpha0: 1.0, floor: 1, cut_every_ece: false, grow_on_ece: false, fixed_point: false }
    }
}

/// The congestion control of one flow.
#[derive(Debug)]
pub struct Model {
    marks: Marks,
    cut_every_ece: bool,
    grows_on_ece: bool,
    is_fixed_point: bool,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] =
        &["", "alpha0 = 0.0, floor = 2", "cut_every_ece = true", "grow_on_ece = true", "fixed_point = true"];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::EcnCapable);
        facts.idle_without(Thing::Marks, "there are none: it behaves as NewReno");
    }
}

impl Build for Model {
    type Config = Config;
    type Context = FlowContext;

    fn build(config: &Config, _: &FlowContext) -> Result<Model, Invalid> {
        let marks = Marks::new(config.gain, config.alpha0, config.floor)?;
        let Config { cut_every_ece, grow_on_ece: grows_on_ece, fixed_point: is_fixed_point, .. } = *config;
        Ok(Model { marks, cut_every_ece, grows_on_ece, is_fixed_point })
    }
}

impl Model {
    #[cfg(test)]
    fn alpha(&self) -> f64 {
        self.marks.alpha
    }
}

impl CongestionControl for Model {
    fn learned(&self) -> Option<f64> {
        Some(self.marks.alpha)
    }

    fn recall(&mut self, alpha: f64) {
        self.marks.alpha = alpha;
    }

    fn opens_by_increase(&self) -> bool {
        true
    }

    #[inline]
    fn ecn_capable(&self) -> bool {
        true
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool {
        let Model { cut_every_ece, grows_on_ece, is_fixed_point, .. } = *self;
        let answer =
            Answer { cut_every_ece, grows_on_ece, is_fixed_point, penalty: |alpha, _: &Window| alpha, step: 1.0 };
        self.marks.on_ack(window, ack, answer)
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::{Instant, MSS_BYTES};

    use super::super::tests::{ack, window};
    use super::*;

    const MSS: u64 = MSS_BYTES;

    fn dctcp(alpha0: f64) -> Model {
        Model::build(&Config { alpha0, ..Config::default() }, &FlowContext::default()).unwrap()
    }

    fn windows(model: &mut Model, n: u64, ece: bool) {
        let mut w = window(10.0);
        for i in 1..=n {
            model.on_ack(&mut w, &ack(i * 10 * MSS, (i + 1) * 10 * MSS, 10 * MSS, ece));
        }
    }

    #[test]
    fn alpha_decays_by_a_sixteenth_for_each_unmarked_window() {
        let mut model = dctcp(1.0);
        windows(&mut model, 10, false);
        assert!((model.alpha() - 0.5245).abs() < 5e-5, "{}", model.alpha());
    }

    #[test]
    fn alpha_rises_toward_one_when_all_is_marked() {
        for (n, expected) in [(1, 0.0625), (2, 0.1211), (3, 0.1760)] {
            let mut model = dctcp(0.0);
            windows(&mut model, n, true);
            assert!((model.alpha() - expected).abs() < 5e-5, "{}", model.alpha());
        }
    }

    #[test]
    fn one_cut_for_each_window_by_half_of_alpha() {
        for (alpha, expected) in [(1.0, 50.0), (0.25, 87.5)] {
            // The window under test began before these ACKs, so that they do not end it and leave alpha alone.
            let mut model = dctcp(alpha);
            model.marks.window_end = 1000 * MSS;
            let mut w = window(100.0);
            assert!(model.on_ack(&mut w, &ack(10 * MSS, 110 * MSS, MSS, true)));
            assert!((w.cwnd / MSS as f64 - expected).abs() < 1e-9);
            let before = w.cwnd;
            assert!(!model.on_ack(&mut w, &ack(11 * MSS, 110 * MSS, MSS, true)));
            assert_eq!(w.cwnd, before, "neither a second cut in the same window nor growth");
            assert!(model.on_ack(&mut w, &ack(111 * MSS, 150 * MSS, MSS, true)), "the next window may be cut");
        }
    }

    #[test]
    fn an_ack_with_echo_opens_the_window_on_request_alone_whether_in_slow_start_or_above() {
        for (grow_on_ece, packets) in [(false, 50.0), (true, 50.0 + 1.0 / 50.0)] {
            let mut model =
                Model::build(&Config { grow_on_ece, ..Config::default() }, &FlowContext::default()).unwrap();
            model.marks.window_end = 1000 * MSS;
            let mut w = window(100.0);
            assert!(model.on_ack(&mut w, &ack(10 * MSS, 110 * MSS, MSS, true)));
            model.on_ack(&mut w, &ack(11 * MSS, 110 * MSS, MSS, true));
            assert!((w.cwnd / MSS as f64 - packets).abs() < 1e-9, "{}", w.cwnd / MSS as f64);
            // After a timeout the window is below ssthresh.
            (w.cwnd, w.ssthresh) = (2.0 * MSS as f64, 50.0 * MSS as f64);
            model.on_ack(&mut w, &ack(12 * MSS, 110 * MSS, MSS, true));
            assert_eq!(w.cwnd, if grow_on_ece { 3.0 } else { 2.0 } * MSS as f64);
            model.on_ack(&mut w, &ack(13 * MSS, 110 * MSS, MSS, false));
            assert_eq!(w.cwnd, if grow_on_ece { 4.0 } else { 3.0 } * MSS as f64, "without echo it grows");
        }
    }

    #[test]
    fn where_every_packet_is_marked_the_window_falls_to_the_floor_and_stays_there() {
        for floor in 1..4 {
            let mut model = Model::build(&Config { floor, ..Config::default() }, &FlowContext::default()).unwrap();
            let mut w = window(64.0);
            let mut sent = 64;
            for acked in 1..2_000 {
                model.on_ack(&mut w, &ack(acked * MSS, sent * MSS, MSS, true));
                sent = sent.max(acked + (w.cwnd / MSS as f64) as u64);
            }
            assert_eq!(w.cwnd, f64::from(floor) * MSS as f64);
        }
    }

    #[test]
    fn the_window_never_falls_below_the_floor() {
        let mut model = Model::build(&Config { floor: 2, ..Config::default() }, &FlowContext::default()).unwrap();
        let mut w = window(2.0);
        model.on_ack(&mut w, &ack(MSS, 2 * MSS, MSS, true));
        assert_eq!(w.cwnd, 2.0 * MSS as f64);
    }

    #[test]
    fn loss_halves_the_flight_whatever_alpha_is() {
        let mut model = dctcp(0.0);
        let mut w = window(100.0);
        model.on_loss(Instant::ZERO, &mut w, 80 * MSS);
        assert_eq!(w.cwnd, 40.0 * MSS as f64);
    }

    #[test]
    fn the_ack_that_cuts_does_not_open_the_window_and_the_cut_ends_slow_start() {
        let mut model = dctcp(1.0);
        model.marks.window_end = 1000 * MSS;
        let mut w = Window {
            cwnd: 10.0 * MSS as f64,
            ssthresh: f64::INFINITY,
            max: f64::INFINITY,
            gap: tailcut_base::Span::ZERO,
        };
        model.on_ack(&mut w, &ack(MSS, 11 * MSS, MSS, false));
        assert_eq!(w.cwnd, 11.0 * MSS as f64);
        model.on_ack(&mut w, &ack(2 * MSS, 12 * MSS, MSS, true));
        assert_eq!((w.cwnd, w.ssthresh), (5.5 * MSS as f64, 5.5 * MSS as f64));
    }

    #[test]
    fn the_ack_of_the_last_byte_sent_before_a_cut_still_belongs_to_it() {
        let mut model = dctcp(1.0);
        model.marks.window_end = 1000 * MSS;
        let mut w = window(100.0);
        assert!(model.on_ack(&mut w, &ack(10 * MSS, 110 * MSS, MSS, true)));
        assert!(!model.on_ack(&mut w, &ack(110 * MSS, 160 * MSS, MSS, true)));
        assert!(model.on_ack(&mut w, &ack(110 * MSS + 1, 160 * MSS, 1, true)));
    }

    #[test]
    fn on_request_every_marked_ack_cuts() {
        let mut model =
            Model::build(&Config { cut_every_ece: true, ..Config::default() }, &FlowContext::default()).unwrap();
        model.marks.window_end = 1000 * MSS;
        let mut w = window(64.0);
        for expected in [32.0, 16.0, 8.0] {
            assert!(model.on_ack(&mut w, &ack(10 * MSS, 110 * MSS, MSS, true)));
            assert_eq!(w.cwnd, expected * MSS as f64);
        }
    }

    #[test]
    fn in_recovery_marks_are_counted_and_answered_by_no_cut() {
        let mut model = dctcp(0.0);
        let mut w = window(50.0);
        let recovering = AckSample { in_recovery: true, ..ack(10 * MSS, 20 * MSS, 10 * MSS, true) };
        assert!(!model.on_ack(&mut w, &recovering));
        assert_eq!((w.cwnd, model.alpha()), (50.0 * MSS as f64, 1.0 / 16.0));
    }

    #[test]
    fn values_out_of_range_are_refused_at_their_key() {
        for (config, path) in [
            (Config { gain: 0.0, ..Config::default() }, "gain"),
            (Config { gain: 1.1, ..Config::default() }, "gain"),
            (Config { gain: f64::NAN, ..Config::default() }, "gain"),
            (Config { alpha0: -0.1, ..Config::default() }, "alpha0"),
            (Config { alpha0: 1.1, ..Config::default() }, "alpha0"),
            (Config { floor: 0, ..Config::default() }, "floor"),
        ] {
            assert_eq!(Model::build(&config, &FlowContext::default()).unwrap_err().path, path);
        }
    }
}
