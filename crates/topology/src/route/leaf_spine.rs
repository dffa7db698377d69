//! The ways through a leaf-spine, by arithmetic on ids: nothing is stored per host or per switch.
//!
//! Hosts are numbered leaf by leaf, and so are the ports: `hosts` interfaces, then for each leaf the ports to its hosts
//! and to the spines, then for each spine the ports to the leaves.

use tailcut_base::{HostId, SwitchId};

use super::NextHops;

/// The shape of a leaf-spine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeafSpine {
    leaves: u32,
    spines: u32,
    hosts_per_leaf: u32,
    hosts: u32,
    /// Ports of one leaf.
    leaf_ports: u32,
    /// First port of the first spine.
    spine_base: u32,
    by_hosts_per_leaf: Divider,
}

impl LeafSpine {
    /// The rule for these sizes, whose ports the caller has counted: there are fewer than 2^31.
    pub(crate) fn new(leaves: u32, hosts_per_leaf: u32, spines: u32) -> LeafSpine {
        let hosts = leaves * hosts_per_leaf;
        let leaf_ports = hosts_per_leaf + spines;
        LeafSpine {
            leaves,
            spines,
            hosts_per_leaf,
            hosts,
            leaf_ports,
            spine_base: hosts + leaves * leaf_ports,
            by_hosts_per_leaf: Divider::new(hosts_per_leaf),
        }
    }

    #[inline(always)]
    pub(super) fn next_hops(&self, at: SwitchId, dst: HostId) -> NextHops {
        let destination = self.group_of(dst);
        let at = at.0;
        let (first, count) = if at == destination {
            // hosts + at·leaf_ports + (dst − at·hosts_per_leaf)
            (self.hosts + at * self.spines + dst.0, 1)
        } else if at < self.leaves {
            (self.hosts + at * self.leaf_ports + self.hosts_per_leaf, self.spines)
        } else {
            (self.spine_base + (at - self.leaves) * self.leaves + destination, 1)
        };
        NextHops { destination, first, count }
    }

    #[inline]
    pub(super) fn group_of(&self, host: HostId) -> u32 {
        self.by_hosts_per_leaf.divide(host.0)
    }
}

/// Divides by a fixed number with a multiplication and a shift, exactly for every dividend below 2^31 (Granlund and
/// Montgomery, PLDI 1994, theorem 4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Divider {
    multiplier: u64,
    shift: u32,
}

impl Divider {
    fn new(divisor: u32) -> Divider {
        assert!((1..1 << 31).contains(&divisor), "a divisor is positive and fits 31 bits");
        // The multiplier is at most 2^32, so that the product fits 64 bits.
        let shift = 31 + divisor.next_power_of_two().trailing_zeros();
        Divider { multiplier: (1u64 << shift).div_ceil(u64::from(divisor)), shift }
    }

    #[inline]
    fn divide(self, dividend: u32) -> u32 {
        ((u64::from(dividend) * self.multiplier) >> self.shift) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn division_is_exact_at_the_edges() {
        for divisor in [1, 2, 3, 7, 20, 64, (1 << 30) - 1, 1 << 30, (1 << 31) - 1] {
            let by = Divider::new(divisor);
            for multiple in [0, 1, 2, ((1u32 << 31) - 1) / divisor] {
                let exact = multiple.saturating_mul(divisor);
                for dividend in [exact.saturating_sub(1), exact, exact + 1, (1 << 31) - 1] {
                    if dividend < 1 << 31 {
                        assert_eq!(by.divide(dividend), dividend / divisor, "{dividend} / {divisor}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn division_is_exact(dividend in 0u32..1 << 31, divisor in 1u32..1 << 31, small in 1u32..5000) {
            prop_assert_eq!(Divider::new(divisor).divide(dividend), dividend / divisor);
            prop_assert_eq!(Divider::new(small).divide(dividend), dividend / small);
        }
    }
}
