//! PINNED: defaults as they were when the stored results were measured.
//!
//! Studies, theory, the comparison with ns-3 and the golden tables keep these values until they are measured again.
//! Then this file is deleted; whatever uses it carries the word PINNED, as do scenarios that pin a value by themselves.

use crate::config::Tree;

/// The name of these layers in messages.
const SOURCE: &str = "pinned.toml";

/// The default, so that the table below, which names several congestion controls, chooses none of them.
const CHOICE: &str = "host.congestion = \"newreno\"\n";

const VALUES: &str = "run.ties = \"numbered\"\n\
                      [host.congestion]\n\
                      newreno = {}\n\
                      dctcp.grow_on_ece = true\n\
                      d2tcp.grow_on_ece = true\n\
                      l2dct.grow_on_ece = true\n";

/// Two layers with the former defaults, the lowest first. They belong below a scenario.
pub fn pinned() -> [Tree; 2] {
    [CHOICE, VALUES].map(|text| Tree::parse(SOURCE, text).expect("it is TOML"))
}

/// A preset as [`Preset::layer`](crate::Preset::layer) gives it, with the former defaults where it has none of its own.
///
/// # Errors
/// If there is no such preset or profile.
pub fn pinned_preset(reference: &str) -> Result<Tree, crate::Problem> {
    let [choice, values] = pinned();
    Ok(Tree::layered([&choice, &values, &crate::Preset::layer(reference)?]))
}

/// Whether a value comes from these layers.
pub fn is_pinned(tree: &Tree) -> bool {
    tree.key_or_value().is_some_and(|origin| origin.source.name == SOURCE)
}

/// The text of a configuration without the keys that did not exist then, where they have the value that holds their
/// behaviour: its fingerprint is that of the stored results.
pub fn without_pins(text: &str) -> String {
    text.replace("grow_on_ece = true\n", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Preset};

    const NETWORK: &str = "topology.star = { hosts = 2, host_link = { rate = \"10Gbps\", delay = \"1us\" } }\n\
                           workload.traffic.one.list = [{ src = 0, dst = 1, size = \"1MB\", start = \"0us\" }]\n";

    fn text(preset: Tree) -> String {
        let mut tree = preset;
        tree.merge(Tree::parse("network.toml", NETWORK).unwrap());
        Config::from_tree(&tree).unwrap_or_else(|problem| panic!("{}", problem.render(false))).to_toml()
    }

    #[test]
    fn pins_change_the_pinned_values_of_every_preset_and_nothing_else() {
        for preset in Preset::of_packets() {
            let ours = text(Preset::layer(preset.name).unwrap());
            let pinned = text(pinned_preset(preset.name).unwrap());
            assert!(ours.contains("ties = \"drawn\"") && !ours.contains("grow_on_ece = true"));
            let expected = ours
                .replace("ties = \"drawn\"", "ties = \"numbered\"")
                .replace("grow_on_ece = false", "grow_on_ece = true");
            assert_eq!(pinned, expected, "{}", preset.name);
            assert!(!without_pins(&pinned).contains("grow_on_ece"));
        }
    }
}
