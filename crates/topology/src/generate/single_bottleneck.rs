//! Single bottleneck: many senders, one switch, one receiver.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Span;
use tailcut_model::{Files, Invalid, Parameters};

use super::{LinkConfig, at_least, countable, plausible};
use crate::network::Network;
use crate::wiring::Wiring;

/// Single bottleneck: hosts `0..senders` send through one switch to host `senders`.
///
/// The network of tests of dynamics: PDQ (SIGCOMM 2012) has 1 Gb/s links and 25 us of processing at the switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// Number of senders; the receiver is one host more.
    pub senders: u32,
    /// Link between a sender and the switch.
    pub host_link: LinkConfig,
    /// Link between the switch and the receiver; as `host_link` if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_link: Option<LinkConfig>,
    /// Processing at the switch, from the arrival of a packet's last bit until the packet is queued.
    #[serde(default)]
    pub switch_delay: Span,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["senders = 4, host_link = { rate = \"10Gbps\", delay = \"1us\" }"];
}

pub(super) fn build(config: &Config, _: &Files) -> Result<Network, Invalid> {
    let &Config { senders, host_link, receiver_link, switch_delay } = config;
    at_least("senders", senders, 1)?;
    countable(u128::from(senders) + 1)?;
    host_link.check("host_link")?;
    let receiver_link = receiver_link.unwrap_or(host_link);
    receiver_link.check("receiver_link")?;
    plausible("switch_delay", switch_delay)?;

    let mut wiring = Wiring::new(senders + 1, switch_delay);
    let leaf = wiring.tier("leaf");
    let switch = wiring.switch("switch0".to_owned(), leaf);
    wiring.hosts(0, senders, switch, host_link);
    wiring.hosts(senders, 1, switch, receiver_link);
    Network::new(wiring, None, None)
}
