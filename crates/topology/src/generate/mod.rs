//! Generators: from a few parameters to a network.
//!
//! A generator is one file, with `Config` and `build`, and one line below; the tag in a scenario, the list of names and
//! the text that describes it come from there. `build` is told from where the files are looked for that a scenario
//! names. One whose network has a regular shape may bring the rule of its ways ([`Rule`](crate::Rule)); otherwise they
//! are searched for and stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Span};
use tailcut_model::{Files, Invalid, register};

use crate::network::Network;

/// Most ports that a network may have: their state fills about ten gigabytes. More is a slip of the scenario.
pub const MAX_PORTS: u32 = 1 << 24;

/// Longest delay of a link or a switch. More is a slip of the unit: light goes around the earth in an eighth of it.
pub const MAX_DELAY: Span = Span::from_ms(1_000);

/// A full-duplex link: each direction has the whole rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct LinkConfig {
    /// Rate in each direction.
    pub rate: BitRate,
    /// Propagation delay, one way.
    pub delay: Span,
}

register! {
    /// Which network is simulated.
    config TopologyConfig, seat "topology";
    makes Network, from(Files);
    /// Leaves of hosts, each joined to every spine: two tiers, as many equal ways between leaves as there are spines.
    LeafSpine in leaf_spine,
    /// Pods of edge and aggregation switches under a layer of cores: three tiers of equal switches, many equal ways
    /// between pods.
    FatTree in fat_tree,
    /// Switches joined at random, with hosts on their other ports: short ways, few of them equal.
    Jellyfish in jellyfish,
    /// Hosts with several links that pass packets on between small switches.
    Bcube in bcube,
    /// Racks in a ring, whose hosts have links to the leaves of several racks: fewer packets pass the spines.
    Subways in subways,
    /// Whatever a file says: tailcut's own TOML, HPCC's topology.txt, htsim's .topo, or GraphML.
    File in file,
    /// Two groups of hosts on either side of one link, or of a line of switches.
    Dumbbell in dumbbell,
    /// Senders on one switch that share the link to one receiver.
    SingleBottleneck in single_bottleneck,
    /// Hosts on one switch.
    Star in star,
}

/// `value` of the key `path` must be at least `least`.
fn at_least(path: &str, value: u32, least: u32) -> Result<(), Invalid> {
    if value >= least {
        return Ok(());
    }
    Err(Invalid::new(path, format!("{value} is too few")).help(format!("expected at least {least}")))
}

/// `value` of the key `path` must be at most `most`.
fn at_most(path: &str, value: u32, most: u32) -> Result<(), Invalid> {
    if value <= most {
        return Ok(());
    }
    Err(Invalid::new(path, format!("{value} is too many")).help(format!("expected at most {most}")))
}

/// Ports of a network of `links` links must be countable.
pub(crate) fn countable(links: u128) -> Result<(), Invalid> {
    let ports = 2 * links;
    if ports <= u128::from(MAX_PORTS) {
        return Ok(());
    }
    Err(Invalid::new("", format!("the network would have {ports} ports")).help(format!("expected at most {MAX_PORTS}")))
}

/// `delay` of the key `path` must be one of a datacenter.
fn plausible(path: &str, delay: Span) -> Result<(), Invalid> {
    if delay <= MAX_DELAY {
        return Ok(());
    }
    Err(Invalid::new(path, format!("{delay} is too long")).help(format!("expected at most {MAX_DELAY}")))
}

impl LinkConfig {
    /// Checks the link of the key `path`.
    pub(crate) fn check(&self, path: &str) -> Result<(), Invalid> {
        plausible("delay", self.delay).map_err(|invalid| invalid.within(path))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A link from the texts of a scenario.
    pub(crate) fn link(rate: &str, delay: &str) -> LinkConfig {
        LinkConfig { rate: rate.parse().unwrap(), delay: delay.parse().unwrap() }
    }

    fn read(text: &str) -> Result<TopologyConfig, String> {
        #[derive(Deserialize)]
        struct Scenario {
            topology: TopologyConfig,
        }
        toml::from_str::<Scenario>(text).map(|scenario| scenario.topology).map_err(|error| error.to_string())
    }

    const LINK: &str = r#"{ rate = "10Gbps", delay = "10us" }"#;

    #[test]
    fn scenarios_name_the_generator_and_its_parameters() {
        let config = read(&format!(
            "[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 3\nspines = 4\nhost_link = {LINK}\ncore_link = {LINK}"
        ));
        let link = link("10Gbps", "10us");
        let expected = leaf_spine::Config {
            leaves: 2,
            hosts_per_leaf: 3,
            spines: 4,
            host_link: link,
            core_link: link,
            switch_delay: Span::ZERO,
        };
        assert_eq!(config.unwrap(), TopologyConfig::LeafSpine(expected));
        for (text, part) in [
            ("[topology.ring]\nhosts = 3".to_owned(), "unknown variant `ring`"),
            (format!("[topology.star]\nhosts = 3\nhost_link = {LINK}\nspines = 1"), "unknown field `spines`"),
            ("[topology.star]\nhosts = 3\nhost_link = { rate = 10, delay = \"1us\" }".to_owned(), "has no unit"),
            (format!("[topology.star]\nhosts = -3\nhost_link = {LINK}"), "u32"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_built_is_refused_at_its_key() {
        let long = r#"{ rate = "10Gbps", delay = "10s" }"#;
        let links = format!("host_link = {LINK}\ncore_link = {LINK}\n");
        for (text, path) in [
            (
                format!("[topology.leaf-spine]\nleaves = 0\nhosts_per_leaf = 3\nspines = 4\n{links}"),
                "leaf-spine.leaves",
            ),
            (
                format!("[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 0\nspines = 4\n{links}"),
                "leaf-spine.hosts_per_leaf",
            ),
            (
                format!("[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 2\nspines = 0\n{links}"),
                "leaf-spine.spines",
            ),
            (
                format!("[topology.leaf-spine]\nleaves = 1\nhosts_per_leaf = 1\nspines = 1\n{links}"),
                "leaf-spine.hosts_per_leaf",
            ),
            (
                format!("[topology.leaf-spine]\nleaves = 4294967295\nhosts_per_leaf = 4294967295\nspines = 1\n{links}"),
                "leaf-spine",
            ),
            (
                format!(
                    "[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 2\nspines = 1\nhost_link = {long}\ncore_link = {LINK}"
                ),
                "leaf-spine.host_link.delay",
            ),
            (
                format!(
                    "[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 2\nspines = 1\nswitch_delay = \"2s\"\n{links}"
                ),
                "leaf-spine.switch_delay",
            ),
            (format!("[topology.dumbbell]\nleft_hosts = 0\nright_hosts = 1\n{links}"), "dumbbell.left_hosts"),
            (format!("[topology.dumbbell]\nleft_hosts = 1\nright_hosts = 0\n{links}"), "dumbbell.right_hosts"),
            (
                format!("[topology.dumbbell]\nleft_hosts = 1\nright_hosts = 1\nswitches_in_line = 1\n{links}"),
                "dumbbell.switches_in_line",
            ),
            (
                format!("[topology.dumbbell]\nleft_hosts = 1\nright_hosts = 1\nswitches_in_line = 1025\n{links}"),
                "dumbbell.switches_in_line",
            ),
            (
                format!("[topology.dumbbell]\nleft_hosts = 1\nright_hosts = 1\nhosts_per_middle_switch = 1\n{links}"),
                "dumbbell.hosts_per_middle_switch",
            ),
            (format!("[topology.dumbbell]\nleft_hosts = 4294967295\nright_hosts = 4294967295\n{links}"), "dumbbell"),
            (format!("[topology.single-bottleneck]\nsenders = 0\nhost_link = {LINK}"), "single-bottleneck.senders"),
            (format!("[topology.single-bottleneck]\nsenders = 4294967295\nhost_link = {LINK}"), "single-bottleneck"),
            (
                format!("[topology.single-bottleneck]\nsenders = 2\nhost_link = {LINK}\nreceiver_link = {long}"),
                "single-bottleneck.receiver_link.delay",
            ),
            (format!("[topology.star]\nhosts = 1\nhost_link = {LINK}"), "star.hosts"),
            (format!("[topology.star]\nhosts = 134217729\nhost_link = {LINK}"), "star"),
        ] {
            let invalid = read(&text).unwrap().build(&Files::default()).unwrap_err();
            assert_eq!(invalid.path, path, "{text}: {invalid}");
            assert!(invalid.help.is_some(), "{invalid}");
        }
    }

    #[test]
    fn every_generator_is_described_and_builds_the_networks_of_its_cases() {
        #[derive(JsonSchema)]
        #[allow(dead_code, reason = "only its type is looked at")]
        struct Root {
            topology: TopologyConfig,
        }
        let schema = tailcut_model::schema::Schema::of::<Root>();
        let seats = tailcut_model::registry::seats_of::<Root>();
        let [topology] = &seats[..] else { panic!("{seats:?}") };
        assert_eq!((topology.path.as_str(), topology.word.as_str()), ("topology", "topology"));
        for generator in &topology.models {
            assert!(generator.doc.len() > 10, "{generator:?}");
            let parameters = schema.root().path(&format!("topology.{}", generator.name)).expect("it is in the schema");
            for (key, shape) in parameters.keys() {
                assert!(!shape.doc().is_empty(), "{}.{key}", generator.name);
            }
            assert!(generator.cases.iter().all(|case| !case.is_empty()), "a network needs its sizes");
            for case in &generator.cases {
                let config = read(&format!("[topology]\n{} = {{ {case} }}", generator.name)).unwrap();
                assert!(config.build(&Files::default()).unwrap().hosts() >= 2, "{case}");
            }
        }
    }
}
