//! The scenario with its extra links, static routes, and applications on their servers.

use tailcut_placement::Mode;
use tailcut_sim::{Problem, Tree, Value};
use tailcut_topology::TopologyConfig;

use super::Placing;
use crate::plan::PLACEMENT;

/// The keys of an incast that say who asks and who answers.
const INCAST: [&str; 6] = ["degree", "aggregators", "workers", "fixed_workers", "fixed_degrees", "applications"];

/// TOML with each list of numbers on one line: one has a hundred workers.
fn on_one_line(toml: &str) -> String {
    let mut out = String::with_capacity(toml.len());
    let mut lines = toml.lines().peekable();
    let is_number = |line: &str| line.trim().trim_end_matches(',').parse::<i64>().is_ok();
    while let Some(line) = lines.next() {
        out += line;
        if line.ends_with("= [") && lines.peek().is_some_and(|next| is_number(next)) {
            let mut numbers = Vec::new();
            while let Some(number) = lines.next_if(|next| is_number(next)) {
                numbers.push(number.trim().trim_end_matches(','));
            }
            out += &numbers.join(", ");
            out += lines.next().unwrap_or_default().trim();
        }
        out.push('\n');
    }
    out
}

/// The table at a dotted path of keys that exist.
fn table<'a>(tree: &'a mut Tree, path: &[&str]) -> Option<&'a mut Tree> {
    path.iter().try_fold(tree, |tree, key| match &mut tree.value {
        Value::Table(entries) => entries.iter_mut().find(|(name, _)| name == key).map(|(_, tree)| tree),
        _ => None,
    })
}

/// Puts a value at a key, over what is there; without one nothing is there then.
fn put(tree: &mut Tree, key: &str, value: Option<Tree>) {
    tree.take(key);
    if let (Value::Table(entries), Some(value)) = (&mut tree.value, value) {
        entries.push((key.to_owned(), value));
    }
}

impl Placing {
    /// `scenario`, the tree of the scenario file with what the command line has set, with all that the placement adds,
    /// as TOML.
    ///
    /// # Errors
    /// If the file does not say itself what would have to be changed.
    pub fn scenario(&self, scenario: &Tree) -> Result<String, Problem> {
        let mut tree = scenario.clone();
        let mut changed = Tree::parse("the placement", &self.changed.to_toml())?;
        // What it asked for is done.
        tree.take(PLACEMENT);
        for (name, _) in &self.placed.incasts {
            let path = ["workload", "traffic", name, "incast"];
            let Some(incast) = table(&mut tree, &path) else {
                return Err(Problem::new(format!(
                    "the scenario file does not say itself what the incast of `{name}` is"
                ))
                .help(format!(
                    "expected a table [workload.traffic.{name}.incast] in it, not in a setting or a scheme"
                )));
            };
            for key in INCAST {
                put(incast, key, table(&mut changed, &path).and_then(|changed| changed.take(key)));
            }
        }
        if let TopologyConfig::LeafSpine(leaf_spine) = &self.changed.topology
            && self.placed.new_spines() > 0
        {
            let Some(topology) = table(&mut tree, &["topology", "leaf-spine"]) else {
                return Err(Problem::new("the scenario file does not say itself how many spines there are")
                    .help("expected a table [topology.leaf-spine] in it, not in a setting"));
            };
            let spines = Value::Integer(i64::from(leaf_spine.spines));
            put(topology, "spines", Some(Tree { value: spines, ..Tree::table() }));
        }
        if let Some(of_changed) = table(&mut changed, &["network"]) {
            if table(&mut tree, &["network"]).is_none() {
                put(&mut tree, "network", Some(Tree::table()));
            }
            if let Some(network) = table(&mut tree, &["network"]) {
                for key in ["extra_links", "static_routes"] {
                    put(network, key, of_changed.take(key));
                }
            }
        }
        let head =
            format!("# Made by `tailcut place` ({}): the applications are those {}.\n", self.mode_name(), self.point);
        Ok(head + &on_one_line(&tree.to_toml()))
    }

    /// The name of the mode, as it is asked for.
    pub(super) fn mode_name(&self) -> &'static str {
        match self.placed.parameters.mode {
            Mode::Heuristic => "heuristic",
            Mode::One => "one",
            Mode::AsCoded => "as-coded",
        }
    }
}
