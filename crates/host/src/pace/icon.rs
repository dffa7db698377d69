//! ICON: the window is spread over the round trip, and over all hosts that answer the same query.
//!
//! Rezaei, Almasi, Vamanan, "ICON: Incast Congestion Control using Packet Pacing in Datacenter Networks" (COMSNETS 2019), and Rezaei,
//! PhD thesis (University of Illinois at Chicago, 2021), section 3.2. A packet follows the one before after
//! `RTT x N / W`, start to start, for a window of W packets and N answers (equation 3.1: rate = window / (RTT x N)).
//! Windows and ACKs are those of the congestion control; retransmissions are paced as well.
//!
//! By equation 3.1 all senders of an incast together send one window in a round trip, however many they are: 1.5 Gb/s for 10 packets in
//! 80 us. The public script (hrezae2/ICON, scratch/ICON.cc) instead sends incast packets 30.22 us apart, which is the bottleneck's
//! rate over 25. `gap = "capacity"` stands for that: `max(RTT / W, N packets of 1500 B at the link's rate)`.
//!
//! The document does not say whose RTT it is: the smoothed one of TCP, and `base_rtt` until there is one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Instant, MSS_BYTES, MTU_BYTES, Span};
use tailcut_model::Invalid;
use tailcut_model::seat::{PaceView, Pacer};

use crate::HostContext;

/// How packets are spaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What the gap between two packets is.
    pub gap: Gap,
    /// Whether the sender is told how many hosts answer the same query (ICON); if not, it takes itself for the only one (IA-ICON,
    /// information-agnostic).
    pub aware: bool,
    /// The round-trip time until one is measured (thesis, section 4.2.1.1: 80 us).
    pub base_rtt: Span,
    /// The clock of the pacer ticks so often, and a packet goes at a tick or later; without it, to the picosecond.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Span>,
}

/// The gap between two packets, start to start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gap {
    /// RTT x N / W: all senders together send a window in a round trip (thesis, equation 3.1).
    #[default]
    Window,
    /// The longer one of RTT / W and the time that N packets of 1500 B take on the host's link: all senders together fill the link.
    Capacity,
}

impl Default for Config {
    fn default() -> Config {
        Config { gap: Gap::Window, aware: true, base_rtt: Span::from_us(80), clock: None }
    }
}

/// The pacer.
#[derive(Debug)]
pub struct Model {
    gap: Gap,
    aware: bool,
    base_rtt: Span,
    clock: Span,
    /// Time that a packet of 1500 B takes on the host's link.
    packet: Span,
}

impl Model {
    pub(crate) fn new(config: &Config, context: &HostContext) -> Result<Model, Invalid> {
        if config.base_rtt == Span::ZERO {
            return Err(Invalid::new("base_rtt", "a round trip of zero spaces nothing")
                .help("expected a positive time, such as \"80us\""));
        }
        if config.clock == Some(Span::ZERO) {
            return Err(Invalid::new("clock", "a clock that ticks all the time needs no key")
                .help("expected a positive time, such as \"1us\", or no `clock`"));
        }
        Ok(Model {
            gap: config.gap,
            aware: config.aware,
            base_rtt: config.base_rtt,
            clock: config.clock.unwrap_or(Span::from_ps(1)),
            packet: context.nic.tx_time(MTU_BYTES),
        })
    }

    pub(super) fn is_degree_aware(&self) -> bool {
        self.aware
    }
}

impl Pacer for Model {
    fn release(&self, sent: Instant, flow: &PaceView) -> Instant {
        let rtt = if flow.srtt == Span::ZERO { self.base_rtt } else { flow.srtt };
        let packets = flow.cwnd / MSS_BYTES as f64;
        let senders = if self.aware { flow.degree } else { 1 };
        let share = |rtt: Span| Span::from_ps((rtt.as_ps() as f64 / packets).round() as u64);
        let gap = match self.gap {
            Gap::Window => share(rtt * u64::from(senders)),
            Gap::Capacity => share(rtt).max(self.packet * u64::from(senders)),
        };
        let (due, tick) = ((sent + gap).as_ps(), self.clock.as_ps());
        Instant::from_ps(due.div_ceil(tick) * tick)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailcut_base::BitRate;

    use super::*;
    use crate::HostConfig;

    const MSS: f64 = MSS_BYTES as f64;

    fn pacer(config: &Config) -> Model {
        Model::new(config, &HostContext::of(HostConfig::default())).unwrap()
    }

    fn gap(config: &Config, rtt_us: u64, window: f64, degree: u32) -> Span {
        let view = PaceView { srtt: Span::from_us(rtt_us), cwnd: window * MSS, degree };
        pacer(config).release(Instant::from_ps(77), &view).since(Instant::from_ps(77)).unwrap()
    }

    fn capacity() -> Config {
        Config { gap: Gap::Capacity, ..Config::default() }
    }

    #[test]
    fn the_example_of_the_document_pauses_for_10_8_us() {
        // Thesis, section 3.2.3: ten packets, 120 us, one sender, 10 Gb/s.
        let spacing = gap(&Config::default(), 120, 10.0, 1);
        assert_eq!(spacing, Span::from_us(12));
        let on_the_wire = BitRate::gbps(10).tx_time(MTU_BYTES);
        assert_eq!(spacing - on_the_wire, Span::from_ns(10_800));
    }

    #[test]
    fn twice_the_senders_wait_twice_as_long_and_twice_the_window_half() {
        let config = Config::default();
        assert_eq!(gap(&config, 80, 10.0, 26), Span::from_us(208));
        assert_eq!(gap(&config, 80, 10.0, 52), Span::from_us(416));
        assert_eq!(gap(&config, 80, 20.0, 26), Span::from_us(104));
    }

    #[test]
    fn the_rate_of_all_senders_does_not_depend_on_their_number() {
        for degree in [1, 20, 26, 32, 400] {
            let spacing = gap(&Config::default(), 80, 10.0, degree);
            let gbps = f64::from(degree) * MTU_BYTES as f64 * 8.0 / spacing.as_ns_f64();
            assert!((gbps - 1.5).abs() < 1e-9, "{degree}: {gbps} Gb/s");
        }
    }

    #[test]
    fn without_knowledge_it_paces_as_a_single_sender() {
        let agnostic = Config { aware: false, ..Config::default() };
        assert_eq!(gap(&agnostic, 80, 10.0, 26), gap(&Config::default(), 80, 10.0, 1));
        assert!(!pacer(&agnostic).is_degree_aware() && pacer(&Config::default()).is_degree_aware());
    }

    #[test]
    fn the_capacity_is_shared_by_all_senders() {
        // 1500 B take 1.2 us at 10 Gb/s; a window of 10 in 80 us is a packet in 8 us.
        assert_eq!(gap(&capacity(), 80, 10.0, 1), Span::from_us(8));
        assert_eq!(gap(&capacity(), 80, 10.0, 26), Span::from_ns(31_200));
        assert_eq!(gap(&capacity(), 80, 1.0, 26), Span::from_us(80));
    }

    #[test]
    fn until_a_round_trip_is_measured_the_base_one_counts() {
        assert_eq!(gap(&Config::default(), 0, 10.0, 1), Span::from_us(8));
    }

    proptest! {
        /// A packet goes at a tick, the first one that is not too early.
        #[test]
        fn a_coarse_clock_delays_to_its_next_tick(
            tick_ns in 1u64..100_000, sent in 0u64..1 << 40, degree in 1u32..400, window in 1u32..100
        ) {
            let config = Config { clock: Some(Span::from_ns(tick_ns)), ..Config::default() };
            let view = PaceView { srtt: Span::from_us(95), cwnd: f64::from(window) * MSS, degree };
            let sent = Instant::from_ps(sent);
            let exact = pacer(&Config::default()).release(sent, &view);
            let release = pacer(&config).release(sent, &view);
            let tick = tick_ns * 1000;
            prop_assert_eq!(release.as_ps() % tick, 0);
            prop_assert!(release >= exact && release.as_ps() - exact.as_ps() < tick);
        }
    }

    #[test]
    fn times_of_zero_are_refused() {
        let refused = |config: Config| Model::new(&config, &HostContext::of(HostConfig::default())).unwrap_err().path;
        assert_eq!(refused(Config { base_rtt: Span::ZERO, ..Config::default() }), "base_rtt");
        assert_eq!(refused(Config { clock: Some(Span::ZERO), ..Config::default() }), "clock");
    }
}
