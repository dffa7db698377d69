//! The cost model of section 4.4.3.3: what Superways, Subways, and Superways with links to leaves add to a leaf-spine
//! network, item by item.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::BitRate;

use crate::parameters::ceiling;

/// The prices of section 4.4.3.3, which ship with tailcut.
pub const THESIS: &str = include_str!("../../../data/prices.toml");

/// A switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchPrice {
    /// What one costs.
    pub price: f64,
    /// Its ports.
    pub ports: u32,
    /// The rate of a port.
    pub rate: BitRate,
    /// Where the price comes from.
    pub source: String,
}

/// A network card with one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicPrice {
    /// What one costs.
    pub price: f64,
    /// The rate of its port.
    pub rate: BitRate,
    /// Where the price comes from.
    pub source: String,
}

/// A cable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CablePrice {
    /// What one costs.
    pub price: f64,
    /// Its length in ft.
    pub feet: u32,
    /// Where the price comes from.
    pub source: String,
}

/// What parts cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// When the prices were so.
    pub date: String,
    /// What they are in.
    pub currency: String,
    /// A leaf switch.
    pub leaf_switch: SwitchPrice,
    /// A spine switch.
    pub spine_switch: SwitchPrice,
    /// A network card as fast as a port of a leaf.
    pub nic: NicPrice,
    /// A network card as fast as a port of a spine; that of a leaf's rate is taken if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_nic: Option<NicPrice>,
    /// A cable to the next rack.
    pub short_cable: CablePrice,
    /// A cable to the rack of the spines.
    pub long_cable: CablePrice,
}

impl Prices {
    /// The prices of section 4.4.3.3.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn thesis() -> Prices {
        toml::from_str(THESIS).expect("the prices that ship are well formed")
    }

    /// Checks the prices: the key that is wrong, what is wrong about it, and what would be right.
    ///
    /// # Errors
    /// If one is below zero or a switch has no ports.
    pub fn check(&self) -> Result<(), (&'static str, String, &'static str)> {
        let fast = self.fast_nic.as_ref().map_or(0.0, |nic| nic.price);
        let prices = [
            ("leaf_switch.price", self.leaf_switch.price),
            ("spine_switch.price", self.spine_switch.price),
            ("nic.price", self.nic.price),
            ("fast_nic.price", fast),
            ("short_cable.price", self.short_cable.price),
            ("long_cable.price", self.long_cable.price),
        ];
        for (key, price) in prices {
            if !(price >= 0.0 && price.is_finite()) {
                return Err((key, format!("{price} is no price"), "expected 0.0 or more"));
            }
        }
        for (key, ports) in
            [("leaf_switch.ports", self.leaf_switch.ports), ("spine_switch.ports", self.spine_switch.ports)]
        {
            if ports == 0 {
                return Err((key, "a switch without ports connects nothing".to_owned(), "expected at least 1"));
            }
        }
        Ok(())
    }

    /// The network card for a link to a spine.
    fn nic_for_spine(&self) -> &NicPrice {
        self.fast_nic.as_ref().unwrap_or(&self.nic)
    }
}

/// A leaf-spine network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Datacenter {
    /// Leaf switches; each is a rack.
    pub leaves: u32,
    /// Servers on each leaf.
    pub hosts_per_leaf: u32,
    /// Spine switches.
    pub spines: u32,
}

impl Datacenter {
    /// That of section 4.4.3.3: 2304 servers.
    pub const THESIS: Datacenter = Datacenter { leaves: 48, hosts_per_leaf: 48, spines: 24 };

    /// All servers.
    pub fn hosts(&self) -> u32 {
        self.leaves * self.hosts_per_leaf
    }

    /// This share of the servers, rounded up: 3 % of 2304 are 70.
    pub fn servers(&self, share: f64) -> u32 {
        ceiling(share * f64::from(self.hosts())) as u32
    }

    /// What of this network the switches of these prices have no ports for, in sentences.
    pub fn shortages(&self, prices: &Prices) -> Vec<String> {
        let mut found = Vec::new();
        let (leaf, spine) = (prices.leaf_switch.ports, prices.spine_switch.ports);
        let needed = self.hosts_per_leaf + self.spines;
        if needed > leaf {
            found.push(format!(
                "a leaf switch has {leaf} ports, and {} servers and {} spines need {needed}",
                self.hosts_per_leaf, self.spines
            ));
        }
        if self.leaves > spine {
            found.push(format!("a spine switch has {spine} ports, and there are {} leaves", self.leaves));
        }
        found
    }
}

/// One line of a bill.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// What is bought.
    pub what: String,
    /// How many.
    pub count: u32,
    /// What one costs.
    pub each: f64,
    /// What all cost.
    pub total: f64,
}

/// What something costs, item by item.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bill {
    /// What it is for.
    pub title: String,
    /// The items.
    pub items: Vec<Item>,
}

impl Bill {
    fn new(title: String, items: impl IntoIterator<Item = (String, u32, f64)>) -> Bill {
        let item = |(what, count, each): (String, u32, f64)| Item { what, count, each, total: f64::from(count) * each };
        Bill { title, items: items.into_iter().filter(|(_, count, _)| *count > 0).map(item).collect() }
    }

    /// The sum of its items.
    pub fn total(&self) -> f64 {
        self.items.iter().map(|item| item.total).sum()
    }
}

/// How many new spine switches are bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum NewSpines {
    /// So many (section 4.4.3.3: two).
    Given(u32),
    /// As many as have ports for the extra links, if no spine has a free one; links to leaves are not counted, which a
    /// spine with fewer ports than there are leaves has no room for.
    ForPorts,
}

impl NewSpines {
    /// Their number for so many extra links.
    pub fn count(self, links: u32, prices: &Prices) -> u32 {
        match self {
            NewSpines::Given(count) => count,
            NewSpines::ForPorts => links.div_ceil(prices.spine_switch.ports),
        }
    }
}

/// Superways: `links` extra links in all, each with a cable and a network card, and new spines.
pub fn superways(links: u32, new_spines: NewSpines, prices: &Prices) -> Bill {
    let spines = new_spines.count(links, prices);
    let (nic, cable, switch) = (prices.nic_for_spine(), &prices.long_cable, &prices.spine_switch);
    let ports = spines * switch.ports;
    Bill::new(
        format!("Superways, {links} extra links, {spines} new spines"),
        [
            (format!("cables of {} ft", cable.feet), links, cable.price),
            (format!("NICs of {}", nic.rate), links, nic.price),
            (
                format!("spine switches of {} ports ({ports} ports for {links} links)", switch.ports),
                spines,
                switch.price,
            ),
        ],
    )
}

/// Subways of type 1 with p = 2: every server gets a link to the leaf of the neighbouring rack, and the number of
/// leaves is doubled, which keeps the oversubscription.
pub fn subways(datacenter: &Datacenter, prices: &Prices) -> Bill {
    let hosts = datacenter.hosts();
    Bill::new(
        format!("Subways type 1, p = 2, {hosts} servers"),
        [
            (format!("cables of {} ft", prices.short_cable.feet), hosts, prices.short_cable.price),
            (format!("NICs of {}", prices.nic.rate), hosts, prices.nic.price),
            (
                format!("leaf switches of {} ports", prices.leaf_switch.ports),
                datacenter.leaves,
                prices.leaf_switch.price,
            ),
        ],
    )
}

/// How many leaf switches are bought when extra links go to leaves: the document has no bill for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewLeaves {
    /// As many as have ports for the extra links.
    #[default]
    ForPorts,
    /// As many as there are, as for Subways.
    Doubled,
}

/// Superways with its links to leaves: where a spine's link is `theta` times as fast, that many links of a leaf take
/// its place.
pub fn at_leaves(links: u32, theta: f64, leaves: NewLeaves, datacenter: &Datacenter, prices: &Prices) -> Bill {
    let links = ceiling(f64::from(links) * theta) as u32;
    let switches = match leaves {
        NewLeaves::ForPorts => links.div_ceil(prices.leaf_switch.ports),
        NewLeaves::Doubled => datacenter.leaves,
    };
    Bill::new(
        format!("the same with {links} links to leaves"),
        [
            (format!("cables of {} ft", prices.short_cable.feet), links, prices.short_cable.price),
            (format!("NICs of {}", prices.nic.rate), links, prices.nic.price),
            (format!("leaf switches of {} ports", prices.leaf_switch.ports), switches, prices.leaf_switch.price),
        ],
    )
}

/// What a network card for a spine's link may cost before Superways costs as much as Subways.
pub fn break_even_nic(links: u32, new_spines: NewSpines, datacenter: &Datacenter, prices: &Prices) -> f64 {
    let spines = f64::from(new_spines.count(links, prices)) * prices.spine_switch.price;
    (subways(datacenter, prices).total() - spines) / f64::from(links) - prices.long_cable.price
}
