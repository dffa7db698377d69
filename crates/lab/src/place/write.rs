//! The scenario with its extra links, static routes, and applications on their servers.

use std::collections::BTreeSet;

use tailcut_placement::Mode;
use tailcut_sim::{Problem, Tree, Value};
use tailcut_workload::Degree;

use super::Placing;

fn integer(number: u32) -> Tree {
    Tree { value: Value::Integer(i64::from(number)), ..Tree::table() }
}

fn array(items: impl IntoIterator<Item = Tree>) -> Tree {
    Tree { value: Value::Array(items.into_iter().collect()), ..Tree::table() }
}

fn hosts(hosts: &[u32]) -> Tree {
    array(hosts.iter().map(|&host| integer(host)))
}

fn degree(degree: Degree) -> Tree {
    let (least, most) = degree.bounds();
    match degree {
        Degree::Fixed(fixed) => integer(fixed),
        Degree::Drawn(_) => {
            let bounds = Tree::of_entries([("min", integer(least)), ("max", integer(most))]);
            Tree::of_entries([("uniform", bounds)])
        }
    }
}

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

/// Puts a value at a key, over what is there.
fn put(tree: &mut Tree, key: &str, value: Tree) {
    tree.take(key);
    if let Value::Table(entries) = &mut tree.value {
        entries.push((key.to_owned(), value));
    }
}

impl Placing {
    /// `scenario`, the tree of the scenario file with what the command line has set, with all that the placement adds,
    /// as TOML.
    ///
    /// # Errors
    /// If the file does not say what would have to be changed, or the workload cannot say what was computed.
    pub fn scenario(&self, scenario: &Tree) -> Result<String, Problem> {
        let mut tree = scenario.clone();
        if tree.get("network").is_some_and(|network| network.get("extra_links").is_some()) {
            return Err(
                Problem::new("the scenario has extra links already").help("expected the network before it gets any")
            );
        }
        for traffic in self.site.sources.iter().map(|(traffic, _)| *traffic).collect::<BTreeSet<usize>>() {
            self.move_applications(&mut tree, traffic)?;
        }
        if self.new_spines() > 0 {
            let spines = table(&mut tree, &["topology", "leaf-spine"]).filter(|_| self.site.is_leaf_spine);
            let Some(spines) = spines else {
                return Err(Problem::new(format!(
                    "{} new spine(s) are needed, and only a leaf-spine can get any",
                    self.new_spines()
                ))
                .help("expected more free ports, such as --place spine_ports=64"));
            };
            put(spines, "spines", integer(self.spines.len() as u32));
        }
        let links = self.extra_links();
        if !links.is_empty() {
            if table(&mut tree, &["network"]).is_none() {
                put(&mut tree, "network", Tree::table());
            }
            let routes = self.static_routes();
            if let Some(network) = table(&mut tree, &["network"]) {
                put(network, "extra_links", array(links));
                if !routes.is_empty() {
                    put(network, "static_routes", array(routes));
                }
            }
        }
        let head =
            format!("# Made by `tailcut place` ({}): the applications are those {}.\n", self.mode_name(), self.point);
        Ok(head + &on_one_line(&tree.to_toml()))
    }

    /// `network.extra_links`.
    fn extra_links(&self) -> Vec<Tree> {
        let link = |attachment: &tailcut_placement::Attachment| {
            let mut entries =
                vec![("hosts", hosts(&[attachment.host])), ("switch", Tree::text(&self.spines[attachment.spine].name))];
            if attachment.links > 1 {
                entries.push(("links", integer(attachment.links)));
            }
            entries.push(("rate", Tree::text(&self.site.rate.to_string())));
            entries.push(("delay", Tree::text(&self.site.delay.to_string())));
            Tree::of_entries(entries)
        };
        self.attachments.iter().map(link).collect()
    }

    /// `network.static_routes`.
    fn static_routes(&self) -> Vec<Tree> {
        let mut routes = Vec::new();
        for (on, ways) in self.placement.servers.iter().zip(&self.ways) {
            let host = on.server.host;
            let Some(attachment) = self.attachments.iter().find(|attachment| attachment.host == host) else { continue };
            let spine = &self.spines[attachment.spine].name;
            let leaf = &self.site.leaves[on.server.rack as usize];
            for (at, from, via) in [(leaf, &ways.extra, spine), (spine, &ways.leaf, leaf)] {
                if !from.is_empty() {
                    let entries = [
                        ("at", Tree::text(at)),
                        ("from", hosts(from)),
                        ("to", integer(host)),
                        ("via", Tree::text(via)),
                    ];
                    routes.push(Tree::of_entries(entries));
                }
            }
        }
        routes
    }

    /// Says of each application of a traffic on which server it is.
    fn move_applications(&self, tree: &mut Tree, traffic: usize) -> Result<(), Problem> {
        let name = &self.site.traffics[traffic];
        let mut host_of = vec![0; self.site.applications.len()];
        for on in &self.placement.servers {
            on.applications.iter().for_each(|placed| host_of[placed.application] = on.server.host);
        }
        let of_traffic: Vec<usize> = (0..host_of.len()).filter(|&at| self.site.sources[at].0 == traffic).collect();
        let Some(incast) = table(tree, &["workload", "traffic", name, "incast"]) else {
            return Err(Problem::new(format!("the scenario file does not say itself what the incast of `{name}` is"))
                .help(format!(
                    "expected a table [workload.traffic.{name}.incast] in it, not in a setting or a scheme"
                )));
        };
        if of_traffic.iter().all(|&at| self.site.sources[at].1.is_fixed) {
            let common = self.site.sources[of_traffic[0]].1.degree;
            let is_common = of_traffic.iter().all(|&at| self.site.sources[at].1.degree == common);
            let application = |&at: &usize| {
                let source = &self.site.applications[at];
                let mut entries =
                    vec![("server", integer(host_of[at])), ("workers", hosts(&source.workers_on(host_of[at])))];
                if !is_common {
                    entries.push(("degree", degree(self.site.sources[at].1.degree)));
                }
                Tree::of_entries(entries)
            };
            let applications = array(of_traffic.iter().map(application));
            for key in ["aggregators", "workers", "fixed_workers"] {
                incast.take(key);
            }
            if is_common {
                put(incast, "degree", degree(common));
            }
            put(incast, "applications", applications);
            return Ok(());
        }
        let servers: BTreeSet<u32> = of_traffic.iter().map(|&at| host_of[at]).collect();
        if servers.len() < of_traffic.len() {
            return Err(Problem::new(format!(
                "several applications of `{name}` would be on one server, and their workers are drawn anew for each query"
            ))
            .help(format!("expected `workload.traffic.{name}.incast.fixed_workers = true`, so that each has its own")));
        }
        let servers: Vec<u32> = servers.into_iter().collect();
        put(incast, "aggregators", Tree::of_entries([("hosts", hosts(&servers))]));
        Ok(())
    }

    /// The name of the mode, as it is asked for.
    pub(super) fn mode_name(&self) -> &'static str {
        match self.parameters.mode {
            Mode::Heuristic => "heuristic",
            Mode::One => "one",
            Mode::AsCoded => "as-coded",
        }
    }
}
