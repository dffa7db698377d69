//! The fewest extra links that any placement needs, by trying all of them.
//!
//! A server whose applications have D senders in all needs no extra link if D senders fit into the leaf's buffer, and
//! else ceil(alpha (D - floor(N)) s / (theta B_s)) of them, N as in equation 3.3. The heuristic spends the same on a
//! server, so that its placement is one of those that are tried. All answers have one size s.

use serde::Serialize;

use crate::parameters::{Sizing, ceiling, floor, is_same};

/// Most applications that all placements are tried of: the work is three to this power.
pub const MOST_APPLICATIONS: usize = 14;

/// The best placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Optimum {
    /// Extra links of all servers.
    pub links: u32,
    /// Servers, the fewest of those with as many links.
    pub servers: u32,
    /// The applications of each server.
    pub groups: Vec<Vec<usize>>,
}

/// The extra links of a server whose applications have so many senders with answers of `size` bytes.
pub(crate) fn links_of(senders: f64, size: f64, sizing: &Sizing) -> u32 {
    let most = sizing.leaf_buffer / (sizing.alpha * size);
    if senders < most || is_same(senders, most) {
        return 0;
    }
    let over = sizing.alpha * (senders - floor(most)) * size;
    ceiling(over / (sizing.theta * sizing.spine_buffer)) as u32
}

/// The fewest links, and with as many links the fewest servers, for applications of these degrees with answers of
/// `size` bytes; `None` of more than [`MOST_APPLICATIONS`].
pub fn optimum(degrees: &[f64], size: f64, sizing: &Sizing) -> Option<Optimum> {
    if degrees.len() > MOST_APPLICATIONS {
        return None;
    }
    let all = (1usize << degrees.len()) - 1;
    let senders = |set: usize| -> f64 {
        degrees.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, degree)| degree).sum()
    };
    let links: Vec<u32> = (0..=all).map(|set| links_of(senders(set), size, sizing)).collect();
    // The best of each set of applications, and the group that holds its lowest one.
    let mut best = vec![(0u32, 0u32, 0usize); all + 1];
    for set in 1..=all {
        let lowest = set & set.wrapping_neg();
        let others = set ^ lowest;
        let mut found = (u32::MAX, u32::MAX, 0);
        let mut part = others;
        loop {
            let group = part | lowest;
            let (rest_links, rest_servers, _) = best[set ^ group];
            found = found.min((rest_links + links[group], rest_servers + 1, group));
            if part == 0 {
                break;
            }
            part = (part - 1) & others;
        }
        best[set] = found;
    }
    let (mut groups, mut left) = (Vec::new(), all);
    while left != 0 {
        let group = best[left].2;
        groups.push((0..degrees.len()).filter(|at| group >> at & 1 == 1).collect());
        left ^= group;
    }
    Some(Optimum { links: best[all].0, servers: best[all].1, groups })
}
