//! Leaf-spine: every leaf has one link to every spine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Span, SwitchId};
use tailcut_model::{Files, Invalid, Parameters};

use super::{LinkConfig, at_least, countable, plausible};
use crate::network::Network;
use crate::route::{LeafSpine, Router};
use crate::wiring::Wiring;

/// Leaf-spine: host `h` is attached to leaf `h / hosts_per_leaf`, and each leaf has one link to each spine.
///
/// Published sizes, as leaves x hosts_per_leaf, spines, host link, core link:
/// 20 x 20, 10, 10 Gb/s and 10 us, the same: 2:1, Slytherin (ICCCN 2018, section IV); the delay is that of the authors'
/// scripts, whose 80 us round trip the paper prints. ICON (COMSNETS 2019): the same with 15 us.
/// 20 x 20, 10, 10 Gb/s and 10 us, 40 Gb/s and 10 us: not oversubscribed, Superways (WWW 2021).
/// 9 x 16, 4, 10 Gb/s and 20.2 us, 40 Gb/s and 0.2 us: 1:1, SPQ (Xie et al., Computer Networks 2018, section 5.1); the
/// delays are those of the scripts of PIAS (HKUST-SING/PIAS-NS2), with 20 us at each host.
/// 3 x 48, 4, links as before: 3:1, SPQ, section 5.1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// Number of leaves; each is one rack.
    pub leaves: u32,
    /// Hosts on each leaf.
    pub hosts_per_leaf: u32,
    /// Number of spines: ways between two leaves.
    pub spines: u32,
    /// Link between a host and its leaf.
    pub host_link: LinkConfig,
    /// Link between a leaf and a spine.
    pub core_link: LinkConfig,
    /// Processing at each switch, from the arrival of a packet's last bit until the packet is queued.
    #[serde(default)]
    pub switch_delay: Span,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "leaves = 3, hosts_per_leaf = 2, spines = 2, host_link = { rate = \"10Gbps\", delay = \"1us\" }, core_link = { rate = \"40Gbps\", delay = \"0ns\" }",
        "leaves = 2, hosts_per_leaf = 3, spines = 3, host_link = { rate = \"10Gbps\", delay = \"1us\" }, core_link = { rate = \"7777777777bps\", delay = \"13us\" }, switch_delay = \"250ns\"",
    ];
}

pub(super) fn build(config: &Config, _: &Files) -> Result<Network, Invalid> {
    let &Config { leaves, hosts_per_leaf, spines, host_link, core_link, switch_delay } = config;
    at_least("leaves", leaves, 1)?;
    at_least("hosts_per_leaf", hosts_per_leaf, if leaves == 1 { 2 } else { 1 })?;
    at_least("spines", spines, 1)?;
    countable(u128::from(leaves) * (u128::from(hosts_per_leaf) + u128::from(spines)))?;
    host_link.check("host_link")?;
    core_link.check("core_link")?;
    plausible("switch_delay", switch_delay)?;

    // The router counts on this order of the cables.
    let mut wiring = Wiring::new(leaves * hosts_per_leaf, switch_delay);
    let (lower, upper) = (wiring.tier("leaf"), wiring.tier("spine"));
    for leaf in 0..leaves {
        wiring.switch(format!("leaf{leaf}"), lower);
    }
    for spine in 0..spines {
        wiring.switch(format!("spine{spine}"), upper);
    }
    for leaf in 0..leaves {
        wiring.hosts(leaf * hosts_per_leaf, hosts_per_leaf, SwitchId(leaf), host_link);
        for spine in 0..spines {
            wiring.join(SwitchId(leaf), SwitchId(leaves + spine), core_link);
        }
    }
    let uplinks = u64::from(leaves * spines);
    let capacity = core_link.rate.as_bps().saturating_mul(uplinks);
    let router = Router::LeafSpine(LeafSpine::new(leaves, hosts_per_leaf, spines));
    Network::new(wiring, Some(router), Some(capacity))
}
