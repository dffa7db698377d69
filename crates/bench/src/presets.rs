//! Every preset, and the fabric on which its speed is measured.

use tailcut_sim::Preset;

/// A scenario on which schemes are compared: a network and its traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fabric {
    /// The name in tables.
    pub name: &'static str,
    /// The scenario's file, a path from the root of the repository.
    pub file: &'static str,
    /// What is changed of it.
    pub set: &'static [&'static str],
}

/// 144 hosts under web search: what DCTCP is commonly compared on, and the network and traffic of PIAS's ns-2 scripts.
/// Fewer flows than the scenario's, for a fraction of the time.
pub const PEERS: Fabric = Fabric { name: "peers", file: "scenarios/peers.toml", set: &["workload.flows=1500"] };

/// The 400 hosts of Slytherin's paper, oversubscribed, with incast.
pub const TAIL: Fabric = Fabric { name: "tail", file: "crates/bench/scenarios/tail.toml", set: &[] };

/// The fabric of each preset's own paper. A preset that is not here is measured on [`TAIL`].
const OWN: [(&str, Fabric); 5] = [("dctcp", PEERS), ("l2dct", PEERS), ("pias", PEERS), ("spq", PEERS), ("tcp", PEERS)];

/// The fabric of a preset or of one of its variants.
pub fn fabric(scheme: &str) -> Fabric {
    let preset = scheme.split('@').next().unwrap_or(scheme);
    OWN.iter().find(|(name, _)| *name == preset).map_or(TAIL, |(_, fabric)| *fabric)
}

/// Every preset, each followed by its variants as `preset@variant`.
pub fn schemes() -> Vec<String> {
    let variants = Preset::of_packets().flat_map(|preset| {
        let variant = |profile: String| format!("{}@{profile}", preset.name);
        std::iter::once(preset.name.to_owned()).chain(preset.profiles().into_iter().map(variant))
    });
    variants.collect()
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::simulation::scenario;

    #[test]
    fn every_preset_and_variant_runs_on_its_fabric() {
        let schemes = schemes();
        assert!(schemes.iter().any(|scheme| scheme == "sjf@full"), "{schemes:?}");
        for scheme in &schemes {
            let fabric = fabric(scheme);
            if let Err(problem) = scenario(fabric.file, fabric.set, scheme) {
                panic!("{scheme} on {}: give it a fabric of its own\n{}", fabric.file, problem.render(false));
            }
        }
    }

    #[test]
    fn the_fabrics_are_of_presets_and_their_variants() {
        for (name, _) in OWN {
            assert!(Preset::find(name).is_some(), "{name}");
        }
        assert_eq!(fabric("pias@any"), PEERS);
        assert_eq!(fabric("of-tomorrow"), TAIL);
    }
}
