//! For which scenarios each link can be simulated alone, and why not for others.

use tailcut_fabric::classify::ClassifierConfig;
use tailcut_fabric::memory::MemoryConfig;
use tailcut_host::delay::DelayConfig;
use tailcut_host::pace::PaceConfig;
use tailcut_host::receive::ReceiveConfig;
use tailcut_host::transport::TransportConfig;
use tailcut_model::{Invalid, Thing};

use crate::Scenario;
use crate::config::{Config, Failures};
use crate::controller::ControllerConfig;
use crate::flow_level::scheme::Costs;
use crate::{flow_level, ways};

/// What every run of links says.
pub(crate) const WARNING: &str = "links: each is simulated alone, so that flows which wait at one link still arrive at \
                                  the next one as if they had not, and ACKs find no queue";

fn refuse<T>(what: &str, why: &str) -> Result<T, Invalid> {
    Err(Invalid::new("fidelity.links", format!("{what} cannot be simulated link by link: {why}"))
        .help("expected `fidelity = \"packet\"` for this scenario, or another scheme"))
}

/// Refuses what one link alone does not show.
///
/// # Errors
/// With the reason.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Invalid> {
    let (config, facts) = (scenario.config(), scenario.facts());
    costs(config, facts.has(Thing::Deadlines))?;
    if ways::splits(&config.path)? {
        return refuse(
            "a path choice for each packet",
            "a link carries parts of flows, which nobody acknowledges alone",
        );
    }
    if scenario.network().relays() {
        return refuse(
            "a network whose hosts pass packets on",
            "their links carry their own flows and those of others",
        );
    }
    if config.port.each().any(|(_, port)| port.pfc.is_some()) {
        return refuse("PFC", "pauses spread from link to link");
    }
    let by_marks =
        |classifier: &ClassifierConfig| !matches!(classifier, ClassifierConfig::Single(_) | ClassifierConfig::Tag(_));
    if config.port.each().any(|(_, port)| by_marks(&port.classifier)) {
        return refuse("a classifier that reads marks", "packets are marked at the links before");
    }
    let has_own = |memory: &MemoryConfig| matches!(memory, MemoryConfig::Private(_));
    if !config.switch.each().all(|(_, switch)| has_own(&switch.memory)) {
        return refuse("a memory that ports share", "what a port may hold depends on what the others do");
    }
    if config.failures != Failures::default() {
        let message = "links do not fail link by link: a flow would stand still at each link of its way";
        return Err(Invalid::new("failures", message).help("expected no such key, or `fidelity = \"packet\"`"));
    }
    if !matches!(config.host.delay, DelayConfig::Off(_)) {
        return refuse("a delay of hosts", "it would be counted at each link of a flow");
    }
    flow_level::check_records(config, "link by link")
}

/// What a flow pays to begin, which it pays once and would be counted at each of its links.
///
/// # Errors
/// If the scheme needs more than one link, with the reason.
pub(super) fn costs(config: &Config, has_deadlines: bool) -> Result<Costs, Invalid> {
    match &config.controller {
        ControllerConfig::Off(_) => {}
        ControllerConfig::Hyline(_) => return refuse("HyLine", "its manager looks at all links at a time"),
        ControllerConfig::Custom(_) => return refuse("a controller of a program", "nothing is known of it"),
    }
    match &config.host.pace {
        PaceConfig::Off(_) | PaceConfig::Icon(_) | PaceConfig::Linux(_) => {}
        PaceConfig::Qjump(_) => return refuse("Qjump", "what a host may send in an epoch goes over all of its ways"),
        PaceConfig::Custom(_) => return refuse("a pacer of a program", "nothing is known of it"),
    }
    match &config.host.transport {
        TransportConfig::Tcp(tcp) => Ok(Costs::of_windows(tcp)),
        TransportConfig::Rcp(rcp) => Ok(Costs::explicit(&rcp.common, 0)),
        TransportConfig::D3(_) if has_deadlines => {
            refuse("D3 with deadlines", "what one switch grants a flow is idle where another one grants it less")
        }
        TransportConfig::D3(d3) => Ok(Costs::explicit(&d3.common, 0)),
        TransportConfig::Pdq(_) => {
            refuse("PDQ", "a flow that one switch has paused leaves the links of all others to other flows")
        }
        TransportConfig::Homa(_) => {
            refuse("Homa", "a receiver grants one message after the other, and a sender has grants of many receivers")
        }
        TransportConfig::Hyline(_) => refuse("HyLine", "its manager looks at all links at a time"),
        TransportConfig::Custom(_) => refuse("a transport of a program", "nothing is known of it"),
    }
}

/// Whether receivers do more than to acknowledge: then each of them has a host of its own.
pub(super) fn has_busy_receivers(config: &Config) -> bool {
    !matches!((&config.host.receive, &config.host.pace), (ReceiveConfig::Unlimited(_), PaceConfig::Off(_)))
}
