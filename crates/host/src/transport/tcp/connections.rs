//! Connections that stay open between flows.
//!
//! A flow goes over one that an earlier flow to the same host has left, the last one first, and opens another if there
//! is none: so many connections of a pair of hosts as ever had flows at a time, as in the public ns-2 scripts of PIAS.

use std::collections::BTreeMap;

use tailcut_base::HostId;

use super::sender::Kept;

/// The open connections of a host over which no flow goes now, by the host at the other end.
#[derive(Debug, Default)]
pub(super) struct Connections(BTreeMap<HostId, Vec<Kept>>);

impl Connections {
    /// The connection to a host that was used last.
    pub(super) fn take(&mut self, to: HostId) -> Option<Kept> {
        self.0.get_mut(&to)?.pop()
    }

    /// A flow to a host has ended, and leaves its connection.
    pub(super) fn leave(&mut self, to: HostId, kept: Kept) {
        self.0.entry(to).or_default().push(kept);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let pools = self.0.values().map(|pool| size_of::<(HostId, Vec<Kept>)>() + pool.capacity() * size_of::<Kept>());
        size_of::<Connections>() + pools.sum::<usize>()
    }
}
