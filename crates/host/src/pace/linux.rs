//! Pacing as in Linux: packets leave at a multiple of the window in a round trip.
//!
//! The rate is `ss_ratio` times the window over the smoothed round-trip time in slow start, while the window is below
//! half of the slow-start threshold, and `ca_ratio` times it otherwise (the kernel's documentation of
//! `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`: 200 % and 120 %). The sender stamps each packet with its time, and
//! the queueing discipline `fq` or TCP itself sends it then. So
//!
//! - the first `unpaced` packets of a flow follow each other at once, and so do all until a round trip is measured;
//! - a packet that left late, because of the window or the link, brings the next one forward by as much, but by no more
//!   than half of the gap.
//!
//! Packets are those of one segment: what segmentation offload would send as one burst is spaced here. Each gap is that
//! of a full segment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Instant, MSS_BYTES, Span};
use tailcut_model::seat::{Awareness, PaceView, Pacer};
use tailcut_model::{Build, Facts, Invalid, Parameters};

use crate::HostContext;

/// How much faster than the window packets go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The rate in slow start, in windows per round trip (Linux, `tcp_pacing_ss_ratio`: 2).
    pub ss_ratio: f64,
    /// The rate from half of the slow-start threshold on (Linux, `tcp_pacing_ca_ratio`: 1.2).
    pub ca_ratio: f64,
    /// How many packets at the beginning of a flow are not paced (Linux: 10, a former quantum of `fq`).
    pub unpaced: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config { ss_ratio: 2.0, ca_ratio: 1.2, unpaced: 10 }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "ss_ratio = 1.5, ca_ratio = 1.0, unpaced = 0"];

    fn facts(&self, facts: &mut Facts) {
        facts.own_times();
    }
}

/// The pacer.
#[derive(Debug)]
pub struct Model(Config);

impl Build for Model {
    type Config = Config;
    type Context = HostContext;

    fn build(config: &Config, _context: &HostContext) -> Result<Model, Invalid> {
        for (key, ratio) in [("ss_ratio", config.ss_ratio), ("ca_ratio", config.ca_ratio)] {
            // A flow whose packets take many round trips would time out.
            if !(0.1..=1000.0).contains(&ratio) {
                return Err(Invalid::new(key, format!("`{key}` must be between 0.1 and 1000, got {ratio}"))
                    .help("expected windows per round trip, such as 1.2"));
            }
        }
        Ok(Model(config.clone()))
    }
}

impl Pacer for Model {
    fn is_on(&self) -> bool {
        true
    }

    fn awareness(&self) -> Awareness {
        Awareness::Off
    }

    fn next_due(&self, due: Instant, sent: Instant, flow: &PaceView) -> Instant {
        let Config { ss_ratio, ca_ratio, unpaced } = self.0;
        if flow.packets < unpaced || flow.srtt == Span::ZERO {
            return sent;
        }
        let ratio = if flow.cwnd < flow.ssthresh / 2.0 { ss_ratio } else { ca_ratio };
        let gap = flow.srtt.as_ps() as f64 * MSS_BYTES as f64 / (ratio * flow.cwnd);
        let gap = Span::from_ps(gap.round() as u64);
        let late = sent.saturating_since(due).as_ps().min(gap.as_ps() / 2);
        due.max(sent) + Span::from_ps(gap.as_ps() - late)
    }

    fn release(&self, due: Instant) -> Instant {
        due
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::HostConfig;

    const MSS: f64 = MSS_BYTES as f64;

    fn pacer(config: &Config) -> Model {
        Model::build(config, &HostContext::of(HostConfig::default())).unwrap()
    }

    fn view(rtt_us: u64, cwnd: f64, ssthresh: f64) -> PaceView {
        let (cwnd, ssthresh) = (cwnd * MSS, ssthresh * MSS);
        PaceView { srtt: Span::from_us(rtt_us), cwnd, ssthresh, packets: 10, ..PaceView::default() }
    }

    fn at(ns: u64) -> Instant {
        Instant::ZERO + Span::from_ns(ns)
    }

    #[test]
    fn a_window_takes_half_of_a_round_trip_in_slow_start_and_five_sixths_later() {
        let pacer = pacer(&Config::default());
        let gap = |cwnd, ssthresh| pacer.next_due(at(7), at(7), &view(120, cwnd, ssthresh)).since(at(7)).unwrap();
        assert_eq!(gap(10.0, f64::INFINITY), Span::from_us(6));
        assert_eq!(gap(10.0, 21.0), Span::from_us(6));
        assert_eq!(gap(10.0, 20.0), Span::from_us(10), "from half of the threshold on");
        assert_eq!(gap(10.0, 5.0), Span::from_us(10));
        assert_eq!(gap(40.0, 5.0), Span::from_ns(2_500));
    }

    #[test]
    fn the_first_packets_and_those_without_a_round_trip_follow_at_once() {
        let pacer = pacer(&Config::default());
        let few = PaceView { packets: 9, ..view(120, 10.0, 5.0) };
        assert_eq!(pacer.next_due(at(0), at(50), &few), at(50));
        assert_eq!(pacer.next_due(at(0), at(50), &view(0, 10.0, 5.0)), at(50));
        assert_eq!(pacer.next_due(at(50), at(50), &view(120, 10.0, 5.0)), at(10_050));
    }

    #[test]
    fn half_of_a_gap_is_made_up_for_at_most() {
        let pacer = pacer(&Config::default());
        let due = |sent| pacer.next_due(at(100_000), at(sent), &view(120, 10.0, 5.0));
        assert_eq!(due(100_000), at(110_000));
        assert_eq!(due(103_000), at(110_000), "late by 3 us, and 7 us follow");
        assert_eq!(due(105_000), at(110_000));
        assert_eq!(due(109_000), at(114_000), "late by 9 us, and 5 us follow");
        assert_eq!(due(900_000), at(905_000));
    }

    proptest! {
        /// Packets that leave when they are due have the rate, and those that are held back never exceed it in the long
        /// run by more than the factor of two that half a gap is.
        #[test]
        fn the_rate_is_the_ratio_times_the_window_over_the_round_trip(
            rtt_us in 1u64..100_000, cwnd in 1u32..1000, delays in prop::collection::vec(0u64..50_000, 50)
        ) {
            let (pacer, view) = (pacer(&Config::default()), view(rtt_us, cwnd.into(), 1.0));
            let gap = (rtt_us as f64 * 1e6 / (1.2 * f64::from(cwnd))).round() as u64;
            let mut due = Instant::ZERO;
            for nth in 1..50 {
                due = pacer.next_due(due, due, &view);
                prop_assert_eq!(due.as_ps(), nth * gap);
            }
            for delay in delays {
                let sent = due + Span::from_ns(delay);
                let next = pacer.next_due(due, sent, &view);
                let (from_due, from_sent) = (next.since(due).unwrap().as_ps(), next.since(sent).unwrap().as_ps());
                prop_assert!(from_due >= gap && from_sent >= gap - gap / 2 && from_sent <= gap);
                due = next;
            }
        }
    }

    #[test]
    fn ratios_out_of_range_are_refused() {
        for (config, key) in [
            (Config { ss_ratio: 0.0, ..Config::default() }, "ss_ratio"),
            (Config { ca_ratio: f64::NAN, ..Config::default() }, "ca_ratio"),
        ] {
            let refusal = Model::build(&config, &HostContext::of(HostConfig::default())).unwrap_err();
            assert_eq!(refusal.path, key);
        }
    }
}
