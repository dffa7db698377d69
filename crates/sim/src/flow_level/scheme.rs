//! Which discipline a scheme has as fluids, found from what sits on its seats, and what a flow pays beside.

use tailcut_base::{Bytes, HEADER_BYTES, Instant, MSS_BYTES, MTU_BYTES, Span, wire_bytes};
use tailcut_fabric::agent::{AgentConfig, pdq as pdq_agent};
use tailcut_fabric::classify::ClassifierConfig;
use tailcut_fabric::sched::SchedulerConfig;
use tailcut_flow::{Criticality, Discipline, Feedback, Order, SizeClasses, Weighted};
use tailcut_host::congestion::{CongestionConfig, l2dct};
use tailcut_host::order::OrderConfig;
use tailcut_host::pace::PaceConfig;
use tailcut_host::tag::TagConfig;
use tailcut_host::tag::thresholds::Thresholds;
use tailcut_host::transport::explicit::Common;
use tailcut_host::transport::{TransportConfig, hyline, pdq, tcp};
use tailcut_model::{Facts, Invalid, PathFacts, Thing};
use tailcut_topology::{Network, Route};

use crate::config::Config;
use crate::controller::ControllerConfig;
use crate::ways;

/// What a scheme is where flows are fluids.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FluidScheme {
    /// Who gets which rate.
    pub(crate) discipline: Discipline,
    /// What a flow pays.
    pub(crate) costs: Costs,
    /// Which flows a controller lets go, if one does.
    pub(crate) permission: Option<Permission>,
}

/// Flows that a controller lets go and stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Permission {
    /// Those of more payload bytes than this.
    pub(crate) above: u64,
    /// When it hears of their ends.
    pub(crate) end: hyline::End,
    /// What they pay.
    pub(crate) costs: Costs,
}

/// What a flow pays beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Costs {
    /// Round trips of packets of a header before the first data.
    pub(crate) handshakes: u32,
    /// The windows that a flow begins with, for a transport that has them.
    pub(crate) windows: Option<Windows>,
    /// Round trips that a link is idle when a flow that has waited takes it.
    pub(crate) switching: u32,
}

impl Costs {
    /// Those of windows.
    pub(crate) fn of_windows(tcp: &tcp::Config) -> Costs {
        Costs {
            handshakes: u32::from(tcp.handshake == tcp::Handshake::OneRtt),
            windows: Some(Windows { first: tcp.initial_window, most: tcp.max_window }),
            switching: 0,
        }
    }

    /// A flow is opened by a packet that the receiver answers, and asks for a rate with it or with the one after it.
    pub(crate) fn explicit(common: &Common, switching: u32) -> Costs {
        Costs { handshakes: if common.open_with_header { 1 } else { 2 }, windows: None, switching }
    }

    /// What a flow that has a way to itself takes beyond its ideal completion time, because its transport has to begin.
    pub(crate) fn startup(&self, way: &Route, size: u64) -> Span {
        let path = way.facts();
        let header_rtt = way.packet_time(HEADER_BYTES) + (path.rtt - way.packet_time(MTU_BYTES));
        let slowest = way.links.iter().map(|link| link.rate).min();
        let alone = slowest.map_or(Span::ZERO, |rate| rate.tx_time(wire_bytes(size)));
        let idle = self.windows.map_or(Span::ZERO, |windows| windows.idle(size, alone, path));
        header_rtt * u64::from(self.handshakes) + idle
    }
}

/// Windows that double in each round trip until the flow has its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    /// The first one, in packets.
    pub(crate) first: u32,
    /// The largest one.
    pub(crate) most: Option<u32>,
}

impl Windows {
    /// How much longer a flow takes than its rate says, because it waits for ACKs until its window is large enough for
    /// that rate: slow start, in which the window doubles in each round trip (RFC 5681, section 3.1). A flow of `size`
    /// payload bytes that had `took` for them all together.
    pub(crate) fn idle(self, size: u64, took: Span, path: PathFacts) -> Span {
        let wire = wire_bytes(size) as f64;
        let (rtt, took) = (path.rtt.as_secs_f64(), took.as_secs_f64());
        if took <= 0.0 {
            return Span::ZERO;
        }
        let rate = wire / took;
        let most = self.most.map_or(f64::INFINITY, f64::from) * MTU_BYTES as f64;
        let (mut window, mut sent, mut idle) = ((f64::from(self.first) * MTU_BYTES as f64).min(most), 0.0, 0.0);
        while sent + window < wire {
            let pause = rtt - window / rate;
            if pause <= 0.0 {
                break;
            }
            if window >= most {
                idle += pause * ((wire - sent) / window).floor();
                break;
            }
            idle += pause;
            sent += window;
            window = (2.0 * window).min(most);
        }
        Span::from_secs_f64(idle)
    }
}

/// The key that asks for fluids.
const KEY: &str = "fidelity";

fn refuse<T>(what: &str, why: &str) -> Result<T, Invalid> {
    Err(Invalid::new(KEY, format!("{what} has no flow level: {why}"))
        .help("expected `fidelity = \"packet\"` for this scheme, or another scheme"))
}

impl FluidScheme {
    fn new(discipline: Discipline, costs: Costs) -> FluidScheme {
        FluidScheme { discipline, costs, permission: None }
    }

    /// What a flow of so many payload bytes pays.
    pub(crate) fn costs_of(&self, size: u64) -> &Costs {
        match &self.permission {
            Some(permission) if size > permission.above => &permission.costs,
            _ => &self.costs,
        }
    }

    /// The discipline of what sits on the seats.
    ///
    /// # Errors
    /// If there is none, with the reason.
    pub(crate) fn of(config: &Config, facts: &Facts) -> Result<FluidScheme, Invalid> {
        match &config.controller {
            ControllerConfig::Off(_) | ControllerConfig::Hyline(_) => {}
            ControllerConfig::Custom(_) => return refuse("a controller of a program", "nothing is known of it"),
        }
        let has_deadlines = facts.has(Thing::Deadlines);
        match &config.host.transport {
            TransportConfig::Tcp(tcp) => of_windows(config, tcp, has_deadlines),
            // Receivers grant the messages with the least left, and hosts send them first (SIGCOMM 2018, section 3). Of
            // each no more than RTTbytes are on the way, like a window that stays as it is.
            TransportConfig::Homa(homa) => {
                let window = u32::try_from(homa.window() / MSS_BYTES).unwrap_or(u32::MAX);
                let windows = Some(Windows { first: window, most: Some(window) });
                Ok(FluidScheme::new(by(Order::Remaining), Costs { windows, ..Costs::default() }))
            }
            TransportConfig::Rcp(rcp) => Ok(FluidScheme::new(Discipline::MaxMin, Costs::explicit(&rcp.common, 0))),
            TransportConfig::D3(_) if has_deadlines => {
                refuse("D3 with deadlines", "requests are granted first come, first served, each round trip anew")
            }
            TransportConfig::D3(d3) => Ok(FluidScheme::new(Discipline::MaxMin, Costs::explicit(&d3.common, 0))),
            TransportConfig::Pdq(pdq) => of_pdq(config, pdq, has_deadlines),
            TransportConfig::Hyline(hyline) => of_hyline(config, hyline, has_deadlines),
            TransportConfig::Custom(_) => refuse("a transport of a program", "nothing is known of it"),
        }
    }

    /// The discipline in a network. Hosts that pass packets on do for their own links what switches do.
    pub(crate) fn discipline_in(&self, network: &Network) -> Discipline {
        match &self.discipline {
            Discipline::Criticality(criticality) if network.relays() => {
                Discipline::Criticality(Criticality { first_is_even: false, ..*criticality })
            }
            discipline => discipline.clone(),
        }
    }

    /// How much later than its application hands it over a flow enters the network, if a header takes `header_rtt`
    /// there and back.
    pub(crate) fn enters_after(&self, header_rtt: Span) -> Span {
        header_rtt * u64::from(self.costs.handshakes)
    }
}

fn by(order: Order) -> Discipline {
    Discipline::Criticality(Criticality { order, first_is_even: false })
}

fn of_pdq(config: &Config, pdq: &pdq::Config, has_deadlines: bool) -> Result<FluidScheme, Invalid> {
    if pdq.multipath.as_ref().is_some_and(|multipath| multipath.subflows > 1) {
        return refuse("Multipath PDQ", "its senders shift load between subflows, which no order of flows says");
    }
    if pdq.early_termination && has_deadlines {
        return refuse(
            "PDQ with Early Termination and deadlines",
            "which flows are given up depends on what they hear in each round trip; without it, \
             `host.transport.pdq.early_termination = false`, there is one",
        );
    }
    if pdq.policy != pdq::Policy::None || pdq.aging != 0.0 || pdq.sizes != pdq::Sizes::Known {
        return refuse("PDQ with a policy, estimated sizes or aging", "its order is not that of what is left");
    }
    let AgentConfig::Pdq(agent) = &config.switch.all.agent else {
        return refuse("PDQ", "there are no switches that speak it");
    };
    let order = match agent.comparator {
        pdq_agent::Comparator::Edf => Order::Deadline,
        pdq_agent::Comparator::Sjf => Order::Remaining,
        pdq_agent::Comparator::EdfSjf => Order::DeadlineRemaining,
    };
    // Without Early Start the next flow hears that it may send when the one before has ended: a round trip in which the
    // link is idle (SIGCOMM 2012, section 3.3.2, and slides "Early Start").
    let switching = u32::from(agent.early_start == 0.0);
    // The link of a host has no switch before it, and the flows that switches let send share it. What is granted to
    // them further on is theirs, whether they use it or not.
    let first_is_even = !ways::splits(&config.path)?;
    let discipline = Discipline::Criticality(Criticality { order, first_is_even });
    Ok(FluidScheme::new(discipline, Costs::explicit(&pdq.common, switching)))
}

/// Small flows share evenly, and go before large ones, which the controller lets go on ways with room for them.
fn of_hyline(config: &Config, hyline: &hyline::Config, has_deadlines: bool) -> Result<FluidScheme, Invalid> {
    let FluidScheme { discipline: of_small, costs, .. } = of_windows(config, &hyline.first, has_deadlines)?;
    if of_small != Discipline::MaxMin {
        return refuse("HyLine whose first class does not share evenly", "its flows and the large ones would be mixed");
    }
    let permission =
        Permission { above: hyline.threshold.0, end: hyline.end, costs: Costs::of_windows(&hyline.second()) };
    let discipline = Discipline::SizeClasses(SizeClasses::new(vec![bits(hyline.threshold)]));
    Ok(FluidScheme { discipline, costs, permission: Some(permission) })
}

/// Bits on the wire of so many payload bytes.
fn bits(payload: Bytes) -> f64 {
    wire_bytes(payload.0) as f64 * 8.0
}

fn of_windows(config: &Config, tcp: &tcp::Config, has_deadlines: bool) -> Result<FluidScheme, Invalid> {
    let costs = Costs::of_windows(tcp);
    match &config.host.pace {
        PaceConfig::Off(_) | PaceConfig::Icon(_) | PaceConfig::Linux(_) => {}
        PaceConfig::Qjump(_) => {
            return refuse("Qjump", "what a host may send in an epoch holds flows back, and no link does");
        }
        PaceConfig::Custom(_) => return refuse("a pacer of a program", "nothing is known of it"),
    }
    let discipline = match (&config.host.order, of_tag(config)?) {
        (_, Some(discipline)) => discipline,
        (OrderConfig::Las(_), None) => least_attained(),
        (OrderConfig::Srpt(_), None) => {
            return refuse("an order of hosts alone, the least left first,", "links of switches do not know it");
        }
        (OrderConfig::Fifo(_) | OrderConfig::RoundRobin(_), None) => match &config.host.congestion {
            CongestionConfig::Newreno(_)
            | CongestionConfig::Cubic(_)
            | CongestionConfig::Dctcp(_)
            | CongestionConfig::Swift(_)
            | CongestionConfig::Minimal(_) => Discipline::MaxMin,
            CongestionConfig::L2dct(l2dct) => weighted(l2dct),
            CongestionConfig::D2tcp(_) if has_deadlines => {
                return refuse("D2TCP with deadlines", "how much a flow yields depends on the marks that it sees");
            }
            CongestionConfig::D2tcp(_) => Discipline::MaxMin,
            CongestionConfig::Custom(_) => {
                return refuse("a congestion control of a program", "nothing is known of it");
            }
        },
    };
    Ok(FluidScheme::new(discipline, costs))
}

/// The weight is that of L2DCT, in proportion to which its window opens.
fn weighted(l2dct: &l2dct::Config) -> Discipline {
    Discipline::Weighted(Weighted {
        full: bits(l2dct.full_weight),
        least: bits(l2dct.least_weight),
        largest: l2dct.w_max,
        smallest: l2dct.w_min,
    })
}

fn least_attained() -> Discipline {
    Discipline::Feedback(Feedback::least_attained(MTU_BYTES as f64 * 8.0))
}

/// What the priorities in packets come to, if ports go by them.
fn of_tag(config: &Config) -> Result<Option<Discipline>, Invalid> {
    let port = &config.port.all;
    let by_class = port.classes > 1 && matches!(port.classifier, ClassifierConfig::Tag(_));
    let by_rank = match port.scheduler {
        SchedulerConfig::Strict(_) => false,
        SchedulerConfig::Ranked(_) | SchedulerConfig::Pfabric(_) | SchedulerConfig::Srpt(_) => true,
    };
    let thresholds = |thresholds: &Thresholds| -> Result<Discipline, Invalid> {
        let at = thresholds.resolve(None).map_err(|e| e.within("thresholds"))?;
        Ok(Discipline::Feedback(Feedback::at(at.iter().map(|&at| bits(at)).collect())))
    };
    Ok(match &config.host.tag {
        TagConfig::Off(_) => None,
        _ if !by_class && !by_rank => None,
        TagConfig::Pias(pias) => Some(thresholds(&pias.thresholds)?),
        // What is sent again is in a class of its own there; fluids lose nothing.
        TagConfig::Resqueue(resqueue) => Some(thresholds(&resqueue.thresholds)?),
        TagConfig::FlowSize(size) => Some(Discipline::SizeClasses(SizeClasses::new(vec![bits(size.short)]))),
        TagConfig::SizeLevels(levels) => {
            let bounds = levels.largest.iter().map(|&largest| bits(largest)).collect();
            Some(Discipline::SizeClasses(SizeClasses::new(bounds)))
        }
        TagConfig::FlowRank(_) => Some(by(Order::Size)),
        TagConfig::Attained(_) => Some(least_attained()),
        TagConfig::Remaining(_) => Some(by(Order::Remaining)),
        TagConfig::Custom(_) => return refuse("a tag of a program", "nothing is known of it"),
    })
}

/// When a flow should be complete, as disciplines look at it.
pub(crate) fn deadline(start: Instant, deadline: Option<Span>) -> Option<Instant> {
    deadline.map(|deadline| Instant::from_ps(start.as_ps().saturating_add(deadline.as_ps())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 packets, then 20, in round trips of 100 us at 10 Gb/s, which carries 83 packets in one: 50 packets wait for
    /// 100 - 12 us and for 100 - 24 us.
    #[test]
    fn slow_start_waits_for_its_acks() {
        let windows = Windows { first: 10, most: None };
        let path = PathFacts { hops: 4, rtt: Span::from_us(100), ..PathFacts::default() };
        assert_eq!(windows.idle(50 * 1460, Span::from_us(60), path), Span::from_us(164));
        // One window suffices.
        assert_eq!(windows.idle(10 * 1460, Span::from_us(12), path), Span::ZERO);
        // At a tenth of the rate the first window is more than a round trip.
        assert_eq!(windows.idle(50 * 1460, Span::from_us(600), path), Span::ZERO);
        // A window that stays at 10 packets is full after 12 us of each round trip: four times before the last one.
        let most = Windows { first: 10, most: Some(10) };
        assert_eq!(most.idle(49 * 1460, Span::from_ns(58_800), path), Span::from_us(4 * 88));
    }
}
