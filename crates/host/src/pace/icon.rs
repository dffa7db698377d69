//! ICON: the window is spread over the round trip, and over all hosts that answer the same query.
//!
//! Rezaei, Almasi, Vamanan, "ICON: Incast Congestion Control using Packet Pacing in Datacenter Networks" (COMSNETS
//! 2019), and Rezaei, PhD thesis (University of Illinois at Chicago, 2021), section 3.2. A packet follows the one
//! before after `RTT x N / W`, start to start, for a window of W packets and N answers (equation 3.1: rate = window /
//! (RTT x N)). Windows and ACKs are those of the congestion control; retransmissions are paced as well.
//!
//! By equation 3.1 all senders of an incast together send one window in a round trip, however many they are: 1.5 Gb/s
//! for 10 packets in 80 us. The public script (hrezae2/ICON, scratch/ICON.cc) instead sends incast packets 30.22 us
//! apart, which is the bottleneck's rate over 25. `gap = "capacity"` stands for that: `max(RTT / W, N packets of 1500 B
//! at the link's rate)`.
//!
//! In that script all flows of a host to one destination share a clock, which `clock_of = "destination"` stands for.
//!
//! The document does not say whose RTT it is: the smoothed one of TCP, and `base_rtt` until there is one; or always
//! `base_rtt`, with `rtt = "base"`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Instant, MSS_BYTES, MTU_BYTES, Span};
use tailcut_model::seat::{Awareness, PaceView, Pacer};
use tailcut_model::{Around, Build, Facts, Invalid, Parameters, Thing};

use crate::HostContext;

/// How packets are spaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What the gap between two packets is.
    pub gap: Gap,
    /// Whether the sender is told how many hosts answer the same query (ICON); if not, it takes itself for the only one
    /// (IA-ICON, information-agnostic).
    pub aware: bool,
    /// Whom the number of senders counts.
    #[serde(skip_serializing_if = "Senders::is_default")]
    pub senders: Senders,
    /// Which round-trip time is meant.
    #[serde(skip_serializing_if = "RoundTrip::is_default")]
    pub rtt: RoundTrip,
    /// The round-trip time until one is measured (thesis, section 4.2.1.1: 80 us).
    pub base_rtt: Span,
    /// Whose packets are spaced among one another.
    #[serde(skip_serializing_if = "ClockOf::is_default")]
    pub clock_of: ClockOf,
    /// The clock of the pacer ticks so often, at most every 4 ms: at each tick all packets go that have become due
    /// since the one before. Without it, each goes when it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Span>,
}

/// Whom the number of senders, N, counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Senders {
    /// The hosts that answer the same query (thesis, section 3.2.1: "the number of the servers that it is going to the
    /// search query").
    #[default]
    Query,
    /// The hosts that answer any query of the same sink that has answers left ("how many different servers will share a
    /// same route through the sink server"). When a query begins or ends, the sink tells whoever answers another one.
    Active,
}

impl Senders {
    /// Not written out then, so that what was configured before there was a choice is configured the same.
    fn is_default(&self) -> bool {
        *self == Senders::default()
    }
}

/// The round-trip time of a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundTrip {
    /// TCP's smoothed one: a queue makes gaps longer.
    #[default]
    Smoothed,
    /// `base_rtt`, whatever is measured (thesis, section 3.2.3, computes with one number for the network).
    Base,
}

impl RoundTrip {
    /// Not written out then, so that what was configured before there was a choice is configured the same.
    fn is_default(&self) -> bool {
        *self == RoundTrip::default()
    }
}

/// Whose packets are spaced among one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClockOf {
    /// Those of each flow.
    #[default]
    Flow,
    /// Those of all flows from one host to another (hrezae2/ICON, `src/dcn/model/mqq-net-device.cc`: a queue of the NIC
    /// for each destination).
    Destination,
}

impl ClockOf {
    /// Not written out then, so that what was configured before there was a choice is configured the same.
    fn is_default(&self) -> bool {
        *self == ClockOf::default()
    }
}

/// The gap between two packets, start to start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gap {
    /// RTT x N / W: all senders together send a window in a round trip (thesis, equation 3.1).
    #[default]
    Window,
    /// The longer one of RTT / W and the time that N packets of 1500 B take on the host's link: all senders together
    /// fill the link.
    Capacity,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            gap: Gap::Window,
            aware: true,
            senders: Senders::Query,
            rtt: RoundTrip::Smoothed,
            base_rtt: Span::from_us(80),
            clock_of: ClockOf::Flow,
            clock: None,
        }
    }
}

/// Between two ticks of the clock, at most.
const SLOWEST_CLOCK: Span = Span::from_ms(4);

/// The pacer.
#[derive(Debug)]
pub struct Model {
    gap: Gap,
    aware: bool,
    senders: Senders,
    rtt: RoundTrip,
    base_rtt: Span,
    clock_of: ClockOf,
    /// Between two ticks; zero without a clock.
    clock: Span,
    /// Time that a packet of 1500 B takes on the host's link.
    packet: Span,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "gap = \"capacity\", clock = \"3us\"",
        "aware = false, base_rtt = \"300us\"",
        "senders = \"active\", rtt = \"base\"",
        "clock_of = \"destination\"",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.own_times();
        if self.clock.is_some() {
            facts.own_clock();
        }
        if self.aware {
            facts.idle_without(Thing::Incast, "there are none: every sender takes itself for the only one");
        }
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        let what = "windows are paced faster than they are acknowledged";
        around.short_round_trip("base_rtt", self.base_rtt, what).into_iter().collect()
    }
}

impl Build for Model {
    type Config = Config;
    type Context = HostContext;

    fn build(config: &Config, context: &HostContext) -> Result<Model, Invalid> {
        if config.base_rtt == Span::ZERO {
            return Err(Invalid::new("base_rtt", "a round trip of zero spaces nothing")
                .help("expected a positive time, such as \"80us\""));
        }
        if config.senders != Senders::Query && !config.aware {
            return Err(Invalid::new("senders", "nobody is told how many they are with `aware = false`")
                .help("expected `aware = true`, or no `senders`"));
        }
        if let Some(clock) = config.clock
            && !(Span::from_ps(1)..=SLOWEST_CLOCK).contains(&clock)
        {
            return Err(Invalid::new("clock", format!("{clock} is not between 1ps and {SLOWEST_CLOCK}"))
                .help("expected a time such as \"1us\", or no `clock`"));
        }
        Ok(Model {
            gap: config.gap,
            aware: config.aware,
            senders: config.senders,
            rtt: config.rtt,
            base_rtt: config.base_rtt,
            clock_of: config.clock_of,
            clock: config.clock.unwrap_or(Span::ZERO),
            packet: context.nic.tx_time(MTU_BYTES),
        })
    }
}

impl Pacer for Model {
    fn is_on(&self) -> bool {
        true
    }

    fn awareness(&self) -> Awareness {
        match (self.aware, self.senders) {
            (false, _) => Awareness::Off,
            (true, Senders::Query) => Awareness::Query,
            (true, Senders::Active) => Awareness::Active,
        }
    }

    fn next_due(&self, due: Instant, sent: Instant, flow: &PaceView) -> Instant {
        let is_base = self.rtt == RoundTrip::Base || flow.srtt == Span::ZERO;
        let rtt = if is_base { self.base_rtt } else { flow.srtt };
        let packets = flow.cwnd / MSS_BYTES as f64;
        let senders = if self.aware { flow.degree } else { 1 };
        let share = |rtt: Span| Span::from_ps((rtt.as_ps() as f64 / packets).round() as u64);
        let gap = match self.gap {
            Gap::Window => share(rtt * u64::from(senders)),
            Gap::Capacity => share(rtt).max(self.packet * u64::from(senders)),
        };
        // A clock makes a packet late by less than a tick: so much is made up for, whatever held it back, and no more.
        let kept = due.as_ps().max(sent.as_ps().saturating_sub(self.clock.as_ps()));
        Instant::from_ps(kept) + gap
    }

    fn shares_clock(&self) -> bool {
        self.clock_of == ClockOf::Destination
    }

    fn release(&self, due: Instant) -> Instant {
        let (at, tick) = (due.as_ps(), self.clock.as_ps());
        if tick == 0 { due } else { Instant::from_ps(at.div_ceil(tick) * tick) }
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
        Model::build(config, &HostContext::of(HostConfig::default())).unwrap()
    }

    fn gap(config: &Config, rtt_us: u64, window: f64, degree: u32) -> Span {
        let view = PaceView { srtt: Span::from_us(rtt_us), cwnd: window * MSS, degree, ..PaceView::default() };
        let sent = Instant::from_ps(77);
        pacer(config).next_due(sent, sent, &view).since(sent).unwrap()
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
        assert_eq!(pacer(&agnostic).awareness(), Awareness::Off);
        assert_eq!(pacer(&Config::default()).awareness(), Awareness::Query);
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
        assert_eq!(gap(&Config::default(), 160, 10.0, 1), Span::from_us(16));
        let constant = Config { rtt: RoundTrip::Base, ..Config::default() };
        assert_eq!(gap(&constant, 160, 10.0, 1), Span::from_us(8));
    }

    proptest! {
        /// Packets go at ticks, each at the first one after it is due, and as many in the long run as without a clock.
        #[test]
        fn a_coarse_clock_sends_at_its_ticks_what_has_become_due(
            tick_ns in 1u64..100_000, degree in 1u32..40, window in 1u32..100
        ) {
            let config = Config { clock: Some(Span::from_ns(tick_ns)), ..Config::default() };
            let view = PaceView { srtt: Span::from_us(95), cwnd: f64::from(window) * MSS, degree, ..PaceView::default() };
            let (coarse, exact) = (pacer(&config), pacer(&Config::default()));
            let tick = tick_ns * 1000;
            let start = Instant::from_ps(tick);
            let (mut due, mut ideal) = (start, start);
            for _ in 0..100 {
                let release = coarse.release(due);
                prop_assert_eq!(due, ideal);
                prop_assert_eq!(release.as_ps() % tick, 0);
                prop_assert!(release >= due && release.as_ps() - due.as_ps() < tick);
                due = coarse.next_due(due, release, &view);
                ideal = exact.next_due(ideal, ideal, &view);
            }
        }
    }

    #[test]
    fn no_more_than_a_tick_is_made_up_for() {
        let view = PaceView { srtt: Span::from_us(80), cwnd: 10.0 * MSS, degree: 1, ..PaceView::default() };
        let at = |us| Instant::ZERO + Span::from_us(us);
        assert_eq!(pacer(&Config::default()).next_due(at(100), at(130), &view), at(138));
        let config = Config { clock: Some(Span::from_us(10)), ..Config::default() };
        assert_eq!(pacer(&config).next_due(at(100), at(130), &view), at(128), "all but one tick");
        assert_eq!(pacer(&config).next_due(at(125), at(130), &view), at(133));
    }

    #[test]
    fn times_out_of_range_are_refused() {
        let refused = |config: Config| Model::build(&config, &HostContext::of(HostConfig::default())).unwrap_err().path;
        assert_eq!(refused(Config { base_rtt: Span::ZERO, ..Config::default() }), "base_rtt");
        for clock in [Span::ZERO, Span::from_ms(5)] {
            assert_eq!(refused(Config { clock: Some(clock), ..Config::default() }), "clock");
        }
    }
}
