//! Dumbbell: two groups of hosts with one link, or a line of switches, between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Span, SwitchId};
use tailcut_model::{Files, Invalid, Parameters};

use super::{LinkConfig, at_least, at_most, countable, plausible};
use crate::network::Network;
use crate::wiring::Wiring;

/// Dumbbell: switches in a line, the left hosts at the first, the right hosts at the last. Hosts are numbered from left
/// to right.
///
/// Two switches with two hosts on each, every link 10 Gb/s and 13.333 us (round trip 80 us), are the scenario of
/// Slytherin's convergence test (ICCCN 2018, section V-C). With two switches only the first one is congested, so that a
/// packet that was marked never meets a queue again. Three switches with hosts 1, 1 and 2 (`left_hosts`,
/// `hosts_per_middle_switch`, `right_hosts`) put a second bottleneck behind the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// Hosts at the first switch.
    pub left_hosts: u32,
    /// Hosts at the last switch.
    pub right_hosts: u32,
    /// Switches from left to right: 2 for a plain dumbbell, at most 1024.
    #[serde(default = "two")]
    pub switches_in_line: u32,
    /// Hosts at each switch between the first and the last.
    #[serde(default)]
    pub hosts_per_middle_switch: u32,
    /// Link between a host and its switch.
    pub host_link: LinkConfig,
    /// Link between neighbouring switches.
    pub core_link: LinkConfig,
    /// Processing at each switch, from the arrival of a packet's last bit until the packet is queued.
    #[serde(default)]
    pub switch_delay: Span,
}

/// The ways through a line are stored for each pair of switches with hosts.
const MOST_SWITCHES: u32 = 1024;

fn two() -> u32 {
    2
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "left_hosts = 2, right_hosts = 3, host_link = { rate = \"10Gbps\", delay = \"1us\" }, core_link = { rate = \"10Gbps\", delay = \"5us\" }",
    ];
}

pub(super) fn build(config: &Config, _: &Files) -> Result<Network, Invalid> {
    let &Config { left_hosts, right_hosts, switches_in_line, hosts_per_middle_switch, .. } = config;
    at_least("left_hosts", left_hosts, 1)?;
    at_least("right_hosts", right_hosts, 1)?;
    at_least("switches_in_line", switches_in_line, 2)?;
    at_most("switches_in_line", switches_in_line, MOST_SWITCHES)?;
    if switches_in_line == 2 && hosts_per_middle_switch > 0 {
        return Err(Invalid::new("hosts_per_middle_switch", "a line of 2 switches has none in the middle")
            .help("expected 0, or switches_in_line of at least 3"));
    }
    let middle_hosts = u128::from(switches_in_line - 2) * u128::from(hosts_per_middle_switch);
    countable(u128::from(left_hosts) + u128::from(right_hosts) + middle_hosts + u128::from(switches_in_line - 1))?;
    config.host_link.check("host_link")?;
    config.core_link.check("core_link")?;
    plausible("switch_delay", config.switch_delay)?;

    let last = switches_in_line - 1;
    let hosts_at = |switch| match switch {
        0 => left_hosts,
        _ if switch == last => right_hosts,
        _ => hosts_per_middle_switch,
    };
    let mut wiring = Wiring::new((0..switches_in_line).map(hosts_at).sum(), config.switch_delay);
    let leaf = wiring.tier("leaf");
    let has_empty = switches_in_line > 2 && hosts_per_middle_switch == 0;
    let spine = if has_empty { wiring.tier("spine") } else { leaf };
    let mut first = 0;
    for number in 0..switches_in_line {
        let tier = if hosts_at(number) > 0 { leaf } else { spine };
        let switch = wiring.switch(format!("line{number}"), tier);
        wiring.hosts(first, hosts_at(number), switch, config.host_link);
        first += hosts_at(number);
    }
    for left in 0..last {
        wiring.join(SwitchId(left), SwitchId(left + 1), config.core_link);
    }
    Network::new(wiring, None, Some(config.core_link.rate.as_bps()))
}
