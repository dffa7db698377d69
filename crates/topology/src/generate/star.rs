//! Star: hosts on one switch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Span;
use tailcut_model::{Files, Invalid, Parameters};

use super::{LinkConfig, at_least, countable, plausible};
use crate::network::Network;
use crate::wiring::Wiring;

/// Star: all hosts on one switch. The only bottlenecks are the links of the hosts, as in a network that never blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// Number of hosts.
    pub hosts: u32,
    /// Link between a host and the switch.
    pub host_link: LinkConfig,
    /// Processing at the switch, from the arrival of a packet's last bit until the packet is queued.
    #[serde(default)]
    pub switch_delay: Span,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["hosts = 4, host_link = { rate = \"10Gbps\", delay = \"1us\" }"];
}

pub(super) fn build(config: &Config, _: &Files) -> Result<Network, Invalid> {
    let &Config { hosts, host_link, switch_delay } = config;
    at_least("hosts", hosts, 2)?;
    countable(u128::from(hosts))?;
    host_link.check("host_link")?;
    plausible("switch_delay", switch_delay)?;

    let mut wiring = Wiring::new(hosts, switch_delay);
    let leaf = wiring.tier("leaf");
    let switch = wiring.switch("switch0".to_owned(), leaf);
    wiring.hosts(0, hosts, switch, host_link);
    Network::new(wiring, None, None)
}
