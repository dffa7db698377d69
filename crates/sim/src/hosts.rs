//! What the hosts of a network are made of.

use std::collections::BTreeSet;
use std::sync::Arc;

use tailcut_base::HostId;
use tailcut_host::{HostConfig, HostContext};
use tailcut_model::Invalid;
use tailcut_topology::Network;

/// What the seats of a host may know when they are made.
pub(crate) fn context(config: &Arc<HostConfig>, network: &Network, host: HostId) -> HostContext {
    HostContext {
        config: Arc::clone(config),
        nic: network.ports()[network.nic(host)].rate,
        nics: network.nics(host).len() as u8,
        hosts: network.hosts(),
    }
}

/// Checks the configuration for each kind of host that the network has: for each rate and number of links.
pub(crate) fn check(config: &HostConfig, network: &Network) -> Result<(), Invalid> {
    let config = Arc::new(config.clone());
    let mut seen = BTreeSet::new();
    for host in (0..network.hosts()).map(HostId) {
        let context = context(&config, network, host);
        if seen.insert((context.nic.as_bps(), context.nics)) {
            context.validate().map_err(|e| e.within("host"))?;
        }
    }
    Ok(())
}
