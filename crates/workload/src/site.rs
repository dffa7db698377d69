//! What the traffics of a workload share: the hosts, and named groups of them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tailcut_base::{HostId, Seeds, Stream, dotted};
use tailcut_model::{Files, Invalid};

use crate::config::{Aggregators, Group, HostSet};
use crate::flow_list::{HostNumbers, host_help};
use crate::load::Racks;

/// What a plan is made from.
pub(crate) struct Site<'a> {
    pub(crate) hosts: u32,
    /// The host of each node, as in [`HostNumbers::nodes`].
    pub(crate) nodes: Option<&'a Arc<[Option<HostId>]>>,
    pub(crate) seeds: Seeds,
    pub(crate) files: &'a Files,
    pub(crate) groups: &'a Groups,
}

impl Site<'_> {
    /// How files number the hosts.
    pub(crate) fn numbers(&self) -> HostNumbers {
        HostNumbers { hosts: self.hosts, nodes: self.nodes.cloned() }
    }

    /// The hosts of a set, ascending.
    pub(crate) fn set(&self, key: &str, set: &HostSet, stream: Stream) -> Result<Vec<u32>, Invalid> {
        resolve(key, set, self.hosts, self.groups, stream)
    }

    /// The hosts that ask in the incast of traffic `class`, ascending; all if the scenario does not say.
    pub(crate) fn aggregators(&self, key: &str, of: Option<&Aggregators>, class: u64) -> Result<Vec<u32>, Invalid> {
        let stream = || self.seeds.stream("workload.roles.aggregators", class);
        match of {
            None => Ok((0..self.hosts).collect()),
            Some(Aggregators::Set(set)) => self.set(key, set, stream()),
            Some(Aggregators::Count(0)) => {
                Err(Invalid::new(key, "no host asks").help("expected at least 1; all hosts if not given"))
            }
            Some(&Aggregators::Count(count)) => draw_set(key, count, self.hosts, &mut stream()),
        }
    }
}

/// Sets of hosts by name that do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    hosts: BTreeMap<String, Vec<u32>>,
    /// Those that a traffic has asked for.
    used: RefCell<BTreeSet<String>>,
}

impl Groups {
    /// Draws the groups of `config`.
    pub(crate) fn draw(config: &BTreeMap<String, Group>, racks: &Racks, seeds: Seeds) -> Result<Groups, Invalid> {
        const FORMS: &str = "expected { per_rack = 6 }, { hosts = 32 } or { rest = true }";
        let key = |name: &str| dotted::join("workload.groups", name);
        let (mut per_rack, mut anywhere, mut rest) = (Vec::new(), Vec::new(), None);
        for (name, group) in config {
            match *group {
                Group { per_rack: Some(count @ 1..), hosts: None, rest: false } => per_rack.push((name, count)),
                Group { per_rack: None, hosts: Some(count @ 1..), rest: false } => anywhere.push((name, count)),
                Group { per_rack: None, hosts: None, rest: true } => {
                    if let Some(first) = rest.replace(name) {
                        let message = format!("`{first}` has the rest of the hosts already");
                        return Err(Invalid::new(key(name), message).help("expected one group with `rest` at most"));
                    }
                }
                _ => return Err(Invalid::new(key(name), "does not say how many hosts are in it").help(FORMS)),
            }
        }
        let mut stream = seeds.stream("workload.groups", 0);
        let mut free: Vec<u32> = (0..).take(racks.hosts()).collect();
        stream.shuffle(&mut free);
        let mut hosts = BTreeMap::new();
        for (name, count) in per_rack {
            let mut left = vec![count; racks.name.len()];
            let taken: Vec<u32> = free
                .extract_if(.., |&mut host| {
                    let left = &mut left[racks.of[host as usize]];
                    let is_taken = *left > 0;
                    *left -= u32::from(is_taken);
                    is_taken
                })
                .collect();
            if let Some(rack) = left.iter().position(|&left| left > 0) {
                let message = format!("rack {} has no {count} hosts that are in no other group", racks.name[rack]);
                return Err(Invalid::new(format!("{}.per_rack", key(name)), message));
            }
            hosts.insert(name.clone(), taken);
        }
        for (name, count) in anywhere {
            if count as usize > free.len() {
                let message = format!("{count} hosts are more than the {} that are in no other group", free.len());
                return Err(
                    Invalid::new(format!("{}.hosts", key(name)), message).help(host_help(racks.of.len() as u32))
                );
            }
            hosts.insert(name.clone(), free.split_off(free.len() - count as usize));
        }
        if let Some(name) = rest {
            if free.is_empty() {
                return Err(Invalid::new(key(name), "all hosts are in other groups"));
            }
            hosts.insert(name.clone(), free);
        }
        hosts.values_mut().for_each(|hosts| hosts.sort_unstable());
        Ok(Groups { hosts, used: RefCell::default() })
    }

    fn get(&self, key: &str, name: &str) -> Result<&[u32], Invalid> {
        let Some(hosts) = self.hosts.get(name) else {
            let known: Vec<&str> = self.hosts.keys().map(String::as_str).collect();
            let help = match known.is_empty() {
                true => "groups are tables such as [workload.groups.long] with per_rack, hosts or rest".to_owned(),
                false => format!("expected one of {}", known.join(", ")),
            };
            return Err(Invalid::new(key, format!("there is no group `{name}`")).help(help));
        };
        self.used.borrow_mut().insert(name.to_owned());
        Ok(hosts)
    }

    /// What to say of groups that no traffic has asked for.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> + '_ {
        let used = self.used.borrow();
        let unused: Vec<&String> = self.hosts.keys().filter(|name| !used.contains(*name)).collect();
        unused.into_iter().map(|name| format!("No traffic uses the group `{name}`."))
    }
}

/// The hosts of a set, ascending.
fn resolve(key: &str, set: &HostSet, hosts: u32, groups: &Groups, mut stream: Stream) -> Result<Vec<u32>, Invalid> {
    const FORMS: &str =
        "expected { first = 0, count = 120 }, { random = 120 }, { hosts = [1, 5, 9] } or { group = \"NAME\" }";
    let found = match (set.first, set.count, set.random, &set.hosts, &set.group) {
        (None, None, None, None, Some(group)) => groups.get(&format!("{key}.group"), group)?.to_vec(),
        (first, Some(count), None, None, None) => {
            let first = first.unwrap_or(0);
            match first.checked_add(count).filter(|&end| end <= hosts) {
                Some(end) => (first..end).collect(),
                None => {
                    let message = format!("{count} hosts from host {first} on are more than there are");
                    return Err(Invalid::new(format!("{key}.count"), message).help(host_help(hosts)));
                }
            }
        }
        (None, None, Some(random), None, None) => draw_set(&format!("{key}.random"), random, hosts, &mut stream)?,
        (None, None, None, Some(list), None) => {
            let key = format!("{key}.hosts");
            let mut list = list.clone();
            list.sort_unstable();
            if let Some(twice) = list.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Invalid::new(key, format!("host {} is given twice", twice[0])));
            }
            if let Some(&beyond) = list.last().filter(|&&host| host >= hosts) {
                return Err(Invalid::new(key, format!("{beyond} is not a host")).help(host_help(hosts)));
            }
            list
        }
        _ => return Err(Invalid::new(key, "does not say which hosts").help(FORMS)),
    };
    if found.is_empty() {
        return Err(Invalid::new(key, "has no host").help(FORMS));
    }
    Ok(found)
}

/// `count` of the hosts, drawn without replacement; ascending.
pub(crate) fn draw_set(key: &str, count: u32, hosts: u32, stream: &mut Stream) -> Result<Vec<u32>, Invalid> {
    if count > hosts {
        let message = format!("{count} hosts are more than there are");
        return Err(Invalid::new(key, message).help(host_help(hosts)));
    }
    let mut all: Vec<u32> = (0..hosts).collect();
    stream.shuffle(&mut all);
    all.truncate(count as usize);
    all.sort_unstable();
    Ok(all)
}
