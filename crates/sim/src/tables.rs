//! Which settings hold for which port and switch: those of its table, with sizes that follow the rate of its link.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_base::{BitRate, Bytes, PortId, Span, SwitchId, bdp_bytes, dotted};
use tailcut_fabric::{PortConfig, SwitchConfig};
use tailcut_model::{Invalid, suggest};
use tailcut_topology::{Network, Node};

use crate::config::{Config, NicConfig};
use crate::failures::link_help;

/// A table of settings for ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Table {
    /// `[port]`.
    All,
    /// The named one at this place in the list.
    Named(usize),
    /// `[nic.queue]`.
    Nic,
}

/// Which table of settings holds for which port and switch.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    port_of_tier: Vec<Option<usize>>,
    port: BTreeMap<PortId, usize>,
    switch_of_tier: Vec<Option<usize>>,
    switch: BTreeMap<SwitchId, usize>,
    /// Settings of tables whose sizes differ with the rate of the link, in bit/s.
    by_rate: BTreeMap<(Table, u64), PortConfig>,
    /// Ports of fat links, of switches and of hosts that have queues: their buffer is that of several ports.
    fat: BTreeMap<PortId, PortConfig>,
}

impl Table {
    /// Those of a configuration.
    fn each(config: &Config) -> Vec<Table> {
        let named = (0..config.port.named.len()).map(Table::Named);
        let nic = matches!(config.nic, NicConfig::Queue(_)).then_some(Table::Nic);
        std::iter::once(Table::All).chain(named).chain(nic).collect()
    }

    /// The dotted path of its key.
    fn path(self, config: &Config) -> String {
        match self {
            Table::All => "port".to_owned(),
            Table::Named(at) => dotted::join("port", &config.port.named[at].0),
            Table::Nic => "nic.queue".to_owned(),
        }
    }

    /// Its settings as they are written.
    fn settings(self, config: &Config) -> &PortConfig {
        match (self, &config.nic) {
            (Table::Named(at), _) => &config.port.named[at].1,
            (Table::Nic, NicConfig::Queue(queue)) => queue,
            _ => &config.port.all,
        }
    }

    fn settings_mut(self, config: &mut Config) -> &mut PortConfig {
        match (self, &mut config.nic) {
            (Table::Named(at), _) => &mut config.port.named[at].1,
            (Table::Nic, NicConfig::Queue(queue)) => queue,
            _ => &mut config.port.all,
        }
    }
}

fn bdp(bps: u64, rtt: Span) -> u64 {
    BitRate::from_bps(bps).map_or(0, |rate| bdp_bytes(rate, rtt))
}

/// The name under which `[port.NAME]` means the interfaces of hosts that pass packets on.
pub(crate) const HOST_TIER: &str = "host";

/// Whether a table for the tier of hosts means anything.
pub(crate) fn reads_host_tier(config: &Config, network: &Network) -> bool {
    matches!(config.nic, NicConfig::Pull(_)) && network.relays()
}

impl Tables {
    /// The tables of a configuration whose largest idle round trip is `rtt`. Sizes that are multiples of the
    /// bandwidth-delay product are written out in the configuration where they are the same for all ports of a table.
    ///
    /// # Errors
    /// If a table has the name of no port and no switch.
    pub(crate) fn new(config: &mut Config, network: &Network, rtt: Span) -> Result<Tables, Invalid> {
        let mut tables = Tables::by_name(config, network)?;
        tables.resolve(config, network, rtt);
        Ok(tables)
    }

    /// Those of a network that has no named tables.
    pub(crate) fn without_names(network: &Network) -> Tables {
        let tiers = vec![None; network.tiers().len()];
        Tables { port_of_tier: tiers.clone(), switch_of_tier: tiers, ..Tables::default() }
    }

    fn by_name(config: &Config, network: &Network) -> Result<Tables, Invalid> {
        let tier = |name: &str| network.tiers().iter().position(|tier| tier == name);
        let mut tables = Tables::without_names(network);
        for (at, (name, _)) in config.port.named.iter().enumerate() {
            if let Some(tier) = tier(name) {
                tables.port_of_tier[tier] = Some(at);
            } else if name != HOST_TIER {
                let ports = network.ports_named(name);
                if ports.is_empty() {
                    return Err(unknown("port", name, PortConfig::KEYS, network));
                }
                if ports.iter().all(|&port| matches!(network.ports()[port].owner, Node::Host(_))) {
                    return Err(of_a_host(name));
                }
                ports.into_iter().for_each(|port| _ = tables.port.insert(port, at));
            }
        }
        for (at, (name, _)) in config.switch.named.iter().enumerate() {
            match (tier(name), network.switch_named(name)) {
                (Some(tier), _) => tables.switch_of_tier[tier] = Some(at),
                (None, Some(switch)) => _ = tables.switch.insert(switch, at),
                (None, None) => return Err(unknown("switch", name, SwitchConfig::KEYS, network)),
            }
        }
        Ok(tables)
    }

    /// Writes out the sizes that are multiples of the bandwidth-delay product.
    fn resolve(&mut self, config: &mut Config, network: &Network, rtt: Span) {
        let mut rates: BTreeMap<Table, BTreeSet<u64>> = BTreeMap::new();
        for (port, spec) in network.ports().iter_enumerated() {
            let Some(table) = self.table_of(config, network, port) else { continue };
            let links = network.extra_links(port).unwrap_or(1);
            if links > 1 {
                let mut fat = table.settings(config).clone();
                let of_one = fat.limit.at(bdp(spec.rate.as_bps() / u64::from(links), rtt)).0;
                fat.resolve_bdp(bdp_bytes(spec.rate, rtt));
                fat.limit = Bytes(of_one.saturating_mul(u64::from(links))).into();
                self.fat.insert(port, fat);
            } else {
                rates.entry(table).or_default().insert(spec.rate.as_bps());
            }
        }
        for table in Table::each(config) {
            let settings = table.settings(config);
            let at = |bps: u64| {
                let mut settings = settings.clone();
                settings.resolve_bdp(bdp(bps, rtt));
                (bps, settings)
            };
            // A table of no port is as for the link of a host.
            let of_host = || vec![at(network.host_link().as_bps())];
            let resolved = rates.get(&table).map_or_else(of_host, |rates| rates.iter().copied().map(at).collect());
            if resolved.iter().all(|(_, settings)| *settings == resolved[0].1) {
                *table.settings_mut(config) = resolved[0].1.clone();
            } else {
                self.by_rate.extend(resolved.into_iter().map(|(bps, settings)| ((table, bps), settings)));
            }
        }
    }

    /// The table that holds for a port; `None` for an interface of a host in which nothing ever waits.
    fn table_of(&self, config: &Config, network: &Network, port: PortId) -> Option<Table> {
        match (network.ports()[port].owner, &config.nic) {
            (Node::Switch(_), _) => Some(self.of_port(network, port).map_or(Table::All, Table::Named)),
            (Node::Host(_), NicConfig::Queue(_)) => Some(Table::Nic),
            (Node::Host(_), NicConfig::Pull(_)) if reads_host_tier(config, network) => {
                let named = config.port.named.iter().position(|(name, _)| name == HOST_TIER);
                Some(named.map_or(Table::All, Table::Named))
            }
            (Node::Host(_), NicConfig::Pull(_)) => None,
        }
    }

    /// What a port does with packets that wait in it; `None` for an interface of a host in which nothing ever waits.
    pub(crate) fn config_of_port<'a>(
        &'a self,
        config: &'a Config,
        network: &Network,
        port: PortId,
    ) -> Option<&'a PortConfig> {
        if let Some(fat) = self.fat.get(&port) {
            return Some(fat);
        }
        let table = self.table_of(config, network, port)?;
        let by_rate = || self.by_rate.get(&(table, network.ports()[port].rate.as_bps()));
        let by_rate = if self.by_rate.is_empty() { None } else { by_rate() };
        Some(by_rate.unwrap_or_else(|| table.settings(config)))
    }

    /// The settings of every table with the path of its key, sizes in bytes. A table whose sizes differ with the rate
    /// of the link has several.
    pub(crate) fn settings<'a>(&'a self, config: &'a Config) -> Vec<(String, &'a PortConfig)> {
        let of = |table: Table| {
            let by_rate = self.by_rate.range((table, 0)..=(table, u64::MAX)).map(|(_, settings)| settings);
            let mut all: Vec<&PortConfig> = by_rate.collect();
            if all.is_empty() {
                all.push(table.settings(config));
            }
            all.into_iter().map(move |settings| (table.path(config), settings))
        };
        Table::each(config).into_iter().flat_map(of).collect()
    }

    /// Ports that differ in their table or the rate of their link: one of each kind, and how many of it there are.
    pub(crate) fn kinds(
        &self,
        config: &Config,
        network: &Network,
        ports: impl Iterator<Item = PortId>,
    ) -> Vec<(PortId, u32)> {
        let mut kinds = BTreeMap::new();
        for port in ports {
            if let Some(table) = self.table_of(config, network, port) {
                let links = network.extra_links(port).unwrap_or(1);
                kinds.entry((table, network.ports()[port].rate.as_bps(), links)).or_insert((port, 0)).1 += 1;
            }
        }
        kinds.into_values().collect()
    }

    fn of_port(&self, network: &Network, port: PortId) -> Option<usize> {
        if let Some(&at) = self.port.get(&port) {
            return Some(at);
        }
        match network.ports()[port].owner {
            Node::Switch(switch) => self.port_of_tier[network.switches()[switch].tier.index()],
            Node::Host(_) => None,
        }
    }

    /// The place in the list of the named table that holds for a switch, if one does.
    pub(crate) fn of_switch(&self, network: &Network, switch: SwitchId) -> Option<usize> {
        let of_tier = self.switch_of_tier[network.switches()[switch].tier.index()];
        self.switch.get(&switch).copied().or(of_tier)
    }
}

/// A named table that means nothing.
fn unknown(key: &str, name: &str, own: &[&str], network: &Network) -> Invalid {
    let invalid = Invalid::new(dotted::join(key, name), format!("the network has no tier and no {key} of this name"));
    if key == "port" && (name.contains("->") || name.contains("--")) {
        return invalid.help(link_help(network, name, |port| matches!(network.ports()[port].owner, Node::Switch(_))));
    }
    let tiers = network.tiers().iter().map(String::as_str);
    let known: Vec<&str> = tiers.chain(own.iter().copied()).collect();
    invalid.help(suggest(name, &known))
}

/// A table of one port that would change nothing: interfaces of hosts are all alike.
fn of_a_host(name: &str) -> Invalid {
    Invalid::new(dotted::join("port", name), "this is the interface of a host, and those have no tables of their own")
        .help("expected a port of a switch; `[nic]`, or `[port.host]` if hosts pass packets on, is for all hosts")
}
