//! Networks that scenarios share. To find the ways through a large irregular one takes longer than all else that is
//! checked, and the schemes of a plan have the same few networks.

use std::collections::BTreeMap;
use std::sync::Arc;

use tailcut_base::dotted;
use tailcut_model::{Files, Invalid};
use tailcut_topology::{Network, NetworkConfig, TopologyConfig};

use crate::config::{Config, LinkChange};
use crate::failures::links_named;

/// Bytes that are kept beside the last network.
const MOST_BYTES: usize = 1 << 28;

/// The networks that were built last, for scenarios that name the same [`Files`].
#[derive(Debug, Default)]
pub struct Networks(Vec<(Asked, Arc<Network>)>);

/// All that a network is built from, beside files.
#[derive(Debug, PartialEq)]
struct Asked {
    topology: TopologyConfig,
    network: NetworkConfig,
    link: BTreeMap<String, LinkChange>,
}

impl Networks {
    /// The network of a configuration: one that was built from the same, or a new one.
    ///
    /// # Errors
    /// If it cannot be.
    pub(crate) fn of(&mut self, config: &Config, files: &Files) -> Result<Arc<Network>, Invalid> {
        let asked =
            Asked { topology: config.topology.clone(), network: config.network.clone(), link: config.link.clone() };
        if let Some((_, network)) = self.0.iter().find(|(known, _)| *known == asked) {
            return Ok(Arc::clone(network));
        }
        let network = Arc::new(built(config, files)?);
        self.forget_beyond(MOST_BYTES);
        self.0.push((asked, Arc::clone(&network)));
        Ok(network)
    }

    /// Forgets those that were built first, until the others have at most so many bytes.
    fn forget_beyond(&mut self, most: usize) {
        while self.0.iter().map(|(_, network)| network.heap_bytes()).sum::<usize>() > most {
            self.0.remove(0);
        }
    }
}

fn built(config: &Config, files: &Files) -> Result<Network, Invalid> {
    let network = config.topology.build(files).map_err(|e| e.within("topology"))?;
    let mut network = network.with_links(&config.network).map_err(|e| e.within("network"))?;
    for (name, change) in &config.link {
        let ports = links_named(&network, name).map_err(|e| e.within(&dotted::join("link", name)))?;
        ports.into_iter().for_each(|port| network.change_link(port, change.rate, change.delay));
    }
    network.route_by(&config.network).map_err(|e| e.within("network"))?;
    Ok(network)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tree;

    fn config(text: &str) -> Config {
        let mut tree = crate::Preset::layer("dctcp").unwrap();
        tree.merge(Tree::parse("star.toml", text).unwrap());
        Config::from_tree(&tree).unwrap()
    }

    #[test]
    fn what_is_built_from_the_same_is_shared_and_nothing_else_is() {
        let star = "
            topology.star = { hosts = 3, host_link = { rate = '10Gbps', delay = '1us' } }
            workload.traffic.one.list = [{ src = 0, dst = 1, size = '1MB', start = '0us' }]
        ";
        let mut networks = Networks::default();
        let files = Files::default();
        let mut of = |config: &Config| networks.of(config, &files).unwrap();
        let first = of(&config(star));
        let deeper = config(&format!("{star}\nport.limit = '1MB'"));
        assert!(Arc::ptr_eq(&first, &of(&deeper)), "its ports are others, and its network is not");
        for other in [
            star.replace("hosts = 3", "hosts = 4"),
            format!("{star}\nlink.'host0--switch0'.rate = '1Gbps'"),
            format!("{star}\nnetwork.cost = 'inverse-rate'"),
        ] {
            let other = config(&other);
            let built_anew = of(&other);
            assert!(!Arc::ptr_eq(&first, &built_anew), "{:?}", other.topology);
            assert!(Arc::ptr_eq(&built_anew, &of(&other)));
        }
        assert!(Arc::ptr_eq(&first, &of(&config(star))), "it is kept beside the others");

        let last = Arc::clone(&networks.0[3].1);
        networks.forget_beyond(last.heap_bytes());
        assert_eq!(networks.0.len(), 1, "the last one alone has so many bytes");
        assert!(Arc::ptr_eq(&last, &networks.0[0].1));
    }
}
