//! D2TCP: DCTCP whose cut is gentle for flows that are late and hard for those that have time.
//!
//! Vamanan, Hasan, Vijaykumar, "Deadline-Aware Datacenter TCP" (SIGCOMM 2012): the cut is p / 2 with p = alpha^d, where
//! d is the time that the flow needs over the time that it has, kept between two bounds. It needs B / (3/4 W) round
//! trips for the B bytes that remain, because a window between two cuts is 3/4 of its largest on average. Without a
//! deadline d is 1, which is DCTCP. A flow whose deadline has passed yields to the others, with the least d, as in the
//! public ns-2 code (HKUST-SING/PIAS-NS2, `DDTcpAgent`); the paper's other choice, to give it up, is left out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Instant;
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
    /// Smallest window after a cut, in packets (RFC 8257, section 3.3: 1).
    pub floor: u32,
    /// Least d, of flows with much time and of those that are too late (SIGCOMM 2012; one public ns-3 tree: 0.4).
    pub d_min: f64,
    /// Largest d, of flows that are nearly late (SIGCOMM 2012).
    pub d_max: f64,
    /// Whether an ACK with ECN echo that does not cut opens the window as any other, as in the model of DCTCP (SIGCOMM
    /// 2010, section 3.3). RFC 3168, section 6.1.2: it does not.
    pub grow_on_ece: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { gain: 1.0 / 16.0, alpha0: 1.0, floor: 1, d_min: 0.5, d_max: 2.0, grow_on_ece: false }
    }
}

/// The congestion control of one flow.
// Boxed, so that flows under DCTCP are no larger for it.
#[derive(Debug)]
pub struct Model(Box<State>);

#[derive(Debug)]
struct State {
    marks: Marks,
    urgency: Urgency,
    grows_on_ece: bool,
}

/// What decides how near the deadline is.
#[derive(Debug)]
struct Urgency {
    size: u64,
    deadline: Option<Instant>,
    min: f64,
    max: f64,
}

impl Urgency {
    /// d: the time needed over the time left.
    fn of(&self, window: f64, ack: &AckSample<'_>) -> f64 {
        let Some(deadline) = self.deadline else { return 1.0 };
        let Some(left) = deadline.since(ack.now).filter(|left| left.as_ps() > 0) else { return self.min };
        let needed = (self.size - ack.snd_una) as f64 / (0.75 * window);
        let left = left.as_ps() as f64 / ack.srtt.as_ps() as f64;
        (needed / left).clamp(self.min, self.max)
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "d_min = 0.1, d_max = 4.0", "grow_on_ece = true"];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::EcnCapable);
        facts.idle_without(Thing::Marks, "there are none: it behaves as NewReno");
        facts.idle_without(Thing::Deadlines, "there are none: it behaves as DCTCP");
    }
}

impl Build for Model {
    type Config = Config;
    type Context = FlowContext;

    fn build(config: &Config, flow: &FlowContext) -> Result<Model, Invalid> {
        let Config { d_min, d_max, .. } = *config;
        if !(d_min > 0.0 && d_min <= 1.0) {
            return Err(Invalid::new("d_min", format!("{d_min} is out of range"))
                .help("expected a number above 0 and at most 1: 1 is the d of a flow without a deadline"));
        }
        if !(d_max >= 1.0 && d_max.is_finite()) {
            return Err(Invalid::new("d_max", format!("{d_max} is out of range"))
                .help("expected a number of at least 1: 1 is the d of a flow without a deadline"));
        }
        let marks = Marks::new(config.gain, config.alpha0, config.floor)?;
        let urgency = Urgency { size: flow.size, deadline: flow.deadline, min: d_min, max: d_max };
        Ok(Model(Box::new(State { marks, urgency, grows_on_ece: config.grow_on_ece })))
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

    #[inline]
    fn ecn_capable(&self) -> bool {
        true
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool {
        let State { marks, urgency, grows_on_ece } = &mut *self.0;
        let penalty = |alpha: f64, window: &Window| match urgency.of(window.cwnd, ack) {
            // Exactly DCTCP's, whatever the power function would make of it.
            1.0 => alpha,
            d => libm::pow(alpha, d),
        };
        marks.on_ack(
            window,
            ack,
            Answer { is_fixed_point: false, cut_every_ece: false, grows_on_ece: *grows_on_ece, penalty, step: 1.0 },
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailcut_base::{MSS_BYTES, Span};

    use super::super::tests::{ack, window};
    use super::*;

    const MSS: u64 = MSS_BYTES;

    fn flow(size: u64, deadline_us: Option<u64>) -> FlowContext {
        FlowContext {
            size,
            deadline: deadline_us.map(|us| Instant::ZERO + Span::from_us(us)),
            ..FlowContext::default()
        }
    }

    fn d2tcp(alpha0: f64, flow: FlowContext) -> Model {
        Model::build(&Config { alpha0, ..Config::default() }, &flow).unwrap()
    }

    /// The factor of a cut at this alpha of a flow of 10 MB in a window of 10 packets and round trips of 80 us.
    fn cut(alpha: f64, deadline_us: Option<u64>) -> f64 {
        let mut model = d2tcp(alpha, flow(10_000_000, deadline_us));
        model.0.marks.window_end = u64::MAX;
        let mut w = window(10.0);
        assert!(model.on_ack(&mut w, &ack(MSS, 11 * MSS, MSS, true)));
        w.cwnd / window(10.0).cwnd
    }

    #[test]
    fn a_tight_deadline_halves_the_cut_and_a_loose_one_deepens_it() {
        assert!((cut(0.5, Some(1_000)) - 0.875).abs() < 1e-12, "d = 2: p = 0.25");
        assert!((cut(0.5, Some(1_000_000)) - (1.0 - 0.5f64.sqrt() / 2.0)).abs() < 1e-12, "d = 0.5: p = 0.7071");
        assert_eq!(cut(0.5, None), 0.75);
    }

    #[test]
    fn after_its_deadline_a_flow_yields() {
        let mut model = d2tcp(0.5, flow(10_000_000, Some(10)));
        model.0.marks.window_end = u64::MAX;
        let mut w = window(100.0);
        let late = AckSample { now: Instant::ZERO + Span::from_us(10), ..ack(MSS, 101 * MSS, MSS, true) };
        model.on_ack(&mut w, &late);
        assert!((w.cwnd / window(100.0).cwnd - (1.0 - 0.5f64.sqrt() / 2.0)).abs() < 1e-12);
    }

    #[test]
    fn without_marks_and_where_everything_is_marked_all_flows_are_alike() {
        for deadline in [None, Some(1_000), Some(20_000), Some(1_000_000)] {
            assert_eq!(cut(0.0, deadline), 1.0);
            assert_eq!(cut(1.0, deadline), 0.5);
        }
    }

    #[test]
    fn a_flow_that_is_in_time_to_the_round_trip_is_dctcps() {
        let model = d2tcp(0.5, flow(75 * MSS, Some(1_000)));
        let sample = AckSample { srtt: Span::from_us(100), ..ack(0, 10 * MSS, MSS, true) };
        assert!((model.0.urgency.of(10.0 * MSS as f64, &sample) - 1.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn without_a_deadline_it_is_dctcp(acks in prop::collection::vec((1u64..4, 0u64..60, prop::bool::ANY, prop::bool::ANY), 1..300)) {
            let mut ours = d2tcp(1.0, flow(u64::MAX, None));
            let mut dctcp =
                super::super::dctcp::Model::build(&super::super::dctcp::Config::default(), &FlowContext::default()).unwrap();
            let (mut w, mut other) = (window(20.0), window(20.0));
            let mut una = 0;
            for (packets, flight, ece, in_recovery) in acks {
                una += packets * MSS;
                let sample = AckSample { in_recovery, ..ack(una, una + flight * MSS, packets * MSS, ece) };
                prop_assert_eq!(ours.on_ack(&mut w, &sample), dctcp.on_ack(&mut other, &sample));
                prop_assert_eq!(w, other);
            }
        }

        #[test]
        fn the_nearer_the_deadline_the_gentler_the_cut(alpha in 0.01f64..0.99, first in 1u64..100_000, more in 1u64..100_000) {
            prop_assert!(cut(alpha, Some(first)) >= cut(alpha, Some(first + more)));
        }
    }

    #[test]
    fn values_out_of_range_are_refused_at_their_key() {
        let usual = Config::default;
        for (config, path) in [
            (Config { gain: 0.0, ..usual() }, "gain"),
            (Config { alpha0: 2.0, ..usual() }, "alpha0"),
            (Config { floor: 0, ..usual() }, "floor"),
            (Config { d_min: 0.0, ..usual() }, "d_min"),
            (Config { d_min: 1.1, ..usual() }, "d_min"),
            (Config { d_max: 0.9, ..usual() }, "d_max"),
            (Config { d_max: f64::NAN, ..usual() }, "d_max"),
        ] {
            assert_eq!(Model::build(&config, &FlowContext::default()).unwrap_err().path, path);
        }
    }
}
