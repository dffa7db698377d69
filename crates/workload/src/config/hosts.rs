//! Who sends to whom, and named sets of hosts, as a scenario writes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who sends to whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Endpoints {
    /// The source is uniform over the hosts, the destination over the other hosts.
    #[default]
    Uniform,
    /// Each host sends to one other and receives from one other, by a random derangement that is drawn once; the
    /// source is uniform.
    Permutation,
    /// Uniform over the pairs of hosts whose source comes before the destination: the web-search half of SPQ's hybrid.
    Ascending,
    /// Uniform over the pairs of hosts whose source comes after the destination: the data-mining half of SPQ's hybrid.
    Descending,
    /// The source is uniform over a set of senders, the destination over a set of receivers without the source.
    Roles(Roles),
    /// The source is uniform over the hosts, the destination over those that are not in its block of consecutive hosts,
    /// such as its pod of a fat-tree (HyLine's public scripts: traffic between pods alone).
    Apart(Apart),
}

/// Hosts that send nothing to one another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Apart {
    /// So many consecutive hosts are a block, from host 0 on; in a fat-tree a pod has `k/2` times `hosts_per_edge`.
    pub block: u32,
}

/// Which hosts send and which receive; a host may do both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Roles {
    /// The hosts that send.
    pub senders: HostSet,
    /// The hosts that receive.
    pub receivers: HostSet,
}

/// A set of hosts: `{ first = 0, count = 120 }`, `{ random = 120 }`, `{ hosts = [1, 5, 9] }` or `{ group = "NAME" }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct HostSet {
    /// The first of `count` consecutive hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u32>,
    /// How many consecutive hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// How many hosts, drawn once without replacement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<u32>,
    /// These hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<u32>>,
    /// Those of this group of `workload.groups`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// How many hosts are in a group: exactly one of `per_rack`, `hosts` and `rest`. Groups with `per_rack` are drawn
/// first, then those with `hosts`, both by name; no host is in two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Group {
    /// So many hosts of each rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_rack: Option<u32>,
    /// So many hosts, wherever they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// All hosts that no other group has; one group at most.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rest: bool,
}
